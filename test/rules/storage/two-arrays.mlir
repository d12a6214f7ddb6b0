// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=1},saturate{rules=associate-right,refine-contraction,storage}' | filecheck %s

// Different partial products may have one sum. Each has an array of its own.

// partials-collect: two classes are collected, and each array is in a class of its own.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %x_1, %x_1
// CHECK-NEXT: [[V2:%[0-9]+]] = tile.reduce sum over parallel(@x0) [[V3:%[0-9]+]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.reshape [[V5:%[0-9]+]]
// CHECK-NEXT: %z = equivalence.class [[V1]], [[V2]], [[V4]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.matmul %x_1, [[V7:%[0-9]+]]
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.matmul %z, %w_1
// CHECK-NEXT: [[V9:%[0-9]+]] = tile.reduce sum over parallel(@x0) [[V10:%[0-9]+]]
// CHECK-NEXT: [[V11:%[0-9]+]] = tile.reduce sum over parallel(@x0) [[V12:%[0-9]+]]
// CHECK-NEXT: [[V13:%[0-9]+]] = forge.reshape [[V14:%[0-9]+]]
// CHECK-NEXT: [[V15:%[0-9]+]] = forge.reshape [[V16:%[0-9]+]]
// CHECK-NEXT: %y = equivalence.class [[V6]], [[V8]], [[V9]], [[V11]], [[V13]], [[V15]]
// CHECK-NEXT: [[V17:%[0-9]+]] = forge.matmul %x_1, %w_1
// CHECK-NEXT: [[V18:%[0-9]+]] = tile.reduce sum over parallel(@x0) [[V19:%[0-9]+]]
// CHECK-NEXT: [[V7]] = equivalence.class [[V17]], [[V18]]
// CHECK-NEXT: [[V20:%[0-9]+]] = forge.matmul [[V21:%[0-9]+]], [[V22:%[0-9]+]]
// CHECK-NEXT: [[V3]] = equivalence.class [[V20]]
// CHECK-NEXT: [[V23:%[0-9]+]] = forge.matmul [[V21]], [[V24:%[0-9]+]]
// CHECK-NEXT: [[V10]] = equivalence.class [[V23]]
// CHECK-NEXT: [[V25:%[0-9]+]] = forge.matmul [[V26:%[0-9]+]], [[V27:%[0-9]+]]
// CHECK-NEXT: [[V12]] = equivalence.class [[V25]]
// CHECK-NEXT: [[V28:%[0-9]+]] = forge.matmul [[V21]], [[V27]]
// CHECK-NEXT: [[V19]] = equivalence.class [[V28]]
// CHECK-NEXT: [[V29:%[0-9]+]] = tile.partition %x_1 along 1 by @x0
// CHECK-NEXT: [[V21]] = equivalence.class [[V29]]
// CHECK-NEXT: [[V30:%[0-9]+]] = tile.partition %x_1 along 0 by @x0
// CHECK-NEXT: [[V22]] = equivalence.class [[V30]]
// CHECK-NEXT: [[V31:%[0-9]+]] = tile.partition %w_1 along 0 by @x0
// CHECK-NEXT: [[V27]] = equivalence.class [[V31]]
// CHECK-NEXT: [[V32:%[0-9]+]] = tile.partition %z along 1 by @x0
// CHECK-NEXT: [[V26]] = equivalence.class [[V32]]
// CHECK-NEXT: [[V33:%[0-9]+]] = tile.partition [[V7]] along 0 by @x0
// CHECK-NEXT: [[V24]] = equivalence.class [[V33]]
// CHECK-NEXT: [[V34:%[0-9]+]] = tile.collect [[V3]] by @x0 into 2
// CHECK-NEXT: [[V35:%[0-9]+]] = equivalence.class [[V34]]
// CHECK-NEXT: [[V36:%[0-9]+]] = tile.collect [[V10]] by @x0 into 2
// CHECK-NEXT: [[V37:%[0-9]+]] = equivalence.class [[V36]]
// CHECK-NEXT: [[V38:%[0-9]+]] = tile.collect [[V12]] by @x0 into 2
// CHECK-NEXT: [[V39:%[0-9]+]] = equivalence.class [[V38]]
// CHECK-NEXT: [[V40:%[0-9]+]] = forge.reduce sum over 0 [[V35]]
// CHECK-NEXT: [[V5]] = equivalence.class [[V40]]
// CHECK-NEXT: [[V41:%[0-9]+]] = forge.reduce sum over 0 [[V37]]
// CHECK-NEXT: [[V14]] = equivalence.class [[V41]]
// CHECK-NEXT: [[V42:%[0-9]+]] = forge.reduce sum over 0 [[V39]]
// CHECK-NEXT: [[V16]] = equivalence.class [[V42]]
func.func @main(%x: tensor<2x2xf32>, %w: tensor<2x1xf32>) -> tensor<2x1xf32> {
  %z = forge.matmul %x, %x : tensor<2x2xf32>
  %y = forge.matmul %z, %w : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  func.return %y : tensor<2x1xf32>
}
