"""The integer program of kernels, and the prices beside a program, against the exact list of programs."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import pytest
import rustworkx

from equiforge.egraph.encode import encode
from equiforge.egraph.graph import EGraph
from equiforge.egraph.saturate import SaturationOptions, saturate
from equiforge.frontend.program import load_program
from equiforge.search.cycles import find_cycle
from equiforge.search.extract import Extraction, ExtractOptions
from equiforge.search.kernel_choice import KernelChoice
from equiforge.search.outline import Limits
from equiforge.search.prices import prices_beside
from equiforge.search.selection import Selection

PROGRAMS = ("lora:small", "rmsnorm-mlp:small", "layernorm-gemm:small", "gqa-decode:small")


@dataclass(frozen=True)
class Cost:
    estimate_us: float


@dataclass(frozen=True)
class Kernel:
    """A kernel as far as a selection looks at it."""

    root: int
    needs: frozenset[int]
    cost: Cost


Lists = dict[int, list[Kernel]]


def drawn(seed: int, stored: int) -> Lists:
    """Kernels for some stored classes that read any of the others, also each other."""
    draw = random.Random(seed)
    lists: Lists = {}
    for root in range(stored):
        kernels = [
            Kernel(
                root,
                frozenset(draw.sample([n for n in range(stored) if n != root], draw.randint(0, 2))),
                Cost(draw.randint(1, 40) / 4),
            )
            for _ in range(draw.randint(1, 4))
        ]
        lists[root] = sorted(kernels, key=lambda k: k.cost.estimate_us)
    return lists


def acyclic(kernels: Iterable[Kernel]) -> bool:
    """Whether no kernels need each other, by another library."""
    graph = cast(Any, rustworkx).PyDiGraph()
    nodes = {k.root: graph.add_node(k.root) for k in kernels}
    graph.add_edges_from_no_data([(nodes[n], nodes[k.root]) for k in kernels for n in k.needs if n in nodes])
    return cast(bool, cast(Any, rustworkx).is_directed_acyclic_graph(graph))


def every(lists: Lists, holes: frozenset[int]) -> list[tuple[float, int]]:
    """Estimate and number of kernels of all programs: one kernel or none for each stored class, tried out."""
    found: list[tuple[float, int]] = []
    for chosen in itertools.product(*([None, *kernels] for kernels in lists.values())):
        program = [k for k in chosen if k is not None]
        made = {k.root for k in program}
        if holes <= made and all(k.needs <= made for k in program) and acyclic(program):
            found.append((sum(k.cost.estimate_us for k in program), len(program)))
    return sorted(found)


def selection(lists: Lists, holes: frozenset[int]) -> Selection:
    return Selection(lambda root: cast(list[KernelChoice], lists[root]), holes, math.inf)


@pytest.mark.parametrize("seed", range(30))
def test_the_best_program_of_any_number_of_kernels(seed: int) -> None:
    lists, holes = drawn(seed, 6), frozenset({0, 1 + seed % 2})
    programs, made = every(lists, holes), selection(lists, holes)
    for most in (None, *range(6, 0, -1)):
        allowed = [cost for cost, count in programs if most is None or count <= most]
        chosen = made.best(most)
        assert (chosen is None) == (not allowed)
        if chosen is not None:
            assert chosen.estimate_us == pytest.approx(allowed[0])
            assert chosen.bound_us == pytest.approx(allowed[0])
            assert acyclic(cast(list[Kernel], chosen.kernels))


def test_a_kernel_that_reads_more_for_more_is_left_out_and_rounds_are_cut() -> None:
    lists = {
        0: [Kernel(0, frozenset({1}), Cost(1.0))],
        1: [Kernel(1, frozenset({2}), Cost(1.0)), Kernel(1, frozenset(), Cost(9.0))],
        2: [Kernel(2, frozenset({3}), Cost(1.0)), Kernel(2, frozenset(), Cost(20.0))],
        3: [Kernel(3, frozenset({1}), Cost(1.0))],
    }
    # 1, 2 and 3 need each other unless one of them is made by itself.
    chosen = selection(lists, frozenset({0})).best()
    assert chosen is not None and chosen.estimate_us == 10.0 and {k.root for k in chosen.kernels} == {0, 1}


@pytest.mark.parametrize("seed", range(40))
def test_a_round_is_found_where_there_is_one(seed: int) -> None:
    draw = random.Random(seed)
    kernels = {r: draw.choice(made) for r, made in drawn(seed, 7).items()}
    cycle = find_cycle(cast(dict[int, KernelChoice], kernels))
    assert (cycle is None) == acyclic(kernels.values())
    for root, need in zip(cycle or (), (*(cycle or ())[1:], *(cycle or ())[:1]), strict=True):
        assert need in kernels[root].needs


def test_a_kernel_that_makes_a_program_better_costs_no_more_than_it_is_worth() -> None:
    """Beside the best program without a kernel: that one, and anything else for what it needs besides."""
    better = 0
    for seed in range(40):
        lists, holes = drawn(seed, 5), frozenset({0})
        for kernel in itertools.chain(*lists.values()):
            without = lists | {kernel.root: [k for k in lists[kernel.root] if k is not kernel]}
            chosen = selection(without, holes).best()
            made = {} if chosen is None else {k.root: cast(Kernel, k) for k in chosen.kernels}
            # What two values that are made besides share is counted twice.
            if chosen is None or kernel.root not in made or len(kernel.needs - made.keys()) > 1:
                continue
            beside = without | {root: [k] for root, k in made.items()} | {kernel.root: [kernel]}
            programs = every(beside, holes)
            if programs and programs[0][0] < chosen.estimate_us:
                better += 1
                prices = prices_beside(chosen.kernels, holes, cast(Any, without), lambda _: 0.0)
                paid = kernel.cost.estimate_us + sum(prices.of(kernel.root, n) for n in kernel.needs)
                assert paid <= prices.worth[kernel.root] + 1e-9
    assert better > 20


@cache
def saturated(spec: str) -> EGraph:
    return saturate(encode(load_program(spec).module), SaturationOptions())[0]


@pytest.mark.parametrize("spec", PROGRAMS)
def test_it_agrees_with_the_exact_list_of_programs(spec: str) -> None:
    extraction = Extraction(saturated(spec), ExtractOptions(max_seconds=600))
    for _, holes in extraction.starts():
        limits = Limits(1 << 60, math.inf)
        exact = next(iter(extraction.programs.programs(holes, limits)), None)
        made = Selection(extraction.search.kernels, holes, math.inf)
        chosen = made.best()
        assert chosen is not None and exact is not None
        assert chosen.estimate_us == pytest.approx(exact[0])
        for most in (1, 2):
            few = next(iter(extraction.programs.programs(holes, limits._replace(kernels=most))), None)
            assert ((one := made.best(most)) is None) == (few is None)
            assert one is None or few is None or one.estimate_us == pytest.approx(few[0])


@pytest.mark.parametrize("spec", ["mha-decode:small", "gqa-decode:small", "rmsnorm-mlp:small"])
def test_prices_make_up_for_lists_that_were_cut_short(spec: str) -> None:
    whole = Extraction(saturated(spec), ExtractOptions(max_seconds=600)).run()
    for first in (20, 60):
        cut = Extraction(saturated(spec), ExtractOptions(max_seconds=600))
        cut.search.max_states = first
        _, holes = cut.starts()[0]
        made = Selection(cut.search.kernels, holes, math.inf).best()
        before = float("inf") if made is None else made.estimate_us
        while made is not None and cut.search.look_beside(made.kernels, holes, 20_000):
            made = Selection(cut.search.kernels, holes, math.inf).best()
            assert made is not None and made.estimate_us <= before + 1e-9
            before = made.estimate_us
        assert made is None or made.estimate_us >= whole.candidates[0].estimate_us - 1e-9
