"""A joint function as a choice: which storages the forward saves, and what the backward computes again.

For every op that does not depend on a tangent there are two 0/1 variables, *computed in the forward* and *computed in
the backward*, and for every storage that one of them makes a third, *saved*:

* an op of the backward needs each operand saved (the storage that it is a view of, together with the views on the way)
  or computed in the backward;
* what is saved has to be computed in the forward, or to be an argument;
* what the forward returns is computed in the forward; draws of random numbers and opaque calls, once and there only.

Ops that depend on a tangent are in the backward. Saved bytes count a storage once, whatever views of it are used, so a
minimum over this model is one over all choices that torch's min-cut has, and over those that its rules exclude.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from equiforge.analysis.memory import straight_line
from equiforge.analysis.storage import Storage, Storages
from equiforge.cse.effects import Effects, EffectTable
from equiforge.errors import EquiforgeError


@dataclass
class Cut:
    """What the choice is about, in a function cut into an early and a late part.

    ``early``: ops of the early part in order, with ``required`` those that it runs in any case; ``pure`` ops may run
    in the late part as well. ``needed``: early values that the late part reads. ``kept``: numbers of the arguments
    that cost nothing to save, since they are held anyway.
    """

    early: list[Operation]
    required: set[Operation]
    pure: set[Operation]
    needed: list[SSAValue]
    storages: Storages
    kept: frozenset[int]

    def cost(self, storage: Storage) -> int:
        """Bytes that saving a storage takes."""
        return 0 if storage.argument in self.kept else storage.bytes


@dataclass
class JointModel:
    """A joint function whose first ``num_results`` results are the forward's, cut between forward and backward.

    ``late``: ops that depend on a tangent. ``tangents`` and ``parameters`` are numbers of arguments.
    """

    function: FuncOp
    num_results: int
    tangents: frozenset[int]
    parameters: frozenset[int]
    late: list[Operation]
    cut: Cut

    @property
    def results(self) -> list[SSAValue]:
        return results_of(self.function)


def results_of(function: FuncOp) -> list[SSAValue]:
    """What a function of one block returns."""
    terminator = function.body.block.last_op
    assert terminator is not None
    return list(terminator.operands)


def joint_model(
    function: FuncOp, num_results: int, tangents: Collection[int], parameters: Collection[int] = ()
) -> JointModel:
    """Sort the ops of a joint function. Parameters are held anyway, so that saving them costs nothing.

    Raises EquiforgeError where a result of the forward depends on a tangent, and where the function has control flow.
    """
    block = straight_line(function)
    effects = EffectTable()
    late_values: set[SSAValue] = {argument for argument in block.args if argument.index in tangents}
    early: list[Operation] = []
    late: list[Operation] = []
    for op in list(block.ops)[:-1]:
        if any(operand in late_values for operand in op.operands):
            late.append(op)
            late_values.update(op.results)
        else:
            early.append(op)
    pure = {op for op in early if effects.of(op) is Effects.NONE}
    results = results_of(function)
    if any(value in late_values for value in results[:num_results]):
        raise EquiforgeError("a result of the forward depends on a tangent", hint="say how many results are its own")
    required: set[Operation] = set()
    stack = [*(value.owner for value in results[:num_results]), *(op for op in early if op not in pure)]
    while stack:
        op = stack.pop()
        if isinstance(op, Operation) and op not in required:
            required.add(op)
            stack += [operand.owner for operand in op.operands]
    read = [*(operand for op in late for operand in op.operands), *results[num_results:]]
    needed = [value for value in dict.fromkeys(read) if value not in late_values]
    cut = Cut(early, required, pure, needed, Storages(block), frozenset(parameters))
    return JointModel(function, num_results, frozenset(tangents), frozenset(parameters), late, cut)
