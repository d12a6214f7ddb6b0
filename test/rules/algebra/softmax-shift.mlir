// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=shift-twice,shift-cancels}' | filecheck %s

// Shifts that a subtracted maximum takes back (catalogue 18).

// shift-twice: the second maximum is 0, or the whole row is NaN.
// CHECK-LABEL: func.func @main(%twice
// CHECK:      %twice_1 = equivalence.class %twice
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reduce max over 1 %twice_1
// CHECK-NEXT: %m = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.sub %twice_1, %m
// CHECK-NEXT: %d = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.reduce max over 1 %d
// CHECK-NEXT: %n = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.sub %d, %n
// CHECK-NEXT: %y = equivalence.class [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.exp %y
// CHECK-NEXT: %e = equivalence.class [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.reduce sum over 1 %e
// CHECK-NEXT: %l = equivalence.class [[V6]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.div %e, %l
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.div [[V9:%[0-9]+]], [[V10:%[0-9]+]]
// CHECK-NEXT: %q = equivalence.class [[V7]], [[V8]]
// CHECK-NEXT: [[V11:%[0-9]+]] = forge.exp %d
// CHECK-NEXT: [[V9]] = equivalence.class [[V11]]
// CHECK-NEXT: [[V12:%[0-9]+]] = forge.reduce sum over 1 [[V9]]
// CHECK-NEXT: [[V10]] = equivalence.class [[V12]]
// CHECK-NEXT: equivalence.yield %q
func.func @main(%twice: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %m = forge.reduce max over 1 %twice : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %d = forge.sub %twice, %m : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %n = forge.reduce max over 1 %d : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %y = forge.sub %d, %n : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %e = forge.exp %y : tensor<8x4xf32>
  %l = forge.reduce sum over 1 %e : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %q = forge.div %e, %l : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  func.return %q : tensor<8x4xf32>
}

// -----

// Not shift-twice: the maximum of the columns.
// CHECK-LABEL: func.func @main(%columns
// CHECK:      %columns_1 = equivalence.class %columns
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reduce max over 0 %columns_1
// CHECK-NEXT: %m = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.sub %columns_1, %m
// CHECK-NEXT: %d = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.reduce max over 1 %d
// CHECK-NEXT: %n = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.sub %d, %n
// CHECK-NEXT: %y = equivalence.class [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.exp %y
// CHECK-NEXT: %e = equivalence.class [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.reduce sum over 1 %e
// CHECK-NEXT: %l = equivalence.class [[V6]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.div %e, %l
// CHECK-NEXT: %q = equivalence.class [[V7]]
// CHECK-NEXT: equivalence.yield %q
func.func @main(%columns: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %m = forge.reduce max over 0 %columns : (tensor<4x4xf32>) -> tensor<1x4xf32>
  %d = forge.sub %columns, %m : (tensor<4x4xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  %n = forge.reduce max over 1 %d : (tensor<4x4xf32>) -> tensor<4x1xf32>
  %y = forge.sub %d, %n : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  %e = forge.exp %y : tensor<4x4xf32>
  %l = forge.reduce sum over 1 %e : (tensor<4x4xf32>) -> tensor<4x1xf32>
  %q = forge.div %e, %l : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  func.return %q : tensor<4x4xf32>
}

// -----

// Not shift-twice: in a row with ∞ the second difference is NaN throughout, the first where x is ∞.
// CHECK-LABEL: func.func @main(%alone
// CHECK:      %alone_1 = equivalence.class %alone
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reduce max over 1 %alone_1
// CHECK-NEXT: %m = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.sub %alone_1, %m
// CHECK-NEXT: %d = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.reduce max over 1 %d
// CHECK-NEXT: %n = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.sub %d, %n
// CHECK-NEXT: %y = equivalence.class [[V4]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%alone: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %m = forge.reduce max over 1 %alone : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %d = forge.sub %alone, %m : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %n = forge.reduce max over 1 %d : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %y = forge.sub %d, %n : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// shift-cancels: a bias by position.
// CHECK-LABEL: func.func @main(%biased
// CHECK:      %biased_1 = equivalence.class %biased
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.iota 0
// CHECK-NEXT: [[V2:%[0-9]+]] = equivalence.class [[V1]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.cast [[V2]]
// CHECK-NEXT: %i = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.add %biased_1, %i
// CHECK-NEXT: %s = equivalence.class [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.reduce max over 1 %s
// CHECK-NEXT: %m = equivalence.class [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.sub %biased_1, [[V7:%[0-9]+]]
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.sub %s, %m
// CHECK-NEXT: %y = equivalence.class [[V6]], [[V8]]
// CHECK-NEXT: [[V9:%[0-9]+]] = forge.reduce max over 1 %biased_1
// CHECK-NEXT: [[V7]] = equivalence.class [[V9]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%biased: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = forge.iota 0 : tensor<8x1xi32>
  %i = forge.cast %0 : tensor<8x1xi32> to tensor<8x1xf32>
  %s = forge.add %biased, %i : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %m = forge.reduce max over 1 %s : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %y = forge.sub %s, %m : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not shift-cancels: a row that is masked by -inf is NaN.
// CHECK-LABEL: func.func @main(%masked
// CHECK:      %masked_1 = equivalence.class %masked
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.add %masked_1, %b_1
// CHECK-NEXT: %s = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reduce max over 1 %s
// CHECK-NEXT: %m = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.sub %s, %m
// CHECK-NEXT: %y = equivalence.class [[V3]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%masked: tensor<8x4xf32>, %b: tensor<8x1xf32>) -> tensor<8x4xf32> {
  %s = forge.add %masked, %b : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %m = forge.reduce max over 1 %s : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %y = forge.sub %s, %m : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not shift-cancels: a bias by column.
// CHECK-LABEL: func.func @main(%alibi
// CHECK:      %alibi_1 = equivalence.class %alibi
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.iota 1
// CHECK-NEXT: [[V2:%[0-9]+]] = equivalence.class [[V1]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.cast [[V2]]
// CHECK-NEXT: %i = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.add %alibi_1, %i
// CHECK-NEXT: %s = equivalence.class [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.reduce max over 1 %s
// CHECK-NEXT: %m = equivalence.class [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.sub %s, %m
// CHECK-NEXT: %y = equivalence.class [[V6]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%alibi: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = forge.iota 1 : tensor<1x4xi32>
  %i = forge.cast %0 : tensor<1x4xi32> to tensor<1x4xf32>
  %s = forge.add %alibi, %i : (tensor<8x4xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
  %m = forge.reduce max over 1 %s : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %y = forge.sub %s, %m : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}
