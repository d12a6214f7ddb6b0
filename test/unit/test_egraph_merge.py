"""Derived reducers in programs: loop, merge of parts and hidden states against the program, evaluated by the
interpreter.

Every e-node of the saturated program is evaluated, so a rolling reduction has to give what each reduction of the
program gives. Once more with the tiles reduced in two or three parts that ``merge`` joins, in every association.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, TensorType, f32, i32

from equiforge.dialects import forge, tile
from equiforge.egraph.engine import SaturationOptions
from equiforge.verify import tile_semantics
from equiforge.verify.egraph_check import check_egraph
from equiforge.verify.interpreter import Interpreter
from equiforge.verify.programs import program
from equiforge.verify.rule_fuzz import Saturated, saturate_for_check

F = forge
ROWS, COLUMNS = 8, 7
OPTIONS = SaturationOptions(disabled=("algebra", "algebra-ac", "storage"))


def t(*shape: int, of: Any = f32) -> TensorType[Any]:
    return TensorType(of, shape)


def constant(value: float, of: Any = f32) -> Any:
    return F.ConstantOp(value, t(1, 1, of=of))


def softmax(x: Any, v: Any) -> Any:
    e = F.ExpOp(F.SubOp(x, F.ReduceOp("max", x, 1)))
    return [F.ReduceOp("sum", e, 1), F.MatmulOp(e, v)]


def softmin(x: Any, v: Any) -> Any:
    e = F.ExpOp(F.SubOp(F.ReduceOp("min", x, 1), x))
    return [F.ReduceOp("sum", e, 1), F.MatmulOp(e, v)]


def place(x: Any, extremum: Any, beyond: int) -> Any:
    """The first column that holds the extremum, or NaN."""
    hit = F.OrOp(F.CompareOp("eq", x, extremum), F.CompareOp("ne", x, x))
    column = F.IotaOp(t(1, COLUMNS, of=i32), 1)
    return F.ReduceOp("min", F.SelectOp(hit, column, constant(beyond, i32)), 1)


def argmax(x: Any, _: Any) -> Any:
    return place(x, F.ReduceOp("max", x, 1), 2**31 - 1)


def argmin_with_a_number_beyond(x: Any, _: Any) -> Any:
    """The number for no column is no identity, so an element has to be seen before it counts."""
    return place(x, F.ReduceOp("min", x, 1), 3)


def times_at_maximum(x: Any, v: Any) -> Any:
    hit = F.SelectOp(F.CompareOp("eq", x, F.ReduceOp("max", x, 1)), constant(1.0), constant(0.0))
    return [F.ReduceOp("sum", hit, 1), F.MatmulOp(hit, v)]


def squared_probabilities(x: Any, _: Any) -> Any:
    """The normalizer follows the maximum, and the sum of squares follows both."""
    e = F.ExpOp(F.SubOp(x, F.ReduceOp("max", x, 1)))
    p = F.DivOp(e, F.ReduceOp("sum", e, 1))
    return F.ReduceOp("sum", F.MulOp(p, p), 1)


def weighted_by_logsumexp(x: Any, v: Any) -> Any:
    """Probabilities relative to the logsumexp, a value made of two states of the loop."""
    m = F.ReduceOp("max", x, 1)
    total = F.AddOp(m, F.LogOp(F.ReduceOp("sum", F.ExpOp(F.SubOp(x, m)), 1)))
    return [total, F.MatmulOp(F.ExpOp(F.SubOp(x, total)), v)]


def two_maxima(x: Any, v: Any) -> Any:
    """A consumer of two producers that don't depend on one another."""
    w = F.TransposeOp(F.SliceOp(v, 1, 0, 1, 1), [1, 0])
    y = F.MulOp(F.SubOp(constant(0.0), x), w)
    e = F.ExpOp(F.SubOp(x, F.ReduceOp("max", x, 1)))
    return F.ReduceOp("sum", F.MulOp(e, F.ExpOp(F.SubOp(y, F.ReduceOp("max", y, 1)))), 1)


def deviation(x: Any) -> Any:
    return F.SubOp(x, F.DivOp(F.ReduceOp("sum", x, 1), constant(float(COLUMNS))))


def variance(x: Any, _: Any) -> Any:
    d = deviation(x)
    return F.ReduceOp("sum", F.MulOp(d, d), 1)


def third_and_fourth_moment(x: Any, _: Any) -> Any:
    d = deviation(x)
    square = F.MulOp(d, d)
    return [F.ReduceOp("sum", F.MulOp(square, d), 1), F.ReduceOp("sum", F.MulOp(square, square), 1)]


def normalized_product(x: Any, v: Any) -> Any:
    """Variance and the product of the deviations in the loop of the mean; the column sums of v are a hidden state."""
    d = deviation(x)
    scale = F.RsqrtOp(F.AddOp(F.ReduceOp("sum", F.MulOp(d, d), 1), constant(1e-5)))
    return F.MulOp(F.MatmulOp(d, v), scale)


