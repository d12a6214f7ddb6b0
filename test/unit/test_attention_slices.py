"""Variants of attention that decode a few queries of a head, with their keys split across blocks (as flash-decoding
does): what the search offers at real extents, run at reduced ones under Triton's interpreter against PyTorch in
float64.

The reduced extents keep both levels: several slices, ragged at the end, of several tiles each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch
import torch.nn.functional as F
from derived_reductions import Call, compare, draw, wide
from torch import Tensor
from xdsl.dialects.builtin import ModuleOp

from equiforge.codegen.build_kernels import build_kernels
from equiforge.codegen.emit_triton import emit_triton
from equiforge.codegen.run import run_interpreted
from equiforge.codegen.schedule import apply_schedules
from equiforge.dialects import tile
from equiforge.egraph.encode import encode
from equiforge.egraph.graph import EGraph
from equiforge.egraph.saturate import SaturationOptions, saturate
from equiforge.frontend.builder import shape_of
from equiforge.frontend.program import import_module
from equiforge.search.extract import Candidate, extract
from equiforge.search.to_tile import to_tile
from equiforge.verify.interpreter import main_function
from equiforge.verify.shrink import shrink

HEADS, KEYS, WIDTH = 32, 16384, 64
Q, K, V = (HEADS, 8, WIDTH), (HEADS, KEYS, WIDTH), (HEADS, KEYS, 16)


def soft_capped(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (20.0 * torch.tanh(q @ k.mT / 20.0)).softmax(-1) @ v


def with_temperature(q: Tensor, k: Tensor, v: Tensor, temperature: Tensor) -> Tensor:
    return (q @ k.mT / temperature.exp()).softmax(-1) @ v


def cosine(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The norms are reductions over another axis."""
    return (10.0 * F.cosine_similarity(q[:, :, None], k[:, None], -1)).softmax(-1) @ v


def normalized(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (10.0 * F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).mT).softmax(-1) @ v


def sigmoid(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """No weight depends on a reduction over the keys: what the slices leave is added up."""
    return torch.sigmoid(q @ k.mT - 1.0) @ v


def normalized_sigmoid(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Two independent reductions."""
    p = torch.sigmoid(q @ k.mT - 1.0)
    return (p @ v) / p.sum(-1, keepdim=True)


def differential(q1: Tensor, k1: Tensor, q2: Tensor, k2: Tensor, v: Tensor, share: Tensor) -> Tensor:
    """Two softmaxes whose difference weighs the same values."""
    return ((q1 @ k1.mT).softmax(-1) - share * (q2 @ k2.mT).softmax(-1)) @ v


def differential_of_results(q1: Tensor, k1: Tensor, q2: Tensor, k2: Tensor, v: Tensor, share: Tensor) -> Tensor:
    return (q1 @ k1.mT).softmax(-1) @ v - share * ((q2 @ k2.mT).softmax(-1) @ v)


@dataclass(frozen=True)
class Case:
    """``states``: how many arrays each kernel of a candidate leaves of its slices, in the order of the kernels; 0 for
    one that has no derived reduction. ``best``: such a candidate is the search's first one."""

    function: Callable[..., Tensor]
    shapes: tuple[tuple[int, ...], ...]
    states: tuple[int, ...] = (3, 0)
    best: bool = True


CASES: dict[str, Case] = {
    "soft-capped scores": Case(soft_capped, (Q, K, V)),
    "a temperature": Case(with_temperature, (Q, K, V, (1, 1))),
    "cosine similarity": Case(cosine, (Q, K, V), (0, 3, 0)),
    "normalized queries and keys": Case(normalized, (Q, K, V), (0, 3, 0)),
    "sigmoid": Case(sigmoid, (Q, K, V), (0, 0)),
    "normalized sigmoid": Case(normalized_sigmoid, (Q, K, V), (0, 0, 0), best=False),
    "differential": Case(differential, (Q, K, Q, K, V, (1, 1)), (0, 0, 2, 0), best=False),
    "differential, of results": Case(differential_of_results, (Q, K, Q, K, V, (1, 1)), (3, 3, 0)),
}


@dataclass(frozen=True)
class Splits:
    """The candidates in slices."""

    program: ModuleOp
    graph: EGraph
    candidates: list[Candidate]


def in_slices(graph: EGraph, candidate: Candidate, states: tuple[int, ...]) -> bool:
    """Whether some kernels run by slices of keys, and the last one does not."""
    split = [bool(graph.outer_axes & set(kernel.grid)) for kernel in candidate.kernels]
    return tuple(len(kernel.fields) for kernel in candidate.kernels) == states and any(split) and not split[-1]


@pytest.fixture(scope="module")
def found() -> Callable[[str], Splits]:
    known: dict[str, Splits] = {}

    def find(name: str) -> Splits:
        if name not in known:
            case = CASES[name]
            args = tuple(torch.empty(shape) for shape in case.shapes)
            program = import_module(Call(case.function), args).module
            graph, _, _ = saturate(encode(program), SaturationOptions())
            candidates = extract(graph).top(8)
            split = [c for c in candidates if in_slices(graph, c, case.states)]
            assert split, [([len(k.fields) for k in c.kernels], c.signature) for c in candidates]
            known[name] = Splits(program, graph, split)
        return known[name]

    return find


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.best])
def test_the_best_kernels_split_the_keys(name: str, found: Callable[[str], Splits]) -> None:
    """Few blocks leave most of a device idle otherwise, and scores that are stored cost time."""
    assert found(name).candidates[0].id == 0


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_slices_of_keys_and_their_merge_compute_what_pytorch_does(
    name: str, scale: float, found: Callable[[str], Splits]
) -> None:
    splits = found(name)
    for candidate in splits.candidates:
        _, small = shrink(splits.program, to_tile(splits.graph, candidate))
        assert small is not None
        shapes = [shape_of(value) for value in main_function(small).body.block.args]
        slices = {shape_of(op.results[0])[0] for op in small.walk() if isinstance(op, tile.CollectOp)}
        assert min(slices) > 1 and shapes[1][1] < 64
        *scores, _ = (n for n, shape in enumerate(shapes) if len(shape) == 3)
        args = tuple(draw(*shape, scale=scale if n in scores else 1.0) for n, shape in enumerate(shapes))
        kernels = build_kernels(small)
        apply_schedules(kernels, "interpreter")
        (result,) = run_interpreted(emit_triton(kernels), list(args))
        compare(result, CASES[name].function(*wide(args)), 1e-5)
