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
    ``outer`` names the axis that an axis is within: where a coordinate has both, the inner one cuts the slice of the
    outer one, into ``sizes[outer] // sizes[inner]`` tiles, of which the last may be empty.
    """

    def __init__(
        self,
        extents: Mapping[str, int],
        sizes: Mapping[str, int] | None = None,
        counts: Mapping[str, int] | None = None,
        outer: Mapping[str, str] | None = None,
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
        self.outer = dict(outer or {})
        for inner, axis in self.outer.items():
            self._nest(sizes, inner, axis)
        self.sizes = {axis: sizes.get(axis, default_tile(extent)) for axis, extent in extents.items()}

    def _nest(self, sizes: dict[str, int], inner: str, outer: str) -> None:
        """Gives two nested axes sizes that fit where they have none, and checks them where they have."""
        rough = default_tile(self.extents[outer])
        if outer not in sizes:
            part = sizes.get(inner, 2)
            sizes[outer] = part * -(-rough // part)
        if inner not in sizes:
            whole = sizes[outer]
            sizes[inner] = next((whole // n for n in range(2, whole + 1) if whole % n == 0), whole)
        if sizes[outer] % sizes[inner]:
            raise EquiforgeError(
                f"tile size {sizes[inner]} of axis @{inner} does not divide that of @{outer}, which is {sizes[outer]}",
                hint=f"@{inner} is within @{outer}",
            )

    def count(self, axis: str, at: Mapping[str, int] | None = None) -> int:
        """|axis|, the number of tiles; ``at`` is the coordinate that holds what the axis cuts."""
        outer = self.outer.get(axis)
        if outer is not None and at and outer in at:
            return self.sizes[outer] // self.sizes[axis]
        return -(-self.extents[axis] // self.sizes[axis])

    def interval(self, axis: str, position: int, at: Mapping[str, int] | None = None) -> slice:
        """Returns the elements that a position of an axis sees of the dimension that the axis cuts, at a coordinate."""
        outer = self.outer.get(axis)
        whole = slice(0, self.extents[axis])
        if outer is not None and at and outer in at:
            whole = self.interval(outer, at[outer])
        start = min(whole.start + position * self.sizes[axis], whole.stop)
        return slice(start, min(start + self.sizes[axis], whole.stop))

    def local_shape(self, type_: Attribute, at: Mapping[str, int]) -> tuple[int, ...]:
        """Returns the shape of the tile that a coordinate holds of a value of the given type (negative where the
        extent is dynamic).
        """
        shape = list(shape_of(type_))
        states = states_of(type_)
        # A dimension that two axes cut has the extent of the inner one's tile.
        outer = {
            PartitionAttr(self.outer[s.axis_name], s.dim)
            for s in states
            if isinstance(s, PartitionAttr) and s.axis_name in self.outer
        }
        for state in states:
            if isinstance(state, PartitionAttr) and state not in outer:
                part = self.interval(state.axis_name, at[state.axis_name], at)
                shape[state.dim] = part.stop - part.start
        return tuple(shape)
