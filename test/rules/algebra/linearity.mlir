// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=common-left-factor,common-right-factor,multiply-sum,sum-multiplied}' | filecheck %s

// Products are linear in each operand (catalogue 3).

// common-left-factor.
// CHECK-LABEL: func.func @main(%left
// CHECK:      %left_1 = equivalence.class %left
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %d_1 = equivalence.class %d
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %left_1
// CHECK-NEXT: %t = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.matmul %t, %b_1
// CHECK-NEXT: %p = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %t, %d_1
// CHECK-NEXT: %q = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.add %p, %q
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.matmul %t, [[V6:%[0-9]+]]
// CHECK-NEXT: %y = equivalence.class [[V4]], [[V5]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.add %b_1, %d_1
// CHECK-NEXT: [[V6]] = equivalence.class [[V7]]
func.func @main(%left: tensor<8x4xf32>, %b: tensor<4x6xf32>, %d: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %t = forge.tanh %left : tensor<8x4xf32>
  %p = forge.matmul %t, %b : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %q = forge.matmul %t, %d : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %y = forge.add %p, %q : tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// common-right-factor, of a difference.
// CHECK-LABEL: func.func @main(%a
// CHECK:      %a_1 = equivalence.class %a
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: %e_1 = equivalence.class %e
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %r_1
// CHECK-NEXT: %right = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.matmul %a_1, %right
// CHECK-NEXT: %p = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %e_1, %right
// CHECK-NEXT: %q = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.sub %p, %q
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.matmul [[V6:%[0-9]+]], %right
// CHECK-NEXT: %y = equivalence.class [[V4]], [[V5]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.sub %a_1, %e_1
// CHECK-NEXT: [[V6]] = equivalence.class [[V7]]
func.func @main(%a: tensor<8x4xf32>, %r: tensor<4x6xf32>, %e: tensor<8x4xf32>) -> tensor<8x6xf32> {
  %right = forge.tanh %r : tensor<4x6xf32>
  %p = forge.matmul %a, %right : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %q = forge.matmul %e, %right : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %y = forge.sub %p, %q : tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// Not common-right-factor: one row against eight.
// CHECK-LABEL: func.func @main(%rows
// CHECK:      %rows_1 = equivalence.class %rows
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: %e_1 = equivalence.class %e
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %r_1
// CHECK-NEXT: %w = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.matmul %rows_1, %w
// CHECK-NEXT: %p = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %e_1, %w
// CHECK-NEXT: %q = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.sub %p, %q
// CHECK-NEXT: %y = equivalence.class [[V4]]
func.func @main(%rows: tensor<8x4xf32>, %r: tensor<4x6xf32>, %e: tensor<1x4xf32>) -> tensor<8x6xf32> {
  %w = forge.tanh %r : tensor<4x6xf32>
  %p = forge.matmul %rows, %w : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %q = forge.matmul %e, %w : (tensor<1x4xf32>, tensor<4x6xf32>) -> tensor<1x6xf32>
  %y = forge.sub %p, %q : (tensor<8x6xf32>, tensor<1x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// Not common-left-factor: the products are multiplied.
// CHECK-LABEL: func.func @main(%multiplied
// CHECK:      %multiplied_1 = equivalence.class %multiplied
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %d_1 = equivalence.class %d
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %multiplied_1
// CHECK-NEXT: %t = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.matmul %t, %b_1
// CHECK-NEXT: %p = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %t, %d_1
// CHECK-NEXT: %q = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.mul %p, %q
// CHECK-NEXT: %y = equivalence.class [[V4]]
func.func @main(%multiplied: tensor<8x4xf32>, %b: tensor<4x6xf32>, %d: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %t = forge.tanh %multiplied : tensor<8x4xf32>
  %p = forge.matmul %t, %b : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %q = forge.matmul %t, %d : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %y = forge.mul %p, %q : tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// Not common-left-factor: where the common factor is infinite, ∞·1 − ∞·2 is NaN and ∞·(1 − 2) is not.
// CHECK-LABEL: func.func @main(%infinite
// CHECK:      %infinite_1 = equivalence.class %infinite
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %d_1 = equivalence.class %d
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %infinite_1, %b_1
// CHECK-NEXT: %p = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.matmul %infinite_1, %d_1
// CHECK-NEXT: %q = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.sub %p, %q
// CHECK-NEXT: %y = equivalence.class [[V3]]
func.func @main(%infinite: tensor<8x4xf32>, %b: tensor<4x6xf32>, %d: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %p = forge.matmul %infinite, %b : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %q = forge.matmul %infinite, %d : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %y = forge.sub %p, %q : tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// multiply-sum: the update of a weight is a product, and what is multiplied is never infinite.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: %u_1 = equivalence.class %u
// CHECK-NEXT: %v_1 = equivalence.class %v
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %x_1
// CHECK-NEXT: %t = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.matmul %u_1, %v_1
// CHECK-NEXT: %p = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.add %w_1, %p
// CHECK-NEXT: %s = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.add [[V5:%[0-9]+]], [[V6:%[0-9]+]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.matmul %t, %s
// CHECK-NEXT: %y = equivalence.class [[V4]], [[V7]]
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.matmul %t, %w_1
// CHECK-NEXT: [[V5]] = equivalence.class [[V8]]
// CHECK-NEXT: [[V9:%[0-9]+]] = forge.matmul %t, %p
// CHECK-NEXT: [[V6]] = equivalence.class [[V9]]
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x6xf32>, %u: tensor<4x2xf32>, %v: tensor<2x6xf32>) -> tensor<8x6xf32> {
  %t = forge.tanh %x : tensor<8x4xf32>
  %p = forge.matmul %u, %v : (tensor<4x2xf32>, tensor<2x6xf32>) -> tensor<4x6xf32>
  %s = forge.add %w, %p : tensor<4x6xf32>
  %y = forge.matmul %t, %s : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// Not multiply-sum: neither summand is a product.
// CHECK-LABEL: func.func @main(%plain
// CHECK:      %plain_1 = equivalence.class %plain
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: %v_1 = equivalence.class %v
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %plain_1
// CHECK-NEXT: %t = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.add %w_1, %v_1
// CHECK-NEXT: %s = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %t, %s
// CHECK-NEXT: %y = equivalence.class [[V3]]
func.func @main(%plain: tensor<8x4xf32>, %w: tensor<4x6xf32>, %v: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %t = forge.tanh %plain : tensor<8x4xf32>
  %s = forge.add %w, %v : tensor<4x6xf32>
  %y = forge.matmul %t, %s : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// Not multiply-sum: what is multiplied may be infinite.
// CHECK-LABEL: func.func @main(%unbounded
// CHECK:      %unbounded_1 = equivalence.class %unbounded
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: %u_1 = equivalence.class %u
// CHECK-NEXT: %v_1 = equivalence.class %v
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %u_1, %v_1
// CHECK-NEXT: %p = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.add %w_1, %p
// CHECK-NEXT: %s = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %unbounded_1, %s
// CHECK-NEXT: %y = equivalence.class [[V3]]
func.func @main(%unbounded: tensor<8x4xf32>, %w: tensor<4x6xf32>, %u: tensor<4x2xf32>, %v: tensor<2x6xf32>) -> tensor<8x6xf32> {
  %p = forge.matmul %u, %v : (tensor<4x2xf32>, tensor<2x6xf32>) -> tensor<4x6xf32>
  %s = forge.add %w, %p : tensor<4x6xf32>
  %y = forge.matmul %unbounded, %s : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// sum-multiplied: a residual with a product.
// CHECK-LABEL: func.func @main(%residual
// CHECK:      %residual_1 = equivalence.class %residual
// CHECK-NEXT: %o_1 = equivalence.class %o
// CHECK-NEXT: %v_1 = equivalence.class %v
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %r_1
// CHECK-NEXT: %w = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.matmul %o_1, %v_1
// CHECK-NEXT: %p = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.add %residual_1, %p
// CHECK-NEXT: %s = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.add [[V5:%[0-9]+]], [[V6:%[0-9]+]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.matmul %s, %w
// CHECK-NEXT: %y = equivalence.class [[V4]], [[V7]]
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.matmul %residual_1, %w
// CHECK-NEXT: [[V5]] = equivalence.class [[V8]]
// CHECK-NEXT: [[V9:%[0-9]+]] = forge.matmul %p, %w
// CHECK-NEXT: [[V6]] = equivalence.class [[V9]]
func.func @main(%residual: tensor<8x4xf32>, %o: tensor<8x2xf32>, %v: tensor<2x4xf32>, %r: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %w = forge.tanh %r : tensor<4x6xf32>
  %p = forge.matmul %o, %v : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
  %s = forge.add %residual, %p : tensor<8x4xf32>
  %y = forge.matmul %s, %w : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// Not sum-multiplied: neither summand is a product.
// CHECK-LABEL: func.func @main(%states
// CHECK:      %states_1 = equivalence.class %states
// CHECK-NEXT: %o_1 = equivalence.class %o
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %r_1
// CHECK-NEXT: %w = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.add %states_1, %o_1
// CHECK-NEXT: %s = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %s, %w
// CHECK-NEXT: %y = equivalence.class [[V3]]
func.func @main(%states: tensor<8x4xf32>, %o: tensor<8x4xf32>, %r: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %w = forge.tanh %r : tensor<4x6xf32>
  %s = forge.add %states, %o : tensor<8x4xf32>
  %y = forge.matmul %s, %w : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// Not sum-multiplied: a product over as many elements as it has rows is no update of low rank.
// CHECK-LABEL: func.func @main(%projected
// CHECK:      %projected_1 = equivalence.class %projected
// CHECK-NEXT: %o_1 = equivalence.class %o
// CHECK-NEXT: %v_1 = equivalence.class %v
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %w_1
// CHECK-NEXT: %t = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.matmul %o_1, %v_1
// CHECK-NEXT: %p = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.add %projected_1, %p
// CHECK-NEXT: %s = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.matmul %s, %t
// CHECK-NEXT: %y = equivalence.class [[V4]]
func.func @main(%projected: tensor<8x4xf32>, %o: tensor<8x8xf32>, %v: tensor<8x4xf32>, %w: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %t = forge.tanh %w : tensor<4x6xf32>
  %p = forge.matmul %o, %v : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %s = forge.add %projected, %p : tensor<8x4xf32>
  %y = forge.matmul %s, %t : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}
