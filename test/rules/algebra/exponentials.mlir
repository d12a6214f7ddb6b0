// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=exp-of-sum,log-of-exp,exp-of-log}' | filecheck %s

// Exponentials and logarithms (catalogue 17).

// exp-of-sum: neither argument is positive.
// CHECK-LABEL: func.func @main(%below
// CHECK:      %below_1 = equivalence.class %below
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.abs %below_1
// CHECK-NEXT: [[V2:%[0-9]+]] = equivalence.class [[V1]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.neg [[V2]]
// CHECK-NEXT: [[V4:%[0-9]+]] = equivalence.class [[V3]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.exp [[V4]]
// CHECK-NEXT: %u = equivalence.class [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.reduce max over 1 %b_1
// CHECK-NEXT: [[V7:%[0-9]+]] = equivalence.class [[V6]]
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.sub %b_1, [[V7]]
// CHECK-NEXT: [[V9:%[0-9]+]] = equivalence.class [[V8]]
// CHECK-NEXT: [[V10:%[0-9]+]] = forge.exp [[V9]]
// CHECK-NEXT: %v = equivalence.class [[V10]]
// CHECK-NEXT: [[V11:%[0-9]+]] = forge.mul %u, %v
// CHECK-NEXT: [[V12:%[0-9]+]] = forge.exp [[V13:%[0-9]+]]
// CHECK-NEXT: %y = equivalence.class [[V11]], [[V12]]
// CHECK-NEXT: [[V14:%[0-9]+]] = forge.add [[V4]], [[V9]]
// CHECK-NEXT: [[V13]] = equivalence.class [[V14]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%below: tensor<8x4xf32>, %b: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = forge.abs %below : tensor<8x4xf32>
  %1 = forge.neg %0 : tensor<8x4xf32>
  %u = forge.exp %1 : tensor<8x4xf32>
  %2 = forge.reduce max over 1 %b : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %3 = forge.sub %b, %2 : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %v = forge.exp %3 : tensor<8x4xf32>
  %y = forge.mul %u, %v : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not exp-of-sum: one factor may overflow while the other underflows.
// CHECK-LABEL: func.func @main(%any
// CHECK:      %any_1 = equivalence.class %any
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.exp %any_1
// CHECK-NEXT: %u = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.exp %b_1
// CHECK-NEXT: %v = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.mul %u, %v
// CHECK-NEXT: %y = equivalence.class [[V3]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%any: tensor<8x4xf32>, %b: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %u = forge.exp %any : tensor<8x4xf32>
  %v = forge.exp %b : tensor<8x4xf32>
  %y = forge.mul %u, %v : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// log-of-exp: tanh is bounded, and 30 times tanh too.
// CHECK-LABEL: func.func @main(%capped
// CHECK:      %capped_1 = equivalence.class %capped
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.constant
// CHECK-NEXT: [[V2:%[0-9]+]] = equivalence.class [[V1]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.tanh %capped_1
// CHECK-NEXT: [[V4:%[0-9]+]] = equivalence.class [[V3]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.mul [[V2]], [[V4]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.log %e
// CHECK-NEXT: %u = equivalence.class [[V5]], [[V6]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.exp %u
// CHECK-NEXT: %e = equivalence.class [[V7]]
// CHECK-NEXT: equivalence.yield %u
func.func @main(%capped: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = forge.constant 3.0e+01 : tensor<1x1xf32>
  %1 = forge.tanh %capped : tensor<8x4xf32>
  %u = forge.mul %0, %1 : (tensor<1x1xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %e = forge.exp %u : tensor<8x4xf32>
  %y = forge.log %e : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not log-of-exp: exp may overflow.
// CHECK-LABEL: func.func @main(%unbounded
// CHECK:      %unbounded_1 = equivalence.class %unbounded
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.exp %unbounded_1
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.log %e
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%unbounded: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %e = forge.exp %unbounded : tensor<8x4xf32>
  %y = forge.log %e : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not log-of-exp: 100 times tanh is too large.
// CHECK-LABEL: func.func @main(%toolarge
// CHECK:      %toolarge_1 = equivalence.class %toolarge
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.constant
// CHECK-NEXT: [[V2:%[0-9]+]] = equivalence.class [[V1]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.tanh %toolarge_1
// CHECK-NEXT: [[V4:%[0-9]+]] = equivalence.class [[V3]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.mul [[V2]], [[V4]]
// CHECK-NEXT: %u = equivalence.class [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.exp %u
// CHECK-NEXT: %e = equivalence.class [[V6]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.log %e
// CHECK-NEXT: %y = equivalence.class [[V7]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%toolarge: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = forge.constant 1.0e+02 : tensor<1x1xf32>
  %1 = forge.tanh %toolarge : tensor<8x4xf32>
  %u = forge.mul %0, %1 : (tensor<1x1xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %e = forge.exp %u : tensor<8x4xf32>
  %y = forge.log %e : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// exp-of-log.
// CHECK-LABEL: func.func @main(%shifted
// CHECK:      %shifted_1 = equivalence.class %shifted
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.constant
// CHECK-NEXT: [[V2:%[0-9]+]] = equivalence.class [[V1]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.abs %shifted_1
// CHECK-NEXT: [[V4:%[0-9]+]] = equivalence.class [[V3]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.add [[V2]], [[V4]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.exp %e
// CHECK-NEXT: %u = equivalence.class [[V5]], [[V6]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.log %u
// CHECK-NEXT: %e = equivalence.class [[V7]]
// CHECK-NEXT: equivalence.yield %u
func.func @main(%shifted: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = forge.constant 1.0 : tensor<1x1xf32>
  %1 = forge.abs %shifted : tensor<8x4xf32>
  %u = forge.add %0, %1 : (tensor<1x1xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %e = forge.log %u : tensor<8x4xf32>
  %y = forge.exp %e : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not exp-of-log: the logarithm of a negative number is NaN.
// CHECK-LABEL: func.func @main(%logged
// CHECK:      %logged_1 = equivalence.class %logged
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.log %logged_1
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.exp %e
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%logged: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %e = forge.log %logged : tensor<8x4xf32>
  %y = forge.exp %e : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}
