"""Programs out of kernels, best first: Algorithm 1 of the paper (section 5.1) above the kernels.

A partial program is a *skeleton*: which stored classes it makes, and what the kernel of each reads. Kernels of a class
that read the same stored classes complete a partial program in the same ways, so they are one choice, a *family*:
the skeletons are enumerated, and a complete one stands for the product of its families. Its programs are taken out one
at a time, by rising estimate, as they are asked for. So the k best programs never cost more than the skeletons that
are as good, and all of them can be counted without being listed.
"""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from equiforge.search.cycles import find_cycle
from equiforge.search.kernel_choice import Counters, KernelChoice
from equiforge.search.kernels import KernelSearch
from equiforge.search.outline import Limits, Outline, Storage
from equiforge.search.ranked import Branch, Completions

Program = tuple[float, tuple[KernelChoice, ...]]


@dataclass(frozen=True)
class Family:
    """Kernels of one stored class that fit the same partial programs, by rising estimate. ``reads`` are the arguments
    that any of them reads, as a mask of classes."""

    root: int
    needs: frozenset[int]
    kernels: tuple[KernelChoice, ...]
    reads: int

    @property
    def least_us(self) -> float:
        return self.kernels[0].cost.estimate_us


def advanced(chosen: tuple[int, ...], last: int, sizes: Sequence[int]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """The choices out of lists of ``sizes`` that follow one whose place ``last`` was advanced last: the place that is
    advanced next, and the choice. Places before it stay, so each choice is reached in one way.

    >>> list(advanced((0, 1), 0, [2, 2]))
    [(0, (1, 1))]
    """
    for place in range(last, len(chosen)):
        if chosen[place] + 1 < sizes[place]:
            yield place, (*chosen[:place], chosen[place] + 1, *chosen[place + 1 :])


def _family(root: int, kernels: list[KernelChoice]) -> Family:
    reads = 0
    for kernel in kernels:
        reads |= kernel.reads
    return Family(root, kernels[0].needs, tuple(kernels), reads)


class _LimitError(Exception):
    """A limit is reached."""


class _Partial(NamedTuple):
    bound: float
    order: int
    spent: float
    families: tuple[Family, ...]
    holes: frozenset[int]
    next: int
    """The family of the first hole that is tried next; -1 before the hole's kernels are listed."""


class _Complete(NamedTuple):
    """A program of a complete skeleton: ``chosen`` are the places of its kernels in their families. ``last`` is the
    family that was advanced last: those before it stay, so that each program is reached in one way."""

    bound: float
    order: int
    families: tuple[Family, ...]
    chosen: tuple[int, ...]
    last: int


class ProgramSearch:
    """Programs for sets of stored classes."""

    def __init__(self, search: KernelSearch, counters: Counters):
        self.search = search
        self.counters = counters
        self.storage = Storage(search.space, search.table)
        self.stop = ""
        """The limit that ended the last search, empty if it came to its end."""
        self.left_us = float("inf")
        """What any program that the last search did not come to costs at least."""
        self._families: dict[tuple[int, bool], list[Family]] = {}
        self._least_us: dict[int, float] = {}
        self._listed = 0
        """How many kernel lists there were when ``_least_us`` was found."""

    def forget(self) -> None:
        """Kernel lists have changed."""
        self._families.clear()
        self._least_us.clear()

    def one_each(self, root: int) -> list[KernelChoice]:
        """The best kernel for ``root`` of each structure and each set of intermediates that it reads."""
        best: dict[tuple[object, ...], KernelChoice] = {}
        for kernel in self.search.variants(root).kernels:
            best.setdefault((kernel.structure, tuple(sorted(kernel.needs))), kernel)
        return list(best.values())

    def families(self, root: int, by_structure: bool = False) -> list[Family]:
        """The families of kernels for ``root``, by the estimate of their best. ``by_structure`` takes one kernel of
        each structure, and keeps those with derived reductions apart."""
        key = (root, by_structure)
        if key not in self._families:
            groups: dict[tuple[frozenset[int], bool], list[KernelChoice]] = {}
            kernels = self.one_each(root) if by_structure else self.search.variants(root).kernels
            for kernel in kernels:
                group = (kernel.needs, by_structure and kernel.structure.rolling > 0)
                groups.setdefault(group, []).append(kernel)
            self._families[key] = [_family(root, members) for members in groups.values()]
        return self._families[key]

    def programs(self, holes: frozenset[int], limits: Limits) -> Iterator[Program]:
        """Programs by rising estimate. What stopped the search before its end is left in ``stop``."""
        self.stop, self.left_us = "", float("inf")
        known: dict[Outline, Completions] = {}

        def completions(outline: Outline) -> Completions:
            if limits.kernels is None:
                outline = outline._replace(kernels=0)
            if outline not in known:
                known[outline] = (
                    Completions(partial(self._outlook, outline), partial(branches, outline))
                    if outline.holes
                    else Completions()
                )
            return known[outline]

        def branches(outline: Outline) -> list[Branch]:
            if self._exceeds(len(known), limits):
                raise _LimitError
            self.counters.states += 1
            ways = [(family, completions(after)) for family, after in self._filled(outline, limits)]
            return [Branch(f.least_us + rest.least(), 0, f.kernels, rest) for f, rest in ways]

        top = completions(Outline(holes))
        for place in itertools.count():
            try:
                cost = top.reach(place, float("inf"))
            except _LimitError:
                self.left_us = top.least(place)
                return
            if place >= len(top.found):
                return
            yield cost, top.kernels(place)

    def first(self, holes: frozenset[int]) -> Program | None:
        """One program, the most promising families first; None if there is none. It takes no longer than to list the
        kernels on the way, so that there is an answer whatever the limits are."""
        dead: set[Outline] = set()

        def complete(outline: Outline) -> tuple[KernelChoice, ...] | None:
            outline = outline._replace(kernels=0)
            if not outline.holes:
                return ()
            if outline in dead:
                return None
            ways = sorted(self._filled(outline), key=lambda way: way[0].least_us + self._outlook(way[1]))
            for family, after in ways:
                rest = complete(after)
                if rest is not None:
                    return (family.kernels[0], *rest)
            dead.add(outline)
            return None

        kernels = complete(Outline(holes))
        return None if kernels is None else (sum(k.cost.estimate_us for k in kernels), kernels)

    def every(self, holes: frozenset[int], limits: Limits) -> Iterator[Program]:
        """All programs in any order."""
        self.stop, self.left_us = "", 0.0
        stack: list[tuple[tuple[Family, ...], Outline]] = [((), Outline(holes))]
        states = 0
        while stack:
            if self._exceeds(states, limits):
                return
            families, outline = stack.pop()
            states += 1
            if outline.holes:
                self.counters.states += 1
                stack.extend(((*families, family), after) for family, after in self._filled(outline, limits))
            for kernels in itertools.product(*(f.kernels for f in families)) if not outline.holes else ():
                yield sum(k.cost.estimate_us for k in kernels), kernels

    def count(self, holes: frozenset[int], limits: Limits) -> int | None:
        """How many programs there are, none of them listed; None if a limit stops the count."""
        self.stop = ""
        known: dict[Outline, int] = {}

        def ways(outline: Outline) -> int:
            if not outline.holes:
                return 1
            if outline not in known and not self._exceeds(len(known), limits):
                self.counters.states += 1
                known[outline] = sum(
                    len(family.kernels) * ways(after) for family, after in self._filled(outline, limits)
                )
            return known.get(outline, 0)

        found = ways(Outline(holes))
        return None if self.stop else found

    def _filled(self, outline: Outline, limits: Limits | None = None) -> Iterator[tuple[Family, Outline]]:
        """The families for the first hole of a partial program, with what is left to do then."""
        root = self.storage.first(outline)
        barred = outline.barred(root)
        for family in self.families(root):
            if family.needs & barred:
                self.counters.reject("kernels need each other")
                continue
            after = self.storage.after(outline, root, family.needs)
            if limits is None or limits.kernels is None or after.size <= limits.kernels:
                yield family, after

    def _exceeds(self, states: int, limits: Limits) -> bool:
        if time.perf_counter() > limits.deadline:
            self.stop = "time limit reached"
        elif states >= limits.states:
            self.stop = f"limit of {limits.states} partial programs reached"
        return bool(self.stop)

    def programs_of(self, holes: frozenset[int], limits: Limits, count: int, rolling: bool | None) -> Iterator[Program]:
        """Programs of exactly ``count`` kernels, with or without derived reductions (None: either)."""
        self.stop, self.left_us = "", float("inf")
        order = itertools.count()
        heap: list[_Partial | _Complete] = [_Partial(self._bound(holes, ()), next(order), 0.0, (), holes, -1)]
        states = 0
        while heap:
            if self._exceeds(states, limits):
                self.left_us = heap[0].bound
                return
            state = heapq.heappop(heap)
            states += 1
            if isinstance(state, _Complete):
                kernels = tuple(f.kernels[n] for f, n in zip(state.families, state.chosen, strict=True))
                for following in self._following(state, order):
                    heapq.heappush(heap, following)
                yield state.bound, kernels
                continue
            hole = min(state.holes, default=None)
            if hole is None:
                if rolling is None or rolling == any(f.kernels[0].structure.rolling for f in state.families):
                    states -= 1
                    chosen = (0,) * len(state.families)
                    heapq.heappush(heap, _Complete(state.spent, state.order, state.families, chosen, 0))
                continue
            families = self.families(hole, by_structure=True)
            if state.next < 0:
                self.counters.states += 1
                # The bound may rise now that the kernels of the hole are known.
                bound = state.spent + self._bound(state.holes, state.families)
                heapq.heappush(heap, state._replace(bound=max(state.bound, bound), next=0))
                continue
            if state.next < len(families):
                for following in self._fill(state, hole, families, count, rolling, order):
                    if limits.kernels is None or len(following.families) + len(following.holes) <= limits.kernels:
                        heapq.heappush(heap, following)

    def _fill(
        self,
        state: _Partial,
        hole: int,
        families: list[Family],
        count: int,
        rolling: bool | None,
        order: Iterator[int],
    ) -> Iterator[_Partial]:
        """The partial program with the next family for its first hole, and itself, to try the family after that."""
        family, following = families[state.next], state.next + 1
        rest = state.holes - {hole}
        if following < len(families):
            bound = state.spent + families[following].least_us + sum(map(self.search.floor, rest))
            yield state._replace(bound=max(bound, state.bound), order=next(order), next=following)
        made = {f.root for f in state.families} | {hole}
        holes = rest | (family.needs - made)
        if len(made) + len(holes) > count or (not holes and len(made) != count):
            return
        if rolling is False and family.kernels[0].structure.rolling:
            return
        after = (*state.families, family)
        # A cycle goes through the new kernel, and so through a finished one that it reads.
        if not made.isdisjoint(family.needs) and find_cycle({f.root: f.kernels[0] for f in after}) is not None:
            self.counters.reject("kernels need each other")
            return
        spent = state.spent + family.least_us
        bound = max(state.bound, spent + self._bound(holes, after))
        yield _Partial(bound, next(order), spent, after, holes, -1)

    @staticmethod
    def _following(state: _Complete, order: Iterator[int]) -> Iterator[_Complete]:
        """The programs of the same skeleton that come next: one family advanced by one kernel."""
        for place, chosen in advanced(state.chosen, state.last, [len(f.kernels) for f in state.families]):
            kernels, number = state.families[place].kernels, chosen[place]
            more = kernels[number].cost.estimate_us - kernels[number - 1].cost.estimate_us
            yield _Complete(state.bound + more, next(order), state.families, chosen, place)

    def _outlook(self, outline: Outline) -> float:
        """What the completions of an outline cost at least: those of one hole, and the kernels for the others that it
        does not need. With kernels made that can be read again, the arguments that all programs read say nothing."""
        made = {root for root, _ in outline.made}
        below = self.storage.below
        floors = {hole: self.search.floor(hole) for hole in outline.holes}
        bounds = [
            (floors[hole] if below[hole] & made else self._least(hole))
            + sum(floors[other] for other in sorted(outline.holes) if other != hole and other not in below[hole])
            for hole in sorted(outline.holes)
        ]
        return max(bounds if outline.made else [*bounds, self._bound(outline.holes, ())])

    def _least(self, root: int) -> float:
        """What the programs for one stored class cost at least, as far as kernels are listed."""
        listed = len(self.search.listed())
        if listed != self._listed:
            self._listed, self._least_us = listed, {}
        if root not in self._least_us:
            self._least_us[root] = self.search.floor(root)  # also where the class comes back to itself
            if self.search.is_listed(root):
                ways = (f.least_us + self._outlook(Outline(f.needs)) for f in self.families(root))
                self._least_us[root] = max(self._least_us[root], min(ways, default=math.inf))
        return self._least_us[root]

    def _bound(self, holes: frozenset[int], families: tuple[Family, ...]) -> float:
        """What the kernels for the holes cost at least, and those that produce what they read."""
        apart = sum(self.search.floor(h) for h in sorted(holes))
        must, model = self.search.must, self.search.model
        mask, written = 0, 0
        for hole in holes:
            mask |= must.of_root[hole]
            written += model.tensor_bytes(hole)
        for family in families:
            mask &= ~family.reads
        together = model.target.launch_us * len(holes) + (must.bytes(mask) + written) / model.bytes_per_us
        return max(apart, together)
