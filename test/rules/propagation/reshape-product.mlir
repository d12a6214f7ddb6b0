// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=reshape-product}' | filecheck %s

// Reshapes of products move to the operands.

// reshape-product: columns are split into heads, which become batches of the right operand.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %x_1, %w_1 : (tensor<2x8x4xf32>, tensor<1x4x6xf32>) -> tensor<2x8x6xf32>
// CHECK-NEXT: %m = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reshape %m : (tensor<2x8x6xf32>) -> tensor<2x8x2x3xf32>
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.transpose [[V4:%[0-9]+]] perm [0, 2, 1, 3] : (tensor<2x2x8x3xf32>) -> tensor<2x8x2x3xf32>
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V3]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.reshape %x_1 : (tensor<2x8x4xf32>) -> tensor<2x1x8x4xf32>
// CHECK-NEXT: [[V6:%[0-9]+]] = equivalence.class [[V5]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.reshape %w_1 : (tensor<1x4x6xf32>) -> tensor<1x4x2x3xf32>
// CHECK-NEXT: [[V8:%[0-9]+]] = equivalence.class [[V7]]
// CHECK-NEXT: [[V9:%[0-9]+]] = forge.transpose [[V8]] perm [0, 2, 1, 3] : (tensor<1x4x2x3xf32>) -> tensor<1x2x4x3xf32>
// CHECK-NEXT: [[V10:%[0-9]+]] = equivalence.class [[V9]]
// CHECK-NEXT: [[V11:%[0-9]+]] = forge.matmul [[V6]], [[V10]] : (tensor<2x1x8x4xf32>, tensor<1x2x4x3xf32>) -> tensor<2x2x8x3xf32>
// CHECK-NEXT: [[V4]] = equivalence.class [[V11]]
func.func @main(%x: tensor<2x8x4xf32>, %w: tensor<1x4x6xf32>) -> tensor<2x8x2x3xf32> {
  %m = forge.matmul %x, %w : (tensor<2x8x4xf32>, tensor<1x4x6xf32>) -> tensor<2x8x6xf32>
  %y = forge.reshape %m : (tensor<2x8x6xf32>) -> tensor<2x8x2x3xf32>
  func.return %y : tensor<2x8x2x3xf32>
}

// -----

