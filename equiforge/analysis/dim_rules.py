"""How each op aligns the dimensions of its operands and results: the rules behind ``DimGroups``."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import TypeVar, cast

from xdsl.dialects.builtin import StringAttr, TupleType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from equiforge.analysis.dim_groups import DimGroups, Relation, field_shapes
from equiforge.dialects import forge
from equiforge.dialects.tile_types import shape_of

OpT = TypeVar("OpT", bound=Operation)
Rule = Callable[[DimGroups, Operation], None]

RULES: dict[type[Operation], Rule] = {}


def rule(op_type: type[OpT]) -> Callable[[Callable[[DimGroups, OpT], None]], Callable[[DimGroups, OpT], None]]:
    """Registers the rule of an op class."""

    def register(function: Callable[[DimGroups, OpT], None]) -> Callable[[DimGroups, OpT], None]:
        RULES[op_type] = cast(Rule, function)
        return function

    return register


def align_function(groups: DimGroups, func: FuncOp) -> None:
    """Aligns everything in a function and in the reducers that it uses."""
    if any(op.name.startswith("tile.") for op in func.body.block.ops):
        # The tile dialect's rules join the table when a program needs them.
        importlib.import_module("equiforge.analysis.dim_rules_tile")
    for argument in func.body.block.args:
        if field_shapes(argument.type):
            groups.nodes(argument)
    align_block(groups, func.body.block)


def align_block(groups: DimGroups, block: Block) -> None:
    """Aligns everything in a block."""
    for op in block.ops:
        apply = RULES.get(type(op))
        if apply is not None:
            apply(groups, op)
        for result in op.results:
            if field_shapes(result.type):
                groups.nodes(result)


def where(op: Operation) -> str:
    """Names an op and its source line, as the reason of a pin."""
    location = op.attributes.get("loc")
    return op.name.removeprefix("forge.") + (f" at {location.data}" if isinstance(location, StringAttr) else "")


def pointwise(groups: DimGroups, op: Operation) -> None:
    """All operands and the result are aligned dimension by dimension; size 1 broadcasts."""
    for operand in op.operands:
        groups.align_dims(groups.nodes(operand), groups.nodes(op.results[0]))


for _class in (*forge.UNARY_OPS.values(), *forge.BINARY_OPS.values(), forge.SelectOp, forge.CompareOp, forge.CastOp):
    RULES[_class] = pointwise


def matmul(groups: DimGroups, op: Operation) -> None:
    """M and N are the result's, the contraction pair is one group, batch dimensions broadcast."""
    *batch_a, m, k = groups.nodes(op.operands[0])
    *batch_b, k_of_b, n = groups.nodes(op.operands[1])
    *batch, m_of_result, n_of_result = groups.nodes(op.results[0])
    groups.align_dims(batch_a, batch)
    groups.align_dims(batch_b, batch)
    groups.align(k, k_of_b)
    groups.align(m, m_of_result)
    groups.align(n, n_of_result)
    groups.note_role(m, "m")
    groups.note_role(n, "n")
    groups.note_role(k, "k")
    for node in batch:
        groups.note_role(node, "batch")


def reduce_dim(groups: DimGroups, x: SSAValue, result: SSAValue, dim: int) -> None:
    """Aligns a reduction's kept dimensions."""
    nodes = groups.nodes(x)
    groups.note_role(nodes[dim], "reduce")
    groups.align_dims(nodes, groups.nodes(result))


RULES[forge.MatmulOp] = matmul


@rule(forge.ReduceOp)
def _(groups: DimGroups, op: forge.ReduceOp) -> None:
    reduce_dim(groups, op.operands[0], op.results[0], op.dim)


@rule(forge.TransposeOp)
def _(groups: DimGroups, op: forge.TransposeOp) -> None:
    nodes = groups.nodes(op.operands[0])
    permuted = [nodes[i] for i in op.perm]
    groups.align_dims(permuted, groups.nodes(op.results[0]))


@rule(forge.ExpandOp)
def _(groups: DimGroups, op: forge.ExpandOp) -> None:
    pointwise(groups, op)


@rule(forge.ConstantOp)
def _(groups: DimGroups, op: forge.ConstantOp) -> None:
    if op.splat is None:
        for node in groups.nodes(op.results[0]):
            groups.pin(node, where(op), fixed=True)


@rule(forge.IndexOp)
def _(groups: DimGroups, op: forge.IndexOp) -> None:
    # Its numbers are positions in another dimension.
    groups.pin(groups.nodes(op.result)[op.dim], where(op), fixed=op.places.step != 0)


