"""``convert-forge-to-egraph``: a forge function becomes an e-graph with one class an op.

    %e = forge.exp %x : tensor<64x128xf32>

becomes, inside an ``equiforge``-readable ``equivalence.graph``,

    %c0 = equivalence.class %x {groups = array<i64: 0, 1>} : tensor<64x128xf32>
    %0 = forge.exp %c0 : tensor<64x128xf32>
    %c1 = equivalence.class %0 {groups = array<i64: 0, 1>, narrow = "f32", wide = "f32"} : tensor<64x128xf32>

The module also gets the axes: one for each group of dimensions that a kernel may cut.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from equiforge.passes.support import replace_body


@dataclass(frozen=True)
class ConvertForgeToEgraphPass(ModulePass):
    """Turns the one function of a forge module into an e-graph."""

    name = "convert-forge-to-egraph"

    whole_extent: int = 256
    """Reduced dimensions up to this extent get no axis: a tile holds them whole."""
    split_extent: int = 2048
    """Reduced dimensions from this extent on get a second, outer axis, for partial results of slices."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from equiforge.egraph.encode import encode
        from equiforge.egraph.ir import to_module

        replace_body(op, to_module(encode(op, self.whole_extent, self.split_extent)))
