"""The memory model against what torch's allocator counts when it runs the same function in the same order."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

from equiforge.analysis.memory import profile_main
from equiforge.analysis.storage import row_major, view_strides
from equiforge.errors import EquiforgeError
from equiforge.frontend.dtypes import torch_dtype
from equiforge.frontend.joint import import_joint
from equiforge.remat.rematerialize import rematerialize
from equiforge.verify.eager import run_eagerly
from equiforge.verify.interpreter import evaluate, main_function
from equiforge.verify.memory_check import VIEWS, allocated, check_all, drawn_arguments, parse_module
from equiforge.verify.random_programs import random_arguments, random_program
from equiforge.workloads.training import TRAINING


def test_the_peak_is_what_torch_reaches() -> None:
    """On ten graphs, within 2 %."""
    rows = list(check_all())
    assert len(rows) == 10
    for row in rows:
        assert row.allocated == pytest.approx(row.model, rel=0.02), row


def test_a_rematerialized_function_takes_less_in_torch() -> None:
    joint = import_joint(*TRAINING["swiglu"](tokens=96))
    function, arguments = main_function(joint.module), drawn_arguments(joint.module)
    before = allocated(function, arguments)
    budget = int(0.8 * before)
    assert rematerialize(function, budget).gap == 0
    assert allocated(function, arguments) <= budget


def test_a_transposed_reshape_is_a_copy_and_the_others_are_views() -> None:
    """x 65536 B, a 65536 B, the copy 65536 B, flat 32768 B (a slice's rows can't be merged), both 65536 B."""
    found = profile_main(parse_module(VIEWS))
    index = 8 * 8
    assert found.held[:7] == tuple(index + held for held in (131072, 131072, 196608, 196608, 196608, 229376, 229376))
    assert found.peak == index + 3 * 65536 + 32768
    assert found.peak_op() is found.ops[5]


ONE = """
func.func @main(%x : tensor<10xf32>, %y : tensor<10xf32>) -> (tensor<10xf32>, tensor<10xf32>) {
  %a = forge.exp %x : tensor<10xf32>
  %b = forge.add %a, %y : tensor<10xf32>
  %c = forge.exp %b : tensor<10xf32>
  func.return %a, %c : tensor<10xf32>, tensor<10xf32>
}
"""


def test_owners_say_how_long_arguments_and_results_live() -> None:
    assert profile_main(parse_module(ONE)).held == (120, 160, 200, 160)
    # A donated argument goes after its last use; a result stays to the end.
    assert profile_main(parse_module(ONE), donated=[0]).held == (120, 120, 160, 120)
    assert profile_main(parse_module(ONE), donated=[0, 1]).held == (120, 120, 120, 80)


def test_work_is_counted() -> None:
    text = """
    func.func @main(%x : tensor<4x8xf32>, %w : tensor<8x16xf32>) -> tensor<4x1xf32> {
      %y = forge.matmul %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
      %t = forge.transpose %y perm [1, 0] : (tensor<4x16xf32>) -> tensor<16x4xf32>
      %b = forge.transpose %t perm [1, 0] : (tensor<16x4xf32>) -> tensor<4x16xf32>
      %s = forge.reduce sum over 1 %b : (tensor<4x16xf32>) -> tensor<4x1xf32>
      %e = forge.exp %s : tensor<4x1xf32>
      func.return %e : tensor<4x1xf32>
    }
    """
    work = profile_main(parse_module(text)).work
    assert work.flops == 2 * 4 * 8 * 16 + 4 * 16 + 4
    assert work.bytes == 4 * ((4 * 8 + 8 * 16 + 4 * 16) + (4 * 16 + 4) + (4 + 4))


def test_a_call_holds_what_its_callee_holds() -> None:
    text = """
    func.func private @two(%x : tensor<10xf32>) -> tensor<10xf32> {
      %a = forge.exp %x : tensor<10xf32>
      %b = forge.exp %a : tensor<10xf32>
      func.return %b : tensor<10xf32>
    }
    func.func @main(%x : tensor<10xf32>) -> tensor<10xf32> {
      %a = func.call @two(%x) : (tensor<10xf32>) -> tensor<10xf32>
      func.return %a : tensor<10xf32>
    }
    """
    found = profile_main(parse_module(text))
    assert found.held == (120, 80)
    assert found.work.flops == 20


def test_control_flow_is_refused() -> None:
    text = """
    func.func @main(%x : tensor<10xf32>) -> tensor<10xf32> {
      %y = func.call @main(%x) : (tensor<10xf32>) -> tensor<10xf32>
      func.return %y : tensor<10xf32>
    }
    """
    with pytest.raises(EquiforgeError, match="calls itself"):
        profile_main(parse_module(text))


def test_views_are_those_of_torch() -> None:
    """Random chains of transposes, slices and expansions, seen in random shapes: a view here is a view there."""
    choose = random.Random(0)
    copies = 0
    for _ in range(400):
        shape = [choose.choice((1, 2, 3, 4, 6)) for _ in range(choose.randrange(1, 5))]
        x = torch.empty(shape)
        for _ in range(choose.randrange(3)):
            match choose.randrange(3):
                case 0:
                    x = x.permute(choose.sample(range(x.dim()), x.dim()))
                case 1:
                    dim = choose.randrange(x.dim())
                    x = x.narrow(dim, 0, max(1, x.shape[dim] - 1))
                case _:
                    x = x.expand([choose.choice((1, 3)) if n == 1 else n for n in x.shape])
        new = [1] * choose.randrange(2)
        rest = x.numel()
        while rest > 1:
            size = choose.choice([n for n in range(2, rest + 1) if rest % n == 0])
            new.append(size)
            rest //= size
        choose.shuffle(new)
        seen = x.reshape(new)
        is_view = seen.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
        strides = view_strides(tuple(x.shape), x.stride(), new)
        assert (strides is not None) == is_view, (x.shape, x.stride(), new)
        if strides is None:
            copies += 1
        else:
            kept = [d for d, n in enumerate(new) if n > 1]
            assert [strides[d] for d in kept] == [seen.stride(d) for d in kept]
    assert copies > 20
    assert row_major((2, 3, 4)) == (12, 4, 1)


@pytest.mark.parametrize("seed", range(40))
def test_eager_runs_are_right(seed: int) -> None:
    """The runner that the model is held against computes what the reference interpreter computes."""
    module = random_program(seed)
    arrays = random_arguments(module, seed)
    types = main_function(module).function_type.inputs.data
    tensors = [torch.tensor(a).to(torch_dtype(t.element_type)) for a, t in zip(arrays, types, strict=True)]
    results = run_eagerly(main_function(module), tensors)
    for mine, theirs in zip(results, evaluate(module, arrays), strict=True):
        np.testing.assert_allclose(mine.double().numpy(), np.asarray(theirs, float), rtol=2e-2, atol=2e-2)
