"""The e-graph as an egglog program: terms of the initial classes, their types, and the tables that the rules read."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable

from equiforge.dialects.inference import surviving_dims
from equiforge.dialects.op_table import OPERATOR_FACTS
from equiforge.egraph.graph import EGraph, ENode
from equiforge.egraph.reshape_tables import ReshapeTables

Dims = tuple[int, ...]
"""A logical type as the rules see it: the shape, then the dimension group of each dimension."""

_MAX_TYPES = 160
_MOST_GROWTH = 3
"""How often as many types as a program has its tables may have, if that is more."""
_COLLECTED_TILE = 256
_MOST_SLICES = 64
SPLIT_BELOW = 1 << 21
"""Elements of a result from which on its tiles, 128 of 128 x 128, fill the largest devices: it is not reduced in
slices."""
_LAUNCH_WORK = 1 << 31
"""Multiply-adds in the time of one more kernel launch, on the fastest devices: others do fewer."""
_ELEMENT_WORK = 512
"""Multiply-adds in the time in which one element is stored and loaded, likewise."""


def _vec(values: Iterable[int]) -> str:
    items = " ".join(str(v) for v in values)
    return f"(vec-of {items})" if items else "(vec-empty)"


def _quoted(name: str) -> str:
    return f'"{name}"'


def _number(value: float) -> str:
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    return repr(float(value))


def _term(node: ENode) -> str:
    kids = " ".join(f"$c{c}" for c in node.children)
    attrs = node.attrs
    match node.op:
        case "input":
            return f"(Input {attrs[0]})"
        case "const":
            return f'(Const "{attrs[0]}")'
        case "iota":
            return f"(Iota {attrs[0]} {attrs[1]})"
        case "index":
            numbers = [int(a) for a in attrs]
            return f"(Index {_vec(numbers[:-7])} {_vec(numbers[-7:])})"
        case "unary" | "binary":
            return f'({node.op.capitalize()} "{attrs[0]}" {kids})'
        case "cast":
            return f'(Cast "{attrs[0]}" {kids})'
        case "select":
            return f"(Select {kids})"
        case "matmul":
            return f"(MatMul {kids})"
        case "tilematmul":
            return f"(TileMatMul {kids})"
        case "reduce":
            return f'(Reduce "{attrs[0]}" {attrs[1]} {kids})'
        case "preduce":
            return f'(PReduce "{attrs[0]}" {attrs[1]} {kids})'
        case "transpose" | "reshape" | "expand" | "slice":
            return f"({node.op.capitalize()} {_vec(int(a) for a in attrs)} {kids})"
        case "concat":
            return f"(Concat {attrs[0]} {kids})"
        case "gather":
            return f"(Gather {attrs[0]} {kids})"
        case "view":
            return f"(View {attrs[0]} {attrs[1]} {kids})"
        case "combine":
            return f"(Combine {attrs[0]} {attrs[1]} {kids})"
        case "collect":
            return f"(Collect {attrs[0]} {kids})"
        case _:
            raise ValueError(f"e-node {node.op} has no egglog form")


def _definition_order(graph: EGraph) -> list[tuple[int, ENode]]:
    """Classes with one defining node each, every child before its user."""
    order: list[tuple[int, ENode]] = []
    defined: set[int] = set()
    pending = dict(graph.nodes)
    while pending:
        ready = [(c, n) for c, nodes in pending.items() for n in nodes[:] if all(k in defined for k in n.children)]
        if not ready:
            raise ValueError("the e-graph has a class with no finite term")
        for class_id, node in ready:
            if class_id not in defined:
                defined.add(class_id)
                order.append((class_id, node))
                del pending[class_id]
    return order


def _broadcast(a: Dims, b: Dims) -> Dims | None:
    """Result type of a pointwise op, or None if the two types don't fit."""
    if len(a) != len(b):
        return None
    rank = len(a) // 2
    shape: list[int] = []
    groups: list[int] = []
    for i in range(rank):
        if a[i] != 1 and b[i] != 1 and (a[i] != b[i] or a[rank + i] != b[rank + i]):
            return None
        wide = a if a[i] != 1 else b
        shape.append(wide[i])
        groups.append(wide[rank + i])
    return (*shape, *groups)


