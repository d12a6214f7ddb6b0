// RUN: equiforge-opt %s --split-input-file -p 'saturate{rules=join-columns,join-rows}' | filecheck %s

// Products of joined operands, joined products (catalogue 15). The e-graphs are written out.

// join-columns: one product with both weights.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %d_1 = equivalence.class %d
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %x_1, %b_1
// CHECK-NEXT: %p = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.matmul %x_1, %d_1
// CHECK-NEXT: %q = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.concat 1 %p, %q
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.matmul %x_1, [[V5:%[0-9]+]]
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V4]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.concat 1 %b_1, %d_1
// CHECK-NEXT: [[V5]] = equivalence.class [[V6]]
// CHECK-NEXT: equivalence.yield %y
tile.axis @b1 extent 6 {group = 2 : i64}
tile.axis @d1 extent 3 {group = 3 : i64}
tile.axis @x0 extent 8 {group = 0 : i64}
tile.axis @y1_4 extent 9 {group = 4 : i64}
func.func @main(%x: tensor<8x4xf32>, %b: tensor<4x6xf32>, %d: tensor<4x3xf32>) -> tensor<8x9xf32> {
  %0 = equivalence.graph -> tensor<8x9xf32> {
    %x_1 = equivalence.class %x {groups = array<i64: 0, 1>} : tensor<8x4xf32>
    %b_1 = equivalence.class %b {groups = array<i64: 1, 2>} : tensor<4x6xf32>
    %d_1 = equivalence.class %d {groups = array<i64: 1, 3>} : tensor<4x3xf32>
    %1 = forge.matmul %x_1, %b_1 : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
    %p = equivalence.class %1 {groups = array<i64: 0, 2>, wide = "f32", narrow = "f32"} : tensor<8x6xf32>
    %2 = forge.matmul %x_1, %d_1 : (tensor<8x4xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
    %q = equivalence.class %2 {groups = array<i64: 0, 3>, wide = "f32", narrow = "f32"} : tensor<8x3xf32>
    %3 = forge.concat 1 %p, %q : (tensor<8x6xf32>, tensor<8x3xf32>) -> tensor<8x9xf32>
    %y = equivalence.class %3 {groups = array<i64: 0, 4>, wide = "f32", narrow = "f32"} : tensor<8x9xf32>
    equivalence.yield %y : tensor<8x9xf32>
  }
  func.return %0 : tensor<8x9xf32>
}

// -----

// Not join-columns: the products are joined along the rows.
// CHECK-LABEL: func.func @main(%stacked
// CHECK:      %stacked_1 = equivalence.class %stacked
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %d_1 = equivalence.class %d
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %stacked_1, %b_1
// CHECK-NEXT: %p = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.matmul %stacked_1, %d_1
// CHECK-NEXT: %q = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.concat 0 %p, %q
// CHECK-NEXT: %y = equivalence.class [[V3]]
// CHECK-NEXT: equivalence.yield %y
tile.axis @b1 extent 6 {group = 2 : i64}
tile.axis @stacked0 extent 8 {group = 0 : i64}
tile.axis @y0_3 extent 16 {group = 3 : i64}
func.func @main(%stacked: tensor<8x4xf32>, %b: tensor<4x6xf32>, %d: tensor<4x6xf32>) -> tensor<16x6xf32> {
  %0 = equivalence.graph -> tensor<16x6xf32> {
    %stacked_1 = equivalence.class %stacked {groups = array<i64: 0, 1>} : tensor<8x4xf32>
    %b_1 = equivalence.class %b {groups = array<i64: 1, 2>} : tensor<4x6xf32>
    %d_1 = equivalence.class %d {groups = array<i64: 1, 2>} : tensor<4x6xf32>
    %1 = forge.matmul %stacked_1, %b_1 : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
    %p = equivalence.class %1 {groups = array<i64: 0, 2>, wide = "f32", narrow = "f32"} : tensor<8x6xf32>
    %2 = forge.matmul %stacked_1, %d_1 : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
    %q = equivalence.class %2 {groups = array<i64: 0, 2>, wide = "f32", narrow = "f32"} : tensor<8x6xf32>
    %3 = forge.concat 0 %p, %q : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<16x6xf32>
    %y = equivalence.class %3 {groups = array<i64: 3, 2>, wide = "f32", narrow = "f32"} : tensor<16x6xf32>
    equivalence.yield %y : tensor<16x6xf32>
  }
  func.return %0 : tensor<16x6xf32>
}

// -----

// join-rows.
// CHECK-LABEL: func.func @main(%rows
// CHECK:      %rows_1 = equivalence.class %rows
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %d_1 = equivalence.class %d
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %rows_1, %b_1
// CHECK-NEXT: %p = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.matmul %d_1, %b_1
// CHECK-NEXT: %q = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.concat 0 %p, %q
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.matmul [[V5:%[0-9]+]], %b_1
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V4]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.concat 0 %rows_1, %d_1
// CHECK-NEXT: [[V5]] = equivalence.class [[V6]]
// CHECK-NEXT: equivalence.yield %y
tile.axis @b1 extent 6 {group = 2 : i64}
tile.axis @d0 extent 3 {group = 3 : i64}
tile.axis @rows0 extent 8 {group = 0 : i64}
tile.axis @y0_4 extent 11 {group = 4 : i64}
func.func @main(%rows: tensor<8x4xf32>, %b: tensor<4x6xf32>, %d: tensor<3x4xf32>) -> tensor<11x6xf32> {
  %0 = equivalence.graph -> tensor<11x6xf32> {
    %rows_1 = equivalence.class %rows {groups = array<i64: 0, 1>} : tensor<8x4xf32>
    %b_1 = equivalence.class %b {groups = array<i64: 1, 2>} : tensor<4x6xf32>
    %d_1 = equivalence.class %d {groups = array<i64: 3, 1>} : tensor<3x4xf32>
    %1 = forge.matmul %rows_1, %b_1 : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
    %p = equivalence.class %1 {groups = array<i64: 0, 2>, wide = "f32", narrow = "f32"} : tensor<8x6xf32>
    %2 = forge.matmul %d_1, %b_1 : (tensor<3x4xf32>, tensor<4x6xf32>) -> tensor<3x6xf32>
    %q = equivalence.class %2 {groups = array<i64: 3, 2>, wide = "f32", narrow = "f32"} : tensor<3x6xf32>
    %3 = forge.concat 0 %p, %q : (tensor<8x6xf32>, tensor<3x6xf32>) -> tensor<11x6xf32>
    %y = equivalence.class %3 {groups = array<i64: 4, 2>, wide = "f32", narrow = "f32"} : tensor<11x6xf32>
    equivalence.yield %y : tensor<11x6xf32>
  }
  func.return %0 : tensor<11x6xf32>
}

