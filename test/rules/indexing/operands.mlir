// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=slice-places,pick-place,pick-broadcast,gather-reduce,gather-product-rows,gather-product-columns,gather-product-batch-operands,gather-product-batch,transpose-gather,transpose-places,gather-gather,places-at-places}' | filecheck %s

// Gathers of products, reductions, transposes and gathers.

// gather-product-rows.
// CHECK-LABEL: func.func @main(%rows
// CHECK:      [[V4:%[0-9]+]] = forge.matmul [[A:%[0-9]+]], %w_1
// CHECK:      %y = equivalence.class {{.*}}[[V4]]
// CHECK:      [[V8:%[0-9]+]] = forge.gather %rows_1, {{%[0-9]+}} along 1
// CHECK-NEXT: [[A]] = equivalence.class [[V8]]
func.func @main(%rows: tensor<2x8x4xf32>, %w: tensor<2x4x6xf32>) -> tensor<2x3x6xf32> {
  %m = forge.matmul %rows, %w : (tensor<2x8x4xf32>, tensor<2x4x6xf32>) -> tensor<2x8x6xf32>
  %y = forge.slice %m along 1 from 2 to 5 step 1 : (tensor<2x8x6xf32>) -> tensor<2x3x6xf32>
  func.return %y : tensor<2x3x6xf32>
}

// -----

// gather-product-columns.
// CHECK-LABEL: func.func @main(%columns
// CHECK:      [[V4:%[0-9]+]] = forge.matmul %columns_1, [[B:%[0-9]+]] :
// CHECK:      %y = equivalence.class {{.*}}[[V4]]
// CHECK:      [[V8:%[0-9]+]] = forge.gather %w_1, {{%[0-9]+}} along 2
// CHECK-NEXT: [[B]] = equivalence.class [[V8]]
func.func @main(%columns: tensor<2x8x4xf32>, %w: tensor<2x4x6xf32>) -> tensor<2x8x3xf32> {
  %m = forge.matmul %columns, %w : (tensor<2x8x4xf32>, tensor<2x4x6xf32>) -> tensor<2x8x6xf32>
  %y = forge.slice %m along 2 from 2 to 5 step 1 : (tensor<2x8x6xf32>) -> tensor<2x8x3xf32>
  func.return %y : tensor<2x8x3xf32>
}

// -----

// gather-product-batch-operands, gather-product-batch: the weight is the same for all batches.
// CHECK-LABEL: func.func @main(%batches
// CHECK:      [[V4:%[0-9]+]] = forge.matmul [[A:%[0-9]+]], %w_1
// CHECK:      %y = equivalence.class {{.*}}[[V4]]
// CHECK:      [[V8:%[0-9]+]] = forge.gather %batches_1, {{%[0-9]+}} along 0
// CHECK-NEXT: [[A]] = equivalence.class [[V8]]
func.func @main(%batches: tensor<4x8x4xf32>, %w: tensor<1x4x6xf32>) -> tensor<2x8x6xf32> {
  %m = forge.matmul %batches, %w : (tensor<4x8x4xf32>, tensor<1x4x6xf32>) -> tensor<4x8x6xf32>
  %y = forge.slice %m along 0 from 1 to 3 step 1 : (tensor<4x8x6xf32>) -> tensor<2x8x6xf32>
  func.return %y : tensor<2x8x6xf32>
}

// -----

// Not gather-product-rows: places that the program gives may vary along other dimensions too.
// CHECK-LABEL: func.func @main(%any
// CHECK:      [[V2:%[0-9]+]] = forge.gather %m, %i_1 along 0
// CHECK-NEXT: %y = equivalence.class [[V2]] {
func.func @main(%any: tensor<4x8xf32>, %w: tensor<8x6xf32>, %i: tensor<3x1xi64>) -> tensor<3x6xf32> {
  %m = forge.matmul %any, %w : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %y = forge.gather %m, %i along 0 : (tensor<4x6xf32>, tensor<3x1xi64>) -> tensor<3x6xf32>
  func.return %y : tensor<3x6xf32>
}

// -----

// gather-reduce.
// CHECK-LABEL: func.func @main(%reduced
// CHECK:      [[V4:%[0-9]+]] = forge.reduce sum over 1 [[G:%[0-9]+]]
// CHECK:      %y = equivalence.class {{.*}}[[V4]]
// CHECK:      [[V8:%[0-9]+]] = forge.gather %reduced_1, {{%[0-9]+}} along 0
// CHECK-NEXT: [[G]] = equivalence.class [[V8]]
func.func @main(%reduced: tensor<8x4xf32>) -> tensor<3x1xf32> {
  %m = forge.reduce sum over 1 %reduced : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %y = forge.slice %m along 0 from 2 to 5 step 1 : (tensor<8x1xf32>) -> tensor<3x1xf32>
  func.return %y : tensor<3x1xf32>
}

