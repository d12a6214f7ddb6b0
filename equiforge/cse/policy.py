"""Which merges are worth it: a value that is shared lives until its last use.

    always         all of them
    never-longer   those after which at no op more bytes are held than before
    cost           also those that raise the peak, where it stays within the budget and the work that is saved
                   (operations and bytes moved, added) is more than the bytes that the peak gains

That two ops are equal holds whether their operands are merged or not, so the merges are decided from the last to the
first: where all users of a duplicate are merged away, nothing is left that would be held for its sake, and a chain of
equal ops costs what its last one costs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import pairwise

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from equiforge.analysis.memory import Figures, profile, straight_line
from equiforge.analysis.storage import Storages
from equiforge.analysis.work import work_of
from equiforge.cse.effects import Effects, EffectTable
from equiforge.cse.eliminate import Merge, candidates
from equiforge.dialects import forge
from equiforge.errors import EquiforgeError

POLICIES = ("always", "never-longer", "cost")


def worthwhile(module: ModuleOp, policy: str, budget: int | None = None) -> set[Operation]:
    """The duplicates that a policy merges, of a module without dead ops; pass them to ``eliminate`` as its choice.

    A policy other than ``always`` knows functions of one block without regions and without tuples; elsewhere it merges
    nothing. ``budget`` is in bytes, for ``cost`` only.
    """
    merges = candidates(module)
    if policy == "always":
        return {merge.duplicate for merge in merges}
    by_block: dict[Block, list[Merge]] = {}
    for merge in merges:
        block = merge.duplicate.parent
        if block is not None and block is merge.survivor.parent:
            by_block.setdefault(block, []).append(merge)
    chosen: set[Operation] = set()
    for block, found in by_block.items():
        function = block.parent_op()
        if isinstance(function, FuncOp) and _is_modelled(function):
            chosen |= _Decider(function, policy, budget).decide(found)
    return chosen


def _is_modelled(function: FuncOp) -> bool:
    try:
        block = straight_line(function)
    except EquiforgeError:
        return False
    return not any(isinstance(op, forge.TupleOp | forge.GetOp) for op in block.ops)


@dataclass
class _Root:
    """A storage: bytes, the place of the op that makes it, and how many reads there are at each place."""

    bytes: int
    first: int
    forever: bool
    reads: dict[int, int] = field(default_factory=dict[int, int])
    _latest: list[int] = field(default_factory=list[int])
    """A heap of the places, negated; those without reads are dropped when they come to the top."""

    def add(self, place: int, count: int) -> None:
        """Count reads at a place, or take some away."""
        after = self.reads.get(place, 0) + count
        if after:
            if place not in self.reads:
                heappush(self._latest, -place)
            self.reads[place] = after
        else:
            self.reads.pop(place, None)

    def last(self, end: int) -> int:
        """The last place at which it is held."""
        if self.forever:
            return end
        while self._latest and -self._latest[0] not in self.reads:
            heappop(self._latest)
        return -self._latest[0] if self._latest else self.first


class _Decider:
    """The lives of a function's storages while merges are tried, with an undo log."""

    def __init__(self, function: FuncOp, policy: str, budget: int | None):
        self.policy = policy
        self.budget = budget
        block = straight_line(function)
        storages = Storages(block)
        ops = list(block.ops)
        self.end = len(ops) - 1
        self.place = {op: number for number, op in enumerate(ops)}
        self.held = np.array(profile(function).held, dtype=np.int64)
        self.peak = int(self.held.max())
        self.weight: dict[Operation, int] = {}
        for op in ops:
            work = work_of(op, storages)
            self.weight[op] = work.flops + work.bytes
        self.views: dict[SSAValue, SSAValue] = {}
        self.instead: dict[SSAValue, SSAValue] = {}
        self.users: dict[SSAValue, list[Operation]] = {}
        self.dead: set[Operation] = set()
        self.roots: dict[SSAValue, _Root] = {}
        self.before: dict[SSAValue, tuple[_Root, int, int]] = {}
        """Of the merge at hand: the storages that it touches, with their lives until then."""
        effects = EffectTable()
        self.pure = {op for op in ops if effects.of(op) is Effects.NONE and not op.has_trait(IsTerminator)}
        for argument in block.args:
            self._enter(argument, storages, 0, True)
        for op in ops:
            for result in op.results:
                self._enter(result, storages, self.place[op], False)
            for operand in dict.fromkeys(op.operands):
                self.users[operand].append(op)
                self.root(operand).add(self.place[op], 1)

    def _enter(self, value: SSAValue, storages: Storages, place: int, forever: bool) -> None:
        self.users[value] = []
        if any(storage.root is value for storage in storages.of(value)):
            self.roots[value] = _Root(sum(s.bytes for s in storages.of(value)), place, forever)
        else:
            assert isinstance(value.owner, Operation)
            self.views[value] = value.owner.operands[0]
            self.root(value).add(place, 1)

    def root(self, value: SSAValue) -> _Root:
        return self.roots[self._root_value(value)]

    def _root_value(self, value: SSAValue) -> SSAValue:
        while value not in self.roots or value in self.instead:
            value = self.instead[value] if value in self.instead else self.views[value]
        return value

    # The decision

    def decide(self, merges: Iterable[Merge]) -> set[Operation]:
        """The duplicates to merge; dead ones are among them, so that nothing is merged into them."""
        before = {merge.duplicate: merge.survivor for merge in merges}
        chosen: set[Operation] = set()
        for duplicate in sorted(before, key=lambda op: -self.place[op]):
            survivor: Operation | None = before[duplicate]
            while survivor is not None and survivor in self.dead:
                survivor = before.get(survivor)
            if duplicate in self.dead or (survivor is not None and self._merge(survivor, duplicate)):
                chosen.add(duplicate)
        return chosen

    def _merge(self, survivor: Operation, duplicate: Operation) -> bool:
        """Merge if the policy allows it; else everything is as it was."""
        self.before = {}
        undo: list[tuple[_Root, int, int]] = []
        grown = [(self.users[s], len(self.users[s])) for s in survivor.results]
        gone: list[Operation] = []
        for d, s in zip(duplicate.results, survivor.results, strict=True):
            old, new = self._root_value(d), self._root_value(s)
            for place, count in self._reads_through(d).items():
                self._add(old, place, -count, undo)
                self._add(new, place, count, undo)
            if d in self.views:
                self._add(old, self.place[duplicate], -1, undo)
            self.instead[d] = s
            self.users[s] += self.users[d]
        saved = self._erase(duplicate, undo, gone)
        changes = self._changes(gone)
        if self._allowed(changes, saved):
            for first, last, size in changes:
                self.held[first:last] += size
            self.peak = int(self.held.max())
            return True
        for root, place, count in reversed(undo):
            root.add(place, -count)
        for users, length in grown:
            del users[length:]
        for d in duplicate.results:
            del self.instead[d]
        self.dead.difference_update(gone)
        return False

    def _reads_through(self, value: SSAValue) -> Counter[int]:
        """Reads of a value and of the views of it, by place."""
        reads: Counter[int] = Counter()
        stack = [value]
        while stack:
            seen = stack.pop()
            for user in self._live_users(seen):
                reads[self.place[user]] += 1
                for result in user.results:
                    if result in self.views and result not in self.instead:
                        reads[self.place[user]] += 1
                        stack.append(result)
        return reads

    def _live_users(self, value: SSAValue) -> Iterator[Operation]:
        return (user for user in self.users[value] if user not in self.dead)

    def _add(self, value: SSAValue, place: int, count: int, undo: list[tuple[_Root, int, int]]) -> None:
        root = self.roots[value]
        if value not in self.before:
            self.before[value] = (root, root.first, root.last(self.end))
        root.add(place, count)
        undo.append((root, place, count))

    def _erase(self, op: Operation, undo: list[tuple[_Root, int, int]], gone: list[Operation]) -> int:
        """Take out an op and what only it needs; returns the work that is saved."""
        saved = 0
        stack = [op]
        while stack:
            erased = stack.pop()
            self.dead.add(erased)
            gone.append(erased)
            saved += self.weight[erased]
            place = self.place[erased]
            for result in erased.results:
                if result in self.views and result not in self.instead:
                    self._add(self._root_value(result), place, -1, undo)
            for operand in dict.fromkeys(erased.operands):
                self._add(self._root_value(operand), place, -1, undo)
                maker = self._instead(operand).owner
                if isinstance(maker, Operation) and maker not in self.dead and self._is_unused(maker):
                    stack.append(maker)
        return saved

    def _instead(self, value: SSAValue) -> SSAValue:
        while value in self.instead:
            value = self.instead[value]
        return value

    def _is_unused(self, op: Operation) -> bool:
        return op in self.pure and not any(True for r in op.results for _ in self._live_users(r))

    def _changes(self, gone: list[Operation]) -> list[tuple[int, int, int]]:
        """How the bytes held change: (first place, place after the last, bytes)."""
        dead = {result for op in gone for result in op.results}
        for value in dead:
            if value in self.roots and value not in self.before:
                root = self.roots[value]
                self.before[value] = (root, root.first, root.last(self.end))
        changes: list[tuple[int, int, int]] = []
        for value, (root, first, last) in self.before.items():
            after = -1 if value in dead else root.last(self.end)
            if value in dead:
                changes.append((first, last + 1, -root.bytes))
            elif after > last:
                changes.append((last + 1, after + 1, root.bytes))
            elif after < last:
                changes.append((after + 1, last + 1, -root.bytes))
        return changes

    def _allowed(self, changes: list[tuple[int, int, int]], saved: int) -> bool:
        """Whether the policy takes a merge with these changes, which saves this much work."""
        edges = sorted({place for first, last, _ in changes for place in (first, last)})
        risen: list[tuple[int, int, int]] = []
        for first, last in pairwise(edges):
            more = sum(size for start, stop, size in changes if start <= first < stop)
            if more > 0:
                risen.append((first, last, more))
        if not risen:
            return True
        if self.policy == "never-longer":
            return False
        peak = max(int(self.held[first:last].max()) + more for first, last, more in risen)
        if peak <= self.peak:
            return True
        within = self.budget is None or peak <= self.budget
        return within and saved > peak - self.peak


def check_policy(policy: str, budget: int | None) -> None:
    """Raises EquiforgeError for an unknown policy, and for a budget that the policy does not look at."""
    if policy not in POLICIES:
        raise EquiforgeError(f"unknown policy {policy}", hint=f"known: {', '.join(POLICIES)}")
    if budget is not None and policy != "cost":
        raise EquiforgeError(f"memory-budget has no effect with policy={policy}", hint="take policy=cost")


def figures(module: ModuleOp) -> dict[str, Figures]:
    """The figures of the functions that the memory model knows, by name."""
    found: dict[str, Figures] = {}
    for function in module.ops:
        if isinstance(function, FuncOp) and not function.is_declaration:
            try:
                found[function.sym_name.data] = Figures.of(profile(function))
            except EquiforgeError:
                continue
    return found
