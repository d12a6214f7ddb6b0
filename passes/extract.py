"""``extract``: one complete program out of a saturated ``equivalence.graph``, as a tile function.

    equiforge-opt -p 'convert-forge-to-egraph,saturate,extract{target=a100 candidate=1}' attention.mlir

The candidates stand in the order of their estimated time on the target; the function's ``tile.store`` ops are its
kernels. ``statistics`` lists
all candidates on standard error.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from equiforge.errors import EquiforgeError
from equiforge.passes.support import replace_body


@dataclass(frozen=True)
class ExtractPass(ModulePass):
    """Early-compacted, best-first extraction of executable programs."""

    name = "extract"

    candidate: int = 0
    """Number of the candidate in the order of the estimates."""
    target: str = "h200"
    """Device whose description ranks the candidates."""
    strategy: str = "early"
    """When equal partial programs are merged: early, after (completion) or none."""
    kernels: int = 0
    """Only candidates of this many kernels; 0 for any."""
    max_states: int = 50_000
    """Partial programs expanded at most."""
    statistics: bool = False
    """List the candidates and the counters on standard error."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from equiforge.egraph.ir import from_module
        from equiforge.search.extract import ExtractOptions, extract
        from equiforge.search.to_tile import to_tile

        if self.strategy not in ("early", "after", "none"):
            raise EquiforgeError(f"unknown strategy {self.strategy}", hint="early, after or none")
        graph = from_module(op)
        options = ExtractOptions(strategy=self.strategy, target=self.target, max_states=self.max_states)
        found = extract(graph, options)
        chosen = [c for c in found.candidates if self.kernels in (0, c.launches)]
        if self.statistics:
            for position, item in enumerate(chosen):
                print(
                    f"// {position:3}: {item.launches} kernels, {item.bytes} B, "
                    f"{item.flops} flop, {item.estimate_us:.2f} us {item.signature}",
                    file=sys.stderr,
                )
            print(f"// {found.stats}", file=sys.stderr)
        if self.candidate >= len(chosen):
            raise EquiforgeError(
                f"there is no candidate {self.candidate}: extraction found {len(chosen)}",
                hint="extract{statistics=true} lists them",
            )
        replace_body(op, to_tile(graph, chosen[self.candidate]))
