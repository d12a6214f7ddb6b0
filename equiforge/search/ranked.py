"""The best programs first, through what is left to do: partial programs with equal outlines go on in the same ways.

Where all later kernels need one stored class, that class cuts the program: how it is made is one problem, solved once,
whatever reads it. Outlines find such cuts by themselves. The completions of an outline are a list by rising estimate,
made as far as it is asked for, out of the families of its first hole and the lists of the outlines that they lead to;
so the k best programs of a whole layer cost about the sum of its parts, not their product.
"""

from __future__ import annotations

import heapq
import itertools
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

from equiforge.search.kernel_choice import KernelChoice


@dataclass(order=True)
class Branch:
    """One choice for the first hole of an outline: kernel ``kernel`` of a family, and completion ``place`` of what is
    left then. ``bound`` is its estimate where that is ``known``, else less."""

    bound: float
    order: int
    kernels: tuple[KernelChoice, ...] = field(compare=False)
    rest: Completions = field(compare=False)
    kernel: int = field(default=0, compare=False)
    place: int = field(default=0, compare=False)
    known: bool = field(default=False, compare=False)


class Completions:
    """The completions of one outline. ``outlook`` is what they cost at least, which may rise as more is known;
    ``branches`` lists the branches when they are first needed, and may raise to end the whole search. Neither is there
    for the outline of a complete program."""

    def __init__(self, outlook: Callable[[], float] | None = None, branches: Callable[[], list[Branch]] | None = None):
        self._outlook = outlook
        self._bound = outlook() if outlook else 0.0
        self._branches = branches
        self._order = itertools.count(1)
        self._heap: list[Branch] = []
        self.found: list[tuple[float, Branch | None]] = [] if branches else [(0.0, None)]

    def least(self, place: int = 0) -> float:
        """A lower bound of the estimate of completion ``place``; infinite if there is none."""
        if place < len(self.found):
            return self.found[place][0]
        if self._branches is not None:
            return self._bound
        return self._heap[0].bound if self._heap else math.inf

    def reach(self, place: int, limit: float) -> float:
        """Search until completion ``place`` is known, or known to cost more than ``limit``; :meth:`least` of it."""
        while place >= len(self.found) and self.least(place) <= min(limit, sys.float_info.max):
            if self._branches is not None:
                self._begin(limit)
            elif self._heap[0].known:
                self._take(heapq.heappop(self._heap))
            else:
                self._raise(limit)
        return self.least(place)

    def _begin(self, limit: float) -> None:
        """List the branches, unless it is known by now that they cost more than the limit."""
        assert self._outlook is not None and self._branches is not None, "there is something left to do"
        self._bound = max(self._bound, self._outlook())
        if self._bound <= limit:
            self._heap, self._branches = self._branches(), None
            heapq.heapify(self._heap)

    def _raise(self, limit: float) -> None:
        """Bring the bound of the first branch nearer to its estimate, or above that of the second one or the limit."""
        branch = self._heap[0]
        limit = min([limit, *(b.bound for b in self._heap[1:3])])
        own = branch.kernels[branch.kernel].cost.estimate_us
        rest = branch.rest.reach(branch.place, limit - own)
        known = branch.place < len(branch.rest.found)
        # A sum that rounds to the limit would be asked for again and again.
        bound = own + rest if known else max(own + rest, math.nextafter(limit, math.inf))
        changed = Branch(bound, branch.order, branch.kernels, branch.rest, branch.kernel, branch.place, known)
        heapq.heapreplace(self._heap, changed)

    def _take(self, branch: Branch) -> None:
        """The next completion, and the branches that follow it: so each pair of a kernel and a rest is reached once."""
        self.found.append((branch.bound, branch))
        heapq.heappush(self._heap, self._next(branch, branch.kernel, branch.place + 1, branch.bound))
        if branch.place == 0 and branch.kernel + 1 < len(branch.kernels):
            here, there = (k.cost.estimate_us for k in branch.kernels[branch.kernel : branch.kernel + 2])
            heapq.heappush(self._heap, self._next(branch, branch.kernel + 1, 0, branch.bound + (there - here)))

    def _next(self, branch: Branch, kernel: int, place: int, bound: float) -> Branch:
        return Branch(bound, next(self._order), branch.kernels, branch.rest, kernel, place)

    def kernels(self, place: int) -> tuple[KernelChoice, ...]:
        """The kernels of a completion that is known."""
        chosen: list[KernelChoice] = []
        branch = self.found[place][1]
        while branch is not None:
            chosen.append(branch.kernels[branch.kernel])
            branch = branch.rest.found[branch.place][1]
        return tuple(chosen)
