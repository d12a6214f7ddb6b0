"""Who shares memory with whom: in-place writes are renamed where nobody could notice, and refused otherwise.

Every tensor of the graph belongs to a storage; tensors that are exactly the same view of it share one cell. A write
to a cell gives the cell a new value. It is refused when the storage is an input's, or when another view of the
storage is read later: that view would have to change too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from equiforge.errors import UnsupportedOpError
from equiforge.frontend.locations import location_of_node

# Views that the schemas do not declare.
_UNDECLARED = {
    "aten.dropout.default",
    "aten.feature_dropout.default",
    "aten.alpha_dropout.default",
    "aten.broadcast_tensors.default",
    "aten.meshgrid.default",
    "aten.meshgrid.indexing",
    "aten.type_as.default",
    "aten.atleast_1d.default",
    "aten.atleast_2d.default",
    "aten.atleast_3d.default",
}
# Declared as views, yet copies where the layout or the element type asks for it.
_MAYBE = {"reshape", "flatten", "contiguous", "to", "type_as", "reshape_as", "ravel", "meshgrid"}


@dataclass
class Storage:
    """Memory; ``argument`` is the number of the program's argument that it belongs to."""

    argument: int | None = None
    nodes: list[Any] = field(default_factory=list[Any])


@dataclass
class Cell:
    """One view of a storage, under all its names, with its current value."""

    storage: Storage
    value: Any = None


def is_write(target: Any) -> bool:
    """Does the overload write to its first argument?"""
    arguments = target._schema.arguments
    return bool(arguments) and arguments[0].alias_info is not None and arguments[0].alias_info.is_write


def _is_view(target: Any) -> bool:
    if str(target) in _UNDECLARED or str(target) == "aten.detach_.default":
        return True
    returns = target._schema.returns
    return bool(returns) and returns[0].alias_info is not None and not is_write(target)


def _can_view(source: Any, shape: Any) -> bool:
    """Can a tensor of these sizes and strides be seen in the shape without a copy?"""
    import torch

    try:
        torch.empty_strided(source.shape, source.stride(), device="meta").view(tuple(shape))
    except RuntimeError:
        return False
    return True


def aliases_operand(target: Any, source: Any, result: Any, arguments: dict[str, Any]) -> bool:
    """Does the result share memory with the first operand? ``source`` and ``result`` describe both tensors."""
    if not hasattr(target, "_schema") or not _is_view(target):
        return False
    name = str(target).split(".")[1]
    if name not in _MAYBE or result is None or not hasattr(result, "shape"):
        return True
    if source.dtype != result.dtype or arguments.get("copy"):
        return False
    if name in ("to", "type_as"):
        return True
    if name == "contiguous":
        return bool(source.is_contiguous())
    return _can_view(source, result.shape)


class Aliases:
    """The cells of a graph that is being walked in order."""

    def __init__(self) -> None:
        self.cells: dict[Any, Cell] = {}
        self._order: dict[Any, int] = {}

    def enter_graph(self, graph: Any) -> None:
        """Number the nodes of a graph, so that later uses can be told from earlier ones."""
        for node in graph.nodes:
            self._order[node] = len(self._order)

    def fresh(self, node: Any, value: Any, argument: int | None = None) -> None:
        """The node's tensor has memory of its own (an argument's, where numbered)."""
        self._join(node, Cell(Storage(argument), value))

    def same(self, node: Any, other: Any) -> None:
        """The node is another name of a tensor."""
        self._join(node, self.cells[other])

    def view(self, node: Any, other: Any, value: Any) -> None:
        """The node sees the memory of ``other`` in its own way."""
        self._join(node, Cell(self.cells[other].storage, value))

    def _join(self, node: Any, cell: Cell) -> None:
        self.cells[node] = cell
        cell.storage.nodes.append(node)

    def write(self, node: Any, target: Any, value: Any, argument_names: list[str]) -> None:
        """``node`` wrote ``value`` to the tensor ``target`` and is a name of it from now on."""
        self.check_write(node, target, argument_names)
        cell = self.cells[target]
        cell.value = value
        self._join(node, cell)

    def check_write(self, node: Any, target: Any, argument_names: list[str]) -> None:
        """Refuse a write that could be noticed through another tensor."""
        cell = self.cells[target]
        location = location_of_node(node)
        if cell.storage.argument is not None:
            name = argument_names[cell.storage.argument]
            raise UnsupportedOpError(
                f"{node.target} writes in place to {name!r}, an input of the program or a view of one",
                location,
                f"write out of place, or start from {name}.clone()",
            )
        now = self._order[node]
        for other in cell.storage.nodes:
            if self.cells[other] is cell:
                continue
            if any(self._order.get(user, now) > now for user in other.users):
                raise UnsupportedOpError(
                    f"{node.target} writes in place to a tensor while a view of the same memory is used later",
                    location,
                    "write out of place, or clone() the view first",
                )
