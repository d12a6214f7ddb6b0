// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=1},saturate{rules=sum-of-scaled,store-reduction,refine-reduction-output}' | filecheck %s

// Reductions that algebra makes may be stored too.

// store-reduction: the sum without the scale is cut.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: %a_1 = equivalence.class %a
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.mul %x_1, %a_1
// CHECK-NEXT: %xa = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.mul [[V3:%[0-9]+]], %a_1
// CHECK-NEXT: [[V4:%[0-9]+]] = tile.combine [[V5:%[0-9]+]] along 0 by @x0
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.reduce sum over 1 %xa
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V4]], [[V6]]
// CHECK-NEXT: [[V7:%[0-9]+]] = tile.combine [[V8:%[0-9]+]] along 0 by @x0
// CHECK-NEXT: [[V9:%[0-9]+]] = forge.reduce sum over 1 %x_1
// CHECK-NEXT: [[V3]] = equivalence.class [[V7]], [[V9]]
// CHECK-NEXT: [[V10:%[0-9]+]] = tile.partition %xa along 0 by @x0
// CHECK-NEXT: [[V11:%[0-9]+]] = equivalence.class [[V10]]
// CHECK-NEXT: [[V12:%[0-9]+]] = tile.reduce sum over axis(1) [[V11]]
// CHECK-NEXT: [[V13:%[0-9]+]] = tile.partition %y along 0 by @x0
// CHECK-NEXT: [[V5]] = equivalence.class [[V12]], [[V13]]
// CHECK-NEXT: [[V14:%[0-9]+]] = tile.partition %x_1 along 0 by @x0
// CHECK-NEXT: [[V15:%[0-9]+]] = equivalence.class [[V14]]
// CHECK-NEXT: [[V16:%[0-9]+]] = tile.reduce sum over axis(1) [[V15]]
// CHECK-NEXT: [[V17:%[0-9]+]] = tile.partition [[V3]] along 0 by @x0
// CHECK-NEXT: [[V8]] = equivalence.class [[V16]], [[V17]]
func.func @main(%x: tensor<8x4xf32>, %a: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %xa = forge.mul %x, %a : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.reduce sum over 1 %xa : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}
