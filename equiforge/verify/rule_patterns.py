"""What the left side of a rule asks for, taken from its parsed text: terms to build, facts, and where facts come from.

A fact such as ``(nonneg a)`` says nothing about how to build ``a``. The rules that conclude it do: the pattern of one
of them, with its variables renamed, stands in for the fact. A fact that no term can be built for is left to the run,
which then needs the rules that conclude it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import cast

from equiforge.dialects.op_table import OPERATOR_FACTS
from equiforge.egraph.catalogue import RuleEntry, catalogue
from equiforge.egraph.engine import rule_text
from equiforge.egraph.rule_syntax import Expression, Form, read_forms

_TERMLESS = ("top", "full", "chain")
"""Facts that hold whatever the term of a value is: by its parallel state, or because it is declared storable."""
_ON_DEMAND = ("to-pick", "picked")
"""Facts that only the run of other rules gives: what a picked operand is has no term before."""
_DEPTH = 3
"""How many rules deep a fact is traced back."""


@cache
def constructors() -> dict[str, tuple[str, ...]]:
    """The sorts of the arguments of each constructor of the language."""
    (datatype,) = [form for form in read_forms(rule_text("language")) if form[:2] == ["datatype", "Tensor"]]
    return {
        str(variant[0]): tuple(str(sort) for sort in variant[1:])
        for variant in datatype[2:]
        if isinstance(variant, list)
    }


@cache
def relations() -> dict[str, tuple[str, ...]]:
    """The sorts of the arguments of each relation of the language."""
    return {
        str(form[1]): tuple(str(sort) for sort in form[2])
        for form in read_forms(rule_text("language"))
        if form[0] == "relation" and isinstance(form[2], list)
    }


def is_term(expression: Expression) -> bool:
    """True for a constructor application."""
    return isinstance(expression, list) and bool(expression) and expression[0] in constructors()


def is_literal(atom: str) -> bool:
    """True for a number or a string with its quotes."""
    return atom[0] == '"' or atom in ("inf", "-inf") or atom.removeprefix("-")[:1].isdigit()


def conclusions(rule: RuleEntry) -> list[Form]:
    """The facts that a rule concludes: its actions that name a relation."""
    return [a for a in rule.actions if isinstance(a, list) and a[0] in relations()]


@cache
def producers(relation: str) -> tuple[RuleEntry, ...]:
    """The rules that conclude a relation."""
    return tuple(rule for rule in catalogue().rules if any(c[0] == relation for c in conclusions(rule)))


def prerequisites(rule: RuleEntry, given: set[str]) -> list[str]:
    """Rules outside the analyses that conclude what a rule reads, directly or not; ``given`` relations are there
    without a rule."""
    names: dict[str, None] = {}
    work = [rule]
    while work:
        for fact in work.pop().facts:
            relation = fact[0] if isinstance(fact, list) else ""
            if relation in relations() and relation not in given and relation not in _TERMLESS:
                for producer in producers(str(relation)):
                    if producer.ruleset != "analysis" and producer.name not in names and producer != rule:
                        names[producer.name] = None
                        work.append(producer)
    return list(names)


@dataclass
class Pattern:
    """Terms to build (``terms``: variable to constructor application), equations and comparisons on attributes, and the
    values that constants must have."""

    terms: dict[str, Form] = field(default_factory=lambda: {})
    tensors: dict[str, None] = field(default_factory=lambda: {})
    """Variables that stand for a class, in the order in which they occur."""
    conditions: list[Form] = field(default_factory=lambda: [])
    constants: dict[str, Expression] = field(default_factory=lambda: {})
    """Variables that are splat constants: the value, or the variable for it."""
    top: set[str] = field(default_factory=lambda: set[str]())
    unbuilt: set[str] = field(default_factory=lambda: set[str]())
    """Variables whose term only a rule makes."""
    relations: set[str] = field(default_factory=lambda: set[str]())

    def allows(self, variable: Expression, name: object, value: Callable[[Expression], object]) -> bool:
        """Whether what is asked of operators leaves a name possible for a variable; ``value`` is that of an expression,
        None where it is not settled."""
        return all(
            any(self._fits(fact[1:], row, variable, name, value) for row in OPERATOR_FACTS[str(fact[0])])
            for fact in self.conditions
            if str(fact[0]) in OPERATOR_FACTS and variable in fact[1:]
        )

    @staticmethod
    def _fits(
        asked: list[Expression],
        row: tuple[str, ...],
        variable: Expression,
        name: object,
        value: Callable[[Expression], object],
    ) -> bool:
        settled = (name if part == variable else value(part) for part in asked)
        return all(found in (None, wanted) for found, wanted in zip(settled, row, strict=True))


def read_pattern(rule: RuleEntry, chooser: random.Random) -> Pattern:
    """The pattern of a rule; where a fact can come from several rules, one is chosen."""
    pattern = Pattern()
    _add_facts(pattern, rule.facts, chooser, _DEPTH)
    return pattern


def _add_facts(pattern: Pattern, facts: list[Expression], chooser: random.Random, depth: int) -> None:
    later: list[Form] = []
    for fact in facts:
        assert isinstance(fact, list)
        if fact[0] == "=":
            _add_equation(pattern, fact)
        elif fact[0] in relations():
            later.append(fact)
        else:
            pattern.conditions.append(fact)
    for fact in later:
        _add_relation(pattern, fact, chooser, depth)


def _add_equation(pattern: Pattern, fact: Form) -> None:
    terms = [side for side in fact[1:] if is_term(side)]
    names = [side for side in fact[1:] if isinstance(side, str) and not is_literal(side)]
    if terms and names:
        _define(pattern, names[0], terms[0])
        return
    values = [side for side in fact[1:] if isinstance(side, list) and side[0] == "constant"]
    if values:
        name = str(values[0][1])
        pattern.tensors[name] = None
        pattern.constants[name] = next(side for side in fact[1:] if side is not values[0])
        return
    _note_tensors(pattern, fact)
    pattern.conditions.append(fact)


def _define(pattern: Pattern, name: str, term: Expression) -> None:
    assert isinstance(term, list)
    pattern.tensors[name] = None
    pattern.terms.setdefault(name, term)
    _note_tensors(pattern, term)


def _note_tensors(pattern: Pattern, expression: Expression) -> None:
    """Notes the variables that stand for classes in an expression."""
    if not isinstance(expression, list):
        return
    sorts = constructors().get(str(expression[0])) or (("Tensor",) if expression[0] in ("ty", "state") else ())
    for position, part in enumerate(expression[1:]):
        if isinstance(part, list):
            _note_tensors(pattern, part)
        elif position < len(sorts) and sorts[position] == "Tensor" and not is_literal(part):
            pattern.tensors[part] = None


def _add_relation(pattern: Pattern, fact: Form, chooser: random.Random, depth: int) -> None:
    relation = str(fact[0])
    pattern.relations.add(relation)
    sorts = relations()[relation]
    if relation in _ON_DEMAND:
        pattern.unbuilt.update(part for part in fact[4:] if isinstance(part, str))
        return
    subjects = [str(part) for part, sort in zip(fact[1:], sorts, strict=True) if sort == "Tensor"]
    for subject in subjects:
        pattern.tensors[subject] = None
    if relation == "top":
        pattern.top.update(subjects)
    elif relation == "negative-zero":
        pattern.constants[subjects[0]] = "-0.0"
    elif relation not in _TERMLESS and subjects and subjects[0] not in pattern.constants:
        defined = pattern.terms.get(subjects[0])
        options = [p for p in producers(relation) if defined is None or _defines(p, fact, defined)]
        if depth and options:
            _trace_back(pattern, fact, chooser.choice(options), chooser, depth)
            return
    if not subjects:
        pattern.conditions.append(fact)


def _subject_term(producer: RuleEntry, relation: Expression) -> Form | None:
    """The term that a rule has, or makes, for the class that it concludes a relation of."""
    subject = next(c for c in conclusions(producer) if c[0] == relation)[1]
    for form in (*producer.facts, *producer.actions):
        if isinstance(form, list) and form[:2] in (["=", subject], ["let", subject]) and is_term(form[2]):
            return cast(Form, form[2])
    return None


def _defines(producer: RuleEntry, fact: Form, term: Form) -> bool:
    """True if a rule that concludes a fact looks at the constructor that its class is made by."""
    own = _subject_term(producer, fact[0])
    return own is not None and own[0] == term[0]


def _trace_back(pattern: Pattern, fact: Form, producer: RuleEntry, chooser: random.Random, depth: int) -> None:
    """Adds the pattern of a rule that concludes a fact, its variables renamed to those of the fact."""
    conclusion = next(c for c in conclusions(producer) if c[0] == fact[0])
    lets = {str(a[1]): a[2] for a in producer.actions if isinstance(a, list) and a[0] == "let"}
    known: dict[str, Expression] = {}
    for theirs, ours in zip(conclusion[1:], fact[1:], strict=True):
        if isinstance(theirs, str) and theirs in lets:
            known[theirs] = ours
        elif isinstance(theirs, str) and not is_literal(theirs):
            known.setdefault(theirs, ours)
    own, defined = _subject_term(producer, fact[0]), pattern.terms.get(str(fact[1]))
    if own is not None and defined is not None:
        known.update({p: o for p, o in zip(own[1:], defined[1:], strict=True) if isinstance(p, str)})
    mark = f"_{len(pattern.tensors)}_{chooser.randrange(1_000_000)}"
    facts = [_renamed(f, known, mark) for f in producer.facts]
    for name, term in lets.items():
        if name in known:
            form = Form(producer.line)
            form.extend(["=", known[name], _renamed(term, known, mark)])
            facts.append(form)
    _add_facts(pattern, facts, chooser, depth - 1)


def _renamed(expression: Expression, known: dict[str, Expression], mark: str, head: bool = False) -> Expression:
    if isinstance(expression, list):
        form = Form(expression.line)
        form.extend(_renamed(part, known, mark, place == 0) for place, part in enumerate(expression))
        return form
    if head or is_literal(expression):
        return expression
    return known.get(expression, f"{expression}{mark}")
