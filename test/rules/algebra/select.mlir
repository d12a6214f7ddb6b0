// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=select-unary,select-left,select-right,unary-of-select,exp-of-minus-infinity,select-same,select-not,add-positive-zero}' | filecheck %s

// Selects and pointwise operators (catalogue 19).

// select-unary.
// CHECK-LABEL: func.func @main(%cond
// CHECK:      %cond_1 = equivalence.class %cond
// CHECK-NEXT: %a_1 = equivalence.class %a
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.exp %a_1
// CHECK-NEXT: %u = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.exp %b_1
// CHECK-NEXT: %v = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.select %cond_1, %u, %v
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.exp [[V5:%[0-9]+]]
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V4]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.select %cond_1, %a_1, %b_1
// CHECK-NEXT: [[V5]] = equivalence.class [[V6]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%cond: tensor<8x4xi1>, %a: tensor<8x4xf32>, %b: tensor<8x1xf32>) -> tensor<8x4xf32> {
  %u = forge.exp %a : tensor<8x4xf32>
  %v = forge.exp %b : tensor<8x1xf32>
  %y = forge.select %cond, %u, %v : (tensor<8x4xi1>, tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not select-unary: two functions.
// CHECK-LABEL: func.func @main(%unlike
// CHECK:      %unlike_1 = equivalence.class %unlike
// CHECK-NEXT: %a_1 = equivalence.class %a
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.exp %a_1
// CHECK-NEXT: %u = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.neg %b_1
// CHECK-NEXT: %v = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.select %unlike_1, %u, %v
// CHECK-NEXT: %y = equivalence.class [[V3]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%unlike: tensor<8x4xi1>, %a: tensor<8x4xf32>, %b: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %u = forge.exp %a : tensor<8x4xf32>
  %v = forge.neg %b : tensor<8x4xf32>
  %y = forge.select %unlike, %u, %v : (tensor<8x4xi1>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// select-left.
// CHECK-LABEL: func.func @main(%left
// CHECK:      %left_1 = equivalence.class %left
// CHECK-NEXT: %a_1 = equivalence.class %a
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %d_1 = equivalence.class %d
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.sub %a_1, %d_1
// CHECK-NEXT: %u = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.sub %b_1, %d_1
// CHECK-NEXT: %v = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.sub [[V4:%[0-9]+]], %d_1
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.select %left_1, %u, %v
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.select %left_1, %a_1, %b_1
// CHECK-NEXT: [[V4]] = equivalence.class [[V6]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%left: tensor<8x4xi1>, %a: tensor<8x4xf32>, %b: tensor<8x4xf32>, %d: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %u = forge.sub %a, %d : tensor<8x4xf32>
  %v = forge.sub %b, %d : tensor<8x4xf32>
  %y = forge.select %left, %u, %v : (tensor<8x4xi1>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// select-right.
// CHECK-LABEL: func.func @main(%right
// CHECK:      %right_1 = equivalence.class %right
// CHECK-NEXT: %a_1 = equivalence.class %a
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %d_1 = equivalence.class %d
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.sub %d_1, %a_1
// CHECK-NEXT: %u = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.sub %d_1, %b_1
// CHECK-NEXT: %v = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.sub %d_1, [[V4:%[0-9]+]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.select %right_1, %u, %v
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.select %right_1, %a_1, %b_1
// CHECK-NEXT: [[V4]] = equivalence.class [[V6]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%right: tensor<8x4xi1>, %a: tensor<8x4xf32>, %b: tensor<8x4xf32>, %d: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %u = forge.sub %d, %a : tensor<8x4xf32>
  %v = forge.sub %d, %b : tensor<8x4xf32>
  %y = forge.select %right, %u, %v : (tensor<8x4xi1>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not select-left nor select-right: the shared operand stands on different sides.
// CHECK-LABEL: func.func @main(%crossed
// CHECK:      %crossed_1 = equivalence.class %crossed
// CHECK-NEXT: %a_1 = equivalence.class %a
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %d_1 = equivalence.class %d
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.sub %a_1, %d_1
// CHECK-NEXT: %u = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.sub %d_1, %b_1
// CHECK-NEXT: %v = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.select %crossed_1, %u, %v
// CHECK-NEXT: %y = equivalence.class [[V3]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%crossed: tensor<8x4xi1>, %a: tensor<8x4xf32>, %b: tensor<8x4xf32>, %d: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %u = forge.sub %a, %d : tensor<8x4xf32>
  %v = forge.sub %d, %b : tensor<8x4xf32>
  %y = forge.select %crossed, %u, %v : (tensor<8x4xi1>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// unary-of-select: minus infinity before exp …
// CHECK-LABEL: func.func @main(%masked
// CHECK:      %masked_1 = equivalence.class %masked
// CHECK-NEXT: %a_1 = equivalence.class %a
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.constant
// CHECK-NEXT: [[V2:%[0-9]+]] = equivalence.class [[V1]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.select %masked_1, %a_1, [[V2]]
// CHECK-NEXT: %s = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.select %masked_1, [[V5:%[0-9]+]], [[V6:%[0-9]+]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.exp %s
// CHECK-NEXT: %y = equivalence.class [[V4]], [[V7]]
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.exp %a_1
// CHECK-NEXT: [[V5]] = equivalence.class [[V8]]
// CHECK-NEXT: [[V9:%[0-9]+]] = forge.exp [[V2]]
// CHECK-NEXT: [[V6]] = equivalence.class [[V9]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%masked: tensor<8x4xi1>, %a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = forge.constant -inf : tensor<1x1xf32>
  %s = forge.select %masked, %a, %0 : (tensor<8x4xi1>, tensor<8x4xf32>, tensor<1x1xf32>) -> tensor<8x4xf32>
  %y = forge.exp %s : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// … and exp-of-minus-infinity: its exponential is a zero, neutral in a sum that is not negative.
// CHECK-LABEL: func.func @main(%zero
// CHECK:      %zero_1 = equivalence.class %zero
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.constant
// CHECK-NEXT: [[V2:%[0-9]+]] = equivalence.class [[V1]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.exp [[V2]]
// CHECK-NEXT: %e = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.add %a, %e
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.abs %zero_1
// CHECK-NEXT: %a = equivalence.class [[V4]], [[V5]]
// CHECK-NEXT: equivalence.yield %a
func.func @main(%zero: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = forge.constant -inf : tensor<1x1xf32>
  %e = forge.exp %0 : tensor<1x1xf32>
  %a = forge.abs %zero : tensor<8x4xf32>
  %y = forge.add %a, %e : (tensor<8x4xf32>, tensor<1x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not exp-of-minus-infinity: exp(-1) is no zero.
// CHECK-LABEL: func.func @main(%nonzero
// CHECK:      %nonzero_1 = equivalence.class %nonzero
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.constant
// CHECK-NEXT: [[V2:%[0-9]+]] = equivalence.class [[V1]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.exp [[V2]]
// CHECK-NEXT: %e = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.abs %nonzero_1
// CHECK-NEXT: %a = equivalence.class [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.add %a, %e
// CHECK-NEXT: %y = equivalence.class [[V5]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%nonzero: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = forge.constant -1.0 : tensor<1x1xf32>
  %e = forge.exp %0 : tensor<1x1xf32>
  %a = forge.abs %nonzero : tensor<8x4xf32>
  %y = forge.add %a, %e : (tensor<8x4xf32>, tensor<1x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not unary-of-select: the function would be evaluated twice.
// CHECK-LABEL: func.func @main(%both
// CHECK:      %both_1 = equivalence.class %both
// CHECK-NEXT: %a_1 = equivalence.class %a
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.select %both_1, %a_1, %b_1
// CHECK-NEXT: %s = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.exp %s
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%both: tensor<8x4xi1>, %a: tensor<8x4xf32>, %b: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %s = forge.select %both, %a, %b : (tensor<8x4xi1>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %y = forge.exp %s : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// select-same.
// CHECK-LABEL: func.func @main(%same
// CHECK:      %same_1 = equivalence.class %same
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.select %same_1, %a_1, %a_1
// CHECK-NEXT: %a_1 = equivalence.class %a, [[V1]]
// CHECK-NEXT: equivalence.yield %a_1
func.func @main(%same: tensor<8x4xi1>, %a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %y = forge.select %same, %a, %a : (tensor<8x4xi1>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not select-same: the condition widens the choices.
// CHECK-LABEL: func.func @main(%widened
// CHECK:      %widened_1 = equivalence.class %widened
// CHECK-NEXT: %a_1 = equivalence.class %a
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.select %widened_1, %a_1, %a_1
// CHECK-NEXT: %y = equivalence.class [[V1]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%widened: tensor<8x4xi1>, %a: tensor<8x1xf32>) -> tensor<8x4xf32> {
  %y = forge.select %widened, %a, %a : (tensor<8x4xi1>, tensor<8x1xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// select-not.
// CHECK-LABEL: func.func @main(%inverted
// CHECK:      %inverted_1 = equivalence.class %inverted
// CHECK-NEXT: %a_1 = equivalence.class %a
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.not %inverted_1
// CHECK-NEXT: %n = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.select %inverted_1, %b_1, %a_1
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.select %n, %a_1, %b_1
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V3]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%inverted: tensor<8x4xi1>, %a: tensor<8x4xf32>, %b: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %n = forge.not %inverted : tensor<8x4xi1>
  %y = forge.select %n, %a, %b : (tensor<8x4xi1>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not select-not: the choices are inverted, not the condition.
// CHECK-LABEL: func.func @main(%chosen
// CHECK:      %chosen_1 = equivalence.class %chosen
// CHECK-NEXT: %a_1 = equivalence.class %a
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.not %a_1
// CHECK-NEXT: %n = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.select %chosen_1, %n, %a_1
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%chosen: tensor<8x4xi1>, %a: tensor<8x4xi1>) -> tensor<8x4xi1> {
  %n = forge.not %a : tensor<8x4xi1>
  %y = forge.select %chosen, %n, %a : tensor<8x4xi1>
  func.return %y : tensor<8x4xi1>
}
