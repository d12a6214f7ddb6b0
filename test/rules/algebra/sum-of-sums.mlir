// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=sum-of-sum-back}' | filecheck %s

// Two sums over one dimension are one sum (catalogue 11, back).

// sum-of-sum-back.
// CHECK-LABEL: func.func @main(%left
// CHECK:       [[V3:%[0-9]+]] = forge.add %l, %r
// CHECK:       %y = equivalence.class [[V3]]
func.func @main(%left: tensor<8x4xf32>, %right: tensor<8x4xf32>) -> tensor<8x1xf32> {
  %l = forge.reduce sum over 1 %left : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %r = forge.reduce sum over 1 %right : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %y = forge.add %l, %r : tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Different dimensions.
// CHECK-LABEL: func.func @main(%rows
// CHECK:       [[V3:%[0-9]+]] = forge.add %l, %r
// CHECK:       %y = equivalence.class [[V3]]
func.func @main(%rows: tensor<4x4xf32>, %columns: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %l = forge.reduce sum over 1 %rows : (tensor<4x4xf32>) -> tensor<4x1xf32>
  %r = forge.reduce sum over 0 %columns : (tensor<4x4xf32>) -> tensor<1x4xf32>
  %y = forge.add %l, %r : (tensor<4x1xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  func.return %y : tensor<4x4xf32>
}

// -----

// Different lengths: the sum would broadcast.
// CHECK-LABEL: func.func @main(%long
// CHECK:       [[V3:%[0-9]+]] = forge.add %l, %r
// CHECK:       %y = equivalence.class [[V3]]
func.func @main(%long: tensor<8x4xf32>, %short: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %l = forge.reduce sum over 1 %long : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %r = forge.reduce sum over 1 %short : tensor<8x1xf32>
  %y = forge.add %l, %r : tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Maxima don't add up.
// CHECK-LABEL: func.func @main(%max_left
// CHECK:       [[V3:%[0-9]+]] = forge.add %l, %r
// CHECK:       %y = equivalence.class [[V3]]
func.func @main(%max_left: tensor<8x4xf32>, %max_right: tensor<8x4xf32>) -> tensor<8x1xf32> {
  %l = forge.reduce max over 1 %max_left : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %r = forge.reduce max over 1 %max_right : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %y = forge.add %l, %r : tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}
