"""What any program must read: an admissible bound for the best-first search.

``must(d)`` is the set of function arguments that every way to meet demand d reads somewhere in the program, in its
own kernel or in the kernels that produce what it loads: the greatest fixpoint of "the union over what a choice
demands, intersected over the choices". So a partial kernel that reads a stored intermediate is not taken for cheap
because other kernels do its work.
"""

from __future__ import annotations

from equiforge.search.compaction import Table, bits
from equiforge.search.cost import CostModel
from equiforge.search.normal_form import Space


class MustRead:
    """Arguments that demands and stored classes must read, as masks over class numbers of inputs."""

    def __init__(self, space: Space, table: Table, model: CostModel):
        self._model = model
        inputs = [c for c, node in space.leaf.items() if node.op == "input"]
        self._everything = sum(1 << c for c in inputs)
        self._bytes: dict[int, int] = {0: 0}
        self.of_root: dict[int, int] = dict.fromkeys(sorted(space.storable), self._everything)
        self.of_demand = [self._everything] * len(table.demands)
        self._own: list[tuple[int, int]] = []
        """For each heavy option the input that it loads, as a mask, and the stored class that it loads (-1 for
        none)."""
        for option in space.options:
            base = -1 if option.load is None else option.load.base
            is_input = base in space.leaf
            self._own.append((1 << base if is_input else 0, -1 if is_input else base))
        self._solve(space, table)

    def _solve(self, space: Space, table: Table) -> None:
        changed = True
        while changed:
            changed = False
            for demand in range(len(table.demands) - 1, -1, -1):
                common = self._everything
                for move in table.moves[demand]:
                    found = self._union(move.needs)
                    if move.heavy >= 0:
                        own, stored = self._own[move.heavy]
                        found |= own | (self.of_root[stored] if stored >= 0 else 0)
                    common &= found
                    if not common:
                        break
                if common != self.of_demand[demand]:
                    self.of_demand[demand] = common
                    changed = True
            for root, known in self.of_root.items():
                common = self._everything
                for grid in space.grids(root):
                    for start in table.starts.get(grid.tile, ()):
                        common &= self._union(start)
                if common != known:
                    self.of_root[root] = common
                    changed = True

    def _union(self, demands: int) -> int:
        found = 0
        for demand in bits(demands):
            found |= self.of_demand[demand]
        return found

    def demanded(self, demands: int) -> int:
        """Arguments that meeting all of a mask of demands must read."""
        return self._union(demands)

    def bytes(self, mask: int) -> int:
        """Size of a set of arguments."""
        if mask not in self._bytes:
            self._bytes[mask] = sum(self._model.tensor_bytes(c) for c in bits(mask))
        return self._bytes[mask]
