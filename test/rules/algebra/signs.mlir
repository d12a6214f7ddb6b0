// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=odd-function,even-function,negated-factor,negated-divisor,magnitude-of-nonnegative,relu-of-nonnegative,recognise-relu}' | filecheck %s

// Signs (catalogue 20).

// odd-function.
// CHECK-LABEL: func.func @main(%odd
// CHECK:      %odd_1 = equivalence.class %odd
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.neg %odd_1
// CHECK-NEXT: %n = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.neg [[V3:%[0-9]+]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.tanh %n
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.tanh %odd_1
// CHECK-NEXT: [[V3]] = equivalence.class [[V5]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%odd: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %n = forge.neg %odd : tensor<8x4xf32>
  %y = forge.tanh %n : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not odd-function: exp has no such symmetry.
// CHECK-LABEL: func.func @main(%neither
// CHECK:      %neither_1 = equivalence.class %neither
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.neg %neither_1
// CHECK-NEXT: %n = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.exp %n
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%neither: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %n = forge.neg %neither : tensor<8x4xf32>
  %y = forge.exp %n : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// even-function.
// CHECK-LABEL: func.func @main(%even
// CHECK:      %even_1 = equivalence.class %even
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.neg %even_1
// CHECK-NEXT: %n = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.cos %even_1
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.cos %n
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V3]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%even: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %n = forge.neg %even : tensor<8x4xf32>
  %y = forge.cos %n : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not even-function: sigmoid(-x) is 1 - sigmoid(x).
// CHECK-LABEL: func.func @main(%sigma
// CHECK:      %sigma_1 = equivalence.class %sigma
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.neg %sigma_1
// CHECK-NEXT: %n = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.sigmoid %n
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%sigma: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %n = forge.neg %sigma : tensor<8x4xf32>
  %y = forge.sigmoid %n : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// negated-factor, of a quotient.
// CHECK-LABEL: func.func @main(%factor
// CHECK:      %factor_1 = equivalence.class %factor
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.neg %factor_1
// CHECK-NEXT: %n = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.div %n, %b_1
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.neg [[V4:%[0-9]+]]
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V3]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.div %factor_1, %b_1
// CHECK-NEXT: [[V4]] = equivalence.class [[V5]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%factor: tensor<8x4xf32>, %b: tensor<8x1xf32>) -> tensor<8x4xf32> {
  %n = forge.neg %factor : tensor<8x4xf32>
  %y = forge.div %n, %b : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not negated-factor: a sum.
// CHECK-LABEL: func.func @main(%summand
// CHECK:      %summand_1 = equivalence.class %summand
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.neg %summand_1
// CHECK-NEXT: %n = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.add %n, %b_1
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%summand: tensor<8x4xf32>, %b: tensor<8x1xf32>) -> tensor<8x4xf32> {
  %n = forge.neg %summand : tensor<8x4xf32>
  %y = forge.add %n, %b : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// negated-divisor.
// CHECK-LABEL: func.func @main(%dividend
// CHECK:      %dividend_1 = equivalence.class %dividend
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.neg %b_1
// CHECK-NEXT: %n = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.div %dividend_1, %n
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.neg [[V4:%[0-9]+]]
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V3]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.div %dividend_1, %b_1
// CHECK-NEXT: [[V4]] = equivalence.class [[V5]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%dividend: tensor<8x4xf32>, %b: tensor<8x1xf32>) -> tensor<8x4xf32> {
  %n = forge.neg %b : tensor<8x1xf32>
  %y = forge.div %dividend, %n : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not negated-divisor: a difference.
// CHECK-LABEL: func.func @main(%minuend
// CHECK:      %minuend_1 = equivalence.class %minuend
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.neg %b_1
// CHECK-NEXT: %n = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.sub %minuend_1, %n
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%minuend: tensor<8x4xf32>, %b: tensor<8x1xf32>) -> tensor<8x4xf32> {
  %n = forge.neg %b : tensor<8x1xf32>
  %y = forge.sub %minuend, %n : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// magnitude-of-nonnegative.
// CHECK-LABEL: func.func @main(%square
// CHECK:      %square_1 = equivalence.class %square
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.mul %square_1, %square_1
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.abs %s
// CHECK-NEXT: %s = equivalence.class [[V1]], [[V2]]
// CHECK-NEXT: equivalence.yield %s
func.func @main(%square: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %s = forge.mul %square, %square : tensor<8x4xf32>
  %y = forge.abs %s : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not magnitude-of-nonnegative: the root of -0.0 is -0.0.
// CHECK-LABEL: func.func @main(%root
// CHECK:      %root_1 = equivalence.class %root
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.sqrt %root_1
// CHECK-NEXT: %s = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.abs %s
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%root: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %s = forge.sqrt %root : tensor<8x4xf32>
  %y = forge.abs %s : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// relu-of-nonnegative.
// CHECK-LABEL: func.func @main(%rectified
// CHECK:      %rectified_1 = equivalence.class %rectified
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.relu %r
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.sigmoid %rectified_1
// CHECK-NEXT: %r = equivalence.class [[V1]], [[V2]]
// CHECK-NEXT: equivalence.yield %r
func.func @main(%rectified: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %r = forge.sigmoid %rectified : tensor<8x4xf32>
  %y = forge.relu %r : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not relu-of-nonnegative: tanh has both signs.
// CHECK-LABEL: func.func @main(%signed
// CHECK:      %signed_1 = equivalence.class %signed
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %signed_1
// CHECK-NEXT: %r = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.relu %r
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%signed: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %r = forge.tanh %signed : tensor<8x4xf32>
  %y = forge.relu %r : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// recognise-relu.
// CHECK-LABEL: func.func @main(%clamped
// CHECK:      %clamped_1 = equivalence.class %clamped
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.constant
// CHECK-NEXT: [[V2:%[0-9]+]] = equivalence.class [[V1]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.max %clamped_1, [[V2]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.relu %clamped_1
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V4]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%clamped: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = forge.constant 0.0 : tensor<1x1xf32>
  %y = forge.max %clamped, %0 : (tensor<8x4xf32>, tensor<1x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not recognise-relu: clamped at 1.
// CHECK-LABEL: func.func @main(%clamp
// CHECK:      %clamp_1 = equivalence.class %clamp
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.constant
// CHECK-NEXT: [[V2:%[0-9]+]] = equivalence.class [[V1]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.max %clamp_1, [[V2]]
// CHECK-NEXT: %y = equivalence.class [[V3]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%clamp: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = forge.constant 1.0 : tensor<1x1xf32>
  %y = forge.max %clamp, %0 : (tensor<8x4xf32>, tensor<1x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not recognise-relu: the zeros widen x.
// CHECK-LABEL: func.func @main(%wide
// CHECK:      %wide_1 = equivalence.class %wide
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.constant
// CHECK-NEXT: %z = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.max %wide_1, %z
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%wide: tensor<8x1xf32>) -> tensor<8x4xf32> {
  %z = forge.constant 0.0 : tensor<1x4xf32>
  %y = forge.max %wide, %z : (tensor<8x1xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}
