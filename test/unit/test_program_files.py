"""Programs in a user's own file, through ``path.py:factory``, and modules through ``equiforge.optimize``."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import equiforge
from equiforge.codegen.run import run_interpreted
from equiforge.frontend.program import load_program
from equiforge.pipeline import Options, optimize_program
from equiforge.tune.validate import to_array
from equiforge.verify.compare import UNIT_ROUNDOFF, judge

PROGRAMS = '''
import math
import torch
import torch.nn.functional as F
from torch import nn

HALF = torch.float16


def draw(*shape, scale=1.0, seed=0):
    generator = torch.Generator().manual_seed(seed + sum(shape))
    return (torch.randn(*shape, generator=generator) * scale).to(HALF)


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(1 + 0.1 * draw(width))

    def forward(self, x):
        return F.rms_norm(x, (x.shape[-1],), self.weight, 1e-6)


def linear(rows, columns):
    layer = nn.Linear(rows, columns, bias=False).half()
    layer.weight.data = draw(columns, rows, scale=rows**-0.5)
    return layer


class Block(nn.Module):
    """A norm before linear layers, joined in different ways."""

    def __init__(self, join, width=40, hidden=36, norm=True, layers=2, down=False):
        super().__init__()
        self.norm = Norm(width) if norm else nn.Identity()
        self.layers = nn.ModuleList(linear(width, hidden) for _ in range(layers))
        self.down = linear(hidden, width) if down else nn.Identity()
        self.join = join

    def forward(self, x):
        n = self.norm(x)
        return self.down(self.join(*(layer(n) for layer in self.layers)))


def rmsnorm_linear():
    return Block(lambda a: a, layers=1), (draw(2, 3, 40),)


def rmsnorm_mlp():
    return Block(torch.mul), (draw(5, 40),)


def rmsnorm_swiglu():
    return Block(lambda a, b: F.silu(a) * b, down=True), (draw(5, 40),)


def gated_mlp():
    return Block(lambda a, b: F.silu(a) * b, norm=False), (draw(5, 40),)


class LoRA(nn.Module):
    def __init__(self):
        super().__init__()
        self.base, self.down, self.up = linear(40, 36), linear(40, 4), linear(4, 36)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))


def lora():
    return LoRA(), (draw(5, 40),)


def layernorm_gemm():
    norm = nn.LayerNorm(40).half()
    return nn.Sequential(norm, linear(40, 36)), (draw(2, 5, 40),)


class NGPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.rate = nn.Parameter(draw(40, scale=0.1))

    def forward(self, h, y):
        unit = lambda x: (x.float() / x.float().norm(dim=-1, keepdim=True)).to(x.dtype)
        return unit(h + self.rate * (unit(y) - h))


def ngpt():
    return NGPT(), (draw(5, 40), draw(5, 40, seed=1))


class Plain(nn.Module):
    """A function of tensors."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def attend(q, k, v):
    return torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]), dim=-1) @ v


def attend_causally(q, k, v):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    hidden = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).triu(1)
    return scores.masked_fill(hidden, float("-inf")).softmax(-1) @ v


def mha_decode():
    return Plain(attend), (draw(3, 1, 12), draw(3, 37, 12), draw(3, 37, 12, seed=1))


def mha_prefill():
    return Plain(attend), (draw(2, 2, 37, 12), draw(2, 2, 37, 12, seed=1), draw(2, 2, 37, 12, seed=2))


def mha_prefill_causal():
    return Plain(attend_causally), (draw(2, 37, 12), draw(2, 37, 12, seed=1), draw(2, 37, 12, seed=2))


def sdpa():
    causal = lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return Plain(causal), (draw(1, 2, 37, 12), draw(1, 2, 37, 12, seed=1), draw(1, 2, 37, 12, seed=2))


def gqa():
    grouped = lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
    return Plain(grouped), (draw(1, 4, 3, 12), draw(1, 2, 37, 12), draw(1, 2, 37, 12, seed=1))


