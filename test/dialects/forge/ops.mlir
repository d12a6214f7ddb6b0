// RUN: equiforge-opt %s | equiforge-opt | filecheck %s
// RUN: equiforge-opt %s --print-op-generic | equiforge-opt | filecheck %s
// RUN: equiforge-opt %s --print-op-generic | filecheck %s --check-prefix GENERIC

// Every op, attribute and element type of the dialect, through both forms of the text and back.

func.func @pointwise(%x : tensor<8x64xf32>, %b : tensor<8x64xi1>) {
  %0 = forge.neg %x : tensor<8x64xf32>
  %1 = forge.abs %x : tensor<8x64xf32>
  %2 = forge.exp %x : tensor<8x64xf32>
  %3 = forge.log %x : tensor<8x64xf32>
  %4 = forge.sqrt %x : tensor<8x64xf32>
  %5 = forge.rsqrt %x : tensor<8x64xf32>
  %6 = forge.recip %x : tensor<8x64xf32>
  %7 = forge.tanh %x : tensor<8x64xf32>
  %8 = forge.erf %x : tensor<8x64xf32>
  %9 = forge.sigmoid %x : tensor<8x64xf32>
  %10 = forge.relu %x : tensor<8x64xf32>
  %11 = forge.sin %x : tensor<8x64xf32>
  %12 = forge.cos %x : tensor<8x64xf32>
  %13 = forge.floor %x : tensor<8x64xf32>
  %14 = forge.ceil %x : tensor<8x64xf32>
  %15 = forge.round %x : tensor<8x64xf32>
  %16 = forge.not %b : tensor<8x64xi1>
  %17 = forge.add %x, %x : tensor<8x64xf32>
  %18 = forge.sub %x, %x : tensor<8x64xf32>
  %19 = forge.mul %x, %x : tensor<8x64xf32>
  %20 = forge.div %x, %x : tensor<8x64xf32>
  %21 = forge.max %x, %x : tensor<8x64xf32>
  %22 = forge.min %x, %x : tensor<8x64xf32>
  %23 = forge.pow %x, %x : tensor<8x64xf32>
  %24 = forge.rem %x, %x : tensor<8x64xf32>
  %25 = forge.and %b, %b : tensor<8x64xi1>
  %26 = forge.or %b, %b : tensor<8x64xi1>
  %27 = forge.xor %b, %b : tensor<8x64xi1>
  func.return
}
// CHECK-LABEL: func.func @pointwise
// CHECK-NEXT: %{{.*}} = forge.neg %x : tensor<8x64xf32>
// CHECK-NEXT: %{{.*}} = forge.abs %x : tensor<8x64xf32>
// CHECK-NEXT: %{{.*}} = forge.exp %x : tensor<8x64xf32>
// CHECK-NEXT: %{{.*}} = forge.log %x : tensor<8x64xf32>
// CHECK-NEXT: %{{.*}} = forge.sqrt %x : tensor<8x64xf32>
// CHECK-NEXT: %{{.*}} = forge.rsqrt %x : tensor<8x64xf32>
// CHECK-NEXT: %{{.*}} = forge.recip %x : tensor<8x64xf32>
// CHECK-NEXT: %{{.*}} = forge.tanh %x : tensor<8x64xf32>
// CHECK-NEXT: %{{.*}} = forge.erf %x : tensor<8x64xf32>
// CHECK-NEXT: %{{.*}} = forge.sigmoid %x : tensor<8x64xf32>
// CHECK-NEXT: %{{.*}} = forge.relu %x : tensor<8x64xf32>
// CHECK-NEXT: %{{.*}} = forge.sin %x : tensor<8x64xf32>
// CHECK-NEXT: %{{.*}} = forge.cos %x : tensor<8x64xf32>
// CHECK-NEXT: %{{.*}} = forge.floor %x : tensor<8x64xf32>
// CHECK-NEXT: %{{.*}} = forge.ceil %x : tensor<8x64xf32>
// CHECK-NEXT: %{{.*}} = forge.round %x : tensor<8x64xf32>
// CHECK-NEXT: %{{.*}} = forge.not %b : tensor<8x64xi1>
// CHECK-NEXT: %{{.*}} = forge.add %x, %x : tensor<8x64xf32>
// CHECK-NEXT: %{{.*}} = forge.sub %x, %x : tensor<8x64xf32>
// CHECK-NEXT: %{{.*}} = forge.mul %x, %x : tensor<8x64xf32>
// CHECK-NEXT: %{{.*}} = forge.div %x, %x : tensor<8x64xf32>
// CHECK-NEXT: %{{.*}} = forge.max %x, %x : tensor<8x64xf32>
// CHECK-NEXT: %{{.*}} = forge.min %x, %x : tensor<8x64xf32>
// CHECK-NEXT: %{{.*}} = forge.pow %x, %x : tensor<8x64xf32>
// CHECK-NEXT: %{{.*}} = forge.rem %x, %x : tensor<8x64xf32>
// CHECK-NEXT: %{{.*}} = forge.and %b, %b : tensor<8x64xi1>
// CHECK-NEXT: %{{.*}} = forge.or %b, %b : tensor<8x64xi1>
// CHECK-NEXT: %{{.*}} = forge.xor %b, %b : tensor<8x64xi1>
// GENERIC-LABEL: sym_name = "pointwise"
// GENERIC: "forge.add"(%x, %x) : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>

