// RUN: equiforge-opt %s --split-input-file -p 'saturate{rules=refine-pointwise-root,view-concat}' | filecheck %s

// Views move through concatenations along another dimension. The frontend's programs have none yet, so the e-graphs are written out.

// view-concat: dimension 0 is cut, dimension 1 joined.
// CHECK-LABEL: func.func @main(%a
// CHECK:      %y = equivalence.class [[C:%[0-9]+]], [[J:%[0-9]+]] {
// CHECK:      [[T:%[0-9]+]] = forge.concat 1 [[A:%[0-9]+]], [[B:%[0-9]+]] : (!tile.view<8x4xf32, [#tile.partition<@a0, 0>]>, !tile.view<8x6xf32, [#tile.partition<@a0, 0>]>) -> !tile.view<8x10xf32, [#tile.partition<@a0, 0>]>
// CHECK-NEXT: [[V:%[0-9]+]] = tile.partition %y along 0 by @a0
// CHECK-NEXT: equivalence.class [[T]], [[V]]
tile.axis @a0 extent 8 {group = 0 : i64}
func.func @main(%a: tensor<8x4xf32>, %b: tensor<8x6xf32>) -> tensor<8x10xf32> {
  %0 = equivalence.graph -> tensor<8x10xf32> {
    %a_1 = equivalence.class %a {groups = array<i64: 0, 1>} : tensor<8x4xf32>
    %b_1 = equivalence.class %b {groups = array<i64: 0, 2>} : tensor<8x6xf32>
    %1 = forge.concat 1 %a_1, %b_1 : (tensor<8x4xf32>, tensor<8x6xf32>) -> tensor<8x10xf32>
    %y = equivalence.class %1 {groups = array<i64: 0, 3>, wide = "f32", narrow = "f32"} : tensor<8x10xf32>
    equivalence.yield %y : tensor<8x10xf32>
  }
  func.return %0 : tensor<8x10xf32>
}

// -----

// Not view-concat: the tiles of the joined dimension are not pairs of tiles of the operands.
// CHECK-LABEL: func.func @main(%joined
// CHECK-NOT:  forge.concat {{.*}}tile.view
tile.axis @a1 extent 10 {group = 3 : i64}
func.func @main(%joined: tensor<8x4xf32>, %b: tensor<8x6xf32>) -> tensor<8x10xf32> {
  %0 = equivalence.graph -> tensor<8x10xf32> {
    %a_1 = equivalence.class %joined {groups = array<i64: 0, 1>} : tensor<8x4xf32>
    %b_1 = equivalence.class %b {groups = array<i64: 0, 2>} : tensor<8x6xf32>
    %1 = forge.concat 1 %a_1, %b_1 : (tensor<8x4xf32>, tensor<8x6xf32>) -> tensor<8x10xf32>
    %y = equivalence.class %1 {groups = array<i64: 0, 3>, wide = "f32", narrow = "f32"} : tensor<8x10xf32>
    equivalence.yield %y : tensor<8x10xf32>
  }
  func.return %0 : tensor<8x10xf32>
}
