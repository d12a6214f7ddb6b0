"""Partitions of joint graphs: against torch's min-cut, against autograd in float64, against all choices there are."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from xdsl.builder import ImplicitBuilder
from xdsl.dialects.builtin import TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from equiforge.analysis.work import flops_of
from equiforge.dialects import forge
from equiforge.remat.benchmark import base_flops, compare, gradient_error, partitions, prepared
from equiforge.remat.model import JointModel, joint_model
from equiforge.remat.partition import partition
from equiforge.remat.solve import first_computed, solve
from equiforge.remat.torch_partition import min_cut_partition
from equiforge.verify.interpreter import evaluate
from equiforge.workloads.training import TRAINING

SMALL: dict[str, dict[str, int]] = {
    "attention": {"batch": 1, "tokens": 24, "width": 16},
    "swiglu": {"batch": 1, "tokens": 24, "width": 16, "hidden": 40},
    "transformer": {"batch": 1, "tokens": 24, "width": 16, "hidden": 40, "layers": 4},
}


@pytest.mark.parametrize("name", SMALL)
def test_no_more_bytes_and_no_more_operations_than_min_cut(name: str) -> None:
    rows = list(compare(name, [1.0] if name == "transformer" else [1.0, 0.5], SMALL[name]))
    assert all(row.holds for row in rows)
    # At torch's default, its rules leave something to gain.
    default = rows[0]
    assert default.fewest_bytes.saved < default.torch.saved
    assert default.fewest_flops.recomputed < default.torch.recomputed
    assert default.fewest_bytes.peak < default.torch.peak


@pytest.mark.parametrize("name", ["attention", "swiglu"])
def test_gradients_of_partitions_by_the_interpreter(name: str) -> None:
    module, inputs = TRAINING[name](**SMALL[name])
    inputs = tuple(x.detach().double().requires_grad_() for x in inputs)
    joint, model = prepared(module.double(), inputs)
    tangents = joint.graph.make_tangents()
    expected = [result for result in joint.graph.run(tangents) if result is not None]
    arguments = [argument.numpy() for argument in joint.arguments(tangents)]
    for part in partitions(joint, model, base_flops(model), 0.5):
        # Forward and backward on their own, as they would run.
        *given, tangent = arguments
        forward = evaluate(part.forward, given)
        results, saved = forward[: part.num_results], forward[part.num_results :]
        gradients = evaluate(part.backward, [*saved, tangent])
        for ours, theirs in zip([*results, *gradients], expected, strict=True):
            np.testing.assert_allclose(ours, theirs.numpy(), rtol=1e-10, atol=1e-10)


def test_gradients_of_partitions_of_a_transformer() -> None:
    assert gradient_error("transformer", 1.0, {**SMALL["transformer"], "layers": 2}) < 1e-10


@pytest.mark.parametrize("name", ["attention", "swiglu"])
def test_saved_bytes_are_those_that_torch_holds(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The counter, on torch's partition, against the storages of the tensors that torch's own forward returns."""
    module, inputs = TRAINING[name](**SMALL[name])
    joint, _ = prepared(module, inputs)
    graphs: list[Any] = []
    import equiforge.remat.torch_partition as under_test

    original = under_test.min_cut_rematerialization_partition

    def kept(*args: Any, **kwargs: Any) -> Any:
        graphs.extend(original(*args, **kwargs))
        return graphs[:2]

    monkeypatch.setattr(under_test, "min_cut_rematerialization_partition", kept)
    found = min_cut_partition(joint.graph)
    primals = [primal.detach() for primal in joint.graph.primals]
    with torch.no_grad():
        saved = graphs[0](*primals)[joint.graph.num_forward_outputs :]
    own = {primals[number].untyped_storage().data_ptr() for number in joint.graph.parameters}
    storages = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in saved}
    assert found.saved_bytes() == sum(size for place, size in storages.items() if place not in own)


