// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=1},saturate{rules=refine-rows,view-unary,view-product-batch}' | filecheck %s

// A replicated product replicates both operands.

// view-product-batch with dimension -1: the right operand of the outer product is computed.
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
// CHECK-NEXT: [[V7:%[0-9]+]] = tile.replicate %a_1 by @x0
// CHECK-NEXT: [[V8:%[0-9]+]] = equivalence.class [[V7]]
// CHECK-NEXT: [[V9:%[0-9]+]] = tile.replicate %b_1 by @x0
// CHECK-NEXT: [[V10:%[0-9]+]] = equivalence.class [[V9]]
// CHECK-NEXT: [[V11:%[0-9]+]] = forge.matmul [[V8]], [[V10]]
// CHECK-NEXT: [[V12:%[0-9]+]] = tile.replicate %p by @x0
// CHECK-NEXT: [[V13:%[0-9]+]] = equivalence.class [[V11]], [[V12]]
// CHECK-NEXT: [[V14:%[0-9]+]] = forge.matmul [[V6]], [[V13]]
// CHECK-NEXT: [[V15:%[0-9]+]] = tile.partition %y along 0 by @x0
// CHECK-NEXT: [[V3]] = equivalence.class [[V14]], [[V15]]
func.func @main(%x: tensor<8x1xf32>, %a: tensor<1x4xf32>, %b: tensor<4x1xf32>) -> tensor<8x1xf32> {
  %p = forge.matmul %a, %b : (tensor<1x4xf32>, tensor<4x1xf32>) -> tensor<1x1xf32>
  %y = forge.matmul %x, %p : (tensor<8x1xf32>, tensor<1x1xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}
