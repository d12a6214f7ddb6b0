"""Which elements of a loop's dimension can matter: affine bounds from masks of index comparisons.

A loop over ``@k0`` whose reduction takes the maximum of ``select(mask, s, -inf)`` need not visit a tile in which the
mask holds nowhere. The mask is read as and/or/not of comparisons of indices and constants; each comparison bounds the
key index by the first or last element of another axis's tile. What is not understood bounds nothing. The mask itself
stays in the loop, for tiles that are partly live.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import inf

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import SSAValue

from equiforge.codegen.grid import cutting_axis
from equiforge.codegen.sources import Fill, Index, Sources
from equiforge.dialects import forge, tile
from equiforge.dialects.kernel import BoundAttr, RangeAttr
from equiforge.dialects.tile_types import element_type_of, shape_of

_NEGATED = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt"}
#: More ranges than this are one range without bounds: the loop's text would outgrow what is saved.
_MOST_RANGES = 4

Bound = tuple[str | None, int]


@dataclass(frozen=True)
class Range:
    """Elements i with first(axis) + c ≤ i for every lower bound and i ≤ last(axis) + c for every upper one."""

    lower: frozenset[Bound] = frozenset()
    upper: frozenset[Bound] = frozenset()

    @property
    def is_everything(self) -> bool:
        return not self.lower and not self.upper

    def attribute(self) -> RangeAttr:
        def sort(bounds: frozenset[Bound]) -> list[BoundAttr]:
            return [BoundAttr.of(axis, shift) for axis, shift in sorted(bounds, key=lambda b: (b[0] or "", b[1]))]

        return RangeAttr.of(sort(self.lower), sort(self.upper))


EVERYTHING = (Range(),)


@dataclass(frozen=True)
class _Linear:
    """``sum(factor * index) + constant``; an index is that of an axis's dimension, or of a whole dimension of so many
    elements."""

    terms: tuple[tuple[str | int, int], ...]
    constant: int

    def plus(self, other: _Linear, sign: int) -> _Linear:
        factors: dict[str | int, int] = dict(self.terms)
        for name, factor in other.terms:
            factors[name] = factors.get(name, 0) + sign * factor
        return _Linear(tuple((n, f) for n, f in factors.items() if f), self.constant + sign * other.constant)

    def times(self, factor: int) -> _Linear:
        return _Linear(tuple((n, f * factor) for n, f in self.terms if factor), self.constant * factor)


class MaskReader:
    """Reads masks for a loop over one axis."""

    def __init__(self, axis: str, sources: Sources, outer: Mapping[str, str]):
        """``outer`` maps an inner axis to the axis that it is within."""
        self.axis = axis
        self.sources = sources
        self.outer = outer

    def live(self, value: SSAValue) -> Sequence[Range]:
        """Where ``value`` can be other than -inf."""
        owner = value.owner
        match owner:
            case forge.SelectOp():
                if self._is_minus_infinity(owner.on_false):
                    return _both(self.holds(owner.condition, True), self.live(owner.on_true))
                if self._is_minus_infinity(owner.on_true):
                    return _both(self.holds(owner.condition, False), self.live(owner.on_false))
                return _either(
                    _both(self.holds(owner.condition, True), self.live(owner.on_true)),
                    _both(self.holds(owner.condition, False), self.live(owner.on_false)),
                )
            case forge.AddOp():
                return _both(self.live(owner.lhs), self.live(owner.rhs))
            case forge.SubOp():
                return self.live(owner.lhs)
            case forge.MulOp():
                for factor, other in ((owner.lhs, owner.rhs), (owner.rhs, owner.lhs)):
                    source = self.sources.of_view(factor)
                    if isinstance(source, Fill) and 0 < source.value < inf:
                        return self.live(other)
                return EVERYTHING
            case forge.CastOp() | tile.ReplicateOp():
                return self.live(owner.operand)
            case forge.MaxOp():
                return _either(self.live(owner.lhs), self.live(owner.rhs))
            case _:
                if self._is_minus_infinity(value):
                    return ()
                return EVERYTHING

    def holds(self, mask: SSAValue, positive: bool) -> Sequence[Range]:
        """Where the mask can be true (or false, if not ``positive``)."""
        owner = mask.owner
        match owner:
            case tile.ReplicateOp() | tile.PartitionOp() if self.sources.of_view(mask) is None:
                return self.holds(owner.operand, positive)
            case forge.NotOp():
                return self.holds(owner.operand, not positive)
            case forge.AndOp() | forge.OrOp():
                parts = self.holds(owner.lhs, positive), self.holds(owner.rhs, positive)
                return _both(*parts) if isinstance(owner, forge.AndOp) == positive else _either(*parts)
            case forge.CompareOp():
                return self._compared(owner, positive)
            case _:
                source = self.sources.of_view(mask)
                if isinstance(source, Fill):
                    return EVERYTHING if bool(source.value) == positive else ()
                return EVERYTHING

    def _compared(self, op: forge.CompareOp, positive: bool) -> Sequence[Range]:
        left, right = self._linear(op.lhs), self._linear(op.rhs)
        if left is None or right is None:
            return EVERYTHING
        predicate = op.predicate if positive else _NEGATED.get(op.predicate, "none")
        difference = left.plus(right, -1)
        match predicate:
            case "le":
                return self._not_positive(difference)
            case "lt":
                return self._not_positive(_Linear(difference.terms, difference.constant + 1))
            case "ge":
                return self._not_positive(difference.times(-1))
            case "gt":
                return self._not_positive(_Linear(difference.times(-1).terms, 1 - difference.constant))
            case "eq":
                return _both(self._not_positive(difference), self._not_positive(difference.times(-1)))
            case _:
                return EVERYTHING

    def _not_positive(self, form: _Linear) -> Sequence[Range]:
        """Where ``form <= 0`` for some index of the other dimensions."""
        factors = dict(form.terms)
        own = factors.pop(self.axis, 0)
        constant = form.constant
        other: tuple[str, int] | None = None
        for name, factor in factors.items():
            if isinstance(name, int):
                constant += min(0, factor * (name - 1))
            elif other is None:
                other = name, factor
            else:
                return EVERYTHING
        if own == 0:
            return () if other is None and constant > 0 else EVERYTHING
        if abs(own) != 1 or (other is not None and other[1] not in (-own, 0)):
            return EVERYTHING
        axis = other[0] if other is not None else None
        if own == 1:
            return (Range(upper=frozenset([(axis, -constant)])),)
        return (Range(lower=frozenset([(axis, constant)])),)

    def _linear(self, value: SSAValue) -> _Linear | None:
        if not isinstance(element_type_of(value.type), IntegerType):
            return None
        source = self.sources.of_view(value)
        if isinstance(source, Fill):
            return _Linear((), int(source.value))
        if isinstance(source, Index):
            if source.dim is None:
                return _Linear((), source.offset)
            if not source.is_affine:
                return None
            name: str | int = cutting_axis(value.type, source.dim, self.outer) or shape_of(value.type)[source.dim]
            return _Linear(((name, source.step),), source.offset)
        owner = value.owner
        match owner:
            case forge.AddOp() | forge.SubOp():
                left, right = self._linear(owner.lhs), self._linear(owner.rhs)
                if left is None or right is None:
                    return None
                return left.plus(right, 1 if isinstance(owner, forge.AddOp) else -1)
            case forge.MulOp():
                left, right = self._linear(owner.lhs), self._linear(owner.rhs)
                if left is None or right is None or (left.terms and right.terms):
                    return None
                return left.times(right.constant) if left.terms else right.times(left.constant)
            case forge.NegOp():
                inner = self._linear(owner.operand)
                return None if inner is None else inner.times(-1)
            case forge.CastOp() | tile.ReplicateOp():
                return self._linear(owner.operand)
            case _:
                return None

    def _is_minus_infinity(self, value: SSAValue) -> bool:
        source = self.sources.of_view(value)
        if isinstance(source, Fill):
            return source.value == -inf
        return isinstance(value.owner, forge.CastOp | tile.ReplicateOp) and self._is_minus_infinity(value.owner.operand)


def _both(a: Sequence[Range], b: Sequence[Range]) -> Sequence[Range]:
    return _limited([Range(x.lower | y.lower, x.upper | y.upper) for x, y in product(a, b)])


def _either(a: Sequence[Range], b: Sequence[Range]) -> Sequence[Range]:
    return _limited([*a, *b])


def _limited(ranges: Sequence[Range]) -> Sequence[Range]:
    unique = tuple(dict.fromkeys(ranges))
    if any(r.is_everything for r in unique) or len(unique) > _MOST_RANGES:
        return EVERYTHING
    return unique


def union(ranges: Sequence[Sequence[Range]]) -> Sequence[Range]:
    """Where any of several reductions of one loop needs its tiles."""
    result: Sequence[Range] = ()
    for each in ranges:
        result = _either(result, each)
    return result
