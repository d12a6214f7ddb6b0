"""``inline-calls``: the composition of subgraphs, at the forge or the tile level.

    func.func private @part0(%a: …) -> … { %b = forge.relu %a : …  func.return %b : … }
    func.func @main(%x: …) -> … {
      %0 = func.call @part0(%x) : …
      func.return %0 : …
    }

becomes

    func.func @main(%x: …) -> … {
      %b = forge.relu %x : …
      func.return %b : …
    }

Calls in called functions are replaced as well; functions that are not called any more go away.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.passes import ModulePass

from equiforge.errors import EquiforgeError


@dataclass(frozen=True)
class InlineCallsPass(ModulePass):
    """Replaces every call in ``@main`` by the ops of the function that it calls."""

    name = "inline-calls"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from equiforge.partition.compose import inline_call
        from equiforge.verify.interpreter import main_function

        functions = {f.sym_name.data: f for f in op.body.block.ops if isinstance(f, FuncOp)}
        main = main_function(op)
        # A chain of calls longer than the number of functions comes back to one of them.
        for _ in range(len(functions) + 1):
            calls = [c for c in main.body.block.ops if isinstance(c, CallOp)]
            if not calls:
                break
            for call in calls:
                name = call.callee.string_value()
                callee = functions.get(name)
                if callee is None or not callee.body.blocks:
                    raise EquiforgeError(f"inline-calls: @{main.sym_name.data} calls @{name}, which has no body here")
                inline_call(call, callee)
        else:
            raise EquiforgeError("inline-calls: the functions call each other in a circle")
        for function in functions.values():
            if function is not main:
                function.detach()
                function.erase()
