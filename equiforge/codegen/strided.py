"""Structural ops as other strides: what transpose, reshape, expand and slice make of an array that lies in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Layout:
    """Shape, strides and offset of an array, in elements."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    @staticmethod
    def ordered(shape: Sequence[int], order: Sequence[int] | None = None) -> Layout:
        """A dense layout whose dimensions follow each other in memory as in ``order``, outermost first (default: row-major)."""
        strides = [0] * len(shape)
        step = 1
        for dim in reversed(range(len(shape)) if order is None else order):
            strides[dim] = step
            step *= max(shape[dim], 1)
        return Layout(tuple(shape), tuple(strides))

    def transpose(self, perm: Sequence[int]) -> Layout:
        """Result dimension j is dimension ``perm[j]``."""
        return Layout(tuple(self.shape[p] for p in perm), tuple(self.strides[p] for p in perm), self.offset)

    def expand(self, shape: Sequence[int]) -> Layout:
        """Dimensions of size 1 grow: every index reads the same element."""
        strides = [0 if old == 1 and new != 1 else s for old, new, s in zip(self.shape, shape, self.strides, strict=True)]
        return Layout(tuple(shape), tuple(strides), self.offset)

    def slice(self, dim: int, start: int, stop: int, step: int) -> Layout:
        """Elements ``start, start + step, …`` below ``stop`` of one dimension."""
        shape, strides = list(self.shape), list(self.strides)
        shape[dim] = len(range(start, stop, step))
        strides[dim] = strides[dim] * step
        return Layout(tuple(shape), tuple(strides), self.offset + start * self.strides[dim])

    def reshape(self, shape: Sequence[int]) -> Layout | None:
        """The same elements in row-major order under another shape, or None where that needs a copy.

        Runs of dimensions that follow each other without a gap are one chunk of memory; each chunk must hold whole new dimensions.
        """
        if 0 in self.shape:
            return Layout(tuple(shape), Layout.ordered(shape).strides, self.offset)
        chunks: list[tuple[int, int]] = []  # (elements, innermost stride), outermost first
        for extent, stride in zip(self.shape, self.strides, strict=True):
            if extent == 1:
                continue
            if chunks and chunks[-1][1] == extent * stride:
                chunks[-1] = (chunks[-1][0] * extent, stride)
            else:
                chunks.append((extent, stride))
        strides = [0] * len(shape)
        dims = [d for d in range(len(shape)) if shape[d] != 1]
        for elements, innermost in reversed(chunks):
            step = innermost
            left = elements
            while left > 1:
                if not dims:
                    return None
                dim = dims.pop()
                if left % shape[dim]:
                    return None
                strides[dim] = step
                step *= shape[dim]
                left //= shape[dim]
        # The stride of a dimension of size 1 is never used; the row-major one reads well.
        step = 1
        for dim in reversed(range(len(shape))):
            if shape[dim] == 1:
                strides[dim] = step
            step = strides[dim] * shape[dim]
        return Layout(tuple(shape), tuple(strides), self.offset)

    @property
    def last(self) -> int:
        """The largest element offset touched."""
        return self.offset + sum((e - 1) * s for e, s in zip(self.shape, self.strides, strict=True) if e)
