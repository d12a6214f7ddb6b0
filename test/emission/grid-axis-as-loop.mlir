// RUN: equiforge-opt %s -p convert-tile-to-kernel | filecheck %s --check-prefix KERNEL
// RUN: equiforge-opt %s -p 'convert-tile-to-kernel{target=interpreter}' -t triton | filecheck %s --check-prefix TRITON

// An axis may be the grid's and, inside a loop over it, the loop's: the two see different tiles.

builtin.module {
  tile.axis @s0 extent 40
  func.func @main(%x: tensor<40x8xf32>) -> tensor<40x8xf32> {
    %x_1 = tile.partition %x along 0 by @s0 : (tensor<40x8xf32>) -> !tile.view<40x8xf32, [#tile.partition<@s0, 0>]>
    %0 = forge.mul %x_1, %x_1 : !tile.view<40x8xf32, [#tile.partition<@s0, 0>]>
    %1 = tile.reduce sum over axis(0) %0 : (!tile.view<40x8xf32, [#tile.partition<@s0, 0>]>) -> !tile.view<1x8xf32, [#tile.partial<@s0, sum>]>
    %total = tile.reduce sum over parallel(@s0) %1 : (!tile.view<1x8xf32, [#tile.partial<@s0, sum>]>) -> tensor<1x8xf32>
    %total_1 = tile.replicate %total by @s0 : (tensor<1x8xf32>) -> !tile.view<1x8xf32, [#tile.replicate<@s0>]>
    %y = forge.sub %x_1, %total_1 : (!tile.view<40x8xf32, [#tile.partition<@s0, 0>]>, !tile.view<1x8xf32, [#tile.replicate<@s0>]>) -> !tile.view<40x8xf32, [#tile.partition<@s0, 0>]>
    %2 = tile.combine %y along 0 by @s0 : (!tile.view<40x8xf32, [#tile.partition<@s0, 0>]>) -> tensor<40x8xf32>
    %out = tile.store %2 : tensor<40x8xf32>
    func.return %out : tensor<40x8xf32>
  }
}

// KERNEL: kernel.for @s0
// KERNEL: kernel.load %{{x.*}} :
// KERNEL: }
// KERNEL: kernel.load %{{x.*}} :

// TRITON: mask=(s0_1 < 40)[:, None]
// TRITON: mask=(s0 < 40)[:, None]
