"""Reads at computed places: everything becomes ``forge.gather`` along one dimension."""

from __future__ import annotations

import math
from typing import Any

from xdsl.dialects.builtin import IntegerType, i64

from equiforge.dialects import forge
from equiforge.frontend.builder import Builder, Value, element_of, normal_dim, rank_of, shape_of
from equiforge.frontend.lower.structure import require_integer
from equiforge.frontend.table import lowers


def take_rows(b: Builder, table: Value, index: Value, dim: int) -> Value:
    """``table`` with dimension ``dim`` replaced by the dimensions of ``index``.

    The gather is along the last of these dimensions, along the others the table broadcasts: no dimension is merged.
    """
    shape, places = shape_of(table), shape_of(index)
    if not places:
        row = b.emit(forge.GatherOp(table, b.reshape(index, [1] * len(shape)), dim))
        return b.reshape(row, (*shape[:dim], *shape[dim + 1 :]))
    spread = b.reshape(table, (*shape[:dim], *[1] * (len(places) - 1), *shape[dim:]))
    chosen = b.reshape(index, (*[1] * dim, *places, *[1] * (len(shape) - dim - 1)))
    return b.emit(forge.GatherOp(spread, chosen, dim + len(places) - 1))


@lowers("embedding.default")
def embedding(b: Builder, weight: Value, index: Value, *_: Any) -> Value:
    return take_rows(b, weight, index, 0)


@lowers("index_select.default")
def index_select(b: Builder, x: Value, dim: int, index: Value) -> Value:
    if rank_of(x) == 0:
        return x
    return b.reshape(take_rows(b, x, index, normal_dim(dim, rank_of(x))), b.out.shape)


@lowers("gather.default", "take_along_dim.default")
def gather(b: Builder, x: Value, dim: Any, index: Any, sparse_grad: Any = False) -> Value:
    if b.target.startswith("aten.take_along_dim"):
        dim, index = index, dim
    if dim is None:
        b.refuse("take_along_dim without a dimension", "flatten the tensor and pass dim=0")
    require_integer(b, index)
    if rank_of(x) == 0:
        return b.reshape(x, b.out.shape)
    dim = normal_dim(dim, rank_of(x))
    if b.target.startswith("aten.gather"):
        # The index may be smaller than the table in the other dimensions: what lies outside is not read.
        for other, size in enumerate(shape_of(index)):
            if other != dim:
                x = b.slice(x, other, 0, size)
    return b.emit(forge.GatherOp(x, index, dim))


def _wrapped(b: Builder, index: Value, size: int) -> Value:
    index = b.cast(index, i64)
    return b.select(b.compare("lt", index, 0), b.add(index, size), index)


@lowers("index.Tensor", "_unsafe_index.Tensor")
def index(b: Builder, x: Value, indices: list[Value | None]) -> Value:
    """``x[i, :, j]``: several indices are merged into one place number in the merged dimension."""
    used = [dim for dim, item in enumerate(indices) if item is not None]
    items = [item for item in indices if item is not None]
    for item in items:
        require_integer(b, item)
        assert isinstance(element_of(item), IntegerType)
    if len(used) == 1:
        return b.reshape(take_rows(b, x, items[0], used[0]), b.out.shape)
    shape = shape_of(x)
    adjacent = used == list(range(used[0], used[-1] + 1))
    front = used[0] if adjacent else 0
    rest = [dim for dim in range(rank_of(x)) if dim not in used]
    order = [*rest[:front], *used, *rest[front:]]
    merged = math.prod(shape[dim] for dim in used)
    flat = b.reshape(
        b.transpose(x, order), [*(shape[d] for d in rest[:front]), merged, *(shape[d] for d in rest[front:])]
    )
    place: Value | None = None
    for dim, item in zip(used, items, strict=True):
        step = _wrapped(b, item, shape[dim])
        place = step if place is None else b.add(b.mul(place, shape[dim]), _wrapped_to(b, step, place))
    assert place is not None
    return b.reshape(take_rows(b, flat, place, front), b.out.shape)


def _wrapped_to(b: Builder, step: Value, place: Value) -> Value:
    """Equal ranks for the sum of two index tensors."""
    return b.align(step, max(rank_of(step), rank_of(place)))
