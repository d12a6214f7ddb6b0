// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=1},saturate{rules=refine-rows}' | filecheck %s

// Rows of a product in tiles: the left operand is partitioned, the right one replicated.

// refine-rows.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = tile.combine [[V2:%[0-9]+]] along 0 by @x0
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %x_1, %w_1
// CHECK-NEXT: %y = equivalence.class [[V1]], [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = tile.partition %x_1 along 0 by @x0
// CHECK-NEXT: [[V5:%[0-9]+]] = equivalence.class [[V4]]
// CHECK-NEXT: [[V6:%[0-9]+]] = tile.replicate %w_1 by @x0
// CHECK-NEXT: [[V7:%[0-9]+]] = equivalence.class [[V6]]
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.matmul [[V5]], [[V7]]
// CHECK-NEXT: [[V9:%[0-9]+]] = tile.partition %y along 0 by @x0
// CHECK-NEXT: [[V2]] = equivalence.class [[V8]], [[V9]]
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %y = forge.matmul %x, %w : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// Not refine-rows: one row can't be cut.
// CHECK-LABEL: func.func @main(%row
// CHECK:      %row_1 = equivalence.class %row
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %row_1, %w_1
// CHECK-NEXT: %y = equivalence.class [[V1]]
func.func @main(%row: tensor<1x4xf32>, %w: tensor<4x6xf32>) -> tensor<1x6xf32> {
  %y = forge.matmul %row, %w : (tensor<1x4xf32>, tensor<4x6xf32>) -> tensor<1x6xf32>
  func.return %y : tensor<1x6xf32>
}

// -----

// Not refine-rows: a reduction has no rows and columns.
// CHECK-LABEL: func.func @main(%reduced
// CHECK:      %reduced_1 = equivalence.class %reduced
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reduce sum over 1 %reduced_1
// CHECK-NEXT: %y = equivalence.class [[V1]]
func.func @main(%reduced: tensor<8x4xf32>) -> tensor<8x1xf32> {
  %y = forge.reduce sum over 1 %reduced : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}
