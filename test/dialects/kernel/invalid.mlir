// RUN: equiforge-opt %s --parsing-diagnostics --verify-diagnostics --split-input-file | filecheck %s

// CHECK: kernel.graph must end with kernel.return
kernel.graph @main {
  %x = kernel.buffer input "x" : !kernel.ref<8xf16, [1]>
  tile.yield %x : !kernel.ref<8xf16, [1]>
}

// -----

// CHECK: kernel.buffer: kind scratch is none of input, constant, temporary, output
kernel.graph @main {
  %x = kernel.buffer scratch "x" : !kernel.ref<8xf16, [1]>
  kernel.return %x : !kernel.ref<8xf16, [1]>
}

// -----

// CHECK: kernel.buffer: kind constant without a value
kernel.graph @main {
  %x = kernel.buffer constant "x" : !kernel.ref<8xf16, [1]>
  kernel.return %x : !kernel.ref<8xf16, [1]>
}

// -----

// CHECK: 2 dimensions have 1 strides
kernel.graph @main {
  %x = kernel.buffer input "x" : !kernel.ref<8x4xf16, [1]>
  kernel.return %x : !kernel.ref<8x4xf16, [1]>
}

// -----

// CHECK: kernel.ref: the strides describe shape (6, 4), not (8, 4)
kernel.graph @main {
  %x = kernel.buffer input "x" : !kernel.ref<8x4xf16, [(3 x 4, 2 x 0), 1]>
  kernel.return %x : !kernel.ref<8x4xf16, [(3 x 4, 2 x 0), 1]>
}

// -----

// CHECK: kernel.view changes the element type f16 to f32
kernel.graph @main {
  %x = kernel.buffer input "x" : !kernel.ref<8xf16, [1]>
  %v = kernel.view %x : !kernel.ref<8xf16, [1]> to !kernel.ref<8xf32, [1]>
  kernel.return %v : !kernel.ref<8xf32, [1]>
}

// -----

// CHECK: kernel.view: !kernel.ref<8xf16, [1], offset = 1> reaches beyond !kernel.ref<8xf16, [1]>
kernel.graph @main {
  %x = kernel.buffer input "x" : !kernel.ref<8xf16, [1]>
  %v = kernel.view %x : !kernel.ref<8xf16, [1]> to !kernel.ref<8xf16, [1], offset = 1>
  kernel.return %v : !kernel.ref<8xf16, [1], offset = 1>
}

// -----

// CHECK: kernel.launch: @nothing is no kernel.func
kernel.graph @main {
  %x = kernel.buffer input "x" : !kernel.ref<8xf16, [1]>
  kernel.launch @nothing(%x) : !kernel.ref<8xf16, [1]>
  kernel.return %x : !kernel.ref<8xf16, [1]>
}

// -----

// CHECK: kernel.launch: @f takes (!kernel.ref<8xf32, [1]>), not (!kernel.ref<8xf16, [1]>)
kernel.graph @main {
  %x = kernel.buffer input "x" : !kernel.ref<8xf16, [1]>
  kernel.launch @f(%x) : !kernel.ref<8xf16, [1]>
  kernel.return %x : !kernel.ref<8xf16, [1]>
}
kernel.func @f(%x : !kernel.ref<8xf32, [1]>) grid [] {
}

// -----

// CHECK: kernel.schedule: q0 = 48 is no power of two
kernel.func @f() grid [] schedule #kernel.schedule<tiles = {q0 = 48}, warps = 4, stages = 3, matmul = dot> {
}

// -----

// CHECK: kernel.schedule: matmul = wmma is neither dot nor fma
kernel.func @f() grid [] schedule #kernel.schedule<tiles = {}, warps = 4, stages = 3, matmul = wmma> {
}

// -----

// CHECK: kernel.func @f: no tile.axis @t0 is declared
kernel.func @f() grid [@t0] {
}

// -----

// CHECK: kernel.func @f: an axis stands twice in the grid ['t0', 't0']
tile.axis @t0 extent 8
kernel.func @f() grid [@t0, @t0] {
}

// -----

