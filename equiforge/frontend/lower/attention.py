"""``scaled_dot_product_attention``: scores and probabilities in f32, masks as selects, no repeated key or value."""

from __future__ import annotations

import math

from xdsl.dialects.builtin import i1

from equiforge.frontend.builder import Builder, Value, element_of, rank_of, shape_of
from equiforge.frontend.dtypes import compute_type
from equiforge.frontend.grouping import repetition, split_value
from equiforge.frontend.lower.creation import positions
from equiforge.frontend.lower.softmax import softmax_of
from equiforge.frontend.lower.structure import swapped
from equiforge.frontend.table import lowers


def _masked(b: Builder, scores: Value, mask: Value) -> Value:
    mask = b.align(mask, rank_of(scores))
    if element_of(mask) == i1:
        return b.select(mask, scores, -math.inf)
    return b.add(scores, b.cast(mask, element_of(scores)))


def _grouped(b: Builder, x: Value, dim: int, heads: int, group: int) -> Value:
    """Split a head dimension into (key/value head, member of its group); a broadcast one becomes (1, 1)."""
    shape = shape_of(x)
    split = (1, 1) if shape[dim] == 1 else (heads, group)
    return b.reshape(x, (*shape[:dim], *split, *shape[dim + 1 :]))


@lowers("scaled_dot_product_attention.default")
def attention(
    b: Builder,
    query: Value,
    key: Value,
    value: Value,
    mask: Value | None = None,
    dropout: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Value:
    """softmax(scale · q kᵀ + mask) v. The causal mask is aligned top-left: query i sees keys 0..i.

    A row whose scores are all -inf is 0, whether a mask hides it or the inputs hold infinities. Grouped queries get a
    group dimension of their own, in which keys and values have size 1.
    """
    if dropout:
        b.refuse("attention with dropout draws random numbers", "pass dropout_p=0.0, or call model.eval()")
    rank = max(rank_of(query), rank_of(key), rank_of(value))
    query, key, value = (b.align(x, rank) for x in (query, key, value))
    group = 1
    if enable_gqa and rank >= 3:
        group = shape_of(query)[-3] // shape_of(key)[-3]
    elif (split := repetition(key)) is not None and split == repetition(value) and split.dim == rank - 3:
        # Heads repeated by hand are groups too.
        group = split.inner
        key, value = (b.squeeze_dims(b.peel(split_value(b, x, split, {})), [rank - 2]) for x in (key, value))
    if group > 1:
        if shape_of(key)[-3] != shape_of(value)[-3]:
            b.refuse(
                "grouped attention whose keys and values have different head counts", "give them equal head counts"
            )
        dim, heads = rank - 3, shape_of(key)[-3]
        query = _grouped(b, query, dim, heads, group)
        key, value = (b.reshape(x, (*shape_of(x)[: dim + 1], 1, *shape_of(x)[dim + 1 :])) for x in (key, value))
        if mask is not None:
            mask = _grouped(b, b.align(mask, rank), dim, heads, group)
        rank += 1
    if 0 in (shape_of(query)[-1], shape_of(key)[-2]):
        return b.full(0, b.out.shape, b.out.element_type)
    kind = compute_type(element_of(query))
    scores = b.matmul(query, b.transpose(key, swapped(rank, -1, -2)), kind if kind != element_of(query) else None)
    scores = b.mul(scores, 1.0 / math.sqrt(shape_of(query)[-1]) if scale is None else scale)
    if is_causal:
        row, column = positions(b, rank, shape_of(scores)[-2], shape_of(scores)[-1])
        scores = b.select(b.compare("ge", row, column), scores, -math.inf)
    if mask is not None:
        scores = _masked(b, scores, mask)
    weights = b.cast(softmax_of(b, scores, rank - 1), element_of(value))
    result = b.matmul(weights, value)
    unseen = b.compare("eq", b.reduce("max", scores, [rank - 1]), -math.inf)
    result = b.select(unseen, 0.0, result)
    return b.reshape(result, b.out.shape)
