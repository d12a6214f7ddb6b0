// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=1},saturate{rules=merge-after-unary,merged-left-contraction,store-before-merge,refine-pointwise-root}' | filecheck %s

// What is stored as a merge of a computed value is cut before it too.

// store-before-merge: tanh before the merge, which merge-after-unary makes, has tiles of its own along dimension 1.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: [[V1:%[0-9]+]] = tile.combine [[V2:%[0-9]+]] along 1 by @x1
// CHECK-NEXT: [[V3:%[0-9]+]] = tile.combine [[V4:%[0-9]+]] along 2 by @x2
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.exp %x_1 : tensor<1x3x4xf32>
// CHECK-NEXT: %e = equivalence.class [[V1]], [[V3]], [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = tile.combine [[V7:%[0-9]+]] along 1 by @r1_2
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.reshape %e : (tensor<1x3x4xf32>) -> tensor<1x12xf32>
// CHECK-NEXT: %r = equivalence.class [[V6]], [[V8]]
// CHECK-NEXT: [[V9:%[0-9]+]] = tile.combine [[V10:%[0-9]+]] along 1 by @r1_2
// CHECK-NEXT: [[V11:%[0-9]+]] = forge.reshape [[V12:%[0-9]+]] : (tensor<1x3x4xf32>) -> tensor<1x12xf32>
// CHECK-NEXT: [[V13:%[0-9]+]] = forge.tanh %r : tensor<1x12xf32>
// CHECK-NEXT: %y = equivalence.class [[V9]], [[V11]], [[V13]]
// CHECK-NEXT: [[V14:%[0-9]+]] = tile.combine [[V15:%[0-9]+]] along 1 by @x1
// CHECK-NEXT: [[V16:%[0-9]+]] = tile.combine [[V17:%[0-9]+]] along 2 by @x2
// CHECK-NEXT: [[V18:%[0-9]+]] = forge.tanh %e : tensor<1x3x4xf32>
// CHECK-NEXT: [[V12]] = equivalence.class [[V14]], [[V16]], [[V18]]
// CHECK-NEXT: [[V19:%[0-9]+]] = tile.partition %e along 1 by @x1
// CHECK-NEXT: [[V2]] = equivalence.class [[V19]]
// CHECK-NEXT: [[V20:%[0-9]+]] = tile.partition %e along 2 by @x2
// CHECK-NEXT: [[V4]] = equivalence.class [[V20]]
// CHECK-NEXT: [[V21:%[0-9]+]] = tile.partition %r along 1 by @r1_2
// CHECK-NEXT: [[V7]] = equivalence.class [[V21]]
// CHECK-NEXT: [[V22:%[0-9]+]] = tile.partition %y along 1 by @r1_2
// CHECK-NEXT: [[V10]] = equivalence.class [[V22]]
// CHECK-NEXT: [[V23:%[0-9]+]] = tile.partition [[V12]] along 1 by @x1
// CHECK-NEXT: [[V15]] = equivalence.class [[V23]]
// CHECK-NEXT: [[V24:%[0-9]+]] = tile.partition [[V12]] along 2 by @x2
// CHECK-NEXT: [[V17]] = equivalence.class [[V24]]
func.func @main(%x: tensor<1x3x4xf32>) -> tensor<1x12xf32> {
  %e = forge.exp %x : tensor<1x3x4xf32>
  %r = forge.reshape %e : (tensor<1x3x4xf32>) -> tensor<1x12xf32>
  %y = forge.tanh %r : tensor<1x12xf32>
  func.return %y : tensor<1x12xf32>
}

// -----

