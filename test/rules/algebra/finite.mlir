// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=add-positive-zero,difference-of-equals,subtract-zero,idempotent,max-minus-infinity,min-infinity}' | filecheck %s

// Neutral, inverse and idempotent elements (catalogue 21).

// add-positive-zero: an exponential is no -0.0.
// CHECK-LABEL: func.func @main(%plus
// CHECK:      %plus_1 = equivalence.class %plus
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.add %e, [[V2:%[0-9]+]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.exp %plus_1
// CHECK-NEXT: %e = equivalence.class [[V1]], [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.constant
// CHECK-NEXT: [[V2]] = equivalence.class [[V4]]
// CHECK-NEXT: equivalence.yield %e
func.func @main(%plus: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %e = forge.exp %plus : tensor<8x4xf32>
  %0 = forge.constant 0.0 : tensor<1x1xf32>
  %y = forge.add %e, %0 : (tensor<8x4xf32>, tensor<1x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not add-positive-zero: -0.0 + 0.0 is 0.0.
// CHECK-LABEL: func.func @main(%negative
// CHECK:      %negative_1 = equivalence.class %negative
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.constant
// CHECK-NEXT: [[V2:%[0-9]+]] = equivalence.class [[V1]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.add %negative_1, [[V2]]
// CHECK-NEXT: %y = equivalence.class [[V3]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%negative: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = forge.constant 0.0 : tensor<1x1xf32>
  %y = forge.add %negative, %0 : (tensor<8x4xf32>, tensor<1x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// difference-of-equals: positions are finite, so that their difference is a zero, neutral in another difference.
// CHECK-LABEL: func.func @main(%finite
// CHECK:      [[V1:%[0-9]+]] = forge.sub %finite_1, %z
// CHECK-NEXT: %finite_1 = equivalence.class [[V1]], %finite
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.iota 0
// CHECK-NEXT: [[V3:%[0-9]+]] = equivalence.class [[V2]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.cast [[V3]]
// CHECK-NEXT: %i = equivalence.class [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.sub %i, %i
// CHECK-NEXT: %z = equivalence.class [[V5]]
// CHECK-NEXT: equivalence.yield %finite_1
func.func @main(%finite: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = forge.iota 0 : tensor<8x1xi32>
  %i = forge.cast %0 : tensor<8x1xi32> to tensor<8x1xf32>
  %z = forge.sub %i, %i : tensor<8x1xf32>
  %y = forge.sub %finite, %z : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not difference-of-equals: infinity less infinity is NaN.
// CHECK-LABEL: func.func @main(%infinite
// CHECK:      %infinite_1 = equivalence.class %infinite
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.sub %b_1, %b_1
// CHECK-NEXT: %z = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.sub %infinite_1, %z
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%infinite: tensor<8x4xf32>, %b: tensor<8x1xf32>) -> tensor<8x4xf32> {
  %z = forge.sub %b, %b : tensor<8x1xf32>
  %y = forge.sub %infinite, %z : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// idempotent.
// CHECK-LABEL: func.func @main(%same
// CHECK:      [[V1:%[0-9]+]] = forge.max %same_1, %same_1
// CHECK-NEXT: %same_1 = equivalence.class [[V1]], %same
// CHECK-NEXT: equivalence.yield %same_1
func.func @main(%same: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %y = forge.max %same, %same : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not idempotent.
// CHECK-LABEL: func.func @main(%doubled
// CHECK:      %doubled_1 = equivalence.class %doubled
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.add %doubled_1, %doubled_1
// CHECK-NEXT: %y = equivalence.class [[V1]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%doubled: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %y = forge.add %doubled, %doubled : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// max-minus-infinity.
// CHECK-LABEL: func.func @main(%above
// CHECK:      [[V1:%[0-9]+]] = forge.max %above_1, [[V2:%[0-9]+]]
// CHECK-NEXT: %above_1 = equivalence.class [[V1]], %above
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.constant
// CHECK-NEXT: [[V2]] = equivalence.class [[V3]]
// CHECK-NEXT: equivalence.yield %above_1
func.func @main(%above: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = forge.constant -inf : tensor<1x1xf32>
  %y = forge.max %above, %0 : (tensor<8x4xf32>, tensor<1x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not max-minus-infinity: infinity absorbs.
// CHECK-LABEL: func.func @main(%absorbed
// CHECK:      %absorbed_1 = equivalence.class %absorbed
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.constant
// CHECK-NEXT: [[V2:%[0-9]+]] = equivalence.class [[V1]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.max %absorbed_1, [[V2]]
// CHECK-NEXT: %y = equivalence.class [[V3]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%absorbed: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = forge.constant inf : tensor<1x1xf32>
  %y = forge.max %absorbed, %0 : (tensor<8x4xf32>, tensor<1x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// min-infinity.
// CHECK-LABEL: func.func @main(%below
// CHECK:      [[V1:%[0-9]+]] = forge.min %below_1, [[V2:%[0-9]+]]
// CHECK-NEXT: %below_1 = equivalence.class [[V1]], %below
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.constant
// CHECK-NEXT: [[V2]] = equivalence.class [[V3]]
// CHECK-NEXT: equivalence.yield %below_1
func.func @main(%below: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = forge.constant inf : tensor<1x1xf32>
  %y = forge.min %below, %0 : (tensor<8x4xf32>, tensor<1x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not min-infinity.
// CHECK-LABEL: func.func @main(%least
// CHECK:      %least_1 = equivalence.class %least
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.constant
// CHECK-NEXT: [[V2:%[0-9]+]] = equivalence.class [[V1]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.min %least_1, [[V2]]
// CHECK-NEXT: %y = equivalence.class [[V3]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%least: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = forge.constant -inf : tensor<1x1xf32>
  %y = forge.min %least, %0 : (tensor<8x4xf32>, tensor<1x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}
