"""The memory model beside what torch's CPU allocator counts when it runs the same function in the same order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.profiler import ProfilerActivity
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func, FuncOp
from xdsl.parser import Parser

from equiforge.analysis.memory import profile
from equiforge.dialects.forge import Forge
from equiforge.frontend.dtypes import torch_dtype
from equiforge.frontend.joint import import_joint
from equiforge.frontend.program import load_program, random_tensors
from equiforge.verify.eager import run_eagerly
from equiforge.verify.interpreter import main_function
from equiforge.workloads.training import TRAINING

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
    "views": lambda: parse_module(VIEWS),
    "random and opaque": lambda: parse_module(RANDOM),
}
"""Programs of all kinds: joint graphs, forward passes, views and copies, random numbers and opaque calls."""


def parse_module(text: str) -> ModuleOp:
    """A verified module of forge functions."""
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
    events: Any = trace.profiler
    for event in events.kineto_results.events():
        if event.name() == "[memory]":
            held += event.nbytes()
            peak = max(peak, held)
    return owned + peak


@dataclass(frozen=True)
class Checked:
    """One graph: its ops, the peak of the model and the peak that was allocated, in bytes."""

    graph: str
    ops: int
    model: int
    allocated: int


def check_all() -> Iterator[Checked]:
    """All of ``GRAPHS``."""
    for name, make in GRAPHS.items():
        module = make()
        found = profile(main_function(module))
        yield Checked(name, len(found.ops), found.peak, allocated(main_function(module), drawn_arguments(module)))


def drawn_arguments(module: ModuleOp) -> list[torch.Tensor]:
    """Random arguments for ``@main``."""
    types: Any = main_function(module).function_type.inputs.data
    return random_tensors([(tuple(t.get_shape()), torch_dtype(t.element_type)) for t in types], 0)
