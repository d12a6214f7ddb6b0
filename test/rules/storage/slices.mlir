// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=1 split-extent=8},saturate{rules=refine-contraction,slice-contraction,refine-sliced-contraction,storage}' | filecheck %s

// Partial results of slices are stored: of the two axes of a long dimension, the outer one is collected.

// store-partials, partials-collect over @x1_split; not over @x1, which blocks loop over.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %x_1, %w_1
// CHECK-NEXT: [[V2:%[0-9]+]] = tile.reduce sum over parallel(@x1_split) [[V3:%[0-9]+]]
// CHECK-NEXT: [[V4:%[0-9]+]] = tile.reduce sum over parallel(@x1) [[V5:%[0-9]+]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.reshape [[V7:%[0-9]+]]
// CHECK-NEXT: %y = equivalence.class [[V1]], [[V2]], [[V4]], [[V6]]
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.matmul [[V9:%[0-9]+]], [[V10:%[0-9]+]]
// CHECK-NEXT: [[V5]] = equivalence.class [[V8]]
// CHECK-NEXT: [[V11:%[0-9]+]] = forge.matmul [[V12:%[0-9]+]], [[V13:%[0-9]+]]
// CHECK-NEXT: [[V14:%[0-9]+]] = tile.reduce sum over parallel(@x1) [[V15:%[0-9]+]]
// CHECK-NEXT: [[V3]] = equivalence.class [[V11]], [[V14]]
// CHECK-NEXT: [[V16:%[0-9]+]] = tile.partition %x_1 along 1 by @x1
// CHECK-NEXT: [[V9]] = equivalence.class [[V16]]
// CHECK-NEXT: [[V17:%[0-9]+]] = tile.partition %x_1 along 1 by @x1_split
// CHECK-NEXT: [[V12]] = equivalence.class [[V17]]
// CHECK-NEXT: [[V18:%[0-9]+]] = tile.partition %w_1 along 0 by @x1
// CHECK-NEXT: [[V10]] = equivalence.class [[V18]]
// CHECK-NEXT: [[V19:%[0-9]+]] = tile.partition %w_1 along 0 by @x1_split
// CHECK-NEXT: [[V13]] = equivalence.class [[V19]]
// CHECK-NEXT: [[V20:%[0-9]+]] = forge.matmul [[V21:%[0-9]+]], [[V22:%[0-9]+]]
// CHECK-NEXT: [[V15]] = equivalence.class [[V20]]
// CHECK-NEXT: [[V23:%[0-9]+]] = tile.partition [[V12]] along 1 by @x1
// CHECK-NEXT: [[V21]] = equivalence.class [[V23]]
// CHECK-NEXT: [[V24:%[0-9]+]] = tile.partition [[V13]] along 0 by @x1
// CHECK-NEXT: [[V22]] = equivalence.class [[V24]]
// CHECK-NEXT: [[V25:%[0-9]+]] = tile.collect [[V3]] by @x1_split into 2
// CHECK-NEXT: [[V26:%[0-9]+]] = equivalence.class [[V25]]
// CHECK-NEXT: [[V27:%[0-9]+]] = forge.reduce sum over 0 [[V26]]
// CHECK-NEXT: [[V7]] = equivalence.class [[V27]]
func.func @main(%x: tensor<1x8xf32>, %w: tensor<8x1xf32>) -> tensor<1x1xf32> {
  %y = forge.matmul %x, %w : (tensor<1x8xf32>, tensor<8x1xf32>) -> tensor<1x1xf32>
  func.return %y : tensor<1x1xf32>
}
