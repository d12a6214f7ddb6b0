"""Values split into heads and merged again, for random programs: what the rules about reshapes rewrite.

They are idioms like those of :mod:`equiforge.verify.random_idioms`; of a value of more than three dimensions they make
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.ir import Operation, SSAValue

from equiforge.dialects import forge as f
from equiforge.dialects.tile_types import shape_of
from equiforge.verify.random_idioms import Made, Parts


def _exchanged(x: Any, rank: int, first: int) -> Operation:
    """The value with two neighbouring dimensions exchanged."""
    perm = [*range(first), first + 1, first, *range(first + 2, rank)]
    return f.TransposeOp(x, perm)


def _split(p: Parts, x: Any, heads: int, size: int) -> Operation:
    """A product with as many columns as all heads have, ``[…, rows, heads · size]``, as ``[…, heads, rows, size]``."""
    product = f.MatmulOp(x, p.matrix(p.shape[-1], heads * size))
    return _exchanged(f.ReshapeOp(product, [*p.shape[:-1], heads, size]), p.rank + 1, p.rows)


def _merged(p: Parts, x: SSAValue) -> Operation:
    """``[…, heads, rows, size]`` as ``[…, rows, heads · size]``."""
    *batch, heads, rows, size = shape_of(x.type)
    return f.ReshapeOp(_exchanged(x, p.rank + 1, p.rows), [*batch, rows, heads * size])


def _weights(p: Parts, scores: Operation) -> Operation:
    """Of magnitude at most 1: shares of a softmax, or tanh."""
    if p.pick(True, False):
        return f.TanhOp(scores)
    e = f.ExpOp(f.SubOp(scores, p.max(scores, p.rank)))
    return f.DivOp(e, p.sum(e, p.rank))


def heads(p: Parts) -> Made:
    """A product that is split into heads; in batches, or with rows first."""
    number, size = p.pick((2, 2), (2, 3), (3, 2))
    bound = 2 * p.most * p.shape[-1]
    match p.pick(0, 1, 2):
        case 0:
            return [(_split(p, p.v, number, size), bound)]
        case 1:
            return [(f.ReshapeOp(f.MatmulOp(p.v, p.weight(number * size)), [*p.shape[:-1], number, size]), bound)]
        case _:
            rows = f.MatmulOp(p.matrix(number * size, p.shape[-2]), p.v)
            shape = [*p.shape[:-2], number, size, p.shape[-1]]
            return [(f.ReshapeOp(rows, shape), 2 * p.most * p.shape[-2])]


def attention(p: Parts) -> Made:
    """Heads that look at others, merged and projected."""
    number, size = p.pick((2, 2), (2, 3), (3, 2))
    *batch, rows, _ = p.shape
    keys = p.source.argument([*batch, number, size, rows]).value
    weights = _weights(p, f.MatmulOp(_split(p, p.v, number, size), keys))
    values = p.source.argument([*batch, number, rows, size]).value
    merged = _merged(p, f.MatmulOp(weights, values).result)
    return [(f.MatmulOp(merged, p.matrix(number * size, 3)), 4.0 * rows * number * size)]


def gated_merge(p: Parts) -> Made:
    """Merged heads under a pointwise op, of a value of the same shape or with one dimension of size 1."""
    number, size = p.pick((2, 2), (2, 3), (3, 2))
    made = f.TanhOp(p.source.argument([*p.shape[:-2], number, p.shape[-2], size]).value)
    merged = _merged(p, made.result)
    shape = [*p.shape[:-1], number * size]
    shape[p.dim] = p.pick(shape[p.dim], 1)
    other = p.source.argument(shape).value
    op = p.pick(f.MulOp, f.SubOp, f.MaxOp)
    sides = p.pick((merged, other), (other, merged), (f.SigmoidOp(merged), other))
    return [(op(*sides), 3.0)]


def turned_merge(p: Parts) -> Made:
    """Two of three leading dimensions merged, then moved behind another one, and at times merged with the last."""
    number, size = p.pick((2, 2), (2, 3), (3, 2))
    *batch, rows, columns = p.shape
    made = f.TanhOp(p.source.argument([*batch, number, size, rows, columns]).value)
    merged = f.ReshapeOp(made, [*batch, number * size, rows, columns])
    turned = _exchanged(merged, p.rank + 1, p.rows)
    if p.pick(True, False):
        return [(turned, 1.0)]
    return [(f.ReshapeOp(turned, [*batch, rows, number * size * columns]), 1.0)]


def merged_contraction(p: Parts) -> Made:
    """A product over dimensions that are merged, of the left operand or of the right one."""
    number, size = p.pick((2, 2), (2, 3), (3, 2))
    *batch, rows, columns = p.shape
    if p.pick(True, False):
        left = f.TanhOp(p.source.argument([*batch, rows, number, size]).value)
        merged = f.ReshapeOp(left, [*batch, rows, number * size])
        return [(f.MatmulOp(merged, p.matrix(number * size, 3)), 2.0 * number * size)]
    right = f.TanhOp(p.source.argument([*batch, number, size, columns]).value)
    merged = f.ReshapeOp(right, [*batch, number * size, columns])
    return [(f.MatmulOp(p.matrix(2, number * size), merged), 2.0 * number * size)]


def repetition(p: Parts) -> Made:
    """Each position of a dimension several times, or the dimension as a whole, under a product on either side."""
    count, grown = p.pick(2, 3), p.dim + p.pick(0, 1)
    shape = list(p.shape)
    unit, wide = [*shape[:grown], 1, *shape[grown:]], [*shape[:grown], count, *shape[grown:]]
    shape[p.dim] *= count
    repeated = f.ReshapeOp(f.ExpandOp(f.ReshapeOp(f.TanhOp(p.v), unit), wide), shape)
    *batch, rows, columns = shape
    if p.pick(True, False):
        return [(f.MatmulOp(repeated, p.source.argument([*batch, columns, 3]).value), 2.0 * columns)]
    return [(f.MatmulOp(p.source.argument([*batch, 2, rows]).value, repeated), 2.0 * rows)]


def reduced(p: Parts) -> Made:
    """A reduction whose other dimensions are split or merged."""
    reducer = p.pick("sum", "max")
    if p.rank == 3 and p.pick(True, False):
        first, second, third = p.shape
        dim, shape = p.pick((2, [first * second, 1]), (0, [1, second * third]), (1, [first * third, 1]))
        return [(f.ReshapeOp(f.ReduceOp(reducer, p.v, dim), shape), p.most * p.shape[dim])]
    product = f.MatmulOp(p.v, p.weight(6))
    shape = [*p.shape[:-2], 1, *p.pick((2, 3), (3, 2))]
    return [(f.ReshapeOp(f.ReduceOp(reducer, product, p.rows), shape), 2 * p.most * p.shape[-1] * p.shape[-2])]


def _few_dimensions(idiom: Callable[[Parts], Made]) -> Callable[[Parts], Made]:
    return lambda p: idiom(p) if p.rank <= 3 else []


RESHAPES: Sequence[Callable[[Parts], Made]] = tuple(
    map(_few_dimensions, (heads, heads, attention, gated_merge, turned_merge, merged_contraction, repetition, reduced))
)
"""The idioms about reshapes of computed values."""
