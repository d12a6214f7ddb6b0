"""Two-level reductions derived: axes for slices, rolling reductions in each slice and their merge, split products; and
that decoding attention is offered with its keys split across blocks."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from xdsl.dialects.builtin import ModuleOp, TensorType, f32, i64

from equiforge.codegen.build_kernels import build_kernels
from equiforge.codegen.emit_triton import emit_triton
from equiforge.codegen.run import run_interpreted
from equiforge.codegen.schedule import apply_schedules
from equiforge.dialects import forge, tile
from equiforge.egraph import repair, two_level
from equiforge.egraph.encode import encode
from equiforge.egraph.engine import SaturationOptions
from equiforge.egraph.families import synthesize
from equiforge.egraph.graph import EGraph, ENode
from equiforge.egraph.ir import from_module, to_module
from equiforge.egraph.repair import RepairReport
from equiforge.egraph.repair_forms import Repair
from equiforge.egraph.text import collect_count
from equiforge.egraph.users import Users
from equiforge.egraph.worker import run_in_process
from equiforge.frontend.program import import_module, load_program
from equiforge.search.extract import Candidate, ExtractOptions, extract
from equiforge.search.normal_form import Space
from equiforge.search.to_tile import to_tile
from equiforge.verify.interpreter import evaluate
from equiforge.verify.programs import program
from equiforge.verify.rule_fuzz import check_program, first_mismatch, saturate_for_check

F = forge


def t(*shape: int) -> TensorType[Any]:
    return TensorType(f32, shape)


def attention(masked: bool = False) -> ModuleOp:
    """softmax(q kᵀ) v for 2 heads, 3 queries, 11 keys; ``masked``: the first eight keys, and the last query for all."""

    def body(q: Any, k: Any, v: Any) -> Any:
        s: Any = F.MatmulOp(q, F.TransposeOp(k, [0, 2, 1]))
        if masked:
            columns, rows = F.IotaOp(TensorType(i64, (1, 1, 11)), 2), F.IotaOp(TensorType(i64, (1, 3, 1)), 1)
            eight, two = (F.ConstantOp(n, TensorType(i64, (1, 1, 1))) for n in (8, 2))
            seen = F.AndOp(F.CompareOp("ge", columns, eight), F.CompareOp("lt", rows, two))
            s = F.SelectOp(seen, s, F.ConstantOp(-math.inf, t(1, 1, 1)))
        e = F.ExpOp(F.SubOp(s, F.ReduceOp("max", s, 2)))
        return F.MatmulOp(F.DivOp(e, F.ReduceOp("sum", e, 2)), v)

    return program([t(2, 3, 4), t(2, 11, 4), t(2, 11, 4)], body)


def softmin() -> ModuleOp:
    """A minimum and the sum of exponentials of what exceeds it."""
    return program([t(3, 10)], lambda x: F.ReduceOp("sum", F.ExpOp(F.SubOp(F.ReduceOp("min", x, 1), x)), 1))


def summand() -> ModuleOp:
    """The repair of a maximum about a maximum is a summand; its identity state is guarded."""
    return program([t(3, 10)], lambda x: F.ReduceOp("max", F.SubOp(x, F.ReduceOp("max", x, 1)), 1))


def deviations(x: Any) -> Any:
    return F.SubOp(x, F.DivOp(F.ReduceOp("sum", x, 1), F.ConstantOp(11.0, t(1, 1))))


def variance() -> ModuleOp:
    """The repair needs a count and the first moment, which no value of the program is."""
    return program([t(3, 11)], lambda x: F.ReduceOp("sum", F.MulOp(d := deviations(x), d), 1))


def weighted_variance() -> ModuleOp:
    """The moments of the weights are the same for all rows."""

    def body(x: Any, w: Any) -> Any:
        d = deviations(x)
        return F.ReduceOp("sum", F.MulOp(w, F.MulOp(d, d)), 1)

    return program([t(3, 11), t(1, 11)], body)


def normalized_product() -> ModuleOp:
    """The moments of a product have columns that the mean has not, and the count has none of them."""
    return program([t(3, 11), t(11, 4)], lambda x, v: F.MatmulOp(deviations(x), v))


def argmax() -> ModuleOp:
    def body(x: Any) -> Any:
        place = F.SelectOp(
            F.CompareOp("eq", x, F.ReduceOp("max", x, 1)),
            F.IotaOp(TensorType(i64, (1, 11)), 1),
            F.ConstantOp(11, TensorType(i64, (1, 1))),
        )
        return F.ReduceOp("min", place, 1)

    return program([t(3, 11)], body)


def chain() -> ModuleOp:
    """A sum of squared probabilities: a consumer of maximum and normalizer."""

    def body(x: Any, w: Any) -> Any:
        e = F.ExpOp(F.SubOp(x, F.ReduceOp("max", x, 1)))
        p = F.DivOp(e, F.ReduceOp("sum", e, 1))
        return F.ReduceOp("sum", F.MulOp(F.MulOp(p, p), w), 1)

    return program([t(3, 11), t(3, 11)], body)


def split_product() -> ModuleOp:
    return program([t(5, 13), t(13, 6)], lambda x, w: F.MatmulOp(x, w))


def saturated(module: ModuleOp, split_extent: int = 10, **options: Any) -> EGraph:
    return run_in_process(encode(module, 5, split_extent), SaturationOptions(**options))[0]


# Axes


def test_a_long_reduced_dimension_has_an_outer_axis_before_the_one_within_it():
    graph = encode(attention(), 5, 10)
    names = [axis.name for axis in graph.axes]
    assert names == sorted(names, key=lambda n: (n.removesuffix("_split"), not n.endswith("_split")))
    (outer,) = graph.outer_axes
    assert graph.axes[outer].name == "arg11_split"
    assert graph.axes[outer + 1] == ("arg11", 11, graph.axes[outer].group, outer)


@pytest.mark.parametrize(
    ("module", "split_extent"),
    [
        (attention, 12),  # too short
        (lambda: program([t(3, 12)], lambda x: F.ExpOp(x)), 10),  # not reduced
        (lambda: program([t(12, 2)], lambda x: F.MatmulOp(F.MatmulOp(x, F.TransposeOp(x, [1, 0])), x)), 10),  # twice
    ],
    ids=["short", "not reduced", "twice in a tensor"],
)
def test_other_dimensions_have_one_level(module: Callable[[], ModuleOp], split_extent: int):
    assert not encode(module(), 1, split_extent).outer_axes


def test_slices_are_enough_to_fill_a_device_and_no_more():
    assert [collect_count(n, 64) for n in (2048, 4096, 16384, 16385, 1 << 17, 1 << 20)] == [8, 16, 64, 33, 64, 64]


# Soundness


FOLLOWED = (variance, weighted_variance, normalized_product, argmax, chain)
"""Reductions whose loop holds more than the producer and values of the program, or where a state is no factor."""


@pytest.mark.parametrize("module", [attention, softmin, summand, *FOLLOWED, split_product])
def test_every_e_node_of_two_levels_has_the_value_of_its_class(module: Callable[[], ModuleOp]):
    assert check_program(module(), seed=3, inputs=3, slices=True) is None


def test_slices_of_minus_infinity_and_rows_of_it_are_sound():
    """One query sees nothing in the first slice, and another nothing at all."""
    assert check_program(attention(masked=True), seed=1, inputs=3, slices=True) is None


def arrays(graph: EGraph) -> list[tuple[int, ...]]:
    return [n.children for nodes in graph.nodes.values() for n in nodes if n.op == "tuple"]


def test_the_states_of_slices_are_one_stored_tuple_without_final_values():
    graph = saturated(attention())
    ((states, *_),) = arrays(graph)
    assert graph.types[states].shape == (2, 2, 3, 1)
    inner = next(n for n, axis in enumerate(graph.axes) if axis.within >= 0)
    (outer,) = graph.outer_axes
    raw = {
        str(n.attrs[0])
        for c, nodes in graph
        for n in nodes
        if n.op == "rolling" and n.attrs[1] == inner and outer in graph.state(c)
    }
    whole = {str(n.attrs[0]) for nodes in graph.nodes.values() for n in nodes if n.op == "rolling"} - raw
    assert raw and all(c.at_identity == 0.0 for r in raw for c in graph.reducers[r].consumers)
    assert whole and all(math.isnan(c.at_identity) for r in whole for c in graph.reducers[r].consumers)


@pytest.mark.parametrize("module", [attention, variance, argmax])
def test_stored_states_are_those_of_one_loop(module: Callable[[], ModuleOp]):
    """Other partial results with the same total are not: a repair goes from the loop's own states."""
    graph = saturated(module())
    loops = {c for c, nodes in graph for n in nodes if n.op == "rolling"}
    for fields in arrays(graph):
        for array in fields:
            collected = [n.children[0] for n in graph.nodes[array] if n.op == "collect"]
            assert all(n.op == "get" and n.children[0] in loops for c in collected for n in graph.nodes[c])


