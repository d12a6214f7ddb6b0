// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=outer-product,matrix-vector,matrix-vector-back,transpose-identity}' | filecheck %s

// Products with one column, one row or one term as multiplications and sums (catalogue 14).

// outer-product.
// CHECK-LABEL: func.func @main(%outer
// CHECK:      %outer_1 = equivalence.class %outer
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.mul %outer_1, %b_1
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.matmul %outer_1, %b_1
// CHECK-NEXT: %y = equivalence.class [[V1]], [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%outer: tensor<8x1xf32>, %b: tensor<1x6xf32>) -> tensor<8x6xf32> {
  %y = forge.matmul %outer, %b : (tensor<8x1xf32>, tensor<1x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// Not outer-product: two terms.
// CHECK-LABEL: func.func @main(%two
// CHECK:      %two_1 = equivalence.class %two
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %two_1, %b_1
// CHECK-NEXT: %y = equivalence.class [[V1]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%two: tensor<8x2xf32>, %b: tensor<2x6xf32>) -> tensor<8x6xf32> {
  %y = forge.matmul %two, %b : (tensor<8x2xf32>, tensor<2x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// matrix-vector; matrix-vector-back finds the product again.
// CHECK-LABEL: func.func @main(%matrix
// CHECK:      %matrix_1 = equivalence.class %matrix
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.transpose [[V2:%[0-9]+]] perm [1, 0]
// CHECK-NEXT: %v_1 = equivalence.class %v, [[V1]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %matrix_1, %v_1
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.reduce sum over 1 [[V5:%[0-9]+]]
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V4]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.transpose %v_1 perm [1, 0]
// CHECK-NEXT: [[V2]] = equivalence.class [[V6]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.mul %matrix_1, [[V2]]
// CHECK-NEXT: [[V5]] = equivalence.class [[V7]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%matrix: tensor<8x4xf32>, %v: tensor<4x1xf32>) -> tensor<8x1xf32> {
  %y = forge.matmul %matrix, %v : (tensor<8x4xf32>, tensor<4x1xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not matrix-vector: two columns.
// CHECK-LABEL: func.func @main(%columns
// CHECK:      %columns_1 = equivalence.class %columns
// CHECK-NEXT: %v_1 = equivalence.class %v
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %columns_1, %v_1
// CHECK-NEXT: %y = equivalence.class [[V1]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%columns: tensor<8x4xf32>, %v: tensor<4x2xf32>) -> tensor<8x2xf32> {
  %y = forge.matmul %columns, %v : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  func.return %y : tensor<8x2xf32>
}

// -----

// matrix-vector-back.
// CHECK-LABEL: func.func @main(%weighted
// CHECK:      %weighted_1 = equivalence.class %weighted
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.transpose [[V2:%[0-9]+]] perm [1, 0]
// CHECK-NEXT: %v_1 = equivalence.class %v, [[V1]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.mul %weighted_1, %v_1
// CHECK-NEXT: %p = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.matmul %weighted_1, [[V2]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.reduce sum over 1 %p
// CHECK-NEXT: %y = equivalence.class [[V4]], [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.transpose %v_1 perm [1, 0]
// CHECK-NEXT: [[V2]] = equivalence.class [[V6]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%weighted: tensor<8x4xf32>, %v: tensor<1x4xf32>) -> tensor<8x1xf32> {
  %p = forge.mul %weighted, %v : (tensor<8x4xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
  %y = forge.reduce sum over 1 %p : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not matrix-vector-back: the weights are not the same in all rows.
// CHECK-LABEL: func.func @main(%rows
// CHECK:      %rows_1 = equivalence.class %rows
// CHECK-NEXT: %v_1 = equivalence.class %v
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.mul %rows_1, %v_1
// CHECK-NEXT: %p = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reduce sum over 1 %p
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%rows: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<8x1xf32> {
  %p = forge.mul %rows, %v : tensor<8x4xf32>
  %y = forge.reduce sum over 1 %p : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not matrix-vector-back: the sum runs over the rows.
// CHECK-LABEL: func.func @main(%down
// CHECK:      %down_1 = equivalence.class %down
// CHECK-NEXT: %v_1 = equivalence.class %v
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.mul %down_1, %v_1
// CHECK-NEXT: %p = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reduce sum over 0 %p
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%down: tensor<8x4xf32>, %v: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %p = forge.mul %down, %v : (tensor<8x4xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
  %y = forge.reduce sum over 0 %p : (tensor<8x4xf32>) -> tensor<1x4xf32>
  func.return %y : tensor<1x4xf32>
}
