"""Extraction: complete programs out of an e-graph, best first.

A program is a set of kernels such that each stored class that one of them reads, and each result, is produced by
exactly one. Partial programs are kernels and holes (stored classes still to be produced); the bound of a hole is the
least estimate of a kernel for it, or, before its kernels are listed, what storing it costs. The bound is admissible,
so programs come out in the order of their estimate.
"""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from equiforge.egraph.graph import EGraph
from equiforge.errors import EquiforgeError
from equiforge.search.beam import Beam, is_cyclic
from equiforge.search.compaction import compact_table, raw_table
from equiforge.search.cost import CostModel
from equiforge.search.derive import Kernel, derive
from equiforge.search.kernels import Counters, KernelChoice, KernelSearch, Strategy
from equiforge.search.normal_form import Load, Space
from equiforge.tune.targets import load_target


@dataclass(frozen=True)
class ExtractOptions:
    """Options of an extraction; part of every cache key."""

    strategy: Strategy = "early"
    """When equal partial programs are merged: ``early``, ``after`` completion, or ``none`` (never)."""
    target: str = "h200"
    """Device whose description ranks the candidates."""
    max_candidates: int | None = 64
    """Stop after this many best programs; None enumerates all."""
    max_kernel_states: int = 20_000
    """Partial kernels expanded for one stored class at most."""
    max_states: int = 50_000
    """Partial programs expanded at most."""
    max_seconds: float = 20.0
    """Stop after this much time with what was found."""
    diverse: bool = True
    """Also look for the best programs of each number of kernels, with and without derived reductions."""
    max_kernels: int = 6
    """Largest number of kernels that the search for diversity asks for."""


@dataclass
class Candidate:
    """A complete program. ``kernels`` are in data-dependence order; ``outputs`` say for each result where it lies.
    Bytes are those that its kernels move at least, ``flops`` those of its products; times are in microseconds.
    ``signature`` names its structure."""

    id: int
    kernels: list[Kernel]
    outputs: list[Load]
    launches: int
    bytes: int
    flops: int
    lower_bound_us: float
    estimate_us: float
    signature: str


@dataclass
class ExtractionStats:
    """What the extraction did. ``complete``: no program outside the list is better by the model than any that the
    options asked for."""

    strategy: str
    states: int = 0
    pruned: int = 0
    candidates: int = 0
    seconds: float = 0.0
    complete: bool = False
    stop: str = ""
    rejects: dict[str, int] = field(default_factory=lambda: {})


@dataclass
class ExtractionResult:
    """Candidates by rising estimate, and what it took to find them."""

    candidates: list[Candidate]
    stats: ExtractionStats

    def top(self, count: int) -> list[Candidate]:
        """The ``count`` candidates to try first: the best one, the best of the fewest kernels and of each next number
        of kernels, then the best of each other structure, then the rest by estimate."""
        chosen: dict[int, Candidate] = {}
        by_count: dict[int, Candidate] = {}
        by_structure: dict[str, Candidate] = {}
        for candidate in self.candidates:
            by_count.setdefault(candidate.launches, candidate)
            by_structure.setdefault(candidate.signature, candidate)
        few = [by_count[n] for n in sorted(by_count)[:2]]
        for candidate in (*self.candidates[:1], *few, *by_structure.values(), *self.candidates):
            if len(chosen) < count:
                chosen.setdefault(candidate.id, candidate)
        return sorted(chosen.values(), key=lambda c: c.id)


class _Partial(NamedTuple):
    bound: float
    order: int
    spent: float
    kernels: tuple[KernelChoice, ...]
    holes: frozenset[int]
    next: int
    """The kernel of the first hole that is tried next; -1 before the hole's kernels are listed."""


def extract(graph: EGraph, options: ExtractOptions | None = None) -> ExtractionResult:
    """The best programs of an e-graph. Raises :class:`EquiforgeError` if it holds no executable program."""
    return Extraction(graph, options or ExtractOptions()).run()


