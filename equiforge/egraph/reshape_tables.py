"""Tables of the rules that move reshapes to operands: which shape an operand takes, and the types that result."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from equiforge.analysis.dim_rules import reshape_blocks
from equiforge.dialects.inference import surviving_dims
from equiforge.egraph.graph import EGraph

Dims = tuple[int, ...]
_MOST_PAIRS = 200


class Reshaped(NamedTuple):
    """A reshape by its types: of the operand, the target shape, and of the result."""

    operand: Dims
    target: Dims
    result: Dims


class ReshapeTables:
    """The reshapes of a program, and those that they become on operands that are broadcast or gathered.

    ``known`` are types that operands may have; a type is a shape, then a group for each dimension.
    """

    def __init__(self, graph: EGraph, known: Iterable[Dims]):
        self.known = set(known)
        self.pairs: dict[tuple[Dims, Dims], Reshaped] = {}
        self.operands: dict[tuple[Dims, Dims, Dims], Reshaped] = {}
        work: list[Reshaped] = []
        for class_id, nodes in graph:
            for node in nodes:
                if node.op == "reshape":
                    before, after = graph.types[node.children[0]], graph.types[class_id]
                    work.append(Reshaped((*before.shape, *before.groups), after.shape, (*after.shape, *after.groups)))
        while work and len(self.pairs) < _MOST_PAIRS:
            pair = work.pop(0)
            if pair[:2] not in self.pairs:
                self.pairs[pair.operand, pair.target] = pair
                work.extend(self._on_operands(pair))

    @property
    def types(self) -> set[Dims]:
        """Types of reshaped operands."""
        return {p.result for p in (*self.pairs.values(), *self.operands.values())}

    def _on_operands(self, pair: Reshaped) -> list[Reshaped]:
        rank = len(pair.operand) // 2
        place = {old: new for new, old in surviving_dims(pair.operand[:rank], pair.target).items()}
        found: list[Reshaped] = []
        for other in sorted(self.known):
            if len(other) != len(pair.operand):
                continue
            broadcast = _broadcast(pair, other)
            if broadcast is not None:
                self.operands[pair.operand, pair.target, other] = broadcast
                if any(n != 1 for n in broadcast.target):
                    found.append(broadcast)
            differing = [d for d in range(rank) if other[d] != pair.operand[d]]
            if len(differing) == 1 and differing[0] in place and other[differing[0]] != 1:
                found.append(_replaced(pair, other, differing[0], place[differing[0]]))
        return found

    def lines(self) -> list[str]:
        """The tables as egglog text."""
        lines: list[str] = []
        for (operand, target), pair in sorted(self.pairs.items()):
            rank = len(operand) // 2
            for new, old in surviving_dims(operand[:rank], target).items():
                lines.append(f"(set (survives {_vec(operand)} {_vec(target)} {new}) {old})")
            merged = _merged(operand[:rank], target)
            if merged is not None:
                lines.append(f"(set (merged {_vec(operand)} {_vec(target)}) {merged})")
            for key, broadcast in sorted(self.operands.items()):
                if key[:2] == (pair.operand, pair.target):
                    left = " ".join(map(_vec, key))
                    lines.append(f"(set (reshaped {left}) {_vec(broadcast.target)})")
                    lines.append(f"(set (reshaped-type {left}) {_vec(broadcast.result)})")
        return lines


def _vec(values: Dims) -> str:
    return f"(vec-of {' '.join(map(str, values))})" if values else "(vec-empty)"


def _broadcast(pair: Reshaped, other: Dims) -> Reshaped | None:
    """The reshape of an operand that is broadcast to the pair's; None if a run that is split or merged is whole in
    some of its dimensions only."""
    rank, wide = len(other) // 2, len(pair.target)
    for dim in range(rank):
        same = (other[dim], other[rank + dim]) == (pair.operand[dim], pair.operand[rank + dim])
        if not same and other[dim] != 1:
            return None
    shape, groups = [1] * wide, [-1] * wide
    for olds, news in reshape_blocks(pair.operand[:rank], pair.target):
        whole = [other[d] != 1 for d in olds]
        if any(whole) and not all(whole):
            return None
        if all(whole):
            for new in news:
                shape[new], groups[new] = pair.target[new], pair.result[wide + new]
    return Reshaped(other, tuple(shape), (*shape, *groups))


def _replaced(pair: Reshaped, other: Dims, old: int, new: int) -> Reshaped:
    """The reshape where a dimension that survives has another extent and group."""
    rank, wide = len(other) // 2, len(pair.target)
    result = list(pair.result)
    result[new], result[wide + new] = other[old], other[rank + old]
    return Reshaped(other, tuple(result[:wide]), tuple(result))


def _merged(shape: Dims, target: Dims) -> int | None:
    """The dimension of two elements that a reshape merges with the one before it, if it does nothing else."""
    for dim in range(1, len(shape)):
        if shape[dim] == 2 and target == (*shape[: dim - 1], 2 * shape[dim - 1], *shape[dim + 1 :]):
            return dim
    return None
