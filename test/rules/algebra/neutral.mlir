// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=add-zero,subtract-zero,times-one,over-one,negate-twice,negate-as-difference}' | filecheck %s

// Neutral elements (catalogue 21): only where the result keeps its shape, and with the sign of zero.

// add-zero: -0.0 changes no number.
// CHECK-LABEL: func.func @main(%plus
// CHECK:       [[V1:%[0-9]+]] = forge.add %plus_1, %zero
// CHECK:       %plus_1 = equivalence.class [[V1]], %plus
func.func @main(%plus: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %zero = forge.constant -0.0 : tensor<1x1xf32>
  %y = forge.add %plus, %zero : (tensor<8x4xf32>, tensor<1x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not add-zero: -0.0 + 0.0 is 0.0.
// CHECK-LABEL: func.func @main(%plus_zero
// CHECK:       [[V2:%[0-9]+]] = forge.add %plus_zero_1, %zero
// CHECK:       %y = equivalence.class [[V2]]
func.func @main(%plus_zero: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %zero = forge.constant 0.0 : tensor<1x1xf32>
  %y = forge.add %plus_zero, %zero : (tensor<8x4xf32>, tensor<1x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not add-zero: the zeros broadcast x.
// CHECK-LABEL: func.func @main(%grows
// CHECK:       [[V2:%[0-9]+]] = forge.add %grows_1, %zero
// CHECK:       %y = equivalence.class [[V2]]
func.func @main(%grows: tensor<8x1xf32>) -> tensor<8x4xf32> {
  %zero = forge.constant -0.0 : tensor<1x4xf32>
  %y = forge.add %grows, %zero : (tensor<8x1xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// subtract-zero.
// CHECK-LABEL: func.func @main(%minus
// CHECK:       [[V1:%[0-9]+]] = forge.sub %minus_1, %zero
// CHECK:       %minus_1 = equivalence.class [[V1]], %minus
func.func @main(%minus: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %zero = forge.constant 0.0 : tensor<1x1xf32>
  %y = forge.sub %minus, %zero : (tensor<8x4xf32>, tensor<1x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not subtract-zero: -0.0 - -0.0 is 0.0.
// CHECK-LABEL: func.func @main(%minus_zero
// CHECK:       [[V2:%[0-9]+]] = forge.sub %minus_zero_1, %zero
// CHECK:       %y = equivalence.class [[V2]]
func.func @main(%minus_zero: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %zero = forge.constant -0.0 : tensor<1x1xf32>
  %y = forge.sub %minus_zero, %zero : (tensor<8x4xf32>, tensor<1x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// times-one.
// CHECK-LABEL: func.func @main(%times
// CHECK:       [[V1:%[0-9]+]] = forge.mul %times_1, %one
// CHECK:       %times_1 = equivalence.class [[V1]], %times
func.func @main(%times: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %one = forge.constant 1.0 : tensor<1x1xf32>
  %y = forge.mul %times, %one : (tensor<8x4xf32>, tensor<1x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not times-one: no rule drops a product with 0, which may be NaN.
// CHECK-LABEL: func.func @main(%times_zero
// CHECK:       [[V2:%[0-9]+]] = forge.mul %times_zero_1, %zero
// CHECK:       %y = equivalence.class [[V2]]
func.func @main(%times_zero: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %zero = forge.constant 0.0 : tensor<1x1xf32>
  %y = forge.mul %times_zero, %zero : (tensor<8x4xf32>, tensor<1x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not times-one: the ones broadcast x.
// CHECK-LABEL: func.func @main(%wide
// CHECK:       [[V2:%[0-9]+]] = forge.mul %wide_1, %one
// CHECK:       %y = equivalence.class [[V2]]
func.func @main(%wide: tensor<8x1xf32>) -> tensor<8x4xf32> {
  %one = forge.constant 1.0 : tensor<1x4xf32>
  %y = forge.mul %wide, %one : (tensor<8x1xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// over-one.
// CHECK-LABEL: func.func @main(%over
// CHECK:       [[V1:%[0-9]+]] = forge.div %over_1, %one
// CHECK:       %over_1 = equivalence.class [[V1]], %over
func.func @main(%over: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %one = forge.constant 1.0 : tensor<1x1xf32>
  %y = forge.div %over, %one : (tensor<8x4xf32>, tensor<1x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not over-one: 1 is the dividend.
// CHECK-LABEL: func.func @main(%under
// CHECK:       [[V2:%[0-9]+]] = forge.div %one, %under_1
// CHECK:       %y = equivalence.class [[V2]]
func.func @main(%under: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %one = forge.constant 1.0 : tensor<1x1xf32>
  %y = forge.div %one, %under : (tensor<1x1xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// negate-twice.
// CHECK-LABEL: func.func @main(%twice
// CHECK:       [[V1:%[0-9]+]] = forge.neg %m
// CHECK:       %twice_1 = equivalence.class %twice, [[V1]]
func.func @main(%twice: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %m = forge.neg %twice : tensor<8x4xf32>
  %y = forge.neg %m : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not negate-twice.
// CHECK-LABEL: func.func @main(%once
// CHECK:       [[V2:%[0-9]+]] = forge.neg %m
// CHECK:       %y = equivalence.class [[V2]]
func.func @main(%once: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %m = forge.abs %once : tensor<8x4xf32>
  %y = forge.neg %m : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// negate-as-difference: -0.0 - x is -x for zeros too.
// CHECK-LABEL: func.func @main(%difference
// CHECK:       [[V2:%[0-9]+]] = forge.sub %zero, %difference_1
// CHECK:       [[V3:%[0-9]+]] = forge.neg %difference_1
// CHECK:       %y = equivalence.class [[V2]], [[V3]]
func.func @main(%difference: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %zero = forge.constant -0.0 : tensor<1x1xf32>
  %y = forge.sub %zero, %difference : (tensor<1x1xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not negate-as-difference: 0.0 - 0.0 is 0.0, not -0.0.
// CHECK-LABEL: func.func @main(%from_zero
// CHECK:       [[V2:%[0-9]+]] = forge.sub %zero, %from_zero_1
// CHECK:       %y = equivalence.class [[V2]]
func.func @main(%from_zero: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %zero = forge.constant 0.0 : tensor<1x1xf32>
  %y = forge.sub %zero, %from_zero : (tensor<1x1xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}
