// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=slice-columns,slice-rows,one-product-of-parts,slice-unary,slice-cast,slice-binary,slice-select,slice-transpose,reduction-sliced,slice-of-slice,slice-all}' | filecheck %s

// Slices of products, pointwise ops, reductions and slices (catalogue 16).

// slice-columns.
// CHECK-LABEL: func.func @main(%columns
// CHECK:      %columns_1 = equivalence.class %columns
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %columns_1, %b_1
// CHECK-NEXT: %p = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.matmul %columns_1, [[V3:%[0-9]+]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.slice %p along 1 from 2 to 6 step 2
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.slice %b_1 along 1 from 2 to 6 step 2
// CHECK-NEXT: [[V3]] = equivalence.class [[V5]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%columns: tensor<8x4xf32>, %b: tensor<4x6xf32>) -> tensor<8x2xf32> {
  %p = forge.matmul %columns, %b : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %y = forge.slice %p along 1 from 2 to 6 step 2 : (tensor<8x6xf32>) -> tensor<8x2xf32>
  func.return %y : tensor<8x2xf32>
}

// -----

// slice-rows.
// CHECK-LABEL: func.func @main(%rows
// CHECK:      %rows_1 = equivalence.class %rows
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %rows_1, %b_1
// CHECK-NEXT: %p = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.matmul [[V3:%[0-9]+]], %b_1
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.slice %p along 0 from 0 to 3 step 1
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.slice %rows_1 along 0 from 0 to 3 step 1
// CHECK-NEXT: [[V3]] = equivalence.class [[V5]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%rows: tensor<8x4xf32>, %b: tensor<4x6xf32>) -> tensor<3x6xf32> {
  %p = forge.matmul %rows, %b : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %y = forge.slice %p along 0 from 0 to 3 step 1 : (tensor<8x6xf32>) -> tensor<3x6xf32>
  func.return %y : tensor<3x6xf32>
}

// -----

// Not slice-rows nor slice-columns: a slice of the batch.
// CHECK-LABEL: func.func @main(%batch
// CHECK:      %batch_1 = equivalence.class %batch
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %batch_1, %b_1
// CHECK-NEXT: %p = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.slice %p along 0 from 0 to 2 step 1
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%batch: tensor<3x8x4xf32>, %b: tensor<1x4x6xf32>) -> tensor<2x8x6xf32> {
  %p = forge.matmul %batch, %b : (tensor<3x8x4xf32>, tensor<1x4x6xf32>) -> tensor<3x8x6xf32>
  %y = forge.slice %p along 0 from 0 to 2 step 1 : (tensor<3x8x6xf32>) -> tensor<2x8x6xf32>
  func.return %y : tensor<2x8x6xf32>
}

// -----

