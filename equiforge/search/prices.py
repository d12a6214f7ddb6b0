"""Prices: what a kernel must save to make a program better by itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from equiforge.search.kernel_choice import KernelChoice


@dataclass(frozen=True)
class Prices:
    """What other kernels are measured by beside the ones of a program, in µs: ``worth`` is what it saves not to make a
    stored class that it makes; ``read`` is what a kernel for the first class pays to read the second, ``extra`` what
    all others pay."""

    worth: dict[int, float]
    read: dict[tuple[int, int], float]
    extra: dict[int, float]
    floor: Callable[[int], float]
    """What a stored class costs at least, where no kernels for it are listed."""

    def of(self, root: int, need: int) -> float:
        """What a kernel for a stored class pays to read another."""
        known = self.read.get((root, need), self.extra.get(need))
        return self.floor(need) if known is None else known


def prices_beside(
    program: Iterable[KernelChoice],
    holes: frozenset[int],
    listed: Mapping[int, Sequence[KernelChoice]],
    floor: Callable[[int], float],
) -> Prices:
    """Prices beside a program that makes ``holes``, out of the kernels listed for each stored class: what it makes
    anyway is free to read, what it makes for the reader alone costs its kernel, all else what its best plan adds, or
    its ``floor``."""
    made = {kernel.root: kernel for kernel in program}
    read: dict[tuple[int, int], float] = {}
    worth: dict[int, float] = {}
    for root, kernel in made.items():
        left = _needed(holes, {r: k for r, k in made.items() if r != root})
        alone = [r for r in made if r not in left and r != root]
        worth[root] = kernel.cost.estimate_us + sum(made[r].cost.estimate_us for r in alone)
        read |= {(root, need): made[need].cost.estimate_us for need in alone}
    return Prices(worth, read, _plans(made, listed, floor), floor)


def _plans(
    made: Iterable[int], listed: Mapping[int, Sequence[KernelChoice]], floor: Callable[[int], float]
) -> dict[int, float]:
    """What it adds to a program that makes some stored classes to make each other one too: a least fixpoint."""
    cost = dict.fromkeys(made, 0.0)

    def of(need: int) -> float:
        return cost.get(need, math.inf if need in listed else floor(need))

    changed = True
    while changed:
        changed = False
        for root, kernels in listed.items():
            known = cost.get(root, math.inf)
            best = min((k.cost.estimate_us + sum(map(of, k.needs)) for k in kernels), default=known)
            if best < known:
                cost[root], changed = best, True
    return cost


def _needed(holes: frozenset[int], made: Mapping[int, KernelChoice]) -> set[int]:
    """What ``holes`` need of the stored classes that some kernels make."""
    found: set[int] = set()
    stack = list(holes)
    while stack:
        root = stack.pop()
        if root in made and root not in found:
            found.add(root)
            stack.extend(made[root].needs)
    return found
