// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=associate-right,associate-left,merge-low-rank,split-low-rank}' | filecheck %s

// Products are regrouped where that needs no more multiplications (catalogue 4). Where an operand is infinite, NaN may stand for an infinity.

// associate-right: many rows.
// CHECK-LABEL: func.func @main(%many
// CHECK:      %many_1 = equivalence.class %many
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %d_1 = equivalence.class %d
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %many_1, %b_1
// CHECK-NEXT: %p = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.matmul %many_1, [[V3:%[0-9]+]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.matmul %p, %d_1
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.matmul %b_1, %d_1
// CHECK-NEXT: [[V3]] = equivalence.class [[V5]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%many: tensor<64x8xf32>, %b: tensor<8x4xf32>, %d: tensor<4x2xf32>) -> tensor<64x2xf32> {
  %p = forge.matmul %many, %b : (tensor<64x8xf32>, tensor<8x4xf32>) -> tensor<64x4xf32>
  %y = forge.matmul %p, %d : (tensor<64x4xf32>, tensor<4x2xf32>) -> tensor<64x2xf32>
  func.return %y : tensor<64x2xf32>
}

// -----

// Not associate-right: the narrow product in between is cheap.
// CHECK-LABEL: func.func @main(%wide
// CHECK:      %wide_1 = equivalence.class %wide
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %d_1 = equivalence.class %d
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %wide_1, %b_1
// CHECK-NEXT: %p = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.matmul %p, %d_1
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%wide: tensor<2x64xf32>, %b: tensor<64x4xf32>, %d: tensor<4x64xf32>) -> tensor<2x64xf32> {
  %p = forge.matmul %wide, %b : (tensor<2x64xf32>, tensor<64x4xf32>) -> tensor<2x4xf32>
  %y = forge.matmul %p, %d : (tensor<2x4xf32>, tensor<4x64xf32>) -> tensor<2x64xf32>
  func.return %y : tensor<2x64xf32>
}

// -----

// associate-left.
// CHECK-LABEL: func.func @main(%few
// CHECK:      %few_1 = equivalence.class %few
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %d_1 = equivalence.class %d
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %b_1, %d_1
// CHECK-NEXT: %p = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.matmul %few_1, %p
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul [[V4:%[0-9]+]], %d_1
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V3]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.matmul %few_1, %b_1
// CHECK-NEXT: [[V4]] = equivalence.class [[V5]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%few: tensor<2x64xf32>, %b: tensor<64x4xf32>, %d: tensor<4x64xf32>) -> tensor<2x64xf32> {
  %p = forge.matmul %b, %d : (tensor<64x4xf32>, tensor<4x64xf32>) -> tensor<64x64xf32>
  %y = forge.matmul %few, %p : (tensor<2x64xf32>, tensor<64x64xf32>) -> tensor<2x64xf32>
  func.return %y : tensor<2x64xf32>
}

// -----

// Not associate-left: the product of the weights is small.
// CHECK-LABEL: func.func @main(%tall
// CHECK:      %tall_1 = equivalence.class %tall
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %d_1 = equivalence.class %d
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %b_1, %d_1
// CHECK-NEXT: %p = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.matmul %tall_1, %p
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%tall: tensor<64x8xf32>, %b: tensor<8x4xf32>, %d: tensor<4x2xf32>) -> tensor<64x2xf32> {
  %p = forge.matmul %b, %d : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  %y = forge.matmul %tall, %p : (tensor<64x8xf32>, tensor<8x2xf32>) -> tensor<64x2xf32>
  func.return %y : tensor<64x2xf32>
}

// -----

// associate-right in a batch that the weights broadcast over.
// CHECK-LABEL: func.func @main(%batched
// CHECK:      %batched_1 = equivalence.class %batched
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %d_1 = equivalence.class %d
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %batched_1, %b_1
// CHECK-NEXT: %p = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.matmul %batched_1, [[V3:%[0-9]+]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.matmul %p, %d_1
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.matmul %b_1, %d_1
// CHECK-NEXT: [[V3]] = equivalence.class [[V5]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%batched: tensor<3x64x8xf32>, %b: tensor<1x8x4xf32>, %d: tensor<1x4x2xf32>) -> tensor<3x64x2xf32> {
  %p = forge.matmul %batched, %b : (tensor<3x64x8xf32>, tensor<1x8x4xf32>) -> tensor<3x64x4xf32>
  %y = forge.matmul %p, %d : (tensor<3x64x4xf32>, tensor<1x4x2xf32>) -> tensor<3x64x2xf32>
  func.return %y : tensor<3x64x2xf32>
}

// -----

