// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=1},saturate{rules=refine-rows,view-unary,replicate-transpose,replicate-reshape}' | filecheck %s

// Replicated layouts of computed values: every coordinate computes the whole.

// replicate-transpose.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.exp %w_1
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.transpose %e perm [1, 0]
// CHECK-NEXT: %t = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = tile.combine [[V4:%[0-9]+]] along 0 by @x0
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.matmul %x_1, %t
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = tile.partition %x_1 along 0 by @x0
// CHECK-NEXT: [[V7:%[0-9]+]] = equivalence.class [[V6]]
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.exp [[V9:%[0-9]+]]
// CHECK-NEXT: [[V10:%[0-9]+]] = tile.replicate %e by @x0
// CHECK-NEXT: [[V11:%[0-9]+]] = equivalence.class [[V8]], [[V10]]
// CHECK-NEXT: [[V12:%[0-9]+]] = forge.transpose [[V11]] perm [1, 0]
// CHECK-NEXT: [[V13:%[0-9]+]] = tile.replicate %t by @x0
// CHECK-NEXT: [[V14:%[0-9]+]] = equivalence.class [[V12]], [[V13]]
// CHECK-NEXT: [[V15:%[0-9]+]] = forge.matmul [[V7]], [[V14]]
// CHECK-NEXT: [[V16:%[0-9]+]] = tile.partition %y along 0 by @x0
// CHECK-NEXT: [[V4]] = equivalence.class [[V15]], [[V16]]
// CHECK-NEXT: [[V17:%[0-9]+]] = tile.replicate %w_1 by @x0
// CHECK-NEXT: [[V9]] = equivalence.class [[V17]]
func.func @main(%x: tensor<8x1xf32>, %w: tensor<4x1xf32>) -> tensor<8x4xf32> {
  %e = forge.exp %w : tensor<4x1xf32>
  %t = forge.transpose %e perm [1, 0] : (tensor<4x1xf32>) -> tensor<1x4xf32>
  %y = forge.matmul %x, %t : (tensor<8x1xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// replicate-reshape.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.exp %w_1
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reshape %e
// CHECK-NEXT: %t = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = tile.combine [[V4:%[0-9]+]] along 0 by @x0
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.matmul %x_1, %t
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = tile.partition %x_1 along 0 by @x0
// CHECK-NEXT: [[V7:%[0-9]+]] = equivalence.class [[V6]]
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.exp [[V9:%[0-9]+]]
// CHECK-NEXT: [[V10:%[0-9]+]] = tile.replicate %e by @x0
// CHECK-NEXT: [[V11:%[0-9]+]] = equivalence.class [[V8]], [[V10]]
// CHECK-NEXT: [[V12:%[0-9]+]] = forge.reshape [[V11]]
// CHECK-NEXT: [[V13:%[0-9]+]] = tile.replicate %t by @x0
// CHECK-NEXT: [[V14:%[0-9]+]] = equivalence.class [[V12]], [[V13]]
// CHECK-NEXT: [[V15:%[0-9]+]] = forge.matmul [[V7]], [[V14]]
// CHECK-NEXT: [[V16:%[0-9]+]] = tile.partition %y along 0 by @x0
// CHECK-NEXT: [[V4]] = equivalence.class [[V15]], [[V16]]
// CHECK-NEXT: [[V17:%[0-9]+]] = tile.replicate %w_1 by @x0
// CHECK-NEXT: [[V9]] = equivalence.class [[V17]]
func.func @main(%x: tensor<8x1xf32>, %w: tensor<4x1xf32>) -> tensor<8x4xf32> {
  %e = forge.exp %w : tensor<4x1xf32>
  %t = forge.reshape %e : (tensor<4x1xf32>) -> tensor<1x4xf32>
  %y = forge.matmul %x, %t : (tensor<8x1xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not replicate-transpose: w is stored.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: %stored_1 = equivalence.class %stored
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.transpose %stored_1 perm [1, 0]
// CHECK-NEXT: %t = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = tile.combine [[V3:%[0-9]+]] along 0 by @x0
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.matmul %x_1, %t
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = tile.partition %x_1 along 0 by @x0
// CHECK-NEXT: [[V6:%[0-9]+]] = equivalence.class [[V5]]
// CHECK-NEXT: [[V7:%[0-9]+]] = tile.replicate %t by @x0
// CHECK-NEXT: [[V8:%[0-9]+]] = equivalence.class [[V7]]
// CHECK-NEXT: [[V9:%[0-9]+]] = forge.matmul [[V6]], [[V8]]
// CHECK-NEXT: [[V10:%[0-9]+]] = tile.partition %y along 0 by @x0
// CHECK-NEXT: [[V3]] = equivalence.class [[V9]], [[V10]]
func.func @main(%x: tensor<8x1xf32>, %stored: tensor<4x1xf32>) -> tensor<8x4xf32> {
  %t = forge.transpose %stored perm [1, 0] : (tensor<4x1xf32>) -> tensor<1x4xf32>
  %y = forge.matmul %x, %t : (tensor<8x1xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}
