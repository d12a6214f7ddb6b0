"""The best program as an integer program, where the exact list of programs would not come to an end.

    minimize    Σ estimate(k)·x(k)                         one x for each kernel k that may be chosen
    subject to  Σ x(k) over k that store s = y(s)          what is made is made once
                Σ x(k) over k that store r and read s ≤ y(s)   what is read is made
                y(s) = 1 for each result

and, for values that may need each other, one of them is made without the others if any is made: for pairs from the
start, for more as a solution needs it. HiGHS solves that for the kernels listed.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import highspy

from equiforge.analysis.highs import new_solver
from equiforge.search.cycles import find_cycle
from equiforge.search.kernel_choice import KernelChoice


@dataclass(frozen=True)
class Chosen:
    """The kernels of one program, its estimate, and what every program costs at least, both in µs."""

    estimate_us: float
    kernels: tuple[KernelChoice, ...]
    bound_us: float


class Selection:
    """Programs for ``holes`` out of the kernel lists ``kernels_of(stored class)``, solved until ``deadline`` on the
    performance counter."""

    def __init__(self, kernels_of: Callable[[int], Iterable[KernelChoice]], holes: frozenset[int], deadline: float):
        self.deadline = deadline
        self.holes = holes
        self._highs: Any = new_solver(absolute_gap=1e-6)
        self._columns: list[tuple[KernelChoice, Any]] = []
        self._by_root: dict[int, list[tuple[KernelChoice, Any]]] = {}
        self._made: dict[int, Any] = {}
        self._build(kernels_of)
        self._goal: Any = self._highs.qsum(kernel.cost.estimate_us * column for kernel, column in self._columns)

    def _build(self, kernels_of: Callable[[int], Iterable[KernelChoice]]) -> None:
        highs, stack = self._highs, sorted(self.holes)
        while stack:
            root = stack.pop()
            if root in self._made:
                continue
            self._made[root] = highs.addVariable(lb=float(root in self.holes))
            family = self._by_root[root] = [(kernel, highs.addBinary()) for kernel in _undominated(kernels_of(root))]
            self._columns += family
            stack += sorted({need for kernel, _ in family for need in kernel.needs})
        for root, family in self._by_root.items():
            highs.addConstr(highs.qsum(column for _, column in family) == self._made[root])
            for need in sorted({n for kernel, _ in family for n in kernel.needs}):
                highs.addConstr(self._reading(root, need) <= self._made[need])
        for one, other in itertools.combinations(sorted(self._by_root), 2):
            if self._may_read(one, other) and self._may_read(other, one):
                self._support(frozenset((one, other)))
        self._count = highs.addConstr(highs.qsum(self._made.values()) <= highspy.kHighsInf)

    def _may_read(self, root: int, need: int) -> bool:
        return any(need in kernel.needs for kernel, _ in self._by_root[root])

    def _reading(self, root: int, need: int) -> Any:
        return self._highs.qsum(column for kernel, column in self._by_root[root] if need in kernel.needs)

    def _support(self, among: frozenset[int]) -> None:
        """Of stored classes that may need each other, one is made without the others if any is made."""
        apart = [column for root in among for kernel, column in self._by_root[root] if not kernel.needs & among]
        for root in sorted(among):
            self._highs.addConstr(self._highs.qsum(apart) >= self._made[root])

    def best(self, at_most: int | None = None) -> Chosen | None:
        """The program of least estimate, of ``at_most`` so many kernels; None if none is found in the time."""
        self._highs.changeRowBounds(
            self._count.index, -highspy.kHighsInf, highspy.kHighsInf if at_most is None else at_most
        )
        while time.perf_counter() < self.deadline:
            if not self._minimize():
                return None
            info: Any = self._highs.getInfo()
            values: Any = self._highs.getSolution().col_value
            kernels = tuple(kernel for kernel, column in self._columns if values[column.index] > 0.5)
            cycle = find_cycle({kernel.root: kernel for kernel in kernels})
            if cycle is None:
                return Chosen(sum(k.cost.estimate_us for k in kernels), kernels, info.mip_dual_bound)
            self._support(frozenset(cycle))
        return None

    def _minimize(self) -> bool:
        """Solve; whether there is a solution."""
        self._highs.setOptionValue(
            "time_limit", self._highs.getRunTime() + max(0.0, self.deadline - time.perf_counter())
        )
        self._highs.minimize(self._goal)
        info: Any = self._highs.getInfo()
        return info.primal_solution_status == highspy.kSolutionStatusFeasible


def _undominated(kernels: Iterable[KernelChoice]) -> list[KernelChoice]:
    """Of kernels by rising estimate those that read less than all before."""
    kept: list[KernelChoice] = []
    for kernel in kernels:
        if not any(other.needs <= kernel.needs for other in kept):
            kept.append(kernel)
    return kept