@rule(forge.ReshapeOp)
def _(groups: DimGroups, op: forge.ReshapeOp) -> None:
    before, after = groups.nodes(op.operands[0]), groups.nodes(op.results[0])
    for olds, news in reshape_blocks(shape_of(op.operands[0].type), shape_of(op.results[0].type)):
        a, b = [before[i] for i in olds], [after[j] for j in news]
        if len(a) == len(b) == 1:
            groups.align(a[0], b[0])
            continue
        described = len(a) == 1 or len(b) == 1
        for node in (*a, *b):
            groups.pin(node, where(op), fixed=not described)
        if described:
            whole, parts = (a[0], b) if len(a) == 1 else (b[0], a)
            groups.relate(Relation("product", whole, tuple(parts)))


def reshape_blocks(before: Sequence[int], after: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Splits a reshape into the smallest runs of dimensions with equal products, dimensions of size 1 left out.

    >>> reshape_blocks((2, 32, 64), (2, 1, 4, 8, 64))
    [([0], [0]), ([1], [2, 3]), ([2], [4])]
    """
    olds = [i for i, extent in enumerate(before) if extent != 1]
    news = [j for j, extent in enumerate(after) if extent != 1]
    blocks: list[tuple[list[int], list[int]]] = []
    while olds or news:
        taken_old, taken_new = [olds.pop(0)], [news.pop(0)]
        product_old, product_new = before[taken_old[0]], after[taken_new[0]]
        while product_old != product_new:
            if product_old < product_new:
                taken_old.append(olds.pop(0))
                product_old *= before[taken_old[-1]]
            else:
                taken_new.append(news.pop(0))
                product_new *= after[taken_new[-1]]
        blocks.append((taken_old, taken_new))
    return blocks


def drops_units(before: tuple[int, ...], after: tuple[int, ...]) -> bool:
    """Whether a reshape only adds or drops dimensions of size 1.

    >>> drops_units((1, 64, 32), (64, 32)), drops_units((64, 32), (2, 32, 32))
    (True, False)
    """
    return [n for n in before if n != 1] == [n for n in after if n != 1]


def _align_except(groups: DimGroups, x: SSAValue, result: SSAValue, dim: int) -> tuple[int, int]:
    """Aligns all dimensions but one; returns that one's nodes."""
    a, b = groups.nodes(x), groups.nodes(result)
    groups.align_dims(a[:dim] + a[dim + 1 :], b[:dim] + b[dim + 1 :])
    return a[dim], b[dim]


@rule(forge.SliceOp)
def _(groups: DimGroups, op: forge.SliceOp) -> None:
    dim = op.dim
    start, stop, step = op.start, op.stop, op.step
    whole, part = _align_except(groups, op.operands[0], op.results[0], dim)
    if whole < 0:
        return
    if (start, stop, step) == (0, shape_of(op.operands[0].type)[dim], 1):
        groups.align(whole, part)
        return
    groups.pin(whole, where(op))
    groups.pin(part, where(op))
    groups.relate(Relation("slice", whole, (part,) if part >= 0 else (), start=start, stop=stop, step=step))


@rule(forge.ConcatOp)
def _(groups: DimGroups, op: forge.ConcatOp) -> None:
    dim = op.dim
    parts: list[int] = []
    whole = -1
    for operand in op.operands:
        part, whole = _align_except(groups, operand, op.results[0], dim)
        parts.append(part)
    if len(parts) == 1:
        groups.align(parts[0], whole)
        return
    for node in (*parts, whole):
        groups.pin(node, where(op))
    groups.relate(Relation("sum", whole, tuple(p for p in parts if p >= 0), offset=parts.count(-1)))


@rule(forge.PadOp)
def _(groups: DimGroups, op: forge.PadOp) -> None:
    part, whole = _align_except(groups, op.operands[0], op.results[0], op.dim)
    added = op.low + op.high
    if added == 0:
        groups.align(part, whole)
        return
    groups.pin(part, where(op))
    groups.pin(whole, where(op))
    groups.relate(Relation("sum", whole, (part,) if part >= 0 else (), offset=added + (part < 0)))


@rule(forge.GatherOp)
def _(groups: DimGroups, op: forge.GatherOp) -> None:
    dim = op.dim
    gathered, _ = _align_except(groups, op.operands[0], op.results[0], dim)
    groups.align_dims(groups.nodes(op.operands[1]), groups.nodes(op.results[0]))
    # The index holds positions of the whole dimension: its extent can't change.
    groups.pin(gathered, where(op), fixed=True)


@rule(forge.TupleOp)
def _(groups: DimGroups, op: forge.TupleOp) -> None:
    field = 0
    for operand in op.operands:
        for inner in range(len(field_shapes(operand.type))):
            groups.align_dims(groups.nodes(operand, inner), groups.nodes(op.results[0], field))
            field += 1


@rule(forge.GetOp)
def _(groups: DimGroups, op: forge.GetOp) -> None:
    type_ = op.operand.type
    fields = type_.types.data if isinstance(type_, TupleType) else ()
    first = sum(len(field_shapes(field)) for field in fields[: op.index])
    for inner in range(len(field_shapes(op.result.type))):
        groups.align_dims(groups.nodes(op.operand, first + inner), groups.nodes(op.result, inner))
