// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=1 split-extent=8},saturate{rules=refine-reduction,slice-reduction,refine-pointwise-root,view-unary,view-parallel-reduce}' | filecheck %s

// Tiles of a reduction over slices: blocks don't loop over these, so that the view stays where it is.

// view-parallel-reduce for @x1, not for @x1_split.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: [[V1:%[0-9]+]] = tile.combine [[V2:%[0-9]+]] along 0 by @x0
// CHECK-NEXT: [[V3:%[0-9]+]] = tile.reduce max over parallel(@x1_split) [[V4:%[0-9]+]]
// CHECK-NEXT: [[V5:%[0-9]+]] = tile.reduce max over parallel(@x1) [[V6:%[0-9]+]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.reduce max over 1 %x_1
// CHECK-NEXT: %m = equivalence.class [[V1]], [[V3]], [[V5]], [[V7]]
// CHECK-NEXT: [[V8:%[0-9]+]] = tile.combine [[V9:%[0-9]+]] along 0 by @x0
// CHECK-NEXT: [[V10:%[0-9]+]] = forge.exp %m
// CHECK-NEXT: %y = equivalence.class [[V8]], [[V10]]
// CHECK-NEXT: [[V11:%[0-9]+]] = tile.partition %x_1 along 1 by @x1
// CHECK-NEXT: [[V12:%[0-9]+]] = equivalence.class [[V11]]
// CHECK-NEXT: [[V13:%[0-9]+]] = tile.partition %x_1 along 1 by @x1_split
// CHECK-NEXT: [[V14:%[0-9]+]] = equivalence.class [[V13]]
// CHECK-NEXT: [[V15:%[0-9]+]] = tile.reduce max over parallel(@x1) [[V16:%[0-9]+]]
// CHECK-NEXT: [[V17:%[0-9]+]] = tile.partition %m along 0 by @x0
// CHECK-NEXT: [[V2]] = equivalence.class [[V15]], [[V17]]
// CHECK-NEXT: [[V18:%[0-9]+]] = forge.exp [[V2]]
// CHECK-NEXT: [[V19:%[0-9]+]] = tile.partition %y along 0 by @x0
// CHECK-NEXT: [[V9]] = equivalence.class [[V18]], [[V19]]
// CHECK-NEXT: [[V20:%[0-9]+]] = tile.reduce max over axis(1) [[V12]]
// CHECK-NEXT: [[V6]] = equivalence.class [[V20]]
// CHECK-NEXT: [[V21:%[0-9]+]] = tile.reduce max over axis(1) [[V14]]
// CHECK-NEXT: [[V4]] = equivalence.class [[V21]]
// CHECK-NEXT: [[V22:%[0-9]+]] = tile.partition [[V6]] along 0 by @x0
// CHECK-NEXT: [[V16]] = equivalence.class [[V22]]
func.func @main(%x: tensor<3x8xf32>) -> tensor<3x1xf32> {
  %m = forge.reduce max over 1 %x : (tensor<3x8xf32>) -> tensor<3x1xf32>
  %y = forge.exp %m : tensor<3x1xf32>
  func.return %y : tensor<3x1xf32>
}
