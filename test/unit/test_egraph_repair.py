"""Repair synthesis: which contributions get a repair, which are refused and why, and that a repair holds on hostile
values."""

# ruff: noqa: E501
# Tables read best with a case a line.
from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp, TensorType, f32

from equiforge.dialects import forge
from equiforge.egraph.contributions import Tree, evaluate
from equiforge.egraph.encode import encode
from equiforge.egraph.engine import SaturationOptions
from equiforge.egraph.families import synthesize, value_at_identity
from equiforge.egraph.graph import Reducer
from equiforge.egraph.repair import RepairReport
from equiforge.egraph.repair_forms import Refusal, Repair
from equiforge.egraph.worker import run_in_process
from equiforge.verify.programs import program
from equiforge.verify.rule_fuzz import check_program

F = forge
X: Tree = ("input", 0)
W: Tree = ("input", 1)
S: Tree = ("state",)


def const(value: float) -> Tree:
    return ("const", value)


def unary(name: str, a: Tree) -> Tree:
    return ("unary", (name,), a)


def binary(name: str, a: Tree, b: Tree) -> Tree:
    return ("binary", (name,), a, b)


SHIFTED = binary("sub", X, S)
EXP = unary("exp", SHIFTED)

FOUND: dict[str, tuple[Tree, str, str, int, str]] = {
    # contribution, consumer, producer, which input the producer reads, mode
    "normalizer of a softmax": (EXP, "sum", "max", 0, "mul"),
    "weighted sum, pointwise": (binary("mul", EXP, W), "sum", "max", 0, "mul"),
    "a quotient by a weight": (binary("div", EXP, unary("exp", W)), "sum", "max", 0, "mul"),
    "temperature outside": (unary("exp", binary("mul", SHIFTED, const(0.125))), "sum", "max", 0, "mul"),
    "temperature as a divisor": (unary("exp", binary("div", SHIFTED, const(8.0))), "sum", "max", 0, "mul"),
    "a temperature with a long fraction": (unary("exp", binary("mul", SHIFTED, const(0.08838834764831845))), "sum", "max", 0, "mul"),
    "scaled scores and state": (
        unary("exp", binary("sub", binary("mul", X, const(0.5)), binary("mul", S, const(0.5)))), "sum", "max", 0, "mul",
    ),
    "shifted down by a constant": (binary("mul", EXP, const(2.0)), "sum", "max", 0, "mul"),
    "a maximum about a maximum": (SHIFTED, "max", "max", 0, "add"),
    "a minimum about a minimum": (SHIFTED, "min", "min", 0, "add"),
    "a maximum about a sum": (binary("sub", W, S), "max", "sum", -1, "add"),
    "softmin": (unary("exp", binary("sub", S, X)), "sum", "min", 0, "mul"),
}  # fmt: skip

REFUSED: dict[str, tuple[Tree, str, str, int, str]] = {
    "exp of a product": (unary("exp", binary("mul", X, S)), "sum", "max", 0, "neither factor nor summand"),
    "tanh of the difference": (unary("tanh", SHIFTED), "sum", "max", 0, "neither factor nor summand"),
    "sum of squares about the state": (binary("mul", SHIFTED, SHIFTED), "sum", "sum", 0, "neither factor nor summand"),
    "sigmoid": (unary("sigmoid", SHIFTED), "sum", "max", 0, "neither factor nor summand"),
    "a sum of differences": (SHIFTED, "sum", "max", 0, "it counts once for each element"),
    "a product of exponentials": (EXP, "prod", "max", 0, "does not distribute over a product"),
    "a factor of unknown sign": (binary("mul", X, S), "max", "sum", 0, "is not known positive"),
    "no state": (unary("exp", X), "sum", "max", 0, "does not use the producer"),
    "an operator without a symbolic form": (unary("erf", SHIFTED), "sum", "max", 0, "without a symbolic form"),
    "a select with a branch that does not follow": (("select", (), W, EXP, X), "sum", "max", 0, "in a branch of a select: the contribution does not use"),
    "not the producer's own input": (unary("exp", binary("sub", W, S)), "sum", "max", -1, "does not read the producer's own input"),
    "a maximum of exponentials": (EXP, "max", "max", 0, "does not contribute the consumer's identity"),
    "exp the other way round": (unary("exp", binary("sub", S, X)), "sum", "max", 0, "does not contribute the consumer's identity"),
    "a quotient by a running sum": (binary("div", X, S), "sum", "sum", 0, "is not finite"),
    "exp about a running sum": (EXP, "sum", "sum", 0, "is not finite"),
    "a norm of a running sum": (binary("mul", X, unary("rsqrt", S)), "sum", "sum", 0, "is not finite"),
    "a constant that is no number": (binary("mul", EXP, const(math.inf)), "sum", "max", 0, "without a symbolic form"),
}  # fmt: skip


@pytest.mark.parametrize("name", FOUND)
def test_a_repair_is_found(name: str) -> None:
    contribution, consumer, producer, own, mode = FOUND[name]
    repair = synthesize(contribution, consumer, producer, own)
    assert isinstance(repair, Repair), repair
    assert repair.mode == mode
    assert "h(g(x,s)) - g(x,s') = 0" in repair.certificate


