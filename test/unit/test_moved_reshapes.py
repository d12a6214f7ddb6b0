"""Reshapes moved to the operands of products, reductions and repetitions, against torch in float64.

Elements are small integers, so that sums are exact in every order and both sides are equal, not close.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from equiforge.dialects.forge import Places
from equiforge.egraph.moved_reshapes import (
    moved_reduction,
    moved_reshape,
    repetition,
    split_contraction,
    transposed_merge,
)

Dims = tuple[int, ...]


def numbered(shape: Dims) -> torch.Tensor:
    """Integers that no exchange of dimensions leaves in place."""
    count = math.prod(shape)
    return ((torch.arange(count, dtype=torch.float64) * 37 + 11) % 101).reshape(shape)


def typed(shape: Dims, first: int = 0) -> Dims:
    """The type of a shape; each dimension larger than 1 has a group of its own, from ``first`` on."""
    return (*shape, *(first + d if n != 1 else -1 for d, n in enumerate(shape)))


def permuted(type_: Dims, perm: Dims) -> Dims:
    rank = len(perm)
    return (*(type_[p] for p in perm), *(type_[rank + p] for p in perm))


@st.composite
def grouped(draw: st.DrawFn, factors: Sequence[int], least: int = 1) -> Dims:
    """A shape of ``least`` to four dimensions that are products of neighbouring factors; some have size 1."""
    cuts = draw(st.lists(st.integers(0, len(factors)), min_size=least - 1, max_size=3))
    ends = [0, *sorted(cuts), len(factors)]
    return tuple(math.prod(factors[a:b]) for a, b in itertools.pairwise(ends))


@st.composite
def reshapes(draw: st.DrawFn) -> tuple[Dims, Dims]:
    """A shape of two to four dimensions, and another one of as many elements."""
    factors = draw(st.lists(st.sampled_from((2, 2, 3)), min_size=1, max_size=5))
    return draw(grouped(factors, 2)), draw(grouped(factors))


def consistent(type_: Dims) -> bool:
    """Whether exactly the dimensions of size 1 have no group."""
    rank = len(type_) // 2
    return all((n == 1) == (g == -1) for n, g in zip(type_[:rank], type_[rank:], strict=True))


@given(reshapes(), st.data())
def test_a_reshape_of_a_product_moves_to_its_operands(case: tuple[Dims, Dims], data: st.DataObject) -> None:
    shape, target = case
    *batch, m, n = shape
    k = data.draw(st.sampled_from((1, 4)))
    sides = [data.draw(st.sampled_from(((True, True), (True, False), (False, True)))) for _ in batch]
    a_shape = (*(e if left else 1 for e, (left, _) in zip(batch, sides, strict=True)), m, k)
    b_shape = (*(e if right else 1 for e, (_, right) in zip(batch, sides, strict=True)), k, n)
    a, b, result = typed(a_shape), typed(b_shape), typed(target, 100)
    moved = moved_reshape(typed(shape), result, a, b)
    if moved is None:
        return
    left, right = numbered(a_shape), numbered(b_shape)
    product = left.reshape(moved.left) @ right.reshape(moved.right).permute(moved.perm)
    assert torch.equal(product.permute(moved.order), (left @ right).reshape(target))
    wide = len(target)
    assert moved.left_type[:wide] == moved.left and moved.right_type[:wide] == moved.right
    assert all(map(consistent, (moved.left_type, moved.right_type, moved.permuted_type, moved.product_type)))
    assert permuted(moved.right_type, moved.perm) == moved.permuted_type
    assert permuted(moved.product_type, moved.order) == result
    assert moved.product_type[:wide] == tuple(product.shape)
    assert moved.left_type[-1] == moved.permuted_type[-2], "the contraction has one group"


SPLITS = [
    ((6, 12), (6, 3, 4), (6, 5), (5, 12)),  # columns into heads
    ((6, 12), (2, 3, 12), (6, 5), (5, 12)),
    ((2, 6, 12), (2, 6, 3, 4), (2, 6, 5), (1, 5, 12)),
    ((2, 6, 12), (12, 12), (2, 6, 5), (1, 5, 12)),  # rows with batches of one operand
    ((2, 3, 6, 4), (6, 6, 4), (2, 3, 6, 5), (2, 3, 5, 4)),
    ((2, 3, 6, 4), (6, 6, 4), (1, 1, 6, 5), (2, 3, 5, 4)),
    ((6, 12), (2, 3, 3, 4), (6, 5), (5, 12)),
    ((1, 12), (1, 3, 4), (1, 5), (5, 12)),  # one row
]


@pytest.mark.parametrize(("product", "target", "a", "b"), SPLITS)
def test_what_leaves_rows_and_columns_apart_moves(product: Dims, target: Dims, a: Dims, b: Dims) -> None:
    assert moved_reshape(typed(product), typed(target, 100), typed(a), typed(b)) is not None


@pytest.mark.parametrize(
    ("product", "target", "a", "b"),
    [
        ((6, 12), (72,), (6, 5), (5, 12)),  # columns with rows
        ((6, 4), (3, 8), (6, 5), (5, 4)),  # columns and rows, split anew
        ((2, 6, 4), (12, 4), (2, 6, 5), (2, 5, 4)),  # rows with batches of b
        ((2, 3, 6, 4), (6, 6, 4), (2, 3, 6, 5), (1, 3, 5, 4)),  # batches of which b has one
        ((2, 3, 6, 4), (6, 6, 4), (2, 1, 6, 5), (2, 3, 5, 4)),
        ((6, 1), (6,), (6, 5), (5, 1)),  # no dimension is left for the columns
    ],
)
def test_what_mixes_rows_and_columns_does_not(product: Dims, target: Dims, a: Dims, b: Dims) -> None:
    assert moved_reshape(typed(product), typed(target, 100), typed(a), typed(b)) is None


SIZES = st.sampled_from((2, 3, 4))


@given(
    st.lists(st.tuples(SIZES, st.sampled_from(((True, True), (True, False), (False, True)))), max_size=2),
    st.tuples(SIZES, SIZES, st.integers(1, 4), st.integers(1, 4)),
)
def test_a_contraction_is_a_sum_of_contractions(
    batches: list[tuple[int, tuple[bool, bool]]], sizes: tuple[int, int, int, int]
) -> None:
    h, d, m, n = sizes
    a_shape = (*(e if left else 1 for e, (left, _) in batches), m, h * d)
    b_shape = (*(e if right else 1 for e, (_, right) in batches), h * d, n)
    a, b = typed(a_shape), typed(b_shape)
    split = split_contraction(a, b, (h, 50), (d, 51))
    left, right = numbered(a_shape), numbered(b_shape)
    parts = left.reshape(split.left).permute(split.perm) @ right.reshape(split.right)
    assert torch.equal(parts.sum(split.dim), left @ right)
    rank = len(a_shape) + 1
    assert split.product_type[:rank] == tuple(parts.shape)
    assert split.left_type[:rank] == split.left and split.right_type[:rank] == split.right
    assert all(map(consistent, (split.left_type, split.permuted_type, split.right_type, split.product_type)))
    assert permuted(split.left_type, split.perm) == split.permuted_type
    assert split.permuted_type[-1] == split.right_type[-2] == 51, "the inner contraction has one group"
    assert split.product_type[rank + split.dim] == 50


@given(reshapes(), st.data())
def test_a_reshape_of_a_reduction_moves_to_its_operand(case: tuple[Dims, Dims], data: st.DataObject) -> None:
    shape, target = case
    dim = data.draw(st.integers(0, len(shape)))
    target_dim = data.draw(st.integers(0, len(target)))
    operand = (*shape[:dim], data.draw(st.sampled_from((1, 5))), *shape[dim:])
    target = (*target[:target_dim], 1, *target[target_dim:])
    result = typed(target, 100)
    moved = moved_reduction(typed(operand), dim, result)
    if moved is None:
        return
    x = numbered(operand)
    after = x.reshape(moved.shape).sum(moved.dim, keepdim=True)
    assert torch.equal(after, x.sum(dim, keepdim=True).reshape(target))
    assert moved.type[: len(target)] == moved.shape and consistent(moved.type)
    unreduced = [d for d in range(len(target)) if d != moved.dim]
    assert all(moved.type[len(target) + d] == result[len(target) + d] for d in unreduced)
    assert moved.type[len(target) + moved.dim] == typed(operand)[len(operand) + dim]


@pytest.mark.parametrize(
    ("operand", "dim", "target", "found"),
    [
        ((6, 5, 4), 1, (2, 3, 1, 4), 2),
        ((6, 5), 1, (2, 3, 1), 2),
        ((2, 3, 5), 2, (6, 1), 1),
        ((5, 2, 3), 0, (1, 6), 0),
        ((2, 5, 3), 1, (6, 1), None),  # both sides of it are merged
        ((6, 5), 1, (2, 3), None),  # nothing of it is left
        ((6, 5), 1, (1, 2, 3), None),  # it is elsewhere
    ],
)
def test_the_reduced_dimension_keeps_its_place(operand: Dims, dim: int, target: Dims, found: int | None) -> None:
    moved = moved_reduction(typed(operand), dim, typed(target, 100))
    assert (None if moved is None else moved.dim) == found


def repeated(x: torch.Tensor, dim: int, each: int, period: int, extent: int) -> torch.Tensor:
    """Elements along a dimension at the positions that a gather of a repetition reads."""
    places = Places(0, 1, each, period, 0, x.shape[dim] - 1)
    return x.index_select(dim, torch.tensor([places.at(i) for i in range(extent)]))


@given(st.lists(SIZES, min_size=2, max_size=4), st.data())
def test_a_merge_of_what_grew_is_a_repetition(extents: list[int], data: st.DataObject) -> None:
    expanded = tuple(extents)
    start = data.draw(st.integers(0, len(expanded) - 2))
    target = (*expanded[:start], math.prod(expanded[start : start + 2]), *expanded[start + 2 :])
    grown = {
        start + data.draw(st.integers(0, 1)),
        *data.draw(st.sets(st.sampled_from(range(len(expanded))), max_size=1)),
    }
    operand = tuple(1 if d in grown else n for d, n in enumerate(expanded))
    result = typed(target, 100)
    found = repetition(typed(operand), expanded, result)
    if found is None:
        return
    x = numbered(operand)
    after = repeated(x.reshape(found.shape), found.dim, found.each, found.period, target[found.dim])
    assert torch.equal(after, x.expand(expanded).reshape(target))
    assert found.type[: len(target)] == found.shape and consistent(found.type)
    others = [d for d in range(len(target)) if d != found.dim]
    assert all(found.type[len(target) + d] == result[len(target) + d] for d in others)


@pytest.mark.parametrize(
    ("operand", "expanded", "target", "found"),
    [
        ((3, 1, 4), (3, 2, 4), (6, 4), (0, 2, 0)),
        ((1, 3, 4), (2, 3, 4), (6, 4), (0, 1, 3)),
        ((2, 3, 1, 4), (2, 3, 2, 4), (2, 6, 2, 2), (1, 2, 0)),  # another dimension is split
        ((3, 1, 1), (3, 2, 4), (3, 8), None),  # both grow
        ((3, 1, 1), (3, 2, 4), (6, 4), None),  # another one grows too
        ((3, 1, 4), (3, 2, 4), (24,), None),  # three are merged
        ((6, 1), (6, 4), (3, 8), None),  # split anew
        ((3, 1, 4), (3, 2, 4), (1, 3, 2, 4), None),  # nothing is merged
    ],
)
def test_one_dimension_that_grows_is_merged_with_one_that_does_not(
    operand: Dims, expanded: Dims, target: Dims, found: tuple[int, int, int] | None
) -> None:
    moved = repetition(typed(operand), expanded, typed(target, 100))
    assert (None if moved is None else (moved.dim, moved.each, moved.period)) == found


@given(reshapes(), st.data())
def test_a_transposition_of_a_merge_is_a_merge_of_a_transposition(case: tuple[Dims, Dims], data: st.DataObject) -> None:
    shape, target = case
    perm = tuple(data.draw(st.permutations(range(len(target)))))
    moved = transposed_merge(typed(shape), target, perm)
    if moved is None:
        return
    x = numbered(shape)
    assert torch.equal(x.permute(moved.perm).reshape(moved.target), x.reshape(target).permute(perm))
    assert permuted(typed(shape), moved.perm) == moved.permuted_type and consistent(moved.permuted_type)


@pytest.mark.parametrize(
    ("shape", "target", "perm", "found"),
    [
        ((2, 3, 4, 5), (6, 4, 5), (1, 0, 2), (2, 0, 1, 3)),
        ((2, 3, 4, 5), (2, 12, 5), (2, 1, 0), (3, 1, 2, 0)),
        ((1, 2, 3, 4), (1, 6, 4), (0, 2, 1), (3, 1, 2, 0)),
        ((6, 4), (2, 3, 4), (2, 0, 1), None),  # a dimension is split
        ((2, 6, 5), (3, 4, 5), (1, 0, 2), None),  # merged and split in one run
    ],
)
def test_what_is_merged_moves_together(shape: Dims, target: Dims, perm: Dims, found: Dims | None) -> None:
    moved = transposed_merge(typed(shape), target, perm)
    assert (None if moved is None else moved.perm) == found
