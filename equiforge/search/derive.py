"""From the heavy choices of a kernel to one e-node a class: the pointwise parts with the least work."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

from equiforge.egraph.graph import REPLICATE, ENode
from equiforge.search.kernel_choice import KernelChoice
from equiforge.search.normal_form import LIGHT, STRUCTURAL, Chain, Load, Option, Space, product

_SLOW = {"exp", "log", "tanh", "erf", "sigmoid", "sin", "cos", "pow", "sqrt", "rsqrt", "div", "recip", "rem"}

Choice = ENode | Load


@dataclass(frozen=True)
class Kernel:
    """A kernel in full: ``choices`` has one e-node, or a load, for each class that it computes, every operand before
    its user; ``fields`` are the arrays with their chains where it stores a tuple."""

    root: int
    grid: tuple[int, ...]
    chain: Chain
    tile: int
    choices: dict[int, Choice]
    needs: frozenset[int]
    work: int
    fields: tuple[tuple[int, Chain], ...] = ()

    @property
    def loads(self) -> list[Load]:
        return [c for c in self.choices.values() if isinstance(c, Load)]


def derive(space: Space, kernel: KernelChoice) -> Kernel | None:
    """The kernel with all its choices; None if its heavy choices don't make the root (they always do if the search
    found them)."""
    choices = _Derivation(space, kernel).run()
    if choices is None:
        return None
    ordered, work = _used(space, kernel.grid.tile, choices)
    grid = kernel.grid
    return Kernel(kernel.root, grid.axes, grid.chain, grid.tile, ordered, kernel.needs, work, grid.fields)


def node_work(space: Space, class_id: int, node: ENode) -> int:
    """Relative cost of a pointwise e-node: elements of its value, special functions counted eight times."""
    if node.op in STRUCTURAL or node.op == "view":
        return 1
    elements = product(space.graph.types[class_id].shape)
    return 1 + elements * (8 if node.op in ("unary", "binary") and node.attrs[0] in _SLOW else 1)


class _Derivation:
    """Knuth's generalization of Dijkstra's algorithm over the pointwise e-nodes, in stages: when no more values
    follow, the reductions and products whose operands are made are done, then the next stage begins. So a value never
    waits for itself."""

    def __init__(self, space: Space, kernel: KernelChoice):
        self.space = space
        self.tile = kernel.grid.tile
        self.options = [space.options[n] for n in kernel.options]
        self.choice: dict[int, Choice] = {}
        self.cost: dict[int, int] = {}
        self._heap: list[tuple[int, int, int]] = []
        self._users: dict[int, list[tuple[int, int]]] = {}
        self._light: dict[int, list[Choice]] = {}
        self._waiting: dict[tuple[int, int], int] = {}
        self._heavy: list[tuple[int, ENode, Option]] = []
        self._axis: dict[int, int] = {}

    def run(self) -> dict[int, Choice] | None:
        self._collect()
        self._settle()
        while self.tile not in self.choice:
            ready = [
                (c, n, o)
                for c, n, o in self._heavy
                if c not in self.choice and all(k in self.choice for k, _ in o.children)
            ]
            if not ready:
                return None
            for class_id, node, option in ready:
                if class_id not in self.choice:
                    assert option.node is not None
                    if option.kind in ("preduce", "rolling"):
                        self._axis[class_id] = int(option.node.attrs[1])
                    if option.kind == "rolling":
                        self.choice[option.owner] = option.node
                    self._choose(class_id, node, 0)
            self._settle()
        return self.choice

    def _collect(self) -> None:
        loads = {o.key for o in self.options if o.load is not None}
        heavy: dict[int, list[tuple[ENode, Option]]] = {}
        for option in self.options:
            if option.node is not None:
                for class_id, _ in option.satisfies:
                    node = option.node
                    if option.kind == "rolling" and class_id != option.owner:
                        node = next(
                            n
                            for n in self.space.graph.nodes[class_id]
                            if n.op == "get" and n.children[0] == option.owner
                        )
                    if all(known[0] != node for known in heavy.get(class_id, ())):
                        heavy.setdefault(class_id, []).append((node, option))
        seen = {self.tile}
        stack = [self.tile]
        found: list[tuple[int, Load]] = []
        while stack:
            class_id = stack.pop()
            load = self._load_of(class_id, loads)
            children: list[int] = []
            nodes: list[Choice] = []
            if load is None:
                for node, option in heavy.get(class_id, ()):
                    self._heavy.append((class_id, node, option))
                    children.extend(c for c, _ in option.children)
                nodes.extend(n for n in self.space.graph.nodes[class_id] if self._usable(n))
            elif load.children:
                nodes.append(load)
            else:
                found.append((class_id, load))
            self._light[class_id] = nodes
            for number, node in enumerate(nodes):
                distinct = set(node.children)
                self._waiting[class_id, number] = len(distinct)
                for child in distinct:
                    self._users.setdefault(child, []).append((class_id, number))
                children.extend(node.children)
            for child in children:
                if child not in seen:
                    seen.add(child)
                    stack.append(child)
        for class_id, load in found:
            self._choose(class_id, load, 0)

    def _usable(self, node: ENode) -> bool:
        return self.space.is_pointwise(node) or (node.op == "view" and node.attrs[0] == REPLICATE)

    def _load_of(self, class_id: int, keys: set[tuple[object, ...]]) -> Load | None:
        free = self.space.is_free(class_id)
        if free is not None:
            return free
        loads = (d for d in self.space.loads(class_id) if d.key in keys)
        return next((d for d in loads if d.children or class_id != self.tile), None)

    def _choose(self, class_id: int, choice: Choice, cost: int) -> None:
        self.choice[class_id] = choice
        self.cost[class_id] = cost
        self._propagate(class_id)

    def _propagate(self, class_id: int) -> None:
        for owner, number in self._users.get(class_id, ()):
            node = self._light[owner][number]
            self._waiting[owner, number] -= 1
            if self._waiting[owner, number] or owner in self.choice:
                continue
            if isinstance(node, ENode) and node.op == "view" and int(node.attrs[1]) != self._axis.get(class_id):
                continue
            own = node_work(self.space, owner, node) if isinstance(node, ENode) else 1
            cost = own + sum(self.cost[c] for c in node.children)
            heapq.heappush(self._heap, (cost, owner, number))

    def _settle(self) -> None:
        while self._heap:
            cost, class_id, number = heapq.heappop(self._heap)
            if class_id not in self.choice:
                self._choose(class_id, self._light[class_id][number], cost)


def _used(space: Space, tile: int, choices: dict[int, Choice]) -> tuple[dict[int, Choice], int]:
    """The choices that the tile depends on, operands first, and their pointwise work."""
    ordered: dict[int, Choice] = {}
    work = 0
    stack: list[tuple[int, bool]] = [(tile, False)]
    while stack:
        class_id, visited = stack.pop()
        if class_id in ordered:
            continue
        choice = choices[class_id]
        if visited or not choice.children:
            ordered[class_id] = choice
            if isinstance(choice, ENode) and choice.op in LIGHT:
                work += node_work(space, class_id, choice)
            continue
        stack.append((class_id, True))
        stack.extend((c, False) for c in reversed(choice.children))
    return ordered, work
