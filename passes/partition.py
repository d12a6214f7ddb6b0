"""``partition``: a large function as calls of connected convex subgraphs, equal ones once.

    func.func @main(%x: …, %w0: …, %w1: …) -> … {
      %0 = forge.matmul %x, %w0 : …
      %1 = forge.relu %0 : …
      %2 = forge.matmul %1, %w1 : …
      %3 = forge.relu %2 : …
      func.return %3 : …
    }

becomes, with ``limit=1`` and weights of one shape,

    func.func private @part0(%x: …, %w: …) -> … { … }
    func.func @main(%x: …, %w0: …, %w1: …) -> … {
      %0 = func.call @part0(%x, %w0) : …
      %1 = func.call @part0(%0, %w1) : …
      func.return %1 : …
    }

Cuts are where the least is read and written; a program that repeats itself is cut at each repetition first.
``inline-calls`` undoes it.
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
class PartitionPass(ModulePass):
    """Cuts ``@main`` into subgraphs of limited work, with the least traffic between them."""

    name = "partition"

    limit: int = 8
    """Products and reductions in a subgraph at most; one op may have more by itself."""
    statistics: bool = False
    """Print calls, distinct subgraphs and traffic on standard error."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from equiforge.partition.outline import outline
        from equiforge.partition.segments import CutPoints
        from equiforge.verify.interpreter import main_function

        if self.limit < 1:
            raise EquiforgeError(f"partition: limit {self.limit}, but a subgraph has at least weight 1")
        points = CutPoints(main_function(op))
        cut = points.cheapest(self.limit)
        result = outline(op, points, cut)
        if self.statistics:
            distinct = len(list(result.body.block.ops)) - 1
            print(f"// {len(cut.runs)} calls of {distinct} subgraphs, {cut.traffic} B", file=sys.stderr)
        replace_body(op, result)
