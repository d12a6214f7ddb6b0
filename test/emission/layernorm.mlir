// RUN: equiforge-opt %s -p convert-tile-to-kernel | filecheck %s --check-prefix KERNEL
// RUN: equiforge-opt %s -p 'convert-tile-to-kernel{target=interpreter}' -t triton | filecheck %s --check-prefix TRITON

// Independent reductions over one axis share a loop and its loads.

builtin.module {
  tile.axis @t0 extent 20
  tile.axis @d0 extent 72
  func.func @main(%x: tensor<20x72xf32>) -> tensor<20x72xf32> {
    %x_1 = tile.partition %x along 1 by @d0 : (tensor<20x72xf32>) -> !tile.view<20x72xf32, [#tile.partition<@d0, 1>]>
    %x_2 = tile.partition %x_1 along 0 by @t0 : (!tile.view<20x72xf32, [#tile.partition<@d0, 1>]>) -> !tile.view<20x72xf32, [#tile.partition<@d0, 1>, #tile.partition<@t0, 0>]>
    %0 = tile.reduce sum over axis(1) %x_2 : (!tile.view<20x72xf32, [#tile.partition<@d0, 1>, #tile.partition<@t0, 0>]>) -> !tile.view<20x1xf32, [#tile.partial<@d0, sum>, #tile.partition<@t0, 0>]>
    %total = tile.reduce sum over parallel(@d0) %0 : (!tile.view<20x1xf32, [#tile.partial<@d0, sum>, #tile.partition<@t0, 0>]>) -> !tile.view<20x1xf32, [#tile.partition<@t0, 0>]>
    %1 = forge.mul %x_2, %x_2 : !tile.view<20x72xf32, [#tile.partition<@d0, 1>, #tile.partition<@t0, 0>]>
    %2 = tile.reduce sum over axis(1) %1 : (!tile.view<20x72xf32, [#tile.partition<@d0, 1>, #tile.partition<@t0, 0>]>) -> !tile.view<20x1xf32, [#tile.partial<@d0, sum>, #tile.partition<@t0, 0>]>
    %squares = tile.reduce sum over parallel(@d0) %2 : (!tile.view<20x1xf32, [#tile.partial<@d0, sum>, #tile.partition<@t0, 0>]>) -> !tile.view<20x1xf32, [#tile.partition<@t0, 0>]>
    %3 = forge.constant 0.013888889 : tensor<1x1xf32>
    %4 = tile.replicate %3 by @t0 : (tensor<1x1xf32>) -> !tile.view<1x1xf32, [#tile.replicate<@t0>]>
    %mean = forge.mul %total, %4 : (!tile.view<20x1xf32, [#tile.partition<@t0, 0>]>, !tile.view<1x1xf32, [#tile.replicate<@t0>]>) -> !tile.view<20x1xf32, [#tile.partition<@t0, 0>]>
    %5 = forge.constant 0.013888889 : tensor<1x1xf32>
    %6 = tile.replicate %5 by @t0 : (tensor<1x1xf32>) -> !tile.view<1x1xf32, [#tile.replicate<@t0>]>
    %7 = forge.mul %squares, %6 : (!tile.view<20x1xf32, [#tile.partition<@t0, 0>]>, !tile.view<1x1xf32, [#tile.replicate<@t0>]>) -> !tile.view<20x1xf32, [#tile.partition<@t0, 0>]>
    %8 = forge.mul %mean, %mean : !tile.view<20x1xf32, [#tile.partition<@t0, 0>]>
    %variance = forge.sub %7, %8 : !tile.view<20x1xf32, [#tile.partition<@t0, 0>]>
    %9 = forge.constant 1.0e-05 : tensor<1x1xf32>
    %10 = tile.replicate %9 by @t0 : (tensor<1x1xf32>) -> !tile.view<1x1xf32, [#tile.replicate<@t0>]>
    %11 = forge.add %variance, %10 : (!tile.view<20x1xf32, [#tile.partition<@t0, 0>]>, !tile.view<1x1xf32, [#tile.replicate<@t0>]>) -> !tile.view<20x1xf32, [#tile.partition<@t0, 0>]>
    %scale = forge.rsqrt %11 : !tile.view<20x1xf32, [#tile.partition<@t0, 0>]>
    %x_3 = tile.partition %x along 0 by @t0 : (tensor<20x72xf32>) -> !tile.view<20x72xf32, [#tile.partition<@t0, 0>]>
    %12 = forge.sub %x_3, %mean : (!tile.view<20x72xf32, [#tile.partition<@t0, 0>]>, !tile.view<20x1xf32, [#tile.partition<@t0, 0>]>) -> !tile.view<20x72xf32, [#tile.partition<@t0, 0>]>
    %y = forge.mul %12, %scale : (!tile.view<20x72xf32, [#tile.partition<@t0, 0>]>, !tile.view<20x1xf32, [#tile.partition<@t0, 0>]>) -> !tile.view<20x72xf32, [#tile.partition<@t0, 0>]>
    %13 = tile.combine %y along 0 by @t0 : (!tile.view<20x72xf32, [#tile.partition<@t0, 0>]>) -> tensor<20x72xf32>
    %normal = tile.store %13 : tensor<20x72xf32>
    func.return %normal : tensor<20x72xf32>
  }
}

// KERNEL: kernel.for @d0 iter_args(%{{total.*}} = %{{total.*}}, %{{squares.*}} = %{{squares.*}})
// KERNEL: kernel.load
// KERNEL-NOT: kernel.load
// KERNEL: kernel.yield

// TRITON: total = total + tl.sum(x, axis=1)
// TRITON: squares = squares + tl.sum(
