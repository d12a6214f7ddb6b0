"""Enumerates the kernels that may produce one stored class.

Algorithm 1 of the paper (section 5.1) over partial kernels: a worklist of choices and open holes; the hole to fill is
fixed by the state, so that each set of choices is reached in one way; an equal canonical form is expanded once, and
holes that can be filled in one way only are filled along with what opens them. Best first, by a bound on what any
completion reads, writes and multiplies, so that a limit costs the least promising kernels.

The candidates are the *minimal* sets of heavy choices that make the root: a kernel that does all that another one
does, and more, is dominated.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Container
from dataclasses import dataclass
from typing import NamedTuple

from equiforge.search.bounds import MustRead
from equiforge.search.compaction import Masks, Move, Table, bits, least
from equiforge.search.cost import CostModel
from equiforge.search.kernel_choice import KernelChoice, KernelRules
from equiforge.search.normal_form import Grid, Space
from equiforge.search.prices import Prices, prices_beside


@dataclass
class Variants:
    """The kernels of a stored class by rising estimate; ``bound`` is what kernels not listed cost at least (None: all
    are listed)."""

    kernels: list[KernelChoice]
    bound: float | None


class _State(NamedTuple):
    """A partial kernel: ``bases`` and ``bytes`` are what it reads, ``cached_us`` and ``compute_us`` the least time
    for that out of L2 and for its products, ``upstream`` the arguments that the producers of what it reads must read,
    ``stored`` the bytes that these write, ``producers`` their number, ``paid_us`` their prices, where these decide,
    ``met`` the demands that its choices meet."""

    priority: float
    order: int
    grid: int
    chosen: int
    holes: int
    bases: int
    bytes: int
    cached_us: float
    compute_us: float
    upstream: int
    stored: int
    producers: int
    paid_us: float
    met: int


class _Queue:
    """Partial kernels, best first; ``in_turns`` among those that read equally many intermediates, and these in turn.

    The bound of a kernel that recomputes everything is low and loose: without the turns, a limit would be used up by
    such kernels alone. Prices are no such bounds.
    """

    def __init__(self, in_turns: bool) -> None:
        self._in_turns = in_turns
        self._heaps: dict[int, list[_State]] = {}
        self._turn = 0
        self._order = 0

    def __bool__(self) -> bool:
        return bool(self._heaps)

    def next_order(self) -> int:
        """Falling numbers: of equally promising states the newest, deepest one comes first."""
        self._order -= 1
        return self._order

    def push(self, state: _State) -> None:
        heapq.heappush(self._heaps.setdefault(state.producers if self._in_turns else 0, []), state)

    def pop(self) -> _State:
        turn = min((n for n in self._heaps if n >= self._turn), default=min(self._heaps))
        heap = self._heaps[turn]
        state = heapq.heappop(heap)
        if not heap:
            del self._heaps[turn]
        self._turn = turn + 1
        return state

    def bound(self) -> float:
        """The least bound of all that wait."""
        return min(heap[0].priority for heap in self._heaps.values())


class _Ways:
    """The ways to meet each demand of a kernel on a certain grid."""

    def __init__(self, table: Table, forbidden: Container[int]):
        self._table = table
        self._moves = table.moves_without(forbidden)
        self._forced = sum(1 << demand for demand, moves in enumerate(self._moves) if len(moves) == 1)
        self._cyclic = table.cyclic()
        self.impossible = sum(1 << demand for demand, moves in enumerate(self._moves) if not moves)

    def closed(self, chosen: int, holes: int, met: int, move: Move | None) -> tuple[int, int, int]:
        """Choices, holes and met demands after one more choice, and all those to which there is no alternative."""
        while True:
            if move is not None:
                chosen |= 1 << move.bit
                met |= self._table.satisfied[move.bit]
                holes = (holes | move.needs) & ~met
            forced = holes & self._forced
            if not forced:
                return chosen, holes, met
            move = self._moves[(forced & -forced).bit_length() - 1][0]

    def of(self, holes: int, met: int) -> list[Move]:
        """The ways to fill the innermost hole. Of those with one option, the ones that demand more than another are
        left out: what completes them completes that one."""
        hole = holes.bit_length() - 1
        moves = self._moves[hole]
        if self._cyclic >> hole & 1:
            return moves
        least_needs: dict[int, list[int]] = {}
        for move in moves:
            least_needs.setdefault(move.bit, []).append(move.needs & ~met)
        return [Move(bit, needs, bit) for bit, alternatives in least_needs.items() for needs in least(alternatives)]


class KernelSearch:
    """Kernels of the stored classes of an e-graph, each list made when first asked for."""

    def __init__(
        self,
        space: Space,
        table: Table,
        model: CostModel,
        rules: KernelRules,
        max_states: int,
        deadline: float,
        at_most: int | None = None,
    ):
        self.space = space
        self.table = table
        self.model = model
        self.rules = rules
        self.max_states = max_states
        self.deadline = deadline
        self.at_most = at_most
        self.must = MustRead(space, table, model)
        self.counters = rules.counters
        self.cutoff = float("inf")
        """Kernels of programs that cost more than this are not looked for."""
        self.prices: Prices | None = None
        """If not None, kernels are looked for that cost less than what they store is worth."""
        self._variants: dict[int, Variants] = {}
        self._results = frozenset(space.graph.roots)
        self._read_by_all = 0
        for root in space.graph.roots:
            self._read_by_all |= self.must.of_root.get(root, 0)

    def floor(self, root: int) -> float:
        """What any listed kernel for ``root`` costs at least; before they are listed, what any kernel does."""
        known = self._variants.get(root)
        if known is not None:
            return known.kernels[0].cost.estimate_us if known.kernels else float("inf")
        return self.model.target.launch_us + self.model.tensor_bytes(root) / self.model.bytes_per_us

    def is_listed(self, root: int) -> bool:
        """Whether the kernels that produce ``root`` are listed."""
        return root in self._variants

    def variants(self, root: int) -> Variants:
        """The kernels that produce ``root``."""
        if root not in self._variants:
            self._variants[root] = self._enumerate(root)
        return self._variants[root]

    def kernels(self, root: int) -> list[KernelChoice]:
        """The kernels listed that produce ``root``."""
        return self.variants(root).kernels

    def look_again(self, cutoff: float, max_states: int) -> bool:
        """List the kernels of programs that cost at most ``cutoff``, for every stored class whose list was cut short of
        them; False if there was none."""
        self.cutoff, self.max_states = cutoff, max_states
        short = [r for r, v in self._variants.items() if v.bound is not None and v.bound < cutoff]
        for root in short:
            before, again = self._variants[root], self._enumerate(root)
            known = {k.key for k in again.kernels}
            kernels = [*again.kernels, *(k for k in before.kernels if k.key not in known)]
            self._variants[root] = Variants(_sorted(kernels), again.bound)
        return bool(short)

    def look_beside(self, program: tuple[KernelChoice, ...], holes: frozenset[int], max_states: int) -> bool:
        """List the kernels that make a program for ``holes`` better by themselves: those that, with what they pay for
        what they read, cost no more than what they store is worth. Whether there were new ones."""
        self.cutoff, self.max_states = 0.0, max_states
        listed = {root: known.kernels for root, known in self._variants.items()}
        self.prices = prices_beside(program, holes, listed, self.floor)
        new = False
        for root in [r for r in self.prices.worth if self.variants(r).bound is not None]:
            before, again = self._variants[root], self._enumerate(root)
            known = {k.key for k in before.kernels}
            kernels = [k for k in again.kernels if k.key not in known]
            self._variants[root] = Variants(_sorted([*before.kernels, *kernels]), before.bound)
            new |= bool(kernels)
        self.prices = None
        return new

    def listed(self) -> list[Variants]:
        """The kernel lists made so far."""
        return list(self._variants.values())

    def _enumerate(self, root: int) -> Variants:
        grids = self.space.grids(root)
        done, bound = self._complete(root, grids)
        kernels: list[KernelChoice] = []
        for number, masks in enumerate(done):
            minimal = least(masks)
            self.counters.reject("does more than another kernel", len(set(masks)) - len(minimal))
            for mask in minimal:
                kernel = self.rules.finish(grids[number], mask)
                if kernel is not None:
                    kernels.append(kernel)
        return Variants(_sorted(kernels), bound)

    def _complete(self, root: int, grids: list[Grid]) -> tuple[list[list[int]], float | None]:
        """Heavy choices of the complete kernels for each grid, and a bound on those that a limit cut off."""
        ways = [_Ways(self.table, self.rules.forbidden(grid)) for grid in grids]
        done = [Masks() for _ in grids]
        seen: set[tuple[int, int, int]] = set()
        queue = _Queue(self.prices is None)
        written = self.model.tensor_bytes(root)
        expanded = 0
        cut = float("inf")

        def add(state: _State, move: Move | None) -> None:
            nonlocal cut
            child = self._fill(state, move, queue.next_order(), ways[state.grid], grids[state.grid])
            if isinstance(child, str):
                self.counters.reject(child)
            elif child.priority > self.cutoff:
                cut = min(cut, child.priority)
                self.counters.reject("costs more than the candidates asked for")
            elif (child.grid, child.chosen, child.holes) in seen:
                self.counters.pruned += 1
            else:
                seen.add((child.grid, child.chosen, child.holes))
                queue.push(child)

        for number, grid in enumerate(grids):
            for start in self.table.starts.get(grid.tile, ()):
                add(_State(0.0, 0, number, 0, start, 0, written, 0.0, 0.0, 0, 0, 0, 0.0, 0), None)
        while queue:
            if expanded >= self.max_states or (expanded % 256 == 255 and time.perf_counter() > self.deadline):
                return [masks.all for masks in done], min(cut, queue.bound())
            state = queue.pop()
            if done[state.grid].has_subset_of(state.chosen):
                self.counters.pruned += 1
                continue
            expanded += 1
            if state.holes:
                self.counters.states += 1
                for move in ways[state.grid].of(state.holes, state.met):
                    add(state, move)
            elif self.table.is_well_founded(state.chosen, self.table.starts[grids[state.grid].tile]):
                done[state.grid].add(state.chosen)
            else:
                self.counters.reject("cyclic")
        return [masks.all for masks in done], cut if cut < float("inf") else None

    def _fill(self, state: _State, move: Move | None, order: int, ways: _Ways, grid: Grid) -> _State | str:
        """The partial kernel after a choice and all that follow from it, or the reason why there is none.

        Its priority bounds every program that contains a completion of it: this kernel, and the kernels that produce
        what it reads. By prices, it bounds what a completion costs more than what it stores is worth.
        """
        chosen, holes, met = ways.closed(state.chosen, state.holes, state.met, move)
        if holes & ways.impossible:
            return "a tile does not fit a block, however it is cut"
        bases, moved = state.bases, state.bytes
        cached, compute = state.cached_us, state.compute_us
        upstream, stored, producers, paid = state.upstream, state.stored, state.producers, state.paid_us
        for number in bits(chosen & ~state.chosen):
            option = self.space.options[number]
            work = self.model.work(option)
            least_us = self.model.least_us(grid, option)
            cached, compute = cached + least_us[0], compute + least_us[1]
            if work.base >= 0 and not bases >> work.base & 1:
                bases |= 1 << work.base
                moved += work.bytes
                if work.base not in self.space.leaf:
                    upstream |= self.must.of_root[work.base]
                    stored += self.model.tensor_bytes(work.base)
                    producers += 1
                    paid += self.prices.of(grid.root, work.base) if self.prices is not None else 0.0
        consumers = 0 if grid.root in self._results else 1
        if self.at_most is not None and 1 + producers + consumers > self.at_most:
            return "needs more kernels than asked for"
        still = (self.must.demanded(holes) | self._read_by_all) & ~bases & ~upstream
        total = moved + stored + self.must.bytes(upstream) + self.must.bytes(still)
        producing = (stored + self.must.bytes(upstream)) / self.model.bytes_per_us
        own = max(cached, compute) + producing
        launches = 1 + producers + consumers
        priority = self.model.target.launch_us * launches + max(own, total / self.model.bytes_per_us)
        if self.prices is not None:
            own = max(cached, compute, moved / self.model.bytes_per_us)
            priority = self.model.target.launch_us + own + paid - self.prices.worth[grid.root]
        return _State(
            priority,
            order,
            state.grid,
            chosen,
            holes,
            bases,
            moved,
            cached,
            compute,
            upstream,
            stored,
            producers,
            paid,
            met,
        )


def _sorted(kernels: list[KernelChoice]) -> list[KernelChoice]:
    return sorted(kernels, key=lambda k: (k.cost.estimate_us, len(k.options), k.grid.axes, k.options))
