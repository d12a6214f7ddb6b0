// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=recip-rsqrt,divide-by-rsqrt}' | filecheck %s

// Reciprocals of reciprocal roots (catalogue 7).

// recip-rsqrt.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.rsqrt %x_1
// CHECK-NEXT: %r = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.recip %r
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.sqrt %x_1
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V3]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %r = forge.rsqrt %x : tensor<8x4xf32>
  %y = forge.recip %r : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not recip-rsqrt: the reciprocal of a reciprocal may have overflowed.
// CHECK-LABEL: func.func @main(%twice
// CHECK:      %twice_1 = equivalence.class %twice
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.recip %twice_1
// CHECK-NEXT: %r = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.recip %r
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%twice: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %r = forge.recip %twice : tensor<8x4xf32>
  %y = forge.recip %r : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// divide-by-rsqrt.
// CHECK-LABEL: func.func @main(%a
// CHECK:      %a_1 = equivalence.class %a
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.rsqrt %b_1
// CHECK-NEXT: %r = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.div %a_1, %r
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.mul %a_1, [[V4:%[0-9]+]]
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V3]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.sqrt %b_1
// CHECK-NEXT: [[V4]] = equivalence.class [[V5]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%a: tensor<8x4xf32>, %b: tensor<8x1xf32>) -> tensor<8x4xf32> {
  %r = forge.rsqrt %b : tensor<8x1xf32>
  %y = forge.div %a, %r : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// Not divide-by-rsqrt: x·rsqrt(x) is NaN for x = 0.
// CHECK-LABEL: func.func @main(%zero
// CHECK:      %zero_1 = equivalence.class %zero
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.rsqrt %zero_1
// CHECK-NEXT: %r = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.mul %zero_1, %r
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%zero: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %r = forge.rsqrt %zero : tensor<8x4xf32>
  %y = forge.mul %zero, %r : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}
