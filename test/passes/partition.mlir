// RUN: equiforge-opt %s -p 'partition{limit=1}' --split-input-file | filecheck %s
// RUN: equiforge-opt %s -p 'partition{limit=1},inline-calls' --split-input-file | filecheck %s --check-prefix BACK

// Two equal layers are one function, called twice; the result goes from one call to the next.
// CHECK:      func.func private @part0(%x: tensor<4x8xf32> {{.*}}, %w0: tensor<8x8xf32> {{.*}}) -> tensor<4x8xf32> {
// CHECK-NEXT:   forge.matmul %x, %w0
// CHECK-NEXT:   forge.relu
// CHECK-NEXT:   func.return
// CHECK-NOT:  @part1
// CHECK:      func.func @main
// CHECK-NEXT:   %[[FIRST:.*]] = func.call @part0(%x, %w0)
// CHECK-NEXT:   %[[SECOND:.*]] = func.call @part0(%[[FIRST]], %w1)
// CHECK-NEXT:   func.return %[[SECOND]]

// BACK-NOT:  func.call
// BACK:      func.func @main
// BACK-NEXT:   forge.matmul %x, %w0
// BACK-NEXT:   forge.relu
// BACK-NEXT:   forge.matmul %{{.*}}, %w1
// BACK-NEXT:   forge.relu
// BACK-NEXT:   func.return
func.func @main(%x: tensor<4x8xf32>, %w0: tensor<8x8xf32>, %w1: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %0 = forge.matmul %x, %w0 : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = forge.relu %0 : tensor<4x8xf32>
  %2 = forge.matmul %1, %w1 : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %3 = forge.relu %2 : tensor<4x8xf32>
  func.return %3 : tensor<4x8xf32>
}

// -----

// Another activation is another function: only what computes the same is shared.
// CHECK:     func.func private @part0
// CHECK:       forge.relu
// CHECK:     func.func private @part1
// CHECK:       forge.tanh
// CHECK:     func.func @main
// CHECK-NEXT:  func.call @part0
// CHECK-NEXT:  func.call @part1
func.func @main(%x: tensor<4x8xf32>, %w0: tensor<8x8xf32>, %w1: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %0 = forge.matmul %x, %w0 : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = forge.relu %0 : tensor<4x8xf32>
  %2 = forge.matmul %1, %w1 : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %3 = forge.tanh %2 : tensor<4x8xf32>
  func.return %3 : tensor<4x8xf32>
}

// -----

// The cut is where little is alive: the wide product is reduced before it leaves its subgraph. A mask made of index
// vectors is no value to pass on: each subgraph makes its own.
// CHECK:     func.func private @part0(%x: {{.*}}) -> tensor<4x1xf32>
// CHECK:       forge.iota
// CHECK:     func.func private @part1(%{{.*}}: tensor<4x1xf32> {{.*}}) -> tensor<4x1xf32>
// CHECK:       forge.iota
// CHECK:     func.func @main
func.func @main(%x: tensor<4x4096xf32>) -> tensor<4x1xf32> {
  %row = forge.iota 0 : tensor<4x1xi32>
  %column = forge.iota 1 : tensor<1x4096xi32>
  %seen = forge.compare ge %row, %column : (tensor<4x1xi32>, tensor<1x4096xi32>) -> tensor<4x4096xi1>
  %zero = forge.constant 0.0 : tensor<1x1xf32>
  %0 = forge.select %seen, %x, %zero : (tensor<4x4096xi1>, tensor<4x4096xf32>, tensor<1x1xf32>) -> tensor<4x4096xf32>
  %1 = forge.exp %0 : tensor<4x4096xf32>
  %2 = forge.reduce sum over 1 %1 : (tensor<4x4096xf32>) -> tensor<4x1xf32>
  %3 = forge.select %seen, %2, %zero : (tensor<4x4096xi1>, tensor<4x1xf32>, tensor<1x1xf32>) -> tensor<4x4096xf32>
  %4 = forge.reduce sum over 1 %3 : (tensor<4x4096xf32>) -> tensor<4x1xf32>
  func.return %4 : tensor<4x1xf32>
}

// -----

// What is returned in the middle leaves its subgraph, and an argument that is returned needs none.
// CHECK:     func.func private @part0
// CHECK:     func.func @main
// CHECK-NEXT:  %[[A:.*]] = func.call @part0(%x, %w)
// CHECK-NEXT:  %[[B:.*]] = func.call @part0(%[[A]], %w)
// CHECK-NEXT:  func.return %[[A]], %[[B]], %x
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = forge.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = forge.matmul %0, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  func.return %0, %1, %x : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
