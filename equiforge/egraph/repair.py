"""Repair fusion: reductions over one axis that depend on one another become one rolling reduction (design 03, Fusion).

For each producer s = PRed(ρP, p, Red(ρP, d, X)), in each parallel state, the consumers PRed(ρC, p, g) over the same
axis are sought whose contribution g can be written with R(p, s) as a leaf. Where :mod:`equiforge.egraph.families` finds
a repair, a rolling reduction over the loop's inputs is added, and its fields join the classes of the producer and of
the consumers.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from equiforge.egraph.contributions import IDENTITY, Tree, leaves_of, replaced, state_of
from equiforge.egraph.families import synthesize, value_at_identity
from equiforge.egraph.graph import REPLICATE, ClassType, Consumer, EGraph, ENode, Reducer
from equiforge.egraph.repair_forms import COUNT, HELD, OLD_COUNT, Hidden, Refusal, Repair, leaf
from equiforge.egraph.simulate import counterexample
from equiforge.egraph.users import Users

POINTWISE = ("unary", "binary", "select", "cast")
MAX_FORMS = 6
"""Forms of one contribution that are tried before it is refused."""
_REDUCERS = ("max", "min", "sum")


@dataclass(frozen=True)
class Found:
    """A consumer of a producer, with a repair; ``class_id`` is what its loop yields.

    The trees of ``consumer`` number the loop's inputs as ``inputs`` lists their classes, and read the states in
    ``hidden``, and the count of elements, by name.
    """

    class_id: int
    consumer: Consumer
    inputs: list[int]
    certificate: str
    hidden: tuple[Hidden, ...] = ()
    reads: tuple[int, ...] = ()
    """The classes that state 0, state 1 … of the trees are; none means that state 0 is the producer."""

    @property
    def needs_count(self) -> bool:
        trees = [self.consumer.contribution, self.consumer.repair]
        trees += [tree for h in self.hidden for tree in (h.contribution, h.repair)]
        return any(leaf in (COUNT, OLD_COUNT) for tree in trees for leaf in leaves_of(tree))

    def add_to(self, loop: list[Consumer], names: dict[object, int], moved: list[int]) -> None:
        """Put the hidden states that the repair needs, and the consumer itself, behind the consumers of a loop; a
        hidden state that one of them is already is that one.

        ``names`` are the states that trees read by name, ``moved`` the numbers of the inputs in the loop.
        """
        names = dict(names)
        numbers = [int(names.get(class_id, 0)) for class_id in self.reads or (-1,)]

        def place(part: Tree) -> Tree:
            if part[0] == "input":
                return ("input", moved[int(part[1])])
            if part[0] not in ("state", "old", "new"):
                return part
            state = state_of(part)
            return leaf(str(part[0]), names[state] if isinstance(state, str) else numbers[state])

        def final(tree: Tree) -> Tree:
            return replaced(tree, place)

        own = self.consumer
        other = moved[own.other] if own.other >= 0 else -1
        guarded = tuple(sorted(numbers[k] for k in own.guarded))
        for hidden in self.hidden:
            trees = final(hidden.contribution), final(hidden.repair)
            made = Consumer(own.kind, "sum", own.dim, own.operand, other, *trees, "map", 0.0, guarded, True)
            known = next((n for n, c in enumerate(loop, 1) if _as_hidden(c) == made), None)
            if known is None:
                loop.append(made)
            names[hidden.name] = known or len(loop)
        contribution, repair = final(own.contribution), final(own.repair)
        loop.append(replace(own, contribution=contribution, repair=repair, other=other, guarded=guarded))


def _as_hidden(consumer: Consumer) -> Consumer:
    """A consumer as it would be if it were hidden."""
    repair = consumer.repair
    if consumer.mode != "map":
        repair = ("binary", (consumer.mode,), HELD, repair)
    return replace(consumer, repair=repair, mode="map", at_identity=0.0, hidden=True)


@dataclass(frozen=True)
class Candidate:
    """A reduction of a contribution that reads states: by ``reducer`` over dimension ``dim``, as a product with the
    class ``other`` where ``kind`` is ``tilematmul``; ``owner`` is what it gives after the loop."""

    owner: int
    contribution: int
    kind: str
    reducer: str
    dim: int
    operand: int
    other: int

    def found(
        self, repair: Repair, tree: Tree, inputs: list[int], at_identity: float, reads: tuple[int, ...] = ()
    ) -> Found:
        """The consumer with its repair; ``tree`` is the contribution as the program has it."""
        other = len(inputs) if self.kind == "tilematmul" else -1
        consumer = Consumer(
            self.kind,
            self.reducer,
            self.dim,
            self.operand,
            other,
            repair.contribution or tree,
            repair.tree,
            repair.mode,
            at_identity,
            repair.guarded,
        )
        inputs = [*inputs, self.other] if other >= 0 else inputs
        return Found(self.owner, consumer, inputs, repair.certificate, repair.hidden, reads)


@dataclass
class RepairReport:
    """Rolling reductions added, and the contributions that were refused with their reasons."""

    added: int = 0
    refused: dict[str, int] = field(default_factory=lambda: {})


class Fuser:
    """Producers, their consumers with a repair, and what is added for them."""

    def __init__(self, graph: EGraph, users: Users):
        self.graph = graph
        self.users = users
        self.report = RepairReport()
        self._looped: dict[int, dict[int, int]] = {}

    def looped(self, axis: int) -> dict[int, int]:
        """Classes that pointwise operations make of what loops over an axis yield."""
        if axis not in self._looped:
            loops = [
                seen
                for class_id, seen in self.users.replicated_over(axis).items()
                if any(n.op == "preduce" and n.attrs[1] == axis for n in self.graph.nodes[class_id])
            ]
            self._looped[axis] = self.depths(*loops)
        return self._looped[axis]

    def producers(self) -> Iterator[tuple[int, str, int, int, int]]:
        """(class, reducer, axis, dimension, input class) of every reduction over an axis that something else looks
        at."""
        for class_id, nodes in list(self.graph):
            # Blocks loop over inner axes and those of one level.
            axes = {int(node.attrs[1]) for node in nodes if node.op == "preduce"} - self.graph.outer_axes
            for axis in sorted(axes):
                if self.users.replicated(class_id, axis) is not None:
                    for reducer, dim, source in self.loops(class_id, axis):
                        yield class_id, reducer, axis, dim, source

    def loops(self, class_id: int, axis: int) -> Iterator[tuple[str, int, int]]:
        """(reducer, dimension, input class) of the reductions over an axis that a class is."""
        if not self.graph.types[class_id].element.startswith("f"):
            return
        for node in self.graph.nodes[class_id]:
            if node.op != "preduce" or node.attrs[1] != axis or node.attrs[0] not in _REDUCERS:
                continue
            for inner in self.graph.nodes[node.children[0]]:
                if inner.op == "reduce" and inner.attrs[0] == node.attrs[0]:
                    yield str(node.attrs[0]), int(inner.attrs[1]), inner.children[0]

    def depths(self, *leaves: int) -> dict[int, int]:
        """Classes that reach a leaf through pointwise nodes, with the fewest nodes on the way."""
        found = dict.fromkeys(leaves, 0)
        frontier = list(leaves)
        while frontier:
            following: list[int] = []
            for child in frontier:
                for parent, node in self.users.parents.get(child, ()):
                    if node.op in POINTWISE and parent not in found:
                        found[parent] = found[child] + 1
                        following.append(parent)
            frontier = following
        return found

    def forms(
        self,
        class_id: int,
        leaves: dict[int, Tree],
        depths: dict[int, int],
        inputs: list[int],
        above: frozenset[int] = frozenset(),
    ) -> Iterator[tuple[Tree, list[int]]]:
        """Pointwise trees of a class with the states that ``leaves`` gives to classes, and inputs for what reaches
        none of them, small ones first; ``above`` are the classes that the tree is part of."""
        if class_id in leaves:
            yield leaves[class_id], inputs
            return
        depth = depths.get(class_id)
        if depth is None:
            yield self._leaf(class_id, inputs)
            return
        above |= {class_id}
        found: list[tuple[int, ENode]] = []
        for node in self.graph.nodes[class_id]:
            reached = [depths[c] for c in node.children if c in depths]
            if node.op in POINTWISE and reached and min(reached) < depth and not above & set(node.children):
                found.append((max(reached), node))
        for _, node in sorted(found, key=lambda f: f[0]):
            for arguments, used in self._arguments(node.children, leaves, depths, inputs, above):
                yield (node.op, node.attrs, *arguments), used

    def _arguments(
        self,
        children: tuple[int, ...],
        leaves: dict[int, Tree],
        depths: dict[int, int],
        inputs: list[int],
        above: frozenset[int],
    ) -> Iterator[tuple[tuple[Tree, ...], list[int]]]:
        if not children:
            yield (), inputs
            return
        for tree, used in self.forms(children[0], leaves, depths, inputs, above):
            for rest, all_used in self._arguments(children[1:], leaves, depths, used, above):
                yield (tree, *rest), all_used

    def _leaf(self, class_id: int, inputs: list[int]) -> tuple[Tree, list[int]]:
        constants = self.users.constants
        if class_id in constants:
            return ("const", constants[class_id]), inputs
        for node in self.graph.nodes[class_id]:
            # Where an element is NaN, or compares with a number, decides what it contributes: the repair has to know.
            compared = node.op == "binary" and str(node.attrs[0]).startswith("cmp.")
            if compared and all(c == inputs[0] or c in constants for c in node.children):
                return (node.op, node.attrs, *(self._leaf(c, inputs)[0] for c in node.children)), inputs
        if class_id in inputs:
            return ("input", inputs.index(class_id)), inputs
        return ("input", len(inputs)), [*inputs, class_id]

    def result(self, class_id: int) -> int:
        """The class of the whole result that a loop yields, or yields a part of."""
        return class_id

    def depends_on_loop(self, class_id: int, axis: int) -> bool:
        """True if the class replicates what another loop over the axis yields: that loop would have to run before."""
        return any(
            node.op == "view"
            and node.attrs == (REPLICATE, axis)
            and any(n.op == "preduce" and n.attrs[1] == axis for n in self.graph.nodes[node.children[0]])
            for node in self.graph.nodes[class_id]
        )

    def candidates(self, depths: dict[int, int], axis: int, like: int) -> Iterator[Candidate]:
        """Reductions over an axis, at the parallel state of ``like``, of contributions that reach a leaf."""
        axes = {a for a, _ in self.graph.types[like].state}
        shape = self.graph.types[like].shape
        for contribution in depths:
            for partial, node in self.users.parents.get(contribution, ()):
                if node.op not in ("reduce", "tilematmul"):
                    continue
                for owner, outer in self.users.parents.get(partial, ()):
                    if outer.op != "preduce" or outer.attrs[1] != axis or owner == like:
                        continue
                    if {a for a, _ in self.graph.types[owner].state} != axes:
                        continue
                    found = self._candidate(owner, contribution, node, str(outer.attrs[0]), shape, depths)
                    if found is not None:
                        yield found

    @staticmethod
    def _candidate(
        owner: int, contribution: int, node: ENode, reducer: str, shape: tuple[int, ...], depths: dict[int, int]
    ) -> Candidate | None:
        rank = len(shape)
        if node.op == "reduce":
            operand, dim, other = 0, int(node.attrs[1]), -1
            if node.attrs[0] != reducer:
                return None
        else:
            operand = node.children.index(contribution)
            dim, other = (rank - 1 if operand == 0 else rank - 2), node.children[1 - operand]
            if reducer != "sum" or other in depths:
                return None
        return Candidate(owner, contribution, node.op, reducer, dim, operand, other) if shape[dim] == 1 else None

    def consumers(self, producer: int, reducer: str, axis: int, source: int) -> Iterator[Found]:
        """The consumers of a producer that reduces ``source`` over an axis."""
        leaf = self.users.replicated_over(axis)[producer]
        depths = self.depths(leaf)
        seen: set[int] = set()
        for candidate in self.candidates(depths, axis, producer):
            if candidate.owner not in seen:
                found = self._repair(reducer, axis, source, candidate, leaf, depths)
                if found is not None:
                    seen.add(candidate.owner)
                    yield found

    def _repair(
        self, reducer: str, axis: int, source: int, of: Candidate, leaf: int, depths: dict[int, int]
    ) -> Found | None:
        weighted = of.kind == "tilematmul"
        extent = self.graph.types[source].shape[of.dim]
        element = self.graph.types[of.contribution].element
        forms = self.forms(of.contribution, {leaf: ("state",)}, depths, [source])
        for tree, inputs in itertools.islice(forms, MAX_FORMS):
            if any(self.users.is_made_of(c, leaf) or self.depends_on_loop(c, axis) for c in inputs):
                continue
            own = 0 if ("input", 0) in leaves_of(tree) else -1
            repair = synthesize(tree, of.reducer, reducer, own, extent, element, weighted)
            if isinstance(repair, Refusal):
                self.refuse(repair.reason)
                continue
            at_identity = value_at_identity(tree, reducer, 0) if repair.guarded else IDENTITY[of.reducer]
            found = of.found(repair, tree, inputs, at_identity)
            total = extent if repair.family == "moments" and reducer == "sum" else 0
            wrong = counterexample(reducer_of(reducer, of.dim, (found,), []), (tree,), len(found.inputs), total)
            if wrong is None:
                return found
            self.refuse(f"{repair.family}: {wrong}")
        return None

    def refuse(self, reason: str) -> None:
        self.report.refused[reason] = self.report.refused.get(reason, 0) + 1

    def add(self, producer: int, reducer: str, axis: int, dim: int, source: int, group: tuple[Found, ...]) -> None:
        """Add the rolling reduction of a producer and a group of its consumers."""
        inputs = [source]
        made = reducer_of(reducer, dim, group, inputs)
        self.add_loop(made, inputs, axis, [producer, *(f.class_id for f in group)])
        self.report.added += 1

    def add_loop(self, made: Reducer, inputs: list[int], axis: int, owners: list[int]) -> None:
        """Add a rolling reduction whose fields are in the classes ``owners``."""
        name = next((n for n, r in self.graph.reducers.items() if _same(r, made)), f"rolling{len(self.graph.reducers)}")
        self.graph.reducers.setdefault(name, replace(made, name=name))
        node = ENode("rolling", (name, axis), tuple(inputs))
        tuple_class = len(self.graph.nodes)
        while tuple_class in self.graph.nodes:
            tuple_class += 1
        kind = self.graph.types[owners[0]]
        self.graph.nodes[tuple_class] = [node]
        self.graph.types[tuple_class] = ClassType(kind.shape, kind.state, kind.groups, "tuple")
        for index, owner in enumerate(owners):
            self.graph.nodes[owner].append(ENode("get", (index,), (tuple_class,)))


def _place(inputs: list[int], class_id: int) -> int:
    if class_id not in inputs:
        inputs.append(class_id)
    return inputs.index(class_id)


def reducer_of(producer: str, dim: int, group: tuple[Found, ...], inputs: list[int]) -> Reducer:
    """The reducer of a producer and consumers, without a name; ``inputs`` receives the classes of the loop's inputs."""
    consumers: list[Consumer] = []
    names: dict[object, int] = {}
    if any(found.needs_count for found in group):
        consumers.append(Consumer("reduce", "sum", dim, 0, -1, ("const", 1.0), HELD, "map", 0.0, (), True))
        names[COUNT[1]] = 1
    for found in group:
        moved = [_place(inputs, c) for c in found.inputs]
        found.add_to(consumers, names, moved)
        names[found.class_id] = len(consumers)
    certificate = "; ".join(f.certificate for f in group if f.certificate)
    return Reducer("", producer, dim, tuple(consumers), certificate)


