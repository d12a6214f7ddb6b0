// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=1},saturate{rules=refine-reduction-output}' | filecheck %s

// Kept dimensions of a reduction in tiles.

// refine-reduction-output.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: [[V1:%[0-9]+]] = tile.combine [[V2:%[0-9]+]] along 0 by @x0
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.reduce max over 1 %x_1
// CHECK-NEXT: %y = equivalence.class [[V1]], [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = tile.partition %x_1 along 0 by @x0
// CHECK-NEXT: [[V5:%[0-9]+]] = equivalence.class [[V4]]
// CHECK-NEXT: [[V6:%[0-9]+]] = tile.reduce max over axis(1) [[V5]]
// CHECK-NEXT: [[V7:%[0-9]+]] = tile.partition %y along 0 by @x0
// CHECK-NEXT: [[V2]] = equivalence.class [[V6]], [[V7]]
func.func @main(%x: tensor<8x4xf32>) -> tensor<8x1xf32> {
  %y = forge.reduce max over 1 %x : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not refine-reduction-output: the only other dimension has one element.
// CHECK-LABEL: func.func @main(%row
// CHECK:      %row_1 = equivalence.class %row
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reduce max over 1 %row_1
// CHECK-NEXT: %y = equivalence.class [[V1]]
func.func @main(%row: tensor<1x4xf32>) -> tensor<1x1xf32> {
  %y = forge.reduce max over 1 %row : (tensor<1x4xf32>) -> tensor<1x1xf32>
  func.return %y : tensor<1x1xf32>
}
