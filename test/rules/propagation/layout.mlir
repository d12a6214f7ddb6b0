// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=1},saturate{rules=refine-pointwise-root,view-unary,partition-transpose,partition-reshape,view-expand,view-slice}' | filecheck %s

// Views move through layout ops of computed values, with their dimension; of stored values they are loads.
// Tiles of a reshape are tiles of its operand where the dimension is in both.

// partition-transpose: rows of the result are columns of e.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: [[V1:%[0-9]+]] = tile.combine [[V2:%[0-9]+]] along 0 by @x0
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.exp %x_1
// CHECK-NEXT: %e = equivalence.class [[V1]], [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = tile.combine [[V5:%[0-9]+]] along 1 by @x0
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.transpose %e perm [1, 0]
// CHECK-NEXT: %y = equivalence.class [[V4]], [[V6]]
// CHECK-NEXT: [[V7:%[0-9]+]] = tile.partition %x_1 along 0 by @x0
// CHECK-NEXT: [[V8:%[0-9]+]] = equivalence.class [[V7]]
// CHECK-NEXT: [[V9:%[0-9]+]] = forge.exp [[V8]]
// CHECK-NEXT: [[V10:%[0-9]+]] = tile.partition %e along 0 by @x0
// CHECK-NEXT: [[V2]] = equivalence.class [[V9]], [[V10]]
// CHECK-NEXT: [[V11:%[0-9]+]] = forge.transpose [[V2]] perm [1, 0]
// CHECK-NEXT: [[V12:%[0-9]+]] = tile.partition %y along 1 by @x0
// CHECK-NEXT: [[V5]] = equivalence.class [[V11]], [[V12]]
func.func @main(%x: tensor<8x1xf32>) -> tensor<1x8xf32> {
  %e = forge.exp %x : tensor<8x1xf32>
  %y = forge.transpose %e perm [1, 0] : (tensor<8x1xf32>) -> tensor<1x8xf32>
  func.return %y : tensor<1x8xf32>
}

// -----

// Not partition-transpose: x is stored, so its transpose is a load with other strides.
// CHECK-LABEL: func.func @main(%stored
// CHECK:      %stored_1 = equivalence.class %stored
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.transpose %stored_1 perm [1, 0]
// CHECK-NEXT: %y = equivalence.class [[V1]]
func.func @main(%stored: tensor<8x1xf32>) -> tensor<1x8xf32> {
  %y = forge.transpose %stored perm [1, 0] : (tensor<8x1xf32>) -> tensor<1x8xf32>
  func.return %y : tensor<1x8xf32>
}

// -----

// partition-reshape: dimension 0 survives.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: [[V1:%[0-9]+]] = tile.combine [[V2:%[0-9]+]] along 0 by @x0
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.exp %x_1
// CHECK-NEXT: %e = equivalence.class [[V1]], [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = tile.combine [[V5:%[0-9]+]] along 1 by @x0
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.reshape %e
// CHECK-NEXT: %y = equivalence.class [[V4]], [[V6]]
// CHECK-NEXT: [[V7:%[0-9]+]] = tile.partition %x_1 along 0 by @x0
// CHECK-NEXT: [[V8:%[0-9]+]] = equivalence.class [[V7]]
// CHECK-NEXT: [[V9:%[0-9]+]] = forge.exp [[V8]]
// CHECK-NEXT: [[V10:%[0-9]+]] = tile.partition %e along 0 by @x0
// CHECK-NEXT: [[V2]] = equivalence.class [[V9]], [[V10]]
// CHECK-NEXT: [[V11:%[0-9]+]] = forge.reshape [[V2]]
// CHECK-NEXT: [[V12:%[0-9]+]] = tile.partition %y along 1 by @x0
// CHECK-NEXT: [[V5]] = equivalence.class [[V11]], [[V12]]
func.func @main(%x: tensor<8x1x1xf32>) -> tensor<1x8xf32> {
  %e = forge.exp %x : tensor<8x1x1xf32>
  %y = forge.reshape %e : (tensor<8x1x1xf32>) -> tensor<1x8xf32>
  func.return %y : tensor<1x8xf32>
}

// -----

