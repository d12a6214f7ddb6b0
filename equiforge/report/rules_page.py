"""The page of all rules, ``docs/rules.md``: what the rule files, the repair families and the tests say."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import equiforge
from equiforge.egraph.catalogue import RuleEntry, catalogue
from equiforge.egraph.repair_catalogue import REPAIR_CHECK, REPAIR_FAMILIES, REPAIR_REFUSALS
from equiforge.egraph.rule_forms import FamilyCount, family_counts, forms
from equiforge.verify.rule_certificates import check_kind

COMMAND = "equiforge rules --markdown > docs/rules.md"
_TITLES = {
    "analysis": "Facts about classes, run to a fixpoint before each round.",
    "algebra": "Identities of whole tensors. They hold for real numbers and infinities, and run with `numerics=real`.",
    "indexing": "Where the elements of slices, gathers and concatenations come from.",
    "refinement": "Operators computed on tiles, and what may be stored.",
    "propagation": "Views move to the operands of what they look at.",
    "repair": "Dependent reductions over one axis become one; each repair is derived and shown with SymPy when it is "
    "needed.",
    "structure": "Compositions of layout operations.",
    "storage": "Partial results go to memory.",
}
_CHECKS = {
    "interpreter": "interpreter",
    "type inference": "type inference",
    "values": "values",
    "marker": "claims no equality",
}


def _root() -> Path:
    return Path(equiforge.__file__).resolve().parent.parent


@cache
def lit_tests() -> dict[str, tuple[str, ...]]:
    """The tests in ``test/rules`` that run a rule by name (``saturate{rules=…}``), by rule."""
    found: dict[str, list[str]] = {}
    for path in sorted((_root() / "test" / "rules").rglob("*.mlir")):
        name = path.relative_to(_root() / "test" / "rules").as_posix()
        listed = re.findall(r"rules=([\w,-]+)", path.read_text(encoding="utf-8"))
        for rule in {rule for rules in listed for rule in rules.split(",")}:
            found.setdefault(rule, []).append(name)
    return {rule: tuple(names) for rule, names in found.items()}


def check_of(rule: RuleEntry) -> str:
    """By what a rule is proven or checked, in words."""
    check = _CHECKS[check_kind(rule)] + (" up to NaN for an infinity" if rule.up_to else "")
    return f"symbols, {check}" if rule.family == "algebra" else check


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _counts_table(counts: list[FamilyCount]) -> list[str]:
    lines = [_row(("family", "rules", "rules of one operator", "the paper's count")), "|---|---:|---:|---:|"]
    lines += [_row((c.family, str(c.rules), str(c.forms), "–" if c.paper is None else str(c.paper))) for c in counts]
    own = [c for c in counts if c.family != "analysis"]
    totals = (sum(c.rules for c in own), sum(c.forms for c in own), sum(c.paper or 0 for c in own))
    return [*lines, _row(("all but the analyses", *map(str, totals)))]


def _family(family: str) -> list[str]:
    lines = ["", f"## {family.capitalize()}", "", _TITLES.get(family, ""), ""]
    lines += [_row(("rule", "statement", "if", "why", "proof or check", "tests")), "|---|---|---|---|---|---|"]
    for rule in catalogue().rules:
        if rule.family == family:
            number = f"{rule.number}. " if rule.number is not None else ""
            tests = ", ".join(f"`{t}`" for t in lit_tests().get(rule.name, ())) or "–"
            name = f"`{rule.name}`" + (f" ×{forms(rule)}" if forms(rule) > 1 else "")
            lines.append(
                _row((name, number + rule.statement, rule.condition or "–", rule.reason, check_of(rule), tests))
            )
    refused = [r for r in catalogue().refused if r.family == family]
    if refused:
        lines += ["", "Left out on purpose:", ""]
        lines += [f"* {r.equality}, because {r.reason}" for r in refused]
    return lines


def _repairs() -> list[str]:
    lines = ["", "## Repair", "", _TITLES["repair"], ""]
    lines += [_row(("family", "repair", "if", "why", "guard", "SymPy shows", "tests")), "|---|---|---|---|---|---|---|"]
    lines += [
        _row((f"`{f.name}`", f.statement, f.condition, f.reason, f.guard, f.certificate, f"`{f.tests}`"))
        for f in REPAIR_FAMILIES
    ]
    lines += ["", REPAIR_CHECK, "", "Refused, with the reason that the tool gives:", ""]
    return lines + [f"* {r.equality}: {r.reason}" for r in REPAIR_REFUSALS]


def _nonfinite() -> list[str]:
    """What the rules promise of NaN, infinities and overflow."""
    weaker = [rule for rule in catalogue().rules if rule.up_to]
    repairs = [family for family in REPAIR_FAMILIES if family.up_to]
    lines = [
        "",
        "## NaN, infinities, overflow",
        "",
        "The rules are equalities of the extended real numbers with IEEE arithmetic on infinities, zeros and NaN: "
        "0·∞, ∞ − ∞, 0/0 and ∞/∞ are NaN. An operand that has to be a number for that (a scale that must not be "
        "infinite, a divisor that must not be 0) is asked to be one by the rule, and the analyses show it: "
        "`bounded` for rsqrt(x² + ε), `divides` for Σ exp(x) and what it divides.",
        "",
        "Rounding is left out of it, and so are overflow and underflow. A direction whose intermediate values can be "
        "larger than all that the program computes is left out, as the lists below say. Three kinds are kept, for they "
        "are what fusion rests on: sums and products in any order and grouping; a factor or divisor that leaves a sum "
        "or a product of tensors, whose intermediate values are then larger by what it would have taken off; and "
        "`variance-in-one-pass`, which squares x and not x − μ. They can overflow in the type that is accumulated in, "
        "f32 or f64, where the program does not.",
        "",
        f"{len(weaker)} rules and {len(repairs)} family of repairs hold up to NaN for an infinity. The rules regroup "
        "products of three tensors, and no fact that the analyses know of an argument would make them equalities. A "
        "number stays the same number, and where one side is not finite neither is the other; but where an operand is "
        "infinite one side may be NaN and the other an infinity. What a program computes of that (a maximum, `relu`, "
        "`exp`) can then be a number on one side. `saturate{without=…}` leaves them out.",
        "",
        _row(("rule", "statement", "up to")),
        "|---|---|---|",
    ]
    return lines + [_row((f"`{entry.name}`", entry.statement, entry.up_to)) for entry in (*weaker, *repairs)]


def rules_page() -> str:
    """The whole page."""
    counts = family_counts(len(REPAIR_FAMILIES))
    lines = [
        "# The rules",
        "",
        f"Made by `{COMMAND}` from the comments of the rule files, `equiforge/egraph/rules/*.egg`; a test holds it to "
        "them.",
        "",
        "## Counts",
        "",
        "A rule here ranges over operators, reducers and kinds of view. *Rules of one operator* counts it once for "
        "each that it serves, as the paper counts: a pointwise operator name, a reducer, a view that partitions or "
        "replicates (×n after the name of a rule). Dimensions, permutations, shapes and element types are not counted.",
        "",
        *_counts_table(counts),
        "",
        "## How they are checked",
        "",
        "`equiforge rules --proofs` runs all of it and says for each rule by what it was shown:",
        "",
        "* *symbols*: the rule is run on small tensors of symbols and the sides that it unites are shown equal by "
        "SymPy; where SymPy does not decide (maxima), at random rational points, exactly, or to 60 digits where the "
        "values are irrational. An operator of which the rule asks nothing is an unknown function.",
        "* *interpreter*: the rule is run alone on random typed instances of its left side, and every e-node of every "
        "class is evaluated, floats in float64, integers and booleans exactly: on ordinary arguments, and on hostile "
        "ones with infinities, NaN, zeros of both signs and numbers far apart. NaN and each infinity must be in the "
        "same places.",
        "* *type inference*, *values*: types that a rule derives are those of the dialects' inference; classes it "
        "calls nonnegative, bounded or constant are.",
        "* all rules together: 2,000 random programs are saturated, and every e-node of every class is evaluated, on "
        "both kinds of arguments.",
        *_nonfinite(),
    ]
    for count in counts:
        lines += _repairs() if count.family == "repair" else _family(count.family)
    return "\n".join(lines) + "\n"
