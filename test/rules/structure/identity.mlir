// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=transpose-same}' | filecheck %s

// Permutations that change nothing.

// transpose-same.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.transpose %e perm [0, 1] : tensor<8x4xf32>
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.exp %x_1 : tensor<8x4xf32>
// CHECK-NEXT: %e = equivalence.class [[V1]], [[V2]]
func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %e = forge.exp %x : tensor<8x4xf32>
  %y = forge.transpose %e perm [0, 1] : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not transpose-same: rows and columns are exchanged, of equal number.
// CHECK-LABEL: func.func @main(%square
// CHECK:      %square_1 = equivalence.class %square
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.exp %square_1 : tensor<4x4xf32>
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.transpose %e perm [1, 0] : tensor<4x4xf32>
// CHECK-NEXT: %y = equivalence.class [[V2]]
func.func @main(%square: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = forge.exp %square : tensor<4x4xf32>
  %y = forge.transpose %e perm [1, 0] : tensor<4x4xf32>
  func.return %y : tensor<4x4xf32>
}
