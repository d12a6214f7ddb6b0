"""Parallel axes: their declaration, and the ops of the ``tile`` dialect that add or remove them."""

from __future__ import annotations

from xdsl.dialects.builtin import I64, IntegerAttr, StringAttr, SymbolNameConstraint, SymbolRefAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import HasCanonicalizationPatternsTrait, Pure, SymbolOpInterface, SymbolTable
from xdsl.utils.exceptions import VerifyException

from equiforge.dialects.assembly import InferredOp, Signature, int_attr, symbol_attr
from equiforge.dialects.inference import infer_collect, infer_combine, infer_partition, infer_replicate
from equiforge.dialects.tile_types import shape_of

Operand = SSAValue | Operation


def find_symbol(op: Operation, name: str) -> tuple[Operation | None, bool]:
    """The op that declares a symbol, and whether there is a symbol table: ``op`` may not be inserted yet."""
    try:
        return SymbolTable.lookup_symbol(op, name), True
    except ValueError:
        return None, False


def check_axis(op: Operation, axis: str, extent: int | None = None) -> None:
    """The axis is declared, and cuts ``extent`` elements where that is known."""
    found, has_table = find_symbol(op, axis)
    if not has_table:
        return
    if not isinstance(found, AxisOp):
        raise VerifyException(f"{op.name}: no tile.axis @{axis} is declared")
    if extent is not None and extent != found.extent:
        raise VerifyException(f"{op.name}: @{axis} cuts {found.extent} elements, but the dimension has {extent}")


