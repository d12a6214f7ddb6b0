"""Repair synthesis with SymPy.

A consumer accumulates contributions g(x, s) that depend on the final value s of a producer. While the producer still
runs, the
consumer holds ρC of g(x, s) for the s so far; a *repair* h with

    h(g(x, s), s, s') = g(x, s')            the contribution follows the producer
    h(ρC(a, b), s, s') = ρC(h(a), h(b))     and distributes over the consumer's reduction

brings it to the new s'. Two families are solved for: a factor g(x, s')/g(x, s), and a summand g(x, s') - g(x, s),
that don't depend on x.
"""

from __future__ import annotations

import importlib
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from equiforge.egraph.contributions import IDENTITY, Tree, evaluate

__all__ = ["Refusal", "Repair", "Tree", "synthesize", "value_at_identity"]


def _sympy() -> Any:
    """SymPy, loaded when a repair is first looked for; it comes without types."""
    return importlib.import_module("sympy")


@dataclass(frozen=True)
class Repair:
    """``tree`` over ``("old",)`` and ``("new",)`` is the factor (``mode`` mul) or summand (``mode`` add);
    ``certificate`` says what was shown."""

    mode: str
    tree: Tree
    certificate: str


@dataclass(frozen=True)
class Refusal:
    """No repair: the reason, in words."""

    reason: str


def _to_sympy(tree: Tree, symbols: dict[Tree, Any]) -> Any:
    sympy = _sympy()
    if tree[0] in ("input", "state"):
        return symbols.setdefault(tree, sympy.Symbol("_".join(str(t) for t in tree), real=True))
    if tree[0] == "const":
        return _constant(tree, symbols)
    arguments = [_to_sympy(arg, symbols) for arg in tree[2:]]
    name = tree[1][0] if tree[1] else ""
    if any(a is None for a in arguments):
        return None
    return _apply(name, arguments)


def _apply(name: str, arguments: list[Any]) -> Any:
    """The operator as a SymPy expression; None if it has none here."""
    sympy = _sympy()
    match name, arguments:
        case (("exp" | "log" | "sqrt" | "tanh"), [a]):
            return getattr(sympy, name)(a)
        case "abs", [a]:
            return sympy.Abs(a)
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


def _constant(tree: Tree, symbols: dict[Tree, Any]) -> Any:
    """A short binary fraction as itself; any other constant as a symbol of its sign, so that what is shown holds for
    every such constant.

    Exact rationals of arbitrary floats have 50-bit denominators and make simplification slow.
    """
    sympy = _sympy()
    value = tree[1]
    if not math.isfinite(value):
        return None
    if value * 1024 == int(value * 1024) and abs(value) < 1024:
        return sympy.Rational(value)
    return symbols.setdefault(tree, sympy.Symbol(f"c_{len(symbols)}", positive=value > 0, negative=value < 0))


def _to_tree(expression: Any, leaves: dict[Any, Tree]) -> Tree | None:
    """SymPy expression over ``leaves`` as a tree, or None if it has a function that the IR lacks."""
    sympy = _sympy()
    if expression in leaves:
        return leaves[expression]
    if expression.is_number:
        return ("const", float(expression))
    arguments = [_to_tree(a, leaves) for a in expression.args]
    if any(a is None for a in arguments):
        return None
    if isinstance(expression, sympy.exp):
        return ("unary", ("exp",), arguments[0])
    if isinstance(expression, (sympy.Add, sympy.Mul)):
        return _fold(expression, arguments, leaves)
    powers = {sympy.Integer(-1): "recip", sympy.Rational(1, 2): "sqrt", sympy.Rational(-1, 2): "rsqrt"}
    if isinstance(expression, sympy.Pow) and expression.exp in powers:
        return ("unary", (powers[expression.exp],), arguments[0])
    return None


def _fold(expression: Any, arguments: list[Tree | None], leaves: dict[Any, Tree]) -> Tree | None:
    """A sum or product as binary operations; a term with factor -1 is subtracted."""
    sympy = _sympy()
    if isinstance(expression, sympy.Mul):
        result = arguments[0]
        for argument in arguments[1:]:
            result = ("binary", ("mul",), result, argument)
        return result
    positive = [a for a in expression.args if not a.could_extract_minus_sign()]
    negative = [-a for a in expression.args if a.could_extract_minus_sign()]
    terms = [_to_tree(a, leaves) for a in positive]
    result = terms[0] if terms else ("const", 0.0)
    for term in terms[1:]:
        result = ("binary", ("add",), result, term)
    for term in negative:
        result = ("binary", ("sub",), result, _to_tree(term, leaves))
    return result


def _holds_at_samples(difference: Any) -> bool:
    """Exact or 40-digit check of ``difference == 0`` at rational points."""
    sympy = _sympy()
    free = sorted(difference.free_symbols, key=str)
    for k in range(6):
        point = {s: sympy.Rational(3 * k + 2 * i + 1, 2 * i + 3) * (-1) ** (k + i) for i, s in enumerate(free)}
        value = sympy.N(difference.subs(point), 40)
        if value.is_finite and abs(value) > sympy.Float("1e-30"):
            return False
    return True


