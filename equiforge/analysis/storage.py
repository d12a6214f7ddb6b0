"""Which memory each value of a block lies in: computed values own a row-major buffer, views see that of their operand.

    %t = forge.transpose %x perm [1, 0] : (tensor<8x64xf32>) -> tensor<64x8xf32>    same storage as %x, strides [1, 64]
    %r = forge.reshape %t : (tensor<64x8xf32>) -> tensor<512xf32>                   no strides for that: a copy

transpose, expand, slice and get are views; reshape is one where strides can express it, as in torch. A tuple holds the
places of its members. What any other op returns is its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.builtin import ShapedType, TupleType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from equiforge.dialects import forge
from equiforge.dialects.op_table import ELEMENT_BYTES
from equiforge.dialects.tile_types import element_name, element_type_of, shape_of


def type_bytes(type_: Attribute) -> int:
    """Bytes of a row-major tensor; of a tuple, those of its members; 0 for what is no tensor."""
    if isinstance(type_, TupleType):
        return sum(type_bytes(member) for member in type_.types.data)
    if not isinstance(type_, ShapedType):
        return 0
    return math.prod(shape_of(type_)) * ELEMENT_BYTES[element_name(element_type_of(type_))]


@dataclass(frozen=True, eq=False)
class Storage:
    """A piece of memory: the value that it was made for, its size, and the number of the argument if it is one's."""

    root: SSAValue
    bytes: int
    argument: int | None = None


@dataclass(frozen=True)
class Layout:
    """A storage seen with strides, in elements."""

    storage: Storage
    strides: tuple[int, ...]


Place: TypeAlias = "Layout | tuple[Place, ...]"


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides of a dense tensor whose last dimension runs fastest."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def view_strides(shape: Sequence[int], strides: Sequence[int], new: Sequence[int]) -> tuple[int, ...] | None:
    """Strides with which a tensor can be seen in another shape without a copy; None if there are none.

    Neighbouring dimensions of the old shape that lie in memory like one are merged; each such run has to be made of
    whole dimensions of the new shape.
    """
    if math.prod(shape) == 0:
        return row_major(new)
    runs: list[tuple[int, int]] = []  # (elements, stride of the last), dimensions of size 1 left out
    for size, stride in zip(shape, strides, strict=True):
        if size == 1:
            continue
        if runs and runs[-1][1] == size * stride:
            runs[-1] = (runs[-1][0] * size, stride)
        else:
            runs.append((size, stride))
    result: list[int] = []
    remaining = iter(reversed(runs))
    elements, step = 1, 1
    for size in reversed(new):
        if size == 1:
            result.append(step)
            continue
        if elements == 1:
            elements, step = next(remaining)
        if elements % size:
            return None
        result.append(step)
        elements //= size
        step *= size
    return tuple(reversed(result))


def _view_layout(op: Operation, operand: Layout) -> Layout | None:
    """The layout of a view's result; None where the op computes a new tensor."""
    strides = operand.strides
    match op:
        case forge.TransposeOp():
            return Layout(operand.storage, tuple(strides[dim] for dim in op.perm))
        case forge.ExpandOp():
            shape = shape_of(op.operand.type)
            grown = zip(shape, op.shape, strides, strict=True)
            return Layout(operand.storage, tuple(0 if old != new else stride for old, new, stride in grown))
        case forge.SliceOp():
            scaled = [stride * op.step if dim == op.dim else stride for dim, stride in enumerate(strides)]
            return Layout(operand.storage, tuple(scaled))
        case forge.ReshapeOp():
            seen = view_strides(shape_of(op.operand.type), strides, op.shape)
            return None if seen is None else Layout(operand.storage, seen)
        case _:
            return None


class Storages:
    """The places of all values of a block, found in its order."""

    def __init__(self, block: Block):
        self.places: dict[SSAValue, Place] = {}
        self._arguments = block.args
        for argument in block.args:
            self.places[argument] = self._fresh(argument, argument.type, argument.index)
        for op in block.ops:
            self.enter(op)

    def enter(self, op: Operation) -> None:
        """Find the places of an op's results; those of its operands are known."""
        if isinstance(op, forge.TupleOp):
            self.places[op.result] = tuple(self.places[value] for value in op.operands)
            return
        if isinstance(op, forge.GetOp):
            members = self.places[op.operand]
            assert isinstance(members, tuple)
            self.places[op.result] = members[op.index]
            return
        if len(op.operands) == 1 and len(op.results) == 1:
            operand = self.places.get(op.operands[0])
            seen = _view_layout(op, operand) if isinstance(operand, Layout) else None
            if seen is not None:
                self.places[op.results[0]] = seen
                return
        for result in op.results:
            self.places[result] = self._fresh(result, result.type, None)

    def _fresh(self, root: SSAValue, type_: Attribute, argument: int | None) -> Place:
        if isinstance(type_, TupleType):
            return tuple(self._fresh(root, member, argument) for member in type_.types.data)
        strides = row_major(shape_of(type_)) if isinstance(type_, ShapedType) else ()
        return Layout(Storage(root, type_bytes(type_), argument), strides)

    def of(self, value: SSAValue) -> tuple[Storage, ...]:
        """The storages that a value lies in: one, or those of the members of a tuple; none for a value from outside."""
        place = self.places.get(value)
        return () if place is None else tuple(dict.fromkeys(_storages(place)))

    def arguments(self) -> list[Storage]:
        """The storages of the block's arguments, in order."""
        return [storage for argument in self._arguments for storage in self.of(argument)]

    def is_view(self, op: Operation) -> bool:
        """Does the op move no data: does each of its results lie in memory that was there before?"""
        return bool(op.results) and all(storage.root not in op.results for r in op.results for storage in self.of(r))


def _storages(place: Place) -> Iterator[Storage]:
    if isinstance(place, Layout):
        yield place.storage
    else:
        for member in place:
            yield from _storages(member)
