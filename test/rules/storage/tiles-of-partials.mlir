// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=1},saturate{rules=refine-reduction-output,refine-reduction,view-reduce,view-order,storage}' | filecheck %s

// Partial results are collected in each tile of the output, and combined one dimension further on.

// partials-collect, partials-of-tiles, partials-combine.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: [[V1:%[0-9]+]] = tile.combine [[V2:%[0-9]+]] along 0 by @x0
// CHECK-NEXT: [[V3:%[0-9]+]] = tile.reduce max over parallel(@x1) [[V4:%[0-9]+]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.reduce max over 1 %x_1
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.reshape [[V7:%[0-9]+]]
// CHECK-NEXT: %y = equivalence.class [[V1]], [[V3]], [[V5]], [[V6]]
// CHECK-NEXT: [[V8:%[0-9]+]] = tile.partition %x_1 along 0 by @x0
// CHECK-NEXT: [[V9:%[0-9]+]] = equivalence.class [[V8]]
// CHECK-NEXT: [[V10:%[0-9]+]] = tile.partition %x_1 along 1 by @x1
// CHECK-NEXT: [[V11:%[0-9]+]] = equivalence.class [[V10]]
// CHECK-NEXT: [[V12:%[0-9]+]] = tile.reduce max over parallel(@x1) [[V13:%[0-9]+]]
// CHECK-NEXT: [[V14:%[0-9]+]] = tile.reduce max over axis(1) [[V9]]
// CHECK-NEXT: [[V15:%[0-9]+]] = tile.partition %y along 0 by @x0
// CHECK-NEXT: [[V2]] = equivalence.class [[V12]], [[V14]], [[V15]]
// CHECK-NEXT: [[V16:%[0-9]+]] = tile.reduce max over axis(1) [[V11]]
// CHECK-NEXT: [[V4]] = equivalence.class [[V16]]
// CHECK-NEXT: [[V17:%[0-9]+]] = tile.partition [[V11]] along 0 by @x0
// CHECK-NEXT: [[V18:%[0-9]+]] = tile.partition [[V9]] along 1 by @x1
// CHECK-NEXT: [[V19:%[0-9]+]] = equivalence.class [[V17]], [[V18]]
// CHECK-NEXT: [[V20:%[0-9]+]] = tile.reduce max over axis(1) [[V19]]
// CHECK-NEXT: [[V21:%[0-9]+]] = tile.partition [[V4]] along 0 by @x0
// CHECK-NEXT: [[V13]] = equivalence.class [[V20]], [[V21]]
// CHECK-NEXT: [[V22:%[0-9]+]] = tile.collect [[V4]] by @x1 into 2
// CHECK-NEXT: [[V23:%[0-9]+]] = tile.combine [[V24:%[0-9]+]] along 1 by @x0
// CHECK-NEXT: [[V25:%[0-9]+]] = equivalence.class [[V22]], [[V23]]
// CHECK-NEXT: [[V26:%[0-9]+]] = tile.collect [[V13]] by @x1 into 2
// CHECK-NEXT: [[V27:%[0-9]+]] = tile.partition [[V25]] along 1 by @x0
// CHECK-NEXT: [[V24]] = equivalence.class [[V26]], [[V27]]
// CHECK-NEXT: [[V28:%[0-9]+]] = forge.reduce max over 0 [[V25]]
// CHECK-NEXT: [[V7]] = equivalence.class [[V28]]
func.func @main(%x: tensor<8x4xf32>) -> tensor<8x1xf32> {
  %y = forge.reduce max over 1 %x : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}
