"""What becomes of the operands where a reshape moves through a product, a reduction or a repetition.

A type is a shape, then a group for each dimension (-1: size 1).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from equiforge.analysis.dim_rules import reshape_blocks

Dims = tuple[int, ...]


class MovedReshape(NamedTuple):
    """``reshape(MM(a, b))`` as ``T(order, MM(reshape(a), T(perm, reshape(b))))``: shapes, types and permutations."""

    left: Dims
    left_type: Dims
    right: Dims
    right_type: Dims
    perm: Dims
    permuted_type: Dims
    product_type: Dims
    order: Dims


def moved_reshape(product: Dims, result: Dims, a: Dims, b: Dims) -> MovedReshape | None:
    """The reshape of a product of type ``product`` to the type ``result``, moved to operands of types ``a`` and ``b``.

    The last dimension that the rows become are the rows of the new product, likewise the columns; all others are
    batch dimensions. None where the reshape merges columns with anything else, or batches of which an operand has only
    some; and where no dimension of size 1 is there for rows or columns that are single.
    """
    rank, wide = len(product) // 2, len(result) // 2
    target, groups = result[:wide], result[wide:]
    runs = reshape_blocks(product[:rank], target)
    olds = {new: block[0] for block in runs for new in block[1]}
    news = {old: block[1] for block in runs for old in block[0]}
    rows, columns = news.get(rank - 2, []), news.get(rank - 1, [])
    if columns and olds[columns[0]] != [rank - 1]:
        return None
    spare = [d for d in range(wide) if target[d] == 1]
    column = columns[-1] if columns else spare.pop() if spare else -1
    row = rows[-1] if rows else spare.pop() if spare else -1
    if row < 0 or column < 0:
        return None
    batch = [d for d in range(wide) if d not in (row, column)]

    def whole(operand: Dims, dim: int, own: int) -> bool | None:
        """Whether an operand has what the dimension of the result is made of; None if some of it. ``own`` are its rows
        or columns."""
        held = {operand[d] != 1 if d < rank - 2 else d == own for d in olds.get(dim, [])}
        return None if len(held) == 2 else True in held

    left = {d: whole(a, d, rank - 2) for d in (*batch, row)}
    right = {d: whole(b, d, rank - 1) for d in (*batch, row, column)}
    if None in left.values() or None in right.values():
        return None
    inner = (a[rank - 1], a[2 * rank - 1])

    def typed(dims: Iterable[int], held: Mapping[int, bool | None]) -> Dims:
        """Extents and groups of dimensions of the result, and of -1, the contraction."""
        pairs = [inner if d < 0 else (target[d], groups[d]) if held[d] else (1, -1) for d in dims]
        return (*(n for n, _ in pairs), *(g for _, g in pairs))

    # The columns of b that become batches are laid out behind the contraction, and then moved before it.
    laid = [*(d for d in batch if d not in columns), -1, *(d for d in batch if d in columns), column]
    wanted, made = [*batch, -1, column], [*batch, row, column]
    left_type, right_type = typed([*batch, row, -1], left), typed(laid, right)
    return MovedReshape(
        left_type[:wide],
        left_type,
        right_type[:wide],
        right_type,
        tuple(laid.index(d) for d in wanted),
        typed(wanted, right),
        typed(made, dict.fromkeys(made, True)),
        tuple(made.index(d) for d in range(wide)),
    )


class SplitContraction(NamedTuple):
    """``MM(a, b)`` as the sum over dimension ``dim`` of ``MM(T(perm, reshape(a)), reshape(b))``."""

    left: Dims
    left_type: Dims
    perm: Dims
    permuted_type: Dims
    right: Dims
    right_type: Dims
    product_type: Dims
    dim: int


def split_contraction(a: Dims, b: Dims, outer: tuple[int, int], inner: tuple[int, int]) -> SplitContraction:
    """The contraction of operands of types ``a`` and ``b`` in two parts, each given by extent and group: the outer one
    is a batch dimension of the new product."""
    rank = len(a) // 2
    batch = rank - 2

    def typed(*dims: tuple[int, int]) -> Dims:
        return (*(n for n, _ in dims), *(g for _, g in dims))

    own, other = ([(t[d], t[rank + d]) for d in range(rank)] for t in (a, b))
    batches = [max(pair) for pair in zip(own[:batch], other[:batch], strict=True)]
    left, right = typed(*own[:-1], outer, inner), typed(*other[:batch], outer, inner, other[-1])
    perm = (*range(batch), batch + 1, batch, batch + 2)
    return SplitContraction(
        left[: rank + 1],
        left,
        perm,
        typed(*own[:batch], outer, own[batch], inner),
        right[: rank + 1],
        right,
        typed(*batches, outer, own[batch], other[-1]),
        batch,
    )


class MovedReduction(NamedTuple):
    """``reshape(Red(f, d, x))`` as ``Red(f, dim, reshape(x))``: shape and type of the reshaped operand."""

    shape: Dims
    type: Dims
    dim: int


def moved_reduction(operand: Dims, dim: int, target: Dims) -> MovedReduction | None:
    """The reshape to type ``target`` of a reduction over a dimension, moved to the operand: None if the result has no
    dimension of size 1 in the place of the reduced one."""
    rank, wide = len(operand) // 2, len(target) // 2
    reduced = [1 if d == dim else n for d, n in enumerate(operand[:rank])]
    runs = reshape_blocks(reduced, target[:wide])
    first = max((new for olds, news in runs if olds[-1] < dim for new in news), default=-1)
    last = min((new for olds, news in runs if olds[0] > dim for new in news), default=wide)
    if first + 1 >= last or any(olds[0] < dim < olds[-1] for olds, _ in runs):
        return None
    shape, groups = list(target[:wide]), list(target[wide:])
    shape[last - 1], groups[last - 1] = operand[dim], operand[rank + dim]
    return MovedReduction(tuple(shape), (*shape, *groups), last - 1)


class Repetition(NamedTuple):
    """``reshape(expand(x))`` as ``reshape(x)`` gathered along ``dim``: shape and type of the reshaped operand, how
    often each position is repeated, and with which period (0: none)."""

    shape: Dims
    type: Dims
    dim: int
    each: int
    period: int


def repetition(operand: Dims, expanded: Dims, target: Dims) -> Repetition | None:
    """The reshape to type ``target`` of what is expanded to the shape ``expanded``, where it merges one dimension that
    grows with one that does not, and does nothing else to dimensions that grow."""
    rank, wide = len(operand) // 2, len(target) // 2
    found: tuple[int, int, int] | None = None
    for olds, news in reshape_blocks(expanded, target[:wide]):
        grown = [d for d in olds if operand[d] != expanded[d]]
        if not grown:
            continue
        if found is not None or len(grown) != 1 or len(olds) != 2 or len(news) != 1:
            return None
        kept = olds[0] if grown[0] == olds[1] else olds[1]
        found = (news[0], kept, grown[0])
    if found is None:
        return None
    dim, kept, grown_dim = found
    shape, groups = list(target[:wide]), list(target[wide:])
    shape[dim], groups[dim] = operand[kept], operand[rank + kept]
    inner = grown_dim > kept
    each, period = (expanded[grown_dim], 0) if inner else (1, operand[kept])
    return Repetition(tuple(shape), (*shape, *groups), dim, each, period)


class TransposedMerge(NamedTuple):
    """``T(p, reshape(x))`` as ``reshape(T(perm, x))`` to the shape ``target``."""

    perm: Dims
    permuted_type: Dims
    target: Dims


def transposed_merge(operand: Dims, target: Dims, perm: Dims) -> TransposedMerge | None:
    """A transposition of what a reshape of an operand of type ``operand`` to the shape ``target`` merges, before it:
    what is merged moves together. None if the reshape splits a dimension."""
    rank = len(operand) // 2
    runs = reshape_blocks(operand[:rank], target)
    if any(len(news) > 1 for _, news in runs):
        return None
    merged = {news[0]: olds for olds, news in runs if news}
    order = [old for new in perm for old in merged.get(new, [])]
    order += [old for old in range(rank) if old not in order]  # of size 1, wherever they are
    permuted = (*(operand[d] for d in order), *(operand[rank + d] for d in order))
    return TransposedMerge(tuple(order), permuted, tuple(target[d] for d in perm))
