"""Derived reducers at scalars: what the loop of a rolling reduction computes for one row, in IEEE arithmetic.

This is the meaning that :mod:`equiforge.egraph.reducer_ops` writes out as ops, for a single row whose tiles are lists
of elements, each a list with a number for every input. Repairs are held to it on hostile values before they are used.
"""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections.abc import Iterator, Sequence

from equiforge.egraph.contributions import COMBINE, IDENTITY, Tree, value_of
from equiforge.egraph.graph import Consumer, Reducer

Element = Sequence[float]
States = list[float]
TOLERANCE = 1e-9
"""Of finite results, relative to the largest number that goes into them."""
_VALUES = (0.0, 0.5, -3.0, 7.0, 1e4, -1e4, 80.0, -90.0)
_HOSTILE = (-math.inf, math.inf, math.nan, 1e200, -1e200, 1e-200)
_LENGTH = 4


def start(reducer: Reducer) -> States:
    """The states before the first tile."""
    return [IDENTITY[reducer.producer], *(IDENTITY[c.reducer] for c in reducer.consumers)]


def harmless(reducer: str) -> float:
    """What stands in for a state at its identity: no infinity to subtract, no zero to divide by."""
    return 0.0 if math.isinf(IDENTITY[reducer]) else 1.0


def is_kept(consumer: Consumer, own: str) -> bool:
    """True if a repair reads a state of reducer ``own`` at its identity as it is: exp(-inf - x) is a factor of 0, which
    a sum of 0 keeps. A summand, a quotient, or that factor of a maximum of -inf would not be finite."""
    return consumer.mode == "mul" and consumer.reducer == "sum" and math.isinf(IDENTITY[own])


def _leaf(name: str, state: int) -> Tree:
    return (name, state) if state else (name,)


def _read(reducer: Reducer, consumer: Consumer, name: str, states: States) -> dict[Tree, float]:
    """States as a consumer reads them after a tile."""
    leaves: dict[Tree, float] = {}
    for k, value in enumerate(states):
        own = reducer.reducer_of_state(k)
        unseen = k in consumer.guarded and value == IDENTITY[own]
        leaves[_leaf(name, k)] = harmless(own) if unseen else value
    return leaves


def _repaired(reducer: Reducer, consumer: Consumer, held: float, old: States, new: States) -> float:
    leaves = _read(reducer, consumer, "new", new)
    for k, value in enumerate(old):
        own = reducer.reducer_of_state(k)
        if k in consumer.guarded and value == IDENTITY[own] and not is_kept(consumer, own):
            value = leaves.get(_leaf("new", k), value)
        leaves[_leaf("old", k)] = value
    leaves["held",] = held
    repair = value_of(consumer.repair, leaves)
    return held * repair if consumer.mode == "mul" else held + repair if consumer.mode == "add" else repair


def _part(reducer: Reducer, consumer: Consumer, states: States, tile: Sequence[Element]) -> float:
    read = _read(reducer, consumer, "state", states)
    total = IDENTITY[consumer.reducer]
    for element in tile:
        value = value_of(consumer.contribution, read | {("input", i): x for i, x in enumerate(element)})
        if consumer.kind == "tilematmul":
            value *= element[consumer.other]
        total = COMBINE[consumer.reducer](total, value)
    return total


def step(reducer: Reducer, states: States, tile: Sequence[Element]) -> States:
    """The states after one more tile."""
    first = states[0]
    for element in tile:
        first = COMBINE[reducer.producer](first, element[0])
    new = [first]
    for held, consumer in zip(states[1:], reducer.consumers, strict=True):
        repaired = _repaired(reducer, consumer, held, states, new)
        new.append(COMBINE[consumer.reducer](repaired, _part(reducer, consumer, new, tile)))
    return new


def merge(reducer: Reducer, *parts: States) -> States:
    """The states of several parts together."""
    new = [_joined(reducer.producer, [part[0] for part in parts])]
    for k, consumer in enumerate(reducer.consumers, 1):
        repaired = [_repaired(reducer, consumer, part[k], part, new) for part in parts]
        new.append(_joined(consumer.reducer, repaired))
    return new


def _joined(reducer: str, values: Sequence[float]) -> float:
    return functools.reduce(COMBINE[reducer], values)


def finish(reducer: Reducer, states: States) -> States:
    """The fields of the tuple."""
    fields = list(states)
    for k, consumer in enumerate(reducer.consumers, 1):
        if any(states[g] == IDENTITY[reducer.reducer_of_state(g)] for g in consumer.guarded):
            fields[k] = consumer.at_identity
    return [fields[k] for k in reducer.visible]


