// RUN: equiforge-opt %s --split-input-file -p cse | filecheck %s

// What is computed outside is visible inside, never the reverse: %b becomes %a, but %c and %d stay two.
// CHECK-LABEL: func.func @values_of_the_enclosing_region
// CHECK-NEXT:  %a = arith.addf %x, %x : f32
// CHECK-NEXT:  [[R:%[0-9]+]] = scf.if %p -> (f32) {
// CHECK-NEXT:    %c = arith.mulf %a, %x : f32
// CHECK-NEXT:    scf.yield %c
// CHECK-NEXT:  } else {
// CHECK-NEXT:    scf.yield %x
// CHECK-NEXT:  }
// CHECK-NEXT:  %d = arith.mulf %a, %x : f32
func.func @values_of_the_enclosing_region(%x: f32, %p: i1) -> (f32, f32) {
  %a = arith.addf %x, %x : f32
  %0 = scf.if %p -> (f32) {
    %b = arith.addf %x, %x : f32
    %c = arith.mulf %b, %x : f32
    scf.yield %c : f32
  } else {
    scf.yield %x : f32
  }
  %d = arith.mulf %a, %x : f32
  func.return %0, %d : f32, f32
}

// -----

// Nor do the two branches see each other.
// CHECK-LABEL: func.func @branches_are_apart
// CHECK:       scf.if
// CHECK:       arith.addf
// CHECK:       else
// CHECK:       arith.addf
func.func @branches_are_apart(%x: f32, %p: i1) -> f32 {
  %0 = scf.if %p -> (f32) {
    %a = arith.addf %x, %x : f32
    scf.yield %a : f32
  } else {
    %b = arith.addf %x, %x : f32
    %c = arith.mulf %b, %b : f32
    scf.yield %c : f32
  }
  func.return %0 : f32
}

// -----

// Regions are compared by what they compute: names inside, commuted operands and locations don't matter, and the lines of
// the ops inside are fused as well.
// CHECK-LABEL: func.func @equal_regions_merge
// CHECK:       [[R:%.+]] = scf.if %p
// CHECK:       arith.addi %x, %y {loc = "fused[model.py:1, model.py:2]"}
// CHECK-NOT:   scf.if
// CHECK:       func.return [[R]], [[R]]
func.func @equal_regions_merge(%x: i32, %y: i32, %p: i1) -> (i32, i32) {
  %0 = scf.if %p -> (i32) {
    %a = arith.addi %x, %y {loc = "model.py:1"} : i32
    scf.yield %a : i32
  } else {
    scf.yield %x : i32
  }
  %1 = scf.if %p -> (i32) {
    %b = arith.addi %y, %x {loc = "model.py:2"} : i32
    scf.yield %b : i32
  } else {
    scf.yield %x : i32
  }
  func.return %0, %1 : i32, i32
}

// -----

// Outer values count: in the second %y is taken where the first takes %x.
// CHECK-LABEL: func.func @outer_values_differ
// CHECK-COUNT-2: scf.if
func.func @outer_values_differ(%x: f32, %y: f32, %p: i1) -> (f32, f32) {
  %0 = scf.if %p -> (f32) {
    %a = arith.addf %x, %x : f32
    scf.yield %a : f32
  } else {
    scf.yield %x : f32
  }
  %1 = scf.if %p -> (f32) {
    %a = arith.addf %x, %x : f32
    scf.yield %a : f32
  } else {
    scf.yield %y : f32
  }
  func.return %0, %1 : f32, f32
}

// -----

// Loops with their own arguments, one inside the other; the third starts elsewhere.
// CHECK-LABEL: func.func @loops
// CHECK-COUNT-4: scf.for
// CHECK-NOT:   scf.for
// CHECK:       func.return [[A:%.*]], [[A]], [[C:%.*]] :
func.func @loops(%x: i32, %n: index, %one: index) -> (i32, i32, i32) {
  %a = scf.for %i = %one to %n step %one iter_args(%s = %x) -> (i32) {
    %in = scf.for %j = %i to %n step %one iter_args(%t = %s) -> (i32) {
      %u = arith.muli %t, %x : i32
      scf.yield %u : i32
    }
    scf.yield %in : i32
  }
  %b = scf.for %k = %one to %n step %one iter_args(%v = %x) -> (i32) {
    %in2 = scf.for %l = %k to %n step %one iter_args(%w = %v) -> (i32) {
      %u2 = arith.muli %x, %w : i32
      scf.yield %u2 : i32
    }
    scf.yield %in2 : i32
  }
  %c = scf.for %k2 = %one to %n step %one iter_args(%v2 = %x) -> (i32) {
    %in3 = scf.for %l2 = %one to %n step %one iter_args(%w2 = %v2) -> (i32) {
      %u3 = arith.muli %x, %w2 : i32
      scf.yield %u3 : i32
    }
    scf.yield %in3 : i32
  }
  func.return %a, %b, %c : i32, i32, i32
}

// -----

