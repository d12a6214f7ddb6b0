"""Equal subgraphs of several functions: what is outlined, and that every function computes what it did."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch
from torch import nn
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation

from equiforge.cse.across import outline_equal
from equiforge.cse.dead import eliminate_dead
from equiforge.cse.eliminate import eliminate
from equiforge.dialects import forge
from equiforge.frontend.program import import_module
from equiforge.verify.interpreter import evaluate, main_function
from equiforge.verify.random_programs import random_arguments, random_program


def together(functions: dict[str, FuncOp]) -> ModuleOp:
    """One module of several functions."""
    for name, function in functions.items():
        function.sym_name = StringAttr(name)
        function.detach()
    module = ModuleOp(list(functions.values()))
    module.verify()
    return module


def functions_of(module: ModuleOp) -> dict[str, FuncOp]:
    return {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}


def ops_in(root: Operation) -> int:
    return sum(isinstance(op, Operation) and op.name.startswith("forge.") for op in root.walk())


def variant(module: ModuleOp, seed: int) -> FuncOp:
    """The function with one of its ops changed: what follows from it is another computation."""
    function = main_function(module.clone())
    generator = random.Random(seed)
    unary = [op for op in function.body.block.ops if isinstance(op, forge.NegOp | forge.AbsOp | forge.TanhOp)]
    binary = [op for op in function.body.block.ops if isinstance(op, forge.AddOp | forge.SubOp | forge.MulOp)]
    if unary:
        op = generator.choice(unary)
        new: Operation = forge.ReluOp(op.operand)
    elif binary:
        chosen = generator.choice(binary)
        op, new = chosen, forge.MaxOp(chosen.lhs, chosen.rhs)
    else:
        return function
    function.body.block.insert_op_before(new, op)
    op.results[0].replace_all_uses_with(new.results[0])
    op.detach()
    op.erase()
    return function


@pytest.mark.parametrize("seed", range(25))
def test_random_functions_compute_what_they_did(seed: int) -> None:
    base = random_program(seed, 12)
    functions = {"a": main_function(base.clone()), "b": variant(base, seed), "c": variant(base, seed + 1)}
    module = together(functions)
    eliminate(module)
    eliminate_dead(module)
    before = module.clone()
    shared = outline_equal(module)
    eliminate_dead(module)
    module.verify()
    arguments = random_arguments(base, seed)
    for name in functions:
        old = evaluate(functions_of(before)[name], arguments)
        new = evaluate(functions_of(module)[name], arguments)
        for left, right in zip(old, new, strict=True):
            np.testing.assert_array_equal(left, right, strict=True)
    # What is shared stands once; numbers and indices may be copied.
    held = sum(item.ops for item in shared)
    saved = sum(item.ops * (len(item.callers) - 1) for item in shared)
    computed = sum(bool(op.operands) and op.name.startswith("forge.") for op in module.walk())
    assert computed == sum(bool(op.operands) and op.name.startswith("forge.") for op in before.walk()) - saved
    assert held <= computed
    assert outline_equal(module) == []


class Candidate(nn.Module):
    """A trunk, a block that candidates of one family share, and a head of its own."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 16), nn.LayerNorm(16))
        self.block = nn.Sequential((nn.Tanh, nn.SiLU)[number % 2](), nn.Linear(16, 16))
        self.head = nn.Linear(16, 2 + number)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.block(self.trunk(x)))


def test_twelve_candidates_share_a_trunk() -> None:
    programs = {
        f"candidate_{number}": import_module(Candidate(number).eval(), (torch.zeros(5, 8),)) for number in range(12)
    }
    module = together({name: main_function(program.module) for name, program in programs.items()})
    before = module.clone()
    eliminate(module)
    shared = outline_equal(module)
    eliminate_dead(module)
    module.verify()
    trunk, *blocks = shared
    assert trunk.callers == tuple(programs)
    assert sorted(block.callers for block in blocks) == sorted(
        tuple(f"candidate_{number}" for number in range(12) if number % 2 == parity) for parity in (0, 1)
    )
    # The head is what is left of each.
    for name in programs:
        assert sum(isinstance(op, CallOp) for op in functions_of(module)[name].walk()) == 2
    assert ops_in(module) < ops_in(before) / 4
    for name in list(programs)[:3]:
        arguments = [tensor.numpy() for tensor in programs[name].make_args()]
        old, new = (evaluate(functions_of(m)[name], arguments)[0] for m in (before, module))
        np.testing.assert_array_equal(old, new, strict=True)
