"""Contributions and repairs as expression trees, and their IEEE value at scalars.

A tree is a leaf or ``(op, attrs, *arguments)`` with the operators of pointwise e-nodes. The leaves:

======================  ====================================================================
``("input", i)``        input number i of the loop, an element of its tile
``("const", value)``    a number
``("state",)``          the producer: field 0 after this tile; ``("state", k)`` is field k
``("old",)``            in a repair: the producer before; ``("old", k)`` is field k
``("new",)``            in a repair: the producer after; ``("new", k)`` is field k
``("held",)``           in a repair: what the consumer holds so far
======================  ====================================================================
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Tree = tuple[Any, ...]
LEAVES = ("input", "const", "state", "old", "new", "held")
IDENTITY = {"sum": 0.0, "prod": 1.0, "max": -math.inf, "min": math.inf, "any": 0.0, "all": 1.0}
ORDERED = ("max", "min")
"""Reducers that take one of their elements."""


def identity_of(reducer: str, element: str = "f32") -> float | int:
    """The identity of a reducer, which for integers is their extreme value."""
    value = IDENTITY[reducer]
    if element[0] == "i" and math.isinf(value):
        bits = int(element[1:])
        return -(1 << (bits - 1)) if value < 0 else (1 << (bits - 1)) - 1
    return value


def state_of(leaf: Tree) -> int | str:
    """The state that a leaf ``state``, ``old`` or ``new`` reads: its number, or its name during synthesis."""
    return leaf[1] if len(leaf) == 2 else 0


def leaves_of(tree: Tree) -> Iterator[Tree]:
    """The leaves of a tree, from left to right."""
    if tree[0] in LEAVES:
        yield tree
    else:
        for part in tree[2:]:
            yield from leaves_of(part)


def number_of_inputs(tree: Tree) -> int:
    """One more than the largest number of an input that the tree reads."""
    return max((int(str(part[1])) + 1 for part in leaves_of(tree) if part[0] == "input"), default=0)


def replaced(tree: Tree, change: Callable[[Tree], Tree]) -> Tree:
    """A tree with each leaf changed."""
    if tree[0] in LEAVES:
        return change(tree)
    return (tree[0], tree[1], *(replaced(part, change) for part in tree[2:]))


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


def _maximum(a: float, b: float) -> float:
    return math.nan if a != a or b != b else max(a, b)


def _minimum(a: float, b: float) -> float:
    return math.nan if a != a or b != b else min(a, b)


def _not(a: float) -> float:
    return float(a == 0)


def _truth(test: Callable[[float, float], bool]) -> Callable[[float, float], float]:
    return lambda a, b: float(test(a, b))


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
    "max": _maximum,
    "min": _minimum,
    "not": _not,
    "and": _truth(lambda a, b: a != 0 and b != 0),
    "or": _truth(lambda a, b: a != 0 or b != 0),
    "cmp.eq": _truth(lambda a, b: a == b),
    "cmp.ne": _truth(lambda a, b: a != b),
    "cmp.lt": _truth(lambda a, b: a < b),
    "cmp.le": _truth(lambda a, b: a <= b),
    "cmp.gt": _truth(lambda a, b: a > b),
    "cmp.ge": _truth(lambda a, b: a >= b),
}

COMBINE: dict[str, Callable[[float, float], float]] = {
    "sum": _add,
    "prod": _multiply,
    "max": _maximum,
    "min": _minimum,
    "any": _NUMERIC["or"],
    "all": _NUMERIC["and"],
}
"""How a reducer joins two numbers."""


def value_of(tree: Tree, leaves: Mapping[Tree, float]) -> float:
    """IEEE value of a tree, given its leaves; NaN if it has an operator without a scalar meaning here. Of a select,
    only the branch that is taken is computed."""
    if tree[0] == "const":
        return float(tree[1])
    if tree[0] in LEAVES:
        return leaves[tree]
    if tree[0] == "cast":
        return value_of(tree[2], leaves)
    if tree[0] == "select":
        return value_of(tree[3] if value_of(tree[2], leaves) else tree[4], leaves)
    function = _NUMERIC.get(str(tree[1][0]) if tree[1] else "")
    if function is None:
        return math.nan
    return float(function(*(value_of(part, leaves) for part in tree[2:])))


def evaluate(tree: Tree, inputs: Sequence[float], state: float, old: float = 0.0, new: float = 0.0) -> float:
    """IEEE value of a tree of one producer at scalars."""
    leaves: dict[Tree, float] = {("input", i): x for i, x in enumerate(inputs)}
    return value_of(tree, leaves | {("state",): state, ("old",): old, ("new",): new})
