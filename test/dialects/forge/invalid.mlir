// RUN: equiforge-opt %s --verify-diagnostics --parsing-diagnostics --split-input-file | filecheck %s

// One case a constraint; the messages name the op and show the types.

// CHECK: forge.add: operands have ranks 1, 2 (tensor<4xf32>, tensor<2x4xf32>)
func.func @ranks(%x : tensor<4xf32>, %y : tensor<2x4xf32>) {
  %0 = forge.add %x, %y : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  func.return
}

// -----

// CHECK: forge.add: dimension 1 has sizes 3, 4 (tensor<2x3xf32>, tensor<2x4xf32>)
func.func @sizes(%x : tensor<2x3xf32>, %y : tensor<2x4xf32>) {
  %0 = forge.add %x, %y : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  func.return
}

// -----

// CHECK: forge.add: operands have element types f32, f16
func.func @element_types(%x : tensor<4xf32>, %y : tensor<4xf16>) {
  %0 = forge.add %x, %y : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: forge.exp: takes bf16, f16, f32, f64, not i64 (tensor<4xi64>)
func.func @float_op_of_integers(%x : tensor<4xi64>) {
  %0 = forge.exp %x : tensor<4xi64>
  func.return
}

// -----

// CHECK: forge.not: takes i1, not i8 (tensor<4xi8>)
func.func @boolean_op_of_integers(%x : tensor<4xi8>) {
  %0 = forge.not %x : tensor<4xi8>
  func.return
}

// -----

// fp8 is for storage.
// CHECK: forge.mul: takes bf16, f16, f32, f64, i16, i32, i64, i8, not f8E4M3FN (tensor<4xf8E4M3FN>)
func.func @arithmetic_of_storage_floats(%x : tensor<4xf8E4M3FN>) {
  %0 = forge.mul %x, %x : tensor<4xf8E4M3FN>
  func.return
}

// -----

// CHECK: forge.add: no element type i4; there are f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i64, i32, i16, i8, i1
func.func @unknown_element_type(%x : tensor<4xi4>) {
  %0 = forge.add %x, %x : tensor<4xi4>
  func.return
}

// -----

// CHECK: forge.exp: the result is tensor<4xf16>, but the operands give tensor<4xf32>
func.func @result_type(%x : tensor<4xf32>) {
  %0 = forge.exp %x : (tensor<4xf32>) -> tensor<4xf16>
  func.return
}

// -----

// CHECK: forge.neg: i32 is neither a tensor nor a tile.view
func.func @no_tensor(%x : i32) {
  %0 = forge.neg %x : i32
  func.return
}

// -----

// CHECK: forge.compare: no predicate lo; there are eq, ne, lt, le, gt, ge
func.func @predicate(%x : tensor<4xf32>) {
  %0 = forge.compare lo %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  func.return
}

// -----

// CHECK: forge.compare: f8E5M2 can't be compared
func.func @compare_storage_floats(%x : tensor<4xf8E5M2>) {
  %0 = forge.compare eq %x, %x : (tensor<4xf8E5M2>, tensor<4xf8E5M2>) -> tensor<4xi1>
  func.return
}

// -----

// CHECK: forge.compare: the result is tensor<4xf32>, but the operands give tensor<4xi1>
func.func @compare_result(%x : tensor<4xf32>) {
  %0 = forge.compare eq %x, %x : tensor<4xf32>
  func.return
}

// -----

// CHECK: forge.select: the condition has element type i8, not i1
func.func @condition(%c : tensor<4xi8>, %x : tensor<4xf32>) {
  %0 = forge.select %c, %x, %x : (tensor<4xi8>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: forge.cast: the result is tensor<2xf16>, but the operands give tensor<4xf16>
func.func @cast_changes_the_shape(%x : tensor<4xf32>) {
  %0 = forge.cast %x : tensor<4xf32> to tensor<2xf16>
  func.return
}

// -----

// Partial values are reduced before they are computed with.
// CHECK: forge.exp: along @k0 operand 0 is #tile.partial<@k0, sum>; reduce it over the axis first
func.func @partial(%x : !tile.view<4x1xf32, [#tile.partial<@k0, sum>]>) {
  %0 = forge.exp %x : !tile.view<4x1xf32, [#tile.partial<@k0, sum>]>
  func.return
}

// -----

// CHECK: forge.add: along @q0 operand 0 is #tile.partition<@q0, 0>, but operand 1 has no state (tensor<4x8xf32>)
func.func @axis_of_one_operand(%x : !tile.view<4x8xf32, [#tile.partition<@q0, 0>]>, %y : tensor<4x8xf32>) {
  %0 = forge.add %x, %y : (!tile.view<4x8xf32, [#tile.partition<@q0, 0>]>, tensor<4x8xf32>) -> !tile.view<4x8xf32, [#tile.partition<@q0, 0>]>
  func.return
}

// -----

// CHECK: forge.add: along @q0 operand 0 is #tile.partition<@q0, 0>, but operand 1 is #tile.partition<@q0, 1> with size 4 in dimension 0
func.func @partition_of_different_dimensions(%x : !tile.view<4x8xf32, [#tile.partition<@q0, 0>]>, %y : !tile.view<4x8xf32, [#tile.partition<@q0, 1>]>) {
  %0 = forge.add %x, %y : (!tile.view<4x8xf32, [#tile.partition<@q0, 0>]>, !tile.view<4x8xf32, [#tile.partition<@q0, 1>]>) -> !tile.view<4x8xf32, [#tile.partition<@q0, 0>]>
  func.return
}

// -----

// A tile of 4 rows meets all 4 rows.
// CHECK: forge.add: along @q0 operand 1 is #tile.partition<@q0, 0>, but operand 0 is #tile.replicate<@q0> with size 4 in dimension 0
func.func @replicate_that_does_not_broadcast(%x : !tile.view<4x8xf32, [#tile.replicate<@q0>]>, %y : !tile.view<4x8xf32, [#tile.partition<@q0, 0>]>) {
  %0 = forge.add %x, %y : (!tile.view<4x8xf32, [#tile.replicate<@q0>]>, !tile.view<4x8xf32, [#tile.partition<@q0, 0>]>) -> !tile.view<4x8xf32, [#tile.partition<@q0, 0>]>
  func.return
}

// -----

// CHECK: forge.literal: 3 values for tensor<4xf32>
func.func @literal_count() {
  %0 = forge.constant [1.0, 2.0, 3.0] : tensor<4xf32>
  func.return
}

// -----

// CHECK: forge.literal: no i64: 1.5 is not whole
func.func @literal_that_would_be_truncated() {
  %0 = forge.constant [1, 1.5] : tensor<2xi64>
  func.return
}

// -----

// CHECK: forge.literal: no i8: Integer value 300 is out of range
func.func @literal_out_of_range() {
  %0 = forge.constant 300 : tensor<1xi8>
  func.return
}

// -----

// CHECK: forge.literal: no f32: float too large to pack with f format
func.func @literal_that_would_overflow() {
  %0 = forge.constant 1.0e+39 : tensor<1xf32>
  func.return
}

// -----

// CHECK: forge.literal: 3 bytes for tensor<1xf32>, which has 4
func.func @literal_bytes() {
  %0 = forge.constant "0x000000" : tensor<1xf32>
  func.return
}

// -----

// CHECK: forge.literal: tensor<?xf32> is no tensor of static shape
func.func @literal_of_dynamic_shape() {
  %0 = forge.constant 1.0 : tensor<?xf32>
  func.return
}

// -----

// CHECK: a literal is a tensor, not f32
func.func @literal_that_is_no_tensor() {
  %0 = forge.constant 1.0 : f32
  func.return
}

// -----

// CHECK: forge.constant: the literal is tensor<1xf32>, the result tensor<2xf32>
func.func @literal_of_another_type() {
  %0 = "forge.constant"() <{value = #forge.literal<1.0 : tensor<1xf32>>}> : () -> tensor<2xf32>
  func.return
}

// -----

// CHECK: forge.iota: dimension 1 of tensor<4xi64>, which has rank 1
func.func @iota_dimension() {
  %0 = forge.iota 1 : tensor<4xi64>
  func.return
}

// -----

// CHECK: forge.iota: tensor<4xi1> can't hold an index
func.func @iota_element() {
  %0 = forge.iota 0 : tensor<4xi1>
  func.return
}

// -----

// CHECK: forge.iota: needs a static shape, not tensor<?xi64>
func.func @iota_shape() {
  %0 = forge.iota 0 : tensor<?xi64>
  func.return
}

// -----

// CHECK: forge.matmul: operands have ranks 2 and 3; equal ranks of 2 or more are needed
func.func @matmul_ranks(%x : tensor<4x8xf32>, %y : tensor<1x8x4xf32>) {
  %0 = forge.matmul %x, %y : (tensor<4x8xf32>, tensor<1x8x4xf32>) -> tensor<1x4x4xf32>
  func.return
}

// -----

// CHECK: forge.matmul: contracts 8 with 9 elements (tensor<4x8xf32>, tensor<9x4xf32>)
func.func @matmul_contraction(%x : tensor<4x8xf32>, %y : tensor<9x4xf32>) {
  %0 = forge.matmul %x, %y : (tensor<4x8xf32>, tensor<9x4xf32>) -> tensor<4x4xf32>
  func.return
}

// -----

// CHECK: forge.matmul: dimension 0 has sizes 2, 3 (tensor<2x4x8xf32>, tensor<3x8x4xf32>)
func.func @matmul_batch(%x : tensor<2x4x8xf32>, %y : tensor<3x8x4xf32>) {
  %0 = forge.matmul %x, %y : (tensor<2x4x8xf32>, tensor<3x8x4xf32>) -> tensor<3x4x4xf32>
  func.return
}

// -----

// CHECK: forge.matmul: operands have element types f16, f32
func.func @matmul_elements(%x : tensor<4x8xf16>, %y : tensor<8x4xf32>) {
  %0 = forge.matmul %x, %y : (tensor<4x8xf16>, tensor<8x4xf32>) -> tensor<4x4xf32>
  func.return
}

// -----

// CHECK: forge.matmul: a product of i8 can't have element type f32
func.func @matmul_result_element(%x : tensor<4x8xi8>, %y : tensor<8x4xi8>) {
  %0 = forge.matmul %x, %y : (tensor<4x8xi8>, tensor<8x4xi8>) -> tensor<4x4xf32>
  func.return
}

// -----

// CHECK: forge.reduce: no reducer mean; there are sum, prod, max, min, any, all
func.func @reducer(%x : tensor<4xf32>) {
  %0 = forge.reduce mean over 0 %x : (tensor<4xf32>) -> tensor<1xf32>
  func.return
}

// -----

// CHECK: forge.reduce any: takes i1, not f32 (tensor<4xf32>)
func.func @reducer_of_booleans(%x : tensor<4xf32>) {
  %0 = forge.reduce any over 0 %x : (tensor<4xf32>) -> tensor<1xf32>
  func.return
}

// -----

// CHECK: forge.reduce: dimension 2 of tensor<4x4xf32>, which has rank 2
func.func @reduce_dimension(%x : tensor<4x4xf32>) {
  %0 = forge.reduce sum over 2 %x : (tensor<4x4xf32>) -> tensor<4x1xf32>
  func.return
}

// -----

// CHECK: forge.reduce: the result is tensor<4xf32>, but the operands give tensor<4x1xf32>
func.func @reduce_keeps_the_dimension(%x : tensor<4x4xf32>) {
  %0 = forge.reduce sum over 1 %x : (tensor<4x4xf32>) -> tensor<4xf32>
  func.return
}

// -----

// Tiles are reduced by tile.reduce.
// CHECK: forge.reduce: takes a tensor, not !tile.view<4x4xf32, [#tile.partition<@q0, 0>]>
func.func @reduce_of_view(%x : !tile.view<4x4xf32, [#tile.partition<@q0, 0>]>) {
  %0 = forge.reduce sum over 1 %x : (!tile.view<4x4xf32, [#tile.partition<@q0, 0>]>) -> !tile.view<4x1xf32, [#tile.partition<@q0, 0>]>
  func.return
}

// -----

// CHECK: forge.transpose: [0, 0] is no permutation of 2 dimensions
func.func @permutation(%x : tensor<4x4xf32>) {
  %0 = forge.transpose %x perm [0, 0] : tensor<4x4xf32>
  func.return
}

// -----

// CHECK: forge.reshape: tensor<4x4xf32> has 16 elements, shape [4, 5] has 20
func.func @reshape_count(%x : tensor<4x4xf32>) {
  %0 = forge.reshape %x : (tensor<4x4xf32>) -> tensor<4x5xf32>
  func.return
}

// -----

// CHECK: forge.expand: tensor<4xf32> has rank 1, shape [4, 4] has rank 2
func.func @expand_rank(%x : tensor<4xf32>) {
  %0 = forge.expand %x : (tensor<4xf32>) -> tensor<4x4xf32>
  func.return
}

// -----

// CHECK: forge.expand: dimension 0 of size 2 can't become 4
func.func @expand_size(%x : tensor<2xf32>) {
  %0 = forge.expand %x : (tensor<2xf32>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: forge.slice: [2:9:1] of dimension 0 with 8 elements
func.func @slice_bounds(%x : tensor<8xf32>) {
  %0 = forge.slice %x along 0 from 2 to 9 step 1 : (tensor<8xf32>) -> tensor<7xf32>
  func.return
}

// -----

// CHECK: forge.slice: [0:8:0] of dimension 0 with 8 elements
func.func @slice_step(%x : tensor<8xf32>) {
  %0 = forge.slice %x along 0 from 0 to 8 step 0 : tensor<8xf32>
  func.return
}

// -----

// CHECK: forge.concat: needs an operand
func.func @concat_of_nothing() {
  %0 = "forge.concat"() <{dim = 0 : i64}> : () -> tensor<8xf32>
  func.return
}

// -----

// CHECK: forge.concat: operands differ outside dimension 0 (tensor<8x2xf32>, tensor<8x3xf32>)
func.func @concat_shapes(%x : tensor<8x2xf32>, %y : tensor<8x3xf32>) {
  %0 = forge.concat 0 %x, %y : (tensor<8x2xf32>, tensor<8x3xf32>) -> tensor<16x2xf32>
  func.return
}

// -----

// CHECK: forge.pad: pads by -1 and 0; neither may be negative
func.func @pad_amount(%x : tensor<8xf32>) {
  %0 = forge.pad %x along 0 by -1, 0 with 0.0 : (tensor<8xf32>) -> tensor<7xf32>
  func.return
}

// -----

// CHECK: forge.gather: the index has element type f32, not an integer
func.func @gather_index(%x : tensor<8x2xf32>, %i : tensor<3x1xf32>) {
  %0 = forge.gather %x, %i along 0 : (tensor<8x2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  func.return
}

// -----

// CHECK: forge.gather: operands have ranks 2, 1 (tensor<8x2xf32>, tensor<3xi64>)
func.func @gather_ranks(%x : tensor<8x2xf32>, %i : tensor<3xi64>) {
  %0 = forge.gather %x, %i along 0 : (tensor<8x2xf32>, tensor<3xi64>) -> tensor<3x2xf32>
  func.return
}

// -----

// CHECK: forge.gather: dimension 1 has sizes 2, 5 (tensor<8x2xf32>, tensor<3x5xi64>)
func.func @gather_broadcast(%x : tensor<8x2xf32>, %i : tensor<3x5xi64>) {
  %0 = forge.gather %x, %i along 0 : (tensor<8x2xf32>, tensor<3x5xi64>) -> tensor<3x5xf32>
  func.return
}

// -----

// CHECK: forge.random: distribution cauchy is neither uniform nor normal
func.func @distribution() {
  %0 = forge.random cauchy : tensor<8xf32>
  func.return
}

// -----

// CHECK: forge.random: tensor<8xi64> can't hold random numbers
func.func @random_integers() {
  %0 = forge.random uniform : tensor<8xi64>
  func.return
}

// -----

// CHECK: forge.tuple: the result is tuple<tensor<8xf32>>, but the operands give tuple<tensor<8xf32>, tensor<8xf32>>
func.func @tuple_type(%x : tensor<8xf32>) {
  %0 = forge.tuple %x, %x : (tensor<8xf32>, tensor<8xf32>) -> tuple<tensor<8xf32>>
  func.return
}

// -----

// CHECK: forge.get: member 2 of tuple<tensor<8xf32>>, which has 1
func.func @tuple_member(%t : tuple<tensor<8xf32>>) {
  %0 = forge.get 2 of %t : (tuple<tensor<8xf32>>) -> tensor<8xf32>
  func.return
}

// -----

// CHECK: forge.get: tensor<8xf32> is no tuple
func.func @get_of_no_tuple(%t : tensor<8xf32>) {
  %0 = forge.get 0 of %t : tensor<8xf32>
  func.return
}

// -----

// CHECK: 1 operands have 2 types
func.func @signature(%x : tensor<8xf32>) {
  %0 = forge.exp %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return
}

// -----

// CHECK: forge.index: tensor<2x20xi32> varies along other dimensions than 1
func.func @index_varies() {
  %0 = forge.index 1 from 0 step 1 each 1 period 0 within 0 to 31 : tensor<2x20xi32>
  func.return
}

// -----

// CHECK: forge.index: Places(start=0, step=1, each=0, period=0, low=0, high=31) are no positions
func.func @index_places() {
  %0 = forge.index 1 from 0 step 1 each 0 period 0 within 0 to 31 : tensor<1x20xi32>
  func.return
}

// -----

// CHECK: forge.index: tensor<1x20xf32> can't hold an index
func.func @index_element() {
  %0 = forge.index 1 from 0 step 1 each 1 period 0 within 0 to 31 : tensor<1x20xf32>
  func.return
}

// -----

// CHECK: forge.gather: dimension 0 is partitioned
func.func @gather_of_tiles(%x : !tile.view<8x4xf32, [#tile.partition<@q0, 0>]>, %i : !tile.view<3x1xi64, [#tile.partition<@q0, 0>]>) {
  %0 = forge.gather %x, %i along 0 : (!tile.view<8x4xf32, [#tile.partition<@q0, 0>]>, !tile.view<3x1xi64, [#tile.partition<@q0, 0>]>) -> !tile.view<3x4xf32, [#tile.partition<@q0, 0>]>
  func.return
}
