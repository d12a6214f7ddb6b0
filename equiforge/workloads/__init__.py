"""The named programs: ordinary PyTorch modules, built by name and size; importing this loads no torch."""

from __future__ import annotations

import importlib
from typing import Any

from equiforge.workloads.registry import Input, Sizes, Workload, read_spec

__all__ = ["WORKLOADS", "Input", "Sizes", "Workload", "parse_spec"]


def _lazily(module: str, function: str) -> Any:
    def build(sizes: Sizes) -> Any:
        return getattr(importlib.import_module(f"equiforge.workloads.{module}"), function)(sizes)

    return build


def _heads_divide(sizes: Sizes) -> str | None:
    return None if sizes["h"] % sizes["kv"] == 0 else f"h={sizes['h']} query heads over kv={sizes['kv']} do not divide"


_ALL = (
    Workload(
        "rmsnorm-linear",
        "rms(x)*g @ W; `rows` rows a batch element",
        {"b": 8, "rows": 2, "hidden": 4096, "out": 6144, "dtype": "fp16"},
        {"b": 2, "rows": 4, "hidden": 64, "out": 96},
        {"b": 1, "rows": 5, "hidden": 72, "out": 100},
        _lazily("mlp", "rmsnorm_linear"),
    ),
    Workload(
        "rmsnorm-mlp",
        "(n@W1) * (n@W2), n = rms(x)*g",
        {"b": 8, "hidden": 4096, "ffn": 4096, "dtype": "fp16"},
        {"b": 8, "hidden": 64, "ffn": 96},
        {"b": 5, "hidden": 72, "ffn": 100},
        _lazily("mlp", "rmsnorm_mlp"),
    ),
    Workload(
        "rmsnorm-swiglu",
        "(silu(n@W1)*(n@W3)) @ W2, n = rms(x)*g",
        {"b": 8, "hidden": 4096, "ffn": 11008, "dtype": "fp16"},
        {"b": 8, "hidden": 64, "ffn": 96},
        {"b": 5, "hidden": 72, "ffn": 100},
        _lazily("mlp", "rmsnorm_swiglu"),
    ),
    Workload(
        "gated-mlp",
        "silu(x@W1) * (x@W2)",
        {"b": 8, "hidden": 4096, "ffn": 4096, "dtype": "fp16"},
        {"b": 8, "hidden": 64, "ffn": 96},
        {"b": 5, "hidden": 72, "ffn": 100},
        _lazily("mlp", "gated_mlp"),
    ),
    Workload(
        "lora",
        "x@W + (x@A)@B with rank r",
        {"b": 8, "hidden": 4096, "out": 4096, "r": 16, "dtype": "fp16"},
        {"b": 8, "hidden": 64, "out": 96, "r": 16},
        {"b": 5, "hidden": 72, "out": 100, "r": 12},
        _lazily("mlp", "lora"),
    ),
    Workload(
        "layernorm-gemm",
        "ln(x,g,b) @ W; `rows` rows a batch element (rows=1: tokens only)",
        {"b": 8, "rows": 128, "hidden": 1024, "out": 4096, "dtype": "fp16"},
        {"b": 2, "rows": 4, "hidden": 64, "out": 96},
        {"b": 1, "rows": 5, "hidden": 72, "out": 100},
        _lazily("mlp", "layernorm_gemm"),
    ),
    Workload(
        "ngpt",
        "norm(h + a*(norm(y) - h)); proj=1: y = o@Wo first",
        {"b": 8, "rows": 8, "hidden": 4096, "proj": 0, "dtype": "fp16"},
        {"b": 1, "rows": 8, "hidden": 64},
        {"b": 1, "rows": 5, "hidden": 72},
        _lazily("mlp", "ngpt"),
    ),
    Workload(
        "mha-decode",
        "softmax(q kᵀ/√d) v for one query a head; (b·h, s, d)",
        {"b": 1, "h": 32, "s": 4096, "d": 128, "dtype": "fp16"},
        {"b": 1, "h": 2, "s": 64, "d": 16},
        {"b": 1, "h": 3, "s": 75, "d": 20},
        _lazily("attention", "mha_decode"),
    ),
    Workload(
        "mha-prefill",
        "softmax(q kᵀ/√d, causal or not) v; (b·h, s, d)",
        {"b": 1, "h": 32, "s": 2048, "d": 128, "causal": 1, "dtype": "fp16"},
        {"b": 1, "h": 2, "s": 64, "d": 16},
        {"b": 1, "h": 3, "s": 75, "d": 20},
        _lazily("attention", "mha_prefill"),
    ),
    Workload(
        "gqa-decode",
        "one query, h query heads share kv key/value heads; plain softmax",
        {"b": 1, "h": 64, "kv": 8, "s": 4096, "d": 128, "dtype": "fp16"},
        {"b": 1, "h": 4, "kv": 2, "s": 64, "d": 16},
        {"b": 1, "h": 6, "kv": 2, "s": 75, "d": 20},
        _lazily("attention", "gqa_decode"),
        _heads_divide,
    ),
    Workload(
        "sdpa",
        "scaled_dot_product_attention on (b, h, s, d), causal or not",
        {"b": 1, "h": 32, "s": 2048, "d": 128, "causal": 1, "dtype": "fp16"},
        {"b": 2, "h": 2, "s": 64, "d": 16},
        {"b": 2, "h": 3, "s": 75, "d": 20},
        _lazily("attention", "sdpa"),
    ),
    Workload(
        "sdpa-gqa",
        "scaled_dot_product_attention with h query heads over kv key/value heads, t queries on s keys",
        {"b": 1, "h": 64, "kv": 8, "t": 1, "s": 4096, "d": 128, "causal": 0, "dtype": "fp16"},
        {"b": 1, "h": 4, "kv": 2, "t": 8, "s": 64, "d": 16},
        {"b": 2, "h": 6, "kv": 2, "t": 5, "s": 75, "d": 20},
        _lazily("attention", "sdpa_gqa"),
        _heads_divide,
    ),
)

WORKLOADS: dict[str, Workload] = {workload.name: workload for workload in _ALL}


def parse_spec(text: str) -> tuple[Workload, Sizes]:
    """The workload and full sizes of ``name``, ``name:small``, ``name:ragged`` or ``name:k=v,…``."""
    return read_spec(text, WORKLOADS)
