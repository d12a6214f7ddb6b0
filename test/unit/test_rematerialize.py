"""Rematerialization: the same results, no higher peak, and figures that the analysis confirms."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from xdsl.builder import ImplicitBuilder
from xdsl.dialects.builtin import TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from equiforge.analysis.memory import profile
from equiforge.dialects import forge
from equiforge.frontend.program import import_module
from equiforge.remat.benchmark import prepared
from equiforge.remat.rematerialize import rematerialize
from equiforge.remat.reorder import reorder
from equiforge.remat.schedule import Schedule
from equiforge.verify.eager import run_eagerly
from equiforge.verify.interpreter import evaluate, main_function
from equiforge.verify.random_programs import random_arguments, random_program
from equiforge.workloads.training import TRAINING


@pytest.mark.parametrize("seed", range(60))
def test_random_programs_keep_their_results(seed: int) -> None:
    module = random_program(seed, 24)
    function = main_function(module)
    arguments = random_arguments(module, seed)
    expected = evaluate(module, arguments)
    before = profile(function)
    schedule = Schedule(function)
    assert schedule.held(schedule.steps) == list(before.held)
    budget = int(before.peak * (0.9, 0.75, 0.5, 0.0)[seed % 4])
    report = rematerialize(function, budget)
    module.verify()
    after = profile(function)
    assert (report.before.peak, report.after.peak) == (before.peak, after.peak)
    assert after.peak <= before.peak
    assert report.gap == max(0, after.peak - budget)
    assert report.after.flops == after.work.flops
    for mine, theirs in zip(evaluate(module, arguments), expected, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize(("name", "part"), [("attention", 0.95), ("swiglu", 0.8), ("transformer", 0.7)])
def test_gradients_stay_under_a_budget(name: str, part: float) -> None:
    module, inputs = TRAINING[name](**({"layers": 1, "tokens": 48} if name == "transformer" else {}))
    inputs = tuple(x.detach().double().requires_grad_() for x in inputs)
    joint, _ = prepared(module.double(), inputs)
    function = main_function(joint.module)
    budget = int(profile(function).peak * part)
    report = rematerialize(function, budget)
    joint.module.verify()
    assert report.gap == 0 and report.after.peak <= budget
    tangents = joint.graph.make_tangents()
    results = run_eagerly(function, joint.arguments(tangents))
    for mine, theirs in zip(results, (r for r in joint.graph.run(tangents) if r is not None), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-10, atol=1e-10)


def test_a_long_chain_fits_into_half() -> None:
    """As in training a deep network: every value of the chain is read again on the way back."""
    block = Block(arg_types=[TensorType(f32, [64])])
    (x,) = block.args
    with ImplicitBuilder(block):
        values: list[SSAValue] = [x]
        for _ in range(60):
            values.append(forge.TanhOp(values[-1]).result)
        result = values[-1]
        for value in reversed(values[1:]):
            result = forge.MulOp(result, value).result
        ReturnOp(result)
    function = FuncOp("main", ([x.type], [result.type]), Region(block))
    given = [np.linspace(-1.0, 1.0, 64)]
    (expected,) = evaluate(function, given)
    before = profile(function)
    report = rematerialize(function, before.peak // 2)
    function.verify()
    assert report.gap == 0
    assert report.after.flops < 2 * report.before.flops
    np.testing.assert_array_equal(evaluate(function, given)[0], expected)


def test_a_budget_that_is_out_of_reach_gives_the_lowest_peak() -> None:
    """Less budget never leaves a higher peak than more of it."""
    peaks: list[int] = []
    for part in (0.9, 0.5, 0.0):
        joint, _ = prepared(*TRAINING["swiglu"](batch=1, tokens=32))
        function = main_function(joint.module)
        report = rematerialize(function, int(profile(function).peak * part))
        peaks.append(report.after.peak)
        assert report.gap == max(0, report.after.peak - report.budget)
    assert peaks[0] > peaks[1] >= peaks[2]
    assert report.gap > 0


def test_steps_with_effects_keep_their_order() -> None:
    class Draws(nn.Module):
        def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
            large = torch.rand(64, 64)
            small = torch.rand(4, 4)
            return small.sum() + x.sum(), large.sum() * x.sum()

    joint, _ = prepared(Draws(), (torch.randn(3, requires_grad=True),))
    schedule = Schedule(main_function(joint.module))
    draws = [step.op for step in schedule.steps if isinstance(step.op, forge.OpaqueOp)]
    reorder(schedule)
    assert len(draws) == 2
    assert [step.op for step in schedule.steps if isinstance(step.op, forge.OpaqueOp)] == draws


def _draws(function: FuncOp) -> list[str]:
    return [op.target for op in function.body.block.ops if isinstance(op, forge.OpaqueOp)]


def test_a_mask_is_drawn_once_under_any_budget() -> None:
    """Case 096 (https://github.com/pytorch/pytorch/pull/190759): the mask is used early and late."""

    class Model(nn.Module):
        def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
            mask = torch.bernoulli(torch.full_like(x, 0.5))
            y = x * mask
            for _ in range(4):
                y = torch.tanh(y @ y.t()) @ y
            return (y * mask).sum(), (mask * (1 - mask)).sum()

    torch.manual_seed(97)
    joint, _ = prepared(Model(), ((torch.randn(48, 48) / 10).requires_grad_(),))
    function = main_function(joint.module)
    assert _draws(function) == ["aten.bernoulli.default"]
    report = rematerialize(function, 0)
    assert report.gap > 0 and _draws(function) == ["aten.bernoulli.default"]
    results = run_eagerly(function, joint.arguments(joint.graph.make_tangents()))
    assert float(results[1]) == 0.0


def test_a_value_is_computed_again_from_the_old_contents() -> None:
    """Case 105 (https://github.com/pytorch/pytorch/pull/197039): what it is computed from is overwritten in between."""

    class Model(nn.Module):
        def forward(self, x: Tensor) -> tuple[Tensor, ...]:
            buffer = x * 1.0
            keep = buffer[:, None, :] + buffer[None, :, :]
            first = keep.exp().sum((1, 2))
            buffer.mul_(0.0)
            middle = torch.tanh(first)
            return middle, keep.abs().sum((1, 2)), buffer.sum()

    torch.manual_seed(106)
    x = torch.randn(24, 30) / 5
    program = import_module(Model(), (x,))
    function = main_function(program.module)
    rematerialize(function, 0)
    program.module.verify()
    wide = x.double()
    keep = wide[:, None] + wide[None]
    expected = (torch.tanh(keep.exp().sum((1, 2))), keep.abs().sum((1, 2)), torch.zeros((), dtype=torch.float64))
    for mine, theirs in zip(evaluate(program.module, [wide.numpy()]), expected, strict=True):
        np.testing.assert_allclose(mine, theirs.numpy(), rtol=1e-9, atol=1e-9)
