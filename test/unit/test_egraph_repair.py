"""Repair synthesis: which contributions get a repair, which are refused and why, and that a repair holds on hostile
values."""

# ruff: noqa: E501
# Tables read best with a case a line.
from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp, TensorType, f32

from equiforge.dialects import forge
from equiforge.egraph.contributions import IDENTITY, LEAVES, Tree, evaluate, leaves_of
from equiforge.egraph.encode import encode
from equiforge.egraph.engine import SaturationOptions
from equiforge.egraph.families import synthesize, synthesize_for, value_at_identity
from equiforge.egraph.graph import Consumer, Reducer
from equiforge.egraph.repair import Candidate, RepairReport, reducer_of
from equiforge.egraph.repair_catalogue import REPAIR_REFUSALS
from equiforge.egraph.repair_forms import Refusal, Repair, State
from equiforge.egraph.simulate import counterexample
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

MEAN = binary("div", S, const(4096.0))
DEVIATION = binary("sub", X, MEAN)
SQUARE = binary("mul", DEVIATION, DEVIATION)
AT_MAXIMUM = binary("cmp.eq", X, S)
SAFE: Tree = ("select", (), binary("cmp.eq", unary("abs", S), const(math.inf)), const(0.0), S)


def select(condition: Tree, a: Tree, b: Tree) -> Tree:
    return ("select", (), condition, a, b)


MAPPED: dict[str, tuple[Tree, str, str, int, str, tuple[str, ...]]] = {
    # contribution, consumer, producer, elements in all, family, names of hidden states
    "argmax": (select(AT_MAXIMUM, W, const(math.inf)), "min", "max", 0, "reset", ()),
    "argmin, NaN wins": (select(binary("or", AT_MAXIMUM, binary("cmp.ne", X, X)), W, const(math.inf)), "min", "min", 0, "reset", ()),
    "argmax with a number beyond": (select(AT_MAXIMUM, W, const(9.0)), "min", "max", 0, "reset", ()),
    "how often the maximum occurs": (select(AT_MAXIMUM, const(1.0), const(0.0)), "sum", "max", 0, "reset", ()),
    "not below the maximum": (select(binary("cmp.ge", X, S), W, const(0.0)), "sum", "max", 0, "reset", ()),
    "is the maximum anywhere beside a weight": (binary("and", AT_MAXIMUM, binary("cmp.gt", W, const(0.0))), "any", "max", 0, "reset", ()),
    "sum of squares about the mean": (SQUARE, "sum", "sum", 4096, "moments", ("moment1",)),
    "third moment": (binary("mul", SQUARE, DEVIATION), "sum", "sum", 4096, "moments", ("moment2", "moment1")),
    "fourth moment": (binary("mul", SQUARE, SQUARE), "sum", "sum", 4096, "moments", ("moment3", "moment2", "moment1")),
    "weighted variance": (binary("mul", W, SQUARE), "sum", "sum", 4096, "moments", ("moment2", "moment1")),
    "mean by a factor": (binary("mul", binary("sub", X, binary("mul", S, const(1 / 4096))), W), "sum", "sum", 4096, "moments", ("moment1",)),
    "distance from the maximum": (SHIFTED, "sum", "max", 4096, "moments", ()),
    "entropy about a maximum": (binary("mul", EXP, SHIFTED), "sum", "max", 4096, "moments", ("moment1",)),
    "second moment of a softmax": (binary("mul", EXP, binary("mul", SHIFTED, SHIFTED)), "sum", "max", 4096, "moments", ("moment2", "moment1")),
    "entropy, weighted and scaled": (binary("mul", binary("mul", W, unary("exp", binary("mul", SHIFTED, const(0.125)))), SHIFTED), "sum", "max", 4096, "moments", ("moment1",)),
    "logsumexp, guarded by the program": (unary("exp", binary("sub", X, SAFE)), "sum", "max", 0, "factor", ()),
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
    "mean absolute deviation": (unary("abs", DEVIATION), "sum", "sum", 0, "neither factor nor summand"),
    "fifth moment": (binary("mul", binary("mul", SQUARE, SQUARE), DEVIATION), "sum", "sum", 0, "neither factor nor summand"),
    "entropy": (binary("mul", EXP, SHIFTED), "sum", "max", 0, "neither factor nor summand"),
    "the largest below the maximum": (select(binary("cmp.lt", X, S), X, const(-math.inf)), "max", "max", 0, "which still depends on it"),
    "a sum over what is near the maximum": (select(binary("cmp.ge", X, binary("mul", S, const(0.5))), X, const(0.0)), "sum", "max", 0, "which still depends on it"),
    "how many are below the maximum": (select(AT_MAXIMUM, const(0.0), const(1.0)), "sum", "max", 0, "adds up"),
    "a comparison with a running sum": (select(AT_MAXIMUM, W, const(0.0)), "sum", "sum", 0, "no running maximum or minimum of the compared input"),
    "a comparison with the maximum of something else": (select(binary("cmp.eq", W, S), W, const(0.0)), "sum", "max", -1, "no running maximum or minimum of the compared input"),
    "branches at different rates": (select(binary("cmp.gt", W, const(0.0)), EXP, unary("exp", binary("mul", SHIFTED, const(2.0)))), "sum", "max", 0, "need different repairs"),
    "a select under a maximum": (select(binary("cmp.gt", W, const(0.0)), SHIFTED, const(0.0)), "max", "max", 0, "a repair of one branch would change the other"),
    "a constant that is no number": (binary("mul", EXP, const(math.inf)), "sum", "max", 0, "without a symbolic form"),
}  # fmt: skip