// Not partition-reshape: neither dimension of e is one of the result.
// CHECK-LABEL: func.func @main(%merged
// CHECK:      %merged_1 = equivalence.class %merged
// CHECK-NEXT: [[V1:%[0-9]+]] = tile.combine [[V2:%[0-9]+]] along 0 by @merged0
// CHECK-NEXT: [[V3:%[0-9]+]] = tile.combine [[V4:%[0-9]+]] along 2 by @merged2
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.exp %merged_1
// CHECK-NEXT: %e = equivalence.class [[V1]], [[V3]], [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = tile.combine [[V7:%[0-9]+]] along 0 by @y0_2
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.reshape %e
// CHECK-NEXT: %y = equivalence.class [[V6]], [[V8]]
// CHECK-NEXT: [[V9:%[0-9]+]] = tile.partition %merged_1 along 0 by @merged0
// CHECK-NEXT: [[V10:%[0-9]+]] = equivalence.class [[V9]]
// CHECK-NEXT: [[V11:%[0-9]+]] = tile.partition %merged_1 along 2 by @merged2
// CHECK-NEXT: [[V12:%[0-9]+]] = equivalence.class [[V11]]
// CHECK-NEXT: [[V13:%[0-9]+]] = tile.combine [[V14:%[0-9]+]] along 2 by @merged2
// CHECK-NEXT: [[V15:%[0-9]+]] = forge.exp [[V10]]
// CHECK-NEXT: [[V16:%[0-9]+]] = tile.partition %e along 0 by @merged0
// CHECK-NEXT: [[V2]] = equivalence.class [[V13]], [[V15]], [[V16]]
// CHECK-NEXT: [[V17:%[0-9]+]] = forge.exp [[V12]]
// CHECK-NEXT: [[V18:%[0-9]+]] = tile.partition %e along 2 by @merged2
// CHECK-NEXT: [[V4]] = equivalence.class [[V17]], [[V18]]
// CHECK-NEXT: [[V19:%[0-9]+]] = tile.partition %y along 0 by @y0_2
// CHECK-NEXT: [[V7]] = equivalence.class [[V19]]
// CHECK-NEXT: [[V20:%[0-9]+]] = forge.exp [[V21:%[0-9]+]]
// CHECK-NEXT: [[V22:%[0-9]+]] = tile.partition [[V2]] along 2 by @merged2
// CHECK-NEXT: [[V14]] = equivalence.class [[V20]], [[V22]]
// CHECK-NEXT: [[V23:%[0-9]+]] = tile.partition [[V10]] along 2 by @merged2
// CHECK-NEXT: [[V21]] = equivalence.class [[V23]]
func.func @main(%merged: tensor<3x1x4xf32>) -> tensor<12x1xf32> {
  %e = forge.exp %merged : tensor<3x1x4xf32>
  %y = forge.reshape %e : (tensor<3x1x4xf32>) -> tensor<12x1xf32>
  func.return %y : tensor<12x1xf32>
}

// -----

