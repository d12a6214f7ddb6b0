"""Operators without a lowering between kernels: called as they are, in order, on what the kernels made."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

import equiforge
from equiforge.errors import UnsupportedOpError


class Program(nn.Module):
    def __init__(self, function: Callable[..., object]):
        super().__init__()
        self.function = function

    def forward(self, *inputs: Tensor) -> object:
        return self.function(*inputs)


def scan(x: Tensor, w: Tensor) -> Tensor:
    return torch.softmax(torch.cumsum(torch.relu(x @ w), -1), -1) @ w.T


def several_results(x: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    values, places = torch.sort(x @ w, dim=0, descending=True)
    return values * 2, places


def of_a_turned_argument(x: Tensor, w: Tensor) -> Tensor:
    """The operator sees an argument that lies in memory in another order than its dimensions."""
    return torch.cumsum(w.transpose(0, 1), 0) + torch.exp(torch.cumsum(x[:, 3:], 1)).sum()


def of_a_constant(x: Tensor, w: Tensor) -> Tensor:
    return torch.cumsum(torch.ones(8, 1), 0) * (x @ w)


def returned_as_it_is(x: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    return torch.cumprod(x, 1), x


def list_of_tensors(x: Tensor, w: Tensor) -> Tensor:
    return torch.block_diag(x @ w, w * 2).relu()


FUNCTIONS = (scan, several_results, of_a_turned_argument, of_a_constant, returned_as_it_is, list_of_tensors)


def arguments() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(3)
    return torch.randn(8, 32, generator=generator), torch.randn(32, 32, generator=generator) / 6


def run(function: Callable[..., object], numerics: str = "real") -> equiforge.OptimizedModule:
    return equiforge.optimize(Program(function), arguments(), interpret=True, top=1, validate=False, numerics=numerics)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_results_are_those_of_float64(function: Callable[..., object]) -> None:
    optimized = run(function)
    assert "torch.ops.aten." in optimized.source
    found = optimized(*arguments())
    wanted = function(*(a.double() for a in arguments()))
    plain = function(*arguments())
    for got, expected, eager in zip(
        *(r if isinstance(r, tuple) else (r,) for r in (found, wanted, plain)), strict=True
    ):
        assert got.dtype == eager.dtype and got.shape == eager.shape
        torch.testing.assert_close(got.double(), expected.double(), rtol=2e-5, atol=2e-5)


def noise(x: Tensor, w: Tensor) -> Tensor:
    y = x @ w
    first = torch.rand_like(y)
    second = torch.rand_like(y)
    unused = torch.randn_like(y)
    del unused
    return y + first - second + torch.randn_like(y)


def test_every_draw_is_eager_s_and_none_is_merged_moved_or_dropped() -> None:
    optimized = run(noise)
    calls = re.findall(r"torch\.ops\.aten\.(rand\w*)", optimized.source)
    assert calls == ["rand_like", "rand_like", "randn_like", "randn_like"]
    torch.manual_seed(11)
    wanted = noise(*(a.double() for a in arguments()))
    del wanted  # float64 draws other numbers: eager in the same type is the reference
    torch.manual_seed(11)
    eager = noise(*arguments())
    torch.manual_seed(11)
    found = optimized(*arguments())
    torch.testing.assert_close(found, eager, rtol=1e-5, atol=1e-5)
    assert torch.equal(torch.rand(3), _after_eager(11)), "the generator is where eager leaves it"


def _after_eager(seed: int) -> Tensor:
    torch.manual_seed(seed)
    noise(*arguments())
    return torch.rand(3)


def test_what_depends_on_the_layout_in_memory_is_still_refused() -> None:
    with pytest.raises(UnsupportedOpError, match="as_strided"):
        run(lambda x, w: torch.as_strided(x @ w, (4, 4), (1, 2)))


def test_kernels_stand_on_both_sides_of_a_call() -> None:
    source = run(scan).source
    body = source[source.index("def run(") :]
    order = [m[1] for m in re.finditer(r"(\w+_kernel)\[|aten\.(cumsum)", body)]
    assert len(order) == 3 and order[1] is None, "kernel, call, kernel"
