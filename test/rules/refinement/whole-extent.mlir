// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=4},saturate{rules=refine-reduction,refine-contraction}' | filecheck %s

// Dimensions that are reduced and not larger than whole-extent have no axis: a tile holds them whole.

// Not refine-reduction: 4 elements fit a tile.
// CHECK-LABEL: func.func @main(%fits
// CHECK:      %fits_1 = equivalence.class %fits
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reduce max over 1 %fits_1
// CHECK-NEXT: %y = equivalence.class [[V1]]
func.func @main(%fits: tensor<8x4xf32>) -> tensor<8x1xf32> {
  %y = forge.reduce max over 1 %fits : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not refine-contraction.
// CHECK-LABEL: func.func @main(%contraction
// CHECK:      %contraction_1 = equivalence.class %contraction
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %contraction_1, %w_1
// CHECK-NEXT: %y = equivalence.class [[V1]]
func.func @main(%contraction: tensor<8x4xf32>, %w: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %y = forge.matmul %contraction, %w : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// 5 elements do not.
// CHECK-LABEL: func.func @main(%long
// CHECK:      %long_1 = equivalence.class %long
// CHECK-NEXT: [[V1:%[0-9]+]] = tile.reduce max over parallel(@long1) [[V2:%[0-9]+]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.reduce max over 1 %long_1
// CHECK-NEXT: %y = equivalence.class [[V1]], [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = tile.partition %long_1 along 1 by @long1
// CHECK-NEXT: [[V5:%[0-9]+]] = equivalence.class [[V4]]
// CHECK-NEXT: [[V6:%[0-9]+]] = tile.reduce max over axis(1) [[V5]]
// CHECK-NEXT: [[V2]] = equivalence.class [[V6]]
func.func @main(%long: tensor<8x5xf32>) -> tensor<8x1xf32> {
  %y = forge.reduce max over 1 %long : (tensor<8x5xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}
