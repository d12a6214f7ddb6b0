"""Dead code elimination: ops that nobody needs are erased.

    %a = forge.exp %x : tensor<4xf32>
    %r = forge.random uniform : tensor<4xf32>      ->      %r = forge.random uniform : tensor<4xf32>
    func.return %x : tensor<4xf32>                         func.return %x : tensor<4xf32>

Needed is what may write, terminators, symbols, what a needed op uses, and the op around a needed one. So cycles of a
graph region that nobody reads go as well, and blocks that control does not reach. ``forge.random`` stays: without a
draw the next one would differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from xdsl.ir import Block, Operation, Region

from equiforge.cse.effects import EffectTable, collector_paused, erase


def eliminate_dead(root: Operation) -> Counter[str]:
    """Erase the dead ops in what ``root`` holds; returns how many of each name. Linear, and without recursion."""
    with collector_paused():
        return _erase_dead(root)


def _erase_dead(root: Operation) -> Counter[str]:
    live = _live(root)
    dead: list[Operation] = []
    blocks: list[Block] = []
    stack: list[Operation] = [root]
    while stack:
        for region in stack.pop().regions:
            for block in region.blocks:
                inside = list(block.ops)
                dead += [op for op in inside if op not in live]
                stack += [op for op in inside if op.regions and op in live]
                if block is not region.first_block and not any(op in live for op in inside):
                    blocks.append(block)
    # Ops of a cycle use each other, so all let go before the first is erased.
    for op in dead:
        op.operands = []
    gone: Counter[str] = Counter(op.name for op in dead)
    for op in reversed(dead):
        erase(op)
    for block in blocks:
        region = block.parent
        assert region is not None
        region.erase_block(block)
    return gone


def _live(root: Operation) -> set[Operation]:
    effects = EffectTable()
    live = {root}
    stack = [root]
    while stack:
        op = stack.pop()
        needed = [operand.owner for operand in op.operands]
        for region in op.regions:
            for block in _reached(region):
                needed += [inner for inner in block.ops if not effects.removable(inner)]
        for owner in needed:
            if isinstance(owner, Operation) and owner not in live:
                live.add(owner)
                stack.append(owner)
    return live


def _reached(region: Region) -> Iterable[Block]:
    """The blocks that control reaches from the entry."""
    first = region.first_block
    if first is None:
        return ()
    reached = {first: None}
    stack = [first]
    while stack:
        last = stack.pop().last_op
        for successor in last.successors if last is not None else ():
            if successor not in reached:
                reached[successor] = None
                stack.append(successor)
    return reached
