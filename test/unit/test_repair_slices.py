"""Derived reductions of long rows, split across blocks: what the slices of a row leave is merged by a second kernel.

The rows have 45 elements in slices of 32 and 13, each walked in tiles of 16; run under Triton's interpreter against
PyTorch in float64.
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
from equiforge.search.to_tile import to_tile
from equiforge.tune.validate import validate_candidate

ROWS, COLUMNS = 12, 45
LOOPLESS = re.compile(r"\[[^\]]*\]\(\).*")
"""A kernel without a loop."""


def written_out(x: Tensor) -> Tensor:
    m = x.amax(-1, keepdim=True)
    return (torch.log(torch.exp(x - m).sum(-1, keepdim=True)) + m).squeeze(-1)


def picked(x: Tensor, target: Tensor) -> Tensor:
    return x.logsumexp(-1) - x.gather(-1, target[:, None]).squeeze(-1)


@dataclass(frozen=True)
class Case:
    """``states`` are the arrays that the slices leave to the second kernel; ``terms`` is the size of what
    a result adds up, where it may cancel."""

    function: Callable[..., Any]
    args: tuple[Tensor, ...]
    states: int
    disabled: tuple[str, ...] = ()
    terms: float = 0.0


X = draw(ROWS, COLUMNS, scale=2.0)
TARGET = torch.arange(ROWS) * 7 % COLUMNS
CASES: dict[str, Case] = {
    "logsumexp": Case(lambda x: x.logsumexp(-1), (X,), 2),
    "logsumexp, written out": Case(written_out, (X,), 2),
    "log-softmax": Case(lambda x: x.log_softmax(-1), (X,), 2),
    "x - logsumexp": Case(lambda x: x - x.logsumexp(-1, keepdim=True), (X,), 2),
    "cross entropy": Case(lambda x, t: F.cross_entropy(x, t, reduction="none"), (X, TARGET), 2),
    "logsumexp less the target's score": Case(picked, (X, TARGET), 2),
    "argmax": Case(lambda x: x.argmax(-1), (X,), 2),
    "argmin": Case(lambda x: x.argmin(-1), (X,), 2),
    "variance": Case(lambda x: x.var(-1), (X + 30.0,), 4),
    "layer norm": Case(lambda x: F.layer_norm(x, (COLUMNS,)), (X + 30.0,), 4),
    "entropy": Case(lambda x: -(x.softmax(-1) * x.log_softmax(-1)).sum(-1), (X,), 4, terms=0.1),
    "smoothed cross entropy": Case(
        lambda x, t: F.cross_entropy(x, t, reduction="none", label_smoothing=0.1), (X, TARGET), 4
    ),
    "cross entropy with soft targets": Case(
        lambda x, t: -(t * x.log_softmax(-1)).sum(-1), (X, draw(ROWS, COLUMNS).softmax(-1)), 4
    ),
    "largest probability": Case(lambda x: x.softmax(-1).amax(-1), (X,), 3),
    "squared probabilities": Case(lambda x: x.softmax(-1).square().sum(-1), (X,), 3),
    "squared probabilities, as a chain": Case(
        lambda x: x.softmax(-1).square().sum(-1), (X,), 3, disabled=("algebra", "algebra-ac")
    ),
}


@pytest.fixture(scope="module")
def found() -> Callable[[str], Found]:
    known: dict[str, Found] = {}

    def find(name: str) -> Found:
        if name not in known:
            case = CASES[name]
            program = import_module(Call(case.function), case.args)
            graph, _, _ = saturate(encode(program.module, 16, 40), SaturationOptions(disabled=case.disabled))
            known[name] = Found(
                program, graph, split(extract(graph, ExtractOptions(max_candidates=400)).candidates, case)
            )
        return known[name]

    return find


def split(candidates: list[Candidate], case: Case) -> Candidate:
    """The best candidate of two kernels: the first stores all states of its slices, the second has no loop."""
    for candidate in candidates:
        states = [len(kernel.fields) for kernel in candidate.kernels]
        if states == [case.states, 0] and LOOPLESS.fullmatch(candidate.signature.split()[1]):
            return candidate
    raise AssertionError(f"no slices with {case.states} states in {[c.signature for c in candidates]}")


@pytest.mark.parametrize("name", CASES)
def test_slices_and_their_merge_compute_what_pytorch_does(name: str, found: Callable[[str], Found]) -> None:
    case = CASES[name]
    compare(found(name).run(case.args), case.function(*wide(case.args)))


HOSTILE = torch.full((ROWS, COLUMNS), 1.0)
HOSTILE[0] = -INF
HOSTILE[1, :32] = -INF
HOSTILE[2, 32:] = -INF
HOSTILE[3, 5], HOSTILE[3, 40] = NAN, NAN
HOSTILE[4, 18], HOSTILE[4, 40] = INF, INF
HOSTILE[5] = torch.arange(COLUMNS) * 1000.0
HOSTILE[6] = -torch.arange(COLUMNS) * 1000.0
HOSTILE[7, ::2] = -0.0
HOSTILE[8:] = X[8:] * 30.0


@pytest.mark.parametrize("name", CASES)
def test_slices_that_are_masked_infinite_or_no_numbers_are_as_in_pytorch(
    name: str, found: Callable[[str], Found]
) -> None:
    """Row 0 is masked in both slices, row 1 in the first, row 2 in the second."""
    case = CASES[name]
    args = (HOSTILE, *case.args[1:])
    result, expected = found(name).run(args), case.function(*wide(args))
    for row in range(ROWS):
        if not torch.equal(result[row].double(), expected[row].double()):
            compare(result[row : row + 1], expected[row : row + 1], 1e-5, case.terms)


@pytest.mark.parametrize("name", ["variance", "entropy", "squared probabilities, as a chain"])
def test_slices_hold_at_reduced_extents(name: str, found: Callable[[str], Found]) -> None:
    """What is expanded over a row shrinks with it."""
    one = found(name)
    verdict = validate_candidate(one.program.module, to_tile(one.graph, one.candidate))
    assert verdict.passed, verdict


def test_the_variance_of_slices_with_a_large_mean_does_not_cancel(found: Callable[[str], Found]) -> None:
    """The mean is 10⁴ times the deviation, and the slices' means differ from it by their rounding alone."""
    x = X + 2e4
    exact = x.double().var(-1)
    compare(found("variance").run((x,)), exact, 1e-5)
