"""Terms with the equalities between them, each with its reason; congruence closure; chains of steps from term to term.

Every node is one term, and terms are never merged. A *rule edge* joins two terms that one match of a rule unites. A
*congruence edge* joins two terms that differ in children which were equal by then. A chain follows edges; a congruence
edge is replaced by chains between the children that use only edges older than it, so that no proof rests on itself (as
in Nieuwenhuis and Oliveras, Proof-producing congruence closure, 2005).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import NamedTuple

Attrs = tuple[str | int, ...]
_CONGRUENCE_COST = 3
"""Cost of a congruence edge against a rule edge, in the search for a short chain: its children take steps too."""


class Node(NamedTuple):
    """One term: an operator with attributes, as in :class:`ENode`, over nodes."""

    op: str
    attrs: Attrs
    children: tuple[int, ...]


@dataclass(frozen=True)
class Edge:
    """``rule`` unites ``left`` and ``right``; None for congruence. ``time`` orders edges."""

    left: int
    right: int
    rule: str | None
    time: int


@dataclass(frozen=True)
class Step:
    """The subterm at ``path`` (child positions from the root) is ``before`` and becomes ``after`` by ``rule``, which
    reads from left to right if ``forward``."""

    rule: str
    forward: bool
    before: int
    after: int
    path: tuple[int, ...]


class ProofGraph:
    """Terms and equalities; classes are known by any of their nodes."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []
        self._known: dict[Node, int] = {}
        self._parent: list[int] = []
        self._canonical: dict[Node, int] = {}
        self._users: dict[int, list[int]] = {}
        self._around: list[list[Edge]] = []

    def find(self, node: int) -> int:
        """The oldest node of a node's class."""
        while self._parent[node] != node:
            self._parent[node] = self._parent[self._parent[node]]
            node = self._parent[node]
        return node

    def add(self, op: str, attrs: Attrs, children: tuple[int, ...]) -> int:
        """The node of a term, made if new."""
        node = Node(op, attrs, children)
        if node in self._known:
            return self._known[node]
        number = len(self.nodes)
        self.nodes.append(node)
        self._known[node] = number
        self._parent.append(number)
        self._around.append([])
        for child in {self.find(c) for c in children}:
            self._users.setdefault(child, []).append(number)
        other = self._canonical.setdefault(self._canonicalized(node), number)
        if other != number:
            self._join(number, other, None)
        return number

    def lookup(self, op: str, attrs: Attrs, children: tuple[int, ...]) -> int | None:
        """A node of the class of a term over classes, None if there is none."""
        return self._canonical.get(Node(op, attrs, tuple(self.find(c) for c in children)))

    def unite(self, left: int, right: int, rule: str) -> None:
        """A rule unites two terms."""
        if left != right:
            self._join(left, right, rule)

    def _canonicalized(self, node: Node) -> Node:
        return Node(node.op, node.attrs, tuple(self.find(c) for c in node.children))

    def _join(self, left: int, right: int, rule: str | None) -> None:
        work: list[tuple[int, int, str | None]] = [(left, right, rule)]
        while work:
            left, right, rule = work.pop()
            edge = Edge(left, right, rule, len(self.edges))
            self.edges.append(edge)
            self._around[left].append(edge)
            self._around[right].append(edge)
            a, b = sorted((self.find(left), self.find(right)))
            if a == b:
                continue
            self._parent[b] = a
            moved = self._users.pop(b, [])
            self._users.setdefault(a, []).extend(moved)
            for user in moved:
                other = self._canonical.setdefault(self._canonicalized(self.nodes[user]), user)
                if other != user and self.find(other) != self.find(user):
                    work.append((user, other, None))

    # Chains

    def chain(self, left: int, right: int) -> list[Step] | None:
        """Steps from one term to another, None if they are not known equal."""
        return self._chain(left, right, len(self.edges)) if self.find(left) == self.find(right) else None

    def _chain(self, left: int, right: int, before: int) -> list[Step]:
        steps: list[Step] = []
        here = left
        for edge in self._path(left, right, before):
            there = edge.right if edge.left == here else edge.left
            if edge.rule is not None:
                steps.append(Step(edge.rule, edge.left == here, here, there, ()))
            else:
                for place, (a, b) in enumerate(zip(self.nodes[here].children, self.nodes[there].children, strict=True)):
                    if a != b:
                        inner = self._chain(a, b, edge.time)
                        steps += [Step(s.rule, s.forward, s.before, s.after, (place, *s.path)) for s in inner]
            here = there
        return steps

    def _path(self, left: int, right: int, before: int) -> list[Edge]:
        """The cheapest path of edges older than ``before``."""
        reached: dict[int, Edge | None] = {}
        queue: list[tuple[int, int, int, Edge | None]] = [(0, 0, left, None)]
        pushed = 0
        while queue:
            cost, _, node, by = heapq.heappop(queue)
            if node in reached:
                continue
            reached[node] = by
            if node == right:
                break
            for edge in self._around[node]:
                other = edge.right if edge.left == node else edge.left
                if edge.time < before and other not in reached:
                    pushed += 1
                    step = 1 if edge.rule is not None else _CONGRUENCE_COST
                    heapq.heappush(queue, (cost + step, pushed, other, edge))
        path: list[Edge] = []
        node = right
        while (edge := reached[node]) is not None:
            path.append(edge)
            node = edge.left if edge.right == node else edge.right
        return path[::-1]

    def replaced(self, term: int, step: Step) -> int:
        """The term after a step on it. Raises ValueError if the step does not fit."""
        if not step.path:
            if term != step.before:
                raise ValueError("a step does not start at the term before it")
            return step.after
        node = self.nodes[term]
        inner = Step(step.rule, step.forward, step.before, step.after, step.path[1:])
        children = list(node.children)
        children[step.path[0]] = self.replaced(children[step.path[0]], inner)
        return self.add(node.op, node.attrs, tuple(children))