func.func @broadcast(%x : tensor<8x64xf32>, %row : tensor<1x64xf32>, %column : tensor<8x1xf32>, %m : tensor<1x64xi1>) {
  %0 = forge.add %column, %row : (tensor<8x1xf32>, tensor<1x64xf32>) -> tensor<8x64xf32>
  %1 = forge.select %m, %column, %x : (tensor<1x64xi1>, tensor<8x1xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  %2 = forge.compare ge %row, %column : (tensor<1x64xf32>, tensor<8x1xf32>) -> tensor<8x64xi1>
  %3 = forge.mul %x, %row {loc = "model.py:12"} : (tensor<8x64xf32>, tensor<1x64xf32>) -> tensor<8x64xf32>
  func.return
}
// CHECK-LABEL: func.func @broadcast
// CHECK-NEXT: %{{.*}} = forge.add %column, %row : (tensor<8x1xf32>, tensor<1x64xf32>) -> tensor<8x64xf32>
// CHECK-NEXT: %{{.*}} = forge.select %m, %column, %x : (tensor<1x64xi1>, tensor<8x1xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
// CHECK-NEXT: %{{.*}} = forge.compare ge %row, %column : (tensor<1x64xf32>, tensor<8x1xf32>) -> tensor<8x64xi1>
// CHECK-NEXT: %{{.*}} = forge.mul %x, %row {loc = "model.py:12"} : (tensor<8x64xf32>, tensor<1x64xf32>) -> tensor<8x64xf32>

func.func @integers(%i : tensor<4xi64>, %j : tensor<4xi8>) {
  %0 = forge.div %i, %i : tensor<4xi64>
  %1 = forge.rem %i, %i : tensor<4xi64>
  %2 = forge.xor %j, %j : tensor<4xi8>
  %3 = forge.neg %j : tensor<4xi8>
  func.return
}
// CHECK-LABEL: func.func @integers
// CHECK-NEXT: %{{.*}} = forge.div %i, %i : tensor<4xi64>
// CHECK-NEXT: %{{.*}} = forge.rem %i, %i : tensor<4xi64>
// CHECK-NEXT: %{{.*}} = forge.xor %j, %j : tensor<4xi8>
// CHECK-NEXT: %{{.*}} = forge.neg %j : tensor<4xi8>

func.func @comparisons(%x : tensor<4xf32>) {
  %0 = forge.compare eq %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %1 = forge.compare ne %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %2 = forge.compare lt %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %3 = forge.compare le %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %4 = forge.compare gt %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %5 = forge.compare ge %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  func.return
}
// CHECK-LABEL: func.func @comparisons
// CHECK-NEXT: %{{.*}} = forge.compare eq %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// CHECK-NEXT: %{{.*}} = forge.compare ne %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// CHECK-NEXT: %{{.*}} = forge.compare lt %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// CHECK-NEXT: %{{.*}} = forge.compare le %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// CHECK-NEXT: %{{.*}} = forge.compare gt %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// CHECK-NEXT: %{{.*}} = forge.compare ge %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// GENERIC-LABEL: sym_name = "comparisons"
// GENERIC: "forge.compare"(%x, %x) <{predicate = "ge"}>

func.func @element_types(%x : tensor<4xf32>) {
  %0 = forge.cast %x : tensor<4xf32> to tensor<4xf64>
  %1 = forge.cast %x : tensor<4xf32> to tensor<4xf32>
  %2 = forge.cast %x : tensor<4xf32> to tensor<4xf16>
  %3 = forge.cast %x : tensor<4xf32> to tensor<4xbf16>
  %4 = forge.cast %x : tensor<4xf32> to tensor<4xf8E4M3FN>
  %5 = forge.cast %x : tensor<4xf32> to tensor<4xf8E5M2>
  %6 = forge.cast %x : tensor<4xf32> to tensor<4xi64>
  %7 = forge.cast %x : tensor<4xf32> to tensor<4xi32>
  %8 = forge.cast %x : tensor<4xf32> to tensor<4xi16>
  %9 = forge.cast %x : tensor<4xf32> to tensor<4xi8>
  %10 = forge.cast %x : tensor<4xf32> to tensor<4xi1>
  func.return
}
// CHECK-LABEL: func.func @element_types
// CHECK-NEXT: %{{.*}} = forge.cast %x : tensor<4xf32> to tensor<4xf64>
// CHECK-NEXT: %{{.*}} = forge.cast %x : tensor<4xf32> to tensor<4xf32>
// CHECK-NEXT: %{{.*}} = forge.cast %x : tensor<4xf32> to tensor<4xf16>
// CHECK-NEXT: %{{.*}} = forge.cast %x : tensor<4xf32> to tensor<4xbf16>
// CHECK-NEXT: %{{.*}} = forge.cast %x : tensor<4xf32> to tensor<4xf8E4M3FN>
// CHECK-NEXT: %{{.*}} = forge.cast %x : tensor<4xf32> to tensor<4xf8E5M2>
// CHECK-NEXT: %{{.*}} = forge.cast %x : tensor<4xf32> to tensor<4xi64>
// CHECK-NEXT: %{{.*}} = forge.cast %x : tensor<4xf32> to tensor<4xi32>
// CHECK-NEXT: %{{.*}} = forge.cast %x : tensor<4xf32> to tensor<4xi16>
// CHECK-NEXT: %{{.*}} = forge.cast %x : tensor<4xf32> to tensor<4xi8>
// CHECK-NEXT: %{{.*}} = forge.cast %x : tensor<4xf32> to tensor<4xi1>

func.func @scalars() {
  %0 = forge.constant 1.0 : tensor<1x1xf32>
  %1 = forge.constant -inf : tensor<f32>
  %2 = forge.constant nan : tensor<1xf16>
  %3 = forge.constant -nan : tensor<1xbf16>
  %4 = forge.constant -0.0 : tensor<1xf64>
  %5 = forge.constant 1.0e-07 : tensor<1xf32>
  %6 = forge.constant 16777216.0 : tensor<1xf32>
  %7 = forge.constant 0.1 : tensor<1xf32>
  %8 = forge.constant 0.1 : tensor<1xf64>
  %9 = forge.constant -9223372036854775808 : tensor<1xi64>
  %10 = forge.constant true : tensor<1xi1>
  %11 = forge.constant 1.0e+300 : tensor<1xf64>
  %12 = forge.constant inf : tensor<1xf8E5M2>
  func.return
}
// CHECK-LABEL: func.func @scalars
// CHECK-NEXT: %{{.*}} = forge.constant 1.0 : tensor<1x1xf32>
// CHECK-NEXT: %{{.*}} = forge.constant -inf : tensor<f32>
// CHECK-NEXT: %{{.*}} = forge.constant nan : tensor<1xf16>
// CHECK-NEXT: %{{.*}} = forge.constant -nan : tensor<1xbf16>
// CHECK-NEXT: %{{.*}} = forge.constant -0.0 : tensor<1xf64>
// CHECK-NEXT: %{{.*}} = forge.constant 1.0e-07 : tensor<1xf32>
// CHECK-NEXT: %{{.*}} = forge.constant 16777216.0 : tensor<1xf32>
// CHECK-NEXT: %{{.*}} = forge.constant 0.1 : tensor<1xf32>
// CHECK-NEXT: %{{.*}} = forge.constant 0.1 : tensor<1xf64>
// CHECK-NEXT: %{{.*}} = forge.constant -9223372036854775808 : tensor<1xi64>
// CHECK-NEXT: %{{.*}} = forge.constant true : tensor<1xi1>
// CHECK-NEXT: %{{.*}} = forge.constant 1.0e+300 : tensor<1xf64>
// CHECK-NEXT: %{{.*}} = forge.constant inf : tensor<1xf8E5M2>
// GENERIC-LABEL: sym_name = "scalars"
// GENERIC: #forge.literal<1.0 : tensor<1x1xf32>>
// GENERIC: #forge.literal<-inf : tensor<f32>>

func.func @literals() {
  %0 = forge.constant [[1.0, nan, -0.0], [-inf, 2.5, 0.1]] : tensor<2x3xf32>
  %1 = forge.constant 0.5 : tensor<1024x1024xf16>
  %2 = forge.constant [true, false] : tensor<2xi1>
  %3 = forge.constant [] : tensor<0x3xf32>
  %4 = forge.constant [[], []] : tensor<2x0xi64>
  %5 = forge.constant [-1, 7] : tensor<2xi8>
  %6 = forge.constant "0x000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f40" : tensor<65xi8>
  %7 = forge.constant "0x0100c07f0000803f" : tensor<2xf32>
  func.return
}
// CHECK-LABEL: func.func @literals
// CHECK-NEXT: %{{.*}} = forge.constant [[1.0, nan, -0.0], [-inf, 2.5, 0.1]] : tensor<2x3xf32>
// CHECK-NEXT: %{{.*}} = forge.constant 0.5 : tensor<1024x1024xf16>
// CHECK-NEXT: %{{.*}} = forge.constant [true, false] : tensor<2xi1>
// CHECK-NEXT: %{{.*}} = forge.constant [] : tensor<0x3xf32>
// CHECK-NEXT: %{{.*}} = forge.constant [[], []] : tensor<2x0xi64>
// CHECK-NEXT: %{{.*}} = forge.constant [-1, 7] : tensor<2xi8>
// CHECK-NEXT: %{{.*}} = forge.constant "0x000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f40" : tensor<65xi8>
// CHECK-NEXT: %{{.*}} = forge.constant "0x0100c07f0000803f" : tensor<2xf32>

func.func @sums_and_products(%x : tensor<2x8x64xf32>, %h : tensor<2x8x64xf16>, %k : tensor<1x64x16xf16>, %b : tensor<4x2xi1>) {
  %0 = forge.matmul %h, %k : (tensor<2x8x64xf16>, tensor<1x64x16xf16>) -> tensor<2x8x16xf16>
  %1 = forge.matmul %h, %k : (tensor<2x8x64xf16>, tensor<1x64x16xf16>) -> tensor<2x8x16xf32>
  %2 = forge.reduce sum over 0 %x : (tensor<2x8x64xf32>) -> tensor<1x8x64xf32>
  %3 = forge.reduce prod over 1 %x : (tensor<2x8x64xf32>) -> tensor<2x1x64xf32>
  %4 = forge.reduce max over 2 %x : (tensor<2x8x64xf32>) -> tensor<2x8x1xf32>
  %5 = forge.reduce min over 0 %x : (tensor<2x8x64xf32>) -> tensor<1x8x64xf32>
  %6 = forge.reduce any over 0 %b : (tensor<4x2xi1>) -> tensor<1x2xi1>
  %7 = forge.reduce all over 1 %b : (tensor<4x2xi1>) -> tensor<4x1xi1>
  func.return
}
// CHECK-LABEL: func.func @sums_and_products
// CHECK-NEXT: %{{.*}} = forge.matmul %h, %k : (tensor<2x8x64xf16>, tensor<1x64x16xf16>) -> tensor<2x8x16xf16>
// CHECK-NEXT: %{{.*}} = forge.matmul %h, %k : (tensor<2x8x64xf16>, tensor<1x64x16xf16>) -> tensor<2x8x16xf32>
// CHECK-NEXT: %{{.*}} = forge.reduce sum over 0 %x : (tensor<2x8x64xf32>) -> tensor<1x8x64xf32>
// CHECK-NEXT: %{{.*}} = forge.reduce prod over 1 %x : (tensor<2x8x64xf32>) -> tensor<2x1x64xf32>
// CHECK-NEXT: %{{.*}} = forge.reduce max over 2 %x : (tensor<2x8x64xf32>) -> tensor<2x8x1xf32>
// CHECK-NEXT: %{{.*}} = forge.reduce min over 0 %x : (tensor<2x8x64xf32>) -> tensor<1x8x64xf32>
// CHECK-NEXT: %{{.*}} = forge.reduce any over 0 %b : (tensor<4x2xi1>) -> tensor<1x2xi1>
// CHECK-NEXT: %{{.*}} = forge.reduce all over 1 %b : (tensor<4x2xi1>) -> tensor<4x1xi1>
// GENERIC-LABEL: sym_name = "sums_and_products"
// GENERIC: "forge.reduce"(%x) <{reducer = "sum", dim = 0 : i64}>

func.func @structure(%x : tensor<8x64xf32>, %y : tensor<8x32xf32>, %c : tensor<1x64xf32>, %i : tensor<3x1xi64>) {
  %0 = forge.transpose %x perm [1, 0] : (tensor<8x64xf32>) -> tensor<64x8xf32>
  %1 = forge.reshape %x : (tensor<8x64xf32>) -> tensor<2x4x64xf32>
  %2 = forge.expand %c : (tensor<1x64xf32>) -> tensor<8x64xf32>
  %3 = forge.slice %x along 1 from 2 to 60 step 3 : (tensor<8x64xf32>) -> tensor<8x20xf32>
  %4 = forge.concat 1 %x, %y : (tensor<8x64xf32>, tensor<8x32xf32>) -> tensor<8x96xf32>
  %5 = forge.pad %x along 0 by 1, 2 with -0.0 : (tensor<8x64xf32>) -> tensor<11x64xf32>
  %6 = forge.pad %x along 1 by 0, 1 with -inf : (tensor<8x64xf32>) -> tensor<8x65xf32>
  %7 = forge.gather %x, %i along 0 : (tensor<8x64xf32>, tensor<3x1xi64>) -> tensor<3x64xf32>
  %8 = forge.iota 1 : tensor<1x64xi64>
  %9 = forge.index 1 from -4 step 2 each 1 period 0 within 0 to 31 : tensor<1x20xi32>
  func.return
}
// CHECK-LABEL: func.func @structure
// CHECK-NEXT: %{{.*}} = forge.transpose %x perm [1, 0] : (tensor<8x64xf32>) -> tensor<64x8xf32>
// CHECK-NEXT: %{{.*}} = forge.reshape %x : (tensor<8x64xf32>) -> tensor<2x4x64xf32>
// CHECK-NEXT: %{{.*}} = forge.expand %c : (tensor<1x64xf32>) -> tensor<8x64xf32>
// CHECK-NEXT: %{{.*}} = forge.slice %x along 1 from 2 to 60 step 3 : (tensor<8x64xf32>) -> tensor<8x20xf32>
// CHECK-NEXT: %{{.*}} = forge.concat 1 %x, %y : (tensor<8x64xf32>, tensor<8x32xf32>) -> tensor<8x96xf32>
// CHECK-NEXT: %{{.*}} = forge.pad %x along 0 by 1, 2 with -0.0 : (tensor<8x64xf32>) -> tensor<11x64xf32>
// CHECK-NEXT: %{{.*}} = forge.pad %x along 1 by 0, 1 with -inf : (tensor<8x64xf32>) -> tensor<8x65xf32>
// CHECK-NEXT: %{{.*}} = forge.gather %x, %i along 0 : (tensor<8x64xf32>, tensor<3x1xi64>) -> tensor<3x64xf32>
// CHECK-NEXT: %{{.*}} = forge.iota 1 : tensor<1x64xi64>
// CHECK-NEXT: %{{.*}} = forge.index 1 from -4 step 2 each 1 period 0 within 0 to 31 : tensor<1x20xi32>
// GENERIC-LABEL: sym_name = "structure"
// GENERIC: "forge.transpose"(%x) <{perm = array<i64: 1, 0>}>
// GENERIC: "forge.slice"(%x) <{dim = 1 : i64, start = 2 : i64, stop = 60 : i64, step = 3 : i64}>

func.func @what_is_not_modelled(%x : tensor<8xf32>, %i : tensor<2xi64>) {
  %0 = forge.random uniform : tensor<8xf32>
  %1 = forge.random normal : tensor<8xbf16>
  %2 = forge.opaque "aten.cumsum.default"(%x) arguments {dim = 0 : i64} : tensor<8xf32>
  %3:2 = forge.opaque "aten.sort.default"(%x) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xi64>)
  %4 = forge.opaque "aten.empty.default"() : () -> tensor<f32>
  func.return
}
// CHECK-LABEL: func.func @what_is_not_modelled
// CHECK-NEXT: %{{.*}} = forge.random uniform : tensor<8xf32>
// CHECK-NEXT: %{{.*}} = forge.random normal : tensor<8xbf16>
// CHECK-NEXT: %{{.*}} = forge.opaque "aten.cumsum.default"(%x) arguments {dim = 0 : i64} : tensor<8xf32>
// CHECK-NEXT: %{{.*}}, %{{.*}} = forge.opaque "aten.sort.default"(%x) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xi64>)
// CHECK-NEXT: %{{.*}} = forge.opaque "aten.empty.default"() : () -> tensor<f32>

