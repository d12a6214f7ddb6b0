"""Contributions as expression trees, and their IEEE value at scalars."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

Tree = tuple[Any, ...]
"""``("input", i)``, ``("state",)``, ``("old",)``, ``("new",)``, ``("const", value)`` or ``(op, attrs, *arguments)``."""

IDENTITY = {"sum": 0.0, "prod": 1.0, "max": -math.inf, "min": math.inf}


def _exp(x: float) -> float:
    return x if x != x else (math.exp(x) if x < 709.0 else math.inf)


def _relu(x: float) -> float:
    return x if x != x else max(x, 0.0)


def _log(x: float) -> float:
    if x != x or x < 0:
        return math.nan
    return math.log(x) if x > 0 else -math.inf


def _sqrt(x: float) -> float:
    return math.nan if x != x or x < 0 else math.sqrt(x)


def _divide(a: float, b: float) -> float:
    if b != 0:
        return a / b
    return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1.0, b)


def _negate(x: float) -> float:
    return -x


def _recip(x: float) -> float:
    return _divide(1.0, x)


def _rsqrt(x: float) -> float:
    return _recip(_sqrt(x))


def _sigmoid(x: float) -> float:
    return _recip(1.0 + _exp(-x))


def _tanh(x: float) -> float:
    return math.tanh(x)


def _add(a: float, b: float) -> float:
    return a + b


def _subtract(a: float, b: float) -> float:
    return a - b


def _multiply(a: float, b: float) -> float:
    return a * b


_NUMERIC: dict[str, Any] = {
    "exp": _exp,
    "neg": _negate,
    "abs": math.fabs,
    "relu": _relu,
    "log": _log,
    "sqrt": _sqrt,
    "tanh": _tanh,
    "recip": _recip,
    "rsqrt": _rsqrt,
    "sigmoid": _sigmoid,
    "add": _add,
    "sub": _subtract,
    "mul": _multiply,
    "div": _divide,
}


def evaluate(tree: Tree, inputs: Sequence[float], state: float, old: float = 0.0, new: float = 0.0) -> float:
    """IEEE value of a tree at scalars; NaN if it has an operator without a scalar meaning here."""
    match tree[0]:
        case "input":
            return inputs[int(tree[1])]
        case "state":
            return state
        case "old":
            return old
        case "new":
            return new
        case "const":
            return float(tree[1])
        case _:
            name = str(tree[1][0]) if tree[1] else ""
            if name not in _NUMERIC:
                return math.nan
            function = _NUMERIC[name]
            return float(function(*(evaluate(arg, inputs, state, old, new) for arg in tree[2:])))
