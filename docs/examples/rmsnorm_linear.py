"""RMS normalization and a projection: the program of docs/tour.md.

equiforge optimize docs/examples/rmsnorm_linear.py:make
"""

from __future__ import annotations

import torch


class NormalizedLinear(torch.nn.Module):
    """``(x / rms(x)) @ w``; x is (rows, width), w is (width, outputs)."""

    def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        return (x * scale) @ w


def make() -> tuple[torch.nn.Module, tuple[torch.Tensor, torch.Tensor]]:
    """The module and example inputs, in half precision."""
    torch.manual_seed(0)
    return NormalizedLinear(), (torch.randn(16, 4096).half(), torch.randn(4096, 1024).half())