def _depends_on_inputs(contribution: Tree) -> bool:
    """True if samples show that neither the factor nor the summand between two states is free of the inputs; cheap,
    and never wrong to ask."""
    states = (0.75, 1.625)
    factors: list[float] = []
    summands: list[float] = []
    for k in range(3):
        inputs = [0.3 + 0.37 * ((5 * i + 3 * k) % 7) for i in range(16)]
        before, after = (evaluate(contribution, inputs, s) for s in states)
        if not (math.isfinite(before) and math.isfinite(after)) or before == 0:
            return False
        factors.append(after / before)
        summands.append(after - before)
    return all(max(values) - min(values) > 1e-6 * max(map(abs, values)) for values in (factors, summands))


@lru_cache(maxsize=4096)
def synthesize(contribution: Tree, consumer: str, producer: str, producer_input: int) -> Repair | Refusal:
    """The repair for a contribution under reducers ``consumer`` and ``producer``, or why there is none.

    ``producer_input`` is the number of the contribution's input that is also the producer's input, -1 if it does not
    occur.
    """
    if _depends_on_inputs(contribution):
        return Refusal("neither factor nor summand between two states is free of the inputs")
    sympy = _sympy()
    symbols: dict[Tree, Any] = {}
    g = _to_sympy(contribution, symbols)
    if g is None:
        return Refusal("the contribution has an operator without a symbolic form")
    s = symbols.get(("state",))
    if s is None:
        return Refusal("the contribution does not use the producer")
    old, new = sympy.symbols("s_old s_new", real=True)
    before, after = g.subs(s, old), g.subs(s, new)
    inputs = {symbol for tree, symbol in symbols.items() if tree[0] == "input"}
    leaves = {old: ("old",), new: ("new",)} | {symbol: tree for tree, symbol in symbols.items() if tree[0] == "const"}
    factor = sympy.simplify(after / before)
    if not factor.free_symbols & inputs:
        mode, repair = "mul", factor
        if consumer in ("max", "min") and not factor.is_positive:
            return Refusal(f"the factor {factor} is not known positive: it does not distribute over {consumer}")
        if consumer == "prod":
            return Refusal("a factor does not distribute over a product")
    else:
        summand = sympy.simplify(after - before)
        if summand.free_symbols & inputs:
            return Refusal(f"neither factor nor summand is free of the inputs: {factor}")
        if consumer not in ("max", "min"):
            return Refusal(
                f"the summand {summand} does not distribute over {consumer}: it counts once for each element"
            )
        mode, repair = "add", summand
    repaired = before * repair if mode == "mul" else before + repair
    if sympy.simplify(repaired - after) != 0 or not _holds_at_samples(repaired - after):
        return Refusal(f"the identity h(g(x,s),s,s') = g(x,s') does not hold for {repair}")
    tree = _to_tree(repair, leaves)
    if tree is None:
        return Refusal(f"the repair {repair} has no form in the IR")
    unguarded = _guard_fails(contribution, tree, consumer, producer, producer_input)
    if unguarded is not None:
        return Refusal(unguarded)
    return Repair(mode, tree, f"g = {g}; h(c) = c {'*' if mode == 'mul' else '+'} ({repair}); h(g(x,s)) - g(x,s') = 0")


_RUNNING = (0.0, 0.5, -0.5, 7.0, -3.0, 1e4, -1e4)


def _guard_fails(contribution: Tree, repair: Tree, consumer: str, producer: str, producer_input: int) -> str | None:
    """Why the identity state can't be guarded by putting 0 for an identity producer, or None.

    With the producer at its identity so far, every input so far was that identity: the contribution must be the
    consumer's
    identity and the repair must keep it, without inf - inf.
    """
    start = IDENTITY[producer]
    if math.isfinite(start):
        # A running sum can be any number on its way: the repair must be defined, and not overflow, wherever it passes.
        for old in _RUNNING:
            for new in _RUNNING:
                values = (evaluate(contribution, [1.0] * 16, new), evaluate(repair, [1.0] * 16, 0.0, old, new))
                if not all(map(math.isfinite, values)):
                    where = f"a running {producer} of {new:g} after {old:g}"
                    return f"the contribution or its repair is not finite at {where}"
        return None
    if producer_input < 0:
        return "the contribution does not read the producer's own input, so an identity state can't be guarded"
    inputs = [1.0] * 16
    inputs[producer_input] = start
    if evaluate(contribution, inputs, 0.0) != IDENTITY[consumer]:
        return "an input that is the producer's identity does not contribute the consumer's identity"
    for new in (0.0, 1.5):
        value = evaluate(repair, inputs, 0.0, old=start, new=new)
        moved = value * IDENTITY[consumer] if consumer == "sum" else value + IDENTITY[consumer]
        if moved != IDENTITY[consumer]:
            return "the repair does not keep the consumer's identity at the producer's identity"
    return None


def value_at_identity(contribution: Tree, producer: str, producer_input: int) -> float:
    """What the unfused program contributes for a row whose producer ends at its identity (NaN for softmax)."""
    start = IDENTITY[producer]
    inputs = [1.0] * 16
    if producer_input >= 0:
        inputs[producer_input] = start
    return evaluate(contribution, inputs, start)
