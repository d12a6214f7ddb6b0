// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=1 split-extent=8},saturate{rules=slice-contraction,partition-binary,replicate-binary,replicate-product,view-product-rows}' | filecheck %s

// A product is not computed again in each slice of a long dimension either.

// Not replicate-product: %c is replicated as it is.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: %a_1 = equivalence.class %a
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: %z_1 = equivalence.class %z
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %x_1, %a_1
// CHECK-NEXT: %c = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.mul %w_1, %c
// CHECK-NEXT: %s = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %z_1, %s
// CHECK-NEXT: [[V4:%[0-9]+]] = tile.reduce sum over parallel(@w0_split) [[V5:%[0-9]+]]
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V4]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.matmul [[V7:%[0-9]+]], [[V8:%[0-9]+]]
// CHECK-NEXT: [[V5]] = equivalence.class [[V6]]
// CHECK-NEXT: [[V9:%[0-9]+]] = tile.partition %w_1 along 0 by @w0_split
// CHECK-NEXT: [[V10:%[0-9]+]] = equivalence.class [[V9]]
// CHECK-NEXT: [[V11:%[0-9]+]] = tile.partition %z_1 along 1 by @w0_split
// CHECK-NEXT: [[V7]] = equivalence.class [[V11]]
// CHECK-NEXT: [[V12:%[0-9]+]] = tile.replicate %c by @w0_split
// CHECK-NEXT: [[V13:%[0-9]+]] = equivalence.class [[V12]]
// CHECK-NEXT: [[V14:%[0-9]+]] = forge.mul [[V10]], [[V13]]
// CHECK-NEXT: [[V15:%[0-9]+]] = tile.partition %s along 0 by @w0_split
// CHECK-NEXT: [[V8]] = equivalence.class [[V14]], [[V15]]
func.func @main(%x: tensor<1x2xf32>, %a: tensor<2x1xf32>, %w: tensor<8x1xf32>, %z: tensor<1x8xf32>) -> tensor<1x1xf32> {
  %c = forge.matmul %x, %a : (tensor<1x2xf32>, tensor<2x1xf32>) -> tensor<1x1xf32>
  %s = forge.mul %w, %c : (tensor<8x1xf32>, tensor<1x1xf32>) -> tensor<8x1xf32>
  %y = forge.matmul %z, %s : (tensor<1x8xf32>, tensor<8x1xf32>) -> tensor<1x1xf32>
  func.return %y : tensor<1x1xf32>
}
