"""Joint graphs of forward and backward against PyTorch's own gradients in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from equiforge.dialects import forge
from equiforge.errors import ProgramError
from equiforge.frontend.joint import Joint, import_joint
from equiforge.frontend.opaque import run_opaque
from equiforge.verify.interpreter import evaluate, main_function
from equiforge.workloads.training import TRAINING

aten = torch.ops.aten


def _gradients(module: nn.Module, inputs: tuple[Tensor, ...], joint: Joint, tangents: list[Tensor]) -> list[Tensor]:
    """The forward's results and the gradients, by autograd."""
    results = module(*inputs)
    results = results if isinstance(results, tuple) else (results,)
    differentiable = [result for result in results if result.requires_grad]
    named = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    users = iter(inputs)
    leaves = [named[name] if name in named else next(users) for name in joint.graph.names]
    leaves = [leaf for leaf in leaves if leaf.requires_grad]
    assert len(leaves) == len(joint.gradients)
    grads = torch.autograd.grad(differentiable, leaves, tangents)
    return [*(result.detach() for result in results), *grads]


def _wide(tensor: Tensor) -> Tensor:
    return tensor.detach().double().requires_grad_(tensor.requires_grad) if tensor.is_floating_point() else tensor


def check(module: nn.Module, inputs: tuple[Tensor, ...]) -> Joint:
    """Imports the joint graph in float64 and compares all of its results."""
    module, inputs = module.double(), tuple(_wide(x) for x in inputs)
    joint = import_joint(module, inputs)
    tangents = joint.graph.make_tangents(1)
    ours = evaluate(joint.module, [argument.numpy() for argument in joint.arguments(tangents)])
    expected = _gradients(module, inputs, joint, tangents)
    assert len(ours) == len(expected)
    for mine, theirs in zip(ours, expected, strict=True):
        np.testing.assert_allclose(mine, theirs.numpy(), rtol=1e-10, atol=1e-10)
    return joint


@pytest.mark.parametrize("name", ["attention", "swiglu"])
def test_gradients_of_the_training_programs(name: str) -> None:
    module, inputs = TRAINING[name](tokens=8)
    joint = check(module, inputs)
    assert joint.opaque == []


def test_gradients_of_a_transformer() -> None:
    module, inputs = TRAINING["transformer"](tokens=6, width=16, hidden=24, layers=2)
    assert check(module, inputs).opaque == []


class _Classifier(nn.Module):
    """Activations whose derivatives are operators of their own, and a loss."""

    def __init__(self, weight: Tensor | None, reduction: str):
        super().__init__()
        self.first = nn.Linear(5, 8)
        self.norm = nn.LayerNorm(8)
        self.last = nn.Linear(8, 4)
        self.weight: Tensor | None
        self.register_buffer("weight", weight)
        self.reduction = reduction

    def forward(self, x: Tensor, target: Tensor) -> Tensor:
        h = self.norm(self.first(x))
        h = F.gelu(h) + torch.tanh(h) * torch.sigmoid(h) + F.relu(h) + F.leaky_relu(h, 0.1) + F.hardtanh(h)
        return F.cross_entropy(self.last(h), target, self.weight, ignore_index=2, reduction=self.reduction)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weight", [None, torch.tensor([0.5, 1.0, 2.0, 0.25])])
def test_gradients_of_a_loss(reduction: str, weight: Tensor | None) -> None:
    torch.manual_seed(0)
    module = _Classifier(weight, reduction)
    joint = check(module, (torch.randn(6, 5), torch.tensor([0, 1, 2, 3, 3, 0])))
    assert joint.opaque == []
    assert "x" not in joint.gradients


def test_arguments_and_results_are_named() -> None:
    module, inputs = TRAINING["swiglu"](tokens=4)
    joint = import_joint(module, inputs)
    assert joint.imported.arg_names == [
        "norm_weight", "gate_weight", "up_weight", "down_weight", "x", "tangent_0",
    ]  # fmt: skip
    assert joint.gradients == ["norm.weight", "gate.weight", "up.weight", "down.weight", "x"]
    returned = main_function(joint.module).get_return_op()
    assert returned is not None and len(returned.operands) == joint.graph.num_forward_outputs + 5


def test_the_traced_graph_runs() -> None:
    module, inputs = TRAINING["attention"](tokens=8)
    joint = import_joint(module, inputs)
    tangents = joint.graph.make_tangents(1)
    results = joint.graph.run(tangents)
    for mine, theirs in zip(results, _gradients(module, inputs, joint, tangents), strict=True):
        assert mine is not None
        torch.testing.assert_close(mine, theirs)


