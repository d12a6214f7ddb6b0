"""Matrix products. Batch dimensions broadcast by size 1 and are never repeated in memory."""

from __future__ import annotations

import math

from equiforge.frontend.builder import Builder, Value, element_of, rank_of, shape_of
from equiforge.frontend.dtypes import Scalar, compute_type, is_half
from equiforge.frontend.grouping import grouped_product, merged_shape
from equiforge.frontend.lower.structure import swapped
from equiforge.frontend.table import lowers


def product(b: Builder, x: Value, y: Value, wide: bool = False) -> Value:
    """``x @ y`` by torch's rules for vectors and batches; ``wide`` keeps the f32 accumulator of halves."""
    left = b.reshape(x, (1, *shape_of(x))) if rank_of(x) == 1 else x
    right = b.reshape(y, (*shape_of(y), 1)) if rank_of(y) == 1 else y
    kind = compute_type(element_of(x)) if wide and is_half(element_of(x)) else element_of(x)
    if shape_of(left)[-1] == 0 or math.prod(shape_of(left)) == 0 or math.prod(shape_of(right)) == 0:
        result = b.full(0, (*b.batch_of(left, right), shape_of(left)[-2], shape_of(right)[-1]), kind)
    else:
        left, right, split = grouped_product(b, left, right) or (left, right, None)
        result = b.matmul(left, right, kind if kind != element_of(x) else None)
        if split is not None:
            result = b.reshape(result, merged_shape(shape_of(result), split))
    shape = list(shape_of(result))
    if rank_of(y) == 1:
        shape.pop()
    if rank_of(x) == 1:
        shape.pop(-1 if rank_of(y) == 1 else -2)
    return b.reshape(result, shape)


@lowers("matmul.default", "mm.default", "bmm.default", "mv.default", "dot.default", "vdot.default", "inner.default",
        "linalg_matmul.default")  # fmt: skip
def matmul(b: Builder, x: Value, y: Value) -> Value:
    if b.target.startswith("aten.inner") and rank_of(y) > 1:
        y = b.transpose(y, swapped(rank_of(y), -1, -2))
    return product(b, x, y)


def plus_product(b: Builder, x: Value, left: Value, right: Value, beta: Scalar, alpha: Scalar) -> Value:
    """``beta·x + alpha·left @ right``, rounded once; beta = 0 means that ``x`` is not looked at (NaN in it neither)."""
    result = product(b, left, right, wide=True)
    if alpha != 1:
        result = b.mul(result, alpha)
    if beta != 0:
        term = b.cast(x, element_of(result))
        result = b.add(b.mul(term, beta) if beta != 1 else term, result)
    return b.expand(b.down(result), b.out.shape)


@lowers("addmm.default", "baddbmm.default", "addmv.default")
def addmm(b: Builder, x: Value, left: Value, right: Value, beta: Scalar = 1, alpha: Scalar = 1) -> Value:
    return plus_product(b, x, left, right, beta, alpha)


@lowers("addbmm.default")
def addbmm(b: Builder, x: Value, left: Value, right: Value, beta: Scalar = 1, alpha: Scalar = 1) -> Value:
    """The batch is summed: it is one more contracted dimension."""
    batch, rows, inner = shape_of(left)
    flat_left = b.reshape(b.transpose(left, [1, 0, 2]), (rows, batch * inner))
    flat_right = b.reshape(right, (batch * inner, shape_of(right)[2]))
    return plus_product(b, x, flat_left, flat_right, beta, alpha)


@lowers("addr.default")
def addr(b: Builder, x: Value, left: Value, right: Value, beta: Scalar = 1, alpha: Scalar = 1) -> Value:
    return plus_product(
        b, x, b.reshape(left, (*shape_of(left), 1)), b.reshape(right, (1, *shape_of(right))), beta, alpha
    )


@lowers("linear.default")
def linear(b: Builder, x: Value, weight: Value, bias: Value | None = None) -> Value:
    """``x @ weight.T + bias`` with the weight stored (out, in)."""
    right = b.transpose(weight, swapped(rank_of(weight), -1, -2)) if rank_of(weight) == 2 else weight
    if bias is None:
        return product(b, x, right)
    result = product(b, x, right, wide=True)
    return b.down(b.add(result, b.cast(bias, element_of(result))))
