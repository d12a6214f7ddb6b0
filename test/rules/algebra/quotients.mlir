// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=recip-sqrt,divide-by-sqrt,one-over,times-recip,sqrt-squared,recognise-sigmoid,recognise-sigmoid-commuted}' | filecheck %s

// Quotients, square roots and the sigmoid (catalogue 7, 20).

// recip-sqrt.
// CHECK-LABEL: func.func @main(%x
// CHECK:       [[V2:%[0-9]+]] = forge.recip %r
// CHECK:       [[V3:%[0-9]+]] = forge.rsqrt %x_1
// CHECK:       %y = equivalence.class [[V2]], [[V3]]
func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %r = forge.sqrt %x : tensor<8x4xf32>
  %y = forge.recip %r : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// divide-by-sqrt.
// CHECK-LABEL: func.func @main(%a
// CHECK:       [[V2:%[0-9]+]] = forge.div %a_1, %r
// CHECK:       [[V3:%[0-9]+]] = forge.mul %a_1, [[V4:%[0-9]+]]
// CHECK:       %y = equivalence.class [[V2]], [[V3]]
// CHECK:       [[V5:%[0-9]+]] = forge.rsqrt %b_1
// CHECK:       [[V4]] = equivalence.class [[V5]]
func.func @main(%a: tensor<8x4xf32>, %b: tensor<8x1xf32>) -> tensor<8x4xf32> {
  %r = forge.sqrt %b : tensor<8x1xf32>
  %y = forge.div %a, %r : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not divide-by-sqrt: the root is the dividend.
// CHECK-LABEL: func.func @main(%under
// CHECK:       [[V2:%[0-9]+]] = forge.div %r, %under_1
// CHECK:       %y = equivalence.class [[V2]]
func.func @main(%under: tensor<8x4xf32>, %b: tensor<8x1xf32>) -> tensor<8x4xf32> {
  %r = forge.sqrt %b : tensor<8x1xf32>
  %y = forge.div %r, %under : (tensor<8x1xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// one-over.
// CHECK-LABEL: func.func @main(%divisor
// CHECK:       [[V2:%[0-9]+]] = forge.div %one, %divisor_1
// CHECK:       [[V3:%[0-9]+]] = forge.recip %divisor_1
// CHECK:       %y = equivalence.class [[V2]], [[V3]]
func.func @main(%divisor: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %one = forge.constant 1.0 : tensor<1x1xf32>
  %y = forge.div %one, %divisor : (tensor<1x1xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not one-over.
// CHECK-LABEL: func.func @main(%two_over
// CHECK:       [[V2:%[0-9]+]] = forge.div %two, %two_over_1
// CHECK:       %y = equivalence.class [[V2]]
func.func @main(%two_over: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %two = forge.constant 2.0 : tensor<1x1xf32>
  %y = forge.div %two, %two_over : (tensor<1x1xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not one-over: the reciprocal would have the divisor's shape.
// CHECK-LABEL: func.func @main(%small
// CHECK:       [[V2:%[0-9]+]] = forge.div %one, %small_1
// CHECK:       %y = equivalence.class [[V2]]
func.func @main(%small: tensor<8x1xf32>) -> tensor<8x4xf32> {
  %one = forge.constant 1.0 : tensor<1x4xf32>
  %y = forge.div %one, %small : (tensor<1x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// times-recip.
// CHECK-LABEL: func.func @main(%factor
// CHECK:       [[V2:%[0-9]+]] = forge.div %factor_1, %b_1
// CHECK:       [[V3:%[0-9]+]] = forge.mul %factor_1, %r
// CHECK:       %y = equivalence.class [[V2]], [[V3]]
func.func @main(%factor: tensor<8x4xf32>, %b: tensor<8x1xf32>) -> tensor<8x4xf32> {
  %r = forge.recip %b : tensor<8x1xf32>
  %y = forge.mul %factor, %r : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not times-recip: an integer has no reciprocal, and integer division is another operator.
// CHECK-LABEL: func.func @main(%integer
// CHECK:       [[V3:%[0-9]+]] = forge.mul %integer_1, %q
// CHECK:       %y = equivalence.class [[V3]]
func.func @main(%integer: tensor<8x4xi32>, %b: tensor<8x4xi32>) -> tensor<8x4xi32> {
  %one = forge.constant 1 : tensor<1x1xi32>
  %q = forge.div %one, %b : (tensor<1x1xi32>, tensor<8x4xi32>) -> tensor<8x4xi32>
  %y = forge.mul %integer, %q : tensor<8x4xi32>
  func.return %y : tensor<8x4xi32>
}

// -----

// sqrt-squared: a square has a root.
// CHECK-LABEL: func.func @main(%square
// CHECK:       [[V1:%[0-9]+]] = forge.mul %square_1, %square_1
// CHECK:       [[V2:%[0-9]+]] = forge.mul %r, %r
// CHECK:       %s = equivalence.class [[V1]], [[V2]]
func.func @main(%square: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %s = forge.mul %square, %square : tensor<8x4xf32>
  %r = forge.sqrt %s : tensor<8x4xf32>
  %s_1 = forge.mul %square, %square : tensor<8x4xf32>
  %r_1 = forge.sqrt %s_1 : tensor<8x4xf32>
  %y = forge.mul %r, %r_1 : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not sqrt-squared: of a negative number the root is NaN.
// CHECK-LABEL: func.func @main(%any_sign
// CHECK:       [[V2:%[0-9]+]] = forge.mul %r, %r
// CHECK:       %y = equivalence.class [[V2]]
func.func @main(%any_sign: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %r = forge.sqrt %any_sign : tensor<8x4xf32>
  %r_1 = forge.sqrt %any_sign : tensor<8x4xf32>
  %y = forge.mul %r, %r_1 : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// recognise-sigmoid.
// CHECK-LABEL: func.func @main(%sig
// CHECK:       [[V5:%[0-9]+]] = forge.recip %d
// CHECK:       [[V6:%[0-9]+]] = forge.sigmoid %sig_1
// CHECK:       %y = equivalence.class [[V5]], [[V6]]
func.func @main(%sig: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %one = forge.constant 1.0 : tensor<1x1xf32>
  %m = forge.neg %sig : tensor<8x4xf32>
  %e = forge.exp %m : tensor<8x4xf32>
  %d = forge.add %one, %e : (tensor<1x1xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %y = forge.recip %d : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// recognise-sigmoid-commuted.
// CHECK-LABEL: func.func @main(%sig_c
// CHECK:       [[V5:%[0-9]+]] = forge.recip %d
// CHECK:       [[V6:%[0-9]+]] = forge.sigmoid %sig_c_1
// CHECK:       %y = equivalence.class [[V5]], [[V6]]
func.func @main(%sig_c: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %m = forge.neg %sig_c : tensor<8x4xf32>
  %e = forge.exp %m : tensor<8x4xf32>
  %one = forge.constant 1.0 : tensor<1x1xf32>
  %d = forge.add %e, %one : (tensor<8x4xf32>, tensor<1x1xf32>) -> tensor<8x4xf32>
  %y = forge.recip %d : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not recognise-sigmoid: 2 + exp(-x).
// CHECK-LABEL: func.func @main(%two
// CHECK:       [[V5:%[0-9]+]] = forge.recip %d
// CHECK:       %y = equivalence.class [[V5]]
func.func @main(%two: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %two_1 = forge.constant 2.0 : tensor<1x1xf32>
  %m = forge.neg %two : tensor<8x4xf32>
  %e = forge.exp %m : tensor<8x4xf32>
  %d = forge.add %two_1, %e : (tensor<1x1xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %y = forge.recip %d : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not recognise-sigmoid: exp(x).
// CHECK-LABEL: func.func @main(%positive
// CHECK:       [[V4:%[0-9]+]] = forge.recip %d
// CHECK:       %y = equivalence.class [[V4]]
func.func @main(%positive: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %one = forge.constant 1.0 : tensor<1x1xf32>
  %e = forge.exp %positive : tensor<8x4xf32>
  %d = forge.add %one, %e : (tensor<1x1xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %y = forge.recip %d : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not recognise-sigmoid: the ones broadcast x.
// CHECK-LABEL: func.func @main(%grows
// CHECK:       [[V5:%[0-9]+]] = forge.recip %d
// CHECK:       %y = equivalence.class [[V5]]
func.func @main(%grows: tensor<8x1xf32>) -> tensor<8x4xf32> {
  %one = forge.constant 1.0 : tensor<8x4xf32>
  %m = forge.neg %grows : tensor<8x1xf32>
  %e = forge.exp %m : tensor<8x1xf32>
  %d = forge.add %one, %e : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.recip %d : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}
