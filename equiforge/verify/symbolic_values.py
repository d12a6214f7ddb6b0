"""E-graphs at tensor level on symbols: the value of an e-node as an array of SymPy expressions.

Operators are read in two ways. One that a rule names, or whose algebra it asks for (``commutes``, ``associates``), has
its mathematical meaning. One that the rule ranges over without asking anything of it is an unknown function, so that
what is shown holds for every operator.
"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Sequence
from functools import partial, reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from equiforge.egraph.graph import EGraph, ENode

Values = npt.NDArray[np.object_]
"""An array of SymPy expressions."""


def sympy() -> Any:
    """SymPy, loaded when it is first needed; it comes without types."""
    return importlib.import_module("sympy")


class NoMeaningError(Exception):
    """An operator without a symbolic meaning here."""


def _unary(name: str, x: Any) -> Any:
    s = sympy()
    match name:
        case "exp" | "log" | "sqrt" | "tanh" | "erf" | "sin" | "cos" | "floor":
            return getattr(s, name)(x)
        case "ceil":
            return s.ceiling(x)
        case "round":
            # Halves go to the even neighbour.
            half = x + s.Rational(1, 2)
            return s.floor(half) - s.Piecewise((1, s.Eq(s.Mod(half, 2), 1)), (0, True))
        case "neg":
            return -x
        case "abs":
            return s.Abs(x)
        case "recip":
            return 1 / x
        case "rsqrt":
            return 1 / s.sqrt(x)
        case "sigmoid":
            return 1 / (1 + s.exp(-x))
        case "relu":
            return s.Max(x, 0)
        case "not":
            return s.Not(x)
        case _:
            raise NoMeaningError(name)


def _binary(name: str, a: Any, b: Any) -> Any:
    s = sympy()
    match name:
        case "add":
            return a + b
        case "sub":
            return a - b
        case "mul":
            return a * b
        case "div":
            return a / b
        case "max":
            return s.Max(a, b)
        case "min":
            return s.Min(a, b)
        case "pow":
            return a**b
        case "and":
            return s.And(a, b)
        case "or":
            return s.Or(a, b)
        case "xor":
            return s.Xor(a, b)
        case "cmp.eq" | "cmp.ne" | "cmp.lt" | "cmp.le" | "cmp.gt" | "cmp.ge":
            return getattr(s, name.removeprefix("cmp.").capitalize())(a, b)
        case _:
            raise NoMeaningError(name)


_FOLDS = {"sum": "add", "prod": "mul", "max": "max", "min": "min", "any": "or", "all": "and"}


def _unknown(name: str, *arguments: Any) -> Any:
    return sympy().Function("f_" + "".join(c if c.isalnum() else "_" for c in name))(*arguments)


class SymbolicEvaluator:
    """Values of classes and e-nodes of one e-graph. ``inputs`` are the arguments; ``known`` the operators that have
    their meaning, all of them if None."""

    def __init__(self, graph: EGraph, inputs: Sequence[Values], known: set[str] | None):
        self.graph = graph
        self.inputs = inputs
        self.known = known

    def all_values(self) -> dict[int, list[tuple[ENode, Values]]]:
        """The value of every e-node, by class. A class on a cycle is entered through an e-node that is ready."""
        values: dict[int, Values] = {}
        found: dict[int, list[tuple[ENode, Values]]] = {}
        waiting = [(c, n) for c, nodes in self.graph for n in nodes]
        while waiting:
            left: list[tuple[int, ENode]] = []
            for class_id, node in waiting:
                if all(c in values for c in node.children):
                    value = self.node(class_id, node, [values[c] for c in node.children])
                    values.setdefault(class_id, value)
                    found.setdefault(class_id, []).append((node, value))
                else:
                    left.append((class_id, node))
            if len(left) == len(waiting):
                break
            waiting = left
        return found

    def node(self, class_id: int, node: ENode, children: list[Values]) -> Values:
        """The value of an e-node over values of its children. Raises NoMeaningError."""
        attrs: tuple[Any, ...] = node.attrs
        match node.op:
            case "input":
                return self.inputs[int(attrs[0])]
            case "const":
                return self._constant(attrs[0])
            case "unary":
                return self._pointwise(attrs[0], partial(_unary, attrs[0]), children)
            case "binary":
                return self._pointwise(attrs[0], partial(_binary, attrs[0]), children)
            case "select":
                return _each(_select, children)
            case "cast":
                return _each(partial(_unknown, f"cast {attrs[0]}"), children)
            case "matmul":
                return _matmul(*children)
            case "reduce":
                return _fold(children[0], attrs[1], partial(_binary, _FOLDS[attrs[0]]))
            case "transpose":
                return np.transpose(children[0], attrs)
            case "reshape":
                return _reshaped(children[0], attrs)
            case "expand":
                return _grown(children[0], attrs)
            case "slice":
                dim, start, stop, step = attrs
                return children[0][(*[slice(None)] * dim, slice(start, stop, step))]
            case "concat":
                return np.concatenate(children, axis=attrs[0])
            case _:
                raise NoMeaningError(node.op)

    def _pointwise(self, name: str, function: Any, children: list[Values]) -> Values:
        if self.known is not None and name not in self.known:
            return _each(partial(_unknown, name), children)
        return _each(function, children)

    def _constant(self, key: str) -> Values:
        _, shape, values = self.graph.constants[key]
        exact = [_exact(v) for v in values]
        return _array(exact * (int(np.prod(shape)) if len(exact) == 1 else 1), shape)


def _exact(value: float) -> Any:
    s = sympy()
    if value != value:
        return s.nan
    if value in (float("inf"), float("-inf")):
        return s.oo if value > 0 else -s.oo
    return s.Rational(value)


def _array(values: Sequence[Any], shape: Sequence[int]) -> Values:
    made = np.empty(int(np.prod(shape)), dtype=object)
    for place, value in enumerate(values):
        made[place] = value
    return made.reshape(shape)


def _each(function: Any, children: list[Values]) -> Values:
    arrays = np.broadcast_arrays(*children)
    return _array([function(*x) for x in zip(*(a.ravel() for a in arrays), strict=True)], arrays[0].shape)


def _select(condition: Any, a: Any, b: Any) -> Any:
    return sympy().Piecewise((a, condition), (b, True))


def _reshaped(x: Values, shape: Sequence[int]) -> Values:
    return x.reshape(tuple(shape))


def _grown(x: Values, shape: Sequence[int]) -> Values:
    return np.broadcast_to(x, tuple(shape))


def _matmul(a: Values, b: Values) -> Values:
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a = np.broadcast_to(a, (*batch, *a.shape[-2:]))
    b = np.broadcast_to(b, (*batch, *b.shape[-2:]))
    made: list[Any] = []
    for index in itertools.product(*(range(n) for n in (*batch, a.shape[-2], b.shape[-1]))):
        row, column = a[(*index[:-2], index[-2])], b[(*index[:-2], slice(None), index[-1])]
        made.append(reduce(lambda x, y: x + y, [p * q for p, q in zip(row, column, strict=True)]))
    return _array(made, (*batch, a.shape[-2], b.shape[-1]))


def _fold(x: Values, dim: int, function: Any) -> Values:
    parts = np.split(x, x.shape[dim], axis=dim)
    return reduce(lambda a, b: _each(function, [a, b]), parts)


def symbols_of(name: str, shape: Sequence[int], element: str) -> Values:
    """An argument of real symbols, or of Boolean ones."""
    indices = itertools.product(*(range(n) for n in shape))
    names = [f"{name}_{'_'.join(map(str, index))}" for index in indices]
    return _array([sympy().Symbol(n) if element == "i1" else sympy().Symbol(n, real=True) for n in names], shape)
