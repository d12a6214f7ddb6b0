"""Normalisations. Statistics, scale and shift of halves are computed in f32 and rounded once, as eager does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from equiforge.dialects import forge
from equiforge.frontend.builder import Builder, Value, element_of, rank_of, shape_of
from equiforge.frontend.dtypes import EPSILON, compute_type
from equiforge.frontend.lower.reductions import mean_of, variance_of
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
