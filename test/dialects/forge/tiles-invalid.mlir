// RUN: equiforge-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: forge.reshape: shape [48, 4] splits or merges dimension 0, which is #tile.partition<@q0, 0>
func.func @merged(%x: !tile.view<8x6x4xf32, [#tile.partition<@q0, 0>]>) {
  %0 = forge.reshape %x : (!tile.view<8x6x4xf32, [#tile.partition<@q0, 0>]>) -> !tile.view<48x4xf32, [#tile.partition<@q0, 0>]>
  func.return
}

// -----

// CHECK: forge.slice: dimension 0 is partitioned (!tile.view<8x6xf32, [#tile.partition<@q0, 0>]>)
func.func @sliced(%x: !tile.view<8x6xf32, [#tile.partition<@q0, 0>]>) {
  %0 = forge.slice %x along 0 from 0 to 4 step 1 : (!tile.view<8x6xf32, [#tile.partition<@q0, 0>]>) -> !tile.view<4x6xf32, [#tile.partition<@q0, 0>]>
  func.return
}

// -----

// CHECK: forge.concat: dimension 0 is partitioned
func.func @joined(%x: !tile.view<8x6xf32, [#tile.partition<@q0, 0>]>) {
  %0 = forge.concat 0 %x, %x : (!tile.view<8x6xf32, [#tile.partition<@q0, 0>]>, !tile.view<8x6xf32, [#tile.partition<@q0, 0>]>) -> !tile.view<16x6xf32, [#tile.partition<@q0, 0>]>
  func.return
}

// -----

// CHECK: forge.concat: operands differ in their states
func.func @states(%x: !tile.view<8x6xf32, [#tile.partition<@q0, 0>]>, %y: !tile.view<8x6xf32, [#tile.replicate<@q0>]>) {
  %0 = forge.concat 1 %x, %y : (!tile.view<8x6xf32, [#tile.partition<@q0, 0>]>, !tile.view<8x6xf32, [#tile.replicate<@q0>]>) -> !tile.view<8x12xf32, [#tile.partition<@q0, 0>]>
  func.return
}

// -----

// CHECK: forge.transpose: along @k0 the operand is #tile.partial<@k0, sum>; reduce it over the axis first
func.func @partial(%x: !tile.view<8x6xf32, [#tile.partial<@k0, sum>]>) {
  %0 = forge.transpose %x perm [1, 0] : (!tile.view<8x6xf32, [#tile.partial<@k0, sum>]>) -> !tile.view<6x8xf32, [#tile.partial<@k0, sum>]>
  func.return
}

// -----

// A partition of a dimension that does not grow has to be the operand's.
// CHECK: forge.expand: the result is !tile.view<8x6xf32, [#tile.partition<@q0, 0>]>, but the operands give !tile.view<8x6xf32, [#tile.replicate<@q0>]>
func.func @not_grown(%x: !tile.view<8x1xf32, [#tile.replicate<@q0>]>) {
  %0 = forge.expand %x : (!tile.view<8x1xf32, [#tile.replicate<@q0>]>) -> !tile.view<8x6xf32, [#tile.partition<@q0, 0>]>
  func.return
}

// -----

// CHECK: forge.transpose: the result is !tile.view<6x8xf32, [#tile.partition<@q0, 0>]>, but the operands give !tile.view<6x8xf32, [#tile.partition<@q0, 1>]>
func.func @not_moved(%x: !tile.view<8x6xf32, [#tile.partition<@q0, 0>]>) {
  %0 = forge.transpose %x perm [1, 0] : (!tile.view<8x6xf32, [#tile.partition<@q0, 0>]>) -> !tile.view<6x8xf32, [#tile.partition<@q0, 0>]>
  func.return
}
