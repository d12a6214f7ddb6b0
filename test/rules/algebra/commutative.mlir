// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=commute}' | filecheck %s

// Commutative and associative operators (catalogue 1).

// commute.
// CHECK-LABEL: func.func @main(%a
// CHECK:       [[V1:%[0-9]+]] = forge.max %a_1, %b_1
// CHECK:       [[V2:%[0-9]+]] = forge.max %b_1, %a_1
// CHECK:       %y = equivalence.class [[V1]], [[V2]]
func.func @main(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %y = forge.max %a, %b : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// commute, what broadcasts too.
// CHECK-LABEL: func.func @main(%wide
// CHECK:       [[V1:%[0-9]+]] = forge.mul %wide_1, %b_1
// CHECK:       [[V2:%[0-9]+]] = forge.mul %b_1, %wide_1
// CHECK:       %y = equivalence.class [[V1]], [[V2]]
func.func @main(%wide: tensor<8x4xf32>, %b: tensor<8x1xf32>) -> tensor<8x4xf32> {
  %y = forge.mul %wide, %b : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Differences don't commute.
// CHECK-LABEL: func.func @main(%minuend
// CHECK:       [[V1:%[0-9]+]] = forge.sub %minuend_1, %b_1
// CHECK:       %y = equivalence.class [[V1]]
func.func @main(%minuend: tensor<8x4xf32>, %b: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %y = forge.sub %minuend, %b : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Comparisons don't commute.
// CHECK-LABEL: func.func @main(%less
// CHECK:       [[V1:%[0-9]+]] = forge.compare lt %less_1, %b_1
// CHECK:       %y = equivalence.class [[V1]]
func.func @main(%less: tensor<8x4xf32>, %b: tensor<8x4xf32>) -> tensor<8x4xi1> {
  %y = forge.compare lt %less, %b : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xi1>
  func.return %y : tensor<8x4xi1>
}
