"""Counts of rules: as they are written, and as rules of one operator each.

A rule here ranges over operators, reducers and kinds of view. Written for one of each it would be as many rules as
:func:`forms` says: one for each pointwise operator that a name can be (a comparison counts once, whatever its
predicate), one for each reducer, and two for a view that may be a partition or a replication. Dimensions, permutations,
shapes and element types are not counted: a rule for one operator ranges over these too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from equiforge.dialects.op_table import BINARY, OPERATOR_FACTS, REDUCERS, UNARY
from equiforge.egraph.catalogue import RuleEntry, catalogue
from equiforge.egraph.rule_syntax import Expression

_COMPARE = 1
_ARITHMETIC = ("+", "-", "*", "/")
_NAMED = {"Unary": len(UNARY), "Binary": len(BINARY) + _COMPARE, "Reduce": len(REDUCERS), "PReduce": len(REDUCERS)}
PAPER = {"algebra": 21, "refinement": 10, "propagation": 73, "repair": 9, "structure": 6, "storage": 1}
"""What the paper counts by family; its reduction fusion is the family ``repair`` here."""


@dataclass(frozen=True)
class FamilyCount:
    """Rules of a family, and rules of one operator each; ``paper`` is the paper's number, where it has the family."""

    family: str
    rules: int
    forms: int
    paper: int | None


def _terms(expression: Expression) -> Iterator[list[Expression]]:
    if isinstance(expression, list):
        yield expression
        for part in expression:
            yield from _terms(part)


def forms(rule: RuleEntry) -> int:
    """How many rules of one operator, reducer and kind of view a rule stands for."""
    options: dict[str, int] = {}
    views: set[str] = set()
    for term in (t for fact in rule.facts for t in _terms(fact)):
        head, name = (term[0], term[1]) if len(term) > 1 else ("", "")
        if not isinstance(head, str) or not isinstance(name, str) or name.startswith('"'):
            continue
        if head in _NAMED:
            options.setdefault(name, _NAMED[head])
        elif head == "View" and name.isidentifier():
            views.add(name)
    for term in (t for fact in rule.facts for t in _terms(fact)):
        if term and term[0] in OPERATOR_FACTS:
            # A row of the relation settles all of its names.
            for place, name in enumerate(term[1:]):
                options[str(name)] = 1 if place else len(OPERATOR_FACTS[str(term[0])])
    total = 1
    for count in options.values():
        total *= count
    return total * 2 ** sum(not _is_partition(rule, view) for view in views)


def _is_partition(rule: RuleEntry, dim: str) -> bool:
    """True if the rule settles that a view's dimension is one of the tensor's."""
    for fact in rule.facts:
        assert isinstance(fact, list)
        if fact[0] == "<=" and fact[1:] == ["0", dim]:
            return True
        if fact[0] == "=" and dim in fact[1:] and any(isinstance(s, list) and s[0] in _ARITHMETIC for s in fact[1:]):
            return True
        if any(term[0] == "survives" and dim in term for term in _terms(fact)):
            return True
    return False


def family_counts(repairs: int) -> list[FamilyCount]:
    """The counts of all families in the order of the rule files; ``repairs`` is the number of repair families."""
    rules: dict[str, list[RuleEntry]] = {}
    for rule in catalogue().rules:
        rules.setdefault(rule.family, []).append(rule)
    counts = [
        FamilyCount(family, len(owned), sum(map(forms, owned)), PAPER.get(family)) for family, owned in rules.items()
    ]
    place = next((i + 1 for i, c in enumerate(counts) if c.family == "propagation"), len(counts))
    counts.insert(place, FamilyCount("repair", repairs, repairs, PAPER["repair"]))
    return counts
