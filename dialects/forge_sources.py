"""Ops of the ``forge`` dialect that values come from: literals, indices, and what the compiler does not model.

    %c = forge.constant 1.0 : tensor<1x1xf32>
    %i = forge.iota 1 : tensor<1x64xi64>
    %j = forge.index 1 from -32 step 1 each 1 period 0 within 0 to 31 : tensor<1x64xi32>
    %u = forge.random uniform : tensor<8x64xf32>

The last one and ``forge.opaque`` are not pure: nothing may merge, move or erase them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from xdsl.dialects.builtin import I64, DictionaryAttr, IntegerAttr, StringAttr, TensorType
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import ConstantLike, Pure
from xdsl.utils.exceptions import VerifyException

from equiforge.dialects.assembly import Literal, Signature, Word, int_attr
from equiforge.dialects.inference import check_dim, tensor_operand
from equiforge.dialects.literals import LiteralAttr
from equiforge.dialects.op_table import INTEGERS
from equiforge.dialects.tile_types import element_name, element_type_of


@irdl_op_definition
class ConstantOp(IRDLOperation, HasFolderInterface):
    """A literal: ``%c = forge.constant 1.0 : tensor<1x1xf32>``; (C1) of the result's type.

    A scalar is a tensor of one element, of the rank needed.
    """

    name = "forge.constant"
    value = prop_def(LiteralAttr)
    result = result_def()
    traits = traits_def(Pure(), ConstantLike())
    custom_directives = (Literal,)
    assembly_format = "attr-dict custom<Literal>($value, type($result))"

    def __init__(self, value: Any, result_type: TensorType[Attribute] | None = None):
        """``value`` is a number, a nested list, an array, or a ``LiteralAttr`` that has its type."""
        if not isinstance(value, LiteralAttr):
            assert result_type is not None, "a literal needs its type"
            value = LiteralAttr.of(value, result_type)
        super().__init__(properties={"value": value}, result_types=[value.get_type()])

    def verify_(self) -> None:
        # (C1)
        if self.value.get_type() != self.result.type:
            raise VerifyException(f"{self.name}: the literal is {self.value.get_type()}, the result {self.result.type}")
        element_name(element_type_of(self.result.type))

    def fold(self) -> tuple[Attribute]:
        return (self.value,)

    @property
    def splat(self) -> int | float | None:
        """The number that every element is, bit for bit; ``None`` if they differ or there are none."""
        return self.value.splat


@irdl_op_definition
class IotaOp(IRDLOperation):
    """The index along a dimension: ``%i = forge.iota 1 : tensor<1x64xi64>``; masks are built from it and can be
    reasoned about.

    (C1) the dimension exists; (C2) the element type is a number.
    """

    name = "forge.iota"
    dim_attr = prop_def(IntegerAttr[I64], prop_name="dim")
    result = result_def()
    traits = traits_def(Pure())
    assembly_format = "$dim attr-dict `:` type($result)"

    def __init__(self, result_type: TensorType[Attribute], dim: int):
        super().__init__(properties={"dim": int_attr(dim)}, result_types=[result_type])

    @property
    def dim(self) -> int:
        return self.dim_attr.value.data

    def verify_(self) -> None:
        type_ = tensor_operand(self.name, self.result.type)
        # (C1)
        check_dim(self.name, type_, self.dim)
        # (C2)
        if element_name(type_.element_type) == "i1":
            raise VerifyException(f"{self.name}: {type_} can't hold an index")


class Places(NamedTuple):
    """Which position is read for index i: ``clamp(start + step * ((i div each) mod period), low, high)``; period 0 is
    none."""

    start: int
    step: int
    each: int
    period: int
    low: int
    high: int

    def at(self, index: int) -> int:
        """The position for one index.

        >>> Places(-2, 1, 1, 0, 0, 3).at(1), Places(0, 1, 2, 0, 0, 9).at(5), Places(0, 1, 1, 2, 0, 1).at(5)
        (0, 2, 1)
        """
        index //= self.each
        index = index % self.period if self.period else index
        return min(max(self.start + self.step * index, self.low), self.high)


@irdl_op_definition
class IndexOp(IRDLOperation):
    """Positions that are read along a dimension: ``%j = forge.index 1 from -32 step 1 each 1 period 0 within 0 to 31 :
    tensor<1x64xi32>``.

    Element i is ``clamp(start + step * ((i div each) mod period), low, high)``, without ``mod`` where the period is 0.
    Slices, padding and concatenations become gathers at such positions, which kernels compute instead of loading.

    (C1) the dimension exists, all others have size 1; (C2) ``each`` >= 1 and ``period`` >= 0; (C3) ``low`` <= ``high``;
    (C4) the element type is an integer.
    """

    name = "forge.index"
    dim_attr = prop_def(IntegerAttr[I64], prop_name="dim")
    start_attr = prop_def(IntegerAttr[I64], prop_name="start")
    step_attr = prop_def(IntegerAttr[I64], prop_name="step")
    each_attr = prop_def(IntegerAttr[I64], prop_name="each")
    period_attr = prop_def(IntegerAttr[I64], prop_name="period")
    low_attr = prop_def(IntegerAttr[I64], prop_name="low")
    high_attr = prop_def(IntegerAttr[I64], prop_name="high")
    result = result_def()
    traits = traits_def(Pure())
    assembly_format = (
        "$dim `from` $start `step` $step `each` $each `period` $period `within` $low `to` $high "
        "attr-dict `:` type($result)"
    )

    def __init__(self, result_type: TensorType[Attribute], dim: int, places: Places):
        names = ("start", "step", "each", "period", "low", "high")
        numbers = zip(names, places, strict=True)
        super().__init__(
            properties={"dim": int_attr(dim), **{name: int_attr(number) for name, number in numbers}},
            result_types=[result_type],
        )

    @property
    def dim(self) -> int:
        return self.dim_attr.value.data

    @property
    def places(self) -> Places:
        """Start, step, repetitions, period and bounds of the positions."""
        fields = (self.start_attr, self.step_attr, self.each_attr, self.period_attr, self.low_attr, self.high_attr)
        return Places(*(field.value.data for field in fields))

    def verify_(self) -> None:
        type_ = tensor_operand(self.name, self.result.type)
        # (C1)
        check_dim(self.name, type_, self.dim)
        if any(extent != 1 for dim, extent in enumerate(type_.get_shape()) if dim != self.dim):
            raise VerifyException(f"{self.name}: {type_} varies along other dimensions than {self.dim}")
        # (C2), (C3)
        places = self.places
        if places.each < 1 or places.period < 0 or places.low > places.high:
            raise VerifyException(f"{self.name}: {places} are no positions")
        # (C4)
        if element_name(type_.element_type) not in INTEGERS:
            raise VerifyException(f"{self.name}: {type_} can't hold an index")


@irdl_op_definition
class RandomOp(IRDLOperation):
    """Random numbers: ``%u = forge.random uniform : tensor<8x64xf32>``; never merged and never moved, so it is not
    pure.

    (C1) the distribution is uniform over [0, 1) or the standard normal; (C2) the element type is a float.
    """

    name = "forge.random"
    distribution_attr = prop_def(StringAttr, prop_name="distribution")
    result = result_def()
    custom_directives = (Word,)
    assembly_format = "custom<Word>($distribution) attr-dict `:` type($result)"

    def __init__(self, result_type: TensorType[Attribute], distribution: str = "uniform"):
        super().__init__(properties={"distribution": StringAttr(distribution)}, result_types=[result_type])

    @property
    def distribution(self) -> str:
        return self.distribution_attr.data

    def verify_(self) -> None:
        # (C1)
        if self.distribution not in ("uniform", "normal"):
            raise VerifyException(f"{self.name}: distribution {self.distribution} is neither uniform nor normal")
        # (C2)
        type_ = tensor_operand(self.name, self.result.type)
        if not element_name(type_.element_type).startswith(("f", "bf")):
            raise VerifyException(f"{self.name}: {type_} can't hold random numbers")


@irdl_op_definition
class OpaqueOp(IRDLOperation):
    """A call to the original operator: ``%r = forge.opaque "aten.cumsum.default"(%x) {arguments = {dim = 1}} : …``.

    It bounds the search: nothing is known of it, so it is not pure. ``arguments`` holds what is not a tensor.
    """

    name = "forge.opaque"
    target_attr = prop_def(StringAttr, prop_name="target")
    arguments = opt_prop_def(DictionaryAttr)
    inputs = var_operand_def()
    outputs = var_result_def()
    custom_directives = (Signature,)
    assembly_format = (
        "$target `(` $inputs `)` (`arguments` $arguments^)? attr-dict `:` "
        "custom<Signature>(functional-type(operands, results))"
    )

    def __init__(
        self,
        target: str,
        inputs: Sequence[SSAValue | Operation],
        result_types: Sequence[Attribute],
        arguments: DictionaryAttr | None = None,
    ):
        super().__init__(
            operands=[[SSAValue.get(value) for value in inputs]],
            properties={"target": StringAttr(target), "arguments": arguments},
            result_types=[list(result_types)],
        )

    @property
    def target(self) -> str:
        return self.target_attr.data
