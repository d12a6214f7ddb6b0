"""The builder that lowering functions write forge ops with.

It places ops, gives each its source line, keeps ranks equal, and keeps broadcasts lazy: an ``expand`` sinks below
pointwise ops, so that ``torch.full((n, n), c)`` stays one element until something really needs n x n of them.
Structural ops and constants are made once; a mask made of constant branches becomes the comparison it stands for,
so that the compiler can reason about it.
"""

from __future__ import annotations

import contextlib
import math
import struct
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, cast

from xdsl.dialects.builtin import IntegerType, StringAttr, TensorType, i1
from xdsl.ir import Block, Operation, SSAValue

from equiforge.dialects import forge
from equiforge.errors import UnsupportedOpError
from equiforge.frontend.dtypes import ElementType, Scalar, compute_type, is_bool, round_scalar

Value = SSAValue
Operand = SSAValue | Scalar

POINTWISE = (forge.UnaryOp, forge.BinaryOp, forge.CompareOp, forge.SelectOp, forge.CastOp)
_INVERSE = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}
_COMPARE: dict[str, Callable[[Scalar, Scalar], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


@dataclass(frozen=True)
class ResultType:
    """What eager says the node's result is: the truth for shape and element type."""

    shape: tuple[int, ...]
    element_type: ElementType


def shape_of(value: Value) -> tuple[int, ...]:
    """The shape of a tensor value."""
    return tuple(cast("TensorType[Any]", value.type).get_shape())


def element_of(value: Value) -> ElementType:
    """The element type of a tensor value."""
    return cast("TensorType[Any]", value.type).element_type


def rank_of(value: Value) -> int:
    return len(shape_of(value))


def normal_dim(dim: int, rank: int) -> int:
    """A dimension number in 0..rank-1; a 0-d tensor counts as having one dimension, as in torch."""
    return dim % max(rank, 1)


class Builder:
    """Writes forge ops at the end of ``block`` on behalf of one node of the exported graph at a time."""

    def __init__(self, block: Block):
        self.block = block
        self.target = ""
        self.location: str | None = None
        self.results: list[ResultType | None] = []
        self._constants: dict[Value, Scalar] = {}
        self._memo: dict[Any, Value] = {}
        self._perms: dict[Value, list[int]] = {}
        self._predicates: dict[Value, str] = {}
        self._indices: dict[Value, bool] = {}

    # -- the node at hand ---------------------------------------------------------------------------------------

    @property
    def out(self) -> ResultType:
        """The (first) result of the node as eager describes it."""
        result = self.results[0]
        assert result is not None, f"{self.target} has no tensor result"
        return result

    def refuse(self, what: str, hint: str | None = None) -> NoReturn:
        """Stop with the operator's name and the user's source line."""
        raise UnsupportedOpError(f"{self.target}: {what}", self.location, hint)

    def emit(self, op: Operation) -> Value:
        """Place an op with one result."""
        if self.location is not None:
            op.attributes["loc"] = StringAttr(self.location)
        self.block.add_op(op)
        return op.results[0]

    @contextlib.contextmanager
    def located_as(self, op: Operation) -> Generator[None]:
        """Ops that are made meanwhile stem from the same line as ``op``."""
        saved, known = self.location, op.attributes.get("loc")
        self.location = known.data if isinstance(known, StringAttr) else saved
        try:
            yield
        finally:
            self.location = saved

    def _once(self, key: Any, make: Callable[[], Operation]) -> Value:
        if key not in self._memo:
            self._memo[key] = self.emit(make())
        return self._memo[key]

    # -- constants ----------------------------------------------------------------------------------------------

    def constant(self, value: Scalar, element_type: ElementType, rank: int = 0) -> Value:
        """A one-element tensor of the rank, the value rounded to the element type."""
        value = round_scalar(value, element_type)
        bits = struct.pack("<d", value) if isinstance(value, float) else value
        type_ = TensorType(element_type, [1] * rank)
        made = self._once(("constant", bits, type_), lambda: forge.ConstantOp(value, type_))
        self._constants[made] = value
        return made

    def constant_value(self, value: Value) -> Scalar | None:
        """The number that every element of a value is, where that is known from how it was made."""
        return self._constants.get(self.peel(value))

    def full(self, value: Scalar, shape: Sequence[int], element_type: ElementType) -> Value:
        """A tensor filled with one number: a constant element, expanded."""
        return self.expand(self.constant(value, element_type, len(shape)), shape)

    def dense(self, array: Any, element_type: ElementType) -> Value:
        """A small literal tensor from a NumPy array."""
        type_ = TensorType(element_type, list(array.shape))
        return self.emit(forge.ConstantOp(array, type_))

    def iota(self, shape: Sequence[int], dim: int, element_type: ElementType) -> Value:
        """The index along ``dim``; the other dimensions of ``shape`` should be 1."""
        type_ = TensorType(element_type, list(shape))
        return self._once(("iota", type_, dim), lambda: forge.IotaOp(type_, dim))

    # -- structure ----------------------------------------------------------------------------------------------

    def peel(self, value: Value) -> Value:
        """The value below its broadcasts."""
        while isinstance(value.owner, forge.ExpandOp):
            value = value.owner.operands[0]
        return value

    def reshape(self, value: Value, shape: Sequence[int]) -> Value:
        """Split or merge dimensions; row-major order is kept."""
        new = tuple(shape)
        old = shape_of(value)
        if old == new:
            return value
        source = self.peel(value)
        if source is not value:
            slim = _reshaped_source(shape_of(source), old, new)
            if slim is not None:
                return self.expand(self.reshape(source, slim), new)
        if value in self._constants:
            return self.constant(self._constants[value], element_of(value), len(new))
        if isinstance(value.owner, forge.ReshapeOp):
            return self.reshape(value.owner.operands[0], new)
        if self._is_index(value) and _reshaped_source(old, old, new) is not None:
            return self._reshape_index(value, new)
        return self._once(("reshape", value, new), lambda: forge.ReshapeOp(value, list(new)))

    def _is_index(self, value: Value) -> bool:
        """Is the value computed from indices and numbers alone, as masks are?"""
        if value not in self._indices:
            owner = value.owner
            if isinstance(owner, forge.IotaOp) or value in self._constants:
                self._indices[value] = True
            else:
                pointwise = isinstance(owner, POINTWISE)
                self._indices[value] = pointwise and all(self._is_index(operand) for operand in owner.operands)
        return self._indices[value]

    def _reshape_index(self, value: Value, new: tuple[int, ...]) -> Value:
        """Adds or drops size-1 dimensions at the indices themselves: the mask stays one that can be read."""
        key = ("reshape", value, new)
        if key in self._memo:
            return self._memo[key]
        owner, old = value.owner, shape_of(value)
        if isinstance(owner, forge.IotaOp):
            axis = [dim for dim, size in enumerate(new) if size != 1]
            if len(axis) != 1 or shape_of(value)[owner.dim] == 1:
                return self._once(key, lambda: forge.ReshapeOp(value, list(new)))
            made = self.iota(new, axis[0], element_of(value))
        else:
            assert isinstance(owner, Operation)
            operands: list[Value] = []
            for operand in owner.operands:
                shape = _reshaped_source(shape_of(operand), old, new)
                assert shape is not None
                operands.append(self.reshape(operand, shape))
            made = self.again(owner, operands)
        self._memo[key] = made
        return made

    def again(self, op: Operation, operands: Sequence[Value]) -> Value:
        """The pointwise op on other operands, at its own source line."""
        with self.located_as(op):
            return self._remade(op, operands)

    def _remade(self, op: Operation, operands: Sequence[Value]) -> Value:
        if isinstance(op, forge.CompareOp):
            return self.compare(self._predicates[op.results[0]], operands[0], operands[1])
        if isinstance(op, forge.SelectOp):
            return self.select(*operands)
        if isinstance(op, forge.CastOp):
            return self.cast(operands[0], element_of(op.results[0]))
        make = cast("Callable[..., Operation]", type(op))
        return self.unary(make, operands[0]) if len(operands) == 1 else self.binary(make, operands[0], operands[1])

    def expand(self, value: Value, shape: Sequence[int]) -> Value:
        """Grow size-1 dimensions; missing leading dimensions are added first."""
        new = tuple(shape)
        source = self.align(self.peel(value), len(new))
        if shape_of(source) == new:
            return source
        return self._once(("expand", source, new), lambda: forge.ExpandOp(source, list(new)))

    def align(self, value: Value, rank: int) -> Value:
        """Leading size-1 dimensions up to the rank."""
        shape = shape_of(value)
        return self.reshape(value, (1,) * (rank - len(shape)) + shape)

    def transpose(self, value: Value, perm: Sequence[int]) -> Value:
        """Result dimension j is operand dimension ``perm[j]``."""
        order = list(perm)
        if order == sorted(order):
            return value
        shape = shape_of(value)
        source = self.peel(value)
        if source is not value:
            return self.expand(self.transpose(source, order), [shape[d] for d in order])
        if value in self._constants:
            return value
        owner = value.owner
        if isinstance(owner, forge.TransposeOp):
            inner = self._perms[value]
            return self.transpose(owner.operands[0], [inner[d] for d in order])
        made = self._once(("transpose", value, tuple(order)), lambda: forge.TransposeOp(value, order))
        self._perms[made] = order
        return made

    def slice(self, value: Value, dim: int, start: int, stop: int, step: int = 1) -> Value:
        """Elements start, start + step, … below stop along ``dim``."""
        shape = list(shape_of(value))
        if (start, stop, step) == (0, shape[dim], 1):
            return value
        source = self.peel(value)
        if source is not value:
            if shape_of(source)[dim] != shape[dim]:
                shape[dim] = len(range(start, stop, step))
                return self.expand(source, shape) if shape[dim] else self._slice(value, dim, start, stop, step)
            shape[dim] = len(range(start, stop, step))
            return self.expand(self._slice(source, dim, start, stop, step), shape)
        return self._slice(value, dim, start, stop, step)

    def _slice(self, value: Value, dim: int, start: int, stop: int, step: int) -> Value:
        key = ("slice", value, dim, start, stop, step)
        return self._once(key, lambda: forge.SliceOp(value, dim, start, stop, step))

    def squeeze_dims(self, value: Value, dims: Sequence[int]) -> Value:
        """Drop the named dimensions, which have size 1."""
        shape = shape_of(value)
        return self.reshape(value, [size for dim, size in enumerate(shape) if dim not in set(dims)])

    # -- pointwise ----------------------------------------------------------------------------------------------

    def unary(self, cls: Callable[[Value], Operation], value: Value) -> Value:
        """A pointwise op of one operand, below the operand's broadcast."""
        source = self.peel(value)
        return self.expand(self.emit(cls(source)), shape_of(value))

    def _broadcast(self, values: Sequence[Value]) -> tuple[list[Value], list[int]]:
        rank = max(rank_of(value) for value in values)
        aligned = [self.align(value, rank) for value in values]
        shape = [1] * rank
        for value in aligned:
            for dim, size in enumerate(shape_of(value)):
                if size != 1:
                    shape[dim] = size
        return [self.peel(value) for value in aligned], shape

    def binary(self, cls: Callable[[Value, Value], Operation], a: Operand, b: Operand) -> Value:
        """A pointwise op of two operands of one element type; a number takes the other operand's type."""
        left, right = self.same_type(a, b)
        values, shape = self._broadcast((left, right))
        return self.expand(self.emit(cls(values[0], values[1])), shape)

    def same_type(self, a: Operand, b: Operand) -> tuple[Value, Value]:
        """Both as tensors: a number becomes a constant of the other's element type."""
        if not isinstance(a, SSAValue):
            assert isinstance(b, SSAValue)
            return self.constant(a, element_of(b), rank_of(b)), b
        if not isinstance(b, SSAValue):
            return a, self.constant(b, element_of(a), rank_of(a))
        return a, b

    def add(self, a: Operand, b: Operand) -> Value:
        return self.binary(forge.AddOp, a, b)

    def sub(self, a: Operand, b: Operand) -> Value:
        return self.binary(forge.SubOp, a, b)

    def mul(self, a: Operand, b: Operand) -> Value:
        return self.binary(forge.MulOp, a, b)

    def div(self, a: Operand, b: Operand) -> Value:
        return self.binary(forge.DivOp, a, b)

    def maximum(self, a: Operand, b: Operand) -> Value:
        return self.binary(forge.MaxOp, a, b)

    def minimum(self, a: Operand, b: Operand) -> Value:
        return self.binary(forge.MinOp, a, b)

    def neg(self, a: Value) -> Value:
        return self.unary(forge.NegOp, a)

    def exp(self, a: Value) -> Value:
        return self.unary(forge.ExpOp, a)

    def log(self, a: Value) -> Value:
        return self.unary(forge.LogOp, a)

    def sqrt(self, a: Value) -> Value:
        return self.unary(forge.SqrtOp, a)

    def abs(self, a: Value) -> Value:
        return self.unary(forge.AbsOp, a)

    def logical_not(self, a: Value) -> Value:
        """Of i1; a comparison of integers turns into its opposite, which masks are easier to read from."""
        shape, source = shape_of(a), self.peel(a)
        if source in self._constants:
            return self.full(not self._constants[source], shape, i1)
        owner = source.owner
        if isinstance(owner, forge.NotOp):
            return self.expand(owner.operands[0], shape)
        if isinstance(owner, forge.CompareOp) and isinstance(element_of(owner.operands[0]), IntegerType):
            predicate = self._predicates[source]
            left, right = owner.operands
            return self.expand(self.compare(_INVERSE[predicate], left, right), shape)
        return self.unary(forge.NotOp, a)

    def compare(self, predicate: str, a: Operand, b: Operand) -> Value:
        """i1; a choice between two numbers compared with a number is decided now."""
        left, right = self.same_type(a, b)
        number = self.constant_value(right)
        if number is not None:
            folded = self._fold_choice(left, lambda x: _COMPARE[predicate](x, number), i1)
            if folded is not None:
                return self.expand(folded, self._broadcast((left, right))[1])
        values, shape = self._broadcast((left, right))
        made = self.emit(forge.CompareOp(predicate, values[0], values[1]))
        self._predicates[made] = predicate
        return self.expand(made, shape)

    def select(self, condition: Value, a: Operand, b: Operand) -> Value:
        """Elementwise choice of two operands of one element type."""
        if isinstance(self.peel(condition).owner, forge.NotOp):
            inner = cast(Operation, self.peel(condition).owner).operands[0]
            return self.select(self.expand(inner, shape_of(condition)), b, a)
        left, right = self.same_type(a, b)
        if self.constant_value(left) is not None and self.constant_value(right) is None:
            # The fill goes last where the mask has an exact opposite: one form for all masks of indices.
            test = self.peel(condition)
            if isinstance(test.owner, forge.CompareOp) and self._is_index(test):
                return self.select(self.logical_not(condition), right, left)
        _, shape = self._broadcast((condition, left, right))
        decided = self.constant_value(condition)
        if decided is not None:
            return self.expand(left if decided else right, shape)
        if is_bool(element_of(left)):
            yes, no = self.constant_value(left), self.constant_value(right)
            if yes is not None and no is not None:
                if yes == no:
                    return self.full(yes, shape, i1)
                return self.expand(condition if yes else self.logical_not(condition), shape)
        values, _ = self._broadcast((condition, left, right))
        return self.expand(self.emit(forge.SelectOp(*values)), shape)

    def cast(self, value: Value, element_type: ElementType) -> Value:
        """Change of element type; nothing where it is that already."""
        if element_of(value) == element_type:
            return value
        shape = shape_of(value)
        source = self.peel(value)
        if source in self._constants:
            return self.full(self._constants[source], shape, element_type)
        folded = self._fold_choice(source, lambda x: x, element_type)
        if folded is not None:
            return self.expand(folded, shape)
        return self.expand(self.emit(forge.CastOp(source, element_type)), shape)

    def _fold_choice(self, value: Value, change: Callable[[Scalar], Scalar], to: ElementType) -> Value | None:
        """``change`` of a select between two numbers is a select between the changed numbers."""
        source = self.peel(value)
        owner = source.owner
        if not isinstance(owner, forge.SelectOp):
            return None
        condition, left, right = owner.operands
        yes, no = self.constant_value(left), self.constant_value(right)
        if yes is None or no is None:
            return None
        rank = rank_of(source)
        choice = self.select(condition, self.constant(change(yes), to, rank), self.constant(change(no), to, rank))
        return self.expand(choice, shape_of(source))

    # -- composite operators in the precision of eager ----------------------------------------------------------

    def up(self, value: Value) -> Value:
        """Into the type that eager computes composite operators in (f32 for halves)."""
        return self.cast(value, compute_type(element_of(value)))

    def down(self, value: Value) -> Value:
        """Into the element type of the node's result."""
        return self.cast(value, self.out.element_type)

    def reduce(self, reducer: str, value: Value, dims: Sequence[int]) -> Value:
        """Reduce over several dimensions, each kept with size 1."""
        for dim in dims:
            value = self.emit(forge.ReduceOp(reducer, value, dim))
        return value

    def matmul(self, a: Value, b: Value, element_type: ElementType | None = None) -> Value:
        """Batched product; ranks are made equal, batch dimensions of size 1 broadcast and are never repeated."""
        rank = max(rank_of(a), rank_of(b))
        a, b = self.align(a, rank), self.align(b, rank)
        batch, rows, columns = self.batch_of(a, b), shape_of(a)[-2], shape_of(b)[-1]
        made = self.emit(forge.MatmulOp(self._slim_batch(a), self._slim_batch(b), element_type))
        return self.expand(made, (*batch, rows, columns))

    def batch_of(self, a: Value, b: Value) -> list[int]:
        """The batch dimensions of a product."""
        rank = max(rank_of(a), rank_of(b))
        pairs = zip(shape_of(self.align(a, rank))[:-2], shape_of(self.align(b, rank))[:-2], strict=True)
        return [0 if 0 in (m, n) else max(m, n) for m, n in pairs]

    def _slim_batch(self, value: Value) -> Value:
        """A broadcast of batch dimensions is the product's own; one of rows or columns is not."""
        source, shape = self.peel(value), shape_of(value)
        return value if source is value else self.expand(source, (*shape_of(source)[:-2], *shape[-2:]))


def _reshaped_source(source: tuple[int, ...], old: tuple[int, ...], new: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape of a broadcast's source after a reshape of the broadcast, where the broadcast can stay on top.

    That is so when the reshape only adds or drops size-1 dimensions, or when the source is a single element.
    """
    if math.prod(source) == 1:
        return (1,) * len(new)
    kept = [size for size, full in zip(source, old, strict=True) if full != 1]
    if [size for size in old if size != 1] != [size for size in new if size != 1]:
        return None
    sizes = iter(kept)
    return tuple(1 if full == 1 else next(sizes) for full in new)
