// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=1 split-extent=8},saturate{rules=slice-reduction,partition-binary,view-reduce}' | filecheck %s

// What every slice needs as a whole is read from memory: replication over an outer axis stops at products and reductions.

// partition-binary, but not view-reduce: %m is not reduced again in each slice of @x1_split.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: [[V1:%[0-9]+]] = tile.reduce max over parallel(@x1_split) [[V2:%[0-9]+]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.reduce max over 1 %x_1
// CHECK-NEXT: %m = equivalence.class [[V1]], [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.sub %x_1, %m
// CHECK-NEXT: %d = equivalence.class [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = tile.reduce sum over parallel(@x1_split) [[V6:%[0-9]+]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.reduce sum over 1 %d
// CHECK-NEXT: %y = equivalence.class [[V5]], [[V7]]
// CHECK-NEXT: [[V8:%[0-9]+]] = tile.partition %x_1 along 1 by @x1_split
// CHECK-NEXT: [[V9:%[0-9]+]] = equivalence.class [[V8]]
// CHECK-NEXT: [[V10:%[0-9]+]] = tile.replicate %m by @x1_split
// CHECK-NEXT: [[V11:%[0-9]+]] = equivalence.class [[V10]]
// CHECK-NEXT: [[V12:%[0-9]+]] = forge.sub [[V9]], [[V11]]
// CHECK-NEXT: [[V13:%[0-9]+]] = tile.partition %d along 1 by @x1_split
// CHECK-NEXT: [[V14:%[0-9]+]] = equivalence.class [[V12]], [[V13]]
// CHECK-NEXT: [[V15:%[0-9]+]] = tile.reduce max over axis(1) [[V9]]
// CHECK-NEXT: [[V2]] = equivalence.class [[V15]]
// CHECK-NEXT: [[V16:%[0-9]+]] = tile.reduce sum over axis(1) [[V14]]
// CHECK-NEXT: [[V6]] = equivalence.class [[V16]]
func.func @main(%x: tensor<1x8xf32>) -> tensor<1x1xf32> {
  %m = forge.reduce max over 1 %x : (tensor<1x8xf32>) -> tensor<1x1xf32>
  %d = forge.sub %x, %m : (tensor<1x8xf32>, tensor<1x1xf32>) -> tensor<1x8xf32>
  %y = forge.reduce sum over 1 %d : (tensor<1x8xf32>) -> tensor<1x1xf32>
  func.return %y : tensor<1x1xf32>
}
