// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=row-scale,column-scale,contraction-scale,normalize-after-product,divide-columns-after-product}' | filecheck %s

// Scales and quotients through products (catalogue 6, 8, 9): what has size 1 along the contraction leaves it.

// row-scale: s has size 1 along K and is never infinite, so the scale follows the product.
// CHECK-LABEL: func.func @main(%row
// CHECK:      %row_1 = equivalence.class %row
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %r_1
// CHECK-NEXT: %s = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.mul %row_1, %s
// CHECK-NEXT: %xs = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.mul [[V4:%[0-9]+]], %s
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.matmul %xs, %w_1
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.matmul %row_1, %w_1
// CHECK-NEXT: [[V4]] = equivalence.class [[V6]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%row: tensor<8x4xf32>, %r: tensor<8x1xf32>, %w: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %s = forge.tanh %r : tensor<8x1xf32>
  %xs = forge.mul %row, %s : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.matmul %xs, %w : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// row-scale, a batched operand and a scalar.
// CHECK-LABEL: func.func @main(%scaled
// CHECK:      %scaled_1 = equivalence.class %scaled
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %r_1
// CHECK-NEXT: %s = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.mul %scaled_1, %s
// CHECK-NEXT: %xs = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.mul [[V4:%[0-9]+]], %s
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.matmul %xs, %w_1
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.matmul %scaled_1, %w_1
// CHECK-NEXT: [[V4]] = equivalence.class [[V6]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%scaled: tensor<2x8x4xf32>, %r: tensor<1x1x1xf32>, %w: tensor<1x4x6xf32>) -> tensor<2x8x6xf32> {
  %s = forge.tanh %r : tensor<1x1x1xf32>
  %xs = forge.mul %scaled, %s : (tensor<2x8x4xf32>, tensor<1x1x1xf32>) -> tensor<2x8x4xf32>
  %y = forge.matmul %xs, %w : (tensor<2x8x4xf32>, tensor<1x4x6xf32>) -> tensor<2x8x6xf32>
  func.return %y : tensor<2x8x6xf32>
}

// -----

