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
from dataclasses import dataclass, field
from typing import Literal

from equiforge.egraph.graph import EGraph
from equiforge.errors import EquiforgeError
from equiforge.search.beam import Beam
from equiforge.search.compaction import compact_table
from equiforge.search.cost import CostModel
from equiforge.search.derive import Kernel, derive
from equiforge.search.enumeration import Enumeration
from equiforge.search.kernel_choice import Counters, KernelChoice, KernelRules
from equiforge.search.kernels import KernelSearch
from equiforge.search.normal_form import Load, Space
from equiforge.search.outline import Limits
from equiforge.search.programs import ProgramSearch
from equiforge.search.raw_table import raw_table
from equiforge.search.selection import Chosen, Selection
from equiforge.tune.targets import load_target

Strategy = Literal["none", "after", "early"]


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
    at_most: int | None = None
    """Programs of at most so many kernels; None for any number."""
    exhaustive: bool = False
    """Count all programs of the e-graph, also those that are not listed: no search for diversity, no approximation."""


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
    choices: tuple[KernelChoice, ...] = ()
    """The heavy choices that the kernels were derived from."""


@dataclass
class ExtractionStats:
    """What the extraction did. ``complete``: no program outside the list is better by the model than any that the
    options asked for; where it is false, ``missed_us`` is what any program that was not come to costs at least.
    ``represented``: how many programs the e-graph holds, where that was asked for and counted to the
    end."""

    strategy: str
    states: int = 0
    pruned: int = 0
    candidates: int = 0
    seconds: float = 0.0
    complete: bool = False
    stop: str = ""
    represented: int | None = None
    missed_us: float | None = None
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


