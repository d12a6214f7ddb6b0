// RUN: equiforge-opt %s -p convert-tile-to-kernel | filecheck %s --check-prefix KERNEL
// RUN: equiforge-opt %s -p 'convert-tile-to-kernel{target=h100}' -t triton | filecheck %s --check-prefix TRITON

// A product whose contraction is in four parts: each part is a program that stores its partial result, and the kernel
// that needs the product adds them up. The axis has the tile size that makes four tiles.

builtin.module {
  tile.axis @k0 extent 100
  tile.axis @m0 extent 40
  tile.axis @n0 extent 56
  func.func @main(%x: tensor<40x100xf16>, %w: tensor<100x56xf16>, %a: tensor<100x16xf16>, %b: tensor<16x56xf16>) -> tensor<40x56xf16> {
    %x_1 = tile.partition %x along 1 by @k0 : (tensor<40x100xf16>) -> !tile.view<40x100xf16, [#tile.partition<@k0, 1>]>
    %x_2 = tile.partition %x_1 along 0 by @m0 : (!tile.view<40x100xf16, [#tile.partition<@k0, 1>]>) -> !tile.view<40x100xf16, [#tile.partition<@k0, 1>, #tile.partition<@m0, 0>]>
    %a_1 = tile.partition %a along 0 by @k0 : (tensor<100x16xf16>) -> !tile.view<100x16xf16, [#tile.partition<@k0, 0>]>
    %a_2 = tile.replicate %a_1 by @m0 : (!tile.view<100x16xf16, [#tile.partition<@k0, 0>]>) -> !tile.view<100x16xf16, [#tile.partition<@k0, 0>, #tile.replicate<@m0>]>
    %0 = tile.matmul %x_2, %a_2 : (!tile.view<40x100xf16, [#tile.partition<@k0, 1>, #tile.partition<@m0, 0>]>, !tile.view<100x16xf16, [#tile.partition<@k0, 0>, #tile.replicate<@m0>]>) -> !tile.view<40x16xf32, [#tile.partial<@k0, sum>, #tile.partition<@m0, 0>]>
    %1 = tile.collect %0 by @k0 into 4 : (!tile.view<40x16xf32, [#tile.partial<@k0, sum>, #tile.partition<@m0, 0>]>) -> !tile.view<4x40x16xf32, [#tile.partition<@m0, 1>]>
    %2 = tile.combine %1 along 1 by @m0 : (!tile.view<4x40x16xf32, [#tile.partition<@m0, 1>]>) -> tensor<4x40x16xf32>
    %partials = tile.store %2 : tensor<4x40x16xf32>
    %x_3 = tile.partition %x along 1 by @k0 : (tensor<40x100xf16>) -> !tile.view<40x100xf16, [#tile.partition<@k0, 1>]>
    %x_4 = tile.partition %x_3 along 0 by @m0 : (!tile.view<40x100xf16, [#tile.partition<@k0, 1>]>) -> !tile.view<40x100xf16, [#tile.partition<@k0, 1>, #tile.partition<@m0, 0>]>
    %x_5 = tile.replicate %x_4 by @n0 : (!tile.view<40x100xf16, [#tile.partition<@k0, 1>, #tile.partition<@m0, 0>]>) -> !tile.view<40x100xf16, [#tile.partition<@k0, 1>, #tile.partition<@m0, 0>, #tile.replicate<@n0>]>
    %w_1 = tile.partition %w along 0 by @k0 : (tensor<100x56xf16>) -> !tile.view<100x56xf16, [#tile.partition<@k0, 0>]>
    %w_2 = tile.replicate %w_1 by @m0 : (!tile.view<100x56xf16, [#tile.partition<@k0, 0>]>) -> !tile.view<100x56xf16, [#tile.partition<@k0, 0>, #tile.replicate<@m0>]>
    %w_3 = tile.partition %w_2 along 1 by @n0 : (!tile.view<100x56xf16, [#tile.partition<@k0, 0>, #tile.replicate<@m0>]>) -> !tile.view<100x56xf16, [#tile.partition<@k0, 0>, #tile.replicate<@m0>, #tile.partition<@n0, 1>]>
    %3 = tile.matmul %x_5, %w_3 : (!tile.view<40x100xf16, [#tile.partition<@k0, 1>, #tile.partition<@m0, 0>, #tile.replicate<@n0>]>, !tile.view<100x56xf16, [#tile.partition<@k0, 0>, #tile.replicate<@m0>, #tile.partition<@n0, 1>]>) -> !tile.view<40x56xf32, [#tile.partial<@k0, sum>, #tile.partition<@m0, 0>, #tile.partition<@n0, 1>]>
    %4 = tile.reduce sum over parallel(@k0) %3 : (!tile.view<40x56xf32, [#tile.partial<@k0, sum>, #tile.partition<@m0, 0>, #tile.partition<@n0, 1>]>) -> !tile.view<40x56xf32, [#tile.partition<@m0, 0>, #tile.partition<@n0, 1>]>
    %partials_1 = tile.partition %partials along 1 by @m0 : (tensor<4x40x16xf32>) -> !tile.view<4x40x16xf32, [#tile.partition<@m0, 1>]>
    %5 = tile.reduce sum over axis(0) %partials_1 : (!tile.view<4x40x16xf32, [#tile.partition<@m0, 1>]>) -> !tile.view<1x40x16xf32, [#tile.partition<@m0, 1>]>
    %6 = forge.reshape %5 : (!tile.view<1x40x16xf32, [#tile.partition<@m0, 1>]>) -> !tile.view<40x16xf32, [#tile.partition<@m0, 0>]>
    %7 = forge.cast %6 : !tile.view<40x16xf32, [#tile.partition<@m0, 0>]> to !tile.view<40x16xf16, [#tile.partition<@m0, 0>]>
    %8 = tile.replicate %7 by @n0 : (!tile.view<40x16xf16, [#tile.partition<@m0, 0>]>) -> !tile.view<40x16xf16, [#tile.partition<@m0, 0>, #tile.replicate<@n0>]>
    %b_1 = tile.replicate %b by @m0 : (tensor<16x56xf16>) -> !tile.view<16x56xf16, [#tile.replicate<@m0>]>
    %b_2 = tile.partition %b_1 along 1 by @n0 : (!tile.view<16x56xf16, [#tile.replicate<@m0>]>) -> !tile.view<16x56xf16, [#tile.replicate<@m0>, #tile.partition<@n0, 1>]>
    %9 = tile.matmul %8, %b_2 : (!tile.view<40x16xf16, [#tile.partition<@m0, 0>, #tile.replicate<@n0>]>, !tile.view<16x56xf16, [#tile.replicate<@m0>, #tile.partition<@n0, 1>]>) -> !tile.view<40x56xf32, [#tile.partition<@m0, 0>, #tile.partition<@n0, 1>]>
    %10 = forge.add %4, %9 : !tile.view<40x56xf32, [#tile.partition<@m0, 0>, #tile.partition<@n0, 1>]>
    %11 = tile.combine %10 along 0 by @m0 : (!tile.view<40x56xf32, [#tile.partition<@m0, 0>, #tile.partition<@n0, 1>]>) -> !tile.view<40x56xf32, [#tile.partition<@n0, 1>]>
    %12 = tile.combine %11 along 1 by @n0 : (!tile.view<40x56xf32, [#tile.partition<@n0, 1>]>) -> tensor<40x56xf32>
    %y = tile.store %12 : (tensor<40x56xf32>) -> tensor<40x56xf16>
    func.return %y : tensor<40x56xf16>
  }
}

// KERNEL: kernel.buffer temporary "partials" : !kernel.ref<4x40x16xf32, [640, 16, 1]>
// KERNEL: kernel.launch @partials_kernel(%x, %a, %partials)
// KERNEL: kernel.launch @y_kernel(%x, %w, %partials, %b, %y)
// KERNEL: kernel.func @partials_kernel
// KERNEL-SAME: grid [@m0, @k0]
// KERNEL: tile.matmul
// KERNEL-NEXT: kernel.store %{{.*}}, %{{.*}} at @k0 : !tile.view<40x16xf32, [#tile.partial<@k0, sum>, #tile.partition<@m0, 0>]>, !kernel.ref<4x40x16xf32, [640, 16, 1]>
// KERNEL: kernel.func @y_kernel
// KERNEL-SAME: grid [@m0, @n0]
// KERNEL: kernel.for @k0
// KERNEL: tile.reduce sum over axis(0)
// KERNEL-NEXT: forge.reshape

// TRITON: # schedule of partials_kernel: k0 = 32, m0 = 64
// TRITON: # schedule of y_kernel: k0 = 64
// TRITON: def partials_kernel(
// TRITON: # k0 (program, 100 elements): dimension 0 of a, partials; dimension 1 of x
// TRITON: k0_tile = tl.program_id(0)
// TRITON-NEXT: k0_start = k0_tile * BLOCK_K0
// TRITON: dot = tl.dot(x, a)
// TRITON-NEXT: tl.store(partials_ptr + (k0_tile * 640 + m0[:, None] * 16 + d16[None, :]), dot, mask=(m0 < 40)[:, None])
// TRITON: def y_kernel(
// TRITON: acc = tl.dot(x, w, acc)
// TRITON: partials = tl.load(
// TRITON-NEXT: partials_ptr + (d4[:, None, None] * 640 + m0[None, :, None] * 16 + d16[None, None, :]),
// TRITON-NEXT: mask=(d4 < 4)[:, None, None] & (m0 < 40)[None, :, None],
// TRITON-NEXT: other=0.0,
// TRITON: dot = tl.dot(tl.sum(partials, axis=0).to(tl.float16), b)
// TRITON: (acc + dot).to(tl.float16)