// -----

// Not join-rows: two weights.
// CHECK-LABEL: func.func @main(%two
// CHECK:      %two_1 = equivalence.class %two
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: %d_1 = equivalence.class %d
// CHECK-NEXT: %e_1 = equivalence.class %e
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.matmul %two_1, %b_1
// CHECK-NEXT: %p = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.matmul %d_1, %e_1
// CHECK-NEXT: %q = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.concat 0 %p, %q
// CHECK-NEXT: %y = equivalence.class [[V3]]
// CHECK-NEXT: equivalence.yield %y
tile.axis @b1 extent 6 {group = 2 : i64}
tile.axis @d0 extent 8 {group = 3 : i64}
tile.axis @two0 extent 8 {group = 0 : i64}
tile.axis @y0_5 extent 16 {group = 5 : i64}
func.func @main(%two: tensor<8x4xf32>, %b: tensor<4x6xf32>, %d: tensor<8x4xf32>, %e: tensor<4x6xf32>) -> tensor<16x6xf32> {
  %0 = equivalence.graph -> tensor<16x6xf32> {
    %two_1 = equivalence.class %two {groups = array<i64: 0, 1>} : tensor<8x4xf32>
    %b_1 = equivalence.class %b {groups = array<i64: 1, 2>} : tensor<4x6xf32>
    %d_1 = equivalence.class %d {groups = array<i64: 3, 4>} : tensor<8x4xf32>
    %e_1 = equivalence.class %e {groups = array<i64: 4, 2>} : tensor<4x6xf32>
    %1 = forge.matmul %two_1, %b_1 : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
    %p = equivalence.class %1 {groups = array<i64: 0, 2>, wide = "f32", narrow = "f32"} : tensor<8x6xf32>
    %2 = forge.matmul %d_1, %e_1 : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
    %q = equivalence.class %2 {groups = array<i64: 3, 2>, wide = "f32", narrow = "f32"} : tensor<8x6xf32>
    %3 = forge.concat 0 %p, %q : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<16x6xf32>
    %y = equivalence.class %3 {groups = array<i64: 5, 2>, wide = "f32", narrow = "f32"} : tensor<16x6xf32>
    equivalence.yield %y : tensor<16x6xf32>
  }
  func.return %0 : tensor<16x6xf32>
}
