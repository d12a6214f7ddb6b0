"""Pointwise arithmetic with torch's type promotion.

The element type of the result is the one eager reports. A Python number meets a half tensor in f32, as eager's
kernels do it (they keep the number in their wider computing type), unless the half type holds the number exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects.builtin import IntegerType, f32, i1
from xdsl.ir import Operation, SSAValue

from equiforge.dialects import forge
from equiforge.frontend.builder import Builder, Operand, Value, element_of, rank_of, shape_of
from equiforge.frontend.dtypes import (
    ElementType,
    Scalar,
    compute_type,
    is_bool,
    is_exact,
    is_float,
    is_half,
    torch_dtype,
)
from equiforge.frontend.table import lowers

Pointwise = Callable[[Value, Value], Operation]


def promoted(a: Operand, b: Operand) -> ElementType:
    """torch's common element type of two operands (0-d tensors and numbers weigh less)."""
    import torch

    from equiforge.frontend.dtypes import element_type_of_dtype

    def example(operand: Operand) -> Any:
        if isinstance(operand, SSAValue):
            return torch.empty([1] * rank_of(operand), dtype=torch_dtype(element_of(operand)), device="meta")
        return operand

    if not isinstance(a, SSAValue) and not isinstance(b, SSAValue):
        raise AssertionError("promotion of two numbers")
    result = element_type_of_dtype(torch.result_type(example(a), example(b)))
    assert result is not None
    return result


def working_type(b: Builder, x: Operand, y: Operand, widen: bool = True) -> ElementType:
    """The type to compute ``x ∘ y`` in: the promoted one, or f32 where a half tensor meets a number it can't hold."""
    common = promoted(x, y)
    if is_float(b.out.element_type) and not is_float(common):
        common = b.out.element_type  # true division of integers
    numbers = [operand for operand in (x, y) if not isinstance(operand, SSAValue)]
    numbers += [
        value for operand in (x, y) if isinstance(operand, SSAValue) and rank_of(operand) == 0
        for value in (b.constant_value(operand),) if value is not None
    ]  # fmt: skip
    if widen and is_half(common) and any(not is_exact(number, common) for number in numbers):
        return f32
    return common


def operand(b: Builder, x: Operand, to: ElementType, rank: int) -> Value:
    """A tensor cast to the type, a number as a constant of it."""
    return b.cast(x, to) if isinstance(x, SSAValue) else b.constant(x, to, rank)


def arithmetic(b: Builder, cls: Pointwise, x: Operand, y: Operand, widen: bool = True) -> Value:
    """``x ∘ y`` in the working type, cast to the result's."""
    to = working_type(b, x, y, widen)
    rank = len(b.out.shape)
    return b.down(b.binary(cls, operand(b, x, to, rank), operand(b, y, to, rank)))


def _simple_binary(cls: Pointwise, *overloads: str, on_bool: Pointwise | None = None, widen: bool = True) -> None:
    @lowers(*overloads)
    def _(b: Builder, x: Operand, y: Operand) -> Value:
        boolean = on_bool is not None and is_bool(promoted(x, y))
        return arithmetic(b, on_bool if boolean and on_bool else cls, x, y, widen)


_simple_binary(forge.MulOp, "mul.Tensor", "mul.Scalar", "multiply.Tensor", "multiply.Scalar", on_bool=forge.AndOp)
_simple_binary(
    forge.DivOp,
    "div.Tensor",
    "div.Scalar",
    "divide.Tensor",
    "divide.Scalar",
    "true_divide.Tensor",
    "true_divide.Scalar",
)
_simple_binary(forge.MaxOp, "maximum.default", "max.other", on_bool=forge.OrOp, widen=False)
_simple_binary(forge.MinOp, "minimum.default", "min.other", on_bool=forge.AndOp, widen=False)


def _scaled(b: Builder, cls: Pointwise, x: Operand, y: Operand, alpha: Scalar) -> Value:
    """``x ∘ alpha·y``, rounded once at the end as eager does."""
    if alpha == 1:
        boolean = is_bool(promoted(x, y))
        return arithmetic(b, forge.OrOp if boolean else cls, x, y)
    to = compute_type(b.out.element_type)
    rank = len(b.out.shape)
    scaled = b.mul(operand(b, y, to, rank), alpha)
    return b.down(b.binary(cls, operand(b, x, to, rank), scaled))


@lowers("add.Tensor", "add.Scalar")
def add(b: Builder, x: Operand, y: Operand, alpha: Scalar = 1) -> Value:
    return _scaled(b, forge.AddOp, x, y, alpha)


@lowers("sub.Tensor", "sub.Scalar", "subtract.Tensor", "subtract.Scalar")
def sub(b: Builder, x: Operand, y: Operand, alpha: Scalar = 1) -> Value:
    return _scaled(b, forge.SubOp, x, y, alpha)


@lowers("rsub.Tensor", "rsub.Scalar")
def rsub(b: Builder, x: Operand, y: Operand, alpha: Scalar = 1) -> Value:
    return _scaled(b, forge.SubOp, y, x, alpha)


