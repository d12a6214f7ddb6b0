"""``equiforge rules``: the catalogue of rules, its page, and the certificates."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from equiforge.commands.progress import StageProgress
from equiforge.commands.tables import output_console
from equiforge.egraph.catalogue import RuleEntry, catalogue
from equiforge.errors import EquiforgeError

if TYPE_CHECKING:
    from equiforge.verify.rule_certificates import Check
    from equiforge.verify.rule_fuzz import FuzzReport

FAILED = 1


@dataclass(frozen=True)
class Selection:
    """Which rules: a family, and parts of names; empty for all."""

    family: str | None
    names: tuple[str, ...]

    @property
    def is_all(self) -> bool:
        return self.family is None and not self.names

    def rules(self) -> list[RuleEntry]:
        """The rules selected. Raises EquiforgeError if there are none."""
        rules = [
            rule
            for rule in catalogue().rules
            if (self.family in (None, rule.family)) and (not self.names or any(n in rule.name for n in self.names))
        ]
        if not rules:
            families = ", ".join(dict.fromkeys(rule.family for rule in catalogue().rules))
            raise EquiforgeError("no rule is selected", hint=f"families: {families}; names are matched in part")
        return rules


def run_rules(selection: Selection, as_json: bool) -> None:
    """Prints the rules."""
    from equiforge.egraph.rule_forms import forms
    from equiforge.report.rules_page import check_of, lit_tests

    rules = selection.rules()
    if as_json:
        rows = [
            {
                "name": rule.name,
                "family": rule.family,
                "ruleset": rule.ruleset,
                "number": rule.number,
                "statement": rule.statement,
                "condition": rule.condition,
                "reason": rule.reason,
                "up_to": rule.up_to,
                "forms": forms(rule),
                "check": check_of(rule),
                "tests": lit_tests().get(rule.name, ()),
                "file": f"{rule.file}.egg",
                "line": rule.line,
            }
            for rule in rules
        ]
        sys.stdout.write(json.dumps(rows, indent=2, ensure_ascii=False) + "\n")
        return
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in ("rule", "family", "statement", "if"):
        table.add_column(name, no_wrap=name == "rule")
    for rule in rules:
        table.add_row(rule.name, rule.family, escape(rule.statement), escape(rule.condition))
    output_console().print(table)
    output_console().print(f"{len(rules)} rules, {sum(map(forms, rules))} of one operator each")


def run_markdown() -> None:
    """Prints the page ``docs/rules.md``."""
    from equiforge.report.rules_page import rules_page

    sys.stdout.write(rules_page())


def run_proofs(selection: Selection, programs: int, seed: int, jobs: int | None, as_json: bool) -> None:
    """Runs the certificates of the rules selected, and the fuzz of all rules together. Exits with 1 if one fails."""
    from equiforge.verify.rule_certificates import certify_all
    from equiforge.verify.rule_fuzz import FuzzReport, fuzz

    jobs = jobs or os.cpu_count() or 1
    rules = selection.rules()
    programs = programs if selection.is_all else 0
    done = 0
    checks: list[Check] = []
    report = FuzzReport()
    with StageProgress(Console(stderr=True)) as progress:

        def after_rule(_: str) -> None:
            nonlocal done
            done += 1
            progress("rules", done / len(rules))

        progress("rules", 0.0)
        checks = certify_all([rule.name for rule in rules], seed, jobs, after_rule)
        if programs:
            seeds = range(seed, seed + programs)
            report = fuzz(seeds, progress=lambda _, r: progress("programs", r.programs / programs), jobs=jobs)
    if as_json:
        found = {"rules": [asdict(c) | {"ok": c.ok} for c in checks], "programs": asdict(report) if programs else None}
        sys.stdout.write(json.dumps(found, indent=2, ensure_ascii=False) + "\n")
    else:
        _print_checks(checks)
        if programs:
            _print_fuzz(report, seed)
    if report.failures or not all(check.ok for check in checks):
        raise typer.Exit(FAILED)


def _print_checks(checks: list[Check]) -> None:
    console = output_console()
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in ("rule", "shown by"):
        table.add_column(name, no_wrap=True)
    for name in ("matches", "values"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("result")
    for check in checks:
        marker = check.kind == "marker"
        counts = ("–", "–") if marker else (str(check.matches), str(check.evaluated))
        result = f"[red]{escape(check.failure.splitlines()[0])}" if check.failure else "–" if marker else "[green]holds"
        table.add_row(check.rule, "claims no equality" if marker else check.kind, *counts, result)
    console.print(table)
    kinds: dict[str, int] = {}
    for check in checks:
        kinds[check.kind] = kinds.get(check.kind, 0) + check.ok
    console.print(", ".join(f"{count} by {kind}" for kind, count in kinds.items()))
    for check in checks:
        if check.failure:
            console.print(f"{check.rule}: {check.failure}", markup=False, highlight=False)


def _print_fuzz(report: FuzzReport, seed: int) -> None:
    console = output_console()
    console.print(
        f"{report.programs} programs from seed {seed}: {report.nodes} e-nodes, {report.rolling} rolling reductions, "
        f"{len(report.failures)} failures, {report.seconds:.0f} s"
    )
    for failing, failure in report.failures.items():
        console.print(f"seed {failing}: {failure}", markup=False, highlight=False)
