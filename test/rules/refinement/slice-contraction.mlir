// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=1 split-extent=8},saturate{rules=row-scale,slice-contraction,refine-sliced-contraction}' | filecheck %s

// A long contraction in slices, whose partial products are to be stored, and in each slice in tiles.

// slice-contraction over the outer axis; refine-sliced-contraction over the inner one, in each slice.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %x_1, %w_1
// CHECK-NEXT: [[V2:%[0-9]+]] = tile.reduce sum over parallel(@x1_split) [[V3:%[0-9]+]]
// CHECK-NEXT: %y = equivalence.class [[V1]], [[V2]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.matmul [[V5:%[0-9]+]], [[V6:%[0-9]+]]
// CHECK-NEXT: [[V7:%[0-9]+]] = tile.reduce sum over parallel(@x1) [[V8:%[0-9]+]]
// CHECK-NEXT: [[V3]] = equivalence.class [[V4]], [[V7]]
// CHECK-NEXT: [[V9:%[0-9]+]] = tile.partition %x_1 along 1 by @x1_split
// CHECK-NEXT: [[V5]] = equivalence.class [[V9]]
// CHECK-NEXT: [[V10:%[0-9]+]] = tile.partition %w_1 along 0 by @x1_split
// CHECK-NEXT: [[V6]] = equivalence.class [[V10]]
// CHECK-NEXT: [[V11:%[0-9]+]] = forge.matmul [[V12:%[0-9]+]], [[V13:%[0-9]+]]
// CHECK-NEXT: [[V8]] = equivalence.class [[V11]]
// CHECK-NEXT: [[V14:%[0-9]+]] = tile.partition [[V5]] along 1 by @x1
// CHECK-NEXT: [[V12]] = equivalence.class [[V14]]
// CHECK-NEXT: [[V15:%[0-9]+]] = tile.partition [[V6]] along 0 by @x1
// CHECK-NEXT: [[V13]] = equivalence.class [[V15]]
func.func @main(%x: tensor<2x8xf32>, %w: tensor<8x3xf32>) -> tensor<2x3xf32> {
  %y = forge.matmul %x, %w : (tensor<2x8xf32>, tensor<8x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// -----

// Not slice-contraction: the contraction is short, so that its group has one axis.
// CHECK-LABEL: func.func @main(%short
// CHECK:      %short_1 = equivalence.class %short
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %short_1, %w_1
// CHECK-NEXT: %y = equivalence.class [[V1]]
func.func @main(%short: tensor<2x4xf32>, %w: tensor<4x3xf32>) -> tensor<2x3xf32> {
  %y = forge.matmul %short, %w : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// -----

// Not slice-contraction: the product that row-scale makes is not stored here, so that partial results of it have no use.
// CHECK-LABEL: func.func @main(%unstored
// CHECK:      %unstored_1 = equivalence.class %unstored
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %r_1
// CHECK-NEXT: %s = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.mul %unstored_1, %s
// CHECK-NEXT: %xs = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.mul [[V4:%[0-9]+]], %s
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.matmul %xs, %w_1
// CHECK-NEXT: [[V6:%[0-9]+]] = tile.reduce sum over parallel(@unstored1_split) [[V7:%[0-9]+]]
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V5]], [[V6]]
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.matmul %unstored_1, %w_1
// CHECK-NEXT: [[V4]] = equivalence.class [[V8]]
// CHECK-NEXT: [[V9:%[0-9]+]] = forge.matmul [[V10:%[0-9]+]], [[V11:%[0-9]+]]
// CHECK-NEXT: [[V12:%[0-9]+]] = tile.reduce sum over parallel(@unstored1) [[V13:%[0-9]+]]
// CHECK-NEXT: [[V7]] = equivalence.class [[V9]], [[V12]]
// CHECK-NEXT: [[V14:%[0-9]+]] = tile.partition %w_1 along 0 by @unstored1_split
// CHECK-NEXT: [[V11]] = equivalence.class [[V14]]
// CHECK-NEXT: [[V15:%[0-9]+]] = tile.partition %xs along 1 by @unstored1_split
// CHECK-NEXT: [[V10]] = equivalence.class [[V15]]
// CHECK-NEXT: [[V16:%[0-9]+]] = forge.matmul [[V17:%[0-9]+]], [[V18:%[0-9]+]]
// CHECK-NEXT: [[V13]] = equivalence.class [[V16]]
// CHECK-NEXT: [[V19:%[0-9]+]] = tile.partition [[V10]] along 1 by @unstored1
// CHECK-NEXT: [[V17]] = equivalence.class [[V19]]
// CHECK-NEXT: [[V20:%[0-9]+]] = tile.partition [[V11]] along 0 by @unstored1
// CHECK-NEXT: [[V18]] = equivalence.class [[V20]]
func.func @main(%unstored: tensor<2x8xf32>, %r: tensor<2x1xf32>, %w: tensor<8x3xf32>) -> tensor<2x3xf32> {
  %s = forge.tanh %r : tensor<2x1xf32>
  %xs = forge.mul %unstored, %s : (tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %y = forge.matmul %xs, %w : (tensor<2x8xf32>, tensor<8x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// -----

// Not slice-contraction: a tensor has the group twice, and its two axes cut one dimension each.
// CHECK-LABEL: func.func @main(%self
// CHECK:      %self_1 = equivalence.class %self
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.transpose %self_1 perm [1, 0]
// CHECK-NEXT: %t = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.matmul %self_1, %t
// CHECK-NEXT: %s = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %s, %self_1
// CHECK-NEXT: %y = equivalence.class [[V3]]
func.func @main(%self: tensor<8x2xf32>) -> tensor<8x2xf32> {
  %t = forge.transpose %self perm [1, 0] : (tensor<8x2xf32>) -> tensor<2x8xf32>
  %s = forge.matmul %self, %t : (tensor<8x2xf32>, tensor<2x8xf32>) -> tensor<8x8xf32>
  %y = forge.matmul %s, %self : (tensor<8x8xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
  func.return %y : tensor<8x2xf32>
}
