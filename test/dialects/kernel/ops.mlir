// RUN: equiforge-opt %s | equiforge-opt | filecheck %s
// RUN: equiforge-opt %s --print-op-generic | equiforge-opt | filecheck %s

tile.axis @t0 extent 50
tile.axis @k0 extent 72
tile.axis @k1 extent 72 within @k0

// CHECK: kernel.graph @main {
kernel.graph @main {
  // CHECK-NEXT: %x = kernel.buffer input "x" : !kernel.ref<50x72xf16, [72, 1]>
  %x = kernel.buffer input "x" : !kernel.ref<50x72xf16, [72, 1]>
  // CHECK-NEXT: kernel.buffer constant "table" = #forge.literal<[0.5, -inf] : tensor<2xf32>> : !kernel.ref<2xf32, [1]>
  %table = kernel.buffer constant "table" = #forge.literal<[0.5, -inf] : tensor<2xf32>> : !kernel.ref<2xf32, [1]>
  // CHECK-NEXT: kernel.buffer temporary "t" : !kernel.ref<50x1xf32, [1, 1]>
  %t = kernel.buffer temporary "t" : !kernel.ref<50x1xf32, [1, 1]>
  // CHECK-NEXT: kernel.buffer output "y" : !kernel.ref<50x72xf16, [72, 1]>
  %y = kernel.buffer output "y" : !kernel.ref<50x72xf16, [72, 1]>
  // CHECK-NEXT: kernel.launch @scale(%x, %y) : !kernel.ref<50x72xf16, [72, 1]>, !kernel.ref<50x72xf16, [72, 1]>
  kernel.launch @scale(%x, %y) : !kernel.ref<50x72xf16, [72, 1]>, !kernel.ref<50x72xf16, [72, 1]>
  // The transpose, then rows 2, 3, … of it, of which each is read twice.
  // CHECK-NEXT: kernel.view %y : !kernel.ref<50x72xf16, [72, 1]> to !kernel.ref<72x50xf16, [1, 72]>
  %yt = kernel.view %y : !kernel.ref<50x72xf16, [72, 1]> to !kernel.ref<72x50xf16, [1, 72]>
  // CHECK-NEXT: kernel.view %{{yt.*}} : !kernel.ref<72x50xf16, [1, 72]> to !kernel.ref<140x50xf16, [(70 x 1, 2 x 0), 72], offset = 2>
  %rows = kernel.view %yt : !kernel.ref<72x50xf16, [1, 72]> to !kernel.ref<140x50xf16, [(70 x 1, 2 x 0), 72], offset = 2>
  // CHECK-NEXT: kernel.return %{{yt.*}}, %y : !kernel.ref<72x50xf16, [1, 72]>, !kernel.ref<50x72xf16, [72, 1]>
  kernel.return %yt, %y : !kernel.ref<72x50xf16, [1, 72]>, !kernel.ref<50x72xf16, [72, 1]>
}

