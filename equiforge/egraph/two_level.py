"""Dependent reductions in two levels: each block runs one over its slice, a second kernel merges the slices' states.

Where a producer s = PRed(ρP, p₀, s₁), with s₁ = PRed(ρP, p₁, a) over the tiles p₁ of each slice p₀, has consumers whose
contributions use the *joint* state R(p₁, R(p₀, s)), no block knows that state while it runs. With a repair h a block
runs the rolling reduction over p₁ with its own running state instead, and stores what it holds at the end of its slice,
raw: the state yₛ and a field y_c for each consumer and for each hidden state that the repairs need. With the arrays of
all slices

    S = ρP₀ yₛ        c = ρC₀ h(y_c, yₛ → S)

since h distributes over ρC; a consumer that reads several states follows all of them, in the order of the loop. A slice
that saw nothing but identities holds the consumer's identity, and h keeps it; a row that is identity in every slice
takes the value that the unfused program gives. Split over keys, attention becomes flash-decoding in this way.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from equiforge.egraph.chains import chains
from equiforge.egraph.contributions import IDENTITY
from equiforge.egraph.graph import REPLICATE, ClassType, EGraph, ENode, Reducer
from equiforge.egraph.repair import Found, Fuser, RepairReport, fuse_dependent_reductions, order_of, reducer_of
from equiforge.egraph.text import SPLIT_BELOW
from equiforge.egraph.two_level_merge import Merge, Nodes, State
from equiforge.egraph.users import Users


def fuse_reductions(graph: EGraph) -> RepairReport:
    """Add the rolling reductions of one level, then those of two; ``graph`` is changed in place."""
    users = Users(graph)
    report = fuse_dependent_reductions(graph, users)
    nodes = Nodes(graph)
    for inner, axis in enumerate(graph.axes):
        if axis.within >= 0:
            users.update()
            splitter = _Splitter(graph, users, nodes, axis.within, inner)
            splitter.run()
            report.added += splitter.added
    return report


class _SliceFuser(Fuser):
    """Consumers of a state that is joint over the slices: nothing else that the loop reads may be a result of them."""

    def __init__(self, graph: EGraph, users: Users, outer: int):
        super().__init__(graph, users)
        self.outer = outer

    def result(self, class_id: int) -> int:
        joint = [p for p, n in self.users.parents.get(class_id, ()) if n.op == "preduce" and n.attrs[1] == self.outer]
        return joint[0] if joint else class_id

    def depends_on_loop(self, class_id: int, axis: int) -> bool:
        axes = (axis, self.outer)
        return any(
            self.depends_on_loop(node.children[0], axis)
            or any(n.op == "preduce" and n.attrs[1] in axes for n in self.graph.nodes[node.children[0]])
            for node in self.graph.nodes[class_id]
            if node.op == "view" and node.attrs[0] == REPLICATE and node.attrs[1] in axes
        )


@dataclass(frozen=True)
class _Slices:
    """A producer over slices and a group of its consumers, at one parallel state: ``local`` is what a slice has,
    ``source`` what it reduces over dimension ``dim``, ``wholes`` are the classes of the consumers' whole results."""

    local: int
    reducer: str
    dim: int
    source: int
    group: tuple[Found, ...]
    wholes: tuple[int, ...]

    def signature(self) -> str:
        """What the arrays hold: states of another form can't be mixed with it."""
        numbers = {f.class_id: n for n, f in enumerate(self.group)}
        consumers = [
            (replace(f.consumer, other=0), f.hidden, [numbers.get(r, -1) for r in f.reads]) for f in self.group
        ]
        return repr((self.reducer, self.dim, consumers))


