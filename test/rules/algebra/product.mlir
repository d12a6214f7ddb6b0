// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=row-scale,column-scale,contraction-scale,normalize-after-product,divide-columns-after-product}' | filecheck %s

// Scales and quotients through products (catalogue 6, 8, 9): what has size 1 along the contraction leaves it.

// row-scale: s has size 1 along K, so the scale follows the product.
// CHECK-LABEL: func.func @main(%row
// CHECK:       [[V2:%[0-9]+]] = forge.mul [[V3:%[0-9]+]], %s_1
// CHECK:       [[V4:%[0-9]+]] = forge.matmul %xs, %w_1
// CHECK:       %y = equivalence.class [[V2]], [[V4]]
// CHECK:       [[V5:%[0-9]+]] = forge.matmul %row_1, %w_1
// CHECK:       [[V3]] = equivalence.class [[V5]]
func.func @main(%row: tensor<8x4xf32>, %s: tensor<8x1xf32>, %w: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %xs = forge.mul %row, %s : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.matmul %xs, %w : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// row-scale, a batched operand and a scalar.
// CHECK-LABEL: func.func @main(%scaled
// CHECK:       [[V2:%[0-9]+]] = forge.mul [[V3:%[0-9]+]], %s_1
// CHECK:       [[V4:%[0-9]+]] = forge.matmul %xs, %w_1
// CHECK:       %y = equivalence.class [[V2]], [[V4]]
// CHECK:       [[V5:%[0-9]+]] = forge.matmul %scaled_1, %w_1
// CHECK:       [[V3]] = equivalence.class [[V5]]
func.func @main(%scaled: tensor<2x8x4xf32>, %s: tensor<1x1x1xf32>, %w: tensor<1x4x6xf32>) -> tensor<2x8x6xf32> {
  %xs = forge.mul %scaled, %s : (tensor<2x8x4xf32>, tensor<1x1x1xf32>) -> tensor<2x8x4xf32>
  %y = forge.matmul %xs, %w : (tensor<2x8x4xf32>, tensor<1x4x6xf32>) -> tensor<2x8x6xf32>
  func.return %y : tensor<2x8x6xf32>
}

// -----

// Not row-scale: s enlarges x, whose product would have other rows.
// CHECK-LABEL: func.func @main(%grown
// CHECK:       [[V2:%[0-9]+]] = forge.matmul %xs, %w_1
// CHECK:       %y = equivalence.class [[V2]]
func.func @main(%grown: tensor<1x4xf32>, %s: tensor<8x1xf32>, %w: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %xs = forge.mul %grown, %s : (tensor<1x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.matmul %xs, %w : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// column-scale: s has size 1 along K of the right operand.
// CHECK-LABEL: func.func @main(%column
// CHECK:       [[V2:%[0-9]+]] = forge.mul [[V3:%[0-9]+]], %s_1
// CHECK:       [[V4:%[0-9]+]] = forge.matmul %column_1, %ws
// CHECK:       %y = equivalence.class [[V2]], [[V4]]
// CHECK:       [[V5:%[0-9]+]] = forge.matmul %column_1, %w_1
// CHECK:       [[V3]] = equivalence.class [[V5]]
func.func @main(%column: tensor<8x4xf32>, %w: tensor<4x6xf32>, %s: tensor<1x6xf32>) -> tensor<8x6xf32> {
  %ws = forge.mul %w, %s : (tensor<4x6xf32>, tensor<1x6xf32>) -> tensor<4x6xf32>
  %y = forge.matmul %column, %ws : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// Not column-scale: s varies along K, and moving it to the left operand is another rule's business.
// CHECK-LABEL: func.func @main(%along_k
// CHECK:       [[V2:%[0-9]+]] = forge.matmul %along_k_1, %ws
// CHECK:       %y = equivalence.class [[V2]]
func.func @main(%along_k: tensor<8x4xf32>, %w: tensor<4x6xf32>, %s: tensor<4x1xf32>) -> tensor<8x6xf32> {
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

// normalize-after-product: the row-wise normalizer divides the product.
// CHECK-LABEL: func.func @main(%normal
// CHECK:       [[V2:%[0-9]+]] = forge.div [[V3:%[0-9]+]], %l_1
// CHECK:       [[V4:%[0-9]+]] = forge.matmul %el, %v_1
// CHECK:       %y = equivalence.class [[V2]], [[V4]]
// CHECK:       [[V5:%[0-9]+]] = forge.matmul %normal_1, %v_1
// CHECK:       [[V3]] = equivalence.class [[V5]]
func.func @main(%normal: tensor<8x4xf32>, %l: tensor<8x1xf32>, %v: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %el = forge.div %normal, %l : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.matmul %el, %v : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// Not normalize-after-product: l varies along K.
// CHECK-LABEL: func.func @main(%notnormal
// CHECK:       [[V2:%[0-9]+]] = forge.matmul %el, %v_1
// CHECK:       %y = equivalence.class [[V2]]
func.func @main(%notnormal: tensor<8x4xf32>, %l: tensor<1x4xf32>, %v: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %el = forge.div %notnormal, %l : (tensor<8x4xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
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
