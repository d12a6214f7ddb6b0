// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=reshape-repetition}' | filecheck %s

// What is repeated by an expand and a reshape is gathered.

// reshape-repetition: each row twice.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.exp %x_1 : tensor<2x3x1x4xf32>
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.expand %e : (tensor<2x3x1x4xf32>) -> tensor<2x3x2x4xf32>
// CHECK-NEXT: %r = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.gather [[V4:%[0-9]+]], [[V5:%[0-9]+]] along 1 : (tensor<2x3x4xf32>, tensor<1x6x1xi32>) -> tensor<2x6x4xf32>
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.reshape %r : (tensor<2x3x2x4xf32>) -> tensor<2x6x4xf32>
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V6]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.reshape %e : (tensor<2x3x1x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: [[V4]] = equivalence.class [[V7]]
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.index 1 from 0 step 1 each 2 period 0 within 0 to 2 : tensor<1x6x1xi32>
// CHECK-NEXT: [[V5]] = equivalence.class [[V8]]
func.func @main(%x: tensor<2x3x1x4xf32>) -> tensor<2x6x4xf32> {
  %e = forge.exp %x : tensor<2x3x1x4xf32>
  %r = forge.expand %e : (tensor<2x3x1x4xf32>) -> tensor<2x3x2x4xf32>
  %y = forge.reshape %r : (tensor<2x3x2x4xf32>) -> tensor<2x6x4xf32>
  func.return %y : tensor<2x6x4xf32>
}

// -----

// reshape-repetition: all rows twice, one after the other.
// CHECK-LABEL: func.func @main(%period
// CHECK:      %period_1 = equivalence.class %period
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.exp %period_1 : tensor<1x3x4xf32>
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.expand %e : (tensor<1x3x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: %r = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.gather [[V4:%[0-9]+]], [[V5:%[0-9]+]] along 0 : (tensor<3x4xf32>, tensor<6x1xi32>) -> tensor<6x4xf32>
// CHECK-NEXT: [[V6:%[0-9]+]] = forge.reshape %r : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
// CHECK-NEXT: %y = equivalence.class [[V3]], [[V6]]
// CHECK-NEXT: [[V7:%[0-9]+]] = forge.reshape %e : (tensor<1x3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: [[V4]] = equivalence.class [[V7]]
// CHECK-NEXT: [[V8:%[0-9]+]] = forge.index 0 from 0 step 1 each 1 period 3 within 0 to 2 : tensor<6x1xi32>
// CHECK-NEXT: [[V5]] = equivalence.class [[V8]]
func.func @main(%period: tensor<1x3x4xf32>) -> tensor<6x4xf32> {
  %e = forge.exp %period : tensor<1x3x4xf32>
  %r = forge.expand %e : (tensor<1x3x4xf32>) -> tensor<2x3x4xf32>
  %y = forge.reshape %r : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  func.return %y : tensor<6x4xf32>
}

// -----

// Not reshape-repetition: what is repeated is in memory.
// CHECK-LABEL: func.func @main(%stored
// CHECK:      %stored_1 = equivalence.class %stored
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.expand %stored_1 : (tensor<3x1x4xf32>) -> tensor<3x2x4xf32>
// CHECK-NEXT: %r = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.reshape %r : (tensor<3x2x4xf32>) -> tensor<6x4xf32>
// CHECK-NEXT: %y = equivalence.class [[V2]]
func.func @main(%stored: tensor<3x1x4xf32>) -> tensor<6x4xf32> {
  %r = forge.expand %stored : (tensor<3x1x4xf32>) -> tensor<3x2x4xf32>
  %y = forge.reshape %r : (tensor<3x2x4xf32>) -> tensor<6x4xf32>
  func.return %y : tensor<6x4xf32>
}

// -----

// Not reshape-repetition: both dimensions that are merged grow.
// CHECK-LABEL: func.func @main(%both
// CHECK:      %both_1 = equivalence.class %both
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.exp %both_1 : tensor<3x1x1xf32>
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.expand %e : (tensor<3x1x1xf32>) -> tensor<3x2x4xf32>
// CHECK-NEXT: %r = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.reshape %r : (tensor<3x2x4xf32>) -> tensor<3x8xf32>
// CHECK-NEXT: %y = equivalence.class [[V3]]
func.func @main(%both: tensor<3x1x1xf32>) -> tensor<3x8xf32> {
  %e = forge.exp %both : tensor<3x1x1xf32>
  %r = forge.expand %e : (tensor<3x1x1xf32>) -> tensor<3x2x4xf32>
  %y = forge.reshape %r : (tensor<3x2x4xf32>) -> tensor<3x8xf32>
  func.return %y : tensor<3x8xf32>
}

// -----

// Not reshape-repetition: another dimension grows too.
// CHECK-LABEL: func.func @main(%elsewhere
// CHECK:      %elsewhere_1 = equivalence.class %elsewhere
// CHECK-NEXT: [[V1:%[0-9]+]] = forge.exp %elsewhere_1 : tensor<3x1x1xf32>
// CHECK-NEXT: %e = equivalence.class [[V1]]
// CHECK-NEXT: [[V2:%[0-9]+]] = forge.expand %e : (tensor<3x1x1xf32>) -> tensor<3x2x4xf32>
// CHECK-NEXT: %r = equivalence.class [[V2]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.reshape %r : (tensor<3x2x4xf32>) -> tensor<6x4xf32>
// CHECK-NEXT: %y = equivalence.class [[V3]]
func.func @main(%elsewhere: tensor<3x1x1xf32>) -> tensor<6x4xf32> {
  %e = forge.exp %elsewhere : tensor<3x1x1xf32>
  %r = forge.expand %e : (tensor<3x1x1xf32>) -> tensor<3x2x4xf32>
  %y = forge.reshape %r : (tensor<3x2x4xf32>) -> tensor<6x4xf32>
  func.return %y : tensor<6x4xf32>
}
