"""Options that take one of a few words."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from equiforge.errors import EquiforgeError

NUMERICS = ("real", "strict")


def check_choice(what: str, value: str, allowed: Iterable[str]) -> None:
    """Raises an EquiforgeError that names the likely or all allowed values, unless ``value`` is one of them."""
    words = list(allowed)
    if value in words:
        return
    near = difflib.get_close_matches(value, words, n=1)
    listed = ", ".join(words)
    hint = f"did you mean {near[0]}? known: {listed}" if near else f"known: {listed}"
    raise EquiforgeError(f"unknown {what} {value!r}", hint=hint)