// Not store-before-merge: the sum that merged-left-contraction makes is reshaped to a product that is stored, but nothing is merged.
// CHECK-LABEL: func.func @main(%dropped
// CHECK:      %dropped_1 = equivalence.class %dropped
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = tile.combine [[V2:%[0-9]+]] along 1 by @dropped1
// CHECK-NEXT: [[V3:%[0-9]+]] = tile.combine [[V4:%[0-9]+]] along 2 by @dropped2
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.exp %dropped_1 : tensor<1x2x3xf32>
// CHECK-NEXT: %e = equivalence.class [[V1]], [[V3]], [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = tile.combine [[V7:%[0-9]+]] along 1 by @w0
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.reshape %e : (tensor<1x2x3xf32>) -> tensor<1x6xf32>
// CHECK-NEXT: %r = equivalence.class [[V6]], [[V8]]
// CHECK-NEXT: [[V9:%[0-9]+]] = tile.combine [[V10:%[0-9]+]] along 1 by @w1
// CHECK-NEXT: [[V11:%[0-9]+]] = forge.matmul %r, %w_1 : (tensor<1x6xf32>, tensor<6x4xf32>) -> tensor<1x4xf32>
// CHECK-NEXT: [[V12:%[0-9]+]] = forge.reshape [[V13:%[0-9]+]] : (tensor<1x1x4xf32>) -> tensor<1x4xf32>
// CHECK-NEXT: %y = equivalence.class [[V9]], [[V11]], [[V12]]
// CHECK-NEXT: [[V14:%[0-9]+]] = forge.reshape %r : (tensor<1x6xf32>) -> tensor<1x2x3xf32>
// CHECK-NEXT: [[V15:%[0-9]+]] = equivalence.class [[V14]]
// CHECK-NEXT: [[V16:%[0-9]+]] = forge.transpose [[V15]] perm [1, 0, 2] : (tensor<1x2x3xf32>) -> tensor<2x1x3xf32>
// CHECK-NEXT: [[V17:%[0-9]+]] = equivalence.class [[V16]]
// CHECK-NEXT: [[V18:%[0-9]+]] = forge.reshape %w_1 : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: [[V19:%[0-9]+]] = equivalence.class [[V18]]
// CHECK-NEXT: [[V20:%[0-9]+]] = forge.matmul [[V21:%[0-9]+]], [[V22:%[0-9]+]]
// CHECK-NEXT: [[V23:%[0-9]+]] = equivalence.class [[V20]]
// CHECK-NEXT: [[V24:%[0-9]+]] = tile.partition %e along 1 by @dropped1
// CHECK-NEXT: [[V2]] = equivalence.class [[V24]]
// CHECK-NEXT: [[V25:%[0-9]+]] = tile.partition %e along 2 by @dropped2
// CHECK-NEXT: [[V4]] = equivalence.class [[V25]]
// CHECK-NEXT: [[V26:%[0-9]+]] = tile.partition %r along 1 by @w0
// CHECK-NEXT: [[V7]] = equivalence.class [[V26]]
// CHECK-NEXT: [[V27:%[0-9]+]] = tile.partition %y along 1 by @w1
// CHECK-NEXT: [[V10]] = equivalence.class [[V27]]
// CHECK-NEXT: [[V28:%[0-9]+]] = tile.partition [[V17]] along 0 by @dropped1
// CHECK-NEXT: [[V21]] = equivalence.class [[V28]]
// CHECK-NEXT: [[V29:%[0-9]+]] = tile.partition [[V19]] along 0 by @dropped1
// CHECK-NEXT: [[V22]] = equivalence.class [[V29]]
// CHECK-NEXT: [[V30:%[0-9]+]] = tile.reduce sum over axis(0) [[V23]]
// CHECK-NEXT: [[V31:%[0-9]+]] = equivalence.class [[V30]]
// CHECK-NEXT: [[V32:%[0-9]+]] = tile.reduce sum over parallel(@dropped1) [[V31]]
// CHECK-NEXT: [[V13]] = equivalence.class [[V32]]
func.func @main(%dropped: tensor<1x2x3xf32>, %w: tensor<6x4xf32>) -> tensor<1x4xf32> {
  %e = forge.exp %dropped : tensor<1x2x3xf32>
  %r = forge.reshape %e : (tensor<1x2x3xf32>) -> tensor<1x6xf32>
  %y = forge.matmul %r, %w : (tensor<1x6xf32>, tensor<6x4xf32>) -> tensor<1x4xf32>
  func.return %y : tensor<1x4xf32>
}

// -----

// Not store-before-merge: the merge is of what is in memory.
// CHECK-LABEL: func.func @main(%stored
// CHECK:      %stored_1 = equivalence.class %stored
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reshape %stored_1 : (tensor<3x4xf32>) -> tensor<12xf32>
// CHECK-NEXT: %y = equivalence.class [[V1]]
func.func @main(%stored: tensor<3x4xf32>) -> tensor<12xf32> {
  %y = forge.reshape %stored : (tensor<3x4xf32>) -> tensor<12xf32>
  func.return %y : tensor<12xf32>
}
