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
// CHECK:       arith.addf %x, %y {loc = "fused[model.py:1, model.py:2]"}
// CHECK-NOT:   scf.if
// CHECK:       func.return [[R]], [[R]]
func.func @equal_regions_merge(%x: f32, %y: f32, %p: i1) -> (f32, f32) {
  %0 = scf.if %p -> (f32) {
    %a = arith.addf %x, %y {loc = "model.py:1"} : f32
    scf.yield %a : f32
  } else {
    scf.yield %x : f32
  }
  %1 = scf.if %p -> (f32) {
    %b = arith.addf %y, %x {loc = "model.py:2"} : f32
    scf.yield %b : f32
  } else {
    scf.yield %x : f32
  }
  func.return %0, %1 : f32, f32
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
func.func @loops(%x: f32, %n: index, %one: index) -> (f32, f32, f32) {
  %a = scf.for %i = %one to %n step %one iter_args(%s = %x) -> (f32) {
    %in = scf.for %j = %i to %n step %one iter_args(%t = %s) -> (f32) {
      %u = arith.mulf %t, %x : f32
      scf.yield %u : f32
    }
    scf.yield %in : f32
  }
  %b = scf.for %k = %one to %n step %one iter_args(%v = %x) -> (f32) {
    %in2 = scf.for %l = %k to %n step %one iter_args(%w = %v) -> (f32) {
      %u2 = arith.mulf %x, %w : f32
      scf.yield %u2 : f32
    }
    scf.yield %in2 : f32
  }
  %c = scf.for %k2 = %one to %n step %one iter_args(%v2 = %x) -> (f32) {
    %in3 = scf.for %l2 = %one to %n step %one iter_args(%w2 = %v2) -> (f32) {
      %u3 = arith.mulf %x, %w2 : f32
      scf.yield %u3 : f32
    }
    scf.yield %in3 : f32
  }
  func.return %a, %b, %c : f32, f32, f32
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
// CHECK-NEXT:  ^{{.*}}:
// CHECK-NEXT:  %c = arith.mulf %a, %a
// CHECK-NEXT:  cf.br
// CHECK-NEXT:  ^{{.*}}:
// CHECK-NEXT:  %d = arith.mulf %a, %a
// CHECK-NEXT:  cf.br
// CHECK-NEXT:  ^{{.*}}(%r : f32):
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

// A region with several blocks is compared as well.
// CHECK-LABEL: func.func @regions_with_blocks
// CHECK-COUNT-1: scf.execute_region
// CHECK-NOT:   scf.execute_region
func.func @regions_with_blocks(%x: f32, %p: i1) -> (f32, f32) {
  %0 = scf.execute_region -> (f32) {
    cf.cond_br %p, ^a(%x : f32), ^b
  ^a(%u: f32):
    scf.yield %u : f32
  ^b:
    %v = arith.addf %x, %x : f32
    cf.br ^a(%v : f32)
  }
  %1 = scf.execute_region -> (f32) {
    cf.cond_br %p, ^c(%x : f32), ^d
  ^c(%w: f32):
    scf.yield %w : f32
  ^d:
    %z = arith.addf %x, %x : f32
    cf.br ^c(%z : f32)
  }
  func.return %0, %1 : f32, f32
}
