// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=associate}' | filecheck %s

// Associative operators (catalogue 1).

// associate.
// CHECK-LABEL: func.func @main(%a
// CHECK:       [[V2:%[0-9]+]] = forge.add %a_1, [[V3:%[0-9]+]]
// CHECK:       [[V4:%[0-9]+]] = forge.add %ab, %k_1
// CHECK:       %y = equivalence.class [[V2]], [[V4]]
// CHECK:       [[V5:%[0-9]+]] = forge.add %b_1, %k_1
// CHECK:       [[V3]] = equivalence.class [[V5]]
func.func @main(%a: tensor<8x4xf32>, %b: tensor<8x1xf32>, %k: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %ab = forge.add %a, %b : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.add %ab, %k : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// A product of sums is no sum of products.
// CHECK-LABEL: func.func @main(%factor
// CHECK:       [[V2:%[0-9]+]] = forge.mul %ab, %k_1
// CHECK:       %y = equivalence.class [[V2]]
func.func @main(%factor: tensor<8x4xf32>, %b: tensor<8x4xf32>, %k: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %ab = forge.add %factor, %b : tensor<8x4xf32>
  %y = forge.mul %ab, %k : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Differences don't associate.
// CHECK-LABEL: func.func @main(%minuend
// CHECK:       [[V2:%[0-9]+]] = forge.sub %ab, %k_1
// CHECK:       %y = equivalence.class [[V2]]
func.func @main(%minuend: tensor<8x4xf32>, %b: tensor<8x4xf32>, %k: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %ab = forge.sub %minuend, %b : tensor<8x4xf32>
  %y = forge.sub %ab, %k : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}
