"""What decides how a partial program goes on, whatever its kernels are."""

from __future__ import annotations

from typing import NamedTuple

from equiforge.search.compaction import Table, bits
from equiforge.search.normal_form import Space


class Limits(NamedTuple):
    """What a search may use: ``states`` partial programs, until ``deadline`` on the performance counter. ``kernels`` is
    the largest number of kernels that a program may have, None for any."""

    states: int
    deadline: float
    kernels: int | None = None


class Outline(NamedTuple):
    """A partial program between two kernels: the stored classes that have none yet, those with a kernel that may still
    be read by others, each with the former ones that it needs, directly or not, and the number of its kernels."""

    holes: frozenset[int]
    made: frozenset[tuple[int, frozenset[int]]] = frozenset()
    kernels: int = 0

    @property
    def size(self) -> int:
        """The least number of kernels of its completions."""
        return self.kernels + len(self.holes)

    def barred(self, root: int) -> frozenset[int]:
        """Stored classes that a kernel for ``root`` cannot read, since they need it."""
        return frozenset(other for other, needs in self.made if root in needs)


class Storage:
    """Which stored classes the kernels of which others can read."""

    def __init__(self, space: Space, table: Table):
        self.reads: dict[int, frozenset[int]] = {}
        reach = table.reach()
        loaded = [0] * len(reach)
        for demand, moves in enumerate(table.moves):
            for move in moves:
                load = space.options[move.heavy].load if move.heavy >= 0 else None
                if load is not None and load.base not in space.leaf:
                    loaded[demand] |= 1 << load.base
        for root in sorted(space.storable):
            starts = [s for grid in space.grids(root) for s in table.starts.get(grid.tile, ())]
            demands = {d for start in starts for d in bits(start)}
            demands |= {d for demand in demands for d in bits(reach[demand])}
            self.reads[root] = frozenset(base for d in demands for base in bits(loaded[d])) - {root}
        self._order: dict[int, int] = {}
        for root in self.reads:
            self._visit(root, set())
        self.below = {root: self._closure(root) for root in self.reads}

    def _visit(self, root: int, seen: set[int]) -> None:
        """Numbers fall from what is read to what reads it, as far as there are no cycles."""
        if root not in self._order and root not in seen:
            seen.add(root)
            for other in sorted(self.reads[root]):
                self._visit(other, seen)
            self._order[root] = -len(self._order)

    def _closure(self, root: int) -> frozenset[int]:
        found: set[int] = set()
        stack = [root]
        while stack:
            new = self.reads[stack.pop()] - found
            found |= new
            stack.extend(new)
        return frozenset(found)

    def first(self, outline: Outline) -> int:
        """The hole to be filled first: one that reads the others rather than is read by them."""
        return min(outline.holes, key=self._order.__getitem__)

    def after(self, outline: Outline, root: int, needs: frozenset[int]) -> Outline:
        """The outline with a kernel for the hole ``root`` that reads ``needs``."""
        made = dict(outline.made)
        holes = (outline.holes - {root}) | (needs - made.keys())
        open_needs = (needs & holes).union(*(made[n] for n in needs & made.keys()))
        made = {other: (n - {root}) | open_needs if root in n else n for other, n in made.items()}
        readable = frozenset[int]().union(*(self.below[hole] for hole in holes))
        kept = frozenset((other, n) for other, n in (made | {root: open_needs}).items() if other in readable)
        return Outline(holes, kept, outline.kernels + 1)
