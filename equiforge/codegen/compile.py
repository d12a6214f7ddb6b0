"""Compiling emitted modules for devices that are not here: PTX and cubin by Triton and its ptxas, no driver.

The module's own launcher is run on ``meta`` tensors with launching replaced by recording, so what is compiled is what
it would launch: the same argument types, tile sizes and options. Pointers are promised to be 16-byte aligned, as
Triton's launcher finds them to be.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from equiforge.codegen.errors import CodegenError
from equiforge.codegen.module import load_source
from equiforge.codegen.targets import Target, target_of
from equiforge.codegen.triton_modules import triton_module

_POINTERS = {
    torch.float64: "*fp64",
    torch.float32: "*fp32",
    torch.float16: "*fp16",
    torch.bfloat16: "*bf16",
    torch.int64: "*i64",
    torch.int32: "*i32",
    torch.int16: "*i16",
    torch.int8: "*i8",
    torch.uint8: "*u8",
    torch.bool: "*i1",
    torch.float8_e4m3fn: "*fp8e4nv",
    torch.float8_e5m2: "*fp8e5",
}


@dataclass(frozen=True)
class CompiledKernel:
    """One kernel for one target: ``shared`` in bytes, ``ptx`` as text, ``cubin`` as bytes."""

    name: str
    target: str
    shared: int
    warps: int
    stages: int
    ptx: str
    cubin: bytes
    fits: bool


@dataclass(frozen=True)
class Launch:
    """A recorded launch: the kernel's function, its grid, its positional arguments' Triton types, constants and
    options."""

    function: Any
    grid: tuple[int, ...]
    pointers: tuple[str, ...]
    constants: tuple[tuple[str, int], ...]
    options: tuple[tuple[str, Any], ...]


def compile_offline(source: str, targets: Sequence[str | int | Target] | str | int | Target) -> list[CompiledKernel]:
    """Compiles every kernel of an emitted module for every target.

    ``fits`` is False where the kernel needs more shared memory than a block of the target may have: it would fail at
    launch. Raises CodegenError with Triton's message when a kernel does not compile.
    """
    triton = triton_module()
    GPUTarget = triton_module("triton.backends.compiler").GPUTarget
    ASTSource = triton_module("triton.compiler").ASTSource

    wanted = [targets] if isinstance(targets, str | int | Target) else list(targets)
    launches = list(dict.fromkeys(record_launches(source)))
    compiled: list[CompiledKernel] = []
    for target in map(target_of, wanted):
        for launch in launches:
            names = launch.function.arg_names
            constants = dict(launch.constants)
            signature = dict(zip(names, launch.pointers, strict=False)) | dict.fromkeys(constants, "constexpr")
            attrs = {(i,): [["tt.divisibility", 16]] for i in range(len(launch.pointers))}
            ast = ASTSource(launch.function, signature, constants, attrs)
            try:
                kernel: Any = triton.compile(
                    ast, target=GPUTarget("cuda", target.capability, 32), options=dict(launch.options)
                )
            except Exception as error:
                lines = str(error).strip().splitlines()
                raise CodegenError(
                    f"kernel {launch.function.__name__} does not compile for {target.name}: "
                    f"{lines[-1] if lines else error!r}"
                ) from error
            options = dict(launch.options)
            compiled.append(
                CompiledKernel(
                    name=launch.function.__name__,
                    target=target.name,
                    shared=kernel.metadata.shared,
                    warps=options.get("num_warps", 4),
                    stages=options.get("num_stages", 3),
                    ptx=kernel.asm["ptx"],
                    cubin=kernel.asm["cubin"],
                    fits=kernel.metadata.shared <= target.shared,
                )
            )
    return compiled


def record_launches(source: str) -> list[Launch]:
    """What the module's ``run`` launches, in order; nothing is run."""
    if triton_module().knobs.runtime.interpret:
        raise CodegenError("kernels can't be compiled while TRITON_INTERPRET is set", hint="unset it")
    module = load_source(source)
    inputs = [
        torch.empty_strided(shape, strides, dtype=dtype, device="meta")
        for shape, strides, dtype in module.INPUTS.values()
    ]
    launches: list[Launch] = []
    with _recording(launches):
        module.run(*inputs)
    return launches


@contextlib.contextmanager
def _recording(launches: list[Launch]) -> Generator[None]:
    function_class = triton_module("triton.runtime.jit").JITFunction
    original = function_class.run

    def record(self: Any, *args: Any, grid: tuple[int, ...], warmup: bool, **kwargs: Any) -> None:
        constants = tuple((k, v) for k, v in kwargs.items() if k in self.arg_names)
        options = tuple((k, v) for k, v in kwargs.items() if k not in self.arg_names)
        launches.append(Launch(self, grid, tuple(_POINTERS[a.dtype] for a in args), constants, options))

    function_class.run = record
    try:
        yield
    finally:
        function_class.run = original