// one-product-of-parts: two parts of one weight; slice-columns finds their products again.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.slice %w_1 along 1 from 0 to 3 step 1
// CHECK-NEXT: %u = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.slice %w_1 along 1 from 3 to 6 step 1
// CHECK-NEXT: %v = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %x_1, %u
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.slice [[V5:%[0-9]+]] along 1 from 0 to 3 step 1
// CHECK-NEXT: %p = equivalence.class [[V3]], [[V4]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.matmul %x_1, %v
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.slice [[V5]] along 1 from 3 to 6 step 1
// CHECK-NEXT: %q = equivalence.class [[V6]], [[V7]]
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.matmul %x_1, %w_1
// CHECK-NEXT: [[V5]] = equivalence.class [[V8]]
// CHECK-NEXT: equivalence.yield %p, %q
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x6xf32>) -> (tensor<8x3xf32>, tensor<8x3xf32>) {
  %u = forge.slice %w along 1 from 0 to 3 step 1 : (tensor<4x6xf32>) -> tensor<4x3xf32>
  %v = forge.slice %w along 1 from 3 to 6 step 1 : (tensor<4x6xf32>) -> tensor<4x3xf32>
  %p = forge.matmul %x, %u : (tensor<8x4xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
  %q = forge.matmul %x, %v : (tensor<8x4xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
  func.return %p, %q : tensor<8x3xf32>, tensor<8x3xf32>
}

// -----

// Not one-product-of-parts: one part alone, the whole product is more work.
// CHECK-LABEL: func.func @main(%alone
// CHECK:      %alone_1 = equivalence.class %alone
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.slice %w_1 along 1 from 0 to 3 step 1
// CHECK-NEXT: %u = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.matmul %alone_1, %u
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%alone: tensor<8x4xf32>, %w: tensor<4x6xf32>) -> tensor<8x3xf32> {
  %u = forge.slice %w along 1 from 0 to 3 step 1 : (tensor<4x6xf32>) -> tensor<4x3xf32>
  %y = forge.matmul %alone, %u : (tensor<8x4xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
  func.return %y : tensor<8x3xf32>
}

// -----

// Not one-product-of-parts: parts of the contraction.
// CHECK-LABEL: func.func @main(%left
// CHECK:      %left_1 = equivalence.class %left
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.slice %w_1 along 0 from 0 to 2 step 1
// CHECK-NEXT: %u = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.slice %w_1 along 0 from 2 to 4 step 1
// CHECK-NEXT: %v = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %left_1, %u
// CHECK-NEXT: %p = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.matmul %left_1, %v
// CHECK-NEXT: %q = equivalence.class [[V4]]
// CHECK-NEXT: equivalence.yield %p, %q
func.func @main(%left: tensor<8x2xf32>, %w: tensor<4x6xf32>) -> (tensor<8x6xf32>, tensor<8x6xf32>) {
  %u = forge.slice %w along 0 from 0 to 2 step 1 : (tensor<4x6xf32>) -> tensor<2x6xf32>
  %v = forge.slice %w along 0 from 2 to 4 step 1 : (tensor<4x6xf32>) -> tensor<2x6xf32>
  %p = forge.matmul %left, %u : (tensor<8x2xf32>, tensor<2x6xf32>) -> tensor<8x6xf32>
  %q = forge.matmul %left, %v : (tensor<8x2xf32>, tensor<2x6xf32>) -> tensor<8x6xf32>
  func.return %p, %q : tensor<8x6xf32>, tensor<8x6xf32>
}

// -----

// slice-unary.
// CHECK-LABEL: func.func @main(%unary
// CHECK:      %unary_1 = equivalence.class %unary
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.exp %unary_1
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.slice %e along 1 from 1 to 4 step 2
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.exp [[V4:%[0-9]+]]
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V3]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.slice %unary_1 along 1 from 1 to 4 step 2
// CHECK-NEXT: [[V4]] = equivalence.class [[V5]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%unary: tensor<8x4xf32>) -> tensor<8x2xf32> {
  %e = forge.exp %unary : tensor<8x4xf32>
  %y = forge.slice %e along 1 from 1 to 4 step 2 : (tensor<8x4xf32>) -> tensor<8x2xf32>
  func.return %y : tensor<8x2xf32>
}

// -----

