"""The loops of a kernel: which reductions run in one pass over an axis, and what has to be computed again in a later
pass.

A block keeps the state of its reductions, not the tiles that it went over. A reduction over an axis that needs the
result of another one over the same axis runs in a later pass, and whatever tiles both passes use are loaded and
computed twice. Reductions that don't depend on each other share a pass.
"""

from __future__ import annotations

from dataclasses import dataclass

from equiforge.search.compaction import Table, bits
from equiforge.search.normal_form import Demand, Space

_ROOT = -1


@dataclass(frozen=True)
class Passes:
    """``count[axis]`` is the number of passes over each loop axis, ``times[option]`` how often a heavy option is
    done."""

    count: dict[int, int]
    times: dict[int, int]


def passes(space: Space, table: Table, chosen: int, starts: list[int], grid: tuple[int, ...]) -> Passes:
    """The passes of a complete kernel with the heavy options ``chosen`` (a mask of the compact table)."""
    edges = _dependencies(table, chosen, starts)
    loops: dict[int, int] = {}
    for number in bits(chosen):
        node = space.options[number].node
        if node is not None and node.op in ("preduce", "rolling"):
            loops[number] = int(node.attrs[1])
    reach = _reachable(edges)
    count: dict[int, int] = {}
    times = dict.fromkeys(bits(chosen), 1)
    for axis in sorted(set(loops.values())):
        level: dict[int, int] = {}

        def level_of(loop: int, axis: int = axis, level: dict[int, int] = level) -> int:
            if loop not in level:
                level[loop] = 0
                before = [o for o in reach[loop] if o != loop and loops.get(o) == axis]
                level[loop] = 1 + max((level_of(o) for o in before), default=0)
            return level[loop]

        own = [o for o, a in loops.items() if a == axis]
        used: dict[int, set[int]] = {}
        for loop in own:
            for option in _inside(space, edges, loop, axis):
                used.setdefault(option, set()).add(level_of(loop))
        if axis in grid:
            # The tile of the grid is one more use of what the passes over the whole axis went over.
            for option in _inside(space, edges, _ROOT, axis):
                used.setdefault(option, set()).add(_ROOT)
        count[axis] = max(level_of(loop) for loop in own)
        for option, levels in used.items():
            times[option] *= len(levels)
    return Passes(count, times)


Edges = dict[int, list[tuple[Demand, int]]]


def _dependencies(table: Table, chosen: int, starts: list[int]) -> Edges:
    """For each option the demands that it makes and the options that meet them, in one order of evaluation."""
    made = 0
    makers: dict[int, int] = {}
    edges: Edges = {}
    left = bits(chosen)
    while left:
        ready: list[tuple[int, int]] = []
        for option in left:
            need = next((n for n in table.needs[option] if n & ~made == 0), None)
            if need is not None:
                ready.append((option, need))
        if not ready:
            break
        for option, need in ready:
            edges[option] = [(table.demands[d], makers[d]) for d in bits(need)]
            left.remove(option)
        for option, _ in ready:
            for demand in bits(table.satisfied[option] & ~made):
                makers[demand] = option
            made |= table.satisfied[option]
    need = next((n for n in starts if n & ~made == 0), 0)
    edges[_ROOT] = [(table.demands[d], makers[d]) for d in bits(need)]
    return edges


def _reachable(edges: Edges) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}

    def visit(option: int) -> set[int]:
        if option not in found:
            found[option] = set()
            for _, other in edges.get(option, ()):
                found[option] |= {other} | visit(other)
        return found[option]

    for option in edges:
        visit(option)
    return found


def _inside(space: Space, edges: Edges, start: int, axis: int) -> set[int]:
    """Options of the tiles at one coordinate of an axis, from a loop (or the root) inwards."""
    seen: set[int] = set()
    stack = [start]
    while stack:
        for (class_id, _), other in edges.get(stack.pop(), ()):
            # A value that is the same at every coordinate is made before the loop.
            if space.state[class_id].get(axis, -1) != -1 and other not in seen:
                seen.add(other)
                stack.append(other)
    return seen
