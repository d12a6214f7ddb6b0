"""Programs whose reductions depend on one another, as one kernel with one pass: what the search finds, run under
Triton's interpreter against PyTorch in float64.

The reduced dimension is walked in tiles of 16, ragged at the end.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from derived_reductions import INF, NAN, Call, Found, compare, draw, wide
from torch import Tensor

from equiforge.egraph.encode import encode
from equiforge.egraph.saturate import SaturationOptions, saturate
from equiforge.frontend.program import import_module
from equiforge.search.extract import Candidate, ExtractOptions, extract

ROWS, COLUMNS, LOOP = 20, 43, 16
NO_ALGEBRA = ("algebra", "algebra-ac", "storage")
ONE_PASS = re.compile(r"\[[^\]]*\]\(([^*,)]+)\)(~*)[^ ]*")
"""A kernel that loops once over one axis."""


def place_if_likely(x: Tensor) -> Tensor:
    """The place of the maximum where its probability is large: normalizer and argmax in the loop of one maximum."""
    likely = 1.0 / (x - x.amax(-1, keepdim=True)).exp().sum(-1)
    return torch.where(likely > 0.3, x.argmax(-1), -1)


def cross_entropy(x: Tensor, target: Tensor) -> Tensor:
    picked = torch.where(torch.arange(COLUMNS)[None] == target[:, None], x, 0.0)
    return x.logsumexp(-1) - picked.sum(-1)


def soft_capped(scores: Tensor, v: Tensor) -> Tensor:
    return (20.0 * torch.tanh(scores * 0.25 / 20.0)).softmax(-1) @ v


def differential(a: Tensor, b: Tensor, v: Tensor) -> Tensor:
    """Two softmaxes that share their values."""
    return a.softmax(-1) @ v - 0.5 * (b.softmax(-1) @ v)


def cosine(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The norms are reductions over another axis: no producers of this loop. Those of the keys are computed once,
    before it."""
    unit = [x * torch.rsqrt(x.square().sum(-1, keepdim=True)) for x in (q, k)]
    return (unit[0] @ unit[1].mT * 5.0).softmax(-1) @ v


def scaled_to_norm(x: Tensor, y: Tensor) -> Tensor:
    """The norm is a sum over the same axis as the product that it scales: it leaves that sum, and both are
    independent."""
    return (x * torch.rsqrt(x.square().sum(-1, keepdim=True)) * y).sum(-1)


def sigmoid_attention(scores: Tensor, v: Tensor) -> Tensor:
    """Normalized by a sum that no weight depends on: the reductions are independent."""
    p = torch.sigmoid(scores - 1.0)
    return (p @ v) / p.sum(-1, keepdim=True)


def squared_probabilities(x: Tensor) -> Tensor:
    return x.softmax(-1).square().sum(-1)


def entropy(x: Tensor) -> Tensor:
    return -(x.softmax(-1) * x.log_softmax(-1)).sum(-1)


def entropy_written_out(x: Tensor) -> Tensor:
    """A factor and a first moment, which is the normalizer."""
    d = x - x.amax(-1, keepdim=True)
    e = d.exp()
    return e.sum(-1).log() - (e * d).sum(-1) / e.sum(-1)


def smoothed_cross_entropy(x: Tensor, target: Tensor) -> Tensor:
    return F.cross_entropy(x, target, reduction="none", label_smoothing=0.1)


def soft_cross_entropy(x: Tensor, targets: Tensor) -> Tensor:
    return -(targets * x.log_softmax(-1)).sum(-1)


def divergence(a: Tensor, b: Tensor) -> Tensor:
    """Four states in one chain: two maxima and two normalizers."""
    return (a.softmax(-1) * (a.log_softmax(-1) - b.log_softmax(-1))).sum(-1)


def skewness(x: Tensor) -> Tensor:
    d = x - x.mean(-1, keepdim=True)
    return (d * d * d).mean(-1) * torch.rsqrt((d * d).mean(-1)).pow(3)


@dataclass(frozen=True)
class Case:
    """``rolling`` is the number of derived reductions in the loop of the last kernel, which is the ``kernels``-th.
    ``terms`` is the size of what a result adds up, where it may cancel."""

    function: Callable[..., Any]
    args: tuple[Tensor, ...]
    rolling: int = 1
    kernels: int = 1
    disabled: tuple[str, ...] = ("storage",)
    terms: float = 0.0


