"""``cse``: of ops that compute the same, one stays; what is dead then goes.

    equiforge-opt -p cse program.mlir

    %1 = forge.mul %x, %two : tensor<4xf32>     %1 = forge.mul %x, %two : tensor<4xf32>
    %2 = forge.add %1, %five : tensor<4xf32>    %2 = forge.add %1, %five : tensor<4xf32>
    %3 = forge.mul %x, %two : tensor<4xf32>  →
    %4 = forge.sub %3, %one : tensor<4xf32>     %3 = forge.sub %1, %one : tensor<4xf32>
    %5 = forge.add %2, %4 : tensor<4xf32>       %4 = forge.add %2, %3 : tensor<4xf32>

Ops are equal when their name, operands (sorted where they commute), attributes, result types and regions are. Constants
compare by bits; discardable attributes don't count; source locations are fused. Random and opaque ops, and all others
not known to be pure, stay; ops that only read merge where nothing between them may write.

In ``equiforge-opt`` it takes the place of xDSL's pass of this name.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass


@dataclass(frozen=True)
class CsePass(ModulePass):
    """Common subexpression elimination, then dead code elimination."""

    name = "cse"

    across_functions: bool = False
    """Then outline equal subgraphs of several functions into one function that all of them call."""
    policy: str = "always"
    """Which merges are made: ``always``; ``never-longer``, none that makes any op hold more bytes; ``cost``, also those
    that save more operations and bytes moved than they add to the peak."""
    memory_budget: int | None = None
    """Bytes above which ``cost`` makes no merge that raises the peak."""
    statistics: bool = False
    """Print to standard error how many ops were seen, merged and dead, by name, and for each function its ops,
    operations, bytes moved and peak before and after."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from equiforge.cse.across import outline_equal
        from equiforge.cse.dead import eliminate_dead
        from equiforge.cse.eliminate import eliminate
        from equiforge.cse.policy import check_policy, figures, worthwhile

        check_policy(self.policy, self.memory_budget)
        before = figures(op) if self.statistics else {}
        if self.policy == "always":
            report = eliminate(op)
        else:
            eliminate_dead(op)
            chosen = worthwhile(op, self.policy, self.memory_budget)
            report = eliminate(op, lambda merge: merge.duplicate in chosen)
        shared = outline_equal(op) if self.across_functions else []
        dead = eliminate_dead(op)
        if self.statistics:
            print(f"// {report.ops} ops, {report.total} merged, {dead.total()} dead", file=sys.stderr)
            for name, count in sorted(report.merged.items(), key=lambda item: (-item[1], item[0])):
                print(f"// {count:7} merged {name}", file=sys.stderr)
            for item in shared:
                print(f"// @{item.name}: {item.ops} ops, called by {', '.join(item.callers)}", file=sys.stderr)
            for name, count in sorted(dead.items(), key=lambda item: (-item[1], item[0])):
                print(f"// {count:7} dead {name}", file=sys.stderr)
            after = figures(op)
            for name, found in before.items():
                print(f"// @{name} before: {found}", file=sys.stderr)
                if name in after:
                    print(f"// @{name} after: {after[name]}", file=sys.stderr)