// merge-low-rank: for 64 rows the update is formed once, for all of them.
// CHECK-LABEL: func.func @main(%merged
// CHECK:      %merged_1 = equivalence.class %merged
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: %a_1 = equivalence.class %a
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %merged_1, %w_1
// CHECK-NEXT: %p = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.matmul %merged_1, %a_1
// CHECK-NEXT: %u = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %u, %b_1
// CHECK-NEXT: %q = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.add %q, %p
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.matmul %merged_1, [[V6:%[0-9]+]]
// CHECK-NEXT: %y = equivalence.class [[V4]], [[V5]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.matmul %a_1, %b_1
// CHECK-NEXT: [[V8:%[0-9]+]] = equivalence.class [[V7]]
// CHECK-NEXT: [[V9:%[0-9]+]] = forge.add [[V8]], %w_1
// CHECK-NEXT: [[V6]] = equivalence.class [[V9]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%merged: tensor<64x8xf32>, %w: tensor<8x8xf32>, %a: tensor<8x4xf32>, %b: tensor<4x8xf32>) -> tensor<64x8xf32> {
  %p = forge.matmul %merged, %w : (tensor<64x8xf32>, tensor<8x8xf32>) -> tensor<64x8xf32>
  %u = forge.matmul %merged, %a : (tensor<64x8xf32>, tensor<8x4xf32>) -> tensor<64x4xf32>
  %q = forge.matmul %u, %b : (tensor<64x4xf32>, tensor<4x8xf32>) -> tensor<64x8xf32>
  %y = forge.add %q, %p : tensor<64x8xf32>
  func.return %y : tensor<64x8xf32>
}

// -----

// Not merge-low-rank: for two rows the product with the update is dearer.
// CHECK-LABEL: func.func @main(%decoded
// CHECK:      %decoded_1 = equivalence.class %decoded
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: %a_1 = equivalence.class %a
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %decoded_1, %w_1
// CHECK-NEXT: %p = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.matmul %decoded_1, %a_1
// CHECK-NEXT: %u = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %u, %b_1
// CHECK-NEXT: %q = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.add %q, %p
// CHECK-NEXT: %y = equivalence.class [[V4]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%decoded: tensor<2x8xf32>, %w: tensor<8x8xf32>, %a: tensor<8x4xf32>, %b: tensor<4x8xf32>) -> tensor<2x8xf32> {
  %p = forge.matmul %decoded, %w : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %u = forge.matmul %decoded, %a : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
  %q = forge.matmul %u, %b : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
  %y = forge.add %q, %p : tensor<2x8xf32>
  func.return %y : tensor<2x8xf32>
}

// -----

// split-low-rank: for two rows the update is applied without being formed.
// CHECK-LABEL: func.func @main(%updated
// CHECK:      %updated_1 = equivalence.class %updated
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: %a_1 = equivalence.class %a
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %a_1, %b_1
// CHECK-NEXT: %u = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.sub %u, %w_1
// CHECK-NEXT: %s = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.sub [[V4:%[0-9]+]], [[V5:%[0-9]+]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.matmul %updated_1, %s
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V6]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.matmul [[V8:%[0-9]+]], %b_1
// CHECK-NEXT: [[V4]] = equivalence.class [[V7]]
// CHECK-NEXT: [[V9:%[0-9]+]] = forge.matmul %updated_1, %w_1
// CHECK-NEXT: [[V5]] = equivalence.class [[V9]]
// CHECK-NEXT: [[V10:%[0-9]+]] = forge.matmul %updated_1, %a_1
// CHECK-NEXT: [[V8]] = equivalence.class [[V10]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%updated: tensor<2x8xf32>, %w: tensor<8x8xf32>, %a: tensor<8x4xf32>, %b: tensor<4x8xf32>) -> tensor<2x8xf32> {
  %u = forge.matmul %a, %b : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %s = forge.sub %u, %w : tensor<8x8xf32>
  %y = forge.matmul %updated, %s : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  func.return %y : tensor<2x8xf32>
}

// -----

// Not split-low-rank: for 64 rows the update is formed once.
// CHECK-LABEL: func.func @main(%trained
// CHECK:      %trained_1 = equivalence.class %trained
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: %a_1 = equivalence.class %a
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %a_1, %b_1
// CHECK-NEXT: %u = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.sub %u, %w_1
// CHECK-NEXT: %s = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %trained_1, %s
// CHECK-NEXT: %y = equivalence.class [[V3]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%trained: tensor<64x8xf32>, %w: tensor<8x8xf32>, %a: tensor<8x4xf32>, %b: tensor<4x8xf32>) -> tensor<64x8xf32> {
  %u = forge.matmul %a, %b : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %s = forge.sub %u, %w : tensor<8x8xf32>
  %y = forge.matmul %trained, %s : (tensor<64x8xf32>, tensor<8x8xf32>) -> tensor<64x8xf32>
  func.return %y : tensor<64x8xf32>
}