X = draw(ROWS, COLUMNS, scale=2.0)
TARGET = torch.arange(ROWS) * 7 % COLUMNS
V = draw(COLUMNS, 16)
CASES: dict[str, Case] = {
    "argmax": Case(lambda x: x.argmax(-1), (X,)),
    "argmin": Case(lambda x: x.argmin(-1), (X,)),
    "place of a likely maximum": Case(place_if_likely, (X,)),
    "variance": Case(lambda x: x.var(-1), (X + 30.0,)),
    "layer norm": Case(lambda x: F.layer_norm(x, (COLUMNS,)), (X + 30.0,)),
    "layer norm and product": Case(
        lambda x, v: F.layer_norm(x, (COLUMNS,)) @ v, (X + 30.0, V), disabled=("algebra-ac", "storage")
    ),
    "logsumexp": Case(lambda x: x.logsumexp(-1), (X,)),
    "cross entropy": Case(cross_entropy, (X, TARGET)),
    "squared probabilities": Case(squared_probabilities, (X,)),
    "largest probability": Case(lambda x: x.softmax(-1).amax(-1), (X,)),
    "entropy": Case(entropy, (X,), terms=0.1),
    "entropy, written out": Case(entropy_written_out, (X,), terms=0.1),
    "smoothed cross entropy": Case(smoothed_cross_entropy, (X, TARGET)),
    "cross entropy with soft targets": Case(soft_cross_entropy, (X, draw(ROWS, COLUMNS).softmax(-1))),
    "divergence of two softmaxes": Case(divergence, (X, draw(ROWS, COLUMNS)), disabled=NO_ALGEBRA),
    "skewness": Case(skewness, (X + 3.0,)),
    "softmax with a temperature": Case(lambda x: (x / 3.0).softmax(-1).square().sum(-1), (X,)),
    "normalizer and weighted sum": Case(lambda x, v: x.softmax(-1) @ v, (draw(24, COLUMNS), V), disabled=NO_ALGEBRA),
    "soft-capped scores": Case(soft_capped, (draw(24, COLUMNS, scale=9.0), V), disabled=("algebra-ac", "storage")),
    "two softmaxes": Case(
        differential, (draw(24, COLUMNS), draw(24, COLUMNS, scale=3.0), V), 2, disabled=("algebra-ac", "storage")
    ),
    "cosine": Case(cosine, (draw(24, 16), draw(COLUMNS, 16), V), kernels=2, disabled=NO_ALGEBRA),
    "cosine of rows": Case(scaled_to_norm, (X, draw(ROWS, COLUMNS)), 0, disabled=("algebra-ac", "storage")),
    "sigmoid": Case(sigmoid_attention, (draw(24, COLUMNS), V), 0, disabled=("algebra-ac", "storage")),
}


@pytest.fixture(scope="module")
def found() -> Callable[[str], Found]:
    known: dict[str, Found] = {}

    def find(name: str) -> Found:
        if name not in known:
            case = CASES[name]
            program = import_module(Call(case.function), case.args)
            graph, _, _ = saturate(encode(program.module, LOOP), SaturationOptions(disabled=case.disabled))
            options = ExtractOptions(max_candidates=24, max_kernels=1)
            known[name] = Found(program, graph, one_pass(extract(graph, options).candidates, case))
        return known[name]

    return find


def one_pass(candidates: list[Candidate], case: Case) -> Candidate:
    """The best candidate whose last kernel makes one pass over one axis, with the derived reductions of the case."""
    for candidate in candidates:
        *before, last = candidate.signature.split()
        match = ONE_PASS.fullmatch(last)
        if match and len(match[2]) == case.rolling and len(before) == case.kernels - 1:
            return candidate
    raise AssertionError(f"one pass with {case.rolling} is not in {[c.signature for c in candidates]}")


@pytest.mark.parametrize("name", CASES)
def test_one_pass_computes_what_pytorch_does(name: str, found: Callable[[str], Found]) -> None:
    case = CASES[name]
    compare(found(name).run(case.args), case.function(*wide(case.args)))


HOSTILE = torch.full((ROWS, COLUMNS), 1.0)
HOSTILE[0] = -INF
HOSTILE[1, :17] = -INF
HOSTILE[2, 20:] = -INF
HOSTILE[3, 5], HOSTILE[3, 30] = NAN, NAN
HOSTILE[4, 18], HOSTILE[4, 40] = INF, INF
HOSTILE[5] = torch.arange(COLUMNS) * 1000.0
HOSTILE[6] = -torch.arange(COLUMNS) * 1000.0
HOSTILE[7, ::2] = -0.0
HOSTILE[8:] = X[8:] * 30.0


OF_ROWS = [name for name, case in CASES.items() if case.args[0].shape == X.shape]


@pytest.mark.parametrize("name", OF_ROWS)
def test_rows_that_are_masked_infinite_or_no_numbers_are_as_in_pytorch(
    name: str, found: Callable[[str], Found]
) -> None:
    case = CASES[name]
    args = (HOSTILE, *case.args[1:])
    result, expected = found(name).run(args), case.function(*wide(args))
    for row in range(ROWS):
        if not torch.equal(result[row].double(), expected[row].double()):
            compare(result[row : row + 1], expected[row : row + 1], 1e-5, case.terms)


def test_a_large_mean_does_not_cancel(found: Callable[[str], Found]) -> None:
    """The mean is 10⁴ times the deviation: Σx² - nμ² would have no digit left, the merge of deviations keeps them."""
    x = X + 1e4
    exact = x.double().var(-1)
    naive = (x.square().sum(-1) - x.sum(-1).square() / COLUMNS) / (COLUMNS - 1)
    assert float(((naive.double() - exact) / exact).abs().max()) > 0.1
    compare(found("variance").run((x,)), exact, 1e-5)


@pytest.mark.parametrize("name", ["sigmoid", "cosine of rows"])
def test_independent_reductions_get_no_repair(name: str, found: Callable[[str], Found]) -> None:
    assert not found(name).graph.reducers


def test_strict_numerics_get_no_repair() -> None:
    program = import_module(Call(CASES["layer norm"].function), CASES["layer norm"].args)
    graph = encode(program.module, LOOP)
    graph.numerics = "strict"
    saturated, _, report = saturate(graph, SaturationOptions())
    assert report.added == 0 and not saturated.reducers
