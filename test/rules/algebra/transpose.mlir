// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=transpose-product,transpose-unary,transpose-cast,transpose-binary,transpose-select}' | filecheck %s

// Transposition reverses products and passes pointwise ops (catalogue 5).

// transpose-product, with a batch dimension that stays.
// CHECK-LABEL: func.func @main(%a
// CHECK:       [[V2:%[0-9]+]] = forge.matmul [[V3:%[0-9]+]], [[V4:%[0-9]+]]
// CHECK:       [[V5:%[0-9]+]] = forge.transpose %p perm [0, 2, 1]
// CHECK:       %y = equivalence.class [[V2]], [[V5]]
// CHECK:       [[V6:%[0-9]+]] = forge.transpose %a_1 perm [0, 2, 1]
// CHECK:       [[V4]] = equivalence.class [[V6]]
// CHECK:       [[V7:%[0-9]+]] = forge.transpose %b_1 perm [0, 2, 1]
// CHECK:       [[V3]] = equivalence.class [[V7]]
func.func @main(%a: tensor<2x8x4xf32>, %b: tensor<2x4x6xf32>) -> tensor<2x6x8xf32> {
  %p = forge.matmul %a, %b : (tensor<2x8x4xf32>, tensor<2x4x6xf32>) -> tensor<2x8x6xf32>
  %y = forge.transpose %p perm [0, 2, 1] : (tensor<2x8x6xf32>) -> tensor<2x6x8xf32>
  func.return %y : tensor<2x6x8xf32>
}

// -----

// Not transpose-product: the batch dimension moves.
// CHECK-LABEL: func.func @main(%a_moved
// CHECK:       [[V2:%[0-9]+]] = forge.transpose %p perm [1, 0, 2]
// CHECK:       %y = equivalence.class [[V2]]
func.func @main(%a_moved: tensor<2x8x4xf32>, %b: tensor<2x4x6xf32>) -> tensor<8x2x6xf32> {
  %p = forge.matmul %a_moved, %b : (tensor<2x8x4xf32>, tensor<2x4x6xf32>) -> tensor<2x8x6xf32>
  %y = forge.transpose %p perm [1, 0, 2] : (tensor<2x8x6xf32>) -> tensor<8x2x6xf32>
  func.return %y : tensor<8x2x6xf32>
}

// -----

// transpose-unary.
// CHECK-LABEL: func.func @main(%unary
// CHECK:       [[V2:%[0-9]+]] = forge.transpose %e perm [1, 0]
// CHECK:       [[V3:%[0-9]+]] = forge.exp [[V4:%[0-9]+]]
// CHECK:       %y = equivalence.class [[V2]], [[V3]]
// CHECK:       [[V5:%[0-9]+]] = forge.transpose %unary_1 perm [1, 0]
// CHECK:       [[V4]] = equivalence.class [[V5]]
func.func @main(%unary: tensor<8x4xf32>) -> tensor<4x8xf32> {
  %e = forge.exp %unary : tensor<8x4xf32>
  %y = forge.transpose %e perm [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// -----

// transpose-cast: only casts that change the value are e-nodes in real arithmetic.
// CHECK-LABEL: func.func @main(%integer
// CHECK:       [[V2:%[0-9]+]] = forge.cast [[V3:%[0-9]+]]
// CHECK:       [[V4:%[0-9]+]] = forge.transpose %f perm [1, 0]
// CHECK:       %y = equivalence.class [[V2]], [[V4]]
// CHECK:       [[V5:%[0-9]+]] = forge.transpose %integer_1 perm [1, 0]
// CHECK:       [[V3]] = equivalence.class [[V5]]
func.func @main(%integer: tensor<8x4xi32>) -> tensor<4x8xf32> {
  %f = forge.cast %integer : tensor<8x4xi32> to tensor<8x4xf32>
  %y = forge.transpose %f perm [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// -----

// transpose-binary: what broadcasts is transposed with its sizes of 1.
// CHECK-LABEL: func.func @main(%binary
// CHECK:       [[V2:%[0-9]+]] = forge.mul [[V3:%[0-9]+]], [[V4:%[0-9]+]]
// CHECK:       [[V5:%[0-9]+]] = forge.transpose %m perm [1, 0]
// CHECK:       %y = equivalence.class [[V2]], [[V5]]
// CHECK:       [[V6:%[0-9]+]] = forge.transpose %binary_1 perm [1, 0]
// CHECK:       [[V3]] = equivalence.class [[V6]]
// CHECK:       [[V7:%[0-9]+]] = forge.transpose %b_1 perm [1, 0]
// CHECK:       [[V4]] = equivalence.class [[V7]]
func.func @main(%binary: tensor<8x4xf32>, %b: tensor<8x1xf32>) -> tensor<4x8xf32> {
  %m = forge.mul %binary, %b : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.transpose %m perm [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// -----

// transpose-select.
// CHECK-LABEL: func.func @main(%cond
// CHECK:       [[V2:%[0-9]+]] = forge.select [[V3:%[0-9]+]], [[V4:%[0-9]+]], [[V5:%[0-9]+]]
// CHECK:       [[V6:%[0-9]+]] = forge.transpose %s perm [1, 0]
// CHECK:       %y = equivalence.class [[V2]], [[V6]]
// CHECK:       [[V7:%[0-9]+]] = forge.transpose %cond_1 perm [1, 0]
// CHECK:       [[V3]] = equivalence.class [[V7]]
// CHECK:       [[V8:%[0-9]+]] = forge.transpose %a_1 perm [1, 0]
// CHECK:       [[V4]] = equivalence.class [[V8]]
// CHECK:       [[V9:%[0-9]+]] = forge.transpose %b_1 perm [1, 0]
// CHECK:       [[V5]] = equivalence.class [[V9]]
func.func @main(%cond: tensor<8x4xi1>, %a: tensor<8x4xf32>, %b: tensor<1x1xf32>) -> tensor<4x8xf32> {
  %s = forge.select %cond, %a, %b : (tensor<8x4xi1>, tensor<8x4xf32>, tensor<1x1xf32>) -> tensor<8x4xf32>
  %y = forge.transpose %s perm [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// -----

// Not any of them: a reduction's dimension would have to be renamed.
// CHECK-LABEL: func.func @main(%reduced
// CHECK:       [[V2:%[0-9]+]] = forge.transpose %s perm [1, 0]
// CHECK:       %y = equivalence.class [[V2]]
func.func @main(%reduced: tensor<8x4xf32>) -> tensor<1x8xf32> {
  %s = forge.reduce sum over 1 %reduced : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %y = forge.transpose %s perm [1, 0] : (tensor<8x1xf32>) -> tensor<1x8xf32>
  func.return %y : tensor<1x8xf32>
}
