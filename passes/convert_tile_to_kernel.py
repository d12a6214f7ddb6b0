"""``convert-tile-to-kernel``: from tile values to kernels that load, loop and store.

    %p = tile.reduce sum over axis(1) %x : (…) -> !tile.view<64x1xf32, [#tile.partial<@d0, sum>, …]>
    %s = tile.reduce sum over parallel(@d0) %p : (…) -> !tile.view<64x1xf32, [#tile.partition<@t0, 0>]>
    %c = tile.combine %s along 0 by @t0 : (…) -> tensor<64x1xf32>
    %y = tile.store %c : tensor<64x1xf32>

becomes

    kernel.func @y_kernel(%x: !kernel.ref<64x128xf32, [128, 1]>, %y: !kernel.ref<64x1xf32, [1, 1]>) grid [@t0] {
      %zero = kernel.fill 0.0 : !tile.view<64x1xf32, [#tile.partition<@t0, 0>]>
      %s = kernel.for @d0 iter_args(%acc = %zero) { … }
      kernel.store %s, %y : …
    }

With ``target``, every kernel gets its default schedule for that device.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from equiforge.passes.support import replace_body


@dataclass(frozen=True)
class ConvertTileToKernelPass(ModulePass):
    """Writes a tile program as kernels and the host program that launches them."""

    name = "convert-tile-to-kernel"

    target: str | None = None
    """Device or architecture (``h100``, ``sm_90``, ``interpreter``) whose default schedules the kernels get; none
    by default."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from equiforge.codegen.build_kernels import build_kernels
        from equiforge.codegen.schedule import apply_schedules

        built = build_kernels(op)
        if self.target is not None:
            apply_schedules(built, self.target)
        replace_body(op, built)
