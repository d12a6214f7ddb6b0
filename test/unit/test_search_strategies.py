"""Compaction and the best-first search on e-graphs of real programs, against full enumeration."""

from __future__ import annotations

import itertools
from functools import cache

import pytest

from equiforge.egraph.encode import encode
from equiforge.egraph.graph import EGraph
from equiforge.egraph.saturate import SaturationOptions, saturate
from equiforge.frontend.program import load_program
from equiforge.search.compaction import least
from equiforge.search.extract import Candidate, Extraction, ExtractionResult, ExtractOptions, extract
from equiforge.search.outline import Limits
from equiforge.search.to_tile import to_tile

PROGRAMS = ("lora:small", "gated-mlp:small", "rmsnorm-linear:small", "layernorm-gemm:small", "mha-decode:small")
UNLIMITED = 1 << 60


@cache
def saturated(spec: str) -> EGraph:
    return saturate(encode(load_program(spec).module), SaturationOptions())[0]


def canonical(candidate: Candidate) -> tuple[object, ...]:
    """A program without its pointwise parts: the stored values with their grids and heavy choices, and its results."""
    kernels = sorted((k.root, k.grid.axes, k.options) for k in candidate.choices)
    return (tuple(kernels), tuple((load.base, load.where) for load in candidate.outputs))


def run(spec: str, strategy: str, at_most: int | None) -> ExtractionResult:
    options = ExtractOptions(
        strategy=strategy,  # pyright: ignore[reportArgumentType]
        max_candidates=None,
        max_kernel_states=UNLIMITED,
        max_states=UNLIMITED,
        max_seconds=600,
        exhaustive=True,
        at_most=at_most,
    )
    return extract(saturated(spec), options)


@pytest.mark.parametrize(
    ("spec", "at_most"),
    [*itertools.product(PROGRAMS[:3], (1, 2)), ("lora:small", None), ("mha-decode:small", 1), ("ngpt:b=16", 1)],
)
def test_early_compaction_loses_no_program_and_keeps_none_twice(spec: str, at_most: int | None) -> None:
    early, after = (run(spec, how, at_most) for how in ("early", "after"))
    found = [canonical(c) for c in early.candidates]
    assert len(set(found)) == len(found)
    assert set(found) == {canonical(c) for c in after.candidates}
    assert early.stats.represented == after.stats.represented == len(found)
    assert early.stats.states < after.stats.states


@pytest.mark.parametrize(
    "spec", [*PROGRAMS, "rmsnorm-linear:b=16", "rmsnorm-mlp:b=16", "ngpt:b=16", "gqa-decode:small"]
)
def test_kernels_with_and_without_compaction_have_the_same_least_choices(spec: str) -> None:
    options = ExtractOptions(max_kernel_states=UNLIMITED, exhaustive=True)
    extraction = Extraction(saturated(spec), options)
    enumeration = extraction.enumeration()
    for root in sorted(extraction.space.storable):
        found = {kernel.key for kernel in extraction.search.variants(root).kernels}
        legal: set[tuple[object, ...]] = set()
        for grid, complete in enumeration.kernels(root):
            kernels = [extraction.rules.finish(grid, mask) for mask in least(complete)]
            legal |= {kernel.key for kernel in kernels if kernel is not None}
        assert found == legal


@pytest.mark.parametrize("spec", PROGRAMS[:2])
@pytest.mark.parametrize("at_most", [1, 2, None])
def test_the_programs_without_compaction_are_as_many_as_counted(spec: str, at_most: int | None) -> None:
    extraction = Extraction(saturated(spec), ExtractOptions(at_most=at_most))
    for views in (False, True):
        enumeration = extraction.enumeration(views)
        found: set[tuple[object, ...]] = set()
        programs = 0
        for _, holes in extraction.starts():
            for kernels, choices in enumeration.programs(holes, Limits(UNLIMITED, float("inf"), at_most)):
                programs += 1
                found.add(tuple((k.root, k.grid.axes, chosen) for k, chosen in zip(kernels, choices, strict=True)))
        assert len(found) == programs
        assert extraction.size(views) == (extraction.counters.states, programs)
        extraction.counters.states = 0


@pytest.mark.parametrize("spec", PROGRAMS)
def test_programs_are_counted_without_being_listed(spec: str) -> None:
    everything = run(spec, "early", 3)
    options = ExtractOptions(max_candidates=2, max_kernel_states=UNLIMITED, exhaustive=True, at_most=3)
    few = extract(saturated(spec), options)
    assert len(few.candidates) == 2
    assert few.stats.represented == len(everything.candidates)


@pytest.mark.parametrize("spec", PROGRAMS)
def test_the_best_are_those_of_the_full_enumeration(spec: str) -> None:
    everything = run(spec, "early", 3)
    best = extract(saturated(spec), ExtractOptions(max_candidates=12, at_most=3, diverse=False))
    assert best.stats.complete and best.stats.missed_us is None
    wanted = sorted(c.estimate_us for c in everything.candidates)[:12]
    assert [c.estimate_us for c in best.candidates[:12]] == pytest.approx(wanted)


@pytest.mark.parametrize("spec", PROGRAMS)
@pytest.mark.parametrize("limits", [(40, 3), (40, 200), (400, 8), (20_000, 30)])
def test_whenever_it_is_stopped_there_is_an_answer_and_a_bound_on_what_was_missed(
    spec: str, limits: tuple[int, int]
) -> None:
    """Stopped after so many partial kernels and partial programs; the best of the full search tells what was missed."""
    graph = saturated(spec)
    kernel_states, states = limits
    extraction = Extraction(graph, ExtractOptions(max_kernel_states=kernel_states, max_states=states, diverse=False))
    stopped = extraction.run()
    best = extract(graph, ExtractOptions(max_candidates=1, diverse=False)).candidates[0].estimate_us
    for candidate in stopped.candidates:
        made = {kernel.root for kernel in candidate.kernels}
        assert all(kernel.needs <= made for kernel in candidate.kernels)
    found = stopped.candidates[0].estimate_us
    assert found >= best - 1e-9
    if stopped.stats.complete:
        assert found == pytest.approx(best)
    else:
        assert stopped.stats.missed_us is not None
        assert found == pytest.approx(best) or stopped.stats.missed_us <= best + 1e-9


@pytest.mark.parametrize("spec", [*PROGRAMS, "rmsnorm-swiglu:b=16", "sdpa-gqa:b=16"])
@pytest.mark.parametrize("seconds", [0.0, 0.05])
def test_a_time_limit_at_any_moment_leaves_a_program(spec: str, seconds: float) -> None:
    graph = saturated(spec)
    result = extract(graph, ExtractOptions(max_seconds=seconds))
    best = result.candidates[0]
    # Each stored value that a kernel reads is made, once, by a kernel before it.
    made: list[int] = []
    for choice, kernel in zip(best.choices, best.kernels, strict=True):
        assert choice.needs <= {c.root for c in best.choices} - {choice.root}
        made.append(kernel.root)
    assert len(set(made)) == len(made)
    assert str(to_tile(graph, best))
    if result.stats.stop == "time limit reached":
        assert not result.stats.complete
        bound = min(best.estimate_us, result.stats.missed_us or 0.0)
        assert extract(graph).candidates[0].estimate_us >= bound, "what was missed is no better than said"
