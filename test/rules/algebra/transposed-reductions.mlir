// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=transpose-reduction,product-of-transposes}' | filecheck %s

// Transposition of reductions and of both operands of a product (catalogue 5).

// transpose-reduction: the reduced dimension gets another number.
// CHECK-LABEL: func.func @main(%reduced
// CHECK:      %reduced_1 = equivalence.class %reduced
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reduce sum over 1 %reduced_1
// CHECK-NEXT: %s = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reduce sum over 0 [[V3:%[0-9]+]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.transpose %s perm [1, 0]
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.transpose %reduced_1 perm [1, 0]
// CHECK-NEXT: [[V3]] = equivalence.class [[V5]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%reduced: tensor<8x4xf32>) -> tensor<1x8xf32> {
  %s = forge.reduce sum over 1 %reduced : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %y = forge.transpose %s perm [1, 0] : (tensor<8x1xf32>) -> tensor<1x8xf32>
  func.return %y : tensor<1x8xf32>
}

// -----

// Not transpose-reduction: the elements are transposed first.
// CHECK-LABEL: func.func @main(%turned
// CHECK:      %turned_1 = equivalence.class %turned
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.transpose %turned_1 perm [1, 0]
// CHECK-NEXT: %s = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reduce sum over 1 %s
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%turned: tensor<8x4xf32>) -> tensor<4x1xf32> {
  %s = forge.transpose %turned perm [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %y = forge.reduce sum over 1 %s : (tensor<4x8xf32>) -> tensor<4x1xf32>
  func.return %y : tensor<4x1xf32>
}

// -----

// product-of-transposes.
// CHECK-LABEL: func.func @main(%both
// CHECK:      %both_1 = equivalence.class %both
// CHECK-NEXT: %a_1 = equivalence.class %a
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.transpose %both_1 perm [1, 0]
// CHECK-NEXT: %u = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.transpose %a_1 perm [1, 0]
// CHECK-NEXT: %v = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %u, %v
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.transpose [[V5:%[0-9]+]] perm [1, 0]
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V4]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.matmul %a_1, %both_1
// CHECK-NEXT: [[V5]] = equivalence.class [[V6]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%both: tensor<4x6xf32>, %a: tensor<8x4xf32>) -> tensor<6x8xf32> {
  %u = forge.transpose %both perm [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %v = forge.transpose %a perm [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %y = forge.matmul %u, %v : (tensor<6x4xf32>, tensor<4x8xf32>) -> tensor<6x8xf32>
  func.return %y : tensor<6x8xf32>
}

// -----

// Not product-of-transposes: one operand is not transposed.
// CHECK-LABEL: func.func @main(%one
// CHECK:      %one_1 = equivalence.class %one
// CHECK-NEXT: %a_1 = equivalence.class %a
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.transpose %one_1 perm [1, 0]
// CHECK-NEXT: %u = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.matmul %u, %a_1
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%one: tensor<4x6xf32>, %a: tensor<4x8xf32>) -> tensor<6x8xf32> {
  %u = forge.transpose %one perm [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %y = forge.matmul %u, %a : (tensor<6x4xf32>, tensor<4x8xf32>) -> tensor<6x8xf32>
  func.return %y : tensor<6x8xf32>
}
