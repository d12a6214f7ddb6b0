// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=max-of-shifted,max-of-difference,max-of-negated,max-of-scaled,max-of-quotients,max-of-monotone,sum-of-sum,sum-of-sum-back}' | filecheck %s

// What commutes with a maximum or a minimum (catalogue 11).

// max-of-shifted, of a difference, as a minimum.
// CHECK-LABEL: func.func @main(%lowered
// CHECK:      %lowered_1 = equivalence.class %lowered
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %r_1
// CHECK-NEXT: %a = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.sub %lowered_1, %a
// CHECK-NEXT: %d = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.sub [[V4:%[0-9]+]], %a
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.reduce min over 1 %d
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.reduce min over 1 %lowered_1
// CHECK-NEXT: [[V4]] = equivalence.class [[V6]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%lowered: tensor<8x4xf32>, %r: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %a = forge.tanh %r : tensor<8x1xf32>
  %d = forge.sub %lowered, %a : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.reduce min over 1 %d : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not max-of-shifted: the sum of a sum is another rule's.
// CHECK-LABEL: func.func @main(%summed
// CHECK:      %summed_1 = equivalence.class %summed
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %r_1
// CHECK-NEXT: %a = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.add %summed_1, %a
// CHECK-NEXT: %d = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.reduce sum over 1 %d
// CHECK-NEXT: %y = equivalence.class [[V3]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%summed: tensor<8x4xf32>, %r: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %a = forge.tanh %r : tensor<8x1xf32>
  %d = forge.add %summed, %a : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.reduce sum over 1 %d : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// max-of-difference: what is subtracted has its minimum there.
// CHECK-LABEL: func.func @main(%under
// CHECK:      %under_1 = equivalence.class %under
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %r_1
// CHECK-NEXT: %a = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.sub %a, %under_1
// CHECK-NEXT: %d = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.sub %a, [[V4:%[0-9]+]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.reduce max over 1 %d
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.reduce min over 1 %under_1
// CHECK-NEXT: [[V4]] = equivalence.class [[V6]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%under: tensor<8x4xf32>, %r: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %a = forge.tanh %r : tensor<8x1xf32>
  %d = forge.sub %a, %under : (tensor<8x1xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %y = forge.reduce max over 1 %d : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not max-of-difference: the minuend varies along the dimension.
// CHECK-LABEL: func.func @main(%vary
// CHECK:      %vary_1 = equivalence.class %vary
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %r_1
// CHECK-NEXT: %a = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.sub %a, %vary_1
// CHECK-NEXT: %d = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.reduce max over 1 %d
// CHECK-NEXT: %y = equivalence.class [[V3]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%vary: tensor<8x4xf32>, %r: tensor<1x4xf32>) -> tensor<8x1xf32> {
  %a = forge.tanh %r : tensor<1x4xf32>
  %d = forge.sub %a, %vary : (tensor<1x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %y = forge.reduce max over 1 %d : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not max-of-difference: where a is infinite, ∞ − ∞ is NaN.
// CHECK-LABEL: func.func @main(%infinite
// CHECK:      %infinite_1 = equivalence.class %infinite
// CHECK-NEXT: %a_1 = equivalence.class %a
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.sub %a_1, %infinite_1
// CHECK-NEXT: %d = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reduce max over 1 %d
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%infinite: tensor<8x4xf32>, %a: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %d = forge.sub %a, %infinite : (tensor<8x1xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %y = forge.reduce max over 1 %d : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// max-of-negated.
// CHECK-LABEL: func.func @main(%negated
// CHECK:      %negated_1 = equivalence.class %negated
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.neg %negated_1
// CHECK-NEXT: %d = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reduce min over 0 %d
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.neg [[V4:%[0-9]+]]
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V3]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.reduce max over 0 %negated_1
// CHECK-NEXT: [[V4]] = equivalence.class [[V5]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%negated: tensor<8x4xf32>) -> tensor<1x4xf32> {
  %d = forge.neg %negated : tensor<8x4xf32>
  %y = forge.reduce min over 0 %d : (tensor<8x4xf32>) -> tensor<1x4xf32>
  func.return %y : tensor<1x4xf32>
}

// -----

// Not max-of-negated: a sum has no dual here.
// CHECK-LABEL: func.func @main(%negsum
// CHECK:      %negsum_1 = equivalence.class %negsum
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.neg %negsum_1
// CHECK-NEXT: %d = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reduce sum over 0 %d
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%negsum: tensor<8x4xf32>) -> tensor<1x4xf32> {
  %d = forge.neg %negsum : tensor<8x4xf32>
  %y = forge.reduce sum over 0 %d : (tensor<8x4xf32>) -> tensor<1x4xf32>
  func.return %y : tensor<1x4xf32>
}