@pytest.mark.parametrize("module", [attention, summand, *FOLLOWED, split_product])
def test_two_levels_are_written_as_ir_and_read_back(module: Callable[[], ModuleOp]):
    graph = saturated(module())
    text = to_module(graph)
    text.verify()
    read = from_module(text)
    assert (read.axes, read.num_nodes, len(read.nodes)) == (graph.axes, graph.num_nodes, len(graph.nodes))
    assert [k.state for k in read.types.values()] == [k.state for k in graph.types.values()]
    assert str(to_module(read)) == str(to_module(from_module(to_module(read))))


def test_a_damaged_repair_shows_in_the_merge_alone(monkeypatch: pytest.MonkeyPatch):
    exchange = {("old",): ("new",), ("new",): ("old",)}

    def swapped(tree: Any) -> Any:
        return exchange.get(tree) or (tree if tree[0] == "const" else (*tree[:2], *(swapped(a) for a in tree[2:])))

    def wrong(*arguments: Any) -> Any:
        found = synthesize(*arguments)
        return replace(found, tree=swapped(found.tree)) if isinstance(found, Repair) else found

    def one_level(_graph: EGraph, _users: Users) -> RepairReport:
        return RepairReport()

    monkeypatch.setattr(two_level, "fuse_dependent_reductions", one_level)
    sound = saturate_for_check(softmin(), slices=True)
    assert sound.rolling and first_mismatch(sound, seed=1) is None
    monkeypatch.setattr(repair, "synthesize", wrong)
    monkeypatch.setattr(repair, "counterexample", lambda *_: None)
    assert first_mismatch(saturate_for_check(softmin(), slices=True), seed=1) is not None