def _same(a: Reducer, b: Reducer) -> bool:
    """Equal but for the name; NaN (what a masked row becomes) is compared by its text."""
    return repr((a.producer, a.dim, a.consumers)) == repr((b.producer, b.dim, b.consumers))


def order_of(found: Found) -> tuple[bool, str, str, int]:
    """The order of the consumers of one loop; those with hidden states, which may be another's own, come last."""
    consumer = found.consumer
    return (bool(found.hidden), consumer.kind, repr(consumer.contribution), found.class_id)


def _groups(found: list[Found]) -> Iterator[tuple[Found, ...]]:
    """Subsets of consumers that get a rolling reduction of their own: all for up to three, else each one and all
    together."""
    if len(found) <= 3:
        for size in range(1, len(found) + 1):
            yield from itertools.combinations(found, size)
    else:
        yield from ((f,) for f in found)
        yield tuple(found)


def fuse_dependent_reductions(graph: EGraph, users: Users) -> RepairReport:
    """Add every rolling reduction that repair synthesis finds; ``graph`` is changed in place."""
    from equiforge.egraph.chains import chains  # it builds on this module

    fuser = Fuser(graph, users)
    for producer, reducer, axis, dim, source in list(fuser.producers()):
        found = sorted(fuser.consumers(producer, reducer, axis, source), key=order_of)
        for group in (*_groups(found), *chains(fuser, producer, reducer, axis, dim, source, found)):
            fuser.add(producer, reducer, axis, dim, source, group)
    return fuser.report
