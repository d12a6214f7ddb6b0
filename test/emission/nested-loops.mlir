// RUN: equiforge-opt %s -p convert-tile-to-kernel | filecheck %s --check-prefix KERNEL
// RUN: equiforge-opt %s -p 'convert-tile-to-kernel{target=interpreter}' -t triton | filecheck %s --check-prefix TRITON

// A contraction inside a loop over keys, whose operand is a contraction of its own: loops nest, and each value stands in the
// innermost loop that it depends on.

builtin.module {
  tile.axis @b0 extent 2
  tile.axis @k0 extent 56
  tile.axis @q0 extent 40
  tile.axis @d0 extent 48
  tile.axis @e0 extent 48
  tile.reducer @online identity [-inf, 0.0, 0.0] certificate "test" body(%m: !tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>, %l: !tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>, %o: !tile.view<2x40x48xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>, %0: !tile.view<2x40x56xf32, [#tile.partition<@b0, 0>, #tile.partition<@k0, 2>, #tile.partition<@q0, 1>]>, %1: !tile.view<2x56x48xf16, [#tile.partition<@b0, 0>, #tile.partition<@k0, 1>, #tile.replicate<@q0>]>) {
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
    %pv = tile.matmul %12, %1 : (!tile.view<2x40x56xf16, [#tile.partition<@b0, 0>, #tile.partition<@k0, 2>, #tile.partition<@q0, 1>]>, !tile.view<2x56x48xf16, [#tile.partition<@b0, 0>, #tile.partition<@k0, 1>, #tile.replicate<@q0>]>) -> !tile.view<2x40x48xf32, [#tile.partition<@b0, 0>, #tile.partial<@k0, sum>, #tile.partition<@q0, 1>]>
    %13 = forge.mul %o, %rescale : (!tile.view<2x40x48xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>, !tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>) -> !tile.view<2x40x48xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>
    %o_new = tile.accumulate sum %13, %pv over @k0 : (!tile.view<2x40x48xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>, !tile.view<2x40x48xf32, [#tile.partition<@b0, 0>, #tile.partial<@k0, sum>, #tile.partition<@q0, 1>]>) -> !tile.view<2x40x48xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>
    tile.yield %m_new, %l_new, %o_new : !tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>, !tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>, !tile.view<2x40x48xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>
  }
  func.func @main(%q: tensor<2x40x48xf16>, %k: tensor<2x56x48xf16>, %v: tensor<2x56x48xf16>, %w: tensor<1x48x48xf16>) -> tensor<2x40x48xf16> {
    %k_1 = forge.transpose %k perm [0, 2, 1] : (tensor<2x56x48xf16>) -> tensor<2x48x56xf16>
    %q_1 = tile.partition %q along 0 by @b0 : (tensor<2x40x48xf16>) -> !tile.view<2x40x48xf16, [#tile.partition<@b0, 0>]>
    %q_2 = tile.partition %q_1 along 2 by @d0 : (!tile.view<2x40x48xf16, [#tile.partition<@b0, 0>]>) -> !tile.view<2x40x48xf16, [#tile.partition<@b0, 0>, #tile.partition<@d0, 2>]>
    %q_3 = tile.replicate %q_2 by @k0 : (!tile.view<2x40x48xf16, [#tile.partition<@b0, 0>, #tile.partition<@d0, 2>]>) -> !tile.view<2x40x48xf16, [#tile.partition<@b0, 0>, #tile.partition<@d0, 2>, #tile.replicate<@k0>]>
    %q_4 = tile.partition %q_3 along 1 by @q0 : (!tile.view<2x40x48xf16, [#tile.partition<@b0, 0>, #tile.partition<@d0, 2>, #tile.replicate<@k0>]>) -> !tile.view<2x40x48xf16, [#tile.partition<@b0, 0>, #tile.partition<@d0, 2>, #tile.replicate<@k0>, #tile.partition<@q0, 1>]>
    %q_5 = tile.partition %q along 0 by @b0 : (tensor<2x40x48xf16>) -> !tile.view<2x40x48xf16, [#tile.partition<@b0, 0>]>
    %q_6 = tile.replicate %q_5 by @d0 : (!tile.view<2x40x48xf16, [#tile.partition<@b0, 0>]>) -> !tile.view<2x40x48xf16, [#tile.partition<@b0, 0>, #tile.replicate<@d0>]>
    %q_7 = tile.partition %q_6 along 2 by @e0 : (!tile.view<2x40x48xf16, [#tile.partition<@b0, 0>, #tile.replicate<@d0>]>) -> !tile.view<2x40x48xf16, [#tile.partition<@b0, 0>, #tile.replicate<@d0>, #tile.partition<@e0, 2>]>
    %q_8 = tile.replicate %q_7 by @k0 : (!tile.view<2x40x48xf16, [#tile.partition<@b0, 0>, #tile.replicate<@d0>, #tile.partition<@e0, 2>]>) -> !tile.view<2x40x48xf16, [#tile.partition<@b0, 0>, #tile.replicate<@d0>, #tile.partition<@e0, 2>, #tile.replicate<@k0>]>
    %q_9 = tile.partition %q_8 along 1 by @q0 : (!tile.view<2x40x48xf16, [#tile.partition<@b0, 0>, #tile.replicate<@d0>, #tile.partition<@e0, 2>, #tile.replicate<@k0>]>) -> !tile.view<2x40x48xf16, [#tile.partition<@b0, 0>, #tile.replicate<@d0>, #tile.partition<@e0, 2>, #tile.replicate<@k0>, #tile.partition<@q0, 1>]>
    %w_1 = tile.replicate %w by @b0 : (tensor<1x48x48xf16>) -> !tile.view<1x48x48xf16, [#tile.replicate<@b0>]>
    %w_2 = tile.partition %w_1 along 2 by @d0 : (!tile.view<1x48x48xf16, [#tile.replicate<@b0>]>) -> !tile.view<1x48x48xf16, [#tile.replicate<@b0>, #tile.partition<@d0, 2>]>
    %w_3 = tile.partition %w_2 along 1 by @e0 : (!tile.view<1x48x48xf16, [#tile.replicate<@b0>, #tile.partition<@d0, 2>]>) -> !tile.view<1x48x48xf16, [#tile.replicate<@b0>, #tile.partition<@d0, 2>, #tile.partition<@e0, 1>]>
    %w_4 = tile.replicate %w_3 by @k0 : (!tile.view<1x48x48xf16, [#tile.replicate<@b0>, #tile.partition<@d0, 2>, #tile.partition<@e0, 1>]>) -> !tile.view<1x48x48xf16, [#tile.replicate<@b0>, #tile.partition<@d0, 2>, #tile.partition<@e0, 1>, #tile.replicate<@k0>]>
    %w_5 = tile.replicate %w_4 by @q0 : (!tile.view<1x48x48xf16, [#tile.replicate<@b0>, #tile.partition<@d0, 2>, #tile.partition<@e0, 1>, #tile.replicate<@k0>]>) -> !tile.view<1x48x48xf16, [#tile.replicate<@b0>, #tile.partition<@d0, 2>, #tile.partition<@e0, 1>, #tile.replicate<@k0>, #tile.replicate<@q0>]>
    %t = tile.matmul %q_9, %w_5 : (!tile.view<2x40x48xf16, [#tile.partition<@b0, 0>, #tile.replicate<@d0>, #tile.partition<@e0, 2>, #tile.replicate<@k0>, #tile.partition<@q0, 1>]>, !tile.view<1x48x48xf16, [#tile.replicate<@b0>, #tile.partition<@d0, 2>, #tile.partition<@e0, 1>, #tile.replicate<@k0>, #tile.replicate<@q0>]>) -> !tile.view<2x40x48xf32, [#tile.partition<@b0, 0>, #tile.partition<@d0, 2>, #tile.partial<@e0, sum>, #tile.replicate<@k0>, #tile.partition<@q0, 1>]>
    %qp = tile.reduce sum over parallel(@e0) %t : (!tile.view<2x40x48xf32, [#tile.partition<@b0, 0>, #tile.partition<@d0, 2>, #tile.partial<@e0, sum>, #tile.replicate<@k0>, #tile.partition<@q0, 1>]>) -> !tile.view<2x40x48xf32, [#tile.partition<@b0, 0>, #tile.partition<@d0, 2>, #tile.replicate<@k0>, #tile.partition<@q0, 1>]>
    %qh = forge.cast %qp : !tile.view<2x40x48xf32, [#tile.partition<@b0, 0>, #tile.partition<@d0, 2>, #tile.replicate<@k0>, #tile.partition<@q0, 1>]> to !tile.view<2x40x48xf16, [#tile.partition<@b0, 0>, #tile.partition<@d0, 2>, #tile.replicate<@k0>, #tile.partition<@q0, 1>]>
    %k_2 = tile.partition %k_1 along 0 by @b0 : (tensor<2x48x56xf16>) -> !tile.view<2x48x56xf16, [#tile.partition<@b0, 0>]>
    %k_3 = tile.partition %k_2 along 1 by @d0 : (!tile.view<2x48x56xf16, [#tile.partition<@b0, 0>]>) -> !tile.view<2x48x56xf16, [#tile.partition<@b0, 0>, #tile.partition<@d0, 1>]>
    %k_4 = tile.partition %k_3 along 2 by @k0 : (!tile.view<2x48x56xf16, [#tile.partition<@b0, 0>, #tile.partition<@d0, 1>]>) -> !tile.view<2x48x56xf16, [#tile.partition<@b0, 0>, #tile.partition<@d0, 1>, #tile.partition<@k0, 2>]>
    %k_5 = tile.replicate %k_4 by @q0 : (!tile.view<2x48x56xf16, [#tile.partition<@b0, 0>, #tile.partition<@d0, 1>, #tile.partition<@k0, 2>]>) -> !tile.view<2x48x56xf16, [#tile.partition<@b0, 0>, #tile.partition<@d0, 1>, #tile.partition<@k0, 2>, #tile.replicate<@q0>]>
    %s = tile.matmul %qh, %k_5 : (!tile.view<2x40x48xf16, [#tile.partition<@b0, 0>, #tile.partition<@d0, 2>, #tile.replicate<@k0>, #tile.partition<@q0, 1>]>, !tile.view<2x48x56xf16, [#tile.partition<@b0, 0>, #tile.partition<@d0, 1>, #tile.partition<@k0, 2>, #tile.replicate<@q0>]>) -> !tile.view<2x40x56xf32, [#tile.partition<@b0, 0>, #tile.partial<@d0, sum>, #tile.partition<@k0, 2>, #tile.partition<@q0, 1>]>
    %s_1 = tile.reduce sum over parallel(@d0) %s : (!tile.view<2x40x56xf32, [#tile.partition<@b0, 0>, #tile.partial<@d0, sum>, #tile.partition<@k0, 2>, #tile.partition<@q0, 1>]>) -> !tile.view<2x40x56xf32, [#tile.partition<@b0, 0>, #tile.partition<@k0, 2>, #tile.partition<@q0, 1>]>
    %0 = forge.constant 0.125 : tensor<1x1x1xf32>
    %1 = tile.replicate %0 by @b0 : (tensor<1x1x1xf32>) -> !tile.view<1x1x1xf32, [#tile.replicate<@b0>]>
    %2 = tile.replicate %1 by @k0 : (!tile.view<1x1x1xf32, [#tile.replicate<@b0>]>) -> !tile.view<1x1x1xf32, [#tile.replicate<@b0>, #tile.replicate<@k0>]>
    %3 = tile.replicate %2 by @q0 : (!tile.view<1x1x1xf32, [#tile.replicate<@b0>, #tile.replicate<@k0>]>) -> !tile.view<1x1x1xf32, [#tile.replicate<@b0>, #tile.replicate<@k0>, #tile.replicate<@q0>]>
    %scores = forge.mul %s_1, %3 : (!tile.view<2x40x56xf32, [#tile.partition<@b0, 0>, #tile.partition<@k0, 2>, #tile.partition<@q0, 1>]>, !tile.view<1x1x1xf32, [#tile.replicate<@b0>, #tile.replicate<@k0>, #tile.replicate<@q0>]>) -> !tile.view<2x40x56xf32, [#tile.partition<@b0, 0>, #tile.partition<@k0, 2>, #tile.partition<@q0, 1>]>
    %v_1 = tile.partition %v along 0 by @b0 : (tensor<2x56x48xf16>) -> !tile.view<2x56x48xf16, [#tile.partition<@b0, 0>]>
    %v_2 = tile.partition %v_1 along 1 by @k0 : (!tile.view<2x56x48xf16, [#tile.partition<@b0, 0>]>) -> !tile.view<2x56x48xf16, [#tile.partition<@b0, 0>, #tile.partition<@k0, 1>]>
    %v_3 = tile.replicate %v_2 by @q0 : (!tile.view<2x56x48xf16, [#tile.partition<@b0, 0>, #tile.partition<@k0, 1>]>) -> !tile.view<2x56x48xf16, [#tile.partition<@b0, 0>, #tile.partition<@k0, 1>, #tile.replicate<@q0>]>
    %softmax = tile.reduce @online over parallel(@k0) %scores, %v_3 : (!tile.view<2x40x56xf32, [#tile.partition<@b0, 0>, #tile.partition<@k0, 2>, #tile.partition<@q0, 1>]>, !tile.view<2x56x48xf16, [#tile.partition<@b0, 0>, #tile.partition<@k0, 1>, #tile.replicate<@q0>]>) -> tuple<!tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>, !tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>, !tile.view<2x40x48xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>>
    %o = forge.get 2 of %softmax : (tuple<!tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>, !tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>, !tile.view<2x40x48xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>>) -> !tile.view<2x40x48xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>
    %l = forge.get 1 of %softmax : (tuple<!tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>, !tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>, !tile.view<2x40x48xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>>) -> !tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>
    %y = forge.div %o, %l : (!tile.view<2x40x48xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>, !tile.view<2x40x1xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>) -> !tile.view<2x40x48xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>
    %4 = tile.combine %y along 1 by @q0 : (!tile.view<2x40x48xf32, [#tile.partition<@b0, 0>, #tile.partition<@q0, 1>]>) -> !tile.view<2x40x48xf32, [#tile.partition<@b0, 0>]>
    %5 = tile.combine %4 along 0 by @b0 : (!tile.view<2x40x48xf32, [#tile.partition<@b0, 0>]>) -> tensor<2x40x48xf32>
    %attention = tile.store %5 : (tensor<2x40x48xf32>) -> tensor<2x40x48xf16>
    func.return %attention : tensor<2x40x48xf16>
  }
}
// KERNEL: kernel.for @k0
// KERNEL: kernel.for @d0
// KERNEL: kernel.for @e0
// KERNEL: kernel.yield
// KERNEL: kernel.yield
// KERNEL: kernel.load %{{v.*}} :
// KERNEL: kernel.yield

// TRITON: qp = tl.dot(q, w, qp)
// TRITON: s = tl.dot(qp.to(tl.float16), k, s)
// TRITON: o = tl.dot(
