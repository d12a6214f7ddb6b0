// RUN: equiforge-opt %s -p convert-tile-to-kernel | filecheck %s --check-prefix KERNEL
// RUN: equiforge-opt %s -p 'convert-tile-to-kernel{target=h100}' -t triton | filecheck %s --check-prefix TRITON

// A product whose contraction is cut into eight slices, each a loop of its own; the second kernel adds what they leave.

builtin.module {
  tile.axis @k0 extent 4000
  tile.axis @k1 extent 4000 within @k0
  tile.axis @m0 extent 16
  tile.axis @n0 extent 1024
  func.func @main(%x: tensor<16x4000xf16>, %w: tensor<4000x1024xf16>) -> tensor<16x1024xf16> {
    %0 = tile.partition %x along 1 by @k0 : (tensor<16x4000xf16>) -> !tile.view<16x4000xf16, [#tile.partition<@k0, 1>]>
    %1 = tile.partition %0 along 1 by @k1 : (!tile.view<16x4000xf16, [#tile.partition<@k0, 1>]>) -> !tile.view<16x4000xf16, [#tile.partition<@k0, 1>, #tile.partition<@k1, 1>]>
    %2 = tile.partition %1 along 0 by @m0 : (!tile.view<16x4000xf16, [#tile.partition<@k0, 1>, #tile.partition<@k1, 1>]>) -> !tile.view<16x4000xf16, [#tile.partition<@k0, 1>, #tile.partition<@k1, 1>, #tile.partition<@m0, 0>]>
    %3 = tile.replicate %2 by @n0 : (!tile.view<16x4000xf16, [#tile.partition<@k0, 1>, #tile.partition<@k1, 1>, #tile.partition<@m0, 0>]>) -> !tile.view<16x4000xf16, [#tile.partition<@k0, 1>, #tile.partition<@k1, 1>, #tile.partition<@m0, 0>, #tile.replicate<@n0>]>
    %4 = tile.partition %w along 0 by @k0 : (tensor<4000x1024xf16>) -> !tile.view<4000x1024xf16, [#tile.partition<@k0, 0>]>
    %5 = tile.partition %4 along 0 by @k1 : (!tile.view<4000x1024xf16, [#tile.partition<@k0, 0>]>) -> !tile.view<4000x1024xf16, [#tile.partition<@k0, 0>, #tile.partition<@k1, 0>]>
    %6 = tile.replicate %5 by @m0 : (!tile.view<4000x1024xf16, [#tile.partition<@k0, 0>, #tile.partition<@k1, 0>]>) -> !tile.view<4000x1024xf16, [#tile.partition<@k0, 0>, #tile.partition<@k1, 0>, #tile.replicate<@m0>]>
    %7 = tile.partition %6 along 1 by @n0 : (!tile.view<4000x1024xf16, [#tile.partition<@k0, 0>, #tile.partition<@k1, 0>, #tile.replicate<@m0>]>) -> !tile.view<4000x1024xf16, [#tile.partition<@k0, 0>, #tile.partition<@k1, 0>, #tile.replicate<@m0>, #tile.partition<@n0, 1>]>
    %8 = tile.matmul %3, %7 : (!tile.view<16x4000xf16, [#tile.partition<@k0, 1>, #tile.partition<@k1, 1>, #tile.partition<@m0, 0>, #tile.replicate<@n0>]>, !tile.view<4000x1024xf16, [#tile.partition<@k0, 0>, #tile.partition<@k1, 0>, #tile.replicate<@m0>, #tile.partition<@n0, 1>]>) -> !tile.view<16x1024xf32, [#tile.partial<@k0, sum>, #tile.partial<@k1, sum>, #tile.partition<@m0, 0>, #tile.partition<@n0, 1>]>
    %9 = tile.reduce sum over parallel(@k1) %8 : (!tile.view<16x1024xf32, [#tile.partial<@k0, sum>, #tile.partial<@k1, sum>, #tile.partition<@m0, 0>, #tile.partition<@n0, 1>]>) -> !tile.view<16x1024xf32, [#tile.partial<@k0, sum>, #tile.partition<@m0, 0>, #tile.partition<@n0, 1>]>
    %10 = tile.collect %9 by @k0 into 8 : (!tile.view<16x1024xf32, [#tile.partial<@k0, sum>, #tile.partition<@m0, 0>, #tile.partition<@n0, 1>]>) -> !tile.view<8x16x1024xf32, [#tile.partition<@m0, 1>, #tile.partition<@n0, 2>]>
    %11 = tile.combine %10 along 1 by @m0 : (!tile.view<8x16x1024xf32, [#tile.partition<@m0, 1>, #tile.partition<@n0, 2>]>) -> !tile.view<8x16x1024xf32, [#tile.partition<@n0, 2>]>
    %12 = tile.combine %11 along 2 by @n0 : (!tile.view<8x16x1024xf32, [#tile.partition<@n0, 2>]>) -> tensor<8x16x1024xf32>
    %parts = tile.store %12 : tensor<8x16x1024xf32>
    %13 = tile.partition %parts along 1 by @m0 : (tensor<8x16x1024xf32>) -> !tile.view<8x16x1024xf32, [#tile.partition<@m0, 1>]>
    %14 = tile.partition %13 along 2 by @n0 : (!tile.view<8x16x1024xf32, [#tile.partition<@m0, 1>]>) -> !tile.view<8x16x1024xf32, [#tile.partition<@m0, 1>, #tile.partition<@n0, 2>]>
    %15 = tile.reduce sum over axis(0) %14 : (!tile.view<8x16x1024xf32, [#tile.partition<@m0, 1>, #tile.partition<@n0, 2>]>) -> !tile.view<1x16x1024xf32, [#tile.partition<@m0, 1>, #tile.partition<@n0, 2>]>
    %16 = forge.reshape %15 : (!tile.view<1x16x1024xf32, [#tile.partition<@m0, 1>, #tile.partition<@n0, 2>]>) -> !tile.view<16x1024xf32, [#tile.partition<@m0, 0>, #tile.partition<@n0, 1>]>
    %17 = tile.combine %16 along 0 by @m0 : (!tile.view<16x1024xf32, [#tile.partition<@m0, 0>, #tile.partition<@n0, 1>]>) -> !tile.view<16x1024xf32, [#tile.partition<@n0, 1>]>
    %18 = tile.combine %17 along 1 by @n0 : (!tile.view<16x1024xf32, [#tile.partition<@n0, 1>]>) -> tensor<16x1024xf32>
    %y = tile.store %18 : (tensor<16x1024xf32>) -> tensor<16x1024xf16>
    func.return %y : tensor<16x1024xf16>
  }
}

// KERNEL: kernel.func @parts_kernel
// KERNEL: kernel.for @k1 in @k0 iter_args(
// KERNEL: tile.accumulate sum %{{.*}}, %{{.*}} over @k1 : (!tile.view<16x1024xf32, [#tile.partial<@k0, sum>, #tile.partition<@m0, 0>, #tile.partition<@n0, 1>]>,
// KERNEL: kernel.store %{{.*}}, %{{.*}} at @k0 : !tile.view<16x1024xf32, [#tile.partial<@k0, sum>, #tile.partition<@m0, 0>, #tile.partition<@n0, 1>]>, !kernel.ref<8x16x1024xf32, [16384, 1024, 1]>
// KERNEL: kernel.func @y_kernel
// KERNEL-NOT: kernel.for

// TRITON: # schedule of parts_kernel: k0 = 512, k1 = 128
// TRITON: k1_end = tl.minimum(k0_start + BLOCK_K0, 4000)
// TRITON-NEXT: for k1_start in range(k0_start, k1_end, BLOCK_K1):
// TRITON-NEXT: k1 = k1_start + tl.arange(0, BLOCK_K1)
// TRITON-NEXT: x = tl.load(x_ptr + (m0[:, None] * 4000 + k1[None, :]), mask=(k1 < 4000)[None, :], other=0.0)
// TRITON-NEXT: w = tl.load(w_ptr + (k1[:, None] * 1024 + n0[None, :]), mask=(k1 < 4000)[:, None], other=0.0)
// TRITON-NEXT: acc = tl.dot(x, w, acc)
// TRITON-NEXT: tl.store(parts_ptr + (k0_tile * 16384 + m0[:, None] * 1024 + n0[None, :]), acc)
