// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=reshape-reduction}' | filecheck %s

// Reshapes of reductions move to the operand.

// reshape-reduction: rows are split.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reduce sum over 1 %x_1 : (tensor<6x4x8xf32>) -> tensor<6x1x8xf32>
// CHECK-NEXT: %m = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reduce sum over 2 [[V3:%[0-9]+]] : (tensor<2x3x4x8xf32>) -> tensor<2x3x1x8xf32>
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.reshape %m : (tensor<6x1x8xf32>) -> tensor<2x3x1x8xf32>
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.reshape %x_1 : (tensor<6x4x8xf32>) -> tensor<2x3x4x8xf32>
// CHECK-NEXT: [[V3]] = equivalence.class [[V5]]
func.func @main(%x: tensor<6x4x8xf32>) -> tensor<2x3x1x8xf32> {
  %m = forge.reduce sum over 1 %x : (tensor<6x4x8xf32>) -> tensor<6x1x8xf32>
  %y = forge.reshape %m : (tensor<6x1x8xf32>) -> tensor<2x3x1x8xf32>
  func.return %y : tensor<2x3x1x8xf32>
}

// -----

// reshape-reduction: dimensions before the reduced one are merged.
// CHECK-LABEL: func.func @main(%before
// CHECK:      %before_1 = equivalence.class %before
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reduce max over 2 %before_1 : (tensor<2x3x4xf32>) -> tensor<2x3x1xf32>
// CHECK-NEXT: %m = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reduce max over 1 [[V3:%[0-9]+]] : (tensor<6x4xf32>) -> tensor<6x1xf32>
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.reshape %m : (tensor<2x3x1xf32>) -> tensor<6x1xf32>
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.reshape %before_1 : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
// CHECK-NEXT: [[V3]] = equivalence.class [[V5]]
func.func @main(%before: tensor<2x3x4xf32>) -> tensor<6x1xf32> {
  %m = forge.reduce max over 2 %before : (tensor<2x3x4xf32>) -> tensor<2x3x1xf32>
  %y = forge.reshape %m : (tensor<2x3x1xf32>) -> tensor<6x1xf32>
  func.return %y : tensor<6x1xf32>
}

// -----

// Not reshape-reduction: what is merged lies on both sides of the reduced dimension.
// CHECK-LABEL: func.func @main(%across
// CHECK:      %across_1 = equivalence.class %across
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reduce sum over 1 %across_1 : (tensor<2x4x3xf32>) -> tensor<2x1x3xf32>
// CHECK-NEXT: %m = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reshape %m : (tensor<2x1x3xf32>) -> tensor<6x1xf32>
// CHECK-NEXT: %y = equivalence.class [[V2]]
func.func @main(%across: tensor<2x4x3xf32>) -> tensor<6x1xf32> {
  %m = forge.reduce sum over 1 %across : (tensor<2x4x3xf32>) -> tensor<2x1x3xf32>
  %y = forge.reshape %m : (tensor<2x1x3xf32>) -> tensor<6x1xf32>
  func.return %y : tensor<6x1xf32>
}

// -----

// Not reshape-reduction: nothing is left in the place of the reduced dimension.
// CHECK-LABEL: func.func @main(%dropped
// CHECK:      %dropped_1 = equivalence.class %dropped
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reduce sum over 1 %dropped_1 : (tensor<6x4xf32>) -> tensor<6x1xf32>
// CHECK-NEXT: %m = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reshape %m : (tensor<6x1xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %y = equivalence.class [[V2]]
func.func @main(%dropped: tensor<6x4xf32>) -> tensor<2x3xf32> {
  %m = forge.reduce sum over 1 %dropped : (tensor<6x4xf32>) -> tensor<6x1xf32>
  %y = forge.reshape %m : (tensor<6x1xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}
