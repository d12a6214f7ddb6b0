"""Products with repeated heads, written ``q @ k.repeat_interleave(g, 1)`` or with expand and reshape.

A repeated operand is a reshape that merges a broadcast of a batch dimension: ``[b, kv, 1->g, s, d]`` into
``[b, kv*g, s, d]``. The product is computed with the dimension split instead, where the repeated operand has size 1
and nothing is repeated in memory. The other operand is split too, through the pointwise ops and reductions that made
it, down to where its own split dimension was merged: softmax between two such products keeps no reshape.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from equiforge.dialects import forge
from equiforge.frontend.builder import POINTWISE, Builder, Value, rank_of, shape_of


@dataclass(frozen=True)
class Split:
    """Dimension ``dim`` of size ``outer * inner`` in two."""

    dim: int
    outer: int
    inner: int

    def shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape with the dimension split; a broadcast dimension becomes two."""
        sizes = (1, 1) if shape[self.dim] == 1 else (self.outer, self.inner)
        return (*shape[: self.dim], *sizes, *shape[self.dim + 1 :])


def repetition(value: Value) -> Split | None:
    """How a batch dimension of a product's operand came from a broadcast, if it did."""
    owner = value.owner
    while isinstance(owner, forge.TransposeOp):
        batch = rank_of(value) - 2
        if tuple(owner.perm[:batch]) != tuple(range(batch)):
            return None
        owner = owner.operands[0].owner
    if not isinstance(owner, forge.ReshapeOp) or not isinstance(owner.operands[0].owner, forge.ExpandOp):
        return None
    merged, grown = shape_of(owner.results[0]), shape_of(owner.operands[0])
    source = shape_of(owner.operands[0].owner.operands[0])
    for dim in range(len(merged) - 2):
        split = Split(dim, *grown[dim : dim + 2])
        if split.outer * split.inner != merged[dim] or split.shape(merged) != grown or split.inner == 1:
            continue
        if source == (*grown[: dim + 1], 1, *grown[dim + 2 :]):
            return split
    return None


def split_value(b: Builder, value: Value, split: Split, done: dict[Value, Value]) -> Value:
    """The value with the dimension split, computed on split operands where it is pointwise or a reduction."""
    if value in done:
        return done[value]
    owner, shape = value.owner, shape_of(value)
    new = split.shape(shape)
    if isinstance(owner, POINTWISE) and shape[split.dim] != 1 and b.constant_value(value) is None:
        made = b.again(owner, [split_value(b, operand, split, done) for operand in owner.operands])
    elif isinstance(owner, forge.ReduceOp) and owner.dim != split.dim:
        inner = split_value(b, owner.operands[0], split, done)
        with b.located_as(owner):
            made = b.reduce(owner.reducer, inner, [owner.dim + (owner.dim > split.dim)])
    elif isinstance(owner, forge.ExpandOp) and shape_of(owner.operands[0])[split.dim] == shape[split.dim]:
        made = b.expand(split_value(b, owner.operands[0], split, done), new)
    elif isinstance(owner, forge.TransposeOp) and owner.perm[split.dim] == split.dim:
        inner = split_value(b, owner.operands[0], split, done)
        with b.located_as(owner):
            made = b.transpose(inner, _split_perm(owner.perm, split.dim))
    else:
        made = b.reshape(value, new)
    done[value] = made
    return made


def _split_perm(perm: tuple[int, ...], dim: int) -> list[int]:
    moved = [place + (place > dim) for place in perm]
    return [*moved[: dim + 1], dim + 1, *moved[dim + 1 :]]


def grouped_product(b: Builder, x: Value, y: Value) -> tuple[Value, Value, Split] | None:
    """Both operands of one rank with the repeated batch dimension split, or None where none is repeated."""
    if min(rank_of(x), rank_of(y)) < 3 or rank_of(x) != rank_of(y):
        return None
    for value, other in ((y, x), (x, y)):
        split = repetition(value)
        if split is None or shape_of(other)[split.dim] not in (1, split.outer * split.inner):
            continue
        slim, full = split_value(b, value, split, {}), split_value(b, other, split, {})
        return (full, slim, split) if value is y else (slim, full, split)
    return None


def merged_shape(shape: tuple[int, ...], split: Split) -> tuple[int, ...]:
    """A split shape with the two dimensions merged again."""
    return (*shape[: split.dim], math.prod(shape[split.dim : split.dim + 2]), *shape[split.dim + 2 :])
