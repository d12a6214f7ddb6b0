"""Value numbers: two values with one number are equal whatever the arguments are.

The key of an op is what it computes: its name, the numbers of its operands, its attributes, its result types, and its
regions up to the names inside. Ops with equal keys get equal numbers.

    %a = forge.mul %x, %y : tensor<4xf32>            ("forge.mul", 0, 1, tensor<4xf32>)       2
    %b = forge.mul %y, %x : tensor<4xf32>            the same: the operands are sorted        2
    %c = forge.compare gt %a, %x : …                 ("forge.compare", "lt", 0, 2, …)         3
    %d = forge.compare lt %x, %b : …                 the same: the other way round            3

Attributes are equal when their bits are: xDSL compares floats by bits, literals are bytes. Of the discardable ones
only those in ``MEANINGFUL`` count.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.traits import Commutative

from equiforge.cse.effects import is_isolated
from equiforge.dialects import forge
from equiforge.dialects.op_table import SWAPPED

MEANINGFUL = frozenset({"through", "storage", "serial", "definition"})
"""Discardable attributes that say what an op computes: those of the e-graph's IR."""

Key = tuple[Any, ...]


@dataclass(frozen=True)
class Regions:
    """What the regions of an op compute: the number of a text without names, and the outer values that it uses."""

    text: int
    free: tuple[int, ...] = ()


@dataclass(frozen=True)
class Kind:
    """What all ops of a class share."""

    index: int
    commutative: bool
    compares: bool
    counted: frozenset[str]
    """Entries of ``attributes`` that matter: those of the op's definition, and the meaningful ones."""


class Numbering:
    """Numbers of values, and keys of ops in terms of them. Operands should be numbered before the ops that use them;
    one that isn't (a use before the definition, in a graph region) counts as unlike any other value."""

    def __init__(self) -> None:
        self._numbers: dict[SSAValue, int] = {}
        self._next = 0
        self._kinds: dict[type[Operation], Kind] = {}
        self._interned: dict[Any, int] = {}
        self._by_id: dict[int, tuple[Attribute, int]] = {}
        self._labels: dict[Any, int] = {}
        self._regions: dict[Operation, Regions] = {}

    # Numbers

    def of(self, value: SSAValue) -> int:
        """The number of a value, a new one where it has none."""
        known = self._numbers.get(value)
        return self.fresh(value) if known is None else known

    def fresh(self, value: SSAValue) -> int:
        """A number that no other value has."""
        number = self._numbers[value] = self._next
        self._next += 1
        return number

    def equate(self, op: Operation, other: Operation) -> None:
        """The results of ``op`` get the numbers of the results of ``other``."""
        for result, same in zip(op.results, other.results, strict=True):
            self._numbers[result] = self.of(same)

    def label(self, value: SSAValue, name: Any) -> None:
        """Values with one label have one number; for the arguments of several functions."""
        known = self._labels.get(name)
        if known is None:
            self._labels[name] = self.fresh(value)
        else:
            self._numbers[value] = known

    # Keys

    def key(self, op: Operation) -> Key:
        """What the op computes, in numbers of its operands; its regions must have been closed."""
        numbers = self._numbers
        operands: list[int] = []
        for operand in op.operands:
            known = numbers.get(operand)
            operands.append(self.fresh(operand) if known is None else known)
        return self.key_of(op, operands, self._regions[op] if op.regions else None)

    def key_of(self, op: Operation, operands: Sequence[int], regions: Regions | None) -> Key:
        """The key with given names for the operands and given regions."""
        kind = self.kind(op)
        attributes = self._attributes(op, kind)
        if len(operands) > 1:
            if kind.commutative:
                operands = sorted(operands)
            elif kind.compares:
                operands, attributes = _compare(op, operands)
        results = tuple([self.attribute(result.type) for result in op.results])
        if regions is None:
            return (kind.index, attributes, results, *operands)
        return (kind.index, attributes, results, regions, *operands)

    def sign(self, op: Operation) -> int:
        """A number for what an op without regions is, whatever values it takes: its class, attributes and types."""
        types = [self.attribute(value.type) for value in (*op.operands, *op.results)]
        kind = self.kind(op)
        return self.intern((kind.index, self._attributes(op, kind), *types))

    def form(self, ops: Iterable[Operation], inputs: Iterable[SSAValue], outputs: Iterable[SSAValue]) -> int:
        """A number for ``outputs`` as a function of ``inputs`` by ops without regions in this order: functions of one
        form differ in names and source lines alone."""
        places = {value: place for place, value in enumerate(inputs)}
        lines: list[Any] = []
        for op in ops:
            lines.append((self.sign(op), *[places[value] for value in op.operands]))
            places.update((result, place) for place, result in enumerate(op.results, len(places)))
        return self.intern((*lines, *[places[value] for value in outputs]))

    def _attributes(self, op: Operation, kind: Kind) -> Any:
        found = [(name, self.attribute(value)) for name, value in op.properties.items()]
        if op.attributes:
            found += [(name, self.attribute(value)) for name, value in op.attributes.items() if name in kind.counted]
        if len(found) > 1:
            found.sort()
        return tuple(found)

    def attribute(self, attribute: Attribute) -> int:
        """A number for an attribute, one for all equal ones: hashing a type takes longer than all else here."""
        known = self._by_id.get(id(attribute))
        if known is None:
            # The attribute is kept, so that its id stays its own.
            known = self._by_id[id(attribute)] = (attribute, self.intern(attribute))
        return known[1]

    def intern(self, thing: Any) -> int:
        """A number for anything that can be hashed."""
        return self._interned.setdefault(thing, len(self._interned))

    def kind(self, op: Operation) -> Kind:
        """What is known of the op's class."""
        kind = type(op)
        known = self._kinds.get(kind)
        if known is None:
            inherent = kind.get_irdl_definition().attributes if issubclass(kind, IRDLOperation) else ()
            commutative = kind.get_trait(Commutative) is not None
            compares = issubclass(kind, forge.CompareOp)
            known = Kind(len(self._kinds), commutative, compares, MEANINGFUL.union(inherent))
            self._kinds[kind] = known
        return known

    # Regions

    def close(self, op: Operation, erased: Collection[Operation]) -> None:
        """Write down the regions of an op, for its key, when all inside is numbered. ``erased`` ops don't count.

        Values that are defined inside are named by their place, those from outside by the order in which they first
        occur. That costs as much as there are ops directly inside and outer values of these, however deep they nest.
        """
        if is_isolated(op):
            self._regions[op] = Regions(self.intern(object()))  # like no other
        else:
            self._regions[op] = _Text(self).of(op, erased)

    def regions(self, op: Operation) -> Regions | None:
        """What ``close`` has found, ``None`` for an op without regions."""
        return self._regions.get(op)


