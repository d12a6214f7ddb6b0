"""Programs that join, pad, cut out and gather, end to end: kernels run under Triton's interpreter, against float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import equiforge

Tensor = torch.Tensor


class _Program(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]):
        super().__init__()
        self.function = function

    def forward(self, *inputs: Tensor) -> Any:
        return self.function(*inputs)


def run(function: Callable[..., Any], *inputs: Tensor, numerics: str = "real") -> Any:
    """The optimized program, after its result is found equal to that of the program in float64."""
    fast = equiforge.optimize(_Program(function), inputs, interpret=True, top=1, validate=False, numerics=numerics)
    wide = [x.double() if x.is_floating_point() else x for x in inputs]
    torch.testing.assert_close(fast(*inputs), function(*wide), rtol=1e-5, atol=1e-5, check_dtype=False, equal_nan=True)
    return fast


def kernels(fast: Any) -> int:
    return int(fast.report["candidates"][0]["kernels"])


def t(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed + sum(shape)))


def rotate_half(x: Tensor) -> Tensor:
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


def interleaved(x: Tensor) -> Tensor:
    return torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).flatten(-2)


def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.softmax(q @ k.transpose(-1, -2) * 0.25, dim=-1) @ v


def rope_attention(q: Tensor, k: Tensor, v: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    return attention(q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin, v)


def partial_rope(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    turned, rest = x[..., :4], x[..., 4:]
    return torch.cat((turned * cos + rotate_half(turned) * sin, rest), dim=-1)


def grouped_rope(q: Tensor, k: Tensor, v: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Two query heads to a key head, repeated as models do."""
    q, k = q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
    k, v = (x[:, :, None].expand(1, 2, 2, 9, 8).reshape(1, 4, 9, 8) for x in (k, v))
    return attention(q, k, v)


def pairwise_rope(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    first, second = x[..., ::2], x[..., 1::2]
    return torch.stack((first * cos - second * sin, second * cos + first * sin), dim=-1).flatten(-2)


ONE_KERNEL: dict[str, tuple[Callable[..., Any], tuple[Tensor, ...]]] = {
    "concat": (lambda a, b: torch.cat((a.exp(), b), -1), (t(5, 6), t(5, 11))),
    "concat of rows": (lambda a, b: torch.cat((a, b * 2)) + 1, (t(3, 7), t(4, 7))),
    "concat of three": (lambda a, b, c: torch.cat((a, b.sin(), c), 1), (t(2, 5, 3), t(2, 1, 3), t(2, 4, 3))),
    "stack": (lambda a, b: torch.stack((a, b.exp()), 1), (t(4, 6), t(4, 6, seed=1))),
    "pad": (lambda x: F.pad(x, (2, 1, 0, 3), value=0.5) * 2, (t(5, 9),)),
    "pad with minus infinity": (lambda x: F.pad(x, (0, 3), value=-torch.inf).amax(-1), (t(5, 9),)),
    "token shift": (lambda x: x - F.pad(x, (0, 0, 1, -1)), (t(2, 7, 8),)),
    "roll": (lambda x: torch.roll(x.exp(), 3, -1), (t(4, 10),)),
    "flip": (lambda x: torch.flip(x, (1,)) + x, (t(4, 10),)),
    "slice of a computed value": (lambda x: x.exp()[:, 1::3] * 2, (t(4, 20),)),
    "slice of a product": (lambda x, w: (x @ w)[:, 3:9], (t(4, 20), t(20, 12))),
    "concat then product": (lambda a, b, w: torch.cat((a, b), -1) @ w, (t(5, 6), t(5, 10), t(16, 7))),
    "concat of products": (lambda x, v, w: torch.cat((x @ v, x @ w), -1), (t(5, 6), t(6, 10), t(6, 7))),
    "sum over a concat": (lambda a, b: torch.cat((a, b), -1).sum(-1), (t(5, 6), t(5, 10))),
    "key cache": (
        lambda q, past, new, v: attention(q, torch.cat((past, new), 1), v),
        (t(2, 1, 16), t(2, 18, 16), t(2, 1, 16), t(2, 19, 16)),
    ),
    "rotate half": (lambda x, cos, sin: x * cos + rotate_half(x) * sin, (t(2, 3, 7, 8), t(7, 8), t(7, 8, seed=1))),
    "partial rotary": (partial_rope, (t(2, 3, 7, 10), t(7, 4), t(7, 4, seed=1))),
    "rope attention": (rope_attention, (t(1, 2, 9, 8), t(1, 2, 9, 8), t(1, 2, 9, 8), t(9, 8), t(9, 8, seed=1))),
    "interleaved rotary": (
        lambda x, cos, sin: x * cos + interleaved(x) * sin,
        (t(2, 3, 7, 8), t(7, 8), t(7, 8, seed=1)),
    ),
    "rotary by pairs": (pairwise_rope, (t(2, 3, 7, 8), t(7, 4), t(7, 4, seed=1))),
    "grouped rope attention": (
        grouped_rope, (t(1, 4, 9, 8), t(1, 2, 9, 8), t(1, 2, 9, 8, seed=1), t(9, 8), t(9, 8, seed=1))
    ),
    "embedding": (lambda w, i: F.embedding(i, w) * 2, (t(11, 24), torch.tensor([[0, 10, 3], [3, 9, 1]]))),
    "embedding then product": (lambda w, i, u: w[i] @ u, (t(11, 24), torch.tensor([0, 10, 3, -1]), t(24, 7))),
    "embedding of a norm": (
        lambda w, i: F.rms_norm(F.embedding(i, w), (24,)),
        (t(11, 24), torch.tensor([[0, 10, 3], [3, 9, 1]])),
    ),
    "gather": (lambda x, i: x.exp().gather(1, i), (t(5, 9), torch.tensor([[0, 8], [3, 3], [1, 2], [0, 0], [7, 5]]))),
    "gather of a softmax": (
        lambda x, i: torch.log_softmax(x, -1).gather(1, i[:, None]),
        (t(5, 33), torch.tensor([0, 32, 4, 4, 9])),
    ),
    "index select": (lambda x, i: x.index_select(-1, i) + 1, (t(3, 9), torch.tensor([8, 0, 4, 4]))),
}  # fmt: skip


@pytest.mark.parametrize("name", ONE_KERNEL)
def test_the_program_is_one_kernel_and_right(name: str) -> None:
    function, inputs = ONE_KERNEL[name]
    assert kernels(run(function, *inputs)) == 1


def test_strict_numerics_join_and_gather_too() -> None:
    function, inputs = ONE_KERNEL["rotate half"]
    assert kernels(run(function, *inputs, numerics="strict")) == 1
