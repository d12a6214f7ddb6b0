// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph,saturate{rules=refine-pointwise-root,view-gather,partition-gather}' | filecheck %s

// Views move through gathers.

// view-gather along dimension 1, which both the rows and what is gathered have; partition-gather along dimension 0: all rows are there for
// the places of a tile.
// CHECK-LABEL: func.func @main(%x
// CHECK-DAG:  forge.gather {{%[0-9]+}}, {{%[0-9]+}} along 0 : (!tile.view<8x4xf32, [#tile.replicate<@i0>]>, !tile.view<3x1xi64, [#tile.partition<@i0, 0>]>) -> !tile.view<3x4xf32, [#tile.partition<@i0, 0>]>
// CHECK-DAG:  forge.gather {{%[0-9]+}}, {{%[0-9]+}} along 0 : (!tile.view<8x4xf32, [#tile.partition<@x1, 1>]>, !tile.view<3x1xi64, [#tile.replicate<@x1>]>) -> !tile.view<3x4xf32, [#tile.partition<@x1, 1>]>
func.func @main(%x: tensor<8x4xf32>, %i: tensor<3x1xi64>) -> tensor<3x4xf32> {
  %y = forge.gather %x, %i along 0 : (tensor<8x4xf32>, tensor<3x1xi64>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// Not partition-gather: no tile of the rows themselves has the rows at the places.
// CHECK-LABEL: func.func @main(%rows
// CHECK-NOT:  forge.gather {{.*}}tile.view<8x4xf32, [#tile.partition<@{{.*}}, 0>
// CHECK:      func.return
func.func @main(%rows: tensor<8x4xf32>, %i: tensor<8x1xi64>) -> tensor<8x4xf32> {
  %g = forge.gather %rows, %i along 0 : (tensor<8x4xf32>, tensor<8x1xi64>) -> tensor<8x4xf32>
  %y = forge.add %g, %rows : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}
