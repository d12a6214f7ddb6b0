// RUN: equiforge-opt %s -p convert-tile-to-kernel | filecheck %s --check-prefix KERNEL
// RUN: equiforge-opt %s -p 'convert-tile-to-kernel{target=interpreter}' -t triton | filecheck %s --check-prefix TRITON

// A sum whose terms need the maximum over the same axis is a second loop; the tile of the grid on that axis is a third
// reading of the input.

builtin.module {
  tile.axis @d0 extent 72
  tile.axis @t0 extent 40
  func.func @main(%x: tensor<40x72xf32>) -> tensor<40x72xf32> {
    %x_1 = tile.partition %x along 1 by @d0 : (tensor<40x72xf32>) -> !tile.view<40x72xf32, [#tile.partition<@d0, 1>]>
    %x_2 = tile.partition %x_1 along 0 by @t0 : (!tile.view<40x72xf32, [#tile.partition<@d0, 1>]>) -> !tile.view<40x72xf32, [#tile.partition<@d0, 1>, #tile.partition<@t0, 0>]>
    %0 = tile.reduce max over axis(1) %x_2 : (!tile.view<40x72xf32, [#tile.partition<@d0, 1>, #tile.partition<@t0, 0>]>) -> !tile.view<40x1xf32, [#tile.partial<@d0, max>, #tile.partition<@t0, 0>]>
    %m = tile.reduce max over parallel(@d0) %0 : (!tile.view<40x1xf32, [#tile.partial<@d0, max>, #tile.partition<@t0, 0>]>) -> !tile.view<40x1xf32, [#tile.partition<@t0, 0>]>
    %m_1 = tile.replicate %m by @d0 : (!tile.view<40x1xf32, [#tile.partition<@t0, 0>]>) -> !tile.view<40x1xf32, [#tile.replicate<@d0>, #tile.partition<@t0, 0>]>
    %1 = forge.sub %x_2, %m_1 : (!tile.view<40x72xf32, [#tile.partition<@d0, 1>, #tile.partition<@t0, 0>]>, !tile.view<40x1xf32, [#tile.replicate<@d0>, #tile.partition<@t0, 0>]>) -> !tile.view<40x72xf32, [#tile.partition<@d0, 1>, #tile.partition<@t0, 0>]>
    %e = forge.exp %1 : !tile.view<40x72xf32, [#tile.partition<@d0, 1>, #tile.partition<@t0, 0>]>
    %2 = tile.reduce sum over axis(1) %e : (!tile.view<40x72xf32, [#tile.partition<@d0, 1>, #tile.partition<@t0, 0>]>) -> !tile.view<40x1xf32, [#tile.partial<@d0, sum>, #tile.partition<@t0, 0>]>
    %l = tile.reduce sum over parallel(@d0) %2 : (!tile.view<40x1xf32, [#tile.partial<@d0, sum>, #tile.partition<@t0, 0>]>) -> !tile.view<40x1xf32, [#tile.partition<@t0, 0>]>
    %l_1 = tile.replicate %l by @d0 : (!tile.view<40x1xf32, [#tile.partition<@t0, 0>]>) -> !tile.view<40x1xf32, [#tile.replicate<@d0>, #tile.partition<@t0, 0>]>
    %y = forge.div %e, %l_1 : (!tile.view<40x72xf32, [#tile.partition<@d0, 1>, #tile.partition<@t0, 0>]>, !tile.view<40x1xf32, [#tile.replicate<@d0>, #tile.partition<@t0, 0>]>) -> !tile.view<40x72xf32, [#tile.partition<@d0, 1>, #tile.partition<@t0, 0>]>
    %3 = tile.combine %y along 0 by @t0 : (!tile.view<40x72xf32, [#tile.partition<@d0, 1>, #tile.partition<@t0, 0>]>) -> !tile.view<40x72xf32, [#tile.partition<@d0, 1>]>
    %4 = tile.combine %3 along 1 by @d0 : (!tile.view<40x72xf32, [#tile.partition<@d0, 1>]>) -> tensor<40x72xf32>
    %softmax = tile.store %4 : tensor<40x72xf32>
    func.return %softmax : tensor<40x72xf32>
  }
}

// KERNEL: grid [@t0, @d0]
// KERNEL: kernel.for @d0 iter_args(%{{m.*}} =
// KERNEL: kernel.for @d0 iter_args(%{{l.*}} =
// KERNEL: kernel.load
// KERNEL: kernel.store

// TRITON: # d0 (program and loop, 72 elements)
// TRITON: e = tl.exp(x_1 - m[:, None])
