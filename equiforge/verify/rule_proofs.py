"""Proofs of algebra rules: the rule is run on instances whose arguments are symbols, and what it unites must be equal
as expressions.

Each element of each e-node is compared with that of its class. SymPy shows most equalities for all real arguments
(``SymPy``). Where it does not simplify to the end (maxima, roots), both sides are evaluated at random rational
arguments, exactly where the values are rational (``exact rationals``), else to 60 digits (``60 digits``). Extents are 1
to 4: the sums are written out.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from equiforge.dialects.op_table import OPERATOR_FACTS
from equiforge.egraph.catalogue import RuleEntry
from equiforge.egraph.graph import EGraph, ENode
from equiforge.egraph.rule_syntax import atoms
from equiforge.verify.rule_certificates import Check, draw_instances, run_alone
from equiforge.verify.rule_instances import Unbuildable
from equiforge.verify.symbolic_values import NoMeaningError, SymbolicEvaluator, symbols_of, sympy

KINDS = ("SymPy", "exact rationals", "60 digits")
_INSTANCES = 6
_POINTS = 8
_DIGITS = 60


def prove_rule(rule: RuleEntry, seed: int = 0) -> Check:
    """The proof of an algebra rule; ``kind`` is the weakest of what its elements needed."""
    weakest = matches = compared = 0
    for number in range(4 * _INSTANCES):
        try:
            graph = draw_instances(rule, 500_000 + 1000 * seed + number, tensor_level=True, count=1)
        except Unbuildable as error:
            return Check(rule.name, KINDS[0], failure=str(error))
        if graph is None:
            continue
        engine, result = run_alone(rule, graph, rounds=1)
        if not engine.stats.matches.get(rule.name):
            continue
        matches += 1
        try:
            for first, second, owner in _pairs(result, _known(rule)):
                compared += 1
                kind = _equal(first, second, random.Random(compared))
                if kind is None:
                    what = f"{first} and {second} differ in the class of {owner}"
                    return Check(rule.name, KINDS[weakest], matches, compared, what)
                weakest = max(weakest, kind)
        except NoMeaningError as error:
            return Check(rule.name, KINDS[weakest], matches, compared, f"{error} has no symbolic meaning")
        if matches == _INSTANCES:
            break
    failure = None if compared else "no instance matched"
    return Check(rule.name, KINDS[weakest], matches, compared, failure)


def _known(rule: RuleEntry) -> set[str] | None:
    """The operators that a rule names; None if it asks for the algebra of an operator."""
    words = atoms(rule.form)
    if words & {*OPERATOR_FACTS, "constant", "nonneg", "positive", "nonpos", "unit", "moderate", "finite"}:
        return None
    return {word.strip('"') for word in words if word.startswith('"')}


def _pairs(graph: EGraph, known: set[str] | None) -> Iterator[tuple[Any, Any, ENode]]:
    """Elements of two e-nodes of one class, for all classes with several."""
    inputs = [symbols_of(name, shape, element) for name, shape, element in graph.inputs]
    for owned in SymbolicEvaluator(graph, inputs, known).all_values().values():
        (node, first), *others = owned
        for _, other in others:
            if first.shape != other.shape:
                yield first.shape, other.shape, node
                continue
            for a, b in zip(first.ravel(), other.ravel(), strict=True):
                yield a, b, node


def _equal(a: Any, b: Any, chooser: random.Random) -> int | None:
    """How two expressions are equal, as an index into KINDS; None if they are not."""
    s = sympy()
    if a == b:
        return 0
    if isinstance(a, tuple) or isinstance(b, tuple):
        return None
    if a.is_Boolean or b.is_Boolean:
        return 0 if s.simplify_logic(s.Equivalent(a, b)) == s.true else None
    difference = a - b
    if not difference.has(s.Max, s.Min, s.Piecewise) and (s.expand(difference) == 0 or s.simplify(difference) == 0):
        return 0
    return _equal_at_points(a, b, chooser)


def _equal_at_points(a: Any, b: Any, chooser: random.Random) -> int | None:
    s = sympy()
    kind = 1
    free = sorted(a.free_symbols | b.free_symbols, key=str)
    for _ in range(_POINTS):
        point = {x: _rational(x, chooser) for x in free}
        left, right = a.subs(point), b.subs(point)
        if left == right:
            continue
        kind = 2
        left, right = s.N(left, _DIGITS), s.N(right, _DIGITS)
        if left == right:
            continue
        if not (left.is_finite and right.is_finite) or abs(left - right) > s.Float(10) ** (10 - _DIGITS) * (
            1 + abs(left)
        ):
            return None
    return kind


def _rational(symbol: Any, chooser: random.Random) -> Any:
    if symbol.is_real is None:
        return chooser.choice((sympy().true, sympy().false))
    return sympy().Rational(chooser.randint(-40, 40), chooser.choice((1, 2, 3, 5, 7)))
