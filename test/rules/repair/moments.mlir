// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=4},saturate' | filecheck %s

// Repair fusion, family moments: a polynomial in the state, under a sum, follows by Taylor's formula.

// The sum of squares about the mean joins the loop of the sum: with n elements so far it gains D1 (u' - u) + n (u' - u)^2 when the mean moves. The
// count and D1 are states of the loop that the program does not have, and end in the final region; two parts are merged.
// CHECK:       tile.reducer @rolling{{[0-9_]+}} identity [0.0, 0.0, 0.0, 0.0] certificate "g = (input_0 - u)**2, u = s/n, N = 12; h(c) = c + (2*moment1)*(u' - u) + (n)*(u' - u)**2; h(sum g(x,u)) - sum g(x,u') = 0"
// CHECK-SAME:  body(
// CHECK:       } merge(
// CHECK:       } final(%[[S:[0-9a-z_]+]]: tensor<1x1xf32>, %{{[0-9a-z_]+}}: tensor<1x1xf32>, %{{[0-9a-z_]+}}: tensor<1x1xf32>, %[[M:[0-9a-z_]+]]: tensor<1x1xf32>) {
// CHECK-NEXT:  tile.yield %[[S]], %[[M]]
// CHECK-LABEL: func.func @main(%x
// CHECK:       tile.reduce @rolling{{[0-9_]+}} over parallel(@x1)
func.func @main(%x: tensor<1x12xf32>) -> tensor<1x1xf32> {
  %s = forge.reduce sum over 1 %x : (tensor<1x12xf32>) -> tensor<1x1xf32>
  %n = forge.constant 12.0 : tensor<1x1xf32>
  %u = forge.div %s, %n : tensor<1x1xf32>
  %d = forge.sub %x, %u : (tensor<1x12xf32>, tensor<1x1xf32>) -> tensor<1x12xf32>
  %q = forge.mul %d, %d : tensor<1x12xf32>
  %y = forge.reduce sum over 1 %q : (tensor<1x12xf32>) -> tensor<1x1xf32>
  func.return %y : tensor<1x1xf32>
}

// -----

// No repair: the mean absolute deviation is no polynomial of the mean.
// CHECK-LABEL: func.func @main(%absolute
// CHECK-NOT:   forge.get
func.func @main(%absolute: tensor<1x12xf32>) -> tensor<1x1xf32> {
  %s = forge.reduce sum over 1 %absolute : (tensor<1x12xf32>) -> tensor<1x1xf32>
  %n = forge.constant 12.0 : tensor<1x1xf32>
  %u = forge.div %s, %n : tensor<1x1xf32>
  %d = forge.sub %absolute, %u : (tensor<1x12xf32>, tensor<1x1xf32>) -> tensor<1x12xf32>
  %a = forge.abs %d : tensor<1x12xf32>
  %y = forge.reduce sum over 1 %a : (tensor<1x12xf32>) -> tensor<1x1xf32>
  func.return %y : tensor<1x1xf32>
}
