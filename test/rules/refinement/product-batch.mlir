// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=1},saturate{rules=refine-batch}' | filecheck %s

// Batch dimensions of a product in tiles; a broadcast operand is replicated.

// refine-batch.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = tile.combine [[V2:%[0-9]+]] along 0 by @x0
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %x_1, %w_1
// CHECK-NEXT: %y = equivalence.class [[V1]], [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = tile.partition %x_1 along 0 by @x0
// CHECK-NEXT: [[V5:%[0-9]+]] = equivalence.class [[V4]]
// CHECK-NEXT: [[V6:%[0-9]+]] = tile.partition %w_1 along 0 by @x0
// CHECK-NEXT: [[V7:%[0-9]+]] = equivalence.class [[V6]]
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.matmul [[V5]], [[V7]]
// CHECK-NEXT: [[V9:%[0-9]+]] = tile.partition %y along 0 by @x0
// CHECK-NEXT: [[V2]] = equivalence.class [[V8]], [[V9]]
func.func @main(%x: tensor<2x8x4xf32>, %w: tensor<2x4x6xf32>) -> tensor<2x8x6xf32> {
  %y = forge.matmul %x, %w : (tensor<2x8x4xf32>, tensor<2x4x6xf32>) -> tensor<2x8x6xf32>
  func.return %y : tensor<2x8x6xf32>
}

// -----

// refine-batch: w is shared by the batch.
// CHECK-LABEL: func.func @main(%shared
// CHECK:      %shared_1 = equivalence.class %shared
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = tile.combine [[V2:%[0-9]+]] along 0 by @shared0
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %shared_1, %w_1
// CHECK-NEXT: %y = equivalence.class [[V1]], [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = tile.partition %shared_1 along 0 by @shared0
// CHECK-NEXT: [[V5:%[0-9]+]] = equivalence.class [[V4]]
// CHECK-NEXT: [[V6:%[0-9]+]] = tile.replicate %w_1 by @shared0
// CHECK-NEXT: [[V7:%[0-9]+]] = equivalence.class [[V6]]
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.matmul [[V5]], [[V7]]
// CHECK-NEXT: [[V9:%[0-9]+]] = tile.partition %y along 0 by @shared0
// CHECK-NEXT: [[V2]] = equivalence.class [[V8]], [[V9]]
func.func @main(%shared: tensor<2x8x4xf32>, %w: tensor<1x4x6xf32>) -> tensor<2x8x6xf32> {
  %y = forge.matmul %shared, %w : (tensor<2x8x4xf32>, tensor<1x4x6xf32>) -> tensor<2x8x6xf32>
  func.return %y : tensor<2x8x6xf32>
}

// -----

// Not refine-batch: one batch.
// CHECK-LABEL: func.func @main(%alone
// CHECK:      %alone_1 = equivalence.class %alone
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %alone_1, %w_1
// CHECK-NEXT: %y = equivalence.class [[V1]]
func.func @main(%alone: tensor<1x8x4xf32>, %w: tensor<1x4x6xf32>) -> tensor<1x8x6xf32> {
  %y = forge.matmul %alone, %w : (tensor<1x8x4xf32>, tensor<1x4x6xf32>) -> tensor<1x8x6xf32>
  func.return %y : tensor<1x8x6xf32>
}
