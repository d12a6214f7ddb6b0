"""A Llama-style block: norm, QKV, RoPE, grouped causal attention, output projection, residual, norm, SwiGLU, residual.

equiforge optimize docs/examples/llama_block.py:make            one block
equiforge optimize docs/examples/llama_block.py:stack8          eight of them
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Block(nn.Module):
    def __init__(self, hidden: int, heads: int, kv: int, ffn: int, rope: bool = True):
        super().__init__()
        self.heads, self.kv, self.d, self.rope = heads, kv, hidden // heads, rope
        self.norm1, self.norm2 = nn.RMSNorm(hidden, eps=1e-5), nn.RMSNorm(hidden, eps=1e-5)
        self.wq = nn.Linear(hidden, heads * self.d, bias=False)
        self.wk = nn.Linear(hidden, kv * self.d, bias=False)
        self.wv = nn.Linear(hidden, kv * self.d, bias=False)
        self.wo = nn.Linear(heads * self.d, hidden, bias=False)
        self.gate = nn.Linear(hidden, ffn, bias=False)
        self.up = nn.Linear(hidden, ffn, bias=False)
        self.down = nn.Linear(ffn, hidden, bias=False)

    def rotate(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        half = x.shape[-1] // 2
        turned = torch.cat((-x[..., half:], x[..., :half]), dim=-1)
        return x * cos + turned * sin

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        batch, tokens, _ = x.shape
        n = self.norm1(x)
        q = self.wq(n).view(batch, tokens, self.heads, self.d).transpose(1, 2)
        k = self.wk(n).view(batch, tokens, self.kv, self.d).transpose(1, 2)
        v = self.wv(n).view(batch, tokens, self.kv, self.d).transpose(1, 2)
        if self.rope:
            q, k = self.rotate(q, cos, sin), self.rotate(k, cos, sin)
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=self.heads != self.kv)
        x = x + self.wo(o.transpose(1, 2).reshape(batch, tokens, -1))
        n = self.norm2(x)
        return x + self.down(F.silu(self.gate(n)) * self.up(n))


class Stack(nn.Module):
    def __init__(self, layers: int, **sizes: int):
        super().__init__()
        self.blocks = nn.ModuleList(Block(**sizes) for _ in range(layers))

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        for block in self.blocks:
            x = block(x, cos, sin)
        return x


def build(layers: int, tokens: int = 2048, **sizes: int) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """Parameters are on the meta device: their values don't matter to the search."""
    full = {"hidden": 4096, "heads": 32, "kv": 8, "ffn": 14336} | sizes
    with torch.device("meta"):
        module = Stack(layers, **full).half()
        d = full["hidden"] // full["heads"]
        x = torch.empty(1, tokens, full["hidden"], dtype=torch.float16)
        table = torch.empty(tokens, d, dtype=torch.float16)
    return module.eval(), (x, table, table.clone())


def make() -> tuple[nn.Module, tuple[Tensor, ...]]:
    return build(1)


def stack8() -> tuple[nn.Module, tuple[Tensor, ...]]:
    return build(8)
