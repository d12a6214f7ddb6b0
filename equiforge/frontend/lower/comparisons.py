"""Comparisons, logic and choices. Numbers are rounded to the tensor's type before a comparison, as eager does."""

from __future__ import annotations

import math
from collections.abc import Callable

from xdsl.dialects.builtin import IntegerType, i1
from xdsl.ir import Operation, SSAValue

from equiforge.dialects import forge
from equiforge.frontend.builder import Builder, Operand, Value, element_of, rank_of, shape_of
from equiforge.frontend.dtypes import is_bool, is_float, largest
from equiforge.frontend.lower.arithmetic import operand, promoted
from equiforge.frontend.table import lowers


def _comparison(predicate: str, *names: str) -> None:
    @lowers(*(f"{name}.{kind}" for name in names for kind in ("Tensor", "Scalar")))
    def _(b: Builder, x: Operand, y: Operand) -> Value:
        to = promoted(x, y)
        rank = len(b.out.shape)
        return b.expand(b.compare(predicate, operand(b, x, to, rank), operand(b, y, to, rank)), b.out.shape)


_comparison("eq", "eq")
_comparison("ne", "ne", "not_equal")
_comparison("lt", "lt", "less")
_comparison("le", "le", "less_equal")
_comparison("gt", "gt", "greater")
_comparison("ge", "ge", "greater_equal")


def _logical(cls: Callable[[Value, Value], Operation], name: str) -> None:
    @lowers(f"{name}.default")
    def _(b: Builder, x: Value, y: Value) -> Value:
        return b.binary(cls, b.cast(x, i1), b.cast(y, i1))


_logical(forge.AndOp, "logical_and")
_logical(forge.OrOp, "logical_or")
_logical(forge.XorOp, "logical_xor")


@lowers("logical_not.default")
def logical_not(b: Builder, x: Value) -> Value:
    return b.logical_not(b.cast(x, i1))


@lowers("bitwise_not.default")
def bitwise_not(b: Builder, x: Value) -> Value:
    if is_bool(element_of(x)):
        return b.logical_not(x)
    return b.sub(-1, x)  # two's complement


@lowers("isnan.default")
def isnan(b: Builder, x: Value) -> Value:
    if isinstance(element_of(x), IntegerType):
        return b.full(False, shape_of(x), i1)
    return b.compare("ne", x, x)


@lowers("isinf.default")
def isinf(b: Builder, x: Value) -> Value:
    if isinstance(element_of(x), IntegerType):
        return b.full(False, shape_of(x), i1)
    return b.compare("eq", b.abs(x), math.inf)


@lowers("isfinite.default")
def isfinite(b: Builder, x: Value) -> Value:
    if isinstance(element_of(x), IntegerType):
        return b.full(True, shape_of(x), i1)
    return b.compare("lt", b.abs(x), math.inf)


@lowers("isneginf.default")
def isneginf(b: Builder, x: Value) -> Value:
    return b.compare("eq", x, -math.inf)


@lowers("isposinf.default")
def isposinf(b: Builder, x: Value) -> Value:
    return b.compare("eq", x, math.inf)


def choose(b: Builder, condition: Value, x: Operand, y: Operand) -> Value:
    """``x if condition else y`` in the result's type."""
    to, rank = b.out.element_type, len(b.out.shape)
    return b.expand(b.select(b.cast(condition, i1), operand(b, x, to, rank), operand(b, y, to, rank)), b.out.shape)


@lowers("where.self", "where.Scalar", "where.ScalarOther", "where.ScalarSelf")
def where(b: Builder, condition: Value, x: Operand, y: Operand) -> Value:
    return choose(b, condition, x, y)


@lowers("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(b: Builder, x: Value, mask: Value, value: Operand) -> Value:
    if isinstance(value, SSAValue) and rank_of(value) != 0:
        b.refuse("the fill value has dimensions", "use torch.where")
    return choose(b, mask, value, x)


@lowers("nan_to_num.default")
def nan_to_num(
    b: Builder, x: Value, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Value:
    kind = element_of(x)
    if not is_float(kind):
        return x
    top = largest(kind)
    result = b.select(b.compare("ne", x, x), 0.0 if nan is None else nan, x)
    result = b.select(b.compare("eq", x, math.inf), top if posinf is None else posinf, result)
    return b.select(b.compare("eq", x, -math.inf), -top if neginf is None else neginf, result)
