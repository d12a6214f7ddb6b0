"""A schedule: the ops of a function in some order, some of them more than once, and the bytes held at each step.

Trying a change on the IR and sweeping it again would cost a copy of the function each time. Here a step is an op with
the values that this run of it reads and makes; ``write`` puts the order, and copies of the ops that run again, into
the function.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from equiforge.analysis.memory import straight_line
from equiforge.analysis.storage import Storages
from equiforge.analysis.work import work_of
from equiforge.cse.effects import Effects, EffectTable
from equiforge.dialects import forge


@dataclass(eq=False)
class Value:
    """A value that one run of an op makes, or an argument.

    ``roots``: the values whose memory it lies in, itself if it is computed. ``members``: of a tuple. ``step`` is the
    run, None for an argument.
    """

    ssa: SSAValue
    step: Step | None
    bytes: int = 0
    roots: tuple[Value, ...] = ()
    members: tuple[Value, ...] = ()


@dataclass(eq=False)
class Step:
    """One run of an op."""

    op: Operation
    operands: list[Value]
    results: list[Value] = field(default_factory=list["Value"])


class Schedule:
    """The steps of a function, the last of which is its terminator; change ``steps`` freely, then ask for ``held``.

    Arguments are held throughout, as the caller does, except ``donated`` ones; so are the results once they are there.
    """

    def __init__(self, function: FuncOp, donated: Collection[int] = ()):
        self.function = function
        block = straight_line(function)
        self.storages = Storages(block)
        effects = EffectTable()
        self.pure = {op for op in block.ops if effects.of(op) is Effects.NONE}
        self.weights: dict[Operation, int] = {}
        """Operations and bytes of an op, added: what running it once more costs."""
        for op in block.ops:
            work = work_of(op, self.storages)
            self.weights[op] = work.flops + work.bytes
        self.values: dict[SSAValue, Value] = {}
        """The first version of each value."""
        self.arguments: list[Value] = []
        for argument in block.args:
            value = Value(argument, None, sum(s.bytes for s in self.storages.of(argument)))
            value.roots = (value,)
            self.values[argument] = value
            self.arguments.append(value)
        self.given_back = {self.arguments[number] for number in donated}
        self.steps: list[Step] = []
        for op in block.ops:
            step = self.run(op, [self.values[operand] for operand in op.operands])
            self.steps.append(step)
            for ssa, value in zip(op.results, step.results, strict=True):
                self.values[ssa] = value

    def run(self, op: Operation, operands: list[Value]) -> Step:
        """A run of an op on some versions of its operands."""
        step = Step(op, operands)
        for ssa in op.results:
            value = Value(ssa, step)
            if isinstance(op, forge.TupleOp):
                value.members = tuple(operands)
                value.roots = tuple(dict.fromkeys(root for operand in operands for root in operand.roots))
            elif isinstance(op, forge.GetOp) and operands[0].members:
                value.roots = operands[0].members[op.index].roots
            elif any(storage.root is ssa for storage in self.storages.of(ssa)):
                value.bytes = sum(storage.bytes for storage in self.storages.of(ssa))
                value.roots = (value,)
            else:
                value.roots = operands[0].roots
            step.results.append(value)
        return step

    # What it costs

    def lives(self, steps: Sequence[Step]) -> dict[Value, tuple[int, int]]:
        """First and last step at which each root is held."""
        first: dict[Value, int] = {}
        last: dict[Value, int] = {}
        end = len(steps) - 1
        for argument in self.arguments:
            first[argument] = 0
            last[argument] = 0 if argument in self.given_back else end
        for place, step in enumerate(steps):
            for value in step.operands:
                for root in value.roots:
                    last[root] = max(last[root], place)
            for value in step.results:
                for root in value.roots:
                    first.setdefault(root, place)
                    last[root] = max(last.get(root, 0), place)
        return {root: (first[root], last[root]) for root in first}

    def held(self, steps: Sequence[Step], lives: dict[Value, tuple[int, int]] | None = None) -> list[int]:
        """Bytes held at each step."""
        changes = [0] * (len(steps) + 1)
        for root, (first, last) in (self.lives(steps) if lives is None else lives).items():
            changes[first] += root.bytes
            changes[last + 1] -= root.bytes
        return list(accumulate(changes[:-1]))

    def peak(self, steps: Sequence[Step] | None = None) -> int:
        """The most bytes held at one step."""
        return max(self.held(self.steps if steps is None else steps))

    def weight(self, steps: Sequence[Step]) -> int:
        """Operations and bytes of all steps."""
        return sum(self.weights[step.op] for step in steps)

    # Back into the function

    def again(self) -> list[Step]:
        """The steps whose op has run before."""
        seen: set[Operation] = set()
        return [step for step in self.steps if step.op in seen or seen.add(step.op)]

    def write(self) -> None:
        """Put the function's ops in the order of the steps, with copies of those that run again."""
        block = self.function.body.block
        made: dict[Value, SSAValue] = {value: value.ssa for value in self.arguments}
        kept = {step.op for step in self.steps}
        gone = [op for op in block.ops if op not in kept]
        for op in list(block.ops):
            op.detach()
        read = {op: tuple(op.operands) for op in kept}
        placed: set[Operation] = set()
        for step in self.steps:
            operands = [made[value] for value in step.operands]
            if step.op in placed:
                op = step.op.clone(dict(zip(read[step.op], operands, strict=True)))
            else:
                op = step.op
                placed.add(op)
                if tuple(operands) != read[op]:
                    op.operands = operands
            block.add_op(op)
            made.update(zip(step.results, op.results, strict=True))
        for op in reversed(gone):
            op.erase()