@pytest.mark.parametrize("family", ["storage", "repair"])
def test_without_stored_partial_results_or_repairs_nothing_is_merged(family: str):
    assert arrays(saturated(attention(), disabled=(family,))) == []


def test_a_consumer_that_reads_the_result_of_another_is_not_in_the_loop_of_a_slice():
    """The weights divided by their sum: the sum of all slices is not known while one runs."""
    graph = saturated(attention())
    ((_, *fields),) = arrays(graph)
    assert sorted(graph.types[f].shape for f in fields) == [(2, 2, 3, 1), (2, 2, 3, 4)]


# Search


def test_no_kernel_loops_over_slices():
    graph = saturated(attention())
    outer = graph.outer_axes
    for option in (space := Space(graph)).options:
        assert option.node is None or option.node.op != "preduce" or option.node.attrs[1] not in outer
    for candidate in extract(graph).candidates:
        loops = [n for kernel in candidate.kernels for n in kernel.choices.values() if isinstance(n, ENode)]
        assert not any(n.op in ("preduce", "rolling") and n.attrs[1] in outer for n in loops)
    assert space.tuples


def in_slices(graph: EGraph, candidate: Candidate) -> bool:
    return any(graph.outer_axes & set(kernel.grid) for kernel in candidate.kernels)


@pytest.mark.parametrize(
    "module", [attention, lambda: attention(masked=True), softmin, summand, *FOLLOWED, split_product]
)
def test_every_candidate_with_slices_computes_the_program(module: Callable[[], ModuleOp]):
    source = module()
    graph = saturated(source)
    rng = np.random.default_rng(1)
    args = [rng.standard_normal(shape) for _, shape, _ in graph.inputs]
    expected = evaluate(source, args)
    split = [c for c in extract(graph, ExtractOptions(max_candidates=200)).candidates if in_slices(graph, c)]
    assert split
    rolling = 0
    for candidate in split[:12]:
        lowered = to_tile(graph, candidate)
        lowered.verify()
        rolling += any(kernel.fields for kernel in candidate.kernels)
        inner = {op.axis_name for op in lowered.walk() if isinstance(op, tile.AxisOp) and op.outer is not None}
        for size in (2, 8):
            (found,) = evaluate(lowered, args, dict.fromkeys(inner, size))
            np.testing.assert_allclose(found, expected[0], rtol=1e-9, atol=1e-12, err_msg=candidate.signature)
    assert rolling or module is split_product


def test_one_kernel_stores_all_states_of_its_slices():
    graph = saturated(attention())
    found = extract(graph, ExtractOptions(max_candidates=200)).candidates
    candidate = next(c for c in found if any(kernel.fields for kernel in c.kernels))
    first, second = candidate.kernels
    assert candidate.launches == 2
    assert len(first.fields) == 3 and not second.fields
    text = to_tile(graph, candidate)
    stores = [op for op in text.walk() if isinstance(op, tile.StoreOp)]
    loops = [op for op in text.walk() if isinstance(op, tile.ReduceOp) and op.is_rolling]
    assert (len(stores), len(loops)) == (4, 1)
    # Arguments and result once, the arrays of two slices written and read.
    assert candidate.bytes == 4 * (24 + 88 + 88 + 24) + 2 * 4 * 2 * (6 + 6 + 24)


def test_a_split_product_has_a_loop_in_each_slice():
    graph = saturated(split_product(), 10)
    structures = {c.signature for c in extract(graph).candidates if in_slices(graph, c)}
    assert "[arg00,arg01_split,arg11](arg01)1p0r [arg00,arg11]()0p1r" in structures


