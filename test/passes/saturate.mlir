// RUN: equiforge-opt %s -p 'convert-forge-to-egraph{whole-extent=4},saturate{statistics=true}' 2>&1 >/dev/null | filecheck %s --check-prefix=STATS
// RUN: equiforge-opt %s -p 'convert-forge-to-egraph{whole-extent=4},saturate{max-nodes=80}' 2>&1 >/dev/null | filecheck %s --check-prefix=NODES
// RUN: equiforge-opt %s -p 'convert-forge-to-egraph{whole-extent=4},saturate{max-rounds=2},extract' 2>&1 | filecheck %s --check-prefix=ROUNDS
// RUN: equiforge-opt %s -p 'convert-forge-to-egraph,saturate{rules=row-scale without=row-scale}' | filecheck %s --check-prefix=NONE
// RUN: equiforge-opt %s -p 'convert-forge-to-egraph,saturate{without=refinement,repair}' | filecheck %s --check-prefix=ALGEBRA
// RUN: not equiforge-opt %s -p 'convert-forge-to-egraph,saturate{rules=row-scala}' 2>&1 | filecheck %s --check-prefix=RULE
// RUN: not equiforge-opt %s -p 'convert-forge-to-egraph,saturate{without=xyz}' 2>&1 | filecheck %s --check-prefix=FAMILY
// RUN: equiforge-opt %s -p 'convert-forge-to-egraph{whole-extent=4},saturate{explain="%%y","mul(matmul(%%x, %%w), %%s)"}' 2>&1 >/dev/null | filecheck %s --check-prefix=EXPLAIN
// RUN: not equiforge-opt %s -p 'convert-forge-to-egraph,saturate{explain=y,x}' 2>&1 | filecheck %s --check-prefix=UNEQUAL
// RUN: not equiforge-opt %s -p 'convert-forge-to-egraph,saturate{explain=y}' 2>&1 | filecheck %s --check-prefix=TWO
// RUN: not equiforge-opt %s -p saturate 2>&1 | filecheck %s --check-prefix=FORGE
// RUN: not equiforge-opt %s -p 'convert-forge-to-egraph,saturate{max_node=4}' 2>&1 | filecheck %s --check-prefix=OPTION

// STATS:      // {{[0-9]+}} e-nodes, {{[0-9]+}} e-classes, {{[0-9]+}} rounds, {{[0-9.]+}} s: saturated
// STATS:      {{[1-9][0-9]*}} matches {{[0-9.]+}} s of analysis
// STATS:      {{[1-9][0-9]*}} matches {{[0-9.]+}} s of algebra
// STATS:      {{[1-9][0-9]*}} matches {{[0-9.]+}} s of propagation
// STATS:      matches of row-scale
// STATS:      // 0 rolling reductions

// A limit is a warning: what was found up to then is sound, and is a program.
// NODES:      warning: saturation stopped early: {{.*}}node limit of 80 reached
// ROUNDS:     warning: saturation stopped early: round limit of 2 reached
// ROUNDS:     tile.store

// Without rules nothing is added.
// NONE:       %y = equivalence.class %{{[0-9]+}} {

// Families that are left: the scaled product, at tensor level.
// ALGEBRA:    [[M:%[0-9]+]] = forge.mul [[P:%[0-9]+]], %s
// ALGEBRA:    %y = equivalence.class {{.*}}[[M]]
// ALGEBRA-NOT: tile.combine

// Why two values are equal: values by name or as terms, and the steps between them.
// EXPLAIN:      // %y = mul(matmul(%x, %w), %s) in 1 steps
// EXPLAIN-NEXT:    1. row-scale (algebra): {{.*}}
// EXPLAIN-NEXT:         matmul(%e, %w)
// EXPLAIN-NEXT:       = mul(matmul(%x, %w), %s)
// UNEQUAL:      no chain of rules makes %y and %x equal
// TWO:          explain takes two values, not 1

// RULE:       no rule or family of rules is called row-scala (did you mean row-scale?)
// FAMILY:     no rule or family of rules is called xyz (families: algebra, indexing, refinement, propagation, structure, storage, repair)
// FORGE:      expected one equivalence.graph in the module, found 0 (run convert-forge-to-egraph first)
// OPTION:     max_node
func.func @main(%x: tensor<64x32xf32>, %r: tensor<64x1xf32>, %w: tensor<32x48xf32>) -> tensor<64x48xf32> {
  %s = forge.tanh %r : tensor<64x1xf32>
  %e = forge.mul %x, %s : (tensor<64x32xf32>, tensor<64x1xf32>) -> tensor<64x32xf32>
  %y = forge.matmul %e, %w : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
  func.return %y : tensor<64x48xf32>
}
