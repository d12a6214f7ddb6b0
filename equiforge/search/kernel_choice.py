"""Kernels as sets of heavy choices, and which of them are legal: the same for every strategy of the search."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from equiforge.search.compaction import Table, bits, least
from equiforge.search.cost import CostModel, KernelCost
from equiforge.search.loops import passes
from equiforge.search.normal_form import Grid, Option, Space, contracted_dim


class Structure(NamedTuple):
    """What tells kernels apart at a glance: the grid, (axis, passes) of the loops, derived reductions, products
    outside of these, and intermediates read."""

    grid: tuple[int, ...]
    loops: tuple[tuple[int, int], ...]
    rolling: int
    products: int
    intermediates: int


@dataclass(frozen=True)
class KernelChoice:
    """One kernel: where it stores, its grid and its heavy options; ``needs`` are the stored classes that it reads."""

    root: int
    grid: Grid
    options: tuple[int, ...]
    needs: frozenset[int]
    cost: KernelCost
    structure: Structure
    reads: int
    """The arguments that it reads, as a mask of classes."""

    @property
    def key(self) -> tuple[object, ...]:
        return (self.root, self.grid.axes, self.options)


@dataclass
class Counters:
    """Work done by a search: partial programs expanded (a complete one has nothing to expand), those pruned as equal to
    an earlier one, and reasons for refusals."""

    states: int = 0
    pruned: int = 0
    rejects: dict[str, int] = field(default_factory=lambda: {})

    def reject(self, reason: str, count: int = 1) -> None:
        if count:
            self.rejects[reason] = self.rejects.get(reason, 0) + count


class KernelRules:
    """Which kernels of an e-graph are legal, and what each is."""

    def __init__(self, space: Space, table: Table, model: CostModel, counters: Counters):
        """``table`` is the compact one."""
        self.space = space
        self.table = table
        self.model = model
        self.counters = counters
        self._finished: dict[tuple[int, tuple[int, ...], int], KernelChoice | None] = {}

    def forbidden(self, grid: Grid) -> dict[int, str]:
        """Options that no kernel on a grid may have, and why."""
        found: dict[int, str] = {}
        for option in self.space.options:
            if option.load is not None and option.load.base == grid.root:
                found[option.number] = "reads what it is to store"
            elif not self.model.fits(grid, option):
                found[option.number] = "a tile does not fit a block, however it is cut"
        return found

    def finish(self, grid: Grid, mask: int) -> KernelChoice | None:
        """The kernel with a complete set of heavy choices; None, with its reason counted, if it is not legal."""
        key = (grid.root, grid.axes, mask)
        if key not in self._finished:
            self._finished[key] = self._finish(grid, [self.space.options[b] for b in bits(mask)], mask)
        return self._finished[key]

    def minimal(self) -> set[tuple[object, ...]]:
        """Keys of the kernels finished so far that don't do all that another one does, legal or not, and more."""
        masks: dict[tuple[int, tuple[int, ...]], list[int]] = {}
        for root, axes, mask in self._finished:
            masks.setdefault((root, axes), []).append(mask)
        return {(*grid, tuple(bits(mask))) for grid, group in masks.items() for mask in least(group)}

    def _finish(self, grid: Grid, options: list[Option], mask: int) -> KernelChoice | None:
        if not self._worthwhile(grid, options):
            self.counters.reject("a larger grid has the same structure")
            return None
        found = passes(self.space, self.table, mask, self.table.starts[grid.tile], grid.axes)
        cost = self.model.kernel(grid, options, found)
        if cost is None:
            self.counters.reject("a tile is too large for a block")
            return None
        needs = frozenset(o.load.base for o in options if o.load is not None) - frozenset(self.space.leaf)
        structure = _structure(grid, options, tuple(sorted(found.count.items())), len(needs))
        reads = 0
        for option in options:
            if option.load is not None and option.load.base in self.space.leaf:
                reads |= 1 << option.load.base
        return KernelChoice(grid.root, grid, tuple(o.number for o in options), needs, cost, structure, reads)

    def _worthwhile(self, grid: Grid, options: list[Option]) -> bool:
        """Whether each dimension that the grid could cut but leaves whole is summed over as a whole in this kernel."""
        graph = self.space.graph
        whole: set[int] = set()
        for option in options:
            node = option.node
            dim = None if node is None else contracted_dim(graph, node)
            if node is not None and dim is not None:
                kind = graph.types[node.children[0]]
                if dim not in dict(kind.state).values():
                    whole.add(kind.groups[dim])
        groups = graph.types[grid.root].groups
        for other in self.space.grids(grid.root):
            for dim in other.covered - grid.covered if grid.covered < other.covered else ():
                if dim < 0 or groups[dim] not in whole:
                    return False
        return True


def _structure(grid: Grid, options: list[Option], loops: tuple[tuple[int, int], ...], intermediates: int) -> Structure:
    rolling = sum(o.kind == "rolling" for o in options)
    products = sum(o.kind == "tilematmul" for o in options)
    return Structure(grid.axes, loops, rolling, products, intermediates)