// Not row-scale: s enlarges x, whose product would have other rows.
// CHECK-LABEL: func.func @main(%grown
// CHECK:      %grown_1 = equivalence.class %grown
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %r_1
// CHECK-NEXT: %s = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.mul %grown_1, %s
// CHECK-NEXT: %xs = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %xs, %w_1
// CHECK-NEXT: %y = equivalence.class [[V3]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%grown: tensor<1x4xf32>, %r: tensor<8x1xf32>, %w: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %s = forge.tanh %r : tensor<8x1xf32>
  %xs = forge.mul %grown, %s : (tensor<1x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.matmul %xs, %w : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// Not row-scale: where s is infinite, ∞·1 − ∞·2 is NaN and ∞·(1 − 2) is not.
// CHECK-LABEL: func.func @main(%infinite
// CHECK:      %infinite_1 = equivalence.class %infinite
// CHECK-NEXT: %s_1 = equivalence.class %s
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.mul %infinite_1, %s_1
// CHECK-NEXT: %xs = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.matmul %xs, %w_1
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%infinite: tensor<8x4xf32>, %s: tensor<8x1xf32>, %w: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %xs = forge.mul %infinite, %s : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.matmul %xs, %w : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// row-scale: rsqrt(mean(x²) + ε), the scale of RMSNorm.
// CHECK-LABEL: func.func @main(%rms
// CHECK:      %rms_1 = equivalence.class %rms
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.constant
// CHECK-NEXT: %eps = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.constant
// CHECK-NEXT: %n = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.mul %rms_1, %rms_1
// CHECK-NEXT: %x2 = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.reduce sum over 1 %x2
// CHECK-NEXT: %total = equivalence.class [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.div %total, %n
// CHECK-NEXT: %mean = equivalence.class [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.add %mean, %eps
// CHECK-NEXT: %m = equivalence.class [[V6]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.rsqrt %m
// CHECK-NEXT: %s = equivalence.class [[V7]]
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.mul %rms_1, %s
// CHECK-NEXT: %xs = equivalence.class [[V8]]
// CHECK-NEXT: [[V9:%[0-9]+]] = forge.mul [[V10:%[0-9]+]], %s
// CHECK-NEXT: [[V11:%[0-9]+]] = forge.matmul %xs, %w_1
// CHECK-NEXT: %y = equivalence.class [[V9]], [[V11]]
// CHECK-NEXT: [[V12:%[0-9]+]] = forge.matmul %rms_1, %w_1
// CHECK-NEXT: [[V10]] = equivalence.class [[V12]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%rms: tensor<8x4xf32>, %w: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %eps = forge.constant 1.0e-05 : tensor<1x1xf32>
  %n = forge.constant 4.0 : tensor<1x1xf32>
  %x2 = forge.mul %rms, %rms : tensor<8x4xf32>
  %total = forge.reduce sum over 1 %x2 : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %mean = forge.div %total, %n : (tensor<8x1xf32>, tensor<1x1xf32>) -> tensor<8x1xf32>
  %m = forge.add %mean, %eps : (tensor<8x1xf32>, tensor<1x1xf32>) -> tensor<8x1xf32>
  %s = forge.rsqrt %m : tensor<8x1xf32>
  %xs = forge.mul %rms, %s : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.matmul %xs, %w : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// column-scale: s has size 1 along K of the right operand.
// CHECK-LABEL: func.func @main(%column
// CHECK:      %column_1 = equivalence.class %column
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %r_1
// CHECK-NEXT: %s = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.mul %w_1, %s
// CHECK-NEXT: %ws = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.mul [[V4:%[0-9]+]], %s
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.matmul %column_1, %ws
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.matmul %column_1, %w_1
// CHECK-NEXT: [[V4]] = equivalence.class [[V6]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%column: tensor<8x4xf32>, %w: tensor<4x6xf32>, %r: tensor<1x6xf32>) -> tensor<8x6xf32> {
  %s = forge.tanh %r : tensor<1x6xf32>
  %ws = forge.mul %w, %s : (tensor<4x6xf32>, tensor<1x6xf32>) -> tensor<4x6xf32>
  %y = forge.matmul %column, %ws : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// Not column-scale: s varies along K, and moving it to the left operand is another rule's business.
// CHECK-LABEL: func.func @main(%along_k
// CHECK:      %along_k_1 = equivalence.class %along_k
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %r_1
// CHECK-NEXT: %s = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.mul %w_1, %s
// CHECK-NEXT: %ws = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %along_k_1, %ws
// CHECK-NEXT: %y = equivalence.class [[V3]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%along_k: tensor<8x4xf32>, %w: tensor<4x6xf32>, %r: tensor<4x1xf32>) -> tensor<8x6xf32> {
  %s = forge.tanh %r : tensor<4x1xf32>
  %ws = forge.mul %w, %s : (tensor<4x6xf32>, tensor<4x1xf32>) -> tensor<4x6xf32>
  %y = forge.matmul %along_k, %ws : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// contraction-scale: a weight along K moves to the right operand.
// CHECK-LABEL: func.func @main(%weighted
// CHECK:       [[V2:%[0-9]+]] = forge.matmul %weighted_1, [[V3:%[0-9]+]]
// CHECK:       [[V4:%[0-9]+]] = forge.matmul %xg, %w_1
// CHECK:       %y = equivalence.class [[V2]], [[V4]]
// CHECK:       [[V5:%[0-9]+]] = forge.transpose %g_1 perm [1, 0]
// CHECK:       [[V6:%[0-9]+]] = equivalence.class [[V5]]
// CHECK:       [[V7:%[0-9]+]] = forge.mul %w_1, [[V6]]
// CHECK:       [[V3]] = equivalence.class [[V7]]
func.func @main(%weighted: tensor<8x4xf32>, %g: tensor<1x4xf32>, %w: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %xg = forge.mul %weighted, %g : (tensor<8x4xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
  %y = forge.matmul %xg, %w : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// Not contraction-scale: g varies along the rows too.
// CHECK-LABEL: func.func @main(%full
// CHECK:       [[V2:%[0-9]+]] = forge.matmul %xg, %w_1
// CHECK:       %y = equivalence.class [[V2]]
func.func @main(%full: tensor<8x4xf32>, %g: tensor<8x4xf32>, %w: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %xg = forge.mul %full, %g : tensor<8x4xf32>
  %y = forge.matmul %xg, %w : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// Not contraction-scale: the right operand would grow by a batch dimension.
// CHECK-LABEL: func.func @main(%batched
// CHECK:       [[V2:%[0-9]+]] = forge.matmul %xg, %w_1
// CHECK:       %y = equivalence.class [[V2]]
func.func @main(%batched: tensor<2x8x4xf32>, %g: tensor<2x1x4xf32>, %w: tensor<1x4x6xf32>) -> tensor<2x8x6xf32> {
  %xg = forge.mul %batched, %g : (tensor<2x8x4xf32>, tensor<2x1x4xf32>) -> tensor<2x8x4xf32>
  %y = forge.matmul %xg, %w : (tensor<2x8x4xf32>, tensor<1x4x6xf32>) -> tensor<2x8x6xf32>
  func.return %y : tensor<2x8x6xf32>
}

// -----

// normalize-after-product: the sum of a row of exponentials is 0 only where they all are; it divides the product.
// CHECK-LABEL: func.func @main(%normal
// CHECK:      %normal_1 = equivalence.class %normal
// CHECK-NEXT: %v_1 = equivalence.class %v
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.exp %normal_1
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reduce sum over 1 %e
// CHECK-NEXT: %l = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.div %e, %l
// CHECK-NEXT: %el = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.div [[V5:%[0-9]+]], %l
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.matmul %el, %v_1
// CHECK-NEXT: %y = equivalence.class [[V4]], [[V6]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.matmul %e, %v_1
// CHECK-NEXT: [[V5]] = equivalence.class [[V7]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%normal: tensor<8x4xf32>, %v: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %e = forge.exp %normal : tensor<8x4xf32>
  %l = forge.reduce sum over 1 %e : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %el = forge.div %e, %l : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.matmul %el, %v : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// Not normalize-after-product: l varies along K.
// CHECK-LABEL: func.func @main(%notnormal
// CHECK:      %notnormal_1 = equivalence.class %notnormal
// CHECK-NEXT: %v_1 = equivalence.class %v
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.exp %notnormal_1
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reduce sum over 0 %e
// CHECK-NEXT: %l = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.div %e, %l
// CHECK-NEXT: %el = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.matmul %el, %v_1
// CHECK-NEXT: %y = equivalence.class [[V4]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%notnormal: tensor<8x4xf32>, %v: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %e = forge.exp %notnormal : tensor<8x4xf32>
  %l = forge.reduce sum over 0 %e : (tensor<8x4xf32>) -> tensor<1x4xf32>
  %el = forge.div %e, %l : (tensor<8x4xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
  %y = forge.matmul %el, %v : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// Not normalize-after-product: it is the divisor that varies.
// CHECK-LABEL: func.func @main(%divisor
// CHECK:       [[V2:%[0-9]+]] = forge.matmul %le, %v_1
// CHECK:       %y = equivalence.class [[V2]]
func.func @main(%divisor: tensor<8x4xf32>, %l: tensor<8x1xf32>, %v: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %le = forge.div %l, %divisor : (tensor<8x1xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %y = forge.matmul %le, %v : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// normalize-after-product: the softmax, whose normalizer is at least 1.
// CHECK-LABEL: func.func @main(%softmax
// CHECK:      %softmax_1 = equivalence.class %softmax
// CHECK-NEXT: %v_1 = equivalence.class %v
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reduce max over 1 %softmax_1
// CHECK-NEXT: %m = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.sub %softmax_1, %m
// CHECK-NEXT: %d = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.exp %d
// CHECK-NEXT: %e = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.reduce sum over 1 %e
// CHECK-NEXT: %l = equivalence.class [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.div %e, %l
// CHECK-NEXT: %el = equivalence.class [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.div [[V7:%[0-9]+]], %l
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.matmul %el, %v_1
// CHECK-NEXT: %y = equivalence.class [[V6]], [[V8]]
// CHECK-NEXT: [[V9:%[0-9]+]] = forge.matmul %e, %v_1
// CHECK-NEXT: [[V7]] = equivalence.class [[V9]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%softmax: tensor<8x4xf32>, %v: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %m = forge.reduce max over 1 %softmax : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %d = forge.sub %softmax, %m : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %e = forge.exp %d : tensor<8x4xf32>
  %l = forge.reduce sum over 1 %e : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %el = forge.div %e, %l : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.matmul %el, %v : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// Not normalize-after-product: where l is 0, 1/0 − 2/0 is NaN and (1 − 2)/0 is not.
// CHECK-LABEL: func.func @main(%anyl
// CHECK:      %anyl_1 = equivalence.class %anyl
// CHECK-NEXT: %l_1 = equivalence.class %l
// CHECK-NEXT: %v_1 = equivalence.class %v
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.div %anyl_1, %l_1
// CHECK-NEXT: %el = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.matmul %el, %v_1
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
func.func @main(%anyl: tensor<8x4xf32>, %l: tensor<8x1xf32>, %v: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %el = forge.div %anyl, %l : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.matmul %el, %v : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// divide-columns-after-product, by a scalar.
// CHECK-LABEL: func.func @main(%columns
// CHECK:       [[V3:%[0-9]+]] = forge.div [[V4:%[0-9]+]], %two
// CHECK:       [[V5:%[0-9]+]] = forge.matmul %columns_1, %vl
// CHECK:       %y = equivalence.class [[V3]], [[V5]]
// CHECK:       [[V6:%[0-9]+]] = forge.matmul %columns_1, %v_1
// CHECK:       [[V4]] = equivalence.class [[V6]]
func.func @main(%columns: tensor<8x4xf32>, %v: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %two = forge.constant 2.0 : tensor<1x1xf32>
  %vl = forge.div %v, %two : (tensor<4x6xf32>, tensor<1x1xf32>) -> tensor<4x6xf32>
  %y = forge.matmul %columns, %vl : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// Not divide-columns-after-product: the divisor varies along K.
// CHECK-LABEL: func.func @main(%notcolumns
// CHECK:       [[V2:%[0-9]+]] = forge.matmul %notcolumns_1, %vl
// CHECK:       %y = equivalence.class [[V2]]
func.func @main(%notcolumns: tensor<8x4xf32>, %v: tensor<4x6xf32>, %l: tensor<4x1xf32>) -> tensor<8x6xf32> {
  %vl = forge.div %v, %l : (tensor<4x6xf32>, tensor<4x1xf32>) -> tensor<4x6xf32>
  %y = forge.matmul %notcolumns, %vl : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}
