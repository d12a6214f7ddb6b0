// RUN: equiforge-opt %s --split-input-file -p 'cse{across-functions=true}' | filecheck %s
// RUN: equiforge-opt %s --split-input-file -p 'cse{across-functions=true statistics=true}' 2>&1 >/dev/null | filecheck %s --check-prefix=STATS

// The trunk of two candidates becomes one function. The number that both halves use stands in it, and the lines of both
// candidates are kept.
// STATS:       // @shared_0: 3 ops, called by first, second
// CHECK:       func.func private @shared_0(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:    %two = forge.constant 2.0 : tensor<1x1xf32>
// CHECK-NEXT:    %h = forge.matmul %x, %w {loc = "fused[a.py:1, b.py:1]"}
// CHECK-NEXT:    %t = forge.tanh %h
// CHECK-NEXT:    %s = forge.mul %t, %two
// CHECK-NEXT:    func.return %s
// CHECK:       func.func @first(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:    %s = func.call @shared_0(%x, %w)
// CHECK-NEXT:    %y = forge.exp %s
// CHECK-NEXT:    func.return %y
// CHECK:       func.func @second(%w: tensor<8x8xf32>, %x: tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:    %s = func.call @shared_0(%x, %w)
// CHECK-NEXT:    %y = forge.sin %s
// CHECK-NEXT:    func.return %y
func.func @first(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %h = forge.matmul %x, %w {loc = "a.py:1"} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %t = forge.tanh %h : tensor<4x8xf32>
  %two = forge.constant 2.0 : tensor<1x1xf32>
  %s = forge.mul %t, %two : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  %y = forge.exp %s : tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
func.func @second(%w: tensor<8x8xf32>, %x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %two = forge.constant 2.0 : tensor<1x1xf32>
  %h = forge.matmul %x, %w {loc = "b.py:1"} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %t = forge.tanh %h : tensor<4x8xf32>
  %s = forge.mul %two, %t : (tensor<1x1xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = forge.sin %s : tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// -----

// What all three share is one function, what two of them do next is another, which takes what the first gives.
// STATS:       // @shared_0: 2 ops, called by a, b, c
// STATS:       // @shared_1: 2 ops, called by a, b
// CHECK:       func.func private @shared_0(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK:       func.func private @shared_1(%q: tensor<4xf32>) -> tensor<4xf32>
// CHECK:       func.func @a
// CHECK-NEXT:    %p, %q = func.call @shared_0(%x)
// CHECK-NEXT:    %s = func.call @shared_1(%q)
// CHECK-NEXT:    %y = forge.add %s, %p
// CHECK:       func.func @b
// CHECK-NEXT:    %p, %q = func.call @shared_0(%x)
// CHECK-NEXT:    %s = func.call @shared_1(%q)
// CHECK-NEXT:    %y = forge.sub %s, %p
// CHECK:       func.func @c
// CHECK-NEXT:    %p, %q = func.call @shared_0(%x)
// CHECK-NEXT:    %y = forge.cos %q
func.func @a(%x: tensor<4xf32>) -> tensor<4xf32> {
  %p = forge.exp %x : tensor<4xf32>
  %q = forge.neg %p : tensor<4xf32>
  %r = forge.sin %q : tensor<4xf32>
  %s = forge.tanh %r : tensor<4xf32>
  %y = forge.add %s, %p : tensor<4xf32>
  func.return %y : tensor<4xf32>
}
func.func @b(%x: tensor<4xf32>) -> tensor<4xf32> {
  %p = forge.exp %x : tensor<4xf32>
  %q = forge.neg %p : tensor<4xf32>
  %r = forge.sin %q : tensor<4xf32>
  %s = forge.tanh %r : tensor<4xf32>
  %y = forge.sub %s, %p : tensor<4xf32>
  func.return %y : tensor<4xf32>
}
func.func @c(%x: tensor<4xf32>) -> tensor<4xf32> {
  %p = forge.exp %x : tensor<4xf32>
  %q = forge.neg %p : tensor<4xf32>
  %y = forge.cos %q : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// Draws stay where they are, in their order, and what is computed from one is each function's own.
// CHECK:       func.func @draw(
// CHECK-NEXT:    forge.random
// CHECK-NEXT:    forge.exp
// CHECK:       func.func @draw_too(
// CHECK-NEXT:    forge.random
// CHECK-NEXT:    forge.exp
func.func @draw(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = forge.random uniform : tensor<4xf32>
  %p = forge.exp %r : tensor<4xf32>
  %q = forge.neg %p : tensor<4xf32>
  func.return %q : tensor<4xf32>
}
func.func @draw_too(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = forge.random uniform : tensor<4xf32>
  %p = forge.exp %r : tensor<4xf32>
  %q = forge.neg %p : tensor<4xf32>
  func.return %q : tensor<4xf32>
}

// -----

// One op alone is not worth a call; other attributes are other ops.
// CHECK:       func.func @small(
// CHECK-NEXT:    forge.exp
// CHECK:       func.func @small_too(
// CHECK-NEXT:    forge.exp
func.func @small(%x: tensor<4x8xf32>) -> tensor<4x1xf32> {
  %p = forge.exp %x : tensor<4x8xf32>
  %q = forge.reduce sum over 1 %p : (tensor<4x8xf32>) -> tensor<4x1xf32>
  func.return %q : tensor<4x1xf32>
}
func.func @small_too(%x: tensor<4x8xf32>) -> tensor<4x1xf32> {
  %p = forge.exp %x : tensor<4x8xf32>
  %q = forge.reduce max over 1 %p : (tensor<4x8xf32>) -> tensor<4x1xf32>
  func.return %q : tensor<4x1xf32>
}

// -----

// A name that is taken is left alone.
// CHECK:       func.func private @shared_1
// CHECK:       func.func @shared_0
// CHECK:       func.call @shared_1
func.func @shared_0(%x: tensor<4xf32>) -> tensor<4xf32> {
  %p = forge.exp %x : tensor<4xf32>
  %q = forge.neg %p : tensor<4xf32>
  func.return %q : tensor<4xf32>
}
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  %p = forge.exp %x : tensor<4xf32>
  %q = forge.neg %p : tensor<4xf32>
  func.return %q : tensor<4xf32>
}
