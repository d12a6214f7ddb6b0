"""``torch.einsum`` and ``tensordot``: pairwise, each pair one batched product or one broadcast multiplication."""

from __future__ import annotations

import math
import string
from collections.abc import Sequence

from equiforge.frontend.builder import Builder, Value, rank_of, shape_of
from equiforge.frontend.lower.products import product
from equiforge.frontend.table import lowers


def _labels(b: Builder, equation: str, tensors: Sequence[Value]) -> tuple[list[str], str]:
    """One string of labels a tensor and one for the result; an ellipsis becomes upper-case labels of its own."""
    equation = equation.replace(" ", "")
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    spare = [letter for letter in string.ascii_letters if letter not in equation]
    width = max(
        (rank_of(x) - len(t.replace("...", "")) for t, x in zip(terms, tensors, strict=True) if "..." in t), default=0
    )
    dots = "".join(spare[:width])
    inputs: list[str] = []
    for term, x in zip(terms, tensors, strict=True):
        missing = rank_of(x) - len(term.replace("...", ""))
        inputs.append(term.replace("...", dots[width - missing :] if missing else ""))
    if arrow:
        output = right.replace("...", dots)
    else:
        seen = "".join(inputs)
        output = dots + "".join(sorted(c for c in set(seen) if seen.count(c) == 1 and c not in dots))
    for labels in inputs:
        if len(set(labels)) != len(labels):
            b.refuse(f"einsum with a repeated label in one operand ({labels!r})", "take the diagonal outside")
    return inputs, output


def _arrange(b: Builder, x: Value, labels: str, groups: Sequence[str], sizes: dict[str, int]) -> Value:
    """Transpose to the order of the groups; missing labels get size 1; each group stays unmerged."""
    present = [c for group in groups for c in group if c in labels]
    x = b.transpose(x, [labels.index(c) for c in present])
    actual = dict(zip(present, shape_of(x), strict=True))
    return b.reshape(x, [actual.get(c, 1) for group in groups for c in group])


def _sum_out(b: Builder, x: Value, labels: str, keep: str) -> tuple[Value, str]:
    dims = [n for n, c in enumerate(labels) if c not in keep]
    if dims:
        x = b.squeeze_dims(b.reduce("sum", x, dims), dims)
    return x, "".join(c for c in labels if c in keep)


def contract(b: Builder, x: Value, left: str, y: Value, right: str, keep: str) -> tuple[Value, str]:
    """The product of two labelled tensors with every label outside ``keep`` summed away."""
    x, left = _sum_out(b, x, left, keep + right)
    y, right = _sum_out(b, y, right, keep + left)
    sizes: dict[str, int] = {}
    for labels, value in ((left, x), (right, y)):
        for c, size in zip(labels, shape_of(value), strict=True):
            sizes[c] = max(size, sizes.get(c, 1))
    inner = "".join(c for c in left if c in right and c not in keep)
    batch = "".join(c for c in left if c in right and c in keep)
    rows = "".join(c for c in left if c not in right)
    columns = "".join(c for c in right if c not in left)
    if not inner:
        order = batch + rows + columns
        return b.mul(_arrange(b, x, left, [order], sizes), _arrange(b, y, right, [order], sizes)), order
    x, y = _grow(b, x, left, inner, sizes), _grow(b, y, right, inner, sizes)
    a = _arrange(b, x, left, [batch, rows, inner], sizes)
    c = _arrange(b, y, right, [batch, inner, columns], sizes)
    lead = len(batch)
    count = math.prod(sizes[k] for k in inner)
    height, width = math.prod(sizes[k] for k in rows), math.prod(sizes[k] for k in columns)
    a = b.reshape(a, (*shape_of(a)[:lead], height, count))
    c = b.reshape(c, (*shape_of(c)[:lead], count, width))
    result = product(b, a, c)
    return b.reshape(result, [sizes[k] for k in batch + rows + columns]), batch + rows + columns


def _grow(b: Builder, x: Value, labels: str, inner: str, sizes: dict[str, int]) -> Value:
    """Contracted labels of size 1 in one operand broadcast against the other's."""
    return b.expand(x, [sizes[c] if c in inner else size for c, size in zip(labels, shape_of(x), strict=True)])


@lowers("einsum.default")
def einsum(b: Builder, equation: str, tensors: list[Value], path: Sequence[int] | None = None) -> Value:
    inputs, output = _labels(b, equation, tensors)
    value, labels = b.down(tensors[0]), inputs[0]
    for number in range(1, len(tensors)):
        later = "".join(inputs[number + 1 :])
        value, labels = contract(b, value, labels, b.down(tensors[number]), inputs[number], output + later)
    value, labels = _sum_out(b, value, labels, output)
    value = b.transpose(value, [labels.index(c) for c in output])
    return b.expand(value, b.out.shape)


@lowers("tensordot.default")
def tensordot(b: Builder, x: Value, y: Value, left_dims: Sequence[int], right_dims: Sequence[int]) -> Value:
    letters = iter(string.ascii_letters)
    left = [next(letters) for _ in range(rank_of(x))]
    right = [next(letters) for _ in range(rank_of(y))]
    for m, n in zip(left_dims, right_dims, strict=True):
        right[n % rank_of(y)] = left[m % rank_of(x)]
    output = "".join([c for c in left if c not in right] + [c for c in right if c not in left])
    value, labels = contract(b, x, "".join(left), y, "".join(right), output)
    return b.reshape(b.transpose(value, [labels.index(c) for c in output]), b.out.shape)