_FIRST_LOOK = 1_000
"""Partial kernels for one stored class in the first look, which shows what good programs cost."""
_Found = dict[tuple[object, ...], tuple[float, tuple[KernelChoice, ...], list[Load]]]
"""Programs by what tells them apart: estimate, kernels, and where the results lie."""


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
        self.table = compact_table(self.space)
        self.counters = Counters()
        self.rules = KernelRules(self.space, self.table, self.model, self.counters)
        self.search = KernelSearch(
            self.space,
            self.table,
            self.model,
            self.rules,
            options.max_kernel_states if options.exhaustive else min(_FIRST_LOOK, options.max_kernel_states),
            self.deadline,
            options.at_most,
        )
        self.stop = ""
        self.left_us = float("inf")
        self.represented: int | None = None
        self.enumerated = 0
        """Complete programs that were built one by one, those that are equal included."""
        self.programs = ProgramSearch(self.search, self.counters)
        self._derived: dict[tuple[object, ...], Kernel | None] = {}

    def run(self) -> ExtractionResult:
        starts = self.starts()
        found, complete = self._early(starts) if self.options.strategy == "early" else self._every(starts)
        ranked = sorted(found.values(), key=lambda f: (f[0], len(f[1]), _program_key(f[1], f[2])))
        candidates = [c for n, entry in enumerate(ranked) if (c := self._candidate(n, *entry)) is not None]
        stop = self.stop or self._truncated()
        rejects = dict(sorted(self.counters.rejects.items()))
        if not candidates:
            reasons = "; ".join(f"{reason}: {count}" for reason, count in rejects.items())
            limits = f" within the limits ({stop})" if stop else ""
            raise EquiforgeError(f"the e-graph holds no executable program{limits}", hint=reasons or None)
        limit = self.options.max_candidates
        stats = ExtractionStats(
            strategy=self.options.strategy,
            states=self.counters.states,
            pruned=self.counters.pruned,
            candidates=len(candidates),
            seconds=time.perf_counter() - self.start,
            complete=complete,
            stop=("best found" if limit is not None and len(candidates) >= limit else "exhausted")
            if complete
            else stop,
            represented=self.represented,
            missed_us=None if complete or not self.table.complete else self._missed(),
            rejects=rejects,
        )
        return ExtractionResult(candidates, stats)

    def _early(self, starts: list[tuple[list[Load], frozenset[int]]]) -> tuple[_Found, bool]:
        """What early compaction finds, best first, and whether nothing better was missed."""
        limit = self.options.max_candidates
        found, worst = self._best(starts)
        if not self.options.exhaustive and not self.stop and self._truncated():
            found, worst = self._look_beside(starts, found, worst)
        if not self.options.exhaustive and not self.stop and self._truncated():
            # It is known what good programs cost; whatever can be as good is listed now.
            cutoff = float("inf") if limit is None or len(found) < limit else worst
            # What the second look finds is worth nothing without the time to make programs of it.
            self.search.deadline = (time.perf_counter() + self.deadline) / 2
            if self.search.look_again(cutoff, self.options.max_kernel_states):
                found, worst = self._best_again(starts, found)
        complete = self._is_proven(None if limit is None or len(found) < limit else worst)
        if self.options.exhaustive:
            self.represented = len(found) if limit is None and complete else self._count(starts)
        else:
            if (self.options.diverse and limit is not None and len(found) >= limit) or self.stop:
                self._diversify(starts, found)
            if self.stop:
                self._solve(starts, found)
                self._approximate(starts, found)
        return found, complete and self.table.complete

    def _every(self, starts: list[tuple[list[Load], frozenset[int]]]) -> tuple[_Found, bool]:
        """The best of all programs, enumerated one by one, and whether they were all enumerated. Without compaction
        each choice of e-nodes is a program; with compaction after completion, equal ones are one."""
        found: _Found = {}
        limit = self.options.max_candidates
        apart = self.options.strategy == "none"
        enumeration = self.enumeration()
        limits = Limits(self.options.max_states, self.deadline, self.options.at_most)
        for outputs, holes in starts:
            for kernels, choices in enumeration.programs(holes, limits):
                self.enumerated += 1
                key = _program_key(kernels, outputs)
                found.setdefault(
                    (key, choices) if apart else key, (sum(k.cost.estimate_us for k in kernels), kernels, outputs)
                )
                if apart and limit is not None and len(found) > 100 * limit:
                    found = _best_of(found, limit)
            self.stop = self.stop or enumeration.stop
        if not apart:
            minimal = self.rules.minimal()
            found = {key: program for key, program in found.items() if all(k.key in minimal for k in program[1])}
        self.left_us = 0.0 if self.stop else self.left_us
        self.represented = None if self.stop else self.enumerated if apart else len(found)
        return (found if limit is None else _best_of(found, limit)), not self.stop

    def enumeration(self, views: bool = True) -> Enumeration:
        """All programs of the e-graph, one for each choice of e-nodes, or of those that are no ``views``."""
        return Enumeration(self.space, raw_table(self.space, views), self.rules, self.counters)

    def size(self, views: bool = True) -> tuple[int, int]:
        """How many partial programs an enumeration without compaction expands, and how many programs it finds: counted,
        not enumerated. Without ``views``, as if each value could be loaded through one chain of views only."""
        sizes = [self.enumeration(views).size(holes, self.options.at_most) for _, holes in self.starts()]
        return sum(states for states, _ in sizes), sum(programs for _, programs in sizes)

    def _best(self, starts: list[tuple[list[Load], frozenset[int]]]) -> tuple[_Found, float]:
        """The best programs that can be made of the kernels listed, as many as the options ask for of each start, and
        the largest estimate up to which there are all of them."""
        found: _Found = {}
        limit = self.options.max_candidates
        worst = float("inf")
        self.stop, self.left_us = "", float("inf")
        for outputs, holes in starts:
            every = self.options.exhaustive and limit is None
            programs = self.programs.every if every else self.programs.programs
            for taken, (cost, kernels) in enumerate(programs(holes, self._limits()), 1):
                found.setdefault(_program_key(kernels, outputs), (cost, kernels, outputs))
                if limit is not None and taken >= limit:
                    worst = min(worst, cost)
                    break
            else:
                self.stop = self.stop or self.programs.stop
                self.left_us = min(self.left_us, self.programs.left_us)
        return found, worst

    def _truncated(self) -> str:
        cut = sum(v.bound is not None for v in self.search.listed())
        return f"limit of {self.search.max_states} partial kernels reached for {cut} stored values" if cut else ""

    def _is_proven(self, worst: float | None) -> bool:
        """Whether the list is exact: ``worst`` is the estimate up to which programs were asked for, None if all
        were."""
        if self.stop:
            return False
        bounds = [v.bound for v in self.search.listed() if v.bound is not None]
        return not bounds or (worst is not None and worst <= min(bounds))

    def _missed(self) -> float:
        """A lower bound of the estimate of every program that the limits kept from being looked at."""
        bounds = [v.bound for v in self.search.listed() if v.bound is not None]
        return min([self.left_us, *bounds])

    def starts(self) -> list[tuple[list[Load], frozenset[int]]]:
        """The ways to provide all results: each is an argument, a stored class, or a change of layout of one."""
        ways: list[list[Load]] = []
        for root in self.graph.roots:
            loads = self.space.loads(root)
            passed = [d for d in loads if d.base in self.space.leaf and self.space.leaf[d.base].op == "input"]
            own = [d for d in loads if d.base == root]
            whole = [d for d in loads if d.base not in self.space.leaf and (not own or _is_whole(d))]
            ways.append(passed[:1] or [*own[:1], *(d for d in whole if d.base != root)])
            if not ways[-1]:
                location = self.graph.locations.get(root)
                raise EquiforgeError("no kernel can compute a result of this program", location=location)
        result: list[tuple[list[Load], frozenset[int]]] = []
        for outputs in itertools.islice(itertools.product(*ways), 16):
            holes = frozenset(d.base for d in outputs if d.base not in self.space.leaf)
            result.append((list(outputs), holes))
        return result

    def _limits(self, states: int | None = None) -> Limits:
        """Half of the time left is for what an approximate search finds, where the exact one comes to no end."""
        deadline = self.deadline if self.options.exhaustive else (time.perf_counter() + self.deadline) / 2
        return Limits(states or self.options.max_states, deadline, self.options.at_most)

    def _count(self, starts: list[tuple[list[Load], frozenset[int]]]) -> int | None:
        """How many programs there are in all; None where a limit stops the count."""
        counts = [self.programs.count(holes, self._limits()) for _, holes in starts]
        return None if None in counts or self._truncated() else sum(c for c in counts if c is not None)

    def _diversify(self, starts: list[tuple[list[Load], frozenset[int]]], found: _Found) -> None:
        for outputs, holes in starts:
            for count in range(max(1, len(holes)), len(holes) + self.options.max_kernels):
                for rolling in (False, True) if self.graph.reducers else (None,):
                    programs = self.programs.programs_of(holes, self._limits(1_000), count, rolling)
                    for cost, kernels in itertools.islice(programs, 8):
                        found.setdefault(_program_key(kernels, outputs), (cost, kernels, outputs))

    def _approximate(self, starts: list[tuple[list[Load], frozenset[int]]], found: _Found) -> None:
        """Add what a beam search finds where the exact one stopped at a limit: the best programs, and some of each
        number of kernels."""
        beam = Beam(self.programs.one_each, self.deadline)
        for outputs, holes in starts:
            if not found and self.options.at_most is None and (first := self.programs.first(holes)) is not None:
                found[_program_key(first[1], outputs)] = (*first, outputs)
            taken: dict[int, int] = {}
            for place, (cost, kernels) in enumerate(beam.programs(holes)):
                count = taken[len(kernels)] = taken.get(len(kernels), 0) + 1
                if place < (self.options.max_candidates or place + 1) or count <= 4:
                    found.setdefault(_program_key(kernels, outputs), (cost, kernels, outputs))
        self.counters.states += beam.states

    def _look_beside(
        self, starts: list[tuple[list[Load], frozenset[int]]], found: _Found, worst: float
    ) -> tuple[_Found, float]:
        """List kernels that make the best program better by themselves, until there are none: the programs found then,
        as by :meth:`_best`."""
        holes_of = {tuple(d.base for d in outputs): holes for outputs, holes in starts}
        program: tuple[KernelChoice, ...] = ()
        while found and not self.stop:
            _, kernels, outputs = min(found.values(), key=lambda f: f[0])
            if kernels == program or not self._is_extended(kernels, holes_of[tuple(d.base for d in outputs)]):
                break
            program = kernels
            found, worst = self._best_again(starts, found)
        return found, worst

    def _best_again(self, starts: list[tuple[list[Load], frozenset[int]]], before: _Found) -> tuple[_Found, float]:
        """The best programs now that kernel lists are longer, with those found before where a limit ends the search."""
        self.programs.forget()
        found, worst = self._best(starts)
        return before | found if self.stop else found, worst

    def _solve(self, starts: list[tuple[list[Load], frozenset[int]]], found: _Found) -> None:
        """Add the best program of the kernels listed and of those that make it better by themselves, and the best ones
        of fewer and fewer kernels, each as an integer program."""
        for outputs, holes in starts if self.options.at_most is None else ():

            def add(chosen: Chosen, outputs: list[Load] = outputs) -> Chosen:
                key = _program_key(chosen.kernels, outputs)
                found.setdefault(key, (chosen.estimate_us, chosen.kernels, outputs))
                return chosen

            lists = Selection(self.search.kernels, holes, self.deadline)
            chosen = lists.best()
            while chosen is not None and self._is_extended(add(chosen).kernels, holes):
                lists = Selection(self.search.kernels, holes, self.deadline)
                before, chosen = chosen, lists.best()
                if chosen is not None and chosen.kernels == before.kernels:
                    break
            self.programs.forget()
            while chosen is not None and (chosen := lists.best(len(chosen.kernels) - 1)) is not None:
                add(chosen)

    def _is_extended(self, program: tuple[KernelChoice, ...], holes: frozenset[int]) -> bool:
        """List the kernels that make a program better by themselves; whether there are any new ones."""
        return self.search.look_beside(program, holes, self.options.max_kernel_states)

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
            choices=choices,
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


def _best_of(found: _Found, count: int) -> _Found:
    return dict(heapq.nsmallest(count, found.items(), key=lambda item: item[1][0]))


def _is_whole(load: Load) -> bool:
    """True if a result is all elements of what is stored, in another shape."""
    return all(step.op == "reshape" for _, step in load.path)


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
