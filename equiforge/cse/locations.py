"""Source locations of merged ops: the op that stays stands for all lines that its copies came from.

    %a = forge.exp %x {loc = "model.py:3"}
    %b = forge.exp %x {loc = "model.py:8"}      ->    %a = forge.exp %x {loc = "fused[model.py:3, model.py:8]"}

Both forms of a location are kept: the attribute ``loc`` of forge, and the location of xDSL's ops.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from xdsl.dialects.builtin import ArrayAttr, FusedLoc, LocationAttr, NoneAttr, StringAttr, UnknownLoc
from xdsl.ir import Attribute, Operation

from equiforge.cse.effects import walk

_PREFIX = "fused["


def lines_of(text: str) -> list[str]:
    """The single locations in the text of one, fused or not."""
    if text.startswith(_PREFIX) and text.endswith("]"):
        return text[len(_PREFIX) : -1].split(", ")
    return [text]


def fused_text(lines: Sequence[str]) -> str:
    """One location for several; of one line, that line."""
    return lines[0] if len(lines) == 1 else f"{_PREFIX}{', '.join(lines)}]"


class Locations:
    """Collects the locations of merged ops, and writes each fused one once, so that many copies cost no more."""

    def __init__(self) -> None:
        self._texts: dict[Operation, dict[str, None]] = {}
        self._attributes: dict[Operation, dict[Attribute, None]] = {}

    def merge(self, survivor: Operation, duplicate: Operation, erased: Container[Operation]) -> None:
        """``survivor`` stands for ``duplicate`` too, and what it holds for what the other holds; ``erased`` ops are
        held no longer."""
        if not survivor.regions:
            self._merge(survivor, duplicate)
            return
        inside = ([op for op in walk(outer) if op is outer or op not in erased] for outer in (survivor, duplicate))
        for kept, gone in zip(*inside, strict=True):
            self._merge(kept, gone)

    def _merge(self, survivor: Operation, duplicate: Operation) -> None:
        text = duplicate.attributes.get("loc")
        if isinstance(text, StringAttr):
            own = survivor.attributes.get("loc")
            known = self._texts.get(survivor)
            if known is None:
                if text == own:
                    return
                known = self._texts[survivor] = dict.fromkeys(lines_of(own.data) if isinstance(own, StringAttr) else ())
            known.update(dict.fromkeys(self._texts.get(duplicate) or lines_of(text.data)))
        if not isinstance(duplicate.location, UnknownLoc):
            attributes = self._attributes.setdefault(survivor, dict.fromkeys(_parts(survivor.location)))
            attributes.update(self._attributes.get(duplicate) or dict.fromkeys(_parts(duplicate.location)))

    def write(self) -> None:
        """Gives each op that stayed its fused location."""
        for op, lines in self._texts.items():
            op.attributes["loc"] = StringAttr(fused_text(list(lines)))
        for op, parts in self._attributes.items():
            op.location = _fused(list(parts))


def _parts(location: LocationAttr) -> Sequence[Attribute]:
    if isinstance(location, FusedLoc) and isinstance(location.locations, ArrayAttr):
        return tuple(location.locations.data)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType, reportUnknownVariableType]
    return () if isinstance(location, UnknownLoc) else (location,)


def _fused(parts: Sequence[Attribute]) -> LocationAttr:
    only = parts[0]
    if len(parts) == 1:
        assert isinstance(only, LocationAttr)
        return only
    return FusedLoc(ArrayAttr(parts), NoneAttr())