func.func @tuples(%x : tensor<8xf32>, %i : tensor<2xi64>) {
  %0 = forge.tuple %x, %i : (tensor<8xf32>, tensor<2xi64>) -> tuple<tensor<8xf32>, tensor<2xi64>>
  %1 = forge.get 1 of %0 : (tuple<tensor<8xf32>, tensor<2xi64>>) -> tensor<2xi64>
  func.return
}
// CHECK-LABEL: func.func @tuples
// CHECK-NEXT: %{{.*}} = forge.tuple %x, %i : (tensor<8xf32>, tensor<2xi64>) -> tuple<tensor<8xf32>, tensor<2xi64>>
// CHECK-NEXT: %{{.*}} = forge.get 1 of %{{.*}} : (tuple<tensor<8xf32>, tensor<2xi64>>) -> tensor<2xi64>

func.func @pointwise_on_views(%x : !tile.view<8x64xf32, [#tile.partition<@q0, 0>]>, %c : !tile.view<8x1xf32, [#tile.partition<@q0, 0>]>, %r : !tile.view<1x64xf32, [#tile.replicate<@q0>]>, %p : !tile.view<8x64xf32, [#tile.partial<@q0, sum>]>) {
  %0 = forge.exp %x : !tile.view<8x64xf32, [#tile.partition<@q0, 0>]>
  %1 = forge.sub %x, %c : (!tile.view<8x64xf32, [#tile.partition<@q0, 0>]>, !tile.view<8x1xf32, [#tile.partition<@q0, 0>]>) -> !tile.view<8x64xf32, [#tile.partition<@q0, 0>]>
  %2 = forge.mul %c, %r : (!tile.view<8x1xf32, [#tile.partition<@q0, 0>]>, !tile.view<1x64xf32, [#tile.replicate<@q0>]>) -> !tile.view<8x64xf32, [#tile.partition<@q0, 0>]>
  %3 = forge.compare lt %r, %r : (!tile.view<1x64xf32, [#tile.replicate<@q0>]>, !tile.view<1x64xf32, [#tile.replicate<@q0>]>) -> !tile.view<1x64xi1, [#tile.replicate<@q0>]>
  %4 = forge.cast %p : !tile.view<8x64xf32, [#tile.partial<@q0, sum>]> to !tile.view<8x64xf16, [#tile.partial<@q0, sum>]>
  func.return
}
// CHECK-LABEL: func.func @pointwise_on_views
// CHECK-NEXT: %{{.*}} = forge.exp %x : !tile.view<8x64xf32, [#tile.partition<@q0, 0>]>
// CHECK-NEXT: %{{.*}} = forge.sub %x, %c : (!tile.view<8x64xf32, [#tile.partition<@q0, 0>]>, !tile.view<8x1xf32, [#tile.partition<@q0, 0>]>) -> !tile.view<8x64xf32, [#tile.partition<@q0, 0>]>
// CHECK-NEXT: %{{.*}} = forge.mul %c, %r : (!tile.view<8x1xf32, [#tile.partition<@q0, 0>]>, !tile.view<1x64xf32, [#tile.replicate<@q0>]>) -> !tile.view<8x64xf32, [#tile.partition<@q0, 0>]>
// CHECK-NEXT: %{{.*}} = forge.compare lt %r, %r : (!tile.view<1x64xf32, [#tile.replicate<@q0>]>, !tile.view<1x64xf32, [#tile.replicate<@q0>]>) -> !tile.view<1x64xi1, [#tile.replicate<@q0>]>
// CHECK-NEXT: %{{.*}} = forge.cast %p : !tile.view<8x64xf32, [#tile.partial<@q0, sum>]> to !tile.view<8x64xf16, [#tile.partial<@q0, sum>]>

// The attributes that programs carry.
builtin.module attributes {forge.numerics = "strict"} {
  func.func @main(%q : tensor<8xf32> {forge.name = "q"}) {
    func.return
  }
}
// CHECK-LABEL: builtin.module attributes {forge.numerics = "strict"}
// CHECK-NEXT: func.func @main(%q: tensor<8xf32> {forge.name = "q"})
