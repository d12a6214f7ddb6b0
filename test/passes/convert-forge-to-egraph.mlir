// RUN: equiforge-opt %s --split-input-file -p convert-forge-to-egraph | filecheck %s
// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=16}' | filecheck %s --check-prefix=SMALL

// One class an op, with the dimension groups of its value; the contraction pair is one group (1). Dimension 1 is reduced and has at most
// 256 elements: a tile holds it whole, so it has no axis, unless whole-extent is smaller.
// CHECK:      builtin.module attributes {forge.numerics = "real"}
// CHECK-NEXT: tile.axis @w1 extent 48 {group = 2 : i64}
// CHECK-NEXT: tile.axis @x0 extent 64 {group = 0 : i64}
// CHECK-NEXT: func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x48xf32>) -> tensor<64x48xf32>
// CHECK-NEXT: [[G:%[0-9]+]] = equivalence.graph -> tensor<64x48xf32>
// CHECK-NEXT: [[X:%x_[0-9]+]] = equivalence.class %x {groups = array<i64: 0, 1>}
// CHECK-NEXT: [[W:%w_[0-9]+]] = equivalence.class %w {groups = array<i64: 1, 2>}
// CHECK-NEXT: [[E:%[0-9]+]] = forge.exp [[X]] : tensor<64x32xf32>
// CHECK-NEXT: %e = equivalence.class [[E]] {groups = array<i64: 0, 1>, wide = "f32", narrow = "f32"}
// CHECK-NEXT: [[Y:%[0-9]+]] = forge.matmul %e, [[W]]
// CHECK-NEXT: %y = equivalence.class [[Y]] {groups = array<i64: 0, 2>, wide = "f32", narrow = "f32"}
// CHECK-NEXT: equivalence.yield %y
// CHECK:      func.return [[G]]
// SMALL:      tile.axis @w1 extent 48
// SMALL-NEXT: tile.axis @x0 extent 64
// SMALL-NEXT: tile.axis @x1 extent 32 {group = 1 : i64}
func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x48xf32>) -> tensor<64x48xf32> {
  %e = forge.exp %x : tensor<64x32xf32>
  %y = forge.matmul %e, %w : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
  func.return %y : tensor<64x48xf32>
}

// -----

// In real arithmetic a cast between floats is no e-node: the class of %h is that of %e, computed in f32 and held by the program in f16 only,
// because nothing else uses the wide value. The argument is read as f32 from f16.
// CHECK-LABEL: func.func @main(%real: tensor<8x4xf16>) -> tensor<8x4xf16>
// CHECK-NEXT:  [[G:%[0-9]+]] = equivalence.graph -> tensor<8x4xf32>
// CHECK-NEXT:  [[C:%[0-9]+]] = forge.cast %real : tensor<8x4xf16> to tensor<8x4xf32>
// CHECK-NEXT:  [[X:%real_[0-9]+]] = equivalence.class [[C]] {groups = array<i64: 0, 1>}
// CHECK-NEXT:  [[E:%[0-9]+]] = forge.exp [[X]] : tensor<8x4xf32>
// CHECK-NEXT:  %e = equivalence.class [[E]] {groups = array<i64: 0, 1>, wide = "f16", narrow = "f16"}
// CHECK-NEXT:  equivalence.yield %e
// CHECK:       [[R:%[0-9]+]] = forge.cast [[G]] : tensor<8x4xf32> to tensor<8x4xf16>
func.func @main(%real: tensor<8x4xf16>) -> tensor<8x4xf16> {
  %w = forge.cast %real : tensor<8x4xf16> to tensor<8x4xf32>
  %e = forge.exp %w : tensor<8x4xf32>
  %h = forge.cast %e : tensor<8x4xf32> to tensor<8x4xf16>
  func.return %h : tensor<8x4xf16>
}

// -----

// The same in strict arithmetic: each cast is a rounding step and stays.
// CHECK:       forge.numerics = "strict"
// CHECK-LABEL: func.func @main(%strict
// CHECK:       %e = equivalence.class
// CHECK-NEXT:  [[H:%[0-9]+]] = forge.cast %e {through = "f16"}
// CHECK-NEXT:  %h = equivalence.class [[H]]
builtin.module attributes {forge.numerics = "strict"} {
  func.func @main(%strict: tensor<8x4xf16>) -> tensor<8x4xf16> {
    %w = forge.cast %strict : tensor<8x4xf16> to tensor<8x4xf32>
    %e = forge.exp %w : tensor<8x4xf32>
    %h = forge.cast %e : tensor<8x4xf32> to tensor<8x4xf16>
    func.return %h : tensor<8x4xf16>
  }
}

// -----

// Rows and columns of a self-product are one group: it gets a second axis, so that both can be cut.
// CHECK:       tile.axis @self0 extent 64 {group = 0 : i64}
// CHECK-NEXT:  tile.axis @self0_ extent 64 {group = 0 : i64}
// CHECK-NEXT:  func.func @main(%self
func.func @main(%self: tensor<64x8xf32>) -> tensor<64x64xf32> {
  %t = forge.transpose %self perm [1, 0] : (tensor<64x8xf32>) -> tensor<8x64xf32>
  %p = forge.matmul %self, %t : (tensor<64x8xf32>, tensor<8x64xf32>) -> tensor<64x64xf32>
  %pt = forge.transpose %p perm [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = forge.add %p, %pt : tensor<64x64xf32>
  func.return %y : tensor<64x64xf32>
}

// -----

// Equal ops share a class, and the source line stays.
// CHECK-LABEL: func.func @main(%once
// CHECK:       [[E:%[0-9]+]] = forge.exp
// CHECK-NEXT:  %a = equivalence.class [[E]] {{.*}}loc = "model.py:7"
// CHECK-NEXT:  [[Y:%[0-9]+]] = forge.add %a, %a
func.func @main(%once: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %a = forge.exp %once {loc = "model.py:7"} : tensor<8x4xf32>
  %b = forge.exp %once : tensor<8x4xf32>
  %y = forge.add %a, %b : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}
