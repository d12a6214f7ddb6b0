"""What the tests of derived reductions share: a candidate under Triton's interpreter against PyTorch in float64."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from equiforge.codegen.build_kernels import build_kernels
from equiforge.codegen.emit_triton import emit_triton
from equiforge.codegen.run import run_interpreted
from equiforge.codegen.schedule import apply_schedules
from equiforge.egraph.graph import EGraph
from equiforge.frontend.program import Program
from equiforge.search.extract import Candidate
from equiforge.search.to_tile import to_tile

INF, NAN = float("inf"), float("nan")


class Call(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]):
        super().__init__()
        self.function = function

    def forward(self, *args: Tensor) -> Any:
        return self.function(*args)


def draw(*shape: int, scale: float = 1.0) -> Tensor:
    return scale * torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


@dataclass(frozen=True)
class Found:
    program: Program
    graph: EGraph
    candidate: Candidate

    def run(self, args: tuple[Tensor, ...]) -> Tensor:
        kernels = build_kernels(to_tile(self.graph, self.candidate), self.program.input_strides())
        apply_schedules(kernels, "interpreter")
        (result,) = run_interpreted(emit_triton(kernels), list(args))
        return result


def compare(result: Tensor, expected: Tensor, tolerance: float = 2e-6, terms: float = 0.0) -> None:
    """``terms`` is the size of what is added up, where it may cancel."""
    if not expected.is_floating_point():
        assert torch.equal(result, expected)
        return
    scale = expected[expected.isfinite()].abs().amax() if expected.isfinite().any() else torch.tensor(0.0)
    error = tolerance * max(float(scale), terms)
    torch.testing.assert_close(result.double(), expected, rtol=tolerance, atol=error, equal_nan=True)


def wide(args: tuple[Tensor, ...]) -> list[Tensor]:
    return [a.double() if a.is_floating_point() else a for a in args]
