"""Pointwise ops as Triton expressions, and on plain numbers where an operand is one.

Every template takes operand texts that are names, literals or parenthesised. Float operands are float32 or float64:
the emitter widens smaller types first. What Triton lacks or does otherwise than the IR says is in a helper function
of the emitted module (``HELPERS``).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

#: Text of the functions that emitted modules carry when they use them, in the order in which they are written.
HELPERS: dict[str, str] = {
    "larger": '''@triton.jit
def larger(a, b):
    """Maximum in which NaN wins, as in PyTorch."""
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)
''',
    "smaller": '''@triton.jit
def smaller(a, b):
    """Minimum in which NaN wins, as in PyTorch."""
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)
''',
    "product": """@triton.jit
def product(a, b):
    return a * b
""",
    "tanh": '''@triton.jit
def tanh(x):
    """A polynomial near 0, where 2 sigmoid(2x) - 1 would cancel (Cephes, tanhf)."""
    z = x * x
    p = -5.70498872745e-3
    p = p * z + 2.06390887954e-2
    p = p * z - 5.37397155531e-2
    p = p * z + 1.33314422036e-1
    p = p * z - 3.33332819422e-1
    return tl.where(tl.abs(x) < 0.625, x + x * (z * p), 2.0 * tl.sigmoid(2.0 * x) - 1.0)
''',
    "tanh64": '''@triton.jit
def tanh64(x):
    """A rational function near 0, where 2 sigmoid(2x) - 1 would cancel (Cephes, tanh)."""
    z = x * x
    p = (-9.64399179425052238628e-1 * z - 9.92877231001918586564e1) * z - 1.61468768441708447952e3
    q = ((z + 1.12811678491632931402e2) * z + 2.23548839060100448583e3) * z + 4.84406305325125486048e3
    return tl.where(tl.abs(x) < 0.625, x + x * (z * (p / q)), 2.0 * tl.sigmoid(2.0 * x) - 1.0)
''',
    "round_even": '''@triton.jit
def round_even(x):
    """To the nearest integer, ties to even."""
    low = tl.floor(x)
    part = x - low
    tie = 2.0 * tl.floor(low * 0.5 + 0.5)
    return tl.where(part < 0.5, low, tl.where(part == 0.5, tie, low + 1.0))
''',
    "power": '''@triton.jit
def power(x, y):
    """x to the power y in float64; a negative base needs a whole exponent."""
    base = x.to(tl.float64)
    exponent = y.to(tl.float64)
    size = tl.exp(exponent * tl.log(tl.abs(base)))
    whole = tl.floor(exponent) == exponent
    odd = tl.floor(exponent * 0.5) * 2.0 != exponent
    fraction = tl.where(base == float("-inf"), size, float("nan"))
    signed = tl.where(base < 0.0, tl.where(whole, tl.where(odd, -size, size), fraction), size)
    signed = tl.where(base == 0.0, tl.where(exponent > 0.0, 0.0, float("inf")), signed)
    signed = tl.where(base == 1.0, 1.0, signed)
    return tl.where(exponent == 0.0, 1.0, signed).to(x.dtype)
''',
    "floor_div": '''@triton.jit
def floor_div(a, b):
    """Integer division that rounds down; Triton's rounds to zero."""
    return a // b - ((a % b != 0) & ((a < 0) != (b < 0))).to(a.dtype)
''',
    "floor_rem": '''@triton.jit
def floor_rem(a, b):
    """Remainder with the sign of the divisor; Triton's has that of the dividend."""
    rest = a % b
    return tl.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)
