"""Normalisations. Statistics, scale and shift of halves are computed in f32 and rounded once, as eager does."""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from typing import Any

from equiforge.dialects import forge
from equiforge.frontend.builder import Builder, Value, element_of, normal_dim, rank_of, shape_of
from equiforge.frontend.dtypes import EPSILON, compute_type
from equiforge.frontend.lower.einsum import contract
from equiforge.frontend.lower.reductions import euclidean_norm, mean_of, reduced, variance_of
from equiforge.frontend.table import lowers


def trailing_dims(x: Value, normalized_shape: Sequence[int]) -> list[int]:
    """The dimensions that a norm goes over."""
    return list(range(rank_of(x) - len(normalized_shape), rank_of(x)))


@lowers("rms_norm.default")
def rms_norm(
    b: Builder, x: Value, normalized_shape: Sequence[int], weight: Value | None = None, eps: float | None = None
) -> Value:
    """``x * rsqrt(mean(x²) + eps) * weight``; the default eps is that of the computing type."""
    wide = b.up(x)
    kind = element_of(wide)
    mean = mean_of(b, b.mul(wide, wide), trailing_dims(x, normalized_shape))
    normal = b.mul(wide, b.unary(forge.RsqrtOp, b.add(mean, EPSILON[kind] if eps is None else eps)))
    return b.down(normal if weight is None else b.mul(normal, b.cast(weight, kind)))


def _affine(b: Builder, normal: Value, weight: Value | None, bias: Value | None) -> Value:
    if weight is not None:
        normal = b.mul(normal, b.cast(weight, element_of(normal)))
    return normal if bias is None else b.add(normal, b.cast(bias, element_of(normal)))


def _centred(b: Builder, x: Value, dims: Sequence[int], eps: float) -> tuple[Value, Value, Value]:
    """(x - mean) * rstd, mean and rstd; the variance is the mean of squared deviations, in a second pass."""
    variance, mean, centred = variance_of(b, x, dims, 0.0)
    rstd = b.unary(forge.RsqrtOp, b.add(variance, eps))
    return b.mul(centred, rstd), mean, rstd


@lowers("layer_norm.default")
def layer_norm(
    b: Builder,
    x: Value,
    normalized_shape: Sequence[int],
    weight: Value | None = None,
    bias: Value | None = None,
    eps: float = 1e-5,
    *_: Any,
) -> Value:
    normal, _mean, _rstd = _centred(b, b.up(x), trailing_dims(x, normalized_shape), eps)
    return b.down(_affine(b, normal, weight, bias))


@lowers("native_layer_norm.default")
def native_layer_norm(
    b: Builder, x: Value, normalized_shape: Sequence[int], weight: Value | None, bias: Value | None, eps: float
) -> list[Value]:
    normal, mean, rstd = _centred(b, b.up(x), trailing_dims(x, normalized_shape), eps)
    types = [result.element_type for result in b.results if result is not None]
    values = (_affine(b, normal, weight, bias), mean, rstd)
    return [b.cast(value, kind) for value, kind in zip(values, types, strict=True)]


@lowers("group_norm.default")
def group_norm(
    b: Builder,
    x: Value,
    groups: int,
    weight: Value | None = None,
    bias: Value | None = None,
    eps: float = 1e-5,
    *_: Any,
) -> Value:
    """Groups of channels are split off as a dimension; weight and bias belong to channels."""
    shape = shape_of(x)
    batch, channels = shape[:2]
    if math.prod(shape) == 0:
        return x
    grouped = b.reshape(b.up(x), (batch, groups, channels // groups * math.prod(shape[2:])))
    normal, _mean, _rstd = _centred(b, grouped, [2], eps)
    per_channel = (1, channels) + (1,) * (len(shape) - 2)
    return b.down(
        _affine(b, b.reshape(normal, shape), *(p if p is None else b.reshape(p, per_channel) for p in (weight, bias)))
    )


def _unit(b: Builder, x: Value, dim: int, eps: float) -> Value:
    """x/max(|x|, eps) along ``dim``, in the type of ``x``."""
    norm = b.cast(euclidean_norm(b, b.up(x), [dim]), element_of(x))
    return b.div(x, b.maximum(norm, eps))


@lowers("cosine_similarity.default")
def cosine_similarity(b: Builder, x: Value, y: Value, dim: int = 1, eps: float = 1e-8) -> Value:
    """Σ x/max(|x|, eps) · y/max(|y|, eps) along ``dim`` of the shape that both broadcast to.

    Norms, quotients and ``eps`` are rounded to the result's type, as eager does: f16 holds no eps of 1e-8, and a
    vector of zeros gives NaN. If each operand has a dimension that the other has not, the sum is a matrix product.
    """
    rank = max(rank_of(x), rank_of(y), 1)
    dim = normal_dim(dim, rank)
    vectors = [b.align(b.down(value), rank) for value in (x, y)]
    length = next((size for value in vectors if (size := shape_of(value)[dim]) != 1), 1)
    # A norm is that of the broadcast vector; the other dimensions need no repetition.
    left, right = (b.expand(v, [length if n == dim else size for n, size in enumerate(shape_of(v))]) for v in vectors)
    letters = string.ascii_letters[:rank]
    named = ["".join(c for c, size in zip(letters, shape_of(v), strict=True) if size != 1) for v in (left, right)]
    if 0 in (length, *b.out.shape) or set(named[0]) <= set(named[1]) or set(named[1]) <= set(named[0]):
        product = b.mul(_unit(b, left, dim, eps), _unit(b, right, dim, eps))
        return b.reshape(reduced(b, "sum", product, [dim], 0), b.out.shape)
    named = ["".join(c for c in letters if c == letters[dim] or c in names) for names in named]
    units: list[Value] = []
    for value, names in zip((left, right), named, strict=True):
        slim = b.squeeze_dims(value, [n for n, c in enumerate(letters) if c not in names])
        units.append(_unit(b, slim, names.index(letters[dim]), eps))
    kept = "".join(c for c in letters if c != letters[dim] and (c in named[0] or c in named[1]))
    value, labels = contract(b, units[0], named[0], units[1], named[1], kept)
    return b.reshape(b.transpose(value, [labels.index(c) for c in kept]), b.out.shape)


@lowers("batch_norm.default")
def batch_norm(
    b: Builder,
    x: Value,
    weight: Value | None,
    bias: Value | None,
    mean: Value | None,
    variance: Value | None,
    training: bool,
    momentum: float,
    eps: float,
    *_: Any,
) -> Value:
    if training or mean is None or variance is None:
        b.refuse("batch normalisation in training mode updates its buffers", "call model.eval() before compiling")
    kind = compute_type(element_of(x))
    per_channel = (1, shape_of(x)[1]) + (1,) * (rank_of(x) - 2)

    def channel(value: Value) -> Value:
        return b.reshape(b.cast(value, kind), per_channel)

    rstd = b.unary(forge.RsqrtOp, b.add(channel(variance), eps))
    normal = b.mul(b.sub(b.cast(x, kind), channel(mean)), rstd)
    return b.down(_affine(b, normal, *(None if p is None else channel(p) for p in (weight, bias))))
