// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=4},saturate' | filecheck %s

// Repair fusion, family reset: what an element contributes is settled once a later one has moved the maximum.

// The place of the maximum: when the maximum moves, no element so far is in its place.
// CHECK:       tile.reducer @rolling{{[0-9_]+}} identity [-inf, inf] certificate "g = Piecewise((input_1, Eq(input_0, state)), (2147483647, True)); for every d > 0: g(s' - d, s') = 2147483647; h(c) = c if s' = s else 2147483647"
// CHECK-LABEL: func.func @main(%x
// CHECK:       tile.reduce @rolling{{[0-9_]+}} over parallel(@x1)
func.func @main(%x: tensor<1x12xf32>) -> tensor<1x1xi32> {
  %m = forge.reduce max over 1 %x : (tensor<1x12xf32>) -> tensor<1x1xf32>
  %hit = forge.compare eq %x, %m : (tensor<1x12xf32>, tensor<1x1xf32>) -> tensor<1x12xi1>
  %index = forge.iota 1 : tensor<1x12xi32>
  %beyond = forge.constant 2147483647 : tensor<1x1xi32>
  %place = forge.select %hit, %index, %beyond : (tensor<1x12xi1>, tensor<1x12xi32>, tensor<1x1xi32>) -> tensor<1x12xi32>
  %y = forge.reduce min over 1 %place : (tensor<1x12xi32>) -> tensor<1x1xi32>
  func.return %y : tensor<1x1xi32>
}

// -----

// No repair: the largest element below the maximum is another one after each move.
// CHECK-LABEL: func.func @main(%second
// CHECK-NOT:   forge.get
func.func @main(%second: tensor<1x12xf32>) -> tensor<1x1xf32> {
  %m = forge.reduce max over 1 %second : (tensor<1x12xf32>) -> tensor<1x1xf32>
  %below = forge.compare lt %second, %m : (tensor<1x12xf32>, tensor<1x1xf32>) -> tensor<1x12xi1>
  %none = forge.constant -inf : tensor<1x1xf32>
  %kept = forge.select %below, %second, %none : (tensor<1x12xi1>, tensor<1x12xf32>, tensor<1x1xf32>) -> tensor<1x12xf32>
  %y = forge.reduce max over 1 %kept : (tensor<1x12xf32>) -> tensor<1x1xf32>
  func.return %y : tensor<1x1xf32>
}
