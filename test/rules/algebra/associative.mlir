// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=associate}' | filecheck %s

// Associative operators (catalogue 1).

// associate.
// CHECK-LABEL: func.func @main(%a
// CHECK:      %a_1 = equivalence.class %a
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %k_1 = equivalence.class %k
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.add %a_1, %b_1
// CHECK-NEXT: %ab = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.add %a_1, [[V3:%[0-9]+]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.add %ab, %k_1
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.add %b_1, %k_1
// CHECK-NEXT: [[V3]] = equivalence.class [[V5]]
func.func @main(%a: tensor<8x4xf32>, %b: tensor<8x1xf32>, %k: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %ab = forge.add %a, %b : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.add %ab, %k : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// A product of sums is no sum of products.
// CHECK-LABEL: func.func @main(%factor
// CHECK:      %factor_1 = equivalence.class %factor
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %k_1 = equivalence.class %k
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.add %factor_1, %b_1
// CHECK-NEXT: %ab = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.mul %ab, %k_1
// CHECK-NEXT: %y = equivalence.class [[V2]]
func.func @main(%factor: tensor<8x4xf32>, %b: tensor<8x4xf32>, %k: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %ab = forge.add %factor, %b : tensor<8x4xf32>
  %y = forge.mul %ab, %k : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Differences don't associate.
// CHECK-LABEL: func.func @main(%minuend
// CHECK:      %minuend_1 = equivalence.class %minuend
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %k_1 = equivalence.class %k
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.sub %minuend_1, %b_1
// CHECK-NEXT: %ab = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.sub %ab, %k_1
// CHECK-NEXT: %y = equivalence.class [[V2]]
func.func @main(%minuend: tensor<8x4xf32>, %b: tensor<8x4xf32>, %k: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %ab = forge.sub %minuend, %b : tensor<8x4xf32>
  %y = forge.sub %ab, %k : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not associate: the sum has another use, where it is computed all the same (a residual of a layer).
// CHECK-LABEL: func.func @main(%state
// CHECK:      %state_1 = equivalence.class %state
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %k_1 = equivalence.class %k
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.add %state_1, %b_1
// CHECK-NEXT: %s = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.exp %s
// CHECK-NEXT: %e = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.add %s, %k_1
// CHECK-NEXT: %y = equivalence.class [[V3]]
func.func @main(%state: tensor<8x4xf32>, %b: tensor<8x4xf32>, %k: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %s = forge.add %state, %b : tensor<8x4xf32>
  %e = forge.exp %s : tensor<8x4xf32>
  %y = forge.add %s, %k : tensor<8x4xf32>
  func.return %y, %e : tensor<8x4xf32>, tensor<8x4xf32>
}
