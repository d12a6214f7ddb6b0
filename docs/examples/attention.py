"""Causal attention as one writes it down, optimized from Python and run under Triton's interpreter on the CPU.

python docs/examples/attention.py
equiforge optimize docs/examples/attention.py:large --target h200
"""

from __future__ import annotations

import torch

import equiforge


class Attention(torch.nn.Module):
    """``softmax(q @ kᵀ · scale) @ v`` with a causal mask; q, k and v are (batch, heads, rows, head dim)."""

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        rows = q.shape[-2]
        future = torch.ones(rows, rows, dtype=torch.bool, device=q.device).triu(1)
        scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
        return torch.softmax(scores.masked_fill(future, float("-inf")), dim=-1) @ v


def inputs(batch: int, heads: int, rows: int, head_dim: int) -> tuple[torch.Tensor, ...]:
    """Random q, k and v in half precision."""
    torch.manual_seed(0)
    return tuple(torch.randn(batch, heads, rows, head_dim, dtype=torch.float16) for _ in range(3))


def large() -> tuple[torch.nn.Module, tuple[torch.Tensor, ...]]:
    """The module and example inputs at a size for a GPU: a factory for the command line."""
    return Attention(), inputs(1, 32, 2048, 128)


def main() -> None:
    """Optimizes at a small, ragged size, runs the emitted kernel and compares it with PyTorch."""
    module, example = Attention(), inputs(1, 2, 77, 32)
    optimized = equiforge.optimize(module, example, target="h200", interpret=True)
    wanted = module.double()(*(tensor.double() for tensor in example))
    got = optimized(*example).double()
    eager = module(*example).double()

    def error(value: torch.Tensor) -> float:
        return float(torch.linalg.norm(value - wanted) / torch.linalg.norm(wanted))

    best = next(row for row in optimized.candidates if row.id == optimized.report["best"])
    print(f"{len(optimized.candidates)} candidates; the best has {best.kernels} kernel(s)")
    print(f"relative error to float64: emitted {error(got):.1e}, eager PyTorch {error(eager):.1e}")


if __name__ == "__main__":
    main()
