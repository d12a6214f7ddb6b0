// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=1 split-extent=8},saturate{rules=sum-of-scaled,slice-reduction,refine-sliced-reduction}' | filecheck %s

// A long reduction in slices, whose partial results are to be stored, and in each slice in tiles.

// slice-reduction over the outer axis; refine-sliced-reduction over the inner one, in each slice.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: [[V1:%[0-9]+]] = tile.reduce max over parallel(@x1_split) [[V2:%[0-9]+]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.reduce max over 1 %x_1
// CHECK-NEXT: %y = equivalence.class [[V1]], [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = tile.partition %x_1 along 1 by @x1_split
// CHECK-NEXT: [[V5:%[0-9]+]] = equivalence.class [[V4]]
// CHECK-NEXT: [[V6:%[0-9]+]] = tile.reduce max over parallel(@x1) [[V7:%[0-9]+]]
// CHECK-NEXT: [[V8:%[0-9]+]] = tile.reduce max over axis(1) [[V5]]
// CHECK-NEXT: [[V2]] = equivalence.class [[V6]], [[V8]]
// CHECK-NEXT: [[V9:%[0-9]+]] = tile.partition [[V5]] along 1 by @x1
// CHECK-NEXT: [[V10:%[0-9]+]] = equivalence.class [[V9]]
// CHECK-NEXT: [[V11:%[0-9]+]] = tile.reduce max over axis(1) [[V10]]
// CHECK-NEXT: [[V7]] = equivalence.class [[V11]]
func.func @main(%x: tensor<3x8xf32>) -> tensor<3x1xf32> {
  %y = forge.reduce max over 1 %x : (tensor<3x8xf32>) -> tensor<3x1xf32>
  func.return %y : tensor<3x1xf32>
}

// -----

// Not slice-reduction: the dimension is short, so that its group has one axis.
// CHECK-LABEL: func.func @main(%short
// CHECK:      %short_1 = equivalence.class %short
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reduce max over 1 %short_1
// CHECK-NEXT: %y = equivalence.class [[V1]]
func.func @main(%short: tensor<3x4xf32>) -> tensor<3x1xf32> {
  %y = forge.reduce max over 1 %short : (tensor<3x4xf32>) -> tensor<3x1xf32>
  func.return %y : tensor<3x1xf32>
}

// -----

// Not slice-reduction: the sum that sum-of-scaled makes is not stored here.
// CHECK-LABEL: func.func @main(%unstored
// CHECK:      %unstored_1 = equivalence.class %unstored
// CHECK-NEXT: %r_1 = equivalence.class %r
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.tanh %r_1
// CHECK-NEXT: %a = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.mul %unstored_1, %a
// CHECK-NEXT: %xa = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.mul [[V4:%[0-9]+]], %a
// CHECK-NEXT: [[V5:%[0-9]+]] = tile.reduce sum over parallel(@unstored1_split) [[V6:%[0-9]+]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.reduce sum over 1 %xa
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V5]], [[V7]]
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.reduce sum over 1 %unstored_1
// CHECK-NEXT: [[V4]] = equivalence.class [[V8]]
// CHECK-NEXT: [[V9:%[0-9]+]] = tile.partition %xa along 1 by @unstored1_split
// CHECK-NEXT: [[V10:%[0-9]+]] = equivalence.class [[V9]]
// CHECK-NEXT: [[V11:%[0-9]+]] = tile.reduce sum over parallel(@unstored1) [[V12:%[0-9]+]]
// CHECK-NEXT: [[V13:%[0-9]+]] = tile.reduce sum over axis(1) [[V10]]
// CHECK-NEXT: [[V6]] = equivalence.class [[V11]], [[V13]]
// CHECK-NEXT: [[V14:%[0-9]+]] = tile.partition [[V10]] along 1 by @unstored1
// CHECK-NEXT: [[V15:%[0-9]+]] = equivalence.class [[V14]]
// CHECK-NEXT: [[V16:%[0-9]+]] = tile.reduce sum over axis(1) [[V15]]
// CHECK-NEXT: [[V12]] = equivalence.class [[V16]]
func.func @main(%unstored: tensor<2x8xf32>, %r: tensor<2x1xf32>) -> tensor<2x1xf32> {
  %a = forge.tanh %r : tensor<2x1xf32>
  %xa = forge.mul %unstored, %a : (tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %y = forge.reduce sum over 1 %xa : (tensor<2x8xf32>) -> tensor<2x1xf32>
  func.return %y : tensor<2x1xf32>
}
