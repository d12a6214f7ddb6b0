"""Dimension groups: which dimensions of a program are one and the same loop.

Two dimensions are in one *group* when an op aligns them: the operands of a pointwise op, the contraction pair of a
product, the kept dimensions of a reduction, the images of a view. Every tensor dimension of extent other than 1 is in
exactly one group; dimensions of size 1 broadcast and are in none (-1). Groups give the e-graph its axes (one a group)
and the check at reduced extents its unknowns.

Ops that join, cut or reindex a dimension start a new group for their result and leave a :class:`Relation` behind,
from which ``equiforge.verify.shrink`` derives consistent smaller extents.

>>> groups = DimGroups(function)                     # doctest: +SKIP
>>> groups.group(matmul.results[0], 0) == groups.group(matmul.operands[0], 0)
True
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from xdsl.dialects.builtin import ShapedType, TupleType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

RelationKind = Literal["product", "sum", "slice", "tiles"]
Role = Literal["reduce", "batch", "m", "n", "k"]


@dataclass(frozen=True)
class Relation:
    """How the extent of a group follows from others.

    ``product``: ``extent(whole) = prod(extent(parts))``, a reshape. ``sum``: ``extent(whole) = offset +
    sum(extent(parts))``, a concatenation or a padding. ``slice``: ``parts[0]`` is the elements ``start:stop:step`` of
    ``whole``; ``parts`` is empty where the slice has one element. ``tiles``: ``parts[0]`` counts the tiles into which
    ``whole`` is cut, ``ceil(extent(whole) / tile size)``.
    """

    kind: RelationKind
    whole: int
    parts: tuple[int, ...]
    offset: int = 0
    start: int = 0
    stop: int = 0
    step: int = 1


def field_shapes(type_: Attribute) -> list[tuple[int, ...]]:
    """Returns the shape of a tensor or view, or the shapes of the fields of a (flat) tuple; none for other types."""
    if isinstance(type_, TupleType):
        return [shape for field in type_.types for shape in field_shapes(field)]
    return [tuple(type_.get_shape())] if isinstance(type_, ShapedType) else []


class DimGroups:
    """The dimension groups of a function, or of several functions with the same signature.

    ``func`` may be a function of the forge or of the tile dialect. Functions in ``linked`` are analysed together with
    it: argument ``i`` of each is the same tensor. Groups are numbered from 0 in the order in which their first
    dimension appears.
    """

    def __init__(self, func: FuncOp, *linked: FuncOp):
        from equiforge.analysis.dim_rules import align_function

        self._parent: list[int] = []
        self._extent_of: list[int] = []
        self._nodes: dict[SSAValue, list[list[int]]] = {}
        self._raw_pins: list[tuple[int, str]] = []
        self._raw_fixed: list[int] = []
        self._raw_roles: list[tuple[int, Role]] = []
        self._raw_relations: list[Relation] = []
        self._raw_axes: list[tuple[Operation, str, int]] = []
        for function in (func, *linked):
            align_function(self, function)
        for function in linked:
            for mine, other in zip(func.body.block.args, function.body.block.args, strict=True):
                self.align_values(mine, other)
        self._finish()

    # Queries

    def group(self, value: SSAValue, dim: int, field: int = 0) -> int:
        """Returns the group of dimension ``dim`` (negative counts from the end) of a value or of a field of a tuple;
        -1 for size 1.
        """
        node = self._nodes[value][field][dim]
        return -1 if node < 0 else self._number[self._find(node)]

    def dims(self, value: SSAValue, field: int = 0) -> tuple[int, ...]:
        """Returns the groups of all dimensions of a value, -1 where the size is 1."""
        return tuple(self.group(value, dim, field) for dim in range(len(self._nodes[value][field])))

    def knows(self, value: SSAValue) -> bool:
        """True for a value of the analysed functions that has dimensions."""
        return value in self._nodes

    def __len__(self) -> int:
        return len(self._extents)

    def extent(self, group: int) -> int:
        """Returns the extent of the group in elements; -1 where it is not static (the leading dimension of a
        ``tile.collect``).
        """
        return self._extents[group]

    def pinned(self, group: int) -> str | None:
        """Returns why the extent of the group is tied to others by more than alignment (``"reshape …"``, ``"slice
        …"``, …), or None.
        """
        return self._pins.get(group)

    def fixed(self, group: int) -> bool:
        """True where no relation describes the tie: a dense constant, a gathered dimension, a reshape of several
        dimensions into several.
        """
        return group in self._fixed

    def reduced(self, group: int) -> bool:
        """True if a reduction or a contraction goes over the group somewhere."""
        return bool(self._roles.get(group, frozenset()) & {"reduce", "k"})

    def roles(self, group: int) -> frozenset[Role]:
        """Returns as what the group stands in products and reductions; empty for a group that meets pointwise ops
        only.
        """
        return self._roles.get(group, frozenset())

    def multiplicity(self, group: int) -> int:
        """Returns the largest number of dimensions that one tensor has in the group: 2 for a self-attention score's
        sequence.
        """
        return self._multiplicity[group]

    @property
    def relations(self) -> tuple[Relation, ...]:
        """The relations between groups, without repetition."""
        return self._relations

    def axis_groups(self, module: Operation) -> dict[str, int]:
        """Returns the group that each ``tile.axis`` of a module cuts, by the axis's name."""
        found: dict[str, int] = {}
        for owner, name, node in self._raw_axes:
            if owner is module and node >= 0:
                found[name] = self._number[self._find(node)]
        return found

    # Building: used by dim_rules

    def nodes(self, value: SSAValue, field: int = 0) -> list[int]:
        """Returns the union-find nodes of a value's dimensions, new ones at the first request; -1 for size 1."""
        if value not in self._nodes:
            self._nodes[value] = [[self._new_node(extent) for extent in shape] for shape in field_shapes(value.type)]
        return self._nodes[value][field]

    def align(self, a: int, b: int) -> None:
        """Puts two dimensions into one group; a size-1 dimension aligns with anything."""
        if a < 0 or b < 0:
            return
        a, b = self._find(a), self._find(b)
        if a == b:
            return
        if self._extent_of[a] != self._extent_of[b]:
            raise ValueError(f"dimensions of extents {self._extent_of[a]} and {self._extent_of[b]} can't be aligned")
        self._parent[max(a, b)] = min(a, b)

    def align_dims(self, a: list[int], b: list[int]) -> None:
        """Aligns two lists of dimensions one to one."""
        for x, y in zip(a, b, strict=True):
            self.align(x, y)

    def align_values(self, a: SSAValue, b: SSAValue) -> None:
        """Aligns two values of the same type, tuples field by field."""
        for field in range(len(field_shapes(a.type))):
            self.align_dims(self.nodes(a, field), self.nodes(b, field))

    def pin(self, node: int, reason: str, fixed: bool = False) -> None:
        """Notes why a dimension's extent is tied; ``fixed`` if no relation says how."""
        if node >= 0:
            self._raw_pins.append((node, reason))
            if fixed:
                self._raw_fixed.append(node)

    def note_role(self, node: int, role: Role) -> None:
        """Notes that a product or reduction uses the dimension as ``role``."""
        if node >= 0:
            self._raw_roles.append((node, role))

    def relate(self, relation: Relation) -> None:
        """Adds a relation, given over nodes."""
        self._raw_relations.append(relation)

    def note_axis(self, module: Operation, name: str, node: int) -> None:
        """Notes that the axis ``name`` of ``module`` cuts the dimension."""
        self._raw_axes.append((module, name, node))

    def axis_node(self, module: Operation, name: str) -> int:
        """Returns a dimension that the axis is known to cut so far, -1 if there is none."""
        return next((node for owner, axis, node in self._raw_axes if owner is module and axis == name), -1)

    def _new_node(self, extent: int) -> int:
        if extent == 1:
            return -1
        self._parent.append(len(self._parent))
        self._extent_of.append(max(extent, -1))
        return len(self._parent) - 1

    def _find(self, node: int) -> int:
        while self._parent[node] != node:
            self._parent[node] = self._parent[self._parent[node]]
            node = self._parent[node]
        return node

    def _finish(self) -> None:
        """Numbers the groups and carries everything that was noted over to them."""
        self._number: dict[int, int] = {}
        self._extents: list[int] = []
        for node in range(len(self._parent)):
            root = self._find(node)
            if root not in self._number:
                self._number[root] = len(self._number)
                self._extents.append(self._extent_of[root])

        def number(node: int) -> int:
            return self._number[self._find(node)]

        self._pins: dict[int, str] = {}
        for node, reason in self._raw_pins:
            self._pins.setdefault(number(node), reason)
        self._fixed = {number(node) for node in self._raw_fixed}
        self._roles: dict[int, frozenset[Role]] = {}
        for node, role in self._raw_roles:
            roles: set[Role] = {role, *self._roles.get(number(node), ())}
            self._roles[number(node)] = frozenset(roles)
        seen: dict[Relation, None] = {}
        for r in self._raw_relations:
            parts = tuple(number(part) for part in r.parts)
            seen[Relation(r.kind, number(r.whole), parts, r.offset, r.start, r.stop, r.step)] = None
        self._relations = tuple(seen)
        self._multiplicity = [0] * len(self._extents)
        for fields in self._nodes.values():
            for nodes in fields:
                for group, count in Counter(number(node) for node in nodes if node >= 0).items():
                    self._multiplicity[group] = max(self._multiplicity[group], count)
