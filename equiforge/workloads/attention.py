"""Attention programs, written plainly: nothing in them knows of tiles or running maxima."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from equiforge.workloads.registry import Input, Sizes


class Attention(nn.Module):
    """``softmax(q @ kᵀ * scale) @ v`` on (heads, tokens, d), the softmax in the dtype of the inputs."""

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        scale = 1.0 / math.sqrt(q.shape[-1])
        scores = q @ k.transpose(-1, -2) * scale
        return torch.softmax(scores, dim=-1) @ v


class CausalAttention(nn.Module):
    """The same where query i sees keys 0..i."""

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        scale = 1.0 / math.sqrt(q.shape[-1])
        scores = q @ k.transpose(-1, -2) * scale
        seen = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device).tril()
        scores = torch.where(seen, scores, -math.inf)
        return torch.softmax(scores, dim=-1) @ v


class GroupedDecode(nn.Module):
    """One query a head; each of the kv heads serves the h/kv query heads of its group."""

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        batch, heads, _, d = q.shape
        kv = k.shape[1]
        grouped = q.view(batch, kv, heads // kv, d)
        weights = torch.softmax(grouped @ k.transpose(-1, -2) / math.sqrt(d), dim=-1)
        return (weights @ v).view(batch, heads, 1, d)


class SDPA(nn.Module):
    """``torch.nn.functional.scaled_dot_product_attention``"""

    def __init__(self, causal: bool, grouped: bool = False):
        super().__init__()
        self.causal = causal
        self.grouped = grouped

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(q, k, v, is_causal=self.causal, enable_gqa=self.grouped)


def mha_decode(sizes: Sizes) -> tuple[nn.Module, list[Input]]:
    heads, d, dtype = sizes["b"] * sizes["h"], sizes["d"], sizes["dtype"]
    cache = Input((heads, sizes["s"], d), dtype)
    return Attention(), [Input((heads, 1, d), dtype), cache, cache]


def mha_prefill(sizes: Sizes) -> tuple[nn.Module, list[Input]]:
    tokens = Input((sizes["b"] * sizes["h"], sizes["s"], sizes["d"]), sizes["dtype"])
    return CausalAttention() if sizes["causal"] else Attention(), [tokens, tokens, tokens]


def gqa_decode(sizes: Sizes) -> tuple[nn.Module, list[Input]]:
    b, d, dtype = sizes["b"], sizes["d"], sizes["dtype"]
    cache = Input((b, sizes["kv"], sizes["s"], d), dtype)
    return GroupedDecode(), [Input((b, sizes["h"], 1, d), dtype), cache, cache]


def sdpa(sizes: Sizes) -> tuple[nn.Module, list[Input]]:
    tokens = Input((sizes["b"], sizes["h"], sizes["s"], sizes["d"]), sizes["dtype"])
    return SDPA(bool(sizes["causal"])), [tokens, tokens, tokens]


def sdpa_gqa(sizes: Sizes) -> tuple[nn.Module, list[Input]]:
    b, d, dtype = sizes["b"], sizes["d"], sizes["dtype"]
    cache = Input((b, sizes["kv"], sizes["s"], d), dtype)
    module = SDPA(bool(sizes["causal"]), grouped=sizes["kv"] != sizes["h"])
    return module, [Input((b, sizes["h"], sizes["t"], d), dtype), cache, cache]
