"""Tensors made from nothing: fills, ranges and triangles. None of them is ever stored whole."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import i32, i64

from equiforge.frontend.builder import Builder, Value, element_of, rank_of, shape_of
from equiforge.frontend.dtypes import Scalar, is_bool, is_float
from equiforge.frontend.table import lowers


def _fill(b: Builder, value: Scalar) -> Value:
    return b.full(value, b.out.shape, b.out.element_type)


@lowers("zeros.default", "zeros_like.default", "new_zeros.default", "zero.default")
def zeros(b: Builder, *_: Any) -> Value:
    return _fill(b, 0)


@lowers("ones.default", "ones_like.default", "new_ones.default")
def ones(b: Builder, *_: Any) -> Value:
    return _fill(b, 1)


@lowers("empty.memory_format", "empty_like.default", "new_empty.default", "empty_permuted.default")
def empty(b: Builder, *_: Any) -> Value:
    """Eager leaves the contents open; zeros are one choice."""
    return _fill(b, 0)


@lowers("full.default", "full_like.default", "fill.Scalar")
def full(b: Builder, _: Any, value: Scalar, *_rest: Any) -> Value:
    return _fill(b, value)


@lowers("new_full.default")
def new_full(b: Builder, _: Value, size: list[int], value: Scalar, *_rest: Any) -> Value:
    return _fill(b, value)


@lowers("fill.Tensor")
def fill_tensor(b: Builder, x: Value, value: Value) -> Value:
    return b.expand(b.down(value), b.out.shape)


@lowers("scalar_tensor.default")
def scalar_tensor(b: Builder, value: Scalar, *_: Any) -> Value:
    return _fill(b, value)


def _progression(b: Builder, start: Scalar, step: Scalar) -> Value:
    """start, start + step, … as the one-dimensional result."""
    to = b.out.element_type
    if is_bool(to):
        b.refuse("a range of booleans")
    index = b.iota(b.out.shape, 0, i64 if is_float(to) else to)
    index = b.cast(index, to)
    scaled = index if step == 1 else b.mul(index, step)
    return scaled if start == 0 else b.add(scaled, start)


@lowers("arange.default")
def arange(b: Builder, end: Scalar, *_: Any) -> Value:
    return _progression(b, 0, 1)


@lowers("arange.start")
def arange_start(b: Builder, start: Scalar, end: Scalar, *_: Any) -> Value:
    return _progression(b, start, 1)


@lowers("arange.start_step")
def arange_step(b: Builder, start: Scalar, end: Scalar, step: Scalar = 1, *_: Any) -> Value:
    return _progression(b, start, step)


@lowers("linspace.default")
def linspace(b: Builder, start: Scalar, end: Scalar, steps: int, *_: Any) -> Value:
    return _progression(b, start, (end - start) / (steps - 1) if steps > 1 else 0)


def positions(b: Builder, rank: int, rows: int, columns: int) -> tuple[Value, Value]:
    """Row and column numbers of the last two dimensions, as [.., rows, 1] and [.., 1, columns] of i32."""
    row = b.iota((1,) * (rank - 2) + (rows, 1), rank - 2, i32)
    column = b.iota((1,) * (rank - 2) + (1, columns), rank - 1, i32)
    return row, column


def _triangle(b: Builder, x: Value, diagonal: int, predicate: str) -> Value:
    rank, (rows, columns) = rank_of(x), shape_of(x)[-2:]
    row, column = positions(b, rank, rows, columns)
    keep = b.compare(predicate, b.add(row, diagonal) if diagonal else row, column)
    zero = b.constant(0, element_of(x), rank)
    return b.expand(b.select(keep, x, zero), shape_of(x))


@lowers("tril.default")
def tril(b: Builder, x: Value, diagonal: int = 0) -> Value:
    return _triangle(b, x, diagonal, "ge")


@lowers("triu.default")
def triu(b: Builder, x: Value, diagonal: int = 0) -> Value:
    return _triangle(b, x, diagonal, "le")


@lowers("eye.default", "eye.m")
def eye(b: Builder, *_: Any) -> Value:
    row, column = positions(b, 2, *b.out.shape)
    return b.expand(b.down(b.compare("eq", row, column)), b.out.shape)


@lowers("one_hot.default")
def one_hot(b: Builder, x: Value, classes: int = -1) -> Value:
    if classes < 0:
        b.refuse("the number of classes is left to the data", "pass num_classes")
    rank = len(b.out.shape)
    classes_along_last = b.iota((1,) * (rank - 1) + (classes,), rank - 1, element_of(x))
    return b.down(b.compare("eq", b.reshape(x, (*shape_of(x), 1)), classes_along_last))
