// RUN: equiforge-opt %s --split-input-file -p 'rematerialize{memory-budget=150000 statistics=true}' 2>/dev/null | filecheck %s
// RUN: equiforge-opt %s --split-input-file -p 'rematerialize{memory-budget=150000 statistics=true}' 2>&1 >/dev/null | filecheck %s --check-prefix=STATS
// RUN: not equiforge-opt %s -p 'rematerialize{memory-budget=150000 donated=7}' 2>&1 | filecheck %s --check-prefix=DONATED
// RUN: not equiforge-opt %s -p rematerialize 2>&1 | filecheck %s --check-prefix=REQUIRED

// DONATED: donated=7: @cheap_value_is_computed_again has 3 arguments
// REQUIRED: memory{{[-_]}}budget

// %m is held across the wide tensors for one cheap op at the end: it is computed again there. x, w and v take 81920
// bytes, and the exp reads and writes 32768 each; %m takes 16384.
// STATS:      // @cheap_value_is_computed_again before: 5 ops, 2113536 flops, {{[0-9]+}} B moved, peak 163840 B
// STATS-NEXT: // @cheap_value_is_computed_again after: 6 ops, 2117632 flops, {{[0-9]+}} B moved, peak 147456 B
// STATS-NEXT: //       1 again forge.exp
// STATS-NOT:  warning
// CHECK-LABEL: func.func @cheap_value_is_computed_again
// CHECK-NEXT:  %m = forge.exp %x
// CHECK-NEXT:  %a = forge.matmul %m, %w
// CHECK-NEXT:  %b = forge.exp %a
// CHECK-NEXT:  %c = forge.matmul %b, %v
// CHECK-NEXT:  %[[AGAIN:.*]] = forge.exp %x
// CHECK-NEXT:  %y = forge.mul %c, %[[AGAIN]]
// CHECK-NEXT:  func.return %y
func.func @cheap_value_is_computed_again(%x: tensor<64x64xf32>, %w: tensor<64x128xf32>, %v: tensor<128x64xf32>) -> tensor<64x64xf32> {
  %m = forge.exp %x : tensor<64x64xf32>
  %a = forge.matmul %m, %w : (tensor<64x64xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  %b = forge.exp %a : tensor<64x128xf32>
  %c = forge.matmul %b, %v : (tensor<64x128xf32>, tensor<128x64xf32>) -> tensor<64x64xf32>
  %y = forge.mul %c, %m : tensor<64x64xf32>
  func.return %y : tensor<64x64xf32>
}

// -----

// A function that fits stays as it is.
// STATS:      // @fits before: 2 ops, {{.*}}, peak 6144 B
// STATS-NEXT: // @fits after: 2 ops, {{.*}}, peak 6144 B
// STATS-NOT:  warning
// CHECK-LABEL: func.func @fits
// CHECK-NEXT:  %a = forge.exp %x
// CHECK-NEXT:  %b = forge.add %a, %x
func.func @fits(%x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %a = forge.exp %x : tensor<16x32xf32>
  %b = forge.add %a, %x : tensor<16x32xf32>
  func.return %b : tensor<16x32xf32>
}

// -----

// The order alone: each row is reduced before the next large tensor is made, and nothing runs twice.
// STATS:      // @order_alone before: 6 ops, {{.*}}, peak 262656 B
// STATS-NEXT: // @order_alone after: 6 ops, {{.*}}, peak 132608 B
// STATS-NOT:  again
// CHECK-LABEL: func.func @order_alone
// CHECK-NEXT:  %a = forge.exp %x
// CHECK-NEXT:  %r = forge.reduce sum over 1 %a
// CHECK-NEXT:  %b = forge.tanh %x
// CHECK-NEXT:  %s = forge.reduce sum over 1 %b
// CHECK-NEXT:  %c = forge.sigmoid %x
// CHECK-NEXT:  %t = forge.reduce sum over 1 %c
func.func @order_alone(%x: tensor<128x128xf32>) -> (tensor<128x1xf32>, tensor<128x1xf32>, tensor<128x1xf32>) {
  %a = forge.exp %x : tensor<128x128xf32>
  %b = forge.tanh %x : tensor<128x128xf32>
  %c = forge.sigmoid %x : tensor<128x128xf32>
  %r = forge.reduce sum over 1 %a : (tensor<128x128xf32>) -> tensor<128x1xf32>
  %s = forge.reduce sum over 1 %b : (tensor<128x128xf32>) -> tensor<128x1xf32>
  %t = forge.reduce sum over 1 %c : (tensor<128x128xf32>) -> tensor<128x1xf32>
  func.return %r, %s, %t : tensor<128x1xf32>, tensor<128x1xf32>, tensor<128x1xf32>
}

// -----

// Never a draw, however large and however long it is held: neither random numbers nor an opaque call run twice. The
// product of both is cheap and is made again.
// STATS:      // @draws_run_once before: {{.*}} peak 458752 B
// STATS:      warning: @draws_run_once needs {{[0-9]+}} bytes, {{[0-9]+}} more than memory-budget=150000; this is the lowest peak found
// CHECK-LABEL: func.func @draws_run_once
// CHECK:       forge.random uniform
// CHECK:       forge.opaque "aten.bernoulli.default"
// CHECK-NOT:   forge.random
// CHECK-NOT:   forge.opaque
// CHECK:       func.return
func.func @draws_run_once(%x: tensor<128x128xf32>, %w: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %u = forge.random uniform : tensor<128x128xf32>
  %m = forge.opaque "aten.bernoulli.default"(%x) : tensor<128x128xf32>
  %d = forge.mul %u, %m : tensor<128x128xf32>
  %a = forge.matmul %d, %w : tensor<128x128xf32>
  %b = forge.matmul %a, %w : tensor<128x128xf32>
  %y = forge.mul %b, %u : tensor<128x128xf32>
  %z = forge.mul %y, %m : tensor<128x128xf32>
  %e = forge.add %z, %d : tensor<128x128xf32>
  func.return %e : tensor<128x128xf32>
}

// -----

// A mask with its chain: comparison and cast run again next to the later use, rather than hold what they are made from.
// STATS:      // @chains_run_again before: {{.*}}, peak 163840 B
// STATS-NEXT: // @chains_run_again after: {{.*}}, peak 148480 B
// STATS-NOT:  warning
// CHECK-LABEL: func.func @chains_run_again
// CHECK:       forge.compare
// CHECK:       forge.cast
// CHECK:       forge.matmul
// CHECK:       forge.matmul
// CHECK:       forge.compare
// CHECK:       forge.cast
// CHECK:       forge.mul
func.func @chains_run_again(%x: tensor<64x64xf32>, %w: tensor<64x128xf32>, %v: tensor<128x64xf32>) -> tensor<64x64xf32> {
  %i = forge.iota 1 : tensor<1x64xi64>
  %j = forge.iota 0 : tensor<64x1xi64>
  %c = forge.compare le %i, %j : (tensor<1x64xi64>, tensor<64x1xi64>) -> tensor<64x64xi1>
  %m = forge.cast %c : tensor<64x64xi1> to tensor<64x64xf32>
  %a = forge.mul %x, %m : tensor<64x64xf32>
  %b = forge.matmul %a, %w : (tensor<64x64xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  %e = forge.exp %b : tensor<64x128xf32>
  %d = forge.matmul %e, %v : (tensor<64x128xf32>, tensor<128x64xf32>) -> tensor<64x64xf32>
  %y = forge.mul %d, %m : tensor<64x64xf32>
  func.return %y : tensor<64x64xf32>
}
