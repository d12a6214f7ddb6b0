"""Where a forge function may be cut: connected convex subgraphs of limited work, with the least traffic between.

A run of consecutive ops is convex in any topological order, and so is each connected component of one. For a limit on
the *weight* of a subgraph (its products and reductions: what its e-graph grows with) the cheapest partition into runs
is a shortest path, found exactly by dynamic programming over the cut points. Several limits give partitions of several
granularities. Where the program repeats itself, as layers do, it is cut at every repetition first: equal layers are
then cut alike, and are searched once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from math import prod

import rustworkx
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from equiforge.cse.numbering import Numbering
from equiforge.dialects import forge, tile
from equiforge.dialects.op_table import ELEMENT_BYTES
from equiforge.dialects.tile_types import element_name, element_type_of, shape_of

_SOURCES = (forge.ConstantOp, forge.IotaOp)
_VIEWS = (forge.TransposeOp, forge.ReshapeOp, forge.ExpandOp, forge.SliceOp)
_HEAVY = (forge.MatmulOp, forge.ReduceOp)
_LAUNCH_BYTES = 8_000_000
"""What a kernel launch costs, in bytes that a device of some TB/s moves meanwhile: every run has at least one."""
GRANULARITIES = (4, 6)
"""Limits of weight for which partitions are made."""


def value_bytes(value: SSAValue) -> int:
    """Size in memory of a value of tensor type."""
    return prod(shape_of(value.type)) * ELEMENT_BYTES[element_name(element_type_of(value.type))]


@dataclass(frozen=True)
class Cut:
    """A partition: ``runs`` of ops in program order, ``limit`` the weight that they were kept to, ``traffic`` the bytes
    that they read and write, with what launches cost in bytes."""

    limit: int
    runs: tuple[tuple[Operation, ...], ...]
    traffic: int


class CutPoints:
    """The ops of a function that partitions divide, and those that every subgraph gets a copy of: constants, index
    vectors and what is made of these alone (masks), and layout changes of arguments."""

    def __init__(self, function: FuncOp):
        self.function = function
        self.numbering = Numbering()
        block = function.body.block
        self.free: set[Operation] = set()
        self.ops: list[Operation] = []
        terminator = block.last_op
        self.results: set[SSAValue] = set() if terminator is None else set(terminator.operands)
        for op in block.ops:
            if op is terminator:
                continue
            if not self._stored(op) and (isinstance(op, _SOURCES) or self._is_free(op)):
                self.free.add(op)
            else:
                self.ops.append(op)
        self.place = {op: n for n, op in enumerate(self.ops)}
        self.last_use = [self._last_use(op) for op in self.ops]

    def _stored(self, op: Operation) -> bool:
        """Whether a result must be in memory: what the function returns, and what a call of an operator takes."""
        return any(r in self.results or any(is_call(u.operation) for u in r.uses) for r in op.results)

    def _is_free(self, op: Operation) -> bool:
        if not op.operands or isinstance(op, forge.RandomOp | forge.OpaqueOp):
            return False
        if isinstance(op, _VIEWS) and isinstance(op.operands[0], BlockArgument):
            return True
        owners = [o.owner for o in op.operands]
        if isinstance(op, _VIEWS) and owners[0] in self.free:
            return True
        return all(o in self.free and self._from_sources(o) for o in owners)

    def _from_sources(self, op: object) -> bool:
        """True for ops that depend on no argument."""
        stack, seen = [op], set[object]()
        while stack:
            current = stack.pop()
            if current in seen:
                continue
            seen.add(current)
            if not isinstance(current, Operation):
                return False
            stack.extend(v.owner for v in current.operands)
        return True

    def _last_use(self, op: Operation) -> int:
        """Place of the last op that reads a result; behind the end for a result of the function."""
        last = -1
        for result in op.results:
            if result in self.results:
                return len(self.ops)
            for use in result.uses:
                user = use.operation
                # What a free op reads is free: only ops with a place use others.
                last = max(last, self.place.get(user, -1))
        return last

    def reads(self, op: Operation) -> list[SSAValue]:
        """The arguments, and the results of other ops with a place, that an op reads, through free ops."""
        found: dict[SSAValue, None] = {}
        stack = list(reversed(op.operands))
        while stack:
            value = stack.pop()
            owner = value.owner
            if isinstance(owner, Operation) and owner in self.free:
                stack.extend(reversed(owner.operands))
            else:
                found[value] = None
        return list(found)

    def weight(self, op: Operation) -> int:
        return int(isinstance(op, _HEAVY))

    def cheapest(self, limit: int) -> Cut:
        """The partition into runs of weight at most ``limit`` (or of one op) with the least traffic."""
        calls = [n + step for n, op in enumerate(self.ops) if is_call(op) for step in (0, 1)]
        forced = sorted({0, *self.anchors, *calls, len(self.ops)})
        runs: list[tuple[Operation, ...]] = []
        traffic = 0
        for start, end in pairwise(forced):
            spent, found = self._shortest(start, end, limit)
            traffic += spent
            runs.extend(c for run in found for c in self.components(run))
        return Cut(limit, tuple(runs), traffic)

    @cached_property
    def _made(self) -> list[int]:
        """Bytes of the results of each op."""
        return [sum(value_bytes(r) for r in op.results) for op in self.ops]

    @cached_property
    def _reads(self) -> list[list[tuple[SSAValue, int]]]:
        return [[(v, value_bytes(v)) for v in self.reads(op)] for op in self.ops]

    @cached_property
    def _ends(self) -> list[list[int]]:
        """For each place the ops whose results are read there for the last time."""
        found: list[list[int]] = [[] for _ in range(len(self.ops) + 1)]
        for number, last in enumerate(self.last_use):
            found[max(last, number)].append(number)
        return found

    def _shortest(self, first: int, last: int, limit: int) -> tuple[int, list[tuple[Operation, ...]]]:
        """Traffic and runs of the best partition of the ops from ``first`` up to ``last``."""
        best = {first: 0}
        before: dict[int, int] = {}
        for start in range(first, last):
            weight, inside, read, alive, read_bytes = 0, set[SSAValue](), set[SSAValue](), 0, 0
            for end in range(start, last):
                weight += self.weight(self.ops[end])
                if weight > limit and end > start:
                    break
                for value, size in self._reads[end]:
                    if value not in inside and value not in read:
                        read.add(value)
                        read_bytes += size
                inside.update(self.ops[end].results)
                alive += self._made[end] - sum(self._made[n] for n in self._ends[end] if n >= start)
                traffic = best[start] + read_bytes + alive + _LAUNCH_BYTES
                # Of equal ones the latest cut: what follows a product without traffic is done with it.
                if end + 1 not in best or traffic <= best[end + 1]:
                    best[end + 1], before[end + 1] = traffic, start
        runs: list[tuple[Operation, ...]] = []
        end = last
        while end > first:
            runs.append(tuple(self.ops[before[end] : end]))
            end = before[end]
        return best[last], runs[::-1]

    @cached_property
    def anchors(self) -> tuple[int, ...]:
        """Places that cut the program at each of its repetitions, where the least is alive; none if it does not repeat
        itself."""
        signs = [self.numbering.sign(op) for op in self.ops]
        places: dict[int, list[int]] = {}
        for number, op in enumerate(self.ops):
            if self.weight(op):
                places.setdefault(signs[number], []).append(number)
        periods = {b - a for found in places.values() for n, a in enumerate(found[:12]) for b in found[n + 1 : 12]}
        for period in sorted(periods):
            start, length = _longest_match(signs, period)
            weight = sum(self.weight(op) for op in self.ops[start : start + period])
            if length >= period and weight > 1:
                phase = min(range(period), key=lambda n: (self._alive[start + n], n))
                end = start + length + period
                return tuple(n for n in range(start + phase, end + 1, period) if 0 < n < len(self.ops))
        return ()

    @cached_property
    def _alive(self) -> list[int]:
        """Bytes that are alive between one op and the next, for each place."""
        change = [0] * (len(self.ops) + 2)
        for number, last in enumerate(self.last_use):
            change[number + 1] += self._made[number]
            change[min(max(last, number), len(self.ops)) + 1] -= self._made[number]
        return list(accumulate(change))

    def components(self, run: Sequence[Operation]) -> list[tuple[Operation, ...]]:
        """The connected parts of a run; ops that read a common intermediate are connected too, for one kernel can
        serve both. In program order."""
        graph: rustworkx.PyGraph[int, None] = rustworkx.PyGraph()
        graph.add_nodes_from(range(len(run)))
        source: dict[SSAValue, int] = {}
        for number, op in enumerate(run):
            for value in op.results:
                source[value] = number
            for value in self.reads(op):
                if value in source:
                    graph.add_edge(source[value], number, None)
                elif not isinstance(value, BlockArgument):
                    source[value] = number
        parts = [tuple(run[n] for n in sorted(part)) for part in rustworkx.connected_components(graph)]
        return sorted(parts, key=lambda part: self.place[part[0]])


def cuts(points: CutPoints, granularities: Sequence[int] = GRANULARITIES) -> list[Cut]:
    """Different partitions of a function, one for each granularity that changes anything, those with the least traffic
    first."""
    found: dict[tuple[tuple[Operation, ...], ...], Cut] = {}
    for limit in granularities:
        cut = points.cheapest(limit)
        found.setdefault(cut.runs, cut)
    return sorted(found.values(), key=lambda c: c.traffic)


def is_call(op: Operation) -> bool:
    """A call of an operator that is not modelled: it stays between subgraphs."""
    return isinstance(op, forge.OpaqueOp)


def is_tile_program(module: ModuleOp) -> bool:
    """Whether the program is a candidate already: tile IR that stores what it computes."""
    return any(isinstance(op, tile.StoreOp) for op in module.walk())


def has_calls(function: FuncOp) -> bool:
    """Whether the function calls operators that are not modelled."""
    return any(map(is_call, function.body.block.ops))


def weight_of(function: FuncOp) -> int:
    """Products and reductions of a function."""
    return sum(isinstance(op, _HEAVY) for op in function.body.block.ops)


def _longest_match(signs: Sequence[int], period: int) -> tuple[int, int]:
    """Start and length of the longest stretch that comes again after ``period`` ops."""
    best, start = (0, 0), 0
    for n in range(len(signs) - period + 1):
        if n == len(signs) - period or signs[n] != signs[n + period]:
            if n - start > best[1]:
                best = (start, n - start)
            start = n + 1
    return best
