"""Programs to differentiate: their joint graphs of forward and backward are what CSE and rematerialization work on.

They are not among the named programs: kernels are searched for forward programs only.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Built = tuple[nn.Module, tuple[Tensor, ...]]
"""A module and inputs for it."""


class SelfAttention(nn.Module):
    """Causal self-attention on (batch, tokens, width), written out; one projection makes q, k and v."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        batch, tokens, width = x.shape
        split = self.qkv(x).view(batch, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = split.unbind(0)
        scores = q @ k.transpose(-1, -2) / math.sqrt(width // self.heads)
        seen = torch.ones(tokens, tokens, dtype=torch.bool, device=x.device).tril()
        weights = torch.softmax(scores.masked_fill(~seen, -math.inf), dim=-1)
        return self.out((weights @ v).transpose(1, 2).reshape(batch, tokens, width))


class SwiGLU(nn.Module):
    """``W2 (silu(W1 n) * W3 n)`` with n = rms(x) g"""

    def __init__(self, width: int, hidden: int):
        super().__init__()
        self.norm = nn.RMSNorm(width, eps=1e-6)
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        normal = self.norm(x)
        return self.down(F.silu(self.gate(normal)) * self.up(normal))


class Transformer(nn.Module):
    """Pre-norm layers of attention and SwiGLU with residuals."""

    def __init__(self, layers: int, width: int, heads: int, hidden: int):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(layers))
        self.attention = nn.ModuleList(SelfAttention(width, heads) for _ in range(layers))
        self.mlp = nn.ModuleList(SwiGLU(width, hidden) for _ in range(layers))

    def forward(self, x: Tensor) -> Tensor:
        for norm, attention, mlp in zip(self.norms, self.attention, self.mlp, strict=True):
            x = x + attention(norm(x))
            x = x + mlp(x)
        return x


def _input(batch: int, tokens: int, width: int) -> tuple[Tensor, ...]:
    return (torch.randn(batch, tokens, width, requires_grad=True),)


def attention(batch: int = 2, tokens: int = 64, width: int = 32, heads: int = 2) -> Built:
    return SelfAttention(width, heads), _input(batch, tokens, width)


def swiglu(batch: int = 2, tokens: int = 64, width: int = 32, hidden: int = 96) -> Built:
    return SwiGLU(width, hidden), _input(batch, tokens, width)


def transformer(
    batch: int = 2, tokens: int = 64, width: int = 32, heads: int = 2, hidden: int = 96, layers: int = 4
) -> Built:
    return Transformer(layers, width, heads, hidden), _input(batch, tokens, width)


TRAINING: dict[str, Callable[..., Built]] = {
    "attention": attention,
    "swiglu": swiglu,
    "transformer": transformer,
}
"""Builders of a module and its inputs by name; sizes are keyword arguments."""
