"""Operators that only backward graphs hold: derivatives of activations, softmax, norms and losses, and of slicing.

Formulas are those of the derivative in closed form. Halves are computed in f32 and rounded once, as in eager.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects.builtin import i64

from equiforge.dialects import forge
from equiforge.frontend.builder import Builder, Value, element_of, normal_dim, rank_of, shape_of
from equiforge.frontend.dtypes import Scalar
from equiforge.frontend.lower.losses import MEAN, NONE, picked_scores, reduced_loss
from equiforge.frontend.lower.normalization import trailing_dims
from equiforge.frontend.table import lowers

_SQRT_2_OVER_PI = math.sqrt(2.0 / math.pi)


def _derivative(overload: str) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """Enter the derivative of a function as a function of its input (or result): the gradient is multiplied by it."""

    def enter(function: Callable[..., Value]) -> Callable[..., Value]:
        @lowers(overload)
        def _(b: Builder, grad: Value, x: Value, *rest: Any) -> Value:
            return b.down(b.mul(b.up(grad), function(b, b.up(x), *rest)))

        return function

    return enter


# Activations


@lowers("threshold_backward.default")
def threshold_backward(b: Builder, grad: Value, x: Value, limit: Scalar) -> Value:
    """The gradient where x is above the threshold or NaN."""
    return b.select(b.compare("le", x, limit), 0, b.down(grad))


@_derivative("sigmoid_backward.default")
def sigmoid_backward(b: Builder, y: Value) -> Value:
    return b.mul(y, b.sub(1.0, y))


@_derivative("tanh_backward.default")
def tanh_backward(b: Builder, y: Value) -> Value:
    return b.sub(1.0, b.mul(y, y))


@_derivative("silu_backward.default")
def silu_backward(b: Builder, x: Value) -> Value:
    """σ (1 + x (1 - σ)) with σ = sigmoid(x)"""
    sigmoid = b.unary(forge.SigmoidOp, x)
    return b.mul(sigmoid, b.add(b.mul(x, b.sub(1.0, sigmoid)), 1.0))


@_derivative("gelu_backward.default")
def gelu_backward(b: Builder, x: Value, approximate: str = "none") -> Value:
    square = b.mul(x, x)
    if approximate == "tanh":
        tanh = b.unary(forge.TanhOp, b.mul(b.mul(x, b.add(b.mul(square, 0.044715), 1.0)), _SQRT_2_OVER_PI))
        inner = b.mul(b.add(b.mul(square, 3 * 0.044715), 1.0), _SQRT_2_OVER_PI)
        slope = b.mul(b.mul(x, b.sub(1.0, b.mul(tanh, tanh))), inner)
        return b.mul(b.add(b.add(tanh, 1.0), slope), 0.5)
    probability = b.mul(b.add(b.unary(forge.ErfOp, b.mul(x, math.sqrt(0.5))), 1.0), 0.5)
    density = b.mul(b.exp(b.mul(square, -0.5)), 1.0 / math.sqrt(2.0 * math.pi))
    return b.add(probability, b.mul(x, density))


@lowers("leaky_relu_backward.default")
def leaky_relu_backward(b: Builder, grad: Value, x: Value, slope: Scalar, of_result: bool) -> Value:
    """The sign of the result is that of the input, so it does not matter which of them ``x`` is."""
    wide = b.up(grad)
    return b.down(b.select(b.compare("gt", x, 0), wide, b.mul(wide, slope)))


@lowers("hardtanh_backward.default")
def hardtanh_backward(b: Builder, grad: Value, x: Value, low: Scalar, high: Scalar) -> Value:
    outside = b.binary(forge.OrOp, b.compare("le", x, low), b.compare("ge", x, high))
    return b.select(outside, 0, b.down(grad))


@lowers("native_dropout_backward.default")
def native_dropout_backward(b: Builder, grad: Value, mask: Value, scale: float) -> Value:
    wide = b.up(grad)
    return b.down(b.mul(b.mul(wide, b.cast(mask, element_of(wide))), scale))


# Softmax and norms


def _row(b: Builder, x: Value) -> Value:
    return x if rank_of(x) else b.reshape(x, (1,))


@lowers("_softmax_backward_data.default")
def softmax_backward(b: Builder, grad: Value, y: Value, dim: int, *_: Any) -> Value:
    """y (g - Σ g y)"""
    dim = normal_dim(dim, rank_of(y))
    wide, result = _row(b, b.up(grad)), _row(b, b.up(y))
    product = b.mul(wide, result)
    inner = b.sub(product, b.mul(result, b.reduce("sum", product, [dim])))
    return b.down(b.reshape(inner, b.out.shape))


@lowers("_log_softmax_backward_data.default")
def log_softmax_backward(b: Builder, grad: Value, y: Value, dim: int, *_: Any) -> Value:
    """g - exp(y) Σ g"""
    dim = normal_dim(dim, rank_of(y))
    wide, result = _row(b, b.up(grad)), _row(b, b.up(y))
    inner = b.sub(wide, b.mul(b.exp(result), b.reduce("sum", wide, [dim])))
    return b.down(b.reshape(inner, b.out.shape))


@lowers("native_layer_norm_backward.default")
def native_layer_norm_backward(
    b: Builder,
    grad: Value,
    x: Value,
    normalized_shape: Sequence[int],
    mean: Value,
    rstd: Value,
    weight: Value | None,
    bias: Value | None,
    wanted: Sequence[bool],
) -> list[Value | None]:
    """rstd (g - mean(g) - n mean(g n)) with n the normalised input and g the gradient times the weight."""
    wide, kind = b.up(grad), element_of(b.up(grad))
    dims = trailing_dims(x, normalized_shape)
    leading = list(range(rank_of(x) - len(normalized_shape)))
    size = float(math.prod(normalized_shape))
    normal = b.mul(b.sub(b.cast(x, kind), b.cast(mean, kind)), b.cast(rstd, kind))
    results: list[Value | None] = [None, None, None]
    if wanted[0]:
        scaled = wide if weight is None else b.mul(wide, b.cast(weight, kind))
        average = b.div(b.reduce("sum", scaled, dims), size)
        along = b.div(b.reduce("sum", b.mul(scaled, normal), dims), size)
        centred = b.sub(b.sub(scaled, average), b.mul(normal, along))
        results[0] = b.mul(centred, b.cast(rstd, kind))
    if wanted[1]:
        results[1] = b.reshape(b.reduce("sum", b.mul(wide, normal), leading), normalized_shape)
    if wanted[2]:
        results[2] = b.reshape(b.reduce("sum", wide, leading), normalized_shape)
    return [
        None if value is None or type_ is None else b.cast(value, type_.element_type)
        for value, type_ in zip(results, b.results, strict=True)
    ]


# Losses


@lowers("mse_loss_backward.default")
def mse_loss_backward(b: Builder, grad: Value, x: Value, y: Value, reduction: int) -> Value:
    count = float(math.prod(shape_of(x))) if reduction == MEAN else 1.0
    difference = b.mul(b.sub(b.up(x), b.up(y)), 2.0 / count)
    return b.down(b.mul(difference, b.up(grad)))


@lowers("nll_loss_forward.default")
def nll_loss_forward(
    b: Builder, x: Value, target: Value, weight: Value | None, reduction: int, ignore: int
) -> list[Value]:
    """The loss, and the sum of the weights of the kept targets (0 where nothing is reduced)."""
    loss, share, _keep, _safe = picked_scores(b, b.up(x), target, weight, ignore)
    total = b.results[1]
    assert total is not None
    if reduction == NONE:
        weights = b.constant(0.0, total.element_type)
    else:
        weights = b.cast(b.reshape(b.reduce("sum", share, range(rank_of(share))), ()), total.element_type)
    return [reduced_loss(b, loss, share, reduction), weights]


@lowers("nll_loss_backward.default")
def nll_loss_backward(
    b: Builder,
    grad: Value,
    x: Value,
    target: Value,
    weight: Value | None,
    reduction: int,
    ignore: int,
    total_weight: Value,
) -> Value:
    """-g w at the target's class, divided by the total weight for a mean."""
    dim = 1 if rank_of(x) > 1 else 0
    shape = shape_of(x)
    place = b.reshape(target, [1 if n == dim else size for n, size in enumerate(shape)])
    classes = b.iota([size if n == dim else 1 for n, size in enumerate(shape)], dim, i64)
    at = b.binary(forge.AndOp, b.compare("eq", classes, place), b.compare("ne", place, ignore))
    share = b.neg(b.up(grad))
    if reduction == MEAN:
        share = b.div(share, b.cast(total_weight, element_of(share)))
    if reduction == NONE:
        share = b.reshape(share, shape_of(place))
    if weight is not None:
        line = b.reshape(weight, [size if n == dim else 1 for n, size in enumerate(shape)])
        share = b.mul(b.align(share, rank_of(x)), b.cast(line, element_of(share)))
    return b.down(b.select(at, b.align(share, rank_of(x)), 0.0))


# Structure


@lowers("slice_backward.default")
def slice_backward(b: Builder, grad: Value, sizes: Sequence[int], dim: int, start: int, end: int, step: int) -> Value:
    dim = normal_dim(dim, rank_of(grad))
    first, last, _ = slice(start, end, step).indices(sizes[dim])
    if step != 1:
        b.refuse("the gradient of a slice with a step writes to every other place")
    low, high = first, sizes[dim] - max(first, last)
    return b.emit(forge.PadOp(grad, dim, low, high, 0.0)) if low or high else grad


@lowers("select_backward.default")
def select_backward(b: Builder, grad: Value, sizes: Sequence[int], dim: int, index: int) -> Value:
    dim = normal_dim(dim, len(sizes))
    index %= sizes[dim]
    part = b.reshape(grad, [1 if n == dim else size for n, size in enumerate(sizes)])
    return b.emit(forge.PadOp(part, dim, index, sizes[dim] - 1 - index, 0.0)) if sizes[dim] > 1 else part
