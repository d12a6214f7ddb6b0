// RUN: equiforge-opt %s -p convert-tile-to-kernel | filecheck %s --check-prefix KERNEL
// RUN: equiforge-opt %s -p 'convert-tile-to-kernel{target=interpreter}' -t triton | filecheck %s --check-prefix TRITON

// A sliding window bounds the loop from both sides.

builtin.module {
  tile.axis @b0 extent 2
  tile.axis @k0 extent 56
  tile.axis @q0 extent 40
  tile.reducer @online identity [-inf, 0.0, 0.0] certificate "test" body(%m: !tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>, %l: !tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>, %o: !tile.view<2x40x32xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>, %0: !tile.view<2x40x56xf32, [#tile.partition<@b0, 0>, #tile.partition<@k0, 2>, #tile.partition<@q0, 1>]>, %1: !tile.view<2x56x32xf16, [#tile.partition<@b0, 0>, #tile.partition<@k0, 1>, #tile.replicate<@q0>]>) {
    %tile_max = tile.reduce max over axis(2) %0 : (!tile.view<2x40x56xf32, [#tile.partition<@b0, 0>, #tile.partition<@k0, 2>, #tile.partition<@q0, 1>]>) -> !tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partial<@k0, max>, #tile.partition<@q0, 1>]>
    %m_new = tile.accumulate max %m, %tile_max over @k0 : (!tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>, !tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partial<@k0, max>, #tile.partition<@q0, 1>]>) -> !tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>
    %2 = forge.constant -inf : tensor<1x1x1xf32>
    %3 = tile.replicate %2 by @b0 : (tensor<1x1x1xf32>) -> !tile.view<1x1x1xf32, [#tile.replicate<@b0>]>
    %4 = tile.replicate %3 by @q0 : (!tile.view<1x1x1xf32, [#tile.replicate<@b0>]>) -> !tile.view<1x1x1xf32, [#tile.replicate<@b0>, #tile.replicate<@q0>]>
    %5 = forge.constant 0.0 : tensor<1x1x1xf32>
    %6 = tile.replicate %5 by @b0 : (tensor<1x1x1xf32>) -> !tile.view<1x1x1xf32, [#tile.replicate<@b0>]>
    %7 = tile.replicate %6 by @q0 : (!tile.view<1x1x1xf32, [#tile.replicate<@b0>]>) -> !tile.view<1x1x1xf32, [#tile.replicate<@b0>, #tile.replicate<@q0>]>
    %empty = forge.compare eq %m_new, %4 : (!tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>, !tile.view<1x1x1xf32, [#tile.replicate<@b0>, #tile.replicate<@q0>]>) -> !tile.view<2x40x1xi1, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>
    %shift = forge.select %empty, %7, %m_new : (!tile.view<2x40x1xi1, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>, !tile.view<1x1x1xf32, [#tile.replicate<@b0>, #tile.replicate<@q0>]>, !tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>) -> !tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>
    %8 = forge.sub %m, %shift : !tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>
    %rescale = forge.exp %8 : !tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>
    %shift_1 = tile.replicate %shift by @k0 : (!tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>) -> !tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.replicate<@k0>, #tile.partition<@q0, 1>]>
    %9 = forge.sub %0, %shift_1 : (!tile.view<2x40x56xf32, [#tile.partition<@b0, 0>, #tile.partition<@k0, 2>, #tile.partition<@q0, 1>]>, !tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.replicate<@k0>, #tile.partition<@q0, 1>]>) -> !tile.view<2x40x56xf32, [#tile.partition<@b0, 0>, #tile.partition<@k0, 2>, #tile.partition<@q0, 1>]>
    %p = forge.exp %9 : !tile.view<2x40x56xf32, [#tile.partition<@b0, 0>, #tile.partition<@k0, 2>, #tile.partition<@q0, 1>]>
    %10 = forge.mul %l, %rescale : !tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>
    %11 = tile.reduce sum over axis(2) %p : (!tile.view<2x40x56xf32, [#tile.partition<@b0, 0>, #tile.partition<@k0, 2>, #tile.partition<@q0, 1>]>) -> !tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partial<@k0, sum>, #tile.partition<@q0, 1>]>
    %l_new = tile.accumulate sum %10, %11 over @k0 : (!tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>, !tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partial<@k0, sum>, #tile.partition<@q0, 1>]>) -> !tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>
    %12 = forge.cast %p : !tile.view<2x40x56xf32, [#tile.partition<@b0, 0>, #tile.partition<@k0, 2>, #tile.partition<@q0, 1>]> to !tile.view<2x40x56xf16, [#tile.partition<@b0, 0>, #tile.partition<@k0, 2>, #tile.partition<@q0, 1>]>
    %pv = tile.matmul %12, %1 : (!tile.view<2x40x56xf16, [#tile.partition<@b0, 0>, #tile.partition<@k0, 2>, #tile.partition<@q0, 1>]>, !tile.view<2x56x32xf16, [#tile.partition<@b0, 0>, #tile.partition<@k0, 1>, #tile.replicate<@q0>]>) -> !tile.view<2x40x32xf32, [#tile.partition<@b0, 0>, #tile.partial<@k0, sum>, #tile.partition<@q0, 1>]>
    %13 = forge.mul %o, %rescale : (!tile.view<2x40x32xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>, !tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>) -> !tile.view<2x40x32xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>
    %o_new = tile.accumulate sum %13, %pv over @k0 : (!tile.view<2x40x32xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>, !tile.view<2x40x32xf32, [#tile.partition<@b0, 0>, #tile.partial<@k0, sum>, #tile.partition<@q0, 1>]>) -> !tile.view<2x40x32xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>
    tile.yield %m_new, %l_new, %o_new : !tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>, !tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>, !tile.view<2x40x32xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>
  }
  func.func @main(%q: tensor<2x40x32xf16>, %k: tensor<2x56x32xf16>, %v: tensor<2x56x32xf16>) -> tensor<2x40x32xf16> {
    %k_1 = forge.transpose %k perm [0, 2, 1] : (tensor<2x56x32xf16>) -> tensor<2x32x56xf16>
    %q_1 = tile.partition %q along 0 by @b0 : (tensor<2x40x32xf16>) -> !tile.view<2x40x32xf16, [#tile.partition<@b0, 0>]>
    %q_2 = tile.replicate %q_1 by @k0 : (!tile.view<2x40x32xf16, [#tile.partition<@b0, 0>]>) -> !tile.view<2x40x32xf16, [#tile.partition<@b0, 0>, #tile.replicate<@k0>]>
    %q_3 = tile.partition %q_2 along 1 by @q0 : (!tile.view<2x40x32xf16, [#tile.partition<@b0, 0>, #tile.replicate<@k0>]>) -> !tile.view<2x40x32xf16, [#tile.partition<@b0, 0>, #tile.replicate<@k0>, #tile.partition<@q0, 1>]>
    %k_2 = tile.partition %k_1 along 0 by @b0 : (tensor<2x32x56xf16>) -> !tile.view<2x32x56xf16, [#tile.partition<@b0, 0>]>
    %k_3 = tile.partition %k_2 along 2 by @k0 : (!tile.view<2x32x56xf16, [#tile.partition<@b0, 0>]>) -> !tile.view<2x32x56xf16, [#tile.partition<@b0, 0>, #tile.partition<@k0, 2>]>
    %k_4 = tile.replicate %k_3 by @q0 : (!tile.view<2x32x56xf16, [#tile.partition<@b0, 0>, #tile.partition<@k0, 2>]>) -> !tile.view<2x32x56xf16, [#tile.partition<@b0, 0>, #tile.partition<@k0, 2>, #tile.replicate<@q0>]>
    %s = tile.matmul %q_3, %k_4 : (!tile.view<2x40x32xf16, [#tile.partition<@b0, 0>, #tile.replicate<@k0>, #tile.partition<@q0, 1>]>, !tile.view<2x32x56xf16, [#tile.partition<@b0, 0>, #tile.partition<@k0, 2>, #tile.replicate<@q0>]>) -> !tile.view<2x40x56xf32, [#tile.partition<@b0, 0>, #tile.partition<@k0, 2>, #tile.partition<@q0, 1>]>
    %0 = forge.constant 0.125 : tensor<1x1x1xf32>
    %1 = tile.replicate %0 by @b0 : (tensor<1x1x1xf32>) -> !tile.view<1x1x1xf32, [#tile.replicate<@b0>]>
    %2 = tile.replicate %1 by @k0 : (!tile.view<1x1x1xf32, [#tile.replicate<@b0>]>) -> !tile.view<1x1x1xf32, [#tile.replicate<@b0>, #tile.replicate<@k0>]>
    %3 = tile.replicate %2 by @q0 : (!tile.view<1x1x1xf32, [#tile.replicate<@b0>, #tile.replicate<@k0>]>) -> !tile.view<1x1x1xf32, [#tile.replicate<@b0>, #tile.replicate<@k0>, #tile.replicate<@q0>]>
    %scores = forge.mul %s, %3 : (!tile.view<2x40x56xf32, [#tile.partition<@b0, 0>, #tile.partition<@k0, 2>, #tile.partition<@q0, 1>]>, !tile.view<1x1x1xf32, [#tile.replicate<@b0>, #tile.replicate<@k0>, #tile.replicate<@q0>]>) -> !tile.view<2x40x56xf32, [#tile.partition<@b0, 0>, #tile.partition<@k0, 2>, #tile.partition<@q0, 1>]>
    %4 = forge.iota 1 : tensor<1x40x1xi64>
    %iq = tile.replicate %4 by @b0 : (tensor<1x40x1xi64>) -> !tile.view<1x40x1xi64, [#tile.replicate<@b0>]>
    %iq_1 = tile.replicate %iq by @k0 : (!tile.view<1x40x1xi64, [#tile.replicate<@b0>]>) -> !tile.view<1x40x1xi64, [#tile.replicate<@b0>, #tile.replicate<@k0>]>
    %iq_2 = tile.partition %iq_1 along 1 by @q0 : (!tile.view<1x40x1xi64, [#tile.replicate<@b0>, #tile.replicate<@k0>]>) -> !tile.view<1x40x1xi64, [#tile.replicate<@b0>, #tile.replicate<@k0>, #tile.partition<@q0, 1>]>
    %5 = forge.iota 2 : tensor<1x1x56xi64>
    %ik = tile.replicate %5 by @b0 : (tensor<1x1x56xi64>) -> !tile.view<1x1x56xi64, [#tile.replicate<@b0>]>
    %ik_1 = tile.partition %ik along 2 by @k0 : (!tile.view<1x1x56xi64, [#tile.replicate<@b0>]>) -> !tile.view<1x1x56xi64, [#tile.replicate<@b0>, #tile.partition<@k0, 2>]>
    %ik_2 = tile.replicate %ik_1 by @q0 : (!tile.view<1x1x56xi64, [#tile.replicate<@b0>, #tile.partition<@k0, 2>]>) -> !tile.view<1x1x56xi64, [#tile.replicate<@b0>, #tile.partition<@k0, 2>, #tile.replicate<@q0>]>
    %causal = forge.compare le %ik_2, %iq_2 : (!tile.view<1x1x56xi64, [#tile.replicate<@b0>, #tile.partition<@k0, 2>, #tile.replicate<@q0>]>, !tile.view<1x40x1xi64, [#tile.replicate<@b0>, #tile.replicate<@k0>, #tile.partition<@q0, 1>]>) -> !tile.view<1x40x56xi1, [#tile.replicate<@b0>, #tile.partition<@k0, 2>, #tile.partition<@q0, 1>]>
    %6 = forge.sub %iq_2, %ik_2 : (!tile.view<1x40x1xi64, [#tile.replicate<@b0>, #tile.replicate<@k0>, #tile.partition<@q0, 1>]>, !tile.view<1x1x56xi64, [#tile.replicate<@b0>, #tile.partition<@k0, 2>, #tile.replicate<@q0>]>) -> !tile.view<1x40x56xi64, [#tile.replicate<@b0>, #tile.partition<@k0, 2>, #tile.partition<@q0, 1>]>
    %7 = forge.constant 10 : tensor<1x1x1xi64>
    %8 = tile.replicate %7 by @b0 : (tensor<1x1x1xi64>) -> !tile.view<1x1x1xi64, [#tile.replicate<@b0>]>
    %9 = tile.replicate %8 by @k0 : (!tile.view<1x1x1xi64, [#tile.replicate<@b0>]>) -> !tile.view<1x1x1xi64, [#tile.replicate<@b0>, #tile.replicate<@k0>]>
    %10 = tile.replicate %9 by @q0 : (!tile.view<1x1x1xi64, [#tile.replicate<@b0>, #tile.replicate<@k0>]>) -> !tile.view<1x1x1xi64, [#tile.replicate<@b0>, #tile.replicate<@k0>, #tile.replicate<@q0>]>
    %11 = forge.compare lt %6, %10 : (!tile.view<1x40x56xi64, [#tile.replicate<@b0>, #tile.partition<@k0, 2>, #tile.partition<@q0, 1>]>, !tile.view<1x1x1xi64, [#tile.replicate<@b0>, #tile.replicate<@k0>, #tile.replicate<@q0>]>) -> !tile.view<1x40x56xi1, [#tile.replicate<@b0>, #tile.partition<@k0, 2>, #tile.partition<@q0, 1>]>
    %band = forge.and %causal, %11 : !tile.view<1x40x56xi1, [#tile.replicate<@b0>, #tile.partition<@k0, 2>, #tile.partition<@q0, 1>]>
    %12 = forge.constant -inf : tensor<1x1x1xf32>
    %13 = tile.replicate %12 by @b0 : (tensor<1x1x1xf32>) -> !tile.view<1x1x1xf32, [#tile.replicate<@b0>]>
    %14 = tile.replicate %13 by @k0 : (!tile.view<1x1x1xf32, [#tile.replicate<@b0>]>) -> !tile.view<1x1x1xf32, [#tile.replicate<@b0>, #tile.replicate<@k0>]>
    %15 = tile.replicate %14 by @q0 : (!tile.view<1x1x1xf32, [#tile.replicate<@b0>, #tile.replicate<@k0>]>) -> !tile.view<1x1x1xf32, [#tile.replicate<@b0>, #tile.replicate<@k0>, #tile.replicate<@q0>]>
    %masked = forge.select %band, %scores, %15 : (!tile.view<1x40x56xi1, [#tile.replicate<@b0>, #tile.partition<@k0, 2>, #tile.partition<@q0, 1>]>, !tile.view<2x40x56xf32, [#tile.partition<@b0, 0>, #tile.partition<@k0, 2>, #tile.partition<@q0, 1>]>, !tile.view<1x1x1xf32, [#tile.replicate<@b0>, #tile.replicate<@k0>, #tile.replicate<@q0>]>) -> !tile.view<2x40x56xf32, [#tile.partition<@b0, 0>, #tile.partition<@k0, 2>, #tile.partition<@q0, 1>]>
    %v_1 = tile.partition %v along 0 by @b0 : (tensor<2x56x32xf16>) -> !tile.view<2x56x32xf16, [#tile.partition<@b0, 0>]>
    %v_2 = tile.partition %v_1 along 1 by @k0 : (!tile.view<2x56x32xf16, [#tile.partition<@b0, 0>]>) -> !tile.view<2x56x32xf16, [#tile.partition<@b0, 0>, #tile.partition<@k0, 1>]>
    %v_3 = tile.replicate %v_2 by @q0 : (!tile.view<2x56x32xf16, [#tile.partition<@b0, 0>, #tile.partition<@k0, 1>]>) -> !tile.view<2x56x32xf16, [#tile.partition<@b0, 0>, #tile.partition<@k0, 1>, #tile.replicate<@q0>]>
    %softmax = tile.reduce @online over parallel(@k0) %masked, %v_3 : (!tile.view<2x40x56xf32, [#tile.partition<@b0, 0>, #tile.partition<@k0, 2>, #tile.partition<@q0, 1>]>, !tile.view<2x56x32xf16, [#tile.partition<@b0, 0>, #tile.partition<@k0, 1>, #tile.replicate<@q0>]>) -> tuple<!tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>, !tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>, !tile.view<2x40x32xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>>
    %l = forge.get 1 of %softmax : (tuple<!tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>, !tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>, !tile.view<2x40x32xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>>) -> !tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>
    %o = forge.get 2 of %softmax : (tuple<!tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>, !tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>, !tile.view<2x40x32xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>>) -> !tile.view<2x40x32xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>
    %y = forge.div %o, %l : (!tile.view<2x40x32xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>, !tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>) -> !tile.view<2x40x32xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>
    %16 = tile.combine %y along 1 by @q0 : (!tile.view<2x40x32xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>) -> !tile.view<2x40x32xf32, [#tile.partition<@b0, 0>]>
    %17 = tile.combine %16 along 0 by @b0 : (!tile.view<2x40x32xf32, [#tile.partition<@b0, 0>]>) -> tensor<2x40x32xf32>
    %attention = tile.store %17 : (tensor<2x40x32xf32>) -> tensor<2x40x32xf16>
    func.return %attention : tensor<2x40x32xf16>
  }
}

// KERNEL: ranges [#kernel.range<[#kernel.bound<@q0, -9>], [#kernel.bound<@q0, 0>]>]

// TRITON: k0_first = tl.maximum(q0_start - 9, 0) // BLOCK_K0 * BLOCK_K0
// TRITON: k0_end = tl.minimum(q0_start + BLOCK_Q0, 56)
