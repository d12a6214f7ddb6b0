"""Running emitted modules on the CPU under Triton's interpreter, in this process and without an environment variable.

Triton decides when it is imported whether its own library functions (``tl.sum`` and the like) are interpreted, and
its interpreter patches ``triton.language`` while it runs. So that one process can compile kernels as well as
interpret them, :func:`interpreting` puts the patches in place and takes every one of them away again. It also mends
what keeps the interpreter from being a reference:

* bf16 operands of ``tl.dot`` are multiplied as numbers (upstream multiplies their bit patterns);
* the result of a comparison is boolean data (upstream keeps the operands' type, so that ``&`` of two float
  comparisons fails);
* float32 to bf16 rounds to nearest even (upstream truncates, twice the error of a GPU), and denormal bf16 numbers are
  read as what they are (upstream misplaces their exponent);
* a reduction by one of the emitted NaN-propagating maximum and minimum functions is one NumPy call, not one Python
  call an element.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from equiforge.codegen.module import load_source
from equiforge.codegen.triton_modules import triton_module

# Reductions that the emitter writes as functions of the module, and what they are in NumPy.
_FAST_REDUCTIONS = {"larger": np.max, "smaller": np.min, "product": np.prod}


@dataclass
class Trips:
    """The loops that a run went through: one ``range`` for each time a program instance reached a loop."""

    ranges: list[range] = field(default_factory=lambda: [])

    @property
    def total(self) -> int:
        """Loop iterations over all program instances."""
        return sum(len(r) for r in self.ranges)


def run_interpreted(source: str, args: Sequence[torch.Tensor], trips: Trips | None = None) -> list[torch.Tensor]:
    """Runs an emitted module on CPU tensors and returns its results as a list.

    ``trips``, if given, receives the bounds of every loop that ran. Raises what the module's ``run`` raises.
    """
    with interpreting(), warnings.catch_warnings():
        # NaN and inf pass through the kernels on purpose.
        warnings.simplefilter("ignore", RuntimeWarning)
        module = load_source(source)

        def loop(*bounds: Any) -> range:
            # Triton 3.6 can't turn computed bounds into Python numbers under NumPy 2.4.
            numbers = (int(b.handle.data.item()) if hasattr(b, "handle") else int(b) for b in bounds)
            taken = range(*numbers)
            if trips is not None:
                trips.ranges.append(taken)
            return taken

        module.__dict__["range"] = loop
        result = module.run(*args)
    return [*result] if isinstance(result, tuple) else [result]


@contextlib.contextmanager
def interpreting() -> Generator[None]:
    """Within the context ``triton.jit`` makes interpreted functions; afterwards Triton is as it was."""
    triton = triton_module()
    tl = triton_module("triton.language")
    interpreter = triton_module("triton.runtime.interpreter")
    JITFunction = triton_module("triton.runtime.jit").JITFunction

    owners: list[Any] = [tl, tl.core, tl.math, tl.tensor, tl.dtype, tl.core.tensor_descriptor_base]
    before: list[dict[str, Any]] = [{**vars(owner)} for owner in owners]
    interpret = triton.knobs.runtime.interpret
    builder: Any = interpreter.InterpreterBuilder
    patched: list[tuple[Any, str, Any]] = []

    def patch(owner: Any, name: str, value: Any) -> None:
        patched.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return _rewritten(self.fn)(*args, **kwargs)

    convert = interpreter._convert_float
    create_dot = builder.create_dot
    reduce_all = interpreter.ReduceOps.apply_impl

    def rounding_convert(data: Any, source: Any, target: Any, mode: Any) -> Any:
        if source == tl.float32 and target == tl.bfloat16:
            return _to_bf16(np.asarray(data))
        if source == tl.bfloat16 and target == tl.float32:
            return _from_bf16(np.asarray(data))
        return convert(data, source, target, mode)

    def dot(self: Any, a: Any, b: Any, *rest: Any) -> Any:
        return create_dot(self, _widened(a, interpreter, tl), _widened(b, interpreter, tl), *rest)

    def comparing(compare: Any) -> Any:
        def boolean(self: Any, left: Any, right: Any) -> Any:
            return interpreter.TensorHandle(np.asarray(compare(self, left, right).data, dtype=np.bool_), tl.int1)

        return boolean

    def reduce(self: Any, inputs: Any) -> Any:
        numpy_function = _FAST_REDUCTIONS.get(getattr(self.combine_fn, "__name__", ""))
        if numpy_function is None or self.axis is None:
            return reduce_all(self, inputs)
        data = inputs[0].handle.data
        return self.to_tensor(numpy_function(data, axis=self.axis, keepdims=self.keep_dims), inputs[0].dtype)

    try:
        triton.knobs.runtime.interpret = True
        interpreter._patch_lang(_names_the_language)
        patch(JITFunction, "__call__", call)
        patch(interpreter.InterpretedFunction, "__call__", call)
        patch(interpreter, "_convert_float", rounding_convert)
        patch(builder, "create_dot", dot)
        operations: list[str] = [*vars(builder)]
        for name in [n for n in operations if n.startswith(("create_fcmp", "create_icmp"))]:
            patch(builder, name, comparing(getattr(builder, name)))
        patch(interpreter.ReduceOps, "apply_impl", reduce)
        yield
    finally:
        for owner, name, value in reversed(patched):
            setattr(owner, name, value)
        for owner, names in zip(owners, before, strict=True):
            current: dict[str, Any] = {**vars(owner)}
            for name, value in current.items():
                if name not in names:
                    delattr(owner, name)
                elif value is not names[name]:
                    setattr(owner, name, names[name])
        triton.knobs.runtime.interpret = interpret


def _rewritten(fn: Any) -> Any:
    return triton_module("triton.runtime.interpreter").InterpretedFunction(fn).rewrite()


def _widened(handle: Any, interpreter: Any, tl: Any) -> Any:
    if handle.dtype.scalar != tl.bfloat16:
        return handle
    return interpreter.TensorHandle(_from_bf16(handle.data), tl.float32)


def _from_bf16(data: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return (np.ascontiguousarray(data).astype(np.uint32) << 16).view(np.float32)


def _to_bf16(data: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    bits = np.ascontiguousarray(data, dtype=np.float32).view(np.uint32)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    # Rounding would carry a NaN's bits into the sign; a quiet NaN stays one.
    quiet = ((bits >> 16) | 0x40).astype(np.uint16)
    return np.where(np.isnan(data), quiet, rounded)


class _LanguageNames:
    """Stands for a function whose globals name ``triton.language`` and its core, which is all that the interpreter's
    patching looks at."""

    @property
    def __globals__(self) -> dict[str, Any]:
        language = triton_module("triton.language")
        return {"tl": language, "core": language.core}


_names_the_language = _LanguageNames()
