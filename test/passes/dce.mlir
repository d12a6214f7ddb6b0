// RUN: equiforge-opt %s --split-input-file -p dce | filecheck %s
// RUN: equiforge-opt %s --split-input-file -p 'dce{statistics=true}' 2>&1 >/dev/null | filecheck %s --check-prefix=STATS

// What nobody needs goes, and with it what only that needed.
// STATS:       //       2 dead forge.exp
// STATS-NEXT:  //       1 dead forge.add
// CHECK-LABEL: func.func @unused_chain
// CHECK-NEXT:  %d = forge.neg %x
// CHECK-NEXT:  func.return %d
func.func @unused_chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = forge.exp %x : tensor<4xf32>
  %b = forge.exp %a : tensor<4xf32>
  %c = forge.add %a, %b : tensor<4xf32>
  %d = forge.neg %x : tensor<4xf32>
  func.return %d : tensor<4xf32>
}

// -----

// Equal ops that are both needed are not this pass's work.
// CHECK-LABEL: func.func @equal_ops_stay
// CHECK-COUNT-2: forge.exp
func.func @equal_ops_stay(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = forge.exp %x : tensor<4xf32>
  %b = forge.exp %x : tensor<4xf32>
  func.return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// A draw stays, since the next one would differ without it; so does an opaque call, with what it is given.
// CHECK-LABEL: func.func @draws_stay
// CHECK-NEXT:  forge.random
// CHECK-NEXT:  forge.exp
// CHECK-NEXT:  forge.opaque
// CHECK-NEXT:  func.return
func.func @draws_stay(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = forge.random uniform : tensor<4xf32>
  %b = forge.neg %a : tensor<4xf32>
  %c = forge.exp %x : tensor<4xf32>
  %d = forge.opaque "aten.cumsum.default"(%c) arguments {dim = 0 : i64} : tensor<4xf32>
  func.return %x : tensor<4xf32>
}

// -----

// Reads that nobody uses go; a write stays, and what it writes with it. So does memory that is allocated: xDSL's op does
// not say that it is the op's own.
// CHECK-LABEL: func.func @memory
// CHECK-NEXT:  memref.alloc
// CHECK-NEXT:  memref.store %x, %m[]
// CHECK-NEXT:  func.return
func.func @memory(%m: memref<f32>, %x: f32) {
  %a = memref.load %m[] : memref<f32>
  %b = memref.alloc() : memref<f32>
  memref.store %x, %m[] : memref<f32>
  func.return
}

// -----

// An op with regions goes as a whole if nothing in it writes; what a region that stays doesn't need goes alone.
// CHECK-LABEL: func.func @regions
// CHECK-NEXT:  scf.if %p {
// CHECK-NEXT:    memref.store %x, %m[]
// CHECK-NEXT:  }
// CHECK-NEXT:  func.return
func.func @regions(%m: memref<f32>, %x: f32, %p: i1) {
  %0 = scf.if %p -> (f32) {
    %a = arith.addf %x, %x : f32
    scf.yield %a : f32
  } else {
    scf.yield %x : f32
  }
  scf.if %p {
    %b = arith.mulf %x, %0 : f32
    memref.store %x, %m[] : memref<f32>
  }
  func.return
}

// -----

// Control does not reach the last block.
// CHECK-LABEL: func.func @blocks
// CHECK-NEXT:  cf.br ^[[B:.*]]
// CHECK-NEXT:  ^[[B]]:
// CHECK-NEXT:  func.return
// CHECK-NEXT:  }
func.func @blocks(%x: f32) -> f32 {
  cf.br ^next
^next:
  func.return %x : f32
^never(%y: f32):
  %a = arith.addf %y, %y : f32
  cf.br ^never(%a : f32)
}

// -----

// Functions are symbols and stay, called or not.
// CHECK-LABEL: func.func private @unused
func.func private @unused(%x: f32) -> f32 {
  func.return %x : f32
}
