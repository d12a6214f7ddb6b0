"""Partitions: what is cut, that nothing is lost, and that compositions are the best ones."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation, SSAValue

from equiforge import pipeline
from equiforge.codegen.run import run_interpreted
from equiforge.errors import EquiforgeError
from equiforge.frontend.program import import_module, load_program
from equiforge.ir_text import parse_module
from equiforge.partition.compose import inline_call
from equiforge.partition.optimize import Partition, compositions, partitions_of
from equiforge.partition.outline import fingerprint, outline
from equiforge.partition.search import PartCandidate, PartOptions, PartResult, search_parts
from equiforge.partition.segments import CutPoints, value_bytes, weight_of
from equiforge.partition.store import ResultStore
from equiforge.pipeline import Options, Result, optimize_program
from equiforge.verify.interpreter import evaluate, main_function
from equiforge.verify.random_programs import random_arguments, random_program

SEEDS = range(40)


class Layer(nn.Module):
    def __init__(self, hidden: int):
        super().__init__()
        self.norm = nn.RMSNorm(hidden, eps=1e-5)
        self.up = nn.Linear(hidden, 2 * hidden, bias=False)
        self.down = nn.Linear(2 * hidden, hidden, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(torch.relu(self.up(self.norm(x))))


def stack(layers: int, hidden: int = 32) -> tuple[nn.Module, torch.Tensor]:
    torch.manual_seed(0)
    return nn.Sequential(*(Layer(hidden) for _ in range(layers))).eval(), torch.randn(10, hidden)


def inlined(outlined: ModuleOp) -> ModuleOp:
    """The partitioned program with its calls replaced by what they call."""
    main = main_function(outlined)
    functions = {f.sym_name.data: f for f in outlined.body.block.ops if isinstance(f, FuncOp)}
    for call in [op for op in main.body.block.ops if isinstance(op, CallOp)]:
        inline_call(call, functions[call.callee.string_value()])
    main.detach()
    return ModuleOp([main], dict(outlined.attributes))


def reaches(start: Operation, within: set[Operation]) -> set[Operation]:
    """Ops that use results of ``start``, directly or not, through ops of ``within`` only."""
    found: set[Operation] = set()
    stack = [start]
    while stack:
        for result in stack.pop().results:
            for use in result.uses:
                if use.operation not in found:
                    found.add(use.operation)
                    if use.operation in within:
                        stack.append(use.operation)
    return found


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("limit", [1, 3])
def test_subgraphs_are_convex_and_hold_each_op_once(seed: int, limit: int) -> None:
    function = main_function(random_program(seed, 14))
    points = CutPoints(function)
    cut = points.cheapest(limit)
    assert sorted(points.place[op] for run in cut.runs for op in run) == list(range(len(points.ops)))
    everything = set(function.body.block.ops)
    for run in cut.runs:
        inside = set(run)
        assert len(run) == 1 or sum(points.weight(op) for op in run) <= limit
        left = {user for op in run for r in op.results for u in r.uses if (user := u.operation) not in inside}
        for op in left - points.free:
            assert not (reaches(op, everything - points.free) & inside), "a path leaves the subgraph and comes back"


@pytest.mark.parametrize("seed", SEEDS)
def test_a_partitioned_program_computes_the_same(seed: int) -> None:
    module = random_program(seed, 14)
    arguments = random_arguments(module, seed)
    points = CutPoints(main_function(module))
    for limit in (1, 2, 5):
        outlined = outline(module, points, points.cheapest(limit))
        parts = [f for f in outlined.body.block.ops if isinstance(f, FuncOp) and f is not main_function(outlined)]
        assert len({fingerprint(part) for part in parts}) == len(parts), "equal subgraphs are one function"
        again = inlined(outlined)
        again.verify()
        for wanted, found in zip(evaluate(module, arguments), evaluate(again, arguments), strict=True):
            np.testing.assert_array_equal(found, wanted)


def traffic(points: CutPoints, start: int, end: int) -> int:
    """What a run of ops reads from outside and writes for outside, counted from the uses themselves."""
    run = points.ops[start:end]
    own = {r for op in run for r in op.results}
    read = {v for op in run for v in points.reads(op) if v not in own}

    def is_needed(value: SSAValue) -> bool:
        users = [u.operation for u in value.uses]
        return value in points.results or any(points.place.get(user, -1) >= end for user in users)

    return sum(map(value_bytes, read)) + sum(value_bytes(v) for v in own if is_needed(v)) + 8_000_000


@pytest.mark.parametrize("seed", range(12))
def test_no_other_cut_has_less_traffic(seed: int) -> None:
    points = CutPoints(main_function(random_program(seed, 9)))
    count, limit = len(points.ops), 2
    points.__dict__["anchors"] = ()  # the shortest path alone, over the whole program
    best: int | None = None
    for size in range(count):
        for places in itertools.combinations(range(1, count), size):
            runs = list(itertools.pairwise((0, *places, count)))
            fits = all(b - a == 1 or sum(map(points.weight, points.ops[a:b])) <= limit for a, b in runs)
            if fits:
                spent = sum(traffic(points, a, b) for a, b in runs)
                best = spent if best is None else min(best, spent)
    assert points.cheapest(limit).traffic == best


def test_equal_layers_are_cut_alike_and_are_one_subgraph() -> None:
    model, x = stack(6)
    partitions, texts = partitions_of(import_module(model, (x,), "stack", "real").module)
    for partition in partitions:
        assert partition.size % 6 == 0
        assert len(partition.parts) == partition.size // 6
    one, _ = partitions_of(import_module(*(lambda m, t: (m, (t,)))(*stack(2)), "stack", "real").module)
    assert len(texts) == len({key for p in one for key in p.parts.values()}), "as many as two layers have"


def fake(costs: list[float]) -> PartResult:
    return PartResult([PartCandidate(c, c, 1, 0, 0, "", "") for c in costs])


def test_compositions_come_in_the_order_of_their_cost_and_none_twice() -> None:
    rng = np.random.default_rng(0)
    results = {key: fake(sorted(rng.uniform(1, 9, 4).tolist())) for key in "abcd"}
    empty = FuncOp("main", ([], []))
    partitions = [
        Partition(8, empty, {"part0": "a", "part1": "b"}, {"part0": 2, "part1": 1}),
        Partition(4, empty, {"part0": "c", "part1": "d", "part2": "a"}, {"part0": 1, "part1": 3, "part2": 1}),
    ]
    wanted: list[float] = []
    for partition in partitions:
        lists = [
            [c.estimate_us * partition.calls[n] for c in results[k].candidates] for n, k in partition.parts.items()
        ]
        wanted.extend(sum(choice) for choice in itertools.product(*lists))
    found = list(compositions(partitions, results))
    assert [c.cost_us for c in found] == pytest.approx(sorted(wanted))
    assert len({(c.partition, c.chosen) for c in found}) == len(wanted)


def test_a_partition_with_a_subgraph_that_nothing_computes_is_left_out() -> None:
    results = {"a": fake([1.0]), "b": PartResult([], error="no kernel")}
    partitions = [Partition(8, FuncOp("main", ([], [])), {"part0": k}, {"part0": 1}) for k in "ba"]
    assert [c.partition for c in compositions(partitions, results)] == [1]


def rows(result: Result) -> list[tuple[object, ...]]:
    return [(r.kernels, r.bytes, r.flops, r.estimate_us, r.source) for r in result.candidates]


@pytest.fixture(scope="module")
def searched() -> Iterator[tuple[nn.Module, torch.Tensor, Result]]:
    model, x = stack(3)
    options = Options(partition="on", top=2, compile=False, remember=False, jobs=1)
    yield model, x, optimize_program(import_module(model, (x,), "stack", "real"), options, None)


def test_the_composed_kernels_compute_the_stack(searched: tuple[nn.Module, torch.Tensor, Result]) -> None:
    model, x, result = searched
    program = import_module(model, (x,), "stack", "real")
    wanted = model.double()(x.double())
    model.float()
    assert result.candidates
    for row in result.candidates:
        assert row.rejected is None
        (found,) = run_interpreted(row.source, program.example_args)
        torch.testing.assert_close(found.double(), wanted, rtol=1e-4, atol=1e-5)
        kernels = re.findall(r"^def \w+_kernel\(", row.source, re.MULTILINE)
        assert 3 * len(kernels) == row.launches, "three equal layers share their kernels"
        assert row.source.count("num_warps=") == len(kernels), "and what these are launched with"


@pytest.mark.parametrize("weight", [1, 2, 3])
def test_a_program_is_cut_only_if_its_e_graph_as_a_whole_gives_nothing(
    weight: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise EquiforgeError("nothing")

    model, x = stack(1)
    given = import_module(model, (x,), "stack", "real")
    whole = weight_of(main_function(given.module))
    monkeypatch.setattr(pipeline, "AUTO_PARTITION", whole - (weight > 1))
    monkeypatch.setattr(pipeline, "AUTO_WHOLE", whole - (weight > 2))
    options = Options(stop_after="extract", remember=False, jobs=1)
    assert options.partitions(given.module) is {1: False, 2: None, 3: True}[weight]
    kept = optimize_program(given, options)
    assert bool(kept.partition_stats) == (weight == 3)
    monkeypatch.setattr(pipeline.Run, "_extract", refuse)
    if weight == 1:
        with pytest.raises(EquiforgeError, match="nothing"):
            optimize_program(given, options)
    else:
        assert optimize_program(given, options).partition_stats["subgraphs"] > 0


def test_the_number_of_processes_changes_nothing(searched: tuple[nn.Module, torch.Tensor, Result]) -> None:
    model, x, result = searched
    options = Options(partition="on", top=2, compile=False, remember=False, jobs=2, validate=False)
    again = optimize_program(import_module(model, (x,), "stack", "real"), options, None)
    assert rows(again) == rows(result)


def test_results_are_remembered_but_not_for_other_options(tmp_path: Path) -> None:
    model, x = stack(1)
    _, texts = partitions_of(import_module(model, (x,), "layer", "real").module)
    store = ResultStore(tmp_path / "results.sqlite")
    first = search_parts(texts, PartOptions(), 1, store)
    second = search_parts(texts, PartOptions(), 1, ResultStore(tmp_path / "results.sqlite"))
    assert all(r.remembered for r in second.values())
    assert [r.candidates for r in second.values()] == [r.candidates for r in first.values()]
    key = next(iter(texts))
    assert store.get(key, PartOptions(target="a100")) is None


def test_a_store_that_can_not_be_written_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = ResultStore(tmp_path / "file" / "results.sqlite")
    store.put("a", PartOptions(), {})
    assert store.get("a", PartOptions()) is None


def test_tile_programs_with_other_axes_of_one_name_are_kept_apart() -> None:
    from equiforge.partition.compose import compose

    text = """
    tile.axis @t0 extent {n}
    func.func @main(%x: tensor<{n}x4xf32>) -> tensor<{n}x4xf32> {{
      %p = tile.partition %x along 0 by @t0 :
        (tensor<{n}x4xf32>) -> !tile.view<{n}x4xf32, [#tile.partition<@t0, 0>]>
      %e = forge.exp %p : !tile.view<{n}x4xf32, [#tile.partition<@t0, 0>]>
      %c = tile.combine %e along 0 by @t0 :
        (!tile.view<{n}x4xf32, [#tile.partition<@t0, 0>]>) -> tensor<{n}x4xf32>
      %s = tile.store %c : tensor<{n}x4xf32>
      func.return %s : tensor<{n}x4xf32>
    }}"""
    main = parse_module("""
    func.func private @a(tensor<8x4xf32>) -> tensor<8x4xf32>
    func.func private @b(tensor<6x4xf32>) -> tensor<6x4xf32>
    func.func @main(%x: tensor<8x4xf32>, %y: tensor<6x4xf32>) -> (tensor<8x4xf32>, tensor<6x4xf32>) {
      %0 = func.call @a(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      %1 = func.call @b(%y) : (tensor<6x4xf32>) -> tensor<6x4xf32>
      func.return %0, %1 : tensor<8x4xf32>, tensor<6x4xf32>
    }""")
    whole = compose(main_function(main), {"a": parse_module(text.format(n=8)), "b": parse_module(text.format(n=6))})
    whole.verify()
    x, y = np.arange(32.0).reshape(8, 4) / 9, np.arange(24.0).reshape(6, 4) / 9
    found = evaluate(whole, [x.astype(np.float32), y.astype(np.float32)], tile_sizes={"t0": 3, "t0_2": 4})
    np.testing.assert_allclose(found[0], np.exp(x), rtol=1e-6)
    np.testing.assert_allclose(found[1], np.exp(y), rtol=1e-6)


def test_the_subgraphs_of_a_llama_block_are_searched_to_the_end() -> None:
    path = Path(__file__).parents[2] / "docs" / "examples" / "llama_block.py"
    _, texts = partitions_of(load_program(f"{path}:make").module)
    assert len(texts) == 5
    for result in search_parts(texts, PartOptions(), 1).values():
        assert result.egraph["stop"] == "saturated"
        assert result.extraction["complete"], result.extraction["stop"]
