// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=add-negative,subtract-negative,factor,common-divisor,distribute}' | filecheck %s

// Sums, differences and common factors (catalogue 1, 2).

// add-negative.
// CHECK-LABEL: func.func @main(%add
// CHECK:      %add_1 = equivalence.class %add
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.neg %b_1
// CHECK-NEXT: %n = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.add %add_1, %n
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.sub %add_1, %b_1
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V3]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%add: tensor<8x4xf32>, %b: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %n = forge.neg %b : tensor<8x4xf32>
  %y = forge.add %add, %n : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not add-negative: the first summand is the negative one (commutativity is another rule).
// CHECK-LABEL: func.func @main(%first
// CHECK:      %first_1 = equivalence.class %first
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.neg %first_1
// CHECK-NEXT: %n = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.add %n, %b_1
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%first: tensor<8x4xf32>, %b: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %n = forge.neg %first : tensor<8x4xf32>
  %y = forge.add %n, %b : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// subtract-negative.
// CHECK-LABEL: func.func @main(%minus
// CHECK:      %minus_1 = equivalence.class %minus
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.neg %b_1
// CHECK-NEXT: %n = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.add %minus_1, %b_1
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.sub %minus_1, %n
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V3]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%minus: tensor<8x4xf32>, %b: tensor<8x1xf32>) -> tensor<8x4xf32> {
  %n = forge.neg %b : tensor<8x1xf32>
  %y = forge.sub %minus, %n : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not subtract-negative: the minuend is negative.
// CHECK-LABEL: func.func @main(%minuend
// CHECK:      %minuend_1 = equivalence.class %minuend
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.neg %minuend_1
// CHECK-NEXT: %n = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.sub %n, %b_1
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%minuend: tensor<8x4xf32>, %b: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %n = forge.neg %minuend : tensor<8x4xf32>
  %y = forge.sub %n, %b : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// factor, of a difference; the second factors broadcast.
// CHECK-LABEL: func.func @main(%factor
// CHECK:      %factor_1 = equivalence.class %factor
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %d_1 = equivalence.class %d
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %factor_1
// CHECK-NEXT: %g = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.mul %g, %b_1
// CHECK-NEXT: %p = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.mul %g, %d_1
// CHECK-NEXT: %q = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.mul %g, [[V5:%[0-9]+]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.sub %p, %q
// CHECK-NEXT: %y = equivalence.class [[V4]], [[V6]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.sub %b_1, %d_1
// CHECK-NEXT: [[V5]] = equivalence.class [[V7]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%factor: tensor<8x4xf32>, %b: tensor<8x1xf32>, %d: tensor<1x4xf32>) -> tensor<8x4xf32> {
  %g = forge.tanh %factor : tensor<8x4xf32>
  %p = forge.mul %g, %b : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %q = forge.mul %g, %d : (tensor<8x4xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
  %y = forge.sub %p, %q : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not factor: a maximum is no sum.
// CHECK-LABEL: func.func @main(%extremum
// CHECK:      %extremum_1 = equivalence.class %extremum
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %d_1 = equivalence.class %d
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %extremum_1
// CHECK-NEXT: %g = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.mul %g, %b_1
// CHECK-NEXT: %p = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.mul %g, %d_1
// CHECK-NEXT: %q = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.max %p, %q
// CHECK-NEXT: %y = equivalence.class [[V4]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%extremum: tensor<8x4xf32>, %b: tensor<8x4xf32>, %d: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %g = forge.tanh %extremum : tensor<8x4xf32>
  %p = forge.mul %g, %b : tensor<8x4xf32>
  %q = forge.mul %g, %d : tensor<8x4xf32>
  %y = forge.max %p, %q : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not factor: no factor in common.
// CHECK-LABEL: func.func @main(%apart
// CHECK:      %apart_1 = equivalence.class %apart
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %d_1 = equivalence.class %d
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %apart_1
// CHECK-NEXT: %g = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.mul %g, %b_1
// CHECK-NEXT: %p = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.mul %b_1, %d_1
// CHECK-NEXT: %q = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.add %p, %q
// CHECK-NEXT: %y = equivalence.class [[V4]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%apart: tensor<8x4xf32>, %b: tensor<8x4xf32>, %d: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %g = forge.tanh %apart : tensor<8x4xf32>
  %p = forge.mul %g, %b : tensor<8x4xf32>
  %q = forge.mul %b, %d : tensor<8x4xf32>
  %y = forge.add %p, %q : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not factor: where the common factor is infinite, ∞·1 − ∞·2 is NaN and ∞·(1 − 2) is not.
// CHECK-LABEL: func.func @main(%infinite
// CHECK:      %infinite_1 = equivalence.class %infinite
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %d_1 = equivalence.class %d
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.mul %infinite_1, %b_1
// CHECK-NEXT: %p = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.mul %infinite_1, %d_1
// CHECK-NEXT: %q = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.sub %p, %q
// CHECK-NEXT: %y = equivalence.class [[V3]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%infinite: tensor<8x4xf32>, %b: tensor<8x4xf32>, %d: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %p = forge.mul %infinite, %b : tensor<8x4xf32>
  %q = forge.mul %infinite, %d : tensor<8x4xf32>
  %y = forge.sub %p, %q : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// common-divisor: the divisor is at least 1/2.
// CHECK-LABEL: func.func @main(%divided
// CHECK:      %divided_1 = equivalence.class %divided
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.constant
// CHECK-NEXT: %half = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.max %r_1, %half
// CHECK-NEXT: %l = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.div %divided_1, %l
// CHECK-NEXT: %p = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.div %b_1, %l
// CHECK-NEXT: %q = equivalence.class [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.add %p, %q
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.div [[V7:%[0-9]+]], %l
// CHECK-NEXT: %y = equivalence.class [[V5]], [[V6]]
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.add %divided_1, %b_1
// CHECK-NEXT: [[V7]] = equivalence.class [[V8]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%divided: tensor<8x4xf32>, %b: tensor<8x4xf32>, %r: tensor<8x1xf32>) -> tensor<8x4xf32> {
  %half = forge.constant 0.5 : tensor<1x1xf32>
  %l = forge.max %r, %half : (tensor<8x1xf32>, tensor<1x1xf32>) -> tensor<8x1xf32>
  %p = forge.div %divided, %l : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %q = forge.div %b, %l : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.add %p, %q : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not common-divisor: a dividend in common.
// CHECK-LABEL: func.func @main(%dividend
// CHECK:      %dividend_1 = equivalence.class %dividend
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.constant
// CHECK-NEXT: %half = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.max %r_1, %half
// CHECK-NEXT: %l = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.div %dividend_1, %b_1
// CHECK-NEXT: %p = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.div %dividend_1, %l
// CHECK-NEXT: %q = equivalence.class [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.add %p, %q
// CHECK-NEXT: %y = equivalence.class [[V5]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%dividend: tensor<8x4xf32>, %b: tensor<8x4xf32>, %r: tensor<8x1xf32>) -> tensor<8x4xf32> {
  %half = forge.constant 0.5 : tensor<1x1xf32>
  %l = forge.max %r, %half : (tensor<8x1xf32>, tensor<1x1xf32>) -> tensor<8x1xf32>
  %p = forge.div %dividend, %b : tensor<8x4xf32>
  %q = forge.div %dividend, %l : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.add %p, %q : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not common-divisor: where the divisor is 0, 1/0 − 2/0 is NaN and (1 − 2)/0 is not.
// CHECK-LABEL: func.func @main(%zero
// CHECK:      %zero_1 = equivalence.class %zero
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %l_1 = equivalence.class %l
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.div %zero_1, %l_1
// CHECK-NEXT: %p = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.div %b_1, %l_1
// CHECK-NEXT: %q = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.sub %p, %q
// CHECK-NEXT: %y = equivalence.class [[V3]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%zero: tensor<8x4xf32>, %b: tensor<8x4xf32>, %l: tensor<8x1xf32>) -> tensor<8x4xf32> {
  %p = forge.div %zero, %l : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %q = forge.div %b, %l : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.sub %p, %q : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// distribute: a sigmoid is at most 1.
// CHECK-LABEL: func.func @main(%gate
// CHECK:      %gate_1 = equivalence.class %gate
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %d_1 = equivalence.class %d
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.sigmoid %gate_1
// CHECK-NEXT: %g = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.sub %b_1, %d_1
// CHECK-NEXT: %s = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.mul %g, %s
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.sub [[V5:%[0-9]+]], [[V6:%[0-9]+]]
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V4]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.mul %g, %b_1
// CHECK-NEXT: [[V5]] = equivalence.class [[V7]]
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.mul %g, %d_1
// CHECK-NEXT: [[V6]] = equivalence.class [[V8]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%gate: tensor<8x4xf32>, %b: tensor<8x4xf32>, %d: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %g = forge.sigmoid %gate : tensor<8x4xf32>
  %s = forge.sub %b, %d : tensor<8x4xf32>
  %y = forge.mul %g, %s : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not distribute: a factor that may be large, so that products overflow where b and d cancel.
// CHECK-LABEL: func.func @main(%large
// CHECK:      %large_1 = equivalence.class %large
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %d_1 = equivalence.class %d
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.sub %b_1, %d_1
// CHECK-NEXT: %s = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.mul %large_1, %s
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%large: tensor<8x4xf32>, %b: tensor<8x4xf32>, %d: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %s = forge.sub %b, %d : tensor<8x4xf32>
  %y = forge.mul %large, %s : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}
