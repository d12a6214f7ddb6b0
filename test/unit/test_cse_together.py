"""Several programs compiled together: shared parts are compiled once, and every program computes what it did."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
import torch
from torch import nn
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp

from equiforge.cse.across import outline_equal
from equiforge.cse.dead import eliminate_dead
from equiforge.cse.eliminate import eliminate
from equiforge.cse.segments import split_at_calls
from equiforge.errors import EquiforgeError
from equiforge.together import TogetherModule, optimize_together
from equiforge.verify.interpreter import evaluate, main_function
from equiforge.verify.random_programs import random_arguments, random_program


class Candidate(nn.Module):
    """A trunk and a head of its own."""

    def __init__(self, outputs: int) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.RMSNorm(16), nn.Linear(16, 16, bias=False), nn.SiLU())
        self.head = nn.Linear(16, outputs, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.trunk(x))


def test_the_trunk_of_candidates_is_compiled_once() -> None:
    torch.manual_seed(0)
    models = {f"candidate_{outputs}": Candidate(outputs) for outputs in (3, 5)}
    x = torch.randn(6, 16)
    compiled = optimize_together(
        {name: (model, (x,)) for name, model in models.items()}, interpret=True, top=1, validate=False
    )
    for name, model in models.items():
        torch.testing.assert_close(compiled[name](x), model(x).detach())
    together = cast(TogetherModule, compiled["candidate_3"]).together
    # One trunk, and a head for each: three parts where the two programs alone would have held the trunk twice.
    assert sorted(together.parts) == ["candidate_3_0", "candidate_5_0", "shared_0"]
    assert together.shared[0].callers == ("candidate_3", "candidate_5")
    with pytest.raises(EquiforgeError, match="other shapes"):
        compiled["candidate_3"](x[:2])


@pytest.mark.parametrize("seed", range(15))
def test_functions_of_calls_compute_what_they_did(seed: int) -> None:
    base = random_program(seed, 12)
    longer = main_function(random_program(seed, 16))
    functions: dict[str, FuncOp] = {"a": main_function(base.clone()), "b": longer}
    for name, function in functions.items():
        function.detach()
        function.sym_name = StringAttr(name)
    module = ModuleOp(list(functions.values()))
    eliminate(module)
    eliminate_dead(module)
    before = module.clone()
    outline_equal(module)
    for function in functions.values():
        split_at_calls(module, function)
    eliminate_dead(module)
    module.verify()
    for name, function in functions.items():
        assert all(isinstance(op, CallOp | ReturnOp) for op in function.body.block.ops)
        arguments: list[Any] = random_arguments(ModuleOp([function.clone()]), seed)
        original = next(op for op in before.ops if isinstance(op, FuncOp) and op.sym_name.data == name)
        for left, right in zip(evaluate(original, arguments), evaluate(function, arguments), strict=True):
            np.testing.assert_array_equal(left, right, strict=True)
