// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=1},saturate{rules=refine-contraction,storage}' | filecheck %s

// Partial products of a split contraction go to memory, one slice a coordinate, and a second kernel sums them.

// store-partials, partials-collect: one output tile, four terms.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %x_1, %w_1
// CHECK-NEXT: [[V2:%[0-9]+]] = tile.reduce sum over parallel(@x1) [[V3:%[0-9]+]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.reshape [[V5:%[0-9]+]]
// CHECK-NEXT: %y = equivalence.class [[V1]], [[V2]], [[V4]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.matmul [[V7:%[0-9]+]], [[V8:%[0-9]+]]
// CHECK-NEXT: [[V3]] = equivalence.class [[V6]]
// CHECK-NEXT: [[V9:%[0-9]+]] = tile.partition %x_1 along 1 by @x1
// CHECK-NEXT: [[V7]] = equivalence.class [[V9]]
// CHECK-NEXT: [[V10:%[0-9]+]] = tile.partition %w_1 along 0 by @x1
// CHECK-NEXT: [[V8]] = equivalence.class [[V10]]
// CHECK-NEXT: [[V11:%[0-9]+]] = tile.collect [[V3]] by @x1 into 2
// CHECK-NEXT: [[V12:%[0-9]+]] = equivalence.class [[V11]]
// CHECK-NEXT: [[V13:%[0-9]+]] = forge.reduce sum over 0 [[V12]]
// CHECK-NEXT: [[V5]] = equivalence.class [[V13]]
func.func @main(%x: tensor<1x4xf32>, %w: tensor<4x1xf32>) -> tensor<1x1xf32> {
  %y = forge.matmul %x, %w : (tensor<1x4xf32>, tensor<4x1xf32>) -> tensor<1x1xf32>
  func.return %y : tensor<1x1xf32>
}

// -----

// Nothing is reduced over an axis: nothing to collect.
// CHECK-LABEL: func.func @main(%outer
// CHECK:      %outer_1 = equivalence.class %outer
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %outer_1, %w_1
// CHECK-NEXT: %y = equivalence.class [[V1]]
func.func @main(%outer: tensor<8x1xf32>, %w: tensor<1x6xf32>) -> tensor<8x6xf32> {
  %y = forge.matmul %outer, %w : (tensor<8x1xf32>, tensor<1x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}