def _permute(perm: Dims, ty: Dims) -> Dims:
    rank = len(perm)
    return (*(ty[p] for p in perm), *(ty[rank + p] for p in perm))


def _closed_types(types: set[Dims], perms: list[Dims]) -> set[Dims]:
    """Types closed under broadcasting and the given permutations, up to a limit."""
    most = max(_MAX_TYPES, _MOST_GROWTH * len(types))
    types = set(types)
    frontier = set(types)
    while frontier and len(types) < most:
        fresh: set[Dims] = set()
        for a in frontier:
            fresh.update(_permute(p, a) for p in perms if 2 * len(p) == len(a))
            fresh.update(t for b in types if (t := _broadcast(a, b)) is not None)
        frontier = fresh - types
        types |= frontier
    return types


def _program_types(graph: EGraph) -> set[Dims]:
    return {(*t.shape, *t.groups) for t in graph.types.values()} | _place_types(graph)


def _place_types(graph: EGraph) -> set[Dims]:
    """Types of the positions along dimensions that are joined, cut or gathered."""
    found: set[Dims] = set()
    for class_id, nodes in graph:
        kind = graph.types[class_id]
        rank = len(kind.shape)
        for node in nodes:
            if node.op in ("concat", "slice", "gather"):
                dim = int(node.attrs[0])
                shape = [n if d == dim else 1 for d, n in enumerate(kind.shape)]
                groups = [g if d == dim else -1 for d, g in enumerate(kind.groups)]
                found.add((*shape, *groups) if rank else ())
    return found


def _gather_tables(graph: EGraph, types: list[Dims]) -> list[str]:
    """Types of gathers of the operands that the index of some gather of the program may meet."""
    lines: list[str] = []
    known: set[tuple[int, Dims]] = set()
    for _, nodes in graph:
        for node in nodes:
            if node.op != "gather":
                continue
            dim, index = int(node.attrs[0]), graph.types[node.children[1]]
            known.add((dim, (*index.shape, *index.groups)))
    for dim, chosen in sorted(known):
        rank = len(chosen) // 2
        for source in types:
            if len(source) == len(chosen):
                joined = _broadcast(_with_dim(source, dim, 1, -1), _with_dim(chosen, dim, 1, -1))
                if joined is not None:
                    result = _with_dim(joined, dim, chosen[dim], chosen[rank + dim])
                    lines.append(f"(set (gathered {dim} {_vec(source)} {_vec(chosen)}) {_vec(result)})")
    return lines


