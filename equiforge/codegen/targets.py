"""What code generation must know of a device: compute capability and the shared memory that a block may have."""

from __future__ import annotations

from dataclasses import dataclass

from equiforge.errors import TargetError


@dataclass(frozen=True)
class Target:
    """``capability`` as in ``sm_90`` = 90; ``shared`` in bytes a block."""

    name: str
    capability: int
    shared: int


_SHARED = {75: 64, 80: 163, 86: 99, 89: 99, 90: 227, 100: 227, 103: 227, 120: 99}
_DEVICES = {"t4": 75, "a100": 80, "l4": 89, "h100": 90, "h200": 90, "b200": 100, "rtx4090": 89, "rtx5090": 120}
#: Triton's interpreter: no shared memory to run out of, and small tiles.
INTERPRETER = Target("interpreter", 0, 1 << 30)


def target_of(name: str | int | Target) -> Target:
    """A device (``h100``), an architecture (``sm_90``, ``90``) or ``interpreter``; raises TargetError for others."""
    if isinstance(name, Target):
        return name
    text = str(name).lower()
    if text == "interpreter":
        return INTERPRETER
    digits = text.removeprefix("sm_")
    capability = _DEVICES.get(text, int(digits) if digits.isdigit() else 0)
    if capability not in _SHARED:
        known = ", ".join([*_DEVICES, *(f"sm_{c}" for c in _SHARED)])
        raise TargetError(f"unknown target {name}", hint=f"one of {known}")
    return Target(text, capability, _SHARED[capability] * 1024)
