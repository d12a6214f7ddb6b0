"""One copy of what the kernels of a program compute alike, so that those that are merged share it.

A tile program may write the ops of each kernel out on its own, with reducers of their own names: three kernels that
store the maximum, the normalizer and the weighted sum of one rolling reduction hold that reduction three times. Here
equal reducers become one, then equal ops; a merged kernel then has one loop.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from equiforge.cse.eliminate import Merge, eliminate
from equiforge.dialects import tile
from equiforge.dialects.assembly import symbol_attr


def with_shared_ops(module: ModuleOp) -> ModuleOp:
    """A copy of a tile program in which equal ops are one; stores stay apart, as they are arrays of their own."""
    copy = module.clone()
    _share_reducers(copy)
    eliminate(copy, _is_no_store)
    return copy


def _is_no_store(merge: Merge) -> bool:
    return not isinstance(merge.duplicate, tile.StoreOp)


def _share_reducers(module: ModuleOp) -> None:
    """Reductions by equal reducers name the first of them."""
    first: list[tile.ReducerOp] = []
    instead: dict[str, str] = {}
    for op in list(module.ops):
        if not isinstance(op, tile.ReducerOp):
            continue
        same = next((other for other in first if _equal(op, other)), None)
        if same is None:
            first.append(op)
        else:
            instead[op.sym_name.data] = same.sym_name.data
            op.detach()
            op.erase()
    for op in module.walk():
        if isinstance(op, tile.ReduceOp) and op.is_rolling and op.reducer in instead:
            op.properties["reducer"] = symbol_attr(instead[op.reducer])


def _equal(a: tile.ReducerOp, b: tile.ReducerOp) -> bool:
    """True for reducers that differ in their names and certificates at most."""
    return a.identity_attr == b.identity_attr and all(
        x.is_structurally_equivalent(y) for x, y in zip(a.regions, b.regions, strict=True)
    )
