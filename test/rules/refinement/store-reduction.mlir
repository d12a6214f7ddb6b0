// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=1},saturate{rules=sum-of-scaled,store-reduction,refine-reduction-output}' | filecheck %s

// Reductions that algebra makes may be stored too.

// store-reduction: the sum without the scale is cut.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %r_1
// CHECK-NEXT: %a = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.mul %x_1, %a
// CHECK-NEXT: %xa = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.mul [[V4:%[0-9]+]], %a
// CHECK-NEXT: [[V5:%[0-9]+]] = tile.combine [[V6:%[0-9]+]] along 0 by @x0
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.reduce sum over 1 %xa
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V5]], [[V7]]
// CHECK-NEXT: [[V8:%[0-9]+]] = tile.combine [[V9:%[0-9]+]] along 0 by @x0
// CHECK-NEXT: [[V10:%[0-9]+]] = forge.reduce sum over 1 %x_1
// CHECK-NEXT: [[V4]] = equivalence.class [[V8]], [[V10]]
// CHECK-NEXT: [[V11:%[0-9]+]] = tile.partition %xa along 0 by @x0
// CHECK-NEXT: [[V12:%[0-9]+]] = equivalence.class [[V11]]
// CHECK-NEXT: [[V13:%[0-9]+]] = tile.reduce sum over axis(1) [[V12]]
// CHECK-NEXT: [[V14:%[0-9]+]] = tile.partition %y along 0 by @x0
// CHECK-NEXT: [[V6]] = equivalence.class [[V13]], [[V14]]
// CHECK-NEXT: [[V15:%[0-9]+]] = tile.partition %x_1 along 0 by @x0
// CHECK-NEXT: [[V16:%[0-9]+]] = equivalence.class [[V15]]
// CHECK-NEXT: [[V17:%[0-9]+]] = tile.reduce sum over axis(1) [[V16]]
// CHECK-NEXT: [[V18:%[0-9]+]] = tile.partition [[V4]] along 0 by @x0
// CHECK-NEXT: [[V9]] = equivalence.class [[V17]], [[V18]]
func.func @main(%x: tensor<8x4xf32>, %r: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %a = forge.tanh %r : tensor<8x1xf32>
  %xa = forge.mul %x, %a : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.reduce sum over 1 %xa : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}
