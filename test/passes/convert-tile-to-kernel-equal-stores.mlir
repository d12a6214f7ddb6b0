// RUN: equiforge-opt %s --split-input-file -p convert-tile-to-kernel | filecheck %s

// Two kernels would store the same value for a third one: it is stored once, in one buffer, and read once.
// CHECK-LABEL: kernel.graph @main
// CHECK-COUNT-1: kernel.buffer temporary
// CHECK-NOT:   kernel.buffer temporary
// CHECK-COUNT-2: kernel.launch
// CHECK:       kernel.func @out_kernel
// CHECK:       [[L:%.*]] = kernel.load
// CHECK-NEXT:  forge.add [[L]], [[L]]
tile.axis @r extent 64
func.func @main(%x: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %a = tile.partition %x along 0 by @r : (tensor<64x32xf32>) -> !tile.view<64x32xf32, [#tile.partition<@r, 0>]>
  %e = forge.exp %a : !tile.view<64x32xf32, [#tile.partition<@r, 0>]>
  %c = tile.combine %e along 0 by @r : (!tile.view<64x32xf32, [#tile.partition<@r, 0>]>) -> tensor<64x32xf32>
  %s = tile.store %c : tensor<64x32xf32>
  %a2 = tile.partition %x along 0 by @r : (tensor<64x32xf32>) -> !tile.view<64x32xf32, [#tile.partition<@r, 0>]>
  %e2 = forge.exp %a2 : !tile.view<64x32xf32, [#tile.partition<@r, 0>]>
  %c2 = tile.combine %e2 along 0 by @r : (!tile.view<64x32xf32, [#tile.partition<@r, 0>]>) -> tensor<64x32xf32>
  %s2 = tile.store %c2 : tensor<64x32xf32>
  %p = tile.partition %s along 0 by @r : (tensor<64x32xf32>) -> !tile.view<64x32xf32, [#tile.partition<@r, 0>]>
  %q = tile.partition %s2 along 0 by @r : (tensor<64x32xf32>) -> !tile.view<64x32xf32, [#tile.partition<@r, 0>]>
  %d = forge.add %p, %q : !tile.view<64x32xf32, [#tile.partition<@r, 0>]>
  %y = tile.combine %d along 0 by @r : (!tile.view<64x32xf32, [#tile.partition<@r, 0>]>) -> tensor<64x32xf32>
  %out = tile.store %y : tensor<64x32xf32>
  func.return %out : tensor<64x32xf32>
}

// -----

// Two results are two arrays, though they hold the same; a third copy that only the program reads is one of them.
// CHECK-LABEL: kernel.graph @main
// CHECK-COUNT-3: kernel.buffer output
// CHECK-NOT:   kernel.buffer temporary
// CHECK:       kernel.return
tile.axis @r extent 64
func.func @main(%x: tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>) {
  %a = tile.partition %x along 0 by @r : (tensor<64x32xf32>) -> !tile.view<64x32xf32, [#tile.partition<@r, 0>]>
  %e = forge.exp %a : !tile.view<64x32xf32, [#tile.partition<@r, 0>]>
  %c = tile.combine %e along 0 by @r : (!tile.view<64x32xf32, [#tile.partition<@r, 0>]>) -> tensor<64x32xf32>
  %s = tile.store %c : tensor<64x32xf32>
  %s2 = tile.store %c : tensor<64x32xf32>
  %s3 = tile.store %c : tensor<64x32xf32>
  %p = tile.partition %s3 along 0 by @r : (tensor<64x32xf32>) -> !tile.view<64x32xf32, [#tile.partition<@r, 0>]>
  %d = forge.neg %p : !tile.view<64x32xf32, [#tile.partition<@r, 0>]>
  %y = tile.combine %d along 0 by @r : (!tile.view<64x32xf32, [#tile.partition<@r, 0>]>) -> tensor<64x32xf32>
  %out = tile.store %y : tensor<64x32xf32>
  func.return %s, %s2, %out : tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>
}
