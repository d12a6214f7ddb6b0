// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=1},saturate{rules=refine-pointwise-root,view-order,view-of-combine}' | filecheck %s

// Views stand in the order of their axes, the least innermost; a view of what was combined is the tile.

// view-of-combine: the tile of y is the class that was combined, not another one.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: [[V1:%[0-9]+]] = tile.combine [[V2:%[0-9]+]] along 0 by @x0
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.exp %x_1
// CHECK-NEXT: %y = equivalence.class [[V1]], [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = tile.partition %y along 0 by @x0
// CHECK-NEXT: [[V2]] = equivalence.class [[V4]]
func.func @main(%x: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %y = forge.exp %x : tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// view-order: both orders of two views are one class.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: [[V1:%[0-9]+]] = tile.combine [[V2:%[0-9]+]] along 0 by @x0
// CHECK-NEXT: [[V3:%[0-9]+]] = tile.combine [[V4:%[0-9]+]] along 1 by @x1
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.exp %x_1
// CHECK-NEXT: %y = equivalence.class [[V1]], [[V3]], [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = tile.partition %y along 0 by @x0
// CHECK-NEXT: [[V2]] = equivalence.class [[V6]]
// CHECK-NEXT: [[V7:%[0-9]+]] = tile.partition %y along 1 by @x1
// CHECK-NEXT: [[V4]] = equivalence.class [[V7]]
func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %y = forge.exp %x : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}
