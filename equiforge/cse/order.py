"""The order in which ops are visited: definitions before uses, and blocks after those that dominate them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import rustworkx as rx
from xdsl.ir import Block, Operation, Region


@dataclass(frozen=True)
class BlockTree:
    """The blocks of a region by dominance: the entry, the blocks that each dominates immediately, and those that
    control never reaches."""

    entry: Block | None
    children: dict[Block, list[Block]]
    unreachable: tuple[Block, ...]


def dominator_tree(region: Region) -> BlockTree:
    """Who dominates whom among the blocks of a region; what nobody reaches stands apart."""
    if region.first_block is region.last_block:
        return BlockTree(region.first_block, {}, ())
    blocks = list(region.blocks)
    place = {block: number for number, block in enumerate(blocks)}
    graph: rx.PyDiGraph[None, None] = rx.PyDiGraph(multigraph=False)
    graph.add_nodes_from([None] * len(blocks))
    for block in blocks:
        if block.last_op is not None:
            for successor in block.last_op.successors:
                if successor in place:
                    graph.add_edge(place[block], place[successor], None)
    above = rx.immediate_dominators(graph, 0)
    children: dict[Block, list[Block]] = {}
    unreachable: list[Block] = []
    for block in blocks[1:]:
        dominator = above.get(place[block])
        if dominator is None:
            unreachable.append(block)
        else:
            children.setdefault(blocks[dominator], []).append(block)
    return BlockTree(blocks[0], children, tuple(unreachable))


def ordered_ops(block: Block) -> tuple[Sequence[Operation], bool]:
    """The ops of a block with definitions before uses, and whether it is a graph region, where uses may come first.

    A block in which nothing is used before it is defined keeps its order. Ops of a cycle keep theirs.
    """
    ops = list(block.ops)
    place: dict[Operation | Block, int] = {op: number for number, op in enumerate(ops)}
    # Of ops that stand elsewhere, and of arguments, the place does not matter.
    uses: list[tuple[int, int]] = []
    for number, op in enumerate(ops):
        for operand in op.operands:
            defined = place.get(operand.owner)
            if defined is not None:
                uses.append((defined, number))
    if all(defined < number for defined, number in uses):
        return ops, False
    graph: rx.PyDiGraph[None, None] = rx.PyDiGraph(multigraph=False)
    graph.add_nodes_from([None] * len(ops))
    graph.add_edges_from_no_data(uses)
    order: list[int] = []
    for component in reversed(rx.strongly_connected_components(graph)):
        order.extend(sorted(component))
    return [ops[number] for number in order], True
