"""Reads a saturated egglog e-graph out in bulk, into the array form of :class:`EGraph`."""

from __future__ import annotations

from typing import Any

from equiforge.egraph.graph import INDEX_ELEMENT, ClassType, EGraph, ENode

CONSTRUCTORS: dict[str, tuple[str, str]] = {
    "Input": ("input", "i"),
    "Const": ("const", "s"),
    "Iota": ("iota", "ii"),
    "Index": ("index", "vv"),
    "Unary": ("unary", "sc"),
    "Binary": ("binary", "scc"),
    "Select": ("select", "ccc"),
    "Cast": ("cast", "sc"),
    "MatMul": ("matmul", "cc"),
    "TileMatMul": ("tilematmul", "cc"),
    "Reduce": ("reduce", "sic"),
    "PReduce": ("preduce", "sic"),
    "Transpose": ("transpose", "vc"),
    "Reshape": ("reshape", "vc"),
    "Expand": ("expand", "vc"),
    "Slice": ("slice", "vc"),
    "Concat": ("concat", "icc"),
    "Gather": ("gather", "icc"),
    "View": ("view", "iic"),
    "Combine": ("combine", "iic"),
    "Collect": ("collect", "ic"),
}
"""egglog constructor -> operator and the kinds of its arguments: integer, string, vector (spliced into attrs),
class."""


class Values:
    """Decodes egglog values, each once."""

    def __init__(self, egraph: Any):
        self._egraph = egraph
        self._ints: dict[Any, int] = {}
        self._strings: dict[Any, str] = {}
        self._vecs: dict[Any, tuple[int, ...]] = {}
        self._maps: dict[Any, tuple[tuple[int, int], ...]] = {}

    def integer(self, value: Any) -> int:
        if value not in self._ints:
            self._ints[value] = self._egraph.value_to_i64(value)
        return self._ints[value]

    def string(self, value: Any) -> str:
        if value not in self._strings:
            self._strings[value] = self._egraph.value_to_string(value)
        return self._strings[value]

    def vector(self, value: Any) -> tuple[int, ...]:
        if value not in self._vecs:
            self._vecs[value] = tuple(self.integer(v) for v in self._egraph.value_to_vec(value))
        return self._vecs[value]

    def mapping(self, value: Any) -> tuple[tuple[int, int], ...]:
        if value not in self._maps:
            pairs = self._egraph.value_to_map(value).items()
            self._maps[value] = tuple(sorted((self.integer(k), self.integer(v)) for k, v in pairs))
        return self._maps[value]


def read_out(egraph: Any, initial: EGraph) -> EGraph:
    """All classes that the roots reach, with their types; ``initial`` is the e-graph that the run started from.

    e-nodes with a child whose type could not be derived are left out: they are incomplete, not wrong.
    """
    functions = egraph.freeze().functions
    values = Values(egraph)
    ids: dict[Any, int] = {}

    def class_id(value: Any) -> int:
        return ids.setdefault(value, len(ids))

    types = {class_id(r.inputs[0]): values.vector(r.output) for r in functions["ty"].rows}
    states = {class_id(r.inputs[0]): values.mapping(r.output) for r in functions["state"].rows}
    nodes: dict[int, list[ENode]] = {}
    for name, (op, kinds) in CONSTRUCTORS.items():
        for row in functions[name].rows:
            attrs: list[str | int] = []
            children: list[int] = []
            for kind, value in zip(kinds, row.inputs, strict=True):
                match kind:
                    case "i":
                        attrs.append(values.integer(value))
                    case "s":
                        attrs.append(values.string(value))
                    case "v":
                        attrs.extend(values.vector(value))
                    case _:
                        children.append(class_id(value))
            owner = class_id(row.output)
            if owner in types and owner in states and all(c in types and c in states for c in children):
                nodes.setdefault(owner, []).append(ENode(op, tuple(attrs), tuple(children)))
    renamed = {old: class_id(functions[f"$c{old}"].rows[0].output) for old in initial.nodes}
    _drop_incomplete(nodes)
    kept = _reachable(nodes, [renamed[r] for r in initial.roots])
    numbers = {old: new for new, old in enumerate(sorted(kept))}
    result = EGraph(
        nodes={numbers[c]: _renumber(nodes[c], numbers) for c in sorted(kept)},
        types={numbers[c]: _untyped(types[c], states[c]) for c in sorted(kept)},
        roots=[numbers[renamed[r]] for r in initial.roots],
        axes=list(initial.axes),
        inputs=list(initial.inputs),
        constants=dict(initial.constants),
        root_elements=list(initial.root_elements),
        numerics=initial.numerics,
    )

    def number_of(old: int) -> int | None:
        return numbers.get(renamed[old])

    for old in initial.nodes:
        new = number_of(old)
        if new is None:
            continue
        if old in initial.names:
            result.names.setdefault(new, initial.names[old])
        if old in initial.locations:
            result.locations.setdefault(new, initial.locations[old])
    storage = [(numbers[renamed[old]], initial.types[old]) for old in initial.nodes if renamed[old] in numbers]
    result.inner = {new for new in map(number_of, initial.inner) if new is not None}
    outer = {new for old in set(initial.nodes) - initial.inner if (new := number_of(old)) is not None}
    result.inner = _with_layouts(result, result.inner, outer)
    _set_elements(result, initial)
    _set_storage(result, storage)
    return result