// A region that draws random numbers computes something else each time.
// CHECK-LABEL: func.func @random_regions_stay
// CHECK-COUNT-2: scf.if
func.func @random_regions_stay(%x: tensor<4xf32>, %p: i1) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = scf.if %p -> (tensor<4xf32>) {
    %a = forge.random uniform : tensor<4xf32>
    scf.yield %a : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  %1 = scf.if %p -> (tensor<4xf32>) {
    %a = forge.random uniform : tensor<4xf32>
    scf.yield %a : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  func.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Blocks: the entry dominates all, so %b and %e become %a. Neither branch dominates the other or the join: %c and %d stay.
// CHECK-LABEL: func.func @dominance
// CHECK-NEXT:  %a = arith.addf %x, %x
// CHECK-NEXT:  cf.cond_br
// CHECK-NEXT:  ^then:
// CHECK-NEXT:  %c = arith.mulf %a, %a
// CHECK-NEXT:  cf.br
// CHECK-NEXT:  ^else:
// CHECK-NEXT:  %d = arith.mulf %a, %a
// CHECK-NEXT:  cf.br
// CHECK-NEXT:  ^join(%r: f32):
// CHECK-NEXT:  %f = arith.mulf %a, %a
// CHECK-NEXT:  %g = arith.addf %f, %a
func.func @dominance(%x: f32, %p: i1) -> (f32, f32) {
  %a = arith.addf %x, %x : f32
  cf.cond_br %p, ^then, ^else
^then:
  %b = arith.addf %x, %x : f32
  %c = arith.mulf %b, %a : f32
  cf.br ^join(%c : f32)
^else:
  %d = arith.mulf %a, %a : f32
  cf.br ^join(%d : f32)
^join(%r: f32):
  %e = arith.addf %x, %x : f32
  %f = arith.mulf %e, %a : f32
  %g = arith.addf %f, %e : f32
  func.return %r, %g : f32, f32
}

// -----

// A block that stands before the one that dominates it.
// CHECK-LABEL: func.func @blocks_out_of_order
// CHECK:       ^{{.*}}:
// CHECK-NEXT:  func.return %a, %a
// CHECK-NEXT:  ^{{.*}}:
// CHECK-NEXT:  %a = arith.addf %x, %x
// CHECK-NEXT:  cf.br
func.func @blocks_out_of_order(%x: f32) -> (f32, f32) {
  cf.br ^first
^second:
  %b = arith.addf %x, %x : f32
  func.return %b, %a : f32, f32
^first:
  %a = arith.addf %x, %x : f32
  cf.br ^second
}

// -----

// A region with several blocks is compared as well: the two differ in the order of names only, the third in a branch.
// CHECK-LABEL: func.func @regions_with_blocks
// CHECK:       [[A:%.*]] = "test.pureop"
// CHECK:       [[C:%.*]] = "test.pureop"
// CHECK-NOT:   "test.pureop"
// CHECK:       func.return [[A]], [[A]], [[C]]
func.func @regions_with_blocks(%x: i32, %p: i1) -> (i32, i32, i32) {
  %0 = "test.pureop"() ({
    cf.cond_br %p, ^a(%x : i32), ^b
  ^a(%u: i32):
    "test.termop"(%u) : (i32) -> ()
  ^b:
    %v = arith.addi %x, %x : i32
    cf.br ^a(%v : i32)
  }) : () -> i32
  %1 = "test.pureop"() ({
    cf.cond_br %p, ^c(%x : i32), ^d
  ^c(%w: i32):
    "test.termop"(%w) : (i32) -> ()
  ^d:
    %z = arith.addi %x, %x : i32
    cf.br ^c(%z : i32)
  }) : () -> i32
  %2 = "test.pureop"() ({
    cf.cond_br %p, ^e(%x : i32), ^f
  ^e(%w: i32):
    "test.termop"(%w) : (i32) -> ()
  ^f:
    %z = arith.addi %x, %x : i32
    cf.br ^f
  }) : () -> i32
  func.return %0, %1, %2 : i32, i32, i32
}

// -----

// In a graph region, uses may stand before definitions: %d is %a though the op that it is made from comes last. Ops in a
// cycle are unlike all others, for nobody can tell.
// CHECK-LABEL: func.func @graph_regions
// CHECK:       "test.op"() ({
// CHECK-NEXT:    %s = "test.pureop"(%a, %a) : (i32, i32) -> i32
// CHECK-NEXT:    %a = "test.pureop"(%x) {kind = "a"} : (i32) -> i32
// CHECK-NEXT:    %x = "test.pureop"() {kind = "x"} : () -> i32
// CHECK-NEXT:    %p = "test.pureop"(%q) : (i32) -> i32
// CHECK-NEXT:    %q = "test.pureop"(%p) : (i32) -> i32
// CHECK-NEXT:    "test.termop"(%s, %p, %q)
func.func @graph_regions() {
  "test.op"() ({
    %s = "test.pureop"(%a, %d) : (i32, i32) -> i32
    %a = "test.pureop"(%x) {kind = "a"} : (i32) -> i32
    %d = "test.pureop"(%y) {kind = "d"} : (i32) -> i32
    %y = "test.pureop"() {kind = "x"} : () -> i32
    %x = "test.pureop"() {kind = "x"} : () -> i32
    %p = "test.pureop"(%q) : (i32) -> i32
    %q = "test.pureop"(%p) : (i32) -> i32
    "test.termop"(%s, %p, %q) : (i32, i32, i32) -> ()
  }) : () -> ()
  func.return
}
