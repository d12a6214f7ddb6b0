// RUN: equiforge-opt %s --split-input-file --allow-unregistered-dialect -p cse | filecheck %s

// Reads merge while nothing is written in between.
// CHECK-LABEL: func.func @reads_before_and_after_a_write
// CHECK-NEXT:  %a = memref.load %m[]
// CHECK-NEXT:  memref.store %x, %m[]
// CHECK-NEXT:  %c = memref.load %m[]
// CHECK-NEXT:  func.return %a, %a, %c, %c
func.func @reads_before_and_after_a_write(%m: memref<f32>, %x: f32) -> (f32, f32, f32, f32) {
  %a = memref.load %m[] : memref<f32>
  %b = memref.load %m[] : memref<f32>
  memref.store %x, %m[] : memref<f32>
  %c = memref.load %m[] : memref<f32>
  %d = memref.load %m[] : memref<f32>
  func.return %a, %b, %c, %d : f32, f32, f32, f32
}

// -----

// A loop may come back to a read after its write: the read inside is not the one before, nor the one after.
// CHECK-LABEL: func.func @loops_that_write
// CHECK-COUNT-3: memref.load
func.func @loops_that_write(%m: memref<f32>, %n: index, %one: index) -> (f32, f32) {
  %a = memref.load %m[] : memref<f32>
  scf.for %i = %one to %n step %one {
    %b = memref.load %m[] : memref<f32>
    %c = arith.addf %b, %b : f32
    memref.store %c, %m[] : memref<f32>
  }
  %d = memref.load %m[] : memref<f32>
  func.return %a, %d : f32, f32
}

// -----

// A loop that only reads changes nothing.
// CHECK-LABEL: func.func @loops_that_read
// CHECK-COUNT-1: memref.load
// CHECK-NOT:   memref.load
func.func @loops_that_read(%m: memref<f32>, %n: index, %one: index) -> (f32, f32, f32) {
  %a = memref.load %m[] : memref<f32>
  %s = scf.for %i = %one to %n step %one iter_args(%t = %a) -> (f32) {
    %b = memref.load %m[] : memref<f32>
    %c = arith.addf %t, %b : f32
    scf.yield %c : f32
  }
  %d = memref.load %m[] : memref<f32>
  func.return %a, %s, %d : f32, f32, f32
}

// -----

// Whoever is called may write.
// CHECK-LABEL: func.func @calls
// CHECK:       memref.load
// CHECK-NEXT:  func.call @unknown
// CHECK-NEXT:  memref.load
// CHECK-NEXT:  func.call @unknown
func.func private @unknown(memref<f32>) -> ()
func.func @calls(%m: memref<f32>) -> (f32, f32) {
  %a = memref.load %m[] : memref<f32>
  func.call @unknown(%m) : (memref<f32>) -> ()
  %b = memref.load %m[] : memref<f32>
  func.call @unknown(%m) : (memref<f32>) -> ()
  func.return %a, %b : f32, f32
}

// -----

// Paths: in the last block the write may have happened.
// CHECK-LABEL: func.func @reads_in_blocks
// CHECK-COUNT-2: memref.load
func.func @reads_in_blocks(%m: memref<f32>, %x: f32, %p: i1) -> (f32, f32) {
  %a = memref.load %m[] : memref<f32>
  cf.cond_br %p, ^write, ^join
^write:
  memref.store %x, %m[] : memref<f32>
  cf.br ^join
^join:
  %b = memref.load %m[] : memref<f32>
  func.return %a, %b : f32, f32
}

// -----

// Two buffers made alike are two buffers.
// CHECK-LABEL: func.func @buffers
// CHECK-COUNT-2: memref.alloc
func.func @buffers(%x: f32, %y: f32) -> (memref<f32>, memref<f32>) {
  %a = memref.alloc() : memref<f32>
  %b = memref.alloc() : memref<f32>
  memref.store %x, %a[] : memref<f32>
  memref.store %y, %b[] : memref<f32>
  func.return %a, %b : memref<f32>, memref<f32>
}

// -----

// An op that nobody registered may do anything, and so may what holds one.
// CHECK-LABEL: func.func @unregistered
// CHECK:       memref.load
// CHECK:       "test.unknown"
// CHECK:       memref.load
// CHECK:       "test.unknown"
// CHECK-COUNT-2: scf.if
func.func @unregistered(%m: memref<f32>, %p: i1) -> (f32, f32, f32, f32, f32, f32) {
  %a = memref.load %m[] : memref<f32>
  %b = "test.unknown"(%a) : (f32) -> f32
  %c = memref.load %m[] : memref<f32>
  %d = "test.unknown"(%a) : (f32) -> f32
  %e = scf.if %p -> (f32) {
    %g = "test.inside"(%a) : (f32) -> f32
    scf.yield %g : f32
  } else {
    scf.yield %a : f32
  }
  %f = scf.if %p -> (f32) {
    %g = "test.inside"(%a) : (f32) -> f32
    scf.yield %g : f32
  } else {
    scf.yield %a : f32
  }
  func.return %a, %b, %c, %d, %e, %f : f32, f32, f32, f32, f32, f32
}