// CHECK: kernel.load: tile !tile.view<8xf32, [#tile.partition<@t0, 0>]> and array !kernel.ref<8xf16, [1]> differ in shape or element type
tile.axis @t0 extent 8
kernel.func @f(%x : !kernel.ref<8xf16, [1]>) grid [@t0] {
  %v = kernel.load %x : !kernel.ref<8xf16, [1]> -> !tile.view<8xf32, [#tile.partition<@t0, 0>]>
}

// -----

// CHECK: kernel.load: !tile.view<8xf16, [#tile.partition<@k0, 0>]> depends on axis @k0, which neither the grid nor an enclosing loop binds
tile.axis @t0 extent 8
tile.axis @k0 extent 8
kernel.func @f(%x : !kernel.ref<8xf16, [1]>) grid [@t0] {
  %v = kernel.load %x : !kernel.ref<8xf16, [1]> -> !tile.view<8xf16, [#tile.partition<@k0, 0>]>
}

// -----

// CHECK: kernel.store: !tile.view<8xf32, [#tile.partial<@t0, sum>]> is a partial result over @t0 and can't be in memory
tile.axis @t0 extent 8
kernel.func @f(%x : !kernel.ref<8xf32, [1]>) grid [@t0] {
  %v = kernel.fill 0.0 : !tile.view<8xf32, [#tile.partial<@t0, sum>]>
  kernel.store %v, %x : !tile.view<8xf32, [#tile.partial<@t0, sum>]>, !kernel.ref<8xf32, [1]>
}

// -----

// CHECK: kernel.store: @k0 is no axis of the grid here
tile.axis @t0 extent 8
tile.axis @k0 extent 8
kernel.func @f(%x : !kernel.ref<4x8xf32, [8, 1]>) grid [@t0] {
  %v = kernel.fill 0.0 : !tile.view<8xf32, [#tile.partition<@t0, 0>]>
  kernel.store %v, %x at @k0 : !tile.view<8xf32, [#tile.partition<@t0, 0>]>, !kernel.ref<4x8xf32, [8, 1]>
}

// -----

// CHECK: kernel.store at @t0: the tile is a part of !tile.view<8xf32, [#tile.partition<@t0, 0>]> along it
tile.axis @t0 extent 8
kernel.func @f(%x : !kernel.ref<4x8xf32, [8, 1]>) grid [@t0] {
  %v = kernel.fill 0.0 : !tile.view<8xf32, [#tile.partition<@t0, 0>]>
  kernel.store %v, %x at @t0 : !tile.view<8xf32, [#tile.partition<@t0, 0>]>, !kernel.ref<4x8xf32, [8, 1]>
}

// -----

// CHECK: kernel.store: tile !tile.view<8xf32, [#tile.partial<@t0, sum>]> and array !kernel.ref<8xf32, [1]> differ in shape or element type
tile.axis @t0 extent 8
kernel.func @f(%x : !kernel.ref<8xf32, [1]>) grid [@t0] {
  %v = kernel.fill 0.0 : !tile.view<8xf32, [#tile.partial<@t0, sum>]>
  kernel.store %v, %x at @t0 : !tile.view<8xf32, [#tile.partial<@t0, sum>]>, !kernel.ref<8xf32, [1]>
}

// -----

// CHECK: kernel.store: !tile.view<8xf32, [#tile.partial<@k0, sum>, #tile.partial<@t0, sum>]> is a partial result over @k0 and can't be in memory
tile.axis @t0 extent 8
tile.axis @k0 extent 8
kernel.func @f(%x : !kernel.ref<4x8xf32, [8, 1]>) grid [@t0, @k0] {
  %v = kernel.fill 0.0 : !tile.view<8xf32, [#tile.partial<@k0, sum>, #tile.partial<@t0, sum>]>
  kernel.store %v, %x at @t0 : !tile.view<8xf32, [#tile.partial<@k0, sum>, #tile.partial<@t0, sum>]>, !kernel.ref<4x8xf32, [8, 1]>
}

// -----

// CHECK: kernel.store at @t0: 4 slices, but tiles of 4 cut 8 elements into 2
tile.axis @t0 extent 8
kernel.func @f(%x : !kernel.ref<4x3xf32, [3, 1]>) grid [@t0] schedule #kernel.schedule<tiles = {t0 = 4}, warps = 1, stages = 1, matmul = dot> {
  %v = kernel.fill 0.0 : !tile.view<3xf32, [#tile.partial<@t0, sum>]>
  kernel.store %v, %x at @t0 : !tile.view<3xf32, [#tile.partial<@t0, sum>]>, !kernel.ref<4x3xf32, [3, 1]>
}

// -----

// CHECK: kernel.iota: tensor<8xi64> has no dimension 1
kernel.func @f() grid [] {
  %v = kernel.iota 1 : tensor<8xi64>
}

// -----

// CHECK: kernel.for: no tile.axis @k0 is declared
kernel.func @f() grid [] {
  %z = kernel.fill 0.0 : tensor<8xf32>
  %r = kernel.for @k0 iter_args(%a = %z) {
    kernel.yield %a : tensor<8xf32>
  }
}

// -----

// CHECK: kernel.for @k0: initial values are (tensor<8xf32>) but the yielded values (tensor<8xf16>)
tile.axis @k0 extent 8
kernel.func @f() grid [] {
  %z = kernel.fill 0.0 : tensor<8xf32>
  %r = kernel.for @k0 iter_args(%a = %z) {
    %h = forge.cast %a : tensor<8xf32> to tensor<8xf16>
    kernel.yield %h : tensor<8xf16>
  }
}

// -----

// CHECK: kernel.for @k0 carries !tile.view<8xf32, [#tile.partition<@k0, 0>]>, which depends on the loop's own axis
tile.axis @k0 extent 8
kernel.func @f() grid [@k0] {
  %z = kernel.fill 0.0 : !tile.view<8xf32, [#tile.partition<@k0, 0>]>
  %r = kernel.for @k0 iter_args(%a = %z) {
    kernel.yield %a : !tile.view<8xf32, [#tile.partition<@k0, 0>]>
  }
}

// -----

// CHECK: kernel.for @k0: a bound names @q0, which is not bound outside
tile.axis @k0 extent 8
tile.axis @q0 extent 8
kernel.func @f() grid [] {
  %z = kernel.fill 0.0 : tensor<8xf32>
  %r = kernel.for @k0 iter_args(%a = %z) ranges [#kernel.range<[], [#kernel.bound<@q0, 0>]>] {
    kernel.yield %a : tensor<8xf32>
  }
}

// -----

// The grid's tile of @t0 is another one than the loop's.
// CHECK: forge.mul uses a value of type !tile.view<8x1xf32, [#tile.partition<@t0, 0>]> that was made outside the loop over @t0: its tile is another one
tile.axis @t0 extent 8
kernel.func @f(%x : !kernel.ref<8x1xf32, [1, 1]>) grid [@t0] {
  %v = kernel.load %x : !kernel.ref<8x1xf32, [1, 1]> -> !tile.view<8x1xf32, [#tile.partition<@t0, 0>]>
  %z = kernel.fill 0.0 : tensor<1x1xf32>
  %r = kernel.for @t0 iter_args(%a = %z) {
    %w = kernel.load %x : !kernel.ref<8x1xf32, [1, 1]> -> !tile.view<8x1xf32, [#tile.partition<@t0, 0>]>
    %m = forge.mul %v, %w : !tile.view<8x1xf32, [#tile.partition<@t0, 0>]>
    %p = tile.reduce sum over axis(0) %m : (!tile.view<8x1xf32, [#tile.partition<@t0, 0>]>) -> !tile.view<1x1xf32, [#tile.partial<@t0, sum>]>
    %n = tile.accumulate sum %a, %p over @t0 : (tensor<1x1xf32>, !tile.view<1x1xf32, [#tile.partial<@t0, sum>]>) -> tensor<1x1xf32>
    kernel.yield %n : tensor<1x1xf32>
  }
}

// -----

// CHECK: kernel.for @k1 in @k0: @k0 is not bound outside
tile.axis @k0 extent 8
tile.axis @k1 extent 8 within @k0
kernel.func @f() grid [] {
  %z = kernel.fill 0.0 : tensor<8xf32>
  %r = kernel.for @k1 in @k0 iter_args(%a = %z) {
    kernel.yield %a : tensor<8xf32>
  }
}

// -----

// CHECK: kernel.gather: 1 indices along dimensions [0, 1]
tile.axis @t0 extent 9
kernel.func @indices(%x : !kernel.ref<50x10xf32, [10, 1]>, %i : !kernel.ref<9x1xi64, [1, 1]>, %y : !kernel.ref<9x10xf32, [10, 1]>) grid [@t0] {
  %rows = kernel.load %i : !kernel.ref<9x1xi64, [1, 1]> -> !tile.view<9x1xi64, [#tile.partition<@t0, 0>]>
  %v = kernel.gather %x at %rows along [0, 1] checked [] : (!kernel.ref<50x10xf32, [10, 1]>, !tile.view<9x1xi64, [#tile.partition<@t0, 0>]>) -> !tile.view<9x10xf32, [#tile.partition<@t0, 0>]>
}

// -----

// CHECK: kernel.for @k1 in @k0: @k0 does not hold it: no axis is declared so
tile.axis @k0 extent 8
tile.axis @k1 extent 8
kernel.func @f() grid [@k0] {
  %z = kernel.fill 0.0 : tensor<8xf32>
  %r = kernel.for @k1 in @k0 iter_args(%a = %z) {
    kernel.yield %a : tensor<8xf32>
  }
}

// -----

// CHECK: kernel.gather: tile !tile.view<9x10xf16, [#tile.partition<@t0, 0>]> and array !kernel.ref<50x10xf32, [10, 1]> differ in rank or element type
tile.axis @t0 extent 9
kernel.func @elements(%x : !kernel.ref<50x10xf32, [10, 1]>, %i : !kernel.ref<9x1xi64, [1, 1]>, %y : !kernel.ref<9x10xf32, [10, 1]>) grid [@t0] {
  %rows = kernel.load %i : !kernel.ref<9x1xi64, [1, 1]> -> !tile.view<9x1xi64, [#tile.partition<@t0, 0>]>
  %v = kernel.gather %x at %rows along [0] checked [] : (!kernel.ref<50x10xf32, [10, 1]>, !tile.view<9x1xi64, [#tile.partition<@t0, 0>]>) -> !tile.view<9x10xf16, [#tile.partition<@t0, 0>]>
}

// -----

// CHECK: kernel.func @f: tiles of 32 of @k1 do not divide those of @k0, which have 16
tile.axis @k0 extent 64
tile.axis @k1 extent 64 within @k0
kernel.func @f() grid [@k0] schedule #kernel.schedule<tiles = {k0 = 16, k1 = 32}, warps = 4, stages = 1, matmul = dot> {
  %z = kernel.fill 0.0 : tensor<8xf32>
  %r = kernel.for @k1 in @k0 iter_args(%a = %z) {
    kernel.yield %a : tensor<8xf32>
  }
}

// -----

// CHECK: kernel.gather: dimension 1 of !kernel.ref<50x11xf32, [11, 1]> is neither 1 nor that of the tile
tile.axis @t0 extent 9
kernel.func @columns(%x : !kernel.ref<50x11xf32, [11, 1]>, %i : !kernel.ref<9x1xi64, [1, 1]>, %y : !kernel.ref<9x10xf32, [10, 1]>) grid [@t0] {
  %rows = kernel.load %i : !kernel.ref<9x1xi64, [1, 1]> -> !tile.view<9x1xi64, [#tile.partition<@t0, 0>]>
  %v = kernel.gather %x at %rows along [0] checked [] : (!kernel.ref<50x11xf32, [11, 1]>, !tile.view<9x1xi64, [#tile.partition<@t0, 0>]>) -> !tile.view<9x10xf32, [#tile.partition<@t0, 0>]>
}

// -----

// CHECK: kernel.host_call aten.sort.default: no result
kernel.graph @calls {
  %x = kernel.buffer input "x" : !kernel.ref<8x4xf32, [4, 1]>
  kernel.host_call "aten.sort.default"(%x) : (!kernel.ref<8x4xf32, [4, 1]>) -> ()
  kernel.return %x : !kernel.ref<8x4xf32, [4, 1]>
}
