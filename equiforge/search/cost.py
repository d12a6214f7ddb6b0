"""The cost model that ranks candidates: bytes, floating-point operations and launches, in microseconds on a target.

The *lower bound* of a kernel reads and writes each distinct tensor once and does each product once. The *estimate*
adds what a tiling costs at the best of a few nominal tile sizes: operands read again by other blocks (from L2 where
they fit it), work repeated in every block of a grid axis that does not cut it, and processors left idle by a small
grid. Both are sums over the kernels of a program, so that the search can bound them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from equiforge.dialects.op_table import ELEMENT_BYTES, HALVES
from equiforge.egraph.graph import REPLICATE, EGraph, ENode, Reducer
from equiforge.search.loops import Passes
from equiforge.search.normal_form import Grid, Option, Space, product
from equiforge.tune.targets import Target

TILES = (128, 64, 32, 16, 4, 1)
LOOP_TILE = 64
_LEAST_LOOP_TILE = 16
_DOT_TILE = 16
"""Tensor cores multiply tiles of at least this many rows and columns; fewer are padded."""
MAX_TILE_ELEMENTS = 32_768
"""Elements of one value that a block can hold (128 KiB of f32): larger tiles don't fit registers and shared memory."""
_DRAM_EFFICIENCY = 0.85
_DOT_EFFICIENCY = 0.6
_L2_SPEEDUP = 3.0
_POINTWISE_FLOPS = 4
_UNHIDDEN = 0.1
"""Share of the time for memory, or for arithmetic, that does not overlap with the longer of the two."""
_PASS_US = 0.3
"""Filling the pipeline of loads again for each further pass over an axis."""
_OPTION_US = 0.01
"""Of kernels that move and multiply the same, the one that does less comes first."""


_GridKey = tuple[tuple[int, ...], tuple[int, int] | None]
"""Axes of a grid, and the collected one with its tile size: what a tiling depends on."""


@dataclass(frozen=True)
class KernelCost:
    """What one kernel moves and does: ``bytes`` and ``flops`` at least, ``lower_us`` and ``estimate_us`` with its
    launch."""

    bytes: int
    flops: int
    lower_us: float
    estimate_us: float
    tile: int


class _Tiling(NamedTuple):
    """Tile sizes of all axes, the number of tiles of those in use, and which options fit a block with them."""

    sizes: dict[int, int]
    counts: dict[int, int]
    fits: dict[int, bool]


@dataclass(frozen=True)
class _Work:
    """Cost of one heavy option: ``bytes`` read of tensor ``base`` (-1 for none), ``flops`` and the ``rate`` at which
    they are done, the axes that ``cut`` it, the outer loops that may repeat a load, the (extent, axis) pairs of the
    tiles it holds, its ``operands`` with their elements, the least extent of its tiles along rows and columns, and the
    array that is read (a field, where the base is a tuple)."""

    bytes: int
    base: int
    flops: int
    rate: float
    cut: frozenset[int]
    repeats: tuple[int, ...]
    tiles: tuple[tuple[tuple[int, int], ...], ...]
    operands: tuple[tuple[int, int], ...]
    granule: int = 1
    stored: int = -1


def storage_element(graph: EGraph, class_id: int) -> str:
    """Element type in which a class lies in memory: as the argument has it, as the program returns it, or as the
    program names it."""
    for node in graph.nodes[class_id]:
        if node.op == "input":
            return graph.inputs[int(node.attrs[0])][2]
        if node.op == "const":
            return graph.constants[str(node.attrs[0])][0]
    returned = [e for root, e in zip(graph.roots, graph.root_elements, strict=False) if root == class_id]
    if returned:
        return max(returned, key=lambda e: ELEMENT_BYTES.get(e, 4))
    return graph.types[class_id].wide or graph.types[class_id].element


def leaf_inputs(tree: tuple[Any, ...], found: set[int] | None = None) -> set[int]:
    """Numbers of the loop inputs that an elementwise expression tree of a reducer reads."""
    found = set() if found is None else found
    if tree[0] == "input":
        found.add(tree[1])
    elif tree[0] not in ("state", "const"):
        for part in tree[2:]:
            leaf_inputs(part, found)
    return found


def pow2(extent: int) -> int:
    """The next power of two: what an uncut dimension of this extent takes in a tile."""
    return 1 << max(0, extent - 1).bit_length()


