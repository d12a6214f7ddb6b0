// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=1 split-extent=16},saturate{rules=refine-contraction,refine-reduction,refine-sliced-contraction,refine-sliced-reduction}' | filecheck %s

// Without an outer axis a dimension is cut once: the rules for slices find nothing to cut again.

// Not refine-sliced-contraction.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %x_1, %w_1
// CHECK-NEXT: [[V2:%[0-9]+]] = tile.reduce sum over parallel(@x1) [[V3:%[0-9]+]]
// CHECK-NEXT: %y = equivalence.class [[V1]], [[V2]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.matmul [[V5:%[0-9]+]], [[V6:%[0-9]+]]
// CHECK-NEXT: [[V3]] = equivalence.class [[V4]]
// CHECK-NEXT: [[V7:%[0-9]+]] = tile.partition %x_1 along 1 by @x1
// CHECK-NEXT: [[V5]] = equivalence.class [[V7]]
// CHECK-NEXT: [[V8:%[0-9]+]] = tile.partition %w_1 along 0 by @x1
// CHECK-NEXT: [[V6]] = equivalence.class [[V8]]
func.func @main(%x: tensor<2x8xf32>, %w: tensor<8x3xf32>) -> tensor<2x3xf32> {
  %y = forge.matmul %x, %w : (tensor<2x8xf32>, tensor<8x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// -----

// Not refine-sliced-reduction.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: [[V1:%[0-9]+]] = tile.reduce max over parallel(@x1) [[V2:%[0-9]+]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.reduce max over 1 %x_1
// CHECK-NEXT: %y = equivalence.class [[V1]], [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = tile.partition %x_1 along 1 by @x1
// CHECK-NEXT: [[V5:%[0-9]+]] = equivalence.class [[V4]]
// CHECK-NEXT: [[V6:%[0-9]+]] = tile.reduce max over axis(1) [[V5]]
// CHECK-NEXT: [[V2]] = equivalence.class [[V6]]
func.func @main(%x: tensor<3x8xf32>) -> tensor<3x1xf32> {
  %y = forge.reduce max over 1 %x : (tensor<3x8xf32>) -> tensor<3x1xf32>
  func.return %y : tensor<3x1xf32>
}
