"""One copy of what the kernels of a program compute alike, so that those that are merged share it.

A tile program may write the ops of each kernel out on its own, with reducers of their own names: three kernels that
store the maximum, the normalizer and the weighted sum of one rolling reduction hold that reduction three times. Here
equal reducers become one, then equal ops; a merged kernel then has one loop.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, SSAValue

from equiforge.codegen.sources import under_layouts
from equiforge.cse.eliminate import Merge, eliminate
from equiforge.dialects import tile
from equiforge.dialects.assembly import symbol_attr


def with_shared_ops(module: ModuleOp) -> ModuleOp:
    """A copy of a tile program in which equal ops are one: a value that two kernels would store is stored once.

    Results of the program are arrays of their own, so two of them stay two stores.
    """
    copy = module.clone()
    _share_reducers(copy)
    results = {store for store in map(_stored, _returned(copy)) if store is not None}

    def decide(merge: Merge) -> bool:
        if merge.duplicate not in results:
            return True
        if merge.survivor in results:
            return False
        results.add(merge.survivor)
        return True

    eliminate(copy, decide)
    return copy


def _returned(module: ModuleOp) -> list[SSAValue]:
    return [value for op in module.walk() if isinstance(op, ReturnOp) for value in op.operands]


def _stored(value: SSAValue) -> Operation | None:
    """The store that a result is, or that it is a view of."""
    value = under_layouts(value)
    return value.owner if isinstance(value.owner, tile.StoreOp) else None


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
