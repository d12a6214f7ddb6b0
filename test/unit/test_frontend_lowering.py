"""Every lowering against PyTorch in float64, through the reference interpreter."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from equiforge.frontend.exported import from_exported_program
from equiforge.frontend.importer import import_exported
from equiforge.frontend.program import import_module
from equiforge.verify.interpreter import evaluate

M = (4, 6)
INF = math.inf


class Call(torch.nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Any]):
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


def draw(spec: Any, dtype: torch.dtype, generator: torch.Generator) -> Tensor:
    """A shape becomes normal numbers; a tensor stands for itself, floats in the dtype."""
    if isinstance(spec, Tensor):
        return spec.to(dtype) if spec.dtype.is_floating_point else spec
    return torch.randn(spec, generator=generator, dtype=torch.float64).to(dtype)


def array(tensor: Tensor) -> np.ndarray:
    return tensor.detach().double().numpy() if tensor.dtype.is_floating_point else tensor.detach().numpy()


def leaves(result: Any) -> list[Tensor]:
    return [result] if isinstance(result, Tensor) else list(result)


def check(function: Callable[..., Any], specs: tuple[Any, ...], dtype: torch.dtype, rtol: float, atol: float) -> None:
    generator = torch.Generator().manual_seed(0)
    args = tuple(draw(spec, dtype, generator) for spec in specs)
    program = import_module(Call(function), args)
    results = evaluate(program.module, [array(arg) for arg in program.example_args])
    expected = leaves(function(*(arg.double() if arg.dtype.is_floating_point else arg for arg in args)))
    assert len(results) == len(expected)
    for result, reference in zip(results, expected, strict=True):
        assert result.shape == tuple(reference.shape)
        np.testing.assert_allclose(
            np.asarray(result, dtype=np.float64), array(reference).astype(np.float64), rtol, atol
        )


SPECIAL = torch.tensor([-INF, INF, math.nan, 0.0, -0.0, 1.0, -2.5, 700.0, -700.0, 1e-30])
TINY = torch.tensor([1e-12, -1e-12, 1e-6, -1e-6, 0.0, 0.3, -0.3, 0.7])
INTS = torch.tensor([[-7, 3, 0], [5, -2, 9]])
DIVISORS = torch.tensor([[2, -2, 3], [-3, 5, 4]])
BOOLS = torch.tensor([[True, False, True], [False, False, True]])
OTHER_BOOLS = torch.tensor([[True, True, False], [False, True, True]])
UNIT = torch.linspace(-0.95, 0.95, 9)
POSITIVE = torch.tensor([0.1, 0.5, 1.0, 3.0, 20.0])

POINTWISE: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "add": (lambda x, y: x + y, (M, (6,))),
    "add_scalar": (lambda x: 1.25 + x, (M,)),
    "add_alpha": (lambda x, y: torch.add(x, y, alpha=0.3), (M, M)),
    "add_int_and_float": (lambda x, y: x + y, (M, torch.arange(6))),
    "add_bools": (lambda x, y: x + y, (BOOLS, OTHER_BOOLS)),
    "add_0d": (lambda x, y: x + y, (M, ())),
    "sub": (lambda x, y: x - y, ((4, 1), (1, 6))),
    "sub_alpha": (lambda x, y: torch.sub(x, y, alpha=2), (M, M)),
    "rsub": (lambda x: 1 - x, (M,)),
    "mul": (lambda x, y: x * y, ((2, 1, 3), (4, 1))),
    "mul_bools": (lambda x, y: x * y, (BOOLS, OTHER_BOOLS)),
    "div": (lambda x, y: x / y, (M, M)),
    "div_scalar": (lambda x: x / 3.0, (M,)),
    "div_ints": (lambda x, y: x / y, (INTS, DIVISORS)),
    "div_by_zero": (lambda x, y: x / (y * 0.0), (M, M)),
    "div_floor": (lambda x, y: torch.div(x, y, rounding_mode="floor"), (M, M)),
    "div_floor_ints": (lambda x, y: torch.div(x, y, rounding_mode="floor"), (INTS, DIVISORS)),
    "div_trunc": (lambda x, y: torch.div(x, y, rounding_mode="trunc"), (M, M)),
    "div_trunc_ints": (lambda x, y: torch.div(x, y, rounding_mode="trunc"), (INTS, DIVISORS)),
    "floor_divide": (lambda x: x // 2, (INTS,)),
    "remainder": (lambda x, y: x % y, (M, M)),
    "remainder_ints": (lambda x, y: x % y, (INTS, DIVISORS)),
    "fmod": (lambda x, y: torch.fmod(x, y), (M, M)),
    "fmod_ints": (lambda x, y: torch.fmod(x, y), (INTS, DIVISORS)),
    "maximum": (torch.maximum, (M, M)),
    "minimum_nan": (torch.minimum, (SPECIAL, SPECIAL.flip(0))),
    "maximum_nan": (torch.maximum, (SPECIAL, SPECIAL.flip(0))),
    "pow_0": (lambda x: x**0, (M,)),
    "pow_1": (lambda x: x**1, (M,)),
    "pow_2": (lambda x: x**2, (M,)),
    "pow_3": (lambda x: x**3, (M,)),
    "pow_half": (lambda x: x**0.5, (POSITIVE,)),
    "pow_minus_half": (lambda x: x**-0.5, (POSITIVE,)),
    "pow_minus_1": (lambda x: x**-1, (M,)),
    "pow_minus_2": (lambda x: x**-2, (M,)),
    "pow_other": (lambda x: x**1.7, (POSITIVE,)),
    "pow_ints": (lambda x: x**3, (INTS,)),
    "pow_tensor": (lambda x, y: x**y, (POSITIVE, (5,))),
    "pow_of_scalar": (lambda x: 2.0**x, (M,)),
    "square": (torch.square, (M,)),
    "neg_abs": (lambda x: (-x).abs(), (M,)),
    "exp_log": (lambda x: torch.log(torch.exp(x) + 1), (M,)),
    "exp_special": (torch.exp, (SPECIAL,)),
    "exp_of_ints": (torch.exp, (INTS.clamp(-3, 3),)),
    "sqrt_rsqrt_reciprocal": (lambda x: (x.sqrt(), x.rsqrt(), x.reciprocal()), (POSITIVE,)),
    "sigmoid_tanh_erf": (lambda x: (torch.sigmoid(x), torch.tanh(x), torch.erf(x)), (M,)),
    "sigmoid_special": (torch.sigmoid, (SPECIAL,)),
    "sin_cos_tan": (lambda x: (x.sin(), x.cos(), x.tan()), (M,)),
    "atan": (torch.atan, (SPECIAL,)),
    "atan_dense": (torch.atan, (torch.linspace(-4, 4, 101),)),
    "floor_ceil_round_trunc": (lambda x: (x.floor(), x.ceil(), x.round(), x.trunc()), (torch.linspace(-3, 3, 13),)),
    "frac_sign": (lambda x: (x.frac(), x.sign()), (torch.linspace(-3, 3, 13),)),
    "sign_ints": (torch.sign, (INTS,)),
    "copysign": (torch.copysign, (M, M)),
    "copysign_zeros": (lambda x, y: torch.copysign(x, y * 0.0), (M, M)),
    "copysign_scalar": (lambda x: (torch.copysign(x, 0.0), torch.copysign(x, -0.0)), (M,)),
    "addcmul": (lambda x, y, z: torch.addcmul(x, y, z, value=0.5), (M, M, (6,))),
    "addcdiv": (lambda x, y, z: torch.addcdiv(x, y, z, value=2.0), (M, M, M)),
    "lerp": (lambda x, y, z: (torch.lerp(x, y, 0.3), torch.lerp(x, y, z)), (M, M, M)),
    "clamp": (lambda x: (x.clamp(-0.5, 0.5), x.clamp(min=0.1), x.clamp(max=0.2)), (M,)),
    "clamp_tensors": (lambda x, y: torch.clamp(x, min=y), (M, (6,))),
    "clamp_nan": (lambda x: x.clamp(-1, 1), (SPECIAL,)),
    "clamp_min_max": (lambda x: (x.clamp_min(0.1), x.clamp_max(0.1)), (M,)),
    "bit_logic": (lambda x, y: (x & y, x | y, x ^ y, ~x), (BOOLS, OTHER_BOOLS)),
    "invert_ints": (lambda x: ~x, (INTS,)),
    "logical": (
        lambda x, y: (torch.logical_and(x, y), torch.logical_or(x, y), torch.logical_xor(x, y), torch.logical_not(x)),
        (INTS, BOOLS),
    ),
    "compare": (lambda x, y: (x == y, x != y, x < y, x <= y, x > y, x >= y), (INTS, DIVISORS)),
    "compare_scalar": (lambda x: (x > 0, x <= 0.25, x > 0.1), (M,)),
    "compare_int_with_float": (lambda x: x > 2.5, (INTS,)),
    "compare_nan": (lambda x: (x == x, x < 1.0, x != 0.0), (SPECIAL,)),
    "isnan_isinf": (lambda x: (x.isnan(), x.isinf(), x.isfinite(), torch.isposinf(x), torch.isneginf(x)), (SPECIAL,)),
    "where": (lambda x, y: torch.where(x > 0, x, y), (M, (6,))),
    "where_scalars": (lambda x: (torch.where(x > 0, 1.0, -1.0), torch.where(x > 0, x, 0.0)), (M,)),
    "where_promotes": (lambda x, y: torch.where(x > 0, x, y), (M, torch.arange(6))),
    "masked_fill": (lambda x, m: x.masked_fill(m, -INF), ((2, 3), BOOLS)),
    "masked_fill_inverted": (lambda x, m: x.masked_fill(~m, 2.0), ((2, 3), BOOLS)),
    "nan_to_num": (lambda x: torch.nan_to_num(x, 0.5, 3.0, -3.0), (SPECIAL,)),
    "relu": (torch.relu, (SPECIAL,)),
    "relu_ints": (torch.relu, (INTS,)),
    "relu6_hardtanh": (lambda x: (F.relu6(x * 9), F.hardtanh(x)), (M,)),
    "silu": (F.silu, (M,)),
    "gelu": (lambda x: (F.gelu(x), F.gelu(x, approximate="tanh")), (M,)),
    "leaky_elu_selu": (lambda x: (F.leaky_relu(x, 0.1), F.elu(x, 0.7), F.selu(x)), (M,)),
    "softplus_mish": (lambda x: (F.softplus(x * 9, 2.0), F.mish(x)), (M,)),
    "logsigmoid": (F.logsigmoid, (M,)),
    "hard": (lambda x: (F.hardsigmoid(x * 3), F.hardswish(x * 3), F.softsign(x)), (M,)),
    "glu": (lambda x: F.glu(x, -1), (M,)),
    "exp2_log2_log10": (lambda x: (torch.exp2(x), torch.log2(x), torch.log10(x)), (POSITIVE,)),
    "expm1": (torch.expm1, (TINY,)),
    "log1p": (torch.log1p, (TINY,)),
    "sinh_cosh_erfc": (lambda x: (torch.sinh(x), torch.cosh(x), torch.erfc(x)), (UNIT,)),
    "threshold": (lambda x: F.threshold(x, 0.1, 20.0), (M,)),
}

STRUCTURE: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "views": (lambda x: (x.view(2, 12), x.reshape(-1), x.flatten(), x.unsqueeze(1), x[None]), (M,)),
    "squeeze": (lambda x: (x.squeeze(), x.squeeze(0), x.squeeze((0, 2))), ((1, 3, 1, 4),)),
    "unflatten": (lambda x: x.unflatten(1, (2, 3)), (M,)),
    "permutations": (lambda x: (x.permute(2, 0, 1), x.transpose(0, 2), x.mT, x.movedim(0, -1)), ((2, 3, 4),)),
    "matrix_transposes": (lambda x: (x.t(), x.T, x.swapaxes(0, 1)), (M,)),
    "expand": (lambda x, y: (x.expand(3, 4, 6), x.expand_as(y)), (M, (2, 4, 6))),
    "expand_and_compute": (lambda x: x[:, None].expand(4, 3, 6).exp() * 2, (M,)),
    "broadcast": (lambda x, y: torch.broadcast_tensors(x, y), ((4, 1), (1, 6))),
    "slices": (lambda x: (x[1:3], x[:, ::2], x[-2:], x[..., :-1], x[1:, 1:]), (M,)),
    "selects": (lambda x: (x[0], x[:, -1], x[1, 2]), (M,)),
    "narrow": (lambda x: x.narrow(1, 1, 3), (M,)),
    "split": (lambda x: (*x.split(4, 1), *x.chunk(2, 0), *x.split([1, 2, 3], 1), *x.tensor_split(3, 1)), (M,)),
    "unbind": (lambda x: x.unbind(1), (M,)),
    "cat": (lambda x, y: (torch.cat([x, y], 1), torch.cat([x, x], 0)), (M, (4, 2))),
    "cat_promotes": (lambda x, y: torch.cat([x, y]), ((3,), torch.arange(2))),
    "stack": (lambda x, y: (torch.stack([x, y]), torch.stack([x, y], -1)), (M, M)),
    "pad": (lambda x: (F.pad(x, (1, 2)), F.pad(x, (0, 1, 2, 0), value=3.0), F.pad(x, (-1, 2))), (M,)),
    "repeat": (lambda x: (x.repeat(2, 3), x.repeat(2, 1, 1), x.tile((2,))), (M,)),
    "repeat_interleave": (lambda x: (x.repeat_interleave(3, 0), x.repeat_interleave(2, 1)), (M,)),
    "roll_flip": (lambda x: (x.roll(1, 0), x.roll((2, -1), (0, 1)), x.roll(5), x.flip(0), x.flip((0, 1))), (M,)),
    "meshgrid": (lambda x, y: torch.meshgrid(x, y, indexing="ij"), ((3,), (4,))),
    "meshgrid_xy": (lambda x, y: torch.meshgrid(x, y, indexing="xy"), ((3,), (4,))),
    "outer": (torch.outer, ((3,), (4,))),
    "copies": (lambda x: (x.clone(), x.contiguous() + 0, x.detach() * 1, F.dropout(x, 0.5, False) + 0), (M,)),
    "conversions": (
        lambda x: (x.to(torch.float32) * 0 + 1, x.to(torch.int32), x.bool(), x.type_as(torch.zeros(1))),
        (M,),
    ),
    "int_conversions": (lambda x: (x.double(), x.bool(), x.to(torch.int8)), (INTS,)),
    "fills": (
        lambda x: (torch.zeros_like(x), torch.ones_like(x) + x, torch.full_like(x, 2.5), x.new_full((3,), 7.0)),
        (M,),
    ),
    "aranges": (
        lambda x: (x + torch.arange(6), x * torch.arange(1, 7), x - torch.arange(0, 12, 2), x + torch.arange(6.0)),
        (M,),
    ),
    "linspace_eye": (lambda x: (x * torch.linspace(0, 1, 6), x[:, :4] @ torch.eye(4, 5, dtype=x.dtype)), (M,)),
    "triangles": (lambda x: (x.tril(), x.triu(), x.tril(-1), x.triu(2)), (M,)),
    "triangle_of_ones": (lambda x: x.masked_fill(torch.ones(4, 6).tril() == 0, -5.0), (M,)),
    "triangle_not": (lambda x: torch.where(~torch.ones(4, 6, dtype=torch.bool).triu(1), x, 0.0), (M,)),
    "additive_triangle": (lambda x: x + torch.full((4, 6), -3.0).triu(1), (M,)),
    "arange_mask": (
        lambda x: x.masked_fill(torch.arange(4)[:, None] < torch.arange(6)[None, :], 9.0)[None, None] * 2,
        (M,),
    ),
    "index": (lambda x, i: (x[i], x[:, i]), (M, torch.tensor([3, -1, 0]))),
    "index_matrix": (lambda x, i: x[:, i], (M, torch.tensor([[0, 1], [-1, 2]]))),
    "index_two": (lambda x, i, j: x[i, j], (M, torch.tensor([0, -1, 2]), torch.tensor([5, -6, 0]))),
    "index_apart": (lambda x, i, j: x[i, :, j], ((3, 4, 5), torch.tensor([0, 2]), torch.tensor([-1, 1]))),
    "index_broadcast": (
        lambda x, i, j: x[:, i, j],
        ((3, 4, 5), torch.tensor([[0], [2]]), torch.tensor([-1, 1, 3])),
    ),
    "index_list": (lambda x: x[:, [0, 2]], (M,)),
    "index_select": (
        lambda x, i: (x.index_select(1, i), torch.take_along_dim(x, i[None], 1)),
        (M, torch.tensor([0, 2])),
    ),
    "gather": (lambda x, i: (x.gather(1, i), x.gather(0, i[:, :3])), (M, torch.tensor([[0, 1, 2, 3], [3, 2, 1, 0]]))),
    "embedding": (lambda w, i: F.embedding(i, w), ((7, 3), torch.tensor([[0, 6], [2, 2]]))),
    "one_hot": (lambda x, i: x @ F.one_hot(i, 6).to(x.dtype).T, (M, torch.tensor([0, 5, 2]))),
}

REDUCTIONS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "sum": (lambda x: (x.sum(), x.sum(0), x.sum(-1, keepdim=True), x.sum((0, 2))), ((2, 3, 4),)),
    "sum_of_ints_and_bools": (lambda x, y: (x.sum(), x.sum(0), y.sum(), y.sum(1)), (INTS, BOOLS)),
    "mean": (lambda x: (x.mean(), x.mean(-1), x.mean((0, 1), keepdim=True)), ((2, 3, 4),)),
    "mean_of_ints": (lambda x: torch.mean(x, 1, dtype=torch.float64), (INTS,)),
    "extrema": (lambda x: (x.amax(-1), x.amin((0, 1)), x.max(), x.min(), torch.aminmax(x, dim=1)[0]), ((2, 3, 4),)),
    "max_values": (lambda x: (x.max(-1).values, x.min(0, keepdim=True).values), (M,)),
    "extrema_nan": (lambda x: (x.amax(0), x.amin(0)), (SPECIAL,)),
    "places": (
        lambda x: (x.argmax(-1), x.argmin(0, keepdim=True), x.argmax(), *x.max(1), *x.min(-2, keepdim=True)),
        (M,),
    ),
    "places_of_equals": (
        lambda x: (x.argmax(-1), x.argmin(1), x.argmax(), *x.max(0)),
        (torch.tensor([[0.0, 2.0, 2.0, -0.0], [-1.0, -1.0, -1.0, -1.0], [3.0, -INF, 3.0, -INF]]),),
    ),
    "places_nan": (lambda x: (x.argmax(-1), x.argmin(-1), *x.max(-1)), (SPECIAL.reshape(1, -1),)),
    "places_of_integers": (lambda x: (x.argmax(1), x.argmin(0)), (torch.tensor([[3, 7, 7], [-2, 9, 0]]),)),
    "extrema_of_bools": (lambda x: (x.amax(1), x.amin(1)), (BOOLS,)),
    "prod": (lambda x: (x.prod(), x.prod(1), x.prod(0, keepdim=True)), (M,)),
    "prod_of_ints": (lambda x: x.prod(1), (INTS,)),
    "var_std": (lambda x: (x.var(), x.var(1), x.std(0), x.var(-1, correction=0), x.std((0, 1), keepdim=True)), (M,)),
    "var_mean": (lambda x: (*torch.var_mean(x, 1), *torch.std_mean(x, correction=0)), (M,)),
    "var_of_one": (lambda x: x[:, :1].var(1), (M,)),
    "any_all": (lambda x, y: (x.any(), x.all(1), x.any(0, keepdim=True), y.any(1), y.all()), (BOOLS, INTS)),
    "count_nonzero": (lambda x: (torch.count_nonzero(x), torch.count_nonzero(x, 1)), (INTS,)),
    "norms": (
        lambda x: (x.norm(dim=-1), x.norm(), torch.linalg.vector_norm(x, 1, 1), torch.linalg.vector_norm(x, INF, 0)),
        (M,),
    ),
    "normalize": (lambda x: F.normalize(x, dim=-1), (M,)),
    "cosine_similarity": (
        lambda x, y: (
            F.cosine_similarity(x, y),
            F.cosine_similarity(x, y, 0),
            F.cosine_similarity(x, y, -1, 2.0),
            F.cosine_similarity(x.double(), y, -2),
        ),
        (M, M),
    ),
    "cosine_similarity_broadcast": (
        lambda x, y, z: (
            F.cosine_similarity(x[:, None], y, -1),
            F.cosine_similarity(x[:, None], y, 0),
            F.cosine_similarity(y, z, -1),
            F.cosine_similarity(z, y, 1),
            F.cosine_similarity(y[:, :1], y, 1),
            F.cosine_similarity(z, z[0], 0),
            F.cosine_similarity(x[:, None, :1], y[:, :1], -1),
            F.cosine_similarity(x[None, :, :, None, None], y[:, None, :, None, None], 2),
            F.cosine_similarity(x[None, :, :, None], y[:, None, None], -1),
        ),
        (M, (5, 6), (5, 1)),
    ),
    "cosine_similarity_0d": (
        lambda x, y: (F.cosine_similarity(x, x, 0), F.cosine_similarity(x, y, -1), F.cosine_similarity(y, y * x, -1)),
        ((), (6,)),
    ),
    "cosine_similarity_promotes": (lambda x, y: F.cosine_similarity(x, y, -1), ((2, 3), INTS)),
    "cosine_similarity_empty": (
        lambda x: (F.cosine_similarity(x, x, 1), F.cosine_similarity(x, x, 0), F.cosine_similarity(x[:, :0], x[:, :0])),
        ((0, 6),),
    ),
    "cosine_similarity_special": (
        lambda x, y: (
            F.cosine_similarity(x[:, None], y, 1),
            F.cosine_similarity(torch.zeros_like(y), y, 0),
            F.cosine_similarity(1e-9 * y, y, 0),
        ),
        (SPECIAL, (10, 1)),
    ),
    "softmax": (lambda x: (x.softmax(-1), x.softmax(0), F.softmin(x, 1), F.log_softmax(x, 1)), (M,)),
    "softmax_large": (lambda x: (torch.softmax(x * 1e4, -1), torch.log_softmax(x * 1e4, -1)), (M,)),
    "softmax_of_ints": (lambda x: torch.softmax(x, 1, dtype=torch.float64), (INTS,)),
    "softmax_0d": (lambda x: (torch.softmax(x, 0), torch.log_softmax(x, -1)), ((),)),
    "softmax_masked_row": (
        lambda x, m: x.masked_fill(m, -INF).softmax(-1),
        ((2, 3), BOOLS | torch.tensor([[True], [False]])),
    ),
    "logsumexp": (lambda x: (x.logsumexp(0), x.logsumexp((0, 1)), x.logsumexp(-1, keepdim=True)), (M,)),
    "logsumexp_infinite": (lambda x: x.view(2, 5).nan_to_num(-INF, INF, -INF).logsumexp(1), (SPECIAL,)),
    "logaddexp": (lambda x, y: torch.logaddexp(x, y), (M, M)),
    "layer_norm": (
        lambda x, w, b: (F.layer_norm(x, (4,), w, b), F.layer_norm(x, (3, 4)), F.layer_norm(x, (4,), w)),
        ((2, 3, 4), (4,), (4,)),
    ),
    "rms_norm": (lambda x, w: (F.rms_norm(x, (4,), w, 1e-5), F.rms_norm(x, (3, 4), eps=0.1)), ((2, 3, 4), (4,))),
    "group_norm": (lambda x, w, b: F.group_norm(x, 2, w, b), ((2, 4, 5), (4,), (4,))),
    "batch_norm": (
        lambda x, m, v, w, b: F.batch_norm(x, m, v.abs(), w, b),
        ((3, 4, 5), (4,), (4,), (4,), (4,)),
    ),
    "cross_entropy": (
        lambda x, t, w: (
            F.cross_entropy(x, t),
            F.cross_entropy(x, t, w),
            F.cross_entropy(x, t, w, reduction="none"),
            F.cross_entropy(x, t, w, label_smoothing=0.2),
            F.cross_entropy(x, t.abs() % 6, reduction="sum", ignore_index=1),
        ),
        (M, torch.tensor([0, -100, 5, 1]), torch.rand(6) + 0.1),
    ),
    "cross_entropy_soft": (lambda x, t: (F.cross_entropy(x, t), F.cross_entropy(x, t, label_smoothing=0.1)), (M, M)),
    "cross_entropy_spatial": (
        lambda x, t: F.cross_entropy(x, t),
        ((2, 3, 4), torch.tensor([[0, 1, 2, 2], [1, 1, 0, 2]])),
    ),
    "nll_loss": (lambda x, t: F.nll_loss(x.log_softmax(-1), t), (M, torch.tensor([0, 1, 5, 2]))),
    "losses": (
        lambda x, y: (F.mse_loss(x, y), F.l1_loss(x, y, reduction="sum"), F.mse_loss(x, y, reduction="none")),
        (M, M),
    ),
    "bce": (
        lambda x, y: F.binary_cross_entropy_with_logits(
            x, torch.sigmoid(y), pos_weight=torch.full((6,), 2.0, dtype=x.dtype)
        ),
        (M, M),
    ),
}

PRODUCTS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "matmul": (lambda x, y: x @ y, ((4, 6), (6, 3))),
    "matmul_batched": (lambda x, y: x @ y, ((2, 3, 4, 6), (3, 6, 5))),
    "matmul_broadcast": (lambda x, y: x @ y, ((2, 1, 4, 6), (1, 3, 6, 5))),
    "matmul_expanded": (lambda x, y: x.expand(2, 4, 6) @ y.expand(2, 6, 5), ((1, 4, 6), (1, 6, 5))),
    "matmul_rows_expanded": (lambda x, y: x.expand(4, 6) @ y, ((1, 6), (6, 5))),
    "matmul_vectors": (
        lambda x, y, z: (x @ y, y @ z, x[0] @ y, torch.dot(y, y), torch.mv(x, y)),
        ((4, 6), (6,), (6, 3)),
    ),
    "matmul_weight": (lambda x, y: x @ y, ((2, 3, 6), (6, 5))),
    "matmul_empty": (lambda x, y: x[:, :0] @ y[:0], ((4, 6), (6, 3))),
    "matmul_ints": (lambda x, y: x @ y.T, (INTS, DIVISORS)),
    "inner": (torch.inner, ((4, 6), (3, 6))),
    "bmm_baddbmm": (
        lambda c, x, y: (torch.bmm(x, y), torch.baddbmm(c, x, y, beta=0.5, alpha=2.0)),
        ((2, 4, 3), (2, 4, 6), (2, 6, 3)),
    ),
    "addmm": (
        lambda c, x, y: (torch.addmm(c, x, y), torch.addmm(c, x, y, beta=0.5, alpha=2.0), torch.addmm(c, x, y, beta=0)),
        ((3,), (4, 6), (6, 3)),
    ),
    "addmv_addr_addbmm": (
        lambda c, x, v: (torch.addmv(c, x, v), torch.addr(x, c, v), torch.addbmm(x, x[None], torch.outer(v, v)[None])),
        ((4,), (4, 6), (6,)),
    ),
    "linear": (lambda x, w, b: (F.linear(x, w, b), F.linear(x, w), F.linear(x[0, 0], w, b)), ((2, 3, 6), (5, 6), (5,))),
    "einsum_mm": (lambda x, y: torch.einsum("ij,jk->ki", x, y), ((4, 6), (6, 3))),
    "einsum_attention": (lambda q, k: torch.einsum("bhqd,bhkd->bhqk", q, k), ((2, 3, 4, 5), (2, 3, 6, 5))),
    "einsum_grouped": (lambda q, k: torch.einsum("bgqd,bkd->bgqk", q, k), ((2, 3, 4, 5), (2, 6, 5))),
    "einsum_many": (lambda x, y, z: torch.einsum("ij,jk,kl->il", x, y, z), ((2, 3), (3, 4), (4, 5))),
    "einsum_sums": (lambda x: (torch.einsum("ij->j", x), torch.einsum("ij->", x), torch.einsum("ij->ji", x)), (M,)),
    "einsum_pointwise": (
        lambda x, y: (torch.einsum("ij,ij->ij", x, y), torch.einsum("i,j->ij", x[0], y[:, 0])),
        (M, M),
    ),
    "einsum_two_inner": (lambda x, y: torch.einsum("abij,bijc->ac", x, y), ((2, 3, 4, 5), (3, 4, 5, 2))),
    "einsum_ellipsis": (lambda x, y: torch.einsum("...ij,...jk->...ik", x, y), ((2, 3, 4), (4, 5))),
    "einsum_implicit": (lambda x, y: torch.einsum("ij,jk", x, y), ((4, 6), (6, 3))),
    "tensordot": (lambda x, y: torch.tensordot(x, y, dims=([1, 2], [1, 0])), ((2, 3, 4), (4, 3, 5))),
}


def sdpa(**options: Any) -> Callable[..., Tensor]:
    return lambda q, k, v, *mask: F.scaled_dot_product_attention(q, k, v, *mask, **options)


Q, K, V = (2, 4, 5, 8), (2, 4, 7, 8), (2, 4, 7, 6)
HIDDEN = torch.rand(2, 1, 5, 7, generator=torch.Generator().manual_seed(1)) > 0.4
HIDDEN[0, 0, 2] = False  # a row that sees no key

ATTENTION: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "plain": (sdpa(), (Q, K, V)),
    "scale": (sdpa(scale=0.3), (Q, K, V)),
    "causal": (sdpa(is_causal=True), (Q, K, V)),
    "causal_tall": (sdpa(is_causal=True), (K, Q, (2, 4, 5, 3))),
    "bool_mask": (sdpa(), (Q, K, V, HIDDEN)),
    "float_mask": (sdpa(), (Q, K, V, (5, 7))),
    "float_mask_hidden_row": (
        lambda q, k, v, m: sdpa()(q, k, v, torch.zeros(2, 1, 5, 7, dtype=q.dtype).masked_fill(~m, -INF)),
        (Q, K, V, HIDDEN),
    ),
    "gqa": (sdpa(enable_gqa=True), (Q, (2, 2, 7, 8), (2, 2, 7, 6))),
    "gqa_causal": (sdpa(enable_gqa=True, is_causal=True), (Q, (2, 1, 7, 8), (2, 1, 7, 6))),
    "gqa_mask": (sdpa(enable_gqa=True), (Q, (2, 2, 7, 8), (2, 2, 7, 6), HIDDEN)),
    "gqa_mask_per_head": (sdpa(enable_gqa=True), (Q, (2, 2, 7, 8), (2, 2, 7, 6), (2, 4, 5, 7))),
    "three_dims": (sdpa(), ((3, 5, 8), (3, 7, 8), (3, 7, 6))),
    "two_dims": (sdpa(), ((5, 8), (7, 8), (7, 6))),
    "sdpa_repeated_kv": (
        lambda q, k, v: sdpa(is_causal=True)(q, k.repeat_interleave(2, 1), v.repeat_interleave(2, 1)),
        (Q, (2, 2, 7, 8), (2, 2, 7, 6)),
    ),
    "repeated_kv": (
        lambda q, k, v: (q @ k.repeat_interleave(2, 1).mT).softmax(-1) @ v.repeat_interleave(2, 1),
        (Q, (2, 2, 7, 8), (2, 2, 7, 6)),
    ),
    "expanded_kv": (
        lambda q, k, v: (
            (q @ k[:, :, None].expand(2, 2, 2, 7, 8).reshape(2, 4, 7, 8).mT / 3).softmax(-1)
            @ v[:, :, None].expand(2, 2, 2, 7, 6).reshape(2, 4, 7, 6)
        ),
        (Q, (2, 2, 7, 8), (2, 2, 7, 6)),
    ),
}

ALL = {
    f"{family}-{name}": case
    for family, cases in (
        ("pointwise", POINTWISE),
        ("structure", STRUCTURE),
        ("reductions", REDUCTIONS),
        ("products", PRODUCTS),
        ("attention", ATTENTION),
    )
    for name, case in cases.items()
}


@pytest.mark.parametrize("name", ALL)
def test_lowering_equals_torch_in_float64(name: str) -> None:
    function, specs = ALL[name]
    torch.set_default_dtype(torch.float64)
    try:
        check(function, specs, torch.float64, 1e-9, 1e-11)
    finally:
        torch.set_default_dtype(torch.float32)


# Where a half's own rounding decides the result (comparisons, floors), only the types are of interest.
ROUNDING_DECIDES = (
    "div_floor", "remainder", "fmod", "floor", "trunc", "special", "nan", "compare", "conversions", "copysign",
    "log1p", "expm1",
)  # fmt: skip


@pytest.mark.parametrize("name", [name for name in ALL if not any(word in name for word in ROUNDING_DECIDES)])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_lowering_of_halves_has_eager_types_and_is_near(name: str, dtype: torch.dtype) -> None:
    """The import itself checks shapes and dtypes against eager; values are near the float64 ones (no rounding here)."""
    function, specs = ALL[name]
    try:
        generator = torch.Generator().manual_seed(0)
        function(*(draw(spec, dtype, generator) for spec in specs))
    except (RuntimeError, NotImplementedError):
        pytest.skip("eager refuses this dtype")
    check(function, specs, dtype, 2e-2, 2e-2)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_the_cosine_of_a_vector_of_zeros_is_that_of_eager_in_halves(dtype: torch.dtype) -> None:
    """f16 holds no 1e-8, so that eager divides zero by zero."""
    zeros, ones = torch.zeros(2, 3, dtype=dtype), torch.ones(2, 3, dtype=dtype)
    program = import_module(Call(F.cosine_similarity), (zeros, ones))
    (result,) = evaluate(program.module, [array(zeros), array(ones)])
    np.testing.assert_array_equal(result, array(F.cosine_similarity(zeros, ones)))
    assert np.isnan(result).all() == (dtype is torch.float16)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16])
def test_the_decomposed_cosine_similarity_is_imported_too(dtype: torch.dtype) -> None:
    """As in a joint graph, or in a program that was decomposed before it was saved."""
    x, y = (draw(shape, dtype, torch.Generator().manual_seed(shape[0])) for shape in ((3, 1, 4), (5, 4)))
    exported = torch.export.export(Call(lambda x, y: F.cosine_similarity(x, y, -1)), (x, y)).run_decompositions()
    targets = [str(node.target) for node in exported.graph.nodes]
    assert "aten.linalg_vector_norm.default" in targets and "aten.cosine_similarity.default" not in targets
    (result,) = evaluate(import_exported(from_exported_program(exported)).module, [array(x), array(y)])
    near = 1e-12 if dtype is torch.float64 else 2e-2
    np.testing.assert_allclose(result, F.cosine_similarity(x.double(), y.double(), -1).numpy(), rtol=near, atol=near)


def test_the_cosines_of_all_pairs_are_those_of_normalized_vectors_and_a_product() -> None:
    q, k = torch.zeros(2, 3, 4), torch.zeros(2, 5, 4)
    pairs = import_module(Call(lambda q, k: F.cosine_similarity(q[:, :, None], k[:, None], -1)), (q, k)).module
    product = import_module(
        Call(lambda q, k: F.normalize(q, dim=-1, eps=1e-8) @ F.normalize(k, dim=-1, eps=1e-8).mT), (q, k)
    ).module
    assert [op.name for op in pairs.walk()].count("forge.matmul") == 1
    assert sorted(op.name for op in pairs.walk()) == sorted(op.name for op in product.walk())
