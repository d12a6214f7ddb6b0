// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=1},saturate{rules=refine-columns}' | filecheck %s

// Columns of a product in tiles.

// refine-columns.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = tile.combine [[V2:%[0-9]+]] along 1 by @w1
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %x_1, %w_1
// CHECK-NEXT: %y = equivalence.class [[V1]], [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = tile.replicate %x_1 by @w1
// CHECK-NEXT: [[V5:%[0-9]+]] = equivalence.class [[V4]]
// CHECK-NEXT: [[V6:%[0-9]+]] = tile.partition %w_1 along 1 by @w1
// CHECK-NEXT: [[V7:%[0-9]+]] = equivalence.class [[V6]]
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.matmul [[V5]], [[V7]]
// CHECK-NEXT: [[V9:%[0-9]+]] = tile.partition %y along 1 by @w1
// CHECK-NEXT: [[V2]] = equivalence.class [[V8]], [[V9]]
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %y = forge.matmul %x, %w : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// Not refine-columns: there is one column.
// CHECK-LABEL: func.func @main(%column
// CHECK:      %column_1 = equivalence.class %column
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %column_1, %w_1
// CHECK-NEXT: %y = equivalence.class [[V1]]
func.func @main(%column: tensor<8x4xf32>, %w: tensor<4x1xf32>) -> tensor<8x1xf32> {
  %y = forge.matmul %column, %w : (tensor<8x4xf32>, tensor<4x1xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}
