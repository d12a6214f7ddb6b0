// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=exchange-reductions,reduce-one}' | filecheck %s

// Reductions over two dimensions, and over one element (catalogue 12).

// exchange-reductions.
// CHECK-LABEL: func.func @main(%nested
// CHECK:      %nested_1 = equivalence.class %nested
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reduce max over 2 %nested_1
// CHECK-NEXT: %s = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reduce max over 1 %s
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.reduce max over 2 [[V4:%[0-9]+]]
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V3]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.reduce max over 1 %nested_1
// CHECK-NEXT: [[V4]] = equivalence.class [[V5]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%nested: tensor<2x8x4xf32>) -> tensor<2x1x1xf32> {
  %s = forge.reduce max over 2 %nested : (tensor<2x8x4xf32>) -> tensor<2x8x1xf32>
  %y = forge.reduce max over 1 %s : (tensor<2x8x1xf32>) -> tensor<2x1x1xf32>
  func.return %y : tensor<2x1x1xf32>
}

// -----

// Not exchange-reductions: a maximum of sums.
// CHECK-LABEL: func.func @main(%unlike
// CHECK:      %unlike_1 = equivalence.class %unlike
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reduce sum over 2 %unlike_1
// CHECK-NEXT: %s = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reduce max over 1 %s
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%unlike: tensor<2x8x4xf32>) -> tensor<2x1x1xf32> {
  %s = forge.reduce sum over 2 %unlike : (tensor<2x8x4xf32>) -> tensor<2x8x1xf32>
  %y = forge.reduce max over 1 %s : (tensor<2x8x1xf32>) -> tensor<2x1x1xf32>
  func.return %y : tensor<2x1x1xf32>
}

// -----

// reduce-one.
// CHECK-LABEL: func.func @main(%one
// CHECK:      %one_1 = equivalence.class %one
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reduce sum over 1 %e
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.exp %one_1
// CHECK-NEXT: %e = equivalence.class [[V1]], [[V2]]
// CHECK-NEXT: equivalence.yield %e
func.func @main(%one: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %e = forge.exp %one : tensor<8x1xf32>
  %y = forge.reduce sum over 1 %e : tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not reduce-one.
// CHECK-LABEL: func.func @main(%more
// CHECK:      %more_1 = equivalence.class %more
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.exp %more_1
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reduce sum over 1 %e
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%more: tensor<8x2xf32>) -> tensor<8x1xf32> {
  %e = forge.exp %more : tensor<8x2xf32>
  %y = forge.reduce sum over 1 %e : (tensor<8x2xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}