def truncate(b: Builder, x: Value) -> Value:
    """Towards zero."""
    if isinstance(element_of(x), IntegerType):
        return x
    return b.select(b.compare("lt", x, 0.0), b.unary(forge.CeilOp, x), b.unary(forge.FloorOp, x))


def _integer_truncating_division(b: Builder, x: Value, y: Value) -> Value:
    quotient = b.div(b.abs(x), b.abs(y))
    negative = b.binary(forge.XorOp, b.compare("lt", x, 0), b.compare("lt", y, 0))
    return b.select(negative, b.neg(quotient), quotient)


@lowers("div.Tensor_mode", "div.Scalar_mode", "divide.Tensor_mode", "divide.Scalar_mode")
def div_mode(b: Builder, x: Operand, y: Operand, rounding_mode: str | None = None) -> Value:
    if rounding_mode is None:
        return arithmetic(b, forge.DivOp, x, y)
    to = compute_type(working_type(b, x, y))
    rank = len(b.out.shape)
    left, right = operand(b, x, to, rank), operand(b, y, to, rank)
    if is_float(to):
        quotient = b.div(left, right)
        return b.down(b.unary(forge.FloorOp, quotient) if rounding_mode == "floor" else truncate(b, quotient))
    # forge's integer division is the floor.
    return b.down(b.div(left, right) if rounding_mode == "floor" else _integer_truncating_division(b, left, right))


@lowers("floor_divide.default", "floor_divide.Scalar")
def floor_divide(b: Builder, x: Operand, y: Operand) -> Value:
    return div_mode(b, x, y, "floor")


_simple_binary(forge.RemOp, "remainder.Tensor", "remainder.Scalar", "remainder.Scalar_Tensor")


@lowers("fmod.Tensor", "fmod.Scalar")
def fmod(b: Builder, x: Operand, y: Operand) -> Value:
    """The remainder with the dividend's sign."""
    to = working_type(b, x, y)
    rank = len(b.out.shape)
    left, right = operand(b, x, to, rank), operand(b, y, to, rank)
    remainder = b.binary(forge.RemOp, b.abs(left), b.abs(right))
    return b.down(b.select(b.compare("lt", left, 0), b.neg(remainder), remainder))


def power(b: Builder, x: Value, exponent: Scalar) -> Value:
    """``x ** exponent`` for a number, spelled with the cheap ops that eager uses too."""
    if exponent == 1:
        return x
    if exponent == 2:
        return b.mul(x, x)
    if exponent == 3:
        return b.mul(b.mul(x, x), x)
    if exponent == 0:
        return b.full(1, shape_of(x), element_of(x))
    if is_float(element_of(x)):
        if exponent == 0.5:
            return b.sqrt(x)
        if exponent == -0.5:
            return b.unary(forge.RsqrtOp, x)
        if exponent == -1:
            return b.unary(forge.RecipOp, x)
        if exponent == -2:
            return b.unary(forge.RecipOp, b.mul(x, x))
    elif exponent < 0 or exponent != int(exponent):
        b.refuse("an integer tensor to a negative or fractional power", "convert it to a float type first")
    return b.binary(forge.PowOp, x, exponent)


@lowers("pow.Tensor_Scalar")
def pow_scalar(b: Builder, x: Value, exponent: Scalar) -> Value:
    to = b.out.element_type
    simple = exponent in (1, 2, 0.5, -0.5, -1)
    return b.down(power(b, b.cast(x, to if simple else compute_type(to)), exponent))


@lowers("pow.Tensor_Tensor", "pow.Scalar")
def pow_tensor(b: Builder, x: Operand, y: Operand) -> Value:
    to = compute_type(b.out.element_type)
    rank = len(b.out.shape)
    return b.down(b.binary(forge.PowOp, operand(b, x, to, rank), operand(b, y, to, rank)))


@lowers("square.default")
def square(b: Builder, x: Value) -> Value:
    x = b.down(x)
    return b.mul(x, x)


def _simple_unary(cls: Callable[[Value], Operation], *overloads: str, exact_on_integers: bool = False) -> None:
    @lowers(*overloads)
    def _(b: Builder, x: Value) -> Value:
        if exact_on_integers and not is_float(element_of(x)):
            return x
        return b.unary(cls, b.down(x))  # integers become the float type of the result first


_simple_unary(forge.NegOp, "neg.default", "negative.default")
_simple_unary(forge.AbsOp, "abs.default", "absolute.default")
_simple_unary(forge.ExpOp, "exp.default")
_simple_unary(forge.LogOp, "log.default")
_simple_unary(forge.SqrtOp, "sqrt.default")
_simple_unary(forge.RsqrtOp, "rsqrt.default")
_simple_unary(forge.RecipOp, "reciprocal.default")
_simple_unary(forge.TanhOp, "tanh.default")
_simple_unary(forge.ErfOp, "erf.default", "special_erf.default")
_simple_unary(forge.SinOp, "sin.default")
_simple_unary(forge.CosOp, "cos.default")
_simple_unary(forge.FloorOp, "floor.default", exact_on_integers=True)
_simple_unary(forge.CeilOp, "ceil.default", exact_on_integers=True)
_simple_unary(forge.RoundOp, "round.default", exact_on_integers=True)