def collected_tile(extent: int, count: int) -> int:
    """The tile size of an axis of ``extent`` elements that is collected into ``count`` tiles: the least power of two
    that is enough. Both are at least 1.

    >>> collected_tile(100, 4), collected_tile(96, 4)
    (32, 32)
    """
    return 1 << (-(-extent // count) - 1).bit_length()


@irdl_op_definition
class AxisOp(IRDLOperation):
    """Declares a parallel axis with the number of elements that it cuts: ``tile.axis @q0 extent 128``; (C1) at least
    one.
    """

    name = "tile.axis"
    sym_name = prop_def(SymbolNameConstraint())
    extent_attr = prop_def(IntegerAttr[I64], prop_name="extent")
    traits = traits_def(SymbolOpInterface())
    assembly_format = "$sym_name `extent` $extent attr-dict"

    def __init__(self, name: str, extent: int):
        super().__init__(properties={"sym_name": StringAttr(name), "extent": int_attr(extent)})

    @property
    def axis_name(self) -> str:
        return self.sym_name.data

    @property
    def extent(self) -> int:
        return self.extent_attr.value.data

    def verify_(self) -> None:
        if self.extent < 1:
            raise VerifyException(
                f"{self.name} @{self.axis_name}: extent {self.extent}, but an axis cuts at least one element"
            )


class ViewPatterns(HasCanonicalizationPatternsTrait):
    """A view that is undone at once."""

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from equiforge.dialects import tile_patterns as patterns

        return patterns.VIEW_PATTERNS


class AlongOp(InferredOp):
    """An op on one dimension and one axis."""

    operand = operand_def()
    dim_attr = prop_def(IntegerAttr[I64], prop_name="dim")
    axis_attr = prop_def(SymbolRefAttr, prop_name="axis")
    result = result_def()
    traits = traits_def(Pure(), ViewPatterns())
    custom_directives = (Signature,)
    assembly_format = (
        "$operand `along` $dim `by` $axis attr-dict `:` custom<Signature>(functional-type(operands, results))"
    )

    @property
    def dim(self) -> int:
        return self.dim_attr.value.data

    @property
    def axis_name(self) -> str:
        return self.axis_attr.root_reference.data

    def verify_(self) -> None:
        super().verify_()
        check_axis(self, self.axis_name, shape_of(self.operand.type)[self.dim])


@irdl_op_definition
class PartitionOp(AlongOp):
    """Coordinate p of the axis sees slice p: ``%v = tile.partition %x along 1 by @q0 : (tensor<8x128xf32>) ->
    !tile.view<…>``.

    (C1) the operand has no state along the axis; (C2) the dimension exists, and no other axis partitions it; (C3) the
    axis is declared with the size of the dimension.
    """

    name = "tile.partition"

    def __init__(self, operand: Operand, dim: int, axis: str):
        value = SSAValue.get(operand)
        super().__init__(
            operands=[value],
            properties={"dim": int_attr(dim), "axis": symbol_attr(axis)},
            result_types=[infer_partition(value.type, dim, axis)],
        )

    def infer(self) -> Attribute:
        return infer_partition(self.operand.type, self.dim, self.axis_name)


@irdl_op_definition
class CombineOp(AlongOp):
    """Joins the slices of an axis: ``%x = tile.combine %v along 1 by @q0 : (!tile.view<…>) -> tensor<8x128xf32>``.

    (C1) the axis partitions the dimension; (C2) it is declared with the size of the dimension.
    """

    name = "tile.combine"

    def __init__(self, operand: Operand, dim: int, axis: str):
        value = SSAValue.get(operand)
        super().__init__(
            operands=[value],
            properties={"dim": int_attr(dim), "axis": symbol_attr(axis)},
            result_types=[infer_combine(value.type, dim, axis)],
        )

    def infer(self) -> Attribute:
        return infer_combine(self.operand.type, self.dim, self.axis_name)


class OverOp(InferredOp):
    """An op on one axis as a whole."""

    operand = operand_def()
    axis_attr = prop_def(SymbolRefAttr, prop_name="axis")
    result = result_def()
    traits = traits_def(Pure())
    custom_directives = (Signature,)
    assembly_format = "$operand `by` $axis attr-dict `:` custom<Signature>(functional-type(operands, results))"

    @property
    def axis_name(self) -> str:
        return self.axis_attr.root_reference.data

    def verify_(self) -> None:
        super().verify_()
        check_axis(self, self.axis_name)


@irdl_op_definition
class ReplicateOp(OverOp):
    """Every coordinate of the axis sees the whole: ``%v = tile.replicate %x by @q0 : (tensor<8x1xf32>) ->
    !tile.view<…>``.

    (C1) the operand has no state along the axis; (C2) the axis is declared.
    """

    name = "tile.replicate"

    def __init__(self, operand: Operand, axis: str):
        value = SSAValue.get(operand)
        super().__init__(
            operands=[value],
            properties={"axis": symbol_attr(axis)},
            result_types=[infer_replicate(value.type, axis)],
        )

    def infer(self) -> Attribute:
        return infer_replicate(self.operand.type, self.axis_name)


@irdl_op_definition
class CollectOp(OverOp):
    """Turns an axis into a leading dimension, an intermediate in global memory: ``%w = tile.collect %p by @k0 into 4 :
    (!tile.view<8x1xf32, [#tile.partial<@k0, sum>]>) -> tensor<4x8x1xf32>``.

    ``count`` is the number of tiles and with it the extent of the new dimension; without it the extent is dynamic,
    known with the tile size only. Tuples are collected field by field. (C1) the operand has a state along the axis;
    (C2) the axis is declared; (C3) with a count, the axis partitions no dimension, whose tiles may differ in extent,
    and :func:`collected_tile` cuts the axis into exactly so many tiles.
    """

    name = "tile.collect"
    count_attr = opt_prop_def(IntegerAttr[I64], prop_name="count")
    assembly_format = (
        "$operand `by` $axis (`into` $count^)? attr-dict `:` custom<Signature>(functional-type(operands, results))"
    )

    def __init__(self, operand: Operand, axis: str, count: int | None = None):
        value = SSAValue.get(operand)
        super().__init__(
            operands=[value],
            properties={"axis": symbol_attr(axis), "count": None if count is None else int_attr(count)},
            result_types=[infer_collect(value.type, axis, count)],
        )

    @property
    def count(self) -> int | None:
        return None if self.count_attr is None else self.count_attr.value.data

    def infer(self) -> Attribute:
        return infer_collect(self.operand.type, self.axis_name, self.count)

    def verify_(self) -> None:
        super().verify_()
        found, _ = find_symbol(self, self.axis_name)
        if self.count is not None and isinstance(found, AxisOp):
            size = collected_tile(found.extent, self.count)
            tiles = -(-found.extent // size)
            if tiles != self.count:
                raise VerifyException(
                    f"{self.name}: no tile size cuts the {found.extent} elements of @{self.axis_name} into "
                    f"{self.count} tiles: {size}, the least power of two that is enough, gives {tiles}"
                )
