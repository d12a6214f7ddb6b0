// RUN: equiforge-opt %s --split-input-file -p 'saturate{rules=slice-of-first,slice-of-second,slice-beside-join,join-parts}' | filecheck %s

// Slices of joins, joins of slices (catalogue 16). The e-graphs are written out.

// slice-of-first.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.concat 1 %x_1, %b_1
// CHECK-NEXT: %j = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.slice %x_1 along 1 from 1 to 4 step 1
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.slice %j along 1 from 1 to 4 step 1
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V3]]
// CHECK-NEXT: equivalence.yield %y
tile.axis @b1 extent 5 {group = 2 : i64}
tile.axis @j1_3 extent 9 {group = 3 : i64}
tile.axis @x0 extent 8 {group = 0 : i64}
tile.axis @x1 extent 4 {group = 1 : i64}
tile.axis @y1_4 extent 3 {group = 4 : i64}
func.func @main(%x: tensor<8x4xf32>, %b: tensor<8x5xf32>) -> tensor<8x3xf32> {
  %0 = equivalence.graph -> tensor<8x3xf32> {
    %x_1 = equivalence.class %x {groups = array<i64: 0, 1>} : tensor<8x4xf32>
    %b_1 = equivalence.class %b {groups = array<i64: 0, 2>} : tensor<8x5xf32>
    %1 = forge.concat 1 %x_1, %b_1 : (tensor<8x4xf32>, tensor<8x5xf32>) -> tensor<8x9xf32>
    %j = equivalence.class %1 {groups = array<i64: 0, 3>, wide = "f32", narrow = "f32"} : tensor<8x9xf32>
    %2 = forge.slice %j along 1 from 1 to 4 step 1 : (tensor<8x9xf32>) -> tensor<8x3xf32>
    %y = equivalence.class %2 {groups = array<i64: 0, 4>, wide = "f32", narrow = "f32"} : tensor<8x3xf32>
    equivalence.yield %y : tensor<8x3xf32>
  }
  func.return %0 : tensor<8x3xf32>
}

// -----

// slice-of-second.
// CHECK-LABEL: func.func @main(%a
// CHECK:      %a_1 = equivalence.class %a
// CHECK-NEXT: %second_1 = equivalence.class %second
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.concat 1 %a_1, %second_1
// CHECK-NEXT: %j = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.slice %second_1 along 1 from 1 to 5 step 2
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.slice %j along 1 from 5 to 9 step 2
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V3]]
// CHECK-NEXT: equivalence.yield %y
tile.axis @a0 extent 8 {group = 0 : i64}
tile.axis @a1 extent 4 {group = 1 : i64}
tile.axis @j1_3 extent 9 {group = 3 : i64}
tile.axis @second1 extent 5 {group = 2 : i64}
tile.axis @y1_4 extent 2 {group = 4 : i64}
func.func @main(%a: tensor<8x4xf32>, %second: tensor<8x5xf32>) -> tensor<8x2xf32> {
  %0 = equivalence.graph -> tensor<8x2xf32> {
    %a_1 = equivalence.class %a {groups = array<i64: 0, 1>} : tensor<8x4xf32>
    %second_1 = equivalence.class %second {groups = array<i64: 0, 2>} : tensor<8x5xf32>
    %1 = forge.concat 1 %a_1, %second_1 : (tensor<8x4xf32>, tensor<8x5xf32>) -> tensor<8x9xf32>
    %j = equivalence.class %1 {groups = array<i64: 0, 3>, wide = "f32", narrow = "f32"} : tensor<8x9xf32>
    %2 = forge.slice %j along 1 from 5 to 9 step 2 : (tensor<8x9xf32>) -> tensor<8x2xf32>
    %y = equivalence.class %2 {groups = array<i64: 0, 4>, wide = "f32", narrow = "f32"} : tensor<8x2xf32>
    equivalence.yield %y : tensor<8x2xf32>
  }
  func.return %0 : tensor<8x2xf32>
}

// -----

