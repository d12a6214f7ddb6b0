"""The best program as an integer program, where the exact list of programs would not come to an end.

    minimize    Σ estimate(f)·x(f)                  one x for each family f of kernels: what it stores, what it reads
    subject to  Σ x(f) over f that store s = y(s)   what is made is made once
                Σ x(f) over f that store r and read s ≤ y(s)   and what is read is made
                y(s) = 1 for each result

The relaxation is tight: a family is fractional only where what it reads is. Programs in which values need each other
are cut off as they appear: such values do well without each other, so there are few. HiGHS solves it; it gives one
program, and a bound on what all others cost.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import highspy

from equiforge.search.kernel_choice import KernelChoice


@dataclass(frozen=True)
class Chosen:
    """The kernels of one program, its estimate, and what every program costs at least, both in µs."""

    estimate_us: float
    kernels: tuple[KernelChoice, ...]
    bound_us: float


class _Silent(highspy.Highs):
    """HiGHS without its banner."""

    def enableCallbacks(self) -> None:  # noqa: N802
        self.silent()
        super().enableCallbacks()


class Selection:
    """Programs for ``holes`` out of the kernel lists ``kernels_of(stored class)``, solved until ``deadline`` on the
    performance counter."""

    def __init__(self, kernels_of: Callable[[int], Iterable[KernelChoice]], holes: frozenset[int], deadline: float):
        self.deadline = deadline
        self.holes = holes
        self._highs: Any = _Silent()
        for option, value in (("mip_rel_gap", 0.0), ("mip_abs_gap", 1e-6), ("random_seed", 0), ("threads", 1)):
            self._highs.setOptionValue(option, value)
        self._columns: list[tuple[KernelChoice, Any]] = []
        self._by_root: dict[int, list[tuple[KernelChoice, Any]]] = {}
        self._made: dict[int, Any] = {}
        self._build(kernels_of)

    def _build(self, kernels_of: Callable[[int], Iterable[KernelChoice]]) -> None:
        highs, stack = self._highs, sorted(self.holes)
        while stack:
            root = stack.pop()
            if root in self._made:
                continue
            self._made[root] = highs.addVariable(lb=float(root in self.holes), ub=1.0)
            family = self._by_root[root] = [(kernel, highs.addBinary()) for kernel in _undominated(kernels_of(root))]
            self._columns += family
            stack += sorted({need for kernel, _ in family for need in kernel.needs})
        for root, family in self._by_root.items():
            highs.addConstr(highs.qsum(column for _, column in family) == self._made[root])
            for need in sorted({n for kernel, _ in family for n in kernel.needs}):
                highs.addConstr(self._reading(root, need) <= self._made[need])
        for one, other in itertools.combinations(sorted(self._by_root), 2):
            if self._may_read(one, other) and self._may_read(other, one):
                self._forbid((one, other))

    def _may_read(self, root: int, need: int) -> bool:
        return any(need in kernel.needs for kernel, _ in self._by_root[root])

    def _reading(self, root: int, need: int) -> Any:
        return self._highs.qsum(column for kernel, column in self._by_root[root] if need in kernel.needs)

    def _forbid(self, cycle: tuple[int, ...]) -> None:
        steps = [self._reading(root, need) for root, need in zip(cycle, (*cycle[1:], cycle[0]), strict=True)]
        self._highs.addConstr(self._highs.qsum(steps) <= len(cycle) - 1)

    def best(self, at_most: int | None = None) -> Chosen | None:
        """The program of least estimate, of ``at_most`` so many kernels; None if none is found in the time."""
        limit = None
        if at_most is not None:
            limit = self._highs.addConstr(self._highs.qsum(self._made.values()) <= at_most)
        try:
            return self._solve()
        finally:
            if limit is not None:
                self._highs.deleteRows(1, [limit.index])

    def _solve(self) -> Chosen | None:
        goal = self._highs.qsum(kernel.cost.estimate_us * column for kernel, column in self._columns)
        while (left := self.deadline - time.perf_counter()) > 0:
            self._highs.resetGlobalScheduler(False)
            self._highs.setOptionValue("time_limit", self._highs.getRunTime() + left)
            self._highs.minimize(goal)
            info: Any = self._highs.getInfo()
            if info.primal_solution_status != highspy.kSolutionStatusFeasible:
                return None
            values: Any = self._highs.getSolution().col_value
            kernels = tuple(kernel for kernel, column in self._columns if values[column.index] > 0.5)
            cycle = find_cycle({kernel.root: kernel for kernel in kernels})
            if cycle is None:
                return Chosen(sum(k.cost.estimate_us for k in kernels), kernels, info.mip_dual_bound)
            self._forbid(cycle)
        return None


def _undominated(kernels: Iterable[KernelChoice]) -> list[KernelChoice]:
    """Of kernels by rising estimate those that read less than all before."""
    kept: list[KernelChoice] = []
    for kernel in kernels:
        if not any(other.needs <= kernel.needs for other in kept):
            kept.append(kernel)
    return kept


def find_cycle(kernels: dict[int, KernelChoice]) -> tuple[int, ...] | None:
    """What some kernels store, each reading the next one, the last one the first; None if there is no such round."""
    finished: set[int] = set()
    for start in kernels:
        path: list[int] = []
        stack: list[tuple[int, bool]] = [(start, False)]
        while stack:
            root, done = stack.pop()
            if done:
                finished.add(path.pop())
            elif root in path:
                return tuple(path[path.index(root) :])
            elif root in kernels and root not in finished:
                path.append(root)
                stack.append((root, True))
                stack.extend((need, False) for need in sorted(kernels[root].needs))
    return None
