// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=sum-of-sum-back}' | filecheck %s

// Two sums over one dimension are one sum (catalogue 11, back).

// sum-of-sum-back: the program aligns what the two sums run over.
// CHECK-LABEL: func.func @main(%left
// CHECK:      %left_1 = equivalence.class %left
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reduce sum over 1 %left_1
// CHECK-NEXT: %l = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.mul %left_1, %w_1
// CHECK-NEXT: %lw = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.reduce sum over 1 %lw
// CHECK-NEXT: %r = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.add %l, %r
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.reduce sum over 1 [[V6:%[0-9]+]]
// CHECK-NEXT: %y = equivalence.class [[V4]], [[V5]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.add %left_1, %lw
// CHECK-NEXT: [[V6]] = equivalence.class [[V7]]
func.func @main(%left: tensor<8x4xf32>, %w: tensor<8x4xf32>) -> tensor<8x1xf32> {
  %l = forge.reduce sum over 1 %left : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %lw = forge.mul %left, %w : tensor<8x4xf32>
  %r = forge.reduce sum over 1 %lw : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %y = forge.add %l, %r : tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not sum-of-sum-back: nothing aligns the two dimensions, so that no loop runs over both.
// CHECK-LABEL: func.func @main(%apart
// CHECK:      %apart_1 = equivalence.class %apart
// CHECK-NEXT: %right_1 = equivalence.class %right
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reduce sum over 1 %apart_1
// CHECK-NEXT: %l = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reduce sum over 1 %right_1
// CHECK-NEXT: %r = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.add %l, %r
// CHECK-NEXT: %y = equivalence.class [[V3]]
func.func @main(%apart: tensor<8x4xf32>, %right: tensor<8x4xf32>) -> tensor<8x1xf32> {
  %l = forge.reduce sum over 1 %apart : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %r = forge.reduce sum over 1 %right : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %y = forge.add %l, %r : tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Different dimensions.
// CHECK-LABEL: func.func @main(%rows
// CHECK:      %rows_1 = equivalence.class %rows
// CHECK-NEXT: %columns_1 = equivalence.class %columns
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reduce sum over 1 %rows_1
// CHECK-NEXT: %l = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reduce sum over 0 %columns_1
// CHECK-NEXT: %r = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.add %l, %r
// CHECK-NEXT: %y = equivalence.class [[V3]]
func.func @main(%rows: tensor<4x4xf32>, %columns: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %l = forge.reduce sum over 1 %rows : (tensor<4x4xf32>) -> tensor<4x1xf32>
  %r = forge.reduce sum over 0 %columns : (tensor<4x4xf32>) -> tensor<1x4xf32>
  %y = forge.add %l, %r : (tensor<4x1xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  func.return %y : tensor<4x4xf32>
}

// -----

// Different lengths: the sum would broadcast.
// CHECK-LABEL: func.func @main(%long
// CHECK:      %long_1 = equivalence.class %long
// CHECK-NEXT: %short_1 = equivalence.class %short
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reduce sum over 1 %long_1
// CHECK-NEXT: %l = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reduce sum over 1 %short_1
// CHECK-NEXT: %r = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.add %l, %r
// CHECK-NEXT: %y = equivalence.class [[V3]]
func.func @main(%long: tensor<8x4xf32>, %short: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %l = forge.reduce sum over 1 %long : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %r = forge.reduce sum over 1 %short : tensor<8x1xf32>
  %y = forge.add %l, %r : tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Maxima don't add up.
// CHECK-LABEL: func.func @main(%max_left
// CHECK:      %max_left_1 = equivalence.class %max_left
// CHECK-NEXT: %max_right_1 = equivalence.class %max_right
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reduce max over 1 %max_left_1
// CHECK-NEXT: %l = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reduce max over 1 %max_right_1
// CHECK-NEXT: %r = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.add %l, %r
// CHECK-NEXT: %y = equivalence.class [[V3]]
func.func @main(%max_left: tensor<8x4xf32>, %max_right: tensor<8x4xf32>) -> tensor<8x1xf32> {
  %l = forge.reduce max over 1 %max_left : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %r = forge.reduce max over 1 %max_right : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %y = forge.add %l, %r : tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}
