"""What the algebraic rules rewrite, and random choice seldom puts together: patterns for random programs.

An idiom gets a generator and a value of rank 2 or more whose magnitude is at most 5, and returns operations with bounds
on their magnitude. All stay inside the domains of their functions.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from xdsl.dialects.builtin import TensorType, f32, i32
from xdsl.ir import Operation, SSAValue

from equiforge.dialects import forge as f
from equiforge.dialects.tile_types import shape_of

Made: TypeAlias = "list[tuple[Operation, float]]"
"""Operations and bounds on the magnitude of their results."""


class Operand(Protocol):
    """A value of the program; its magnitude is at most ``most``."""

    @property
    def value(self) -> SSAValue: ...
    @property
    def most(self) -> float: ...
    @property
    def shape(self) -> tuple[int, ...]: ...


class Source(Protocol):
    """What an idiom needs of the generator of programs."""

    random: random.Random

    def argument(self, shape: Sequence[int]) -> Operand: ...
    def constant(self, number: float, rank: int) -> SSAValue: ...


class Parts:
    """Operands that fit a value: of its shape, along one dimension, for products with it."""

    def __init__(self, source: Source, x: Operand):
        self.source, self.v, self.most, self.shape = source, x.value, x.most, x.shape
        self.rank, self.rows, self.columns = len(x.shape), len(x.shape) - 2, len(x.shape) - 1
        self.dim = source.random.randrange(self.rank)
        self.swapped = [*range(self.rank - 2), self.columns, self.rows]

    def pick(self, *choices: Any) -> Any:
        return self.source.random.choice(choices)

    def same(self) -> SSAValue:
        return self.source.argument(self.shape).value

    def along(self, dim: int) -> SSAValue:
        """Size 1 in a dimension."""
        return self.source.argument([1 if d == dim else n for d, n in enumerate(self.shape)]).value

    def matrix(self, rows: int, columns: int) -> SSAValue:
        return self.source.argument([*self.shape[:-2], rows, columns]).value

    def weight(self, columns: int | None = None) -> SSAValue:
        """A right operand for a product with the value."""
        return self.matrix(self.shape[-1], columns or self.source.random.choice((2, 3, 4)))

    def number(self, value: float) -> SSAValue:
        return self.source.constant(value, self.rank)

    def above_zero(self, x: SSAValue) -> Operation:
        return f.AddOp(f.AbsOp(x), self.number(0.25))

    def below_zero(self, x: SSAValue) -> Operation:
        return f.NegOp(f.AbsOp(x))

    def mask(self) -> Operation:
        position = f.IotaOp(
            TensorType(i32, [n if d == self.columns else 1 for d, n in enumerate(self.shape)]), self.columns
        )
        row = f.IotaOp(TensorType(i32, [n if d == self.rows else 1 for d, n in enumerate(self.shape)]), self.rows)
        return f.CompareOp(self.pick("le", "lt", "ne"), position, row)

    def sum(self, x: Any, dim: int | None = None) -> Operation:
        return f.ReduceOp("sum", x, self.dim if dim is None else dim)

    def max(self, x: Any, dim: int | None = None) -> Operation:
        return f.ReduceOp("max", x, self.dim if dim is None else dim)


def negatives(p: Parts) -> Made:
    n = f.NegOp(p.same())
    op = p.pick(f.AddOp, f.SubOp, f.MulOp, f.DivOp)
    if op is f.DivOp:
        q = f.DivOp(p.v, f.NegOp(p.above_zero(p.same()))) if p.pick(True, False) else f.DivOp(n, p.above_zero(p.v))
        return [(q, 4 * p.most + 8)]
    return [(op(n, p.v) if op is f.MulOp else op(p.v, n), 2 * p.most + 2)]


def common_factors(p: Parts) -> Made:
    op, y, z = p.pick(f.AddOp, f.SubOp), p.same(), p.along(p.dim)
    match p.pick(0, 1, 2):
        case 0:
            return [(op(f.MulOp(p.v, y), f.MulOp(p.v, z)), 4 * p.most)]
        case 1:
            divisor = p.above_zero(z)
            return [(op(f.DivOp(p.v, divisor), f.DivOp(y, divisor)), 4 * p.most + 8)]
        case _:
            return [(f.MulOp(f.TanhOp(y), op(p.v, z)), p.most + 2)]


def linear(p: Parts) -> Made:
    op, w, k = p.pick(f.AddOp, f.SubOp), p.weight(), p.shape[-1]
    columns = shape_of(w.type)[-1]
    bound = 4 * k * (p.most + 2)
    match p.pick(*range(6)):
        case 0:
            return [(op(f.MatmulOp(p.v, w), f.MatmulOp(p.v, p.weight(columns))), bound)]
        case 1:
            return [(op(f.MatmulOp(p.v, w), f.MatmulOp(p.same(), w)), bound)]
        case 2:
            product = f.MatmulOp(p.matrix(k, 2), p.matrix(2, columns))
            return [(f.MatmulOp(p.v, op(w, product)), 6 * bound)]
        case 3:
            product = f.MatmulOp(p.matrix(p.shape[-2], 2), p.matrix(2, k))
            return [(f.MatmulOp(op(p.v, product), w), 6 * bound)]
        case 4:
            return [(f.MatmulOp(op(p.v, p.along(p.rows)), w), bound)]
        case _:
            return [(f.MatmulOp(op(p.v, p.along(p.columns)), w), bound)]


def chains(p: Parts) -> Made:
    k, n, rank = p.shape[-1], p.pick(2, 5), p.pick(1, 3)
    bound = 4 * k * rank * n * p.most
    match p.pick(0, 1, 2):
        case 0:
            return [(f.MatmulOp(f.MatmulOp(p.v, p.matrix(k, rank)), p.matrix(rank, n)), bound)]
        case 1:
            return [(f.MatmulOp(p.v, f.MatmulOp(p.matrix(k, rank), p.matrix(rank, n))), bound)]
        case _:
            update = f.MatmulOp(f.MatmulOp(p.v, p.matrix(k, rank)), p.matrix(rank, n))
            return [(p.pick(f.AddOp, f.SubOp)(update, f.MatmulOp(p.v, p.matrix(k, n))), 2 * bound)]


def scaled_twice(p: Parts) -> Made:
    """A scale on an operand and on the result: both are values."""
    w, s = p.weight(), p.along(p.columns)
    bound = 4 * p.shape[-1] * p.most
    match p.pick(*range(4)):
        case 0:
            return [(f.MulOp(p.v, s), 2 * p.most), (f.MulOp(f.MatmulOp(p.v, w), s), 2 * bound)]
        case 1:
            columns = p.source.argument([1] * (p.rank - 1) + [shape_of(w.type)[-1]]).value
            return [(f.MulOp(w, columns), 4.0), (f.MulOp(f.MatmulOp(p.v, w), columns), 2 * bound)]
        case 2:
            divisor = p.above_zero(s)
            return [(f.DivOp(p.v, divisor), 4 * p.most), (f.DivOp(f.MatmulOp(p.v, w), divisor), 4 * bound)]
        case _:
            op, a = p.pick((f.MulOp, s), (f.DivOp, p.above_zero(s)))
            total = p.sum(p.v, p.columns)
            return [(op(p.v, a), 4 * p.most), (op(total, a), 4 * bound)]


def extrema(p: Parts) -> Made:
    reducer, a = p.pick("max", "min"), p.along(p.dim)
    match p.pick(*range(6)):
        case 0:
            inner, bound = f.SubOp(a, p.v), p.most + 2
        case 1:
            inner, bound = f.NegOp(p.v), p.most
        case 2:
            inner, bound = f.DivOp(p.v, p.number(4.0)), p.most
        case 3:
            inner, bound = p.pick(f.ExpOp, f.TanhOp, f.SigmoidOp, f.ReluOp)(p.v), float(np.exp(p.most))
        case 4:
            inner, bound = p.pick(f.MaxOp, f.MinOp)(p.v, p.same()), p.most + 2
        case _:
            inner, bound = f.SubOp(p.v, a), p.most + 2
    return [(f.ReduceOp(reducer, inner, p.dim), bound)]


def nested(p: Parts) -> Made:
    reducer, other = p.pick("sum", "max", "min"), (p.dim + 1) % p.rank
    bound = p.most * p.shape[p.dim] * p.shape[other]
    match p.pick(0, 1, 2):
        case 0:
            return [(f.ReduceOp(reducer, f.ReduceOp(reducer, p.v, p.dim), other), bound)]
        case 1:
            first: int = p.pick(*range(p.rank - 1))
            merged = [*p.shape[:first], p.shape[first] * p.shape[first + 1], *p.shape[first + 2 :]]
            return [(f.ReduceOp(reducer, f.ReshapeOp(p.v, merged), first), bound + 5 * p.most * p.shape[first])]
        case _:
            return [(f.TransposeOp(f.ReduceOp(reducer, p.v, p.dim), p.swapped), bound)]


def variance(p: Parts) -> Made:
    n = float(p.shape[p.dim])
    centred = f.SubOp(p.v, f.DivOp(p.sum(p.v), p.number(n)))
    return [(p.sum(f.MulOp(centred, centred)), 4 * n * p.most**2)]


def vectors(p: Parts) -> Made:
    bound = 2 * p.most * p.shape[-1]
    match p.pick(*range(4)):
        case 0:
            return [(f.MatmulOp(p.v, p.matrix(p.shape[-1], 1)), bound)]
        case 1:
            return [(p.sum(f.MulOp(p.v, p.along(p.rows)), p.columns), bound)]
        case 2:
            return [(f.MatmulOp(p.along(p.columns), p.matrix(1, 3)), 4.0)]
        case _:
            left = f.TransposeOp(p.matrix(p.shape[-1], 3), p.swapped)
            return [(f.MatmulOp(left, f.TransposeOp(p.v, p.swapped)), bound)]


def slices(p: Parts) -> Made:
    extent = p.shape[p.columns]
    if extent < 3:
        return []
    cut = (p.columns, 1, extent, p.pick(1, 2))
    match p.pick(*range(8)):
        case 0:
            op = f.SliceOp(f.MatmulOp(p.matrix(2, p.shape[-2]), p.v), *cut)
            return [(op, 2 * p.most * p.shape[-2])]
        case 1:
            op = f.SliceOp(f.MatmulOp(f.TransposeOp(p.v, p.swapped), p.matrix(p.shape[-2], 2)), p.rows, *cut[1:])
            return [(op, 2 * p.most * p.shape[-2])]
        case 2:
            left = p.matrix(2, p.shape[-2])
            parts = [f.MatmulOp(left, f.SliceOp(p.v, p.columns, a, b, 1)) for a, b in ((0, 2), (2, extent))]
            return [(part, 2 * p.most * p.shape[-2]) for part in parts]
        case 3:
            return [
                (
                    f.SliceOp(p.pick(f.MulOp, f.SubOp)(p.v, p.pick(p.same, lambda: p.along(p.columns))()), *cut),
                    2 * p.most + 2,
                )
            ]
        case 4:
            return [(f.SliceOp(f.SelectOp(p.mask(), p.v, p.number(0.5)), *cut), p.most + 1)]
        case 5:
            return [(f.SliceOp(f.TanhOp(f.TransposeOp(p.v, p.swapped)), p.rows, *cut[1:]), p.most)]
        case 6:
            return [(f.SliceOp(f.SliceOp(f.TanhOp(p.v), *cut), p.columns, 0, 1, 1), 1.0)]
        case _:
            return [(f.SliceOp(p.sum(p.v, p.rows), *cut), p.most * p.shape[-2])]


def exponentials(p: Parts) -> Made:
    match p.pick(0, 1, 2):
        case 0:
            below = f.SubOp(p.v, p.max(p.v))
            return [(f.MulOp(f.ExpOp(below), f.ExpOp(p.below_zero(p.same()))), 1.0)]
        case 1:
            return [(f.LogOp(f.ExpOp(f.MulOp(p.number(4.0), f.TanhOp(p.v)))), 4.0)]
        case _:
            return [(f.ExpOp(f.LogOp(p.above_zero(p.v))), p.most + 0.25)]


def shifts(p: Parts) -> Made:
    if p.pick(True, False):
        y: Operation = f.SubOp(p.v, p.max(p.v))
    else:
        row = f.IotaOp(TensorType(i32, [n if d == p.rows else 1 for d, n in enumerate(p.shape)]), p.rows)
        y = p.pick(f.AddOp, f.SubOp)(p.v, f.CastOp(row, f32))
    return [(f.SubOp(y, p.max(y, p.columns)), 2 * p.most + 10)]


def selects(p: Parts) -> Made:
    c, y = p.mask(), p.same()
    match p.pick(*range(6)):
        case 0:
            return [(f.SelectOp(c, f.TanhOp(p.v), f.TanhOp(y)), 1.0)]
        case 1:
            op = p.pick(f.AddOp, f.MulOp, f.SubOp)
            z = p.same()
            pair = (op(p.v, z), op(y, z)) if p.pick(True, False) else (op(z, p.v), op(z, y))
            return [(f.SelectOp(c, *pair), 2 * p.most + 4)]
        case 2:
            return [(f.ExpOp(f.SelectOp(c, p.v, p.number(-np.inf))), float(np.exp(p.most)))]
        case 3:
            return [(f.SelectOp(c, p.v, p.v), p.most)]
        case 4:
            return [(f.AddOp(f.AbsOp(p.v), f.ExpOp(p.number(-np.inf))), p.most)]
        case _:
            return [(f.SelectOp(f.NotOp(c), p.v, y), p.most + 2)]


def gates(p: Parts) -> Made:
    one = p.number(1.0)
    match p.pick(*range(5)):
        case 0:
            return [(f.DivOp(p.v, f.AddOp(one, f.ExpOp(f.NegOp(p.v)))), p.most)]
        case 1:
            return [(f.RecipOp(f.AddOp(one, f.ExpOp(p.v))), 1.0)]
        case 2:
            return [(f.SubOp(one, f.SigmoidOp(p.v)), 1.0)]
        case 3:
            return [(f.MulOp(p.number(0.5), f.AddOp(one, f.TanhOp(p.v))), 1.0)]
        case _:
            return [(p.pick(f.TanhOp, f.ErfOp, f.SinOp, f.CosOp)(f.NegOp(p.v)), 1.0)]


def elements(p: Parts) -> Made:
    match p.pick(*range(6)):
        case 0:
            return [(f.AddOp(f.MulOp(p.v, p.v), p.number(0.0)), p.most**2)]
        case 1:
            row = f.CastOp(
                f.IotaOp(TensorType(i32, [n if d == p.rows else 1 for d, n in enumerate(p.shape)]), p.rows), f32
            )
            return [(f.SubOp(p.v, f.SubOp(row, row)), p.most)]
        case 2:
            return [(p.pick(f.MaxOp, f.MinOp)(p.v, p.v), p.most)]
        case 3:
            return [(p.pick(f.AbsOp, f.ReluOp)(p.pick(f.SigmoidOp, f.AbsOp)(p.v)), p.most + 1)]
        case 4:
            return [(f.MaxOp(p.v, p.number(p.pick(0.0, -np.inf))), p.most)]
        case _:
            return [(f.MinOp(p.v, p.number(np.inf)), p.most)]


def roots(p: Parts) -> Made:
    r = f.RsqrtOp(p.above_zero(p.v))
    return [(f.RecipOp(r) if p.pick(True, False) else f.DivOp(p.same(), r), 2 * p.most + 2)]


IDIOMS: tuple[Callable[[Parts], Made], ...] = (
    negatives, common_factors, linear, linear, chains, scaled_twice, extrema, nested, variance, vectors, slices, slices,
    exponentials, shifts, selects, gates, elements, roots,
)  # fmt: skip
"""The idioms; two of them stand for more rules than others."""
