"""The choices of a kernel as bit masks, raw or compacted.

A partial kernel is a set of choices and a set of open demands (the holes). A :class:`Table` says for each demand
which choices meet it and what these demand in turn. The raw table has one choice an e-node. The compact table has
only the heavy choices: for the pointwise parts between them it holds the *frontiers* of a class, the least sets of
heavily computed or loaded classes from which pointwise e-nodes make it. A frontier that contains another one is left
out, since whatever completes it completes the other with less. So all partial programs that differ in pointwise
e-nodes alone (operand order, grouping, placement) are one state from the start, whatever their number.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from equiforge.search.normal_form import ANY, COMPUTED, Demand, Space


class Move(NamedTuple):
    """One way to meet a demand: choice ``bit``, which is heavy option ``heavy`` (-1 for a pointwise one), demands
    ``needs``."""

    bit: int
    needs: int
    heavy: int


@dataclass
class Table:
    """Choices and demands of all kernels. ``satisfied[bit]`` is the mask of demands that a choice meets,
    ``needs[bit]`` are the alternative masks of what it demands, ``starts[tile]`` those of what the root of a kernel
    demands. ``complete`` is false if a class had more frontiers than the limit."""

    demands: list[Demand] = field(default_factory=lambda: [])
    moves: list[list[Move]] = field(default_factory=lambda: [])
    satisfied: list[int] = field(default_factory=lambda: [])
    needs: list[list[int]] = field(default_factory=lambda: [])
    starts: dict[int, list[int]] = field(default_factory=lambda: {})
    complete: bool = True

    def is_well_founded(self, chosen: int, starts: Iterable[int]) -> bool:
        """Whether the choices of a complete kernel can be put in an order in which each one finds its operands made."""
        made = 0
        left = bits(chosen)
        while left:
            rest = [b for b in left if not any(need & ~made == 0 for need in self.needs[b])]
            if len(rest) == len(left):
                return False
            for b in left:
                if b not in rest:
                    made |= self.satisfied[b]
            left = rest
        return any(need & ~made == 0 for need in starts)


def bits(mask: int) -> list[int]:
    """Positions of the set bits, rising."""
    found: list[int] = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


def least(masks: Iterable[int]) -> list[int]:
    """The masks that contain no other one, in a fixed order."""
    kept: list[int] = []
    for mask in sorted(set(masks), key=lambda m: (m.bit_count(), m)):
        if not any(k & ~mask == 0 for k in kept):
            kept.append(mask)
    return kept


def reachable_demands(space: Space) -> list[Demand]:
    """All demands that kernels of the storable classes can come to, outer ones first."""
    seen: dict[Demand, None] = {}
    stack: list[Demand] = []
    for root in sorted(space.storable, reverse=True):
        stack.extend((grid.tile, COMPUTED) for grid in reversed(space.grids(root)))
    while stack:
        demand = stack.pop()
        if demand in seen:
            continue
        seen[demand] = None
        for option in space.chosen_by(demand):
            stack.extend(option.children)
        if demand[1] < 0 and not (demand[1] == ANY and space.is_free(demand[0])):
            for _, children in space.light_nodes(demand[0]):
                stack.extend(children)
    return list(seen)


def compact_table(space: Space, limit: int = 320) -> Table:
    """The table of heavy choices; ``limit`` bounds the frontiers kept for a class."""
    reachable = reachable_demands(space)
    table = Table()
    index: dict[Demand, int] = {}
    for demand in reachable:
        # A pointwise class is never demanded itself: its frontiers are.
        if space.chosen_by(demand):
            index[demand] = len(table.demands)
            table.demands.append(demand)
    frontiers = _Frontiers(space, reachable, index, limit)
    combined = frontiers.combined

    for option in space.options:
        mask = 0
        for demand in option.satisfies:
            mask |= 1 << index[demand]
        table.satisfied.append(mask)
        table.needs.append([] if not option.satisfies else combined(option.children))
    for demand in table.demands:
        found = [Move(o.number, need, o.number) for o in space.chosen_by(demand) for need in table.needs[o.number]]
        table.moves.append(found)
    for root in space.storable:
        for grid in space.grids(root):
            if grid.tile not in table.starts:
                own = index.get((grid.tile, COMPUTED))
                masks = [] if own is None else [1 << own]
                for _, children in space.light_nodes(grid.tile):
                    masks.extend(combined(children))
                if space.is_free(grid.tile):
                    masks.append(0)
                table.starts[grid.tile] = least(masks)
    table.complete = frontiers.complete
    return table


class _Frontiers:
    """For each demand the least masks of heavy demands from which pointwise e-nodes meet it: a least fixpoint, for
    the e-graph has cycles."""

    def __init__(self, space: Space, reachable: list[Demand], index: dict[Demand, int], limit: int):
        self.limit = limit
        self.complete = True
        self.of: dict[Demand, list[int]] = {}
        self._light: dict[Demand, list[tuple[Demand, ...]]] = {}
        self._users: dict[Demand, list[Demand]] = {}
        for demand in reachable:
            self.of[demand] = [1 << index[demand]] if demand in index else []
            if demand[1] == ANY and space.is_free(demand[0]):
                self.of[demand] = [0]
            elif demand[1] == ANY:
                self._light[demand] = sorted({children for _, children in space.light_nodes(demand[0])})
                for child in {c for children in self._light[demand] for c in children}:
                    self._users.setdefault(child, []).append(demand)
        self._solve(reachable)

    def combined(self, children: tuple[Demand, ...]) -> list[int]:
        """The least masks that meet all of ``children``."""
        masks = [0]
        for child in dict.fromkeys(children):
            masks = self._limited(least(m | f for m in masks for f in self.of[child]))
        return masks

    def _limited(self, masks: list[int]) -> list[int]:
        if len(masks) > self.limit:
            self.complete = False
        return masks[: self.limit]

    def _solve(self, reachable: list[Demand]) -> None:
        pending = dict.fromkeys(reversed(reachable))
        # Cut lists don't grow steadily, so that a class is looked at a limited number of times.
        visits: dict[Demand, int] = {}
        while pending:
            demand = next(iter(pending))
            del pending[demand]
            visits[demand] = visits.get(demand, 0) + 1
            if demand not in self._light or visits[demand] > 100:
                continue
            masks = list(self.of[demand])
            for children in self._light[demand]:
                masks.extend(self.combined(children))
            new = self._limited(least(masks))
            if new != self.of[demand]:
                self.of[demand] = new
                for user in self._users.get(demand, ()):
                    pending.setdefault(user)


def raw_table(space: Space) -> Table:
    """The table with one choice for each e-node (and each place that a class may be loaded from): no compaction at
    all."""
    table = Table()
    reachable = reachable_demands(space)
    index = {demand: number for number, demand in enumerate(reachable)}
    table.demands = reachable
    table.moves = [[] for _ in reachable]
    numbers: dict[tuple[object, ...], int] = {}

    def add(demand: Demand, key: tuple[object, ...], children: tuple[Demand, ...], heavy: int, loaded: bool) -> None:
        if key not in numbers:
            numbers[key] = len(table.needs)
            need = 0
            for child in children:
                need |= 1 << index[child]
            table.needs.append([need])
            table.satisfied.append(0)
        bit = numbers[key]
        table.satisfied[bit] |= 1 << index[demand]
        if not loaded and (demand[0], COMPUTED) in index and demand[1] == ANY:
            table.satisfied[bit] |= 1 << index[(demand[0], COMPUTED)]
        table.moves[index[demand]].append(Move(bit, table.needs[bit][0], heavy))

    for demand in reachable:
        class_id, wanted = demand
        if wanted == ANY and space.is_free(class_id):
            add(demand, (class_id, "free"), (), -1, loaded=True)
            continue
        for option in space.chosen_by(demand):
            add(demand, (class_id, option.number), option.children, option.number, loaded=option.kind == "load")
        if wanted < 0:
            for node, children in space.light_nodes(class_id):
                add(demand, (class_id, node), children, -1, loaded=False)
            if wanted == COMPUTED and space.is_free(class_id):
                add(demand, (class_id, "free"), (), -1, loaded=False)
    for root in space.storable:
        for grid in space.grids(root):
            table.starts[grid.tile] = [1 << index[(grid.tile, COMPUTED)]]
    return table
