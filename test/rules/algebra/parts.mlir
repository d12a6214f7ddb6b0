// RUN: equiforge-opt %s --split-input-file -p 'saturate{rules=part-columns,part-rows,part-contraction,join-contraction,part-left-contraction,part-right-contraction}' | filecheck %s

// Products of joined operands by their parts (catalogue 15). The e-graphs are written out.

// part-columns.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %d_1 = equivalence.class %d
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.concat 1 %b_1, %d_1
// CHECK-NEXT: %w = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.concat 1 [[V3:%[0-9]+]], [[V4:%[0-9]+]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.matmul %x_1, %w
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.matmul %x_1, %b_1
// CHECK-NEXT: [[V3]] = equivalence.class [[V6]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.matmul %x_1, %d_1
// CHECK-NEXT: [[V4]] = equivalence.class [[V7]]
// CHECK-NEXT: equivalence.yield %y
tile.axis @b1 extent 6 {group = 2 : i64}
tile.axis @d1 extent 3 {group = 3 : i64}
tile.axis @w1_4 extent 9 {group = 4 : i64}
tile.axis @x0 extent 8 {group = 0 : i64}
func.func @main(%x: tensor<8x4xf32>, %b: tensor<4x6xf32>, %d: tensor<4x3xf32>) -> tensor<8x9xf32> {
  %0 = equivalence.graph -> tensor<8x9xf32> {
    %x_1 = equivalence.class %x {groups = array<i64: 0, 1>} : tensor<8x4xf32>
    %b_1 = equivalence.class %b {groups = array<i64: 1, 2>} : tensor<4x6xf32>
    %d_1 = equivalence.class %d {groups = array<i64: 1, 3>} : tensor<4x3xf32>
    %1 = forge.concat 1 %b_1, %d_1 : (tensor<4x6xf32>, tensor<4x3xf32>) -> tensor<4x9xf32>
    %w = equivalence.class %1 {groups = array<i64: 1, 4>, wide = "f32", narrow = "f32"} : tensor<4x9xf32>
    %2 = forge.matmul %x_1, %w : (tensor<8x4xf32>, tensor<4x9xf32>) -> tensor<8x9xf32>
    %y = equivalence.class %2 {groups = array<i64: 0, 4>, wide = "f32", narrow = "f32"} : tensor<8x9xf32>
    equivalence.yield %y : tensor<8x9xf32>
  }
  func.return %0 : tensor<8x9xf32>
}

// -----

// part-rows.
// CHECK-LABEL: func.func @main(%rows
// CHECK:      %rows_1 = equivalence.class %rows
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.concat 0 %rows_1, %b_1
// CHECK-NEXT: %x = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.concat 0 [[V3:%[0-9]+]], [[V4:%[0-9]+]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.matmul %x, %w_1
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.matmul %rows_1, %w_1
// CHECK-NEXT: [[V3]] = equivalence.class [[V6]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.matmul %b_1, %w_1
// CHECK-NEXT: [[V4]] = equivalence.class [[V7]]
// CHECK-NEXT: equivalence.yield %y
tile.axis @b0 extent 3 {group = 2 : i64}
tile.axis @rows0 extent 8 {group = 0 : i64}
tile.axis @w1 extent 6 {group = 3 : i64}
tile.axis @x0_4 extent 11 {group = 4 : i64}
func.func @main(%rows: tensor<8x4xf32>, %b: tensor<3x4xf32>, %w: tensor<4x6xf32>) -> tensor<11x6xf32> {
  %0 = equivalence.graph -> tensor<11x6xf32> {
    %rows_1 = equivalence.class %rows {groups = array<i64: 0, 1>} : tensor<8x4xf32>
    %b_1 = equivalence.class %b {groups = array<i64: 2, 1>} : tensor<3x4xf32>
    %w_1 = equivalence.class %w {groups = array<i64: 1, 3>} : tensor<4x6xf32>
    %1 = forge.concat 0 %rows_1, %b_1 : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<11x4xf32>
    %x = equivalence.class %1 {groups = array<i64: 4, 1>, wide = "f32", narrow = "f32"} : tensor<11x4xf32>
    %2 = forge.matmul %x, %w_1 : (tensor<11x4xf32>, tensor<4x6xf32>) -> tensor<11x6xf32>
    %y = equivalence.class %2 {groups = array<i64: 4, 3>, wide = "f32", narrow = "f32"} : tensor<11x6xf32>
    equivalence.yield %y : tensor<11x6xf32>
  }
  func.return %0 : tensor<11x6xf32>
}

