"""Dependent reductions in two levels: each block runs one over its slice, a second kernel merges the slices' states.

Where a producer s = PRed(ρP, p₀, s₁), with s₁ = PRed(ρP, p₁, a) over the tiles p₁ of each slice p₀, has consumers whose
contributions use the *joint* state R(p₁, R(p₀, s)), no block knows that state while it runs. With a repair h a block
runs the rolling reduction over p₁ with its own running state instead, and stores what it holds at the end of its slice,
raw: the state yₛ and a field y_c for each consumer. With the arrays of all slices

    S = ρP₀ yₛ        c = ρC₀ h(y_c, yₛ → S)

since h distributes over ρC. A slice that saw nothing but identities holds the consumer's identity, and h keeps it; a
row that is identity in every slice takes the value that the unfused program gives. Split over keys, attention becomes
flash-decoding in this way.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from equiforge.egraph.builder import constant_key
from equiforge.egraph.contributions import IDENTITY, Tree
from equiforge.egraph.graph import REPLICATE, ClassType, EGraph, ENode
from equiforge.egraph.repair import Found, Fuser, RepairReport, fuse_dependent_reductions
from equiforge.egraph.simulate import harmless

State = tuple[tuple[int, int], ...]


def fuse_reductions(graph: EGraph) -> RepairReport:
    """Add the rolling reductions of one level, then those of two; ``graph`` is changed in place."""
    report = fuse_dependent_reductions(graph)
    for inner, axis in enumerate(graph.axes):
        if axis.within >= 0:
            splitter = _Splitter(graph, axis.within, inner)
            splitter.run()
            report.added += splitter.added
    return report


class _SliceFuser(Fuser):
    """Consumers of a state that is joint over the slices: nothing else that the loop reads may be a result of them."""

    def __init__(self, graph: EGraph, outer: int):
        super().__init__(graph)
        self.outer = outer

    def depends_on_loop(self, class_id: int, axis: int) -> bool:
        return super().depends_on_loop(class_id, axis) or any(
            node.op == "view"
            and node.attrs[0] == REPLICATE
            and int(node.attrs[1]) in (axis, self.outer)
            and (
                any(n.op == "preduce" and n.attrs[1] in (axis, self.outer) for n in self.graph.nodes[node.children[0]])
                or self.depends_on_loop(node.children[0], axis)
            )
            for node in self.graph.nodes[class_id]
        )


@dataclass(frozen=True)
class _Slices:
    """A producer over slices, at one parallel state: ``local`` is what a slice has, ``source`` what it reduces over
    dimension ``dim``, ``fields`` are its consumers by the class of the whole result."""

    local: int
    reducer: str
    dim: int
    source: int
    fields: dict[int, Found]

    def signature(self, field: int) -> str:
        """What the array of a field holds: states of another form can't be mixed with it."""
        return repr((self.reducer, self.dim, replace(self.fields[field].consumer, other=0)))