def kinds_of_decoding(graph: EGraph, candidates: list[Candidate]) -> dict[str, Candidate]:
    """The best candidate with a derived loop over the keys that is one kernel, that is cut along the output channels
    and reads the scores, and that is cut along the keys."""
    axes = [axis.name for axis in graph.axes]
    (outer,) = graph.outer_axes
    channels = next(number for number, name in enumerate(axes) if name.startswith("v"))
    kinds: dict[str, Candidate] = {}
    for candidate in candidates:
        grids = [set(kernel.grid) for kernel in candidate.kernels]
        loops = [n for k in candidate.kernels for n in k.choices.values() if isinstance(n, ENode) and n.op == "rolling"]
        if not loops or any(graph.axes[int(n.attrs[1])].within != outer for n in loops):
            continue
        if candidate.launches == 1:
            kinds.setdefault("whole", candidate)
        elif candidate.launches == 2 and outer in grids[0] and len(candidate.kernels[0].fields) == 3:
            kinds.setdefault("keys", candidate)
        elif candidate.launches == 2 and channels in grids[1] and outer not in grids[0]:
            kinds.setdefault("channels", candidate)
    return kinds


DECODING = ("mha-decode", "gqa-decode")


@pytest.mark.parametrize("workload", DECODING)
def test_decoding_is_offered_whole_by_output_channels_and_by_keys(workload: str):
    module = load_program(f"{workload}:b=1,s=16384", numerics="real").module
    graph, _, _ = run_in_process(encode(module), SaturationOptions())
    kinds = kinds_of_decoding(graph, extract(graph).top(8))
    assert kinds.keys() == {"whole", "channels", "keys"}
    # One block a head leaves most of the device idle.
    assert kinds["keys"].estimate_us < 0.9 * kinds["whole"].estimate_us


@pytest.mark.parametrize("workload", DECODING)
def test_each_kind_of_decoding_runs_as_kernels(workload: str):
    """45 keys in slices of 32 and 13, each in tiles of 16, against the module in float64."""
    program = load_program(f"{workload}:b=1,h=4,s=45,d=12" + (",kv=2" if "gqa" in workload else ""), numerics="real")
    graph, _, _ = run_in_process(encode(program.module, 16, 40), SaturationOptions())
    kinds = kinds_of_decoding(graph, extract(graph, ExtractOptions(max_candidates=400)).candidates)
    assert kinds.keys() == {"whole", "channels", "keys"}
    args = [torch.from_numpy(np.random.default_rng(i).standard_normal(s)).half() for i, s in enumerate(shapes(graph))]
    expected = attend(*(a.double() for a in args))
    for kind, candidate in kinds.items():
        source = emitted(graph, candidate)
        assert source.count("_kernel[(") == candidate.launches, kind
        (found,) = run_interpreted(source, args)
        error = (found.double() - expected).norm() / expected.norm()
        assert error < 1e-3, kind


def shapes(graph: EGraph) -> list[tuple[int, ...]]:
    return [shape for _, shape, _ in graph.inputs]


def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """Attention of one query a head; several heads of q may share one of k and v."""
    grouped = q.view(*k.shape[:-2], -1, k.shape[-1])
    scores = grouped @ k.mT / math.sqrt(k.shape[-1])
    return (torch.softmax(scores if bias is None else scores + bias, -1) @ v).view(q.shape)


def emitted(graph: EGraph, candidate: Candidate) -> str:
    """The Triton module of a candidate, its loops in the smallest tiles."""
    kernels = build_kernels(to_tile(graph, candidate))
    apply_schedules(kernels, "interpreter")
    return emit_triton(kernels)


class Masked(torch.nn.Module):
    """Attention with a bias on the scores."""

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return torch.softmax(q @ k.mT / math.sqrt(k.shape[-1]) + bias, -1) @ v


def test_a_slice_without_keys_and_a_row_without_any_are_as_in_eager():
    """Query 0 sees no key of the first slice, query 1 none at all."""
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(2, n, 8, generator=generator) for n in (3, 45, 45))
    bias = torch.zeros(3, 45)
    bias[0, :32] = bias[1] = -math.inf
    bias = bias.expand(2, 3, 45).contiguous()
    program = import_module(Masked(), (q, k, v, bias), "masked")
    graph, _, _ = run_in_process(encode(program.module, 16, 40), SaturationOptions())
    candidate = kinds_of_decoding(graph, extract(graph, ExtractOptions(max_candidates=200)).candidates)["keys"]
    (found,) = run_interpreted(emitted(graph, candidate), [q, k, v, bias])
    expected = Masked()(q.double(), k.double(), v.double(), bias.double())
    assert torch.all(torch.isnan(found[:, 1]))
    torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-5, equal_nan=True)
