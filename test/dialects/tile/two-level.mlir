// RUN: equiforge-opt %s | equiforge-opt | filecheck %s
// RUN: equiforge-opt %s --print-op-generic | equiforge-opt | filecheck %s
// RUN: equiforge-opt %s --print-op-generic | filecheck %s --check-prefix GENERIC

// A dimension in two levels: the slices of @k0 are cut again by @k1. A reducer over the inner axis runs in each slice and
// gives its raw states; over the inner axis alone it runs once, with its final region.

tile.axis @k0 extent 100
tile.axis @k1 extent 100 within @k0
// CHECK:      tile.axis @k0 extent 100
// CHECK-NEXT: tile.axis @k1 extent 100 within @k0
// GENERIC: "tile.axis"() <{sym_name = "k1", extent = 100 : i64, outer = @k0}> : () -> ()

tile.reducer @add identity [0.0] body(%s: tensor<4x1xf32>, %x: !tile.view<4x100xf32, [#tile.partition<@k1, 1>]>) {
  %p = tile.reduce sum over axis(1) %x : (!tile.view<4x100xf32, [#tile.partition<@k1, 1>]>) -> !tile.view<4x1xf32, [#tile.partial<@k1, sum>]>
  %s1 = tile.accumulate sum %s, %p over @k1 : (tensor<4x1xf32>, !tile.view<4x1xf32, [#tile.partial<@k1, sum>]>) -> tensor<4x1xf32>
  tile.yield %s1 : tensor<4x1xf32>
} final(%s: tensor<4x1xf32>) {
  %e = forge.exp %s : tensor<4x1xf32>
  tile.yield %e : tensor<4x1xf32>
}

func.func @main(%x: tensor<4x100xf32>) -> tensor<4x4x1xf32> {
  %a = tile.partition %x along 1 by @k0 : (tensor<4x100xf32>) -> !tile.view<4x100xf32, [#tile.partition<@k0, 1>]>
  %b = tile.partition %a along 1 by @k1 : (!tile.view<4x100xf32, [#tile.partition<@k0, 1>]>) -> !tile.view<4x100xf32, [#tile.partition<@k0, 1>, #tile.partition<@k1, 1>]>
  %c = tile.combine %b along 1 by @k1 : (!tile.view<4x100xf32, [#tile.partition<@k0, 1>, #tile.partition<@k1, 1>]>) -> !tile.view<4x100xf32, [#tile.partition<@k0, 1>]>
  %p = tile.reduce sum over axis(1) %b : (!tile.view<4x100xf32, [#tile.partition<@k0, 1>, #tile.partition<@k1, 1>]>) -> !tile.view<4x1xf32, [#tile.partial<@k0, sum>, #tile.partial<@k1, sum>]>
  %q = tile.reduce sum over parallel(@k1) %p : (!tile.view<4x1xf32, [#tile.partial<@k0, sum>, #tile.partial<@k1, sum>]>) -> !tile.view<4x1xf32, [#tile.partial<@k0, sum>]>
  %r = tile.collect %q by @k0 into 4 : (!tile.view<4x1xf32, [#tile.partial<@k0, sum>]>) -> tensor<4x4x1xf32>
  %t = tile.reduce @add over parallel(@k1) %b : (!tile.view<4x100xf32, [#tile.partition<@k0, 1>, #tile.partition<@k1, 1>]>) -> tuple<!tile.view<4x1xf32, [#tile.partial<@k0>]>>
  %f = forge.get 0 of %t : (tuple<!tile.view<4x1xf32, [#tile.partial<@k0>]>>) -> !tile.view<4x1xf32, [#tile.partial<@k0>]>
  %h = forge.cast %f : !tile.view<4x1xf32, [#tile.partial<@k0>]> to !tile.view<4x1xf16, [#tile.partial<@k0>]>
  %g = tile.collect %f by @k0 into 4 : (!tile.view<4x1xf32, [#tile.partial<@k0>]>) -> tensor<4x4x1xf32>
  %d = tile.partition %x along 1 by @k1 : (tensor<4x100xf32>) -> !tile.view<4x100xf32, [#tile.partition<@k1, 1>]>
  %u = tile.reduce @add over parallel(@k1) %d : (!tile.view<4x100xf32, [#tile.partition<@k1, 1>]>) -> tuple<tensor<4x1xf32>>
  func.return %g : tensor<4x4x1xf32>
}
// CHECK: func.func @main
// CHECK-NEXT: %a = tile.partition %x along 1 by @k0 : (tensor<4x100xf32>) -> !tile.view<4x100xf32, [#tile.partition<@k0, 1>]>
// CHECK-NEXT: %b = tile.partition %a along 1 by @k1 : (!tile.view<4x100xf32, [#tile.partition<@k0, 1>]>) -> !tile.view<4x100xf32, [#tile.partition<@k0, 1>, #tile.partition<@k1, 1>]>
// CHECK-NEXT: %c = tile.combine %b along 1 by @k1 : (!tile.view<4x100xf32, [#tile.partition<@k0, 1>, #tile.partition<@k1, 1>]>) -> !tile.view<4x100xf32, [#tile.partition<@k0, 1>]>
// CHECK-NEXT: %p = tile.reduce sum over axis(1) %b : (!tile.view<4x100xf32, [#tile.partition<@k0, 1>, #tile.partition<@k1, 1>]>) -> !tile.view<4x1xf32, [#tile.partial<@k0, sum>, #tile.partial<@k1, sum>]>
// CHECK-NEXT: %q = tile.reduce sum over parallel(@k1) %p : (!tile.view<4x1xf32, [#tile.partial<@k0, sum>, #tile.partial<@k1, sum>]>) -> !tile.view<4x1xf32, [#tile.partial<@k0, sum>]>
// CHECK-NEXT: %r = tile.collect %q by @k0 into 4 : (!tile.view<4x1xf32, [#tile.partial<@k0, sum>]>) -> tensor<4x4x1xf32>
// CHECK-NEXT: %t = tile.reduce @add over parallel(@k1) %b : (!tile.view<4x100xf32, [#tile.partition<@k0, 1>, #tile.partition<@k1, 1>]>) -> tuple<!tile.view<4x1xf32, [#tile.partial<@k0>]>>
// CHECK-NEXT: %f = forge.get 0 of %t : (tuple<!tile.view<4x1xf32, [#tile.partial<@k0>]>>) -> !tile.view<4x1xf32, [#tile.partial<@k0>]>
// CHECK-NEXT: %h = forge.cast %f : !tile.view<4x1xf32, [#tile.partial<@k0>]> to !tile.view<4x1xf16, [#tile.partial<@k0>]>
// CHECK-NEXT: %g = tile.collect %f by @k0 into 4 : (!tile.view<4x1xf32, [#tile.partial<@k0>]>) -> tensor<4x4x1xf32>
// CHECK-NEXT: %d = tile.partition %x along 1 by @k1 : (tensor<4x100xf32>) -> !tile.view<4x100xf32, [#tile.partition<@k1, 1>]>
// CHECK-NEXT: %u = tile.reduce @add over parallel(@k1) %d : (!tile.view<4x100xf32, [#tile.partition<@k1, 1>]>) -> tuple<tensor<4x1xf32>>
