"""Chains of dependent reductions: consumers of several states of one loop.

A consumer may read a state that is itself a consumer (the normalizer of a softmax, which follows the maximum), or
beside the producer another reduction over the same axis. It needs a repair for all states that it reads, and its
rolling reduction holds each of them:

    m = max x        l = Σ exp(x - m)        c = Σ (exp(x - m) / l)²        h(c) = c · exp(2 (m - m')) · (l / l')²

A value that pointwise operations make of the loop's fields anyway (a softmax whose division has left the sum) gets no
chain: it would do after each tile what is done once after the loop.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from equiforge.egraph.contributions import IDENTITY, Tree, leaves_of, replaced, value_of
from equiforge.egraph.families import synthesize_for
from equiforge.egraph.graph import Consumer
from equiforge.egraph.repair import MAX_FORMS, POINTWISE, Candidate, Found, Fuser, reducer_of
from equiforge.egraph.repair_forms import HELD, Refusal, State, leaf
from equiforge.egraph.simulate import counterexample
from equiforge.egraph.symbolic import to_sympy


def chains(
    fuser: Fuser, producer: int, reducer: str, axis: int, dim: int, source: int, found: list[Found]
) -> list[tuple[Found, ...]]:
    """Groups of consumers that end in one of several states, each behind those that it reads."""
    search = _Chains(fuser, producer, reducer, axis, dim, source)
    fields = [
        f for f in (*found, *search.independent()) if not f.hidden and not f.needs_count and search.in_one_pass(f)
    ]
    return list(search.run({f.class_id: f for f in fields}))


class _Chains:
    """The chains over one loop, which starts with the producer."""

    def __init__(self, fuser: Fuser, producer: int, reducer: str, axis: int, dim: int, source: int):
        self.fuser = fuser
        self.producer = producer
        self.reducer = reducer
        self.axis = axis
        self.dim = dim
        self.source = source
        self.looped = fuser.looped(axis)

    def independent(self) -> Iterator[Found]:
        """Other reductions over the axis at the producer's parallel state that read none of its states."""
        seen = self.fuser.users.replicated_over(self.axis)
        graph, reaching = self.fuser.graph, self.fuser.depths(seen[self.producer])
        state = self.fuser.graph.types[self.producer].state
        for class_id in seen:
            if class_id == self.producer or graph.types[class_id].state != state:
                continue
            for reducer, dim, child in self.fuser.loops(class_id, self.axis):
                if dim == self.dim and child not in reaching and child not in self.looped:
                    own = Consumer("reduce", reducer, dim, 0, -1, ("input", 1), HELD, "map", IDENTITY[reducer], ())
                    yield Found(class_id, own, [self.source, child], "")
                    break

    def in_one_pass(self, found: Found) -> bool:
        """True if no input of a consumer is made of what a loop over the axis yields."""
        return not any(class_id in self.looped for class_id in found.inputs)

    def run(self, fields: dict[int, Found]) -> Iterator[tuple[Found, ...]]:
        """All chains, also through consumers that are found on the way."""
        while True:
            leaves: dict[int, Tree] = {}
            for class_id in (self.producer, *fields):
                seen = self.fuser.users.replicated(class_id, self.axis)
                if seen is not None:
                    leaves[seen] = ("state", class_id)
            if len(leaves) < 2:
                return
            found = list(self._consumers(leaves, fields))
            if not found:
                return
            for one in found:
                fields[one.class_id] = one
                group = self._closed(one, fields)
                if any(self._follows(f) for f in group):
                    yield group

    def _consumers(self, leaves: dict[int, Tree], fields: dict[int, Found]) -> Iterator[Found]:
        depths = self.fuser.depths(*leaves)
        after = self._made_after_the_loop({self.producer, *fields})
        done = {self.producer, *fields}
        for candidate in self.fuser.candidates(depths, self.axis, self.producer):
            if candidate.owner in done or self.fuser.result(candidate.owner) in after:
                continue
            one = self._repair(candidate, leaves, depths, fields)
            if one is not None:
                done.add(one.class_id)
                yield one

    def _made_after_the_loop(self, fields: set[int]) -> set[int]:
        """Classes that pointwise operations make of the fields and of what does not depend on them."""
        results = {self.fuser.result(field) for field in fields}
        reaching = self.fuser.depths(*results)
        made, stack = set(results), list(results)
        while stack:
            for parent, node in self.fuser.users.parents.get(stack.pop(), ()):
                ready = all(c in made or c not in reaching for c in node.children)
                if node.op in POINTWISE and parent not in made and ready:
                    made.add(parent)
                    stack.append(parent)
        return made - results

    def _repair(
        self, of: Candidate, leaves: dict[int, Tree], depths: dict[int, int], fields: dict[int, Found]
    ) -> Found | None:
        fuser = self.fuser
        forms = fuser.forms(of.contribution, leaves, depths, [self.source])
        for tree, inputs in itertools.islice(forms, MAX_FORMS):
            reads = tuple(dict.fromkeys(int(part[1]) for part in leaves_of(tree) if part[0] == "state"))
            if reads == (self.producer,) or any(c in self.looped for c in inputs):
                continue
            local = replaced(tree, lambda p, r=reads: leaf("state", r.index(p[1])) if p[0] == "state" else p)
            states = tuple(self._state(class_id, local, inputs, fields) for class_id in reads)
            extent, element = fuser.graph.types[self.source].shape[of.dim], fuser.graph.types[of.contribution].element
            repair = synthesize_for(local, of.reducer, states, extent, element, of.kind == "tilematmul")
            if isinstance(repair, Refusal):
                fuser.refuse(repair.reason)
                continue
            at_identity = self._at_identity(local, states, inputs) if repair.guarded else IDENTITY[of.reducer]
            one = of.found(repair, local, inputs, at_identity, reads)
            wrong = self._counterexample(self._closed(one, fields | {one.class_id: one}))
            if wrong is None:
                return one
            fuser.refuse(f"chain: {wrong}")
        return None

    def _state(self, class_id: int, tree: Tree, inputs: list[int], fields: dict[int, Found]) -> State:
        """A state that a tree over ``inputs`` reads."""
        source, reducer, positive = self.source, self.reducer, False
        if class_id != self.producer:
            found = fields[class_id]
            contribution: Tree = found.consumer.contribution
            reducer = found.consumer.reducer
            source = found.inputs[int(contribution[1])] if contribution[0] == "input" else -1
            value = to_sympy(contribution, {}) if reducer == "sum" else None
            positive = bool(value is not None and value.is_positive)
        own = inputs.index(source) if source in inputs else -1
        return State(reducer, own if ("input", own) in leaves_of(tree) else -1, positive)

    @staticmethod
    def _at_identity(tree: Tree, states: tuple[State, ...], inputs: list[int]) -> float:
        """What the program contributes where all states are at their identities."""
        leaves: dict[Tree, float] = {("input", i): 1.0 for i in range(len(inputs))}
        for k, state in enumerate(states):
            leaves[leaf("state", k)] = IDENTITY[state.reducer]
            if state.own >= 0:
                leaves["input", state.own] = IDENTITY[state.reducer]
        return value_of(tree, leaves)

    def _follows(self, found: Found) -> bool:
        """True if a consumer reads the producer's state."""
        reads = any(part[0] == "state" for part in leaves_of(found.consumer.contribution))
        return reads and (not found.reads or self.producer in found.reads)

    def _closed(self, one: Found, fields: dict[int, Found]) -> tuple[Found, ...]:
        """A consumer behind all that it reads."""
        order: dict[int, Found] = {}

        def visit(found: Found) -> None:
            for class_id in found.reads:
                if class_id != self.producer and class_id not in order:
                    visit(fields[class_id])
            order[found.class_id] = found

        visit(one)
        return tuple(order.values())

    def _counterexample(self, group: tuple[Found, ...]) -> str | None:
        inputs = [self.source]
        made = reducer_of(self.reducer, self.dim, group, inputs)
        originals = tuple(c.contribution for c in made.consumers if not c.hidden)
        return counterexample(made, originals, len(inputs))
