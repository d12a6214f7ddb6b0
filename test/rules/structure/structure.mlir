// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=1},saturate{rules=transpose-identity,transpose-transpose,reshape-reshape,expand-expand}' | filecheck %s

// Compositions of layout ops.

// transpose-identity: an exchange of two dimensions is its own inverse.
// CHECK-LABEL: func.func @main(%x
// CHECK:      [[V1:%[0-9]+]] = forge.transpose %x_1 perm [0, 1]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.transpose %t perm [1, 0]
// CHECK-NEXT: %x_1 = equivalence.class %x, [[V1]], [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.transpose %t perm [0, 1]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.transpose %x_1 perm [1, 0]
// CHECK-NEXT: %t = equivalence.class [[V3]], [[V4]]
func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %t = forge.transpose %x perm [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %y = forge.transpose %t perm [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// transpose-transpose: one permutation; not transpose-identity, since the cycle has order three.
// CHECK-LABEL: func.func @main(%cycle
// CHECK:      %cycle_1 = equivalence.class %cycle
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.transpose %cycle_1 perm [1, 2, 0]
// CHECK-NEXT: %t = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.transpose %t perm [1, 2, 0]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.transpose %cycle_1 perm [2, 0, 1]
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V3]]
func.func @main(%cycle: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  %t = forge.transpose %cycle perm [1, 2, 0] : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %y = forge.transpose %t perm [1, 2, 0] : (tensor<3x4x2xf32>) -> tensor<4x2x3xf32>
  func.return %y : tensor<4x2x3xf32>
}

// -----

// Not transpose-transpose: an exp stands between them.
// CHECK-LABEL: func.func @main(%between
// CHECK:      %between_1 = equivalence.class %between
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.transpose %between_1 perm [1, 0]
// CHECK-NEXT: %t = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.exp %t
// CHECK-NEXT: %e = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.transpose %e perm [1, 0]
// CHECK-NEXT: %y = equivalence.class [[V3]]
func.func @main(%between: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %t = forge.transpose %between perm [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %e = forge.exp %t : tensor<4x8xf32>
  %y = forge.transpose %e perm [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// reshape-reshape.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reshape %x_1
// CHECK-NEXT: %r = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reshape %x_1
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.reshape %r
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V3]]
func.func @main(%x: tensor<2x3x4xf32>) -> tensor<24xf32> {
  %r = forge.reshape %x : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %y = forge.reshape %r : (tensor<6x4xf32>) -> tensor<24xf32>
  func.return %y : tensor<24xf32>
}

// -----

// Not reshape-reshape: a transposition stands between them.
// CHECK-LABEL: func.func @main(%moved
// CHECK:      %moved_1 = equivalence.class %moved
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reshape %moved_1
// CHECK-NEXT: %r = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.transpose %r perm [1, 0]
// CHECK-NEXT: %t = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.reshape %t
// CHECK-NEXT: %y = equivalence.class [[V3]]
func.func @main(%moved: tensor<2x3x4xf32>) -> tensor<24xf32> {
  %r = forge.reshape %moved : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %t = forge.transpose %r perm [1, 0] : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %y = forge.reshape %t : (tensor<4x6xf32>) -> tensor<24xf32>
  func.return %y : tensor<24xf32>
}

// -----

// expand-expand.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.expand %x_1
// CHECK-NEXT: %r = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.expand %x_1
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.expand %r
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V3]]
func.func @main(%x: tensor<2x1x1xf32>) -> tensor<2x3x4xf32> {
  %r = forge.expand %x : (tensor<2x1x1xf32>) -> tensor<2x3x1xf32>
  %y = forge.expand %r : (tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
  func.return %y : tensor<2x3x4xf32>
}

// -----

// Not expand-expand: a slice stands between them.
// CHECK-LABEL: func.func @main(%sliced
// CHECK:      %sliced_1 = equivalence.class %sliced
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.expand %sliced_1
// CHECK-NEXT: %r = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.slice %r along 1 from 0 to 2 step 1
// CHECK-NEXT: %s = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.expand %s
// CHECK-NEXT: %y = equivalence.class [[V3]]
func.func @main(%sliced: tensor<2x1x1xf32>) -> tensor<2x2x4xf32> {
  %r = forge.expand %sliced : (tensor<2x1x1xf32>) -> tensor<2x3x1xf32>
  %s = forge.slice %r along 1 from 0 to 2 step 1 : (tensor<2x3x1xf32>) -> tensor<2x2x1xf32>
  %y = forge.expand %s : (tensor<2x2x1xf32>) -> tensor<2x2x4xf32>
  func.return %y : tensor<2x2x4xf32>
}
