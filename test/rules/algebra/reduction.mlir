// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=sum-of-scaled,sum-of-quotients,sum-of-sum,max-of-shifted,max-of-scaled}' | filecheck %s

// Factors, summands and monotone functions through reductions (catalogue 10, 11).

// sum-of-scaled: a is constant along the dimension.
// CHECK-LABEL: func.func @main(%scaled
// CHECK:       [[V2:%[0-9]+]] = forge.mul [[V3:%[0-9]+]], %a_1
// CHECK:       [[V4:%[0-9]+]] = forge.reduce sum over 1 %ax
// CHECK:       %y = equivalence.class [[V2]], [[V4]]
// CHECK:       [[V5:%[0-9]+]] = forge.reduce sum over 1 %scaled_1
// CHECK:       [[V3]] = equivalence.class [[V5]]
func.func @main(%scaled: tensor<8x4xf32>, %a: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %ax = forge.mul %scaled, %a : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.reduce sum over 1 %ax : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not sum-of-scaled: a varies along the dimension.
// CHECK-LABEL: func.func @main(%varies
// CHECK:       [[V2:%[0-9]+]] = forge.reduce sum over 1 %ax
// CHECK:       %y = equivalence.class [[V2]]
func.func @main(%varies: tensor<8x4xf32>, %a: tensor<1x4xf32>) -> tensor<8x1xf32> {
  %ax = forge.mul %varies, %a : (tensor<8x4xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
  %y = forge.reduce sum over 1 %ax : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not sum-of-scaled: a product is no sum.
// CHECK-LABEL: func.func @main(%prod
// CHECK:       [[V2:%[0-9]+]] = forge.reduce prod over 1 %ax
// CHECK:       %y = equivalence.class [[V2]]
func.func @main(%prod: tensor<8x4xf32>, %a: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %ax = forge.mul %prod, %a : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.reduce prod over 1 %ax : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not sum-of-scaled: the sum counts x four times.
// CHECK-LABEL: func.func @main(%repeated
// CHECK:       [[V2:%[0-9]+]] = forge.reduce sum over 1 %ax
// CHECK:       %y = equivalence.class [[V2]]
func.func @main(%repeated: tensor<8x1xf32>, %a: tensor<8x4xf32>) -> tensor<8x1xf32> {
  %ax = forge.mul %repeated, %a : (tensor<8x1xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %y = forge.reduce sum over 1 %ax : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// sum-of-quotients: the divisor is constant along the dimension.
// CHECK-LABEL: func.func @main(%quotient
// CHECK:       [[V2:%[0-9]+]] = forge.div [[V3:%[0-9]+]], %a_1
// CHECK:       [[V4:%[0-9]+]] = forge.reduce sum over 0 %xa
// CHECK:       %y = equivalence.class [[V2]], [[V4]]
// CHECK:       [[V5:%[0-9]+]] = forge.reduce sum over 0 %quotient_1
// CHECK:       [[V3]] = equivalence.class [[V5]]
func.func @main(%quotient: tensor<8x4xf32>, %a: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %xa = forge.div %quotient, %a : (tensor<8x4xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
  %y = forge.reduce sum over 0 %xa : (tensor<8x4xf32>) -> tensor<1x4xf32>
  func.return %y : tensor<1x4xf32>
}

// -----

// Not sum-of-quotients: it is the dividend that is constant.
// CHECK-LABEL: func.func @main(%dividend
// CHECK:       [[V2:%[0-9]+]] = forge.reduce sum over 0 %xa
// CHECK:       %y = equivalence.class [[V2]]
func.func @main(%dividend: tensor<8x4xf32>, %a: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %xa = forge.div %a, %dividend : (tensor<1x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %y = forge.reduce sum over 0 %xa : (tensor<8x4xf32>) -> tensor<1x4xf32>
  func.return %y : tensor<1x4xf32>
}

// -----

// sum-of-sum: both summands have the shape of their sum.
// CHECK-LABEL: func.func @main(%left
// CHECK:       [[V2:%[0-9]+]] = forge.add [[V3:%[0-9]+]], [[V4:%[0-9]+]]
// CHECK:       [[V5:%[0-9]+]] = forge.reduce sum over 1 %xy
// CHECK:       %y = equivalence.class [[V2]], [[V5]]
// CHECK:       [[V6:%[0-9]+]] = forge.reduce sum over 1 %left_1
// CHECK:       [[V3]] = equivalence.class [[V6]]
// CHECK:       [[V7:%[0-9]+]] = forge.reduce sum over 1 %right_1
// CHECK:       [[V4]] = equivalence.class [[V7]]
func.func @main(%left: tensor<8x4xf32>, %right: tensor<8x4xf32>) -> tensor<8x1xf32> {
  %xy = forge.add %left, %right : tensor<8x4xf32>
  %y = forge.reduce sum over 1 %xy : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not sum-of-sum: b stands in the sum four times.
// CHECK-LABEL: func.func @main(%counted
// CHECK:       [[V2:%[0-9]+]] = forge.reduce sum over 1 %xb
// CHECK:       %y = equivalence.class [[V2]]
func.func @main(%counted: tensor<8x4xf32>, %b: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %xb = forge.add %counted, %b : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.reduce sum over 1 %xb : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// max-of-shifted: the shift is constant along the dimension.
// CHECK-LABEL: func.func @main(%shifted
// CHECK:       [[V2:%[0-9]+]] = forge.add [[V3:%[0-9]+]], %a_1
// CHECK:       [[V4:%[0-9]+]] = forge.reduce max over 1 %xa
// CHECK:       %y = equivalence.class [[V2]], [[V4]]
// CHECK:       [[V5:%[0-9]+]] = forge.reduce max over 1 %shifted_1
// CHECK:       [[V3]] = equivalence.class [[V5]]
func.func @main(%shifted: tensor<8x4xf32>, %a: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %xa = forge.add %shifted, %a : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.reduce max over 1 %xa : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not max-of-shifted: the shift varies along the dimension.
// CHECK-LABEL: func.func @main(%notshifted
// CHECK:       [[V2:%[0-9]+]] = forge.reduce max over 1 %xa
// CHECK:       %y = equivalence.class [[V2]]
func.func @main(%notshifted: tensor<8x4xf32>, %a: tensor<1x4xf32>) -> tensor<8x1xf32> {
  %xa = forge.add %notshifted, %a : (tensor<8x4xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
  %y = forge.reduce max over 1 %xa : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// max-of-scaled: the factor is positive.
// CHECK-LABEL: func.func @main(%positive
// CHECK:       [[V3:%[0-9]+]] = forge.mul [[V4:%[0-9]+]], %half
// CHECK:       [[V5:%[0-9]+]] = forge.reduce max over 1 %xa
// CHECK:       %y = equivalence.class [[V3]], [[V5]]
// CHECK:       [[V6:%[0-9]+]] = forge.reduce max over 1 %positive_1
// CHECK:       [[V4]] = equivalence.class [[V6]]
func.func @main(%positive: tensor<8x4xf32>) -> tensor<8x1xf32> {
  %half = forge.constant 0.5 : tensor<1x1xf32>
  %xa = forge.mul %positive, %half : (tensor<8x4xf32>, tensor<1x1xf32>) -> tensor<8x4xf32>
  %y = forge.reduce max over 1 %xa : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not max-of-scaled: a negative factor turns the maximum into a minimum.
// CHECK-LABEL: func.func @main(%negative
// CHECK:       [[V3:%[0-9]+]] = forge.reduce max over 1 %xa
// CHECK:       %y = equivalence.class [[V3]]
func.func @main(%negative: tensor<8x4xf32>) -> tensor<8x1xf32> {
  %half = forge.constant -0.5 : tensor<1x1xf32>
  %xa = forge.mul %negative, %half : (tensor<8x4xf32>, tensor<1x1xf32>) -> tensor<8x4xf32>
  %y = forge.reduce max over 1 %xa : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not max-of-scaled: exp is not negative, but may underflow to 0, and 0 times inf is NaN.
// CHECK-LABEL: func.func @main(%nonneg
// CHECK:       [[V3:%[0-9]+]] = forge.reduce max over 1 %xa
// CHECK:       %y = equivalence.class [[V3]]
func.func @main(%nonneg: tensor<8x4xf32>, %a: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %e = forge.exp %a : tensor<8x1xf32>
  %xa = forge.mul %nonneg, %e : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.reduce max over 1 %xa : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}
