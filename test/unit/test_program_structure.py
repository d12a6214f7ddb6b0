"""What the search finds at benchmark size: for each program the candidates that it must contain, by their IR."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from equiforge.codegen.build_kernels import build_kernels
from equiforge.dialects import forge, kernel, tile
from equiforge.egraph.encode import encode
from equiforge.egraph.graph import EGraph
from equiforge.egraph.saturate import SaturationOptions, saturate
from equiforge.frontend.program import load_program
from equiforge.search.extract import Candidate, extract
from equiforge.search.to_tile import to_tile

ONE_LOOP = re.compile(r"\[[\w,]*\]\(\w+\)~\d+p0r")
"""The signature of a kernel with one pass over one axis, in a derived reduction, that reads no intermediate."""


def searched(spec: str, disabled: tuple[str, ...] = ()) -> tuple[EGraph, list[Candidate]]:
    graph, stats, _ = saturate(encode(load_program(spec).module), SaturationOptions(disabled=disabled))
    assert stats.saturated, stats.stop
    candidates = extract(graph).candidates
    assert candidates
    return graph, candidates


def is_online_softmax(kernels: ModuleOp, tiles: ModuleOp) -> bool:
    """One kernel, one loop whose state is maximum, normalizer and weighted sum, and no buffer between kernels."""
    functions = list(kernel.functions_of(kernels))
    loops = [op for op in kernels.walk() if isinstance(op, kernel.ForOp)]
    buffers = [op for op in kernels.walk() if isinstance(op, kernel.BufferOp)]
    stores = [op for op in kernels.walk() if isinstance(op, kernel.StoreOp)]
    reducers = [op for op in tiles.walk() if isinstance(op, tile.ReducerOp)]
    identities = [reducer.identity for reducer in reducers]
    inside = [op.name for loop in loops for op in loop.body.walk()]
    return (
        len(functions) == len(loops) == len(stores) == 1
        and not any(op.kind.data == "temporary" for op in buffers)
        and len(loops[0].inits) == 3
        and identities == [(-math.inf, 0.0, 0.0)]
        and inside.count("tile.matmul") == 2
        and "forge.exp" in inside
    )


def check_attention(graph: EGraph, candidates: list[Candidate]) -> None:
    single = [c for c in candidates if ONE_LOOP.fullmatch(c.signature)]
    assert single, sorted({c.signature for c in candidates})
    tiles = [to_tile(graph, c) for c in single]
    assert any(is_online_softmax(build_kernels(t), t) for t in tiles)


def depends_on(value: SSAValue, kind: type[Operation], seen: set[SSAValue] | None = None) -> bool:
    seen = set() if seen is None else seen
    if value in seen or not isinstance(value.owner, Operation):
        return False
    seen.add(value)
    return isinstance(value.owner, kind) or any(depends_on(o, kind, seen) for o in value.owner.operands)


def check_rmsnorm_mlp(graph: EGraph, candidates: list[Candidate]) -> None:
    """One kernel in which no product's operand is scaled by the row's rsqrt, yet the result is."""

    def scales_after(candidate: Candidate) -> bool:
        tiles = to_tile(graph, candidate)
        products = [op for op in tiles.walk() if isinstance(op, tile.MatmulOp)]
        (store,) = (op for op in tiles.walk() if isinstance(op, tile.StoreOp))
        scaled_before = any(depends_on(o, forge.RsqrtOp) for op in products for o in op.operands)
        return len(products) == 2 and not scaled_before and depends_on(store.operands[0], forge.RsqrtOp)

    assert any(scales_after(c) for c in candidates if c.launches == 1), [c.signature for c in candidates]


def check_lora(graph: EGraph, candidates: list[Candidate]) -> None:
    assert {1, 2} <= {c.launches for c in candidates}
    assert any(c.launches == 1 and "3p0r" in c.signature for c in candidates)


def check_layernorm_gemm(graph: EGraph, candidates: list[Candidate]) -> None:
    together = next(c for c in candidates if c.launches == 1)
    names = [op.name for op in to_tile(graph, together).walk()]
    assert "tile.matmul" in names and "forge.rsqrt" in names
    # Apart: a kernel without a product, then one that reads what it stored.
    assert any(re.fullmatch(r"\[[^\]]*\]\([^)]*\)0p0r \[[^\]]*\]\([^)]*\)1p1r", c.signature) for c in candidates)


def check_nothing(graph: EGraph, candidates: list[Candidate]) -> None:
    """That there are candidates is all."""


CHECKS: dict[str, Callable[[EGraph, list[Candidate]], None]] = {
    "mha-prefill:causal=1": check_attention,
    "sdpa-gqa": check_attention,
    "sdpa:causal=1": check_attention,
    "mha-decode": check_attention,
    "rmsnorm-swiglu": check_nothing,
    "mha-prefill:causal=0": check_attention,
    "sdpa:causal=0": check_attention,
    "gqa-decode": check_attention,
    "rmsnorm-mlp": check_rmsnorm_mlp,
    "lora": check_lora,
    "layernorm-gemm": check_layernorm_gemm,
    "rmsnorm-linear": check_nothing,
    "gated-mlp": check_nothing,
    "ngpt:proj=0": check_nothing,
    "ngpt:proj=1": check_nothing,
}


@pytest.mark.parametrize("spec", CHECKS)
def test_benchmark_size(spec: str) -> None:
    graph, candidates = searched(spec)
    CHECKS[spec](graph, candidates)


def test_without_repair_there_is_no_online_softmax() -> None:
    graph, candidates = searched("mha-decode", disabled=("repair",))
    assert not graph.reducers
    assert not any("~" in c.signature for c in candidates)
    # What is left walks the keys more than once or stores the scores.
    assert not any(ONE_LOOP.fullmatch(c.signature) for c in candidates)
    assert all("tile.reducer" not in str(to_tile(graph, c)) for c in candidates[:5])
