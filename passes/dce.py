"""``dce``: ops that nobody needs go.

    equiforge-opt -p dce program.mlir

    %a = forge.exp %x : tensor<4xf32>
    %r = forge.random uniform : tensor<4xf32>      →      %r = forge.random uniform : tensor<4xf32>
    func.return %x : tensor<4xf32>                        func.return %x : tensor<4xf32>

What may write, draws a random number or isn't known stays, and with it all that it uses.

In ``equiforge-opt`` it takes the place of xDSL's pass of this name.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass


@dataclass(frozen=True)
class DcePass(ModulePass):
    """Dead code elimination."""

    name = "dce"

    statistics: bool = False
    """Print to standard error how many ops were dead, by name."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from equiforge.cse.dead import eliminate_dead

        dead = eliminate_dead(op)
        if self.statistics:
            for name, count in sorted(dead.items(), key=lambda item: (-item[1], item[0])):
                print(f"// {count:7} dead {name}", file=sys.stderr)
