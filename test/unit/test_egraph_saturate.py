"""Limits, rule selection and the child process of saturation."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp, TensorType, f32

from equiforge.dialects import forge
from equiforge.egraph import worker
from equiforge.egraph.catalogue import catalogue
from equiforge.egraph.encode import encode
from equiforge.egraph.engine import FAMILIES, Engine, SaturationOptions, check_rule_names, rule_names
from equiforge.egraph.graph import EGraph
from equiforge.egraph.ir import to_module
from equiforge.egraph.saturate import saturate
from equiforge.errors import EquiforgeError
from equiforge.pipeline import Options
from equiforge.search.extract import ExtractOptions, extract
from equiforge.verify.programs import program
from equiforge.verify.random_programs import random_program
from equiforge.verify.rule_fuzz import check_program

F = forge


def t(*shape: int) -> TensorType[Any]:
    return TensorType(f32, shape)


def softmax() -> ModuleOp:
    def body(x: Any, v: Any) -> Any:
        e = F.ExpOp(F.SubOp(x, F.ReduceOp("max", x, 1)))
        return F.MatmulOp(F.DivOp(e, F.ReduceOp("sum", e, 1)), v)

    return program([t(6, 10), t(10, 4)], body)


def run(module: ModuleOp, **options: Any) -> tuple[EGraph, Any, Any]:
    return saturate(encode(module, whole_extent=8), SaturationOptions(**options), isolate=False)


def ops(graph: EGraph) -> set[str]:
    return {node.op for nodes in graph.nodes.values() for node in nodes}


def rolling(graph: EGraph) -> int:
    return sum(node.op == "rolling" for nodes in graph.nodes.values() for node in nodes)


# Limits


def test_without_limits_in_the_way_it_saturates() -> None:
    graph, stats, repairs = run(softmax())
    assert stats.saturated
    assert stats.nodes == graph.num_nodes
    assert stats.classes == len(graph.nodes)
    assert repairs.added == rolling(graph) > 0
    assert stats.matches["partition-binary"] > 0
    assert {"analysis", "algebra", "propagation"} <= set(stats.ruleset_seconds)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"max_nodes": 200}, "node limit of 200 reached"),
        ({"max_rounds": 3}, "round limit of 3 reached"),
        ({"max_seconds": 0.0}, "time limit of 0 s reached"),
    ],
)
def test_a_limit_names_itself_and_leaves_valid_ir(options: dict[str, Any], reason: str) -> None:
    graph, stats, _ = run(softmax(), **options)
    assert not stats.saturated
    assert reason in stats.stop
    to_module(graph).verify()


def test_what_a_limited_run_found_is_sound() -> None:
    assert check_program(softmax(), 1, SaturationOptions(max_nodes=150)) is None


def product_of_sums() -> ModuleOp:
    def body(x: Any, *rest: Any) -> Any:
        for other in rest:
            x = F.AddOp(x, other)
        return F.MatmulOp(x, F.TransposeOp(rest[0], [1, 0]))

    return program([t(6, 10)] * 8, body)


def test_algebra_that_grows_without_end_leaves_room_for_tiles() -> None:
    """Eight summands have 429 · 8! orders: with them the node limit is reached before any kernel is complete."""
    graph, stats, _ = run(product_of_sums(), max_nodes=1_500)
    assert not stats.saturated
    assert stats.stop == "node limit of 1500 reached; run again without commute and associate"
    assert {"tilematmul", "combine"} <= ops(graph)
    assert extract(graph, ExtractOptions(max_states=500)).candidates


def test_commutation_backs_off() -> None:
    _, stats, _ = run(product_of_sums(), max_nodes=20_000, max_rounds=4, only=("commute", "associate"))
    assert stats.matches["associate"] > 0


# Selection of rules


def test_disabled_families_add_nothing_of_theirs() -> None:
    assert "combine" not in ops(run(softmax(), disabled=("refinement", "storage"))[0])
    assert rolling(run(softmax(), disabled=("repair",))[0]) == 0


def test_a_disabled_rule_does_not_match() -> None:
    graph, stats, _ = run(softmax(), disabled=("tile-product",))
    assert "tilematmul" not in ops(graph)
    assert stats.matches.get("tile-product", 0) == 0


def test_only_the_chosen_rules_run() -> None:
    _, stats, _ = run(softmax(), only=("tile-product",))
    families = {name for name, count in stats.matches.items() if count and name in selectable()}
    assert families == {"tile-product"}


def selectable() -> set[str]:
    return {rule.name for rule in catalogue().rules if rule.ruleset != "analysis"}


def test_strict_arithmetic_runs_no_algebra_and_no_repair() -> None:
    graph = encode(softmax(), whole_extent=8)
    graph.numerics = "strict"
    found, stats, repairs = saturate(graph, SaturationOptions(), isolate=False)
    assert stats.matches.get("normalize-after-product", 0) == 0
    assert repairs.added == rolling(found) == 0
    assert "combine" in ops(found)


def test_rule_names_are_unique() -> None:
    assert len(set(rule_names())) == len(rule_names())
    assert not set(rule_names()) & set(FAMILIES)


def test_an_unknown_rule_gets_the_nearest_name() -> None:
    check_rule_names(("row-scale", "algebra", "algebra-ac", "repair"))
    with pytest.raises(EquiforgeError, match="no rule or family of rules is called row-scalee") as caught:
        check_rule_names(("row-scalee",))
    assert "did you mean row-scale?" in str(caught.value)
    with pytest.raises(EquiforgeError, match="families: algebra"):
        check_rule_names(("12345",))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"disabled": ("commuted",)}, "no rule or family of rules is called commuted .did you mean commute?"),
        ({"only": ("structures",)}, "no rule or family of rules is called structures .did you mean structure?"),
        ({"disabled": ("algebra", "joins")}, "no rule or family of rules is called joins"),
        ({"disabled": ("analysis",)}, "no rule or family of rules is called analysis"),
        ({"disabled": ("ty-unary",)}, "ty-unary is an analysis"),
    ],
)
def test_options_refuse_names_that_would_change_nothing(given: dict[str, tuple[str, ...]], message: str) -> None:
    with pytest.raises(EquiforgeError, match=message):
        SaturationOptions(disabled=given.get("disabled", ()), only=given.get("only", ()))


def test_an_optimization_refuses_them_before_it_starts() -> None:
    with pytest.raises(EquiforgeError, match="did you mean storage"):
        Options(disabled_rules=("storages",))


def test_a_ruleset_is_left_out_apart_from_its_family() -> None:
    def scaled(x: Any, v: Any, y: Any) -> Any:
        e = F.ExpOp(x)
        return F.MatmulOp(F.MulOp(F.DivOp(e, F.ReduceOp("sum", e, 1)), y), v)

    def matches(**options: Any) -> set[str]:
        _, stats, _ = run(program([t(6, 10), t(10, 4), t(6, 10)], scaled), **options)
        return {name for name, count in stats.matches.items() if count}

    rulesets = {rule.name: rule.ruleset for rule in catalogue().rules}
    grows = {name for name, ruleset in rulesets.items() if ruleset == "algebra-ac"}
    algebra = {name for name, ruleset in rulesets.items() if ruleset == "algebra"}
    assert matches() & grows and matches() & algebra
    without = matches(disabled=("algebra-ac",))
    assert not without & grows and without & algebra
    assert not matches(disabled=("algebra",)) & (grows | algebra)
    alone = matches(only=("algebra-ac",))
    assert alone & grows and not alone & algebra


# The child process


def test_the_child_process_finds_what_this_process_finds() -> None:
    graph, options = encode(random_program(4), whole_extent=1), SaturationOptions(max_rounds=6)
    here, there = worker.run_in_process(graph, options), worker.SaturationProcess().run(graph, options)
    assert str(to_module(here[0])) == str(to_module(there[0]))
    assert (here[1].nodes, here[1].rounds, here[1].stop) == (there[1].nodes, there[1].rounds, there[1].stop)
    assert here[2] == there[2]


def child(monkeypatch: pytest.MonkeyPatch, code: str) -> worker.SaturationProcess:
    """A saturation process whose child runs ``code`` instead."""
    import subprocess

    real = subprocess.Popen

    def start(arguments: list[str], **options: Any) -> Any:
        return real([sys.executable, "-c", code], **options)

    monkeypatch.setattr(worker.subprocess, "Popen", start)
    return worker.SaturationProcess()


def test_a_child_that_dies_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    process = child(monkeypatch, "import os, sys; sys.stdin.buffer.read(); os.abort()")
    with pytest.raises(RuntimeError, match="ended early"):
        process.run(encode(softmax()), SaturationOptions())


def test_a_child_that_hangs_is_ended_by_the_watchdog(monkeypatch: pytest.MonkeyPatch) -> None:
    process = child(monkeypatch, "import threading; threading.Event().wait()")
    with pytest.raises(RuntimeError, match="watchdog"):
        # The watchdog waits twice the limit and 30 s; a negative limit makes that half a second.
        process.run(encode(softmax()), SaturationOptions(max_seconds=-14.75))


def test_the_last_snapshot_of_a_dying_child_is_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "import os, pickle, sys\n"
        "from equiforge.egraph.worker import run_in_process, _send\n"
        "graph, options = pickle.loads(sys.stdin.buffer.read())\n"
        "_send(sys.stdout.buffer, run_in_process(graph, options))\n"
        "sys.stdout.buffer.write((1 << 40).to_bytes(8, 'little') + b'cut off')\n"
        "sys.stdout.flush()\n"
        "os.abort()"
    )
    process = child(monkeypatch, code)
    graph, stats, _ = process.run(encode(softmax(), whole_extent=8), SaturationOptions(max_rounds=4))
    assert "combine" in ops(graph)
    assert "ended early" in stats.stop


def test_a_process_that_got_no_request_can_be_closed() -> None:
    worker.SaturationProcess().close()


def test_snapshots_are_taken_in_long_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("equiforge.egraph.engine._SNAPSHOT_SECONDS", 0.0)
    engine = Engine(encode(softmax(), whole_extent=8), SaturationOptions())
    sizes: list[int] = []
    engine.on_snapshot = lambda found: sizes.append(found.num_nodes)
    engine.saturate()
    assert len(sizes) > 2
    assert sizes[0] < sizes[-1]
