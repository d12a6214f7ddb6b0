"""Where the tiles of each parallel axis lie."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Attribute, Operation

from equiforge.dialects.tile_axes import CollectOp, collected_tile
from equiforge.dialects.tile_types import PartitionAttr, shape_of, states_of
from equiforge.errors import EquiforgeError


def default_tile(extent: int) -> int:
    """A tile size that gives up to three tiles, the last one ragged unless three divides the extent."""
    return max(1, -(-extent // 3))


def collected_counts(scope: Operation) -> dict[str, int]:
    """Returns the number of tiles of each axis that ``tile.collect`` collects into a static number of them."""
    counts: dict[str, int] = {}
    for op in scope.walk():
        if isinstance(op, CollectOp) and op.count is not None:
            count = counts.setdefault(op.axis_name, op.count)
            if count != op.count:
                raise EquiforgeError(
                    f"axis @{op.axis_name} is collected into {count} tiles and into {op.count} tiles",
                    hint="an axis has one tile size: take another axis for one of them",
                )
    return counts


class Tiling:
    """Axis ``p`` cuts ``extents[p]`` elements into tiles of ``sizes[p]``; the last tile may be smaller.

    An axis in ``counts`` is collected into so many tiles, which sets its tile size, whatever ``sizes`` has for it.
    """

    def __init__(
        self,
        extents: Mapping[str, int],
        sizes: Mapping[str, int] | None = None,
        counts: Mapping[str, int] | None = None,
    ):
        sizes = dict(sizes or {})
        for axis, size in sizes.items():
            if axis not in extents:
                raise EquiforgeError(f"no axis @{axis}", hint=f"the program has {', '.join(extents) or 'none'}")
            if size < 1:
                raise EquiforgeError(f"tile size {size} of axis @{axis} is not positive")
        self.extents = dict(extents)
        for axis, count in (counts or {}).items():
            sizes[axis] = collected_tile(extents[axis], count)
        self.sizes = {axis: sizes.get(axis, default_tile(extent)) for axis, extent in extents.items()}

    def count(self, axis: str) -> int:
        """|axis|, the number of tiles."""
        return -(-self.extents[axis] // self.sizes[axis])

    def interval(self, axis: str, position: int) -> slice:
        """Returns the elements that a position of an axis sees of the dimension that the axis cuts."""
        start = position * self.sizes[axis]
        return slice(start, min(start + self.sizes[axis], self.extents[axis]))

    def local_shape(self, type_: Attribute, at: Mapping[str, int]) -> tuple[int, ...]:
        """Returns the shape of the tile that a coordinate holds of a value of the given type (negative where the
        extent is dynamic).
        """
        shape = list(shape_of(type_))
        for state in states_of(type_):
            if isinstance(state, PartitionAttr):
                part = self.interval(state.axis_name, at[state.axis_name])
                shape[state.dim] = part.stop - part.start
        return tuple(shape)
