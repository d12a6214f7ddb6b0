// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=4},saturate{without=algebra}' | filecheck %s

// Repair fusion, chains: a consumer of several states of the loop has a repair for all of them.

// Without algebra, which would divide after the sum. The normalizer follows the maximum, and the sum of squared probabilities follows both.
// CHECK:       tile.reducer @rolling{{[0-9_]+}} identity [-inf, 0.0, 0.0] certificate "g = exp(input_0 - state); h(c) = c * (exp({{[^)]*}})); h(g(x,s)) - g(x,s') = 0; g = exp(2*input_0 - 2*state)/state_1**2; h(c) = c * (s1_old**2*exp({{[^)]*}})/s1_new**2); h(g(x,s)) - g(x,s') = 0"
// CHECK-LABEL: func.func @main(%x
// CHECK:       forge.get 2 of
func.func @main(%x: tensor<1x12xf32>) -> tensor<1x1xf32> {
  %m = forge.reduce max over 1 %x : (tensor<1x12xf32>) -> tensor<1x1xf32>
  %d = forge.sub %x, %m : (tensor<1x12xf32>, tensor<1x1xf32>) -> tensor<1x12xf32>
  %e = forge.exp %d : tensor<1x12xf32>
  %l = forge.reduce sum over 1 %e : (tensor<1x12xf32>) -> tensor<1x1xf32>
  %p = forge.div %e, %l : (tensor<1x12xf32>, tensor<1x1xf32>) -> tensor<1x12xf32>
  %q = forge.mul %p, %p : tensor<1x12xf32>
  %y = forge.reduce sum over 1 %q : (tensor<1x12xf32>) -> tensor<1x1xf32>
  func.return %y : tensor<1x1xf32>
}

// -----

// No repair for both states: tanh(e / l). The normalizer alone has one.
// CHECK-LABEL: func.func @main(%tanh
// CHECK-NOT:   forge.get 2 of
func.func @main(%tanh: tensor<1x12xf32>) -> tensor<1x1xf32> {
  %m = forge.reduce max over 1 %tanh : (tensor<1x12xf32>) -> tensor<1x1xf32>
  %d = forge.sub %tanh, %m : (tensor<1x12xf32>, tensor<1x1xf32>) -> tensor<1x12xf32>
  %e = forge.exp %d : tensor<1x12xf32>
  %l = forge.reduce sum over 1 %e : (tensor<1x12xf32>) -> tensor<1x1xf32>
  %p = forge.div %e, %l : (tensor<1x12xf32>, tensor<1x1xf32>) -> tensor<1x12xf32>
  %q = forge.tanh %p : tensor<1x12xf32>
  %y = forge.reduce sum over 1 %q : (tensor<1x12xf32>) -> tensor<1x1xf32>
  func.return %y : tensor<1x1xf32>
}

// -----

// An entropy, a factor times a polynomial: all sums of p move by exp(m - m') l/l', and that of p log p, which is linear in u = m + log l, gains the sum
// of p times u - u'.
// CHECK:       certificate "g = exp(input_0 - state); {{.*}}; g = (input_0 - s_old - log(s1_old))*exp(input_0 - s_old)/s1_old, u = s_old + log(s1_old); h(c) = (s1_old*exp(-s_new + s_old)/s1_new)*(c + (-1*moment1)*(u' - u)); h(sum g(x,u)) - sum g(x,u') = 0"
// CHECK-LABEL: func.func @main(%entropy
// CHECK:       forge.get 2 of
func.func @main(%entropy: tensor<1x12xf32>) -> tensor<1x1xf32> {
  %m = forge.reduce max over 1 %entropy : (tensor<1x12xf32>) -> tensor<1x1xf32>
  %d = forge.sub %entropy, %m : (tensor<1x12xf32>, tensor<1x1xf32>) -> tensor<1x12xf32>
  %e = forge.exp %d : tensor<1x12xf32>
  %l = forge.reduce sum over 1 %e : (tensor<1x12xf32>) -> tensor<1x1xf32>
  %p = forge.div %e, %l : (tensor<1x12xf32>, tensor<1x1xf32>) -> tensor<1x12xf32>
  %n = forge.log %l : tensor<1x1xf32>
  %q = forge.sub %d, %n : (tensor<1x12xf32>, tensor<1x1xf32>) -> tensor<1x12xf32>
  %w = forge.mul %p, %q : tensor<1x12xf32>
  %y = forge.reduce sum over 1 %w : (tensor<1x12xf32>) -> tensor<1x1xf32>
  func.return %y : tensor<1x1xf32>
}
