"""Common subexpression elimination: of ops that compute the same, the first stays and the others go.

    %1 = forge.mul %x, %two                     %1 = forge.mul %x, %two
    %2 = forge.add %1, %five                    %2 = forge.add %1, %five
    %3 = forge.mul %x, %two              ->     %4 = forge.sub %1, %one
    %4 = forge.sub %3, %one                     %5 = forge.add %2, %4
    %5 = forge.add %2, %4

Each op is visited once, definitions before uses, and looked up by its key in a table from keys to the first op that has
it. An entry is visible in the block of its op, in the blocks that this dominates, and in regions inside; an op that is
isolated from above starts with an empty table. Ops without effects merge; ops that only read merge where nothing in
between may write; all others stay, and so does an op without results.

A merge can be refused: then the op stays, and its value still counts as equal, so that what is computed from it can be
merged. The later ones of its equals are then offered to it, the nearest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, SSAValue

from equiforge.cse.effects import Effects, EffectTable, Task, collector_paused, erase, is_isolated, run_flat
from equiforge.cse.locations import Locations
from equiforge.cse.numbering import Key, Numbering
from equiforge.cse.order import dominator_tree, ordered_ops


@dataclass(frozen=True)
class Merge:
    """A merge that could be made: ``duplicate`` computes what ``survivor``, which comes before it, computes."""

    survivor: Operation
    duplicate: Operation


Decide = Callable[[Merge], bool]


@dataclass
class CseReport:
    """What was found: ops seen, and by name those that were merged into another and those that could have been."""

    ops: int = 0
    merged: Counter[str] = field(default_factory=Counter[str])
    refused: Counter[str] = field(default_factory=Counter[str])

    @property
    def total(self) -> int:
        """How many ops are gone."""
        return self.merged.total()


def eliminate(root: Operation, decide: Decide | None = None) -> CseReport:
    """Merge equal ops in all that ``root`` holds, in place. ``decide`` says of each merge whether it is made; it is
    asked in the order of the program, when the merges before are decided but not yet carried out. Without it all are.

    The time is that of a hash table, a few microseconds an op; no shape of the program makes it quadratic or recursive.
    """
    return _Eliminator(decide).run(root)


def candidates(root: Operation) -> list[Merge]:
    """All merges that ``eliminate`` would offer if none were made, in order; the program stays as it is."""
    found: list[Merge] = []

    def keep(merge: Merge) -> bool:
        found.append(merge)
        return False

    _Eliminator(keep).run(root)
    return found


class _Eliminator:
    def __init__(self, decide: Decide | None):
        self.decide = decide
        self.report = CseReport()
        self.effects = EffectTable()
        self.numbering = Numbering()
        self.locations = Locations()
        self.table: dict[Key, Operation] = {}
        self.hidden: list[tuple[Key, Operation | None]] = []
        """Entries of the table made since its start, with what each had hidden."""
        self.instead: dict[SSAValue, SSAValue] = {}
        """Results of merged ops, and what is used in their place."""
        self.duplicates: dict[Operation, Operation] = {}
        self.epoch = 0
        """Changes where something may have been written: part of the keys of ops that read."""
        self.quiet = False
        """Inside an op that does not write."""

    def run(self, root: Operation) -> CseReport:
        with collector_paused():
            run_flat(self._inside(root))
            self._finish()
        return self.report

    # The walk

    def _inside(self, op: Operation) -> Task:
        saved = self.table, self.hidden
        isolated = is_isolated(op)
        if isolated:
            self.table, self.hidden = {}, []
        loud = not self.quiet and self.effects.writes(op)
        was_quiet, self.quiet = self.quiet, not loud
        for region in op.regions:
            tree = dominator_tree(region)
            if tree.entry is not None:
                yield self._blocks(tree.entry, tree.children, loud)
            for block in tree.unreachable:
                yield self._blocks(block, {}, loud)
        self.quiet = was_quiet
        if isolated:
            self.table, self.hidden = saved
        if loud:
            self.epoch += 1

    def _blocks(self, block: Block, children: dict[Block, list[Block]], loud: bool) -> Task:
        mark = len(self.hidden)
        if loud:
            # Loops come back here, and other paths may have written.
            self.epoch += 1
        yield from self._block(block)
        for child in children.get(block, ()):
            yield self._blocks(child, children, loud)
        while len(self.hidden) > mark:
            key, before = self.hidden.pop()
            if before is None:
                del self.table[key]
            else:
                self.table[key] = before

    def _block(self, block: Block) -> Task:
        for argument in block.args:
            self.numbering.fresh(argument)
        ops, graph = ordered_ops(block)
        for op in ops:
            if graph:
                self.epoch += 1
            if op.regions:
                yield self._inside(op)
                self.numbering.close(op, self.duplicates)
            self._visit(op)

    # One op

    def _visit(self, op: Operation) -> None:
        self.report.ops += 1
        if self.instead:
            self._substitute(op)
        effects = self.effects.of(op)
        if effects is Effects.WRITES:
            self.epoch += not self.quiet
            return
        if effects is Effects.ALLOCATES or not op.results or self.effects.anchored(op):
            return
        key = self.numbering.key(op)
        if effects is Effects.READS:
            key = (*key, "read", self.epoch)
        survivor = self.table.get(key)
        if survivor is None:
            self._enter(key, op, None)
            return
        self.numbering.equate(op, survivor)
        if self.decide is not None and not self.decide(Merge(survivor, op)):
            self.report.refused[op.name] += 1
            self._enter(key, op, survivor)
            return
        self.report.merged[op.name] += 1
        self.duplicates[op] = survivor
        self.instead.update(zip(op.results, survivor.results, strict=True))

    def _enter(self, key: Key, op: Operation, before: Operation | None) -> None:
        self.table[key] = op
        self.hidden.append((key, before))

    def _substitute(self, op: Operation) -> None:
        """All operands of the op at once: one by one, an op with n operands would take n² steps."""
        instead = self.instead
        operands = tuple(op.operands)
        if any(operand in instead for operand in operands):
            op.operands = [instead.get(operand, operand) for operand in operands]

    # The end

    def _finish(self) -> None:
        self._substitute_rest()
        for duplicate, survivor in self.duplicates.items():
            self.locations.merge(survivor, duplicate, self.duplicates)
            for result, kept in zip(duplicate.results, survivor.results, strict=True):
                if kept.name_hint is None:
                    kept.name_hint = result.name_hint
        self.locations.write()
        for duplicate in reversed(self.duplicates):
            erase(duplicate)

    def _substitute_rest(self) -> None:
        """Uses that were visited before the op was found to be a duplicate, as there are in graph regions."""
        users: Iterable[Operation] = dict.fromkeys(
            use.operation for value in self.instead if value.first_use is not None for use in value.uses
        )
        for user in users:
            self._substitute(user)