// -----

// max-of-scaled, as a minimum.
// CHECK-LABEL: func.func @main(%scaled
// CHECK:      %scaled_1 = equivalence.class %scaled
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.constant
// CHECK-NEXT: [[V2:%[0-9]+]] = equivalence.class [[V1]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.mul %scaled_1, [[V2]]
// CHECK-NEXT: %d = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.mul [[V5:%[0-9]+]], [[V2]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.reduce min over 1 %d
// CHECK-NEXT: %y = equivalence.class [[V4]], [[V6]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.reduce min over 1 %scaled_1
// CHECK-NEXT: [[V5]] = equivalence.class [[V7]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%scaled: tensor<8x4xf32>) -> tensor<8x1xf32> {
  %0 = forge.constant 0.5 : tensor<1x1xf32>
  %d = forge.mul %scaled, %0 : (tensor<8x4xf32>, tensor<1x1xf32>) -> tensor<8x4xf32>
  %y = forge.reduce min over 1 %d : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// max-of-quotients.
// CHECK-LABEL: func.func @main(%divided
// CHECK:      %divided_1 = equivalence.class %divided
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.constant
// CHECK-NEXT: [[V2:%[0-9]+]] = equivalence.class [[V1]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.div %divided_1, [[V2]]
// CHECK-NEXT: %d = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.div [[V5:%[0-9]+]], [[V2]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.reduce max over 1 %d
// CHECK-NEXT: %y = equivalence.class [[V4]], [[V6]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.reduce max over 1 %divided_1
// CHECK-NEXT: [[V5]] = equivalence.class [[V7]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%divided: tensor<8x4xf32>) -> tensor<8x1xf32> {
  %0 = forge.constant 4.0 : tensor<1x1xf32>
  %d = forge.div %divided, %0 : (tensor<8x4xf32>, tensor<1x1xf32>) -> tensor<8x4xf32>
  %y = forge.reduce max over 1 %d : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not max-of-quotients: the sign of the divisor is not known.
// CHECK-LABEL: func.func @main(%signed
// CHECK:      %signed_1 = equivalence.class %signed
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %r_1
// CHECK-NEXT: %a = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.div %signed_1, %a
// CHECK-NEXT: %d = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.reduce max over 1 %d
// CHECK-NEXT: %y = equivalence.class [[V3]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%signed: tensor<8x4xf32>, %r: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %a = forge.tanh %r : tensor<8x1xf32>
  %d = forge.div %signed, %a : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.reduce max over 1 %d : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not max-of-quotients: a divisor that may be infinite makes NaN of −∞, and 0 of the maximum.
// CHECK-LABEL: func.func @main(%unbounded
// CHECK:      %unbounded_1 = equivalence.class %unbounded
// CHECK-NEXT: %a_1 = equivalence.class %a
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.constant
// CHECK-NEXT: %half = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.max %a_1, %half
// CHECK-NEXT: %l = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.div %unbounded_1, %l
// CHECK-NEXT: %d = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.reduce max over 1 %d
// CHECK-NEXT: %y = equivalence.class [[V4]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%unbounded: tensor<8x4xf32>, %a: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %half = forge.constant 0.5 : tensor<1x1xf32>
  %l = forge.max %a, %half : (tensor<8x1xf32>, tensor<1x1xf32>) -> tensor<8x1xf32>
  %d = forge.div %unbounded, %l : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.reduce max over 1 %d : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// max-of-monotone.
// CHECK-LABEL: func.func @main(%monotone
// CHECK:      %monotone_1 = equivalence.class %monotone
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.exp %monotone_1
// CHECK-NEXT: %d = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reduce max over 1 %d
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.exp [[V4:%[0-9]+]]
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V3]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.reduce max over 1 %monotone_1
// CHECK-NEXT: [[V4]] = equivalence.class [[V5]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%monotone: tensor<8x4xf32>) -> tensor<8x1xf32> {
  %d = forge.exp %monotone : tensor<8x4xf32>
  %y = forge.reduce max over 1 %d : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not max-of-monotone: a root is NaN below zero, where the maximum need not be.