// reshape-product: rows are split.
// CHECK-LABEL: func.func @main(%rows
// CHECK:      %rows_1 = equivalence.class %rows
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %rows_1, %w_1 : (tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
// CHECK-NEXT: %m = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reshape %m : (tensor<6x5xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.transpose [[V4:%[0-9]+]] perm [0, 1, 2] : tensor<2x3x5xf32>
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V3]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.reshape %rows_1 : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: [[V6:%[0-9]+]] = equivalence.class [[V5]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.reshape %w_1 : (tensor<4x5xf32>) -> tensor<1x4x5xf32>
// CHECK-NEXT: [[V8:%[0-9]+]] = equivalence.class [[V7]]
// CHECK-NEXT: [[V9:%[0-9]+]] = forge.transpose [[V8]] perm [0, 1, 2] : tensor<1x4x5xf32>
// CHECK-NEXT: [[V10:%[0-9]+]] = equivalence.class [[V9]]
// CHECK-NEXT: [[V11:%[0-9]+]] = forge.matmul [[V6]], [[V10]] : (tensor<2x3x4xf32>, tensor<1x4x5xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT: [[V4]] = equivalence.class [[V11]]
func.func @main(%rows: tensor<6x4xf32>, %w: tensor<4x5xf32>) -> tensor<2x3x5xf32> {
  %m = forge.matmul %rows, %w : (tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
  %y = forge.reshape %m : (tensor<6x5xf32>) -> tensor<2x3x5xf32>
  func.return %y : tensor<2x3x5xf32>
}

// -----

// reshape-product: rows are merged with batches that the weight does not have.
// CHECK-LABEL: func.func @main(%batches
// CHECK:      %batches_1 = equivalence.class %batches
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %batches_1, %w_1 : (tensor<2x3x4xf32>, tensor<1x4x5xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT: %m = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reshape %m : (tensor<2x3x5xf32>) -> tensor<6x5xf32>
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.transpose [[V4:%[0-9]+]] perm [0, 1] : tensor<6x5xf32>
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V3]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.reshape %batches_1 : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
// CHECK-NEXT: [[V6:%[0-9]+]] = equivalence.class [[V5]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.reshape %w_1 : (tensor<1x4x5xf32>) -> tensor<4x5xf32>
// CHECK-NEXT: [[V8:%[0-9]+]] = equivalence.class [[V7]]
// CHECK-NEXT: [[V9:%[0-9]+]] = forge.transpose [[V8]] perm [0, 1] : tensor<4x5xf32>
// CHECK-NEXT: [[V10:%[0-9]+]] = equivalence.class [[V9]]
// CHECK-NEXT: [[V11:%[0-9]+]] = forge.matmul [[V6]], [[V10]] : (tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
// CHECK-NEXT: [[V4]] = equivalence.class [[V11]]
func.func @main(%batches: tensor<2x3x4xf32>, %w: tensor<1x4x5xf32>) -> tensor<6x5xf32> {
  %m = forge.matmul %batches, %w : (tensor<2x3x4xf32>, tensor<1x4x5xf32>) -> tensor<2x3x5xf32>
  %y = forge.reshape %m : (tensor<2x3x5xf32>) -> tensor<6x5xf32>
  func.return %y : tensor<6x5xf32>
}

// -----

// Not reshape-product: the weight has the batches too.
// CHECK-LABEL: func.func @main(%own
// CHECK:      %own_1 = equivalence.class %own
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %own_1, %w_1 : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT: %m = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reshape %m : (tensor<2x3x5xf32>) -> tensor<6x5xf32>
// CHECK-NEXT: %y = equivalence.class [[V2]]
func.func @main(%own: tensor<2x3x4xf32>, %w: tensor<2x4x5xf32>) -> tensor<6x5xf32> {
  %m = forge.matmul %own, %w : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %y = forge.reshape %m : (tensor<2x3x5xf32>) -> tensor<6x5xf32>
  func.return %y : tensor<6x5xf32>
}

// -----

// Not reshape-product: columns are merged with rows.
// CHECK-LABEL: func.func @main(%merged
// CHECK:      %merged_1 = equivalence.class %merged
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %merged_1, %w_1 : (tensor<2x8x4xf32>, tensor<1x4x6xf32>) -> tensor<2x8x6xf32>
// CHECK-NEXT: %m = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reshape %m : (tensor<2x8x6xf32>) -> tensor<2x48xf32>
// CHECK-NEXT: %y = equivalence.class [[V2]]
func.func @main(%merged: tensor<2x8x4xf32>, %w: tensor<1x4x6xf32>) -> tensor<2x48xf32> {
  %m = forge.matmul %merged, %w : (tensor<2x8x4xf32>, tensor<1x4x6xf32>) -> tensor<2x8x6xf32>
  %y = forge.reshape %m : (tensor<2x8x6xf32>) -> tensor<2x48xf32>
  func.return %y : tensor<2x48xf32>
}

// -----

// Not reshape-product: of the batches that are merged the weight has one.
// CHECK-LABEL: func.func @main(%some
// CHECK:      %some_1 = equivalence.class %some
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %some_1, %w_1 : (tensor<2x3x5x4xf32>, tensor<1x3x4x7xf32>) -> tensor<2x3x5x7xf32>
// CHECK-NEXT: %m = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reshape %m : (tensor<2x3x5x7xf32>) -> tensor<6x5x7xf32>
// CHECK-NEXT: %y = equivalence.class [[V2]]
func.func @main(%some: tensor<2x3x5x4xf32>, %w: tensor<1x3x4x7xf32>) -> tensor<6x5x7xf32> {
  %m = forge.matmul %some, %w : (tensor<2x3x5x4xf32>, tensor<1x3x4x7xf32>) -> tensor<2x3x5x7xf32>
  %y = forge.reshape %m : (tensor<2x3x5x7xf32>) -> tensor<6x5x7xf32>
  func.return %y : tensor<6x5x7xf32>
}
