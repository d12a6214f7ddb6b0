"""The choices of a kernel as bit masks.

A partial kernel is a set of choices and a set of open demands (the holes). A :class:`Table` says for each demand
which choices meet it and what these demand in turn. The compact table has only the heavy choices: for the pointwise
parts between them it holds the *frontiers* of a class, the least sets of heavily computed or loaded classes from which
pointwise e-nodes make it. A frontier that contains another one is left out, since whatever completes it completes the
other with less. So all partial programs that differ in pointwise e-nodes alone (operand order, grouping, placement)
are one state from the start, whatever their number.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
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
        made = self._made(chosen, 0)
        return made is not None and any(need & ~made == 0 for need in starts)

    def is_acyclic(self, chosen: int, holes: int) -> bool:
        """Whether the choices of a partial kernel can be put in such an order once its ``holes`` are made."""
        return self._made(chosen, holes) is not None

    def _made(self, chosen: int, made: int) -> int | None:
        left = bits(chosen)
        while left:
            rest = [b for b in left if not any(need & ~made == 0 for need in self.needs[b])]
            if len(rest) == len(left):
                return None
            for b in left:
                if b not in rest:
                    made |= self.satisfied[b]
            left = rest
        return made

    def moves_without(self, forbidden: Container[int]) -> list[list[Move]]:
        """The ways to meet each demand without some heavy options, and without those that can't be completed then."""
        met = 0
        left = [[m for m in moves if m.heavy not in forbidden] for moves in self.moves]
        pending = True
        while pending:
            found = [d for d, moves in enumerate(left) if not met >> d & 1 and any(m.needs & ~met == 0 for m in moves)]
            pending = bool(found)
            for demand in found:
                met |= 1 << demand
        return [[m for m in moves if m.needs & ~met == 0] for moves in left]

    def reach(self) -> list[int]:
        """For each demand the mask of those that meeting it can come to."""
        found = [0] * len(self.demands)
        pending = True
        while pending:
            pending = False
            for demand in reversed(range(len(found))):
                new = 0
                for move in self.moves[demand]:
                    new |= move.needs
                for below in bits(new):
                    new |= found[below]
                pending |= new != found[demand]
                found[demand] = new
        return found

    def cyclic(self) -> int:
        """The mask of demands that meeting them can lead back to."""
        return sum(1 << demand for demand, reach in enumerate(self.reach()) if reach >> demand & 1)


def bits(mask: int) -> list[int]:
    """Positions of the set bits, rising."""
    found: list[int] = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


class Masks:
    """Sets of choices, found again by their subsets: each is filed under that of its members that fewest others are
    filed under."""

    def __init__(self) -> None:
        self.all: list[int] = []
        self._filed: dict[int, list[int]] = {}

    def add(self, mask: int) -> None:
        self.all.append(mask)
        member = min(bits(mask), key=lambda b: len(self._filed.get(b, ())), default=-1)
        self._filed.setdefault(member, []).append(mask)

    def has_subset_of(self, mask: int) -> bool:
        if -1 in self._filed:
            return True
        rest = mask
        while rest:
            low = rest & -rest
            for known in self._filed.get(low.bit_length() - 1, ()):
                if known & mask == known:
                    return True
            rest ^= low
        return False


def least(masks: Iterable[int]) -> list[int]:
    """The masks that contain no other one, in a fixed order."""
    kept = Masks()
    for mask in sorted(set(masks), key=lambda m: (m.bit_count(), m)):
        if not kept.has_subset_of(mask):
            kept.add(mask)
    return kept.all


def in_order(space: Space, below: Callable[[Demand], Iterable[Demand]]) -> list[Demand]:
    """All demands that kernels of the storable classes can come to. As far as there are no cycles, each comes before
    those ``below`` it."""
    seen: set[Demand] = set()
    finished: list[Demand] = []
    stack: list[tuple[Demand, bool]] = []
    for root in sorted(space.storable, reverse=True):
        stack.extend(((grid.tile, COMPUTED), False) for grid in reversed(space.grids(root)))
    while stack:
        demand, visited = stack.pop()
        if visited:
            finished.append(demand)
        elif demand not in seen:
            seen.add(demand)
            stack.append((demand, True))
            stack.extend((child, False) for child in below(demand))
    return finished[::-1]


def _below(space: Space, demand: Demand) -> list[Demand]:
    found = [child for option in space.chosen_by(demand) for child in option.children]
    if demand[1] < 0 and not (demand[1] == ANY and space.is_free(demand[0])):
        found.extend(child for _, children in space.light_nodes(demand[0]) for child in children)
    return found


def compact_table(space: Space, limit: int = 320) -> Table:
    """The table of heavy choices; ``limit`` bounds the frontiers kept for a class."""
    reachable = in_order(space, lambda demand: _below(space, demand))
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
