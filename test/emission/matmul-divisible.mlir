// RUN: equiforge-opt %s -p convert-tile-to-kernel | filecheck %s --check-prefix KERNEL
// RUN: equiforge-opt %s -p 'convert-tile-to-kernel{target=interpreter}' -t triton | filecheck %s --check-prefix TRITON

// No mask where the tiles divide the extents.

builtin.module {
  tile.axis @m0 extent 64
  tile.axis @k0 extent 64
  tile.axis @n0 extent 64
  func.func @main(%x: tensor<64x64xf16>, %w: tensor<64x64xf16>) -> tensor<64x64xf16> {
    %x_1 = tile.partition %x along 1 by @k0 : (tensor<64x64xf16>) -> !tile.view<64x64xf16, [#tile.partition<@k0, 1>]>
    %x_2 = tile.partition %x_1 along 0 by @m0 : (!tile.view<64x64xf16, [#tile.partition<@k0, 1>]>) -> !tile.view<64x64xf16, [#tile.partition<@k0, 1>, #tile.partition<@m0, 0>]>
    %x_3 = tile.replicate %x_2 by @n0 : (!tile.view<64x64xf16, [#tile.partition<@k0, 1>, #tile.partition<@m0, 0>]>) -> !tile.view<64x64xf16, [#tile.partition<@k0, 1>, #tile.partition<@m0, 0>, #tile.replicate<@n0>]>
    %w_1 = tile.partition %w along 0 by @k0 : (tensor<64x64xf16>) -> !tile.view<64x64xf16, [#tile.partition<@k0, 0>]>
    %w_2 = tile.replicate %w_1 by @m0 : (!tile.view<64x64xf16, [#tile.partition<@k0, 0>]>) -> !tile.view<64x64xf16, [#tile.partition<@k0, 0>, #tile.replicate<@m0>]>
    %w_3 = tile.partition %w_2 along 1 by @n0 : (!tile.view<64x64xf16, [#tile.partition<@k0, 0>, #tile.replicate<@m0>]>) -> !tile.view<64x64xf16, [#tile.partition<@k0, 0>, #tile.replicate<@m0>, #tile.partition<@n0, 1>]>
    %0 = tile.matmul %x_3, %w_3 : (!tile.view<64x64xf16, [#tile.partition<@k0, 1>, #tile.partition<@m0, 0>, #tile.replicate<@n0>]>, !tile.view<64x64xf16, [#tile.partition<@k0, 0>, #tile.replicate<@m0>, #tile.partition<@n0, 1>]>) -> !tile.view<64x64xf32, [#tile.partial<@k0, sum>, #tile.partition<@m0, 0>, #tile.partition<@n0, 1>]>
    %y = tile.reduce sum over parallel(@k0) %0 : (!tile.view<64x64xf32, [#tile.partial<@k0, sum>, #tile.partition<@m0, 0>, #tile.partition<@n0, 1>]>) -> !tile.view<64x64xf32, [#tile.partition<@m0, 0>, #tile.partition<@n0, 1>]>
    %1 = tile.combine %y along 1 by @n0 : (!tile.view<64x64xf32, [#tile.partition<@m0, 0>, #tile.partition<@n0, 1>]>) -> !tile.view<64x64xf32, [#tile.partition<@m0, 0>]>
    %2 = tile.combine %1 along 0 by @m0 : (!tile.view<64x64xf32, [#tile.partition<@m0, 0>]>) -> tensor<64x64xf32>
    %out = tile.store %2 : (tensor<64x64xf32>) -> tensor<64x64xf16>
    func.return %out : tensor<64x64xf16>
  }
}

// KERNEL: kernel.for @k0

// TRITON-NOT: mask
// TRITON: x = tl.load(x_ptr + (m0[:, None] * 64 + k0[None, :]))
// TRITON-NOT: mask
// TRITON: tl.store(
// TRITON-NOT: mask
