"""``saturate``: the rules run on an ``equivalence.graph`` to a fixpoint or a limit; dependent reductions are fused.

    equiforge-opt -p convert-forge-to-egraph,saturate attention.mlir
    equiforge-opt -p 'convert-forge-to-egraph,saturate{without=repair,commute statistics=true}' attention.mlir

Classes gain e-nodes: after the run above the class of a matrix product also holds its tiled forms.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from equiforge.passes.support import replace_body


@dataclass(frozen=True)
class SaturatePass(ModulePass):
    """Equality saturation with egglog, and repair fusion of dependent reductions with SymPy."""

    name = "saturate"

    rules: tuple[str, ...] = ()
    """Only these rules or families run (``row-scale``, ``refinement`` …); all if empty."""
    without: tuple[str, ...] = ()
    """Rules or families that don't run."""
    max_nodes: int = 60_000
    """Stop when the e-graph holds this many e-nodes."""
    max_rounds: int = 60
    """Stop after this many iterations of a phase."""
    max_seconds: int = 60
    """Stop after the iteration in which this much time has passed."""
    statistics: bool = False
    """Print sizes and stop reason, matches and seconds of the rulesets and matches of the rules to standard error."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from equiforge.egraph.ir import from_module, to_module
        from equiforge.egraph.saturate import SaturationOptions, check_rule_names, saturate
        from equiforge.egraph.statistics import statistics_lines

        check_rule_names((*self.rules, *self.without))
        options = SaturationOptions(self.max_nodes, self.max_rounds, float(self.max_seconds), self.without, self.rules)
        graph, stats, repairs = saturate(from_module(op), options)
        if self.statistics:
            print("\n".join(f"// {line}" for line in statistics_lines(stats, repairs)), file=sys.stderr)
        elif not stats.saturated:
            print(f"warning: saturation stopped early: {stats.stop}", file=sys.stderr)
        replace_body(op, to_module(graph))
