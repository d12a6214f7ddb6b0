// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=1},saturate{rules=refine-reduction,partials-of-tiles,store-partials}' | filecheck %s

// A reduction whose class may not be stored is not collected: its tiles are inputs of a loop.

// Not partials-collect: it is switched off, so nothing is collected.
// CHECK-LABEL: func.func @main(%x
// CHECK:      %x_1 = equivalence.class %x
// CHECK-NEXT: [[V1:%[0-9]+]] = tile.reduce max over parallel(@x1) [[V2:%[0-9]+]]
// CHECK-NEXT: [[V3:%[0-9]+]] = forge.reduce max over 1 %x_1
// CHECK-NEXT: %y = equivalence.class [[V1]], [[V3]]
// CHECK-NEXT: [[V4:%[0-9]+]] = tile.partition %x_1 along 1 by @x1
// CHECK-NEXT: [[V5:%[0-9]+]] = equivalence.class [[V4]]
// CHECK-NEXT: [[V6:%[0-9]+]] = tile.reduce max over axis(1) [[V5]]
// CHECK-NEXT: [[V2]] = equivalence.class [[V6]]
func.func @main(%x: tensor<1x4xf32>) -> tensor<1x1xf32> {
  %y = forge.reduce max over 1 %x : (tensor<1x4xf32>) -> tensor<1x1xf32>
  func.return %y : tensor<1x1xf32>
}