// slice-cast.
// CHECK-LABEL: func.func @main(%integer
// CHECK:      %integer_1 = equivalence.class %integer
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.cast %integer_1
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.cast [[V3:%[0-9]+]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.slice %e along 0 from 1 to 4 step 1
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.slice %integer_1 along 0 from 1 to 4 step 1
// CHECK-NEXT: [[V3]] = equivalence.class [[V5]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%integer: tensor<8x4xi32>) -> tensor<3x4xf32> {
  %e = forge.cast %integer : tensor<8x4xi32> to tensor<8x4xf32>
  %y = forge.slice %e along 0 from 1 to 4 step 1 : (tensor<8x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// slice-binary: what is broadcast along the dimension stays whole.
// CHECK-LABEL: func.func @main(%wide
// CHECK:      %wide_1 = equivalence.class %wide
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.sub %wide_1, %b_1
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.sub [[V3:%[0-9]+]], %b_1
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.slice %e along 1 from 1 to 4 step 1
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.slice %wide_1 along 1 from 1 to 4 step 1
// CHECK-NEXT: [[V3]] = equivalence.class [[V5]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%wide: tensor<8x4xf32>, %b: tensor<8x1xf32>) -> tensor<8x3xf32> {
  %e = forge.sub %wide, %b : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.slice %e along 1 from 1 to 4 step 1 : (tensor<8x4xf32>) -> tensor<8x3xf32>
  func.return %y : tensor<8x3xf32>
}

// -----

// slice-select.
// CHECK-LABEL: func.func @main(%cond
// CHECK:      %cond_1 = equivalence.class %cond
// CHECK-NEXT: %a_1 = equivalence.class %a
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.select %cond_1, %a_1, %b_1
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.select [[V3:%[0-9]+]], [[V4:%[0-9]+]], %b_1
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.slice %e along 0 from 1 to 4 step 1
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.slice %cond_1 along 0 from 1 to 4 step 1
// CHECK-NEXT: [[V3]] = equivalence.class [[V6]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.slice %a_1 along 0 from 1 to 4 step 1
// CHECK-NEXT: [[V4]] = equivalence.class [[V7]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%cond: tensor<8x4xi1>, %a: tensor<8x4xf32>, %b: tensor<1x4xf32>) -> tensor<3x4xf32> {
  %e = forge.select %cond, %a, %b : (tensor<8x4xi1>, tensor<8x4xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
  %y = forge.slice %e along 0 from 1 to 4 step 1 : (tensor<8x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// slice-transpose.
// CHECK-LABEL: func.func @main(%turned
// CHECK:      %turned_1 = equivalence.class %turned
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.transpose %turned_1 perm [1, 0]
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.slice %e along 0 from 1 to 3 step 1
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.transpose [[V4:%[0-9]+]] perm [1, 0]
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V3]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.slice %turned_1 along 1 from 1 to 3 step 1
// CHECK-NEXT: [[V4]] = equivalence.class [[V5]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%turned: tensor<8x4xf32>) -> tensor<2x8xf32> {
  %e = forge.transpose %turned perm [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %y = forge.slice %e along 0 from 1 to 3 step 1 : (tensor<4x8xf32>) -> tensor<2x8xf32>
  func.return %y : tensor<2x8xf32>
}

// -----

// reduction-sliced.
// CHECK-LABEL: func.func @main(%summed
// CHECK:      %summed_1 = equivalence.class %summed
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reduce sum over 1 %summed_1
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reduce sum over 1 [[V3:%[0-9]+]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.slice %e along 0 from 1 to 3 step 1
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.slice %summed_1 along 0 from 1 to 3 step 1
// CHECK-NEXT: [[V3]] = equivalence.class [[V5]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%summed: tensor<8x4xf32>) -> tensor<2x1xf32> {
  %e = forge.reduce sum over 1 %summed : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %y = forge.slice %e along 0 from 1 to 3 step 1 : (tensor<8x1xf32>) -> tensor<2x1xf32>
  func.return %y : tensor<2x1xf32>
}

// -----

// Not reduction-sliced: a slice of the reduced dimension, which slice-all drops.
// CHECK-LABEL: func.func @main(%reduced
// CHECK:      %reduced_1 = equivalence.class %reduced
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reduce sum over 1 %reduced_1
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.slice %e along 1 from 0 to 1 step 1
// CHECK-NEXT: %e = equivalence.class [[V1]], [[V2]]
// CHECK-NEXT: equivalence.yield %e
func.func @main(%reduced: tensor<8x4xf32>) -> tensor<8x1xf32> {
  %e = forge.reduce sum over 1 %reduced : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %y = forge.slice %e along 1 from 0 to 1 step 1 : tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not any of them: a slice of what a reshape makes.
// CHECK-LABEL: func.func @main(%merged
// CHECK:      %merged_1 = equivalence.class %merged
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reshape %merged_1
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.slice %e along 0 from 3 to 20 step 1
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%merged: tensor<8x4xf32>) -> tensor<17xf32> {
  %e = forge.reshape %merged : (tensor<8x4xf32>) -> tensor<32xf32>
  %y = forge.slice %e along 0 from 3 to 20 step 1 : (tensor<32xf32>) -> tensor<17xf32>
  func.return %y : tensor<17xf32>
}

// -----

// slice-of-slice: every second of every second from the third on.
// CHECK-LABEL: func.func @main(%sliced
// CHECK:      %sliced_1 = equivalence.class %sliced
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.slice %sliced_1 along 0 from 1 to 16 step 2
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.slice %e along 0 from 1 to 8 step 2
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.slice %sliced_1 along 0 from 3 to 16 step 4
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V3]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%sliced: tensor<16x4xf32>) -> tensor<4x4xf32> {
  %e = forge.slice %sliced along 0 from 1 to 16 step 2 : (tensor<16x4xf32>) -> tensor<8x4xf32>
  %y = forge.slice %e along 0 from 1 to 8 step 2 : (tensor<8x4xf32>) -> tensor<4x4xf32>
  func.return %y : tensor<4x4xf32>
}

// -----

// Not slice-of-slice: slices of two dimensions.
// CHECK-LABEL: func.func @main(%corner
// CHECK:      %corner_1 = equivalence.class %corner
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.slice %corner_1 along 0 from 1 to 16 step 2
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.slice %e along 1 from 1 to 3 step 1
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%corner: tensor<16x4xf32>) -> tensor<8x2xf32> {
  %e = forge.slice %corner along 0 from 1 to 16 step 2 : (tensor<16x4xf32>) -> tensor<8x4xf32>
  %y = forge.slice %e along 1 from 1 to 3 step 1 : (tensor<8x4xf32>) -> tensor<8x2xf32>
  func.return %y : tensor<8x2xf32>
}

// -----

// slice-all.
// CHECK-LABEL: func.func @main(%all
// CHECK:      [[V1:%[0-9]+]] = forge.slice %all_1 along 1 from 0 to 4 step 1
// CHECK-NEXT: %all_1 = equivalence.class %all, [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.slice %e along 1 from 0 to 4 step 1
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.exp %all_1
// CHECK-NEXT: %e = equivalence.class [[V2]], [[V3]]
// CHECK-NEXT: equivalence.yield %e
func.func @main(%all: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %e = forge.exp %all : tensor<8x4xf32>
  %y = forge.slice %e along 1 from 0 to 4 step 1 : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}