// CHECK: kernel.func @scale(%{{x.*}}: !kernel.ref<50x72xf16, [72, 1]>, %{{y.*}}: !kernel.ref<50x72xf16, [72, 1]>) grid [@t0] schedule #kernel.schedule<tiles = {k0 = 16, t0 = 32}, warps = 4, stages = 3, matmul = fma> {
kernel.func @scale(%x : !kernel.ref<50x72xf16, [72, 1]>, %y : !kernel.ref<50x72xf16, [72, 1]>) grid [@t0] schedule #kernel.schedule<tiles = {t0 = 32, k0 = 16}, warps = 4, stages = 3, matmul = fma> {
  // CHECK-NEXT: kernel.fill 0.0 : !tile.view<50x1xf32, [#tile.partition<@t0, 0>]>
  %zero = kernel.fill 0.0 : !tile.view<50x1xf32, [#tile.partition<@t0, 0>]>
  // CHECK-NEXT: kernel.fill -inf : tensor<1x1xf32>
  %low = kernel.fill -inf : tensor<1x1xf32>
  // CHECK-NEXT: kernel.fill 3 : tensor<1x1xi64>
  %three = kernel.fill 3 : tensor<1x1xi64>
  // CHECK-NEXT: kernel.fill true : tensor<1x1xi1>
  %true = kernel.fill true : tensor<1x1xi1>
  // CHECK-NEXT: kernel.iota 1 : tensor<1x72xi64>
  %i = kernel.iota 1 : tensor<1x72xi64>
  // CHECK-NEXT: kernel.for @k0 iter_args(%{{acc.*}} = %zero) ranges [#kernel.range<[#kernel.bound<@t0, -7>], [#kernel.bound<@t0, 0>, #kernel.bound<60>]>] {
  %sum = kernel.for @k0 iter_args(%acc = %zero) ranges [#kernel.range<[#kernel.bound<@t0, -7>], [#kernel.bound<@t0, 0>, #kernel.bound<60>]>] {
    // CHECK-NEXT: kernel.load %{{x.*}} : !kernel.ref<50x72xf16, [72, 1]> -> !tile.view<50x72xf16, [#tile.partition<@k0, 1>, #tile.partition<@t0, 0>]>
    %v = kernel.load %x : !kernel.ref<50x72xf16, [72, 1]> -> !tile.view<50x72xf16, [#tile.partition<@k0, 1>, #tile.partition<@t0, 0>]>
    %w = forge.cast %v : !tile.view<50x72xf16, [#tile.partition<@k0, 1>, #tile.partition<@t0, 0>]> to !tile.view<50x72xf32, [#tile.partition<@k0, 1>, #tile.partition<@t0, 0>]>
    %p = tile.reduce sum over axis(1) %w : (!tile.view<50x72xf32, [#tile.partition<@k0, 1>, #tile.partition<@t0, 0>]>) -> !tile.view<50x1xf32, [#tile.partial<@k0, sum>, #tile.partition<@t0, 0>]>
    %n = tile.accumulate sum %acc, %p over @k0 : (!tile.view<50x1xf32, [#tile.partition<@t0, 0>]>, !tile.view<50x1xf32, [#tile.partial<@k0, sum>, #tile.partition<@t0, 0>]>) -> !tile.view<50x1xf32, [#tile.partition<@t0, 0>]>
    // CHECK: kernel.yield %{{.*}} : !tile.view<50x1xf32, [#tile.partition<@t0, 0>]>
    kernel.yield %n : !tile.view<50x1xf32, [#tile.partition<@t0, 0>]>
  }
  %r = kernel.load %x : !kernel.ref<50x72xf16, [72, 1]> -> !tile.view<50x72xf16, [#tile.partition<@t0, 0>]>
  %f = forge.cast %r : !tile.view<50x72xf16, [#tile.partition<@t0, 0>]> to !tile.view<50x72xf32, [#tile.partition<@t0, 0>]>
  %s = forge.mul %f, %sum : (!tile.view<50x72xf32, [#tile.partition<@t0, 0>]>, !tile.view<50x1xf32, [#tile.partition<@t0, 0>]>) -> !tile.view<50x72xf32, [#tile.partition<@t0, 0>]>
  %h = forge.cast %s : !tile.view<50x72xf32, [#tile.partition<@t0, 0>]> to !tile.view<50x72xf16, [#tile.partition<@t0, 0>]>
  // CHECK: kernel.store %{{.*}}, %{{y.*}} : !tile.view<50x72xf16, [#tile.partition<@t0, 0>]>, !kernel.ref<50x72xf16, [72, 1]>
  kernel.store %h, %y : !tile.view<50x72xf16, [#tile.partition<@t0, 0>]>, !kernel.ref<50x72xf16, [72, 1]>
}

// CHECK: kernel.func @parts
kernel.func @parts(%x : !kernel.ref<50x72xf32, [72, 1]>, %y : !kernel.ref<5x50x1xf32, [50, 1, 1]>) grid [@t0, @k0] schedule #kernel.schedule<tiles = {t0 = 32, k0 = 16}, warps = 4, stages = 1, matmul = dot> {
  %v = kernel.load %x : !kernel.ref<50x72xf32, [72, 1]> -> !tile.view<50x72xf32, [#tile.partition<@k0, 1>, #tile.partition<@t0, 0>]>
  %p = tile.reduce sum over axis(1) %v : (!tile.view<50x72xf32, [#tile.partition<@k0, 1>, #tile.partition<@t0, 0>]>) -> !tile.view<50x1xf32, [#tile.partial<@k0, sum>, #tile.partition<@t0, 0>]>
  // CHECK: kernel.store %{{.*}}, %{{y.*}} at @k0 : !tile.view<50x1xf32, [#tile.partial<@k0, sum>, #tile.partition<@t0, 0>]>, !kernel.ref<5x50x1xf32, [50, 1, 1]>
  kernel.store %p, %y at @k0 : !tile.view<50x1xf32, [#tile.partial<@k0, sum>, #tile.partition<@t0, 0>]>, !kernel.ref<5x50x1xf32, [50, 1, 1]>
}

// CHECK: kernel.func @slices
kernel.func @slices(%x : !kernel.ref<50x72xf32, [72, 1]>, %y : !kernel.ref<5x50x1xf32, [50, 1, 1]>) grid [@t0, @k0] schedule #kernel.schedule<tiles = {t0 = 32, k0 = 16, k1 = 8}, warps = 4, stages = 1, matmul = dot> {
  %zero = kernel.fill 0.0 : !tile.view<50x1xf32, [#tile.partition<@t0, 0>]>
  // CHECK: kernel.for @k1 in @k0 iter_args(%{{acc.*}} = %{{zero.*}}) {
  %sum = kernel.for @k1 in @k0 iter_args(%acc = %zero) {
    %v = kernel.load %x : !kernel.ref<50x72xf32, [72, 1]> -> !tile.view<50x72xf32, [#tile.partition<@k1, 1>, #tile.partition<@t0, 0>]>
    %p = tile.reduce sum over axis(1) %v : (!tile.view<50x72xf32, [#tile.partition<@k1, 1>, #tile.partition<@t0, 0>]>) -> !tile.view<50x1xf32, [#tile.partial<@k1, sum>, #tile.partition<@t0, 0>]>
    %n = tile.accumulate sum %acc, %p over @k1 : (!tile.view<50x1xf32, [#tile.partition<@t0, 0>]>, !tile.view<50x1xf32, [#tile.partial<@k1, sum>, #tile.partition<@t0, 0>]>) -> !tile.view<50x1xf32, [#tile.partition<@t0, 0>]>
    kernel.yield %n : !tile.view<50x1xf32, [#tile.partition<@t0, 0>]>
  }
  // CHECK: kernel.store %{{sum.*}}, %{{y.*}} at @k0 : !tile.view<50x1xf32, [#tile.partition<@t0, 0>]>, !kernel.ref<5x50x1xf32, [50, 1, 1]>
  kernel.store %sum, %y at @k0 : !tile.view<50x1xf32, [#tile.partition<@t0, 0>]>, !kernel.ref<5x50x1xf32, [50, 1, 1]>
}

// CHECK: kernel.func @gathered
kernel.func @gathered(%x : !kernel.ref<50x72xf32, [72, 1]>, %i : !kernel.ref<9x1xi64, [1, 1]>, %y : !kernel.ref<9x10xf32, [10, 1]>) grid [@t0] {
  %rows = kernel.load %i : !kernel.ref<9x1xi64, [1, 1]> -> !tile.view<9x1xi64, [#tile.partition<@t0, 0>]>
  %columns = kernel.iota 1 : tensor<1x10xi32>
  // CHECK: kernel.gather %{{x.*}} at %{{.*}}, %{{.*}} along [0, 1] checked [0] : (!kernel.ref<50x72xf32, [72, 1]>, !tile.view<9x1xi64, [#tile.partition<@t0, 0>]>, tensor<1x10xi32>) -> !tile.view<9x10xf32, [#tile.partition<@t0, 0>]>
  %v = kernel.gather %x at %rows, %columns along [0, 1] checked [0] : (!kernel.ref<50x72xf32, [72, 1]>, !tile.view<9x1xi64, [#tile.partition<@t0, 0>]>, tensor<1x10xi32>) -> !tile.view<9x10xf32, [#tile.partition<@t0, 0>]>
  kernel.store %v, %y : !tile.view<9x10xf32, [#tile.partition<@t0, 0>]>, !kernel.ref<9x10xf32, [10, 1]>
}

// -----

// A call of an original operator stands between launches; its results are arrays of their own.
kernel.graph @calls {
  %x = kernel.buffer input "x" : !kernel.ref<8x4xf32, [4, 1]>
  // CHECK: %{{.*}}, %{{.*}} = kernel.host_call "aten.sort.default"(%{{.*}}) arguments {dim = 1 : i64} : (!kernel.ref<8x4xf32, [4, 1]>) -> (!kernel.ref<8x4xf32, [4, 1]>, !kernel.ref<8x4xi64, [4, 1]>)
  %values, %places = kernel.host_call "aten.sort.default"(%x) arguments {dim = 1 : i64} : (!kernel.ref<8x4xf32, [4, 1]>) -> (!kernel.ref<8x4xf32, [4, 1]>, !kernel.ref<8x4xi64, [4, 1]>)
  // CHECK: kernel.host_call "aten.rand.default"() : () -> !kernel.ref<4xf32, [1]>
  %draw = kernel.host_call "aten.rand.default"() : () -> !kernel.ref<4xf32, [1]>
  kernel.return %values, %draw : !kernel.ref<8x4xf32, [4, 1]>, !kernel.ref<4xf32, [1]>
}
