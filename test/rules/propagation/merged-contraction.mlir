// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=2},saturate{rules=merged-left-contraction,merged-right-contraction}' | filecheck %s

// Contractions over dimensions that a reshape merges are sums over the outer one.

// merged-left-contraction.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.exp %x_1 : tensor<5x2x3xf32>
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reshape %e : (tensor<5x2x3xf32>) -> tensor<5x6xf32>
// CHECK-NEXT: %r = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %r, %w_1 : (tensor<5x6xf32>, tensor<6x4xf32>) -> tensor<5x4xf32>
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.reshape [[V5:%[0-9]+]] : (tensor<1x5x4xf32>) -> tensor<5x4xf32>
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V4]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.reshape %r : (tensor<5x6xf32>) -> tensor<5x2x3xf32>
// CHECK-NEXT: [[V7:%[0-9]+]] = equivalence.class [[V6]]
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.transpose [[V7]] perm [1, 0, 2] : (tensor<5x2x3xf32>) -> tensor<2x5x3xf32>
// CHECK-NEXT: [[V9:%[0-9]+]] = equivalence.class [[V8]]
// CHECK-NEXT: [[V10:%[0-9]+]] = forge.reshape %w_1 : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: [[V11:%[0-9]+]] = equivalence.class [[V10]]
// CHECK-NEXT: [[V12:%[0-9]+]] = forge.matmul [[V13:%[0-9]+]], [[V14:%[0-9]+]]
// CHECK-NEXT: [[V15:%[0-9]+]] = equivalence.class [[V12]]
// CHECK-NEXT: [[V16:%[0-9]+]] = tile.partition [[V9]] along 0 by @x1
// CHECK-NEXT: [[V13]] = equivalence.class [[V16]]
// CHECK-NEXT: [[V17:%[0-9]+]] = tile.partition [[V11]] along 0 by @x1
// CHECK-NEXT: [[V14]] = equivalence.class [[V17]]
// CHECK-NEXT: [[V18:%[0-9]+]] = tile.reduce sum over axis(0) [[V15]]
// CHECK-NEXT: [[V19:%[0-9]+]] = equivalence.class [[V18]]
// CHECK-NEXT: [[V20:%[0-9]+]] = tile.reduce sum over parallel(@x1) [[V19]]
// CHECK-NEXT: [[V5]] = equivalence.class [[V20]]
func.func @main(%x: tensor<5x2x3xf32>, %w: tensor<6x4xf32>) -> tensor<5x4xf32> {
  %e = forge.exp %x : tensor<5x2x3xf32>
  %r = forge.reshape %e : (tensor<5x2x3xf32>) -> tensor<5x6xf32>
  %y = forge.matmul %r, %w : (tensor<5x6xf32>, tensor<6x4xf32>) -> tensor<5x4xf32>
  func.return %y : tensor<5x4xf32>
}

// -----

// merged-right-contraction.
// CHECK-LABEL: func.func @main(%left
// CHECK:      %left_1 = equivalence.class %left
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.exp %w_1 : tensor<2x3x4xf32>
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reshape %e : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
// CHECK-NEXT: %r = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %left_1, %r : (tensor<5x6xf32>, tensor<6x4xf32>) -> tensor<5x4xf32>
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.reshape [[V5:%[0-9]+]] : (tensor<1x5x4xf32>) -> tensor<5x4xf32>
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V4]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.reshape %left_1 : (tensor<5x6xf32>) -> tensor<5x2x3xf32>
// CHECK-NEXT: [[V7:%[0-9]+]] = equivalence.class [[V6]]
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.transpose [[V7]] perm [1, 0, 2] : (tensor<5x2x3xf32>) -> tensor<2x5x3xf32>
// CHECK-NEXT: [[V9:%[0-9]+]] = equivalence.class [[V8]]
// CHECK-NEXT: [[V10:%[0-9]+]] = forge.reshape %r : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: [[V11:%[0-9]+]] = equivalence.class [[V10]]
// CHECK-NEXT: [[V12:%[0-9]+]] = forge.matmul [[V13:%[0-9]+]], [[V14:%[0-9]+]]
// CHECK-NEXT: [[V15:%[0-9]+]] = equivalence.class [[V12]]
// CHECK-NEXT: [[V16:%[0-9]+]] = tile.partition [[V9]] along 0 by @w0
// CHECK-NEXT: [[V13]] = equivalence.class [[V16]]
// CHECK-NEXT: [[V17:%[0-9]+]] = tile.partition [[V11]] along 0 by @w0
// CHECK-NEXT: [[V14]] = equivalence.class [[V17]]
// CHECK-NEXT: [[V18:%[0-9]+]] = tile.reduce sum over axis(0) [[V15]]
// CHECK-NEXT: [[V19:%[0-9]+]] = equivalence.class [[V18]]
// CHECK-NEXT: [[V20:%[0-9]+]] = tile.reduce sum over parallel(@w0) [[V19]]
// CHECK-NEXT: [[V5]] = equivalence.class [[V20]]
func.func @main(%left: tensor<5x6xf32>, %w: tensor<2x3x4xf32>) -> tensor<5x4xf32> {
  %e = forge.exp %w : tensor<2x3x4xf32>
  %r = forge.reshape %e : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %y = forge.matmul %left, %r : (tensor<5x6xf32>, tensor<6x4xf32>) -> tensor<5x4xf32>
  func.return %y : tensor<5x4xf32>
}

