// RUN: equiforge-opt %s | equiforge-opt | filecheck %s
// RUN: equiforge-opt %s --print-op-generic | equiforge-opt | filecheck %s
// RUN: equiforge-opt %s --print-op-generic | filecheck %s --check-prefix GENERIC

// Every op, attribute and type of the dialect, through both forms of the text and back.

tile.axis @q0 extent 64
tile.axis @k0 extent 128
tile.axis @v0 extent 32
// CHECK:      tile.axis @q0 extent 64
// CHECK-NEXT: tile.axis @k0 extent 128
// CHECK-NEXT: tile.axis @v0 extent 32
// GENERIC: "tile.axis"() <{sym_name = "q0", extent = 64 : i64}> : () -> ()

// Sums of exponentials under a running maximum: with merge, final and a certificate.
tile.reducer @online identity [-inf, 0.0] certificate "m' = max(m, x)" body(%m: !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>, %l: !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>, %x: !tile.view<64x128xf32, [#tile.partition<@k0, 1>, #tile.partition<@q0, 0>]>) {
  %p = tile.reduce max over axis(1) %x : (!tile.view<64x128xf32, [#tile.partition<@k0, 1>, #tile.partition<@q0, 0>]>) -> !tile.view<64x1xf32, [#tile.partial<@k0, max>, #tile.partition<@q0, 0>]>
  %m1 = tile.accumulate max %m, %p over @k0 : (!tile.view<64x1xf32, [#tile.partition<@q0, 0>]>, !tile.view<64x1xf32, [#tile.partial<@k0, max>, #tile.partition<@q0, 0>]>) -> !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>
  %r = tile.replicate %m1 by @k0 : (!tile.view<64x1xf32, [#tile.partition<@q0, 0>]>) -> !tile.view<64x1xf32, [#tile.replicate<@k0>, #tile.partition<@q0, 0>]>
  %d = forge.sub %x, %r : (!tile.view<64x128xf32, [#tile.partition<@k0, 1>, #tile.partition<@q0, 0>]>, !tile.view<64x1xf32, [#tile.replicate<@k0>, #tile.partition<@q0, 0>]>) -> !tile.view<64x128xf32, [#tile.partition<@k0, 1>, #tile.partition<@q0, 0>]>
  %e = forge.exp %d : !tile.view<64x128xf32, [#tile.partition<@k0, 1>, #tile.partition<@q0, 0>]>
  %s = tile.reduce sum over axis(1) %e : (!tile.view<64x128xf32, [#tile.partition<@k0, 1>, #tile.partition<@q0, 0>]>) -> !tile.view<64x1xf32, [#tile.partial<@k0, sum>, #tile.partition<@q0, 0>]>
  %c = forge.sub %m, %m1 : !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>
  %f = forge.exp %c : !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>
  %g = forge.mul %l, %f : !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>
  %l1 = tile.accumulate sum %g, %s over @k0 : (!tile.view<64x1xf32, [#tile.partition<@q0, 0>]>, !tile.view<64x1xf32, [#tile.partial<@k0, sum>, #tile.partition<@q0, 0>]>) -> !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>
  tile.yield %m1, %l1 : !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>, !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>
} merge(%a: !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>, %c: !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>, %b: !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>, %d: !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>) {
  %m = forge.max %a, %b : !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>
  %n = forge.add %c, %d : !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>
  tile.yield %m, %n : !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>, !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>
} final(%m: !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>, %l: !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>) {
  tile.yield %l : !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>
}
// CHECK:      tile.reducer @online identity [-inf, 0.0] certificate "m' = max(m, x)" body(%m: !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>, %l: !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>, %x: !tile.view<64x128xf32, [#tile.partition<@k0, 1>, #tile.partition<@q0, 0>]>) {
// CHECK-NEXT: %p = tile.reduce max over axis(1) %x : (!tile.view<64x128xf32, [#tile.partition<@k0, 1>, #tile.partition<@q0, 0>]>) -> !tile.view<64x1xf32, [#tile.partial<@k0, max>, #tile.partition<@q0, 0>]>
// CHECK-NEXT: %m1 = tile.accumulate max %m, %p over @k0 : (!tile.view<64x1xf32, [#tile.partition<@q0, 0>]>, !tile.view<64x1xf32, [#tile.partial<@k0, max>, #tile.partition<@q0, 0>]>) -> !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>
// CHECK-NEXT: %r = tile.replicate %m1 by @k0 : (!tile.view<64x1xf32, [#tile.partition<@q0, 0>]>) -> !tile.view<64x1xf32, [#tile.replicate<@k0>, #tile.partition<@q0, 0>]>
// CHECK-NEXT: %d = forge.sub %x, %r : (!tile.view<64x128xf32, [#tile.partition<@k0, 1>, #tile.partition<@q0, 0>]>, !tile.view<64x1xf32, [#tile.replicate<@k0>, #tile.partition<@q0, 0>]>) -> !tile.view<64x128xf32, [#tile.partition<@k0, 1>, #tile.partition<@q0, 0>]>
// CHECK-NEXT: %e = forge.exp %d : !tile.view<64x128xf32, [#tile.partition<@k0, 1>, #tile.partition<@q0, 0>]>
// CHECK-NEXT: %s = tile.reduce sum over axis(1) %e : (!tile.view<64x128xf32, [#tile.partition<@k0, 1>, #tile.partition<@q0, 0>]>) -> !tile.view<64x1xf32, [#tile.partial<@k0, sum>, #tile.partition<@q0, 0>]>
// CHECK-NEXT: %c = forge.sub %m, %m1 : !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>
// CHECK-NEXT: %f = forge.exp %c : !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>
// CHECK-NEXT: %g = forge.mul %l, %f : !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>
// CHECK-NEXT: %l1 = tile.accumulate sum %g, %s over @k0 : (!tile.view<64x1xf32, [#tile.partition<@q0, 0>]>, !tile.view<64x1xf32, [#tile.partial<@k0, sum>, #tile.partition<@q0, 0>]>) -> !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>
// CHECK-NEXT: tile.yield %m1, %l1 : !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>, !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>
// CHECK-NEXT: } merge(%a: !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>, %c: !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>, %b: !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>, %d: !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>) {
// CHECK-NEXT: %m = forge.max %a, %b : !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>
// CHECK-NEXT: %n = forge.add %c, %d : !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>
// CHECK-NEXT: tile.yield %m, %n : !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>, !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>
// CHECK-NEXT: } final(%m: !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>, %l: !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>) {
// CHECK-NEXT: tile.yield %l : !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>
// CHECK-NEXT: }
// GENERIC: "tile.reducer"() <{sym_name = "online", identity = [0xfff0000000000000 : f64, 0.000000e+00 : f64], certificate = "m' = max(m, x)"}>

// The body alone; an attribute of another tool; numbers that need many digits.
tile.reducer @plain identity [1.0e-300] attributes {other = 1 : i64} body(%l: !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>, %x: !tile.view<64x128xf32, [#tile.partition<@k0, 1>, #tile.partition<@q0, 0>]>) {
  %s = tile.reduce sum over axis(1) %x : (!tile.view<64x128xf32, [#tile.partition<@k0, 1>, #tile.partition<@q0, 0>]>) -> !tile.view<64x1xf32, [#tile.partial<@k0, sum>, #tile.partition<@q0, 0>]>
  %l1 = tile.accumulate sum %l, %s over @k0 : (!tile.view<64x1xf32, [#tile.partition<@q0, 0>]>, !tile.view<64x1xf32, [#tile.partial<@k0, sum>, #tile.partition<@q0, 0>]>) -> !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>
  tile.yield %l1 : !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>
}
// CHECK:      tile.reducer @plain identity [1.0e-300] attributes {other = 1 : i64} body(%l: !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>, %x: !tile.view<64x128xf32, [#tile.partition<@k0, 1>, #tile.partition<@q0, 0>]>) {
// CHECK-NEXT: %s = tile.reduce sum over axis(1) %x : (!tile.view<64x128xf32, [#tile.partition<@k0, 1>, #tile.partition<@q0, 0>]>) -> !tile.view<64x1xf32, [#tile.partial<@k0, sum>, #tile.partition<@q0, 0>]>
// CHECK-NEXT: %l1 = tile.accumulate sum %l, %s over @k0 : (!tile.view<64x1xf32, [#tile.partition<@q0, 0>]>, !tile.view<64x1xf32, [#tile.partial<@k0, sum>, #tile.partition<@q0, 0>]>) -> !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>
// CHECK-NEXT: tile.yield %l1 : !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>
// CHECK-NEXT: }

func.func @main(%x: tensor<64x128xf32>) -> tensor<64x1xf32> {
  %k = tile.partition %x along 1 by @k0 : (tensor<64x128xf32>) -> !tile.view<64x128xf32, [#tile.partition<@k0, 1>]>
  %v = tile.partition %k along 0 by @q0 : (!tile.view<64x128xf32, [#tile.partition<@k0, 1>]>) -> !tile.view<64x128xf32, [#tile.partition<@k0, 1>, #tile.partition<@q0, 0>]>
  %p = tile.reduce sum over axis(1) %v : (!tile.view<64x128xf32, [#tile.partition<@k0, 1>, #tile.partition<@q0, 0>]>) -> !tile.view<64x1xf32, [#tile.partial<@k0, sum>, #tile.partition<@q0, 0>]>
  %s = tile.reduce sum over parallel(@k0) %p : (!tile.view<64x1xf32, [#tile.partial<@k0, sum>, #tile.partition<@q0, 0>]>) -> !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>
  %again = tile.reduce sum over axis(1) %p : !tile.view<64x1xf32, [#tile.partial<@k0, sum>, #tile.partition<@q0, 0>]>
  %r = tile.replicate %s by @k0 : (!tile.view<64x1xf32, [#tile.partition<@q0, 0>]>) -> !tile.view<64x1xf32, [#tile.replicate<@k0>, #tile.partition<@q0, 0>]>
  %t = tile.reduce @online over parallel(@k0) %v : (!tile.view<64x128xf32, [#tile.partition<@k0, 1>, #tile.partition<@q0, 0>]>) -> tuple<!tile.view<64x1xf32, [#tile.partition<@q0, 0>]>>
  %u = tile.reduce @plain over parallel(@k0) %v : (!tile.view<64x128xf32, [#tile.partition<@k0, 1>, #tile.partition<@q0, 0>]>) -> tuple<!tile.view<64x1xf32, [#tile.partition<@q0, 0>]>>
  %w = tile.collect %p by @k0 : (!tile.view<64x1xf32, [#tile.partial<@k0, sum>, #tile.partition<@q0, 0>]>) -> !tile.view<?x64x1xf32, [#tile.partition<@q0, 1>]>
  %n = tile.collect %p by @k0 into 4 : (!tile.view<64x1xf32, [#tile.partial<@k0, sum>, #tile.partition<@q0, 0>]>) -> !tile.view<4x64x1xf32, [#tile.partition<@q0, 1>]>
  %o = tile.collect %r by @k0 into 1 : (!tile.view<64x1xf32, [#tile.replicate<@k0>, #tile.partition<@q0, 0>]>) -> !tile.view<1x64x1xf32, [#tile.partition<@q0, 1>]>
  %g = tile.collect %k by @k0 : (!tile.view<64x128xf32, [#tile.partition<@k0, 1>]>) -> tensor<?x64x?xf32>
  %c = tile.combine %s along 0 by @q0 : (!tile.view<64x1xf32, [#tile.partition<@q0, 0>]>) -> tensor<64x1xf32>
  %y = tile.store %c : tensor<64x1xf32>
  %z = tile.store %c : (tensor<64x1xf32>) -> tensor<64x1xbf16>
  func.return %y : tensor<64x1xf32>
}
// CHECK:      func.func @main(%x: tensor<64x128xf32>) -> tensor<64x1xf32> {
// CHECK-NEXT: %k = tile.partition %x along 1 by @k0 : (tensor<64x128xf32>) -> !tile.view<64x128xf32, [#tile.partition<@k0, 1>]>
// CHECK-NEXT: %v = tile.partition %k along 0 by @q0 : (!tile.view<64x128xf32, [#tile.partition<@k0, 1>]>) -> !tile.view<64x128xf32, [#tile.partition<@k0, 1>, #tile.partition<@q0, 0>]>
// CHECK-NEXT: %p = tile.reduce sum over axis(1) %v : (!tile.view<64x128xf32, [#tile.partition<@k0, 1>, #tile.partition<@q0, 0>]>) -> !tile.view<64x1xf32, [#tile.partial<@k0, sum>, #tile.partition<@q0, 0>]>
// CHECK-NEXT: %s = tile.reduce sum over parallel(@k0) %p : (!tile.view<64x1xf32, [#tile.partial<@k0, sum>, #tile.partition<@q0, 0>]>) -> !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>
// CHECK-NEXT: %again = tile.reduce sum over axis(1) %p : !tile.view<64x1xf32, [#tile.partial<@k0, sum>, #tile.partition<@q0, 0>]>
// CHECK-NEXT: %r = tile.replicate %s by @k0 : (!tile.view<64x1xf32, [#tile.partition<@q0, 0>]>) -> !tile.view<64x1xf32, [#tile.replicate<@k0>, #tile.partition<@q0, 0>]>
// CHECK-NEXT: %t = tile.reduce @online over parallel(@k0) %v : (!tile.view<64x128xf32, [#tile.partition<@k0, 1>, #tile.partition<@q0, 0>]>) -> tuple<!tile.view<64x1xf32, [#tile.partition<@q0, 0>]>>
// CHECK-NEXT: %u = tile.reduce @plain over parallel(@k0) %v : (!tile.view<64x128xf32, [#tile.partition<@k0, 1>, #tile.partition<@q0, 0>]>) -> tuple<!tile.view<64x1xf32, [#tile.partition<@q0, 0>]>>
// CHECK-NEXT: %w = tile.collect %p by @k0 : (!tile.view<64x1xf32, [#tile.partial<@k0, sum>, #tile.partition<@q0, 0>]>) -> !tile.view<?x64x1xf32, [#tile.partition<@q0, 1>]>
// CHECK-NEXT: %n = tile.collect %p by @k0 into 4 : (!tile.view<64x1xf32, [#tile.partial<@k0, sum>, #tile.partition<@q0, 0>]>) -> !tile.view<4x64x1xf32, [#tile.partition<@q0, 1>]>
// CHECK-NEXT: %o = tile.collect %r by @k0 into 1 : (!tile.view<64x1xf32, [#tile.replicate<@k0>, #tile.partition<@q0, 0>]>) -> !tile.view<1x64x1xf32, [#tile.partition<@q0, 1>]>
// CHECK-NEXT: %g = tile.collect %k by @k0 : (!tile.view<64x128xf32, [#tile.partition<@k0, 1>]>) -> tensor<?x64x?xf32>
// CHECK-NEXT: %c = tile.combine %s along 0 by @q0 : (!tile.view<64x1xf32, [#tile.partition<@q0, 0>]>) -> tensor<64x1xf32>
// CHECK-NEXT: %y = tile.store %c : tensor<64x1xf32>
// CHECK-NEXT: %z = tile.store %c : (tensor<64x1xf32>) -> tensor<64x1xbf16>
// CHECK-NEXT: func.return %y : tensor<64x1xf32>
// CHECK-NEXT: }
// GENERIC: "tile.partition"(%x) <{dim = 1 : i64, axis = @k0}>
// GENERIC: "tile.reduce"(%v) <{reducer = "sum", dim = 1 : i64}>
// GENERIC: "tile.reduce"(%p) <{reducer = "sum", axis = @k0}>
// GENERIC: "tile.reduce"(%v) <{reducer = @online, axis = @k0}>

func.func @collect_field_by_field(%t: tuple<!tile.view<64x1xf32, [#tile.partial<@k0, sum>, #tile.partition<@q0, 0>]>, !tile.view<64x128xf32, [#tile.partition<@k0, 1>]>>) {
  %c = tile.collect %t by @k0 : (tuple<!tile.view<64x1xf32, [#tile.partial<@k0, sum>, #tile.partition<@q0, 0>]>, !tile.view<64x128xf32, [#tile.partition<@k0, 1>]>>) -> tuple<!tile.view<?x64x1xf32, [#tile.partition<@q0, 1>]>, tensor<?x64x?xf32>>
  func.return
}
// CHECK:      func.func @collect_field_by_field(%t: tuple<!tile.view<64x1xf32, [#tile.partial<@k0, sum>, #tile.partition<@q0, 0>]>, !tile.view<64x128xf32, [#tile.partition<@k0, 1>]>>) {
// CHECK-NEXT: %c = tile.collect %t by @k0 : (tuple<!tile.view<64x1xf32, [#tile.partial<@k0, sum>, #tile.partition<@q0, 0>]>, !tile.view<64x128xf32, [#tile.partition<@k0, 1>]>>) -> tuple<!tile.view<?x64x1xf32, [#tile.partition<@q0, 1>]>, tensor<?x64x?xf32>>
// CHECK-NEXT: func.return
// CHECK-NEXT: }

// Rows, columns, batch and contraction partitioned; the default precision is not printed.
func.func @products(%a: !tile.view<64x128xf16, [#tile.partition<@k0, 1>, #tile.partition<@q0, 0>]>, %b: !tile.view<128x32xf16, [#tile.partition<@k0, 0>, #tile.replicate<@q0>]>, %c: tensor<64x128xf32>, %d: tensor<128x32xf32>, %r: !tile.view<64x128xf16, [#tile.replicate<@v0>]>, %n: !tile.view<128x32xf16, [#tile.partition<@v0, 1>]>, %e: !tile.view<32x64x128xf64, [#tile.partition<@v0, 0>]>, %f: !tile.view<1x128x16xf64, [#tile.replicate<@v0>]>) {
  %0 = tile.matmul %a, %b : (!tile.view<64x128xf16, [#tile.partition<@k0, 1>, #tile.partition<@q0, 0>]>, !tile.view<128x32xf16, [#tile.partition<@k0, 0>, #tile.replicate<@q0>]>) -> !tile.view<64x32xf32, [#tile.partial<@k0, sum>, #tile.partition<@q0, 0>]>
  %1 = tile.matmul %c, %d {precision = "tf32"} : (tensor<64x128xf32>, tensor<128x32xf32>) -> tensor<64x32xf32>
  %2 = tile.matmul %r, %n : (!tile.view<64x128xf16, [#tile.replicate<@v0>]>, !tile.view<128x32xf16, [#tile.partition<@v0, 1>]>) -> !tile.view<64x32xf32, [#tile.partition<@v0, 1>]>
  %3 = tile.matmul %r, %n : (!tile.view<64x128xf16, [#tile.replicate<@v0>]>, !tile.view<128x32xf16, [#tile.partition<@v0, 1>]>) -> !tile.view<64x32xf16, [#tile.partition<@v0, 1>]>
  %4 = tile.matmul %e, %f : (!tile.view<32x64x128xf64, [#tile.partition<@v0, 0>]>, !tile.view<1x128x16xf64, [#tile.replicate<@v0>]>) -> !tile.view<32x64x16xf64, [#tile.partition<@v0, 0>]>
  func.return
}
// CHECK:      func.func @products(%a: !tile.view<64x128xf16, [#tile.partition<@k0, 1>, #tile.partition<@q0, 0>]>, %b: !tile.view<128x32xf16, [#tile.partition<@k0, 0>, #tile.replicate<@q0>]>, %c: tensor<64x128xf32>, %d: tensor<128x32xf32>, %r: !tile.view<64x128xf16, [#tile.replicate<@v0>]>, %n: !tile.view<128x32xf16, [#tile.partition<@v0, 1>]>, %e: !tile.view<32x64x128xf64, [#tile.partition<@v0, 0>]>, %f: !tile.view<1x128x16xf64, [#tile.replicate<@v0>]>) {
// CHECK-NEXT: %{{.*}} = tile.matmul %a, %b : (!tile.view<64x128xf16, [#tile.partition<@k0, 1>, #tile.partition<@q0, 0>]>, !tile.view<128x32xf16, [#tile.partition<@k0, 0>, #tile.replicate<@q0>]>) -> !tile.view<64x32xf32, [#tile.partial<@k0, sum>, #tile.partition<@q0, 0>]>
// CHECK-NEXT: %{{.*}} = tile.matmul %c, %d {precision = "tf32"} : (tensor<64x128xf32>, tensor<128x32xf32>) -> tensor<64x32xf32>
// CHECK-NEXT: %{{.*}} = tile.matmul %r, %n : (!tile.view<64x128xf16, [#tile.replicate<@v0>]>, !tile.view<128x32xf16, [#tile.partition<@v0, 1>]>) -> !tile.view<64x32xf32, [#tile.partition<@v0, 1>]>
// CHECK-NEXT: %{{.*}} = tile.matmul %r, %n : (!tile.view<64x128xf16, [#tile.replicate<@v0>]>, !tile.view<128x32xf16, [#tile.partition<@v0, 1>]>) -> !tile.view<64x32xf16, [#tile.partition<@v0, 1>]>
// CHECK-NEXT: %{{.*}} = tile.matmul %e, %f : (!tile.view<32x64x128xf64, [#tile.partition<@v0, 0>]>, !tile.view<1x128x16xf64, [#tile.replicate<@v0>]>) -> !tile.view<32x64x16xf64, [#tile.partition<@v0, 0>]>
// CHECK-NEXT: func.return
// CHECK-NEXT: }
// GENERIC: "tile.matmul"(%a, %b) <{precision = "ieee"}>