// -----

// part-contraction, with part-left-contraction and part-right-contraction, which slice the other operand.
// CHECK-LABEL: func.func @main(%both
// CHECK:      %both_1 = equivalence.class %both
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %u_1 = equivalence.class %u
// CHECK-NEXT: %v_1 = equivalence.class %v
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.concat 1 %both_1, %b_1
// CHECK-NEXT: %x = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.concat 0 %u_1, %v_1
// CHECK-NEXT: %w = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.add [[V4:%[0-9]+]], [[V5:%[0-9]+]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.add [[V7:%[0-9]+]], [[V8:%[0-9]+]]
// CHECK-NEXT: [[V9:%[0-9]+]] = forge.add [[V10:%[0-9]+]], [[V11:%[0-9]+]]
// CHECK-NEXT: [[V12:%[0-9]+]] = forge.matmul %x, %w
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V6]], [[V9]], [[V12]]
// CHECK-NEXT: [[V13:%[0-9]+]] = forge.matmul %both_1, %u_1
// CHECK-NEXT: [[V4]] = equivalence.class [[V13]]
// CHECK-NEXT: [[V14:%[0-9]+]] = forge.matmul %b_1, %v_1
// CHECK-NEXT: [[V5]] = equivalence.class [[V14]]
// CHECK-NEXT: [[V15:%[0-9]+]] = forge.slice %w along 0 from 0 to 4 step 1
// CHECK-NEXT: [[V16:%[0-9]+]] = equivalence.class [[V15]]
// CHECK-NEXT: [[V17:%[0-9]+]] = forge.slice %w along 0 from 4 to 6 step 1
// CHECK-NEXT: [[V18:%[0-9]+]] = equivalence.class [[V17]]
// CHECK-NEXT: [[V19:%[0-9]+]] = forge.matmul %both_1, [[V16]]
// CHECK-NEXT: [[V7]] = equivalence.class [[V19]]
// CHECK-NEXT: [[V20:%[0-9]+]] = forge.matmul %b_1, [[V18]]
// CHECK-NEXT: [[V8]] = equivalence.class [[V20]]
// CHECK-NEXT: [[V21:%[0-9]+]] = forge.slice %x along 1 from 0 to 4 step 1
// CHECK-NEXT: [[V22:%[0-9]+]] = equivalence.class [[V21]]
// CHECK-NEXT: [[V23:%[0-9]+]] = forge.slice %x along 1 from 4 to 6 step 1
// CHECK-NEXT: [[V24:%[0-9]+]] = equivalence.class [[V23]]
// CHECK-NEXT: [[V25:%[0-9]+]] = forge.matmul [[V22]], %u_1
// CHECK-NEXT: [[V10]] = equivalence.class [[V25]]
// CHECK-NEXT: [[V26:%[0-9]+]] = forge.matmul [[V24]], %v_1
// CHECK-NEXT: [[V11]] = equivalence.class [[V26]]
// CHECK-NEXT: equivalence.yield %y
tile.axis @b1 extent 2 {group = 2 : i64}
tile.axis @both0 extent 8 {group = 0 : i64}
tile.axis @both1 extent 4 {group = 1 : i64}
tile.axis @u0 extent 4 {group = 3 : i64}
tile.axis @u1 extent 6 {group = 4 : i64}
tile.axis @v0 extent 2 {group = 5 : i64}
func.func @main(%both: tensor<8x4xf32>, %b: tensor<8x2xf32>, %u: tensor<4x6xf32>, %v: tensor<2x6xf32>) -> tensor<8x6xf32> {
  %0 = equivalence.graph -> tensor<8x6xf32> {
    %both_1 = equivalence.class %both {groups = array<i64: 0, 1>} : tensor<8x4xf32>
    %b_1 = equivalence.class %b {groups = array<i64: 0, 2>} : tensor<8x2xf32>
    %u_1 = equivalence.class %u {groups = array<i64: 3, 4>} : tensor<4x6xf32>
    %v_1 = equivalence.class %v {groups = array<i64: 5, 4>} : tensor<2x6xf32>
    %1 = forge.concat 1 %both_1, %b_1 : (tensor<8x4xf32>, tensor<8x2xf32>) -> tensor<8x6xf32>
    %x = equivalence.class %1 {groups = array<i64: 0, 6>, wide = "f32", narrow = "f32"} : tensor<8x6xf32>
    %2 = forge.concat 0 %u_1, %v_1 : (tensor<4x6xf32>, tensor<2x6xf32>) -> tensor<6x6xf32>
    %w = equivalence.class %2 {groups = array<i64: 6, 4>, wide = "f32", narrow = "f32"} : tensor<6x6xf32>
    %3 = forge.matmul %x, %w : (tensor<8x6xf32>, tensor<6x6xf32>) -> tensor<8x6xf32>
    %y = equivalence.class %3 {groups = array<i64: 0, 4>, wide = "f32", narrow = "f32"} : tensor<8x6xf32>
    equivalence.yield %y : tensor<8x6xf32>
  }
  func.return %0 : tensor<8x6xf32>
}