// -----

// Neither: the reshape is of what is in memory.
// CHECK-LABEL: func.func @main(%stored
// CHECK:      %stored_1 = equivalence.class %stored
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.reshape %stored_1 : (tensor<5x2x3xf32>) -> tensor<5x6xf32>
// CHECK-NEXT: %r = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.matmul %r, %w_1 : (tensor<5x6xf32>, tensor<6x4xf32>) -> tensor<5x4xf32>
// CHECK-NEXT: %y = equivalence.class [[V2]]
func.func @main(%stored: tensor<5x2x3xf32>, %w: tensor<6x4xf32>) -> tensor<5x4xf32> {
  %r = forge.reshape %stored : (tensor<5x2x3xf32>) -> tensor<5x6xf32>
  %y = forge.matmul %r, %w : (tensor<5x6xf32>, tensor<6x4xf32>) -> tensor<5x4xf32>
  func.return %y : tensor<5x4xf32>
}

// -----

// Neither: rows are merged.
// CHECK-LABEL: func.func @main(%rows
// CHECK:      %rows_1 = equivalence.class %rows
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.exp %rows_1 : tensor<2x3x5xf32>
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reshape %e : (tensor<2x3x5xf32>) -> tensor<6x5xf32>
// CHECK-NEXT: %r = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %r, %w_1 : (tensor<6x5xf32>, tensor<5x4xf32>) -> tensor<6x4xf32>
// CHECK-NEXT: %y = equivalence.class [[V3]]
func.func @main(%rows: tensor<2x3x5xf32>, %w: tensor<5x4xf32>) -> tensor<6x4xf32> {
  %e = forge.exp %rows : tensor<2x3x5xf32>
  %r = forge.reshape %e : (tensor<2x3x5xf32>) -> tensor<6x5xf32>
  %y = forge.matmul %r, %w : (tensor<6x5xf32>, tensor<5x4xf32>) -> tensor<6x4xf32>
  func.return %y : tensor<6x4xf32>
}

// -----

// Neither: three dimensions are merged.
// CHECK-LABEL: func.func @main(%three
// CHECK:      %three_1 = equivalence.class %three
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.exp %three_1 : tensor<5x2x3x2xf32>
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reshape %e : (tensor<5x2x3x2xf32>) -> tensor<5x12xf32>
// CHECK-NEXT: %r = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %r, %w_1 : (tensor<5x12xf32>, tensor<12x4xf32>) -> tensor<5x4xf32>
// CHECK-NEXT: %y = equivalence.class [[V3]]
func.func @main(%three: tensor<5x2x3x2xf32>, %w: tensor<12x4xf32>) -> tensor<5x4xf32> {
  %e = forge.exp %three : tensor<5x2x3x2xf32>
  %r = forge.reshape %e : (tensor<5x2x3x2xf32>) -> tensor<5x12xf32>
  %y = forge.matmul %r, %w : (tensor<5x12xf32>, tensor<12x4xf32>) -> tensor<5x4xf32>
  func.return %y : tensor<5x4xf32>
}

// -----

// Neither: the outer dimension has no axis, for it is reduced too, and fits a tile.
// CHECK-LABEL: func.func @main(%fits
// CHECK:      %fits_1 = equivalence.class %fits
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.exp %fits_1 : tensor<5x2x3xf32>
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reshape %e : (tensor<5x2x3xf32>) -> tensor<5x6xf32>
// CHECK-NEXT: %r = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %r, %w_1 : (tensor<5x6xf32>, tensor<6x4xf32>) -> tensor<5x4xf32>
// CHECK-NEXT: %y = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.reduce sum over 1 %e : (tensor<5x2x3xf32>) -> tensor<5x1x3xf32>
// CHECK-NEXT: %z = equivalence.class [[V4]]
func.func @main(%fits: tensor<5x2x3xf32>, %w: tensor<6x4xf32>) -> (tensor<5x4xf32>, tensor<5x1x3xf32>) {
  %e = forge.exp %fits : tensor<5x2x3xf32>
  %r = forge.reshape %e : (tensor<5x2x3xf32>) -> tensor<5x6xf32>
  %y = forge.matmul %r, %w : (tensor<5x6xf32>, tensor<6x4xf32>) -> tensor<5x4xf32>
  %z = forge.reduce sum over 1 %e : (tensor<5x2x3xf32>) -> tensor<5x1x3xf32>
  func.return %y, %z : tensor<5x4xf32>, tensor<5x1x3xf32>
}
