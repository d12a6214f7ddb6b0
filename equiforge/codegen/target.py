"""``-t triton``: a kernel graph printed as a Triton module."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target


@dataclass(frozen=True)
class TritonTarget(Target):
    """Emits a standalone Triton module; kernels without a schedule get the default one of ``device``."""

    name = "triton"

    device: str = "h100"
    """Device or architecture (``a100``, ``sm_90``, ``interpreter`` …) of the default schedules."""

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        from equiforge.codegen.emit_triton import emit_triton
        from equiforge.codegen.schedule import apply_schedules
        from equiforge.dialects.kernel import functions_of

        if any(function.schedule is None for function in functions_of(module)):
            apply_schedules(module, self.device)
        output.write(emit_triton(module))
