// RUN: equiforge-opt %s -p convert-tile-to-kernel | filecheck %s --check-prefix KERNEL
// RUN: equiforge-opt %s -p 'convert-tile-to-kernel{target=h100}' -t triton | filecheck %s --check-prefix TRITON

// Flash-decoding: one token for 32 heads in groups of four that share their keys. The keys are cut into 32 slices, and
// each program loops over the tiles of its slice; one loop leaves three arrays, which the second kernel merges.

builtin.module {
  tile.axis @k0 extent 16384
  tile.axis @k1 extent 16384 within @k0
  tile.axis @h0 extent 8
  tile.reducer @online identity [-inf, 0.0, 0.0] body(%m: !tile.view<8x4x1xf32, [#tile.partition<@h0, 0>]>, %l: !tile.view<8x4x1xf32, [#tile.partition<@h0, 0>]>, %o: !tile.view<8x4x64xf32, [#tile.partition<@h0, 0>]>, %s: !tile.view<8x4x16384xf32, [#tile.partition<@h0, 0>, #tile.partition<@k1, 2>]>, %v: !tile.view<8x16384x64xf16, [#tile.partition<@h0, 0>, #tile.partition<@k1, 1>]>) {
    %tile_max = tile.reduce max over axis(2) %s : (!tile.view<8x4x16384xf32, [#tile.partition<@h0, 0>, #tile.partition<@k1, 2>]>) -> !tile.view<8x4x1xf32, [#tile.partition<@h0, 0>, #tile.partial<@k1, max>]>
    %m_new = tile.accumulate max %m, %tile_max over @k1 : (!tile.view<8x4x1xf32, [#tile.partition<@h0, 0>]>, !tile.view<8x4x1xf32, [#tile.partition<@h0, 0>, #tile.partial<@k1, max>]>) -> !tile.view<8x4x1xf32, [#tile.partition<@h0, 0>]>
    %0 = forge.constant -inf : tensor<1x1x1xf32>
    %1 = tile.replicate %0 by @h0 : (tensor<1x1x1xf32>) -> !tile.view<1x1x1xf32, [#tile.replicate<@h0>]>
    %empty = forge.compare eq %m_new, %1 : (!tile.view<8x4x1xf32, [#tile.partition<@h0, 0>]>, !tile.view<1x1x1xf32, [#tile.replicate<@h0>]>) -> !tile.view<8x4x1xi1, [#tile.partition<@h0, 0>]>
    %2 = forge.constant 0.0 : tensor<1x1x1xf32>
    %3 = tile.replicate %2 by @h0 : (tensor<1x1x1xf32>) -> !tile.view<1x1x1xf32, [#tile.replicate<@h0>]>
    %shift = forge.select %empty, %3, %m_new : (!tile.view<8x4x1xi1, [#tile.partition<@h0, 0>]>, !tile.view<1x1x1xf32, [#tile.replicate<@h0>]>, !tile.view<8x4x1xf32, [#tile.partition<@h0, 0>]>) -> !tile.view<8x4x1xf32, [#tile.partition<@h0, 0>]>
    %4 = forge.sub %m, %shift : !tile.view<8x4x1xf32, [#tile.partition<@h0, 0>]>
    %rescale = forge.exp %4 : !tile.view<8x4x1xf32, [#tile.partition<@h0, 0>]>
    %5 = tile.replicate %shift by @k1 : (!tile.view<8x4x1xf32, [#tile.partition<@h0, 0>]>) -> !tile.view<8x4x1xf32, [#tile.partition<@h0, 0>, #tile.replicate<@k1>]>
    %6 = forge.sub %s, %5 : (!tile.view<8x4x16384xf32, [#tile.partition<@h0, 0>, #tile.partition<@k1, 2>]>, !tile.view<8x4x1xf32, [#tile.partition<@h0, 0>, #tile.replicate<@k1>]>) -> !tile.view<8x4x16384xf32, [#tile.partition<@h0, 0>, #tile.partition<@k1, 2>]>
    %p = forge.exp %6 : !tile.view<8x4x16384xf32, [#tile.partition<@h0, 0>, #tile.partition<@k1, 2>]>
    %7 = forge.mul %l, %rescale : !tile.view<8x4x1xf32, [#tile.partition<@h0, 0>]>
    %8 = tile.reduce sum over axis(2) %p : (!tile.view<8x4x16384xf32, [#tile.partition<@h0, 0>, #tile.partition<@k1, 2>]>) -> !tile.view<8x4x1xf32, [#tile.partition<@h0, 0>, #tile.partial<@k1, sum>]>
    %l_new = tile.accumulate sum %7, %8 over @k1 : (!tile.view<8x4x1xf32, [#tile.partition<@h0, 0>]>, !tile.view<8x4x1xf32, [#tile.partition<@h0, 0>, #tile.partial<@k1, sum>]>) -> !tile.view<8x4x1xf32, [#tile.partition<@h0, 0>]>
    %9 = forge.cast %p : !tile.view<8x4x16384xf32, [#tile.partition<@h0, 0>, #tile.partition<@k1, 2>]> to !tile.view<8x4x16384xf16, [#tile.partition<@h0, 0>, #tile.partition<@k1, 2>]>
    %10 = forge.mul %o, %rescale : (!tile.view<8x4x64xf32, [#tile.partition<@h0, 0>]>, !tile.view<8x4x1xf32, [#tile.partition<@h0, 0>]>) -> !tile.view<8x4x64xf32, [#tile.partition<@h0, 0>]>
    %11 = tile.matmul %9, %v : (!tile.view<8x4x16384xf16, [#tile.partition<@h0, 0>, #tile.partition<@k1, 2>]>, !tile.view<8x16384x64xf16, [#tile.partition<@h0, 0>, #tile.partition<@k1, 1>]>) -> !tile.view<8x4x64xf32, [#tile.partition<@h0, 0>, #tile.partial<@k1, sum>]>
    %o_new = tile.accumulate sum %10, %11 over @k1 : (!tile.view<8x4x64xf32, [#tile.partition<@h0, 0>]>, !tile.view<8x4x64xf32, [#tile.partition<@h0, 0>, #tile.partial<@k1, sum>]>) -> !tile.view<8x4x64xf32, [#tile.partition<@h0, 0>]>
    tile.yield %m_new, %l_new, %o_new : !tile.view<8x4x1xf32, [#tile.partition<@h0, 0>]>, !tile.view<8x4x1xf32, [#tile.partition<@h0, 0>]>, !tile.view<8x4x64xf32, [#tile.partition<@h0, 0>]>
  }
  func.func @main(%q: tensor<32x1x64xf16>, %k: tensor<8x16384x64xf16>, %v: tensor<8x16384x64xf16>) -> tensor<32x1x64xf16> {
    %q_1 = forge.reshape %q : (tensor<32x1x64xf16>) -> tensor<8x4x64xf16>
    %0 = forge.transpose %k perm [0, 2, 1] : (tensor<8x16384x64xf16>) -> tensor<8x64x16384xf16>
    %1 = tile.partition %0 along 0 by @h0 : (tensor<8x64x16384xf16>) -> !tile.view<8x64x16384xf16, [#tile.partition<@h0, 0>]>
    %2 = tile.partition %1 along 2 by @k0 : (!tile.view<8x64x16384xf16, [#tile.partition<@h0, 0>]>) -> !tile.view<8x64x16384xf16, [#tile.partition<@h0, 0>, #tile.partition<@k0, 2>]>
    %3 = tile.partition %2 along 2 by @k1 : (!tile.view<8x64x16384xf16, [#tile.partition<@h0, 0>, #tile.partition<@k0, 2>]>) -> !tile.view<8x64x16384xf16, [#tile.partition<@h0, 0>, #tile.partition<@k0, 2>, #tile.partition<@k1, 2>]>
    %4 = tile.partition %q_1 along 0 by @h0 : (tensor<8x4x64xf16>) -> !tile.view<8x4x64xf16, [#tile.partition<@h0, 0>]>
    %5 = tile.replicate %4 by @k0 : (!tile.view<8x4x64xf16, [#tile.partition<@h0, 0>]>) -> !tile.view<8x4x64xf16, [#tile.partition<@h0, 0>, #tile.replicate<@k0>]>
    %6 = tile.replicate %5 by @k1 : (!tile.view<8x4x64xf16, [#tile.partition<@h0, 0>, #tile.replicate<@k0>]>) -> !tile.view<8x4x64xf16, [#tile.partition<@h0, 0>, #tile.replicate<@k0>, #tile.replicate<@k1>]>
    %7 = tile.matmul %6, %3 : (!tile.view<8x4x64xf16, [#tile.partition<@h0, 0>, #tile.replicate<@k0>, #tile.replicate<@k1>]>, !tile.view<8x64x16384xf16, [#tile.partition<@h0, 0>, #tile.partition<@k0, 2>, #tile.partition<@k1, 2>]>) -> !tile.view<8x4x16384xf32, [#tile.partition<@h0, 0>, #tile.partition<@k0, 2>, #tile.partition<@k1, 2>]>
    %8 = forge.constant 0.125 : tensor<1x1x1xf32>
    %9 = tile.replicate %8 by @h0 : (tensor<1x1x1xf32>) -> !tile.view<1x1x1xf32, [#tile.replicate<@h0>]>
    %10 = tile.replicate %9 by @k0 : (!tile.view<1x1x1xf32, [#tile.replicate<@h0>]>) -> !tile.view<1x1x1xf32, [#tile.replicate<@h0>, #tile.replicate<@k0>]>
    %11 = tile.replicate %10 by @k1 : (!tile.view<1x1x1xf32, [#tile.replicate<@h0>, #tile.replicate<@k0>]>) -> !tile.view<1x1x1xf32, [#tile.replicate<@h0>, #tile.replicate<@k0>, #tile.replicate<@k1>]>
    %s = forge.mul %7, %11 : (!tile.view<8x4x16384xf32, [#tile.partition<@h0, 0>, #tile.partition<@k0, 2>, #tile.partition<@k1, 2>]>, !tile.view<1x1x1xf32, [#tile.replicate<@h0>, #tile.replicate<@k0>, #tile.replicate<@k1>]>) -> !tile.view<8x4x16384xf32, [#tile.partition<@h0, 0>, #tile.partition<@k0, 2>, #tile.partition<@k1, 2>]>
    %12 = tile.partition %v along 0 by @h0 : (tensor<8x16384x64xf16>) -> !tile.view<8x16384x64xf16, [#tile.partition<@h0, 0>]>
    %13 = tile.partition %12 along 1 by @k0 : (!tile.view<8x16384x64xf16, [#tile.partition<@h0, 0>]>) -> !tile.view<8x16384x64xf16, [#tile.partition<@h0, 0>, #tile.partition<@k0, 1>]>
    %14 = tile.partition %13 along 1 by @k1 : (!tile.view<8x16384x64xf16, [#tile.partition<@h0, 0>, #tile.partition<@k0, 1>]>) -> !tile.view<8x16384x64xf16, [#tile.partition<@h0, 0>, #tile.partition<@k0, 1>, #tile.partition<@k1, 1>]>
    %15 = tile.reduce @online over parallel(@k1) %s, %14 : (!tile.view<8x4x16384xf32, [#tile.partition<@h0, 0>, #tile.partition<@k0, 2>, #tile.partition<@k1, 2>]>, !tile.view<8x16384x64xf16, [#tile.partition<@h0, 0>, #tile.partition<@k0, 1>, #tile.partition<@k1, 1>]>) -> tuple<!tile.view<8x4x1xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>, !tile.view<8x4x1xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>, !tile.view<8x4x64xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>>
    %16 = forge.get 0 of %15 : (tuple<!tile.view<8x4x1xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>, !tile.view<8x4x1xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>, !tile.view<8x4x64xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>>) -> !tile.view<8x4x1xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>
    %17 = tile.collect %16 by @k0 into 32 : (!tile.view<8x4x1xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>) -> !tile.view<32x8x4x1xf32, [#tile.partition<@h0, 1>]>
    %18 = forge.get 1 of %15 : (tuple<!tile.view<8x4x1xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>, !tile.view<8x4x1xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>, !tile.view<8x4x64xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>>) -> !tile.view<8x4x1xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>
    %19 = tile.collect %18 by @k0 into 32 : (!tile.view<8x4x1xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>) -> !tile.view<32x8x4x1xf32, [#tile.partition<@h0, 1>]>
    %20 = forge.get 2 of %15 : (tuple<!tile.view<8x4x1xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>, !tile.view<8x4x1xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>, !tile.view<8x4x64xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>>) -> !tile.view<8x4x64xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>
    %21 = tile.collect %20 by @k0 into 32 : (!tile.view<8x4x64xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>) -> !tile.view<32x8x4x64xf32, [#tile.partition<@h0, 1>]>
    %22 = tile.combine %17 along 1 by @h0 : (!tile.view<32x8x4x1xf32, [#tile.partition<@h0, 1>]>) -> tensor<32x8x4x1xf32>
    %m = tile.store %22 : tensor<32x8x4x1xf32>
    %23 = tile.combine %19 along 1 by @h0 : (!tile.view<32x8x4x1xf32, [#tile.partition<@h0, 1>]>) -> tensor<32x8x4x1xf32>
    %l = tile.store %23 : tensor<32x8x4x1xf32>
    %24 = tile.combine %21 along 1 by @h0 : (!tile.view<32x8x4x64xf32, [#tile.partition<@h0, 1>]>) -> tensor<32x8x4x64xf32>
    %o = tile.store %24 : tensor<32x8x4x64xf32>
    %25 = tile.partition %m along 1 by @h0 : (tensor<32x8x4x1xf32>) -> !tile.view<32x8x4x1xf32, [#tile.partition<@h0, 1>]>
    %26 = tile.partition %l along 1 by @h0 : (tensor<32x8x4x1xf32>) -> !tile.view<32x8x4x1xf32, [#tile.partition<@h0, 1>]>
    %27 = tile.partition %o along 1 by @h0 : (tensor<32x8x4x64xf32>) -> !tile.view<32x8x4x64xf32, [#tile.partition<@h0, 1>]>
    %m_all = tile.reduce max over axis(0) %25 : (!tile.view<32x8x4x1xf32, [#tile.partition<@h0, 1>]>) -> !tile.view<1x8x4x1xf32, [#tile.partition<@h0, 1>]>
    %28 = forge.constant -inf : tensor<1x1x1x1xf32>
    %29 = tile.replicate %28 by @h0 : (tensor<1x1x1x1xf32>) -> !tile.view<1x1x1x1xf32, [#tile.replicate<@h0>]>
    %30 = forge.compare eq %m_all, %29 : (!tile.view<1x8x4x1xf32, [#tile.partition<@h0, 1>]>, !tile.view<1x1x1x1xf32, [#tile.replicate<@h0>]>) -> !tile.view<1x8x4x1xi1, [#tile.partition<@h0, 1>]>
    %31 = forge.constant 0.0 : tensor<1x1x1x1xf32>
    %32 = tile.replicate %31 by @h0 : (tensor<1x1x1x1xf32>) -> !tile.view<1x1x1x1xf32, [#tile.replicate<@h0>]>
    %33 = forge.select %30, %32, %m_all : (!tile.view<1x8x4x1xi1, [#tile.partition<@h0, 1>]>, !tile.view<1x1x1x1xf32, [#tile.replicate<@h0>]>, !tile.view<1x8x4x1xf32, [#tile.partition<@h0, 1>]>) -> !tile.view<1x8x4x1xf32, [#tile.partition<@h0, 1>]>
    %34 = forge.sub %25, %33 : (!tile.view<32x8x4x1xf32, [#tile.partition<@h0, 1>]>, !tile.view<1x8x4x1xf32, [#tile.partition<@h0, 1>]>) -> !tile.view<32x8x4x1xf32, [#tile.partition<@h0, 1>]>
    %weight = forge.exp %34 : !tile.view<32x8x4x1xf32, [#tile.partition<@h0, 1>]>
    %35 = forge.mul %26, %weight : !tile.view<32x8x4x1xf32, [#tile.partition<@h0, 1>]>
    %36 = tile.reduce sum over axis(0) %35 : (!tile.view<32x8x4x1xf32, [#tile.partition<@h0, 1>]>) -> !tile.view<1x8x4x1xf32, [#tile.partition<@h0, 1>]>
    %37 = forge.mul %27, %weight : (!tile.view<32x8x4x64xf32, [#tile.partition<@h0, 1>]>, !tile.view<32x8x4x1xf32, [#tile.partition<@h0, 1>]>) -> !tile.view<32x8x4x64xf32, [#tile.partition<@h0, 1>]>
    %38 = tile.reduce sum over axis(0) %37 : (!tile.view<32x8x4x64xf32, [#tile.partition<@h0, 1>]>) -> !tile.view<1x8x4x64xf32, [#tile.partition<@h0, 1>]>
    %39 = forge.div %38, %36 : (!tile.view<1x8x4x64xf32, [#tile.partition<@h0, 1>]>, !tile.view<1x8x4x1xf32, [#tile.partition<@h0, 1>]>) -> !tile.view<1x8x4x64xf32, [#tile.partition<@h0, 1>]>
    %40 = forge.reshape %39 : (!tile.view<1x8x4x64xf32, [#tile.partition<@h0, 1>]>) -> !tile.view<8x4x64xf32, [#tile.partition<@h0, 0>]>
    %41 = tile.combine %40 along 0 by @h0 : (!tile.view<8x4x64xf32, [#tile.partition<@h0, 0>]>) -> tensor<8x4x64xf32>
    %attention = tile.store %41 : (tensor<8x4x64xf32>) -> tensor<8x4x64xf16>
    %42 = forge.reshape %attention : (tensor<8x4x64xf16>) -> tensor<32x1x64xf16>
    func.return %42 : tensor<32x1x64xf16>
  }
}

// KERNEL: kernel.launch @m_l_o_kernel(%{{q.*}}, %k, %v, %m, %l, %o)
// KERNEL: kernel.launch @attention_kernel(%o, %m, %l, %attention)
// KERNEL: kernel.view %attention : !kernel.ref<8x4x64xf16, [256, 64, 1]> to !kernel.ref<32x1x64xf16, [64, 64, 1]>
// KERNEL: kernel.func @m_l_o_kernel
// KERNEL-SAME: grid [@h0, @k0]
// KERNEL: kernel.for @k1 in @k0 iter_args(
// KERNEL-NOT: kernel.for
// KERNEL: kernel.store %{{m.*}}, %{{m.*}} at @k0 : !tile.view<8x4x1xf32, [#tile.partition<@h0, 0>]>, !kernel.ref<32x8x4x1xf32, [32, 4, 1, 1]>
// KERNEL-NEXT: kernel.store %{{l.*}}, %{{l.*}} at @k0
// KERNEL-NEXT: kernel.store %{{o.*}}, %{{o.*}} at @k0
// KERNEL: kernel.func @attention_kernel
// KERNEL-SAME: grid [@h0]
// KERNEL-NOT: kernel.for

// TRITON: # schedule of m_l_o_kernel: h0 = 1, k0 = 512, k1 = 64
// TRITON: # k0 (program, 16384 elements): dimension 0 of m, l, o
// TRITON-NEXT: # k1 (loop in each slice of k0, 16384 elements): dimension 1 of v; dimension 2 of k
// TRITON-NEXT: h0 = tl.program_id(0)
// TRITON-NEXT: k0_tile = tl.program_id(1)
// TRITON-NEXT: k0_start = k0_tile * BLOCK_K0
// TRITON-NEXT: d4 = tl.arange(0, 16)
// TRITON: k1_end = k0_start + BLOCK_K0
// TRITON-NEXT: for k1_start in range(k0_start, k1_end, BLOCK_K1):
// TRITON-NEXT: k1 = k1_start + tl.arange(0, BLOCK_K1)
// TRITON-NEXT: k = tl.load(k_ptr + (h0 * 1048576 + d64[:, None] + k1[None, :] * 64))
// TRITON: o = tl.dot(p.to(tl.float16), v, o * rescale[:, None])
// TRITON-NEXT: m = m_new
// TRITON-NEXT: tl.store(m_ptr + (k0_tile * 32 + h0 * 4 + d4), m, mask=d4 < 4)
// TRITON-NEXT: tl.store(l_ptr + (k0_tile * 32 + h0 * 4 + d4), l, mask=d4 < 4)
// TRITON-NEXT: tl.store(o_ptr + (k0_tile * 2048 + h0 * 256 + d4[:, None] * 64 + d64[None, :]), o, mask=(d4 < 4)[:, None])
// TRITON: def attention_kernel(
// TRITON: m_all = tl.reduce(m, 0, larger)
// TRITON-NEXT: mask = m_all == float("-inf")
// TRITON-NEXT: weight = tl.exp(m - tl.where(mask, 0.0, m_all)[None, :])
// TRITON: div = tl.sum(mul, axis=0) / tl.sum(mul_1, axis=0)[:, None]
// TRITON: m_l_o_kernel[(8, 32)](
// TRITON: return attention.as_strided((32, 1, 64), (64, 64, 1), 0)
