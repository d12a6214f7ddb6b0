"""Sizes of a kernel under its schedule: tiles, padded dimensions, ragged edges, and the grid."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from xdsl.ir import Attribute

from equiforge.codegen.errors import CodegenError
from equiforge.dialects import kernel, tile
from equiforge.dialects.tile_axes import outer_axis
from equiforge.dialects.tile_types import PartitionAttr, shape_of, states_of

#: The least extent of a side of ``tl.dot``.
DOT_SIDE = 16
#: Grid limits of a launch in y and z.
GRID_YZ = 65535


def power_of_two(extent: int) -> int:
    return 1 << max(extent - 1, 0).bit_length()


class Sizes:
    """Physical sizes of the tiles of one kernel; ``extents`` maps each axis to the elements that it cuts."""

    def __init__(self, function: kernel.FuncOp, extents: Mapping[str, int], schedule: kernel.ScheduleAttr):
        self.extents = extents
        self.schedule = schedule
        self.tiles = schedule.tiles
        self.outer = outer_axes(function)
        # Dimensions without an axis are padded so that a dot can take them.
        has_dot = schedule.matmul == "dot" and any(isinstance(op, tile.MatmulOp) for op in function.body.walk())
        self.least = DOT_SIDE if has_dot else 1
        missing = sorted({a for a in axes_used(function) if a not in self.tiles})
        if missing:
            raise CodegenError(f"the schedule of @{function.sym_name.data} has no tile size for axis {missing[0]}")
        grid = [(axis, self.count(axis)) for axis in function.grid_axes]
        #: Axes with several tiles and their counts, the one that varies fastest first.
        self.grid = [(axis, count) for axis, count in grid if count > 1]

    def count(self, axis: str) -> int:
        """How many tiles an axis has."""
        return -(-self.extents[axis] // self.tiles[axis])

    def axis_on(self, type_: Attribute, dim: int) -> str | None:
        """The axis that cuts a dimension; of two nested ones the inner."""
        return cutting_axis(type_, dim, self.outer)

    def size(self, type_: Attribute, dim: int) -> int:
        """Elements of a tile along a dimension; 1 means that the tile has no such dimension."""
        extent = shape_of(type_)[dim]
        if extent == 1:
            return 1
        axis = self.axis_on(type_, dim)
        if axis is not None:
            return self.tiles[axis]
        return max(power_of_two(extent), self.least)

    def dims(self, type_: Attribute) -> tuple[int, ...]:
        """The dimensions that a tile of this type keeps."""
        return tuple(d for d in range(len(shape_of(type_))) if self.size(type_, d) > 1)

    def is_ragged(self, type_: Attribute, dim: int) -> bool:
        """True if some tile reaches beyond the end of the dimension."""
        size = self.size(type_, dim)
        return size > 1 and shape_of(type_)[dim] % size != 0

    def elements(self, type_: Attribute) -> int:
        return prod(self.size(type_, d) for d in range(len(shape_of(type_))))

    @property
    def linear(self) -> bool:
        """True if the grid must be one-dimensional: more than three axes, or too many tiles for y or z."""
        return len(self.grid) > 3 or any(count > GRID_YZ for _, count in self.grid[1:])

    @property
    def launch_grid(self) -> tuple[int, ...]:
        counts = tuple(count for _, count in self.grid)
        return (prod(counts),) if self.linear or not counts else counts


def cutting_axis(type_: Attribute, dim: int, outer: Mapping[str, str]) -> str | None:
    """The axis that cuts a dimension, None for a whole one; ``outer`` maps an inner axis to the one it is within."""
    axes = [s.axis_name for s in states_of(type_) if isinstance(s, PartitionAttr) and s.dim == dim]
    return next((axis for axis in axes if outer.get(axis) in axes), axes[0] if axes else None)


def outer_axes(function: kernel.FuncOp) -> dict[str, str]:
    """The axis that each inner axis of a kernel is within."""
    found = {axis: outer_axis(function, axis) for axis in axes_used(function)}
    return {axis: outer for axis, outer in found.items() if outer is not None}


def axes_used(function: kernel.FuncOp) -> set[str]:
    """Axes of the grid and of the loops of a kernel."""
    return set(function.grid_axes) | {op.axis_name for op in function.body.walk() if isinstance(op, kernel.ForOp)}


def extents_of(module: object) -> dict[str, int]:
    """The elements that each axis of a module cuts."""
    return {op.sym_name.data: op.extent for op in module.ops if isinstance(op, tile.AxisOp)}  # pyright: ignore
