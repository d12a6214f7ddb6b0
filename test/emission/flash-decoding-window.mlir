// RUN: equiforge-opt %s -p convert-tile-to-kernel | filecheck %s --check-prefix KERNEL
// RUN: equiforge-opt %s -p 'convert-tile-to-kernel{target=h100}' -t triton | filecheck %s --check-prefix TRITON

// Flash-decoding of a number of keys that the slices do not divide, of which a window is visible: each program visits
// the part of its slice that the window reaches.

builtin.module {
  tile.axis @k0 extent 16000
  tile.axis @k1 extent 16000 within @k0
  tile.axis @h0 extent 8
  tile.reducer @online identity [-inf, 0.0, 0.0] body(%m: !tile.view<8x1x1xf32, [#tile.partition<@h0, 0>]>, %l: !tile.view<8x1x1xf32, [#tile.partition<@h0, 0>]>, %o: !tile.view<8x1x64xf32, [#tile.partition<@h0, 0>]>, %s: !tile.view<8x1x16000xf32, [#tile.partition<@h0, 0>, #tile.partition<@k1, 2>]>, %v: !tile.view<8x16000x64xf16, [#tile.partition<@h0, 0>, #tile.partition<@k1, 1>]>) {
    %tile_max = tile.reduce max over axis(2) %s : (!tile.view<8x1x16000xf32, [#tile.partition<@h0, 0>, #tile.partition<@k1, 2>]>) -> !tile.view<8x1x1xf32, [#tile.partition<@h0, 0>, #tile.partial<@k1, max>]>
    %m_new = tile.accumulate max %m, %tile_max over @k1 : (!tile.view<8x1x1xf32, [#tile.partition<@h0, 0>]>, !tile.view<8x1x1xf32, [#tile.partition<@h0, 0>, #tile.partial<@k1, max>]>) -> !tile.view<8x1x1xf32, [#tile.partition<@h0, 0>]>
    %0 = forge.constant -inf : tensor<1x1x1xf32>
    %1 = tile.replicate %0 by @h0 : (tensor<1x1x1xf32>) -> !tile.view<1x1x1xf32, [#tile.replicate<@h0>]>
    %empty = forge.compare eq %m_new, %1 : (!tile.view<8x1x1xf32, [#tile.partition<@h0, 0>]>, !tile.view<1x1x1xf32, [#tile.replicate<@h0>]>) -> !tile.view<8x1x1xi1, [#tile.partition<@h0, 0>]>
    %2 = forge.constant 0.0 : tensor<1x1x1xf32>
    %3 = tile.replicate %2 by @h0 : (tensor<1x1x1xf32>) -> !tile.view<1x1x1xf32, [#tile.replicate<@h0>]>
    %shift = forge.select %empty, %3, %m_new : (!tile.view<8x1x1xi1, [#tile.partition<@h0, 0>]>, !tile.view<1x1x1xf32, [#tile.replicate<@h0>]>, !tile.view<8x1x1xf32, [#tile.partition<@h0, 0>]>) -> !tile.view<8x1x1xf32, [#tile.partition<@h0, 0>]>
    %4 = forge.sub %m, %shift : !tile.view<8x1x1xf32, [#tile.partition<@h0, 0>]>
    %rescale = forge.exp %4 : !tile.view<8x1x1xf32, [#tile.partition<@h0, 0>]>
    %5 = tile.replicate %shift by @k1 : (!tile.view<8x1x1xf32, [#tile.partition<@h0, 0>]>) -> !tile.view<8x1x1xf32, [#tile.partition<@h0, 0>, #tile.replicate<@k1>]>
    %6 = forge.sub %s, %5 : (!tile.view<8x1x16000xf32, [#tile.partition<@h0, 0>, #tile.partition<@k1, 2>]>, !tile.view<8x1x1xf32, [#tile.partition<@h0, 0>, #tile.replicate<@k1>]>) -> !tile.view<8x1x16000xf32, [#tile.partition<@h0, 0>, #tile.partition<@k1, 2>]>
    %p = forge.exp %6 : !tile.view<8x1x16000xf32, [#tile.partition<@h0, 0>, #tile.partition<@k1, 2>]>
    %7 = forge.mul %l, %rescale : !tile.view<8x1x1xf32, [#tile.partition<@h0, 0>]>
    %8 = tile.reduce sum over axis(2) %p : (!tile.view<8x1x16000xf32, [#tile.partition<@h0, 0>, #tile.partition<@k1, 2>]>) -> !tile.view<8x1x1xf32, [#tile.partition<@h0, 0>, #tile.partial<@k1, sum>]>
    %l_new = tile.accumulate sum %7, %8 over @k1 : (!tile.view<8x1x1xf32, [#tile.partition<@h0, 0>]>, !tile.view<8x1x1xf32, [#tile.partition<@h0, 0>, #tile.partial<@k1, sum>]>) -> !tile.view<8x1x1xf32, [#tile.partition<@h0, 0>]>
    %9 = forge.cast %p : !tile.view<8x1x16000xf32, [#tile.partition<@h0, 0>, #tile.partition<@k1, 2>]> to !tile.view<8x1x16000xf16, [#tile.partition<@h0, 0>, #tile.partition<@k1, 2>]>
    %10 = forge.mul %o, %rescale : (!tile.view<8x1x64xf32, [#tile.partition<@h0, 0>]>, !tile.view<8x1x1xf32, [#tile.partition<@h0, 0>]>) -> !tile.view<8x1x64xf32, [#tile.partition<@h0, 0>]>
    %11 = tile.matmul %9, %v : (!tile.view<8x1x16000xf16, [#tile.partition<@h0, 0>, #tile.partition<@k1, 2>]>, !tile.view<8x16000x64xf16, [#tile.partition<@h0, 0>, #tile.partition<@k1, 1>]>) -> !tile.view<8x1x64xf32, [#tile.partition<@h0, 0>, #tile.partial<@k1, sum>]>
    %o_new = tile.accumulate sum %10, %11 over @k1 : (!tile.view<8x1x64xf32, [#tile.partition<@h0, 0>]>, !tile.view<8x1x64xf32, [#tile.partition<@h0, 0>, #tile.partial<@k1, sum>]>) -> !tile.view<8x1x64xf32, [#tile.partition<@h0, 0>]>
    tile.yield %m_new, %l_new, %o_new : !tile.view<8x1x1xf32, [#tile.partition<@h0, 0>]>, !tile.view<8x1x1xf32, [#tile.partition<@h0, 0>]>, !tile.view<8x1x64xf32, [#tile.partition<@h0, 0>]>
  }
  func.func @main(%q: tensor<8x1x64xf16>, %k: tensor<8x16000x64xf16>, %v: tensor<8x16000x64xf16>) -> tensor<8x1x64xf16> {
    %q_1 = forge.reshape %q : tensor<8x1x64xf16>
    %0 = forge.transpose %k perm [0, 2, 1] : (tensor<8x16000x64xf16>) -> tensor<8x64x16000xf16>
    %1 = tile.partition %0 along 0 by @h0 : (tensor<8x64x16000xf16>) -> !tile.view<8x64x16000xf16, [#tile.partition<@h0, 0>]>
    %2 = tile.partition %1 along 2 by @k0 : (!tile.view<8x64x16000xf16, [#tile.partition<@h0, 0>]>) -> !tile.view<8x64x16000xf16, [#tile.partition<@h0, 0>, #tile.partition<@k0, 2>]>
    %3 = tile.partition %2 along 2 by @k1 : (!tile.view<8x64x16000xf16, [#tile.partition<@h0, 0>, #tile.partition<@k0, 2>]>) -> !tile.view<8x64x16000xf16, [#tile.partition<@h0, 0>, #tile.partition<@k0, 2>, #tile.partition<@k1, 2>]>
    %4 = tile.partition %q_1 along 0 by @h0 : (tensor<8x1x64xf16>) -> !tile.view<8x1x64xf16, [#tile.partition<@h0, 0>]>
    %5 = tile.replicate %4 by @k0 : (!tile.view<8x1x64xf16, [#tile.partition<@h0, 0>]>) -> !tile.view<8x1x64xf16, [#tile.partition<@h0, 0>, #tile.replicate<@k0>]>
    %6 = tile.replicate %5 by @k1 : (!tile.view<8x1x64xf16, [#tile.partition<@h0, 0>, #tile.replicate<@k0>]>) -> !tile.view<8x1x64xf16, [#tile.partition<@h0, 0>, #tile.replicate<@k0>, #tile.replicate<@k1>]>
    %7 = tile.matmul %6, %3 : (!tile.view<8x1x64xf16, [#tile.partition<@h0, 0>, #tile.replicate<@k0>, #tile.replicate<@k1>]>, !tile.view<8x64x16000xf16, [#tile.partition<@h0, 0>, #tile.partition<@k0, 2>, #tile.partition<@k1, 2>]>) -> !tile.view<8x1x16000xf32, [#tile.partition<@h0, 0>, #tile.partition<@k0, 2>, #tile.partition<@k1, 2>]>
    %8 = forge.iota 1 : tensor<1x1x1xi64>
    %9 = tile.replicate %8 by @h0 : (tensor<1x1x1xi64>) -> !tile.view<1x1x1xi64, [#tile.replicate<@h0>]>
    %10 = tile.replicate %9 by @k0 : (!tile.view<1x1x1xi64, [#tile.replicate<@h0>]>) -> !tile.view<1x1x1xi64, [#tile.replicate<@h0>, #tile.replicate<@k0>]>
    %11 = tile.replicate %10 by @k1 : (!tile.view<1x1x1xi64, [#tile.replicate<@h0>, #tile.replicate<@k0>]>) -> !tile.view<1x1x1xi64, [#tile.replicate<@h0>, #tile.replicate<@k0>, #tile.replicate<@k1>]>
    %12 = forge.iota 2 : tensor<1x1x16000xi64>
    %13 = tile.replicate %12 by @h0 : (tensor<1x1x16000xi64>) -> !tile.view<1x1x16000xi64, [#tile.replicate<@h0>]>
    %14 = tile.partition %13 along 2 by @k0 : (!tile.view<1x1x16000xi64, [#tile.replicate<@h0>]>) -> !tile.view<1x1x16000xi64, [#tile.replicate<@h0>, #tile.partition<@k0, 2>]>
    %15 = tile.partition %14 along 2 by @k1 : (!tile.view<1x1x16000xi64, [#tile.replicate<@h0>, #tile.partition<@k0, 2>]>) -> !tile.view<1x1x16000xi64, [#tile.replicate<@h0>, #tile.partition<@k0, 2>, #tile.partition<@k1, 2>]>
    %16 = forge.constant 15999 : tensor<1x1x1xi64>
    %17 = tile.replicate %16 by @h0 : (tensor<1x1x1xi64>) -> !tile.view<1x1x1xi64, [#tile.replicate<@h0>]>
    %18 = tile.replicate %17 by @k0 : (!tile.view<1x1x1xi64, [#tile.replicate<@h0>]>) -> !tile.view<1x1x1xi64, [#tile.replicate<@h0>, #tile.replicate<@k0>]>
    %19 = tile.replicate %18 by @k1 : (!tile.view<1x1x1xi64, [#tile.replicate<@h0>, #tile.replicate<@k0>]>) -> !tile.view<1x1x1xi64, [#tile.replicate<@h0>, #tile.replicate<@k0>, #tile.replicate<@k1>]>
    %20 = forge.add %11, %19 : !tile.view<1x1x1xi64, [#tile.replicate<@h0>, #tile.replicate<@k0>, #tile.replicate<@k1>]>
    %21 = forge.compare le %15, %20 : (!tile.view<1x1x16000xi64, [#tile.replicate<@h0>, #tile.partition<@k0, 2>, #tile.partition<@k1, 2>]>, !tile.view<1x1x1xi64, [#tile.replicate<@h0>, #tile.replicate<@k0>, #tile.replicate<@k1>]>) -> !tile.view<1x1x16000xi1, [#tile.replicate<@h0>, #tile.partition<@k0, 2>, #tile.partition<@k1, 2>]>
    %22 = forge.constant 11903 : tensor<1x1x1xi64>
    %23 = tile.replicate %22 by @h0 : (tensor<1x1x1xi64>) -> !tile.view<1x1x1xi64, [#tile.replicate<@h0>]>
    %24 = tile.replicate %23 by @k0 : (!tile.view<1x1x1xi64, [#tile.replicate<@h0>]>) -> !tile.view<1x1x1xi64, [#tile.replicate<@h0>, #tile.replicate<@k0>]>
    %25 = tile.replicate %24 by @k1 : (!tile.view<1x1x1xi64, [#tile.replicate<@h0>, #tile.replicate<@k0>]>) -> !tile.view<1x1x1xi64, [#tile.replicate<@h0>, #tile.replicate<@k0>, #tile.replicate<@k1>]>
    %26 = forge.add %11, %25 : !tile.view<1x1x1xi64, [#tile.replicate<@h0>, #tile.replicate<@k0>, #tile.replicate<@k1>]>
    %27 = forge.compare gt %15, %26 : (!tile.view<1x1x16000xi64, [#tile.replicate<@h0>, #tile.partition<@k0, 2>, #tile.partition<@k1, 2>]>, !tile.view<1x1x1xi64, [#tile.replicate<@h0>, #tile.replicate<@k0>, #tile.replicate<@k1>]>) -> !tile.view<1x1x16000xi1, [#tile.replicate<@h0>, #tile.partition<@k0, 2>, #tile.partition<@k1, 2>]>
    %28 = forge.constant -inf : tensor<1x1x1xf32>
    %29 = tile.replicate %28 by @h0 : (tensor<1x1x1xf32>) -> !tile.view<1x1x1xf32, [#tile.replicate<@h0>]>
    %30 = tile.replicate %29 by @k0 : (!tile.view<1x1x1xf32, [#tile.replicate<@h0>]>) -> !tile.view<1x1x1xf32, [#tile.replicate<@h0>, #tile.replicate<@k0>]>
    %31 = tile.replicate %30 by @k1 : (!tile.view<1x1x1xf32, [#tile.replicate<@h0>, #tile.replicate<@k0>]>) -> !tile.view<1x1x1xf32, [#tile.replicate<@h0>, #tile.replicate<@k0>, #tile.replicate<@k1>]>
    %visible = forge.and %21, %27 : !tile.view<1x1x16000xi1, [#tile.replicate<@h0>, #tile.partition<@k0, 2>, #tile.partition<@k1, 2>]>
    %s = forge.select %visible, %7, %31 : (!tile.view<1x1x16000xi1, [#tile.replicate<@h0>, #tile.partition<@k0, 2>, #tile.partition<@k1, 2>]>, !tile.view<8x1x16000xf32, [#tile.partition<@h0, 0>, #tile.partition<@k0, 2>, #tile.partition<@k1, 2>]>, !tile.view<1x1x1xf32, [#tile.replicate<@h0>, #tile.replicate<@k0>, #tile.replicate<@k1>]>) -> !tile.view<8x1x16000xf32, [#tile.partition<@h0, 0>, #tile.partition<@k0, 2>, #tile.partition<@k1, 2>]>
    %32 = tile.partition %v along 0 by @h0 : (tensor<8x16000x64xf16>) -> !tile.view<8x16000x64xf16, [#tile.partition<@h0, 0>]>
    %33 = tile.partition %32 along 1 by @k0 : (!tile.view<8x16000x64xf16, [#tile.partition<@h0, 0>]>) -> !tile.view<8x16000x64xf16, [#tile.partition<@h0, 0>, #tile.partition<@k0, 1>]>
    %34 = tile.partition %33 along 1 by @k1 : (!tile.view<8x16000x64xf16, [#tile.partition<@h0, 0>, #tile.partition<@k0, 1>]>) -> !tile.view<8x16000x64xf16, [#tile.partition<@h0, 0>, #tile.partition<@k0, 1>, #tile.partition<@k1, 1>]>
    %35 = tile.reduce @online over parallel(@k1) %s, %34 : (!tile.view<8x1x16000xf32, [#tile.partition<@h0, 0>, #tile.partition<@k0, 2>, #tile.partition<@k1, 2>]>, !tile.view<8x16000x64xf16, [#tile.partition<@h0, 0>, #tile.partition<@k0, 1>, #tile.partition<@k1, 1>]>) -> tuple<!tile.view<8x1x1xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>, !tile.view<8x1x1xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>, !tile.view<8x1x64xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>>
    %36 = forge.get 0 of %35 : (tuple<!tile.view<8x1x1xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>, !tile.view<8x1x1xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>, !tile.view<8x1x64xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>>) -> !tile.view<8x1x1xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>
    %37 = tile.collect %36 by @k0 into 32 : (!tile.view<8x1x1xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>) -> !tile.view<32x8x1x1xf32, [#tile.partition<@h0, 1>]>
    %38 = forge.get 1 of %35 : (tuple<!tile.view<8x1x1xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>, !tile.view<8x1x1xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>, !tile.view<8x1x64xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>>) -> !tile.view<8x1x1xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>
    %39 = tile.collect %38 by @k0 into 32 : (!tile.view<8x1x1xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>) -> !tile.view<32x8x1x1xf32, [#tile.partition<@h0, 1>]>
    %40 = forge.get 2 of %35 : (tuple<!tile.view<8x1x1xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>, !tile.view<8x1x1xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>, !tile.view<8x1x64xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>>) -> !tile.view<8x1x64xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>
    %41 = tile.collect %40 by @k0 into 32 : (!tile.view<8x1x64xf32, [#tile.partition<@h0, 0>, #tile.partial<@k0>]>) -> !tile.view<32x8x1x64xf32, [#tile.partition<@h0, 1>]>
    %42 = tile.combine %37 along 1 by @h0 : (!tile.view<32x8x1x1xf32, [#tile.partition<@h0, 1>]>) -> tensor<32x8x1x1xf32>
    %m = tile.store %42 : tensor<32x8x1x1xf32>
    %43 = tile.combine %39 along 1 by @h0 : (!tile.view<32x8x1x1xf32, [#tile.partition<@h0, 1>]>) -> tensor<32x8x1x1xf32>
    %l = tile.store %43 : tensor<32x8x1x1xf32>
    %44 = tile.combine %41 along 1 by @h0 : (!tile.view<32x8x1x64xf32, [#tile.partition<@h0, 1>]>) -> tensor<32x8x1x64xf32>
    %o = tile.store %44 : tensor<32x8x1x64xf32>
    %45 = tile.partition %m along 1 by @h0 : (tensor<32x8x1x1xf32>) -> !tile.view<32x8x1x1xf32, [#tile.partition<@h0, 1>]>
    %46 = tile.partition %l along 1 by @h0 : (tensor<32x8x1x1xf32>) -> !tile.view<32x8x1x1xf32, [#tile.partition<@h0, 1>]>
    %47 = tile.partition %o along 1 by @h0 : (tensor<32x8x1x64xf32>) -> !tile.view<32x8x1x64xf32, [#tile.partition<@h0, 1>]>
    %m_all = tile.reduce max over axis(0) %45 : (!tile.view<32x8x1x1xf32, [#tile.partition<@h0, 1>]>) -> !tile.view<1x8x1x1xf32, [#tile.partition<@h0, 1>]>
    %48 = forge.constant -inf : tensor<1x1x1x1xf32>
    %49 = tile.replicate %48 by @h0 : (tensor<1x1x1x1xf32>) -> !tile.view<1x1x1x1xf32, [#tile.replicate<@h0>]>
    %50 = forge.compare eq %m_all, %49 : (!tile.view<1x8x1x1xf32, [#tile.partition<@h0, 1>]>, !tile.view<1x1x1x1xf32, [#tile.replicate<@h0>]>) -> !tile.view<1x8x1x1xi1, [#tile.partition<@h0, 1>]>
    %51 = forge.constant 0.0 : tensor<1x1x1x1xf32>
    %52 = tile.replicate %51 by @h0 : (tensor<1x1x1x1xf32>) -> !tile.view<1x1x1x1xf32, [#tile.replicate<@h0>]>
    %53 = forge.select %50, %52, %m_all : (!tile.view<1x8x1x1xi1, [#tile.partition<@h0, 1>]>, !tile.view<1x1x1x1xf32, [#tile.replicate<@h0>]>, !tile.view<1x8x1x1xf32, [#tile.partition<@h0, 1>]>) -> !tile.view<1x8x1x1xf32, [#tile.partition<@h0, 1>]>
    %54 = forge.sub %45, %53 : (!tile.view<32x8x1x1xf32, [#tile.partition<@h0, 1>]>, !tile.view<1x8x1x1xf32, [#tile.partition<@h0, 1>]>) -> !tile.view<32x8x1x1xf32, [#tile.partition<@h0, 1>]>
    %weight = forge.exp %54 : !tile.view<32x8x1x1xf32, [#tile.partition<@h0, 1>]>
    %55 = forge.mul %46, %weight : !tile.view<32x8x1x1xf32, [#tile.partition<@h0, 1>]>
    %56 = tile.reduce sum over axis(0) %55 : (!tile.view<32x8x1x1xf32, [#tile.partition<@h0, 1>]>) -> !tile.view<1x8x1x1xf32, [#tile.partition<@h0, 1>]>
    %57 = forge.mul %47, %weight : (!tile.view<32x8x1x64xf32, [#tile.partition<@h0, 1>]>, !tile.view<32x8x1x1xf32, [#tile.partition<@h0, 1>]>) -> !tile.view<32x8x1x64xf32, [#tile.partition<@h0, 1>]>
    %58 = tile.reduce sum over axis(0) %57 : (!tile.view<32x8x1x64xf32, [#tile.partition<@h0, 1>]>) -> !tile.view<1x8x1x64xf32, [#tile.partition<@h0, 1>]>
    %59 = forge.div %58, %56 : (!tile.view<1x8x1x64xf32, [#tile.partition<@h0, 1>]>, !tile.view<1x8x1x1xf32, [#tile.partition<@h0, 1>]>) -> !tile.view<1x8x1x64xf32, [#tile.partition<@h0, 1>]>
    %60 = forge.reshape %59 : (!tile.view<1x8x1x64xf32, [#tile.partition<@h0, 1>]>) -> !tile.view<8x1x64xf32, [#tile.partition<@h0, 0>]>
    %61 = tile.combine %60 along 0 by @h0 : (!tile.view<8x1x64xf32, [#tile.partition<@h0, 0>]>) -> tensor<8x1x64xf32>
    %attention = tile.store %61 : (tensor<8x1x64xf32>) -> tensor<8x1x64xf16>
    %62 = forge.reshape %attention : tensor<8x1x64xf16>
    func.return %62 : tensor<8x1x64xf16>
  }
}

// KERNEL: kernel.for @k1 in @k0 iter_args({{.*}}) ranges [#kernel.range<[#kernel.bound<11904>], [#kernel.bound<15999>]>]

// TRITON: k1_first = tl.maximum(k0_start, 11904) // BLOCK_K1 * BLOCK_K1
// TRITON-NEXT: k1_end = tl.minimum(k0_start + BLOCK_K0, 16000)
// TRITON-NEXT: for k1_start in range(k1_first, k1_end, BLOCK_K1):
// TRITON: s = tl.where(visible, dot, float("-inf"))
// TRITON: dot_1 = tl.sum(p[:, None] * v.to(tl.float32), axis=0)
// TRITON: tl.store(m_ptr + (k0_tile * 8 + h0), m)
