"""Activations and other composite pointwise functions; halves are computed in f32 and rounded once, as in eager."""

from __future__ import annotations

import math
from collections.abc import Callable

from xdsl.dialects.builtin import f64

from equiforge.dialects import forge
from equiforge.frontend.builder import Builder, Value, element_of, rank_of
from equiforge.frontend.dtypes import Scalar, is_float
from equiforge.frontend.table import lowers


def _composite(*overloads: str) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """Enter a function of a float tensor that is computed in the wide type and cast back to the result's."""

    def enter(function: Callable[..., Value]) -> Callable[..., Value]:
        @lowers(*overloads)
        def _(b: Builder, x: Value, *rest: Scalar) -> Value:
            return b.down(function(b, b.up(b.cast(x, b.out.element_type)), *rest))

        return function

    return enter


@lowers("relu.default")
def relu(b: Builder, x: Value) -> Value:
    return b.unary(forge.ReluOp, x) if is_float(element_of(x)) else b.maximum(x, 0)


@lowers("sigmoid.default", "special_expit.default")
def sigmoid(b: Builder, x: Value) -> Value:
    return b.unary(forge.SigmoidOp, b.down(x))


@_composite("silu.default")
def silu(b: Builder, x: Value) -> Value:
    return b.mul(x, b.unary(forge.SigmoidOp, x))


@lowers("gelu.default")
def gelu(b: Builder, x: Value, approximate: str = "none") -> Value:
    wide = b.up(x)
    if approximate == "tanh":
        cube = b.mul(b.mul(wide, wide), wide)
        inner = b.mul(b.add(wide, b.mul(cube, 0.044715)), math.sqrt(2.0 / math.pi))
        return b.down(b.mul(b.mul(wide, 0.5), b.add(b.unary(forge.TanhOp, inner), 1.0)))
    error = b.unary(forge.ErfOp, b.mul(wide, math.sqrt(0.5)))
    return b.down(b.mul(b.mul(wide, 0.5), b.add(error, 1.0)))


@_composite("leaky_relu.default")
def leaky_relu(b: Builder, x: Value, slope: Scalar = 0.01) -> Value:
    return b.select(b.compare("gt", x, 0.0), x, b.mul(x, slope))


@_composite("elu.default")
def elu(b: Builder, x: Value, alpha: Scalar = 1, scale: Scalar = 1, input_scale: Scalar = 1) -> Value:
    grown = b.mul(b.sub(b.exp(b.mul(x, input_scale) if input_scale != 1 else x), 1.0), float(alpha) * float(scale))
    return b.select(b.compare("gt", x, 0.0), b.mul(x, scale) if scale != 1 else x, grown)


@_composite("selu.default")
def selu(b: Builder, x: Value) -> Value:
    return elu(b, x, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946)


@_composite("softplus.default")
def softplus(b: Builder, x: Value, beta: Scalar = 1, threshold: Scalar = 20) -> Value:
    scaled = b.mul(x, beta) if beta != 1 else x
    soft = b.log(b.add(b.exp(scaled), 1.0))
    return b.select(b.compare("gt", scaled, threshold), x, b.div(soft, beta) if beta != 1 else soft)


@_composite("log_sigmoid.default")
def log_sigmoid(b: Builder, x: Value) -> Value:
    tail = b.log(b.add(b.exp(b.neg(b.abs(x))), 1.0))
    return b.sub(b.minimum(x, 0.0), tail)


@_composite("mish.default")
def mish(b: Builder, x: Value) -> Value:
    return b.mul(x, b.unary(forge.TanhOp, softplus(b, x)))


@_composite("hardsigmoid.default")
def hardsigmoid(b: Builder, x: Value) -> Value:
    return b.div(b.minimum(b.maximum(b.add(x, 3.0), 0.0), 6.0), 6.0)


@_composite("hardswish.default")
def hardswish(b: Builder, x: Value) -> Value:
    return b.mul(x, hardsigmoid(b, x))


