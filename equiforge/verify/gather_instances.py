"""Instances of gathers and of the positions that they read at, for the certificates of rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import TensorType, i32
from xdsl.ir import Operation, SSAValue

from equiforge.dialects import forge
from equiforge.egraph.graph import REPLICATE
from equiforge.verify.instance_program import Rejected, shape_of

if TYPE_CHECKING:
    from equiforge.verify.rule_instances import Instance


def make_gather(instance: Instance, term: Any, want: dict[int, int], element: str | None) -> Operation:
    """A gather whose index is inside the operand, and is cut as the result is."""
    dims: Sequence[int] = range(instance.rank)
    if not want and isinstance(made := instance.class_of(term[2], {}, None, element).owner, forge.IndexOp):
        # Positions among positions lie along one dimension.
        dims = [made.dim]
    dim: int = instance.choose(term[1], dims)
    whole = {axis: REPLICATE if d == dim else d for axis, d in want.items()}
    operand = instance.class_of(term[2], whole, None, element)
    extents = shape_of(operand)
    name: Any = term[3]
    count = instance.chooser.choice((2, 3, 4))
    if isinstance(name, str) and name in instance.values:
        index = instance.values[name]
    elif not isinstance(name, str) or name in instance.pattern.terms:
        form: Any = instance.pattern.terms[name] if isinstance(name, str) else name
        if form[0] == "Index":
            op = make_index(instance, form, dim, _with(extents, dim, count), extents[dim])
            index = instance.program.add(op)
        else:
            index = instance.class_of(name, want, None, "i32")
        if isinstance(name, str):
            instance.values[name] = index
    else:
        index = instance.tiles(_inside(instance, _index_shape(instance, extents, dim, count), extents[dim]), want)
        instance.values[str(name)] = index
    return forge.GatherOp(operand, index, dim)


def make_index(
    instance: Instance, term: Any, dim: int, extents: Sequence[int], bound: int | None = None
) -> forge.IndexOp:
    """Positions along a dimension, inside ``bound`` elements."""
    chooser = instance.chooser
    inside = bound is not None
    last = bound - 1 if bound is not None else chooser.choice((8, 19))
    # Bounds that meet make all positions one, which hides what the others are.
    low = 0 if chooser.random() < 0.7 else chooser.randint(0, last // 2)
    high = last if chooser.random() < 0.7 else chooser.randint((last + 1) // 2, last)
    start = chooser.choice((-1, 0, 1, 2) if inside else (-2, 0, 1, 2, 3))
    step = chooser.choice((0, 1, 1, 2) if inside else (0, 1, 2, 3))
    each, period = chooser.choice((1, 1, 1, 2)), chooser.choice((0, 0, 0, 2))
    places = (start, step, each, period, low, high)
    shape = [n if d == dim else 1 for d, n in enumerate(extents)]
    chosen = instance.choose(term[2], [(dim, *places)])
    return forge.IndexOp(TensorType(i32, shape), chosen[0], forge.Places(*chosen[1:]))


def _with(extents: Sequence[int], dim: int, extent: int) -> list[int]:
    return [extent if d == dim else n for d, n in enumerate(extents)]


def _index_shape(instance: Instance, extents: Sequence[int], dim: int, count: int) -> list[int]:
    """One position for all other dimensions, or one each."""
    alike = instance.chooser.random() < 0.5
    return [count if d == dim else 1 if alike else n for d, n in enumerate(extents)]


def _inside(instance: Instance, shape: Sequence[int], extent: int) -> SSAValue:
    """An argument of integers, clamped to positions of ``extent`` elements, from the end too."""
    if extent < 1:
        raise Rejected("nothing to gather from")
    add, scalar = instance.program.add, TensorType(i32, [1] * len(shape))
    index = instance.program.argument(shape, i32)
    low = add(forge.MaxOp(index, add(forge.ConstantOp(-extent, scalar))))
    return add(forge.MinOp(low, add(forge.ConstantOp(extent - 1, scalar))))
