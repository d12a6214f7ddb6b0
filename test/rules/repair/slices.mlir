// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=4 split-extent=12},saturate' | filecheck %s
// RUN: equiforge-opt %s --split-input-file -p 'convert-forge-to-egraph{whole-extent=4 split-extent=12},saturate{without=storage}' | filecheck %s --check-prefix=UNSTORED

// Repair fusion in two levels: each slice of a long axis has a loop of its own, whose raw states a second kernel merges.

// A softmax's maximum, normalizer and weighted sum run over @s1 in each slice of @s1_split; their arrays are one stored tuple. The merge
// takes the maximum of the maxima, and brings both sums to it; a row that is -inf in every slice is NaN, as in the program.
// CHECK:       tile.axis @s1_split extent 12
// CHECK-NEXT:  tile.axis @s1 extent 12 within @s1_split
// CHECK-LABEL: func.func @main(%s
// CHECK:       tile.reduce @rolling{{[0-9_]+}} over parallel(@s1) {{.*}} -> tuple<!tile.view<1x1xf32, [#tile.partial<@s1_split>]>, !tile.view<1x1xf32, [#tile.partial<@s1_split>]>, !tile.view<1x4xf32, [#tile.partial<@s1_split>]>>
// CHECK:       [[RAW:%[0-9]+]] = tile.collect {{.*}} by @s1_split into 2 : (!tile.view<1x1xf32, [#tile.partial<@s1_split>]>)
// CHECK-NEXT:  [[FIELD:%[0-9]+]] = forge.get 0 of [[TUPLE:%[0-9]+]] : (tuple<tensor<2x1x1xf32>, tensor<2x1x1xf32>, tensor<2x1x4xf32>>)
// CHECK-NEXT:  [[STATES:%[0-9]+]] = equivalence.class [[RAW]], [[FIELD]]
// CHECK:       tile.collect {{.*}} by @s1_split into 2 : (!tile.view<1x1xf32, [#tile.partial<@s1_split>]>) -> tensor<2x1x1xf32>
// CHECK-NEXT:  forge.get 1 of [[TUPLE]]
// CHECK:       tile.collect {{.*}} by @s1_split into 2 : (!tile.view<1x4xf32, [#tile.partial<@s1_split>]>) -> tensor<2x1x4xf32>
// CHECK-NEXT:  forge.get 2 of [[TUPLE]]
// CHECK:       forge.reduce max over 0 [[STATES]] : (tensor<2x1x1xf32>) -> tensor<1x1x1xf32>
// CHECK:       forge.select [[DEAD:%[0-9]+]],
// CHECK:       forge.sub [[STATES]],
// CHECK:       forge.reduce sum over 0 {{.*}} : (tensor<2x1x1xf32>) -> tensor<1x1x1xf32>
// CHECK:       forge.reduce sum over 0 {{.*}} : (tensor<2x1x4xf32>) -> tensor<1x1x4xf32>
// CHECK:       forge.constant {storage = "f32"} nan : tensor<1x1x1xf32>
// CHECK:       forge.select [[DEAD]],
// UNSTORED-LABEL: func.func @main(%s
// UNSTORED-NOT:   forge.tuple
// UNSTORED-NOT:   #tile.partial<@s1_split>]
func.func @main(%s: tensor<1x12xf32>, %v: tensor<12x4xf32>) -> tensor<1x4xf32> {
  %m = forge.reduce max over 1 %s : (tensor<1x12xf32>) -> tensor<1x1xf32>
  %d = forge.sub %s, %m : (tensor<1x12xf32>, tensor<1x1xf32>) -> tensor<1x12xf32>
  %e = forge.exp %d : tensor<1x12xf32>
  %l = forge.reduce sum over 1 %e : (tensor<1x12xf32>) -> tensor<1x1xf32>
  %p = forge.div %e, %l : (tensor<1x12xf32>, tensor<1x1xf32>) -> tensor<1x12xf32>
  %y = forge.matmul %p, %v : (tensor<1x12xf32>, tensor<12x4xf32>) -> tensor<1x4xf32>
  func.return %y : tensor<1x4xf32>
}

// -----

// No repair, no loop in slices: tanh(s - m) can't be brought from one m to another without s.
// CHECK-LABEL: func.func @main(%tanh
// CHECK-NOT:   forge.get
func.func @main(%tanh: tensor<1x12xf32>) -> tensor<1x1xf32> {
  %m = forge.reduce max over 1 %tanh : (tensor<1x12xf32>) -> tensor<1x1xf32>
  %d = forge.sub %tanh, %m : (tensor<1x12xf32>, tensor<1x1xf32>) -> tensor<1x12xf32>
  %e = forge.tanh %d : tensor<1x12xf32>
  %y = forge.reduce sum over 1 %e : (tensor<1x12xf32>) -> tensor<1x1xf32>
  func.return %y : tensor<1x1xf32>
}

// -----

// Rows of fewer keys have one axis and one level.
// CHECK-LABEL: func.func @main(%short
// CHECK:       tile.reduce @rolling{{[0-9_]+}} over parallel(@short1)
// CHECK-NOT:   forge.tuple
func.func @main(%short: tensor<1x8xf32>) -> tensor<1x1xf32> {
  %m = forge.reduce max over 1 %short : (tensor<1x8xf32>) -> tensor<1x1xf32>
  %d = forge.sub %short, %m : (tensor<1x8xf32>, tensor<1x1xf32>) -> tensor<1x8xf32>
  %e = forge.exp %d : tensor<1x8xf32>
  %y = forge.reduce sum over 1 %e : (tensor<1x8xf32>) -> tensor<1x1xf32>
  func.return %y : tensor<1x1xf32>
}
