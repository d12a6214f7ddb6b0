"""Sums, means, extrema, variances. Halves are accumulated in f32; empty reductions give their neutral element."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import i1, i32, i64

from equiforge.dialects import forge
from equiforge.frontend.builder import Builder, Value, element_of, rank_of, shape_of
from equiforge.frontend.dtypes import ElementType, Scalar, compute_type, is_bool, is_float
from equiforge.frontend.table import lowers

Dims = int | Sequence[int] | None


def dims_of(x: Value, dims: Dims) -> list[int]:
    """The dimensions to reduce; none given means all."""
    rank = rank_of(x)
    if dims is None or (not isinstance(dims, int) and len(dims) == 0):
        return list(range(rank))
    given = [dims] if isinstance(dims, int) else dims
    return sorted({dim % rank for dim in given}) if rank else []


def finish(b: Builder, x: Value, dims: Sequence[int], keepdim: bool) -> Value:
    """Drop the reduced dimensions unless they are kept."""
    return x if keepdim else b.squeeze_dims(x, dims)


def extent(x: Value, dims: Sequence[int]) -> int:
    """How many elements make one result."""
    return math.prod(shape_of(x)[dim] for dim in dims)


def reduced(b: Builder, reducer: str, x: Value, dims: Sequence[int], neutral: Scalar) -> Value:
    """Reduce with the dimensions kept; over no elements the neutral number, broadcast."""
    if extent(x, dims) == 0 or math.prod(shape_of(x)) == 0:
        kept = [1 if dim in dims else size for dim, size in enumerate(shape_of(x))]
        return b.full(neutral, kept, element_of(x))
    return b.reduce(reducer, x, dims)


def _wide(b: Builder, x: Value, dims: Sequence[int], to: ElementType) -> Value:
    """One reduction of a half rounds once by itself; several in a row need the wide type between them."""
    return b.cast(x, compute_type(to) if len(dims) > 1 else to)


def _sum(b: Builder, x: Value, dims: Dims, keepdim: bool, reducer: str, neutral: Scalar) -> Value:
    places = dims_of(x, dims)
    wide = _wide(b, x, places, b.out.element_type)
    return b.down(finish(b, reduced(b, reducer, wide, places, neutral), places, keepdim))


@lowers("sum.dim_IntList")
def sum_dims(b: Builder, x: Value, dims: Dims, keepdim: bool = False, dtype: Any = None) -> Value:
    return _sum(b, x, dims, keepdim, "sum", 0)


@lowers("sum.default")
def sum_all(b: Builder, x: Value, dtype: Any = None) -> Value:
    return _sum(b, x, None, False, "sum", 0)


@lowers("prod.dim_int")
def prod_dim(b: Builder, x: Value, dim: int, keepdim: bool = False, dtype: Any = None) -> Value:
    return _sum(b, x, dim, keepdim, "prod", 1)


@lowers("prod.default")
def prod_all(b: Builder, x: Value, dtype: Any = None) -> Value:
    return _sum(b, x, None, False, "prod", 1)


def mean_of(b: Builder, x: Value, dims: Sequence[int]) -> Value:
    """The mean with the dimensions kept, in the type of ``x``."""
    return b.div(reduced(b, "sum", x, dims, 0), float(extent(x, dims)))


@lowers("mean.dim")
def mean_dims(b: Builder, x: Value, dims: Dims, keepdim: bool = False, dtype: Any = None) -> Value:
    places = dims_of(x, dims)
    wide = b.cast(x, compute_type(b.out.element_type))
    return b.down(finish(b, mean_of(b, wide, places), places, keepdim))


@lowers("mean.default")
def mean_all(b: Builder, x: Value, dtype: Any = None) -> Value:
    return mean_dims(b, x, None)


def _extremum(b: Builder, x: Value, dims: Dims, keepdim: bool, reducer: str) -> Value:
    places = dims_of(x, dims)
    if extent(x, places) == 0:
        b.refuse(f"the {reducer} over a dimension of size 0 has no value", "give the input at least one element")
    if is_bool(element_of(x)):
        reducer = "any" if reducer == "max" else "all"
    return finish(b, reduced(b, reducer, x, places, 0), places, keepdim)


@lowers("amax.default")
def amax(b: Builder, x: Value, dims: Dims = None, keepdim: bool = False) -> Value:
    return _extremum(b, x, dims, keepdim, "max")


@lowers("amin.default")
def amin(b: Builder, x: Value, dims: Dims = None, keepdim: bool = False) -> Value:
    return _extremum(b, x, dims, keepdim, "min")


@lowers("max.default")
def max_all(b: Builder, x: Value) -> Value:
    return _extremum(b, x, None, False, "max")


@lowers("min.default")
def min_all(b: Builder, x: Value) -> Value:
    return _extremum(b, x, None, False, "min")


@lowers("max.dim")
def max_dim(b: Builder, x: Value, dim: int, keepdim: bool = False) -> list[Value]:
    return [_extremum(b, x, dim, keepdim, "max"), _place(b, x, dim, keepdim, "max")]


@lowers("min.dim")
def min_dim(b: Builder, x: Value, dim: int, keepdim: bool = False) -> list[Value]:
    return [_extremum(b, x, dim, keepdim, "min"), _place(b, x, dim, keepdim, "min")]


_BEYOND = 2**31 - 1
"""No index of a dimension; it is the neutral element of the minimum of i32."""


def _place(b: Builder, x: Value, dim: int, keepdim: bool, reducer: str) -> Value:
    """The first index at which the extremum stands, or the first NaN, as i64: the least of those that are equal to
    it."""
    if not rank_of(x):
        return b.full(0, (), i64)
    dim %= rank_of(x)
    if extent(x, [dim]) == 0:
        b.refuse("the index of an extremum over a dimension of size 0 has no value", "give the input an element")
    x = b.cast(x, i32) if is_bool(element_of(x)) else x
    hit = b.compare("eq", x, b.reduce(reducer, x, [dim]))
    if is_float(element_of(x)):
        hit = b.binary(forge.OrOp, hit, b.compare("ne", x, x))
    index = b.iota([size if n == dim else 1 for n, size in enumerate(shape_of(x))], dim, i32)
    place = b.reduce("min", b.select(hit, index, b.constant(_BEYOND, i32, rank_of(x))), [dim])
    return b.cast(finish(b, place, [dim], keepdim), i64)


@lowers("argmax.default", "argmin.default")
def argmax(b: Builder, x: Value, dim: int | None = None, keepdim: bool = False) -> Value:
    """Without a dimension, the index in row-major order."""
    reducer = "max" if b.target.startswith("aten.argmax") else "min"
    if dim is None:
        flat = b.reshape(x, (math.prod(shape_of(x)),))
        return b.reshape(_place(b, flat, 0, True, reducer), b.out.shape)
    return _place(b, x, dim, keepdim, reducer)


@lowers("aminmax.default")
def aminmax(b: Builder, x: Value, dim: int | None = None, keepdim: bool = False) -> list[Value]:
    return [_extremum(b, x, dim, keepdim, "min"), _extremum(b, x, dim, keepdim, "max")]


def variance_of(b: Builder, x: Value, dims: Sequence[int], correction: float) -> tuple[Value, Value, Value]:
    """Variance, mean (dimensions kept) and ``x - mean``, in two passes: no cancellation for a large mean."""
    mean = mean_of(b, x, dims)
    centred = b.sub(x, mean)
    total = reduced(b, "sum", b.mul(centred, centred), dims, 0)
    # max(0, n - correction) = 0 gives 0/0 = NaN or inf, as in torch.
    return b.div(total, float(max(0.0, extent(x, dims) - correction))), mean, centred


def _spread(b: Builder, x: Value, dims: Dims, correction: float, keepdim: bool, root: bool) -> list[Value]:
    places = dims_of(x, dims)
    variance, mean, _centred = variance_of(b, b.cast(x, compute_type(b.out.element_type)), places, correction)
    spread = b.sqrt(variance) if root else variance
    return [b.down(finish(b, spread, places, keepdim)), b.down(finish(b, mean, places, keepdim))]


def _correction(value: Scalar | None) -> float:
    return 1.0 if value is None else float(value)


@lowers("var.correction", "std.correction")
def var(b: Builder, x: Value, dims: Dims = None, correction: Scalar | None = None, keepdim: bool = False) -> Value:
    return _spread(b, x, dims, _correction(correction), keepdim, b.target.startswith("aten.std"))[0]


@lowers("var.dim", "std.dim")
def var_dim(b: Builder, x: Value, dims: Dims, unbiased: bool = True, keepdim: bool = False) -> Value:
    return _spread(b, x, dims, float(unbiased), keepdim, b.target.startswith("aten.std"))[0]


@lowers("var.default", "std.default")
def var_all(b: Builder, x: Value, unbiased: bool = True) -> Value:
    return var_dim(b, x, None, unbiased)


@lowers("var_mean.correction", "std_mean.correction")
def var_mean(
    b: Builder, x: Value, dims: Dims = None, correction: Scalar | None = None, keepdim: bool = False
) -> list[Value]:
    return _spread(b, x, dims, _correction(correction), keepdim, b.target.startswith("aten.std"))


@lowers("var_mean.dim", "std_mean.dim")
def var_mean_dim(b: Builder, x: Value, dims: Dims, unbiased: bool = True, keepdim: bool = False) -> list[Value]:
    return _spread(b, x, dims, float(unbiased), keepdim, b.target.startswith("aten.std"))


def _truth(b: Builder, x: Value, dims: Dims, keepdim: bool) -> Value:
    every = b.target.startswith("aten.all")
    places = dims_of(x, dims)
    result = reduced(b, "all" if every else "any", b.cast(x, i1), places, every)
    return finish(b, result, places, keepdim)


@lowers("any.dim", "any.dims", "all.dim", "all.dims")
def truth_dims(b: Builder, x: Value, dims: Dims = None, keepdim: bool = False) -> Value:
    return _truth(b, x, dims, keepdim)


@lowers("any.default", "all.default")
def truth_all(b: Builder, x: Value) -> Value:
    return _truth(b, x, None, False)


@lowers("count_nonzero.default", "count_nonzero.dim_IntList")
def count_nonzero(b: Builder, x: Value, dims: Dims = None) -> Value:
    return _sum(b, b.cast(x, i1), dims, False, "sum", 0)


def euclidean_norm(b: Builder, x: Value, dims: Sequence[int]) -> Value:
    """The root of the sum of squares with the dimensions kept, in the type of ``x``."""
    return b.sqrt(reduced(b, "sum", b.mul(x, x), dims, 0))


@lowers("linalg_vector_norm.default")
def vector_norm(
    b: Builder, x: Value, order: Scalar = 2, dims: Dims = None, keepdim: bool = False, dtype: Any = None
) -> Value:
    places = dims_of(x, dims)
    wide = b.cast(x, compute_type(b.out.element_type))
    if order == 2:
        norm = euclidean_norm(b, wide, places)
    elif order == 1:
        norm = reduced(b, "sum", b.abs(wide), places, 0)
    elif order == math.inf and extent(x, places):
        norm = reduced(b, "max", b.abs(wide), places, 0)
    else:
        b.refuse(f"the norm of order {order}", "orders 1, 2 and inf are supported")
    return b.down(finish(b, norm, places, keepdim))


@lowers("norm.ScalarOpt_dim")
def norm_dims(b: Builder, x: Value, order: Scalar | None, dims: Dims, keepdim: bool = False) -> Value:
    return vector_norm(b, x, 2 if order is None else order, dims, keepdim)


@lowers("norm.Scalar")
def norm_all(b: Builder, x: Value, order: Scalar = 2) -> Value:
    return vector_norm(b, x, order)


@lowers("frobenius_norm.dim")
def frobenius_norm(b: Builder, x: Value, dims: Dims, keepdim: bool = False) -> Value:
    return vector_norm(b, x, 2, dims, keepdim)
