"""The catalogue of rules, read from the rule files: each rule with its statement, side condition and reason.

The comment block directly above a rule documents it and the rules that follow it without a blank line or another
comment:

    ; 6. Σₖ (x·s)ₖ wₖ = s·Σₖ xₖ wₖ                      number in the catalogue of identities, and the statement
    ; if: s has size 1 along K                            side condition, where there is one
    ; why: s does not depend on k, so it leaves the sum   why it holds
    ; up to: NaN for an infinity in rows that hold one    what the sides may differ in, if they are not equal outright
    ; refused: A = B because it overflows                 a direction that is left out on purpose; any number of them

A line that starts with none of these words continues the one before. A block that a blank line or the end of the file
separates from rules is prose; its ``refused:`` lines count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from equiforge.egraph.engine import family_of
from equiforge.egraph.rule_syntax import Expression, Form, line_of, read_forms
from equiforge.errors import EquiforgeError

_FIELD = re.compile(r"(if|why|up to|refused):\s*(.*)")
_NUMBERED = re.compile(r"(\d+)\.\s+(.*)", re.DOTALL)


@dataclass(frozen=True)
class RuleEntry:
    """One rule of the rule files with its documentation; ``form`` is its parsed text."""

    name: str
    ruleset: str
    file: str
    line: int
    number: int | None
    """Number in the catalogue of algebraic identities."""
    statement: str
    condition: str
    reason: str
    up_to: str
    """Which non-finite values the two sides may differ in; empty for an equality of all numbers, NaN and infinities."""
    form: Form = field(repr=False)

    @property
    def family(self) -> str:
        """The rule family: the ruleset, in which rules under back-off belong to algebra."""
        return family_of(self.ruleset)

    @property
    def facts(self) -> list[Expression]:
        """The query."""
        query = self.form[1]
        assert isinstance(query, list)
        return query

    @property
    def actions(self) -> list[Expression]:
        """What a match adds."""
        actions = self.form[2]
        assert isinstance(actions, list)
        return actions


@dataclass(frozen=True)
class RefusedDirection:
    """An equality that is true or tempting but no rule, and why."""

    family: str
    equality: str
    reason: str


@dataclass(frozen=True)
class Catalogue:
    """Everything that the rule files say."""

    rules: tuple[RuleEntry, ...]
    refused: tuple[RefusedDirection, ...]

    def rule(self, name: str) -> RuleEntry:
        """The rule of a name; KeyError if there is none."""
        for rule in self.rules:
            if rule.name == name:
                return rule
        raise KeyError(name)


@dataclass
class _Block:
    """A comment block taken apart."""

    statement: str = ""
    condition: str = ""
    reason: str = ""
    up_to: str = ""
    refused: list[str] = field(default_factory=lambda: [])


def _block(lines: list[str]) -> _Block:
    block, target = _Block(), "statement"
    for line in lines:
        text = line.lstrip(";").strip()
        match = _FIELD.fullmatch(text)
        if match:
            target, text = match[1], match[2]
            if target == "refused":
                block.refused.append(text)
                continue
        if target == "refused":
            block.refused[-1] += f" {text}"
        elif target == "if":
            block.condition = f"{block.condition} {text}".strip()
        elif target == "why":
            block.reason = f"{block.reason} {text}".strip()
        elif target == "up to":
            block.up_to = f"{block.up_to} {text}".strip()
        else:
            block.statement = f"{block.statement} {text}".strip()
    return block


def _blocks(text: str) -> Iterator[tuple[int, int, _Block]]:
    """``(first line, line after the last, block)`` of the comment blocks, which start in the first column."""
    lines = text.splitlines()
    start = None
    for number, line in enumerate([*lines, ""], 1):
        if line.startswith(";"):
            start = number if start is None else start
        elif start is not None:
            yield start, number, _block(lines[start - 1 : number - 1])
            start = None


def _option(form: Form, key: str) -> str:
    for position, item in enumerate(form[:-1]):
        if item == key:
            value = form[position + 1]
            if isinstance(value, str):
                return value.strip('"')
    return ""


def read_catalogue(files: dict[str, str]) -> Catalogue:
    """The catalogue of rule files, given as texts by name.

    Raises EquiforgeError, with file and line, for a rule without name, statement or reason, and for a refused
    direction without a reason.
    """
    rules: list[RuleEntry] = []
    refused: list[RefusedDirection] = []
    for file, text in files.items():
        lines = text.splitlines()
        blocks = list(_blocks(text))
        heads = {end: block for _, end, block in blocks}
        for start, _, block in blocks:
            refused += [_refused(file, start, entry) for entry in block.refused]
        head = _Block()
        for form in read_forms(text):
            line = line_of(form)
            if line in heads:
                head = heads[line]
            elif line > 1 and not lines[line - 2].strip():
                head = _Block()
            if form[0] == "rule":
                rules.append(_entry(file, form, head))
    return Catalogue(tuple(rules), tuple(refused))


def _refused(file: str, line: int, text: str) -> RefusedDirection:
    equality, because, reason = text.partition(" because ")
    if not because:
        raise EquiforgeError(
            f"{file}.egg:{line}: a refused direction without a reason: {text}",
            hint="write `; refused: A = B because …`",
        )
    return RefusedDirection(file, equality.strip(), reason.strip())


def _entry(file: str, form: Form, head: _Block) -> RuleEntry:
    line, name, ruleset = line_of(form), _option(form, ":name"), _option(form, ":ruleset")
    if not name or not ruleset:
        raise EquiforgeError(f"{file}.egg:{line}: a rule needs :ruleset and :name")
    for what, value, example in (("statement", head.statement, "a·b = b·a"), ("reason", head.reason, "why: …")):
        if not value:
            raise EquiforgeError(
                f"{file}.egg:{line}: rule {name} has no {what}",
                hint=f"put `; {example}` into the comment directly above it (docs/extending.md, A rule)",
            )
    match = _NUMBERED.fullmatch(head.statement)
    number, statement = (int(match[1]), match[2]) if match else (None, head.statement)
    return RuleEntry(name, ruleset, file, line, number, statement, head.condition, head.reason, head.up_to, form)


@cache
def catalogue() -> Catalogue:
    """The catalogue of EquiForge's own rules."""
    from equiforge.egraph.engine import RULE_FILES, rule_text

    return read_catalogue({name: rule_text(name) for name in RULE_FILES})
