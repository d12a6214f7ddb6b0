"""The function that instances of rules are built into, and its e-graph."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, ModuleOp, StringAttr, TensorType, i64
from xdsl.dialects.equivalence import ClassOp, GraphOp, YieldOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue

from equiforge.analysis.dim_groups import DimGroups
from equiforge.dialects import forge, tile
from equiforge.dialects.tile_types import element_name
from equiforge.egraph.graph import EGraph
from equiforge.egraph.ir import from_module
from equiforge.egraph.text import collect_count


class Rejected(Exception):  # noqa: N818
    """A draw that has no type or breaks a side condition. It is no error: another one is drawn."""


class Program:
    """A function under construction that holds instances, and the axes that they use."""

    def __init__(self, chooser: random.Random, tensor_level: bool = False):
        self.chooser = chooser
        self.tensor_level = tensor_level
        self.block = Block()
        self.axes: dict[int, int | None] = {}
        """Extent of each axis by its number; None until a dimension is cut by it."""

    def checkpoint(self) -> tuple[int, int, dict[int, int | None]]:
        return len(self.block.args), len(list(self.block.ops)), dict(self.axes)

    def restore(self, mark: tuple[int, int, dict[int, int | None]]) -> None:
        """Drops what was added since a checkpoint."""
        arguments, ops, axes = mark
        for op in list(self.block.ops)[ops:][::-1]:
            op.detach()
            op.erase()
        for argument in list(self.block.args)[arguments:][::-1]:
            self.block.erase_arg(argument)
        self.axes = axes

    def add(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        cut = [s.dim for s in tile.states_of(op.results[0].type) if isinstance(s, tile.PartitionAttr)]
        if len(cut) != len(set(cut)):
            raise Rejected("two axes that are not nested cut one dimension")
        return op.results[0]

    def argument(self, shape: Sequence[int], element: Attribute) -> SSAValue:
        return self.block.insert_arg(TensorType(element, list(shape)), len(self.block.args))

    def axis(self, after: int = -1) -> int:
        """A new axis, anywhere in the order of axes or after another one."""
        free = [n for n in range(after + 1, 100) if n not in self.axes]
        if not free:
            raise Rejected(f"no axis after {after} is free")
        number = self.chooser.choice(free)
        self.axes[number] = None
        return number

    def cut(self, axis: int, extent: int) -> None:
        """Notes that an axis cuts a dimension."""
        if self.axes.setdefault(axis, None) not in (None, extent):
            raise Rejected(f"axis {axis} cuts dimensions of two extents")
        self.axes[axis] = extent


def axis_name(number: int) -> str:
    return f"a{number:02d}"


def shape_of(value: SSAValue) -> tuple[int, ...]:
    return tuple(tile.shape_of(value.type))


def is_tensor(value: SSAValue) -> bool:
    return isinstance(value.type, TensorType)


def finish(
    program: Program, storable: bool, more_axes: bool, outer_axes: bool = False, inner_axes: bool = False
) -> EGraph:
    """The e-graph of a program: every value is a class, and what nothing else uses is a result.

    ``storable`` says that results of ops at tensor level may be stored; ``more_axes`` that each dimension group gets an
    axis, so that it can be cut, and with ``outer_axes`` one of slices around it; ``inner_axes`` that axes which the
    program cuts with get one that cuts their slices.
    """
    roots = [_whole(program, v) for v in _unused(program.block)]
    program.block.add_op(ReturnOp(*roots))
    function = FuncOp("main", ([a.type for a in program.block.args], [r.type for r in roots]), Region(program.block))
    extents = {n: extent or 2 for n, extent in program.axes.items()}
    module = ModuleOp([*(tile.AxisOp(axis_name(n), extents[n]) for n in sorted(extents)), function])
    module.verify()
    groups = DimGroups(function)
    cut = groups.axis_groups(module)
    axes = {n: cut.get(axis_name(n), len(groups)) for n in extents}
    within: dict[int, int] = {}

    def declare(group: int, outer: int = -1) -> int:
        number = program.axis(outer)
        axes[number], extents[number] = group, groups.extent(group)
        if outer >= 0:
            within[number] = outer
        return number

    if inner_axes:
        for number, group in list(axes.items()):
            if group < len(groups) and groups.multiplicity(group) == 1 and number < 99:
                declare(group, number)
    if more_axes:
        for group in range(len(groups)):
            if group not in axes.values() and groups.extent(group) > 1 and program.chooser.random() < 0.8:
                number = declare(group)
                if outer_axes and groups.multiplicity(group) == 1 and number < 99:
                    declare(group, number)
    return from_module(_as_egraph(function, groups, axes, extents, within, storable))


def _unused(block: Block) -> list[SSAValue]:
    values = [*block.args, *(result for op in block.ops for result in op.results)]
    return [v for v in values if not list(v.uses)]


def _whole(program: Program, value: SSAValue) -> SSAValue:
    """The value without parallel axes: combined, reduced or collected."""
    for state in tile.states_of(value.type):
        if isinstance(state, tile.PartitionAttr):
            value = program.add(tile.CombineOp(value, state.dim, state.axis_name))
        elif isinstance(state, tile.PartialAttr) and state.reducer is not None:
            value = program.add(tile.ReduceOp.over_parallel(state.reducer, value, state.axis_name))
    for state in tile.states_of(value.type):
        number = int(state.axis_name[1:])
        extent = program.axes.get(number)
        if extent is None:
            extent = program.axes[number] = 4
        value = program.add(tile.CollectOp(value, state.axis_name, collect_count(extent)))
    return value


def _as_egraph(
    function: FuncOp,
    groups: DimGroups,
    axes: dict[int, int],
    extents: dict[int, int],
    within: dict[int, int],
    storable: bool,
) -> ModuleOp:
    """The ops of a function as an ``equivalence.graph`` with a class for each value."""
    top: list[Operation] = []
    for number in sorted(axes):
        outer = axis_name(within[number]) if number in within else None
        op = tile.AxisOp(axis_name(number), extents[number], outer)
        op.attributes["group"] = IntegerAttr(axes[number], i64)
        top.append(op)
    returned = cast(ReturnOp, function.body.block.last_op).operands
    result = FuncOp("main", function.function_type)
    body = Block()
    classes: dict[SSAValue, SSAValue] = {}

    def classify(original: SSAValue, node: SSAValue) -> None:
        op = ClassOp(node)
        op.attributes["groups"] = DenseArrayBase.from_list(i64, list(groups.dims(original)))
        if storable and isinstance(original, OpResult) and is_tensor(original):
            element = element_name(tile.element_type_of(original.type))
            op.attributes["wide"] = op.attributes["narrow"] = StringAttr(element)
        body.add_op(op)
        classes[original] = op.result

    for argument, new in zip(function.body.block.args, result.body.block.args, strict=True):
        classify(argument, new)
    for op in function.body.block.ops:
        if isinstance(op, ReturnOp):
            continue
        copy = op.clone(dict(classes))
        if isinstance(copy, forge.ConstantOp):
            copy.attributes["storage"] = StringAttr(element_name(tile.element_type_of(copy.result.type)))
        body.add_op(copy)
        classify(op.results[0], copy.results[0])
    body.add_op(YieldOp(*(classes[r] for r in returned)))
    graph = GraphOp([classes[r].type for r in returned], Region(body))
    result.body.block.add_op(graph)
    result.body.block.add_op(ReturnOp(*graph.results))
    module = ModuleOp([*top, result])
    module.verify()
    return module