// Not slice-of-first nor slice-of-second: a slice of both.
// CHECK-LABEL: func.func @main(%across
// CHECK:      %across_1 = equivalence.class %across
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.concat 1 %across_1, %b_1
// CHECK-NEXT: %j = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.slice %j along 1 from 2 to 6 step 1
// CHECK-NEXT: %y = equivalence.class [[V2]]
// CHECK-NEXT: equivalence.yield %y
tile.axis @across0 extent 8 {group = 0 : i64}
tile.axis @across1 extent 4 {group = 1 : i64}
tile.axis @b1 extent 5 {group = 2 : i64}
tile.axis @j1_3 extent 9 {group = 3 : i64}
tile.axis @y1_4 extent 4 {group = 4 : i64}
func.func @main(%across: tensor<8x4xf32>, %b: tensor<8x5xf32>) -> tensor<8x4xf32> {
  %0 = equivalence.graph -> tensor<8x4xf32> {
    %across_1 = equivalence.class %across {groups = array<i64: 0, 1>} : tensor<8x4xf32>
    %b_1 = equivalence.class %b {groups = array<i64: 0, 2>} : tensor<8x5xf32>
    %1 = forge.concat 1 %across_1, %b_1 : (tensor<8x4xf32>, tensor<8x5xf32>) -> tensor<8x9xf32>
    %j = equivalence.class %1 {groups = array<i64: 0, 3>, wide = "f32", narrow = "f32"} : tensor<8x9xf32>
    %2 = forge.slice %j along 1 from 2 to 6 step 1 : (tensor<8x9xf32>) -> tensor<8x4xf32>
    %y = equivalence.class %2 {groups = array<i64: 0, 4>, wide = "f32", narrow = "f32"} : tensor<8x4xf32>
    equivalence.yield %y : tensor<8x4xf32>
  }
  func.return %0 : tensor<8x4xf32>
}

// -----

// slice-beside-join.
// CHECK-LABEL: func.func @main(%beside
// CHECK:      %beside_1 = equivalence.class %beside
// CHECK-NEXT: %b_1 = equivalence.class %b
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.concat 1 %beside_1, %b_1
// CHECK-NEXT: %j = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.concat 1 [[V3:%[0-9]+]], [[V4:%[0-9]+]]
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.slice %j along 0 from 2 to 6 step 1
// CHECK-NEXT: %y = equivalence.class [[V2]], [[V5]]
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.slice %beside_1 along 0 from 2 to 6 step 1
// CHECK-NEXT: [[V3]] = equivalence.class [[V6]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.slice %b_1 along 0 from 2 to 6 step 1
// CHECK-NEXT: [[V4]] = equivalence.class [[V7]]
// CHECK-NEXT: equivalence.yield %y
tile.axis @b1 extent 5 {group = 2 : i64}
tile.axis @beside0 extent 8 {group = 0 : i64}
tile.axis @beside1 extent 4 {group = 1 : i64}
tile.axis @j1_3 extent 9 {group = 3 : i64}
tile.axis @y0_4 extent 4 {group = 4 : i64}
func.func @main(%beside: tensor<8x4xf32>, %b: tensor<8x5xf32>) -> tensor<4x9xf32> {
  %0 = equivalence.graph -> tensor<4x9xf32> {
    %beside_1 = equivalence.class %beside {groups = array<i64: 0, 1>} : tensor<8x4xf32>
    %b_1 = equivalence.class %b {groups = array<i64: 0, 2>} : tensor<8x5xf32>
    %1 = forge.concat 1 %beside_1, %b_1 : (tensor<8x4xf32>, tensor<8x5xf32>) -> tensor<8x9xf32>
    %j = equivalence.class %1 {groups = array<i64: 0, 3>, wide = "f32", narrow = "f32"} : tensor<8x9xf32>
    %2 = forge.slice %j along 0 from 2 to 6 step 1 : (tensor<8x9xf32>) -> tensor<4x9xf32>
    %y = equivalence.class %2 {groups = array<i64: 4, 3>, wide = "f32", narrow = "f32"} : tensor<4x9xf32>
    equivalence.yield %y : tensor<4x9xf32>
  }
  func.return %0 : tensor<4x9xf32>
}

