// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=slice-places,pick-place,pick-broadcast,reshape-unary,reshape-cast,reshape-binary,reshape-select,reshape-gather,reshape-places,reshape-identity,interleave,expand-unary,expand-cast,expand-left,expand-right,expand-select,expand-gather}' | filecheck %s

// Reshapes and expansions of pointwise ops and gathers move to the operands.

// reshape-binary, reshape-unary: the rows that are split are whole in both operands.
// CHECK-LABEL: func.func @main(%pointwise
// CHECK:      [[V3:%[0-9]+]] = forge.mul [[A:%[0-9]+]], [[B:%[0-9]+]] : (tensor<2x3x2x4xf32>, tensor<1x3x2x1xf32>)
// CHECK:      %y = equivalence.class [[V3]]
// CHECK:      [[V8:%[0-9]+]] = forge.exp [[P:%[0-9]+]] : tensor<2x3x2x4xf32>
// CHECK-NEXT: [[A]] = equivalence.class {{.*}}[[V8]]
// CHECK:      [[V10:%[0-9]+]] = forge.reshape %row_1 :
// CHECK-NEXT: [[B]] = equivalence.class [[V10]]
func.func @main(%pointwise: tensor<2x6x4xf32>, %row: tensor<1x6x1xf32>) -> tensor<2x3x2x4xf32> {
  %e = forge.exp %pointwise : tensor<2x6x4xf32>
  %m = forge.mul %e, %row : (tensor<2x6x4xf32>, tensor<1x6x1xf32>) -> tensor<2x6x4xf32>
  %y = forge.reshape %m : (tensor<2x6x4xf32>) -> tensor<2x3x2x4xf32>
  func.return %y : tensor<2x3x2x4xf32>
}

// -----

// Not reshape-binary: one of the merged dimensions is broadcast in the row, the other is not.
// CHECK-LABEL: func.func @main(%partly
// CHECK:      [[V2:%[0-9]+]] = forge.reshape %m :
// CHECK-NEXT: %y = equivalence.class [[V2]] {
func.func @main(%partly: tensor<2x3x4xf32>, %row: tensor<1x3x1xf32>) -> tensor<6x4xf32> {
  %m = forge.mul %partly, %row : (tensor<2x3x4xf32>, tensor<1x3x1xf32>) -> tensor<2x3x4xf32>
  %y = forge.reshape %m : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  func.return %y : tensor<6x4xf32>
}

// -----

// reshape-select, reshape-cast.
// CHECK-LABEL: func.func @main(%chosen
// CHECK:      [[V5:%[0-9]+]] = forge.select [[C:%[0-9]+]], [[F:%[0-9]+]], {{%[0-9]+}} : (tensor<6xi1>, tensor<6xf32>, tensor<1xf32>)
// CHECK:      %y = equivalence.class {{.*}}[[V5]]
// CHECK:      [[V10:%[0-9]+]] = forge.cast {{%[0-9]+}} {through = "f32"} : tensor<6xi32>
// CHECK:      [[F]] = equivalence.class [[V10]]
func.func @main(%chosen: tensor<2x3xi1>, %a: tensor<2x3xi32>) -> tensor<6xf32> {
  %zero = forge.constant 0.0 : tensor<1x1xf32>
  %f = forge.cast %a : tensor<2x3xi32> to tensor<2x3xf32>
  %m = forge.select %chosen, %f, %zero : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32>
  %y = forge.reshape %m : (tensor<2x3xf32>) -> tensor<6xf32>
  func.return %y : tensor<6xf32>
}

// -----

