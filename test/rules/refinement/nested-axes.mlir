// RUN: equiforge-opt %s -p 'saturate{rules=refine-reduction,slice-reduction,refine-reduction-output,view-reduce}' | filecheck %s

// A tensor whose two dimensions are one group is reduced along one; the other is cut by the axes of the group too.

// Tiles of @k_split are not reduced by @k, which is within it, nor tiles of @k by @k_split.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %a = equivalence.class %x
// CHECK-NEXT: [[V1:%[0-9]+]] = tile.combine %v along 0 by @k_split
// CHECK-NEXT: [[V2:%[0-9]+]] = tile.combine [[V3:%[0-9]+]] along 0 by @k
// CHECK-NEXT: [[V4:%[0-9]+]] = tile.reduce sum over parallel(@k_split) [[V5:%[0-9]+]]
// CHECK-NEXT: [[V6:%[0-9]+]] = tile.reduce sum over parallel(@k) [[V7:%[0-9]+]]
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.reduce sum over 1 %a
// CHECK-NEXT: %y = equivalence.class [[V1]], [[V2]], [[V4]], [[V6]], [[V8]]
// CHECK-NEXT: [[V9:%[0-9]+]] = tile.reduce sum over axis(1) [[V10:%[0-9]+]]
// CHECK-NEXT: [[V11:%[0-9]+]] = tile.partition %y along 0 by @k_split
// CHECK-NEXT: %v = equivalence.class [[V9]], [[V11]]
// CHECK-NEXT: [[V12:%[0-9]+]] = tile.partition %a along 0 by @k
// CHECK-NEXT: [[V13:%[0-9]+]] = equivalence.class [[V12]]
// CHECK-NEXT: [[V14:%[0-9]+]] = tile.partition %a along 1 by @k
// CHECK-NEXT: [[V15:%[0-9]+]] = equivalence.class [[V14]]
// CHECK-NEXT: [[V16:%[0-9]+]] = tile.partition %a along 1 by @k_split
// CHECK-NEXT: [[V17:%[0-9]+]] = equivalence.class [[V16]]
// CHECK-NEXT: [[V18:%[0-9]+]] = tile.partition %a along 0 by @k_split
// CHECK-NEXT: [[V10]] = equivalence.class [[V18]]
// CHECK-NEXT: [[V19:%[0-9]+]] = tile.reduce sum over axis(1) [[V13]]
// CHECK-NEXT: [[V20:%[0-9]+]] = tile.partition %y along 0 by @k
// CHECK-NEXT: [[V3]] = equivalence.class [[V19]], [[V20]]
// CHECK-NEXT: [[V21:%[0-9]+]] = tile.reduce sum over axis(1) [[V15]]
// CHECK-NEXT: [[V7]] = equivalence.class [[V21]]
// CHECK-NEXT: [[V22:%[0-9]+]] = tile.reduce sum over axis(1) [[V17]]
// CHECK-NEXT: [[V5]] = equivalence.class [[V22]]
builtin.module attributes {forge.numerics = "real"} {
  tile.axis @k_split extent 4 {group = 0 : i64}
  tile.axis @k extent 4 within @k_split {group = 0 : i64}
  func.func @main(%x: tensor<4x4xf32>) -> tensor<4x1xf32> {
    %0 = equivalence.graph -> tensor<4x1xf32> {
      %a = equivalence.class %x {groups = array<i64: 0, 0>} : tensor<4x4xf32>
      %r = forge.reduce sum over 1 %a : (tensor<4x4xf32>) -> tensor<4x1xf32>
      %c = tile.combine %v along 0 by @k_split : (!tile.view<4x1xf32, [#tile.partition<@k_split, 0>]>) -> tensor<4x1xf32>
      %y = equivalence.class %r, %c {groups = array<i64: 0, -1>, wide = "f32", narrow = "f32"} : tensor<4x1xf32>
      %t = tile.partition %y along 0 by @k_split : (tensor<4x1xf32>) -> !tile.view<4x1xf32, [#tile.partition<@k_split, 0>]>
      %v = equivalence.class %t {groups = array<i64: 0, -1>} : !tile.view<4x1xf32, [#tile.partition<@k_split, 0>]>
      equivalence.yield %y : tensor<4x1xf32>
    }
    func.return %0 : tensor<4x1xf32>
  }
}
