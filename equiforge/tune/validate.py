"""Validation of a candidate: its kernels are executed at reduced extents of the same form and compared with the
program's meaning.

The reference is the float64 interpreter on the same reduced program; what eager makes of it is what torch computes op
by op, in the types and with the sums of the program. Ragged tails are kept: a long dimension becomes two tiles and a
rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.ir import OpResult

from equiforge.errors import EquiforgeError

if TYPE_CHECKING:
    import torch
    from xdsl.dialects.builtin import ModuleOp

_TILE = 16
CASES = ("normal", "zeros")
"""Input cases of :mod:`equiforge.verify.compare` that every candidate must pass before it is called valid."""
_CANCELLING = "large_mean"
"""The input case on which Σx² − μ·Σx and its like lose digits that Σ(x−μ)² keeps."""
_FLOOR_STEPS = 8
"""Roundings that a result may be off by, however exact eager happens to be: sums of f32 in another order."""


@dataclass(frozen=True)
class Verdict:
    """``error`` is the largest relative L2 error over outputs and cases; ``reason`` says what failed."""

    passed: bool
    error: float
    reason: str | None = None


def to_tensor(array: np.ndarray[Any, Any], element: str) -> torch.Tensor:
    """A torch tensor of the element type (``bf16`` too, which NumPy lacks)."""
    import torch

    types = {
        "f64": torch.float64,
        "f32": torch.float32,
        "f16": torch.float16,
        "bf16": torch.bfloat16,
        "i1": torch.bool,
        "i8": torch.int8,
    }
    types |= {"i16": torch.int16, "i32": torch.int32, "i64": torch.int64}
    return torch.tensor(np.ascontiguousarray(array)).to(types[element])


def to_array(tensor: torch.Tensor) -> np.ndarray[Any, Any]:
    """Floats as float64, integers and booleans as they are."""
    import torch

    return (tensor.to(torch.float64) if tensor.is_floating_point() else tensor).numpy()


def _tensors(arrays: Sequence[np.ndarray[Any, Any]], types: Sequence[tuple[Sequence[int], str]]) -> list[torch.Tensor]:
    return [to_tensor(array, element) for array, (_, element) in zip(arrays, types, strict=True)]


def _eager(
    program: ModuleOp, inputs: Sequence[np.ndarray[Any, Any]], types: Sequence[tuple[Sequence[int], str]]
) -> list[np.ndarray[Any, Any]]:
    """What torch makes of a forge program; of one that is given as kernels, the interpreter with every value rounded to
    its storage type."""
    from equiforge.dialects import forge
    from equiforge.verify.eager import run_eagerly
    from equiforge.verify.interpreter import evaluate, main_function

    function = main_function(program)
    if all(op.name.startswith(f"{forge.Forge.name}.") or op.name == "func.return" for op in function.body.block.ops):
        return [to_array(result) for result in run_eagerly(function, _tensors(inputs, types))]
    return evaluate(program, inputs, rounding="storage")


def subtracts_mean(program: ModuleOp) -> bool:
    """True if a forge program subtracts a sum, scaled or not: algebra may make that a difference of large numbers."""
    from equiforge.dialects import forge

    for op in program.walk():
        value = op.operands[1] if isinstance(op, forge.SubOp) else None
        while isinstance(value, OpResult):
            owner = value.owner
            if isinstance(owner, forge.ReduceOp) and owner.reducer == "sum":
                return True
            passes = isinstance(owner, forge.DivOp | forge.MulOp | forge.CastOp | forge.ReshapeOp | forge.ExpandOp)
            value = owner.operands[0] if passes else None
    return False


def validate_candidate(
    program: ModuleOp, tiles: ModuleOp, seed: int = 0, cases: tuple[str, ...] | None = None
) -> Verdict:
    """Shrink ``program`` and its candidate ``tiles`` together, emit and interpret the kernels, and judge every output.

    The criterion is that of the project: no worse than twice eager in the same types, NaN and infinities where eager
    has them. ``cases`` are by default those of ``CASES``, and for a program that subtracts means one with large means.
    """
    from equiforge.codegen.build_kernels import build_kernels
    from equiforge.codegen.emit_triton import emit_triton
    from equiforge.codegen.run import run_interpreted
    from equiforge.codegen.schedule import apply_schedules
    from equiforge.dialects.tile_types import element_type_of
    from equiforge.verify.check_equiv import argument_types
    from equiforge.verify.compare import UNIT_ROUNDOFF, hostile_inputs, judge
    from equiforge.verify.interpreter import evaluate, main_function
    from equiforge.verify.shrink import shrink

    small, small_tiles = shrink(program, tiles, tile_size=_TILE)
    assert small_tiles is not None
    kernels = build_kernels(small_tiles)
    apply_schedules(kernels, "interpreter")
    source = emit_triton(kernels)
    types = argument_types(small)
    elements = [str(element_type_of(t)) for t in main_function(small).function_type.outputs.data]
    if cases is None:
        cases = (*CASES, _CANCELLING) if subtracts_mean(program) else CASES
    worst = 0.0
    for case, inputs in hostile_inputs(types, seed, cases=cases):
        expected = evaluate(small, inputs)
        eager = _eager(small, inputs, types)
        try:
            found = run_interpreted(source, _tensors(inputs, types))
        except EquiforgeError:
            raise
        except Exception as error:
            return Verdict(False, float("inf"), f"the emitted kernels failed on the {case} inputs: {error!r}")
        for number, (result, reference, rounded, element) in enumerate(
            zip(found, expected, eager, elements, strict=True)
        ):
            floor = _FLOOR_STEPS * UNIT_ROUNDOFF[element] if element in UNIT_ROUNDOFF else None
            report = judge(to_array(result), reference, element, rounded, floor)
            worst = max(worst, report.error_rel_l2)
            if not report.ok:
                return Verdict(False, worst, f"output {number} differs on the {case} inputs: {report}")
    return Verdict(True, worst)
