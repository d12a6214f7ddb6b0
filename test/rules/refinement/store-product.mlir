// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=1},saturate{rules=row-scale,store-product,refine-columns}' | filecheck %s

// Products and reductions that algebra makes may be stored too. The batch scale leaves the product, which is refined by itself.

// store-product: the product without the scale is cut.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %r_1
// CHECK-NEXT: %s = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.mul %x_1, %s
// CHECK-NEXT: %xs = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.mul [[V4:%[0-9]+]], %s
// CHECK-NEXT: [[V5:%[0-9]+]] = tile.combine [[V6:%[0-9]+]] along 1 by @w1
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.matmul %xs, %w_1
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V5]], [[V7]]
// CHECK-NEXT: [[V8:%[0-9]+]] = tile.combine [[V9:%[0-9]+]] along 1 by @w1
// CHECK-NEXT: [[V10:%[0-9]+]] = forge.matmul %x_1, %w_1
// CHECK-NEXT: [[V4]] = equivalence.class [[V8]], [[V10]]
// CHECK-NEXT: [[V11:%[0-9]+]] = tile.partition %w_1 along 1 by @w1
// CHECK-NEXT: [[V12:%[0-9]+]] = equivalence.class [[V11]]
// CHECK-NEXT: [[V13:%[0-9]+]] = tile.replicate %xs by @w1
// CHECK-NEXT: [[V14:%[0-9]+]] = equivalence.class [[V13]]
// CHECK-NEXT: [[V15:%[0-9]+]] = forge.matmul [[V14]], [[V12]]
// CHECK-NEXT: [[V16:%[0-9]+]] = tile.partition %y along 1 by @w1
// CHECK-NEXT: [[V6]] = equivalence.class [[V15]], [[V16]]
// CHECK-NEXT: [[V17:%[0-9]+]] = tile.replicate %x_1 by @w1
// CHECK-NEXT: [[V18:%[0-9]+]] = equivalence.class [[V17]]
// CHECK-NEXT: [[V19:%[0-9]+]] = forge.matmul [[V18]], [[V12]]
// CHECK-NEXT: [[V20:%[0-9]+]] = tile.partition [[V4]] along 1 by @w1
// CHECK-NEXT: [[V9]] = equivalence.class [[V19]], [[V20]]
func.func @main(%x: tensor<8x4xf32>, %r: tensor<8x1xf32>, %w: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %s = forge.tanh %r : tensor<8x1xf32>
  %xs = forge.mul %x, %s : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.matmul %xs, %w : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  func.return %y : tensor<8x6xf32>
}
