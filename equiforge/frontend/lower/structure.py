"""Shape, order and grouping of elements. Copies and views look alike here: values have no memory layout."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from equiforge.dialects import forge
from equiforge.frontend.builder import Builder, Value, element_of, normal_dim, rank_of, shape_of
from equiforge.frontend.dtypes import Scalar
from equiforge.frontend.table import lowers


@lowers(
    "view.default", "reshape.default", "_unsafe_view.default", "_reshape_alias.default", "flatten.using_ints",
    "unflatten.int", "unsqueeze.default", "squeeze.default", "squeeze.dim", "squeeze.dims", "view_as.default",
    "reshape_as.default", "ravel.default", "view_copy.default", "unsqueeze_copy.default", "squeeze_copy.default",
    "atleast_1d.default", "atleast_2d.default", "atleast_3d.default",
)  # fmt: skip
def reshape(b: Builder, x: Value, *_: Any) -> Value:
    return b.reshape(x, b.out.shape)


@lowers(
    "clone.default", "contiguous.default", "detach.default", "detach_.default", "alias.default", "lift_fresh.default",
    "lift_fresh_copy.default", "detach_copy.default", "alias_copy.default", "resolve_conj.default",
    "resolve_neg.default", "conj.default", "real.default", "lift.default",
)  # fmt: skip
def identity(b: Builder, x: Value, *_: Any) -> Value:
    return x


@lowers("dropout.default", "feature_dropout.default", "alpha_dropout.default")
def dropout(b: Builder, x: Value, p: float, train: bool) -> Value:
    if train and p != 0:
        b.refuse("dropout in training mode draws random numbers", "call model.eval() before compiling")
    return x


@lowers(
    "to.dtype", "to.device", "to.other", "to.dtype_layout", "to.prim_dtype", "to.prim_Device", "_to_copy.default",
    "type_as.default", "_cast_Float.default", "_cast_Half.default",
)  # fmt: skip
def convert(b: Builder, x: Value, *_: Any) -> Value:
    return b.down(x)


@lowers("copy.default")
def copy(b: Builder, x: Value, source: Value, *_: Any) -> Value:
    """What ``x.copy_(source)`` leaves in ``x``."""
    return b.expand(b.down(source), b.out.shape)


@lowers("expand.default", "expand_as.default", "broadcast_to.default", "expand_copy.default")
def expand(b: Builder, x: Value, *_: Any) -> Value:
    return b.expand(x, b.out.shape)


@lowers("broadcast_tensors.default")
def broadcast_tensors(b: Builder, tensors: list[Value]) -> list[Value]:
    return [b.expand(x, b.out.shape) for x in tensors]


@lowers("meshgrid.default", "meshgrid.indexing")
def meshgrid(b: Builder, tensors: list[Value], indexing: str = "ij") -> list[Value]:
    rank = len(b.out.shape)
    swap = indexing == "xy" and rank >= 2
    grids: list[Value] = []
    for number, x in enumerate(tensors):
        place = 1 - number if swap and number < 2 else number
        shape = [1] * rank
        shape[place] = math.prod(shape_of(x))
        grids.append(b.expand(b.reshape(x, shape), b.out.shape))
    return grids


def swapped(rank: int, first: int, second: int) -> list[int]:
    """The permutation that exchanges two dimensions."""
    order = list(range(rank))
    if rank:
        first, second = first % rank, second % rank
        order[first], order[second] = order[second], order[first]
    return order


@lowers("transpose.int", "swapaxes.default", "swapdims.default", "transpose_copy.int")
def transpose(b: Builder, x: Value, first: int, second: int) -> Value:
    return b.transpose(x, swapped(rank_of(x), first, second))


@lowers("t.default", "mT.default", "adjoint.default", "mH.default", "t_copy.default")
def transpose_last(b: Builder, x: Value) -> Value:
    return x if rank_of(x) < 2 else b.transpose(x, swapped(rank_of(x), -1, -2))


@lowers("numpy_T.default", "matrix_H.default")
def reverse_dims(b: Builder, x: Value) -> Value:
    return b.transpose(x, list(reversed(range(rank_of(x)))))


@lowers("permute.default", "permute_copy.default")
def permute(b: Builder, x: Value, dims: Sequence[int]) -> Value:
    return b.transpose(x, [dim % rank_of(x) for dim in dims])


@lowers("movedim.int", "movedim.intlist", "moveaxis.int", "moveaxis.intlist")
def movedim(b: Builder, x: Value, source: int | Sequence[int], destination: int | Sequence[int]) -> Value:
    rank = rank_of(x)
    sources = [d % rank for d in ([source] if isinstance(source, int) else source)]
    places = [d % rank for d in ([destination] if isinstance(destination, int) else destination)]
    rest = iter(d for d in range(rank) if d not in sources)
    moved = dict(zip(places, sources, strict=True))
    return b.transpose(x, [moved[d] if d in moved else next(rest) for d in range(rank)])


@lowers("slice.Tensor", "slice_copy.Tensor")
def slice_tensor(
    b: Builder, x: Value, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Value:
    dim = normal_dim(dim, rank_of(x))
    first, last, _ = slice(start, end, step).indices(shape_of(x)[dim])
    return b.slice(x, dim, first, max(first, last), step)


@lowers("narrow.default")
def narrow(b: Builder, x: Value, dim: int, start: int, length: int) -> Value:
    dim = normal_dim(dim, rank_of(x))
    start %= max(shape_of(x)[dim], 1)
    return b.slice(x, dim, start, start + length)


@lowers("select.int", "select_copy.int")
def select(b: Builder, x: Value, dim: int, index: int) -> Value:
    dim = normal_dim(dim, rank_of(x))
    index %= shape_of(x)[dim]
    return b.squeeze_dims(b.slice(x, dim, index, index + 1), [dim])


@lowers(
    "split.Tensor", "split.sizes", "split_with_sizes.default", "chunk.default", "tensor_split.sections",
    "tensor_split.indices", "unsafe_split.Tensor", "unsafe_chunk.default", "unsafe_split_with_sizes.default",
    "hsplit.int", "vsplit.int",
)  # fmt: skip
def split(b: Builder, x: Value, _: Any = None, dim: int = 0) -> list[Value]:
    """The parts' sizes are those that eager reports."""
    if b.target.startswith("aten.hsplit"):
        dim = 1 if rank_of(x) > 1 else 0
    dim = normal_dim(dim, rank_of(x))
    parts: list[Value] = []
    start = 0
    for result in b.results:
        assert result is not None
        parts.append(b.slice(x, dim, start, start + result.shape[dim]))
        start += result.shape[dim]
    return parts


