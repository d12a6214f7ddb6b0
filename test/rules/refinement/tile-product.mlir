// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=1},saturate{rules=tile-product}' | filecheck %s

// The tiled form of a product.

// tile-product.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %x_1, %w_1
// CHECK-NEXT: [[V2:%[0-9]+]] = tile.matmul %x_1, %w_1
// CHECK-NEXT: %y = equivalence.class [[V1]], [[V2]]
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %y = forge.matmul %x, %w : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// Not tile-product: a product of elements.
// CHECK-LABEL: func.func @main(%pointwise
// CHECK:      %pointwise_1 = equivalence.class %pointwise
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.mul %pointwise_1, %w_1
// CHECK-NEXT: %y = equivalence.class [[V1]]
func.func @main(%pointwise: tensor<8x4xf32>, %w: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %y = forge.mul %pointwise, %w : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}
