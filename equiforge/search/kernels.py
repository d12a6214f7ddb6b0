"""Enumerates the kernels that may produce one stored class.

Algorithm 1 of the paper (section 5.1) over partial kernels: a worklist of choices and open holes; the hole to fill is
fixed by the state, so that each set of choices is reached in one way; an equal canonical form is expanded once. Best
first, by a bound on what any completion reads, writes and multiplies, so that a limit costs the least promising
kernels.

The candidates are the *minimal* sets of heavy choices that make the root: a kernel that does all that another one
does, and more, is dominated.
"""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from equiforge.search.bounds import MustRead
from equiforge.search.compaction import Move, Table, bits, least
from equiforge.search.cost import CostModel, KernelCost
from equiforge.search.loops import passes
from equiforge.search.normal_form import Grid, Option, Space, contracted_dim

Strategy = Literal["none", "after", "early"]


class Structure(NamedTuple):
    """What tells kernels apart at a glance: the grid, (axis, passes) of the loops, derived reductions, products
    outside of these, and intermediates read."""

    grid: tuple[int, ...]
    loops: tuple[tuple[int, int], ...]
    rolling: int
    products: int
    intermediates: int


@dataclass(frozen=True)
class KernelChoice:
    """One kernel: where it stores, its grid and its heavy options; ``needs`` are the stored classes that it reads."""

    root: int
    grid: Grid
    options: tuple[int, ...]
    needs: frozenset[int]
    cost: KernelCost
    structure: Structure
    reads: int
    """The arguments that it reads, as a mask of classes."""

    @property
    def key(self) -> tuple[object, ...]:
        return (self.root, self.grid.axes, self.options)


@dataclass
class Variants:
    """The kernels of a stored class by rising estimate; ``bound`` is what kernels not listed cost at least (None: all
    are listed)."""

    kernels: list[KernelChoice]
    bound: float | None


@dataclass
class Counters:
    """Work done by a search: partial programs expanded, those pruned as equal to an earlier one, and reasons for
    refusals."""

    states: int = 0
    pruned: int = 0
    rejects: dict[str, int] = field(default_factory=lambda: {})

    def reject(self, reason: str, count: int = 1) -> None:
        if count:
            self.rejects[reason] = self.rejects.get(reason, 0) + count


class _State(NamedTuple):
    """A partial kernel: ``bases`` and ``bytes`` are what it reads, ``cached_us`` and ``compute_us`` the least time
    for that out of L2 and for its products, ``upstream`` the arguments that the producers of what it reads must read,
    ``stored`` the bytes that these write, ``producers`` their number, ``met`` the demands that its choices meet."""

    priority: float
    order: int
    grid: int
    chosen: int
    holes: int
    heavy: int
    bases: int
    bytes: int
    cached_us: float
    compute_us: float
    upstream: int
    stored: int
    producers: int
    met: int


class _Masks:
    """Sets of choices, found again by their subsets: each is filed under that of its members that fewest others are
    filed under."""

    def __init__(self) -> None:
        self.all: list[int] = []
        self._filed: dict[int, list[int]] = {}

    def add(self, mask: int) -> None:
        self.all.append(mask)
        member = min(bits(mask), key=lambda b: len(self._filed.get(b, ())), default=-1)
        self._filed.setdefault(member, []).append(mask)

    def has_subset_of(self, mask: int) -> bool:
        if -1 in self._filed:
            return True
        rest = mask
        while rest:
            low = rest & -rest
            for known in self._filed.get(low.bit_length() - 1, ()):
                if known & mask == known:
                    return True
            rest ^= low
        return False


class _Queue:
    """Partial kernels, best first among those that read equally many intermediates, and these in turn.

    The bound of a kernel that recomputes everything is low and loose: without the turns, a limit would be used up by
    such kernels alone.
    """

    def __init__(self) -> None:
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
        heapq.heappush(self._heaps.setdefault(state.producers, []), state)

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


