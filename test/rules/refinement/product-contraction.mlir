// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=1},saturate{rules=refine-contraction}' | filecheck %s

// Partial products over tiles of the contraction dimension.

// refine-contraction: each tile's product is partial.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %x_1, %w_1
// CHECK-NEXT: [[V2:%[0-9]+]] = tile.reduce sum over parallel(@x1) [[V3:%[0-9]+]]
// CHECK-NEXT: %y = equivalence.class [[V1]], [[V2]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.matmul [[V5:%[0-9]+]], [[V6:%[0-9]+]]
// CHECK-NEXT: [[V3]] = equivalence.class [[V4]]
// CHECK-NEXT: [[V7:%[0-9]+]] = tile.partition %x_1 along 1 by @x1
// CHECK-NEXT: [[V5]] = equivalence.class [[V7]]
// CHECK-NEXT: [[V8:%[0-9]+]] = tile.partition %w_1 along 0 by @x1
// CHECK-NEXT: [[V6]] = equivalence.class [[V8]]
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %y = forge.matmul %x, %w : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// Not refine-contraction: a contraction over one element.
// CHECK-LABEL: func.func @main(%outer
// CHECK:      %outer_1 = equivalence.class %outer
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %outer_1, %w_1
// CHECK-NEXT: %y = equivalence.class [[V1]]
func.func @main(%outer: tensor<8x1xf32>, %w: tensor<1x6xf32>) -> tensor<8x6xf32> {
  %y = forge.matmul %outer, %w : (tensor<8x1xf32>, tensor<1x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// refine-contraction: two axes cut the group of a self-product, but only one of them a dimension.
// CHECK-LABEL: func.func @main(%self
// CHECK:      %self_1 = equivalence.class %self
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.transpose %self_1 perm [1, 0]
// CHECK-NEXT: %t = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.matmul %self_1, %t
// CHECK-NEXT: [[V3:%[0-9]+]] = tile.reduce sum over parallel(@self1) [[V4:%[0-9]+]]
// CHECK-NEXT: %s = equivalence.class [[V2]], [[V3]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.matmul %s, %self_1
// CHECK-NEXT: [[V6:%[0-9]+]] = tile.reduce sum over parallel(@self0) [[V7:%[0-9]+]]
// CHECK-NEXT: %y = equivalence.class [[V5]], [[V6]]
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.matmul [[V9:%[0-9]+]], [[V10:%[0-9]+]]
// CHECK-NEXT: [[V4]] = equivalence.class [[V8]]
// CHECK-NEXT: [[V11:%[0-9]+]] = forge.matmul [[V12:%[0-9]+]], [[V13:%[0-9]+]]
// CHECK-NEXT: [[V7]] = equivalence.class [[V11]]
// CHECK-NEXT: [[V14:%[0-9]+]] = tile.partition %self_1 along 1 by @self1
// CHECK-NEXT: [[V9]] = equivalence.class [[V14]]
// CHECK-NEXT: [[V15:%[0-9]+]] = tile.partition %self_1 along 0 by @self0
// CHECK-NEXT: [[V13]] = equivalence.class [[V15]]
// CHECK-NEXT: [[V16:%[0-9]+]] = tile.partition %t along 0 by @self1
// CHECK-NEXT: [[V10]] = equivalence.class [[V16]]
// CHECK-NEXT: [[V17:%[0-9]+]] = tile.partition %s along 1 by @self0
// CHECK-NEXT: [[V12]] = equivalence.class [[V17]]
func.func @main(%self: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %t = forge.transpose %self perm [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %s = forge.matmul %self, %t : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %y = forge.matmul %s, %self : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}
