// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=divide-first}' | filecheck %s

// A product is divided factor by factor (catalogue 1).

// divide-first.
// CHECK-LABEL: func.func @main(%a
// CHECK:       [[V2:%[0-9]+]] = forge.div %p, %b_1
// CHECK:       [[V3:%[0-9]+]] = forge.mul [[V4:%[0-9]+]], %k_1
// CHECK:       %y = equivalence.class [[V2]], [[V3]]
// CHECK:       [[V5:%[0-9]+]] = forge.div %a_1, %b_1
// CHECK:       [[V4]] = equivalence.class [[V5]]
func.func @main(%a: tensor<8x4xf32>, %b: tensor<8x1xf32>, %k: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %p = forge.mul %a, %k : tensor<8x4xf32>
  %y = forge.div %p, %b : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not divide-first: the quotient of integers is rounded.
// CHECK-LABEL: func.func @main(%ia
// CHECK:       [[V2:%[0-9]+]] = forge.div %p, %b_1
// CHECK:       %y = equivalence.class [[V2]]
func.func @main(%ia: tensor<8x4xi32>, %b: tensor<8x4xi32>, %k: tensor<8x4xi32>) -> tensor<8x4xi32> {
  %p = forge.mul %ia, %k : tensor<8x4xi32>
  %y = forge.div %p, %b : tensor<8x4xi32>
  func.return %y : tensor<8x4xi32>
}
