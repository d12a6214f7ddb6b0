// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=merge-after-unary,merge-after-left,merge-after-right,merge-after-transpose}' | filecheck %s

// Dimensions of computed values are merged after the pointwise ops that look at them.

// merge-after-unary.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.exp %x_1 : tensor<2x3x4xf32>
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reshape %e : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
// CHECK-NEXT: %r = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.reshape [[V4:%[0-9]+]] : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.tanh %r : tensor<2x12xf32>
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.tanh %e : tensor<2x3x4xf32>
// CHECK-NEXT: [[V4]] = equivalence.class [[V6]]
func.func @main(%x: tensor<2x3x4xf32>) -> tensor<2x12xf32> {
  %e = forge.exp %x : tensor<2x3x4xf32>
  %r = forge.reshape %e : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
  %y = forge.tanh %r : tensor<2x12xf32>
  func.return %y : tensor<2x12xf32>
}

// -----

// merge-after-left: the other operand has all that is merged.
// CHECK-LABEL: func.func @main(%left
// CHECK:      %left_1 = equivalence.class %left
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.exp %left_1 : tensor<2x3x4xf32>
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reshape %e : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
// CHECK-NEXT: %r = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.sub %r, %b_1 : (tensor<2x12xf32>, tensor<1x12xf32>) -> tensor<2x12xf32>
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.reshape [[V5:%[0-9]+]] : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V4]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.reshape %b_1 : (tensor<1x12xf32>) -> tensor<1x3x4xf32>
// CHECK-NEXT: [[V7:%[0-9]+]] = equivalence.class [[V6]]
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.sub %e, [[V7]] : (tensor<2x3x4xf32>, tensor<1x3x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: [[V5]] = equivalence.class [[V8]]
func.func @main(%left: tensor<2x3x4xf32>, %b: tensor<1x12xf32>) -> tensor<2x12xf32> {
  %e = forge.exp %left : tensor<2x3x4xf32>
  %r = forge.reshape %e : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
  %y = forge.sub %r, %b : (tensor<2x12xf32>, tensor<1x12xf32>) -> tensor<2x12xf32>
  func.return %y : tensor<2x12xf32>
}

// -----

// merge-after-right: the other operand has nothing of it.
// CHECK-LABEL: func.func @main(%right
// CHECK:      %right_1 = equivalence.class %right
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.exp %right_1 : tensor<2x3x4xf32>
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reshape %e : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
// CHECK-NEXT: %r = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.sub %b_1, %r : (tensor<2x1xf32>, tensor<2x12xf32>) -> tensor<2x12xf32>
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.reshape [[V5:%[0-9]+]] : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V4]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.reshape %b_1 : (tensor<2x1xf32>) -> tensor<2x1x1xf32>
// CHECK-NEXT: [[V7:%[0-9]+]] = equivalence.class [[V6]]
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.sub [[V7]], %e : (tensor<2x1x1xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: [[V5]] = equivalence.class [[V8]]
func.func @main(%right: tensor<2x3x4xf32>, %b: tensor<2x1xf32>) -> tensor<2x12xf32> {
  %e = forge.exp %right : tensor<2x3x4xf32>
  %r = forge.reshape %e : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
  %y = forge.sub %b, %r : (tensor<2x1xf32>, tensor<2x12xf32>) -> tensor<2x12xf32>
  func.return %y : tensor<2x12xf32>
}

// -----

// Not merge-after-unary and merge-after-left: the reshape is of what is in memory.
// CHECK-LABEL: func.func @main(%stored
// CHECK:      %stored_1 = equivalence.class %stored
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reshape %stored_1 : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
// CHECK-NEXT: %r = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.tanh %r : tensor<2x12xf32>
// CHECK-NEXT: %t = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.sub %r, %t : tensor<2x12xf32>
// CHECK-NEXT: %y = equivalence.class [[V3]]
func.func @main(%stored: tensor<2x3x4xf32>) -> tensor<2x12xf32> {
  %r = forge.reshape %stored : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
  %t = forge.tanh %r : tensor<2x12xf32>
  %y = forge.sub %r, %t : tensor<2x12xf32>
  func.return %y : tensor<2x12xf32>
}

// -----

// Not merge-after-unary and merge-after-right: a dimension is split.
// CHECK-LABEL: func.func @main(%split
// CHECK:      %split_1 = equivalence.class %split
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.exp %split_1 : tensor<2x12xf32>
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reshape %e : (tensor<2x12xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: %r = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.tanh %r : tensor<2x3x4xf32>
// CHECK-NEXT: %t = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.sub %b_1, %r : tensor<2x3x4xf32>
// CHECK-NEXT: %y = equivalence.class [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.mul %y, %t : tensor<2x3x4xf32>
// CHECK-NEXT: %z = equivalence.class [[V5]]
func.func @main(%split: tensor<2x12xf32>, %b: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %e = forge.exp %split : tensor<2x12xf32>
  %r = forge.reshape %e : (tensor<2x12xf32>) -> tensor<2x3x4xf32>
  %t = forge.tanh %r : tensor<2x3x4xf32>
  %y = forge.sub %b, %r : tensor<2x3x4xf32>
  %z = forge.mul %y, %t : tensor<2x3x4xf32>
  func.return %z : tensor<2x3x4xf32>
}

// -----

// Not merge-after-left: of what is merged and split in one run the other operand has a part.
// CHECK-LABEL: func.func @main(%part
// CHECK:      %part_1 = equivalence.class %part
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.exp %part_1 : tensor<2x6x5xf32>
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reshape %e : (tensor<2x6x5xf32>) -> tensor<3x4x5xf32>
// CHECK-NEXT: %r = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.sub %r, %b_1 : (tensor<3x4x5xf32>, tensor<1x4x5xf32>) -> tensor<3x4x5xf32>
// CHECK-NEXT: %y = equivalence.class [[V3]]
func.func @main(%part: tensor<2x6x5xf32>, %b: tensor<1x4x5xf32>) -> tensor<3x4x5xf32> {
  %e = forge.exp %part : tensor<2x6x5xf32>
  %r = forge.reshape %e : (tensor<2x6x5xf32>) -> tensor<3x4x5xf32>
  %y = forge.sub %r, %b : (tensor<3x4x5xf32>, tensor<1x4x5xf32>) -> tensor<3x4x5xf32>
  func.return %y : tensor<3x4x5xf32>
}

// -----

// Not merge-after-right: the other operand is larger than what is merged.
// CHECK-LABEL: func.func @main(%single
// CHECK:      %single_1 = equivalence.class %single
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.exp %single_1 : tensor<1x3x4xf32>
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reshape %e : (tensor<1x3x4xf32>) -> tensor<1x12xf32>
// CHECK-NEXT: %r = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.sub %b_1, %r : (tensor<2x12xf32>, tensor<1x12xf32>) -> tensor<2x12xf32>
// CHECK-NEXT: %y = equivalence.class [[V3]]
func.func @main(%single: tensor<1x3x4xf32>, %b: tensor<2x12xf32>) -> tensor<2x12xf32> {
  %e = forge.exp %single : tensor<1x3x4xf32>
  %r = forge.reshape %e : (tensor<1x3x4xf32>) -> tensor<1x12xf32>
  %y = forge.sub %b, %r : (tensor<2x12xf32>, tensor<1x12xf32>) -> tensor<2x12xf32>
  func.return %y : tensor<2x12xf32>
}

// -----

// merge-after-transpose.
// CHECK-LABEL: func.func @main(%turned
// CHECK:      %turned_1 = equivalence.class %turned
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.exp %turned_1 : tensor<2x3x4x5xf32>
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reshape %e : (tensor<2x3x4x5xf32>) -> tensor<6x4x5xf32>
// CHECK-NEXT: %r = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.reshape [[V4:%[0-9]+]] : (tensor<4x2x3x5xf32>) -> tensor<4x6x5xf32>
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.transpose %r perm [1, 0, 2] : (tensor<6x4x5xf32>) -> tensor<4x6x5xf32>
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.transpose %e perm [2, 0, 1, 3] : (tensor<2x3x4x5xf32>) -> tensor<4x2x3x5xf32>
// CHECK-NEXT: [[V4]] = equivalence.class [[V6]]
func.func @main(%turned: tensor<2x3x4x5xf32>) -> tensor<4x6x5xf32> {
  %e = forge.exp %turned : tensor<2x3x4x5xf32>
  %r = forge.reshape %e : (tensor<2x3x4x5xf32>) -> tensor<6x4x5xf32>
  %y = forge.transpose %r perm [1, 0, 2] : (tensor<6x4x5xf32>) -> tensor<4x6x5xf32>
  func.return %y : tensor<4x6x5xf32>
}

// -----

// Not merge-after-transpose: the reshape is of what is in memory.
// CHECK-LABEL: func.func @main(%kept
// CHECK:      %kept_1 = equivalence.class %kept
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reshape %kept_1 : (tensor<2x3x4x5xf32>) -> tensor<6x4x5xf32>
// CHECK-NEXT: %r = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.transpose %r perm [1, 0, 2] : (tensor<6x4x5xf32>) -> tensor<4x6x5xf32>
// CHECK-NEXT: %y = equivalence.class [[V2]]
func.func @main(%kept: tensor<2x3x4x5xf32>) -> tensor<4x6x5xf32> {
  %r = forge.reshape %kept : (tensor<2x3x4x5xf32>) -> tensor<6x4x5xf32>
  %y = forge.transpose %r perm [1, 0, 2] : (tensor<6x4x5xf32>) -> tensor<4x6x5xf32>
  func.return %y : tensor<4x6x5xf32>
}

// -----

// Not merge-after-transpose: a dimension is split.
// CHECK-LABEL: func.func @main(%apart
// CHECK:      %apart_1 = equivalence.class %apart
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.exp %apart_1 : tensor<6x4x5xf32>
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reshape %e : (tensor<6x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: %r = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.transpose %r perm [2, 0, 1, 3] : (tensor<2x3x4x5xf32>) -> tensor<4x2x3x5xf32>
// CHECK-NEXT: %y = equivalence.class [[V3]]
func.func @main(%apart: tensor<6x4x5xf32>) -> tensor<4x2x3x5xf32> {
  %e = forge.exp %apart : tensor<6x4x5xf32>
  %r = forge.reshape %e : (tensor<6x4x5xf32>) -> tensor<2x3x4x5xf32>
  %y = forge.transpose %r perm [2, 0, 1, 3] : (tensor<2x3x4x5xf32>) -> tensor<4x2x3x5xf32>
  func.return %y : tensor<4x2x3x5xf32>
}