class CostModel:
    """Costs of kernels of one e-graph on one target."""

    def __init__(self, space: Space, target: Target):
        self.space = space
        self.graph = space.graph
        self.target = target
        self._work: dict[int, _Work] = {}
        self._bytes: dict[int, int] = {}
        self._tilings: dict[tuple[_GridKey, frozenset[int], int], _Tiling] = {}
        self._least: dict[tuple[_GridKey, int], tuple[float, float]] = {}

    @cached_property
    def dot_element(self) -> str:
        """Operand type of the products of this program, as far as the rate of the tensor cores goes."""
        storages = {element for _, _, element in self.graph.inputs}
        if "f64" in storages:
            return "f64"
        return "f16" if storages & {"f16", "bf16"} else "f32"

    @cached_property
    def batch_axes(self) -> frozenset[int]:
        """Axes of groups that are a batch dimension of every product they occur in: their tile is one element."""
        matrix: set[int] = set()
        batch: set[int] = set()
        for class_id, nodes in self.graph:
            if any(n.op in ("matmul", "tilematmul") for n in nodes):
                groups = self.graph.types[class_id].groups
                matrix |= set(groups[-2:])
                batch |= set(groups[:-2])
        batch -= matrix | self.space.contracted_groups
        return frozenset(a for a, axis in enumerate(self.graph.axes) if axis.group in batch)

    @property
    def bytes_per_us(self) -> float:
        """Bandwidth that a good kernel reaches: estimates don't go below it."""
        return self.target.bytes_per_us * _DRAM_EFFICIENCY

    def tensor_bytes(self, class_id: int) -> int:
        """Bytes of a class in memory, of a tuple those of all its fields."""
        if class_id not in self._bytes:
            fields = self.space.tuples.get(class_id)
            if fields is None:
                found = self._element_bytes(class_id) * product(self.graph.types[class_id].shape)
            else:
                found = sum(map(self.tensor_bytes, fields))
            self._bytes[class_id] = found
        return self._bytes[class_id]

    def _element_bytes(self, class_id: int) -> int:
        return ELEMENT_BYTES.get(storage_element(self.graph, class_id), 4)

    def work(self, option: Option) -> _Work:
        """Cost of an option, computed once."""
        if option.number not in self._work:
            self._work[option.number] = self._measure(option)
        return self._work[option.number]

    def _tile_extents(self, class_id: int) -> tuple[tuple[int, int], ...]:
        kind = self.graph.types[class_id]
        cut = {dim: axis for axis, dim in kind.state if dim >= 0}
        return tuple((extent, cut.get(dim, -1)) for dim, extent in enumerate(kind.shape))

    def _cut(self, *classes: int) -> frozenset[int]:
        return frozenset(a for c in classes for a, dim in self.graph.types[c].state if dim >= 0)

    def _measure(self, option: Option) -> _Work:
        graph = self.graph
        if option.load is not None:
            load = option.load
            state = graph.types[load.tile].state
            repeats = tuple(a for a, dim in state if dim == REPLICATE)
            return _Work(
                bytes=load.elements * self._element_bytes(load.stored),
                base=load.base,
                stored=load.stored,
                flops=0,
                rate=1.0,
                cut=self._cut(load.tile),
                repeats=repeats,
                tiles=(self._tile_extents(load.tile),),
                operands=(),
            )
        node = option.node
        assert node is not None
        if node.op == "rolling":
            return self._measure_rolling(node)
        operands = tuple((c, product(graph.types[c].shape)) for c in node.children)
        if node.op == "tilematmul":
            a, b = node.children
            shape = graph.types[option.owner].shape
            flops = 2 * product(shape) * graph.types[a].shape[-1]
            tiles = (self._tile_extents(option.owner), self._tile_extents(a), self._tile_extents(b))
            element, granule = (self._dot_element(a, b), _DOT_TILE) if shape[-2] > 1 else ("f32", 1)
            cut = self._cut(option.owner, a, b)
            return _Work(0, -1, flops, self._rate(element), cut, (), tiles, operands, granule)
        tiles = (self._tile_extents(node.children[0]),)
        return _Work(0, -1, 0, 1.0, self._cut(*node.children), (), tiles, operands)

    def _rate(self, element: str) -> float:
        return self.target.flops_per_us(element) * _DOT_EFFICIENCY

    def _dot_element(self, *operands: int) -> str:
        """Operand type of a product: half only if both operands are read as such or are such a value of the program."""
        if self.dot_element != "f16":
            return self.dot_element

        def is_half(class_id: int) -> bool:
            if self.graph.types[class_id].narrow in HALVES:
                return True
            return any(storage_element(self.graph, d.base) in HALVES for d in self.space.loads(class_id)[:1])

        return "f16" if all(map(is_half, operands)) else "tf32"

    def _measure_rolling(self, node: ENode) -> _Work:
        reducer: Reducer = self.graph.reducers[str(node.attrs[0])]
        flops, rate, granule = 0, 1.0, 1
        for consumer in reducer.consumers:
            if consumer.kind == "tilematmul":
                shapes = [self.graph.types[node.children[i]].shape for i in sorted(leaf_inputs(consumer.contribution))]
                other = self.graph.types[node.children[consumer.other]].shape
                # Without inputs the contribution is one row of a number.
                contribution = tuple(max(extents) for extents in zip(*shapes, strict=True)) or (
                    1,
                    other[-2] if consumer.operand == 0 else other[-1],
                )
                columns = other[-1] if consumer.operand == 0 else other[-2]
                flops += 2 * product(contribution) * columns
                if contribution[-2] > 1:
                    rate, granule = self._rate(self._dot_element(node.children[consumer.other])), _DOT_TILE
                else:
                    rate = self._rate("f32")
        tiles = tuple(self._tile_extents(c) for c in node.children)
        operands = tuple((c, product(self.graph.types[c].shape)) for c in node.children)
        return _Work(0, -1, flops, rate, self._cut(*node.children), (), tiles, operands, granule)

    def least_us(self, grid: Grid, option: Option) -> tuple[float, float]:
        """What an option costs at least in any estimate of a kernel on this grid: time for its reads out of L2, and
        for its products."""
        key = ((grid.axes, grid.collected), option.number)
        if key not in self._least:
            work = self.work(option)
            repeated = 1
            for axis in grid.axes:
                if axis not in work.cut:
                    size = 1 if axis in self.batch_axes else TILES[0]
                    if grid.collected is not None and grid.collected[0] == axis:
                        size = grid.collected[1]
                    repeated *= -(-self.graph.axes[axis].extent // size)
            cached = work.bytes * repeated / (self.target.bytes_per_us * _L2_SPEEDUP)
            self._least[key] = (cached, work.flops * repeated / work.rate)
        return self._least[key]

    def fits(self, grid: Grid, option: Option) -> bool:
        """Whether some tiling makes the tiles of an option small enough for a block."""
        return self._holds(self._tiling(grid, frozenset(), min(TILES)), option)

    def _tiling(self, grid: Grid, loops: frozenset[int], tile: int) -> _Tiling:
        """Tile sizes with a nominal size for the grid; an axis that a block also loops over is cut as loops are, and
        a collected one as its number of tiles says."""
        key = ((grid.axes, grid.collected), loops, tile)
        if key not in self._tilings:
            sizes: dict[int, int] = {-1: 1 << 62}
            for number, axis in enumerate(self.graph.axes):
                if number in self.batch_axes:
                    sizes[number] = 1
                elif number in grid.axes and number not in loops:
                    sizes[number] = min(tile, pow2(axis.extent))
                else:
                    sizes[number] = min(LOOP_TILE, max(_LEAST_LOOP_TILE, tile), pow2(axis.extent))
            if grid.collected is not None:
                sizes[grid.collected[0]] = grid.collected[1]
            counts: dict[int, int] = {}
            for number in {*grid.axes, *loops}:
                axis = self.graph.axes[number]
                # A loop in a slice goes over the slice.
                cut = sizes[axis.within] if axis.within in grid.axes else axis.extent
                sizes[number] = min(sizes[number], cut)
                counts[number] = -(-cut // sizes[number])
            self._tilings[key] = _Tiling(sizes, counts, {})
        return self._tilings[key]

    def _holds(self, tiling: _Tiling, option: Option) -> bool:
        """Whether the tiles of an option are small enough for a block."""
        known = tiling.fits.get(option.number)
        if known is None:
            work = self.work(option)
            known = True
            for extents in work.tiles:
                held = 1
                for place, (extent, axis) in enumerate(extents, start=2 - len(extents)):
                    held *= max(min(tiling.sizes[axis], pow2(extent)), work.granule if place >= 0 else 1)
                known &= held <= MAX_TILE_ELEMENTS
            tiling.fits[option.number] = known
        return known

    def kernel(self, grid: Grid, options: list[Option], passes: Passes) -> KernelCost | None:
        """Cost of a kernel; None if it holds a tile that no tiling makes small enough for a block."""
        times = [passes.times[o.number] for o in options]
        works = [self.work(o) for o in options]
        loops = frozenset(passes.count)
        direct = {c for o in options for c, _ in o.satisfies}
        # Whatever is neither loaded nor itself a product or a reduction is made from such by pointwise operations.
        pointwise = [sum(n for c, n in w.operands if c not in direct) for w in works]
        read: dict[int, int] = {}
        for work in works:
            if work.base >= 0:
                read[work.stored] = max(read.get(work.stored, 0), work.bytes)
        moved = sum(read.values()) + self.tensor_bytes(grid.root)
        flops = sum(w.flops * t for w, t in zip(works, times, strict=True))
        rate = self.target.flops_per_us(self.dot_element)
        lower = max(moved / self.target.bytes_per_us, flops / rate)
        best: tuple[float, int] | None = None
        for tile in TILES:
            tiling = self._tiling(grid, loops, tile)
            if all(self._holds(tiling, o) for o in options):
                estimate = self._estimate(grid, works, times, pointwise, loops, tiling.counts)
                if best is None or estimate < best[0]:
                    best = (estimate, tile)
        if best is None:
            return None
        launch = self.target.launch_us
        later = sum(n - 1 for n in passes.count.values())
        overhead = _PASS_US * later + _OPTION_US * len(options)
        return KernelCost(moved, flops, lower + launch, max(best[0], lower) + overhead + launch, best[1])

    def _estimate(
        self,
        grid: Grid,
        works: list[_Work],
        times: list[int],
        pointwise: list[int],
        loops: frozenset[int],
        count: dict[int, int],
    ) -> float:
        blocks = 1
        for axis in grid.axes:
            blocks *= count[axis]
        busy = min(1.0, blocks / self.target.sms)
        dram, cached, compute = 0.0, 0.0, 0.0
        pointwise_rate = self._rate("f32") / _POINTWISE_FLOPS
        for work, passed, elements in zip(works, times, pointwise, strict=True):
            repeated, parts = passed, 1
            for axis in grid.axes:
                # Where a block reduces over an axis of its own grid, it goes over the whole of it.
                if axis not in work.cut or axis in loops:
                    repeated *= count[axis]
                else:
                    parts *= count[axis]
            if work.bytes:
                if work.cut & loops:
                    for axis in work.repeats:
                        if axis in loops and axis not in grid.axes:
                            repeated *= count[axis]
                cached += work.bytes * repeated
                # What the blocks that run at one time read has to stay in L2 to be found there the next time.
                at_once = work.bytes * min(1.0, self.target.sms / parts)
                misses = 1.0 if at_once < self.target.l2_bytes / 2 else passed + (repeated / passed - 1) / 8
                dram += work.bytes * misses
            else:
                compute += (work.flops / work.rate + elements / pointwise_rate) * repeated / busy
        written = self.tensor_bytes(grid.root)
        memory = (dram + written) / (self.bytes_per_us * min(1.0, 1.5 * busy))
        l2 = (cached + written) / (self.target.bytes_per_us * _L2_SPEEDUP * busy)
        longest = max(memory, l2, compute)
        return longest + _UNHIDDEN * (memory + compute - longest if longest != l2 else memory + compute)


def limit_us(graph: EGraph, target: Target, flops: int = 0) -> float:
    """The physical limit of a program: each distinct input and output moved once, and ``flops`` done at the peak
    rate."""
    seen: set[int] = set()
    used: set[int] = set()
    moved = 0
    for nodes in graph.nodes.values():
        for node in nodes:
            if node.op == "input":
                used.add(int(node.attrs[0]))
    for index in used:
        _, shape, element = graph.inputs[index]
        moved += product(shape) * ELEMENT_BYTES.get(element, 4)
    for root in graph.roots:
        if root not in seen and not any(n.op == "input" for n in graph.nodes[root]):
            seen.add(root)
            moved += product(graph.types[root].shape) * ELEMENT_BYTES.get(storage_element(graph, root), 4)
    storages = {element for _, _, element in graph.inputs}
    dot = "f64" if "f64" in storages else "f16" if storages & {"f16", "bf16"} else "f32"
    return max(moved / target.bytes_per_us, flops / target.flops_per_us(dot))