// reshape-gather, with positions along the dimension that survives.
// CHECK-LABEL: func.func @main(%cut
// CHECK:      [[V5:%[0-9]+]] = forge.gather [[E:%[0-9]+]], [[I:%[0-9]+]] along 1 : (tensor<6x8xf32>, tensor<1x2xi32>)
// CHECK:      %y = equivalence.class [[V5]]
// CHECK:      [[V11:%[0-9]+]] = forge.exp {{%[0-9]+}} : tensor<6x8xf32>
// CHECK-NEXT: [[E]] = equivalence.class {{.*}}[[V11]]
// CHECK:      [[V13:%[0-9]+]] = forge.index 1 from 1 step 1 each 1 period 0 within 0 to 7 : tensor<1x2xi32>
// CHECK-NEXT: [[I]] = equivalence.class [[V13]]
func.func @main(%cut: tensor<2x3x8xf32>) -> tensor<6x2xf32> {
  %e = forge.exp %cut : tensor<2x3x8xf32>
  %s = forge.slice %e along 2 from 1 to 3 step 1 : (tensor<2x3x8xf32>) -> tensor<2x3x2xf32>
  %y = forge.reshape %s : (tensor<2x3x2xf32>) -> tensor<6x2xf32>
  func.return %y : tensor<6x2xf32>
}

// -----

// interleave: places 0 0 1 1 2 2 3 3 of either, in turns.
// CHECK-LABEL: func.func @main(%even
// CHECK:      [[V3:%[0-9]+]] = forge.select [[M:%[0-9]+]], [[A:%[0-9]+]], [[B:%[0-9]+]] :
// CHECK:      %y = equivalence.class {{.*}}[[V3]]
// CHECK:      [[V11:%[0-9]+]] = forge.gather {{%[0-9]+}}, [[I:%[0-9]+]] along 1
// CHECK-NEXT: [[A]] = equivalence.class [[V11]]
// CHECK:      [[V13:%[0-9]+]] = forge.gather {{%[0-9]+}}, [[I]] along 1
// CHECK-NEXT: [[B]] = equivalence.class [[V13]]
// CHECK:      [[V14:%[0-9]+]] = forge.compare lt [[P:%[0-9]+]], {{%[0-9]+}}
// CHECK-NEXT: [[M]] = equivalence.class [[V14]]
// CHECK:      [[V17:%[0-9]+]] = forge.index 1 from 0 step 1 each 2 period 0 within 0 to 3 : tensor<1x8xi32>
// CHECK-NEXT: [[I]] = equivalence.class [[V17]]
// CHECK:      [[V18:%[0-9]+]] = forge.index 1 from 0 step 1 each 1 period 2 within 0 to 1 : tensor<1x8xi32>
// CHECK-NEXT: [[P]] = equivalence.class [[V18]]
func.func @main(%even: tensor<3x4x1xf32>, %odd: tensor<3x4x1xf32>) -> tensor<3x8xf32> {
  %s = forge.concat 2 %even, %odd : (tensor<3x4x1xf32>, tensor<3x4x1xf32>) -> tensor<3x4x2xf32>
  %y = forge.reshape %s : (tensor<3x4x2xf32>) -> tensor<3x8xf32>
  func.return %y : tensor<3x8xf32>
}

// -----

// Not interleave: pairs are joined, not single elements.
// CHECK-LABEL: func.func @main(%pairs
// CHECK:      [[V2:%[0-9]+]] = forge.reshape %s :
// CHECK-NEXT: %y = equivalence.class [[V2]] {
func.func @main(%pairs: tensor<3x4x2xf32>, %others: tensor<3x4x2xf32>) -> tensor<3x16xf32> {
  %s = forge.concat 2 %pairs, %others : (tensor<3x4x2xf32>, tensor<3x4x2xf32>) -> tensor<3x4x4xf32>
  %y = forge.reshape %s : (tensor<3x4x4xf32>) -> tensor<3x16xf32>
  func.return %y : tensor<3x16xf32>
}

// -----