// CHECK-LABEL: func.func @main(%root
// CHECK:      %root_1 = equivalence.class %root
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.sqrt %root_1
// CHECK-NEXT: %d = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reduce max over 1 %d
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%root: tensor<8x4xf32>) -> tensor<8x1xf32> {
  %d = forge.sqrt %root : tensor<8x4xf32>
  %y = forge.reduce max over 1 %d : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not max-of-monotone: a sum of exponentials is no exponential.
// CHECK-LABEL: func.func @main(%expsum
// CHECK:      %expsum_1 = equivalence.class %expsum
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.exp %expsum_1
// CHECK-NEXT: %d = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reduce sum over 1 %d
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%expsum: tensor<8x4xf32>) -> tensor<8x1xf32> {
  %d = forge.exp %expsum : tensor<8x4xf32>
  %y = forge.reduce sum over 1 %d : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// sum-of-sum and back, for maxima.
// CHECK-LABEL: func.func @main(%larger
// CHECK:      %larger_1 = equivalence.class %larger
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.max %larger_1, %b_1
// CHECK-NEXT: %d = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.max [[V3:%[0-9]+]], [[V4:%[0-9]+]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.reduce max over 1 %d
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.reduce max over 1 %larger_1
// CHECK-NEXT: [[V3]] = equivalence.class [[V6]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.reduce max over 1 %b_1
// CHECK-NEXT: [[V4]] = equivalence.class [[V7]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%larger: tensor<8x4xf32>, %b: tensor<8x4xf32>) -> tensor<8x1xf32> {
  %d = forge.max %larger, %b : tensor<8x4xf32>
  %y = forge.reduce max over 1 %d : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// sum-of-sum, for differences.
// CHECK-LABEL: func.func @main(%difference
// CHECK:      %difference_1 = equivalence.class %difference
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.sub %difference_1, %b_1
// CHECK-NEXT: %d = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.sub [[V3:%[0-9]+]], [[V4:%[0-9]+]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.reduce sum over 1 %d
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.reduce sum over 1 %difference_1
// CHECK-NEXT: [[V3]] = equivalence.class [[V6]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.reduce sum over 1 %b_1
// CHECK-NEXT: [[V4]] = equivalence.class [[V7]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%difference: tensor<8x4xf32>, %b: tensor<8x4xf32>) -> tensor<8x1xf32> {
  %d = forge.sub %difference, %b : tensor<8x4xf32>
  %y = forge.reduce sum over 1 %d : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not sum-of-sum: the maximum of minima.
// CHECK-LABEL: func.func @main(%mixed
// CHECK:      %mixed_1 = equivalence.class %mixed
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.min %mixed_1, %b_1
// CHECK-NEXT: %d = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reduce max over 1 %d
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%mixed: tensor<8x4xf32>, %b: tensor<8x4xf32>) -> tensor<8x1xf32> {
  %d = forge.min %mixed, %b : tensor<8x4xf32>
  %y = forge.reduce max over 1 %d : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not sum-of-sum: the product of products may overflow where the factors cancel.
// CHECK-LABEL: func.func @main(%prod
// CHECK:      %prod_1 = equivalence.class %prod
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.mul %prod_1, %b_1
// CHECK-NEXT: %d = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reduce prod over 1 %d
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%prod: tensor<8x4xf32>, %b: tensor<8x4xf32>) -> tensor<8x1xf32> {
  %d = forge.mul %prod, %b : tensor<8x4xf32>
  %y = forge.reduce prod over 1 %d : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// sum-of-sum-back, for logical or.
// CHECK-LABEL: func.func @main(%either
// CHECK:      %either_1 = equivalence.class %either
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reduce any over 1 %either_1
// CHECK-NEXT: %d = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reduce any over 1 %b_1
// CHECK-NEXT: %e = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.or %either_1, %b_1
// CHECK-NEXT: %q = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.or %d, %e
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.reduce any over 1 %q
// CHECK-NEXT: [[V6:%[0-9]+]] = equivalence.class [[V4]], [[V5]]
// CHECK-NEXT: equivalence.yield [[V6]], %q
func.func @main(%either: tensor<8x4xi1>, %b: tensor<8x4xi1>) -> (tensor<8x1xi1>, tensor<8x4xi1>) {
  %d = forge.reduce any over 1 %either : (tensor<8x4xi1>) -> tensor<8x1xi1>
  %e = forge.reduce any over 1 %b : (tensor<8x4xi1>) -> tensor<8x1xi1>
  %q = forge.or %either, %b : tensor<8x4xi1>
  %0 = forge.or %d, %e : tensor<8x1xi1>
  func.return %0, %q : tensor<8x1xi1>, tensor<8x4xi1>
}
