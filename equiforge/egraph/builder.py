"""Builds an initial e-graph: one hash-consed e-node a class."""

from __future__ import annotations

from equiforge.dialects.forge import Places
from equiforge.egraph.graph import INDEX_ELEMENT, Axis, ClassType, EGraph, ENode


class GraphBuilder:
    """Adds typed nodes to an :class:`EGraph`; equal nodes share a class."""

    def __init__(self) -> None:
        self.graph = EGraph(nodes={}, types={}, roots=[], axes=[], inputs=[])
        self._known: dict[ENode, int] = {}

    def add(self, node: ENode, kind: ClassType) -> int:
        """The class of ``node``, made if new; a known class keeps its type, widened in its storage types."""
        class_id = self._known.get(node)
        if class_id is None:
            class_id = len(self.graph.nodes)
            self._known[node] = class_id
            self.graph.nodes[class_id] = [node]
            self.graph.types[class_id] = kind
        return class_id

    def input(self, name: str, shape: tuple[int, ...], groups: tuple[int, ...], storage: str, element: str) -> int:
        """The next function argument."""
        index = len(self.graph.inputs)
        self.graph.inputs.append((name, shape, storage))
        class_id = self.add(ENode("input", (index,), ()), ClassType(shape, (), groups, element))
        self.graph.names[class_id] = name
        return class_id

    def constant(self, values: tuple[float | int, ...], shape: tuple[int, ...], element: str, computed: str) -> int:
        """A splat (one value) or dense constant; constants are equal if they are equal by bits."""
        key = constant_key(element, shape, values)
        self.graph.constants[key] = (element, shape, values)
        return self.add(ENode("const", (key,), ()), ClassType(shape, (), (-1,) * len(shape), computed))

    def index(self, shape: tuple[int, ...], groups: tuple[int, ...], dim: int, places: Places) -> int:
        """Positions along one dimension of a tensor of the given shape."""
        along = tuple(n if d == dim else 1 for d, n in enumerate(shape))
        named = tuple(g if d == dim else -1 for d, g in enumerate(groups))
        return self.add(index_node(along, named, dim, places), ClassType(along, (), named, INDEX_ELEMENT))

    def axis(self, name: str, extent: int, group: int, within: int = -1) -> int:
        """Declares an axis and returns its number; call in the order of the names, an outer axis before the inner
        one."""
        self.graph.axes.append(Axis(name, extent, group, within))
        return len(self.graph.axes) - 1


def index_node(shape: tuple[int, ...], groups: tuple[int, ...], dim: int, places: Places) -> ENode:
    """The e-node of positions: it carries its type, since equal numbers in different dimensions differ."""
    return ENode("index", (*shape, *groups, dim, *places), ())


def constant_key(element: str, shape: tuple[int, ...], values: tuple[float | int, ...]) -> str:
    """Key of a constant: equal for constants that are equal bit by bit."""
    return f"{element}:{'x'.join(map(str, shape))}:{','.join(_bits(v) for v in values)}"


def _bits(value: float | int) -> str:
    return float(value).hex() if isinstance(value, float) else str(value)