@pytest.mark.parametrize("name", FOUND)
def test_a_repair_is_found(name: str) -> None:
    contribution, consumer, producer, own, mode = FOUND[name]
    repair = synthesize(contribution, consumer, producer, own)
    assert isinstance(repair, Repair), repair
    assert repair.mode == mode
    assert "h(g(x,s)) - g(x,s') = 0" in repair.certificate


def reducer_with(name: str) -> tuple[Reducer, Tree, int]:
    """The loop that a repair makes, the contribution of the program, and the extent its total is of."""
    contribution, consumer, producer, extent, _, _ = MAPPED[name]
    repair = synthesize(contribution, consumer, producer, 0, extent)
    assert isinstance(repair, Repair), repair
    at_identity = value_at_identity(contribution, producer, 0) if repair.guarded else IDENTITY[consumer]
    found = Candidate(1, 0, "reduce", consumer, 1, 0, -1).found(repair, contribution, [10, 11], at_identity)
    made = reducer_of(producer, 1, (found,), [])
    return made, contribution, extent if producer == "sum" else 0


@pytest.mark.parametrize("name", MAPPED)
def test_a_repair_of_a_further_family_is_found_and_holds_on_hostile_rows(name: str) -> None:
    contribution, consumer, producer, extent, family, hidden = MAPPED[name]
    repair = synthesize(contribution, consumer, producer, 0, extent)
    assert isinstance(repair, Repair), repair
    assert (repair.family, tuple(h.name for h in repair.hidden)) == (family, hidden)
    made, original, total = reducer_with(name)
    assert counterexample(made, (original,), 2, total) is None


def damaged(tree: Tree, change: Callable[[Tree], Tree]) -> Tree:
    """A tree with each part changed, from the leaves up."""
    if tree[0] in LEAVES:
        return change(tree)
    return change((tree[0], tree[1], *(damaged(part, change) for part in tree[2:])))


DAMAGE: dict[str, Callable[[Tree], Tree]] = {
    "repair forgotten": lambda t: ("held",) if t[0] in ("binary", "select") else t,
    "old and new exchanged": lambda t: ({"old": "new", "new": "old"}.get(t[0], t[0]), *t[1:]),
    "condition negated": lambda t: ("select", (), t[2], t[4], t[3]) if t[0] == "select" else t,
    "NaN forgotten": lambda t: t[2] if t[0] == "binary" and t[1] == ("or",) else t,
    "difference for sum": lambda t: ("binary", ("sub",), *t[2:]) if t[:2] == ("binary", ("add",)) else t,
}


POLYNOMIALS = ("sum of squares about the mean", "third moment", "distance from the maximum", "entropy about a maximum")
DAMAGED = [
    *((name, damage) for name in POLYNOMIALS for damage in DAMAGE if damage != "NaN forgotten"),
    *(("argmin, NaN wins", damage) for damage in DAMAGE if damage != "difference for sum"),
]


@pytest.mark.parametrize(("name", "damage"), DAMAGED)
def test_a_damaged_repair_fails_on_hostile_rows(name: str, damage: str) -> None:
    made, original, total = reducer_with(name)
    last = made.consumers[-1]
    repair = damaged(last.repair, DAMAGE[damage])
    assert repair != last.repair
    wrong = replace(made, consumers=(*made.consumers[:-1], replace(last, repair=repair)))
    assert counterexample(wrong, (original,), 2, total) is not None


def test_a_loop_without_its_guards_fails_on_hostile_rows() -> None:
    repair = synthesize(EXP, "sum", "max", 0)
    assert isinstance(repair, Repair)
    guarded = Consumer("reduce", "sum", 1, 0, -1, EXP, repair.tree, "mul", math.nan, (0,))
    for consumer, holds in (
        (guarded, True),
        (replace(guarded, guarded=()), False),
        (replace(guarded, at_identity=0.0), False),
    ):
        assert (counterexample(Reducer("", "max", 1, (consumer,), ""), (EXP,), 1) is None) is holds


