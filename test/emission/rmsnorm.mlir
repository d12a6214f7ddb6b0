// RUN: equiforge-opt %s -p convert-tile-to-kernel | filecheck %s --check-prefix KERNEL
// RUN: equiforge-opt %s -p 'convert-tile-to-kernel{target=interpreter}' -t triton | filecheck %s --check-prefix TRITON

// A sum over tiles of a row, then the whole row scaled: the sum is a loop with a carried state, the load of the weight
// needs no row axis.

builtin.module {
  tile.axis @t0 extent 50
  tile.axis @d0 extent 72
  func.func @main(%x : tensor<50x72xf16>, %w : tensor<1x72xf16>) -> (tensor<50x72xf16>) {
    %xd = tile.partition %x along 1 by @d0 : (tensor<50x72xf16>) -> !tile.view<50x72xf16, [#tile.partition<@d0, 1>]>
    %xv = tile.partition %xd along 0 by @t0 : (!tile.view<50x72xf16, [#tile.partition<@d0, 1>]>) -> !tile.view<50x72xf16, [#tile.partition<@d0, 1>, #tile.partition<@t0, 0>]>
    %xf = forge.cast %xv : !tile.view<50x72xf16, [#tile.partition<@d0, 1>, #tile.partition<@t0, 0>]> to !tile.view<50x72xf32, [#tile.partition<@d0, 1>, #tile.partition<@t0, 0>]>
    %sq = forge.mul %xf, %xf : !tile.view<50x72xf32, [#tile.partition<@d0, 1>, #tile.partition<@t0, 0>]>
    %p = tile.reduce sum over axis(1) %sq : (!tile.view<50x72xf32, [#tile.partition<@d0, 1>, #tile.partition<@t0, 0>]>) -> !tile.view<50x1xf32, [#tile.partial<@d0, sum>, #tile.partition<@t0, 0>]>
    %s = tile.reduce sum over parallel(@d0) %p : (!tile.view<50x1xf32, [#tile.partial<@d0, sum>, #tile.partition<@t0, 0>]>) -> !tile.view<50x1xf32, [#tile.partition<@t0, 0>]>
    %c = forge.constant 0.01388888888 : tensor<1x1xf32>
    %eps = forge.constant 0.000001 : tensor<1x1xf32>
    %ct = tile.replicate %c by @t0 : (tensor<1x1xf32>) -> !tile.view<1x1xf32, [#tile.replicate<@t0>]>
    %et = tile.replicate %eps by @t0 : (tensor<1x1xf32>) -> !tile.view<1x1xf32, [#tile.replicate<@t0>]>
    %m = forge.mul %s, %ct : (!tile.view<50x1xf32, [#tile.partition<@t0, 0>]>, !tile.view<1x1xf32, [#tile.replicate<@t0>]>) -> !tile.view<50x1xf32, [#tile.partition<@t0, 0>]>
    %me = forge.add %m, %et : (!tile.view<50x1xf32, [#tile.partition<@t0, 0>]>, !tile.view<1x1xf32, [#tile.replicate<@t0>]>) -> !tile.view<50x1xf32, [#tile.partition<@t0, 0>]>
    %r = forge.rsqrt %me : !tile.view<50x1xf32, [#tile.partition<@t0, 0>]>
    %xt = tile.partition %x along 0 by @t0 : (tensor<50x72xf16>) -> !tile.view<50x72xf16, [#tile.partition<@t0, 0>]>
    %xtf = forge.cast %xt : !tile.view<50x72xf16, [#tile.partition<@t0, 0>]> to !tile.view<50x72xf32, [#tile.partition<@t0, 0>]>
    %wt = tile.replicate %w by @t0 : (tensor<1x72xf16>) -> !tile.view<1x72xf16, [#tile.replicate<@t0>]>
    %wf = forge.cast %wt : !tile.view<1x72xf16, [#tile.replicate<@t0>]> to !tile.view<1x72xf32, [#tile.replicate<@t0>]>
    %n = forge.mul %xtf, %r : (!tile.view<50x72xf32, [#tile.partition<@t0, 0>]>, !tile.view<50x1xf32, [#tile.partition<@t0, 0>]>) -> !tile.view<50x72xf32, [#tile.partition<@t0, 0>]>
    %y = forge.mul %n, %wf : (!tile.view<50x72xf32, [#tile.partition<@t0, 0>]>, !tile.view<1x72xf32, [#tile.replicate<@t0>]>) -> !tile.view<50x72xf32, [#tile.partition<@t0, 0>]>
    %yc = tile.combine %y along 0 by @t0 : (!tile.view<50x72xf32, [#tile.partition<@t0, 0>]>) -> tensor<50x72xf32>
    %out = tile.store %yc : (tensor<50x72xf32>) -> tensor<50x72xf16>
    func.return %out : tensor<50x72xf16>
  }
}

// KERNEL: kernel.func @out_kernel({{.*}}) grid [@t0]
// KERNEL: kernel.for @d0 iter_args(%[[ACC:.*]] = %
// KERNEL: tile.accumulate sum %[[ACC]], %{{.*}} over @d0
// KERNEL: kernel.load %{{w.*}} : !kernel.ref<1x72xf16, [72, 1]> -> tensor<1x72xf16>

// What the ragged edge of d0 is padded with is 0, squared 0: the sum needs no select.
// TRITON: mask=(t0 < 50)[:, None] & (d0 < 72)[None, :],
// TRITON: sq = xf * xf
// TRITON-NEXT: p = tl.sum(sq, axis=1)
// TRITON-NEXT: s = s + p