def weighted_variance(x: Any, v: Any) -> Any:
    d = deviation(x)
    return F.ReduceOp("sum", F.MulOp(F.MulOp(d, d), F.TransposeOp(F.SliceOp(v, 1, 0, 1, 1), [1, 0])), 1)


def distance_from_maximum(x: Any, _: Any) -> Any:
    return F.ReduceOp("sum", F.SubOp(x, F.ReduceOp("max", x, 1)), 1)


PROGRAMS: dict[str, tuple[Callable[..., Any], int]] = {
    # program, hidden states of its largest reducer
    "softmax": (softmax, 0),
    "softmin": (softmin, 0),
    "argmax": (argmax, 0),
    "argmin with a number beyond": (argmin_with_a_number_beyond, 1),
    "times at the maximum": (times_at_maximum, 0),
    "squared probabilities": (squared_probabilities, 0),
    "weighted by logsumexp": (weighted_by_logsumexp, 0),
    "two maxima": (two_maxima, 0),
    "variance": (variance, 2),
    "third and fourth moment": (third_and_fourth_moment, 4),
    "normalized product": (normalized_product, 3),
    "weighted variance": (weighted_variance, 3),
    "distance from the maximum": (distance_from_maximum, 1),
}


def module_of(name: str) -> ModuleOp:
    return program([t(ROWS, COLUMNS), t(COLUMNS, 3)], PROGRAMS[name][0])


def hostile(row: int) -> list[float]:
    """A row whose first tiles, last tiles or all tiles hold nothing, one with equal values, one with NaN and one with
    a large mean."""
    inf, nan = math.inf, math.nan
    return [
        [-inf, -inf, -inf, 1.0, 3.0, 3.0, -2.0],
        [2.0, -1.0, inf, 0.5, -inf, -inf, -inf],
        [-inf] * COLUMNS,
        [3.0] * COLUMNS,
        [1.0, 4.0, nan, -inf, 9.0, nan, 2.0],
        [inf, 1.0, 2.0, inf, inf, 0.0, -1.0],
        [1e4, 1e4 + 1, 1e4 - 1, 1e4, 1e4 + 2, 1e4, 1e4 - 3],
        [1.0, -1.0, 2.0, -2.0, 0.0, -0.0, 0.0],
    ][row]


def arguments() -> list[np.ndarray]:
    x = np.array([hostile(row) for row in range(ROWS)])
    return [x, np.random.default_rng(0).normal(size=(COLUMNS, 3))]


def in_parts(order: Callable[[list[int]], list[list[int]]]) -> Callable[..., Any]:
    """A rolling reduction whose positions are reduced in parts and merged."""

    def rolling(interpreter: Interpreter, reducer: tile.ReducerOp, inputs: list[Any], axis: str) -> Any:
        parts = order(list(interpreter.positions(axis, {})))
        return tile_semantics.rolling_in_parts(interpreter, reducer, inputs, axis, parts)

    return rolling


def nested(interpreter: Interpreter, reducer: tile.ReducerOp, inputs: list[Any], axis: str) -> Any:
    """(a · (b · c)), where :func:`rolling_in_parts` makes ((a · b) · c)."""
    total = tile_semantics.identity_states(interpreter, reducer)
    for position in reversed(interpreter.positions(axis, {})):
        states = tile_semantics.identity_states(interpreter, reducer)
        states = tile_semantics.step(interpreter, reducer, states, inputs, axis, position)
        total = tile_semantics.merge(interpreter, reducer, states, total)
    return tile_semantics.finish(interpreter, reducer, total)


SPLITS: dict[str, Callable[..., Any] | None] = {
    "one loop": None,
    "empty parts": in_parts(lambda p: [[], p[:1], [], p[1:], []]),
    "from the right": nested,
}


@pytest.fixture(scope="module")
def saturated() -> Callable[[str], Saturated]:
    known: dict[str, Saturated] = {}

    def get(name: str) -> Saturated:
        if name not in known:
            known[name] = saturate_for_check(module_of(name), OPTIONS)
        return known[name]

    return get


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_program_gets_a_rolling_reduction(name: str, saturated: Callable[[str], Saturated]) -> None:
    graph = saturated(name).graph
    assert saturated(name).rolling > 0
    assert max(sum(c.hidden for c in r.consumers) for r in graph.reducers.values()) == PROGRAMS[name][1]


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_loop_and_merge_give_what_the_program_gives(
    name: str, split: str, saturated: Callable[[str], Saturated], monkeypatch: pytest.MonkeyPatch
) -> None:
    if SPLITS[split] is not None:
        monkeypatch.setattr(tile_semantics, "rolling", SPLITS[split])
    found = saturated(name)
    sizes = {axis.name: 2 if axis.extent == COLUMNS else 3 for axis in found.graph.axes}
    report = check_egraph(found.module, arguments(), sizes)
    assert report.ok, report.mismatches[0]