// -----

// Not part-contraction: the operands are joined in different places, so that only slices fit.
// CHECK-LABEL: func.func @main(%shifted
// CHECK:      %shifted_1 = equivalence.class %shifted
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %u_1 = equivalence.class %u
// CHECK-NEXT: %v_1 = equivalence.class %v
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.concat 1 %shifted_1, %b_1
// CHECK-NEXT: %x = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.concat 0 %u_1, %v_1
// CHECK-NEXT: %w = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.add [[V4:%[0-9]+]], [[V5:%[0-9]+]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.add [[V7:%[0-9]+]], [[V8:%[0-9]+]]
// CHECK-NEXT: [[V9:%[0-9]+]] = forge.matmul %x, %w
// CHECK-NEXT: %p = equivalence.class [[V3]], [[V6]], [[V9]]
// CHECK-NEXT: [[V10:%[0-9]+]] = forge.exp %p
// CHECK-NEXT: %y = equivalence.class [[V10]]
// CHECK-NEXT: [[V11:%[0-9]+]] = forge.slice %w along 0 from 0 to 4 step 1
// CHECK-NEXT: [[V12:%[0-9]+]] = equivalence.class [[V11]]
// CHECK-NEXT: [[V13:%[0-9]+]] = forge.slice %w along 0 from 4 to 6 step 1
// CHECK-NEXT: [[V14:%[0-9]+]] = equivalence.class [[V13]]
// CHECK-NEXT: [[V15:%[0-9]+]] = forge.matmul %shifted_1, [[V12]]
// CHECK-NEXT: [[V4]] = equivalence.class [[V15]]
// CHECK-NEXT: [[V16:%[0-9]+]] = forge.matmul %b_1, [[V14]]
// CHECK-NEXT: [[V5]] = equivalence.class [[V16]]
// CHECK-NEXT: [[V17:%[0-9]+]] = forge.slice %x along 1 from 0 to 2 step 1
// CHECK-NEXT: [[V18:%[0-9]+]] = equivalence.class [[V17]]
// CHECK-NEXT: [[V19:%[0-9]+]] = forge.slice %x along 1 from 2 to 6 step 1
// CHECK-NEXT: [[V20:%[0-9]+]] = equivalence.class [[V19]]
// CHECK-NEXT: [[V21:%[0-9]+]] = forge.matmul [[V18]], %u_1
// CHECK-NEXT: [[V7]] = equivalence.class [[V21]]
// CHECK-NEXT: [[V22:%[0-9]+]] = forge.matmul [[V20]], %v_1
// CHECK-NEXT: [[V8]] = equivalence.class [[V22]]
// CHECK-NEXT: equivalence.yield %y
tile.axis @b1 extent 2 {group = 2 : i64}
tile.axis @shifted0 extent 8 {group = 0 : i64}
tile.axis @shifted1 extent 4 {group = 1 : i64}
tile.axis @u0 extent 2 {group = 3 : i64}
tile.axis @u1 extent 6 {group = 4 : i64}
tile.axis @v0 extent 4 {group = 5 : i64}
func.func @main(%shifted: tensor<8x4xf32>, %b: tensor<8x2xf32>, %u: tensor<2x6xf32>, %v: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %0 = equivalence.graph -> tensor<8x6xf32> {
    %shifted_1 = equivalence.class %shifted {groups = array<i64: 0, 1>} : tensor<8x4xf32>
    %b_1 = equivalence.class %b {groups = array<i64: 0, 2>} : tensor<8x2xf32>
    %u_1 = equivalence.class %u {groups = array<i64: 3, 4>} : tensor<2x6xf32>
    %v_1 = equivalence.class %v {groups = array<i64: 5, 4>} : tensor<4x6xf32>
    %1 = forge.concat 1 %shifted_1, %b_1 : (tensor<8x4xf32>, tensor<8x2xf32>) -> tensor<8x6xf32>
    %x = equivalence.class %1 {groups = array<i64: 0, 6>, wide = "f32", narrow = "f32"} : tensor<8x6xf32>
    %2 = forge.concat 0 %u_1, %v_1 : (tensor<2x6xf32>, tensor<4x6xf32>) -> tensor<6x6xf32>
    %w = equivalence.class %2 {groups = array<i64: 6, 4>, wide = "f32", narrow = "f32"} : tensor<6x6xf32>
    %3 = forge.matmul %x, %w : (tensor<8x6xf32>, tensor<6x6xf32>) -> tensor<8x6xf32>
    %p = equivalence.class %3 {groups = array<i64: 0, 4>, wide = "f32", narrow = "f32"} : tensor<8x6xf32>
    %4 = forge.exp %p : tensor<8x6xf32>
    %y = equivalence.class %4 {groups = array<i64: 0, 4>, wide = "f32", narrow = "f32"} : tensor<8x6xf32>
    equivalence.yield %y : tensor<8x6xf32>
  }
  func.return %0 : tensor<8x6xf32>
}

