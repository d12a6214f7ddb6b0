"""The Python API: what the optimized callable takes, gives back and refuses."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import equiforge
from equiforge.errors import EquiforgeError

REPORT = {
    "program", "target", "device", "cse", "egraph", "extraction", "partition", "reasons", "candidates", "best",
    "limit_us", "output", "seconds",
}  # fmt: skip
CANDIDATE = {
    "id", "kernels", "launches", "bytes", "flops", "lower_bound_us", "estimate_us", "measured_us", "validated",
    "error_rel_l2", "rejected", "rejected_at",
}  # fmt: skip


class Scaled(torch.nn.Module):
    """Nested inputs and outputs, a parameter, and a plain number among the inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.full((7,), 2.0))

    def forward(self, pair: tuple[torch.Tensor, torch.Tensor], power: int) -> dict[str, Any]:
        x, y = pair
        return {"sum": x + y * self.weight, "more": [torch.exp(x) * power]}


def example() -> tuple[tuple[torch.Tensor, torch.Tensor], int]:
    torch.manual_seed(0)
    return (torch.randn(5, 7), torch.randn(5, 7)), 3


@pytest.fixture(scope="module")
def module() -> Scaled:
    return Scaled()


@pytest.fixture(scope="module")
def optimized(module: Scaled) -> Any:
    return equiforge.optimize(module, example(), interpret=True, top=1)


def test_results_nest_as_the_modules_do(module: Scaled, optimized: Any) -> None:
    torch.manual_seed(1)
    inputs = (torch.randn(5, 7), torch.randn(5, 7)), 3
    got, wanted = optimized(*inputs), module(*inputs)
    assert got.keys() == wanted.keys()
    torch.testing.assert_close(got["sum"], wanted["sum"].detach())
    torch.testing.assert_close(got["more"][0], wanted["more"][0])


def test_a_parameter_changed_in_place_counts(module: Scaled, optimized: Any) -> None:
    with torch.no_grad():
        module.weight.fill_(-1.0)
    inputs = example()
    torch.testing.assert_close(optimized(*inputs)["sum"], inputs[0][0] - inputs[0][1])


def test_the_report_has_the_documented_fields(optimized: Any) -> None:
    report = optimized.report
    assert set(report) == REPORT
    assert {"nodes", "classes", "rounds", "seconds", "saturated"} <= set(report["egraph"])
    assert {"strategy", "states", "candidates", "seconds", "complete"} <= set(report["extraction"])
    assert all(set(row) == CANDIDATE for row in report["candidates"])
    best = next(row for row in optimized.candidates if row.id == report["best"])
    assert best.validated and best.error_rel_l2 is not None and best.rejected is None
    assert "def run(" in optimized.source


def _with(**changes: Any) -> tuple[Any, ...]:
    (x, y), power = example()
    return (changes.get("x", x), changes.get("y", y)), changes.get("power", power)


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        (_with(x=torch.zeros(4, 7)), ["float32 4×7", "float32 5×7", "static"]),
        (_with(y=torch.zeros(5, 7, dtype=torch.float64)), ["float64 5×7", "float32 5×7"]),
        (_with(x=torch.zeros(1, 7)), ["1×7"]),
        (_with(x=3.0), ["float", "tensor"]),
        (_with(power=4), ["4", "3"]),
        ((example()[0],), ["structure"]),
    ],
    ids=["shape", "dtype", "broadcastable", "number", "constant", "structure"],
)
def test_other_inputs_than_the_examples_are_refused(optimized: Any, inputs: tuple[Any, ...], words: list[str]) -> None:
    with pytest.raises(EquiforgeError) as caught:
        optimized(*inputs)
    for word in words:
        assert word in str(caught.value)


def test_cpu_tensors_need_the_interpreter() -> None:
    compiled = equiforge.optimize(torch.nn.ReLU(), torch.randn(4, 8), interpret=False, top=1, validate=False)
    with pytest.raises(EquiforgeError, match="interpret=True"):
        compiled(torch.randn(4, 8))


def test_an_unknown_target_is_refused() -> None:
    with pytest.raises(EquiforgeError, match="h201"):
        equiforge.optimize(torch.nn.ReLU(), (torch.randn(4, 8),), target="h201")