class Extraction:
    """One extraction: the space of choices, the kernel lists, and the programs found."""

    def __init__(self, graph: EGraph, options: ExtractOptions):
        self.options = options
        self.start = time.perf_counter()
        self.deadline = self.start + options.max_seconds
        self.graph = graph
        self.space = Space(graph)
        self.model = CostModel(self.space, load_target(options.target))
        self.compact = compact_table(self.space)
        self.table = self.compact if options.strategy == "early" else raw_table(self.space)
        self.search = KernelSearch(
            self.space,
            self.compact,
            self.table,
            self.model,
            options.strategy,
            options.max_kernel_states,
            deadline=self.deadline,
        )
        self.counters = Counters()
        self.stop = ""
        self._structures: dict[int, list[KernelChoice]] = {}
        self._derived: dict[tuple[object, ...], Kernel | None] = {}

    def run(self) -> ExtractionResult:
        starts = self._starts()
        found: dict[tuple[object, ...], tuple[float, tuple[KernelChoice, ...], list[Load]]] = {}
        limit = self.options.max_candidates
        complete = True
        for outputs, holes in starts:
            taken = 0
            last = 0.0
            for cost, kernels in self._programs(holes):
                # Without compaction, programs that differ in pointwise e-nodes alone stay apart.
                key = (taken,) if self.options.strategy == "none" else _program_key(kernels, outputs)
                found.setdefault(key, (cost, kernels, outputs))
                taken += 1
                last = cost
                if limit is not None and taken >= limit:
                    break
            complete &= self._is_proven(last if limit is not None and taken >= limit else None)
        if (self.options.diverse and limit is not None and len(found) >= limit) or self.stop:
            self._diversify(starts, found)
        if self.stop:
            self._approximate(starts, found)
        ranked = sorted(found.values(), key=lambda f: (f[0], len(f[1]), _program_key(f[1], f[2])))
        candidates = [c for n, entry in enumerate(ranked) if (c := self._candidate(n, *entry)) is not None]
        complete &= self.table.complete
        stop = self.stop or self._truncated()
        if not candidates:
            reasons = "; ".join(f"{reason}: {count}" for reason, count in self._rejects().items())
            limits = f" within the limits ({stop})" if stop else ""
            raise EquiforgeError(f"the e-graph holds no executable program{limits}", hint=reasons or None)
        stats = ExtractionStats(
            strategy=self.options.strategy,
            states=self.search.counters.states + self.counters.states,
            pruned=self.search.counters.pruned + self.counters.pruned,
            candidates=len(candidates),
            seconds=time.perf_counter() - self.start,
            complete=complete,
            stop=("best found" if limit is not None and len(candidates) >= limit else "exhausted")
            if complete
            else stop,
            rejects=self._rejects(),
        )
        return ExtractionResult(candidates, stats)

    def _rejects(self) -> dict[str, int]:
        merged = dict(self.search.counters.rejects)
        for reason, count in self.counters.rejects.items():
            merged[reason] = merged.get(reason, 0) + count
        return dict(sorted(merged.items()))

    def _truncated(self) -> str:
        cut = sum(v.bound is not None for v in self.search.listed())
        return (
            f"limit of {self.options.max_kernel_states} partial kernels reached for {cut} stored values" if cut else ""
        )

    def _is_proven(self, worst: float | None) -> bool:
        """Whether the list is exact: ``worst`` is the estimate of the last program asked for, None if all were asked
        for."""
        if self.stop:
            return False
        bounds = [v.bound for v in self.search.listed() if v.bound is not None]
        return not bounds or (worst is not None and worst <= min(bounds))

    def _starts(self) -> list[tuple[list[Load], frozenset[int]]]:
        """The ways to provide all results: each is an argument, a stored class, or a change of layout of one."""
        ways: list[list[Load]] = []
        for root in self.graph.roots:
            loads = self.space.loads(root)
            passed = [d for d in loads if d.base in self.space.leaf and self.space.leaf[d.base].op == "input"]
            own = [d for d in loads if d.base == root]
            ways.append(passed[:1] or own[:1] or [d for d in loads if d.base not in self.space.leaf])
            if not ways[-1]:
                location = self.graph.locations.get(root)
                raise EquiforgeError("no kernel can compute a result of this program", location=location)
        result: list[tuple[list[Load], frozenset[int]]] = []
        for outputs in itertools.islice(itertools.product(*ways), 16):
            holes = frozenset(d.base for d in outputs if d.base not in self.space.leaf)
            result.append((list(outputs), holes))
        return result

    def _programs(
        self,
        holes: frozenset[int],
        count: int | None = None,
        rolling: bool | None = None,
        max_states: int | None = None,
    ) -> Iterator[tuple[float, tuple[KernelChoice, ...]]]:
        """Programs by rising estimate. With ``count``, those of exactly so many kernels, with or without derived
        reductions, built of the best kernel of each structure."""
        order = itertools.count()
        heap = [_Partial(self._bound(holes, ()), next(order), 0.0, (), holes, -1)]
        states = 0
        while heap:
            if time.perf_counter() > self.deadline - self.options.max_seconds / 2:
                # The other half of the time is for what an approximate search finds.
                self.stop = f"time limit of {self.options.max_seconds:g} s reached"
                return
            if states >= (max_states or self.options.max_states):
                if max_states is None:
                    self.stop = f"limit of {self.options.max_states} partial programs reached"
                return
            partial = heapq.heappop(heap)
            states += 1
            self.counters.states += 1
            if not partial.holes:
                if rolling is None or rolling == any(k.structure.rolling for k in partial.kernels):
                    yield partial.spent, partial.kernels
                continue
            hole = min(partial.holes)
            kernels = self.search.variants(hole).kernels if count is None else self._one_each(hole)
            rest = partial.holes - {hole}
            if partial.next < 0:
                # The bound may rise now that the kernels of the hole are known.
                spent_bound = partial.spent + self._bound(partial.holes, partial.kernels)
                heapq.heappush(heap, partial._replace(bound=max(partial.bound, spent_bound), next=0))
                continue
            if partial.next >= len(kernels):
                continue
            kernel = kernels[partial.next]
            following = partial.next + 1
            if following < len(kernels):
                bound = partial.spent + kernels[following].cost.estimate_us + sum(map(self.search.floor, rest))
                heapq.heappush(
                    heap, partial._replace(bound=max(bound, partial.bound), order=next(order), next=following)
                )
            made = {k.root for k in partial.kernels} | {hole}
            holes_after = rest | (kernel.needs - made)
            if count is not None and len(made) + len(holes_after) > count:
                continue
            if count is not None and not holes_after and len(made) != count:
                continue
            if rolling is False and kernel.structure.rolling:
                continue
            if is_cyclic({k.root: k for k in (*partial.kernels, kernel)}):
                self.counters.reject("kernels need each other")
                continue
            spent = partial.spent + kernel.cost.estimate_us
            after = (*partial.kernels, kernel)
            bound = max(partial.bound, spent + self._bound(holes_after, after))
            heapq.heappush(heap, _Partial(bound, next(order), spent, after, holes_after, -1))

    def _one_each(self, root: int) -> list[KernelChoice]:
        """The best kernel for ``root`` of each structure and each set of intermediates that it reads."""
        if root not in self._structures:
            best: dict[tuple[object, ...], KernelChoice] = {}
            for kernel in self.search.variants(root).kernels:
                best.setdefault((kernel.structure, tuple(sorted(kernel.needs))), kernel)
            self._structures[root] = list(best.values())
        return self._structures[root]

    def _bound(self, holes: frozenset[int], kernels: tuple[KernelChoice, ...]) -> float:
        """What the kernels for the holes cost at least, and those that produce what they read."""
        apart = sum(self.search.floor(h) for h in sorted(holes))
        must, model = self.search.must, self.model
        mask, written = 0, 0
        for hole in holes:
            mask |= must.of_root[hole]
            written += model.tensor_bytes(hole)
        for kernel in kernels:
            mask &= ~kernel.reads
        together = model.target.launch_us * len(holes) + (must.bytes(mask) + written) / model.bytes_per_us
        return max(apart, together)

    def _diversify(
        self,
        starts: list[tuple[list[Load], frozenset[int]]],
        found: dict[tuple[object, ...], tuple[float, tuple[KernelChoice, ...], list[Load]]],
    ) -> None:
        stop = self.stop
        for outputs, holes in starts:
            for count in range(max(1, len(holes)), len(holes) + self.options.max_kernels):
                for rolling in (False, True) if self.graph.reducers else (None,):
                    programs = self._programs(holes, count, rolling, max_states=1_000)
                    for cost, kernels in itertools.islice(programs, 8):
                        found.setdefault(_program_key(kernels, outputs), (cost, kernels, outputs))
        self.stop = stop

    def _approximate(
        self,
        starts: list[tuple[list[Load], frozenset[int]]],
        found: dict[tuple[object, ...], tuple[float, tuple[KernelChoice, ...], list[Load]]],
    ) -> None:
        """Add what a beam search finds where the exact one stopped at a limit: the best programs, and some of each
        number of kernels."""
        beam = Beam(self._one_each, self.deadline)
        for outputs, holes in starts:
            taken: dict[int, int] = {}
            for place, (cost, kernels) in enumerate(beam.programs(holes)):
                count = taken[len(kernels)] = taken.get(len(kernels), 0) + 1
                if place < (self.options.max_candidates or place + 1) or count <= 4:
                    found.setdefault(_program_key(kernels, outputs), (cost, kernels, outputs))
        self.counters.states += beam.states

    def _candidate(
        self, number: int, cost: float, choices: tuple[KernelChoice, ...], outputs: list[Load]
    ) -> Candidate | None:
        kernels: list[Kernel] = []
        for choice in _dependence_order(choices):
            if choice.key not in self._derived:
                self._derived[choice.key] = derive(self.space, choice)
            kernel = self._derived[choice.key]
            if kernel is None:
                self.counters.reject("no order of evaluation")
                return None
            kernels.append(kernel)
        return Candidate(
            id=number,
            kernels=kernels,
            outputs=outputs,
            launches=len(kernels),
            bytes=sum(c.cost.bytes for c in choices),
            flops=sum(c.cost.flops for c in choices),
            lower_bound_us=sum(c.cost.lower_us for c in choices),
            estimate_us=cost,
            signature=self._signature(choices),
        )

    def _signature(self, choices: tuple[KernelChoice, ...]) -> str:
        """One group a kernel: its grid, its loops with their passes, derived reductions (``~``), products and
        intermediates read."""
        axes = [axis.name for axis in self.graph.axes]
        parts: list[str] = []
        for choice in _dependence_order(choices):
            form = choice.structure
            grid = ",".join(axes[a] for a in form.grid)
            loops = ",".join(axes[a] if n == 1 else f"{n}*{axes[a]}" for a, n in form.loops)
            parts.append(f"[{grid}]({loops}){'~' * form.rolling}{form.products}p{form.intermediates}r")
        return " ".join(parts)


def _program_key(kernels: tuple[KernelChoice, ...], outputs: list[Load]) -> tuple[object, ...]:
    return (tuple(sorted((k.root, k.grid.axes, k.options) for k in kernels)), tuple((d.base, d.where) for d in outputs))


def _dependence_order(choices: tuple[KernelChoice, ...]) -> list[KernelChoice]:
    """Producers before consumers; independent kernels by class."""
    left = {c.root: c for c in sorted(choices, key=lambda c: c.root)}
    ordered: list[KernelChoice] = []
    while left:
        ready = [c for c in left.values() if not any(n in left and n != c.root for n in c.needs)]
        for choice in ready or list(left.values()):
            ordered.append(choice)
            del left[choice.root]
    return ordered