// -----

// transpose-gather.
// CHECK-LABEL: func.func @main(%turned
// CHECK:      [[V2:%[0-9]+]] = forge.gather [[T:%[0-9]+]], [[I:%[0-9]+]] along 1
// CHECK:      %y = equivalence.class [[V2]]
// CHECK:      [[V6:%[0-9]+]] = forge.transpose %turned_1 perm [1, 0]
// CHECK-NEXT: [[T]] = equivalence.class [[V6]]
// CHECK:      [[V7:%[0-9]+]] = forge.transpose %i_1 perm [1, 0]
// CHECK-NEXT: [[I]] = equivalence.class [[V7]] {
func.func @main(%turned: tensor<8x4xf32>, %i: tensor<3x1xi64>) -> tensor<4x3xf32> {
  %m = forge.gather %turned, %i along 0 : (tensor<8x4xf32>, tensor<3x1xi64>) -> tensor<3x4xf32>
  %y = forge.transpose %m perm [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
}

// -----

// transpose-places: positions are written anew. (Not above, where the program gives them.)
// CHECK-LABEL: func.func @main(%turned
// CHECK:      [[V11:%[0-9]+]] = forge.index 1 from 2 step 1 each 1 period 0 within 0 to 7 : tensor<1x3xi32>
// CHECK-NEXT: [[V12:%[0-9]+]] = forge.transpose {{%[0-9]+}} perm [1, 0] : (tensor<3x1xi32>) -> tensor<1x3xi32>
// CHECK-NEXT: equivalence.class [[V11]], [[V12]]
func.func @main(%turned: tensor<8x4xf32>) -> tensor<4x3xf32> {
  %e = forge.exp %turned : tensor<8x4xf32>
  %m = forge.slice %e along 0 from 2 to 5 step 1 : (tensor<8x4xf32>) -> tensor<3x4xf32>
  %y = forge.transpose %m perm [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
}

// -----

// gather-gather, places-at-places: 2 + 3 (1 + 2 i) = 5 + 6 i, the last of them 17.
// CHECK-LABEL: func.func @main(%twice
// CHECK:      [[V5:%[0-9]+]] = forge.gather %e, [[I:%[0-9]+]] along 0 : (tensor<20x4xf32>, tensor<3x1xi32>)
// CHECK:      %y = equivalence.class {{.*}}[[V5]]
// CHECK:      [[V13:%[0-9]+]] = forge.index 0 from 5 step 6 each 1 period 0 within 2 to 17 : tensor<3x1xi32>
// CHECK-NEXT: [[I]] = equivalence.class {{.*}}[[V13]]
func.func @main(%twice: tensor<20x4xf32>) -> tensor<3x4xf32> {
  %e = forge.exp %twice : tensor<20x4xf32>
  %m = forge.slice %e along 0 from 2 to 20 step 3 : (tensor<20x4xf32>) -> tensor<6x4xf32>
  %y = forge.slice %m along 0 from 1 to 6 step 2 : (tensor<6x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// Not gather-gather: the dimensions differ.
// CHECK-LABEL: func.func @main(%across
// CHECK:      [[V5:%[0-9]+]] = forge.gather %m, {{%[0-9]+}} along 1
// CHECK-NOT:  forge.gather %e, {{.*}} -> tensor<6x2xf32>
// CHECK:      func.return
func.func @main(%across: tensor<20x4xf32>) -> tensor<6x2xf32> {
  %e = forge.exp %across : tensor<20x4xf32>
  %m = forge.slice %e along 0 from 2 to 20 step 3 : (tensor<20x4xf32>) -> tensor<6x4xf32>
  %y = forge.slice %m along 1 from 1 to 3 step 1 : (tensor<6x4xf32>) -> tensor<6x2xf32>
  func.return %y : tensor<6x2xf32>
}

// -----

// Not gather-reduce: the gathered dimension is the reduced one.
// CHECK-LABEL: func.func @main(%same
// CHECK-NOT:  forge.gather %same_1
// CHECK:      func.return
func.func @main(%same: tensor<8x4xf32>, %i: tensor<8x3xi32>) -> tensor<8x3xf32> {
  %m = forge.reduce sum over 1 %same : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %y = forge.gather %m, %i along 1 : (tensor<8x1xf32>, tensor<8x3xi32>) -> tensor<8x3xf32>
  func.return %y : tensor<8x3xf32>
}