class KernelSearch:
    """Kernels of the stored classes of an e-graph, each list made when first asked for."""

    def __init__(
        self,
        space: Space,
        compact: Table,
        table: Table,
        model: CostModel,
        strategy: Strategy,
        max_states: int,
        deadline: float,
        at_most: int | None = None,
    ):
        self.space = space
        self.compact = compact
        self.table = table
        self.model = model
        self.strategy: Strategy = strategy
        self.max_states = max_states
        self.deadline = deadline
        self.at_most = at_most
        self.must = MustRead(space, table, model)
        self.counters = Counters()
        self.cutoff = float("inf")
        """Kernels of programs that cost more than this are not looked for."""
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

    def variants(self, root: int) -> Variants:
        """The kernels that produce ``root``."""
        if root not in self._variants:
            self._variants[root] = self._enumerate(root)
        return self._variants[root]

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

    def listed(self) -> list[Variants]:
        """The kernel lists made so far."""
        return list(self._variants.values())

    def _enumerate(self, root: int) -> Variants:
        grids = self.space.grids(root)
        done, bound = self._complete(root, grids)
        kernels: list[KernelChoice] = []
        for number, masks in enumerate(done):
            minimal = least(masks) if self.strategy == "early" else masks
            if self.strategy == "early":
                self.counters.reject("does more than another kernel", len(set(masks)) - len(minimal))
            for mask in minimal:
                kernel = self._finish(grids, grids[number], mask)
                if kernel is not None:
                    kernels.append(kernel)
        return Variants(_sorted(kernels), bound)

    def _complete(self, root: int, grids: list[Grid]) -> tuple[list[list[int]], float | None]:
        """Heavy choices of the complete kernels for each grid, and a bound on those that a limit cut off."""
        table, model = self.table, self.model
        early = self.strategy == "early"
        forbidden = [self._forbidden(grid) for grid in grids]
        done = [_Masks() for _ in grids]
        seen: set[tuple[int, int, int]] = set()
        queue = _Queue()
        written = model.tensor_bytes(root)
        for number, grid in enumerate(grids):
            for start in table.starts.get(grid.tile, ()):
                queue.push(_State(0.0, queue.next_order(), number, 0, start, 0, 0, written, 0.0, 0.0, 0, 0, 0, 0))
        expanded = 0
        cut = float("inf")
        while queue:
            if expanded >= self.max_states or (expanded % 256 == 255 and time.perf_counter() > self.deadline):
                return [masks.all for masks in done], min(cut, queue.bound())
            state = queue.pop()
            if early and done[state.grid].has_subset_of(state.heavy):
                self.counters.pruned += 1
                continue
            expanded += 1
            self.counters.states += 1
            if not state.holes:
                starts = table.starts[grids[state.grid].tile]
                if table.is_well_founded(state.chosen, starts):
                    done[state.grid].add(state.heavy)
                else:
                    self.counters.reject("cyclic")
                continue
            hole = (state.holes & -state.holes).bit_length() - 1
            for move in table.moves[hole]:
                child = self._fill(state, move, queue.next_order(), forbidden[state.grid], grids[state.grid])
                if isinstance(child, str):
                    self.counters.reject(child)
                    continue
                if child.priority > self.cutoff:
                    cut = min(cut, child.priority)
                    self.counters.reject("costs more than the candidates asked for")
                    continue
                if early:
                    key = (child.grid, child.chosen, child.holes)
                    if key in seen:
                        self.counters.pruned += 1
                        continue
                    seen.add(key)
                queue.push(child)
        return [masks.all for masks in done], cut if cut < float("inf") else None

    def _forbidden(self, grid: Grid) -> dict[int, str]:
        """Options that no kernel on a grid may have, and why."""
        found: dict[int, str] = {}
        for option in self.space.options:
            if option.load is not None and option.load.base == grid.root:
                found[option.number] = "reads what it is to store"
            elif not self.model.fits(grid, option):
                found[option.number] = "a tile does not fit a block, however it is cut"
        return found

    def _fill(self, state: _State, move: Move, order: int, forbidden: dict[int, str], grid: Grid) -> _State | str:
        """The partial kernel after one choice, or the reason why there is none.

        Its priority bounds every program that contains a completion of it: this kernel, and the kernels that produce
        what it reads.
        """
        chosen = state.chosen | 1 << move.bit
        met = state.met | self.table.satisfied[move.bit]
        holes = (state.holes | move.needs) & ~met
        heavy, bases, moved = state.heavy, state.bases, state.bytes
        cached, compute = state.cached_us, state.compute_us
        upstream, stored, producers = state.upstream, state.stored, state.producers
        if move.heavy >= 0 and not heavy >> move.heavy & 1:
            if move.heavy in forbidden:
                return forbidden[move.heavy]
            heavy |= 1 << move.heavy
            option = self.space.options[move.heavy]
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
        consumers = 0 if grid.root in self._results else 1
        if self.at_most is not None and 1 + producers + consumers > self.at_most:
            return "needs more kernels than asked for"
        still = (self.must.demanded(holes) | self._read_by_all) & ~bases & ~upstream
        total = moved + stored + self.must.bytes(upstream) + self.must.bytes(still)
        producing = (stored + self.must.bytes(upstream)) / self.model.bytes_per_us
        own = max(cached, compute) + producing
        launches = 1 + producers + consumers
        priority = self.model.target.launch_us * launches + max(own, total / self.model.bytes_per_us)
        return _State(
            priority,
            order,
            state.grid,
            chosen,
            holes,
            heavy,
            bases,
            moved,
            cached,
            compute,
            upstream,
            stored,
            producers,
            met,
        )

    def _finish(self, grids: list[Grid], grid: Grid, mask: int) -> KernelChoice | None:
        options = [self.space.options[b] for b in bits(mask)]
        if not self._worthwhile(grids, grid, options):
            self.counters.reject("a larger grid has the same structure")
            return None
        found = passes(self.space, self.compact, mask, self.compact.starts[grid.tile], grid.axes)
        cost = self.model.kernel(grid, options, found)
        if cost is None:
            self.counters.reject("a tile is too large for a block")
            return None
        needs = frozenset(o.load.base for o in options if o.load is not None) - frozenset(self.space.leaf)
        structure = _structure(grid, options, tuple(sorted(found.count.items())), len(needs))
        reads = 0
        for option in options:
            if option.load is not None and option.load.base in self.space.leaf:
                reads |= 1 << option.load.base
        return KernelChoice(grid.root, grid, tuple(o.number for o in options), needs, cost, structure, reads)

    def _worthwhile(self, grids: list[Grid], grid: Grid, options: list[Option]) -> bool:
        """Whether each dimension that the grid could cut but leaves whole is summed over as a whole in this kernel."""
        graph = self.space.graph
        whole: set[int] = set()
        for option in options:
            node = option.node
            dim = None if node is None else contracted_dim(graph, node)
            if node is not None and dim is not None:
                kind = graph.types[node.children[0]]
                if dim not in dict(kind.state).values():
                    whole.add(kind.groups[dim])
        groups = graph.types[grid.root].groups
        for other in grids:
            for dim in other.covered - grid.covered if grid.covered < other.covered else ():
                if dim < 0 or groups[dim] not in whole:
                    return False
        return True


def _sorted(kernels: list[KernelChoice]) -> list[KernelChoice]:
    return sorted(kernels, key=lambda k: (k.cost.estimate_us, len(k.options), k.grid.axes, k.options))


def _structure(grid: Grid, options: list[Option], loops: tuple[tuple[int, int], ...], intermediates: int) -> Structure:
    rolling = sum(o.kind == "rolling" for o in options)
    products = sum(o.kind == "tilematmul" for o in options)
    return Structure(grid.axes, loops, rolling, products, intermediates)
