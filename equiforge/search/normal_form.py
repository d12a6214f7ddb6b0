"""The normal form of an executable program: what may be chosen for a class of the e-graph.

A *stored* class has no parallel axes and is the root of one kernel: a chain of ``combine`` nodes whose axes rise from
the root inwards, and of one more, a ``collect``, where it stores partial results; these axes are the grid. Then
follows a tile class. A tile class is computed, or loaded: a chain of ``view`` nodes whose
axes fall, down to a class in memory. No other view stands on a computed value, except a replication over the axis of
the very reduction that made it (a value of a loop that a later loop over the same axis, or the tile of the grid,
uses). Partial results go to memory: no kernel loops over an outer axis.

A stored class may be a tuple of arrays that one kernel writes: at each of its states the fields are collected from the
fields of one derived reduction. Such an array is read as a part of the tuple, so that its kernel counts once.

Choices are split in two. *Heavy* ones decide how a kernel performs: loads, tile products, reductions and derived
reductions. All others are pointwise or layout changes in registers (a reshape that only adds or drops dimensions of
size 1): two programs with the same heavy choices are one
candidate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from equiforge.analysis.dim_rules import drops_units
from equiforge.dialects.inference import surviving_dims
from equiforge.dialects.tile_axes import collected_tile
from equiforge.egraph.graph import REPLICATE, EGraph, ENode

LEAVES = frozenset({"input", "const", "iota", "index"})
STRUCTURAL = frozenset({"transpose", "reshape", "expand", "slice"})
LIGHT = frozenset({"unary", "binary", "select", "cast"})
HEAVY = frozenset({"tilematmul", "reduce", "preduce"})

ANY = -1
"""Demand: the value, computed or loaded."""
COMPUTED = -2
"""Demand: the value, computed in this kernel. A number >= 0 demands that it is made by a reduction over that axis."""

Chain = tuple[tuple[int, ENode], ...]
"""Classes with a node each, from a stored class inwards."""

Demand = tuple[int, int]
"""A class and how it is wanted: ``ANY``, ``COMPUTED`` or an axis."""


@dataclass(frozen=True)
class Load:
    """Tile class ``tile`` read from memory: ``path`` goes from it through gathers, views and layout changes to the
    class ``base``. ``children`` are the indices of the gathers: classes that the kernel computes first.

    ``base`` is an input, a constant, an index vector or a stored class. ``where`` tells loads of one base apart:
    (axis, dimension) pairs on the base, or on the class where a layout change hid its dimensions; the field of a tuple
    has -1 for the axis. ``elements`` is what is read of the base.
    """

    tile: int
    base: int
    where: tuple[tuple[int, ...], ...]
    path: tuple[tuple[int, ENode], ...]
    elements: int
    children: tuple[int, ...] = ()

    @property
    def key(self) -> tuple[object, ...]:
        gathered = (self.tile,) if self.children else ()
        return ("load", self.base, self.where, *gathered)

    @property
    def stored(self) -> int:
        """The array that is read: the base, or one of its fields."""
        return self.path[-1][0] if self.path and self.path[-1][1].op == "get" else self.base


@dataclass
class Option:
    """A heavy choice. ``satisfies`` are all demands that it meets: a load of the same data, or a derived reduction
    with several fields, meets those of several classes."""

    number: int
    kind: str
    key: tuple[object, ...]
    owner: int
    node: ENode | None
    children: tuple[Demand, ...]
    load: Load | None = None
    satisfies: list[Demand] = field(default_factory=lambda: [])


@dataclass(frozen=True)
class Grid:
    """A way to store ``root``: its ``combine`` nodes, and a ``collect`` node, from the root inwards, and the tile that
    a block computes. ``axes`` are those of the chain, rising. ``covered`` are the dimensions of the root that they cut,
    ``-1 - axis`` for the collected one, of which ``collected`` has the number and the tile size. Where the root is a
    tuple, ``chain`` is that of the first field, and ``fields`` has each array with its own."""

    root: int
    axes: tuple[int, ...]
    chain: tuple[tuple[int, ENode], ...]
    tile: int
    covered: frozenset[int]
    collected: tuple[int, int] | None = None
    fields: tuple[tuple[int, Chain], ...] = ()


def product(extents: tuple[int, ...]) -> int:
    """Number of elements of a shape."""
    result = 1
    for extent in extents:
        result *= extent
    return result


def contracted_dim(graph: EGraph, node: ENode) -> int | None:
    """Dimension of the first operand that a product or a reduction inside a tile sums over."""
    if node.op in ("matmul", "tilematmul"):
        return len(graph.types[node.children[0]].shape) - 1
    if node.op == "reduce":
        return int(node.attrs[1])
    return None


class Space:
    """The legal choices of an e-graph, numbered once and shared by all kernels."""

    def __init__(self, graph: EGraph):
        self.graph = graph
        self.options: list[Option] = []
        self._by_key: dict[tuple[object, ...], Option] = {}
        self._loads: dict[int, list[Load]] = {}
        self._chosen: dict[Demand, list[Option]] = {}
        self._grids: dict[int, list[Grid]] = {}
        self.state = {c: dict(t.state) for c, t in graph.types.items()}
        self.leaf = {c: n for c, nodes in graph for n in nodes if n.op in LEAVES}
        self.outer = graph.outer_axes
        self.tuples = {c: n.children for c, nodes in graph for n in nodes if n.op == "tuple"}

    @cached_property
    def contracted_groups(self) -> frozenset[int]:
        """Dimension groups that some product or reduction of whole values sums over; the axes of all others are
        batch-like, also where a loop sums over the heads that a contraction merges with their elements."""
        groups: set[int] = set()
        for class_id, nodes in self.graph:
            for node in nodes if not self.state[class_id] else ():
                dim = contracted_dim(self.graph, node)
                if dim is not None:
                    groups.add(self.graph.types[node.children[0]].groups[dim])
        return frozenset(groups)

    @cached_property
    def storable(self) -> frozenset[int]:
        """Classes that a program may keep in memory: results, products and reductions, values that the user's program
        names, partial results, and tuples of these. Partial results with more elements than all arguments together are
        left out: writing and reading them would take longer than everything else. Arrays of what depends on the first
        field of a tuple are of no use without it, so only the tuple is stored.

        Of classes that only a transposition, or dimensions of size 1, tell apart, one is stored: a result, else a named
        value, else the first. Of those that also reshapes tell apart, the results and the first other.
        """
        results = set(self.graph.roots)
        allowed: list[int] = []
        parts = {c for fields in self.tuples.values() for c in fields[1:]}
        most = sum(product(shape) for _, shape, _ in self.graph.inputs)
        for class_id, nodes in self.graph:
            kind = self.graph.types[class_id]
            if kind.state or class_id in self.leaf or class_id in parts:
                continue
            named = (kind.wide is not None and class_id not in self.graph.inner) or class_id in results
            grids = self.grids(class_id)
            if any(grid.collected for grid in grids):
                stored = self.tuples.get(class_id, (class_id,))
                worth = sum(product(self.graph.types[c].shape) for c in stored) <= most
            else:
                worth = named or any(n.op in ("matmul", "reduce") for n in nodes)
            if grids and worth:
                allowed.append(class_id)
        return frozenset(self._one_layout_each(allowed, results))

    def _one_layout_each(self, allowed: list[int], results: set[int]) -> list[int]:
        def order(c: int) -> tuple[bool, int]:
            return (self.graph.types[c].wide is None, c)

        # What transpositions and dimensions of size 1 tell apart has kernels of one structure; a reshape may not.
        alike, arrays = self._layouts(self.is_pointwise), self._layouts(lambda _: True)
        first: dict[int, int] = {}
        for class_id in sorted(allowed, key=lambda c: (c not in results, *order(c))):
            first.setdefault(alike[class_id], class_id)
        kept: dict[int, int] = {}
        for class_id in sorted(first.values(), key=order):
            kept.setdefault(arrays[class_id], class_id)
        stored = {c for c in allowed if kept[arrays[c]] == c or c in results}
        return [c for c in allowed if c in stored and not self._totals(c).isdisjoint(stored)]

    def _totals(self, array: int) -> set[int]:
        """The classes that the totals of an array of partial results are; of another array, itself."""
        if not any(grid.collected for grid in self.grids(array)):
            return {array}
        totals = {total for part in self._reduced.get(array, ()) for total in self._reshaped.get(part, ())}
        return totals or {array}

    @cached_property
    def _reduced(self) -> dict[int, list[int]]:
        return self._users("reduce")

    @cached_property
    def _reshaped(self) -> dict[int, list[int]]:
        return self._users("reshape")

    def _users(self, op: str) -> dict[int, list[int]]:
        """The classes at tensor level that use each class by an op."""
        found: dict[int, list[int]] = {}
        for class_id, nodes in self.graph:
            for node in nodes if not self.state[class_id] else ():
                if node.op == op:
                    found.setdefault(node.children[0], []).append(class_id)
        return found

    def _layouts(self, same: Callable[[ENode], bool]) -> dict[int, int]:
        """For each class at tensor level one of those that transpositions and some reshapes of it are."""
        leader = {c: c for c, state in self.state.items() if not state}

        def find(c: int) -> int:
            while leader[c] != c:
                leader[c] = leader[leader[c]]
                c = leader[c]
            return c

        for class_id in leader:
            for node in self.graph.nodes[class_id]:
                if node.op == "transpose" or (node.op == "reshape" and same(node)):
                    leader[find(class_id)] = find(node.children[0])
        return {c: find(c) for c in leader}

    def grids(self, root: int) -> list[Grid]:
        """The grids on which a kernel may compute ``root``; empty if it is not computed as a whole value in any way.

        Every dimension of a batch-like group that can be cut is cut: a grid without it has the same structure and
        less parallelism.
        """
        if root not in self._grids:
            self._grids[root] = self._find_grids(root)
        return self._grids[root]

    def _find_grids(self, root: int) -> list[Grid]:
        fields = self.tuples.get(root)
        found = self._walk(root) if fields is None else self._tuple_grids(root, fields)
        coverable: set[int] = set()
        for grid in found:
            coverable |= grid.covered
        groups = self.graph.types[root].groups
        needed = {d for d in coverable if d >= 0 and groups[d] not in self.contracted_groups}
        # The axes of one group are interchangeable: of the grids that cut the same dimensions, the first stands for
        # all.
        best: dict[frozenset[int], Grid] = {}
        for grid in found:
            known = best.get(grid.covered)
            if needed <= grid.covered and (known is None or grid.axes < known.axes):
                best[grid.covered] = grid
        return sorted(best.values(), key=lambda g: (-len(g.axes), g.axes))

    def _walk(self, root: int) -> list[Grid]:
        """All chains from a stored class to a tile that a kernel may compute."""
        found: list[Grid] = []

        def walk(class_id: int, chain: Chain, covered: frozenset[int]) -> None:
            axes = tuple(self._axis_of(n) for _, n in chain)
            collected = self._collected(chain)
            if any(self._computes(n) for n in self.graph.nodes[class_id]):
                found.append(Grid(root, tuple(sorted(axes)), chain, class_id, covered, collected))
            if collected is not None:
                return
            for node in self.graph.nodes[class_id]:
                axis = self._axis_of(node) if node.op in ("combine", "collect") else -1
                step = (*chain, (class_id, node))
                if node.op == "combine" and (not axes or axis > axes[-1]):
                    walk(node.children[0], step, covered | {int(node.attrs[0])})
                elif node.op == "collect" and axis not in axes:
                    walk(node.children[0], step, covered | {-1 - axis})

        walk(root, (), frozenset())
        return found

    def _tuple_grids(self, root: int, arrays: tuple[int, ...]) -> list[Grid]:
        """Grids of which the blocks compute the tuples that all arrays are collected from."""
        chains: dict[tuple[int, int], Grid] = {}
        for index, array in enumerate(arrays):
            for grid in self._walk(array):
                if grid.collected is not None:
                    for node in self.graph.nodes[grid.tile]:
                        if node.op == "get" and node.attrs[0] == index:
                            chains[node.children[0], index] = grid
        found: list[Grid] = []
        for made, index in chains:
            fields = [chains.get((made, i)) for i in range(len(arrays))]
            if index == 0 and all(grid is not None and grid.axes == fields[0].axes for grid in fields if fields[0]):
                first = chains[made, 0]
                parts = tuple((grid.root, grid.chain) for grid in fields if grid is not None)
                found.append(Grid(root, first.axes, first.chain, made, first.covered, first.collected, parts))
        return found

    def _computes(self, node: ENode) -> bool:
        """Whether a kernel may make a tile by this node, other than reading it as a whole."""
        return self._is_heavy(node) or node.op in LEAVES or node.op in ("get", "gather") or self.is_pointwise(node)

    def _is_heavy(self, node: ENode) -> bool:
        return node.op in HEAVY and not (node.op == "preduce" and node.attrs[1] in self.outer)

    def is_pointwise(self, node: ENode) -> bool:
        """Whether a node is done in registers element by element: a pointwise operation, or a reshape by dimensions of
        size 1."""
        if node.op == "reshape":
            return drops_units(self.graph.types[node.children[0]].shape, tuple(int(n) for n in node.attrs))
        return node.op in LIGHT

    def _collected(self, chain: tuple[tuple[int, ENode], ...]) -> tuple[int, int] | None:
        """Number and tile size of the axis that the end of a chain collects."""
        if not chain or chain[-1][1].op != "collect":
            return None
        class_id, node = chain[-1]
        axis = self._axis_of(node)
        return axis, collected_tile(self.graph.axes[axis].extent, self.graph.types[class_id].shape[0])

    @staticmethod
    def _axis_of(node: ENode) -> int:
        return int(node.attrs[-1])

    def loads(self, class_id: int) -> list[Load]:
        """All ways to read a class from memory, one for each place that it may be in; the shortest path first."""
        if class_id not in self._loads:
            best: dict[tuple[object, ...], Load] = {}
            for load in (*self._gathered(class_id), *self._paths(class_id, frozenset())):
                known = best.get(load.key)
                if known is None or len(load.path) < len(known.path):
                    best[load.key] = load
            self._loads[class_id] = sorted(best.values(), key=lambda d: (len(d.path), d.base, d.where))
        return self._loads[class_id]

    def _gathered(self, class_id: int, above: frozenset[int] = frozenset()) -> list[Load]:
        """Reads at computed positions: gathers of what is read otherwise, by indices that vary along one dimension each
        or are those of the last gather."""
        found: list[Load] = []
        for node in self.graph.nodes[class_id]:
            if node.op == "gather":
                source, index = node.children
                for load in (*self._paths(source, frozenset()), *self._inner_gathers(node, above | {class_id})):
                    path = ((class_id, node), *load.path)
                    elements = min(load.elements, product(self.graph.types[class_id].shape))
                    found.append(Load(class_id, load.base, load.where, path, elements, (index, *load.children)))
        return found

    def _inner_gathers(self, node: ENode, above: frozenset[int]) -> list[Load]:
        """Gathers along other dimensions under one: their indices must not vary along its dimension."""
        dim = int(node.attrs[0])
        fitting: list[Load] = []
        for load in self._gathered(node.children[0], above) if node.children[0] not in above else ():
            steps = [step for _, step in load.path if step.op == "gather"]
            apart = all(int(step.attrs[0]) != dim for step in steps)
            if apart and all(self.graph.types[index].shape[dim] == 1 for index in load.children):
                fitting.append(load)
        return fitting

    def _paths(self, class_id: int, above: frozenset[int]) -> list[Load]:
        state = self.state[class_id]
        found: list[Load] = []
        if not state:
            if class_id in self.leaf or class_id in self.storable:
                elements = product(self.graph.types[class_id].shape)
                found.append(Load(class_id, class_id, (), (), elements))
            if class_id not in self.leaf:
                for node in self.graph.nodes[class_id]:
                    if node.op == "get" and node.children[0] in self.storable:
                        step, elements = (class_id, node), product(self.graph.types[class_id].shape)
                        field = (REPLICATE, int(node.attrs[0]))
                        found.append(Load(class_id, node.children[0], (field,), (step,), elements))
                    if node.op in STRUCTURAL and node.children[0] not in above:
                        below = self._paths(node.children[0], above | {class_id})
                        found.extend(self._through_layout(class_id, node, load) for load in below)
            return found
        last = max(state)
        for node in self.graph.nodes[class_id]:
            if node.op == "view" and node.attrs[1] == last and node.children[0] not in above:
                for load in self._paths(node.children[0], above | {class_id}):
                    found.append(self.through_view(class_id, node, load))
        return found

    def _through_layout(self, class_id: int, node: ENode, load: Load) -> Load:
        path = ((class_id, node), *load.path)
        elements = min(load.elements, product(self.graph.types[class_id].shape))
        return Load(class_id, load.base, load.where, path, elements)

    def views(self, class_id: int) -> list[ENode]:
        """The views among the e-nodes of a class."""
        return [node for node in self.graph.nodes[class_id] if node.op == "view"]

    def through_view(self, class_id: int, node: ENode, load: Load) -> Load:
        """The load of a class by a view of what another load reads."""
        dim, axis = int(node.attrs[0]), int(node.attrs[1])
        path = ((class_id, node), *load.path)
        if dim == REPLICATE:
            return Load(class_id, load.base, load.where, path, load.elements)
        where: tuple[int, ...] = (axis, dim)
        for owner, step in load.path:
            if step.op == "transpose":
                where = (axis, int(step.attrs[where[1]]))
            elif step.op == "reshape" and self.is_pointwise(step):
                place = surviving_dims(self.graph.types[step.children[0]].shape, self.graph.types[owner].shape)
                where = (axis, place[where[1]])
            elif step.op in STRUCTURAL:
                where = (axis, where[1], owner)
                break
        return Load(class_id, load.base, tuple(sorted((*load.where, where))), path, load.elements)

    def is_free(self, class_id: int) -> Load | None:
        """The load of a class that costs no memory access: constants and index vectors, and such at positions that are
        index vectors."""
        for load in self.loads(class_id):
            made = self.leaf.get(load.base, ENode("", (), ())).op in ("const", "iota", "index")
            if made and all(self.is_free(index) is not None for index in load.children):
                return load
        return None

    def light_nodes(self, class_id: int) -> list[tuple[ENode, tuple[Demand, ...]]]:
        """Pointwise and layout nodes of a class, and uses of a finished reduction, with what they demand."""
        result: list[tuple[ENode, tuple[Demand, ...]]] = []
        for node in self.graph.nodes[class_id]:
            if self.is_pointwise(node):
                result.append((node, tuple((c, ANY) for c in node.children)))
            elif node.op == "view" and node.attrs[0] == REPLICATE:
                axis = int(node.attrs[1])
                if self.chosen_by((node.children[0], axis)):
                    result.append((node, ((node.children[0], axis),)))
        return result

    def chosen_by(self, demand: Demand) -> list[Option]:
        """The heavy options that meet a demand, in a fixed order."""
        if demand not in self._chosen:
            self._chosen[demand] = self._find_options(demand)
        return self._chosen[demand]

    def _find_options(self, demand: Demand) -> list[Option]:
        class_id, wanted = demand
        found: list[Option] = []
        for node in self.graph.nodes[class_id]:
            if node.op == "rolling":
                found.append(self._option("rolling", (class_id, node), class_id, node))
            if self._is_heavy(node):
                if wanted < 0 or (node.op == "preduce" and node.attrs[1] == wanted):
                    found.append(self._option(node.op, (class_id, node), class_id, node))
            elif node.op == "get":
                for rolling in self.graph.nodes[node.children[0]]:
                    if rolling.op == "rolling" and (wanted < 0 or rolling.attrs[1] == wanted):
                        key = (node.children[0], rolling)
                        found.append(self._option("rolling", key, node.children[0], rolling))
        if wanted < 0 and self.is_free(class_id) is None:
            for load in self.loads(class_id):
                # A kernel that reads at positions that it computes does more than copy.
                if wanted == ANY or load.children:
                    option = self._option("load", load.key, class_id, None)
                    option.load = option.load or load
                    option.children = tuple((index, ANY) for index in load.children)
                    found.append(option)
        for option in found:
            option.satisfies.append(demand)
        return found

    def _option(self, kind: str, key: tuple[object, ...], owner: int, node: ENode | None) -> Option:
        if key not in self._by_key:
            children = () if node is None else tuple((c, ANY) for c in node.children)
            option = Option(len(self.options), kind, key, owner, node, children)
            self.options.append(option)
            self._by_key[key] = option
        return self._by_key[key]