// -----

// join-contraction: both joins are values.
// CHECK-LABEL: func.func @main(%joined
// CHECK:      %joined_1 = equivalence.class %joined
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %u_1 = equivalence.class %u
// CHECK-NEXT: %v_1 = equivalence.class %v
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.concat 1 %joined_1, %b_1
// CHECK-NEXT: %x = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.concat 0 %u_1, %v_1
// CHECK-NEXT: %w = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.matmul %joined_1, %u_1
// CHECK-NEXT: %p = equivalence.class [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.matmul %b_1, %v_1
// CHECK-NEXT: %q = equivalence.class [[V4]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.add %p, %q
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.add [[V7:%[0-9]+]], [[V8:%[0-9]+]]
// CHECK-NEXT: [[V9:%[0-9]+]] = forge.add [[V10:%[0-9]+]], [[V11:%[0-9]+]]
// CHECK-NEXT: [[V12:%[0-9]+]] = forge.matmul %x, %w
// CHECK-NEXT: %s = equivalence.class [[V5]], [[V6]], [[V9]], [[V12]]
// CHECK-NEXT: [[V13:%[0-9]+]] = forge.slice %w along 0 from 0 to 4 step 1
// CHECK-NEXT: [[V14:%[0-9]+]] = equivalence.class [[V13]]
// CHECK-NEXT: [[V15:%[0-9]+]] = forge.slice %w along 0 from 4 to 6 step 1
// CHECK-NEXT: [[V16:%[0-9]+]] = equivalence.class [[V15]]
// CHECK-NEXT: [[V17:%[0-9]+]] = forge.matmul %joined_1, [[V14]]
// CHECK-NEXT: [[V7]] = equivalence.class [[V17]]
// CHECK-NEXT: [[V18:%[0-9]+]] = forge.matmul %b_1, [[V16]]
// CHECK-NEXT: [[V8]] = equivalence.class [[V18]]
// CHECK-NEXT: [[V19:%[0-9]+]] = forge.slice %x along 1 from 0 to 4 step 1
// CHECK-NEXT: [[V20:%[0-9]+]] = equivalence.class [[V19]]
// CHECK-NEXT: [[V21:%[0-9]+]] = forge.slice %x along 1 from 4 to 6 step 1
// CHECK-NEXT: [[V22:%[0-9]+]] = equivalence.class [[V21]]
// CHECK-NEXT: [[V23:%[0-9]+]] = forge.matmul [[V20]], %u_1
// CHECK-NEXT: [[V10]] = equivalence.class [[V23]]
// CHECK-NEXT: [[V24:%[0-9]+]] = forge.matmul [[V22]], %v_1
// CHECK-NEXT: [[V11]] = equivalence.class [[V24]]
// CHECK-NEXT: equivalence.yield %s, %x, %w
tile.axis @joined0 extent 8 {group = 0 : i64}
tile.axis @u1 extent 6 {group = 3 : i64}
tile.axis @w0_5 extent 6 {group = 5 : i64}
tile.axis @x1_4 extent 6 {group = 4 : i64}
func.func @main(%joined: tensor<8x4xf32>, %b: tensor<8x2xf32>, %u: tensor<4x6xf32>, %v: tensor<2x6xf32>) -> (tensor<8x6xf32>, tensor<8x6xf32>, tensor<6x6xf32>) {
  %0, %1, %2 = equivalence.graph -> tensor<8x6xf32>, tensor<8x6xf32>, tensor<6x6xf32> {
    %joined_1 = equivalence.class %joined {groups = array<i64: 0, 1>} : tensor<8x4xf32>
    %b_1 = equivalence.class %b {groups = array<i64: 0, 2>} : tensor<8x2xf32>
    %u_1 = equivalence.class %u {groups = array<i64: 1, 3>} : tensor<4x6xf32>
    %v_1 = equivalence.class %v {groups = array<i64: 2, 3>} : tensor<2x6xf32>
    %3 = forge.concat 1 %joined_1, %b_1 : (tensor<8x4xf32>, tensor<8x2xf32>) -> tensor<8x6xf32>
    %x = equivalence.class %3 {groups = array<i64: 0, 4>, wide = "f32", narrow = "f32"} : tensor<8x6xf32>
    %4 = forge.concat 0 %u_1, %v_1 : (tensor<4x6xf32>, tensor<2x6xf32>) -> tensor<6x6xf32>
    %w = equivalence.class %4 {groups = array<i64: 5, 3>, wide = "f32", narrow = "f32"} : tensor<6x6xf32>
    %5 = forge.matmul %joined_1, %u_1 : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
    %p = equivalence.class %5 {groups = array<i64: 0, 3>, wide = "f32", narrow = "f32"} : tensor<8x6xf32>
    %6 = forge.matmul %b_1, %v_1 : (tensor<8x2xf32>, tensor<2x6xf32>) -> tensor<8x6xf32>
    %q = equivalence.class %6 {groups = array<i64: 0, 3>, wide = "f32", narrow = "f32"} : tensor<8x6xf32>
    %7 = forge.add %p, %q : tensor<8x6xf32>
    %s = equivalence.class %7 {groups = array<i64: 0, 3>, wide = "f32", narrow = "f32"} : tensor<8x6xf32>
    equivalence.yield %s, %x, %w : tensor<8x6xf32>, tensor<8x6xf32>, tensor<6x6xf32>
  }
  func.return %0, %1, %2 : tensor<8x6xf32>, tensor<8x6xf32>, tensor<6x6xf32>
}

