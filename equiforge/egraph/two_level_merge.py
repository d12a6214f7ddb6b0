"""What the second kernel of a reduction in two levels computes: the merge of the states that the slices left."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from equiforge.egraph.builder import constant_key
from equiforge.egraph.contributions import IDENTITY, Tree, leaves_of, state_of
from equiforge.egraph.graph import REPLICATE, ClassType, Consumer, EGraph, ENode, Reducer
from equiforge.egraph.repair_forms import HELD
from equiforge.egraph.simulate import harmless, is_kept

State = tuple[tuple[int, int], ...]


class Nodes:
    """Typed nodes that are added to a saturated e-graph; equal ones share a class."""

    def __init__(self, graph: EGraph):
        self.graph = graph
        self.known = {node: class_id for class_id, nodes in graph for node in nodes}
        self.float_element = "f64" if any(kind.element == "f64" for kind in graph.types.values()) else "f32"

    def fresh(self, kind: ClassType) -> int:
        """A class without nodes."""
        class_id = max(self.graph.nodes) + 1
        self.graph.nodes[class_id] = []
        self.graph.types[class_id] = kind
        return class_id

    def append(self, class_id: int, node: ENode) -> None:
        """One more node of a class."""
        if node not in self.graph.nodes[class_id]:
            self.graph.nodes[class_id].append(node)
            self.known.setdefault(node, class_id)

    def add(self, op: str, attrs: tuple[Any, ...], children: Sequence[int], kind: ClassType) -> int:
        """The class of a node."""
        node = ENode(op, attrs, tuple(children))
        if node not in self.known:
            self.known[node] = self.fresh(kind)
            self.graph.nodes[self.known[node]].append(node)
        return self.known[node]

    def viewed(self, array: int, state: State) -> int:
        """Tiles of a stored array at a state of what it has the partial results of: its dimensions are one further
        on."""
        for axis, dim in state:
            kind = self.graph.types[array]
            moved = dim + 1 if dim >= 0 and kind.shape[dim + 1] != 1 else REPLICATE
            tiles = ClassType(kind.shape, (*kind.state, (axis, moved)), kind.groups, kind.element)
            array = self.add("view", (moved, axis), [array], tiles)
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
        class_id = self.add("const", (key,), [], ClassType(shape, (), (-1,) * rank, element))
        return self.viewed(class_id, tuple((axis, REPLICATE) for axis, _ in state))

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
        return self.add(op, attrs, children, ClassType(shape, state, groups, element))

    def reduced(self, reducer: str, child: int) -> int:
        """A reduction of the leading dimension, kept with size 1."""
        kind = self.graph.types[child]
        reduced = ClassType((1, *kind.shape[1:]), kind.state, kind.groups, kind.element)
        return self.add("reduce", (reducer, 0), [child], reduced)


class Merge:
    """The merge of all states at one parallel state, node by node: as the merge of two parts in a ``tile.reducer``, of
    all parts at once. ``arrays`` are the stored states of the slices."""

    def __init__(self, nodes: Nodes, reducer: Reducer, arrays: Sequence[int], state: State):
        self.nodes = nodes
        self.reducer = reducer
        self.state = state
        self.slices = [nodes.viewed(array, state) for array in arrays]
        self.joint = [nodes.reduced(reducer.producer, self.slices[0])]
        for number, consumer in enumerate(reducer.consumers, 1):
            self.joint.append(nodes.reduced(consumer.reducer, self._repaired(number, consumer)))

    def node(self, number: int, tile: int) -> ENode:
        """The node that makes ``tile``, of the class of a state, from state ``number``."""
        total = self.joint[number]
        consumer = self.reducer.consumers[number - 1] if number else None
        if consumer is not None and consumer.at_identity != IDENTITY[consumer.reducer]:
            for state in consumer.guarded:
                found = self._constant(consumer.at_identity, total)
                total = self.nodes.pointwise("select", (), [self._unseen(state, self.joint[state]), found, total])
        return ENode("reshape", self.nodes.graph.types[tile].shape, (total,))

    def _repaired(self, number: int, consumer: Consumer) -> int:
        """What each slice holds for its own states, brought to the joint ones."""
        held = self.slices[number]
        if consumer.repair == HELD:
            return held
        leaves = {HELD: held}
        for part in leaves_of(consumer.repair):
            if part[0] in ("old", "new"):
                leaves[part] = self._read(consumer, part[0], int(state_of(part)))
        repair = self._tree(consumer.repair, leaves, held)
        return repair if consumer.mode == "map" else self.nodes.pointwise("binary", (consumer.mode,), [held, repair])

    def _read(self, consumer: Consumer, name: str, state: int) -> int:
        """A state as the repair of a consumer reads it: where all of a row is identity a harmless number stands in for
        it, as in the loop itself."""
        own = self.reducer.reducer_of_state(state)
        old, new = self.slices[state], self.joint[state]
        if state not in consumer.guarded:
            return old if name == "old" else new
        if name == "old" and is_kept(consumer, own):
            return old
        harmless_ = self._constant(harmless(own), new)
        safe = self.nodes.pointwise("select", (), [self._unseen(state, new), harmless_, new])
        return safe if name == "new" else self.nodes.pointwise("select", (), [self._unseen(state, old), safe, old])

    def _unseen(self, state: int, value: int) -> int:
        """Whether values of a state are its identity."""
        identity = self._constant(IDENTITY[self.reducer.reducer_of_state(state)], value)
        return self.nodes.pointwise("binary", ("cmp.eq",), [value, identity])

    def _constant(self, value: float, like: int) -> int:
        kind = self.nodes.graph.types[like]
        return self.nodes.constant(value, len(kind.shape), kind.element, self.state)

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
        return self.nodes.pointwise(tree[0], tree[1], children)
