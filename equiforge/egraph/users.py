"""Who uses what in an e-graph: an index for repair fusion, which is kept up to date while nodes are appended."""

from __future__ import annotations

import rustworkx

from equiforge.egraph.graph import REPLICATE, EGraph, ENode


class Users:
    """``parents`` are the users of each class; ``constants`` the values of splat constants and of views of such.

    Nodes may be appended to the e-graph, none may be removed; :meth:`update` brings the index up to date.
    """

    def __init__(self, graph: EGraph):
        self.graph = graph
        self.parents: dict[int, list[tuple[int, ENode]]] = {}
        self.constants: dict[int, float | int] = {}
        self._replicated: dict[int, dict[int, int]] = {}
        self._known: dict[int, int] = {}
        self._made_of: dict[int, int] = {}
        self._bits: dict[int, int] = {}
        self.update()
        self._find_dependencies()

    def update(self) -> None:
        """Take in the nodes that were appended since the last call."""
        for class_id, nodes in self.graph:
            known = self._known.get(class_id, 0)
            if known < len(nodes):
                self._known[class_id] = len(nodes)
                for node in nodes[known:]:
                    self._add(class_id, node)

    def _add(self, class_id: int, node: ENode) -> None:
        for child in set(node.children):
            self.parents.setdefault(child, []).append((class_id, node))
        if node.op == "view":
            child = node.children[0]
            if node.attrs[0] == REPLICATE:
                self._replicated.setdefault(int(node.attrs[1]), {})[child] = class_id
            if child in self.constants:
                self._set_constant(class_id, self.constants[child])
        elif node.op == "const" and len(values := self.graph.constants[str(node.attrs[0])][2]) == 1:
            self._set_constant(class_id, values[0])

    def _set_constant(self, class_id: int, value: float | int) -> None:
        work = [class_id]
        while work:
            found = work.pop()
            if found not in self.constants:
                self.constants[found] = value
                work += [parent for parent, node in self.parents.get(found, ()) if node.op == "view"]

    def replicated(self, class_id: int, axis: int) -> int | None:
        """The class that every coordinate of an axis sees of a class."""
        return self.replicated_over(axis).get(class_id)

    def replicated_over(self, axis: int) -> dict[int, int]:
        """The classes that every coordinate of an axis sees, by the class that they are views of."""
        return self._replicated.setdefault(axis, {})

    def _find_dependencies(self) -> None:
        """For each class, which of the states that loops may carry it is made of, as a mask: one pass over the
        strongly connected components, operands first."""
        for seen in self._replicated.values():
            for class_id in seen.values():
                self._bits.setdefault(class_id, 1 << len(self._bits))
        numbers = {class_id: number for number, class_id in enumerate(self.graph.nodes)}
        uses: rustworkx.PyDiGraph[int, None] = rustworkx.PyDiGraph()
        uses.add_nodes_from(list(numbers))
        edges = {(numbers[user], numbers[used]) for used, users in self.parents.items() for user, _ in users}
        uses.add_edges_from_no_data(sorted(edges))
        for component in rustworkx.strongly_connected_components(uses):
            members = [uses[number] for number in component]
            mask = 0
            for class_id in members:
                mask |= self._bits.get(class_id, 0)
                for node in self.graph.nodes[class_id]:
                    for child in node.children:
                        mask |= self._made_of.get(child, 0)
            self._made_of.update(dict.fromkeys(members, mask))

    def is_made_of(self, class_id: int, state: int) -> bool:
        """True if a class is a replicated state, or made of it. Nodes that were appended say nothing new of a class
        that was there before: they compute it from what it was made of already."""
        return bool(self._mask(class_id) & self._bits[state])

    def _mask(self, class_id: int) -> int:
        if class_id not in self._made_of:
            self._made_of[class_id] = 0
            mask = 0
            for node in self.graph.nodes[class_id]:
                for child in node.children:
                    mask |= self._mask(child)
            self._made_of[class_id] = mask
        return self._made_of[class_id]
