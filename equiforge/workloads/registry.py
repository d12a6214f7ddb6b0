"""Named programs: a module, its inputs as shapes, sizes with presets, and how a spec like ``lora:b=1`` is read."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from equiforge.errors import ProgramError
from equiforge.frontend.dtypes import DTYPE_ALIASES

if TYPE_CHECKING:
    import torch

Sizes = dict[str, Any]
DTYPES = ("fp16", "bf16", "fp32", "fp64")


@dataclass(frozen=True)
class Input:
    """One input: its shape, its dtype by short name, and the standard deviation and mean of its elements."""

    shape: tuple[int, ...]
    dtype: str
    scale: float = 1.0
    mean: float = 0.0

    def _torch_dtype(self) -> torch.dtype:
        import torch

        return getattr(torch, DTYPE_ALIASES[self.dtype])

    def empty(self) -> torch.Tensor:
        """A tensor of the type, contents left open."""
        import torch

        return torch.empty(self.shape, dtype=self._torch_dtype())

    def draw(self, generator: torch.Generator) -> torch.Tensor:
        """Normal elements, drawn in f32 and rounded, so that one seed gives the same input in every dtype."""
        import torch

        return (torch.randn(self.shape, generator=generator) * self.scale + self.mean).to(self._torch_dtype())


Builder = Callable[[Sizes], "tuple[torch.nn.Module, list[Input]]"]


@dataclass(frozen=True)
class Workload:
    """A program by name. ``defaults`` are the benchmark's sizes; ``small`` and ``ragged`` change some of them.

    ``small`` runs in seconds in an interpreter; ``ragged`` is small with extents that no tile divides.
    """

    name: str
    description: str
    defaults: Sizes
    small: Sizes
    ragged: Sizes
    build: Builder
    check: Callable[[Sizes], str | None] = lambda _: None

    def sizes(self, preset: str | None = None, **changes: Any) -> Sizes:
        """The full sizes with a preset and changes applied. Raises ProgramError for unknown names and bad values."""
        chosen: Sizes = getattr(self, preset) if preset else {}
        sizes: Sizes = {**self.defaults, **chosen}
        for key, value in changes.items():
            if key not in sizes:
                near = difflib.get_close_matches(key, sizes, n=1)
                listed = f"parameters: {', '.join(sizes)}"
                raise ProgramError(
                    f"workload {self.name} has no parameter {key!r}",
                    hint=f"did you mean {near[0]}? {listed}" if near else listed,
                )
            sizes[key] = value
        complaint = _check_values(sizes) or self.check(sizes)
        if complaint:
            raise ProgramError(f"workload {self.name}: {complaint}")
        return sizes

    def spec_of(self, sizes: Sizes) -> str:
        """The spec that names these sizes, defaults left out."""
        changed = [f"{key}={value}" for key, value in sizes.items() if value != self.defaults[key]]
        return f"{self.name}:{','.join(changed)}" if changed else self.name

    def make_inputs(self, inputs: Sequence[Input], seed: int) -> list[torch.Tensor]:
        """Real inputs from a seed."""
        import torch

        generator = torch.Generator().manual_seed(seed)
        return [item.draw(generator) for item in inputs]


def _check_values(sizes: Sizes) -> str | None:
    for key, value in sizes.items():
        if key == "dtype":
            if value not in DTYPES:
                return f"unknown dtype {value!r}; known: {', '.join(DTYPES)}"
        elif key in ("causal", "proj", "bias"):
            if value not in (0, 1):
                return f"{key} is 0 or 1, not {value}"
        elif not isinstance(value, int) or value < 1:
            return f"{key} must be a positive integer, not {value}"
    return None


def read_spec(text: str, known: dict[str, Workload]) -> tuple[Workload, Sizes]:
    """Read ``name``, ``name:small`` or ``name:k=v,…``. Raises ProgramError with a did-you-mean."""
    name, _, rest = text.partition(":")
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        if near:
            hint = f"did you mean {near[0]}?"
        else:
            hint = "`equiforge workloads` lists the names; files end in .py:factory, .pt2 or .mlir"
        raise ProgramError(f"no such workload or program file: {name!r}", hint=hint)
    workload = known[name]
    preset: str | None = None
    changes: Sizes = {}
    for item in filter(None, (part.strip() for part in rest.split(","))):
        key, equals, value = (part.strip() for part in item.partition("="))
        if not equals:
            if key not in ("small", "ragged"):
                raise ProgramError(f"{text}: {item!r} is no setting", hint="write k=v, or one of small, ragged")
            preset = key
            continue
        changes[key] = _value(text, key, value)
    return workload, workload.sizes(preset, **changes)


def _value(text: str, key: str, value: str) -> Any:
    if key == "dtype":
        return value
    try:
        return int(value)
    except ValueError:
        raise ProgramError(f"{text}: {key}={value!r} is not an integer", hint=f"write {key}=8") from None