def refused(body: Callable[..., Any], *types: TensorType[Any]) -> dict[str, int]:
    """The refusals for a program, whose loops would be wrong without them."""
    return fuse(program(list(types), body))[1].refused


def entropy_by_logarithms(x: Any) -> Any:
    e = F.ExpOp(F.SubOp(x, F.ReduceOp("max", x, 1)))
    p = F.DivOp(e, F.ReduceOp("sum", e, 1))
    return F.ReduceOp("sum", F.MulOp(p, F.LogOp(p)), 1)


def covariance(x: Any, y: Any) -> Any:
    n = F.ConstantOp(12.0, t(1, 1))
    u, v = (F.SubOp(a, F.DivOp(F.ReduceOp("sum", a, 1), n)) for a in (x, y))
    return F.ReduceOp("sum", F.MulOp(u, v), 1)


def test_every_refusal_of_the_page_is_one_that_the_tool_gives() -> None:
    given = [r.reason for c, *rest, _ in REFUSED.values() if isinstance(r := synthesize(c, *rest), Refusal)]
    assert len(given) == len(REFUSED)
    given += refused(entropy_by_logarithms, t(1, 12))
    assert any("neither factor nor summand" in reason for reason in refused(covariance, t(1, 12), t(1, 12)))
    for refusal in REPAIR_REFUSALS:
        assert any(refusal.reason in reason for reason in given), refusal


def test_several_states_have_one_repair() -> None:
    """A factor in the maximum and the normalizer, whose positive sum may be divided by."""
    probability = binary("div", EXP, ("state", 1))
    states = (State("max", 0), State("sum", -1, positive=True))
    repair = synthesize_for(binary("mul", probability, W), "sum", states)
    assert isinstance(repair, Repair), repair
    assert {leaf for leaf in leaves_of(repair.tree) if leaf[0] != "const"} == {
        ("old",),
        ("new",),
        ("old", 1),
        ("new", 1),
    }
    refused = synthesize_for(unary("tanh", probability), "sum", states)
    assert isinstance(refused, Refusal) and "neither factor nor summand" in refused.reason


LOG_PROBABILITY = binary("sub", SHIFTED, unary("log", ("state", 1)))
PROBABILITY = binary("div", EXP, ("state", 1))
FOLLOWED: dict[str, tuple[Tree, tuple[str, ...], str]] = {
    # contribution that reads a maximum and a normalizer, names of hidden states, repair
    "entropy": (binary("mul", PROBABILITY, LOG_PROBABILITY), ("moment1",), "(s1_old*exp(-s_new + s_old)/s1_new)*(c + "),
    "all log-probabilities": (LOG_PROBABILITY, (), "h(c) = c + (-n)*(u' - u)"),
    "soft targets": (binary("mul", W, LOG_PROBABILITY), ("moment1",), "h(c) = c + (-1*moment1)*(u' - u)"),
    "logsumexp less the scores": (
        binary("sub", binary("add", S, unary("log", ("state", 1))), X), (), "h(c) = c + (n)*(u' - u)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FOLLOWED)
def test_what_is_linear_in_a_logsumexp_follows_maximum_and_normalizer_at_once(name: str) -> None:
    contribution, hidden, formula = FOLLOWED[name]
    repair = synthesize_for(contribution, "sum", (State("max", 0), State("sum", -1, positive=True)), 4096)
    assert isinstance(repair, Repair), repair
    assert (repair.family, tuple(h.name for h in repair.hidden), repair.guarded) == ("moments", hidden, (0, 1))
    assert "u = s_old + log(s1_old)" in repair.certificate and formula in repair.certificate


@pytest.mark.parametrize(
    "contribution",
    [
        binary("mul", LOG_PROBABILITY, SHIFTED),
        unary("tanh", LOG_PROBABILITY),
        binary("add", binary("mul", W, S), binary("mul", X, unary("log", ("state", 1)))),
    ],
    ids=["two quantities", "no polynomial", "weights of their own"],
)
def test_what_depends_on_several_quantities_made_of_states_is_refused(contribution: Tree) -> None:
    refused = synthesize_for(contribution, "sum", (State("max", 0), State("sum", -1, positive=True)), 4096)
    assert isinstance(refused, Refusal) and "neither factor nor summand" in refused.reason


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


def test_equal_consumers_are_equal_where_they_are_nan() -> None:
    one, other = (
        Consumer("reduce", "sum", 1, -1, -1, ("input", 0), ("old",), "mul", math.inf - math.inf) for _ in range(2)
    )
    assert one == other and hash(one) == hash(other)
    assert replace(one, hidden=True) == replace(other, hidden=True)
