"""``rematerialize``: functions hold fewer bytes at their peak; values are computed again instead of kept.

    equiforge-opt -p 'rematerialize{memory-budget=49152}' program.mlir

    %m = forge.exp %x                          %m = forge.exp %x
    %a = forge.mul %m, %m                      %a = forge.mul %m, %m
    %b = forge.matmul %a, %w            →      %b = forge.matmul %a, %w
    …                                          …
    %y = forge.mul %b, %m                      %m2 = forge.exp %x
                                               %y = forge.mul %b, %m2

The order changes where dependences allow. Only ops without effects run twice: never draws of random numbers, nor opaque
calls. A budget that can't be met gives the lowest peak found, and a warning with the gap on standard error.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass


@dataclass(frozen=True)
class RematerializePass(ModulePass):
    """Fit functions into a memory budget by order and recomputation."""

    name = "rematerialize"

    memory_budget: int
    """Bytes that a function may hold at its peak, its arguments and results included."""
    donated: tuple[int, ...] = ()
    """Numbers of arguments that the caller gives up: their memory is free after their last use."""
    statistics: bool = False
    """Print ops, operations, bytes and peak before and after to standard error."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from equiforge.errors import EquiforgeError
        from equiforge.remat.rematerialize import rematerialize

        if self.memory_budget < 0:
            raise EquiforgeError(f"memory-budget={self.memory_budget}", hint="give a number of bytes")
        for function in [f for f in op.ops if isinstance(f, FuncOp) and not f.is_declaration]:
            name = function.sym_name.data
            wrong = [number for number in self.donated if number >= len(function.body.block.args)]
            if wrong:
                raise EquiforgeError(f"donated={wrong[0]}: @{name} has {len(function.body.block.args)} arguments")
            report = rematerialize(function, self.memory_budget, self.donated)
            if self.statistics:
                print(f"// @{name} before: {report.before}", file=sys.stderr)
                print(f"// @{name} after: {report.after}", file=sys.stderr)
                for again, count in sorted(report.again.items(), key=lambda item: (-item[1], item[0])):
                    print(f"// {count:7} again {again}", file=sys.stderr)
            if report.gap:
                print(
                    f"warning: @{name} needs {report.after.peak} bytes, {report.gap} more than "
                    f"memory-budget={self.memory_budget}; this is the lowest peak found",
                    file=sys.stderr,
                )
