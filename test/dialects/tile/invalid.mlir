// RUN: equiforge-opt %s --verify-diagnostics --parsing-diagnostics --split-input-file | filecheck %s

// One case a constraint; the messages name the op, the axis and the states.

// CHECK: tile.view: no states; a value without parallel axes is a tensor
func.func @view_without_states(%x : !tile.view<4xf32, []>) {
  func.return
}

// -----

// CHECK: tile.view: a state is partition, replicate or partial
func.func @view_with_another_state(%x : !tile.view<4xf32, [1 : i64]>) {
  func.return
}

// -----

// CHECK: tile.view: axes are (@q0, @k0), not sorted and distinct
func.func @view_states_sorted(%x : !tile.view<4x4xf32, [#tile.partition<@q0, 0>, #tile.partition<@k0, 1>]>) {
  func.return
}

// -----

// CHECK: tile.view: axes are (@q0, @q0), not sorted and distinct
func.func @view_axis_twice(%x : !tile.view<4x4xf32, [#tile.partition<@q0, 0>, #tile.partition<@q0, 1>]>) {
  func.return
}

// -----

// CHECK: tile.view: @q0 partitions dimension 1 of 1 dimensions
func.func @view_dimension(%x : !tile.view<4xf32, [#tile.partition<@q0, 1>]>) {
  func.return
}

// -----

// CHECK: tile.view: @k0, @k1, @q0 all partition dimension 0; two axes may at most
func.func @view_dimension_thrice(%x : !tile.view<4xf32, [#tile.partition<@k0, 0>, #tile.partition<@k1, 0>, #tile.partition<@q0, 0>]>) {
  func.return
}

// -----

// CHECK: tile.partial over @k0: no reducer mean; there are sum, prod, max, min, any, all
func.func @partial_reducer(%x : !tile.view<4xf32, [#tile.partial<@k0, mean>]>) {
  func.return
}

// -----

// CHECK: tile.axis @q0: extent 0, but an axis cuts at least one element
tile.axis @q0 extent 0

// -----

// CHECK: tile.partition: no tile.axis @q0 is declared
func.func @undeclared_axis(%x : tensor<4xf32>) {
  %0 = tile.partition %x along 0 by @q0 : (tensor<4xf32>) -> !tile.view<4xf32, [#tile.partition<@q0, 0>]>
  func.return
}

// -----

// CHECK: tile.partition: @q0 cuts 8 elements, but the dimension has 4
tile.axis @q0 extent 8
func.func @extent(%x : tensor<4xf32>) {
  %0 = tile.partition %x along 0 by @q0 : (tensor<4xf32>) -> !tile.view<4xf32, [#tile.partition<@q0, 0>]>
  func.return
}

// -----

// CHECK: tile.partition: dimension 1 of tensor<4xf32>, which has rank 1
tile.axis @q0 extent 4
func.func @partition_dimension(%x : tensor<4xf32>) {
  %0 = tile.partition %x along 1 by @q0 : (tensor<4xf32>) -> !tile.view<4xf32, [#tile.partition<@q0, 0>]>
  func.return
}

// -----

// CHECK: tile.partition: along @q0 the operand is already #tile.replicate<@q0> (!tile.view<4xf32, [#tile.replicate<@q0>]>)
tile.axis @q0 extent 4
func.func @partition_of_axis_in_use(%x : !tile.view<4xf32, [#tile.replicate<@q0>]>) {
  %0 = tile.partition %x along 0 by @q0 : (!tile.view<4xf32, [#tile.replicate<@q0>]>) -> !tile.view<4xf32, [#tile.partition<@q0, 0>]>
  func.return
}

// -----

// CHECK: tile.partition: @k0 and @q0 both partition dimension 0, but neither is declared within the other
tile.axis @q0 extent 4
tile.axis @k0 extent 4
func.func @partition_of_dimension_in_use(%x : !tile.view<4xf32, [#tile.partition<@q0, 0>]>) {
  %0 = tile.partition %x along 0 by @k0 : (!tile.view<4xf32, [#tile.partition<@q0, 0>]>) -> !tile.view<4xf32, [#tile.partition<@k0, 0>, #tile.partition<@q0, 0>]>
  func.return
}

// -----

// CHECK: tile.partition: the result is !tile.view<4xf32, [#tile.replicate<@q0>]>, but the operands give !tile.view<4xf32, [#tile.partition<@q0, 0>]>
tile.axis @q0 extent 4
func.func @partition_result(%x : tensor<4xf32>) {
  %0 = tile.partition %x along 0 by @q0 : (tensor<4xf32>) -> !tile.view<4xf32, [#tile.replicate<@q0>]>
  func.return
}

// -----

// CHECK: tile.replicate: along @q0 the operand is already #tile.partition<@q0, 0>
tile.axis @q0 extent 4
func.func @replicate_of_axis_in_use(%x : !tile.view<4xf32, [#tile.partition<@q0, 0>]>) {
  %0 = tile.replicate %x by @q0 : !tile.view<4xf32, [#tile.partition<@q0, 0>]>
  func.return
}

// -----

// CHECK: tile.replicate: no tile.axis @main is declared
func.func @main(%x : tensor<4xf32>) {
  %0 = tile.replicate %x by @main : (tensor<4xf32>) -> !tile.view<4xf32, [#tile.replicate<@main>]>
  func.return
}

// -----

// CHECK: tile.combine: along @q0 the operand is #tile.replicate<@q0>, but needs #tile.partition<@q0, 0>
tile.axis @q0 extent 4
func.func @combine_of_replicate(%x : !tile.view<4xf32, [#tile.replicate<@q0>]>) {
  %0 = tile.combine %x along 0 by @q0 : (!tile.view<4xf32, [#tile.replicate<@q0>]>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: tile.combine: along @q0 the operand has no state, but needs #tile.partition<@q0, 0> (tensor<4xf32>)
tile.axis @q0 extent 4
func.func @combine_of_tensor(%x : tensor<4xf32>) {
  %0 = tile.combine %x along 0 by @q0 : tensor<4xf32>
  func.return
}

// -----

// CHECK: tile.combine: along @q0 the operand is #tile.partition<@q0, 1>, but needs #tile.partition<@q0, 0>
tile.axis @q0 extent 4
func.func @combine_along_another_dimension(%x : !tile.view<4x4xf32, [#tile.partition<@q0, 1>]>) {
  %0 = tile.combine %x along 0 by @q0 : (!tile.view<4x4xf32, [#tile.partition<@q0, 1>]>) -> tensor<4x4xf32>
  func.return
}

// -----

// CHECK: tile.collect: along @q0 the operand has no state (tensor<4xf32>)
tile.axis @q0 extent 4
func.func @collect_of_tensor(%x : tensor<4xf32>) {
  %0 = tile.collect %x by @q0 : (tensor<4xf32>) -> tensor<?x4xf32>
  func.return
}

// -----

// CHECK: tile.collect: no tile size cuts the 100 elements of @k0 into 5 tiles: 32, the least power of two that is enough, gives 4
tile.axis @k0 extent 100
func.func @collect_into_a_wrong_number_of_tiles(%x : !tile.view<4xf32, [#tile.partial<@k0, sum>]>) {
  %0 = tile.collect %x by @k0 into 5 : (!tile.view<4xf32, [#tile.partial<@k0, sum>]>) -> tensor<5x4xf32>
  func.return
}

// -----

// CHECK: tile.collect: with a number of tiles the operand is partial or replicated along @k0, not #tile.partition<@k0, 0> (!tile.view<8xf32, [#tile.partition<@k0, 0>]>)
tile.axis @k0 extent 8
func.func @collect_of_slices_into_a_number(%x : !tile.view<8xf32, [#tile.partition<@k0, 0>]>) {
  %0 = tile.collect %x by @k0 into 2 : (!tile.view<8xf32, [#tile.partition<@k0, 0>]>) -> tensor<2x4xf32>
  func.return
}

// -----

// CHECK: tile.collect: 0 tiles; an axis has at least one
tile.axis @k0 extent 8
func.func @collect_into_no_tiles(%x : !tile.view<4xf32, [#tile.partial<@k0, sum>]>) {
  %0 = tile.collect %x by @k0 into 0 : (!tile.view<4xf32, [#tile.partial<@k0, sum>]>) -> tensor<0x4xf32>
  func.return
}

// -----

// CHECK: tile.collect: the result is tensor<?x4xf32>, but the operands give tensor<2x4xf32>
tile.axis @k0 extent 8
func.func @collect_into_a_dynamic_extent(%x : !tile.view<4xf32, [#tile.partial<@k0, sum>]>) {
  %0 = tile.collect %x by @k0 into 2 : (!tile.view<4xf32, [#tile.partial<@k0, sum>]>) -> tensor<?x4xf32>
  func.return
}

// -----

// CHECK: tile.matmul: along @k0 the left operand (!tile.view<4x8xf32, [#tile.partition<@k0, 1>]>) is #tile.partition<@k0, 1> and the right one (!tile.view<8x4xf32, [#tile.replicate<@k0>]>) is #tile.replicate<@k0>; both contraction dimensions are partitioned or neither
tile.axis @k0 extent 8
func.func @matmul_contraction_of_one_side(%x : !tile.view<4x8xf32, [#tile.partition<@k0, 1>]>, %y : !tile.view<8x4xf32, [#tile.replicate<@k0>]>) {
  %0 = tile.matmul %x, %y : (!tile.view<4x8xf32, [#tile.partition<@k0, 1>]>, !tile.view<8x4xf32, [#tile.replicate<@k0>]>) -> !tile.view<4x4xf32, [#tile.partial<@k0, sum>]>
  func.return
}

// -----

// Rows of one side meet columns of the other: the axis can't cut both.
// CHECK: tile.matmul: along @q0 the left operand
func.func @matmul_rows_and_columns(%x : !tile.view<4x8xf32, [#tile.partition<@q0, 0>]>, %y : !tile.view<8x4xf32, [#tile.partition<@q0, 1>]>) {
  %0 = tile.matmul %x, %y : (!tile.view<4x8xf32, [#tile.partition<@q0, 0>]>, !tile.view<8x4xf32, [#tile.partition<@q0, 1>]>) -> !tile.view<4x4xf32, [#tile.partition<@q0, 0>]>
  func.return
}

// -----

// The batch of the right side is 2 wherever the left one's tile is.
// CHECK: tile.matmul: along @b0 the left operand
func.func @matmul_batch(%x : !tile.view<2x4x8xf32, [#tile.partition<@b0, 0>]>, %y : !tile.view<2x8x4xf32, [#tile.replicate<@b0>]>) {
  %0 = tile.matmul %x, %y : (!tile.view<2x4x8xf32, [#tile.partition<@b0, 0>]>, !tile.view<2x8x4xf32, [#tile.replicate<@b0>]>) -> !tile.view<2x4x4xf32, [#tile.partition<@b0, 0>]>
  func.return
}

// -----

// CHECK: tile.matmul: along @k0 the left operand (!tile.view<4x8xf32, [#tile.partial<@k0, sum>]>) is #tile.partial<@k0, sum>
func.func @matmul_of_partial(%x : !tile.view<4x8xf32, [#tile.partial<@k0, sum>]>, %y : !tile.view<8x4xf32, [#tile.replicate<@k0>]>) {
  %0 = tile.matmul %x, %y : (!tile.view<4x8xf32, [#tile.partial<@k0, sum>]>, !tile.view<8x4xf32, [#tile.replicate<@k0>]>) -> !tile.view<4x4xf32, [#tile.partial<@k0, sum>]>
  func.return
}

// -----

// CHECK: tile.matmul: along @q0 the left operand is #tile.partition<@q0, 0>, but the right one has no state
func.func @matmul_axis_of_one_side(%x : !tile.view<4x8xf32, [#tile.partition<@q0, 0>]>, %y : tensor<8x4xf32>) {
  %0 = tile.matmul %x, %y : (!tile.view<4x8xf32, [#tile.partition<@q0, 0>]>, tensor<8x4xf32>) -> !tile.view<4x4xf32, [#tile.partition<@q0, 0>]>
  func.return
}

// -----

// CHECK: tile.matmul: precision fast is none of ieee, tf32
func.func @matmul_precision(%x : tensor<4x8xf32>, %y : tensor<8x4xf32>) {
  %0 = tile.matmul %x, %y {precision = "fast"} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  func.return
}

// -----

// CHECK: tile.reduce: along @k0 the operand is #tile.partial<@k0, sum>, which max does not commute with
func.func @reduce_of_partial(%x : !tile.view<4x8xf32, [#tile.partial<@k0, sum>]>) {
  %0 = tile.reduce max over axis(1) %x : (!tile.view<4x8xf32, [#tile.partial<@k0, sum>]>) -> !tile.view<4x1xf32, [#tile.partial<@k0, sum>]>
  func.return
}

// -----

// CHECK: tile.reduce: the result is !tile.view<4x1xf32, [#tile.partition<@k0, 1>]>, but the operands give !tile.view<4x1xf32, [#tile.partial<@k0, sum>]>
func.func @reduce_of_partitioned_dimension(%x : !tile.view<4x8xf32, [#tile.partition<@k0, 1>]>) {
  %0 = tile.reduce sum over axis(1) %x : (!tile.view<4x8xf32, [#tile.partition<@k0, 1>]>) -> !tile.view<4x1xf32, [#tile.partition<@k0, 1>]>
  func.return
}

// -----

// CHECK: tile.reduce: along @k0 the operand is #tile.partial<@k0, sum>, but needs #tile.partial<@k0, max>
tile.axis @k0 extent 8
func.func @parallel_reduce_by_another_reducer(%x : !tile.view<4x1xf32, [#tile.partial<@k0, sum>]>) {
  %0 = tile.reduce max over parallel(@k0) %x : (!tile.view<4x1xf32, [#tile.partial<@k0, sum>]>) -> tensor<4x1xf32>
  func.return
}

// -----

// CHECK: tile.reduce: along @k0 the operand is #tile.partition<@k0, 1>, but needs #tile.partial<@k0, sum>
tile.axis @k0 extent 8
func.func @parallel_reduce_of_partition(%x : !tile.view<4x8xf32, [#tile.partition<@k0, 1>]>) {
  %0 = tile.reduce sum over parallel(@k0) %x : (!tile.view<4x8xf32, [#tile.partition<@k0, 1>]>) -> tensor<4x8xf32>
  func.return
}

// -----

// CHECK: tile.reduce: no tile.axis @k0 is declared
func.func @parallel_reduce_of_undeclared_axis(%x : !tile.view<4x1xf32, [#tile.partial<@k0, sum>]>) {
  %0 = tile.reduce sum over parallel(@k0) %x : (!tile.view<4x1xf32, [#tile.partial<@k0, sum>]>) -> tensor<4x1xf32>
  func.return
}

// -----

// CHECK: tile.reduce sum: goes over a dimension or over a parallel axis, the latter for a symbol
func.func @reduce_over_both(%x : tensor<4xf32>) {
  %0 = "tile.reduce"(%x) <{reducer = "sum", dim = 0 : i64, axis = @k0}> : (tensor<4xf32>) -> tensor<1xf32>
  func.return
}

// -----

// CHECK: tile.reduce sum: takes one operand, not 2
func.func @reduce_of_two(%x : tensor<4xf32>) {
  %0 = tile.reduce sum over axis(0) %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<1xf32>
  func.return
}

// -----

// CHECK: tile.reduce @online: no operand is partitioned over @k0
tile.axis @k0 extent 8
func.func @rolling_without_partition(%x : tensor<4x8xf32>) {
  %0 = tile.reduce @online over parallel(@k0) %x : (tensor<4x8xf32>) -> tuple<tensor<4x1xf32>>
  func.return
}

// -----

// CHECK: tile.reduce @online: the result is tensor<4x1xf32>, not a tuple
tile.axis @k0 extent 8
func.func @rolling_without_tuple(%x : !tile.view<4x8xf32, [#tile.partition<@k0, 1>]>) {
  %0 = tile.reduce @online over parallel(@k0) %x : (!tile.view<4x8xf32, [#tile.partition<@k0, 1>]>) -> tensor<4x1xf32>
  func.return
}

// -----

// CHECK: tile.reduce @online: along @k0 a result is #tile.replicate<@k0>, but the reduction removes the axis
tile.axis @k0 extent 8
func.func @rolling_keeps_the_axis(%x : !tile.view<4x8xf32, [#tile.partition<@k0, 1>]>) {
  %0 = tile.reduce @online over parallel(@k0) %x : (!tile.view<4x8xf32, [#tile.partition<@k0, 1>]>) -> tuple<!tile.view<4x1xf32, [#tile.replicate<@k0>]>>
  func.return
}

// -----

// CHECK: tile.reduce @online: no tile.reducer @online is declared
tile.axis @k0 extent 8
func.func @rolling_by_undeclared_reducer(%x : !tile.view<4x8xf32, [#tile.partition<@k0, 1>]>) {
  %0 = tile.reduce @online over parallel(@k0) %x : (!tile.view<4x8xf32, [#tile.partition<@k0, 1>]>) -> tuple<tensor<4x1xf32>>
  func.return
}

// -----

// CHECK: tile.reduce @last: the operands are (!tile.view<2x8xf32, [#tile.partition<@k0, 1>]>), but the reducer's are (!tile.view<4x8xf32, [#tile.partition<@k0, 1>]>)
tile.axis @k0 extent 8
tile.reducer @last identity [0.0] body(%s : tensor<4x1xf32>, %x : !tile.view<4x8xf32, [#tile.partition<@k0, 1>]>) {
  tile.yield %s : tensor<4x1xf32>
}
func.func @rolling_operands(%x : !tile.view<2x8xf32, [#tile.partition<@k0, 1>]>) {
  %0 = tile.reduce @last over parallel(@k0) %x : (!tile.view<2x8xf32, [#tile.partition<@k0, 1>]>) -> tuple<tensor<4x1xf32>>
  func.return
}

// -----

// CHECK: tile.reduce @last: the results are (tensor<2x1xf32>), but the reducer's are (tensor<4x1xf32>)
tile.axis @k0 extent 8
tile.reducer @last identity [0.0] body(%s : tensor<4x1xf32>, %x : !tile.view<4x8xf32, [#tile.partition<@k0, 1>]>) {
  tile.yield %s : tensor<4x1xf32>
}
func.func @rolling_results(%x : !tile.view<4x8xf32, [#tile.partition<@k0, 1>]>) {
  %0 = tile.reduce @last over parallel(@k0) %x : (!tile.view<4x8xf32, [#tile.partition<@k0, 1>]>) -> tuple<tensor<2x1xf32>>
  func.return
}

// -----

// CHECK: tile.reducer @none: 1 identities need as many states and an input in the body
tile.reducer @none identity [0.0] body(%s : tensor<4x1xf32>) {
  tile.yield %s : tensor<4x1xf32>
}

// -----

// CHECK: tile.reducer @wide: the body yields (tensor<4x8xf32>), but the states are (tensor<4x1xf32>)
tile.reducer @wide identity [0.0] body(%s : tensor<4x1xf32>, %x : tensor<4x8xf32>) {
  tile.yield %x : tensor<4x8xf32>
}

// -----

// CHECK: tile.reducer @open: a region does not end with tile.yield
tile.reducer @open identity [0.0] body(%s : tensor<4x1xf32>, %x : tensor<4x8xf32>) {
  "test.termop"() : () -> ()
}

// -----

// CHECK: tile.reducer @once: merge takes (tensor<4x1xf32>), but the states are (tensor<4x1xf32>, tensor<4x1xf32>)
tile.reducer @once identity [0.0] body(%s : tensor<4x1xf32>, %x : tensor<4x8xf32>) {
  tile.yield %s : tensor<4x1xf32>
} merge(%a : tensor<4x1xf32>) {
  tile.yield %a : tensor<4x1xf32>
}

// -----

// CHECK: tile.reducer @both: merge yields (tensor<4x1xf32>, tensor<4x1xf32>), but the states are (tensor<4x1xf32>)
tile.reducer @both identity [0.0] body(%s : tensor<4x1xf32>, %x : tensor<4x8xf32>) {
  tile.yield %s : tensor<4x1xf32>
} merge(%a : tensor<4x1xf32>, %b : tensor<4x1xf32>) {
  tile.yield %a, %b : tensor<4x1xf32>, tensor<4x1xf32>
}

// -----

// CHECK: tile.reducer @end: final takes (tensor<4x8xf32>), but the states are (tensor<4x1xf32>)
tile.reducer @end identity [0.0] body(%s : tensor<4x1xf32>, %x : tensor<4x8xf32>) {
  tile.yield %s : tensor<4x1xf32>
} final(%a : tensor<4x8xf32>) {
  tile.yield %a : tensor<4x8xf32>
}

// -----

// CHECK: tile.accumulate: the accumulator is tensor<2x1xf32>, but !tile.view<4x1xf32, [#tile.partial<@k0, sum>]> reduces over @k0 to tensor<4x1xf32>
func.func @accumulator(%a : tensor<2x1xf32>, %x : !tile.view<4x1xf32, [#tile.partial<@k0, sum>]>) {
  %0 = tile.accumulate sum %a, %x over @k0 : (tensor<2x1xf32>, !tile.view<4x1xf32, [#tile.partial<@k0, sum>]>) -> tensor<2x1xf32>
  func.return
}

// -----

// CHECK: tile.accumulate: along @k0 the operand has no state, but needs #tile.partial<@k0, sum>
func.func @accumulate_of_tensor(%a : tensor<4x1xf32>) {
  %0 = tile.accumulate sum %a, %a over @k0 : tensor<4x1xf32>
  func.return
}

// -----

// CHECK: tile.accumulate: no tile.axis @k0 is declared
func.func @accumulate_over_undeclared_axis(%a : tensor<4x1xf32>, %x : !tile.view<4x1xf32, [#tile.partial<@k0, sum>]>) {
  %0 = tile.accumulate sum %a, %x over @k0 : (tensor<4x1xf32>, !tile.view<4x1xf32, [#tile.partial<@k0, sum>]>) -> tensor<4x1xf32>
  func.return
}

// -----

// CHECK: tile.store: takes a tensor, not !tile.view<4xf32, [#tile.partition<@q0, 0>]>
func.func @store_of_view(%x : !tile.view<4xf32, [#tile.partition<@q0, 0>]>) {
  %0 = tile.store %x : !tile.view<4xf32, [#tile.partition<@q0, 0>]>
  func.return
}

// -----

// CHECK: tile.store: the operand is tensor<4xf32>, but the result tensor<2xf32>
func.func @store_changes_the_shape(%x : tensor<4xf32>) {
  %0 = tile.store %x : (tensor<4xf32>) -> tensor<2xf32>
  func.return
}
