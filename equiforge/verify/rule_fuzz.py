"""The soundness fuzz of the rules: random small programs are saturated, and every e-node of every class is evaluated.

A rule set is sound on a program if all e-nodes of a class have one value, at tile sizes that leave ragged tiles, on
arguments with zeros of both signs; and on hostile ones, with NaN and each infinity in its place, unless a rule took
part, or a repair, that may put NaN for an infinity. A failure is a wrong rule, never a matter of tolerance.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from equiforge.egraph.catalogue import catalogue
from equiforge.egraph.contributions import leaves_of
from equiforge.egraph.encode import SPLIT_EXTENT, encode
from equiforge.egraph.engine import Engine, SaturationOptions
from equiforge.egraph.graph import Consumer, EGraph
from equiforge.egraph.ir import to_module
from equiforge.egraph.two_level import fuse_reductions
from equiforge.verify.egraph_check import EgraphReport, check_egraph, random_tile_sizes
from equiforge.verify.hostile_arguments import hostile_arguments
from equiforge.verify.random_programs import random_arguments, random_program

LIMITS = SaturationOptions(max_nodes=1_200, max_rounds=5, max_seconds=20.0)
"""Limits of one saturation. A run that reaches one is checked all the same: what it found must hold."""


@dataclass
class FuzzReport:
    """What a fuzz saw: ``matches`` counts rule matches by name, ``failures`` has a description for each failed seed."""

    programs: int = 0
    nodes: int = 0
    rolling: int = 0
    seconds: float = 0.0
    matches: dict[str, int] = field(default_factory=lambda: {})
    failures: dict[int, str] = field(default_factory=lambda: {})

    def add(self, other: FuzzReport) -> None:
        """Count another report in; its seconds are not."""
        self.programs += other.programs
        self.nodes += other.nodes
        self.rolling += other.rolling
        for rule, count in other.matches.items():
            self.matches[rule] = self.matches.get(rule, 0) + count
        self.failures.update(other.failures)


@dataclass(frozen=True)
class Saturated:
    """A saturated program with the means to check it."""

    graph: EGraph
    module: ModuleOp
    matches: dict[str, int]
    rolling: int

    @property
    def keeps_nonfinite(self) -> bool:
        """True if no rule and no repair took part that may put NaN for an infinity."""
        consumers = (consumer for reducer in self.graph.reducers.values() for consumer in reducer.consumers)
        regrouped = any(rule.up_to and self.matches.get(rule.name) for rule in catalogue().rules)
        return not regrouped and not any(map(_is_weighted_moment, consumers))

    def check(self, arguments: list[np.ndarray], seed: int) -> EgraphReport:
        """Evaluate all e-nodes at the tile sizes that a seed stands for."""
        return check_egraph(self.module, arguments, random_tile_sizes(self.graph, seed))


def _is_weighted_moment(consumer: Consumer) -> bool:
    leaves = leaves_of(consumer.contribution)
    return consumer.hidden and (consumer.kind == "tilematmul" or any(x[0] == "input" and x[1] != 0 for x in leaves))


def saturate_for_check(module: ModuleOp, options: SaturationOptions = LIMITS, slices: bool = False) -> Saturated:
    """Saturate a forge module with an axis for every dimension, reduced ones too, and with ``slices`` two levels of
    axes for these. The e-graph is verified as IR."""
    split_extent = 2 if slices else SPLIT_EXTENT
    engine = Engine(encode(module, whole_extent=1, split_extent=split_extent), options)
    graph = engine.saturate()
    rolling = fuse_reductions(graph).added if graph.numerics == "real" else 0
    written = to_module(graph)
    written.verify()
    return Saturated(graph, written, engine.stats.matches, rolling)


def check_program(
    module: ModuleOp, seed: int, options: SaturationOptions = LIMITS, inputs: int = 2, slices: bool = False
) -> str | None:
    """Why a program's e-graph is wrong, or None. ``inputs`` sets of arguments of each kind are tried."""
    saturated = saturate_for_check(module, options, slices)
    return first_mismatch(saturated, seed, inputs)


def first_mismatch(saturated: Saturated, seed: int, inputs: int = 2) -> str | None:
    """The first e-node that differs from its class, in words."""
    for number in range(inputs):
        drawn = [random_arguments(saturated.module, 1000 * seed + number)]
        if saturated.keeps_nonfinite:
            drawn.append(hostile_arguments(saturated.module, inputs * seed + number))
        for arguments in drawn:
            report = saturated.check(arguments, 1000 * seed + number)
            if not report.ok:
                return report.mismatches[0]
    return None


def fuzz_program(seed: int, options: SaturationOptions = LIMITS, inputs: int = 2) -> FuzzReport:
    """Check the program of one seed, with reductions in two levels if it is odd."""
    report = FuzzReport(programs=1)
    began = time.perf_counter()
    try:
        saturated = saturate_for_check(random_program(seed), options, slices=seed % 2 == 1)
        failure = first_mismatch(saturated, seed, inputs)
    except Exception as error:
        # An e-graph that can't be typed or written is as wrong as one with a wrong value; the seed must come out.
        failure = f"{type(error).__name__}: {error}"
    else:
        report.nodes = saturated.graph.num_nodes
        report.rolling = saturated.rolling
        report.matches = dict(saturated.matches)
    if failure is not None:
        report.failures[seed] = failure
    report.seconds = time.perf_counter() - began
    return report


def fuzz(
    seeds: Iterable[int],
    options: SaturationOptions = LIMITS,
    inputs: int = 2,
    progress: Callable[[int, FuzzReport], None] | None = None,
    jobs: int = 1,
) -> FuzzReport:
    """Check the programs of all seeds, odd ones with reductions in two levels, on ``jobs`` processes with the same
    result whatever their number.

    ``progress`` is called with each seed, in order, and the report so far.
    """
    seeds = list(seeds)
    check = partial(fuzz_program, options=options, inputs=inputs)
    report = FuzzReport()
    began = time.perf_counter()
    with contextlib.ExitStack() as stack:
        reports = map(check, seeds)
        if jobs > 1:
            pool = stack.enter_context(ProcessPoolExecutor(jobs, mp_context=get_context("spawn")))
            reports = pool.map(check, seeds)
        for seed, found in zip(seeds, reports, strict=True):
            report.add(found)
            report.seconds = time.perf_counter() - began
            if progress is not None:
                progress(seed, report)
    return report