@pytest.mark.parametrize("name", REFUSED)
def test_a_contribution_without_a_repair_is_refused_with_the_reason(name: str) -> None:
    contribution, consumer, producer, own, reason = REFUSED[name]
    refusal = synthesize(contribution, consumer, producer, own)
    assert isinstance(refusal, Refusal), refusal
    assert reason in refusal.reason


HOSTILE = (0.0, -0.0, 1e-30, -1e-30, 0.5, -3.0, 88.0, -88.0, 350.0, -350.0)


@pytest.mark.parametrize("name", FOUND)
def test_a_repair_holds_on_hostile_values(name: str) -> None:
    """h(g(x, s), s, s') = g(x, s') wherever a run can pass: the state moves in the producer's direction and has seen
    x."""
    contribution, consumer, producer, own, mode = FOUND[name]
    repair = synthesize(contribution, consumer, producer, own)
    assert isinstance(repair, Repair)
    checked = 0
    for x, weight, old, new in itertools.product(HOSTILE, (1.5, -2.0), HOSTILE, HOSTILE):
        seen = {"max": x <= old <= new, "min": x >= old >= new, "sum": True}[producer]
        if not seen:
            continue
        inputs = [x, weight]
        before, after = evaluate(contribution, inputs, old), evaluate(contribution, inputs, new)
        h = evaluate(repair.tree, inputs, 0.0, old, new)
        repaired = before * h if mode == "mul" else before + h
        # A factor rounds its exponent, hence 1e-12; below the normal numbers both are as good as 0.
        assert repaired == pytest.approx(after, rel=1e-12, abs=1e-300 if mode == "mul" else 1e-12), (x, old, new)
        checked += 1
    assert checked > 50


@pytest.mark.parametrize("name", [n for n, (_, consumer, *_) in FOUND.items() if consumer == "sum"])
def test_a_repair_keeps_the_identity_of_a_row_that_saw_nothing_yet(name: str) -> None:
    """With the state at the producer's identity, guarded by 0, the contribution and the repaired sum are 0 and not
    NaN."""
    contribution, consumer, producer, own, _ = FOUND[name]
    repair = synthesize(contribution, consumer, producer, own)
    assert isinstance(repair, Repair)
    identity = -math.inf if producer == "max" else math.inf
    assert evaluate(contribution, [identity, 1.5], 0.0) == 0.0
    assert 0.0 * evaluate(repair.tree, [identity, 1.5], 0.0, old=identity, new=2.0) == 0.0


def test_a_row_that_stays_at_the_identity_is_what_the_program_computes() -> None:
    assert math.isnan(value_at_identity(EXP, "max", 0))
    assert value_at_identity(unary("exp", X), "max", 0) == 0.0


# In programs


def t(*shape: int) -> TensorType[Any]:
    return TensorType(f32, shape)


def fuse(module: ModuleOp) -> tuple[list[Reducer], RepairReport]:
    graph, _, report = run_in_process(encode(module, whole_extent=1), SaturationOptions(disabled=("algebra-ac",)))
    return list(graph.reducers.values()), report


def softmax_sums(x: Any, v: Any) -> Any:
    e = F.ExpOp(F.SubOp(x, F.ReduceOp("max", x, 1)))
    return [F.ReduceOp("sum", e, 1), F.MatmulOp(e, v)]


def test_normalizer_and_weighted_sum_join_the_loop_of_the_maximum() -> None:
    reducers, report = fuse(program([t(1, 6), t(6, 1)], softmax_sums))
    kinds = {tuple(c.kind for c in r.consumers) for r in reducers}
    assert kinds == {("reduce",), ("tilematmul",), ("reduce", "tilematmul")}
    assert report.added >= 3


def test_independent_reductions_are_not_fused() -> None:
    reducers, _ = fuse(program([t(1, 6)], lambda x: [F.ReduceOp("max", x, 1), F.ReduceOp("sum", F.ExpOp(x), 1)]))
    assert reducers == []


def test_a_refusal_is_counted_with_its_reason() -> None:
    reducers, report = fuse(
        program([t(1, 6)], lambda x: F.ReduceOp("sum", F.TanhOp(F.SubOp(x, F.ReduceOp("max", x, 1))), 1))
    )
    assert reducers == []
    assert any("neither factor nor summand" in reason for reason in report.refused)


def test_a_fused_program_is_sound_with_rows_of_minus_infinity() -> None:
    """The first key tiles of a row are masked, and one row is masked everywhere: NaN there, as in the program."""

    def body(x: Any, v: Any) -> Any:
        row, column = (F.IotaOp(TensorType(f32, shape), dim) for shape, dim in (((4, 1), 0), ((1, 6), 1)))
        shifted = F.AddOp(F.MulOp(row, F.ConstantOp(2.0, t(1, 1))), F.ConstantOp(0.0, t(1, 1)))
        visible = F.CompareOp("ge", column, shifted)
        return softmax_sums(F.SelectOp(visible, x, F.ConstantOp(-math.inf, t(1, 1))), v)

    assert check_program(program([t(4, 6), t(6, 3)], body), seed=5, inputs=4) is None
