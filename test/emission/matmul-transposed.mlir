// RUN: equiforge-opt %s -p convert-tile-to-kernel | filecheck %s --check-prefix KERNEL
// RUN: equiforge-opt %s -p 'convert-tile-to-kernel{target=interpreter}' -t triton | filecheck %s --check-prefix TRITON

// A transpose of what lies in memory is a load with other strides.

builtin.module {
  tile.axis @m0 extent 100
  tile.axis @k0 extent 72
  tile.axis @n0 extent 90
  func.func @main(%x: tensor<72x100xf16>, %w: tensor<72x90xf16>) -> tensor<100x90xf16> {
    %xt = forge.transpose %x perm [1, 0] : (tensor<72x100xf16>) -> tensor<100x72xf16>
    %xt_1 = tile.partition %xt along 1 by @k0 : (tensor<100x72xf16>) -> !tile.view<100x72xf16, [#tile.partition<@k0, 1>]>
    %xt_2 = tile.partition %xt_1 along 0 by @m0 : (!tile.view<100x72xf16, [#tile.partition<@k0, 1>]>) -> !tile.view<100x72xf16, [#tile.partition<@k0, 1>, #tile.partition<@m0, 0>]>
    %xt_3 = tile.replicate %xt_2 by @n0 : (!tile.view<100x72xf16, [#tile.partition<@k0, 1>, #tile.partition<@m0, 0>]>) -> !tile.view<100x72xf16, [#tile.partition<@k0, 1>, #tile.partition<@m0, 0>, #tile.replicate<@n0>]>
    %w_1 = tile.partition %w along 0 by @k0 : (tensor<72x90xf16>) -> !tile.view<72x90xf16, [#tile.partition<@k0, 0>]>
    %w_2 = tile.replicate %w_1 by @m0 : (!tile.view<72x90xf16, [#tile.partition<@k0, 0>]>) -> !tile.view<72x90xf16, [#tile.partition<@k0, 0>, #tile.replicate<@m0>]>
    %w_3 = tile.partition %w_2 along 1 by @n0 : (!tile.view<72x90xf16, [#tile.partition<@k0, 0>, #tile.replicate<@m0>]>) -> !tile.view<72x90xf16, [#tile.partition<@k0, 0>, #tile.replicate<@m0>, #tile.partition<@n0, 1>]>
    %0 = tile.matmul %xt_3, %w_3 : (!tile.view<100x72xf16, [#tile.partition<@k0, 1>, #tile.partition<@m0, 0>, #tile.replicate<@n0>]>, !tile.view<72x90xf16, [#tile.partition<@k0, 0>, #tile.replicate<@m0>, #tile.partition<@n0, 1>]>) -> !tile.view<100x90xf32, [#tile.partial<@k0, sum>, #tile.partition<@m0, 0>, #tile.partition<@n0, 1>]>
    %y = tile.reduce sum over parallel(@k0) %0 : (!tile.view<100x90xf32, [#tile.partial<@k0, sum>, #tile.partition<@m0, 0>, #tile.partition<@n0, 1>]>) -> !tile.view<100x90xf32, [#tile.partition<@m0, 0>, #tile.partition<@n0, 1>]>
    %1 = tile.combine %y along 1 by @n0 : (!tile.view<100x90xf32, [#tile.partition<@m0, 0>, #tile.partition<@n0, 1>]>) -> !tile.view<100x90xf32, [#tile.partition<@m0, 0>]>
    %2 = tile.combine %1 along 0 by @m0 : (!tile.view<100x90xf32, [#tile.partition<@m0, 0>]>) -> tensor<100x90xf32>
    %out = tile.store %2 : (tensor<100x90xf32>) -> tensor<100x90xf16>
    func.return %out : tensor<100x90xf16>
  }
}

// KERNEL: %[[XT:.*]] = kernel.view %{{x.*}} : !kernel.ref<72x100xf16, [100, 1]> to !kernel.ref<100x72xf16, [1, 100]>
// KERNEL: kernel.load %[[XT]]

// TRITON: x_ptr + (m0[:, None] + k0[None, :] * 100),
// TRITON-NOT: tl.trans
// TRITON-NOT: tl.permute
