// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=row-scale-back,column-scale-back,normalize-before-product,scaled-sum,quotient-of-sum}' | filecheck %s

// Scales move into a product or a sum where the scaled operand exists already (catalogue 6, 8, 9, 10).

// row-scale-back: the scaled operand is a result of its own.
// CHECK-LABEL: func.func @main(%rows
// CHECK:      %rows_1 = equivalence.class %rows
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %r_1
// CHECK-NEXT: %s = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.mul %rows_1, %s
// CHECK-NEXT: %xs = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %rows_1, %w_1
// CHECK-NEXT: %p = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.mul %p, %s
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.matmul %xs, %w_1
// CHECK-NEXT: %q = equivalence.class [[V4]], [[V5]]
// CHECK-NEXT: equivalence.yield %q, %xs
func.func @main(%rows: tensor<8x4xf32>, %r: tensor<8x1xf32>, %w: tensor<4x6xf32>) -> (tensor<8x6xf32>, tensor<8x4xf32>) {
  %s = forge.tanh %r : tensor<8x1xf32>
  %xs = forge.mul %rows, %s : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %p = forge.matmul %rows, %w : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %q = forge.mul %p, %s : (tensor<8x6xf32>, tensor<8x1xf32>) -> tensor<8x6xf32>
  func.return %q, %xs : tensor<8x6xf32>, tensor<8x4xf32>
}

// -----