class _Text:
    """The regions of one op, with places for names."""

    def __init__(self, numbering: Numbering):
        self.numbering = numbering
        self.places: dict[int, int] = {}
        """Number to place among the values that are defined inside."""
        self.free: dict[int, int] = {}
        """Number to place among the values from outside."""
        self.blocks: dict[Block, int] = {}

    def of(self, op: Operation, erased: Collection[Operation]) -> Regions:
        for region in op.regions:
            self.blocks.update((block, place) for place, block in enumerate(region.blocks, len(self.blocks)))
        lines: list[Any] = []
        for region in op.regions:
            lines.append(len(region.blocks))
            for block in region.blocks:
                lines.append(tuple([self._define(argument) for argument in block.args]))
                lines.extend([self._line(inner) for inner in block.ops if inner not in erased])
        return Regions(self.numbering.intern(tuple(lines)), tuple(self.free))

    def _line(self, op: Operation) -> Key:
        numbers = [self.numbering.of(operand) for operand in op.operands]
        kind = self.numbering.kind(op)
        if kind.commutative or kind.compares:
            # Outer values that occur here first are counted in the same order, whichever way round they stand.
            for number in sorted(numbers):
                self._refer(number)
        operands = [self._refer(number) for number in numbers]
        regions = self.numbering.regions(op) if op.regions else None
        if regions is not None:
            regions = Regions(regions.text, tuple([self._refer(number) for number in regions.free]))
        line = self.numbering.key_of(op, operands, regions)
        if op.successors:
            line = (*line, "to", *[self.blocks.get(successor, -1) for successor in op.successors])
        for result in op.results:
            self._define(result)
        return line

    def _define(self, value: SSAValue) -> int:
        self.places.setdefault(self.numbering.of(value), len(self.places))
        return self.numbering.attribute(value.type)

    def _refer(self, number: int) -> int:
        """Not negative for a value from inside, negative for one from outside."""
        place = self.places.get(number)
        return -1 - self.free.setdefault(number, len(self.free)) if place is None else place


def _compare(op: Operation, operands: Sequence[int]) -> tuple[Sequence[int], str]:
    """``a < b`` is ``b > a``: the lesser operand first, and of equal operands the first predicate by name."""
    assert isinstance(op, forge.CompareOp)
    predicate, swapped = op.predicate, SWAPPED[op.predicate]
    if operands[0] > operands[1]:
        return (operands[1], operands[0]), swapped
    return operands, min(predicate, swapped) if operands[0] == operands[1] else predicate
