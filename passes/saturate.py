"""``saturate``: the rules run on an ``equivalence.graph`` to a fixpoint or a limit; dependent reductions are fused.

    equiforge-opt -p convert-forge-to-egraph,saturate attention.mlir
    equiforge-opt -p 'convert-forge-to-egraph,saturate{without=repair,commute statistics=true}' attention.mlir
    equiforge-opt -p 'convert-forge-to-egraph,saturate{explain="%y","mul(matmul(%x, %w), %s)"}' scaled.mlir

Classes gain e-nodes: after the run above the class of a matrix product also holds its tiled forms.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from equiforge.errors import EquiforgeError
from equiforge.passes.support import replace_body

if TYPE_CHECKING:
    from equiforge.egraph.engine import SaturationOptions
    from equiforge.egraph.graph import EGraph


def explain_values(graph: EGraph, options: SaturationOptions, values: tuple[str, ...]) -> None:
    """Prints the chain of rules between two values to standard error. Raises EquiforgeError if there is none."""
    from equiforge.egraph.explain import Explainer, step_text
    from equiforge.egraph.trace import trace

    if len(values) != 2:
        raise EquiforgeError(f"explain takes two values, not {len(values)}", hint='saturate{explain="%a","%b"}')
    explainer = Explainer(trace(graph, options))
    steps = explainer.explained(explainer.chain(*map(explainer.resolve, values)))
    print(f"// {values[0]} = {values[1]} in {len(steps)} steps", file=sys.stderr)
    for number, step in enumerate(steps, 1):
        print(step_text(number, step), end="", file=sys.stderr)


@dataclass(frozen=True)
class SaturatePass(ModulePass):
    """Equality saturation with egglog, and repair fusion of dependent reductions with SymPy."""

    name = "saturate"

    rules: tuple[str, ...] = ()
    """Only these rules or families run (``row-scale``, ``refinement`` …); all if empty."""
    without: tuple[str, ...] = ()
    """Rules, rulesets or families that don't run."""
    max_nodes: int = 60_000
    """Stop when the e-graph holds this many e-nodes."""
    max_rounds: int = 60
    """Stop after this many iterations of a phase."""
    max_seconds: int = 60
    """Stop after the iteration in which this much time has passed."""
    statistics: bool = False
    """Print sizes and stop reason, matches and seconds of the rulesets and matches of the rules to standard error."""

    explain: tuple[str, ...] = ()
    """Print to standard error the chain of rules that makes two values equal. Each is an SSA name or a source location
    of the program, or a term: ``"div(matmul(%p, %v), %l)"``."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from equiforge.egraph.ir import from_module, to_module
        from equiforge.egraph.saturate import SaturationOptions, saturate
        from equiforge.egraph.statistics import statistics_lines

        options = SaturationOptions(self.max_nodes, self.max_rounds, float(self.max_seconds), self.without, self.rules)
        if self.explain:
            explain_values(from_module(op), options, self.explain)
        graph, stats, repairs = saturate(from_module(op), options)
        if self.statistics:
            print("\n".join(f"// {line}" for line in statistics_lines(stats, repairs)), file=sys.stderr)
        elif not stats.saturated:
            print(f"warning: saturation stopped early: {stats.stop}", file=sys.stderr)
        replace_body(op, to_module(graph))
