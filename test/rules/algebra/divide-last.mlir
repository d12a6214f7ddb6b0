// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=divide-last}' | filecheck %s

// A quotient is scaled before it is divided (catalogue 1).

// divide-last.
// CHECK-LABEL: func.func @main(%a
// CHECK:       [[V2:%[0-9]+]] = forge.div [[V3:%[0-9]+]], %b_1
// CHECK:       [[V4:%[0-9]+]] = forge.mul %q, %k_1
// CHECK:       %y = equivalence.class [[V2]], [[V4]]
// CHECK:       [[V5:%[0-9]+]] = forge.mul %a_1, %k_1
// CHECK:       [[V3]] = equivalence.class [[V5]]
func.func @main(%a: tensor<8x4xf32>, %b: tensor<8x1xf32>, %k: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %q = forge.div %a, %b : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.mul %q, %k : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not divide-last: the quotient of integers is rounded.
// CHECK-LABEL: func.func @main(%ia
// CHECK:       [[V2:%[0-9]+]] = forge.mul %q, %k_1
// CHECK:       %y = equivalence.class [[V2]]
func.func @main(%ia: tensor<8x4xi32>, %b: tensor<8x4xi32>, %k: tensor<8x4xi32>) -> tensor<8x4xi32> {
  %q = forge.div %ia, %b : tensor<8x4xi32>
  %y = forge.mul %q, %k : tensor<8x4xi32>
  func.return %y : tensor<8x4xi32>
}
