"""Types of e-classes as IR types."""

from __future__ import annotations

from xdsl.ir import Attribute

from equiforge.dialects import tile
from equiforge.dialects.tile_types import element_type
from equiforge.egraph.graph import PARTIAL, REPLICATE, EGraph


def partial_reducers(graph: EGraph) -> dict[int, str]:
    """For each class with a partial state, the reducer that its partial results are to be combined with; raw states of
    a rolling reduction have none."""
    found: dict[int, str] = {}
    viewers: dict[int, list[int]] = {}
    for class_id, nodes in graph:
        if not any(dim == PARTIAL for _, dim in graph.types[class_id].state):
            continue
        for node in nodes:
            if node.op == "reduce":
                found[class_id] = str(node.attrs[0])
            elif node.op in ("matmul", "tilematmul"):
                found[class_id] = "sum"
            elif node.op == "view":
                viewers.setdefault(node.children[0], []).append(class_id)
    work = list(found)
    while work:
        current = work.pop()
        for viewer in viewers.get(current, ()):
            if viewer not in found:
                found[viewer] = found[current]
                work.append(viewer)
    return found


def type_of_class(graph: EGraph, class_id: int, partial: dict[int, str]) -> Attribute:
    """The tensor or view type of a class that is no tuple."""
    kind = graph.types[class_id]
    states: list[tile.State] = []
    for axis, dim in kind.state:
        name = graph.axes[axis].name
        if dim == PARTIAL:
            states.append(tile.PartialAttr(name, partial.get(class_id)))
        else:
            states.append(tile.ReplicateAttr(name) if dim == REPLICATE else tile.PartitionAttr(name, dim))
    return tile.make_type(kind.shape, element_type(kind.element), states)
