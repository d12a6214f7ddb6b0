// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=1},saturate{rules=sum-of-scaled,refine-reduction-output}' | filecheck %s

// Without the store rules what algebra makes is not cut by itself.

// Only the class of the original sum is cut.
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
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.reduce sum over 1 %x_1
// CHECK-NEXT: [[V4]] = equivalence.class [[V8]]
// CHECK-NEXT: [[V9:%[0-9]+]] = tile.partition %xa along 0 by @x0
// CHECK-NEXT: [[V10:%[0-9]+]] = equivalence.class [[V9]]
// CHECK-NEXT: [[V11:%[0-9]+]] = tile.reduce sum over axis(1) [[V10]]
// CHECK-NEXT: [[V12:%[0-9]+]] = tile.partition %y along 0 by @x0
// CHECK-NEXT: [[V6]] = equivalence.class [[V11]], [[V12]]
func.func @main(%x: tensor<8x4xf32>, %r: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %a = forge.tanh %r : tensor<8x1xf32>
  %xa = forge.mul %x, %a : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = forge.reduce sum over 1 %xa : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}