// expand-left, expand-right, expand-unary.
// CHECK-LABEL: func.func @main(%grown
// CHECK:      [[V3:%[0-9]+]] = forge.mul %e, [[C:%[0-9]+]] : (tensor<3x1xf32>, tensor<3x8xf32>)
// CHECK-NEXT: [[V5:%[0-9]+]] = forge.mul [[E:%[0-9]+]], %column_1 : (tensor<3x8xf32>, tensor<3x1xf32>)
// CHECK:      %y = equivalence.class [[V3]], [[V5]]
// CHECK:      [[V9:%[0-9]+]] = forge.exp {{%[0-9]+}} : tensor<3x8xf32>
// CHECK-NEXT: [[E]] = equivalence.class {{.*}}[[V9]]
// CHECK:      [[V11:%[0-9]+]] = forge.expand %column_1 :
// CHECK-NEXT: [[C]] = equivalence.class [[V11]]
func.func @main(%grown: tensor<3x1xf32>, %column: tensor<3x1xf32>) -> tensor<3x8xf32> {
  %e = forge.exp %grown : tensor<3x1xf32>
  %m = forge.mul %e, %column : tensor<3x1xf32>
  %y = forge.expand %m : (tensor<3x1xf32>) -> tensor<3x8xf32>
  func.return %y : tensor<3x8xf32>
}

// -----

// expand-gather.
// CHECK-LABEL: func.func @main(%repeated
// CHECK:      [[V6:%[0-9]+]] = forge.gather [[E:%[0-9]+]], {{%[0-9]+}} along 0 : (tensor<6x8xf32>, tensor<3x1xi32>)
// CHECK:      %y = equivalence.class {{.*}}[[V6]]
// CHECK:      [[V10:%[0-9]+]] = forge.exp {{%[0-9]+}} : tensor<6x8xf32>
// CHECK-NEXT: [[E]] = equivalence.class {{.*}}[[V10]]
func.func @main(%repeated: tensor<6x1xf32>) -> tensor<3x8xf32> {
  %e = forge.exp %repeated : tensor<6x1xf32>
  %s = forge.slice %e along 0 from 1 to 4 step 1 : (tensor<6x1xf32>) -> tensor<3x1xf32>
  %y = forge.expand %s : (tensor<3x1xf32>) -> tensor<3x8xf32>
  func.return %y : tensor<3x8xf32>
}

// -----

// reshape-places, of a comparison with the positions of a pad; reshape-identity: the value is a scalar already.
// CHECK-LABEL: func.func @main(%padded
// CHECK:      [[V1:%[0-9]+]] = forge.index 1 from 3 step 0 each 1 period 0 within 3 to 3 : tensor<1x5xi32>
// CHECK:      forge.reshape {{%[0-9]+}} : (tensor<1x1x5xi32>) -> tensor<1x5xi32>
// CHECK:      func.return
func.func @main(%padded: tensor<2x3x3xf32>) -> tensor<6x5xf32> {
  %p = forge.pad %padded along 2 by 0, 2 with 0.5 : (tensor<2x3x3xf32>) -> tensor<2x3x5xf32>
  %y = forge.reshape %p : (tensor<2x3x5xf32>) -> tensor<6x5xf32>
  func.return %y : tensor<6x5xf32>
}

// -----

// expand-select and expand-cast; not expand-left: no dimension grows for a sum.
// CHECK-LABEL: func.func @main(%mask
// CHECK:      [[V5:%[0-9]+]] = forge.select %mask_1, [[F:%[0-9]+]], {{%[0-9]+}} : (tensor<3x1xi1>, tensor<3x8xf32>, tensor<3x8xf32>)
// CHECK:      %y = equivalence.class {{.*}}[[V5]]
// CHECK:      [[V6:%[0-9]+]] = forge.cast {{%[0-9]+}} {through = "f32"} : tensor<3x8xi32>
func.func @main(%mask: tensor<3x1xi1>, %a: tensor<3x1xi32>, %b: tensor<3x1xf32>) -> tensor<3x8xf32> {
  %f = forge.cast %a : tensor<3x1xi32> to tensor<3x1xf32>
  %m = forge.select %mask, %f, %b : (tensor<3x1xi1>, tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %y = forge.expand %m : (tensor<3x1xf32>) -> tensor<3x8xf32>
  func.return %y : tensor<3x8xf32>
}
