// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=4},saturate' | filecheck %s
// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=4},saturate{without=repair}' | filecheck %s --check-prefix=WITHOUT

// Repair fusion: a reduction whose contributions use another reduction over the same axis joins its loop if a repair exists.

// The maximum, the normalizer and the weighted sum of a softmax become one loop over @s1: exp(old - new) repairs both sums. A row whose
// maximum is still -inf contributes 0; one that stays so to the end is NaN, as in the program.
// CHECK:       tile.reducer [[ALL:@rolling[0-9]+_[0-9]+]] identity [-inf, 0.0, 0.0] certificate "g = exp(input_0 - state); h(c) = c * (exp(-s_new + s_old)); h(g(x,s)) - g(x,s') = 0; g = exp(
// CHECK-LABEL: func.func @main(%s
// CHECK:       forge.get 0 of
// CHECK:       tile.reduce @rolling{{[0-9_]+}} over parallel(@s1)
// WITHOUT-NOT: tile.reducer
// WITHOUT-NOT: forge.get
func.func @main(%s: tensor<1x12xf32>, %v: tensor<12x4xf32>) -> tensor<1x4xf32> {
  %m = forge.reduce max over 1 %s : (tensor<1x12xf32>) -> tensor<1x1xf32>
  %d = forge.sub %s, %m : (tensor<1x12xf32>, tensor<1x1xf32>) -> tensor<1x12xf32>
  %e = forge.exp %d : tensor<1x12xf32>
  %l = forge.reduce sum over 1 %e : (tensor<1x12xf32>) -> tensor<1x1xf32>
  %p = forge.div %e, %l : (tensor<1x12xf32>, tensor<1x1xf32>) -> tensor<1x12xf32>
  %y = forge.matmul %p, %v : (tensor<1x12xf32>, tensor<12x4xf32>) -> tensor<1x4xf32>
  func.return %y : tensor<1x4xf32>
}

// -----

// No repair: tanh(s - m) can't be brought from one m to another without s.
// CHECK-LABEL: func.func @main(%tanh
// CHECK-NOT:   forge.get
func.func @main(%tanh: tensor<1x12xf32>) -> tensor<1x1xf32> {
  %m = forge.reduce max over 1 %tanh : (tensor<1x12xf32>) -> tensor<1x1xf32>
  %d = forge.sub %tanh, %m : (tensor<1x12xf32>, tensor<1x1xf32>) -> tensor<1x12xf32>
  %e = forge.tanh %d : tensor<1x12xf32>
  %y = forge.reduce sum over 1 %e : (tensor<1x12xf32>) -> tensor<1x1xf32>
  func.return %y : tensor<1x1xf32>
}

// -----

// No repair is looked for in strict arithmetic: the loop rounds in another order than the program.
// CHECK-LABEL: func.func @main(%strict
// CHECK-NOT:   forge.get
builtin.module attributes {forge.numerics = "strict"} {
  func.func @main(%strict: tensor<1x12xf32>) -> tensor<1x1xf32> {
    %m = forge.reduce max over 1 %strict : (tensor<1x12xf32>) -> tensor<1x1xf32>
    %d = forge.sub %strict, %m : (tensor<1x12xf32>, tensor<1x1xf32>) -> tensor<1x12xf32>
    %e = forge.exp %d : tensor<1x12xf32>
    %y = forge.reduce sum over 1 %e : (tensor<1x12xf32>) -> tensor<1x1xf32>
    func.return %y : tensor<1x1xf32>
  }
}