class _Splitter:
    """Rolling reductions over the axis ``inner`` in each slice of ``outer``, and their merge."""

    def __init__(self, graph: EGraph, users: Users, nodes: Nodes, outer: int, inner: int):
        self.graph = graph
        self.outer = outer
        self.inner = inner
        self.added = 0
        self.users = users
        self.fuser = _SliceFuser(graph, users, outer)
        self.nodes = nodes

    def run(self) -> None:
        """Add everything for each producer that has a consumer with a repair."""
        found: dict[int, dict[State, dict[tuple[int, ...], _Slices]]] = {}
        for joint, groups in self._producers():
            by_state = found.setdefault(self._whole(joint), {})
            state = self.graph.types[joint].state
            if groups and len(groups) > len(by_state.get(state, ())):
                by_state[state] = groups
        for top, by_state in found.items():
            states = sorted(by_state, key=lambda s: (-len(s), s))
            for wholes, first in by_state[states[0]].items() if states else ():
                alike = {s: by_state[s][wholes] for s in states if wholes in by_state[s]}
                self._add(top, {s: slices for s, slices in alike.items() if slices.signature() == first.signature()})

    def _producers(self) -> Iterator[tuple[int, dict[tuple[int, ...], _Slices]]]:
        """The groups of consumers of producers, by the class of the joint state."""
        joints: list[tuple[int, ENode]] = []
        inside = self.users.replicated_over(self.inner)
        for joint, seen in sorted(self.users.replicated_over(self.outer).items()):
            leaf = inside.get(seen)
            if leaf is None:
                continue
            for node in self.graph.nodes[joint]:
                if node.op == "preduce" and node.attrs[1] == self.outer:
                    # To the loop of a slice the joint state is what its own running one will be repaired to.
                    inside[node.children[0]] = leaf
                    joints.append((joint, node))
        for joint, node in joints:
            local = node.children[0]
            for reducer, dim, source in self.fuser.loops(local, self.inner):
                if reducer == node.attrs[0]:
                    yield joint, self._groups(local, reducer, dim, source)

    def _groups(self, local: int, reducer: str, dim: int, source: int) -> dict[tuple[int, ...], _Slices]:
        """Groups that get a loop of their own: all consumers whose states are the program's, all at all, and chains."""
        found: dict[int, Found] = {}
        for item in sorted(self.fuser.consumers(local, reducer, self.inner, source), key=order_of):
            whole = self._result(item)
            if whole is not None:
                found.setdefault(whole, item)
        own = tuple(f for f in found.values() if not (f.hidden or f.needs_count))
        joined = tuple(f for f in found.values() if self._is_stored(f, local))
        made: dict[tuple[int, ...], _Slices] = {}
        following = chains(self.fuser, local, reducer, self.inner, dim, source, list(joined))
        for group in (own, joined, *following):
            wholes = [self._result(f) for f in group]
            if group and None not in wholes and all(self._is_stored(f, local) for f in group):
                key = tuple(w for w in wholes if w is not None)
                made.setdefault(key, _Slices(local, reducer, dim, source, group, key))
        return made

    def _result(self, item: Found) -> int | None:
        """The class of the whole result of which a loop yields the part of each slice."""
        joint = self.fuser.result(item.class_id)
        return self._whole(joint) if joint != item.class_id else None

    def _is_stored(self, item: Found, local: int) -> bool:
        """True if hidden states can be spread over the shape that the producer's state has."""
        shape, own = self.graph.types[local].shape, self.graph.types[item.class_id].shape
        kept = {len(own) - 1 - item.consumer.operand} if item.consumer.kind == "tilematmul" else set[int]()
        return not item.hidden or all(a == b or d in kept for d, (a, b) in enumerate(zip(shape, own, strict=True)))

    def _whole(self, class_id: int) -> int:
        """The class at tensor level that a class has tiles of: views stand on it in the order of their axes."""
        while state := self.graph.types[class_id].state:
            views = [n for n in self.graph.nodes[class_id] if n.op == "view" and n.attrs[1] == state[-1][0]]
            if not views:
                return class_id
            class_id = min(views).children[0]
        return class_id

    # What is added

    def _add(self, top: int, by_state: dict[State, _Slices]) -> None:
        """The arrays of the states of one group of consumers of the class ``top``, how tiles of them are made, and what
        is merged from them."""
        first = next(iter(by_state.values()))
        if any(math.prod(self.graph.types[f.class_id].shape) >= SPLIT_BELOW for f in first.group):
            return
        # Partial results that are not stored are not merged.
        held = {s: self.nodes.known.get(ENode("collect", (self.outer,), (x.local,))) for s, x in by_state.items()}
        stored = [(state, by_state[state], array) for state, array in held.items() if array is not None]
        if not stored:
            return
        _, first, array = stored[0]
        loops = [self._roll(slices) for _, slices, _ in stored]
        made, fields = loops[0]
        count = self.graph.types[array].shape[0]
        # All arrays are new: other partial results with the same total are no states of these loops.
        arrays = [self._array(field, count) for field in fields]
        for (state, _, _), (_, fields) in zip(stored, loops, strict=True):
            self._collect(arrays, fields, state)
        self._bundle(arrays)
        self._merge(made, (top, *first.wholes), arrays)

    def _roll(self, slices: _Slices) -> tuple[Reducer, list[int]]:
        """The rolling reduction at one parallel state; all of its states are fields, as they are at the end of a
        slice."""
        inputs = [slices.source]
        made = reducer_of(slices.reducer, slices.dim, slices.group, inputs)
        owners = [slices.local, *(f.class_id for f in slices.group)]
        kinds: list[ClassType] = []
        for number, consumer in enumerate((None, *made.consumers)):
            # A hidden state has the shape of the consumer that it is for, a count that of the producer.
            shared = consumer is not None and consumer.hidden and consumer.kind == "reduce"
            owner = 0 if shared else next(i for i, k in enumerate(made.visible) if k >= number)
            kinds.append(self.graph.types[owners[owner]])
        fields = [self.nodes.fresh(replace(k, wide=None, narrow=None)) for k in kinds]
        raw = [replace(c, at_identity=IDENTITY[c.reducer], hidden=False, spread=c.hidden) for c in made.consumers]
        self.fuser.add_loop(replace(made, consumers=tuple(raw)), inputs, self.inner, fields)
        self.added += 1
        return made, fields

    def _array(self, field: int, count: int) -> int:
        """The array of what all slices hold of a field."""
        kind = self.graph.types[field]
        return self.nodes.fresh(ClassType((count, *kind.shape), (), (-1, *kind.groups), kind.element))

    def _collect(self, arrays: list[int], fields: list[int], state: State) -> None:
        """Fields, collected, are tiles of the arrays."""
        nodes = self.nodes
        for array, field in zip(arrays, fields, strict=True):
            nodes.append(nodes.viewed(array, state), ENode("collect", (self.outer,), (field,)))
            for place, (axis, dim) in enumerate(state):
                tile = nodes.viewed(array, state[: place + 1])
                nodes.append(nodes.viewed(array, state[:place]), ENode("combine", (dim + 1, axis), (tile,)))

    def _bundle(self, arrays: list[int]) -> None:
        """One kernel writes all arrays: together they are a stored tuple."""
        kind = self.graph.types[arrays[0]]
        stored = self.nodes.add("tuple", (), arrays, ClassType(kind.shape, (), kind.groups, "tuple"))
        for index, array in enumerate(arrays):
            self.nodes.append(array, ENode("get", (index,), (stored,)))

    def _merge(self, made: Reducer, wholes: tuple[int, ...], arrays: list[int]) -> None:
        """The producer and the consumers from the arrays, at every parallel state that they have."""
        merges: dict[State, Merge] = {}
        for number, whole in zip(made.visible, wholes, strict=True):
            stack = [whole]
            while stack:
                tile = stack.pop()
                state = self.graph.types[tile].state
                if state not in merges:
                    merges[state] = Merge(self.nodes, made, arrays, state)
                self.nodes.append(tile, merges[state].node(number, tile))
                # The slices' loop has its own running state instead of what all its coordinates see.
                taken = {*range(state[-1][0] + 1 if state else 0), self.outer}
                views = [(p, n) for p, n in self.fuser.users.parents.get(tile, ()) if n.op == "view"]
                stack += [parent for parent, node in views if node.attrs[1] not in taken]
