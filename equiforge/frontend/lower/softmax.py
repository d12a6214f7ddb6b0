"""Softmax, log-softmax and logsumexp: maximum, exponentials of the differences, their sum.

A row that is all -inf gives NaN, as eager's softmax does; only logsumexp guards against it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from xdsl.ir import SSAValue

from equiforge.frontend.builder import Builder, Value, normal_dim, rank_of, shape_of
from equiforge.frontend.dtypes import compute_type
from equiforge.frontend.lower.reductions import dims_of, extent, finish, reduced
from equiforge.frontend.table import lowers


def softmax_of(b: Builder, x: Value, dim: int) -> Value:
    """In the type of ``x``; ``dim`` is a dimension of positive size."""
    shifted = b.exp(b.sub(x, b.reduce("max", x, [dim])))
    return b.div(shifted, b.reduce("sum", shifted, [dim]))


def log_softmax_of(b: Builder, x: Value, dim: int) -> Value:
    """x - max - log of the sum, which stays finite where a probability underflows."""
    shifted = b.sub(x, b.reduce("max", x, [dim]))
    return b.sub(shifted, b.log(b.reduce("sum", b.exp(shifted), [dim])))


def _along(b: Builder, x: Value, dim: int, log: bool) -> Value:
    wide = b.cast(x, compute_type(b.out.element_type))
    shape = shape_of(wide)
    if math.prod(shape) == 0:
        return b.down(wide)
    row = b.reshape(wide, shape or (1,))
    place = normal_dim(dim, rank_of(x))
    result = log_softmax_of(b, row, place) if log else softmax_of(b, row, place)
    return b.down(b.reshape(result, shape))


@lowers("softmax.int", "_softmax.default", "special_softmax.int")
def softmax(b: Builder, x: Value, dim: int, dtype: Any = None) -> Value:
    return _along(b, x, dim, log=False)


@lowers("log_softmax.int", "_log_softmax.default", "special_log_softmax.int")
def log_softmax(b: Builder, x: Value, dim: int, dtype: Any = None) -> Value:
    return _along(b, x, dim, log=True)


@lowers("logsumexp.default", "special_logsumexp.default")
def logsumexp(b: Builder, x: Value, dims: int | Sequence[int], keepdim: bool = False) -> Value:
    """A row whose maximum is infinite subtracts 0 instead, so that -inf and +inf come out as themselves."""
    places = dims_of(x, dims)
    wide = b.cast(x, compute_type(b.out.element_type))
    if extent(x, places) == 0:
        return b.down(finish(b, reduced(b, "max", wide, places, -math.inf), places, keepdim))
    top = reduced(b, "max", wide, places, -math.inf)
    shift = b.select(b.compare("eq", b.abs(top), math.inf), 0.0, top)
    total = reduced(b, "sum", b.exp(b.sub(wide, shift)), places, 0)
    return b.down(finish(b, b.add(b.log(total), shift), places, keepdim))


@lowers("logaddexp.default")
def logaddexp(b: Builder, x: SSAValue, y: SSAValue) -> Value:
    to = compute_type(b.out.element_type)
    left, right = b.cast(x, to), b.cast(y, to)
    top, low = b.maximum(left, right), b.minimum(left, right)
    tail = b.log(b.add(b.exp(b.sub(low, top)), 1.0))
    equal_infinities = b.compare("eq", b.abs(top), math.inf)
    return b.down(b.select(equal_infinities, top, b.add(top, tail)))
