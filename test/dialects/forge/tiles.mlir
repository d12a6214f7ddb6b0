// RUN: equiforge-opt %s --split-input-file | equiforge-opt --split-input-file | filecheck %s
// RUN: equiforge-opt %s --split-input-file --print-op-generic | equiforge-opt --split-input-file | filecheck %s

// Layout ops on tiles: what an axis partitions stays whole and keeps its axis.
// CHECK-LABEL: func.func @layouts_of_tiles
func.func @layouts_of_tiles(%x: !tile.view<8x6x4xf32, [#tile.partition<@q0, 0>, #tile.replicate<@v0>]>, %c: !tile.view<8x1xf32, [#tile.partition<@q0, 0>, #tile.replicate<@v0>]>, %i: !tile.view<1x3x1xi32, [#tile.replicate<@q0>, #tile.partition<@v0, 1>]>) {
  // A partition moves with its dimension.
  // CHECK: forge.transpose %x perm [2, 0, 1] : {{.*}} -> !tile.view<4x8x6xf32, [#tile.partition<@q0, 1>, #tile.replicate<@v0>]>
  %t = forge.transpose %x perm [2, 0, 1] : (!tile.view<8x6x4xf32, [#tile.partition<@q0, 0>, #tile.replicate<@v0>]>) -> !tile.view<4x8x6xf32, [#tile.partition<@q0, 1>, #tile.replicate<@v0>]>
  // Dimensions beside the partitioned one are merged.
  // CHECK: forge.reshape %x : {{.*}} -> !tile.view<1x8x24xf32, [#tile.partition<@q0, 1>, #tile.replicate<@v0>]>
  %r = forge.reshape %x : (!tile.view<8x6x4xf32, [#tile.partition<@q0, 0>, #tile.replicate<@v0>]>) -> !tile.view<1x8x24xf32, [#tile.partition<@q0, 1>, #tile.replicate<@v0>]>
  // CHECK: forge.slice %x along 1 from 0 to 6 step 2
  %s = forge.slice %x along 1 from 0 to 6 step 2 : (!tile.view<8x6x4xf32, [#tile.partition<@q0, 0>, #tile.replicate<@v0>]>) -> !tile.view<8x3x4xf32, [#tile.partition<@q0, 0>, #tile.replicate<@v0>]>
  // CHECK: forge.concat 2 %x, %x
  %j = forge.concat 2 %x, %x : (!tile.view<8x6x4xf32, [#tile.partition<@q0, 0>, #tile.replicate<@v0>]>, !tile.view<8x6x4xf32, [#tile.partition<@q0, 0>, #tile.replicate<@v0>]>) -> !tile.view<8x6x8xf32, [#tile.partition<@q0, 0>, #tile.replicate<@v0>]>
  // A tile of the places chooses among all elements; other dimensions are cut alike.
  // CHECK: forge.gather %x, %i along 1 : {{.*}} -> !tile.view<8x3x4xf32, [#tile.partition<@q0, 0>, #tile.partition<@v0, 1>]>
  %a = forge.gather %x, %i along 1 : (!tile.view<8x6x4xf32, [#tile.partition<@q0, 0>, #tile.replicate<@v0>]>, !tile.view<1x3x1xi32, [#tile.replicate<@q0>, #tile.partition<@v0, 1>]>) -> !tile.view<8x3x4xf32, [#tile.partition<@q0, 0>, #tile.partition<@v0, 1>]>
  // What grows may be whole in each coordinate, or cut by an axis that the operand is replicated over.
  // CHECK: forge.expand %c : {{.*}} -> !tile.view<8x6xf32, [#tile.partition<@q0, 0>, #tile.replicate<@v0>]>
  %e = forge.expand %c : (!tile.view<8x1xf32, [#tile.partition<@q0, 0>, #tile.replicate<@v0>]>) -> !tile.view<8x6xf32, [#tile.partition<@q0, 0>, #tile.replicate<@v0>]>
  // CHECK: forge.expand %c : {{.*}} -> !tile.view<8x6xf32, [#tile.partition<@q0, 0>, #tile.partition<@v0, 1>]>
  %g = forge.expand %c : (!tile.view<8x1xf32, [#tile.partition<@q0, 0>, #tile.replicate<@v0>]>) -> !tile.view<8x6xf32, [#tile.partition<@q0, 0>, #tile.partition<@v0, 1>]>
  func.return
}
