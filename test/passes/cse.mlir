// RUN: equiforge-opt %s --split-input-file -p cse | filecheck %s
// RUN: equiforge-opt %s --split-input-file -p 'cse{statistics=true}' 2>&1 >/dev/null | filecheck %s --check-prefix=STATS
// RUN: not equiforge-opt %s -p 'cse{statistic=true}' 2>&1 | filecheck %s --check-prefix=OPTION

// OPTION: pass cse has no option statistic (did you mean statistics?)

// The worked example of the design: five ops become four. (Its numbers are ops of their own here.)
// STATS:       // 10 ops, 1 merged, 0 dead
// STATS-NEXT:  //       1 merged forge.mul
// CHECK-LABEL: func.func @worked_example
// CHECK:       %v1 = forge.mul %x, %two : tensor<4xf32>
// CHECK-NEXT:  %v2 = forge.add %v1, %five : tensor<4xf32>
// CHECK-NEXT:  %v4 = forge.sub %v1, %one : tensor<4xf32>
// CHECK-NEXT:  %v5 = forge.add %v2, %v4 : tensor<4xf32>
// CHECK-NEXT:  func.return %v5
func.func @worked_example(%x: tensor<4xf32>) -> tensor<4xf32> {
  %two = forge.constant 2.0 : tensor<4xf32>
  %five = forge.constant 5.0 : tensor<4xf32>
  %one = forge.constant 1.0 : tensor<4xf32>
  %v1 = forge.mul %x, %two : tensor<4xf32>
  %v2 = forge.add %v1, %five : tensor<4xf32>
  %v3 = forge.mul %x, %two : tensor<4xf32>
  %v4 = forge.sub %v3, %one : tensor<4xf32>
  %v5 = forge.add %v2, %v4 : tensor<4xf32>
  func.return %v5 : tensor<4xf32>
}

// -----

// A chain: when the first pair is merged, the second is a pair too.
// CHECK-LABEL: func.func @chains_merge
// CHECK:       %a = forge.exp %x
// CHECK-NEXT:  %b = forge.reduce sum over 1 %a
// CHECK-NEXT:  %r = forge.add %b, %b
// CHECK-NEXT:  func.return %r
func.func @chains_merge(%x: tensor<4x8xf32>) -> tensor<4x1xf32> {
  %a = forge.exp %x : tensor<4x8xf32>
  %b = forge.reduce sum over 1 %a : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %c = forge.exp %x : tensor<4x8xf32>
  %d = forge.reduce sum over 1 %c : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %r = forge.add %b, %d : tensor<4x1xf32>
  func.return %r : tensor<4x1xf32>
}

// -----