// -----

// Not join-contraction: nothing joins the operands.
// CHECK-LABEL: func.func @main(%apart
// CHECK:      %apart_1 = equivalence.class %apart
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %u_1 = equivalence.class %u
// CHECK-NEXT: %v_1 = equivalence.class %v
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %apart_1, %u_1
// CHECK-NEXT: %p = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.matmul %b_1, %v_1
// CHECK-NEXT: %q = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.add %p, %q
// CHECK-NEXT: %y = equivalence.class [[V3]]
// CHECK-NEXT: equivalence.yield %y
tile.axis @apart0 extent 8 {group = 0 : i64}
tile.axis @u1 extent 6 {group = 3 : i64}
func.func @main(%apart: tensor<8x4xf32>, %b: tensor<8x2xf32>, %u: tensor<4x6xf32>, %v: tensor<2x6xf32>) -> tensor<8x6xf32> {
  %0 = equivalence.graph -> tensor<8x6xf32> {
    %apart_1 = equivalence.class %apart {groups = array<i64: 0, 1>} : tensor<8x4xf32>
    %b_1 = equivalence.class %b {groups = array<i64: 0, 2>} : tensor<8x2xf32>
    %u_1 = equivalence.class %u {groups = array<i64: 1, 3>} : tensor<4x6xf32>
    %v_1 = equivalence.class %v {groups = array<i64: 2, 3>} : tensor<2x6xf32>
    %1 = forge.matmul %apart_1, %u_1 : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
    %p = equivalence.class %1 {groups = array<i64: 0, 3>, wide = "f32", narrow = "f32"} : tensor<8x6xf32>
    %2 = forge.matmul %b_1, %v_1 : (tensor<8x2xf32>, tensor<2x6xf32>) -> tensor<8x6xf32>
    %q = equivalence.class %2 {groups = array<i64: 0, 3>, wide = "f32", narrow = "f32"} : tensor<8x6xf32>
    %3 = forge.add %p, %q : tensor<8x6xf32>
    %y = equivalence.class %3 {groups = array<i64: 0, 3>, wide = "f32", narrow = "f32"} : tensor<8x6xf32>
    equivalence.yield %y : tensor<8x6xf32>
  }
  func.return %0 : tensor<8x6xf32>
}