@lowers("trunc.default", "fix.default")
def trunc(b: Builder, x: Value) -> Value:
    return truncate(b, x)


@lowers("frac.default")
def frac(b: Builder, x: Value) -> Value:
    return b.sub(x, truncate(b, x))


@lowers("sign.default", "sgn.default")
def sign(b: Builder, x: Value) -> Value:
    """NaN counts as 0, as in torch."""
    one = b.select(b.compare("gt", x, 0), b.constant(1, element_of(x), rank_of(x)), 0)
    return b.select(b.compare("lt", x, 0), -1, one)


@lowers("positive.default")
def positive(b: Builder, x: Value) -> Value:
    return x


@lowers("copysign.Tensor", "copysign.Scalar")
def copysign(b: Builder, x: Operand, y: Operand) -> Value:
    to = b.out.element_type
    rank = len(b.out.shape)
    magnitude, source = b.abs(operand(b, x, to, rank)), operand(b, y, to, rank)
    number = b.constant_value(source)
    if number is not None:
        negative = str(float(number)).startswith("-")
        return b.expand(b.neg(magnitude) if negative else magnitude, b.out.shape)
    # 1/-0.0 is -inf: the one question whose answer shows the sign of a zero.
    below = b.compare("lt", source, 0.0)
    minus_zero = b.binary(
        forge.AndOp, b.compare("eq", source, 0.0), b.compare("lt", b.unary(forge.RecipOp, source), 0.0)
    )
    return b.select(b.binary(forge.OrOp, below, minus_zero), b.neg(magnitude), magnitude)


@lowers("addcmul.default")
def addcmul(b: Builder, x: Value, y: Value, z: Value, value: Scalar = 1) -> Value:
    to = compute_type(b.out.element_type)
    product = b.mul(b.cast(y, to), b.cast(z, to))
    return b.down(b.add(b.cast(x, to), product if value == 1 else b.mul(product, value)))


@lowers("addcdiv.default")
def addcdiv(b: Builder, x: Value, y: Value, z: Value, value: Scalar = 1) -> Value:
    to = compute_type(b.out.element_type)
    top = b.cast(y, to)
    quotient = b.div(top if value == 1 else b.mul(top, value), b.cast(z, to))
    return b.down(b.add(b.cast(x, to), quotient))


@lowers("lerp.Scalar", "lerp.Tensor")
def lerp(b: Builder, start: Value, end: Value, weight: Operand) -> Value:
    to = compute_type(b.out.element_type)
    low, high = b.cast(start, to), b.cast(end, to)
    share = b.cast(weight, to) if isinstance(weight, SSAValue) else weight
    return b.down(b.add(low, b.mul(b.sub(high, low), share)))


@lowers("clamp.default", "clamp.Tensor", "clip.default", "clip.Tensor", "hardtanh.default")
def clamp(b: Builder, x: Value, low: Operand | None = None, high: Operand | None = None) -> Value:
    """NaN stays NaN: forge's max and min propagate it."""
    to = b.out.element_type
    result = b.cast(x, to)
    if low is not None:
        result = b.maximum(result, operand(b, low, to, rank_of(x)))
    if high is not None:
        result = b.minimum(result, operand(b, high, to, rank_of(x)))
    return b.expand(result, b.out.shape)


@lowers("clamp_min.default", "clamp_min.Tensor")
def clamp_min(b: Builder, x: Value, low: Operand) -> Value:
    return clamp(b, x, low)


@lowers("clamp_max.default", "clamp_max.Tensor")
def clamp_max(b: Builder, x: Value, high: Operand) -> Value:
    return clamp(b, x, None, high)


@lowers("relu6.default")
def relu6(b: Builder, x: Value) -> Value:
    return clamp(b, x, 0, 6)


def _bitwise(cls: Pointwise, *overloads: str) -> None:
    @lowers(*overloads)
    def _(b: Builder, x: Operand, y: Operand) -> Value:
        if not is_bool(b.out.element_type):
            b.refuse("bit patterns of integers", "use it on boolean tensors only")
        rank = len(b.out.shape)
        return b.binary(cls, operand(b, x, i1, rank), operand(b, y, i1, rank))


_bitwise(forge.AndOp, "bitwise_and.Tensor", "bitwise_and.Scalar", "__and__.Tensor", "__and__.Scalar")
_bitwise(forge.OrOp, "bitwise_or.Tensor", "bitwise_or.Scalar", "__or__.Tensor", "__or__.Scalar")
_bitwise(forge.XorOp, "bitwise_xor.Tensor", "bitwise_xor.Scalar", "__xor__.Tensor", "__xor__.Scalar")
