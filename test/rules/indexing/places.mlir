// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=concat-places,concat-select,slice-places,pick-place,pick-broadcast}' | filecheck %s

// Concatenations and slices of computed values as gathers at positions.

// concat-places, concat-select, pick-place: below 4 the element is a's, from 4 on it is b's, 4 places before.
// CHECK-LABEL: func.func @main(%a
// CHECK:      [[V1:%[0-9]+]] = forge.select [[M:%[0-9]+]], [[A:%[0-9]+]], [[B:%[0-9]+]] :
// CHECK:      %y = equivalence.class {{.*}}[[V1]]
// CHECK:      [[I:%[0-9]+]] = forge.index 1 from 0 step 1 each 1 period 0 within 0 to 3 : tensor<1x10xi32>
// CHECK-NEXT: [[IC:%[0-9]+]] = equivalence.class [[I]]
// CHECK:      [[J:%[0-9]+]] = forge.index 1 from -4 step 1 each 1 period 0 within 0 to 5 : tensor<1x10xi32>
// CHECK-NEXT: [[JC:%[0-9]+]] = equivalence.class [[J]]
// CHECK:      [[GA:%[0-9]+]] = forge.gather %a_1, [[IC]] along 1
// CHECK-NEXT: [[A]] = equivalence.class [[GA]]
// CHECK:      [[GB:%[0-9]+]] = forge.gather %b_1, [[JC]] along 1
// CHECK-NEXT: [[B]] = equivalence.class [[GB]]
// CHECK:      [[C:%[0-9]+]] = forge.compare lt [[P:%[0-9]+]], [[E:%[0-9]+]] :
// CHECK-NEXT: [[M]] = equivalence.class [[C]]
// CHECK:      [[PI:%[0-9]+]] = forge.index 1 from 0 step 1 each 1 period 0 within 0 to 9 : tensor<1x10xi32>
// CHECK-NEXT: [[P]] = equivalence.class [[PI]]
// CHECK:      [[EI:%[0-9]+]] = forge.index 1 from 4 step 0 each 1 period 0 within 4 to 4 : tensor<1x10xi32>
// CHECK-NEXT: [[E]] = equivalence.class [[EI]]
func.func @main(%a: tensor<8x4xf32>, %b: tensor<8x6xf32>) -> tensor<8x10xf32> {
  %y = forge.concat 1 %a, %b : (tensor<8x4xf32>, tensor<8x6xf32>) -> tensor<8x10xf32>
  func.return %y : tensor<8x10xf32>
}

// -----

// pick-broadcast: a single element broadcasts. Not pick-place on it.
// CHECK-LABEL: func.func @main(%single
// CHECK:      [[V1:%[0-9]+]] = forge.select {{%[0-9]+}}, %single_1, {{%[0-9]+}} :
// CHECK:      %y = equivalence.class {{.*}}[[V1]]
// CHECK-NOT:  forge.gather %single_1
func.func @main(%single: tensor<8x1xf32>, %b: tensor<8x6xf32>) -> tensor<8x7xf32> {
  %y = forge.concat 1 %single, %b : (tensor<8x1xf32>, tensor<8x6xf32>) -> tensor<8x7xf32>
  func.return %y : tensor<8x7xf32>
}

// -----

// slice-places.
// CHECK-LABEL: func.func @main(%computed
// CHECK:      [[V1:%[0-9]+]] = forge.gather %e, [[I:%[0-9]+]] along 1
// CHECK:      %y = equivalence.class [[V1]]
// CHECK:      [[V2:%[0-9]+]] = forge.index 1 from 1 step 2 each 1 period 0 within 0 to 5 : tensor<1x2xi32>
// CHECK-NEXT: [[I]] = equivalence.class [[V2]]
func.func @main(%computed: tensor<8x6xf32>) -> tensor<8x2xf32> {
  %e = forge.exp %computed : tensor<8x6xf32>
  %y = forge.slice %e along 1 from 1 to 5 step 2 : (tensor<8x6xf32>) -> tensor<8x2xf32>
  func.return %y : tensor<8x2xf32>
}

// -----

// Not slice-places: a slice of what is in memory is an offset.
// CHECK-LABEL: func.func @main(%stored
// CHECK-NOT:  forge.gather
// CHECK:      func.return
func.func @main(%stored: tensor<8x6xf32>) -> tensor<8x2xf32> {
  %s = forge.slice %stored along 1 from 1 to 5 step 2 : (tensor<8x6xf32>) -> tensor<8x2xf32>
  %y = forge.exp %s : tensor<8x2xf32>
  func.return %y : tensor<8x2xf32>
}

// -----

// Not concat-select: nothing is joined along the dimension of a pad, whose select the program has from the start.
// CHECK-LABEL: func.func @main(%padded
// CHECK:      [[V1:%[0-9]+]] = forge.select [[M:%[0-9]+]], [[A:%[0-9]+]], [[Z:%[0-9]+]] :
// CHECK:      %y = equivalence.class [[V1]]
func.func @main(%padded: tensor<8x4xf32>) -> tensor<8x7xf32> {
  %y = forge.pad %padded along 1 by 2, 1 with 0.5 : (tensor<8x4xf32>) -> tensor<8x7xf32>
  func.return %y : tensor<8x7xf32>
}
