// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=1},saturate{rules=refine-pointwise-root,view-unary,view-cast,partition-binary,replicate-binary,partition-select,replicate-select}' | filecheck %s

// Views move through pointwise ops: what is broadcast along the dimension that is cut is replicated.

// view-unary.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: [[V1:%[0-9]+]] = tile.combine [[V2:%[0-9]+]] along 0 by @x0
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.exp %x_1
// CHECK-NEXT: %y = equivalence.class [[V1]], [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = tile.partition %x_1 along 0 by @x0
// CHECK-NEXT: [[V5:%[0-9]+]] = equivalence.class [[V4]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.exp [[V5]]
// CHECK-NEXT: [[V7:%[0-9]+]] = tile.partition %y along 0 by @x0
// CHECK-NEXT: [[V2]] = equivalence.class [[V6]], [[V7]]
func.func @main(%x: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %y = forge.exp %x : tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// view-cast.
// CHECK-LABEL: func.func @main(%integer
// CHECK:      %integer_1 = equivalence.class %integer
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.cast %integer_1
// CHECK-NEXT: [[V2:%[0-9]+]] = tile.combine [[V3:%[0-9]+]] along 0 by @integer0
// CHECK-NEXT: %y = equivalence.class [[V1]], [[V2]]
// CHECK-NEXT: [[V4:%[0-9]+]] = tile.partition %integer_1 along 0 by @integer0
// CHECK-NEXT: [[V5:%[0-9]+]] = equivalence.class [[V4]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.cast [[V5]]
// CHECK-NEXT: [[V7:%[0-9]+]] = tile.partition %y along 0 by @integer0
// CHECK-NEXT: [[V3]] = equivalence.class [[V6]], [[V7]]
func.func @main(%integer: tensor<8x1xi32>) -> tensor<8x1xf32> {
  %y = forge.cast %integer : tensor<8x1xi32> to tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// partition-binary: b has size 1 along dimension 1 and is replicated there.
// CHECK-LABEL: func.func @main(%a
// CHECK:      %a_1 = equivalence.class %a
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.add %a_1, %b_1
// CHECK-NEXT: [[V2:%[0-9]+]] = tile.combine [[V3:%[0-9]+]] along 1 by @a1
// CHECK-NEXT: %y = equivalence.class [[V1]], [[V2]]
// CHECK-NEXT: [[V4:%[0-9]+]] = tile.partition %a_1 along 1 by @a1
// CHECK-NEXT: [[V5:%[0-9]+]] = equivalence.class [[V4]]
// CHECK-NEXT: [[V6:%[0-9]+]] = tile.replicate %b_1 by @a1
// CHECK-NEXT: [[V7:%[0-9]+]] = equivalence.class [[V6]]
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.add [[V5]], [[V7]]
// CHECK-NEXT: [[V9:%[0-9]+]] = tile.partition %y along 1 by @a1
// CHECK-NEXT: [[V3]] = equivalence.class [[V8]], [[V9]]
func.func @main(%a: tensor<1x4xf32>, %b: tensor<1x1xf32>) -> tensor<1x4xf32> {
  %y = forge.add %a, %b : (tensor<1x4xf32>, tensor<1x1xf32>) -> tensor<1x4xf32>
  func.return %y : tensor<1x4xf32>
}

// -----

// partition-binary: the two sides are cut in turn.
// CHECK-LABEL: func.func @main(%rows
// CHECK:      %rows_1 = equivalence.class %rows
// CHECK-NEXT: %columns_1 = equivalence.class %columns
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.add %rows_1, %columns_1
// CHECK-NEXT: [[V2:%[0-9]+]] = tile.combine [[V3:%[0-9]+]] along 0 by @rows0
// CHECK-NEXT: [[V4:%[0-9]+]] = tile.combine [[V5:%[0-9]+]] along 1 by @columns1
// CHECK-NEXT: %y = equivalence.class [[V1]], [[V2]], [[V4]]
// CHECK-NEXT: [[V6:%[0-9]+]] = tile.replicate %rows_1 by @columns1
// CHECK-NEXT: [[V7:%[0-9]+]] = equivalence.class [[V6]]
// CHECK-NEXT: [[V8:%[0-9]+]] = tile.partition %rows_1 along 0 by @rows0
// CHECK-NEXT: [[V9:%[0-9]+]] = equivalence.class [[V8]]
// CHECK-NEXT: [[V10:%[0-9]+]] = tile.partition %columns_1 along 1 by @columns1
// CHECK-NEXT: [[V11:%[0-9]+]] = equivalence.class [[V10]]
// CHECK-NEXT: [[V12:%[0-9]+]] = tile.replicate %columns_1 by @rows0
// CHECK-NEXT: [[V13:%[0-9]+]] = equivalence.class [[V12]]
// CHECK-NEXT: [[V14:%[0-9]+]] = forge.add [[V7]], [[V11]]
// CHECK-NEXT: [[V15:%[0-9]+]] = tile.combine [[V16:%[0-9]+]] along 0 by @rows0
// CHECK-NEXT: [[V17:%[0-9]+]] = tile.partition %y along 1 by @columns1
// CHECK-NEXT: [[V5]] = equivalence.class [[V14]], [[V15]], [[V17]]
// CHECK-NEXT: [[V18:%[0-9]+]] = forge.add [[V9]], [[V13]]
// CHECK-NEXT: [[V19:%[0-9]+]] = tile.partition %y along 0 by @rows0
// CHECK-NEXT: [[V3]] = equivalence.class [[V18]], [[V19]]
// CHECK-NEXT: [[V20:%[0-9]+]] = forge.add [[V21:%[0-9]+]], [[V22:%[0-9]+]]
// CHECK-NEXT: [[V23:%[0-9]+]] = tile.partition [[V5]] along 0 by @rows0
// CHECK-NEXT: [[V16]] = equivalence.class [[V20]], [[V23]]
// CHECK-NEXT: [[V24:%[0-9]+]] = tile.partition [[V7]] along 0 by @rows0
// CHECK-NEXT: [[V21]] = equivalence.class [[V24]]
// CHECK-NEXT: [[V25:%[0-9]+]] = tile.replicate [[V11]] by @rows0
// CHECK-NEXT: [[V22]] = equivalence.class [[V25]]
func.func @main(%rows: tensor<8x1xf32>, %columns: tensor<1x4xf32>) -> tensor<8x4xf32> {
  %y = forge.add %rows, %columns : (tensor<8x1xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// partition-select.
// CHECK-LABEL: func.func @main(%cond
// CHECK:      %cond_1 = equivalence.class %cond
// CHECK-NEXT: %a_1 = equivalence.class %a
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = tile.combine [[V2:%[0-9]+]] along 0 by @cond0
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.select %cond_1, %a_1, %b_1
// CHECK-NEXT: %y = equivalence.class [[V1]], [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = tile.partition %cond_1 along 0 by @cond0
// CHECK-NEXT: [[V5:%[0-9]+]] = equivalence.class [[V4]]
// CHECK-NEXT: [[V6:%[0-9]+]] = tile.replicate %a_1 by @cond0
// CHECK-NEXT: [[V7:%[0-9]+]] = equivalence.class [[V6]]
// CHECK-NEXT: [[V8:%[0-9]+]] = tile.partition %b_1 along 0 by @cond0
// CHECK-NEXT: [[V9:%[0-9]+]] = equivalence.class [[V8]]
// CHECK-NEXT: [[V10:%[0-9]+]] = forge.select [[V5]], [[V7]], [[V9]]
// CHECK-NEXT: [[V11:%[0-9]+]] = tile.partition %y along 0 by @cond0
// CHECK-NEXT: [[V2]] = equivalence.class [[V10]], [[V11]]
func.func @main(%cond: tensor<8x1xi1>, %a: tensor<1x1xf32>, %b: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %y = forge.select %cond, %a, %b : (tensor<8x1xi1>, tensor<1x1xf32>, tensor<8x1xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// replicate-binary for %near, not for %far, which is out of reach of @w0: it comes before two products.
// CHECK-LABEL: func.func @main(%p
// CHECK:      %p_1 = equivalence.class %p
// CHECK-NEXT: %q_1 = equivalence.class %q
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %p_1, %q_1
// CHECK-NEXT: %m = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.mul %m, %q_1
// CHECK-NEXT: %far = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %far, %b_1
// CHECK-NEXT: %g = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.matmul %g, %b_1
// CHECK-NEXT: %h = equivalence.class [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.mul %h, %far
// CHECK-NEXT: %near = equivalence.class [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.add %w_1, %near
// CHECK-NEXT: [[V7:%[0-9]+]] = tile.combine [[V8:%[0-9]+]] along 0 by @w0
// CHECK-NEXT: %y = equivalence.class [[V6]], [[V7]]
// CHECK-NEXT: [[V9:%[0-9]+]] = tile.combine [[V10:%[0-9]+]] along 0 by @w0
// CHECK-NEXT: [[V11:%[0-9]+]] = forge.matmul %y, %b_1
// CHECK-NEXT: %z = equivalence.class [[V9]], [[V11]]
// CHECK-NEXT: [[V12:%[0-9]+]] = tile.partition %w_1 along 0 by @w0
// CHECK-NEXT: [[V13:%[0-9]+]] = equivalence.class [[V12]]
// CHECK-NEXT: [[V14:%[0-9]+]] = forge.mul [[V15:%[0-9]+]], [[V16:%[0-9]+]]
// CHECK-NEXT: [[V17:%[0-9]+]] = tile.replicate %near by @w0
// CHECK-NEXT: [[V18:%[0-9]+]] = equivalence.class [[V14]], [[V17]]
// CHECK-NEXT: [[V19:%[0-9]+]] = forge.add [[V13]], [[V18]]
// CHECK-NEXT: [[V20:%[0-9]+]] = tile.partition %y along 0 by @w0
// CHECK-NEXT: [[V8]] = equivalence.class [[V19]], [[V20]]
// CHECK-NEXT: [[V21:%[0-9]+]] = tile.partition %z along 0 by @w0
// CHECK-NEXT: [[V10]] = equivalence.class [[V21]]
// CHECK-NEXT: [[V22:%[0-9]+]] = tile.replicate %far by @w0
// CHECK-NEXT: [[V16]] = equivalence.class [[V22]]
// CHECK-NEXT: [[V23:%[0-9]+]] = tile.replicate %h by @w0
// CHECK-NEXT: [[V15]] = equivalence.class [[V23]]
func.func @main(%p: tensor<1x1xf32>, %q: tensor<1x1xf32>, %b: tensor<1x1xf32>, %w: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %m = forge.matmul %p, %q : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  %far = forge.mul %m, %q : tensor<1x1xf32>
  %g = forge.matmul %far, %b : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  %h = forge.matmul %g, %b : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  %near = forge.mul %h, %far : tensor<1x1xf32>
  %y = forge.add %w, %near : (tensor<8x1xf32>, tensor<1x1xf32>) -> tensor<8x1xf32>
  %z = forge.matmul %y, %b : (tensor<8x1xf32>, tensor<1x1xf32>) -> tensor<8x1xf32>
  func.return %z : tensor<8x1xf32>
}
