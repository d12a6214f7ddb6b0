// RUN: equiforge-opt %s --split-input-file -p 'cse{policy=always}' | filecheck %s --check-prefix=ALWAYS
// RUN: equiforge-opt %s --split-input-file -p 'cse{policy=always statistics=true}' 2>&1 >/dev/null | filecheck %s --check-prefix=STATS
// RUN: equiforge-opt %s --split-input-file -p 'cse{policy=never-longer}' | filecheck %s --check-prefix=NEVER
// RUN: equiforge-opt %s --split-input-file -p 'cse{policy=cost}' | filecheck %s --check-prefix=COST
// RUN: equiforge-opt %s --split-input-file -p 'cse{policy=cost memory-budget=190000}' | filecheck %s --check-prefix=BUDGET
// RUN: not equiforge-opt %s -p 'cse{policy=sometimes}' 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not equiforge-opt %s -p 'cse{memory-budget=5}' 2>&1 | filecheck %s --check-prefix=IGNORED

// UNKNOWN: unknown policy sometimes
// UNKNOWN-SAME: known: always, never-longer, cost
// IGNORED: memory-budget has no effect with policy=always

// The value would be held while the wide tensors are. Its work, a product, is worth more than 16384 bytes of peak;
// where they don't fit the budget it is done twice all the same.
// STATS: // @far_apart before: 9 ops, 3178496 flops, 573440 B moved, peak 180224 B at forge.add
// STATS-NEXT: // @far_apart after: 8 ops, 2654208 flops, 524288 B moved, peak 196608 B at forge.add
// ALWAYS-LABEL: func.func @far_apart
// ALWAYS-COUNT-3: forge.matmul
// ALWAYS-NOT:     forge.matmul
// NEVER-LABEL: func.func @far_apart
// NEVER-COUNT-4: forge.matmul
// COST-LABEL: func.func @far_apart
// COST-COUNT-3: forge.matmul
// COST-NOT:     forge.matmul
// BUDGET-LABEL: func.func @far_apart
// BUDGET-COUNT-4: forge.matmul
func.func @far_apart(%x: tensor<64x64xf32>, %w: tensor<64x128xf32>, %v: tensor<128x64xf32>) -> tensor<64x64xf32> {
  %m = forge.matmul %x, %x : tensor<64x64xf32>
  %s = forge.exp %m : tensor<64x64xf32>
  %a = forge.matmul %s, %w : (tensor<64x64xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  %b = forge.exp %a : tensor<64x128xf32>
  %d = forge.tanh %b : tensor<64x128xf32>
  %p = forge.add %b, %d : tensor<64x128xf32>
  %c = forge.matmul %p, %v : (tensor<64x128xf32>, tensor<128x64xf32>) -> tensor<64x64xf32>
  %n = forge.matmul %x, %x : tensor<64x64xf32>
  %y = forge.mul %c, %n : tensor<64x64xf32>
  func.return %y : tensor<64x64xf32>
}

// -----

// A chain: its last op alone counts. Nothing is held for the sake of %m, since nobody reads a second one.
// NEVER-LABEL: func.func @near
// NEVER:       %m = forge.exp %x
// NEVER-NEXT:  %r = forge.reduce sum over 1 %m
// NEVER-NEXT:  %a = forge.sub %x, %r
// NEVER-NEXT:  %b = forge.mul %a, %r
// NEVER-NEXT:  func.return %b
func.func @near(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %m = forge.exp %x : tensor<64x64xf32>
  %r = forge.reduce sum over 1 %m : (tensor<64x64xf32>) -> tensor<64x1xf32>
  %a = forge.sub %x, %r : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x64xf32>
  %n = forge.exp %x : tensor<64x64xf32>
  %q = forge.reduce sum over 1 %n : (tensor<64x64xf32>) -> tensor<64x1xf32>
  %b = forge.mul %a, %q : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x64xf32>
  func.return %b : tensor<64x64xf32>
}