class _Splitter:
    """Rolling reductions over the axis ``inner`` in each slice of ``outer``, and their merge."""

    def __init__(self, graph: EGraph, outer: int, inner: int):
        self.graph = graph
        self.outer = outer
        self.inner = inner
        self.added = 0
        self.fuser = _SliceFuser(graph, outer)
        self.known = {node: class_id for class_id, nodes in graph for node in nodes}
        self.float_element = "f64" if any(kind.element == "f64" for kind in graph.types.values()) else "f32"

    def run(self) -> None:
        """Add everything for each producer that has a consumer with a repair."""
        found: dict[int, dict[State, _Slices]] = {}
        for joint, slices in self._producers():
            top, state = self._whole(joint), self.graph.types[joint].state
            known = found.setdefault(top, {}).get(state)
            if slices.fields and (known is None or len(known.fields) < len(slices.fields)):
                found[top][state] = slices
        for by_state in found.values():
            if by_state:
                self._add(by_state)

    def _producers(self) -> Iterator[tuple[int, _Slices]]:
        """Producers with their consumers, by the class of the joint state."""
        graph = self.graph
        for joint, nodes in list(graph):
            seen = self.fuser.replicated.get((joint, self.outer), -1)
            leaf = self.fuser.replicated.get((seen, self.inner))
            if leaf is None:
                continue
            for node in nodes:
                if node.op != "preduce" or node.attrs[1] != self.outer:
                    continue
                local = node.children[0]
                self.fuser.replicated[local, self.inner] = leaf
                for reducer, dim, source in self.fuser.loops(local, self.inner):
                    if reducer == node.attrs[0]:
                        yield joint, _Slices(local, reducer, dim, source, self._fields(local, reducer, source))

    def _fields(self, local: int, reducer: str, source: int) -> dict[int, Found]:
        # The states of a reducer with hidden ones are not all of a shape that the grid cuts.
        found = [f for f in self.fuser.consumers(local, reducer, self.inner, source) if not (f.hidden or f.needs_count)]
        fields: dict[int, Found] = {}
        for item in sorted(found, key=lambda f: (f.consumer.kind, repr(f.consumer.contribution), f.class_id)):
            for joint, node in self.fuser.parents.get(item.class_id, ()):
                if node.op == "preduce" and node.attrs == (item.consumer.reducer, self.outer):
                    fields.setdefault(self._whole(joint), item)
        return fields

    def _whole(self, class_id: int) -> int:
        """The class at tensor level that a class has tiles of: views stand on it in the order of their axes."""
        while state := self.graph.types[class_id].state:
            views = [n for n in self.graph.nodes[class_id] if n.op == "view" and n.attrs[1] == state[-1][0]]
            if not views:
                return class_id
            class_id = min(views).children[0]
        return class_id

    # What is added

    def _add(self, by_state: dict[State, _Slices]) -> None:
        """The arrays of one producer's states, how tiles of them are made, and what is merged from them."""
        states = sorted(by_state, key=lambda s: (-len(s), s))
        first = by_state[states[0]]
        arrays: dict[int, int] = {}
        for state in states:
            slices = by_state[state]
            same = slices.fields.keys() == first.fields.keys()
            if not same or any(slices.signature(f) != first.signature(f) for f in first.fields):
                continue
            held = self.known.get(ENode("collect", (self.outer,), (slices.local,)))
            if held is None:
                continue  # partial results are not stored
            if not arrays:
                arrays = self._arrays(self._whole(held), first)
            self._roll(state, slices, arrays)
        if arrays:
            self._bundle(list(arrays.values()))
            for field, item in first.fields.items():
                self._merge(field, item, first.reducer, arrays)

    def _arrays(self, held: int, slices: _Slices) -> dict[int, int]:
        """The array of the producer (by the key -1) and of each consumer."""
        count = self.graph.types[held].shape[0]
        arrays = {-1: held}
        for field in slices.fields:
            kind = self.graph.types[field]
            arrays[field] = self._fresh(ClassType((count, *kind.shape), (), (-1, *kind.groups), kind.element))
        return arrays

    def _roll(self, state: State, slices: _Slices, arrays: dict[int, int]) -> None:
        """The rolling reduction at one parallel state; its fields, collected, are tiles of the arrays."""
        kind = self.graph.types[slices.local]
        raw = [self._fresh(ClassType(kind.shape, kind.state, kind.groups, kind.element))]
        group: list[Found] = []
        for item in slices.fields.values():
            kind = self.graph.types[item.class_id]
            raw.append(self._fresh(ClassType(kind.shape, kind.state, kind.groups, kind.element)))
            consumer = replace(item.consumer, at_identity=IDENTITY[item.consumer.reducer])
            group.append(replace(item, class_id=raw[-1], consumer=consumer))
        self.fuser.add(raw[0], slices.reducer, self.inner, slices.dim, slices.source, tuple(group))
        self.added += 1
        for array, field in zip(arrays.values(), raw, strict=True):
            self._append(self._viewed(array, state), ENode("collect", (self.outer,), (field,)))
            for place, (axis, dim) in enumerate(state):
                tile = self._viewed(array, state[: place + 1])
                self._append(self._viewed(array, state[:place]), ENode("combine", (dim + 1, axis), (tile,)))

    def _bundle(self, arrays: list[int]) -> None:
        """One kernel writes all arrays: together they are a stored tuple."""
        kind = self.graph.types[arrays[0]]
        stored = self._add_node("tuple", (), arrays, ClassType(kind.shape, (), kind.groups, "tuple"))
        for index, array in enumerate(arrays):
            self._append(array, ENode("get", (index,), (stored,)))

    def _merge(self, field: int, item: Found, producer: str, arrays: dict[int, int]) -> None:
        """The consumer from the arrays, at every parallel state that it has."""
        stack = [field]
        while stack:
            tile = stack.pop()
            state = self.graph.types[tile].state
            self._append(tile, _Merge(self, state, producer, item).node(arrays[-1], arrays[field], tile))
            last = state[-1][0] if state else -1
            for parent, node in self.fuser.parents.get(tile, ()):
                if node.op == "view" and int(node.attrs[1]) > last and node.attrs[1] not in (self.outer, self.inner):
                    stack.append(parent)

    # Nodes

    def _fresh(self, kind: ClassType) -> int:
        class_id = max(self.graph.nodes) + 1
        self.graph.nodes[class_id] = []
        self.graph.types[class_id] = kind
        return class_id

    def _append(self, class_id: int, node: ENode) -> None:
        if node not in self.graph.nodes[class_id]:
            self.graph.nodes[class_id].append(node)
            self.known.setdefault(node, class_id)

    def _add_node(self, op: str, attrs: tuple[Any, ...], children: list[int], kind: ClassType) -> int:
        node = ENode(op, attrs, tuple(children))
        if node not in self.known:
            self.known[node] = self._fresh(kind)
            self.graph.nodes[self.known[node]].append(node)
        return self.known[node]

    def _viewed(self, array: int, state: State) -> int:
        """Tiles of a stored array at a state of what it has the partial results of: its dimensions are one further
        on."""
        for axis, dim in state:
            kind = self.graph.types[array]
            moved = dim + 1 if dim >= 0 and kind.shape[dim + 1] != 1 else REPLICATE
            viewed = ClassType(kind.shape, (*kind.state, (axis, moved)), kind.groups, kind.element)
            array = self._add_node("view", (moved, axis), [array], viewed)
        return array

    def constant(self, value: float, rank: int, element: str, state: State) -> int:
        """A scalar that every coordinate of a state sees."""
        if element.startswith("i"):
            value = int(value)
        elif math.isnan(value):
            value = math.nan
        shape = (1,) * rank
        key = constant_key(element, shape, (value,))
        self.graph.constants[key] = (element, shape, (value,))
        class_id = self._add_node("const", (key,), [], ClassType(shape, (), (-1,) * rank, element))
        return self._viewed(class_id, tuple((axis, REPLICATE) for axis, _ in state))

    def pointwise(self, op: str, attrs: tuple[Any, ...], children: list[int]) -> int:
        """A pointwise node; operands broadcast."""
        kinds = [self.graph.types[c] for c in children]
        widest = [max(range(len(kinds)), key=lambda k, d=d: kinds[k].shape[d]) for d in range(len(kinds[0].shape))]
        shape = tuple(kinds[k].shape[d] for d, k in enumerate(widest))
        groups = tuple(kinds[k].groups[d] for d, k in enumerate(widest))
        state = tuple((a, max(dict(k.state)[a] for k in kinds)) for a, _ in kinds[0].state)
        name, element = str(attrs[0]) if attrs else "", kinds[1 if op == "select" else 0].element
        if op == "cast":
            element = name if name.startswith("i") else self.float_element
        elif name.startswith("cmp."):
            element = "i1"
        return self._add_node(op, attrs, children, ClassType(shape, state, groups, element))

    def reduced(self, reducer: str, child: int) -> int:
        """A reduction of the leading dimension, kept with size 1."""
        kind = self.graph.types[child]
        reduced = ClassType((1, *kind.shape[1:]), kind.state, kind.groups, kind.element)
        return self._add_node("reduce", (reducer, 0), [child], reduced)

    def viewed(self, array: int, state: State) -> int:
        """Tiles of a stored array, for the merge."""
        return self._viewed(array, state)


