// RUN: equiforge-opt %s -p canonicalize | filecheck %s

tile.axis @q0 extent 8
tile.axis @q1 extent 8

// Slices that are joined at once.
func.func @combine_of_partition(%x : tensor<8x64xf32>) -> tensor<8x64xf32> {
  %0 = tile.partition %x along 0 by @q0 : (tensor<8x64xf32>) -> !tile.view<8x64xf32, [#tile.partition<@q0, 0>]>
  %1 = tile.combine %0 along 0 by @q0 : (!tile.view<8x64xf32, [#tile.partition<@q0, 0>]>) -> tensor<8x64xf32>
  func.return %1 : tensor<8x64xf32>
}
// CHECK-LABEL: @combine_of_partition
// CHECK-NEXT:    func.return %x

// A joined value that is cut again in the same way.
func.func @partition_of_combine(%x : !tile.view<8x64xf32, [#tile.partition<@q0, 0>]>) -> !tile.view<8x64xf32, [#tile.partition<@q0, 0>]> {
  %0 = tile.combine %x along 0 by @q0 : (!tile.view<8x64xf32, [#tile.partition<@q0, 0>]>) -> tensor<8x64xf32>
  %1 = tile.partition %0 along 0 by @q0 : (tensor<8x64xf32>) -> !tile.view<8x64xf32, [#tile.partition<@q0, 0>]>
  func.return %1 : !tile.view<8x64xf32, [#tile.partition<@q0, 0>]>
}
// CHECK-LABEL: @partition_of_combine
// CHECK-NEXT:    func.return %x

// Another axis has tiles of its own size.
func.func @no_partition_of_combine_by_another_axis(%x : !tile.view<8x64xf32, [#tile.partition<@q0, 0>]>) -> !tile.view<8x64xf32, [#tile.partition<@q1, 0>]> {
  %0 = tile.combine %x along 0 by @q0 : (!tile.view<8x64xf32, [#tile.partition<@q0, 0>]>) -> tensor<8x64xf32>
  %1 = tile.partition %0 along 0 by @q1 : (tensor<8x64xf32>) -> !tile.view<8x64xf32, [#tile.partition<@q1, 0>]>
  func.return %1 : !tile.view<8x64xf32, [#tile.partition<@q1, 0>]>
}
// CHECK-LABEL: @no_partition_of_combine_by_another_axis
// CHECK-NEXT:    tile.combine
// CHECK-NEXT:    tile.partition

// A store is where a kernel ends, so it stays between the two.
func.func @no_partition_of_stored_combine(%x : !tile.view<8x64xf32, [#tile.partition<@q0, 0>]>) -> !tile.view<8x64xf32, [#tile.partition<@q0, 0>]> {
  %0 = tile.combine %x along 0 by @q0 : (!tile.view<8x64xf32, [#tile.partition<@q0, 0>]>) -> tensor<8x64xf32>
  %1 = tile.store %0 : tensor<8x64xf32>
  %2 = tile.partition %1 along 0 by @q0 : (tensor<8x64xf32>) -> !tile.view<8x64xf32, [#tile.partition<@q0, 0>]>
  func.return %2 : !tile.view<8x64xf32, [#tile.partition<@q0, 0>]>
}
// CHECK-LABEL: @no_partition_of_stored_combine
// CHECK-NEXT:    tile.combine
// CHECK-NEXT:    tile.store
// CHECK-NEXT:    tile.partition

// Pointwise ops fold on views as on tensors.
func.func @neg_of_neg(%x : !tile.view<8x64xf32, [#tile.partition<@q0, 0>]>) -> !tile.view<8x64xf32, [#tile.partition<@q0, 0>]> {
  %0 = forge.neg %x : !tile.view<8x64xf32, [#tile.partition<@q0, 0>]>
  %1 = forge.neg %0 : !tile.view<8x64xf32, [#tile.partition<@q0, 0>]>
  func.return %1 : !tile.view<8x64xf32, [#tile.partition<@q0, 0>]>
}
// CHECK-LABEL: @neg_of_neg
// CHECK-NEXT:    func.return %x
