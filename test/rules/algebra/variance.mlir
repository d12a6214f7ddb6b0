// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=variance-in-one-pass}' | filecheck %s

// The sum of squares about the mean, in one pass (catalogue 13).

// variance-in-one-pass.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reduce sum over 1 %x_1
// CHECK-NEXT: %s = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.constant
// CHECK-NEXT: [[V3:%[0-9]+]] = equivalence.class [[V2]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.div %s, [[V3]]
// CHECK-NEXT: %m = equivalence.class [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.sub %x_1, %m
// CHECK-NEXT: %d = equivalence.class [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.mul %d, %d
// CHECK-NEXT: %q = equivalence.class [[V6]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.sub [[V8:%[0-9]+]], [[V9:%[0-9]+]]
// CHECK-NEXT: [[V10:%[0-9]+]] = forge.reduce sum over 1 %q
// CHECK-NEXT: %y = equivalence.class [[V7]], [[V10]]
// CHECK-NEXT: [[V11:%[0-9]+]] = forge.mul %x_1, %x_1
// CHECK-NEXT: [[V12:%[0-9]+]] = equivalence.class [[V11]]
// CHECK-NEXT: [[V13:%[0-9]+]] = forge.mul %m, %s
// CHECK-NEXT: [[V9]] = equivalence.class [[V13]]
// CHECK-NEXT: [[V14:%[0-9]+]] = forge.reduce sum over 1 [[V12]]
// CHECK-NEXT: [[V8]] = equivalence.class [[V14]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%x: tensor<8x4xf32>) -> tensor<8x1xf32> {
  %s = forge.reduce sum over 1 %x : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %0 = forge.constant 4.0 : tensor<1x1xf32>
  %m = forge.div %s, %0 : (tensor<8x1xf32>, tensor<1x1xf32>) -> tensor<8x1xf32>
  %d = forge.sub %x, %m : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %q = forge.mul %d, %d : tensor<8x4xf32>
  %y = forge.reduce sum over 1 %q : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not variance-in-one-pass: the divisor is not the extent, so that m is no mean.
// CHECK-LABEL: func.func @main(%unbiased
// CHECK:      %unbiased_1 = equivalence.class %unbiased
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reduce sum over 1 %unbiased_1
// CHECK-NEXT: %s = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.constant
// CHECK-NEXT: [[V3:%[0-9]+]] = equivalence.class [[V2]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.div %s, [[V3]]
// CHECK-NEXT: %m = equivalence.class [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.sub %unbiased_1, %m
// CHECK-NEXT: %d = equivalence.class [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.mul %d, %d
// CHECK-NEXT: %q = equivalence.class [[V6]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.reduce sum over 1 %q
// CHECK-NEXT: %y = equivalence.class [[V7]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%unbiased: tensor<8x4xf32>) -> tensor<8x1xf32> {
  %s = forge.reduce sum over 1 %unbiased : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %0 = forge.constant 3.0 : tensor<1x1xf32>
  %m = forge.div %s, %0 : (tensor<8x1xf32>, tensor<1x1xf32>) -> tensor<8x1xf32>
  %d = forge.sub %unbiased, %m : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %q = forge.mul %d, %d : tensor<8x4xf32>
  %y = forge.reduce sum over 1 %q : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not variance-in-one-pass: the mean of the other dimension.
// CHECK-LABEL: func.func @main(%square
// CHECK:      %square_1 = equivalence.class %square
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reduce sum over 0 %square_1
// CHECK-NEXT: %s = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.constant
// CHECK-NEXT: [[V3:%[0-9]+]] = equivalence.class [[V2]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.div %s, [[V3]]
// CHECK-NEXT: %m = equivalence.class [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.sub %square_1, %m
// CHECK-NEXT: %d = equivalence.class [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.mul %d, %d
// CHECK-NEXT: %q = equivalence.class [[V6]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.reduce sum over 1 %q
// CHECK-NEXT: %y = equivalence.class [[V7]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%square: tensor<4x4xf32>) -> tensor<4x1xf32> {
  %s = forge.reduce sum over 0 %square : (tensor<4x4xf32>) -> tensor<1x4xf32>
  %0 = forge.constant 4.0 : tensor<1x1xf32>
  %m = forge.div %s, %0 : (tensor<1x4xf32>, tensor<1x1xf32>) -> tensor<1x4xf32>
  %d = forge.sub %square, %m : (tensor<4x4xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  %q = forge.mul %d, %d : tensor<4x4xf32>
  %y = forge.reduce sum over 1 %q : (tensor<4x4xf32>) -> tensor<4x1xf32>
  func.return %y : tensor<4x1xf32>
}

// -----

// Not variance-in-one-pass: the constant widens the mean, so that the product of mean and sum has no size 1.
// CHECK-LABEL: func.func @main(%widened
// CHECK:      %widened_1 = equivalence.class %widened
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reduce sum over 1 %widened_1
// CHECK-NEXT: %s = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.constant
// CHECK-NEXT: [[V3:%[0-9]+]] = equivalence.class [[V2]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.div %s, [[V3]]
// CHECK-NEXT: %m = equivalence.class [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.sub %widened_1, %m
// CHECK-NEXT: %d = equivalence.class [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.mul %d, %d
// CHECK-NEXT: %q = equivalence.class [[V6]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.reduce sum over 1 %q
// CHECK-NEXT: %y = equivalence.class [[V7]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%widened: tensor<8x4xf32>) -> tensor<8x1xf32> {
  %s = forge.reduce sum over 1 %widened : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %0 = forge.constant 4.0 : tensor<8x4xf32>
  %m = forge.div %s, %0 : (tensor<8x1xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %d = forge.sub %widened, %m : tensor<8x4xf32>
  %q = forge.mul %d, %d : tensor<8x4xf32>
  %y = forge.reduce sum over 1 %q : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}