class _Dropped(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(7, 6)

    def forward(self, index: Tensor) -> Tensor:
        return F.dropout(self.table(index), 0.5) ** 2


def test_what_has_no_lowering_stays_a_call() -> None:
    torch.manual_seed(0)
    joint = import_joint(_Dropped(), (torch.tensor([1, 3, 3]),))
    names = {target for target, _ in joint.opaque}
    assert names == {"aten.native_dropout.default", "aten.embedding_dense_backward.default"}
    assert all(line is not None and line.startswith("test_frontend_joint.py:") for _, line in joint.opaque)
    calls = [op for op in main_function(joint.module).body.block.ops if isinstance(op, forge.OpaqueOp)]
    assert len(calls) == 2
    # A call keeps its arguments: it runs as the operator would.
    scatter = next(op for op in calls if op.target == "aten.embedding_dense_backward.default")
    grad, index = torch.randn(3, 6), torch.tensor([1, 3, 3])
    assert torch.equal(run_opaque(scatter, [grad, index])[0], aten.embedding_dense_backward(grad, index, 7, -1, False))


def test_an_unused_draw_stays() -> None:
    class Model(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            torch.rand_like(x)
            return x * 2

    joint = import_joint(Model(), (torch.randn(3, requires_grad=True),))
    assert [target for target, _ in joint.opaque] == ["aten.rand_like.default"]
    assert any(isinstance(op, forge.OpaqueOp) for op in main_function(joint.module).body.block.ops)


def test_no_gradient_is_an_error() -> None:
    class Model(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x * 2

    with pytest.raises(ProgramError, match="requires a gradient"):
        import_joint(Model(), (torch.randn(3),))


class _Call(nn.Module):
    """One operator with fixed arguments after its tensors."""

    def __init__(self, call: Any):
        super().__init__()
        self.call = call

    def forward(self, *tensors: Tensor) -> Any:
        return self.call(*tensors)


BACKWARD: list[tuple[str, Any, list[tuple[int, ...]]]] = [
    ("threshold", lambda g, x: aten.threshold_backward(g, x, 0.25), [(3, 4), (3, 4)]),
    ("sigmoid", aten.sigmoid_backward, [(3, 4), (3, 4)]),
    ("tanh", aten.tanh_backward, [(3, 4), (3, 4)]),
    ("silu", aten.silu_backward, [(3, 4), (3, 4)]),
    ("gelu", aten.gelu_backward, [(3, 4), (3, 4)]),
    ("gelu-tanh", lambda g, x: aten.gelu_backward(g, x, approximate="tanh"), [(3, 4), (3, 4)]),
    ("leaky-relu", lambda g, x: aten.leaky_relu_backward(g, x, 0.2, False), [(3, 4), (3, 4)]),
    ("hardtanh", lambda g, x: aten.hardtanh_backward(g, x, -0.5, 0.75), [(3, 4), (3, 4)]),
    ("dropout", lambda g, x: aten.native_dropout_backward(g, x > 0, 2.0), [(3, 4), (3, 4)]),
    ("softmax", lambda g, y: aten._softmax_backward_data(g, y, 1, y.dtype), [(3, 4, 2), (3, 4, 2)]),
    ("log-softmax", lambda g, y: aten._log_softmax_backward_data(g, y, -1, y.dtype), [(3, 4), (3, 4)]),
    (
        "layer-norm",
        lambda g, x, m, r, w, c: aten.native_layer_norm_backward(g, x, [4, 2], m, r, w, c, [True, True, True]),
        [(3, 4, 2), (3, 4, 2), (3, 1, 1), (3, 1, 1), (4, 2), (4, 2)],
    ),
    ("mse-mean", lambda g, x, y: aten.mse_loss_backward(g, x, y, 1), [(), (3, 4), (3, 4)]),
    ("mse-none", lambda g, x, y: aten.mse_loss_backward(g, x, y, 0), [(3, 4), (3, 4), (3, 4)]),
    ("slice", lambda g: aten.slice_backward(g, [3, 9], 1, 2, 6, 1), [(3, 4)]),
    ("select", lambda g: aten.select_backward(g, [3, 5, 4], 1, -2), [(3, 4)]),
]


@pytest.mark.parametrize(("name", "call", "shapes"), BACKWARD, ids=[name for name, _, _ in BACKWARD])
def test_an_operator_of_the_backward(name: str, call: Any, shapes: list[tuple[int, ...]]) -> None:
    from equiforge.frontend.program import import_module

    torch.manual_seed(3)
    tensors = tuple(torch.randn(shape, dtype=torch.float64) for shape in shapes)
    program = import_module(_Call(call), tensors)
    results = call(*tensors)
    expected = list(results) if isinstance(results, tuple) else [results]
    ours = evaluate(program.module, [t.numpy() for t in program.example_args])
    assert len(ours) == len(expected)
    for mine, theirs in zip(ours, expected, strict=True):
        np.testing.assert_allclose(mine, theirs.numpy(), rtol=1e-12, atol=1e-12)
