"""Values of the reference interpreter: families of arrays over the coordinates of parallel axes.

A :class:`Family` with axes ``p, q`` holds one array for each pair of coordinates: the tile of it that coordinate
``(p, q)`` sees. Tiles at a ragged edge are simply smaller. A value without axes is a family with one tile, at the
empty coordinate. A value of tuple type is a Python tuple of families.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from equiforge.verify.numeric import Array

Coordinate: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Family:
    """``tiles[c]`` is what coordinate ``c`` sees; ``axes`` names the components of a coordinate, sorted."""

    axes: tuple[str, ...]
    tiles: Mapping[Coordinate, Array]

    @staticmethod
    def whole(array: Array) -> Family:
        """A value without parallel axes."""
        return Family((), {(): array})

    @property
    def array(self) -> Array:
        """The array of a value without parallel axes."""
        return self.tiles[()]

    def map(self, function: Callable[[Coordinate, Array], Array]) -> Family:
        """Applies a function of coordinate and tile to each tile."""
        return Family(self.axes, {c: function(c, tile) for c, tile in self.tiles.items()})

    def named(self, coordinate: Coordinate) -> dict[str, int]:
        """Returns a coordinate by axis name."""
        return dict(zip(self.axes, coordinate, strict=True))

    def extended(
        self,
        axis: str,
        positions: Callable[[dict[str, int]], list[int]],
        function: Callable[[int, Array, dict[str, int]], Array],
    ) -> Family:
        """Adds an axis: at each old coordinate it has ``positions`` of that coordinate; the tile at each of them is a
        function of the position, the old tile and the old coordinate.
        """
        axes = tuple(sorted((*self.axes, axis)))
        tiles: dict[Coordinate, Array] = {}
        for coordinate, tile in self.tiles.items():
            names = self.named(coordinate)
            for position in positions(names):
                new = {**names, axis: position}
                tiles[tuple(new[a] for a in axes)] = function(position, tile, names)
        return Family(axes, tiles)

    def grouped(self, axis: str) -> Iterator[tuple[Coordinate, list[Array]]]:
        """Yields, for each coordinate of the other axes, the tiles along ``axis`` in order."""
        place = self.axes.index(axis)
        rows: dict[Coordinate, dict[int, Array]] = {}
        for coordinate, tile in self.tiles.items():
            rows.setdefault(coordinate[:place] + coordinate[place + 1 :], {})[coordinate[place]] = tile
        for rest, row in rows.items():
            yield rest, [row[position] for position in sorted(row)]

    def without(self, axis: str) -> tuple[str, ...]:
        """The axes other than one."""
        return tuple(a for a in self.axes if a != axis)

    def restricted(self, axis: str, position: int) -> Family:
        """Keeps the tiles at one position of an axis; the axis stays. A family without the axis is unchanged."""
        if axis not in self.axes:
            return self
        place = self.axes.index(axis)
        return Family(self.axes, {c: tile for c, tile in self.tiles.items() if c[place] == position})

    def sliced(self, axis: str, position: int) -> Family:
        """What one position of an axis holds, without the axis. A family without the axis is unchanged."""
        if axis not in self.axes:
            return self
        place = self.axes.index(axis)
        kept = {c: tile for c, tile in self.tiles.items() if c[place] == position}
        return Family(self.without(axis), {c[:place] + c[place + 1 :]: tile for c, tile in kept.items()})

    @staticmethod
    def joined(axis: str, parts: Mapping[int, Family]) -> Family:
        """The family that holds each part at its position of an axis: undoes :meth:`sliced`."""
        axes = tuple(sorted((axis, *next(iter(parts.values())).axes)))
        place = axes.index(axis)
        tiles = {(*c[:place], at, *c[place:]): tile for at, part in parts.items() for c, tile in part.tiles.items()}
        return Family(axes, tiles)


Value: TypeAlias = "Family | tuple[Value, ...]"


def zip_tiles(function: Callable[..., Array], *families: Family) -> Family:
    """Applies a function to the tiles of several families coordinate by coordinate.

    A family without some axis of the others shows the same tile at each of its coordinates.
    """
    axes = tuple(sorted({axis for family in families for axis in family.axes}))
    positions: dict[str, list[int]] = {}
    for family in families:
        for place, axis in enumerate(family.axes):
            positions.setdefault(axis, sorted({c[place] for c in family.tiles}))
    tiles: dict[Coordinate, Array] = {}
    for coordinate in itertools.product(*(positions[axis] for axis in axes)):
        names = dict(zip(axes, coordinate, strict=True))
        tiles[coordinate] = function(*(family.tiles[tuple(names[a] for a in family.axes)] for family in families))
    return Family(axes, tiles)


def round_to(x: Array, element: str) -> Array:
    """Rounds float64 numbers to the nearest number of a storage type (``f64``, ``f32``, ``f16``, ``bf16``), ties to
    even.
    """
    match element:
        case "f64":
            return x
        case "f32" | "f16":
            with np.errstate(over="ignore", under="ignore"):
                return x.astype(np.float32 if element == "f32" else np.float16).astype(np.float64)
        case "bf16":
            return _round_bits(x, significand_bits=8, min_exponent=-126, max_value=3.3895313892515355e38)
        case "f8E4M3FN":
            # No infinity: what lies beyond the largest number becomes NaN, as PyTorch's conversion does.
            rounded = _round_bits(x, significand_bits=4, min_exponent=-6, max_value=448.0)
            return np.where(np.isinf(rounded), np.nan, rounded)
        case "f8E5M2":
            return _round_bits(x, significand_bits=3, min_exponent=-14, max_value=57344.0)
        case _:
            raise ValueError(f"no rounding to element type {element}")


def _round_bits(x: Array, significand_bits: int, min_exponent: int, max_value: float) -> Array:
    """Rounds to a binary format with gradual underflow, by scaling one unit in the last place to 1."""
    _, exponent = np.frexp(x)
    # frexp's significand lies in [0.5, 1): the leading bit of x has weight 2 ** (exponent - 1).
    unit = np.maximum(exponent - 1, min_exponent) - (significand_bits - 1)
    rounded = np.where(np.isfinite(x), np.ldexp(np.rint(np.ldexp(x, -unit)), unit), x)
    overflowed = np.abs(rounded) > max_value
    return np.where(overflowed, np.copysign(np.inf, rounded), rounded)