// Not row-scale-back: nothing computes the scaled operand, whose elements may overflow.
// CHECK-LABEL: func.func @main(%unscaled
// CHECK:      %unscaled_1 = equivalence.class %unscaled
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %r_1
// CHECK-NEXT: %s = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.matmul %unscaled_1, %w_1
// CHECK-NEXT: %p = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.mul %p, %s
// CHECK-NEXT: %y = equivalence.class [[V3]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%unscaled: tensor<8x4xf32>, %r: tensor<8x1xf32>, %w: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %s = forge.tanh %r : tensor<8x1xf32>
  %p = forge.matmul %unscaled, %w : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %y = forge.mul %p, %s : (tensor<8x6xf32>, tensor<8x1xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// Not row-scale-back: the scale varies along N.
// CHECK-LABEL: func.func @main(%wide
// CHECK:      %wide_1 = equivalence.class %wide
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: %t_1 = equivalence.class %t
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %r_1
// CHECK-NEXT: %s = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.mul %wide_1, %t_1
// CHECK-NEXT: %xs = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %wide_1, %w_1
// CHECK-NEXT: %p = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.mul %p, %s
// CHECK-NEXT: %q = equivalence.class [[V4]]
// CHECK-NEXT: equivalence.yield %q, %xs
func.func @main(%wide: tensor<8x4xf32>, %r: tensor<8x6xf32>, %t: tensor<8x1xf32>, %w: tensor<4x6xf32>) -> (tensor<8x6xf32>, tensor<8x4xf32>) {
  %s = forge.tanh %r : tensor<8x6xf32>
  %xs = forge.mul %wide, %t : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %p = forge.matmul %wide, %w : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %q = forge.mul %p, %s : tensor<8x6xf32>
  func.return %q, %xs : tensor<8x6xf32>, tensor<8x4xf32>
}

// -----

// column-scale-back.
// CHECK-LABEL: func.func @main(%columns
// CHECK:      %columns_1 = equivalence.class %columns
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %r_1
// CHECK-NEXT: %s = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.mul %w_1, %s
// CHECK-NEXT: %ws = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %columns_1, %w_1
// CHECK-NEXT: %p = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.mul %p, %s
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.matmul %columns_1, %ws
// CHECK-NEXT: %q = equivalence.class [[V4]], [[V5]]
// CHECK-NEXT: equivalence.yield %q, %ws
func.func @main(%columns: tensor<8x4xf32>, %r: tensor<1x6xf32>, %w: tensor<4x6xf32>) -> (tensor<8x6xf32>, tensor<4x6xf32>) {
  %s = forge.tanh %r : tensor<1x6xf32>
  %ws = forge.mul %w, %s : (tensor<4x6xf32>, tensor<1x6xf32>) -> tensor<4x6xf32>
  %p = forge.matmul %columns, %w : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %q = forge.mul %p, %s : (tensor<8x6xf32>, tensor<1x6xf32>) -> tensor<8x6xf32>
  func.return %q, %ws : tensor<8x6xf32>, tensor<4x6xf32>
}

// -----

// Not column-scale-back.
// CHECK-LABEL: func.func @main(%uncolumned
// CHECK:      %uncolumned_1 = equivalence.class %uncolumned
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %r_1
// CHECK-NEXT: %s = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.matmul %uncolumned_1, %w_1
// CHECK-NEXT: %p = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.mul %p, %s
// CHECK-NEXT: %y = equivalence.class [[V3]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%uncolumned: tensor<8x4xf32>, %r: tensor<1x6xf32>, %w: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %s = forge.tanh %r : tensor<1x6xf32>
  %p = forge.matmul %uncolumned, %w : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %y = forge.mul %p, %s : (tensor<8x6xf32>, tensor<1x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// normalize-before-product.
// CHECK-LABEL: func.func @main(%weights
// CHECK:      %weights_1 = equivalence.class %weights
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.constant
// CHECK-NEXT: %half = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.max %r_1, %half
// CHECK-NEXT: %l = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.div %weights_1, %l
// CHECK-NEXT: %xs = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.matmul %weights_1, %w_1
// CHECK-NEXT: %p = equivalence.class [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.div %p, %l
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.matmul %xs, %w_1
// CHECK-NEXT: %q = equivalence.class [[V5]], [[V6]]
// CHECK-NEXT: equivalence.yield %q, %xs
func.func @main(%weights: tensor<8x4xf32>, %r: tensor<8x1xf32>, %w: tensor<4x6xf32>) -> (tensor<8x6xf32>, tensor<8x4xf32>) {
  %half = forge.constant 0.5 : tensor<1x1xf32>
  %l = forge.max %r, %half : (tensor<8x1xf32>, tensor<1x1xf32>) -> tensor<8x1xf32>
  %xs = forge.div %weights, %l : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %p = forge.matmul %weights, %w : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %q = forge.div %p, %l : (tensor<8x6xf32>, tensor<8x1xf32>) -> tensor<8x6xf32>
  func.return %q, %xs : tensor<8x6xf32>, tensor<8x4xf32>
}

// -----

// Not normalize-before-product.
// CHECK-LABEL: func.func @main(%raw
// CHECK:      %raw_1 = equivalence.class %raw
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.constant
// CHECK-NEXT: %half = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.max %r_1, %half
// CHECK-NEXT: %l = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %raw_1, %w_1
// CHECK-NEXT: %p = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.div %p, %l
// CHECK-NEXT: %y = equivalence.class [[V4]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%raw: tensor<8x4xf32>, %r: tensor<8x1xf32>, %w: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %half = forge.constant 0.5 : tensor<1x1xf32>
  %l = forge.max %r, %half : (tensor<8x1xf32>, tensor<1x1xf32>) -> tensor<8x1xf32>
  %p = forge.matmul %raw, %w : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %y = forge.div %p, %l : (tensor<8x6xf32>, tensor<8x1xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// scaled-sum.
// CHECK-LABEL: func.func @main(%summed
// CHECK:      %summed_1 = equivalence.class %summed
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %r_1
// CHECK-NEXT: %a = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.mul %summed_1, %a
// CHECK-NEXT: %xa = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.reduce sum over 1 %summed_1
// CHECK-NEXT: %s = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.mul %s, %a
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.reduce sum over 1 %xa
// CHECK-NEXT: %q = equivalence.class [[V4]], [[V5]]
// CHECK-NEXT: equivalence.yield %q, %xa
func.func @main(%summed: tensor<8x4xf32>, %r: tensor<8x1xf32>) -> (tensor<8x1xf32>, tensor<8x4xf32>) {
  %a = forge.tanh %r : tensor<8x1xf32>
  %xa = forge.mul %summed, %a : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %s = forge.reduce sum over 1 %summed : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %q = forge.mul %s, %a : tensor<8x1xf32>
  func.return %q, %xa : tensor<8x1xf32>, tensor<8x4xf32>
}

// -----

// Not scaled-sum: the factor varies along the reduced dimension.
// CHECK-LABEL: func.func @main(%weighted
// CHECK:      %weighted_1 = equivalence.class %weighted
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %r_1
// CHECK-NEXT: %a = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.mul %weighted_1, %a
// CHECK-NEXT: %xa = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.reduce sum over 1 %weighted_1
// CHECK-NEXT: %s = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.mul %s, %a
// CHECK-NEXT: %q = equivalence.class [[V4]]
// CHECK-NEXT: equivalence.yield %q, %xa
func.func @main(%weighted: tensor<8x8xf32>, %r: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %a = forge.tanh %r : tensor<8x8xf32>
  %xa = forge.mul %weighted, %a : tensor<8x8xf32>
  %s = forge.reduce sum over 1 %weighted : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %q = forge.mul %s, %a : (tensor<8x1xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  func.return %q, %xa : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// quotient-of-sum.
// CHECK-LABEL: func.func @main(%shared
// CHECK:      %shared_1 = equivalence.class %shared
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.constant
// CHECK-NEXT: %half = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.max %r_1, %half
// CHECK-NEXT: %a = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.div %shared_1, %a
// CHECK-NEXT: %xa = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.reduce sum over 1 %shared_1
// CHECK-NEXT: %s = equivalence.class [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.div %s, %a
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.reduce sum over 1 %xa
// CHECK-NEXT: %q = equivalence.class [[V5]], [[V6]]
// CHECK-NEXT: equivalence.yield %q, %xa
func.func @main(%shared: tensor<8x4xf32>, %r: tensor<8x1xf32>) -> (tensor<8x1xf32>, tensor<8x4xf32>) {
  %half = forge.constant 0.5 : tensor<1x1xf32>
  %a = forge.max %r, %half : (tensor<8x1xf32>, tensor<1x1xf32>) -> tensor<8x1xf32>
  %xa = forge.div %shared, %a : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %s = forge.reduce sum over 1 %shared : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %q = forge.div %s, %a : tensor<8x1xf32>
  func.return %q, %xa : tensor<8x1xf32>, tensor<8x4xf32>
}

// -----

// Not quotient-of-sum.
// CHECK-LABEL: func.func @main(%mean
// CHECK:      %mean_1 = equivalence.class %mean
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.constant
// CHECK-NEXT: %half = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.max %r_1, %half
// CHECK-NEXT: %a = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.reduce sum over 1 %mean_1
// CHECK-NEXT: %s = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.div %s, %a
// CHECK-NEXT: %y = equivalence.class [[V4]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%mean: tensor<8x4xf32>, %r: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %half = forge.constant 0.5 : tensor<1x1xf32>
  %a = forge.max %r, %half : (tensor<8x1xf32>, tensor<1x1xf32>) -> tensor<8x1xf32>
  %s = forge.reduce sum over 1 %mean : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %y = forge.div %s, %a : tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}