class _Dropped(nn.Module):
    """A mask that is drawn once, used early and late."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(16, 64)
        self.last = nn.Linear(64, 16)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(F.dropout(torch.tanh(self.first(x)), 0.3))


def test_a_draw_is_saved_however_large() -> None:
    """Case 096: the partitioner of a memory budget drew the mask again."""
    _, model = prepared(_Dropped(), (torch.randn(8, 16),))
    choice = solve(model.cut, max_recomputed=10**9)
    assert choice is not None
    part = partition(model, choice)

    def draws(function: FuncOp) -> list[str]:
        return [op.target for op in function.body.block.ops if isinstance(op, forge.OpaqueOp)]

    assert draws(part.forward) == ["aten.native_dropout.default"]
    assert draws(part.backward) == []
    terminator = part.forward.body.block.last_op
    assert terminator is not None
    mask = next(op for op in part.forward.body.block.ops if isinstance(op, forge.OpaqueOp)).results[1]
    assert mask in terminator.operands


def _random_joint(seed: int) -> JointModel:
    """A small joint function: a random forward, then one op of the backward for some of its values."""
    choose = random.Random(seed)
    block = Block(arg_types=[TensorType(f32, [4]), TensorType(f32, [4, 4]), TensorType(f32, [4])])
    x, w, tangent = block.args
    with ImplicitBuilder(block):
        values: list[SSAValue] = [forge.ReshapeOp(x, [1, 4]).result]
        for _ in range(choose.randrange(3, 6)):
            a, b = choose.choice(values), choose.choice(values)
            op: Operation = choose.choice(
                [
                    lambda a=a: forge.ExpOp(a),
                    lambda a=a, b=b: forge.MulOp(a, b),
                    lambda a=a: forge.ReduceOp("sum", a, 1),
                    lambda a=a: (
                        forge.ExpandOp(a, [3, a.type.get_shape()[1]]) if a.type.get_shape()[0] == 1 else forge.TanhOp(a)
                    ),
                    lambda a=a: forge.MatmulOp(a, w) if a.type.get_shape()[1] == 4 else forge.NegOp(a),
                ]
            )()
            values.append(op.results[0])
        result = values[-1]
        grads: list[SSAValue] = []
        start = forge.ReshapeOp(tangent, [1, 4]).result
        for value in choose.sample(values, min(3, len(values))):
            grads.append(forge.MulOp(start, value).result)
        ReturnOp(result, *grads)
    types = [v.type for v in (result, *grads)]
    function = FuncOp("main", ([a.type for a in block.args], types), Region(block))
    function.verify()
    return joint_model(function, 1, [2], [1])


def _all_choices(model: JointModel) -> list[tuple[int, int]]:
    """(saved bytes, recomputed operations) of every choice: all sets of saved storages, all sets of recomputed ops."""
    cut = model.cut
    values = [*(r for op in cut.early for r in op.results), *model.function.body.block.args[:2]]
    roots = [s for v in values for s in cut.storages.of(v) if s.root is v]
    free = [op for op in cut.early if op not in cut.required]
    found: set[tuple[int, int]] = set()
    for in_forward in itertools.product((False, True), repeat=len(free)):
        forward = cut.required | {op for op, yes in zip(free, in_forward, strict=True) if yes}
        if any(o.owner in cut.early and o.owner not in forward for op in forward for o in op.operands):
            continue
        for keep in itertools.product((False, True), repeat=len(roots)):
            saved = {s.root for s, yes in zip(roots, keep, strict=True) if yes}
            if any(v.owner in cut.early and v.owner not in forward for v in saved):
                continue
            again: set[Operation] = set()
            stack, possible = list(cut.needed), True
            while stack and possible:
                value = stack.pop()
                if value in saved:
                    continue
                possible = isinstance(value.owner, Operation)
                if possible and value.owner not in again:
                    again.add(value.owner)
                    stack += value.owner.operands
            if possible:
                flops = sum(flops_of(op) for op in again) + sum(flops_of(op) for op in forward - cut.required)
                size = sum(cut.cost(s) for s, yes in zip(roots, keep, strict=True) if yes)
                found.add((size, flops - first_computed(cut)))
    return sorted(found)


@pytest.mark.parametrize("seed", range(25))
def test_the_solver_finds_the_best_of_all_choices(seed: int) -> None:
    model = _random_joint(seed)
    everything = _all_choices(model)
    for bound in {0, 4, 12, max(flops for _, flops in everything)}:
        choice = solve(model.cut, max_recomputed=bound)
        assert choice is not None
        best = min((size, flops) for size, flops in everything if flops <= bound)
        assert (choice.saved_bytes, choice.recomputed) == best
        part = partition(model, choice)
        assert part.saved_bytes() == choice.saved_bytes
        assert part.flops() - base_flops(model) <= choice.recomputed
    for bound in {size for size, _ in everything}:
        choice = solve(model.cut, max_saved=bound)
        assert choice is not None
        flops, size = min((flops, size) for size, flops in everything if size <= bound)
        assert (choice.saved_bytes, choice.recomputed) == (size, flops)
    assert solve(model.cut, max_saved=min(size for size, _ in everything) - 1) is None
