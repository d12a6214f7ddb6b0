"""Expression trees of contributions as SymPy expressions and back, and the checks of identities between them."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from typing import Any

from equiforge.egraph.contributions import Tree

_EXACT = 1 << 53
"""Integers up to here are exact as floats."""
Symbols = dict[Tree, Any]
"""The SymPy symbol of each leaf, and of each constant that is taken as a symbol."""


def sympy_module() -> Any:
    """SymPy, loaded when a repair is first looked for; it comes without types."""
    return importlib.import_module("sympy")


def to_sympy(tree: Tree, symbols: Symbols, logical: bool = False) -> Any:
    """The expression of a tree, with new symbols entered into ``symbols``; None if it has an operator without a
    symbolic form. A ``logical`` one is a condition."""
    sympy = sympy_module()
    if tree[0] in ("input", "state"):
        if tree not in symbols:
            name = "_".join(str(t) for t in tree)
            symbols[tree] = sympy.Symbol(name) if logical else sympy.Symbol(name, real=True)
        return symbols[tree]
    if tree[0] == "const":
        return _constant(tree, symbols)
    if tree[0] == "select":
        condition = to_sympy(tree[2], symbols, logical=True)
        branches = [to_sympy(part, symbols, logical) for part in tree[3:]]
        if condition is None or any(b is None for b in branches):
            return None
        return sympy.Piecewise((branches[0], condition), (branches[1], True))
    name = tree[1][0] if tree[1] else ""
    arguments = [to_sympy(arg, symbols, name in ("and", "or", "not")) for arg in tree[2:]]
    if any(a is None for a in arguments):
        return None
    return _apply(name, arguments)


_FUNCTIONS = {"exp": "exp", "log": "log", "sqrt": "sqrt", "tanh": "tanh", "abs": "Abs", "max": "Max", "min": "Min"}
_LOGIC = {"and": "And", "or": "Or", "not": "Not"}
_RELATIONS = {"eq": "Eq", "ne": "Ne", "lt": "Lt", "le": "Le", "gt": "Gt", "ge": "Ge"}


def _apply(name: str, arguments: list[Any]) -> Any:
    """The operator as a SymPy expression; None if it has none here."""
    sympy = sympy_module()
    known = _FUNCTIONS.get(name) or _LOGIC.get(name) or _RELATIONS.get(name.removeprefix("cmp."))
    if known is not None:
        return getattr(sympy, known)(*arguments)
    match name, arguments:
        case "neg", [a]:
            return -a
        case "recip", [a]:
            return 1 / a
        case "rsqrt", [a]:
            return 1 / sympy.sqrt(a)
        case "sigmoid", [a]:
            return 1 / (1 + sympy.exp(-a))
        case "add", [a, b]:
            return a + b
        case "sub", [a, b]:
            return a - b
        case "mul", [a, b]:
            return a * b
        case "div", [a, b]:
            return a / b
        case _:
            return None


def _constant(tree: Tree, symbols: Symbols) -> Any:
    """An integer or a short binary fraction as itself; any other constant as a symbol of its sign, so that what is
    shown holds for every such constant.

    Exact rationals of arbitrary floats have 50-bit denominators and make simplification slow.
    """
    sympy = sympy_module()
    value = tree[1]
    if math.isnan(value):
        return None
    if math.isfinite(value):
        if isinstance(value, int) or value == int(value):
            return sympy.Integer(int(value))
        if value * 1024 == int(value * 1024) and abs(value) < 1024:
            return sympy.Rational(value)
    if tree not in symbols:
        symbols[tree] = sympy.Symbol(f"c_{len(symbols)}", positive=value > 0, negative=value < 0)
    return symbols[tree]


def has_infinity(tree: Tree) -> bool:
    """True if a constant of a tree is infinite or NaN."""
    if tree[0] == "const":
        return not math.isfinite(tree[1])
    return len(tree) > 2 and any(has_infinity(part) for part in tree[2:])


def to_tree(expression: Any, leaves: Mapping[Any, Tree]) -> Tree | None:
    """SymPy expression over ``leaves`` as a tree, or None if it has a function that the IR lacks."""
    sympy = sympy_module()
    if expression in leaves:
        return leaves[expression]
    if expression in (sympy.true, sympy.false):
        return ("const", int(bool(expression)))
    if expression.is_Integer and abs(expression) > _EXACT:
        return ("const", int(expression))
    if expression.is_number:
        return ("const", float(expression))
    arguments = [to_tree(a, leaves) for a in expression.args]
    if any(a is None for a in arguments):
        return None
    if isinstance(expression, (sympy.exp, sympy.tanh, sympy.log)):
        return ("unary", (expression.func.__name__,), arguments[0])
    if isinstance(expression, (sympy.Add, sympy.Mul)):
        return _fold(expression, arguments, leaves)
    return _power(expression, arguments)


def _power(expression: Any, arguments: list[Tree | None]) -> Tree | None:
    sympy = sympy_module()
    if not isinstance(expression, sympy.Pow) or arguments[0] is None:
        return None
    powers = {sympy.Integer(-1): "recip", sympy.Rational(1, 2): "sqrt", sympy.Rational(-1, 2): "rsqrt"}
    if expression.exp in powers:
        return ("unary", (powers[expression.exp],), arguments[0])
    if expression.exp.is_Integer and 2 <= abs(expression.exp) <= 4:
        result = power(arguments[0], abs(int(expression.exp)))
        return result if expression.exp > 0 else ("unary", ("recip",), result)
    return None


def power(tree: Tree, exponent: int) -> Tree:
    """A tree multiplied by itself."""
    result = tree
    for _ in range(exponent - 1):
        result = ("binary", ("mul",), result, tree)
    return result


def _fold(expression: Any, arguments: list[Tree | None], leaves: Mapping[Any, Tree]) -> Tree | None:
    """A sum or product as binary operations; a term with factor -1 is subtracted, a negative power divides."""
    sympy = sympy_module()
    if isinstance(expression, sympy.Mul):
        # Only powers go below the line: exp(a - b) taken apart could overflow.
        below = [a for a in expression.args if isinstance(a, sympy.Pow) and a.exp.is_negative and a.exp.is_Integer]
        above = [to_tree(a, leaves) for a in expression.args if a not in below]
        divisors = [to_tree(1 / a, leaves) for a in below]
        if None in above or None in divisors:
            return None
        result = above[0] if above else ("const", 1.0)
        for factor in above[1:]:
            result = ("binary", ("mul",), result, factor)
        for divisor in divisors:
            result = ("binary", ("div",), result, divisor)
        return result
    positive = [a for a in expression.args if not a.could_extract_minus_sign()]
    negative = [-a for a in expression.args if a.could_extract_minus_sign()]
    terms = [to_tree(a, leaves) for a in positive]
    result = terms[0] if terms else ("const", 0.0)
    for term in terms[1:]:
        result = ("binary", ("add",), result, term)
    for term in negative:
        result = ("binary", ("sub",), result, to_tree(term, leaves))
    return result


def holds_at_samples(difference: Any) -> bool:
    """Exact or 40-digit check of ``difference == 0`` at rational points; those of positive symbols are positive."""
    sympy = sympy_module()
    free = sorted(difference.free_symbols, key=str)
    for k in range(6):
        point = {
            s: sympy.Rational(3 * k + 2 * i + 1, 2 * i + 3) * (1 if s.is_positive else (-1) ** (k + i))
            for i, s in enumerate(free)
        }
        value = sympy.N(difference.subs(point), 40)
        if value.is_finite and abs(value) > sympy.Float("1e-30"):
            return False
    return True


def simplified(expression: Any, unwanted: set[Any]) -> Any:
    """An expression without some symbols, if it is one; SymPy's full simplification, which is slow to load, comes last.

    Exponentials stay together: a product of two may overflow where the exponential of a difference does not.
    """
    sympy = sympy_module()
    found = sympy.powsimp(expression)
    if found.free_symbols & unwanted:
        found = sympy.powsimp(sympy.expand(expression))
    return sympy.simplify(expression) if found.free_symbols & unwanted else found


def vanishes(difference: Any) -> bool:
    """Whether an expression is 0: by expansion or simplification, and at exact samples."""
    sympy = sympy_module()
    return (sympy.expand(difference) == 0 or sympy.simplify(difference) == 0) and holds_at_samples(difference)
