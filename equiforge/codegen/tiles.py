"""Values while a kernel is printed: Triton text with the dimensions that it really has.

A tile's text has an axis for each *kept* dimension: those of size 1, and those cut by tiles of one element, have
none, and a value that does not vary along a dimension has none for it either until an op must see it in full.
"""

from __future__ import annotations

import keyword
import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import copysign, inf, isnan, nan

import numpy as np

from equiforge.codegen.pointwise import TRITON_TYPES, is_float


@dataclass(frozen=True)
class Tile:
    """``dims`` are the kept logical dimensions, ascending; ``pads[d]`` is what stands beyond a ragged edge of
    dimension d, where known.

    ``number`` is set for a literal. ``atom`` is False for text that needs parentheses, ``factor`` is True for text
    that needs none in a sum. ``product`` holds the operands of a dot that has not been written yet, so that it can
    take its accumulator.
    """

    text: str
    dims: tuple[int, ...]
    element: str
    atom: bool = True
    pads: Mapping[int, float] = field(default_factory=lambda: {})
    number: float | None = None
    product: tuple[str, str, str] | None = None
    factor: bool = False

    def argument(self, dims: Sequence[int]) -> str:
        """The text as an argument of a call: like :meth:`shown` without needless parentheses."""
        inside = subscript(self.dims, dims)
        return self.shown(dims) if inside else self.text

    def term(self, dims: Sequence[int]) -> str:
        """The text as an operand of a sum or difference."""
        return self.argument(dims) if self.factor else self.shown(dims)

    def shown(self, dims: Sequence[int]) -> str:
        """The text as an operand among tiles of dimensions ``dims``."""
        text = self.text if self.atom else f"({self.text})"
        return text + subscript(self.dims, dims)


def subscript(have: Sequence[int], want: Sequence[int]) -> str:
    """``[:, None]`` and the like; nothing where the dimensions agree or a scalar broadcasts by itself."""
    if not have or tuple(have) == tuple(want):
        return ""
    return "[" + ", ".join(":" if d in have else "None" for d in want) + "]"


def rounded(value: float, element: str) -> float:
    """A number as the element type holds it."""
    if element == "f32":
        return float(np.float32(value))
    if element == "f16":
        return float(np.float16(value))
    if element == "bf16":
        (bits,) = struct.unpack("<I", struct.pack("<f", np.float32(value)))
        if isnan(value):
            return nan
        bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
        return float(struct.unpack("<f", struct.pack("<I", bits & 0xFFFFFFFF))[0])
    return value


def literal(value: float, element: str) -> str:
    """A number in Triton text. Triton takes Python floats for float32, so other float64 values name their type."""
    if element == "i1":
        return "True" if value else "False"
    if not is_float(element):
        return str(int(value))
    if isnan(value):
        return 'float("nan")'
    if value in (inf, -inf):
        return f'float("{"-" if value < 0 else ""}inf")'
    if value == 0 and copysign(1.0, value) < 0:
        # Triton makes +0.0 of a literal -0.0, so its bits are given.
        bits = {"f64": 64, "f32": 32}.get(element, 16)
        return f"tl.full([], {-(1 << bits - 1)}, tl.int{bits}).to({TRITON_TYPES[element]}, bitcast=True)"
    if element == "f64":
        return repr(float(value)) if float(np.float32(value)) == value else f"tl.full([], {float(value)!r}, tl.float64)"
    text = str(np.float32(value))
    return text if any(c in text for c in ".e") else text + ".0"


def integer_range(element: str) -> tuple[int, int]:
    """Least and greatest value of a signed integer type (i1: 0 and 1)."""
    bits = int(element[1:])
    return (0, 1) if bits == 1 else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def constant(value: float, element: str) -> Tile:
    value = rounded(value, element)
    text = literal(value, element)
    return Tile(text, (), element, atom=not text.startswith("-"), number=value)


def typed(tile: Tile) -> str:
    """A literal as a tensor without dimensions, for calls that need one; other tiles as they are."""
    if tile.number is None:
        return tile.text
    number = literal(tile.number, "f32" if tile.element == "f64" else tile.element)
    return f"tl.full([], {number}, {TRITON_TYPES[tile.element]})"


class Names:
    """Python names for the values of one function, each used once."""

    def __init__(self, taken: Sequence[str]):
        self._used = (
            set(taken) | set(keyword.kwlist) | {"tl", "torch", "triton", "range", "float", "True", "False", "None"}
        )

    def fresh(self, wanted: str) -> str:
        base = re.sub(r"\W", "_", wanted).strip("_") or "value"
        if base[0].isdigit():
            base = f"v{base}"
        name, number = base, 1
        while name in self._used:
            name = f"{base}_{number}"
            number += 1
        self._used.add(name)
        return name
