"""Certificates of single rules, and the page of rules."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.equivalence import Equivalence
from xdsl.dialects.func import Func
from xdsl.parser import Parser

from equiforge.analysis.dim_rules import reshape_blocks
from equiforge.cli import run
from equiforge.dialects.forge import Forge
from equiforge.egraph.catalogue import catalogue
from equiforge.egraph.ir import to_module
from equiforge.egraph.rule_forms import PAPER, family_counts, forms
from equiforge.egraph.rule_syntax import atoms
from equiforge.report.rules_page import COMMAND, lit_tests, rules_page
from equiforge.verify.egraph_check import check_egraph
from equiforge.verify.hostile_arguments import DRAWS, hostile_arguments
from equiforge.verify.reshape_instances import MOVES
from equiforge.verify.rule_certificates import certify_all, check_kind, check_rule, draw_instances, run_alone
from equiforge.verify.rule_fuzz import fuzz
from equiforge.verify.rule_patterns import prerequisites
from equiforge.verify.rule_proofs import KINDS, prove_rule

ROOT = Path(__file__).resolve().parents[2]
RULES = catalogue().rules
SAMPLE = [rule.name for rule in RULES if check_kind(rule) != "marker"][::7]
PROVEN = [rule.name for rule in RULES if rule.family == "algebra"][::5]


@pytest.mark.parametrize("name", SAMPLE)
def test_a_rule_holds_on_instances(name: str) -> None:
    check = check_rule(catalogue().rule(name), seed=1)
    assert check.failure is None
    assert check.matches > 0
    assert check.evaluated > 0


@pytest.mark.parametrize("name", PROVEN)
def test_an_algebra_rule_holds_on_symbols(name: str) -> None:
    check = prove_rule(catalogue().rule(name), seed=1)
    assert check.failure is None
    assert check.kind in KINDS
    assert check.evaluated > 0


def test_maxima_are_shown_at_rational_points() -> None:
    assert prove_rule(catalogue().rule("max-of-shifted")).kind == "exact rationals"
    assert prove_rule(catalogue().rule("contraction-scale")).kind == "SymPy"


REGROUPED = ("associate-right", "associate-left", "merge-low-rank", "split-low-rank")


def test_all_rules_but_regrouped_products_keep_nonfinite_values() -> None:
    assert [rule.name for rule in RULES if rule.up_to] == list(REGROUPED)


@pytest.mark.parametrize("name", REGROUPED)
def test_regrouped_products_hold_up_to_nan_for_an_infinity_and_no_more(name: str) -> None:
    rule = catalogue().rule(name)
    assert check_rule(rule, seed=2).ok
    failure = check_rule(replace(rule, up_to=""), seed=2).failure
    assert failure is not None and "nan" in failure and "inf" in failure


TWO_NEGATIVES = """
func.func @main(%x: tensor<2x2xf32>, %y: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %r = equivalence.graph -> tensor<2x2xf32> {
    %x_1 = equivalence.class %x : tensor<2x2xf32>
    %y_1 = equivalence.class %y : tensor<2x2xf32>
    %0 = forge.neg %x_1 : tensor<2x2xf32>
    %1 = forge.neg %y_1 : tensor<2x2xf32>
    %c = equivalence.class %0, %1 : tensor<2x2xf32>
    equivalence.yield %c : tensor<2x2xf32>
  }
  func.return %r : tensor<2x2xf32>
}
"""


@pytest.mark.parametrize(
    ("first", "second", "exactly", "loosely"),
    [
        (np.nan, np.nan, True, True),
        (np.inf, np.inf, True, True),
        (0.0, -0.0, True, True),
        (np.nan, np.inf, False, True),
        (-np.inf, np.nan, False, True),
        (-np.inf, np.inf, False, False),
        (np.nan, 1.0, False, False),
        (1.0, np.inf, False, False),
        (1.0, 2.0, False, False),
    ],
)
def test_nan_may_stand_for_an_infinity_only(first: float, second: float, exactly: bool, loosely: bool) -> None:
    context = Context()
    for dialect in (Builtin, Func, Equivalence, Forge):
        context.load_dialect(dialect)
    module = Parser(context, TWO_NEGATIVES).parse_module()
    arrays = [np.array([[1.0, value], [np.inf, np.nan]]) for value in (first, second)]
    assert check_egraph(module, arrays).ok == exactly
    assert check_egraph(module, arrays, nan_for_infinity=True).ok == loosely


def test_hostile_arguments_hold_every_special_number() -> None:
    graph = draw_instances(catalogue().rule("row-scale"), 3)
    assert graph is not None
    drawn = [hostile_arguments(to_module(graph), seed) for seed in range(DRAWS)]
    values = np.concatenate([a.ravel() for arguments in drawn for a in arguments])
    zeros = np.signbit(values[values == 0])
    assert zeros.any() and not zeros.all()
    assert np.isnan(values).any() and {np.inf, -np.inf, 4096.0, 2.0**-6} <= set(values.tolist())
    # One argument alone has them in half of the draws.
    alone = [sum(not np.all(np.isfinite(a)) for a in arguments) == 1 for arguments in drawn]
    assert sum(alone) > DRAWS // 3


def test_an_instance_is_a_typed_program_that_the_rule_matches() -> None:
    rule = catalogue().rule("row-scale")
    graph = draw_instances(rule, 5)
    assert graph is not None
    to_module(graph).verify()
    engine, found = run_alone(rule, graph)
    assert engine.stats.matches["row-scale"] > 0
    assert found.num_nodes > graph.num_nodes
    assert {name for name, count in engine.stats.matches.items() if count} & {
        r.name for r in RULES if unanalysed(r)
    } == {"row-scale"}


MOVING = [rule.name for rule in RULES if MOVES & atoms(rule.form) and check_kind(rule) != "marker"]


@pytest.mark.parametrize("name", MOVING)
def test_instances_of_rules_about_reshapes_split_and_merge(name: str) -> None:
    """Reshapes that add dimensions of size 1 alone would show little of a rule."""
    changed = 0
    for seed in range(10):
        graph = draw_instances(catalogue().rule(name), seed)
        assert graph is not None
        made = [(node.children[0], c) for c, nodes in graph for node in nodes if node.op == "reshape"]
        for before, after in made:
            blocks = reshape_blocks(graph.types[before].shape, graph.types[after].shape)
            changed += any(len(olds) + len(news) > 2 for olds, news in blocks)
    assert changed >= 15


def unanalysed(rule: object) -> bool:
    return getattr(rule, "ruleset", "") != "analysis"


def test_a_rule_brings_what_concludes_its_facts() -> None:
    assert set(prerequisites(catalogue().rule("store-partials"), {"chain"})) == {
        "partials-collect",
        "partials-of-tiles",
    }
    assert prerequisites(catalogue().rule("row-scale"), set()) == []


def test_certificates_do_not_depend_on_the_number_of_processes() -> None:
    names = ["times-one", "view-unary"]
    assert certify_all(names, jobs=2) == certify_all(names, jobs=1)


def test_the_fuzz_does_not_depend_on_the_number_of_processes() -> None:
    one, two = (fuzz(range(4), inputs=1, jobs=jobs) for jobs in (1, 2))
    assert (one.programs, one.nodes, one.matches, one.failures) == (two.programs, two.nodes, two.matches, two.failures)


def test_the_page_is_up_to_date() -> None:
    page = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    assert page == rules_page(), f"docs/rules.md is behind the rules: {COMMAND}"


def test_the_page_has_every_rule_and_every_test() -> None:
    page = rules_page()
    for rule in RULES:
        assert f"`{rule.name}`" in page
    assert "sum-of-sums.mlir" in page
    assert set(lit_tests()) >= {"row-scale", "refine-rows", "view-unary"}


def test_rules_are_counted_in_two_ways() -> None:
    counts = {count.family: count for count in family_counts(2)}
    assert sum(count.rules for count in counts.values()) == len(RULES) + 2
    assert sum(PAPER.values()) == 120
    assert forms(catalogue().rule("view-unary")) == 2 * 17
    assert forms(catalogue().rule("commute")) == 7
    assert forms(catalogue().rule("partition-transpose")) == 1
    assert forms(catalogue().rule("row-scale")) == 1


def test_the_command_lists_rules_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rules", "--json", "--family", "structure"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in rows] == [rule.name for rule in RULES if rule.family == "structure"]
    assert all(row["statement"] and row["reason"] and row["tests"] for row in rows)


def test_the_command_says_what_families_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rules", "--family", "algbra"]) == 2
    assert "families: analysis, algebra" in capsys.readouterr().err


def test_proofs_of_one_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rules", "times-one", "--proofs", "--json", "--jobs", "1"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(c["rule"], c["kind"], c["ok"]) for c in found["rules"]] == [
        ("times-one", "SymPy", True),
        ("times-one", "interpreter", True),
    ]
    assert found["programs"] is None


def test_a_rule_that_fails_ends_with_1(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from equiforge.egraph import engine

    original = engine.rule_text
    wrong = original("algebra").replace('(union x (Binary "div" (Binary "mul" a c) b))', "(union x a)")
    monkeypatch.setattr(engine, "rule_text", lambda name: wrong if name == "algebra" else original(name))
    assert run(["rules", "divide-last", "--proofs", "--jobs", "1"]) == 1
    assert "differ" in capsys.readouterr().out


def test_listing_rules_loads_no_engine() -> None:
    heavy = "{'torch', 'triton', 'sympy', 'egglog'}"
    code = f"import sys; from equiforge.cli import run; run(['rules']); print({heavy} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.splitlines()[-1] == "set()"