def gqa_repeated():
    def grouped(q, k, v):
        k, v = (x.repeat_interleave(2, dim=1) for x in (k, v))
        return attend(q, k, v)

    return Plain(grouped), (draw(1, 4, 3, 12), draw(1, 2, 37, 12), draw(1, 2, 37, 12, seed=1))


def plain_lora():
    return Plain(lambda x, w, a, b: x @ w + (x @ a) @ b), (draw(5, 40), draw(40, 36), draw(40, 4), draw(4, 36))


def plain_rmsnorm_mlp():
    def mlp(x, g, w1, w2):
        n = x * torch.rsqrt(x.float().square().mean(-1, keepdim=True) + 1e-6).to(x.dtype) * g
        return (n @ w1) * (n @ w2)

    return Plain(mlp), (draw(5, 40), draw(40), draw(40, 36, scale=0.2), draw(40, 36, scale=0.2, seed=1))
'''
FACTORIES = [line[4:-3] for line in PROGRAMS.splitlines() if line.startswith("def ") and line.endswith("():")]


def judged(found: Tensor, module: nn.Module, inputs: Sequence[Tensor], eager: Tensor) -> None:
    """``found`` against the module in float64 and in its own dtype."""
    with torch.no_grad():
        reference = copy.deepcopy(module).double()(*(x.double() for x in inputs))
    element = {torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32"}[eager.dtype]
    floor = 4 * UNIT_ROUNDOFF[element]
    report = judge(to_array(found), to_array(reference), element, to_array(eager), floor)
    assert report.ok, str(report)


@pytest.mark.parametrize("factory", FACTORIES)
def test_own_file(factory: str, tmp_path: Path) -> None:
    path = tmp_path / "programs.py"
    path.write_text(PROGRAMS)
    program = load_program(f"{path}:{factory}")
    result = optimize_program(program, Options(top=1, validate=False, compile=False))
    assert result.best is not None, [row.rejected for row in result.candidates]
    (found,) = run_interpreted(result.source, program.example_args)
    names: dict[str, object] = {}
    exec(compile(PROGRAMS, str(path), "exec"), names)
    module, inputs = names[factory]()  # type: ignore[operator]
    with torch.no_grad():
        eager = module(*inputs)
    assert found.dtype == eager.dtype
    judged(found.reshape(eager.shape), module, inputs, eager)


class GroupedAttention(nn.Module):
    """Attention of a decoder layer: projections, batch and heads, fewer key/value heads, causal."""

    def __init__(self, width: int, heads: int, kv: int):
        super().__init__()
        self.heads, self.kv, self.d = heads, kv, width // heads
        self.q = nn.Linear(width, width, bias=False)
        self.k = nn.Linear(width, kv * self.d, bias=False)
        self.v = nn.Linear(width, kv * self.d)

    def forward(self, x: Tensor) -> Tensor:
        batch, tokens, _ = x.shape
        q = self.q(x).view(batch, tokens, self.heads, self.d).transpose(1, 2)
        k = self.k(x).view(batch, tokens, self.kv, self.d).transpose(1, 2)
        v = self.v(x).view(batch, tokens, self.kv, self.d).transpose(1, 2)
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_optimize_a_module(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    model = GroupedAttention(48, 4, 2).to(dtype)
    x = torch.randn(2, 19, 48).to(dtype)
    optimized = equiforge.optimize(model, (x,), interpret=True, top=1, validate=False)
    assert optimized.candidates and "tl.load" in optimized.source and optimized.report["best"] is not None
    other = torch.randn(2, 19, 48).to(dtype)
    for inputs in (x, other):
        with torch.no_grad():
            eager = model(inputs)
        judged(optimized(inputs), model, (inputs,), eager)
    # A parameter changed in place counts.
    with torch.no_grad():
        model.v.weight.mul_(2)
        eager = model(x)
    judged(optimized(x), model, (x,), eager)