// -----

// join-parts.
// CHECK-LABEL: func.func @main(%parts
// CHECK:      %parts_1 = equivalence.class %parts
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.slice %parts_1 along 1 from 0 to 4 step 1
// CHECK-NEXT: %u = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.slice %parts_1 along 1 from 4 to 8 step 1
// CHECK-NEXT: %v = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.concat 1 %u, %v
// CHECK-NEXT: [[V4:%[0-9]+]] = forge.slice %parts_1 along 1 from 0 to 8 step 1
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V4]]
// CHECK-NEXT: equivalence.yield %y
tile.axis @parts0 extent 8 {group = 0 : i64}
tile.axis @parts1 extent 9 {group = 1 : i64}
tile.axis @u1_2 extent 4 {group = 2 : i64}
tile.axis @v1_3 extent 4 {group = 3 : i64}
tile.axis @y1_4 extent 8 {group = 4 : i64}
func.func @main(%parts: tensor<8x9xf32>) -> tensor<8x8xf32> {
  %0 = equivalence.graph -> tensor<8x8xf32> {
    %parts_1 = equivalence.class %parts {groups = array<i64: 0, 1>} : tensor<8x9xf32>
    %1 = forge.slice %parts_1 along 1 from 0 to 4 step 1 : (tensor<8x9xf32>) -> tensor<8x4xf32>
    %u = equivalence.class %1 {groups = array<i64: 0, 2>} : tensor<8x4xf32>
    %2 = forge.slice %parts_1 along 1 from 4 to 8 step 1 : (tensor<8x9xf32>) -> tensor<8x4xf32>
    %v = equivalence.class %2 {groups = array<i64: 0, 3>} : tensor<8x4xf32>
    %3 = forge.concat 1 %u, %v : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
    %y = equivalence.class %3 {groups = array<i64: 0, 4>, wide = "f32", narrow = "f32"} : tensor<8x8xf32>
    equivalence.yield %y : tensor<8x8xf32>
  }
  func.return %0 : tensor<8x8xf32>
}

// -----

// Not join-parts: the halves are exchanged.
// CHECK-LABEL: func.func @main(%rotated
// CHECK:      %rotated_1 = equivalence.class %rotated
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.slice %rotated_1 along 1 from 0 to 4 step 1
// CHECK-NEXT: %u = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.slice %rotated_1 along 1 from 4 to 8 step 1
// CHECK-NEXT: %v = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.concat 1 %v, %u
// CHECK-NEXT: %y = equivalence.class [[V3]]
// CHECK-NEXT: equivalence.yield %y
tile.axis @rotated0 extent 8 {group = 0 : i64}
tile.axis @rotated1 extent 8 {group = 1 : i64}
tile.axis @u1_2 extent 4 {group = 2 : i64}
tile.axis @v1_3 extent 4 {group = 3 : i64}
tile.axis @y1_4 extent 8 {group = 4 : i64}
func.func @main(%rotated: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = equivalence.graph -> tensor<8x8xf32> {
    %rotated_1 = equivalence.class %rotated {groups = array<i64: 0, 1>} : tensor<8x8xf32>
    %1 = forge.slice %rotated_1 along 1 from 0 to 4 step 1 : (tensor<8x8xf32>) -> tensor<8x4xf32>
    %u = equivalence.class %1 {groups = array<i64: 0, 2>} : tensor<8x4xf32>
    %2 = forge.slice %rotated_1 along 1 from 4 to 8 step 1 : (tensor<8x8xf32>) -> tensor<8x4xf32>
    %v = equivalence.class %2 {groups = array<i64: 0, 3>} : tensor<8x4xf32>
    %3 = forge.concat 1 %v, %u : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
    %y = equivalence.class %3 {groups = array<i64: 0, 4>, wide = "f32", narrow = "f32"} : tensor<8x8xf32>
    equivalence.yield %y : tensor<8x8xf32>
  }
  func.return %0 : tensor<8x8xf32>
}
