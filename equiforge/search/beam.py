"""Programs of many kernels, where the exact search would not come to an end.

Every stored class has a plan: the kernel that is best with the plans of what it reads. Plans complete a partial
program at once, so that each state of a beam search over the holes is a program already, and its cost says which
states to keep. Nothing is proven about what is left out.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from equiforge.search.cycles import find_cycle
from equiforge.search.kernel_choice import KernelChoice

Programs = list[tuple[float, tuple[KernelChoice, ...]]]


@dataclass(frozen=True)
class _State:
    kernels: tuple[KernelChoice, ...]
    holes: frozenset[int]
    cost: float


class Beam:
    """A beam search over ``kernels_of(stored class)``, lists by rising estimate; it stops at ``deadline``."""

    def __init__(self, kernels_of: Callable[[int], list[KernelChoice]], deadline: float, width: int = 32):
        self.kernels_of = kernels_of
        self.deadline = deadline
        self.width = width
        self.states = 0
        self._plan: dict[int, KernelChoice] = {}
        self._lists: dict[int, list[KernelChoice]] = {}
        self._cost: dict[int, float] = {}

    def programs(self, holes: frozenset[int]) -> Programs:
        """Complete programs for ``holes`` by rising estimate, best effort."""
        self._make_plans(holes)
        found: dict[frozenset[tuple[object, ...]], tuple[float, tuple[KernelChoice, ...]]] = {}
        level = [state for state in [self._state((), holes, found)] if state is not None]
        while level and time.perf_counter() < self.deadline:
            following: dict[frozenset[tuple[object, ...]], _State] = {}
            for state in level:
                for kernel in self._promising(state):
                    self.states += 1
                    made = (*state.kernels, kernel)
                    left = (state.holes | kernel.needs) - {k.root for k in made}
                    key = frozenset(k.key for k in made)
                    child = None if key in following else self._state(made, left, found)
                    if child is not None and child.holes:
                        following[key] = child
            level = sorted(following.values(), key=lambda s: (s.cost, sorted(s.holes)))[: self.width]
        return sorted(found.values(), key=lambda f: (f[0], len(f[1])))

    def _make_plans(self, holes: frozenset[int]) -> None:
        """The best kernel of each stored class that the holes may need: a least fixpoint, for values can be made of
        each other."""
        stack = sorted(holes)
        while stack and (time.perf_counter() < self.deadline or not self._lists):
            root = stack.pop()
            if root not in self._lists:
                self._lists[root] = self.kernels_of(root)
                stack.extend(sorted({need for kernel in self._lists[root] for need in kernel.needs}))
        changed = True
        while changed:
            changed = False
            for root, kernels in self._lists.items():
                for kernel in kernels:
                    cost = kernel.cost.estimate_us + sum(self._cost.get(n, float("inf")) for n in kernel.needs)
                    if cost < self._cost.get(root, float("inf")):
                        self._cost[root], self._plan[root] = cost, kernel
                        changed = True

    def _promising(self, state: _State) -> list[KernelChoice]:
        """Kernels for the first hole, those first that cost least with the plans of what they read and is not made
        yet."""
        hole = min(state.holes)
        there = state.holes | {k.root for k in state.kernels}
        costs: list[tuple[float, int, KernelChoice]] = []
        for number, kernel in enumerate(self._lists.get(hole, ())):
            more = sum(self._cost.get(n, float("inf")) for n in kernel.needs - there)
            costs.append((kernel.cost.estimate_us + more, number, kernel))
        costs.sort(key=lambda c: c[:2])
        return [kernel for cost, _, kernel in costs[: self.width] if cost < float("inf")]

    def _state(
        self,
        kernels: tuple[KernelChoice, ...],
        holes: frozenset[int],
        found: dict[frozenset[tuple[object, ...]], tuple[float, tuple[KernelChoice, ...]]],
    ) -> _State | None:
        """The partial program, completed by the plans of its holes; None if these don't complete it."""
        by_root = {k.root: k for k in kernels}
        stack = sorted(holes)
        while stack:
            root = stack.pop()
            if root in by_root:
                continue
            plan = self._plan.get(root)
            if plan is None:
                return None
            by_root[root] = plan
            stack.extend(sorted(plan.needs))
        if find_cycle(by_root) is not None:
            return None
        program = tuple(by_root[root] for root in sorted(by_root))
        cost = sum(k.cost.estimate_us for k in program)
        found.setdefault(frozenset(k.key for k in program), (cost, program))
        return _State(kernels, holes, cost)
