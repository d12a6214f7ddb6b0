"""How the ops of the tile dialect align dimensions. Importing this module adds them to ``dim_rules.RULES``."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, Region
from xdsl.traits import SymbolTable

from equiforge.analysis.dim_groups import DimGroups, Relation, field_shapes
from equiforge.analysis.dim_rules import RULES, align_block, matmul, pointwise, reduce_dim, rule, where
from equiforge.dialects import forge, tile
from equiforge.dialects.tile_types import PartitionAttr, states_of

RULES[tile.StoreOp] = pointwise


@rule(tile.MatmulOp)
def tile_matmul(groups: DimGroups, op: tile.MatmulOp) -> None:
    """As the product of tensors."""
    matmul(groups, op)


def _module_of(op: Operation) -> ModuleOp | None:
    module: Operation | None = op
    while module is not None and not isinstance(module, ModuleOp):
        module = module.parent_op()
    return module


def along(groups: DimGroups, op: tile.PartitionOp | tile.CombineOp) -> None:
    """Dimensions stay; the one that the axis cuts gives the axis its group."""
    groups.align_dims(groups.nodes(op.operand), groups.nodes(op.result))
    module = _module_of(op)
    if module is not None:
        groups.note_axis(module, op.axis_name, groups.nodes(op.operand)[op.dim])


rule(tile.PartitionOp)(along)
rule(tile.CombineOp)(along)


@rule(tile.ReplicateOp)
def replicate(groups: DimGroups, op: tile.ReplicateOp) -> None:
    """Dimensions stay."""
    groups.align_values(op.operand, op.result)


@rule(forge.ExpandOp)
def expand(groups: DimGroups, op: forge.ExpandOp) -> None:
    """A dimension that an axis cuts is in the axis's group, also where nothing else of that size is aligned with it."""
    pointwise(groups, op)
    module = _module_of(op)
    for state in states_of(op.result.type):
        if module is not None and isinstance(state, PartitionAttr):
            groups.align(groups.axis_node(module, state.axis_name), groups.nodes(op.result)[state.dim])


@rule(tile.CollectOp)
def collect(groups: DimGroups, op: tile.CollectOp) -> None:
    """A leading dimension, which counts the axis's tiles, comes before the others; a cut one has the extent of a tile.

    A static count follows from the axis's extent; without one, or where the axis cuts no dimension, it is fixed.
    """
    module = _module_of(op)
    cut = -1 if op.count is None or module is None else groups.axis_node(module, op.axis_name)
    for field in range(len(field_shapes(op.operand.type))):
        leading, *rest = groups.nodes(op.result, field)
        groups.pin(leading, where(op), fixed=cut < 0)
        if cut >= 0 and leading >= 0:
            groups.relate(Relation("tiles", cut, (leading,)))
        before = field_shapes(op.operand.type)[field]
        after = field_shapes(op.result.type)[field][1:]
        for old, new, a, b in zip(groups.nodes(op.operand, field), rest, before, after, strict=True):
            if a == b:
                groups.align(old, new)
            else:
                groups.pin(new, where(op), fixed=True)


@rule(tile.AccumulateOp)
def accumulate(groups: DimGroups, op: tile.AccumulateOp) -> None:
    """Accumulator, operand and result have the same dimensions."""
    pointwise(groups, op)


@rule(tile.ReduceOp)
def reduce(groups: DimGroups, op: tile.ReduceOp) -> None:
    """Kept dimensions are aligned; a reducer's regions are aligned with what it is applied to."""
    if op.dim is not None:
        reduce_dim(groups, op.inputs[0], op.result, op.dim)
    elif not op.is_rolling:
        groups.align_values(op.inputs[0], op.result)
    else:
        reducer = SymbolTable.lookup_symbol(op, op.reducer)
        if isinstance(reducer, tile.ReducerOp):
            _rolling(groups, op, reducer)


def _rolling(groups: DimGroups, op: tile.ReduceOp, reducer: tile.ReducerOp) -> None:
    arguments = reducer.body.block.args
    states = [groups.nodes(argument) for argument in arguments[: reducer.num_states]]
    inputs = [groups.nodes(value) for value in op.inputs]
    results = [groups.nodes(op.result, field) for field in range(len(field_shapes(op.result.type)))]
    _align_region(groups, reducer.body, [*states, *inputs], states)
    if reducer.has_merge:
        _align_region(groups, reducer.merge, [*states, *states], states)
    if reducer.has_final:
        _align_region(groups, reducer.final, states, results)
    else:
        for state, result in zip(states, results, strict=True):
            groups.align_dims(state, result)


def _align_region(
    groups: DimGroups, region: Region, arguments: Sequence[list[int]], results: Sequence[list[int]]
) -> None:
    """Aligns a region's arguments and what it yields with given dimensions."""
    block = region.block
    for argument, nodes in zip(block.args, arguments, strict=True):
        groups.align_dims(groups.nodes(argument), nodes)
    align_block(groups, block)
    if block.last_op is not None:
        for operand, nodes in zip(block.last_op.operands, results, strict=True):
            groups.align_dims(groups.nodes(operand), nodes)
