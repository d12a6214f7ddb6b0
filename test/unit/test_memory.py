"""The memory model against what torch's allocator counts when it runs the same function in the same order."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch.profiler import ProfilerActivity
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func, FuncOp
from xdsl.parser import Parser

from equiforge.analysis.memory import profile, profile_main
from equiforge.analysis.storage import row_major, view_strides
from equiforge.dialects.forge import Forge
from equiforge.errors import EquiforgeError
from equiforge.frontend.dtypes import torch_dtype
from equiforge.frontend.joint import import_joint
from equiforge.frontend.program import load_program, random_tensors
from equiforge.verify.eager import run_eagerly
from equiforge.verify.interpreter import evaluate, main_function
from equiforge.verify.random_programs import random_arguments, random_program
from equiforge.workloads.training import TRAINING


def parse(text: str) -> ModuleOp:
    context = Context()
    for dialect in (Builtin, Func, Forge):
        context.load_dialect(dialect)
    module = Parser(context, text).parse_module()
    module.verify()
    return module


def allocated(function: FuncOp, arguments: list[torch.Tensor]) -> int:
    """The largest number of bytes that torch holds at one time: the arguments, and what its CPU allocator gave out."""
    owned = sum(argument.untyped_storage().nbytes() for argument in arguments)
    with torch.profiler.profile(activities=[ProfilerActivity.CPU], profile_memory=True) as trace:
        results = run_eagerly(function, list(arguments))
    assert results
    held = peak = 0
    for event in trace.profiler.kineto_results.events():
        if event.name() == "[memory]":
            held += event.nbytes()
            peak = max(peak, held)
    return owned + peak


def _arguments(module: ModuleOp) -> list[torch.Tensor]:
    types = main_function(module).function_type.inputs.data
    return random_tensors([(tuple(t.get_shape()), torch_dtype(t.element_type)) for t in types], 0)


VIEWS = """
func.func @main(%x : tensor<64x256xf32>, %i : tensor<8x1xi64>) -> (tensor<16384xf32>, tensor<8x260xf32>) {
  %a = forge.exp %x : tensor<64x256xf32>
  %t = forge.transpose %a perm [1, 0] : (tensor<64x256xf32>) -> tensor<256x64xf32>
  %copy = forge.reshape %t : (tensor<256x64xf32>) -> tensor<16384xf32>
  %view = forge.reshape %a : (tensor<64x256xf32>) -> tensor<64x4x64xf32>
  %part = forge.slice %view along 1 from 1 to 3 step 1 : (tensor<64x4x64xf32>) -> tensor<64x2x64xf32>
  %flat = forge.reshape %part : (tensor<64x2x64xf32>) -> tensor<8192xf32>
  %both = forge.concat 0 %flat, %flat : (tensor<8192xf32>, tensor<8192xf32>) -> tensor<16384xf32>
  %again = forge.reshape %both : (tensor<16384xf32>) -> tensor<64x256xf32>
  %row = forge.reduce sum over 0 %again : (tensor<64x256xf32>) -> tensor<1x256xf32>
  %rows = forge.expand %row : (tensor<1x256xf32>) -> tensor<64x256xf32>
  %some = forge.gather %rows, %i along 0 : (tensor<64x256xf32>, tensor<8x1xi64>) -> tensor<8x256xf32>
  %wide = forge.pad %some along 1 by 2, 2 with 0.0 : (tensor<8x256xf32>) -> tensor<8x260xf32>
  func.return %copy, %wide : tensor<16384xf32>, tensor<8x260xf32>
}
"""

RANDOM = """
func.func @main(%x : tensor<64x128xf16>) -> tensor<64x128xf16> {
  %u = forge.random uniform : tensor<64x128xf32>
  %half = forge.constant 0.5 : tensor<1x1xf32>
  %keep = forge.compare lt %u, %half : (tensor<64x128xf32>, tensor<1x1xf32>) -> tensor<64x128xi1>
  %zero = forge.constant 0.0 : tensor<1x1xf16>
  %y = forge.select %keep, %x, %zero
    : (tensor<64x128xi1>, tensor<64x128xf16>, tensor<1x1xf16>) -> tensor<64x128xf16>
  %t = forge.tuple %y, %u : (tensor<64x128xf16>, tensor<64x128xf32>) -> tuple<tensor<64x128xf16>, tensor<64x128xf32>>
  %s = forge.opaque "aten.cumsum.default"(%y) arguments {dim = 1 : i64} : (tensor<64x128xf16>) -> tensor<64x128xf16>
  %z = forge.get 0 of %t : (tuple<tensor<64x128xf16>, tensor<64x128xf32>>) -> tensor<64x128xf16>
  %r = forge.mul %s, %z : tensor<64x128xf16>
  func.return %r : tensor<64x128xf16>
}
"""

GRAPHS: dict[str, Callable[[], ModuleOp]] = {
    "joint attention": lambda: import_joint(*TRAINING["attention"](tokens=96)).module,
    "joint swiglu": lambda: import_joint(*TRAINING["swiglu"](tokens=96)).module,
    "joint transformer": lambda: import_joint(*TRAINING["transformer"](tokens=64, layers=2)).module,
    "rmsnorm-mlp": lambda: load_program("rmsnorm-mlp:b=32,hidden=256,ffn=512,dtype=fp32").module,
    "rmsnorm-swiglu": lambda: load_program("rmsnorm-swiglu:b=32,hidden=128,ffn=512,dtype=fp32").module,
    "lora": lambda: load_program("lora:b=32,hidden=256,out=256,dtype=fp32").module,
    "layernorm-gemm": lambda: load_program("layernorm-gemm:b=2,rows=64,hidden=256,out=256,dtype=fp32").module,
    "mha-prefill": lambda: load_program("mha-prefill:b=1,h=4,s=128,d=32,dtype=fp32").module,
    "views": lambda: parse(VIEWS),
    "random and opaque": lambda: parse(RANDOM),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_the_peak_is_what_torch_reaches(name: str) -> None:
    module = GRAPHS[name]()
    function = main_function(module)
    assert allocated(function, _arguments(module)) == pytest.approx(profile(function).peak, rel=0.02)


def test_a_transposed_reshape_is_a_copy_and_the_others_are_views() -> None:
    """x 65536 B, a 65536 B, the copy 65536 B, flat 32768 B (a slice's rows can't be merged), both 65536 B."""
    found = profile_main(parse(VIEWS))
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
    assert profile_main(parse(ONE)).held == (120, 160, 200, 160)
    # A donated argument goes after its last use; a result stays to the end.
    assert profile_main(parse(ONE), donated=[0]).held == (120, 120, 160, 120)
    assert profile_main(parse(ONE), donated=[0, 1]).held == (120, 120, 120, 80)


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
    work = profile_main(parse(text)).work
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
    found = profile_main(parse(text))
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
        profile_main(parse(text))


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
