// RUN: equiforge-opt %s -p 'convert-tile-to-kernel{target=interpreter}' -t triton | filecheck %s

// The transpose of a computed tile is a permutation in registers; its rows are the columns that the axis cuts.
// CHECK:      a = tl.load(x_ptr + (x0[:, None] * 48 + d48[None, :])
// CHECK-NEXT: e = tl.exp(a)
// CHECK-NEXT: t = tl.permute(e, [1, 0])
// CHECK-NEXT: b = tl.load(z_ptr + (d48[:, None] * 64 + x0[None, :])
// CHECK:      tl.store(y_ptr + (d48[:, None] * 64 + x0[None, :])
builtin.module {
  tile.axis @x0 extent 64
  func.func @main(%x: tensor<64x48xf32>, %z: tensor<48x64xf32>) -> tensor<48x64xf32> {
    %a = tile.partition %x along 0 by @x0 : (tensor<64x48xf32>) -> !tile.view<64x48xf32, [#tile.partition<@x0, 0>]>
    %b = tile.partition %z along 1 by @x0 : (tensor<48x64xf32>) -> !tile.view<48x64xf32, [#tile.partition<@x0, 1>]>
    %e = forge.exp %a : !tile.view<64x48xf32, [#tile.partition<@x0, 0>]>
    %t = forge.transpose %e perm [1, 0] : (!tile.view<64x48xf32, [#tile.partition<@x0, 0>]>) -> !tile.view<48x64xf32, [#tile.partition<@x0, 1>]>
    %m = forge.mul %t, %b : !tile.view<48x64xf32, [#tile.partition<@x0, 1>]>
    %c = tile.combine %m along 1 by @x0 : (!tile.view<48x64xf32, [#tile.partition<@x0, 1>]>) -> tensor<48x64xf32>
    %y = tile.store %c : tensor<48x64xf32>
    func.return %y : tensor<48x64xf32>
  }
}
