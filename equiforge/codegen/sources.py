"""What a tile is loaded from: the plain tensor behind a chain of views, as an address, an index or a number."""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.dialects.builtin import IntegerType, TupleType, i1
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from equiforge.codegen.errors import CodegenError
from equiforge.codegen.layout import Layout
from equiforge.dialects import forge, tile
from equiforge.dialects.tile_types import PartialAttr, PartitionAttr, element_type_of, shape_of, states_of


@dataclass(frozen=True)
class Memory:
    """An array in memory: a function argument, a stored value or a literal, read through ``layout``."""

    root: SSAValue
    layout: Layout


@dataclass(frozen=True)
class Index:
    """``offset + step * ((i // each) % period)`` where i is the index along ``dim``, without ``%`` where the period is
    0, then clamped to the bounds that are given; a dimension of None is the constant ``offset``."""

    dim: int | None
    offset: int
    step: int
    each: int = 1
    period: int = 0
    low: int | None = None
    high: int | None = None

    @property
    def is_affine(self) -> bool:
        return self.each == 1 and self.period == 0 and self.low is None and self.high is None


@dataclass(frozen=True)
class Fill:
    """The same number everywhere."""

    value: int | float


Source = Memory | Index | Fill


def strip_views(value: SSAValue) -> SSAValue:
    """The plain tensor under a chain of ``tile.partition`` and ``tile.replicate``, or the value itself."""
    while isinstance(value.owner, tile.PartitionOp | tile.ReplicateOp):
        value = value.owner.operand
    return value


def under_layouts(value: SSAValue) -> SSAValue:
    """What a chain of layout changes of a plain tensor begins at."""
    while isinstance(value.owner, forge.TransposeOp | forge.ReshapeOp | forge.ExpandOp | forge.SliceOp):
        value = value.owner.operand
    return value


def is_argument(value: SSAValue) -> bool:
    return isinstance(value, BlockArgument) and isinstance(value.block.parent_op(), FuncOp)


class Sources:
    """Resolves plain tensors; ``layouts`` are the layouts of arguments and stored values (default: row-major)."""

    def __init__(self, layouts: dict[SSAValue, Layout]):
        self.layouts = layouts
        self._known: dict[SSAValue, Source | None] = {}

    def root_layout(self, root: SSAValue) -> Layout:
        """The layout of an argument, a stored value or a literal."""
        return self.layouts.get(root) or Layout.dense(shape_of(root.type))

    def of(self, value: SSAValue) -> Source | None:
        """The source of a plain tensor; None for what is computed inside a kernel. Raises CodegenError for an
        unaddressable view."""
        if value not in self._known:
            self._known[value] = self._resolve(value)
        return self._known[value]

    def of_view(self, value: SSAValue) -> Source | None:
        """The source under a chain of views; None for a computed value, replicated or not."""
        plain = strip_views(value)
        if states_of(plain.type) or not hasattr(plain.type, "get_shape"):
            return None
        return self.of(plain)

    def _resolve(self, value: SSAValue) -> Source | None:
        owner = value.owner
        if is_argument(value) or isinstance(owner, tile.StoreOp | forge.OpaqueOp):
            return Memory(value, self.root_layout(value))
        match owner:
            case forge.ConstantOp():
                number = owner.splat
                return Memory(value, Layout.dense(shape_of(value.type))) if number is None else Fill(number)
            case forge.IotaOp():
                return Index(owner.dim if shape_of(value.type)[owner.dim] != 1 else None, 0, 1)
            case forge.IndexOp():
                return _positions(owner)
            case forge.TransposeOp() | forge.ReshapeOp() | forge.ExpandOp() | forge.SliceOp():
                inner = self.of(owner.operand)
                if inner is None or isinstance(inner, Fill):
                    return inner
                result = _structural(owner, inner)
                if result is None:
                    raise CodegenError(
                        f"{owner.name} of {owner.operand.type} to {value.type} has no strides: it needs a copy"
                    )
                return result
            case forge.CastOp():
                inner = self.of(owner.operand)
                return _cast(inner, element_of(value)) if isinstance(inner, Fill) else None
            case _:
                return None


def element_of(value: SSAValue) -> Attribute:
    return element_type_of(value.type)


def _cast(fill: Fill, element: Attribute) -> Fill | None:
    if isinstance(element, IntegerType):
        if element == i1:
            return Fill(int(fill.value != 0))
        return Fill(fill.value) if isinstance(fill.value, int) else None
    # Rounding to a narrower float is left to the kernel.
    return Fill(float(fill.value)) if str(element) in ("f32", "f64") else None


def _positions(op: forge.IndexOp) -> Index:
    """The positions without clamping where they stay inside the bounds by themselves."""
    start, step, each, period, low, high = op.places
    last = (shape_of(op.result.type)[op.dim] - 1) // each
    last = min(last, period - 1) if period else last
    ends = sorted((start, start + step * last))
    if ends[0] == ends[1] or ends[1] <= low or ends[0] >= high:
        return Index(None, min(max(ends[0], low), high), 1)
    clamps = low if ends[0] < low else None, high if ends[1] > high else None
    return Index(op.dim, start, step, each, period, *clamps)


def _structural(op: Operation, inner: Memory | Index) -> Source | None:
    if isinstance(inner, Memory):
        layout = _laid_out(op, inner.layout)
        return None if layout is None else Memory(inner.root, layout)
    if inner.dim is None:
        return inner
    match op:
        case forge.TransposeOp():
            return replace(inner, dim=op.perm.index(inner.dim))
        case forge.SliceOp():
            if op.dim != inner.dim:
                return inner
            if not inner.is_affine:
                return None
            length = shape_of(op.result.type)[op.dim]
            return Index(inner.dim if length != 1 else None, inner.offset + inner.step * op.start, inner.step * op.step)
        case forge.ReshapeOp():
            before, after = shape_of(op.operand.type), shape_of(op.result.type)
            kept = [d for d in range(len(before)) if before[d] != 1]
            new = [d for d in range(len(after)) if after[d] != 1]
            if [before[d] for d in kept] != [after[d] for d in new]:
                return None
            return replace(inner, dim=new[kept.index(inner.dim)])
        case _:
            return inner


def _laid_out(op: Operation, layout: Layout) -> Layout | None:
    match op:
        case forge.TransposeOp():
            return layout.transpose(op.perm)
        case forge.ReshapeOp():
            return layout.reshape(op.shape)
        case forge.ExpandOp():
            return layout.expand(op.shape)
        case forge.SliceOp():
            return layout.slice(op.dim, op.start, op.stop, op.step)
        case _:
            return None


def needed_axes(type_: Attribute) -> frozenset[str]:
    """The axes that a value of this type depends on; a tuple depends on what its fields do."""
    if isinstance(type_, TupleType):
        return frozenset(axis for field in type_.types for axis in needed_axes(field))
    return frozenset(s.axis_name for s in states_of(type_) if isinstance(s, PartitionAttr | PartialAttr))
