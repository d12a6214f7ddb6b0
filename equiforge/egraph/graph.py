"""The e-graph in memory: classes of e-nodes in a compact form that the search reads.

An e-node is an operator, its attributes and the ids of its child classes. The operators and the attributes they carry:

=============  ====================================  ==============================================
operator       attrs                                 children
=============  ====================================  ==============================================
``input``      ``(index,)``                          none; a function argument
``const``      ``(key,)``                            none; ``EGraph.constants[key]`` holds the value
``iota``       ``(dim,)``                            none; shape is the class's shape
``index``      ``(*type, dim, *places)``             none; positions as of ``forge.index``; type: shape, groups
``unary``      ``(name,)``                           x; names as in ``dialects/op_table.py``
``binary``     ``(name,)``                           a, b; comparisons are ``cmp.lt`` and so on
``select``     ``()``                                condition, a, b
``cast``       ``(element,)``                        x; only casts that change the value (``f32`` from ``i1`` …)
``matmul``     ``()``                                a, b; tensor level: never part of an executable program
``tilematmul`` ``()``                                a, b
``reduce``     ``(reducer, dim)``                    x; over a dimension, inside each tile
``preduce``    ``(reducer, axis)``                   x; over a parallel axis: a loop in a kernel
``rolling``    ``(reducer_id, axis)``                inputs…; a tuple; ``EGraph.reducers[reducer_id]``
``get``        ``(index,)``                          tuple
``tuple``      ``()``                                fields…; stored arrays that one kernel writes
``transpose``  ``perm``                              x
``reshape``    ``shape``                             x
``expand``     ``shape``                             x
``slice``      ``(dim, start, stop, step)``          x
``concat``     ``(dim,)``                            a, b
``gather``     ``(dim,)``                            x, index
``view``       ``(dim, axis)``                       x; partition of ``dim``, or replicate for ``dim == -1``
``combine``    ``(dim, axis)``                       x
``collect``    ``(axis,)``                           x
=============  ====================================  ==============================================

Axes are numbered in the order of the names of their groups, an outer axis before the one within it, so "sorted by
axis" is the same order everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

PARTIAL = -2
REPLICATE = -1
INDEX_ELEMENT = "i32"
"""Element type of ``index`` classes."""


class ENode(NamedTuple):
    """One e-node: ``op`` with its attributes over child class ids."""

    op: str
    attrs: tuple[str | int, ...]
    children: tuple[int, ...]


class Axis(NamedTuple):
    """A parallel axis: it cuts a dimension of ``extent`` elements of the dimension group ``group``.

    ``within`` is the number of the *outer* axis whose slices this one cuts again, -1 for none. Outer axes are for
    partial results that go to memory: blocks don't loop over them.
    """

    name: str
    extent: int
    group: int
    within: int = -1


@dataclass(frozen=True)
class ClassType:
    """Type of every e-node of a class.

    ``shape`` is the logical shape; ``state`` maps an axis number to the dimension it partitions, to ``REPLICATE`` or to
    ``PARTIAL``; ``groups`` gives the dimension group of each dimension (-1 for size 1); ``element`` is the element
    type at which the
    class is computed (``f32`` for every float in programs without f64, else ``i1``, ``i32``, ``i64`` …);
    ``wide`` and ``narrow`` are the widest and narrowest storage type that the original program gives to this value
    (``None`` if the
    value does not occur there): a stored value is written as ``wide``, a matrix-product operand may be narrowed to
    ``narrow``.
    """

    shape: tuple[int, ...]
    state: tuple[tuple[int, int], ...]
    groups: tuple[int, ...]
    element: str
    wide: str | None = None
    narrow: str | None = None


@dataclass(frozen=True)
class Reducer:
    """A derived reducer: the loop body of a rolling reduction, elementwise in the tile.

    State 0 is the producer (``producer`` of its input 0 reduced over tile dimension ``dim``), state k is that of
    ``consumers[k - 1]``. The states that are not hidden are the fields of the tuple, in order.
    """

    name: str
    producer: str
    dim: int
    consumers: tuple[Consumer, ...]
    certificate: str

    @property
    def visible(self) -> tuple[int, ...]:
        """The states that are fields of the tuple."""
        return (0, *(k for k, consumer in enumerate(self.consumers, 1) if not consumer.hidden))

    def reducer_of_state(self, state: int) -> str:
        """The built-in reducer by which a state accumulates."""
        return self.consumers[state - 1].reducer if state else self.producer


@dataclass(frozen=True)
class Consumer:
    """One consumer of a rolling reduction; its trees are those of :mod:`equiforge.egraph.contributions`.

    ``kind`` is ``reduce`` (``reducer`` over ``dim`` of the contribution), or ``tilematmul`` with the contribution as
    operand ``operand`` (0 or 1) and input ``other`` as the other operand. ``contribution`` reads inputs, and the
    states before this one as they are after the tile.

    ``repair`` brings what is held from the old states to the new ones: a factor (``mode`` mul), a summand (add), or
    the repaired value itself, which reads ``("held",)`` (map).

    ``guarded`` are the states for which a harmless number stands in while they are at their identity: what the
    consumer holds until then is its own identity, and ``at_identity`` is what the unfused program computes for a row
    where one of them stays there (NaN for softmax). Other states are read as they are.

    A ``hidden`` consumer is no value of the program: a count or a moment that the repair of another one reads. The
    state of a ``spread`` one has the shape of the producer's, also where its contribution is the same for all rows.
    """

    kind: str
    reducer: str
    dim: int
    operand: int
    other: int
    contribution: tuple[object, ...]
    repair: tuple[object, ...]
    mode: str
    at_identity: float
    guarded: tuple[int, ...] = (0,)
    hidden: bool = False
    spread: bool = False

    def __post_init__(self) -> None:
        """The one NaN that equals itself, so that equal consumers compare equal."""
        if math.isnan(self.at_identity):
            object.__setattr__(self, "at_identity", math.nan)


@dataclass
class EGraph:
    """A saturated (or limited) e-graph: the input of extraction.

    ``nodes[c]`` are the e-nodes of class ``c``, ``types[c]`` its type, ``roots`` the classes of the function results
    in order.
    ``inputs`` are ``(name, shape, storage element)`` of the arguments; ``constants[key]`` is ``(element, shape,
    values)`` where ``values`` is a
    flat tuple (one entry for a splat). ``inner`` are values of the program that only one pointwise op uses, for as
    large a result: storing that result is never worse than storing them.
    """

    nodes: dict[int, list[ENode]]
    types: dict[int, ClassType]
    roots: list[int]
    axes: list[Axis]
    inputs: list[tuple[str, tuple[int, ...], str]]
    constants: dict[str, tuple[str, tuple[int, ...], tuple[float | int, ...]]] = field(default_factory=lambda: {})
    reducers: dict[str, Reducer] = field(default_factory=lambda: {})
    root_elements: list[str] = field(default_factory=lambda: [])
    numerics: str = "real"
    locations: dict[int, str] = field(default_factory=lambda: {})
    names: dict[int, str] = field(default_factory=lambda: {})
    inner: set[int] = field(default_factory=lambda: set())

    def __iter__(self) -> Iterator[tuple[int, list[ENode]]]:
        return iter(self.nodes.items())

    @property
    def outer_axes(self) -> frozenset[int]:
        """Axes that others are within."""
        return frozenset(axis.within for axis in self.axes if axis.within >= 0)

    @property
    def num_nodes(self) -> int:
        return sum(len(v) for v in self.nodes.values())

    def state(self, class_id: int) -> dict[int, int]:
        """State of a class as a dictionary from axis number to dimension, REPLICATE or PARTIAL."""
        return dict(self.types[class_id].state)
