"""Algorithm 1 of the paper (section 5.1) without compaction before completion: every program of an e-graph, choice by
choice.

A partial program has finished kernels, one kernel in progress, and holes: e-classes that this kernel has yet to
compute or load, and stored classes that have no kernel yet. Expanding it fills one hole, the first one of the kernel
or, when that has none left, the first stored class; each way to fill it is another partial program. Nothing is shared
between partial programs: two that need the same value each go through all ways to make it. What no completion can
mend (operands that wait for themselves, tiles that fit no block, too many kernels) is left at once.

The size of the search is known without it: partial programs with the same holes go on in the same ways, however they
came about. So what is below a partial program is counted once for all that are like it.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from typing import NamedTuple

from equiforge.search.compaction import Move, Table, bits
from equiforge.search.kernel_choice import Counters, KernelChoice, KernelRules
from equiforge.search.normal_form import Grid, Space
from equiforge.search.outline import Limits, Outline, Storage


class _Kernel(NamedTuple):
    """A kernel in progress: masks of the choices made, of the demands that are open and met, and of the heavy options
    among the choices; and the stored classes that it adds to the program."""

    grid: Grid
    chosen: int
    holes: int
    met: int
    heavy: int
    added: frozenset[int]


class _Frame(NamedTuple):
    """What the program around it means for a kernel: ``moves`` are the ways to meet each demand, without those that
    cannot be completed; ``stored`` are the classes that the program stores anyway, ``room`` is how many it may add."""

    moves: list[list[Move]]
    stored: frozenset[int]
    room: int | None


class _Partial(NamedTuple):
    made: tuple[KernelChoice, ...]
    choices: tuple[int, ...]
    outline: Outline
    kernel: _Kernel | None
    frame: _Frame | None


class _Tree(NamedTuple):
    """The partial kernels from one on that have a hole to fill, and the complete ones by what they add to the heavy
    choices."""

    states: int
    complete: dict[int, int]


class Enumeration:
    """The programs of an e-graph, one for each choice of e-nodes. ``table`` has a choice for each e-node."""

    def __init__(self, space: Space, table: Table, rules: KernelRules, counters: Counters):
        self.space = space
        self.table = table
        self.rules = rules
        self.counters = counters
        self.stop = ""
        """The limit that ended the last enumeration, empty if it came to its end."""
        self.storage = Storage(space, table)
        self._reach = table.reach()
        self._cyclic = table.cyclic()
        self._forbidden: dict[tuple[int, tuple[int, ...]], set[int]] = {}
        self._moves: dict[frozenset[int], list[list[Move]]] = {}
        self._sizes: dict[Outline, tuple[int, int]] = {}

    def programs(
        self, holes: frozenset[int], limits: Limits
    ) -> Iterator[tuple[tuple[KernelChoice, ...], tuple[int, ...]]]:
        """Programs that make ``holes``: their kernels, and of each the mask of all its choices. What stopped the
        enumeration before its end is left in ``stop``."""
        self.stop = ""
        stack = [_Partial((), (), Outline(holes), None, None)]
        began = self.counters.states
        for step in itertools.count():
            if not stack:
                return
            if self.counters.states - began >= limits.states:
                self.stop = f"limit of {limits.states} partial programs reached"
                return
            if step % 64 == 63 and time.perf_counter() > limits.deadline:
                self.stop = "time limit reached"
                return
            state = stack.pop()
            if state.kernel is not None and state.frame is not None:
                if state.kernel.holes:
                    self.counters.states += 1
                    stack.extend(state._replace(kernel=k) for k in self._filled(state.kernel, state.frame))
                    continue
                finished = self.rules.finish(state.kernel.grid, state.kernel.heavy)
                if finished is None:
                    continue
                outline = self.storage.after(state.outline, finished.root, finished.needs)
                state = _Partial((*state.made, finished), (*state.choices, state.kernel.chosen), outline, None, None)
            if not state.outline.holes:
                yield state.made, state.choices
                continue
            self.counters.states += 1
            for kernel, frame in self._started(state.outline, limits.kernels):
                stack.append(state._replace(kernel=kernel, frame=frame))

    def size(self, holes: frozenset[int], kernels: int | None = None) -> tuple[int, int]:
        """How many partial programs :meth:`programs` expands for ``holes`` without limits, and how many programs
        it finds, of at most ``kernels`` kernels. Nothing is enumerated."""
        self._sizes.clear()
        return self._size(Outline(holes), kernels)

    def _size(self, outline: Outline, limit: int | None) -> tuple[int, int]:
        if not outline.holes:
            return 0, 1
        if outline not in self._sizes:
            states, programs = 1, 0
            for kernel, frame in self._started(outline, limit):
                tree = self._tree(kernel, frame, {})
                states += tree.states
                ways: dict[Outline, int] = {}
                for heavy, count in tree.complete.items():
                    finished = self.rules.finish(kernel.grid, heavy)
                    if finished is not None:
                        after = self.storage.after(outline, finished.root, finished.needs)
                        ways[after] = ways.get(after, 0) + count
                for after, count in ways.items():
                    more = self._size(after, limit)
                    states, programs = states + count * more[0], programs + count * more[1]
            self._sizes[outline] = states, programs
        return self._sizes[outline]

    def _tree(self, kernel: _Kernel, frame: _Frame, known: dict[tuple[object, ...], _Tree]) -> _Tree:
        if not kernel.holes:
            return _Tree(0, {0: 1})
        again = 0
        for demand in bits(kernel.holes):
            again |= self._reach[demand] & kernel.met
        # Which choices were made matters only where what they met may come to wait for itself.
        key = (kernel.holes, again, again & self._cyclic and kernel.chosen, frame.room is not None and kernel.added)
        if key not in known:
            states, complete = 1, dict[int, int]()
            for child in self._filled(kernel._replace(heavy=0), frame):
                below = self._tree(child, frame, known)
                states += below.states
                for heavy, count in below.complete.items():
                    together = heavy | child.heavy
                    complete[together] = complete.get(together, 0) + count
            known[key] = _Tree(states, complete)
        return known[key]

    def kernels(self, root: int) -> Iterator[tuple[Grid, dict[int, int]]]:
        """For each grid of ``root`` the sets of heavy choices of complete kernels, and how many kernels have them."""
        for kernel, frame in self._started(Outline(frozenset({root})), None):
            yield kernel.grid, self._tree(kernel, frame, {}).complete

    def _started(self, outline: Outline, limit: int | None) -> Iterator[tuple[_Kernel, _Frame]]:
        """The ways to begin a kernel for the first hole."""
        root = self.storage.first(outline)
        stored = outline.holes.union(other for other, _ in outline.made)
        room = None if limit is None else limit - outline.size
        for grid in self.space.grids(root):
            frame = _Frame(self._moves_of(grid, outline.barred(root)), stored, room)
            for start in self.table.starts.get(grid.tile, ()):
                yield _Kernel(grid, 0, start, 0, 0, frozenset()), frame

    def _moves_of(self, grid: Grid, barred: frozenset[int]) -> list[list[Move]]:
        key = (grid.root, grid.axes)
        if key not in self._forbidden:
            self._forbidden[key] = set(self.rules.forbidden(grid))
        bars = (o.number for o in self.space.options if o.load is not None and o.load.base in barred)
        forbidden = frozenset(self._forbidden[key].union(bars))
        if forbidden not in self._moves:
            self._moves[forbidden] = self.table.moves_without(forbidden)
        return self._moves[forbidden]

    def _filled(self, kernel: _Kernel, frame: _Frame) -> Iterator[_Kernel]:
        """The partial kernels after one choice for the first hole."""
        hole = (kernel.holes & -kernel.holes).bit_length() - 1
        for move in frame.moves[hole]:
            heavy, added = kernel.heavy, kernel.added
            if move.heavy >= 0:
                heavy |= 1 << move.heavy
                load = self.space.options[move.heavy].load
                if load is not None and load.base not in self.space.leaf and load.base not in frame.stored:
                    added = added | {load.base}
                    if frame.room is not None and len(added) > frame.room:
                        self.counters.reject("needs more kernels than asked for")
                        continue
            chosen = kernel.chosen | 1 << move.bit
            met = kernel.met | self.table.satisfied[move.bit]
            holes = (kernel.holes | move.needs) & ~met
            if move.needs & met & self._cyclic and not self.table.is_acyclic(chosen, holes):
                self.counters.reject("cyclic")
                continue
            yield _Kernel(kernel.grid, chosen, holes, met, heavy, added)
