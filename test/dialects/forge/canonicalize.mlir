// RUN: equiforge-opt %s -p canonicalize --split-input-file | filecheck %s

// Flipping the sign bit twice is exact, for floats and for the least integer.
func.func @neg_of_neg(%x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = forge.neg %x : tensor<4xf32>
  %1 = forge.neg %0 : tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
// CHECK-LABEL: @neg_of_neg
// CHECK-NEXT:    func.return %x

// -----

// 1/(1/x) rounds twice.
func.func @no_recip_of_recip(%x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = forge.recip %x : tensor<4xf32>
  %1 = forge.recip %0 : tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
// CHECK-LABEL: @no_recip_of_recip
// CHECK-COUNT-2: forge.recip

// -----

func.func @not_of_not(%x : tensor<4xi1>) -> tensor<4xi1> {
  %0 = forge.not %x : tensor<4xi1>
  %1 = forge.not %0 : tensor<4xi1>
  func.return %1 : tensor<4xi1>
}
// CHECK-LABEL: @not_of_not
// CHECK-NEXT:    func.return %x

// -----

func.func @abs_of_abs(%x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = forge.abs %x : tensor<4xf32>
  %1 = forge.abs %0 : tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
// CHECK-LABEL: @abs_of_abs
// CHECK-NEXT:    %[[ABS:.*]] = forge.abs %x
// CHECK-NEXT:    func.return %[[ABS]]

// -----

func.func @relu_of_relu(%x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = forge.relu %x : tensor<4xf32>
  %1 = forge.relu %0 : tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
// CHECK-LABEL: @relu_of_relu
// CHECK-NEXT:    %[[RELU:.*]] = forge.relu %x
// CHECK-NEXT:    func.return %[[RELU]]

// -----

func.func @add_integer_zero(%x : tensor<4xi64>) -> tensor<4xi64> {
  %c = forge.constant 0 : tensor<1xi64>
  %0 = forge.add %x, %c : (tensor<4xi64>, tensor<1xi64>) -> tensor<4xi64>
  %1 = forge.add %c, %0 : (tensor<1xi64>, tensor<4xi64>) -> tensor<4xi64>
  func.return %1 : tensor<4xi64>
}
// CHECK-LABEL: @add_integer_zero
// CHECK-NEXT:    func.return %x

// -----

// -0.0 + 0.0 is 0.0.
func.func @no_add_float_zero(%x : tensor<4xf32>) -> tensor<4xf32> {
  %c = forge.constant 0.0 : tensor<1xf32>
  %0 = forge.add %x, %c : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
// CHECK-LABEL: @no_add_float_zero
// CHECK:         forge.add

// -----

// Zero is neutral on the right of a difference only.
func.func @sub_integer_zero(%x : tensor<4xi64>) -> (tensor<4xi64>, tensor<4xi64>) {
  %c = forge.constant 0 : tensor<4xi64>
  %0 = forge.sub %x, %c : tensor<4xi64>
  %1 = forge.sub %c, %x : tensor<4xi64>
  func.return %0, %1 : tensor<4xi64>, tensor<4xi64>
}
// CHECK-LABEL: @sub_integer_zero
// CHECK-NEXT:    %[[C:.*]] = forge.constant 0
// CHECK-NEXT:    %[[SUB:.*]] = forge.sub %[[C]], %x
// CHECK-NEXT:    func.return %x, %[[SUB]]

// -----

// The constant broadcasts the operand, so the op is not the identity.
func.func @no_mul_one_that_broadcasts(%x : tensor<1xi64>) -> tensor<4xi64> {
  %c = forge.constant 1 : tensor<4xi64>
  %0 = forge.mul %x, %c : (tensor<1xi64>, tensor<4xi64>) -> tensor<4xi64>
  func.return %0 : tensor<4xi64>
}
// CHECK-LABEL: @no_mul_one_that_broadcasts
// CHECK:         forge.mul

// -----

// All bits set is neutral for "and"; the constant is seen through its expansion.
func.func @and_true(%x : tensor<4xi1>, %n : tensor<4xi8>) -> (tensor<4xi1>, tensor<4xi8>) {
  %t = forge.constant true : tensor<1xi1>
  %e = forge.expand %t : (tensor<1xi1>) -> tensor<4xi1>
  %0 = forge.and %x, %e : tensor<4xi1>
  %m = forge.constant -1 : tensor<1xi8>
  %1 = forge.and %m, %n : (tensor<1xi8>, tensor<4xi8>) -> tensor<4xi8>
  func.return %0, %1 : tensor<4xi1>, tensor<4xi8>
}
// CHECK-LABEL: @and_true
// CHECK-NEXT:    func.return %x, %n

// -----

func.func @no_and_one(%n : tensor<4xi8>) -> tensor<4xi8> {
  %c = forge.constant 1 : tensor<1xi8>
  %0 = forge.and %c, %n : (tensor<1xi8>, tensor<4xi8>) -> tensor<4xi8>
  func.return %0 : tensor<4xi8>
}
// CHECK-LABEL: @no_and_one
// CHECK:         forge.and

// -----

func.func @max_of_the_same(%x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = forge.max %x, %x : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
// CHECK-LABEL: @max_of_the_same
// CHECK-NEXT:    func.return %x

// -----

func.func @select_decided(%a : tensor<4xf32>, %b : tensor<4xf32>, %c : tensor<4xi1>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %t = forge.constant true : tensor<1xi1>
  %f = forge.constant false : tensor<1xi1>
  %0 = forge.select %t, %a, %b : (tensor<1xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = forge.select %f, %a, %b : (tensor<1xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = forge.select %c, %b, %b : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
// CHECK-LABEL: @select_decided
// CHECK-NEXT:    func.return %a, %b, %b

// -----

// The operand that is not chosen gives the result its shape.
func.func @no_select_that_broadcasts(%a : tensor<1xf32>, %b : tensor<4xf32>) -> tensor<4xf32> {
  %t = forge.constant true : tensor<1xi1>
  %0 = forge.select %t, %a, %b : (tensor<1xi1>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
// CHECK-LABEL: @no_select_that_broadcasts
// CHECK:         forge.select

// -----

func.func @cast_to_the_same(%x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = forge.cast %x : tensor<4xf32> to tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
// CHECK-LABEL: @cast_to_the_same
// CHECK-NEXT:    func.return %x

// -----

// The narrow type has lost bits.
func.func @no_cast_there_and_back(%x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = forge.cast %x : tensor<4xf32> to tensor<4xf16>
  %1 = forge.cast %0 : tensor<4xf16> to tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
// CHECK-LABEL: @no_cast_there_and_back
// CHECK-COUNT-2: forge.cast

// -----

func.func @transpose_by_identity(%x : tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = forge.transpose %x perm [0, 1] : tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}
// CHECK-LABEL: @transpose_by_identity
// CHECK-NEXT:    func.return %x

// -----

// The source location goes to the op that replaces the two.
func.func @transpose_of_transpose(%x : tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  %0 = forge.transpose %x perm [1, 0, 2] {loc = "model.py:1"} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %1 = forge.transpose %0 perm [2, 1, 0] {loc = "model.py:2"} : (tensor<3x2x4xf32>) -> tensor<4x2x3xf32>
  func.return %1 : tensor<4x2x3xf32>
}
// CHECK-LABEL: @transpose_of_transpose
// CHECK-NEXT:    %[[T:.*]] = forge.transpose %x perm [2, 0, 1] {loc = "model.py:2"} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
// CHECK-NEXT:    func.return %[[T]]

// -----

func.func @transpose_there_and_back(%x : tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = forge.transpose %x perm [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = forge.transpose %0 perm [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}
// CHECK-LABEL: @transpose_there_and_back
// CHECK-NEXT:    func.return %x

// -----

func.func @reshape_of_reshape(%x : tensor<2x6xf32>) -> (tensor<4x3xf32>, tensor<2x6xf32>) {
  %0 = forge.reshape %x : (tensor<2x6xf32>) -> tensor<12xf32>
  %1 = forge.reshape %0 : (tensor<12xf32>) -> tensor<4x3xf32>
  %2 = forge.reshape %0 : (tensor<12xf32>) -> tensor<2x6xf32>
  func.return %1, %2 : tensor<4x3xf32>, tensor<2x6xf32>
}
// CHECK-LABEL: @reshape_of_reshape
// CHECK-NEXT:    %[[R:.*]] = forge.reshape %x : (tensor<2x6xf32>) -> tensor<4x3xf32>
// CHECK-NEXT:    func.return %[[R]], %x

// -----

func.func @expand_of_expand(%x : tensor<1x1xf32>, %y : tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = forge.expand %x : (tensor<1x1xf32>) -> tensor<1x3xf32>
  %1 = forge.expand %0 : (tensor<1x3xf32>) -> tensor<2x3xf32>
  %2 = forge.expand %y : tensor<2x3xf32>
  func.return %1, %2 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: @expand_of_expand
// CHECK-NEXT:    %[[E:.*]] = forge.expand %x : (tensor<1x1xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    func.return %[[E]], %y

// -----

func.func @slice_everything(%x : tensor<8xf32>) -> tensor<8xf32> {
  %0 = forge.slice %x along 0 from 0 to 8 step 1 : tensor<8xf32>
  func.return %0 : tensor<8xf32>
}
// CHECK-LABEL: @slice_everything
// CHECK-NEXT:    func.return %x

// -----

// Elements 1, 3, 5, 7, 9 and of these the second and fourth: 3 and 7.
func.func @slice_of_slice(%x : tensor<11xf32>) -> tensor<2xf32> {
  %0 = forge.slice %x along 0 from 1 to 11 step 2 : (tensor<11xf32>) -> tensor<5xf32>
  %1 = forge.slice %0 along 0 from 1 to 5 step 2 : (tensor<5xf32>) -> tensor<2xf32>
  func.return %1 : tensor<2xf32>
}
// CHECK-LABEL: @slice_of_slice
// CHECK-NEXT:    %[[S:.*]] = forge.slice %x along 0 from 3 to 8 step 4 : (tensor<11xf32>) -> tensor<2xf32>
// CHECK-NEXT:    func.return %[[S]]

// -----

func.func @no_slice_of_slice_along_another_dimension(%x : tensor<4x4xf32>) -> tensor<2x2xf32> {
  %0 = forge.slice %x along 0 from 0 to 2 step 1 : (tensor<4x4xf32>) -> tensor<2x4xf32>
  %1 = forge.slice %0 along 1 from 0 to 2 step 1 : (tensor<2x4xf32>) -> tensor<2x2xf32>
  func.return %1 : tensor<2x2xf32>
}
// CHECK-LABEL: @no_slice_of_slice_along_another_dimension
// CHECK-COUNT-2: forge.slice

// -----

func.func @structure_without_effect(%x : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = forge.concat 0 %x : tensor<4xf32>
  %1 = forge.pad %x along 0 by 0, 0 with 1.0 : tensor<4xf32>
  func.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
// CHECK-LABEL: @structure_without_effect
// CHECK-NEXT:    func.return %x, %x

// -----

func.func @get_of_tuple(%x : tensor<4xf32>, %y : tensor<2xi64>) -> tensor<2xi64> {
  %0 = forge.tuple %x, %y : (tensor<4xf32>, tensor<2xi64>) -> tuple<tensor<4xf32>, tensor<2xi64>>
  %1 = forge.get 1 of %0 : (tuple<tensor<4xf32>, tensor<2xi64>>) -> tensor<2xi64>
  func.return %1 : tensor<2xi64>
}
// CHECK-LABEL: @get_of_tuple
// CHECK-NEXT:    func.return %y

// -----

// Unused random numbers and opaque calls stay: neither is known to have no effect.
func.func @no_erasure_of_what_is_opaque(%x : tensor<4xf32>) {
  %0 = forge.random uniform : tensor<4xf32>
  %1 = forge.opaque "aten.foo.default"(%x) : tensor<4xf32>
  %2 = forge.exp %x : tensor<4xf32>
  func.return
}
// CHECK-LABEL: @no_erasure_of_what_is_opaque
// CHECK-NEXT:    forge.random
// CHECK-NEXT:    forge.opaque
// CHECK-NEXT:    func.return
