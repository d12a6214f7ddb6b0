"""Attention from the input of a layer on: products split into heads and merged again, against float64.

All candidates run under Triton's interpreter: whatever kernels the heads are split in, the values are those of
PyTorch.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F

import equiforge
from equiforge.egraph.encode import encode
from equiforge.egraph.saturate import SaturationOptions, saturate
from equiforge.frontend.program import import_module
from equiforge.search.extract import ExtractOptions, extract

Tensor = torch.Tensor
_torch: Any = torch
TOKENS, WIDTH = 32, 32


class Attention(torch.nn.Module):
    """Self-attention of a layer; ``kv`` heads of keys and values serve groups of the others."""

    def __init__(self, heads: int = 4, kv: int = 4, gated: bool = False, out: bool = False, **options: bool):
        super().__init__()
        _torch.manual_seed(heads + kv)
        self.heads, self.kv = heads, kv
        self.causal, self.normed = options.get("causal", False), options.get("normed", False)
        self.d = WIDTH // heads
        self.query = torch.nn.Linear(WIDTH, WIDTH, bias=False)
        self.key, self.value = (torch.nn.Linear(WIDTH, kv * self.d, bias=False) for _ in range(2))
        self.gate = torch.nn.Linear(WIDTH, WIDTH, bias=False) if gated else None
        self.out = torch.nn.Linear(WIDTH, WIDTH, bias=False) if out else None

    def forward(self, x: Tensor) -> Tensor:
        batch, tokens, _ = x.shape
        q = self.query(x).view(batch, tokens, self.heads, self.d).transpose(1, 2)
        k, v = (p(x).view(batch, tokens, self.kv, self.d).transpose(1, 2) for p in (self.key, self.value))
        if self.normed:
            q, k = (F.rms_norm(h, (self.d,)) for h in (q, k))
        k, v = (h.repeat_interleave(self.heads // self.kv, dim=1) for h in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        y = y.transpose(1, 2).reshape(batch, tokens, WIDTH)
        if self.gate is not None:
            y = y * torch.sigmoid(self.gate(x))
        return y if self.out is None else self.out(y)


class Repeated(torch.nn.Module):
    """Keys computed once for groups of heads, and repeated: block by block, or each in turn."""

    def __init__(self, in_turn: bool):
        super().__init__()
        _torch.manual_seed(3)
        self.in_turn = in_turn
        self.key = torch.nn.Linear(WIDTH, WIDTH // 2, bias=False)

    def forward(self, q: Tensor, x: Tensor) -> Tensor:
        k = self.key(x).view(TOKENS, 2, 8).transpose(0, 1)
        k = k.repeat(2, 1, 1) if self.in_turn else k.repeat_interleave(2, dim=0)
        return q @ k.transpose(-1, -2)


class Rows(torch.nn.Module):
    """The norm of each head of a product, merged again: a reduction, and a pointwise op after it."""

    def __init__(self) -> None:
        super().__init__()
        _torch.manual_seed(4)
        self.project = torch.nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        h = self.project(x).view(TOKENS, 4, 8)
        return (h * torch.rsqrt(h.square().mean(-1, keepdim=True) + 1e-3)).reshape(TOKENS, WIDTH)


def draw(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


PROGRAMS: dict[str, tuple[torch.nn.Module, tuple[Tensor, ...], int]] = {
    # module, inputs, fewest kernels
    "heads": (Attention(), (draw(1, TOKENS, WIDTH),), 2),
    "heads in batches": (Attention(), (draw(2, TOKENS, WIDTH),), 2),
    "causal": (Attention(causal=True), (draw(1, TOKENS, WIDTH),), 2),
    "grouped heads": (Attention(kv=2), (draw(1, TOKENS, WIDTH),), 2),
    "gated": (Attention(gated=True), (draw(1, TOKENS, WIDTH),), 3),
    "normed": (Attention(normed=True), (draw(1, TOKENS, WIDTH),), 2),
    "projected": (Attention(out=True), (draw(1, TOKENS, WIDTH),), 3),
    "keys repeated in place": (Repeated(False), (draw(4, TOKENS, 8), draw(TOKENS, WIDTH)), 2),
    "keys repeated in turn": (Repeated(True), (draw(4, TOKENS, 8), draw(TOKENS, WIDTH)), 2),
    "norm of heads": (Rows(), (draw(TOKENS, WIDTH),), 2),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_candidates_of_all_numbers_of_kernels(name: str) -> None:
    module, inputs, fewest = PROGRAMS[name]
    fast = equiforge.optimize(module, inputs, interpret=True, top=6)
    rows: list[dict[str, Any]] = [row for row in fast.report["candidates"] if row["rejected"] is None]
    assert min(row["kernels"] for row in rows) == fewest
    assert all(row["validated"] for row in rows)
    wide = module.double()(*(x.double() for x in inputs))
    module.float()
    torch.testing.assert_close(fast(*inputs).double(), wide, rtol=1e-4, atol=1e-4)


def test_strict_numerics_keep_the_heads_of_a_product() -> None:
    """Reshapes only rename elements, so a program that keeps every rounding has them too."""
    module, inputs, _ = PROGRAMS["heads"]
    program = import_module(module, inputs, "heads", numerics="strict")
    graph = saturate(encode(program.module), SaturationOptions())[0]
    best = extract(graph, ExtractOptions(max_seconds=600)).candidates
    assert min(candidate.launches for candidate in best) == 2
