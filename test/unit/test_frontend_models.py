"""Whole blocks as people write them: imported, and equal to PyTorch in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from equiforge.frontend.program import import_module
from equiforge.verify.interpreter import evaluate


class LlamaBlock(nn.Module):
    """RMSNorm, rotary embeddings, grouped heads repeated by hand, causal attention, SwiGLU."""

    def __init__(self, width: int = 32, heads: int = 4, kv: int = 2) -> None:
        super().__init__()
        self.heads, self.kv, self.size = heads, kv, width // heads
        self.norm1, self.norm2 = nn.RMSNorm(width), nn.RMSNorm(width)
        self.q, self.o = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.k, self.v = (nn.Linear(width, self.size * kv, bias=False) for _ in range(2))
        self.gate, self.up = nn.Linear(width, 64, bias=False), nn.Linear(width, 64, bias=False)
        self.down = nn.Linear(64, width, bias=False)

    def rope(self, x: Tensor) -> Tensor:
        places = torch.arange(x.shape[-2], dtype=x.dtype)
        inverse = 1.0 / (10000 ** (torch.arange(0, x.shape[-1], 2, dtype=x.dtype) / x.shape[-1]))
        angle = torch.outer(places, inverse)
        angle = torch.cat((angle, angle), -1)
        first, second = x.chunk(2, -1)
        return x * angle.cos() + torch.cat((-second, first), -1) * angle.sin()

    def split(self, x: Tensor, heads: int) -> Tensor:
        return x.view(x.shape[0], x.shape[1], heads, self.size).transpose(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        n = self.norm1(x)
        q, k = self.rope(self.split(self.q(n), self.heads)), self.rope(self.split(self.k(n), self.kv))
        v = self.split(self.v(n), self.kv)
        k, v = (t.repeat_interleave(self.heads // self.kv, 1) for t in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(y.transpose(1, 2).reshape(x.shape))
        n = self.norm2(x)
        return x + self.down(F.silu(self.gate(n)) * self.up(n))


class GPT(nn.Module):
    """Embeddings, a mask kept as a buffer, dropout in eval mode, tied output weights, a loss."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(50, width), nn.Embedding(16, width)
        self.norm, self.qkv, self.out = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.register_buffer("mask", torch.tril(torch.ones(16, 16)).view(1, 1, 16, 16))
        self.drop = nn.Dropout(0.1)
        self.mlp = nn.Sequential(nn.Linear(width, 64), nn.GELU(), nn.Linear(64, width), nn.Dropout(0.1))

    def forward(self, index: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        b, t = index.shape
        x = self.drop(self.tokens(index) + self.places(torch.arange(t)))
        q, k, v = (part.view(b, t, 4, 8).transpose(1, 2) for part in self.qkv(self.norm(x)).split(32, 2))
        scores = (q @ k.transpose(-2, -1)) * 8**-0.5
        scores = scores.masked_fill(self.mask[:, :, :t, :t] == 0, float("-inf"))
        y = (self.drop(F.softmax(scores, -1)) @ v).transpose(1, 2).contiguous().view(b, t, 32)
        x = x + self.out(y)
        x = x + self.mlp(x)
        logits = x @ self.tokens.weight.T
        return logits, F.cross_entropy(logits.view(-1, 50), target.view(-1))


class HyperConnections(nn.Module):
    """Residual streams mixed by a Sinkhorn-normalised matrix."""

    def forward(self, x: Tensor, phi: Tensor, a: Tensor, c: Tensor) -> Tensor:
        b, n, width = x.shape
        g = F.rms_norm(x.reshape(b, n * width), (n * width,), eps=1e-6) @ phi
        pre = torch.sigmoid(a[0] * g[:, :n] + c[:n])
        post = 2 * torch.sigmoid(a[1] * g[:, n : 2 * n] + c[n : 2 * n])
        mix = torch.exp(a[2] * g[:, 2 * n :].view(b, n, n) + c[2 * n :].view(n, n))
        for _ in range(3):
            mix = mix / mix.sum(-1, keepdim=True)
            mix = mix / mix.sum(-2, keepdim=True)
        u = (pre[:, :, None] * x).sum(1)
        return torch.einsum("bij,bjc->bic", mix, x) + post[:, :, None] * u[:, None, :]


def sequences(*shape: int) -> Tensor:
    return torch.randn(shape, dtype=torch.float64)


CASES: dict[str, tuple[Any, tuple[Tensor, ...]]] = {
    "llama": (LlamaBlock, (sequences(2, 6, 32),)),
    "gpt": (GPT, (torch.randint(0, 50, (2, 7)), torch.randint(0, 50, (2, 7)))),
    "hyper-connections": (HyperConnections, (sequences(3, 4, 8), sequences(32, 24), sequences(3), sequences(24))),
    "multihead": (lambda: nn.MultiheadAttention(16, 2, batch_first=True), (sequences(2, 5, 16),) * 3),
    "encoder": (lambda: nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), (sequences(2, 5, 16),)),
    "decoder": (
        lambda: nn.TransformerDecoderLayer(16, 2, 32, batch_first=True),
        (sequences(2, 5, 16), sequences(2, 5, 16)),
    ),
    "batchnorm": (
        lambda: nn.Sequential(nn.Flatten(1), nn.Linear(12, 8), nn.BatchNorm1d(8), nn.Hardswish(), nn.Softmax(-1)),
        (sequences(5, 3, 4),),
    ),
}


def array(tensor: Tensor) -> np.ndarray:
    return tensor.detach().numpy()


@pytest.mark.parametrize("name", CASES)
def test_model_means_what_torch_computes(name: str) -> None:
    torch.manual_seed(0)
    factory, args = CASES[name]
    module = factory().eval().double()
    program = import_module(module, args, name)
    assert program.eager is not None
    expected = program.eager(*program.example_args[: program.num_user_inputs])
    results = evaluate(program.module, [array(arg) for arg in program.example_args])
    for result, reference in zip(results, torch.utils._pytree.tree_leaves(expected), strict=True):
        np.testing.assert_allclose(result, array(reference), rtol=1e-8, atol=1e-9)
    if name == "llama":
        assert all(op.name != "forge.expand" for op in program.module.walk())