// Operands are sorted where the op commutes; forge.sub does not.
// CHECK-LABEL: func.func @commuted_operands
// CHECK:       %a = forge.add %x, %y
// CHECK-NEXT:  %c = forge.sub %x, %y
// CHECK-NEXT:  %d = forge.sub %y, %x
// CHECK-NEXT:  func.return %a, %a, %c, %d
func.func @commuted_operands(%x: tensor<4xf32>, %y: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = forge.add %x, %y : tensor<4xf32>
  %b = forge.add %y, %x : tensor<4xf32>
  %c = forge.sub %x, %y : tensor<4xf32>
  %d = forge.sub %y, %x : tensor<4xf32>
  func.return %a, %b, %c, %d : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// x < y is y > x, but not y < x.
// CHECK-LABEL: func.func @swapped_comparisons
// CHECK:       %a = forge.compare lt %x, %y
// CHECK-NEXT:  %c = forge.compare lt %y, %x
// CHECK-NEXT:  func.return %a, %a, %c
func.func @swapped_comparisons(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) {
  %a = forge.compare lt %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %b = forge.compare gt %y, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %c = forge.compare lt %y, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  func.return %a, %b, %c : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}

// -----

// Associativity is the e-graph's work: (x + y) + z and x + (y + z) are two sums here.
// CHECK-LABEL: func.func @associativity_is_not_used
// CHECK-COUNT-4: forge.add
func.func @associativity_is_not_used(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>) {
  %a = forge.add %x, %y : tensor<4xf32>
  %b = forge.add %a, %z : tensor<4xf32>
  %c = forge.add %y, %z : tensor<4xf32>
  %d = forge.add %x, %c : tensor<4xf32>
  func.return %b, %d : tensor<4xf32>, tensor<4xf32>
}

// -----

// Every attribute counts: another dimension, reducer, step or result type is another op.
// CHECK-LABEL: func.func @attributes_differ
// CHECK:       forge.reduce sum over 0 %x
// CHECK-NEXT:  forge.reduce sum over 1 %x
// CHECK-NEXT:  forge.reduce max over 1 %x
// CHECK-NEXT:  forge.slice %x along 1 from 0 to 4 step 1
// CHECK-NEXT:  forge.slice %x along 1 from 0 to 4 step 2
// CHECK-NEXT:  forge.cast %x : tensor<4x4xf32> to tensor<4x4xf16>
// CHECK-NEXT:  forge.cast %x : tensor<4x4xf32> to tensor<4x4xbf16>
// CHECK-NEXT:  forge.reshape %x : (tensor<4x4xf32>) -> tensor<16x1xf32>
// CHECK-NEXT:  forge.reshape %x : (tensor<4x4xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:  forge.transpose
// CHECK-NEXT:  func.return
func.func @attributes_differ(%x: tensor<4x4xf32>) -> (tensor<1x4xf32>, tensor<4x1xf32>, tensor<4x1xf32>,
    tensor<4x4xf32>, tensor<4x2xf32>, tensor<4x4xf16>, tensor<4x4xbf16>, tensor<16x1xf32>, tensor<2x8xf32>,
    tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = forge.reduce sum over 0 %x : (tensor<4x4xf32>) -> tensor<1x4xf32>
  %1 = forge.reduce sum over 1 %x : (tensor<4x4xf32>) -> tensor<4x1xf32>
  %2 = forge.reduce max over 1 %x : (tensor<4x4xf32>) -> tensor<4x1xf32>
  %3 = forge.slice %x along 1 from 0 to 4 step 1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = forge.slice %x along 1 from 0 to 4 step 2 : (tensor<4x4xf32>) -> tensor<4x2xf32>
  %5 = forge.cast %x : tensor<4x4xf32> to tensor<4x4xf16>
  %6 = forge.cast %x : tensor<4x4xf32> to tensor<4x4xbf16>
  %7 = forge.reshape %x : (tensor<4x4xf32>) -> tensor<16x1xf32>
  %8 = forge.reshape %x : (tensor<4x4xf32>) -> tensor<2x8xf32>
  %9 = forge.transpose %x perm [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %10 = forge.transpose %x perm [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10 : tensor<1x4xf32>, tensor<4x1xf32>, tensor<4x1xf32>,
    tensor<4x4xf32>, tensor<4x2xf32>, tensor<4x4xf16>, tensor<4x4xbf16>, tensor<16x1xf32>, tensor<2x8xf32>,
    tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Constants compare by bits: 0.0 is not -0.0, a NaN is only the NaN with its payload, and 1 as f32 is not 1 as f16.
// CHECK-LABEL: func.func @constants_by_bits
// CHECK-NEXT:  %zero = forge.constant 0.0 : tensor<1xf32>
// CHECK-NEXT:  %minus = forge.constant -0.0 : tensor<1xf32>
// CHECK-NEXT:  %nan = forge.constant nan : tensor<1xf32>
// CHECK-NEXT:  %payload = forge.constant "0x0100c07f" : tensor<1xf32>
// CHECK-NEXT:  %one = forge.constant 1.0 : tensor<1xf32>
// CHECK-NEXT:  %half = forge.constant 1.0 : tensor<1xf16>
// CHECK-NEXT:  func.return %zero, %zero, %minus, %nan, %nan, %payload, %payload, %one, %half
func.func @constants_by_bits() -> (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>,
    tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf16>) {
  %zero = forge.constant 0.0 : tensor<1xf32>
  %zero2 = forge.constant 0.0 : tensor<1xf32>
  %minus = forge.constant -0.0 : tensor<1xf32>
  %nan = forge.constant nan : tensor<1xf32>
  %nan2 = forge.constant nan : tensor<1xf32>
  %payload = forge.constant "0x0100c07f" : tensor<1xf32>
  %payload2 = forge.constant "0x0100c07f" : tensor<1xf32>
  %one = forge.constant 1.0 : tensor<1xf32>
  %half = forge.constant 1.0 : tensor<1xf16>
  func.return %zero, %zero2, %minus, %nan, %nan2, %payload, %payload2, %one, %half : tensor<1xf32>, tensor<1xf32>,
    tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf16>
}

// -----

// So do floats in the attributes of other dialects.
// CHECK-LABEL: func.func @float_attributes_by_bits
// CHECK-NEXT:  %a = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:  %b = arith.constant -0.000000e+00 : f32
// CHECK-NEXT:  func.return %a, %b, %a
func.func @float_attributes_by_bits() -> (f32, f32, f32) {
  %a = arith.constant 0.0 : f32
  %b = arith.constant -0.0 : f32
  %c = arith.constant 0.0 : f32
  func.return %a, %b, %c : f32, f32, f32
}

// -----

// Two draws of one distribution are two draws, and so is what is computed from them. Nor do we know what an opaque call
// does.
// CHECK-LABEL: func.func @random_and_opaque_ops_stay
// CHECK-COUNT-2: forge.random uniform
// CHECK-COUNT-2: forge.exp
// CHECK-COUNT-2: forge.opaque "aten.cumsum.default"
// CHECK:       func.return
func.func @random_and_opaque_ops_stay(%x: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = forge.random uniform : tensor<4xf32>
  %b = forge.random uniform : tensor<4xf32>
  %c = forge.exp %a : tensor<4xf32>
  %d = forge.exp %b : tensor<4xf32>
  %e = forge.opaque "aten.cumsum.default"(%x) arguments {dim = 0 : i64} : tensor<4xf32>
  %f = forge.opaque "aten.cumsum.default"(%x) arguments {dim = 0 : i64} : tensor<4xf32>
  func.return %c, %d, %e, %f : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Discardable attributes don't count, and the locations of both lines stay, each once.
// CHECK-LABEL: func.func @locations_are_fused
// CHECK-NEXT:  %a = forge.exp %x {loc = "fused[model.py:3, model.py:8]", note = "first"}
// CHECK-NEXT:  %e = forge.tanh %x {loc = "model.py:4"}
// CHECK-NEXT:  func.return %a, %a, %a, %e, %e
func.func @locations_are_fused(%x: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = forge.exp %x {loc = "model.py:3", note = "first"} : tensor<4xf32>
  %b = forge.exp %x {loc = "model.py:8"} : tensor<4xf32>
  %c = forge.exp %x {loc = "model.py:3", note = "third"} : tensor<4xf32>
  %e = forge.tanh %x : tensor<4xf32>
  %f = forge.tanh %x {loc = "model.py:4"} : tensor<4xf32>
  func.return %a, %b, %c, %e, %f : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// An attribute that says what the op computes counts although it is discardable: rounding through f16 in the e-graph.
// CHECK-LABEL: func.func @meaningful_attributes_count
// CHECK-COUNT-2: forge.cast
func.func @meaningful_attributes_count(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = forge.cast %x {through = "f16"} : tensor<4xf32> to tensor<4xf32>
  %b = forge.cast %x {through = "bf16"} : tensor<4xf32> to tensor<4xf32>
  func.return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// Functions see nothing of each other.
// CHECK-LABEL: func.func @first
// CHECK:       forge.constant
// CHECK-LABEL: func.func @second
// CHECK:       forge.constant
func.func @first() -> tensor<1xf32> {
  %a = forge.constant 1.0 : tensor<1xf32>
  func.return %a : tensor<1xf32>
}
func.func @second() -> tensor<1xf32> {
  %a = forge.constant 1.0 : tensor<1xf32>
  func.return %a : tensor<1xf32>
}