@lowers("unbind.int", "unbind_copy.int")
def unbind(b: Builder, x: Value, dim: int = 0) -> list[Value]:
    dim = normal_dim(dim, rank_of(x))
    return [b.squeeze_dims(b.slice(x, dim, n, n + 1), [dim]) for n in range(shape_of(x)[dim])]


def concatenate(b: Builder, parts: Sequence[Value], dim: int) -> Value:
    """Join parts of one type; a single part is itself."""
    return parts[0] if len(parts) == 1 else b.emit(forge.ConcatOp(list(parts), dim))


@lowers("cat.default", "concat.default", "concatenate.default")
def cat(b: Builder, tensors: list[Value], dim: int = 0) -> Value:
    parts = [b.down(x) for x in tensors if shape_of(x) != (0,) or b.out.shape == (0,)]
    return concatenate(b, parts, normal_dim(dim, len(b.out.shape)))


@lowers("stack.default")
def stack(b: Builder, tensors: list[Value], dim: int = 0) -> Value:
    dim = normal_dim(dim, len(b.out.shape))
    shape = list(b.out.shape)
    shape[dim] = 1
    return concatenate(b, [b.reshape(b.down(x), shape) for x in tensors], dim)


@lowers("pad.default", "constant_pad_nd.default")
def pad(b: Builder, x: Value, sizes: Sequence[int], mode: Any = "constant", value: Scalar | None = None) -> Value:
    if not isinstance(mode, str):  # constant_pad_nd has the value in this place
        mode, value = "constant", mode
    if mode != "constant":
        b.refuse(f"padding mode {mode!r}", "pad with a constant, or build the border with slices and torch.cat")
    for number in range(len(sizes) // 2):
        dim = rank_of(x) - 1 - number
        low, high = sizes[2 * number], sizes[2 * number + 1]
        size = shape_of(x)[dim]
        x = b.slice(x, dim, max(0, -low), size - max(0, -high))
        if max(low, high) > 0:
            x = b.emit(forge.PadOp(x, dim, max(0, low), max(0, high), float(value or 0.0)))
    return x


@lowers("repeat.default", "tile.default")
def repeat(b: Builder, x: Value, repeats: Sequence[int]) -> Value:
    rank = len(b.out.shape)
    x = b.align(x, rank)
    counts = [1] * (rank - len(repeats)) + list(repeats)
    split_shape: list[int] = []
    grown: list[int] = []
    for size, count in zip(shape_of(x), counts, strict=True):
        split_shape += [1, size]
        grown += [count, size]
    return b.reshape(b.expand(b.reshape(x, split_shape), grown), b.out.shape)


@lowers("repeat_interleave.self_int")
def repeat_interleave(b: Builder, x: Value, repeats: int, dim: int | None = None, output_size: Any = None) -> Value:
    if dim is None:
        x, dim = b.reshape(x, [math.prod(shape_of(x))]), 0
    dim = normal_dim(dim, rank_of(x))
    shape = shape_of(x)
    split_shape = (*shape[: dim + 1], 1, *shape[dim + 1 :])
    grown = (*shape[: dim + 1], repeats, *shape[dim + 1 :])
    return b.reshape(b.expand(b.reshape(x, split_shape), grown), b.out.shape)


@lowers("roll.default")
def roll(b: Builder, x: Value, shifts: int | Sequence[int], dims: int | Sequence[int] = ()) -> Value:
    moves = [shifts] if isinstance(shifts, int) else list(shifts)
    places = [dims] if isinstance(dims, int) else list(dims)
    shape = shape_of(x)
    if not places:
        x, places = b.reshape(x, [math.prod(shape)]), [0]
    for move, place in zip(moves, places, strict=True):
        dim = normal_dim(place, rank_of(x))
        size = shape_of(x)[dim]
        cut = (size - move) % size if size else 0
        if cut:
            x = concatenate(b, [b.slice(x, dim, cut, size), b.slice(x, dim, 0, cut)], dim)
    return b.reshape(x, shape)


@lowers("flip.default")
def flip(b: Builder, x: Value, dims: Sequence[int]) -> Value:
    for place in dims:
        dim = normal_dim(place, rank_of(x))
        size = shape_of(x)[dim]
        shape = [1] * rank_of(x)
        shape[dim] = size
        x = b.emit(forge.GatherOp(x, b.sub(size - 1, b.iota(shape, dim, i64)), dim))
    return x


@lowers("outer.default", "ger.default")
def outer(b: Builder, x: Value, y: Value) -> Value:
    return b.mul(b.reshape(b.down(x), (*shape_of(x), 1)), b.reshape(b.down(y), (1, *shape_of(y))))


def require_integer(b: Builder, index: SSAValue) -> None:
    """Masks select a number of elements that depends on values: refused."""
    if str(element_of(index)) == "i1":
        b.refuse("indexing with a boolean mask has a result whose size depends on values", "use torch.where")
