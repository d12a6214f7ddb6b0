// RUN: equiforge-opt %s -p 'convert-forge-to-egraph{whole-extent=8},saturate,extract{kernels=1}' | filecheck %s --check-prefix=ONE
// RUN: equiforge-opt %s -p 'convert-forge-to-egraph{whole-extent=8},saturate,extract{kernels=2 target=a100}' | filecheck %s --check-prefix=TWO
// RUN: equiforge-opt %s -p 'convert-forge-to-egraph{whole-extent=8},saturate,extract{statistics=true}' 2>&1 >/dev/null | filecheck %s --check-prefix=STATS
// RUN: not equiforge-opt %s -p 'convert-forge-to-egraph,saturate,extract{candidate=999}' 2>&1 | filecheck %s --check-prefix=NUMBER
// RUN: not equiforge-opt %s -p 'convert-forge-to-egraph,saturate,extract{strategy=late}' 2>&1 | filecheck %s --check-prefix=STRATEGY
// RUN: not equiforge-opt %s -p 'convert-forge-to-egraph,saturate,extract{target=h1000}' 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: not equiforge-opt %s -p extract 2>&1 | filecheck %s --check-prefix=FORGE

// One kernel: rows in tiles, maximum and sum in loops over @x1; one tile.store is one kernel.
// ONE:         func.func @main(%x: tensor<64x32xf32> {forge.name = "x"}) -> tensor<64x1xf32>
// ONE:         tile.reduce {{.*}} over parallel(@x1)
// ONE:         [[C:%.*]] = tile.combine {{.*}} along 0 by @x0
// ONE:         [[S:%.*]] = tile.store [[C]]
// ONE-NEXT:    func.return [[S]]

// Two kernels: the first stores the maximum, the second reads it.
// TWO:         [[M:%.*]] = tile.store
// TWO:         tile.partition [[M]] along {{[01]}} by
// TWO:         [[S:%.*]] = tile.store
// TWO-NEXT:    func.return [[S]]

// STATS:       //   0: {{[0-9]+}} kernels, {{[0-9]+}} B, {{[0-9]+}} flop, {{[0-9.]+}} us

// NUMBER:      there is no candidate 999: extraction found {{[0-9]+}} (extract{statistics=true} lists them)
// STRATEGY:    unknown strategy late (early, after or none)
// TARGET:      h1000
// FORGE:       expected one equivalence.graph in the module, found 0 (run convert-forge-to-egraph first)
func.func @main(%x: tensor<64x32xf32>) -> tensor<64x1xf32> {
  %m = forge.reduce max over 1 %x : (tensor<64x32xf32>) -> tensor<64x1xf32>
  %d = forge.sub %x, %m : (tensor<64x32xf32>, tensor<64x1xf32>) -> tensor<64x32xf32>
  %e = forge.exp %d : tensor<64x32xf32>
  %y = forge.reduce sum over 1 %e : (tensor<64x32xf32>) -> tensor<64x1xf32>
  func.return %y : tensor<64x1xf32>
}
