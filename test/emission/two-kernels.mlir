// RUN: equiforge-opt %s -p convert-tile-to-kernel | filecheck %s --check-prefix KERNEL
// RUN: equiforge-opt %s -p 'convert-tile-to-kernel{target=interpreter}' -t triton | filecheck %s --check-prefix TRITON

// Each stored value is a kernel of its own where one needs the other; a result that is an argument is passed through.

builtin.module {
  tile.axis @t0 extent 33
  tile.axis @d0 extent 40
  tile.axis @h0 extent 48
  tile.axis @o0 extent 40
  func.func @main(%x: tensor<33x40xf16>, %w: tensor<40x48xf16>, %u: tensor<48x40xf16>) -> (tensor<33x40xf16>, tensor<33x1xf32>, tensor<33x40xf16>) {
    %x_1 = tile.partition %x along 1 by @d0 : (tensor<33x40xf16>) -> !tile.view<33x40xf16, [#tile.partition<@d0, 1>]>
    %x_2 = tile.replicate %x_1 by @h0 : (!tile.view<33x40xf16, [#tile.partition<@d0, 1>]>) -> !tile.view<33x40xf16, [#tile.partition<@d0, 1>, #tile.replicate<@h0>]>
    %x_3 = tile.partition %x_2 along 0 by @t0 : (!tile.view<33x40xf16, [#tile.partition<@d0, 1>, #tile.replicate<@h0>]>) -> !tile.view<33x40xf16, [#tile.partition<@d0, 1>, #tile.replicate<@h0>, #tile.partition<@t0, 0>]>
    %w_1 = tile.partition %w along 0 by @d0 : (tensor<40x48xf16>) -> !tile.view<40x48xf16, [#tile.partition<@d0, 0>]>
    %w_2 = tile.partition %w_1 along 1 by @h0 : (!tile.view<40x48xf16, [#tile.partition<@d0, 0>]>) -> !tile.view<40x48xf16, [#tile.partition<@d0, 0>, #tile.partition<@h0, 1>]>
    %w_3 = tile.replicate %w_2 by @t0 : (!tile.view<40x48xf16, [#tile.partition<@d0, 0>, #tile.partition<@h0, 1>]>) -> !tile.view<40x48xf16, [#tile.partition<@d0, 0>, #tile.partition<@h0, 1>, #tile.replicate<@t0>]>
    %0 = tile.matmul %x_3, %w_3 : (!tile.view<33x40xf16, [#tile.partition<@d0, 1>, #tile.replicate<@h0>, #tile.partition<@t0, 0>]>, !tile.view<40x48xf16, [#tile.partition<@d0, 0>, #tile.partition<@h0, 1>, #tile.replicate<@t0>]>) -> !tile.view<33x48xf32, [#tile.partial<@d0, sum>, #tile.partition<@h0, 1>, #tile.partition<@t0, 0>]>
    %hidden = tile.reduce sum over parallel(@d0) %0 : (!tile.view<33x48xf32, [#tile.partial<@d0, sum>, #tile.partition<@h0, 1>, #tile.partition<@t0, 0>]>) -> !tile.view<33x48xf32, [#tile.partition<@h0, 1>, #tile.partition<@t0, 0>]>
    %1 = tile.combine %hidden along 0 by @t0 : (!tile.view<33x48xf32, [#tile.partition<@h0, 1>, #tile.partition<@t0, 0>]>) -> !tile.view<33x48xf32, [#tile.partition<@h0, 1>]>
    %2 = tile.combine %1 along 1 by @h0 : (!tile.view<33x48xf32, [#tile.partition<@h0, 1>]>) -> tensor<33x48xf32>
    %hidden_1 = tile.store %2 : (tensor<33x48xf32>) -> tensor<33x48xf16>
    %hidden_2 = tile.partition %hidden_1 along 1 by @h0 : (tensor<33x48xf16>) -> !tile.view<33x48xf16, [#tile.partition<@h0, 1>]>
    %hidden_3 = tile.replicate %hidden_2 by @o0 : (!tile.view<33x48xf16, [#tile.partition<@h0, 1>]>) -> !tile.view<33x48xf16, [#tile.partition<@h0, 1>, #tile.replicate<@o0>]>
    %hidden_4 = tile.partition %hidden_3 along 0 by @t0 : (!tile.view<33x48xf16, [#tile.partition<@h0, 1>, #tile.replicate<@o0>]>) -> !tile.view<33x48xf16, [#tile.partition<@h0, 1>, #tile.replicate<@o0>, #tile.partition<@t0, 0>]>
    %hidden_5 = forge.cast %hidden_4 : !tile.view<33x48xf16, [#tile.partition<@h0, 1>, #tile.replicate<@o0>, #tile.partition<@t0, 0>]> to !tile.view<33x48xf32, [#tile.partition<@h0, 1>, #tile.replicate<@o0>, #tile.partition<@t0, 0>]>
    %3 = forge.relu %hidden_5 : !tile.view<33x48xf32, [#tile.partition<@h0, 1>, #tile.replicate<@o0>, #tile.partition<@t0, 0>]>
    %activated = forge.cast %3 : !tile.view<33x48xf32, [#tile.partition<@h0, 1>, #tile.replicate<@o0>, #tile.partition<@t0, 0>]> to !tile.view<33x48xf16, [#tile.partition<@h0, 1>, #tile.replicate<@o0>, #tile.partition<@t0, 0>]>
    %u_1 = tile.partition %u along 0 by @h0 : (tensor<48x40xf16>) -> !tile.view<48x40xf16, [#tile.partition<@h0, 0>]>
    %u_2 = tile.partition %u_1 along 1 by @o0 : (!tile.view<48x40xf16, [#tile.partition<@h0, 0>]>) -> !tile.view<48x40xf16, [#tile.partition<@h0, 0>, #tile.partition<@o0, 1>]>
    %u_3 = tile.replicate %u_2 by @t0 : (!tile.view<48x40xf16, [#tile.partition<@h0, 0>, #tile.partition<@o0, 1>]>) -> !tile.view<48x40xf16, [#tile.partition<@h0, 0>, #tile.partition<@o0, 1>, #tile.replicate<@t0>]>
    %4 = tile.matmul %activated, %u_3 : (!tile.view<33x48xf16, [#tile.partition<@h0, 1>, #tile.replicate<@o0>, #tile.partition<@t0, 0>]>, !tile.view<48x40xf16, [#tile.partition<@h0, 0>, #tile.partition<@o0, 1>, #tile.replicate<@t0>]>) -> !tile.view<33x40xf32, [#tile.partial<@h0, sum>, #tile.partition<@o0, 1>, #tile.partition<@t0, 0>]>
    %z = tile.reduce sum over parallel(@h0) %4 : (!tile.view<33x40xf32, [#tile.partial<@h0, sum>, #tile.partition<@o0, 1>, #tile.partition<@t0, 0>]>) -> !tile.view<33x40xf32, [#tile.partition<@o0, 1>, #tile.partition<@t0, 0>]>
    %5 = tile.combine %z along 0 by @t0 : (!tile.view<33x40xf32, [#tile.partition<@o0, 1>, #tile.partition<@t0, 0>]>) -> !tile.view<33x40xf32, [#tile.partition<@o0, 1>]>
    %6 = tile.combine %5 along 1 by @o0 : (!tile.view<33x40xf32, [#tile.partition<@o0, 1>]>) -> tensor<33x40xf32>
    %z_1 = tile.store %6 : (tensor<33x40xf32>) -> tensor<33x40xf16>
    %hidden_6 = tile.partition %hidden_1 along 1 by @h0 : (tensor<33x48xf16>) -> !tile.view<33x48xf16, [#tile.partition<@h0, 1>]>
    %hidden_7 = tile.partition %hidden_6 along 0 by @t0 : (!tile.view<33x48xf16, [#tile.partition<@h0, 1>]>) -> !tile.view<33x48xf16, [#tile.partition<@h0, 1>, #tile.partition<@t0, 0>]>
    %hidden_8 = forge.cast %hidden_7 : !tile.view<33x48xf16, [#tile.partition<@h0, 1>, #tile.partition<@t0, 0>]> to !tile.view<33x48xf32, [#tile.partition<@h0, 1>, #tile.partition<@t0, 0>]>
    %7 = tile.reduce sum over axis(1) %hidden_8 : (!tile.view<33x48xf32, [#tile.partition<@h0, 1>, #tile.partition<@t0, 0>]>) -> !tile.view<33x1xf32, [#tile.partial<@h0, sum>, #tile.partition<@t0, 0>]>
    %row_sums = tile.reduce sum over parallel(@h0) %7 : (!tile.view<33x1xf32, [#tile.partial<@h0, sum>, #tile.partition<@t0, 0>]>) -> !tile.view<33x1xf32, [#tile.partition<@t0, 0>]>
    %8 = tile.combine %row_sums along 0 by @t0 : (!tile.view<33x1xf32, [#tile.partition<@t0, 0>]>) -> tensor<33x1xf32>
    %row_sums_1 = tile.store %8 : tensor<33x1xf32>
    func.return %z_1, %row_sums_1, %x : tensor<33x40xf16>, tensor<33x1xf32>, tensor<33x40xf16>
  }
}

// KERNEL: kernel.launch @hidden_kernel(%x, %w, %hidden)
// KERNEL: kernel.launch @z_kernel(%hidden, %u, %z)
// KERNEL: kernel.launch @row_sums_kernel(%hidden, %row_sums)
// KERNEL: kernel.return %z, %row_sums, %x

// TRITON: return z, row_sums, x
