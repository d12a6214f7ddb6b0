"""The choices of kernels without compaction: one for each e-node.

Each view on the way to what is loaded is a choice of its own, in whichever order the e-graph has the axes. Only views
that lead from memory to a loaded tile are executable, so that a demand for such a class says what is to be read of it.
"""

from __future__ import annotations

from typing import NamedTuple

from equiforge.egraph.graph import ENode
from equiforge.search.compaction import Move, Table, in_order
from equiforge.search.normal_form import ANY, COMPUTED, Demand, Load, Space

_Key = tuple[object, ...]
_FIRST_READ = -3
"""Demands below are for a class that is read in a certain way."""


class _Way(NamedTuple):
    """One choice for a demand, by what tells it apart: what it demands, and its heavy option (-1 for none).
    ``computed`` says whether the value is made in the kernel."""

    key: _Key
    children: tuple[Demand, ...]
    heavy: int
    computed: bool


def raw_table(space: Space, views: bool = True) -> Table:
    """The table with one choice for each e-node that may meet a demand. Without ``views``, a load is one choice,
    however it can be expressed."""
    return _RawTable(space, views).table


class _RawTable:
    def __init__(self, space: Space, views: bool):
        self.space = space
        self.views = views
        self._numbers: dict[_Key, int] = {}
        self._loads: dict[Demand, Load] = {}
        self._places: dict[int, dict[_Key, Load]] = {}
        ways = self._reachable()
        self.table = table = Table(list(ways), [[] for _ in ways])
        index = {demand: number for number, demand in enumerate(ways)}
        numbers: dict[_Key, int] = {}
        for demand, found in ways.items():
            for way in found:
                if way.key not in numbers:
                    numbers[way.key] = len(table.needs)
                    table.needs.append([sum(1 << index[child] for child in set(way.children))])
                    table.satisfied.append(0)
                bit = numbers[way.key]
                table.satisfied[bit] |= 1 << index[demand]
                if way.computed and demand[1] == ANY and (demand[0], COMPUTED) in index:
                    table.satisfied[bit] |= 1 << index[demand[0], COMPUTED]
                table.moves[index[demand]].append(Move(bit, table.needs[bit][0], way.heavy))
        for root in space.storable:
            for grid in space.grids(root):
                table.starts[grid.tile] = [1 << index[grid.tile, COMPUTED]]

    def _reachable(self) -> dict[Demand, list[_Way]]:
        """All demands with their choices."""
        ways: dict[Demand, list[_Way]] = {}

        def below(demand: Demand) -> list[Demand]:
            ways[demand] = self._ways(demand)
            return [child for way in ways[demand] for child in way.children]

        return {demand: ways[demand] for demand in in_order(self.space, below)}

    def _ways(self, demand: Demand) -> list[_Way]:
        class_id, wanted = demand
        if wanted <= _FIRST_READ:
            return self._read(class_id, self._loads[demand], -1)
        free = self.space.is_free(class_id)
        found: list[_Way] = []
        if free is not None and wanted < 0:
            found = self._read(class_id, free, -1)
            if wanted == ANY:
                return found
        for option in self.space.chosen_by(demand):
            if option.kind == "load":
                load = next(d for d in self.space.loads(class_id) if d.key == option.key)
                found.extend(self._read(class_id, load, option.number))
            else:
                found.append(_Way((class_id, option.number), option.children, option.number, True))
        if wanted < 0:
            light = self.space.light_nodes(class_id)
            found.extend(_Way((class_id, node), children, -1, True) for node, children in light)
        return found

    def _read(self, class_id: int, load: Load, heavy: int) -> list[_Way]:
        """The ways to read a class: one for each view that the way to memory may begin with."""
        steps = self._steps(class_id, load) if self.views and not load.children else []
        # A tile that is loaded and a class on the way to another one are different choices.
        key = (class_id, load.key, heavy)
        if not steps:
            return [_Way(key, tuple((index, ANY) for index in load.children), heavy, False)]
        return [_Way((*key, node), (self._below(below),), heavy, False) for node, below in steps]

    def _below(self, load: Load) -> Demand:
        """The demand that a class is read as a load does."""
        demand = (load.tile, _FIRST_READ - self._numbers.setdefault(load.key, len(self._numbers)))
        self._loads[demand] = load
        return demand

    def _steps(self, class_id: int, load: Load) -> list[tuple[ENode, Load]]:
        """The views of a class through which a load can go, each with the load that it views."""
        return [
            (node, below)
            for node in self.space.views(class_id)
            for below in self._ways_to(node.children[0]).values()
            if self.space.through_view(class_id, node, below).key == load.key
        ]

    def _ways_to(self, class_id: int) -> dict[_Key, Load]:
        """A load of a class for each place that it may be in, through views in any order."""
        if class_id not in self._places:
            found = self.space.loads(class_id)
            if self.space.state[class_id]:
                found = [
                    self.space.through_view(class_id, node, below)
                    for node in self.space.views(class_id)
                    for below in self._ways_to(node.children[0]).values()
                ]
            self._places[class_id] = {load.key: load for load in found if not load.children}
        return self._places[class_id]
