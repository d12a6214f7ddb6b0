// RUN: equiforge-opt %s --verify-diagnostics --parsing-diagnostics --split-input-file | filecheck %s

// Two nested axes: how they are declared, in which order they are added and removed, and what raw states allow.

// CHECK: tile.axis @k1: within @k0, which is no other tile.axis
tile.axis @k1 extent 100 within @k0

// -----

// CHECK: tile.axis @k0: within @k0, which is no other tile.axis
tile.axis @k0 extent 100 within @k0

// -----

// CHECK: tile.axis @k2: within @k1, which is itself within @k0
tile.axis @k0 extent 100
tile.axis @k1 extent 100 within @k0
tile.axis @k2 extent 100 within @k1

// -----

// CHECK: tile.axis @k1: cuts 50 elements, but @k0 cuts 100
tile.axis @k0 extent 100
tile.axis @k1 extent 50 within @k0

// -----

// CHECK: tile.partition: by @k0, but along @k1, which is within it, the operand is #tile.partition<@k1, 1>; the outer axis is added first and removed last
tile.axis @k0 extent 100
tile.axis @k1 extent 100 within @k0
func.func @outer_after_inner(%x : !tile.view<4x100xf32, [#tile.partition<@k1, 1>]>) {
  %0 = tile.partition %x along 1 by @k0 : (!tile.view<4x100xf32, [#tile.partition<@k1, 1>]>) -> !tile.view<4x100xf32, [#tile.partition<@k0, 1>, #tile.partition<@k1, 1>]>
  func.return
}

// -----

// CHECK: tile.partition: @k1 is within @k0 and cuts dimension 1, but along @k0 the value is #tile.replicate<@k0>
tile.axis @k0 extent 100
tile.axis @k1 extent 100 within @k0
func.func @inner_of_replicated(%x : !tile.view<4x100xf32, [#tile.replicate<@k0>]>) {
  %0 = tile.partition %x along 1 by @k1 : (!tile.view<4x100xf32, [#tile.replicate<@k0>]>) -> !tile.view<4x100xf32, [#tile.replicate<@k0>, #tile.partition<@k1, 1>]>
  func.return
}

// -----

// CHECK: tile.partition: @k1 is within @k0 and cuts dimension 1, but along @k0 the value is #tile.partition<@k0, 0>
tile.axis @k0 extent 100
tile.axis @k1 extent 100 within @k0
func.func @inner_of_another_dimension(%x : !tile.view<100x100xf32, [#tile.partition<@k0, 0>]>) {
  %0 = tile.partition %x along 1 by @k1 : (!tile.view<100x100xf32, [#tile.partition<@k0, 0>]>) -> !tile.view<100x100xf32, [#tile.partition<@k0, 0>, #tile.partition<@k1, 1>]>
  func.return
}

// -----

// CHECK: tile.replicate: by @k0, but along @k1, which is within it, the operand is #tile.partial<@k1, sum>
tile.axis @k0 extent 100
tile.axis @k1 extent 100 within @k0
func.func @replicate_of_a_one_level_part(%x : !tile.view<4x100xf32, [#tile.partial<@k1, sum>]>) {
  %0 = tile.replicate %x by @k0 : (!tile.view<4x100xf32, [#tile.partial<@k1, sum>]>) -> !tile.view<4x100xf32, [#tile.replicate<@k0>, #tile.partial<@k1, sum>]>
  func.return
}

// -----

// CHECK: tile.combine: by @k0, but along @k1, which is within it, the operand is #tile.partition<@k1, 1>
tile.axis @k0 extent 100
tile.axis @k1 extent 100 within @k0
func.func @outer_combined_first(%x : !tile.view<4x100xf32, [#tile.partition<@k0, 1>, #tile.partition<@k1, 1>]>) {
  %0 = tile.combine %x along 1 by @k0 : (!tile.view<4x100xf32, [#tile.partition<@k0, 1>, #tile.partition<@k1, 1>]>) -> !tile.view<4x100xf32, [#tile.partition<@k1, 1>]>
  func.return
}

// -----

// CHECK: tile.reduce: by @k0, but along @k1, which is within it, the operand is #tile.partial<@k1, sum>
tile.axis @k0 extent 100
tile.axis @k1 extent 100 within @k0
func.func @outer_reduced_first(%x : !tile.view<4x100xf32, [#tile.partial<@k0, sum>, #tile.partial<@k1, sum>]>) {
  %0 = tile.reduce sum over parallel(@k0) %x : (!tile.view<4x100xf32, [#tile.partial<@k0, sum>, #tile.partial<@k1, sum>]>) -> !tile.view<4x100xf32, [#tile.partial<@k1, sum>]>
  func.return
}

// -----

// CHECK: tile.collect: by @k0, but along @k1, which is within it, the operand is #tile.partial<@k1, sum>
tile.axis @k0 extent 100
tile.axis @k1 extent 100 within @k0
func.func @outer_collected_first(%x : !tile.view<4x100xf32, [#tile.partial<@k0, sum>, #tile.partial<@k1, sum>]>) {
  %0 = tile.collect %x by @k0 into 4 : (!tile.view<4x100xf32, [#tile.partial<@k0, sum>, #tile.partial<@k1, sum>]>) -> !tile.view<4x4x100xf32, [#tile.partial<@k1, sum>]>
  func.return
}

// -----

// CHECK: tile.reduce: along @k0 the operand is #tile.partial<@k0>, but needs #tile.partial<@k0, sum>
tile.axis @k0 extent 100
tile.axis @k1 extent 100 within @k0
func.func @raw_state_reduced(%x : !tile.view<4x100xf32, [#tile.partial<@k0>]>) {
  %0 = tile.reduce sum over parallel(@k0) %x : (!tile.view<4x100xf32, [#tile.partial<@k0>]>) -> tensor<4x100xf32>
  func.return
}

// -----

// CHECK: tile.reduce: along @k0 the operand is #tile.partial<@k0>, which sum does not commute with
tile.axis @k0 extent 100
tile.axis @k1 extent 100 within @k0
func.func @raw_state_reduced_inside(%x : !tile.view<4x100xf32, [#tile.partial<@k0>]>) {
  %0 = tile.reduce sum over axis(1) %x : (!tile.view<4x100xf32, [#tile.partial<@k0>]>) -> !tile.view<4x1xf32, [#tile.partial<@k0>]>
  func.return
}

// -----

// CHECK: forge.exp: along @k0 operand 0 is #tile.partial<@k0>; reduce it over the axis first
tile.axis @k0 extent 100
tile.axis @k1 extent 100 within @k0
func.func @raw_state_in_pointwise(%x : !tile.view<4x100xf32, [#tile.partial<@k0>]>) {
  %0 = forge.exp %x : !tile.view<4x100xf32, [#tile.partial<@k0>]>
  func.return
}

// -----

// CHECK: tile.reduce @add: the results are (tensor<4x1xf32>), but the reducer's are (!tile.view<4x1xf32, [#tile.partial<@k0>]>)
tile.axis @k0 extent 100
tile.axis @k1 extent 100 within @k0
tile.reducer @add identity [0.0] body(%s : tensor<4x1xf32>, %x : !tile.view<4x100xf32, [#tile.partition<@k1, 1>]>) {
  tile.yield %s : tensor<4x1xf32>
}
func.func @states_of_slices(%x : !tile.view<4x100xf32, [#tile.partition<@k0, 1>, #tile.partition<@k1, 1>]>) {
  %0 = tile.reduce @add over parallel(@k1) %x : (!tile.view<4x100xf32, [#tile.partition<@k0, 1>, #tile.partition<@k1, 1>]>) -> tuple<tensor<4x1xf32>>
  func.return
}

// -----

// CHECK: tile.reduce: @k1 is within @k0 and cuts dimension 1, but along @k0 the value is #tile.replicate<@k0>
tile.axis @k0 extent 100
tile.axis @k1 extent 100 within @k0
tile.reducer @add identity [0.0] body(%s : tensor<4x1xf32>, %x : !tile.view<4x100xf32, [#tile.partition<@k1, 1>]>) {
  tile.yield %s : tensor<4x1xf32>
}
func.func @operand_of_slices(%x : !tile.view<4x100xf32, [#tile.replicate<@k0>, #tile.partition<@k1, 1>]>) {
  %0 = tile.reduce @add over parallel(@k1) %x : (!tile.view<4x100xf32, [#tile.replicate<@k0>, #tile.partition<@k1, 1>]>) -> tuple<!tile.view<4x1xf32, [#tile.partial<@k0>]>>
  func.return
}

// -----

// CHECK: forge.expand: @k1 is within @k0 and cuts dimension 1, but along @k0 the value is #tile.replicate<@k0>
tile.axis @k0 extent 100
tile.axis @k1 extent 100 within @k0
func.func @inner_of_expanded(%x : !tile.view<4x1xf32, [#tile.replicate<@k0>, #tile.replicate<@k1>]>) {
  %0 = forge.expand %x : (!tile.view<4x1xf32, [#tile.replicate<@k0>, #tile.replicate<@k1>]>) -> !tile.view<4x100xf32, [#tile.replicate<@k0>, #tile.partition<@k1, 1>]>
  func.return
}
