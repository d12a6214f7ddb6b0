"""``kernel.gather``: a tile of an array read at positions that the kernel computes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import I64, DenseArrayBase
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from equiforge.dialects.assembly import ints_attr
from equiforge.dialects.kernel_loops import check_bound
from equiforge.dialects.kernel_types import RefType
from equiforge.dialects.op_table import INTEGERS
from equiforge.dialects.tile_types import PartialAttr, element_type_of, shape_of, states_of


@irdl_op_definition
class GatherOp(IRDLOperation):
    """Reads element ``x[…, %i[…], …]``: ``%t = kernel.gather %x at %i along [1] checked [] : (!kernel.ref<…>,
    !tile.view<…>) -> !tile.view<…>``.

    Each index has the tile's rank and takes the place of the tile's own index in its dimension of the array; it may
    vary along any dimension. ``checked`` are dimensions whose index may lie outside the array: such elements read as
    0, like those beyond a ragged edge. (C1) one dimension an index, each once; (C2) ranks and element types agree, and
    all other dimensions of the array are the tile's or broadcast; (C3) indices are integers of the result's rank; (C4)
    nothing is partial, and the axes are bound here.
    """

    name = "kernel.gather"
    source = operand_def(RefType)
    indices = var_operand_def()
    dims_attr = prop_def(DenseArrayBase.constr(I64), prop_name="dims")
    checked_attr = prop_def(DenseArrayBase.constr(I64), prop_name="checked")
    result = result_def()
    traits = traits_def(Pure())
    assembly_format = (
        "$source `at` $indices `along` $dims `checked` $checked attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        source: SSAValue,
        indices: Sequence[SSAValue],
        dims: Sequence[int],
        checked: Sequence[int],
        type_: Attribute,
    ):
        super().__init__(
            operands=[source, list(indices)],
            properties={"dims": ints_attr(dims), "checked": ints_attr(checked)},
            result_types=[type_],
        )

    @property
    def dims(self) -> tuple[int, ...]:
        return tuple(self.dims_attr.get_values())

    @property
    def checked(self) -> tuple[int, ...]:
        return tuple(self.checked_attr.get_values())

    def verify_(self) -> None:
        ref = cast(RefType, self.source.type)
        shape = shape_of(self.result.type)
        # (C1)
        if len(self.dims) != len(self.indices) or len(set(self.dims)) != len(self.dims):
            raise VerifyException(f"kernel.gather: {len(self.indices)} indices along dimensions {list(self.dims)}")
        # (C2)
        if len(ref.shape) != len(shape) or ref.element_type != element_type_of(self.result.type):
            raise VerifyException(
                f"kernel.gather: tile {self.result.type} and array {ref} differ in rank or element type"
            )
        for dim, (have, want) in enumerate(zip(ref.shape, shape, strict=True)):
            if dim not in self.dims and have not in (1, want):
                raise VerifyException(f"kernel.gather: dimension {dim} of {ref} is neither 1 nor that of the tile")
        # (C3)
        for index in self.indices:
            if str(element_type_of(index.type)) not in INTEGERS or len(shape_of(index.type)) != len(shape):
                raise VerifyException(f"kernel.gather: {index.type} is no index of {self.result.type}")
        # (C4)
        for type_ in (self.result.type, *(index.type for index in self.indices)):
            check_bound(self, type_)
            if any(isinstance(state, PartialAttr) for state in states_of(type_)):
                raise VerifyException(f"kernel.gather: {type_} is partial")