// -----

// part-left-contraction.
// CHECK-LABEL: func.func @main(%left
// CHECK:      %left_1 = equivalence.class %left
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.concat 1 %left_1, %b_1
// CHECK-NEXT: %x = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.add [[V3:%[0-9]+]], [[V4:%[0-9]+]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.matmul %x, %w_1
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.slice %w_1 along 0 from 0 to 4 step 1
// CHECK-NEXT: [[V7:%[0-9]+]] = equivalence.class [[V6]]
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.slice %w_1 along 0 from 4 to 6 step 1
// CHECK-NEXT: [[V9:%[0-9]+]] = equivalence.class [[V8]]
// CHECK-NEXT: [[V10:%[0-9]+]] = forge.matmul %left_1, [[V7]]
// CHECK-NEXT: [[V3]] = equivalence.class [[V10]]
// CHECK-NEXT: [[V11:%[0-9]+]] = forge.matmul %b_1, [[V9]]
// CHECK-NEXT: [[V4]] = equivalence.class [[V11]]
// CHECK-NEXT: equivalence.yield %y
tile.axis @b1 extent 2 {group = 2 : i64}
tile.axis @left0 extent 8 {group = 0 : i64}
tile.axis @left1 extent 4 {group = 1 : i64}
tile.axis @w1 extent 6 {group = 4 : i64}
func.func @main(%left: tensor<8x4xf32>, %b: tensor<8x2xf32>, %w: tensor<6x6xf32>) -> tensor<8x6xf32> {
  %0 = equivalence.graph -> tensor<8x6xf32> {
    %left_1 = equivalence.class %left {groups = array<i64: 0, 1>} : tensor<8x4xf32>
    %b_1 = equivalence.class %b {groups = array<i64: 0, 2>} : tensor<8x2xf32>
    %w_1 = equivalence.class %w {groups = array<i64: 3, 4>} : tensor<6x6xf32>
    %1 = forge.concat 1 %left_1, %b_1 : (tensor<8x4xf32>, tensor<8x2xf32>) -> tensor<8x6xf32>
    %x = equivalence.class %1 {groups = array<i64: 0, 3>, wide = "f32", narrow = "f32"} : tensor<8x6xf32>
    %2 = forge.matmul %x, %w_1 : (tensor<8x6xf32>, tensor<6x6xf32>) -> tensor<8x6xf32>
    %y = equivalence.class %2 {groups = array<i64: 0, 4>, wide = "f32", narrow = "f32"} : tensor<8x6xf32>
    equivalence.yield %y : tensor<8x6xf32>
  }
  func.return %0 : tensor<8x6xf32>
}

// -----

