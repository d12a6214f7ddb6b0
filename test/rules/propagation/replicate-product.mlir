// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=1},saturate{rules=refine-rows,view-unary,replicate-product}' | filecheck %s

// A replicated product replicates both operands.

// replicate-product: the right operand of the outer product is computed.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: %a_1 = equivalence.class %a
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %a_1, %b_1
// CHECK-NEXT: %p = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = tile.combine [[V3:%[0-9]+]] along 0 by @x0
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.matmul %x_1, %p
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = tile.partition %x_1 along 0 by @x0
// CHECK-NEXT: [[V6:%[0-9]+]] = equivalence.class [[V5]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.matmul [[V8:%[0-9]+]], [[V9:%[0-9]+]]
// CHECK-NEXT: [[V10:%[0-9]+]] = tile.replicate %p by @x0
// CHECK-NEXT: [[V11:%[0-9]+]] = equivalence.class [[V7]], [[V10]]
// CHECK-NEXT: [[V12:%[0-9]+]] = forge.matmul [[V6]], [[V11]]
// CHECK-NEXT: [[V13:%[0-9]+]] = tile.partition %y along 0 by @x0
// CHECK-NEXT: [[V3]] = equivalence.class [[V12]], [[V13]]
// CHECK-NEXT: [[V14:%[0-9]+]] = tile.replicate %a_1 by @x0
// CHECK-NEXT: [[V8]] = equivalence.class [[V14]]
// CHECK-NEXT: [[V15:%[0-9]+]] = tile.replicate %b_1 by @x0
// CHECK-NEXT: [[V9]] = equivalence.class [[V15]]
func.func @main(%x: tensor<8x1xf32>, %a: tensor<1x4xf32>, %b: tensor<4x1xf32>) -> tensor<8x1xf32> {
  %p = forge.matmul %a, %b : (tensor<1x4xf32>, tensor<4x1xf32>) -> tensor<1x1xf32>
  %y = forge.matmul %x, %p : (tensor<8x1xf32>, tensor<1x1xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not replicate-product for %far: it comes two products before the first one that has the dimension of @w0, and is read.
// CHECK-LABEL: func.func @main(%first
// CHECK:      %first_1 = equivalence.class %first
// CHECK-NEXT: %a_1 = equivalence.class %a
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %first_1, %a_1
// CHECK-NEXT: %far = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.matmul %far, %b_1
// CHECK-NEXT: %near = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = tile.combine [[V4:%[0-9]+]] along 0 by @w0
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.matmul %w_1, %near
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = tile.partition %w_1 along 0 by @w0
// CHECK-NEXT: [[V7:%[0-9]+]] = equivalence.class [[V6]]
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.matmul [[V9:%[0-9]+]], [[V10:%[0-9]+]]
// CHECK-NEXT: [[V11:%[0-9]+]] = tile.replicate %near by @w0
// CHECK-NEXT: [[V12:%[0-9]+]] = equivalence.class [[V8]], [[V11]]
// CHECK-NEXT: [[V13:%[0-9]+]] = forge.matmul [[V7]], [[V12]]
// CHECK-NEXT: [[V14:%[0-9]+]] = tile.partition %y along 0 by @w0
// CHECK-NEXT: [[V4]] = equivalence.class [[V13]], [[V14]]
// CHECK-NEXT: [[V15:%[0-9]+]] = tile.replicate %b_1 by @w0
// CHECK-NEXT: [[V10]] = equivalence.class [[V15]]
// CHECK-NEXT: [[V16:%[0-9]+]] = tile.replicate %far by @w0
// CHECK-NEXT: [[V9]] = equivalence.class [[V16]]
func.func @main(%first: tensor<1x2xf32>, %a: tensor<2x1xf32>, %b: tensor<1x1xf32>, %w: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %far = forge.matmul %first, %a : (tensor<1x2xf32>, tensor<2x1xf32>) -> tensor<1x1xf32>
  %near = forge.matmul %far, %b : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  %y = forge.matmul %w, %near : (tensor<8x1xf32>, tensor<1x1xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not replicate-product: sixteen tiles would each do the work of %large.
// CHECK-LABEL: func.func @main(%many
// CHECK:      %many_1 = equivalence.class %many
// CHECK-NEXT: %a_1 = equivalence.class %a
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = tile.combine [[V2:%[0-9]+]] along 0 by @many1
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %a_1, %w_1
// CHECK-NEXT: %large = equivalence.class [[V1]], [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.transpose %many_1 perm [1, 0]
// CHECK-NEXT: %t = equivalence.class [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = tile.combine [[V6:%[0-9]+]] along 0 by @many1
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.matmul %t, %many_1
// CHECK-NEXT: %l = equivalence.class [[V5]], [[V7]]
// CHECK-NEXT: [[V8:%[0-9]+]] = tile.combine [[V9:%[0-9]+]] along 0 by @many1
// CHECK-NEXT: [[V10:%[0-9]+]] = forge.matmul %l, %large
// CHECK-NEXT: %y = equivalence.class [[V8]], [[V10]]
// CHECK-NEXT: [[V11:%[0-9]+]] = tile.replicate %many_1 by @many1
// CHECK-NEXT: [[V12:%[0-9]+]] = equivalence.class [[V11]]
// CHECK-NEXT: [[V13:%[0-9]+]] = tile.partition %a_1 along 0 by @many1
// CHECK-NEXT: [[V14:%[0-9]+]] = equivalence.class [[V13]]
// CHECK-NEXT: [[V15:%[0-9]+]] = tile.replicate %w_1 by @many1
// CHECK-NEXT: [[V16:%[0-9]+]] = equivalence.class [[V15]]
// CHECK-NEXT: [[V17:%[0-9]+]] = tile.replicate %large by @many1
// CHECK-NEXT: [[V18:%[0-9]+]] = equivalence.class [[V17]]
// CHECK-NEXT: [[V19:%[0-9]+]] = forge.matmul [[V14]], [[V16]]
// CHECK-NEXT: [[V20:%[0-9]+]] = tile.partition %large along 0 by @many1
// CHECK-NEXT: [[V2]] = equivalence.class [[V19]], [[V20]]
// CHECK-NEXT: [[V21:%[0-9]+]] = tile.partition %t along 0 by @many1
// CHECK-NEXT: [[V22:%[0-9]+]] = equivalence.class [[V21]]
// CHECK-NEXT: [[V23:%[0-9]+]] = forge.matmul [[V22]], [[V12]]
// CHECK-NEXT: [[V24:%[0-9]+]] = tile.partition %l along 0 by @many1
// CHECK-NEXT: [[V6]] = equivalence.class [[V23]], [[V24]]
// CHECK-NEXT: [[V25:%[0-9]+]] = forge.matmul [[V6]], [[V18]]
// CHECK-NEXT: [[V26:%[0-9]+]] = tile.partition %y along 0 by @many1
// CHECK-NEXT: [[V9]] = equivalence.class [[V25]], [[V26]]
func.func @main(%many: tensor<2048x4096xf32>, %a: tensor<4096x4096xf32>, %w: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %large = forge.matmul %a, %w : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %t = forge.transpose %many perm [1, 0] : (tensor<2048x4096xf32>) -> tensor<4096x2048xf32>
  %l = forge.matmul %t, %many : (tensor<4096x2048xf32>, tensor<2048x4096xf32>) -> tensor<4096x4096xf32>
  %y = forge.matmul %l, %large : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  func.return %y : tensor<4096x4096xf32>
}
