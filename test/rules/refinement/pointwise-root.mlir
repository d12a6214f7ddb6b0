// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=1},saturate{rules=refine-pointwise-root}' | filecheck %s

// A pointwise result in tiles.

// refine-pointwise-root: every set of axes once, in the order of their names.
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

// -----

// Not refine-pointwise-root: nothing is computed, so nothing needs a kernel.
// CHECK-LABEL: func.func @main(%stored
// CHECK:      %stored_1 = equivalence.class %stored
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.transpose %stored_1 perm [1, 0]
// CHECK-NEXT: %y = equivalence.class [[V1]]
func.func @main(%stored: tensor<8x4xf32>) -> tensor<4x8xf32> {
  %y = forge.transpose %stored perm [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