// view-expand: dimension 0 is cut in both; not so dimension 1, which grows and is not e's to cut.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: [[V1:%[0-9]+]] = tile.combine [[V2:%[0-9]+]] along 0 by @x0
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.exp %x_1
// CHECK-NEXT: %e = equivalence.class [[V1]], [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = tile.combine [[V5:%[0-9]+]] along 0 by @x0
// CHECK-NEXT: [[V6:%[0-9]+]] = tile.combine [[V7:%[0-9]+]] along 1 by @y1_1
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.expand %e
// CHECK-NEXT: %y = equivalence.class [[V4]], [[V6]], [[V8]]
// CHECK-NEXT: [[V9:%[0-9]+]] = tile.partition %x_1 along 0 by @x0
// CHECK-NEXT: [[V10:%[0-9]+]] = equivalence.class [[V9]]
// CHECK-NEXT: [[V11:%[0-9]+]] = forge.exp [[V10]]
// CHECK-NEXT: [[V12:%[0-9]+]] = tile.partition %e along 0 by @x0
// CHECK-NEXT: [[V2]] = equivalence.class [[V11]], [[V12]]
// CHECK-NEXT: [[V13:%[0-9]+]] = tile.combine [[V14:%[0-9]+]] along 1 by @y1_1
// CHECK-NEXT: [[V15:%[0-9]+]] = forge.expand [[V2]]
// CHECK-NEXT: [[V16:%[0-9]+]] = tile.partition %y along 0 by @x0
// CHECK-NEXT: [[V5]] = equivalence.class [[V13]], [[V15]], [[V16]]
// CHECK-NEXT: [[V17:%[0-9]+]] = tile.partition %y along 1 by @y1_1
// CHECK-NEXT: [[V7]] = equivalence.class [[V17]]
// CHECK-NEXT: [[V18:%[0-9]+]] = tile.partition [[V5]] along 1 by @y1_1
// CHECK-NEXT: [[V14]] = equivalence.class [[V18]]
func.func @main(%x: tensor<8x1xf32>) -> tensor<8x4xf32> {
  %e = forge.exp %x : tensor<8x1xf32>
  %y = forge.expand %e : (tensor<8x1xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// -----

// view-slice: dimension 0 is cut, not the sliced one.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: [[V1:%[0-9]+]] = tile.combine [[V2:%[0-9]+]] along 0 by @x0
// CHECK-NEXT: [[V3:%[0-9]+]] = tile.combine [[V4:%[0-9]+]] along 1 by @x1
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.exp %x_1
// CHECK-NEXT: %e = equivalence.class [[V1]], [[V3]], [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = tile.combine [[V7:%[0-9]+]] along 0 by @x0
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.slice %e along 1 from 0 to 1 step 1
// CHECK-NEXT: %y = equivalence.class [[V6]], [[V8]]
// CHECK-NEXT: [[V9:%[0-9]+]] = tile.partition %x_1 along 0 by @x0
// CHECK-NEXT: [[V10:%[0-9]+]] = equivalence.class [[V9]]
// CHECK-NEXT: [[V11:%[0-9]+]] = tile.partition %x_1 along 1 by @x1
// CHECK-NEXT: [[V12:%[0-9]+]] = equivalence.class [[V11]]
// CHECK-NEXT: [[V13:%[0-9]+]] = tile.combine [[V14:%[0-9]+]] along 1 by @x1
// CHECK-NEXT: [[V15:%[0-9]+]] = forge.exp [[V10]]
// CHECK-NEXT: [[V16:%[0-9]+]] = tile.partition %e along 0 by @x0
// CHECK-NEXT: [[V2]] = equivalence.class [[V13]], [[V15]], [[V16]]
// CHECK-NEXT: [[V17:%[0-9]+]] = forge.exp [[V12]]
// CHECK-NEXT: [[V18:%[0-9]+]] = tile.partition %e along 1 by @x1
// CHECK-NEXT: [[V4]] = equivalence.class [[V17]], [[V18]]
// CHECK-NEXT: [[V19:%[0-9]+]] = forge.slice [[V2]] along 1 from 0 to 1 step 1
// CHECK-NEXT: [[V20:%[0-9]+]] = tile.partition %y along 0 by @x0
// CHECK-NEXT: [[V7]] = equivalence.class [[V19]], [[V20]]
// CHECK-NEXT: [[V21:%[0-9]+]] = forge.exp [[V22:%[0-9]+]]
// CHECK-NEXT: [[V23:%[0-9]+]] = tile.partition [[V2]] along 1 by @x1
// CHECK-NEXT: [[V14]] = equivalence.class [[V21]], [[V23]]
// CHECK-NEXT: [[V24:%[0-9]+]] = tile.partition [[V10]] along 1 by @x1
// CHECK-NEXT: [[V22]] = equivalence.class [[V24]]
func.func @main(%x: tensor<8x4xf32>) -> tensor<8x1xf32> {
  %e = forge.exp %x : tensor<8x4xf32>
  %y = forge.slice %e along 1 from 0 to 1 step 1 : (tensor<8x4xf32>) -> tensor<8x1xf32>
  func.return %y : tensor<8x1xf32>
}

// -----

// Not view-slice: the only dimension to cut is the sliced one.
// CHECK-LABEL: func.func @main(%sliced
// CHECK:      %sliced_1 = equivalence.class %sliced
// CHECK-NEXT: [[V1:%[0-9]+]] = tile.combine [[V2:%[0-9]+]] along 0 by @sliced0
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.exp %sliced_1
// CHECK-NEXT: %e = equivalence.class [[V1]], [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = tile.combine [[V5:%[0-9]+]] along 0 by @y0_1
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.slice %e along 0 from 1 to 7 step 1
// CHECK-NEXT: %y = equivalence.class [[V4]], [[V6]]
// CHECK-NEXT: [[V7:%[0-9]+]] = tile.partition %sliced_1 along 0 by @sliced0
// CHECK-NEXT: [[V8:%[0-9]+]] = equivalence.class [[V7]]
// CHECK-NEXT: [[V9:%[0-9]+]] = forge.exp [[V8]]
// CHECK-NEXT: [[V10:%[0-9]+]] = tile.partition %e along 0 by @sliced0
// CHECK-NEXT: [[V2]] = equivalence.class [[V9]], [[V10]]
// CHECK-NEXT: [[V11:%[0-9]+]] = tile.partition %y along 0 by @y0_1
// CHECK-NEXT: [[V5]] = equivalence.class [[V11]]
func.func @main(%sliced: tensor<8x1xf32>) -> tensor<6x1xf32> {
  %e = forge.exp %sliced : tensor<8x1xf32>
  %y = forge.slice %e along 0 from 1 to 7 step 1 : (tensor<8x1xf32>) -> tensor<6x1xf32>
  func.return %y : tensor<6x1xf32>
}
