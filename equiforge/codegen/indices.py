"""Index arithmetic in a kernel: positions along a dimension, and what a gather reads at."""

from __future__ import annotations

from math import inf

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, SSAValue

from equiforge.codegen.pointwise import is_float
from equiforge.codegen.scopes import Scope
from equiforge.codegen.sources import Index
from equiforge.codegen.tiles import integer_range
from equiforge.dialects import forge, kernel, tile
from equiforge.dialects.tile_types import axes_of, element_type_of, make_type, shape_of


def fill(value: float, type_: Attribute) -> kernel.FillOp:
    """A tile of one number; infinities of integers are their extreme values."""
    element = str(element_type_of(type_))
    if not is_float(element) and value in (inf, -inf):
        value = integer_range(element)[value > 0]
    return kernel.FillOp(value, type_)


def positions(scope: Scope, source: Index, type_: Attribute, name: str | None) -> SSAValue:
    """The tile of an index vector, whose dimension is not None."""
    assert source.dim is not None, "a constant is filled in"
    value = scope.emit(kernel.IotaOp(source.dim, type_), name)
    if source.each != 1:
        value = _with_number(scope, forge.DivOp, value, source.each)
    if source.period:
        value = _with_number(scope, forge.RemOp, value, source.period)
    if source.step != 1:
        value = _with_number(scope, forge.MulOp, value, source.step)
    if source.offset:
        op = forge.AddOp if source.offset > 0 else forge.SubOp
        value = _with_number(scope, op, value, abs(source.offset))
    if source.low is not None:
        value = _with_number(scope, forge.MaxOp, value, source.low)
    if source.high is not None:
        value = _with_number(scope, forge.MinOp, value, source.high)
    return value


def wrapped(scope: Scope, index: SSAValue, extent: int) -> SSAValue:
    """Positions that count from the end where they are negative, as positions from the start."""
    if element_type_of(index.type) in (IntegerType(8), IntegerType(16)):
        # The extent may be no number of so few bits.
        index = scope.emit(forge.CastOp(index, IntegerType(32)))
    zero, size = _number(scope, index, 0), _number(scope, index, extent)
    negative = scope.emit(forge.CompareOp("lt", index, zero))
    return scope.emit(forge.SelectOp(negative, scope.emit(forge.AddOp(index, size)), index))


def _with_number(scope: Scope, op: type[forge.BinaryOp], value: SSAValue, number: int) -> SSAValue:
    return scope.emit(op(value, _number(scope, value, number)))


def _number(scope: Scope, value: SSAValue, number: int) -> SSAValue:
    """A constant that a tile can be combined with."""
    scalar = make_type((1,) * len(shape_of(value.type)), element_type_of(value.type))
    constant = scope.emit(fill(number, scalar))
    for axis in axes_of(value.type):
        constant = scope.emit(tile.ReplicateOp(constant, axis))
    return constant
