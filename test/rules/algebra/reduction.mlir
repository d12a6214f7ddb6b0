// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=sum-of-scaled,sum-of-quotients,sum-of-sum,max-of-shifted,max-of-scaled}' | filecheck %s

// Factors, summands and monotone functions through reductions (catalogue 10, 11).

// sum-of-scaled: a is constant along the dimension.
// CHECK-LABEL: func.func @main(%scaled
// CHECK:      %scaled_1 = equivalence.class %scaled
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %r_1
// CHECK-NEXT: %a = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.mul %scaled_1, %a
// CHECK-NEXT: %ax = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.mul [[V4:%[0-9]+]], %a
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.reduce sum over 1 %ax
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.reduce sum over 1 %scaled_1
// CHECK-NEXT: [[V4]] = equivalence.class [[V6]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%scaled: tensor<8x4xf32>, %r: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %a = forge.tanh %r : tensor<8x1xf32>
  %ax = forge.mul %scaled, %a : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.reduce sum over 1 %ax : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not sum-of-scaled: a varies along the dimension.
// CHECK-LABEL: func.func @main(%varies
// CHECK:      %varies_1 = equivalence.class %varies
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %r_1
// CHECK-NEXT: %a = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.mul %varies_1, %a
// CHECK-NEXT: %ax = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.reduce sum over 1 %ax
// CHECK-NEXT: %y = equivalence.class [[V3]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%varies: tensor<8x4xf32>, %r: tensor<1x4xf32>) -> tensor<8x1xf32> {
  %a = forge.tanh %r : tensor<1x4xf32>
  %ax = forge.mul %varies, %a : (tensor<8x4xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
  %y = forge.reduce sum over 1 %ax : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not sum-of-scaled: a product is no sum.
// CHECK-LABEL: func.func @main(%prod
// CHECK:      %prod_1 = equivalence.class %prod
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %r_1
// CHECK-NEXT: %a = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.mul %prod_1, %a
// CHECK-NEXT: %ax = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.reduce prod over 1 %ax
// CHECK-NEXT: %y = equivalence.class [[V3]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%prod: tensor<8x4xf32>, %r: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %a = forge.tanh %r : tensor<8x1xf32>
  %ax = forge.mul %prod, %a : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.reduce prod over 1 %ax : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not sum-of-scaled: the sum counts x four times.
// CHECK-LABEL: func.func @main(%repeated
// CHECK:      %repeated_1 = equivalence.class %repeated
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %r_1
// CHECK-NEXT: %a = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.mul %repeated_1, %a
// CHECK-NEXT: %ax = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.reduce sum over 1 %ax
// CHECK-NEXT: %y = equivalence.class [[V3]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%repeated: tensor<8x1xf32>, %r: tensor<8x4xf32>) -> tensor<8x1xf32> {
  %a = forge.tanh %r : tensor<8x4xf32>
  %ax = forge.mul %repeated, %a : (tensor<8x1xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %y = forge.reduce sum over 1 %ax : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not sum-of-scaled: where a is infinite, ∞·1 − ∞·2 is NaN and ∞·(1 − 2) is not.
// CHECK-LABEL: func.func @main(%infinite
// CHECK:      %infinite_1 = equivalence.class %infinite
// CHECK-NEXT: %a_1 = equivalence.class %a
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.mul %infinite_1, %a_1
// CHECK-NEXT: %ax = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reduce sum over 1 %ax
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%infinite: tensor<8x4xf32>, %a: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %ax = forge.mul %infinite, %a : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.reduce sum over 1 %ax : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// sum-of-quotients: the divisor is constant along the dimension, and at least 1/2.
// CHECK-LABEL: func.func @main(%quotient
// CHECK:      %quotient_1 = equivalence.class %quotient
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.constant
// CHECK-NEXT: %half = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.max %r_1, %half
// CHECK-NEXT: %a = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.div %quotient_1, %a
// CHECK-NEXT: %xa = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.div [[V5:%[0-9]+]], %a
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.reduce sum over 0 %xa
// CHECK-NEXT: %y = equivalence.class [[V4]], [[V6]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.reduce sum over 0 %quotient_1
// CHECK-NEXT: [[V5]] = equivalence.class [[V7]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%quotient: tensor<8x4xf32>, %r: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %half = forge.constant 0.5 : tensor<1x1xf32>
  %a = forge.max %r, %half : (tensor<1x4xf32>, tensor<1x1xf32>) -> tensor<1x4xf32>
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

// Not sum-of-quotients: where a is 0, 1/0 − 2/0 is NaN and (1 − 2)/0 is not.
// CHECK-LABEL: func.func @main(%zero
// CHECK:      %zero_1 = equivalence.class %zero
// CHECK-NEXT: %a_1 = equivalence.class %a
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.div %zero_1, %a_1
// CHECK-NEXT: %xa = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reduce sum over 0 %xa
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%zero: tensor<8x4xf32>, %a: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %xa = forge.div %zero, %a : (tensor<8x4xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
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
// CHECK:      %shifted_1 = equivalence.class %shifted
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %r_1
// CHECK-NEXT: %a = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.add %shifted_1, %a
// CHECK-NEXT: %xa = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.add [[V4:%[0-9]+]], %a
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.reduce max over 1 %xa
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.reduce max over 1 %shifted_1
// CHECK-NEXT: [[V4]] = equivalence.class [[V6]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%shifted: tensor<8x4xf32>, %r: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %a = forge.tanh %r : tensor<8x1xf32>
  %xa = forge.add %shifted, %a : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.reduce max over 1 %xa : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not max-of-shifted: the shift varies along the dimension.
// CHECK-LABEL: func.func @main(%notshifted
// CHECK:      %notshifted_1 = equivalence.class %notshifted
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %r_1
// CHECK-NEXT: %a = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.add %notshifted_1, %a
// CHECK-NEXT: %xa = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.reduce max over 1 %xa
// CHECK-NEXT: %y = equivalence.class [[V3]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%notshifted: tensor<8x4xf32>, %r: tensor<1x4xf32>) -> tensor<8x1xf32> {
  %a = forge.tanh %r : tensor<1x4xf32>
  %xa = forge.add %notshifted, %a : (tensor<8x4xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
  %y = forge.reduce max over 1 %xa : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not max-of-shifted: where a is ∞, −∞ + ∞ is NaN.
// CHECK-LABEL: func.func @main(%infshift
// CHECK:      %infshift_1 = equivalence.class %infshift
// CHECK-NEXT: %a_1 = equivalence.class %a
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.add %infshift_1, %a_1
// CHECK-NEXT: %xa = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reduce max over 1 %xa
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%infshift: tensor<8x4xf32>, %a: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %xa = forge.add %infshift, %a : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
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