def _with_dim(ty: Dims, dim: int, extent: int, group: int) -> Dims:
    """The type with another extent and group in one dimension."""
    changed = list(ty)
    changed[dim], changed[len(ty) // 2 + dim] = extent, group
    return tuple(changed)


def program_text(graph: EGraph) -> str:
    """The egglog program that declares ``graph``: terms ``$c<class>``, their types and states, storable classes and
    tables."""
    lines: list[str] = []
    order = _definition_order(graph)
    for class_id, node in order:
        lines.append(f"(let $c{class_id} {_term(node)})")
    first = dict(order)
    for class_id, nodes in graph.nodes.items():
        lines.extend(f"(union $c{class_id} {_term(n)})" for n in nodes if n != first[class_id])
    for class_id, kind in graph.types.items():
        lines.append(f"(set (ty $c{class_id}) {_vec((*kind.shape, *kind.groups))})")
        state = "(map-empty)"
        for axis, dim in kind.state:
            state = f"(map-insert {state} {axis} {dim})"
        lines.append(f"(set (state $c{class_id}) {state})")
        if kind.element[0] == "i":
            lines.append(f"(finite $c{class_id})")
        if kind.wide is not None and not kind.state and class_id not in graph.inner:
            lines.append(f"(chain $c{class_id} -1 {_vec(0 for _ in kind.shape)})")
    uses = Counter(child for nodes in graph.nodes.values() for child in {c for n in nodes for c in n.children})
    uses.update(graph.roots)
    lines.extend(f"(regroups $c{class_id})" for class_id in graph.nodes if uses[class_id] == 1)
    for class_id in graph.roots:
        if all(n.op not in ("input", "transpose", "reshape", "slice") for n in graph.nodes[class_id]):
            lines.append(f"(computed $c{class_id})")
    for key, (_, _, values) in graph.constants.items():
        if len(values) == 1 and values[0] == 0 and math.copysign(1.0, values[0]) < 0:
            lines.append(f'(negative-zero (Const "{key}"))')
        elif len(values) == 1:
            lines.append(f'(set (constant (Const "{key}")) {_number(float(values[0]))})')
    lines.extend(_tables(graph))
    return "\n".join(lines)


def _tables(graph: EGraph) -> list[str]:
    ranks = sorted({len(t.shape) for t in graph.types.values()})
    perms: list[Dims] = [(*range(r - 2), r - 1, r - 2) for r in ranks if r >= 2]
    perms += [tuple(int(a) for a in n.attrs) for nodes in graph.nodes.values() for n in nodes if n.op == "transpose"]
    reshapes = ReshapeTables(graph, _program_types(graph))
    closed = set(perms)
    for p, q in itertools.product(perms, perms):
        if len(p) == len(q):
            closed.add(tuple(q[i] for i in p))
    perms = sorted(closed)
    closed_types = _closed_types(_program_types(graph) | reshapes.own_types, perms)
    # Where reshapes move, all types are known: they need not be closed under what algebra makes of them.
    types = sorted(closed_types | reshapes.types)
    lines = [f"(dim {i})" for i in range(-1, max(ranks, default=0) + 1)]
    lines[0] = ""
    lines += [f"(set (zeros {r}) {_vec([0] * r)})" for r in {*ranks, *(r + 1 for r in ranks)}]
    lines += [f"(set (unit-type {r}) {_vec([1] * r + [-1] * r)})" for r in ranks]
    lines += [f"(set (swap-last {r}) {_vec((*range(r - 2), r - 1, r - 2))})" for r in ranks if r >= 2]
    lines += [f"(identity {_vec(tuple(range(r)))})" for r in ranks]
    for p, q in itertools.product(sorted(closed | reshapes.perms), repeat=2):
        if len(p) == len(q) and ((c := tuple(q[i] for i in p)) in closed or not {p, q} <= closed):
            lines.append(f"(set (composed {_vec(p)} {_vec(q)}) {_vec(c)})")
    for p, t in itertools.product(perms, sorted(closed_types)):
        if 2 * len(p) == len(t):
            lines.append(f"(set (transposed {_vec(p)} {_vec(t)}) {_vec(_permute(p, t))})")
    for a, b in itertools.product(sorted(closed_types), repeat=2):
        if (t := _broadcast(a, b)) is not None:
            lines.append(f"(set (broadcast {_vec(a)} {_vec(b)}) {_vec(t)})")
    lines += _reshape_table(graph)
    lines += _storage_tables(graph, types)
    lines += _gather_tables(graph, types)
    lines += _axis_tables(graph, max(ranks, default=0))
    lines += _repeat_tables(graph)
    lines += reshapes.lines()
    for relation, rows in OPERATOR_FACTS.items():
        lines += [f"({relation} {' '.join(map(_quoted, row))})" for row in rows]
    if all(0 not in t.shape for t in graph.types.values()):
        lines.append("(nonempty)")
    return [line for line in lines if line]


def _axis_tables(graph: EGraph, rank: int) -> list[str]:
    inner = {axis.within: number for number, axis in enumerate(graph.axes) if axis.within >= 0}
    lines: list[str] = []
    last: dict[int, int] = {}
    for number, axis in enumerate(graph.axes):
        if number in inner:
            lines.append(f"(outer {axis.group} {number} {inner[number]})")
        else:
            before = last.get(axis.group, number)
            last[axis.group] = number
            lines += [f"(axis {axis.group} {number} {before})", f"(inward -1 {number})"]
            lines.append(f"(set (around {number}) {axis.within})")
        if axis.within >= 0:
            lines.append(f"(within {number} {axis.within})")
        lines += [f"(inward {dim} {number})" for dim in range(rank + 1)]
    return lines


def _repeat_tables(graph: EGraph) -> list[str]:
    """How far from an axis's dimension its tiles may compute values again, each for itself, and which contractions.

    Within reach is what comes at most one product before the first that has the dimension; a value that is never
    stored counts with its user. A contraction is small enough when storing its result and loading it costs more than
    the additional work.
    """
    level: dict[int, int] = {}
    first: dict[int, int] = {}
    products: list[tuple[int, int, int]] = []
    lines: list[str] = []
    order = _definition_order(graph)
    for class_id, node in order:
        level[class_id] = max((level[c] for c in node.children), default=0) + (node.op == "matmul")
        if node.op == "matmul":
            left = graph.types[node.children[0]]
            products.append((left.groups[-1], left.shape[-1], math.prod(graph.types[class_id].shape)))
            for group in (g for operand in node.children for g in graph.types[operand].groups):
                first[group] = min(first.get(group, level[class_id]), level[class_id])
    for class_id, node in reversed(order):
        for child in graph.inner.intersection(node.children):
            level[child] = max(level[child], level[class_id])
            lines.append(f"(set (level $c{child}) {level[child]})")
    for number, axis in enumerate(graph.axes):
        lines.append(f"(set (reach {number}) {first.get(axis.group, 1) - 1})")
        if number in graph.outer_axes:
            continue
        again = -(-axis.extent // _COLLECTED_TILE) - 1
        small = {k for k, length, size in products if again * size * length <= _LAUNCH_WORK + _ELEMENT_WORK * size}
        lines += [f"(repeats {number} {k})" for k in sorted(small)]
    return lines


def _reshape_table(graph: EGraph) -> list[str]:
    targets = {tuple(int(a) for a in n.attrs) for nodes in graph.nodes.values() for n in nodes if n.op == "reshape"}
    lines: list[str] = []
    for kind in {(t.shape, t.groups) for t in graph.types.values()}:
        shape, groups = kind
        size = _product(shape)
        for target in sorted(targets):
            if _product(target) == size:
                for j, i in surviving_dims(shape, target).items():
                    lines.append(f"(set (survives {_vec((*shape, *groups))} {_vec(target)} {j}) {i})")
    return lines


def collect_count(extent: int, most: int | None = None) -> int:
    """Partial results that a reduction over an axis is stored as: tiles of 256 elements, or of half the extent
    rounded up to a power of two. Tiles grow by powers of two to be at most ``most``: those of an outer axis hold work
    for a loop, and more of them than it takes to fill a device only cost memory traffic.

    >>> collect_count(4096, 64), collect_count(16384, 64), collect_count(1 << 20, 64), collect_count(100)
    (16, 64, 64, 2)
    """
    tile = _COLLECTED_TILE
    while most is not None and -(-extent // tile) > most:
        tile *= 2
    while tile >= extent and tile > 1:
        tile //= 2
    return -(-extent // tile)


def _storage_tables(graph: EGraph, types: list[Dims]) -> list[str]:
    """Types of collected partial results, and the reshapes that drop their leading dimension once it is reduced."""
    lines: list[str] = []
    for t in types:
        shape, groups = t[: len(t) // 2], t[len(t) // 2 :]
        lines.append(f"(set (shape-of {_vec(t)}) {_vec(shape)})")
        reduced = _vec((1, *shape, -1, *groups))
        lines += [f"(set (survives {reduced} {_vec(shape)} {j}) {j + 1})" for j, n in enumerate(shape) if n != 1]
        for number, axis in enumerate(graph.axes if _product(shape) < SPLIT_BELOW else ()):
            if axis.within >= 0:
                continue  # slices of the outer axis are collected
            most = _MOST_SLICES if number in graph.outer_axes else None
            stored = _vec((collect_count(axis.extent, most), *shape, -1, *groups))
            lines.append(f"(set (collected {number} {_vec(t)}) {stored})")
    return lines


def _product(shape: Dims) -> int:
    size = 1
    for extent in shape:
        size *= extent
    return size
