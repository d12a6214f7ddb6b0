"""Parallel axes: their declaration, and the ops of the ``tile`` dialect that add or remove them."""

from __future__ import annotations

from xdsl.dialects.builtin import I64, IntegerAttr, StringAttr, SymbolNameConstraint, SymbolRefAttr, TupleType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import HasCanonicalizationPatternsTrait, Pure, SymbolOpInterface, SymbolTable
from xdsl.utils.exceptions import VerifyException

from equiforge.dialects.assembly import InferredOp, Signature, int_attr, symbol_attr
from equiforge.dialects.inference import infer_collect, infer_combine, infer_partition, infer_replicate
from equiforge.dialects.tile_types import PartitionAttr, ReplicateAttr, shape_of, state_on, states_of

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


def outer_axis(op: Operation, axis: str) -> str | None:
    """The axis that ``axis`` is declared within, seen from ``op``; None for an outermost or unknown one."""
    found, _ = find_symbol(op, axis)
    return found.outer if isinstance(found, AxisOp) else None


def check_nesting(op: Operation, type_: Attribute) -> None:
    """Two axes that cut one dimension are nested, and an inner axis that cuts a dimension cuts that of its outer axis,
    where the value depends on that one at all.
    """
    owners: dict[int, str] = {}
    for state in states_of(type_):
        if not isinstance(state, PartitionAttr):
            continue
        axis = state.axis_name
        outer = outer_axis(op, axis)
        beside = state_on(type_, outer) if outer is not None else None
        if beside is not None and beside != PartitionAttr(beside.axis_name, state.dim):
            raise VerifyException(
                f"{op.name}: @{axis} is within @{outer} and cuts dimension {state.dim}, but along @{outer} the value "
                f"is {beside} ({type_})"
            )
        other = owners.setdefault(state.dim, axis)
        if other != axis and find_symbol(op, axis)[1] and outer != other and outer_axis(op, other) != axis:
            raise VerifyException(
                f"{op.name}: @{other} and @{axis} both partition dimension {state.dim}, but neither is declared within "
                f"the other"
            )


def check_innermost(op: Operation, axis: str, type_: Attribute) -> None:
    """No axis within ``axis`` is left in the states of an operand whose ``axis`` is added or removed."""
    if isinstance(type_, TupleType):
        for field in type_.types:
            check_innermost(op, axis, field)
    for state in states_of(type_):
        if outer_axis(op, state.axis_name) == axis and not isinstance(state, ReplicateAttr):
            raise VerifyException(
                f"{op.name}: by @{axis}, but along @{state.axis_name}, which is within it, the operand is {state}; the "
                f"outer axis is added first and removed last ({type_})"
            )


def collected_tile(extent: int, count: int) -> int:
    """The tile size of an axis of ``extent`` elements that is collected into ``count`` tiles: the least power of two
    that is enough. Both are at least 1.

    >>> collected_tile(100, 4), collected_tile(96, 4)
    (32, 32)
    """
    return 1 << (-(-extent // count) - 1).bit_length()


@irdl_op_definition
class AxisOp(IRDLOperation):
    """Declares a parallel axis with the number of elements that it cuts: ``tile.axis @q0 extent 128``.

    ``tile.axis @k1 extent 128 within @k0`` is the inner of two levels: it cuts each slice of ``@k0`` again, and its
    tile size divides that of ``@k0``. The element at coordinates (p0, p1) and offset o is p0·T0 + p1·T1 + o; elements
    past the end of the slice or of the extent do not exist, so a tile of the inner axis may be empty. In a value
    without ``@k0`` it cuts the whole dimension, as any axis. (C1) at least one element; (C2) the outer axis is
    declared, with the same extent, and within no other.
    """

    name = "tile.axis"
    sym_name = prop_def(SymbolNameConstraint())
    extent_attr = prop_def(IntegerAttr[I64], prop_name="extent")
    outer_attr = opt_prop_def(SymbolRefAttr, prop_name="outer")
    traits = traits_def(SymbolOpInterface())
    assembly_format = "$sym_name `extent` $extent (`within` $outer^)? attr-dict"

    def __init__(self, name: str, extent: int, outer: str | None = None):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "extent": int_attr(extent),
                "outer": None if outer is None else symbol_attr(outer),
            }
        )

    @property
    def axis_name(self) -> str:
        return self.sym_name.data

    @property
    def extent(self) -> int:
        return self.extent_attr.value.data

    @property
    def outer(self) -> str | None:
        """The axis that this one is within."""
        return self.outer_attr.root_reference.data if self.outer_attr is not None else None

    def verify_(self) -> None:
        label = f"{self.name} @{self.axis_name}"
        # (C1)
        if self.extent < 1:
            raise VerifyException(f"{label}: extent {self.extent}, but an axis cuts at least one element")
        # (C2)
        if self.outer is None:
            return
        found, has_table = find_symbol(self, self.outer)
        if not has_table:
            return
        if not isinstance(found, AxisOp) or found is self:
            raise VerifyException(f"{label}: within @{self.outer}, which is no other tile.axis")
        if found.outer is not None:
            raise VerifyException(f"{label}: within @{self.outer}, which is itself within @{found.outer}")
        if found.extent != self.extent:
            raise VerifyException(f"{label}: cuts {self.extent} elements, but @{self.outer} cuts {found.extent}")


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

    (C1) the operand has no state along the axis; (C2) the dimension exists, and no axis partitions it other than the
    one that this axis is within; (C3) the axis is declared with the size of the dimension.
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

    def verify_(self) -> None:
        super().verify_()
        # (C2)
        check_innermost(self, self.axis_name, self.operand.type)
        check_nesting(self, self.result.type)


@irdl_op_definition
class CombineOp(AlongOp):
    """Joins the slices of an axis: ``%x = tile.combine %v along 1 by @q0 : (!tile.view<…>) -> tensor<8x128xf32>``.

    (C1) the axis partitions the dimension, and no axis within it does; (C2) it is declared with the size of the
    dimension.
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

    def verify_(self) -> None:
        super().verify_()
        # (C1)
        check_innermost(self, self.axis_name, self.operand.type)


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

    (C1) the operand has no state along the axis, and along an axis within it none but replicate; (C2) the axis is
    declared.
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

    def verify_(self) -> None:
        super().verify_()
        # (C1)
        check_innermost(self, self.axis_name, self.operand.type)


@irdl_op_definition
class CollectOp(OverOp):
    """Turns an axis into a leading dimension, an intermediate in global memory: ``%w = tile.collect %p by @k0 into 4 :
    (!tile.view<8x1xf32, [#tile.partial<@k0, sum>]>) -> tensor<4x8x1xf32>``.

    ``count`` is the number of tiles and with it the extent of the new dimension; without it the extent is dynamic,
    known with the tile size only. Tuples are collected field by field. (C1) the operand has a state along the axis, and
    is whole along an axis within it; (C2) the axis is declared; (C3) with a count, the axis partitions no dimension,
    whose tiles may differ in extent, and :func:`collected_tile` cuts the axis into exactly so many tiles.
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
        # (C1)
        check_innermost(self, self.axis_name, self.operand.type)
        # (C3)
        found, _ = find_symbol(self, self.axis_name)
        if self.count is not None and isinstance(found, AxisOp):
            size = collected_tile(found.extent, self.count)
            tiles = -(-found.extent // size)
            if tiles != self.count:
                raise VerifyException(
                    f"{self.name}: no tile size cuts the {found.extent} elements of @{self.axis_name} into "
                    f"{self.count} tiles: {size}, the least power of two that is enough, gives {tiles}"
                )
