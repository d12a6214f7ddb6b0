"""Smaller extents of the same form: what each dimension group becomes when a program is checked at reduced size.

Every group that no relation determines gets an extent of its own: two tiles and a ragged rest for what is tiled, a
small number for what is only a batch. The extents of different groups differ and have no common divisor where
possible, so that mixed-up dimensions are noticed. Groups that are products (reshape) or sums (concat, slices,
padding) of others, or count the tiles of one (collect), follow from these. Where that is impossible, a whole
connected set of groups keeps its extents: every relation holds for them.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field

from equiforge.analysis.dim_groups import DimGroups, Relation, Role

BATCH_EXTENTS = (3, 2, 5, 7)


@dataclass
class ExtentPlan:
    """``extents[g]`` is the new extent of group g; ``cuts[g]`` maps old slice bounds in group g to new ones."""

    extents: list[int]
    cuts: dict[int, dict[int, int]] = field(default_factory=dict[int, dict[int, int]])


@dataclass(frozen=True)
class _Equation:
    """``extent(whole) = offset + sum(parts)`` or the product; over groups and, from their count on, segments between
    slice bounds.

    ``tiles``: the whole counts tiles of the part. ``offset`` is their size at reduced extents, ``unchanged`` (extent of
    the part, count) what is true of the program at hand.
    """

    kind: str
    whole: int
    parts: tuple[int, ...]
    offset: int = 0
    unchanged: tuple[int, int] = (0, 0)

    def value(self, extents: dict[int, int]) -> int:
        values = [extents[part] for part in self.parts]
        if self.kind == "tiles":
            return self._count(values[0])
        return math.prod(values) if self.kind == "product" else self.offset + sum(values)

    def _count(self, extent: int) -> int:
        if extent == self.unchanged[0]:
            return self.unchanged[1]
        size = self.offset
        while 1 < size >= extent:
            # One tile would make the counting dimension one that broadcasts.
            size //= 2
        return -(-extent // size)


def plan_extents(groups: DimGroups, limit: int = 16, tile: int = 16) -> ExtentPlan:
    """Chooses the reduced extents. Groups of at most ``limit`` elements stay, save for batches; ``tile`` is the tile
    size to be ragged for.
    """
    old = {group: groups.extent(group) for group in range(len(groups))}
    kept = {group for group in old if groups.fixed(group) or old[group] < 0}
    equations, segments, strided = _equations(groups, old, 1 << (tile - 1).bit_length())
    kept |= strided
    wholes = {equation.whole for equation in equations}
    choice: dict[int, int] = {}
    for variable in sorted(old, key=lambda v: (old[v], v)):
        if variable in wholes or variable in kept:
            continue
        only_batch = variable < len(groups) and groups.roles(variable) == frozenset[Role]({"batch"})
        choice[variable] = _choose(old[variable], list(choice.values()), only_batch, limit, tile)
    extents = _solve(old, choice, equations, kept)
    cuts: dict[int, dict[int, int]] = {}
    for group, pieces in segments.items():
        bounds = cuts[group] = {0: 0}
        before = after = 0
        for piece in pieces:
            before += old[piece]
            after += extents[piece]
            bounds[before] = after
    return ExtentPlan([extents[group] for group in range(len(groups))], cuts)


def _equations(
    groups: DimGroups, old: dict[int, int], tile: int
) -> tuple[list[_Equation], dict[int, list[int]], set[int]]:
    """Turns relations into equations. Also returns the segments of each sliced group, and the groups that must keep
    their extents.

    Segments are further variables, numbered from ``len(groups)``; their extents are added to ``old``.
    """
    equations: list[_Equation] = []
    slices: dict[int, list[Relation]] = {}
    kept: set[int] = set()
    for relation in groups.relations:
        if relation.kind == "slice":
            slices.setdefault(relation.whole, []).append(relation)
        elif relation.kind == "tiles":
            cut, count = relation.whole, relation.parts[0]
            equations.append(_Equation("tiles", count, (cut,), tile, (old[cut], old[count])))
        else:
            equations.append(_Equation(relation.kind, relation.whole, relation.parts, relation.offset))
    segments: dict[int, list[int]] = {}
    for whole, relations in slices.items():
        if any(relation.step != 1 for relation in relations):
            kept |= {whole, *(part for relation in relations for part in relation.parts)}
            continue
        bounds = sorted({0, old[whole], *(r.start for r in relations), *(r.stop for r in relations)})
        pieces: list[int] = []
        for start, stop in itertools.pairwise(bounds):
            piece = len(old)
            old[piece] = stop - start
            pieces.append(piece)
            # A segment that is exactly one slice is that slice's group; its group decides the extent.
            exact = [r.parts[0] for r in relations if (r.start, r.stop) == (start, stop) and r.parts]
            if exact:
                equations.append(_Equation("sum", piece, (exact[0],)))
            elif stop - start == 1:
                kept.add(piece)
        for r in relations:
            inside = [p for p, start in zip(pieces, bounds, strict=False) if r.start <= start < r.stop]
            # An equation of a slice in several segments; of one that is a segment, unless it gave the segment its
            # extent.
            if r.parts and (len(inside) > 1 or _Equation("sum", inside[0], (r.parts[0],)) not in equations):
                equations.append(_Equation("sum", r.parts[0], tuple(inside)))
        equations.append(_Equation("sum", whole, tuple(pieces)))
        segments[whole] = pieces
    return equations, segments, kept


def _choose(extent: int, used: list[int], only_batch: bool, limit: int, tile: int) -> int:
    """Chooses a smaller extent that has no divisor in common with those in use, if there is one."""
    if only_batch:
        smaller = [n for n in BATCH_EXTENTS if n < extent]
    elif extent <= limit:
        smaller = []
    else:
        rests = [n for n in (3, 5, 9, 11, 7, 15, 13, 1) if n < tile]
        smaller = [n for n in (*(2 * tile + r for r in rests), *(tile + r for r in rests)) if 1 < n < extent]
    if not smaller:
        return extent
    coprime = [n for n in smaller if all(math.gcd(n, other) == 1 for other in used if other != 1)]
    unused = [n for n in smaller if n not in used]
    return (coprime or unused or sorted(smaller, key=used.count))[0]


def _solve(old: dict[int, int], choice: dict[int, int], equations: list[_Equation], kept: set[int]) -> dict[int, int]:
    """Evaluates the equations; where they contradict each other, the variables that hang together with them keep
    their extents.
    """
    kept = set(kept)
    counts = {e.whole for e in equations if e.kind == "tiles"}
    while True:
        extents = {v: old[v] for v in old if v in kept} | {v: n for v, n in choice.items() if v not in kept}
        pending = [e for e in equations if e.whole not in extents]
        while ready := [e for e in pending if all(part in extents for part in e.parts)]:
            for equation in ready:
                extents.setdefault(equation.whole, equation.value(extents))
            pending = [e for e in pending if e.whole not in extents]
        # A size-1 dimension would broadcast, and an equation that waits for its own result never becomes ready.
        wrong = {e.whole for e in pending}
        wrong |= {
            e.whole
            for e in equations
            if e.whole in extents and all(p in extents for p in e.parts) and e.value(extents) != extents[e.whole]
        }
        wrong |= {v for v, n in extents.items() if n == 1 != old[v] or (n > old[v] > 0 and v not in counts)}
        if not wrong:
            return extents
        kept |= _connected(wrong, equations)


def _connected(start: set[int], equations: list[_Equation]) -> set[int]:
    """All variables that equations link to the given ones."""
    reached = set(start)
    while more := {v for e in equations if reached & {e.whole, *e.parts} for v in (e.whole, *e.parts)} - reached:
        reached |= more
    return reached
