// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=recognise-silu,recognise-falling-sigmoid,complement-of-sigmoid,tanh-gate}' | filecheck %s

// Sigmoids, and the gates of silu and gelu (catalogue 20).

// recognise-silu.
// CHECK-LABEL: func.func @main(%silu
// CHECK:      %silu_1 = equivalence.class %silu
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.neg %silu_1
// CHECK-NEXT: [[V2:%[0-9]+]] = equivalence.class [[V1]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.exp [[V2]]
// CHECK-NEXT: %e = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.constant
// CHECK-NEXT: [[V5:%[0-9]+]] = equivalence.class [[V4]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.add [[V5]], %e
// CHECK-NEXT: %d = equivalence.class [[V6]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.div %silu_1, %d
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.mul %silu_1, [[V9:%[0-9]+]]
// CHECK-NEXT: %y = equivalence.class [[V7]], [[V8]]
// CHECK-NEXT: [[V10:%[0-9]+]] = forge.sigmoid %silu_1
// CHECK-NEXT: [[V9]] = equivalence.class [[V10]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%silu: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = forge.neg %silu : tensor<8x4xf32>
  %e = forge.exp %0 : tensor<8x4xf32>
  %1 = forge.constant 1.0 : tensor<1x1xf32>
  %d = forge.add %1, %e : (tensor<1x1xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %y = forge.div %silu, %d : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not recognise-silu: 2 + exp(-x).
// CHECK-LABEL: func.func @main(%other
// CHECK:      %other_1 = equivalence.class %other
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.neg %other_1
// CHECK-NEXT: [[V2:%[0-9]+]] = equivalence.class [[V1]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.exp [[V2]]
// CHECK-NEXT: %e = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.constant
// CHECK-NEXT: [[V5:%[0-9]+]] = equivalence.class [[V4]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.add [[V5]], %e
// CHECK-NEXT: %d = equivalence.class [[V6]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.div %other_1, %d
// CHECK-NEXT: %y = equivalence.class [[V7]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%other: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = forge.neg %other : tensor<8x4xf32>
  %e = forge.exp %0 : tensor<8x4xf32>
  %1 = forge.constant 2.0 : tensor<1x1xf32>
  %d = forge.add %1, %e : (tensor<1x1xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %y = forge.div %other, %d : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// recognise-falling-sigmoid.
// CHECK-LABEL: func.func @main(%falling
// CHECK:      %falling_1 = equivalence.class %falling
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.exp %falling_1
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.constant
// CHECK-NEXT: [[V3:%[0-9]+]] = equivalence.class [[V2]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.add [[V3]], %e
// CHECK-NEXT: %d = equivalence.class [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.recip %d
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.sigmoid [[V7:%[0-9]+]]
// CHECK-NEXT: %y = equivalence.class [[V5]], [[V6]]
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.neg %falling_1
// CHECK-NEXT: [[V7]] = equivalence.class [[V8]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%falling: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %e = forge.exp %falling : tensor<8x4xf32>
  %0 = forge.constant 1.0 : tensor<1x1xf32>
  %d = forge.add %0, %e : (tensor<1x1xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %y = forge.recip %d : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not recognise-falling-sigmoid: the quotient exp(x)/(1 + exp(x)) is NaN where exp(x) overflows.
// CHECK-LABEL: func.func @main(%rising
// CHECK:      %rising_1 = equivalence.class %rising
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.exp %rising_1
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.constant
// CHECK-NEXT: [[V3:%[0-9]+]] = equivalence.class [[V2]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.add [[V3]], %e
// CHECK-NEXT: %d = equivalence.class [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.div %e, %d
// CHECK-NEXT: %y = equivalence.class [[V5]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%rising: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %e = forge.exp %rising : tensor<8x4xf32>
  %0 = forge.constant 1.0 : tensor<1x1xf32>
  %d = forge.add %0, %e : (tensor<1x1xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %y = forge.div %e, %d : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// complement-of-sigmoid.
// CHECK-LABEL: func.func @main(%complement
// CHECK:      %complement_1 = equivalence.class %complement
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.sigmoid %complement_1
// CHECK-NEXT: %s = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.constant
// CHECK-NEXT: [[V3:%[0-9]+]] = equivalence.class [[V2]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.sub [[V3]], %s
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.sigmoid [[V6:%[0-9]+]]
// CHECK-NEXT: %y = equivalence.class [[V4]], [[V5]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.neg %complement_1
// CHECK-NEXT: [[V6]] = equivalence.class [[V7]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%complement: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %s = forge.sigmoid %complement : tensor<8x4xf32>
  %0 = forge.constant 1.0 : tensor<1x1xf32>
  %y = forge.sub %0, %s : (tensor<1x1xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not complement-of-sigmoid: the ones widen x.
// CHECK-LABEL: func.func @main(%widened
// CHECK:      %widened_1 = equivalence.class %widened
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.sigmoid %widened_1
// CHECK-NEXT: %s = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.constant
// CHECK-NEXT: %o = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.sub %o, %s
// CHECK-NEXT: %y = equivalence.class [[V3]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%widened: tensor<8x1xf32>) -> tensor<8x4xf32> {
  %s = forge.sigmoid %widened : tensor<8x1xf32>
  %o = forge.constant 1.0 : tensor<1x4xf32>
  %y = forge.sub %o, %s : (tensor<1x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// tanh-gate.
// CHECK-LABEL: func.func @main(%gate
// CHECK:      %gate_1 = equivalence.class %gate
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %gate_1
// CHECK-NEXT: %t = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.constant
// CHECK-NEXT: [[V3:%[0-9]+]] = equivalence.class [[V2]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.add [[V3]], %t
// CHECK-NEXT: %s = equivalence.class [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.constant
// CHECK-NEXT: [[V6:%[0-9]+]] = equivalence.class [[V5]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.mul [[V6]], %s
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.sigmoid [[V9:%[0-9]+]]
// CHECK-NEXT: %y = equivalence.class [[V7]], [[V8]]
// CHECK-NEXT: [[V10:%[0-9]+]] = forge.add %gate_1, %gate_1
// CHECK-NEXT: [[V9]] = equivalence.class [[V10]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%gate: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %t = forge.tanh %gate : tensor<8x4xf32>
  %0 = forge.constant 1.0 : tensor<1x1xf32>
  %s = forge.add %0, %t : (tensor<1x1xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = forge.constant 0.5 : tensor<1x1xf32>
  %y = forge.mul %1, %s : (tensor<1x1xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not tanh-gate: not half of it.
// CHECK-LABEL: func.func @main(%whole
// CHECK:      %whole_1 = equivalence.class %whole
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %whole_1
// CHECK-NEXT: %t = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.constant
// CHECK-NEXT: [[V3:%[0-9]+]] = equivalence.class [[V2]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.add [[V3]], %t
// CHECK-NEXT: %s = equivalence.class [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.constant
// CHECK-NEXT: [[V6:%[0-9]+]] = equivalence.class [[V5]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.mul [[V6]], %s
// CHECK-NEXT: %y = equivalence.class [[V7]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%whole: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %t = forge.tanh %whole : tensor<8x4xf32>
  %0 = forge.constant 1.0 : tensor<1x1xf32>
  %s = forge.add %0, %t : (tensor<1x1xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = forge.constant 0.25 : tensor<1x1xf32>
  %y = forge.mul %1, %s : (tensor<1x1xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}