// part-right-contraction.
// CHECK-LABEL: func.func @main(%right
// CHECK:      %right_1 = equivalence.class %right
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.concat 0 %right_1, %b_1
// CHECK-NEXT: %x = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.add [[V3:%[0-9]+]], [[V4:%[0-9]+]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.matmul %w_1, %x
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.slice %w_1 along 1 from 0 to 4 step 1
// CHECK-NEXT: [[V7:%[0-9]+]] = equivalence.class [[V6]]
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.slice %w_1 along 1 from 4 to 6 step 1
// CHECK-NEXT: [[V9:%[0-9]+]] = equivalence.class [[V8]]
// CHECK-NEXT: [[V10:%[0-9]+]] = forge.matmul [[V7]], %right_1
// CHECK-NEXT: [[V3]] = equivalence.class [[V10]]
// CHECK-NEXT: [[V11:%[0-9]+]] = forge.matmul [[V9]], %b_1
// CHECK-NEXT: [[V4]] = equivalence.class [[V11]]
// CHECK-NEXT: equivalence.yield %y
tile.axis @b0 extent 2 {group = 2 : i64}
tile.axis @right0 extent 4 {group = 0 : i64}
tile.axis @right1 extent 6 {group = 1 : i64}
tile.axis @w0 extent 8 {group = 3 : i64}
func.func @main(%right: tensor<4x6xf32>, %b: tensor<2x6xf32>, %w: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %0 = equivalence.graph -> tensor<8x6xf32> {
    %right_1 = equivalence.class %right {groups = array<i64: 0, 1>} : tensor<4x6xf32>
    %b_1 = equivalence.class %b {groups = array<i64: 2, 1>} : tensor<2x6xf32>
    %w_1 = equivalence.class %w {groups = array<i64: 3, 4>} : tensor<8x6xf32>
    %1 = forge.concat 0 %right_1, %b_1 : (tensor<4x6xf32>, tensor<2x6xf32>) -> tensor<6x6xf32>
    %x = equivalence.class %1 {groups = array<i64: 4, 1>, wide = "f32", narrow = "f32"} : tensor<6x6xf32>
    %2 = forge.matmul %w_1, %x : (tensor<8x6xf32>, tensor<6x6xf32>) -> tensor<8x6xf32>
    %y = equivalence.class %2 {groups = array<i64: 3, 1>, wide = "f32", narrow = "f32"} : tensor<8x6xf32>
    equivalence.yield %y : tensor<8x6xf32>
  }
  func.return %0 : tensor<8x6xf32>
}

// -----

// Not any of them: joined along the batch.
// CHECK-LABEL: func.func @main(%batch
// CHECK:      %batch_1 = equivalence.class %batch
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %w_1 = equivalence.class %w
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.concat 0 %batch_1, %b_1
// CHECK-NEXT: %x = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.matmul %x, %w_1
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
tile.axis @b0 extent 3 {group = 3 : i64}
tile.axis @batch0 extent 2 {group = 0 : i64}
tile.axis @batch1 extent 8 {group = 1 : i64}
tile.axis @w2 extent 6 {group = 4 : i64}
tile.axis @x0_5 extent 5 {group = 5 : i64}
func.func @main(%batch: tensor<2x8x4xf32>, %b: tensor<3x8x4xf32>, %w: tensor<1x4x6xf32>) -> tensor<5x8x6xf32> {
  %0 = equivalence.graph -> tensor<5x8x6xf32> {
    %batch_1 = equivalence.class %batch {groups = array<i64: 0, 1, 2>} : tensor<2x8x4xf32>
    %b_1 = equivalence.class %b {groups = array<i64: 3, 1, 2>} : tensor<3x8x4xf32>
    %w_1 = equivalence.class %w {groups = array<i64: -1, 2, 4>} : tensor<1x4x6xf32>
    %1 = forge.concat 0 %batch_1, %b_1 : (tensor<2x8x4xf32>, tensor<3x8x4xf32>) -> tensor<5x8x4xf32>
    %x = equivalence.class %1 {groups = array<i64: 5, 1, 2>, wide = "f32", narrow = "f32"} : tensor<5x8x4xf32>
    %2 = forge.matmul %x, %w_1 : (tensor<5x8x4xf32>, tensor<1x4x6xf32>) -> tensor<5x8x6xf32>
    %y = equivalence.class %2 {groups = array<i64: 5, 1, 4>, wide = "f32", narrow = "f32"} : tensor<5x8x6xf32>
    equivalence.yield %y : tensor<5x8x6xf32>
  }
  func.return %0 : tensor<5x8x6xf32>
}