def unfused(
    reducer: Reducer, originals: Sequence[Tree], elements: Sequence[Element], extent: int = 0
) -> tuple[list[float], float]:
    """The fields as the program computes them, one reduction after the other, and the largest number on the way.

    ``originals`` are the contributions of the visible consumers as the program has them, with states numbered as the
    reducer numbers them. With ``extent``, they read the total of a sum over that many elements of the same mean.
    """
    states = start(reducer)
    for element in elements:
        states[0] = COMBINE[reducer.producer](states[0], element[0])
    largest = max((abs(x) for e in elements for x in e if math.isfinite(x)), default=0.0)
    fields = [states[0]]
    visible = iter(originals)
    for k, consumer in enumerate(reducer.consumers, 1):
        if consumer.hidden:
            continue
        original = next(visible)
        read: dict[Tree, float] = {_leaf("state", i): s for i, s in enumerate(states)}
        if extent:
            read["state",] = states[0] / len(elements) * extent
        total = IDENTITY[consumer.reducer]
        for element in elements:
            value = value_of(original, read | {("input", i): x for i, x in enumerate(element)})
            value *= element[consumer.other] if consumer.kind == "tilematmul" else 1.0
            largest = max(largest, abs(value)) if math.isfinite(value) else largest
            total = COMBINE[consumer.reducer](total, value)
        states[k] = total
        fields.append(total)
    return fields, max([largest, *(abs(s) for s in states if math.isfinite(s))])


def _same(found: float, expected: float, scale: float, finite: bool) -> bool:
    """NaN and infinities are the program's own; where it overflows on a ``finite`` row, so may the loop as it likes."""
    if not math.isfinite(expected):
        same = found == expected or (math.isnan(found) and math.isnan(expected))
        return same or (finite and not math.isfinite(found))
    return abs(found - expected) <= TOLERANCE * scale


def _rows(inputs: int, place: int) -> Iterator[list[list[float]]]:
    """Rows of elements: benign, with -inf, inf, NaN and huge values in each position of input ``place``, all equal, and
    without any element that counts."""
    chooser = random.Random(inputs)

    def element(own: float) -> list[float]:
        values = [chooser.choice((1.5, -2.0, 0.25, 0.0)) for _ in range(inputs - 1)]
        return [*values[:place], own, *values[place:]]

    for own in (*_VALUES[:4], -math.inf, math.inf, math.nan):
        yield [element(own) for _ in range(_LENGTH)]
    for row in itertools.islice(itertools.permutations(_VALUES, _LENGTH), 0, None, 67):
        yield [element(x) for x in row]
    yield [element(x) for x in (1.0, -1.0, 2.0, -2.0)]
    for bad, position in itertools.product(_HOSTILE, range(_LENGTH)):
        yield [element(bad if i == position else chooser.choice(_VALUES)) for i in range(_LENGTH)]
    for count in range(1, _LENGTH):
        yield [element(-math.inf if i < count else chooser.choice(_VALUES)) for i in range(_LENGTH)]
        yield [element(math.inf if i < count else chooser.choice(_VALUES)) for i in range(_LENGTH)]


def _reduced(reducer: Reducer) -> list[int]:
    """The inputs of which a value of the program is the sum or an extremum itself."""
    trees: list[Tree] = [c.contribution for c in reducer.consumers if c.kind == "reduce" and not c.hidden]
    return sorted({0, *(int(tree[1]) for tree in trees if tree[0] == "input")})


_SPLITS = ((1, 1, 1, 1), (2, 2), (1, 3), (4,))
_PARTS = (
    ((0, 1), (1, 4)),
    ((0, 2), (2, 4)),
    ((0, 0), (0, 4)),
    ((0, 4), (4, 4)),
    ((0, 1), (1, 3), (3, 4)),
    ((0, 1), (1, 2), (2, 3), (3, 4)),
)


@functools.lru_cache(maxsize=4096)
def counterexample(reducer: Reducer, originals: tuple[Tree, ...], inputs: int, extent: int = 0) -> str | None:
    """The first hostile row on which the loop, or a merge of parts, gives another result than the program; None
    if there is none. ``extent`` is as in :func:`unfused`."""
    for row in itertools.chain.from_iterable(_rows(inputs, place) for place in _reduced(reducer)):
        expected, scale = unfused(reducer, originals, row, extent)
        finite = all(math.isfinite(x) for element in row for x in element)
        for split in _SPLITS:
            states, position = start(reducer), 0
            for size in split:
                states, position = step(reducer, states, row[position : position + size]), position + size
            if not _agree(finish(reducer, states), expected, scale, finite):
                return f"the loop gives {finish(reducer, states)}, the program {expected}, at {row} in tiles {split}"
        for bounds in _PARTS:
            parts = [step(reducer, start(reducer), row[a:b]) if b > a else start(reducer) for a, b in bounds]
            for order in (parts, parts[::-1]):
                found = finish(reducer, merge(reducer, *order))
                if not _agree(found, expected, scale, finite):
                    return f"the merge gives {found}, the program {expected}, at {row} in parts {bounds}"
    return None


def _agree(found: Sequence[float], expected: Sequence[float], scale: float, finite: bool) -> bool:
    return all(_same(f, e, scale, finite) for f, e in zip(found, expected, strict=True))
