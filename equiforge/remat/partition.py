"""A joint function cut into a forward and a backward, by what torch's min-cut chooses or by our own choice.

    func.func @forward(%w, %x) -> (%y, %saved…)
    func.func @backward(%saved…, %tangent) -> (%dw, %dx)

Both stand in one module. What is computed again stands in the backward just before the first op that reads it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from equiforge.analysis.memory import Profile, profile
from equiforge.analysis.storage import Storages
from equiforge.remat.model import JointModel
from equiforge.remat.solve import Choice


@dataclass(frozen=True)
class Partition:
    """A forward and a backward. The forward returns ``num_results`` results and what the backward takes first.

    ``parameters``: numbers of the forward's arguments that are kept anyway.
    """

    module: ModuleOp
    num_results: int
    parameters: frozenset[int]

    def function(self, name: str) -> FuncOp:
        return next(op for op in self.module.ops if isinstance(op, FuncOp) and op.sym_name.data == name)

    @property
    def forward(self) -> FuncOp:
        return self.function("forward")

    @property
    def backward(self) -> FuncOp:
        return self.function("backward")

    def saved_bytes(self) -> int:
        """Bytes held between forward and backward for the backward's sake: each storage once, parameters not."""
        block = self.forward.body.block
        storages = Storages(block)
        assert block.last_op is not None
        saved = {s for value in list(block.last_op.operands)[self.num_results :] for s in storages.of(value)}
        return sum(storage.bytes for storage in saved if storage.argument not in self.parameters)

    def flops(self) -> int:
        """Operations of both."""
        return profile(self.forward).work.flops + profile(self.backward).work.flops

    def joined(self) -> FuncOp:
        """One function that runs the forward and then the backward: its peak is that of a training step."""
        forward, backward = self.forward.body.block, self.backward.body.block
        assert forward.last_op is not None and backward.last_op is not None
        saved = list(forward.last_op.operands)[self.num_results :]
        tangents = backward.args[len(saved) :]
        body = Block(arg_types=[*(a.type for a in forward.args), *(t.type for t in tangents)])
        values: dict[SSAValue, SSAValue] = dict(zip(forward.args, body.args, strict=False))
        values.update(zip(tangents, body.args[len(forward.args) :], strict=True))
        results = _copy(forward, body, values)[: self.num_results]
        values.update(zip(backward.args, [values[value] for value in saved], strict=False))
        results += _copy(backward, body, values)
        body.add_op(ReturnOp(*results))
        return _function("main", body)

    def profile(self) -> Profile:
        """Of the joined function."""
        return profile(self.joined())


def _copy(source: Block, target: Block, values: dict[SSAValue, SSAValue]) -> list[SSAValue]:
    """Copies of the ops at the end of a block; returns what the terminator gives back."""
    for op in source.ops:
        if isinstance(op, ReturnOp):
            return [values[operand] for operand in op.operands]
        target.add_op(op.clone(values))
    return []


def _function(name: str, block: Block) -> FuncOp:
    terminator = block.last_op
    assert terminator is not None
    types = FunctionType.from_lists([a.type for a in block.args], [v.type for v in terminator.operands])
    return FuncOp(name, types, Region(block))


def partition(model: JointModel, choice: Choice) -> Partition:
    """The two functions of a choice. Arguments of the forward are those of the joint function without the tangents."""
    joint = model.function.body.block
    primals = [a for a in joint.args if a.index not in model.tangents]
    tangents = [a for a in joint.args if a.index in model.tangents]
    saved = list(dict.fromkeys(storage.root for storage in choice.saved))
    forward = _Writer([a.type for a in primals], primals)
    for op in model.cut.early:
        if op in choice.forward:
            forward.add(op)
    forward.finish([*model.results[: model.num_results], *saved])
    backward = _Writer([value.type for value in (*saved, *tangents)], [*saved, *tangents])
    for op in model.late:
        backward.add(op)
    backward.finish(model.results[model.num_results :])
    module = ModuleOp([_function("forward", forward.block), _function("backward", backward.block)])
    module.verify()
    parameters = frozenset(n for n, argument in enumerate(primals) if argument.index in model.parameters)
    return Partition(module, model.num_results, parameters)


class _Writer:
    """Copies ops into a block; what an op reads and is not there yet is copied first."""

    def __init__(self, types: Sequence[Attribute], values: Sequence[SSAValue]):
        self.block = Block(arg_types=types)
        self.values: dict[SSAValue, SSAValue] = dict(zip(values, self.block.args, strict=True))
        for value, argument in zip(values, self.block.args, strict=True):
            argument.name_hint = value.name_hint

    def add(self, op: Operation) -> None:
        stack = [op]
        while stack:
            top = stack[-1]
            missing = [v.owner for v in top.operands if v not in self.values]
            if missing:
                assert all(isinstance(owner, Operation) for owner in missing), "an argument that was not saved"
                stack += [owner for owner in missing if isinstance(owner, Operation)]
                continue
            stack.pop()
            if not top.results or top.results[0] not in self.values:
                copy = top.clone(self.values)
                self.block.add_op(copy)

    def finish(self, results: Sequence[SSAValue]) -> None:
        for value in results:
            if value not in self.values:
                assert isinstance(value.owner, Operation)
                self.add(value.owner)
        self.block.add_op(ReturnOp(*(self.values[value] for value in results)))
