// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=pick-place,pick-broadcast,pick-gather,gather-unary,gather-cast,gather-binary-operands,gather-binary,gather-select-operands,gather-select}' | filecheck %s

// A gather of a pointwise result gathers the operands.

// gather-binary-operands, gather-binary, pick-gather, gather-unary; a row is the same for all: pick-broadcast.
// CHECK-LABEL: func.func @main(%pointwise
// CHECK:      [[V3:%[0-9]+]] = forge.mul [[E:%[0-9]+]], %row_1
// CHECK:      %y = equivalence.class [[V3]]
// CHECK:      [[V7:%[0-9]+]] = forge.exp [[P:%[0-9]+]]
// CHECK-NEXT: [[E]] = equivalence.class {{.*}}[[V7]]
// CHECK:      [[V9:%[0-9]+]] = forge.gather %pointwise_1, %i_1 along 0
// CHECK-NEXT: [[P]] = equivalence.class [[V9]]
func.func @main(%pointwise: tensor<8x4xf32>, %row: tensor<1x4xf32>, %i: tensor<3x1xi64>) -> tensor<3x4xf32> {
  %e = forge.exp %pointwise : tensor<8x4xf32>
  %m = forge.mul %e, %row : (tensor<8x4xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
  %y = forge.gather %m, %i along 0 : (tensor<8x4xf32>, tensor<3x1xi64>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// gather-select-operands, gather-select, and gather-binary of the comparison.
// CHECK-LABEL: func.func @main(%chosen
// CHECK:      [[V5:%[0-9]+]] = forge.select [[M:%[0-9]+]], [[X:%[0-9]+]], %other_1
// CHECK:      %y = equivalence.class {{.*}}[[V5]]
// CHECK:      [[V8:%[0-9]+]] = forge.gather %chosen_1, %i_1 along 0
// CHECK-NEXT: [[X]] = equivalence.class [[V8]]
// CHECK:      [[V9:%[0-9]+]] = forge.compare gt [[X]], %zero
// CHECK:      [[M]] = equivalence.class [[V9]]
func.func @main(%chosen: tensor<8x4xf32>, %other: tensor<1x4xf32>, %i: tensor<3x1xi64>) -> tensor<3x4xf32> {
  %zero = forge.constant 0.0 : tensor<1x1xf32>
  %c = forge.compare gt %chosen, %zero : (tensor<8x4xf32>, tensor<1x1xf32>) -> tensor<8x4xi1>
  %m = forge.select %c, %chosen, %other : (tensor<8x4xi1>, tensor<8x4xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
  %y = forge.gather %m, %i along 0 : (tensor<8x4xf32>, tensor<3x1xi64>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// gather-cast.
// CHECK-LABEL: func.func @main(%integer
// CHECK:      [[V2:%[0-9]+]] = forge.cast [[G:%[0-9]+]] {through = "f32"}
// CHECK:      %y = equivalence.class [[V2]]
// CHECK:      [[V5:%[0-9]+]] = forge.gather %integer_1, %i_1 along 0
// CHECK-NEXT: [[G]] = equivalence.class [[V5]]
func.func @main(%integer: tensor<8x4xi32>, %i: tensor<3x1xi64>) -> tensor<3x4xf32> {
  %m = forge.cast %integer : tensor<8x4xi32> to tensor<8x4xf32>
  %y = forge.gather %m, %i along 0 : (tensor<8x4xf32>, tensor<3x1xi64>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// Not any of them: a sum is not pointwise.
// CHECK-LABEL: func.func @main(%summed
// CHECK:      [[V2:%[0-9]+]] = forge.gather %m, %i_1 along 0
// CHECK-NEXT: %y = equivalence.class [[V2]] {
func.func @main(%summed: tensor<8x4xf32>, %i: tensor<3x1xi64>) -> tensor<3x1xf32> {
  %m = forge.reduce sum over 1 %summed : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %y = forge.gather %m, %i along 0 : (tensor<8x1xf32>, tensor<3x1xi64>) -> tensor<3x1xf32>
  func.return %y : tensor<3x1xf32>
}

// -----

// Not gather-binary, gather-unary: the sum of two rows has size 1 along the gathered dimension, where neither can be gathered for it.
// CHECK-LABEL: func.func @main(%first
// CHECK:      [[V2:%[0-9]+]] = forge.gather %m, %i_1 along 0
// CHECK-NEXT: %y = equivalence.class [[V2]] {
func.func @main(%first: tensor<1x4xf32>, %second: tensor<1x4xf32>, %i: tensor<3x1xi64>) -> tensor<3x4xf32> {
  %m = forge.add %first, %second : tensor<1x4xf32>
  %y = forge.gather %m, %i along 0 : (tensor<1x4xf32>, tensor<3x1xi64>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}
