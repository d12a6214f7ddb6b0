// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=1},saturate{rules=refine-pointwise-root,refine-reduction,view-unary,view-reduce,view-parallel-reduce}' | filecheck %s

// Views move through reductions over another dimension, and through parallel reductions over another axis.

// view-reduce: dimension 0 is cut, dimension 1 reduced.
// CHECK-LABEL: func.func @main(%kept
// CHECK:      %kept_1 = equivalence.class %kept
// CHECK-NEXT: [[V1:%[0-9]+]] = tile.combine [[V2:%[0-9]+]] along 0 by @kept0
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.reduce sum over 1 %kept_1
// CHECK-NEXT: %s = equivalence.class [[V1]], [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = tile.combine [[V5:%[0-9]+]] along 0 by @kept0
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.exp %s
// CHECK-NEXT: %y = equivalence.class [[V4]], [[V6]]
// CHECK-NEXT: [[V7:%[0-9]+]] = tile.partition %kept_1 along 0 by @kept0
// CHECK-NEXT: [[V8:%[0-9]+]] = equivalence.class [[V7]]
// CHECK-NEXT: [[V9:%[0-9]+]] = tile.reduce sum over axis(1) [[V8]]
// CHECK-NEXT: [[V10:%[0-9]+]] = tile.partition %s along 0 by @kept0
// CHECK-NEXT: [[V2]] = equivalence.class [[V9]], [[V10]]
// CHECK-NEXT: [[V11:%[0-9]+]] = forge.exp [[V2]]
// CHECK-NEXT: [[V12:%[0-9]+]] = tile.partition %y along 0 by @kept0
// CHECK-NEXT: [[V5]] = equivalence.class [[V11]], [[V12]]
func.func @main(%kept: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %s = forge.reduce sum over 1 %kept : tensor<8x1xf32>
  %y = forge.exp %s : tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// view-parallel-reduce: a loop over @x1 in each tile of @x0.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: [[V1:%[0-9]+]] = tile.combine [[V2:%[0-9]+]] along 0 by @x0
// CHECK-NEXT: [[V3:%[0-9]+]] = tile.reduce sum over parallel(@x1) [[V4:%[0-9]+]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.reduce sum over 1 %x_1
// CHECK-NEXT: %s = equivalence.class [[V1]], [[V3]], [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = tile.combine [[V7:%[0-9]+]] along 0 by @x0
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.exp %s
// CHECK-NEXT: %y = equivalence.class [[V6]], [[V8]]
// CHECK-NEXT: [[V9:%[0-9]+]] = tile.partition %x_1 along 1 by @x1
// CHECK-NEXT: [[V10:%[0-9]+]] = equivalence.class [[V9]]
// CHECK-NEXT: [[V11:%[0-9]+]] = tile.partition %x_1 along 0 by @x0
// CHECK-NEXT: [[V12:%[0-9]+]] = equivalence.class [[V11]]
// CHECK-NEXT: [[V13:%[0-9]+]] = tile.reduce sum over parallel(@x1) [[V14:%[0-9]+]]
// CHECK-NEXT: [[V15:%[0-9]+]] = tile.reduce sum over parallel(@x1) [[V16:%[0-9]+]]
// CHECK-NEXT: [[V17:%[0-9]+]] = tile.reduce sum over axis(1) [[V12]]
// CHECK-NEXT: [[V18:%[0-9]+]] = tile.partition %s along 0 by @x0
// CHECK-NEXT: [[V2]] = equivalence.class [[V13]], [[V15]], [[V17]], [[V18]]
// CHECK-NEXT: [[V19:%[0-9]+]] = forge.exp [[V2]]
// CHECK-NEXT: [[V20:%[0-9]+]] = tile.partition %y along 0 by @x0
// CHECK-NEXT: [[V7]] = equivalence.class [[V19]], [[V20]]
// CHECK-NEXT: [[V21:%[0-9]+]] = tile.reduce sum over axis(1) [[V10]]
// CHECK-NEXT: [[V4]] = equivalence.class [[V21]]
// CHECK-NEXT: [[V22:%[0-9]+]] = tile.reduce sum over axis(1) [[V23:%[0-9]+]]
// CHECK-NEXT: [[V24:%[0-9]+]] = tile.partition [[V4]] along 0 by @x0
// CHECK-NEXT: [[V14]] = equivalence.class [[V22]], [[V24]]
// CHECK-NEXT: [[V25:%[0-9]+]] = tile.partition [[V10]] along 0 by @x0
// CHECK-NEXT: [[V23]] = equivalence.class [[V25]]
// CHECK-NEXT: [[V26:%[0-9]+]] = tile.partition [[V12]] along 1 by @x1
// CHECK-NEXT: [[V27:%[0-9]+]] = equivalence.class [[V26]]
// CHECK-NEXT: [[V28:%[0-9]+]] = tile.reduce sum over axis(1) [[V27]]
// CHECK-NEXT: [[V16]] = equivalence.class [[V28]]
func.func @main(%x: tensor<8x4xf32>) -> tensor<8x1xf32> {
  %s = forge.reduce sum over 1 %x : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %y = forge.exp %s : tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}
