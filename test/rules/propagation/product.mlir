// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=1},saturate{rules=refine-pointwise-root,refine-columns,view-unary,view-product-rows,view-product-columns,view-product-batch}' | filecheck %s

// Views move through products by the operand's dimension.

// view-product-rows, view-product-columns: e's tiles are computed from tiles of x and w.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = tile.combine [[V2:%[0-9]+]] along 0 by @x0
// CHECK-NEXT: [[V3:%[0-9]+]] = tile.combine [[V4:%[0-9]+]] along 1 by @w1
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.matmul %x_1, %w_1
// CHECK-NEXT: %p = equivalence.class [[V1]], [[V3]], [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = tile.combine [[V7:%[0-9]+]] along 0 by @x0
// CHECK-NEXT: [[V8:%[0-9]+]] = tile.combine [[V9:%[0-9]+]] along 1 by @w1
// CHECK-NEXT: [[V10:%[0-9]+]] = forge.exp %p
// CHECK-NEXT: %y = equivalence.class [[V6]], [[V8]], [[V10]]
// CHECK-NEXT: [[V11:%[0-9]+]] = tile.replicate %x_1 by @w1
// CHECK-NEXT: [[V12:%[0-9]+]] = equivalence.class [[V11]]
// CHECK-NEXT: [[V13:%[0-9]+]] = tile.partition %x_1 along 0 by @x0
// CHECK-NEXT: [[V14:%[0-9]+]] = equivalence.class [[V13]]
// CHECK-NEXT: [[V15:%[0-9]+]] = tile.partition %w_1 along 1 by @w1
// CHECK-NEXT: [[V16:%[0-9]+]] = equivalence.class [[V15]]
// CHECK-NEXT: [[V17:%[0-9]+]] = tile.replicate %w_1 by @x0
// CHECK-NEXT: [[V18:%[0-9]+]] = equivalence.class [[V17]]
// CHECK-NEXT: [[V19:%[0-9]+]] = tile.combine [[V20:%[0-9]+]] along 0 by @x0
// CHECK-NEXT: [[V21:%[0-9]+]] = forge.matmul [[V12]], [[V16]]
// CHECK-NEXT: [[V22:%[0-9]+]] = tile.partition %p along 1 by @w1
// CHECK-NEXT: [[V4]] = equivalence.class [[V19]], [[V21]], [[V22]]
// CHECK-NEXT: [[V23:%[0-9]+]] = forge.matmul [[V14]], [[V18]]
// CHECK-NEXT: [[V24:%[0-9]+]] = tile.partition %p along 0 by @x0
// CHECK-NEXT: [[V2]] = equivalence.class [[V23]], [[V24]]
// CHECK-NEXT: [[V25:%[0-9]+]] = tile.combine [[V26:%[0-9]+]] along 0 by @x0
// CHECK-NEXT: [[V27:%[0-9]+]] = forge.exp [[V4]]
// CHECK-NEXT: [[V28:%[0-9]+]] = tile.partition %y along 1 by @w1
// CHECK-NEXT: [[V9]] = equivalence.class [[V25]], [[V27]], [[V28]]
// CHECK-NEXT: [[V29:%[0-9]+]] = forge.exp [[V2]]
// CHECK-NEXT: [[V30:%[0-9]+]] = tile.partition %y along 0 by @x0
// CHECK-NEXT: [[V7]] = equivalence.class [[V29]], [[V30]]
// CHECK-NEXT: [[V31:%[0-9]+]] = tile.partition [[V12]] along 0 by @x0
// CHECK-NEXT: [[V32:%[0-9]+]] = equivalence.class [[V31]]
// CHECK-NEXT: [[V33:%[0-9]+]] = tile.replicate [[V16]] by @x0
// CHECK-NEXT: [[V34:%[0-9]+]] = equivalence.class [[V33]]
// CHECK-NEXT: [[V35:%[0-9]+]] = forge.matmul [[V32]], [[V34]]
// CHECK-NEXT: [[V36:%[0-9]+]] = tile.partition [[V4]] along 0 by @x0
// CHECK-NEXT: [[V20]] = equivalence.class [[V35]], [[V36]]
// CHECK-NEXT: [[V37:%[0-9]+]] = forge.exp [[V20]]
// CHECK-NEXT: [[V38:%[0-9]+]] = tile.partition [[V9]] along 0 by @x0
// CHECK-NEXT: [[V26]] = equivalence.class [[V37]], [[V38]]
func.func @main(%x: tensor<8x1xf32>, %w: tensor<1x6xf32>) -> tensor<8x6xf32> {
  %p = forge.matmul %x, %w : (tensor<8x1xf32>, tensor<1x6xf32>) -> tensor<8x6xf32>
  %y = forge.exp %p : tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}

// -----

// view-product-batch: w is shared by the batch and replicated.
// CHECK-LABEL: func.func @main(%batched
// CHECK:      %batched_1 = equivalence.class %batched
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = tile.combine [[V2:%[0-9]+]] along 0 by @batched0
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %batched_1, %w_1
// CHECK-NEXT: %p = equivalence.class [[V1]], [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = tile.combine [[V5:%[0-9]+]] along 0 by @batched0
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.exp %p
// CHECK-NEXT: %y = equivalence.class [[V4]], [[V6]]
// CHECK-NEXT: [[V7:%[0-9]+]] = tile.partition %batched_1 along 0 by @batched0
// CHECK-NEXT: [[V8:%[0-9]+]] = equivalence.class [[V7]]
// CHECK-NEXT: [[V9:%[0-9]+]] = tile.replicate %w_1 by @batched0
// CHECK-NEXT: [[V10:%[0-9]+]] = equivalence.class [[V9]]
// CHECK-NEXT: [[V11:%[0-9]+]] = forge.matmul [[V8]], [[V10]]
// CHECK-NEXT: [[V12:%[0-9]+]] = tile.partition %p along 0 by @batched0
// CHECK-NEXT: [[V2]] = equivalence.class [[V11]], [[V12]]
// CHECK-NEXT: [[V13:%[0-9]+]] = forge.exp [[V2]]
// CHECK-NEXT: [[V14:%[0-9]+]] = tile.partition %y along 0 by @batched0
// CHECK-NEXT: [[V5]] = equivalence.class [[V13]], [[V14]]
func.func @main(%batched: tensor<2x1x4xf32>, %w: tensor<1x4x1xf32>) -> tensor<2x1x1xf32> {
  %p = forge.matmul %batched, %w : (tensor<2x1x4xf32>, tensor<1x4x1xf32>) -> tensor<2x1x1xf32>
  %y = forge.exp %p : tensor<2x1x1xf32>
  func.return %y : tensor<2x1x1xf32>
}

// -----

// Not any of them: there is nothing to cut.
// CHECK-LABEL: func.func @main(%dot
// CHECK:      %dot_1 = equivalence.class %dot
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %dot_1, %w_1
// CHECK-NEXT: %p = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.exp %p
// CHECK-NEXT: %y = equivalence.class [[V2]]
func.func @main(%dot: tensor<1x4xf32>, %w: tensor<4x1xf32>) -> tensor<1x1xf32> {
  %p = forge.matmul %dot, %w : (tensor<1x4xf32>, tensor<4x1xf32>) -> tensor<1x1xf32>
  %y = forge.exp %p : tensor<1x1xf32>
  func.return %y : tensor<1x1xf32>
}
