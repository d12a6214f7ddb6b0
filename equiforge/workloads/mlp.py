"""Normalisation and projection programs. Weights are inputs, row-major (in, out)."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from equiforge.workloads.registry import Input, Sizes

EPS = 1e-6


class RMSNormLinear(nn.Module):
    """``rms(x)*g @ W``"""

    def forward(self, x: Tensor, g: Tensor, w: Tensor) -> Tensor:
        return F.rms_norm(x, (x.shape[-1],), g, EPS) @ w


class RMSNormMLP(nn.Module):
    """``(n@W1) * (n@W2)`` with n = rms(x)*g"""

    def forward(self, x: Tensor, g: Tensor, w1: Tensor, w2: Tensor) -> Tensor:
        n = F.rms_norm(x, (x.shape[-1],), g, EPS)
        return (n @ w1) * (n @ w2)


class RMSNormSwiGLU(nn.Module):
    """``(silu(n@W1) * (n@W3)) @ W2`` with n = rms(x)*g"""

    def forward(self, x: Tensor, g: Tensor, w1: Tensor, w3: Tensor, w2: Tensor) -> Tensor:
        n = F.rms_norm(x, (x.shape[-1],), g, EPS)
        return (F.silu(n @ w1) * (n @ w3)) @ w2


class GatedMLP(nn.Module):
    """``silu(x@W1) * (x@W2)``"""

    def forward(self, x: Tensor, w1: Tensor, w2: Tensor) -> Tensor:
        return F.silu(x @ w1) * (x @ w2)


class LoRA(nn.Module):
    """``x@W + (x@A)@B``"""

    def forward(self, x: Tensor, w: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return x @ w + (x @ a) @ b


class LayerNormGEMM(nn.Module):
    """``ln(x, g, b) @ W``"""

    def forward(self, x: Tensor, g: Tensor, b: Tensor, w: Tensor) -> Tensor:
        return F.layer_norm(x, (x.shape[-1],), g, b, 1e-5) @ w


def unit(x: Tensor) -> Tensor:
    """``x`` scaled to length 1, computed in f32 at least (a sum of squares leaves fp16 soon)."""
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    return (wide * torch.rsqrt(wide.square().sum(-1, keepdim=True) + 1e-12)).to(x.dtype)


class NGPTUpdate(nn.Module):
    """``norm(h + a*(norm(y) - h))``: the residual update of nGPT on the unit sphere."""

    def forward(self, h: Tensor, y: Tensor, a: Tensor) -> Tensor:
        return unit(h + a * (unit(y) - h))


class NGPTProjectedUpdate(nn.Module):
    """The same with ``y = o @ Wo``."""

    def forward(self, h: Tensor, o: Tensor, wo: Tensor, a: Tensor) -> Tensor:
        return unit(h + a * (unit(o @ wo) - h))


def _weight(rows: int, columns: int, dtype: str) -> Input:
    return Input((rows, columns), dtype, scale=rows**-0.5)


def _gain(size: int, dtype: str) -> Input:
    return Input((size,), dtype, scale=0.1, mean=1.0)


def rmsnorm_linear(sizes: Sizes) -> tuple[nn.Module, list[Input]]:
    rows, hidden, dtype = sizes["b"] * sizes["rows"], sizes["hidden"], sizes["dtype"]
    return RMSNormLinear(), [
        Input((rows, hidden), dtype),
        _gain(hidden, dtype),
        _weight(hidden, sizes["out"], dtype),
    ]


def rmsnorm_mlp(sizes: Sizes) -> tuple[nn.Module, list[Input]]:
    hidden, ffn, dtype = sizes["hidden"], sizes["ffn"], sizes["dtype"]
    weights = [_weight(hidden, ffn, dtype) for _ in range(2)]
    return RMSNormMLP(), [Input((sizes["b"], hidden), dtype), _gain(hidden, dtype), *weights]


def rmsnorm_swiglu(sizes: Sizes) -> tuple[nn.Module, list[Input]]:
    hidden, ffn, dtype = sizes["hidden"], sizes["ffn"], sizes["dtype"]
    weights = [_weight(hidden, ffn, dtype) for _ in range(2)]
    inputs = [Input((sizes["b"], hidden), dtype), _gain(hidden, dtype), *weights, _weight(ffn, hidden, dtype)]
    return RMSNormSwiGLU(), inputs


def gated_mlp(sizes: Sizes) -> tuple[nn.Module, list[Input]]:
    hidden, dtype = sizes["hidden"], sizes["dtype"]
    weights = [_weight(hidden, sizes["ffn"], dtype) for _ in range(2)]
    return GatedMLP(), [Input((sizes["b"], hidden), dtype), *weights]


def lora(sizes: Sizes) -> tuple[nn.Module, list[Input]]:
    hidden, out, rank, dtype = sizes["hidden"], sizes["out"], sizes["r"], sizes["dtype"]
    return LoRA(), [
        Input((sizes["b"], hidden), dtype),
        _weight(hidden, out, dtype),
        _weight(hidden, rank, dtype),
        _weight(rank, out, dtype),
    ]


def layernorm_gemm(sizes: Sizes) -> tuple[nn.Module, list[Input]]:
    rows, hidden, dtype = sizes["b"] * sizes["rows"], sizes["hidden"], sizes["dtype"]
    return LayerNormGEMM(), [
        Input((rows, hidden), dtype),
        _gain(hidden, dtype),
        Input((hidden,), dtype, scale=0.1),
        _weight(hidden, sizes["out"], dtype),
    ]


def ngpt(sizes: Sizes) -> tuple[nn.Module, list[Input]]:
    rows, hidden, dtype = sizes["b"] * sizes["rows"], sizes["hidden"], sizes["dtype"]
    state = Input((rows, hidden), dtype, scale=hidden**-0.5)
    rate = Input((hidden,), dtype, scale=0.02, mean=0.1)
    if sizes["proj"]:
        return NGPTProjectedUpdate(), [state, Input((rows, hidden), dtype), _weight(hidden, hidden, dtype), rate]
    return NGPTUpdate(), [state, Input((rows, hidden), dtype), rate]