''',
}

#: float ops of one operand: (template, helper)
_UNARY: dict[str, tuple[str, str | None]] = {
    "neg": ("-1.0 * {0}", None),  # Triton's unary minus is 0 - x, which loses the sign of zero
    "abs": ("tl.abs({0})", None),
    "exp": ("tl.exp({0})", None),
    "exp2": ("tl.exp2({0})", None),
    "log": ("tl.log({0})", None),
    "log2": ("tl.log2({0})", None),
    "sqrt": ("tl.sqrt({0})", None),
    "rsqrt": ("tl.rsqrt({0})", None),
    "recip": ("1.0 / {0}", None),
    "tanh": ("tanh({0})", "tanh"),
    "erf": ("tl.erf({0})", None),
    "sigmoid": ("tl.sigmoid({0})", None),
    "relu": ("larger({0}, 0.0)", "larger"),
    "sin": ("tl.sin({0})", None),
    "cos": ("tl.cos({0})", None),
    "floor": ("tl.floor({0})", None),
    "ceil": ("tl.ceil({0})", None),
    "round": ("round_even({0})", "round_even"),
    "is_nan": ("{0} != {0}", None),
    "isnan": ("{0} != {0}", None),
}
_INT_UNARY: dict[str, tuple[str, str | None]] = {
    "neg": ("-{0}", None),
    "abs": ("tl.abs({0})", None),
    "relu": ("tl.maximum({0}, 0)", None),
    "not": ("~{0}", None),
    "floor": ("{0}", None),
    "ceil": ("{0}", None),
    "round": ("{0}", None),
}
_BINARY: dict[str, tuple[str, str | None]] = {
    "add": ("{0} + {1}", None),
    "sub": ("{0} - {1}", None),
    "mul": ("{0} * {1}", None),
    "div": ("{0} / {1}", None),
    "max": ("larger({0}, {1})", "larger"),
    "min": ("smaller({0}, {1})", "smaller"),
    "rem": ("floor_rem({0}, {1})", "floor_rem"),
    "pow": ("power({0}, {1})", "power"),
}
_INT_BINARY: dict[str, tuple[str, str | None]] = {
    "add": ("{0} + {1}", None),
    "sub": ("{0} - {1}", None),
    "mul": ("{0} * {1}", None),
    "div": ("floor_div({0}, {1})", "floor_div"),
    "rem": ("floor_rem({0}, {1})", "floor_rem"),
    "max": ("tl.maximum({0}, {1})", None),
    "min": ("tl.minimum({0}, {1})", None),
    "and": ("{0} & {1}", None),
    "or": ("{0} | {1}", None),
    "xor": ("{0} ^ {1}", None),
}
_BOOL: dict[str, tuple[str, str | None]] = {
    "not": ("{0} == 0", None),
    "and": ("{0} & {1}", None),
    "or": ("{0} | {1}", None),
    "xor": ("{0} ^ {1}", None),
    "mul": ("{0} & {1}", None),
    "add": ("{0} | {1}", None),
    "max": ("{0} | {1}", None),
    "min": ("{0} & {1}", None),
}
COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}

TRITON_TYPES = {
    "f64": "tl.float64",
    "f32": "tl.float32",
    "f16": "tl.float16",
    "bf16": "tl.bfloat16",
    "f8E4M3FN": "tl.float8e4nv",
    "f8E5M2": "tl.float8e5",
    "i64": "tl.int64",
    "i32": "tl.int32",
    "i16": "tl.int16",
    "i8": "tl.int8",
    "i1": "tl.int1",
}
TORCH_TYPES = {
    "f64": "torch.float64",
    "f32": "torch.float32",
    "f16": "torch.float16",
    "bf16": "torch.bfloat16",
    "f8E4M3FN": "torch.float8_e4m3fn",
    "f8E5M2": "torch.float8_e5m2",
    "i64": "torch.int64",
    "i32": "torch.int32",
    "i16": "torch.int16",
    "i8": "torch.int8",
    "i1": "torch.bool",
}


def cast_text(text: str, before: str, after: str) -> str:
    """``text`` as element type ``after``; the interpreter knows bf16 from and to float32 only, and PyTorch rounds
    that way too."""
    if "bf16" in (before, after) and "f32" not in (before, after):
        text = f"{text}.to(tl.float32)"
    return f"{text}.to({TRITON_TYPES[after]})"


def is_float(element: str) -> bool:
    return element.startswith(("f", "bf"))


def template(name: str, element: str) -> tuple[str, str | None] | None:
    """The expression of op ``name`` on operands of type ``element`` and the helper it needs, or None where there is
    none."""
    if is_float(element):
        if name == "tanh" and element == "f64":
            return "tanh64({0})", "tanh64"
        return _UNARY.get(name) or _BINARY.get(name)
    if element == "i1":
        return _BOOL.get(name)
    return _INT_UNARY.get(name) or _INT_BINARY.get(name)


def whole_power(base: str, exponent: float, floats: bool) -> str | None:
    """``base`` to a constant power as products and roots, for the powers that programs use; None for others."""
    forms = {1.0: "{0}", 2.0: "{0} * {0}", 3.0: "{0} * {0} * {0}", 4.0: "({0} * {0}) * ({0} * {0})"}
    if floats:
        forms |= {-1.0: "1.0 / {0}", -2.0: "1.0 / ({0} * {0})"}
    form = forms.get(exponent)
    return None if form is None else form.format(base)


# Numbers. Only what is exact or decides what padding holds; None where a number is not known.


def _larger(a: float, b: float) -> float:
    return a if math.isnan(a) else b if math.isnan(b) else max(a, b)


def _smaller(a: float, b: float) -> float:
    return a if math.isnan(a) else b if math.isnan(b) else min(a, b)


def _quotient(a: float, b: float) -> float:
    return a / b


def _reciprocal(a: float) -> float:
    return 1.0 / a


def _relu(a: float) -> float:
    return max(a, 0.0)


_NUMERIC: dict[str, Callable[..., Any]] = {
    "neg": operator.neg,
    "abs": math.fabs,
    "relu": _relu,
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": _quotient,
    "max": _larger,
    "min": _smaller,
    "exp": math.exp,
    "sqrt": math.sqrt,
    "recip": _reciprocal,
}


def numeric(name: str, values: Sequence[float | None]) -> float | None:
    """Op ``name`` on numbers in double precision; None if an operand is unknown or the result is no ordinary number."""
    function = _NUMERIC.get(name)
    if function is None or any(v is None for v in values):
        return None
    try:
        return float(function(*values))
    except (ValueError, ZeroDivisionError, OverflowError):
        return None