def _drop_incomplete(nodes: dict[int, list[ENode]]) -> None:
    """Drops e-nodes over classes that have none themselves (their types could not be derived)."""
    while True:
        incomplete = {c for owned in nodes.values() for n in owned for c in n.children if c not in nodes}
        if not incomplete:
            return
        for owner in list(nodes):
            nodes[owner] = [n for n in nodes[owner] if incomplete.isdisjoint(n.children)]
            if not nodes[owner]:
                del nodes[owner]


def _reachable(nodes: dict[int, list[ENode]], roots: list[int]) -> set[int]:
    seen: set[int] = set()
    stack = list(roots)
    while stack:
        current = stack.pop()
        if current not in seen:
            seen.add(current)
            stack.extend(c for n in nodes.get(current, ()) for c in n.children)
    return {c for c in seen if c in nodes}


def _renumber(nodes: list[ENode], numbers: dict[int, int]) -> list[ENode]:
    usable = [n for n in nodes if all(c in numbers for c in n.children)]
    return sorted(ENode(n.op, n.attrs, tuple(numbers[c] for c in n.children)) for n in usable)


def _untyped(ty: tuple[int, ...], state: tuple[tuple[int, int], ...]) -> ClassType:
    rank = len(ty) // 2
    return ClassType(shape=ty[:rank], state=state, groups=ty[rank:], element="")


def _with_layouts(graph: EGraph, inner: set[int], outer: set[int]) -> set[int]:
    """Inner values that are no other value of the program, and what only the layout tells apart from them."""
    found = inner - outer
    changed = True
    while changed:
        fresh = {
            class_id
            for class_id, nodes in graph
            if class_id not in outer
            and any(n.op in ("transpose", "reshape", "expand") and n.children[0] in found for n in nodes)
        }
        changed = not fresh <= found
        found |= fresh
    return found


_BOOLEAN = {"not"}


def _node_element(node: ENode, element: dict[int, str], initial: EGraph, float_element: str) -> str | None:
    match node.op:
        case "input":
            storage = initial.inputs[int(node.attrs[0])][2]
            return float_element if storage[0] in "fb" else storage
        case "const":
            storage = initial.constants[str(node.attrs[0])][0]
            return float_element if storage[0] in "fb" else storage
        case "index":
            return INDEX_ELEMENT
        case "iota":
            return next(initial.types[c].element for c, nodes in initial for n in nodes if n == node)
        case "cast":
            target = str(node.attrs[0])
            return float_element if target[0] in "fb" else target
        case "binary" if str(node.attrs[0]).startswith("cmp."):
            return "i1"
        case "select":
            return element.get(node.children[1])
        case "unary" if str(node.attrs[0]) in _BOOLEAN:
            return "i1"
        case _:
            return element.get(node.children[0])


def _set_elements(graph: EGraph, initial: EGraph) -> None:
    """Element type at which each class is computed: one float type for a whole program, integers as they are."""
    wide = any(t.element == "f64" for t in initial.types.values())
    float_element = "f64" if wide else "f32"
    element: dict[int, str] = {}
    users: dict[int, list[tuple[int, ENode]]] = {}
    ready: list[tuple[int, ENode]] = []
    for class_id, nodes in graph:
        for node in nodes:
            for child in node.children:
                users.setdefault(child, []).append((class_id, node))
            if not node.children:
                ready.append((class_id, node))
    while ready:
        class_id, node = ready.pop()
        if class_id in element:
            continue
        found = _node_element(node, element, initial, float_element)
        if found is not None:
            element[class_id] = found
            ready.extend(users.get(class_id, ()))
    for class_id, kind in graph.types.items():
        graph.types[class_id] = ClassType(kind.shape, kind.state, kind.groups, element.get(class_id, float_element))


_WIDTH = {
    "i1": 0,
    "i8": 1,
    "f8E4M3FN": 1,
    "f8E5M2": 1,
    "bf16": 2,
    "f16": 3,
    "i16": 3,
    "f32": 4,
    "i32": 4,
    "f64": 5,
    "i64": 5,
}


def _set_storage(graph: EGraph, original: list[tuple[int, ClassType]]) -> None:
    """Storage types of original values, carried over to their tiles: views don't change a value."""
    wide: dict[int, str] = {}
    narrow: dict[int, str] = {}
    for class_id, kind in original:
        if kind.wide is not None and kind.narrow is not None:
            wide[class_id] = max(wide.get(class_id, kind.wide), kind.wide, key=_WIDTH.__getitem__)
            narrow[class_id] = min(narrow.get(class_id, kind.narrow), kind.narrow, key=_WIDTH.__getitem__)
    viewers: dict[int, list[int]] = {}
    for class_id, nodes in graph:
        for node in nodes:
            if node.op in ("view", "transpose", "reshape", "expand", "slice"):
                viewers.setdefault(node.children[0], []).append(class_id)
    work = list(wide)
    while work:
        current = work.pop()
        for viewer in viewers.get(current, ()):
            if viewer not in wide:
                wide[viewer], narrow[viewer] = wide[current], narrow[current]
                work.append(viewer)
    for class_id, storage in wide.items():
        kind = graph.types[class_id]
        graph.types[class_id] = ClassType(kind.shape, kind.state, kind.groups, kind.element, storage, narrow[class_id])
