"""Programs at reduced extents of the same form: what a candidate is checked and executed at.

A program of 4096 x 4096 matrices becomes one of 35 x 37 matrices with the same ops, axes, reducers and ragged tails.
A forge program and a tile program made from it are reduced together: their arguments are the same tensors, so the
same dimension groups get the same extents (``extents.plan_extents``).

>>> small, small_candidate = shrink(program, candidate)     # doctest: +SKIP
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import TypeAlias, cast

from xdsl.dialects.builtin import BytesAttr, ModuleOp, TensorType, TupleType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue, TypeAttribute

from equiforge.analysis.dim_groups import DimGroups
from equiforge.dialects import forge, tile
from equiforge.dialects.assembly import int_attr
from equiforge.dialects.literals import LiteralAttr
from equiforge.dialects.tile_types import element_type_of, make_type, shape_of, states_of
from equiforge.verify.extents import ExtentPlan, plan_extents
from equiforge.verify.interpreter import main_function
from equiforge.verify.scaled_constants import scaled_constants

Properties: TypeAlias = dict[str, Attribute]


def shrink(
    forge_module: ModuleOp, tile_module: ModuleOp | None = None, limit: int = 16, tile_size: int = 16
) -> tuple[ModuleOp, ModuleOp | None]:
    """Returns copies of both modules with smaller extents, consistent with each other, verified.

    ``limit``: groups of at most so many elements keep their extents (those that are only batches become 2, 3, 5 or
    7). ``tile_size``: larger ones become two tiles of this size and a ragged rest; a ``tile.collect`` then has the
    number of tiles of this size, rounded up to a power of two. Groups whose extents are tied by more than reshapes,
    slices, concatenations and padding (a dense constant, a gathered dimension) keep theirs.
    """
    modules = [forge_module, *([tile_module] if tile_module is not None else [])]
    functions = [main_function(module) for module in modules]
    groups = DimGroups(*functions)
    plan = plan_extents(groups, limit, tile_size)
    constants = scaled_constants(functions[0], groups, plan.extents)
    small = [_Rewriter(module, groups, plan, constants).module() for module in modules]
    return small[0], small[1] if tile_module is not None else None


class _Rewriter:
    """Copies a module with the extents of a plan."""

    def __init__(self, module: ModuleOp, groups: DimGroups, plan: ExtentPlan, constants: Mapping[float, float]):
        self.source = module
        self.groups = groups
        self.plan = plan
        self.constants = constants
        self.axes = groups.axis_groups(module)
        self.nested = [(a.axis_name, a.outer) for a in module.ops if isinstance(a, tile.AxisOp) and a.outer]
        self.values: dict[SSAValue, SSAValue] = {}

    def module(self) -> ModuleOp:
        """Returns the verified copy."""
        copy = ModuleOp(Region(self.block(self.source.body.block)), dict(self.source.attributes))
        copy.verify()
        return copy

    def type(self, value: SSAValue) -> Attribute:
        """Returns the reduced type of a value; the type itself where the analysis has not met the value."""
        if not self.groups.knows(value):
            return value.type
        fields = itertools.count()

        def reduced(type_: Attribute) -> Attribute:
            if isinstance(type_, TupleType):
                return TupleType(tuple(cast(TypeAttribute, reduced(field)) for field in type_.types))
            dims = self.groups.dims(value, next(fields))
            shape = [
                old if group < 0 else self.plan.extents[group] for old, group in zip(shape_of(type_), dims, strict=True)
            ]
            return make_type(shape, element_type_of(type_), states_of(type_))

        return reduced(value.type)

    def block(self, block: Block) -> Block:
        """Copies a block."""
        copy = Block(arg_types=[self.type(argument) for argument in block.args])
        for old, new in zip(block.args, copy.args, strict=True):
            self.values[old] = new
            new.name_hint = old.name_hint
        for op in block.ops:
            copy.add_op(self.op(op))
        return copy

    def op(self, op: Operation) -> Operation:
        """Copies an op with its regions; extents stand in result types and in the properties of a few ops."""
        properties = dict(op.properties)
        adapt = _ADAPTERS.get(type(op))
        if adapt is not None:
            properties.update(adapt(self, op))
        regions = [Region([self.block(block) for block in region.blocks]) for region in op.regions]
        if isinstance(op, FuncOp):
            # The signature follows the copied body.
            block = regions[0].block
            assert block.last_op is not None
            copied = FuncOp(
                op.sym_name.data,
                ([a.type for a in block.args], [o.type for o in block.last_op.operands]),
                regions[0],
                op.sym_visibility,
                arg_attrs=op.arg_attrs,
                res_attrs=op.res_attrs,
            )
            copied.attributes.update(op.attributes)
            return copied
        copy = type(op).create(
            operands=[self.values[operand] for operand in op.operands],
            result_types=[self.type(result) for result in op.results],
            properties=properties,
            attributes=dict(op.attributes),
            regions=regions,
        )
        for old, new in zip(op.results, copy.results, strict=True):
            self.values[old] = new
            new.name_hint = old.name_hint
        return copy


def _adapt_axis(rewriter: _Rewriter, op: Operation) -> Properties:
    assert isinstance(op, tile.AxisOp)
    # Nested axes cut the same dimension, though the program may use one of them only.
    nested = (a for a in rewriter.nested if op.axis_name in a)
    names = [op.axis_name, *(name for pair in nested for name in pair)]
    group = next((rewriter.axes[name] for name in names if name in rewriter.axes), None)
    return {"extent": int_attr(rewriter.plan.extents[group])} if group is not None else {}


def _adapt_collect(rewriter: _Rewriter, op: Operation) -> Properties:
    assert isinstance(op, tile.CollectOp)
    if op.count is None:
        return {}
    group = rewriter.groups.group(op.result, 0)
    return {"count": int_attr(rewriter.plan.extents[group])} if group >= 0 else {}


def _adapt_slice(rewriter: _Rewriter, op: Operation) -> Properties:
    assert isinstance(op, forge.SliceOp)
    group = rewriter.groups.group(op.operand, op.dim)
    cuts = rewriter.plan.cuts.get(group)
    if cuts is None:
        # Not cut at all, save for slices that take everything.
        whole = (op.start, op.stop) == (0, shape_of(op.operand.type)[op.dim]) and group >= 0
        return {"stop": int_attr(rewriter.plan.extents[group])} if whole else {}
    return {"start": int_attr(cuts[op.start]), "stop": int_attr(cuts[op.stop])}


def _adapt_constant(rewriter: _Rewriter, op: Operation) -> Properties:
    assert isinstance(op, forge.ConstantOp)
    splat = op.splat
    if splat is None:
        return {}
    type_ = cast("TensorType[Attribute]", rewriter.type(op.result))
    if isinstance(splat, float) and splat in rewriter.constants:
        return {"value": LiteralAttr.of(rewriter.constants[splat], type_)}
    # By bytes, so that the payload of a NaN stays.
    count = op.value.tensor_type.element_count()
    element = op.value.data.data[: len(op.value.data.data) // count]
    return {"value": LiteralAttr.new([type_, BytesAttr(element * type_.element_count())])}


_ADAPTERS: dict[type[Operation], Callable[[_Rewriter, Operation], Properties]] = {
    tile.AxisOp: _adapt_axis,
    tile.CollectOp: _adapt_collect,
    forge.SliceOp: _adapt_slice,
    forge.ConstantOp: _adapt_constant,
}
