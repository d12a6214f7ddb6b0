"""Element-wise meaning of every operator name, on NumPy arrays: float64 for floats, exact for integers and booleans.

The tables are keyed by the mnemonics of ``dialects/op_table.py`` so that a test can assert that none is missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]


def is_float(x: Array) -> bool:
    """True for arrays of floating-point numbers."""
    return bool(np.issubdtype(x.dtype, np.floating))


def erf(x: Array) -> Array:
    """The error function; NumPy has none."""
    flat = np.fromiter((math.erf(v) for v in np.ravel(x).tolist()), dtype=np.float64, count=x.size)
    return flat.reshape(x.shape)


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x)) without overflow: exp is taken of non-positive numbers only."""
    e = np.exp(-np.abs(x))
    return np.where(np.signbit(x), e, 1.0) / (1.0 + e)


def relu(x: Array) -> Array:
    """max(x, 0); NaN stays NaN because it does not compare."""
    return np.where(x <= 0, np.zeros_like(x), x)


def negate(x: Array) -> Array:
    """-x; a boolean is its own negative modulo 2."""
    return x if x.dtype == np.bool_ else np.negative(x)


UNARY: dict[str, Callable[[Array], Array]] = {
    "neg": negate,
    "abs": np.abs,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "recip": lambda x: 1.0 / x,
    "tanh": np.tanh,
    "erf": erf,
    "sigmoid": sigmoid,
    "relu": relu,
    "sin": np.sin,
    "cos": np.cos,
    "floor": lambda x: np.floor(x) if is_float(x) else x,
    "ceil": lambda x: np.ceil(x) if is_float(x) else x,
    "round": lambda x: np.rint(x) if is_float(x) else x,
    "not": np.invert,
}


def divide(a: Array, b: Array) -> Array:
    """IEEE division of floats, floor division of integers (0 for a zero divisor)."""
    return np.true_divide(a, b) if is_float(a) else np.floor_divide(a, b)


def power(a: Array, b: Array) -> Array:
    """a ** b; integers to a negative power give 0 save for the bases 1 and -1."""
    if is_float(a):
        return np.float_power(a, b)
    result = np.power(a, np.maximum(b, 0))
    odd = np.where(b % 2 == 0, 1, a)
    of_negative = np.where(np.abs(a) == 1, odd, 0)
    return np.where(b < 0, of_negative, result).astype(a.dtype)


def subtract(a: Array, b: Array) -> Array:
    """a - b; of booleans modulo 2."""
    return np.logical_xor(a, b) if a.dtype == np.bool_ else np.subtract(a, b)


BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "sub": subtract,
    "mul": np.multiply,
    "div": divide,
    "max": np.maximum,
    "min": np.minimum,
    "pow": power,
    "rem": np.mod,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}

COMPARE: dict[str, Callable[[Array, Array], Array]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def select(condition: Array, a: Array, b: Array) -> Array:
    """a where the condition holds, else b: the other one has no influence, be it NaN."""
    return np.where(condition, a, b)


def fold(reducer: str, a: Array, b: Array) -> Array:
    """Combines two partial results of a built-in reducer."""
    match reducer:
        case "sum":
            return np.add(a, b)
        case "prod":
            return np.multiply(a, b)
        case "max":
            return np.maximum(a, b)
        case "min":
            return np.minimum(a, b)
        case "any":
            return np.logical_or(a, b)
        case "all":
            return np.logical_and(a, b)
        case _:
            raise ValueError(f"no built-in reducer {reducer!r}")


def identity(reducer: str, dtype: np.dtype[Any]) -> Any:
    """The value that a built-in reducer starts from."""
    if reducer in ("sum", "any"):
        return dtype.type(0)
    if reducer in ("prod", "all"):
        return dtype.type(1)
    sign = {"max": -1, "min": 1}[reducer]
    if np.issubdtype(dtype, np.floating):
        return dtype.type(sign * np.inf)
    if dtype == np.bool_:
        return dtype.type(sign > 0)
    limits = np.iinfo(dtype)
    return dtype.type(limits.min if sign < 0 else limits.max)


def reduce(reducer: str, x: Array, dim: int) -> Array:
    """Reduces dimension ``dim`` to size 1; an empty dimension gives the identity; max and min propagate NaN."""
    dtype = x.dtype
    start = identity(reducer, dtype)
    match reducer:
        case "sum" if dtype != np.bool_:
            return np.sum(x, axis=dim, keepdims=True, dtype=dtype)
        case "prod" if dtype != np.bool_:
            return np.prod(x, axis=dim, keepdims=True, dtype=dtype)
        case "max":
            return np.max(x, axis=dim, keepdims=True, initial=start)
        case "min":
            return np.min(x, axis=dim, keepdims=True, initial=start)
        case "any" | "sum":
            return np.any(x, axis=dim, keepdims=True)
        case "all" | "prod":
            return np.all(x, axis=dim, keepdims=True)
        case _:
            raise ValueError(f"no built-in reducer {reducer!r}")


def matmul(a: Array, b: Array) -> Array:
    """Batched product; batch dimensions of size 1 broadcast."""
    return np.matmul(a, b)


def gather(x: Array, index: Array, dim: int) -> Array:
    """Take-along-axis: all other dimensions of ``x`` and ``index`` broadcast; negative indices count from the end."""
    shape = list(np.broadcast_shapes(drop(x.shape, dim), drop(index.shape, dim)))
    x = np.broadcast_to(x, [*shape[:dim], x.shape[dim], *shape[dim:]])
    index = np.broadcast_to(index, [*shape[:dim], index.shape[dim], *shape[dim:]])
    return np.take_along_axis(x, index.astype(np.int64), axis=dim)


def drop(shape: tuple[int, ...], dim: int) -> tuple[int, ...]:
    """The shape without one dimension."""
    return shape[:dim] + shape[dim + 1 :]


def convert(x: Array, dtype: np.dtype[Any]) -> Array:
    """``forge.cast``: numbers to booleans are ``!= 0``, floats to integers truncate, NaN and overflow give some
    integer.
    """
    if dtype == np.bool_:
        return x != 0
    if is_float(x) and np.issubdtype(dtype, np.integer):
        # Through int64: NumPy's direct float -> int8 conversion is undefined outside of the narrow type.
        return np.trunc(x).astype(np.int64).astype(dtype)
    return x.astype(dtype)