class _Merge:
    """The merge of one consumer at one parallel state, node by node: as the merge of two parts in a ``tile.reducer``,
    of all parts at once."""

    def __init__(self, to: _Splitter, state: State, producer: str, item: Found):
        self.to = to
        self.state = state
        self.producer = producer
        self.consumer = item.consumer

    def node(self, states: int, values: int, tile: int) -> ENode:
        """The node that makes ``tile`` of the arrays of the producer's states and of the consumer's values."""
        to, consumer = self.to, self.consumer
        old, held = to.viewed(states, self.state), to.viewed(values, self.state)
        joint = to.reduced(self.producer, old)
        total = to.reduced(consumer.reducer, self._repaired(old, held, joint))
        if consumer.guarded and consumer.at_identity != IDENTITY[consumer.reducer]:
            found = self._constant(consumer.at_identity, total)
            total = to.pointwise("select", (), [self._unseen(joint), found, total])
        return ENode("reshape", to.graph.types[tile].shape, (total,))

    def _repaired(self, old: int, held: int, joint: int) -> int:
        """What each slice holds for its own state, brought to the joint one."""
        to, consumer = self.to, self.consumer
        new = joint
        if consumer.guarded:
            # Where a row is identity everywhere a harmless number stands in for the state, as in the loop itself.
            new = to.pointwise(
                "select", (), [self._unseen(joint), self._constant(harmless(self.producer), joint), joint]
            )
            if not (consumer.mode == "mul" and math.isinf(IDENTITY[self.producer])):
                old = to.pointwise("select", (), [self._unseen(old), new, old])
        leaves = {("old",): old, ("new",): new, ("held",): held}
        repair = self._tree(consumer.repair, leaves, held)
        return repair if consumer.mode == "map" else to.pointwise("binary", (consumer.mode,), [held, repair])

    def _unseen(self, state: int) -> int:
        """Whether a state of the producer is at its identity."""
        identity = self._constant(IDENTITY[self.producer], state)
        return self.to.pointwise("binary", ("cmp.eq",), [state, identity])

    def _constant(self, value: float, like: int) -> int:
        kind = self.to.graph.types[like]
        return self.to.constant(value, len(kind.shape), kind.element, self.state)

    def _tree(self, tree: Tree, leaves: dict[Tree, int], like: int) -> int:
        """A tree of the repair; a constant has the element type of the operand beside it, or that of ``like``."""
        if tree[0] == "const":
            return self._constant(tree[1], like)
        if tree in leaves:
            return leaves[tree]
        made = [None if part[0] == "const" else self._tree(part, leaves, like) for part in tree[2:]]
        beside = [c for c in (made[1:] if tree[0] == "select" else made) if c is not None]
        like = beside[0] if beside else like
        parts = zip(made, tree[2:], strict=True)
        children = [self._constant(part[1], like) if c is None else c for c, part in parts]
        return self.to.pointwise(tree[0], tree[1], children)
