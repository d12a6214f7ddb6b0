// RUN: equiforge-opt %s -p convert-tile-to-kernel | filecheck %s --check-prefix KERNEL
// RUN: equiforge-opt %s -p 'convert-tile-to-kernel{target=interpreter}' -t triton | filecheck %s --check-prefix TRITON

// Kernels with one grid that read the same tiles are one kernel with two stores and one loop; a result may be a view of a
// stored value.

builtin.module {
  tile.axis @t0 extent 33
  tile.axis @d0 extent 40
  tile.axis @e0 extent 32
  func.func @main(%x: tensor<33x40xf16>, %wq: tensor<40x32xf16>, %wk: tensor<40x32xf16>) -> (tensor<4x33x8xf16>, tensor<33x32xf16>) {
    %x_1 = tile.partition %x along 1 by @d0 : (tensor<33x40xf16>) -> !tile.view<33x40xf16, [#tile.partition<@d0, 1>]>
    %x_2 = tile.replicate %x_1 by @e0 : (!tile.view<33x40xf16, [#tile.partition<@d0, 1>]>) -> !tile.view<33x40xf16, [#tile.partition<@d0, 1>, #tile.replicate<@e0>]>
    %x_3 = tile.partition %x_2 along 0 by @t0 : (!tile.view<33x40xf16, [#tile.partition<@d0, 1>, #tile.replicate<@e0>]>) -> !tile.view<33x40xf16, [#tile.partition<@d0, 1>, #tile.replicate<@e0>, #tile.partition<@t0, 0>]>
    %wq_1 = tile.partition %wq along 0 by @d0 : (tensor<40x32xf16>) -> !tile.view<40x32xf16, [#tile.partition<@d0, 0>]>
    %wq_2 = tile.partition %wq_1 along 1 by @e0 : (!tile.view<40x32xf16, [#tile.partition<@d0, 0>]>) -> !tile.view<40x32xf16, [#tile.partition<@d0, 0>, #tile.partition<@e0, 1>]>
    %wq_3 = tile.replicate %wq_2 by @t0 : (!tile.view<40x32xf16, [#tile.partition<@d0, 0>, #tile.partition<@e0, 1>]>) -> !tile.view<40x32xf16, [#tile.partition<@d0, 0>, #tile.partition<@e0, 1>, #tile.replicate<@t0>]>
    %0 = tile.matmul %x_3, %wq_3 : (!tile.view<33x40xf16, [#tile.partition<@d0, 1>, #tile.replicate<@e0>, #tile.partition<@t0, 0>]>, !tile.view<40x32xf16, [#tile.partition<@d0, 0>, #tile.partition<@e0, 1>, #tile.replicate<@t0>]>) -> !tile.view<33x32xf32, [#tile.partial<@d0, sum>, #tile.partition<@e0, 1>, #tile.partition<@t0, 0>]>
    %q = tile.reduce sum over parallel(@d0) %0 : (!tile.view<33x32xf32, [#tile.partial<@d0, sum>, #tile.partition<@e0, 1>, #tile.partition<@t0, 0>]>) -> !tile.view<33x32xf32, [#tile.partition<@e0, 1>, #tile.partition<@t0, 0>]>
    %1 = tile.combine %q along 0 by @t0 : (!tile.view<33x32xf32, [#tile.partition<@e0, 1>, #tile.partition<@t0, 0>]>) -> !tile.view<33x32xf32, [#tile.partition<@e0, 1>]>
    %2 = tile.combine %1 along 1 by @e0 : (!tile.view<33x32xf32, [#tile.partition<@e0, 1>]>) -> tensor<33x32xf32>
    %q_1 = tile.store %2 : (tensor<33x32xf32>) -> tensor<33x32xf16>
    %x_4 = tile.partition %x along 1 by @d0 : (tensor<33x40xf16>) -> !tile.view<33x40xf16, [#tile.partition<@d0, 1>]>
    %x_5 = tile.replicate %x_4 by @e0 : (!tile.view<33x40xf16, [#tile.partition<@d0, 1>]>) -> !tile.view<33x40xf16, [#tile.partition<@d0, 1>, #tile.replicate<@e0>]>
    %x_6 = tile.partition %x_5 along 0 by @t0 : (!tile.view<33x40xf16, [#tile.partition<@d0, 1>, #tile.replicate<@e0>]>) -> !tile.view<33x40xf16, [#tile.partition<@d0, 1>, #tile.replicate<@e0>, #tile.partition<@t0, 0>]>
    %wk_1 = tile.partition %wk along 0 by @d0 : (tensor<40x32xf16>) -> !tile.view<40x32xf16, [#tile.partition<@d0, 0>]>
    %wk_2 = tile.partition %wk_1 along 1 by @e0 : (!tile.view<40x32xf16, [#tile.partition<@d0, 0>]>) -> !tile.view<40x32xf16, [#tile.partition<@d0, 0>, #tile.partition<@e0, 1>]>
    %wk_3 = tile.replicate %wk_2 by @t0 : (!tile.view<40x32xf16, [#tile.partition<@d0, 0>, #tile.partition<@e0, 1>]>) -> !tile.view<40x32xf16, [#tile.partition<@d0, 0>, #tile.partition<@e0, 1>, #tile.replicate<@t0>]>
    %3 = tile.matmul %x_6, %wk_3 : (!tile.view<33x40xf16, [#tile.partition<@d0, 1>, #tile.replicate<@e0>, #tile.partition<@t0, 0>]>, !tile.view<40x32xf16, [#tile.partition<@d0, 0>, #tile.partition<@e0, 1>, #tile.replicate<@t0>]>) -> !tile.view<33x32xf32, [#tile.partial<@d0, sum>, #tile.partition<@e0, 1>, #tile.partition<@t0, 0>]>
    %k = tile.reduce sum over parallel(@d0) %3 : (!tile.view<33x32xf32, [#tile.partial<@d0, sum>, #tile.partition<@e0, 1>, #tile.partition<@t0, 0>]>) -> !tile.view<33x32xf32, [#tile.partition<@e0, 1>, #tile.partition<@t0, 0>]>
    %4 = tile.combine %k along 0 by @t0 : (!tile.view<33x32xf32, [#tile.partition<@e0, 1>, #tile.partition<@t0, 0>]>) -> !tile.view<33x32xf32, [#tile.partition<@e0, 1>]>
    %5 = tile.combine %4 along 1 by @e0 : (!tile.view<33x32xf32, [#tile.partition<@e0, 1>]>) -> tensor<33x32xf32>
    %k_1 = tile.store %5 : (tensor<33x32xf32>) -> tensor<33x32xf16>
    %6 = forge.reshape %q_1 : (tensor<33x32xf16>) -> tensor<33x4x8xf16>
    %7 = forge.transpose %6 perm [1, 0, 2] : (tensor<33x4x8xf16>) -> tensor<4x33x8xf16>
    func.return %7, %k_1 : tensor<4x33x8xf16>, tensor<33x32xf16>
  }
}

// KERNEL: kernel.launch @q_k_kernel
// KERNEL: kernel.view %{{q.*}} : !kernel.ref<33x32xf16, [32, 1]> to !kernel.ref<4x33x8xf16, [8, 32, 1]>
// KERNEL: kernel.for @d0
// KERNEL-NOT: kernel.for
// KERNEL: kernel.store
// KERNEL: kernel.store

// TRITON: q = tl.dot(x, wq, q)
// TRITON-NEXT: k = tl.dot(x, wk, k)
// TRITON: return q.as_strided((4, 33, 8), (8, 32, 1), 0), k