@_composite("softsign.default")
def softsign(b: Builder, x: Value) -> Value:
    return b.div(x, b.add(b.abs(x), 1.0))


@lowers("threshold.default")
def threshold(b: Builder, x: Value, limit: Scalar, value: Scalar) -> Value:
    return b.select(b.compare("gt", x, limit), x, value)


@lowers("glu.default")
def glu(b: Builder, x: Value, dim: int = -1) -> Value:
    dim %= rank_of(x)
    size = b.out.shape[dim]
    left, gate = b.slice(x, dim, 0, size), b.slice(x, dim, size, 2 * size)
    return b.down(b.mul(b.up(left), b.unary(forge.SigmoidOp, b.up(gate))))


@_composite("tan.default")
def tan(b: Builder, x: Value) -> Value:
    return b.div(b.unary(forge.SinOp, x), b.unary(forge.CosOp, x))


@_composite("exp2.default", "special_exp2.default")
def exp2(b: Builder, x: Value) -> Value:
    return b.exp(b.mul(x, math.log(2.0)))


@_composite("log2.default")
def log2(b: Builder, x: Value) -> Value:
    return b.div(b.log(x), math.log(2.0))


@_composite("log10.default")
def log10(b: Builder, x: Value) -> Value:
    return b.div(b.log(x), math.log(10.0))


@_composite("expm1.default", "special_expm1.default")
def expm1(b: Builder, x: Value) -> Value:
    """Near 0 through tanh, where exp(x) - 1 would cancel: e^x - 1 = 2t / (1 - t) with t = tanh(x/2)."""
    t = b.unary(forge.TanhOp, b.mul(x, 0.5))
    near = b.div(b.mul(t, 2.0), b.sub(1.0, t))
    return b.select(b.compare("lt", b.abs(x), 0.5), near, b.sub(b.exp(x), 1.0))


@_composite("log1p.default", "special_log1p.default")
def log1p(b: Builder, x: Value) -> Value:
    """Near 0 with the rounding of 1 + x divided out: log(u) * x / (u - 1) for u = 1 + x."""
    u = b.add(x, 1.0)
    excess = b.sub(u, 1.0)
    usual = b.log(u)
    return b.select(
        b.compare("eq", excess, 0.0), x, b.select(b.compare("lt", b.abs(x), 0.5), b.mul(usual, b.div(x, excess)), usual)
    )


@_composite("sinh.default")
def sinh(b: Builder, x: Value) -> Value:
    grown = expm1(b, x)
    return b.mul(b.add(grown, b.div(grown, b.add(grown, 1.0))), 0.5)


@_composite("cosh.default")
def cosh(b: Builder, x: Value) -> Value:
    return b.mul(b.add(b.exp(x), b.exp(b.neg(x))), 0.5)


@_composite("erfc.default", "special_erfc.default")
def erfc(b: Builder, x: Value) -> Value:
    return b.sub(1.0, b.unary(forge.ErfOp, x))


@_composite("atan.default", "arctan.default")
def atan(b: Builder, x: Value) -> Value:
    """By atan(z) = 2 atan(z / (1 + sqrt(1 + z²))) until the odd power series has converged for the type."""
    size = b.abs(x)
    large = b.compare("gt", size, 1.0)
    z = b.select(large, b.unary(forge.RecipOp, size), size)
    halvings, terms = (3, 9) if element_of(x) == f64 else (1, 9)
    for _ in range(halvings):
        z = b.div(z, b.add(b.sqrt(b.add(b.mul(z, z), 1.0)), 1.0))
    square = b.mul(z, z)
    series = b.constant((-1.0) ** (terms - 1) / (2 * terms - 1), element_of(x), rank_of(x))
    for n in range(terms - 2, -1, -1):
        series = b.add(b.mul(series, square), (-1.0) ** n / (2 * n + 1))
    angle = b.mul(b.mul(series, z), 2.0**halvings)
    angle = b.select(large, b.sub(math.pi / 2, angle), angle)
    return b.select(b.compare("lt", x, 0.0), b.neg(angle), angle)
