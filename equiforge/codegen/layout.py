"""Structural ops as addressing: what transpose, reshape, expand and slice make of an array that lies in memory.

A dimension is a list of *digits* ``(extent, stride)``, outermost first: index i is written in that mixed radix and
each digit moves by its stride, in elements. An ordinary strided dimension has one digit. A merge of dimensions that
do not follow each other in memory has several: heads expanded for grouped queries are ``((kv_heads, s), (group,
0))``, so that head h reads kv head ``h // group``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

Digit = tuple[int, int]
Dimension = tuple[Digit, ...]


def _joined(digits: Sequence[Digit]) -> Dimension:
    """Digits of extent 1 dropped; neighbours that follow each other without a gap made one."""
    result: list[Digit] = []
    for extent, stride in digits:
        if extent == 1:
            continue
        if result and result[-1][1] == extent * stride:
            result[-1] = (result[-1][0] * extent, stride)
        else:
            result.append((extent, stride))
    return tuple(result)


@dataclass(frozen=True)
class Layout:
    """``dims`` outermost first; ``offset`` in elements."""

    dims: tuple[Dimension, ...]
    offset: int = 0

    @staticmethod
    def strided(shape: Sequence[int], strides: Sequence[int], offset: int = 0) -> Layout:
        return Layout(tuple(_joined([(e, s)]) for e, s in zip(shape, strides, strict=True)), offset)

    @staticmethod
    def dense(shape: Sequence[int], order: Sequence[int] | None = None) -> Layout:
        """Dimensions follow each other in memory as in ``order``, outermost first (default: row-major)."""
        return Layout.strided(shape, dense_strides(shape, order))

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(prod(extent for extent, _ in dim) for dim in self.dims)

    @property
    def strides(self) -> tuple[int, ...] | None:
        """One stride a dimension, or None where a dimension needs several digits. Size 1 has the stride that
        row-major would give it."""
        if any(len(dim) > 1 for dim in self.dims):
            return None
        strides = [0] * len(self.dims)
        step = 1
        for index in reversed(range(len(self.dims))):
            dim = self.dims[index]
            strides[index] = dim[0][1] if dim else step
            step = max(strides[index] * (dim[0][0] if dim else 1), 1)
        return tuple(strides)

    @property
    def last(self) -> int:
        """The largest element offset touched."""
        return self.offset + sum((e - 1) * s for dim in self.dims for e, s in dim)

    def transpose(self, perm: Sequence[int]) -> Layout:
        """Result dimension j is dimension ``perm[j]``."""
        return Layout(tuple(self.dims[p] for p in perm), self.offset)

    def expand(self, shape: Sequence[int]) -> Layout:
        """Dimensions of size 1 grow: every index reads the same element."""
        dims = [
            ((new, 0),) if old == 1 and new != 1 else dim
            for dim, old, new in zip(self.dims, self.shape, shape, strict=True)
        ]
        return Layout(tuple(dims), self.offset)

    def slice(self, dim: int, start: int, stop: int, step: int) -> Layout | None:
        """Elements ``start, start + step, …`` below ``stop`` of one dimension; None where that cuts through digits."""
        digits = self.dims[dim]
        count = len(range(start, stop, step))
        if len(digits) > 1:
            return None
        stride = digits[0][1] if digits else 0
        dims = list(self.dims)
        dims[dim] = _joined([(count, stride * step)])
        return Layout(tuple(dims), self.offset + start * stride)

    def reshape(self, shape: Sequence[int]) -> Layout | None:
        """The same elements in row-major order under another shape; None where a new dimension cuts through a digit
        unevenly."""
        digits = [digit for dim in self.dims for digit in dim]
        dims: list[Dimension] = []
        for extent in reversed(shape):
            taken: list[Digit] = []
            left = extent
            while left > 1:
                size, stride = digits.pop()
                if left % size == 0:
                    taken.append((size, stride))
                    left //= size
                elif size % left == 0:
                    taken.append((left, stride))
                    digits.append((size // left, stride * left))
                    left = 1
                else:
                    return None
            dims.append(_joined(taken[::-1]))
        return Layout(tuple(dims[::-1]), self.offset)


def dense_strides(shape: Sequence[int], order: Sequence[int] | None = None) -> tuple[int, ...]:
    """Strides of a dense array whose dimensions follow each other as in ``order``, outermost first (default:
    row-major)."""
    strides = [0] * len(shape)
    step = 1
    for dim in reversed(range(len(shape)) if order is None else order):
        strides[dim] = step
        step *= max(shape[dim], 1)
    return tuple(strides)
