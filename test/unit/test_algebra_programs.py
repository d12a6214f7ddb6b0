"""Whole programs that profit from the algebra: fewer multiplications, one product for several, one pass for two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp, TensorType, f32

from equiforge.dialects import forge as f
from equiforge.egraph.encode import encode
from equiforge.egraph.engine import Engine, SaturationOptions
from equiforge.egraph.graph import EGraph, ENode
from equiforge.search.extract import extract
from equiforge.search.to_tile import to_tile
from equiforge.tune.validate import subtracts_mean, validate_candidate
from equiforge.verify.programs import program

ALGEBRA = SaturationOptions(only=("algebra", "structure"))


def t(*shape: int) -> TensorType[Any]:
    return TensorType(f32, shape)


def c(value: float) -> Any:
    return f.ConstantOp(value, t(1, 1)).result


def saturated(module: ModuleOp, options: SaturationOptions) -> EGraph:
    return Engine(encode(module, whole_extent=4), options).saturate()


def least(graph: EGraph, cost_of: Callable[[int, ENode, list[float]], float]) -> float:
    """The least cost of a term of the first result; ``cost_of`` a node given the costs of its operands."""
    found: dict[int, float] = {}
    changed = True
    while changed:
        changed = False
        for class_id, nodes in graph:
            for node in nodes:
                if all(child in found for child in node.children):
                    cost = cost_of(class_id, node, [found[child] for child in node.children])
                    if cost < found.get(class_id, float("inf")):
                        found[class_id] = cost
                        changed = True
    return found[graph.roots[0]]


def multiplications(graph: EGraph) -> float:
    """Scalar multiplications in matrix products; a product counts as often as it is used."""

    def cost(class_id: int, node: ENode, operands: list[float]) -> float:
        if node.op != "matmul":
            return sum(operands)
        *_, rows, columns = graph.types[class_id].shape
        return sum(operands) + rows * columns * graph.types[node.children[0]].shape[-1]

    return least(graph, cost)


def passes(graph: EGraph) -> float:
    """How many reductions wait for one another."""
    return least(graph, lambda _, node, operands: max(operands, default=0.0) + (node.op == "reduce"))


@pytest.mark.parametrize(("rows", "expected"), [(64, 64 * 64 * 64 + 64 * 4 * 64), (2, 2 * 64 * 64 + 2 * 2 * 64 * 4)])
def test_low_rank_updates_are_merged_for_many_rows_only(rows: int, expected: int) -> None:
    def lora(x: Any, w: Any, a: Any, b: Any) -> Any:
        return f.AddOp(f.MatmulOp(x, w), f.MatmulOp(f.MatmulOp(x, a), b))

    def merged(x: Any, w: Any, a: Any, b: Any) -> Any:
        return f.MatmulOp(x, f.AddOp(w, f.MatmulOp(a, b)))

    types = [t(rows, 64), t(64, 64), t(64, 4), t(4, 64)]
    for body in (lora, merged):
        assert multiplications(saturated(program(types, body), ALGEBRA)) == expected


def test_queries_keys_and_values_are_parts_of_one_product() -> None:
    def qkv(x: Any, w: Any) -> Any:
        return [f.MatmulOp(x, f.SliceOp(w, 1, 6 * i, 6 * i + 6, 1)) for i in range(3)]

    graph = saturated(program([t(8, 5), t(5, 18)], qkv), ALGEBRA)
    whole: set[int] = set()
    for root in graph.roots:
        parts = {n.children[0] for n in graph.nodes[root] if n.op == "slice"}
        whole = whole & parts if whole else parts
    (product,) = whole
    assert graph.types[product].shape == (8, 18)
    assert any(n.op == "matmul" for n in graph.nodes[product])


def computed_slices(graph: EGraph) -> float:
    """How many slices are taken of what is computed: these keep the two sides from sharing a loop."""
    stored = {c for c, nodes in graph for node in nodes if node.op == "input"}

    def cost(_: int, node: ENode, operands: list[float]) -> float:
        return sum(operands) + (node.op == "slice" and node.children[0] not in stored)

    return least(graph, cost)


def test_gate_and_up_projections_of_one_weight_need_no_slice_of_a_product() -> None:
    def gated(x: Any, w: Any) -> Any:
        both = f.MatmulOp(x, w)
        gate, up = (f.SliceOp(both, 1, 8 * i, 8 * i + 8, 1) for i in range(2))
        return f.MulOp(f.MulOp(gate, f.SigmoidOp(gate)), up)

    module = program([t(8, 16), t(16, 16)], gated)
    assert computed_slices(saturated(module, ALGEBRA)) == 0
    assert computed_slices(saturated(module, replace(ALGEBRA, disabled=("slice-columns",)))) > 0


def test_mean_and_variance_take_one_pass() -> None:
    def variance(x: Any) -> Any:
        mean = f.DivOp(f.ReduceOp("sum", x, 1), c(16.0))
        deviation = f.SubOp(x, mean)
        return f.DivOp(f.ReduceOp("sum", f.MulOp(deviation, deviation), 1), c(16.0))

    module = program([t(8, 16)], variance)
    assert passes(saturated(module, ALGEBRA)) == 1
    assert passes(saturated(module, replace(ALGEBRA, disabled=("variance-in-one-pass",)))) == 2


def test_candidates_that_cancel_are_dropped() -> None:
    """Σx² − μ·Σx loses the digits of the deviations where the mean is large; Σ(x−μ)² does not."""

    def variance(x: Any) -> Any:
        deviation = f.SubOp(x, f.DivOp(f.ReduceOp("sum", x, 1), c(16.0)))
        return f.ReduceOp("sum", f.MulOp(deviation, deviation), 1)

    module = program([t(8, 16)], variance)
    assert subtracts_mean(module)
    verdicts: set[bool] = set()
    for disabled in ((), ("algebra", "repair")):
        graph = saturated(module, SaturationOptions(disabled=disabled))
        for candidate in extract(graph).candidates[:3]:
            verdict = validate_candidate(module, to_tile(graph, candidate))
            assert verdict.passed or "large_mean" in str(verdict.reason)
            assert verdict.passed or not disabled
            verdicts.add(verdict.passed)
    assert verdicts == {True, False}
