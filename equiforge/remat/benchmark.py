"""Our partitions of joint graphs beside those of torch's min-cut, all measured by one counter on forge functions.

For each of torch's memory budgets two of ours are made: the fewest saved bytes with no more recomputed operations than
torch's, and the fewest recomputed operations with no more saved bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch

from equiforge.cse.dead import eliminate_dead
from equiforge.cse.eliminate import eliminate
from equiforge.errors import EquiforgeError
from equiforge.frontend.joint import Joint, import_joint
from equiforge.remat.model import JointModel, joint_model
from equiforge.remat.partition import Partition, partition
from equiforge.remat.solve import solve
from equiforge.remat.torch_partition import min_cut_partition
from equiforge.verify.eager import run_eagerly
from equiforge.verify.interpreter import main_function
from equiforge.workloads.training import TRAINING

SIZES: dict[str, dict[str, int]] = {
    "attention": {"batch": 4, "tokens": 256, "width": 256, "heads": 4},
    "swiglu": {"batch": 4, "tokens": 256, "width": 256, "hidden": 688},
    "transformer": {"batch": 4, "tokens": 256, "width": 256, "heads": 4, "hidden": 688, "layers": 4},
}
"""Sizes at which the programs are compared."""


@dataclass(frozen=True)
class Measured:
    """Bytes held between forward and backward, operations done twice, and the peak of both in a row."""

    saved: int
    recomputed: int
    peak: int


@dataclass(frozen=True)
class Row:
    """One graph at one of torch's budgets: torch's partition and our two."""

    graph: str
    budget: float
    ops: int
    flops: int
    torch: Measured
    fewest_bytes: Measured
    fewest_flops: Measured

    @property
    def holds(self) -> bool:
        """Neither of ours saves more or recomputes more than torch's."""
        return all(
            ours.saved <= self.torch.saved and ours.recomputed <= self.torch.recomputed
            for ours in (self.fewest_bytes, self.fewest_flops)
        )

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "holds": self.holds}


def prepared(module: torch.nn.Module, inputs: Sequence[torch.Tensor]) -> tuple[Joint, JointModel]:
    """The joint function with equal ops merged, and its parts."""
    joint = import_joint(module, tuple(inputs))
    eliminate(joint.module)
    eliminate_dead(joint.module)
    function = main_function(joint.module)
    graph = joint.graph
    return joint, joint_model(function, graph.num_forward_outputs, joint.tangents, graph.parameters)


def partitions(joint: Joint, model: JointModel, base: int, budget: float) -> tuple[Partition, Partition, Partition]:
    """Torch's partition, and ours under its operations and under its bytes. ``base``: operations without any twice."""
    theirs = min_cut_partition(joint.graph, budget)
    by_flops = solve(model.cut, max_recomputed=theirs.flops() - base)
    by_bytes = solve(model.cut, max_saved=theirs.saved_bytes())
    if by_flops is None or by_bytes is None:
        raise EquiforgeError("the solver found no partition", hint="raise the time limit in equiforge/remat/solve.py")
    return theirs, partition(model, by_flops), partition(model, by_bytes)


def compare(name: str, budgets: Sequence[float], sizes: dict[str, int] | None = None) -> Iterator[Row]:
    """The rows of one of the training programs."""
    module, inputs = TRAINING[name](**(SIZES[name] if sizes is None else sizes))
    joint, model = prepared(module, inputs)
    ops = len(model.cut.early) + len(model.late)
    base = base_flops(model)
    for budget in budgets:
        found = [_measured(part, base) for part in partitions(joint, model, base, budget)]
        yield Row(name, budget, ops, base, *found)


def base_flops(model: JointModel) -> int:
    """Operations of the joint function."""
    from equiforge.analysis.memory import profile

    return profile(model.function).work.flops


def _measured(part: Partition, base: int) -> Measured:
    return Measured(part.saved_bytes(), part.flops() - base, part.profile().peak)


def gradient_error(name: str, budget: float, sizes: dict[str, int] | None = None) -> float:
    """The largest difference, relative to the largest element, of any result or gradient that the three partitions
    compute in float64 from what autograd computes."""
    module, inputs = TRAINING[name](**(SIZES[name] if sizes is None else sizes))
    inputs = tuple(x.detach().double().requires_grad_() for x in inputs)
    joint, model = prepared(module.double(), inputs)
    tangents = joint.graph.make_tangents()
    expected = [result for result in joint.graph.run(tangents) if result is not None]
    worst = 0.0
    for part in partitions(joint, model, base_flops(model), budget):
        for ours, theirs in zip(run_eagerly(part.joined(), joint.arguments(tangents)), expected, strict=True):
            worst = max(worst, float((ours - theirs).abs().max() / theirs.abs().max()))
    return worst
