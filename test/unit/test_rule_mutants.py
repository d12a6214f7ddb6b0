"""The soundness check has teeth: rules are damaged one at a time, and each damage shows on a small program."""

# ruff: noqa: E501
# Tables read best with a case a line.
from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp, TensorType, f32, i32

from equiforge.dialects import forge
from equiforge.egraph import engine, moved_reshapes, repair, reshape_tables
from equiforge.egraph.catalogue import catalogue, read_catalogue
from equiforge.egraph.encode import encode
from equiforge.egraph.engine import SaturationOptions
from equiforge.egraph.families import synthesize
from equiforge.egraph.repair_forms import Repair
from equiforge.verify.hostile_arguments import DRAWS
from equiforge.verify.programs import program
from equiforge.verify.rule_certificates import check_kind, check_rule
from equiforge.verify.rule_fuzz import first_mismatch, saturate_for_check
from equiforge.verify.rule_proofs import prove_rule

F = forge
OPTIONS = SaturationOptions(max_nodes=1_000, max_rounds=4)
ALGEBRA = replace(OPTIONS, only=("algebra", "structure"))
"""For what shows at tensor level: no tiles, which take most of the time."""


def t(*shape: int) -> TensorType[Any]:
    return TensorType(f32, shape)


def c(value: float, *shape: int) -> Any:
    return F.ConstantOp(value, t(*(shape or (1, 1)))).result


def build(types: list[TensorType[Any]], body: Callable[..., Any]) -> ModuleOp:
    return program(types, body)


def two(first: Any, second: Any) -> Any:
    return [first, second]


def deviations(x: Any, count: float) -> Any:
    d = F.SubOp(x, F.DivOp(F.ReduceOp("sum", x, 1), c(count)))
    return F.ReduceOp("sum", F.MulOp(d, d), 1)


def over(op: Any, a: Any, b: Any, k: Any) -> Any:
    return op(F.DivOp(a, k), F.DivOp(b, k))


def quotients(product: Any, x: Any, k: Any) -> Any:
    return [F.DivOp(product, k), F.DivOp(x, k)]


def combined(outer: Any, inner: Any, a: Any, b: Any, k: Any) -> Any:
    return outer(inner(a, b), inner(a, k))


def scaled(product: Any, x: Any, s: Any) -> Any:
    return [F.MulOp(product, s), F.MulOp(x, s)]


def positive(x: Any) -> Any:
    """A number of at least 1/2, perhaps infinite."""
    return F.MaxOp(x, c(0.5)).result


def limited(x: Any) -> Any:
    """A number of magnitude at most 1."""
    return F.TanhOp(x).result


def shares(e: Any) -> Any:
    return F.DivOp(e, F.ReduceOp("sum", e, 1)).result


def below(x: Any) -> Any:
    """A number that is not positive."""
    return F.NegOp(F.AbsOp(x))


def less_maximum(y: Any) -> Any:
    return F.SubOp(y, F.ReduceOp("max", y, 1))


SQUARE, ROW, COLUMN = t(4, 4), t(1, 4), t(4, 1)

PROGRAMS: dict[str, Callable[[], ModuleOp]] = {
    # One program a kind of rule, with equal extents, so that a wrong dimension is a wrong value and no wrong type.
    "row weight": lambda: build([SQUARE, ROW, SQUARE], lambda x, s, w: F.MatmulOp(F.MulOp(x, limited(s)), w)),
    "column weight": lambda: build([SQUARE, SQUARE, COLUMN], lambda x, w, s: F.MatmulOp(x, F.MulOp(w, limited(s)))),
    "normalized": lambda: build([SQUARE, COLUMN, SQUARE], lambda e, s, v: F.MatmulOp(F.DivOp(e, positive(s)), v)),
    "divided columns": lambda: build([SQUARE, SQUARE, ROW], lambda x, v, s: F.MatmulOp(x, F.DivOp(v, positive(s)))),
    "sum of scaled": lambda: build([SQUARE, SQUARE], lambda x, a: F.ReduceOp("sum", F.MulOp(x, limited(a)), 1)),
    "sum of quotients": lambda: build([SQUARE, COLUMN], lambda x, a: F.ReduceOp("sum", F.DivOp(x, positive(a)), 1)),
    "sum with a repeated summand": lambda: build([SQUARE, COLUMN], lambda x, y: F.ReduceOp("sum", F.AddOp(x, y), 1)),
    "sum of different lengths": lambda: build(
        [SQUARE, COLUMN], lambda x, y: F.AddOp(F.ReduceOp("sum", x, 1), F.ReduceOp("sum", y, 1))
    ),
    "max of scaled": lambda: build([SQUARE], lambda x: F.ReduceOp("max", F.MulOp(x, c(-0.5)), 1)),
    "max of shifted": lambda: build([SQUARE, COLUMN], lambda x, a: F.ReduceOp("max", F.AddOp(x, limited(a)), 1)),
    "transposed product": lambda: build([SQUARE, SQUARE], lambda a, b: F.TransposeOp(F.MatmulOp(a, b), [1, 0])),
    "square of a root": lambda: build(
        [SQUARE], lambda x: F.MulOp(F.SqrtOp(x), F.SqrtOp(x))
    ),
    "product": lambda: build([SQUARE, SQUARE], lambda a, b: F.MatmulOp(a, b)),
    # Groups that are contracted twice, or cut and contracted, without a tensor of the program that has them twice.
    "square and product": lambda: build([SQUARE, t(4, 3)], lambda a, b: F.MatmulOp(F.MatmulOp(a, a), b)),
    "three products of two": lambda: build([t(4, 3), t(3, 4)], lambda a, b: F.MatmulOp(b, F.MatmulOp(a, b))),
    "product squared": lambda: build([t(4, 3), t(3, 4)], lambda a, b: F.MatmulOp(F.MatmulOp(a, b), F.MatmulOp(a, b))),
    "batched product": lambda: build([t(4, 4, 4), t(1, 4, 4)], lambda a, b: F.MatmulOp(a, b)),
    "exp of a product": lambda: build([SQUARE, SQUARE], lambda a, b: F.ExpOp(F.TanhOp(F.MatmulOp(a, b)))),
    "exp of a batched product": lambda: build([t(4, 3, 4), t(1, 4, 3)], lambda a, b: F.TanhOp(F.MatmulOp(a, b))),
    "reduction": lambda: build([t(4, 4, 4)], lambda x: F.ReduceOp("sum", x, 1)),
    "batched sum": lambda: build([SQUARE], lambda x: F.ReduceOp("sum", x, 1)),
    "outer sum reduced": lambda: build([ROW, COLUMN], lambda a, b: F.ReduceOp("sum", F.AddOp(a, b), 1)),
    "exp of a reduction": lambda: build([SQUARE], lambda x: F.TanhOp(F.ReduceOp("sum", x, 1))),
    "computed transpose": lambda: build([t(4, 4, 4)], lambda x: F.TransposeOp(F.ExpOp(x), [1, 2, 0])),
    "two transposes": lambda: build([t(3, 3, 3)], lambda x: F.TransposeOp(F.TransposeOp(x, [1, 0, 2]), [0, 2, 1])),
    "computed slice": lambda: build([SQUARE], lambda x: F.SliceOp(F.ExpOp(x), 1, 1, 3, 1)),
    "computed reshape": lambda: build([t(2, 2, 4)], lambda x: F.ReshapeOp(F.ExpOp(x), [4, 4])),
    "computed expand": lambda: build([COLUMN], lambda x: F.ExpandOp(F.ExpOp(x), [4, 4])),
    "outer sum": lambda: build([ROW, COLUMN], lambda a, b: F.AddOp(a, b)),
    "difference": lambda: build([SQUARE, ROW], lambda a, b: F.SubOp(a, b)),
    "differences": lambda: build([SQUARE, SQUARE, SQUARE], lambda a, b, k: F.SubOp(F.SubOp(a, b), k)),
    "sum with the transpose": lambda: build([SQUARE], lambda x: F.AddOp(x, F.TransposeOp(x, [1, 0]))),
    "selected": lambda: build([SQUARE, ROW, COLUMN], lambda x, a, b: F.SelectOp(F.CompareOp("gt", x, c(0.0)), a, b)),
    "sigmoid": lambda: build([SQUARE], lambda x: F.RecipOp(F.AddOp(c(1.0), F.ExpOp(x)))),
    "two over": lambda: build([SQUARE], lambda x: F.DivOp(c(2.0), F.ExpOp(x))),
    "times zero": lambda: build([SQUARE], lambda x: F.MulOp(x, c(0.0))),
    "minus": lambda: build([SQUARE], lambda x: F.SubOp(c(0.0), x)),
    "scaled quotient": lambda: build([SQUARE, COLUMN, SQUARE], lambda a, b, k: F.MulOp(F.DivOp(a, F.ExpOp(b)), k)),
    "by a root": lambda: build([SQUARE, COLUMN], lambda a, b: F.DivOp(a, F.SqrtOp(F.ExpOp(b)))),
    "joined": lambda: build([SQUARE, t(4, 3)], lambda x, y: F.ConcatOp([x, y], 1)),
    "slice of a difference": lambda: build([SQUARE, ROW], lambda x, y: F.SliceOp(F.SubOp(x, y), 0, 1, 4)),
    "slice of a choice": lambda: build(
        [SQUARE, ROW, COLUMN], lambda x, a, b: F.SliceOp(F.SelectOp(F.CompareOp("gt", x, c(0.0)), a, b), 1, 0, 3)
    ),
    "slice of a slice": lambda: build([t(9, 2)], lambda x: F.SliceOp(F.SliceOp(F.ExpOp(x), 0, 1, 9, 2), 0, 1, 4, 2)),
    "slice of sums": lambda: build([t(4, 4, 4)], lambda x: F.SliceOp(F.ReduceOp("sum", x, 1), 2, 1, 3)),
    "rows of a product": lambda: build([SQUARE, SQUARE], lambda a, b: F.SliceOp(F.MatmulOp(a, b), 0, 1, 3)),
    "columns of a product": lambda: build([SQUARE, SQUARE], lambda a, b: F.SliceOp(F.MatmulOp(a, b), 1, 1, 3)),
    "batches of a product": lambda: build(
        [t(4, 4, 4), t(4, 4, 4)], lambda a, b: F.SliceOp(F.MatmulOp(a, b), 0, 1, 3)
    ),
    "transposed slice": lambda: build(
        [t(4, 4, 4)], lambda x: F.TransposeOp(F.SliceOp(F.ExpOp(x), 0, 1, 3), [1, 2, 0])
    ),
    "reshaped difference": lambda: build([t(2, 2, 4), t(1, 1, 4)], lambda x, y: F.ReshapeOp(F.SubOp(x, y), [4, 4])),
    "reshaped slice": lambda: build([t(2, 2, 4)], lambda x: F.ReshapeOp(F.SliceOp(F.ExpOp(x), 2, 1, 3), [4, 2])),
    "interleaved": lambda: build(
        [t(3, 4, 1), t(3, 4, 1)], lambda x, y: F.ReshapeOp(F.ConcatOp([x, y], 2), [3, 8])
    ),
    "expanded difference": lambda: build([COLUMN, COLUMN], lambda x, y: F.ExpandOp(F.SubOp(x, y), [4, 4])),
    "expanded slice": lambda: build([t(6, 1)], lambda x: F.ExpandOp(F.SliceOp(F.ExpOp(x), 0, 1, 4), [3, 4])),
    # Splits and merges of two by two, so that an exchange of dimensions is a wrong value.
    "heads of a product": lambda: build([t(2, 2), t(2, 8)], lambda a, b: F.ReshapeOp(F.MatmulOp(a, b), [2, 2, 2, 2])),
    "merged batches": lambda: build([t(2, 2, 2), t(2, 2, 2)], lambda a, b: F.ReshapeOp(F.MatmulOp(a, b), [4, 2])),
    "split sums": lambda: build([t(4, 3)], lambda x: F.ReshapeOp(F.ReduceOp("sum", x, 1), [2, 2, 1])),
    "sums of merged dimensions": lambda: build([t(2, 4, 2)], lambda x: F.ReshapeOp(F.ReduceOp("sum", x, 1), [4, 1])),
    "repeated rows": lambda: build([t(2, 1, 3)], lambda x: F.ReshapeOp(F.ExpandOp(F.ExpOp(x), [2, 2, 3]), [4, 3])),
    "repeated block": lambda: build([t(1, 2, 3)], lambda x: F.ReshapeOp(F.ExpandOp(F.ExpOp(x), [2, 2, 3]), [4, 3])),
    "merged heads": lambda: build([t(2, 2, 2), t(4, 3)], lambda x, w: F.MatmulOp(F.ReshapeOp(F.ExpOp(x), [2, 4]), w)),
    "merged rows": lambda: build([t(2, 4), t(2, 2, 3)], lambda x, w: F.MatmulOp(x, F.ReshapeOp(F.ExpOp(w), [4, 3]))),
    "gated merge": lambda: build([t(2, 2, 2), t(1, 4)], lambda x, y: F.SubOp(F.ReshapeOp(F.ExpOp(x), [2, 4]), y)),
    "merge taken off": lambda: build([t(2, 2, 2), t(1, 4)], lambda x, y: F.SubOp(y, F.ReshapeOp(F.ExpOp(x), [2, 4]))),
    "turned merge": lambda: build([t(2, 2, 2)], lambda x: F.TransposeOp(F.ReshapeOp(F.ExpOp(x), [4, 2]), [1, 0])),
    "turned split": lambda: build([t(2, 2, 4)], lambda x: F.TransposeOp(F.ReshapeOp(F.ExpOp(x), [4, 2, 2]), [2, 1, 0])),
    "tanh of a merge": lambda: build([t(2, 2, 2)], lambda x: F.TanhOp(F.ReshapeOp(F.ExpOp(x), [2, 4]))),
    "max of negated": lambda: build([SQUARE], lambda x: F.ReduceOp("max", F.NegOp(x), 1)),
    "max of difference": lambda: build([SQUARE, COLUMN], lambda x, a: F.ReduceOp("max", F.SubOp(limited(a), x), 1)),
    "max of quotients": lambda: build([SQUARE], lambda x: F.ReduceOp("max", F.DivOp(x, c(-4.0)), 1)),
    "max of a cosine": lambda: build([SQUARE], lambda x: F.ReduceOp("max", F.CosOp(x), 1)),
    "sum of products": lambda: build([SQUARE, SQUARE], lambda x, y: F.ReduceOp("sum", F.MulOp(x, y), 1)),
    "product of sums": lambda: build([SQUARE, SQUARE], lambda x, y: two(F.MulOp(F.ReduceOp("sum", x, 1), F.ReduceOp("sum", y, 1)), F.MulOp(x, y))),
    "maximum of sums": lambda: build([t(4, 4, 4)], lambda x: F.ReduceOp("max", F.ReduceOp("sum", x, 2), 1)),
    "deviations": lambda: build([SQUARE], lambda x: deviations(x, 3.0)),
    "mean deviations": lambda: build([SQUARE], lambda x: deviations(x, 4.0)),
    "maximum of scaled": lambda: build([SQUARE] * 3, lambda a, b, k: combined(F.MaxOp, F.MulOp, limited(a), b, k)),
    "product of quotients": lambda: build([SQUARE, SQUARE, COLUMN], lambda a, b, k: over(F.MulOp, a, b, positive(k))),
    "gated maximum": lambda: build([SQUARE] * 3, lambda a, b, k: F.MulOp(F.TanhOp(a), F.MaxOp(b, k))),
    "product of products": lambda: build([SQUARE] * 3, lambda a, b, k: combined(F.MulOp, F.MatmulOp, limited(a), b, k)),
    "difference of products": lambda: build([SQUARE] * 3, lambda a, b, k: combined(F.SubOp, F.MatmulOp, limited(a), b, k)),
    "updated weight": lambda: build([SQUARE, SQUARE, t(4, 2), t(2, 4)], lambda x, w, u, v: F.MatmulOp(limited(x), F.SubOp(w, F.MatmulOp(u, v)))),
    "updated states": lambda: build([SQUARE, SQUARE, t(4, 2), t(2, 4)], lambda x, w, u, v: F.MatmulOp(F.SubOp(x, F.MatmulOp(u, v)), limited(w))),
    "chain": lambda: build([SQUARE] * 3, lambda a, b, k: F.MatmulOp(F.MatmulOp(a, b), k)),
    "chain from the right": lambda: build([SQUARE] * 3, lambda a, b, k: F.MatmulOp(a, F.MatmulOp(b, k))),
    "low-rank update": lambda: build([t(2, 4), SQUARE, SQUARE, SQUARE], lambda x, w, a, b: F.MatmulOp(x, F.SubOp(F.MatmulOp(a, b), w))),
    "low-rank difference": lambda: build([SQUARE] * 4, lambda x, w, a, b: F.SubOp(F.MatmulOp(F.MatmulOp(x, a), b), F.MatmulOp(x, w))),
    "transposed sum": lambda: build([t(4, 4, 4)], lambda x: F.TransposeOp(F.ReduceOp("sum", x, 1), [1, 2, 0])),
    "product of transposes": lambda: build([SQUARE] * 2, lambda a, b: F.MatmulOp(F.TransposeOp(b, [1, 0]), F.TransposeOp(a, [1, 0]))),
    "scaled product": lambda: build([SQUARE, SQUARE, SQUARE], lambda x, s, w: scaled(F.MatmulOp(x, w), x, limited(s))),
    "quotient of a product": lambda: build([SQUARE, COLUMN, SQUARE], lambda x, s, w: quotients(F.MatmulOp(x, w), x, positive(s))),
    "matrix and vector": lambda: build([SQUARE, COLUMN], lambda a, v: F.MatmulOp(a, v)),
    "sliced columns": lambda: build([SQUARE, SQUARE], lambda a, b: F.SliceOp(F.MatmulOp(a, b), 1, 1, 4, 2)),
    "product of parts": lambda: build([t(4, 2), SQUARE], lambda a, b: two(F.MatmulOp(a, F.SliceOp(b, 0, 0, 2, 1)), F.MatmulOp(a, F.SliceOp(b, 0, 2, 4, 1)))),
    "every second of every second": lambda: build([t(8, 4)], lambda x: F.SliceOp(F.SliceOp(F.ExpOp(x), 0, 1, 8, 2), 0, 1, 3, 1)),
    "slice of a transpose": lambda: build([SQUARE], lambda x: F.SliceOp(F.TransposeOp(F.ExpOp(x), [1, 0]), 0, 1, 3, 1)),
    "slice of a sum": lambda: build([SQUARE], lambda x: F.SliceOp(F.ReduceOp("sum", x, 1), 1, 0, 1, 1)),
    "product of exponentials": lambda: build([SQUARE] * 2, lambda a, b: F.MulOp(F.ExpOp(below(a)), F.ExpOp(below(b)))),
    "bounded exponential": lambda: build([SQUARE], lambda a: F.ExpOp(F.ExpOp(F.TanhOp(a)))),
    "exponential of a logarithm": lambda: build([SQUARE], lambda a: F.ExpOp(F.LogOp(a))),
    "maximum of columns": lambda: build([SQUARE], lambda x: shares(F.ExpOp(less_maximum(F.SubOp(x, F.ReduceOp("max", x, 0)))).result)),
    "shift by position": lambda: build([SQUARE], lambda x: less_maximum(F.AddOp(x, F.CastOp(F.IotaOp(TensorType(i32, (1, 4)), 1), f32)))),
    "selected exponentials": lambda: build([SQUARE] * 3, lambda x, a, b: F.SelectOp(F.CompareOp("gt", x, c(0.0)), F.ExpOp(a), F.ExpOp(b))),
    "selected differences": lambda: build([SQUARE] * 3, lambda x, a, b: F.SelectOp(F.CompareOp("gt", x, c(0.0)), F.SubOp(a, x), F.SubOp(b, x))),
    "selected constant": lambda: build([SQUARE] * 2, lambda x, a: F.ExpOp(F.SelectOp(F.CompareOp("gt", x, c(0.0)), a, c(1.0)))),
    "less an exponential": lambda: build([SQUARE], lambda x: F.SubOp(x, F.ExpOp(c(-1.0)))),
    "widened choice": lambda: build([SQUARE, COLUMN], lambda x, a: F.SelectOp(F.CompareOp("gt", x, c(0.0)), a, a)),
    "inverted condition": lambda: build([SQUARE] * 2, lambda x, a: F.SelectOp(F.NotOp(F.CompareOp("gt", x, c(0.0))), x, a)),
    "falling silu": lambda: build([SQUARE], lambda x: F.DivOp(x, F.AddOp(c(1.0), F.ExpOp(x)))),
    "two less a sigmoid": lambda: build([SQUARE], lambda x: F.SubOp(c(2.0), F.SigmoidOp(x))),
    "twice a tanh": lambda: build([SQUARE], lambda x: F.MulOp(c(2.0), F.AddOp(c(1.0), F.TanhOp(x)))),
    "exponential of a negative": lambda: build([SQUARE], lambda x: F.ExpOp(F.NegOp(x))),
    "sum of a negative": lambda: build([SQUARE] * 2, lambda a, b: F.AddOp(F.NegOp(a), b)),
    "magnitude": lambda: build([SQUARE], lambda x: F.AbsOp(x)),
    "positive part": lambda: build([SQUARE], lambda x: F.ReluOp(x)),
    "at least one": lambda: build([SQUARE], lambda x: F.MaxOp(x, c(1.0))),
    "less a difference": lambda: build([SQUARE], lambda x: F.SubOp(x, F.SubOp(c(1.0), c(3.0)))),
    "doubled": lambda: build([SQUARE], lambda x: F.AddOp(x, x)),
    "less a negative": lambda: build([SQUARE] * 2, lambda a, b: F.SubOp(a, F.NegOp(b))),
    "root of a sum": lambda: build([SQUARE] * 2, lambda a, b: F.AbsOp(F.AddOp(F.AbsOp(a), b))),
    # Operands that may be 0 or infinite, where a rule asks for one that is not.
    "any row scale": lambda: build([SQUARE, COLUMN, SQUARE], lambda x, s, w: F.MatmulOp(F.MulOp(x, s), w)),
    "any column scale": lambda: build([SQUARE, SQUARE, ROW], lambda x, w, s: F.MatmulOp(x, F.MulOp(w, s))),
    "any normalizer": lambda: build([SQUARE, COLUMN, SQUARE], lambda e, s, v: F.MatmulOp(F.DivOp(e, s), v)),
    "any column divisor": lambda: build([SQUARE, SQUARE, ROW], lambda x, v, s: F.MatmulOp(x, F.DivOp(v, s))),
    "any scaled product": lambda: build([SQUARE, COLUMN, SQUARE], lambda x, s, w: scaled(F.MatmulOp(x, w), x, s)),
    "any scaled columns": lambda: build([SQUARE, ROW, SQUARE], lambda x, s, w: scaled(F.MatmulOp(x, w), w, s)),
    "any quotient of a product": lambda: build([SQUARE, COLUMN, SQUARE], lambda x, s, w: quotients(F.MatmulOp(x, w), x, s)),
    "any factor of a sum": lambda: build([SQUARE, COLUMN], lambda x, a: F.ReduceOp("sum", F.MulOp(x, a), 1)),
    "any divisor of a sum": lambda: build([SQUARE, COLUMN], lambda x, a: F.ReduceOp("sum", F.DivOp(x, a), 1)),
    "any scaled sum": lambda: build([SQUARE, COLUMN], lambda x, a: scaled(F.ReduceOp("sum", x, 1), x, a)),
    "any quotient of a sum": lambda: build([SQUARE, COLUMN], lambda x, a: quotients(F.ReduceOp("sum", x, 1), x, a)),
    "any factor": lambda: build([SQUARE] * 3, lambda a, b, k: combined(F.SubOp, F.MulOp, a, b, k)),
    "any divisor": lambda: build([SQUARE, SQUARE, COLUMN], lambda a, b, k: over(F.SubOp, a, b, k)),
    "any left factor": lambda: build([SQUARE] * 3, lambda a, b, k: combined(F.SubOp, F.MatmulOp, a, b, k)),
    "any right factor": lambda: build([SQUARE] * 3, lambda a, b, k: F.SubOp(F.MatmulOp(a, k), F.MatmulOp(b, k))),
    "any updated weight": lambda: build([SQUARE, SQUARE, t(4, 2), t(2, 4)], lambda x, w, u, v: F.MatmulOp(x, F.SubOp(w, F.MatmulOp(u, v)))),
    "any updated states": lambda: build([SQUARE, SQUARE, t(4, 2), t(2, 4)], lambda x, w, u, v: F.MatmulOp(F.SubOp(x, F.MatmulOp(u, v)), w)),
    "any shift": lambda: build([SQUARE, COLUMN], lambda x, a: F.ReduceOp("max", F.AddOp(x, a), 1)),
    "any minuend": lambda: build([SQUARE, COLUMN], lambda x, a: F.ReduceOp("max", F.SubOp(a, x), 1)),
    "any positive factor": lambda: build([SQUARE, COLUMN], lambda x, a: F.ReduceOp("max", F.MulOp(x, positive(a)), 1)),
    "any positive divisor": lambda: build([SQUARE, COLUMN], lambda x, a: F.ReduceOp("max", F.DivOp(x, positive(a)), 1)),
    "scale of a zero row": lambda: build([SQUARE, COLUMN, SQUARE], lambda x, s, w: F.MatmulOp(F.MulOp(x, F.RsqrtOp(F.AbsOp(s))), w)),
    "scale of zero": lambda: build([SQUARE, COLUMN, SQUARE], lambda x, s, w: F.MatmulOp(F.MulOp(x, F.RsqrtOp(F.AddOp(F.AbsOp(s), F.AbsOp(s)))), w)),
    "shares of any sign": lambda: build([SQUARE, SQUARE], lambda x, v: F.MatmulOp(shares(x), v)),
    "over zero": lambda: build([SQUARE, SQUARE], lambda x, v: F.MatmulOp(F.DivOp(x, c(0.0)), v)),
    "over another maximum": lambda: build([SQUARE, SQUARE, SQUARE], lambda x, v, w: F.MatmulOp(F.DivOp(w, F.ReduceOp("sum", F.ExpOp(F.SubOp(x, F.ReduceOp("max", x, 0))), 1)), v)),
    "shifted softmax": lambda: build([SQUARE], lambda x: shares(F.ExpOp(less_maximum(less_maximum(x))).result)),
    "softmax": lambda: build(
        [t(2, 6)], lambda x: F.ReduceOp("sum", F.ExpOp(F.SubOp(x, F.ReduceOp("max", x, 1))), 1)
    ),
}  # fmt: skip

ONE_ARRAY = (
    "(= stored (collected p (ty x))))\n      ((let y (Collect p a))",
    "(= stored (collected p (ty x))) (= x (PReduce f p b)))\n      ((let y (Collect p a)) (union y (Collect p b))",
)
MUTANTS: list[tuple[str, str, str, str, str]] = [
    # rule, what is damaged, old text, new text, program that shows it
    ("row-scale", "no side condition", "(= 1 (vec-get ts (- r 1)))", "", "row weight"),
    ("column-scale", "no side condition", "(= 1 (vec-get ts (- r 2)))", "", "column weight"),
    ("contraction-scale", "not transposed", '"mul" w (Transpose p g)', '"mul" w g', "row weight"),
    ("normalize-after-product", "operands swapped", '"div" m l', '"div" l m', "normalized"),
    ("divide-columns-after-product", "another operator", '"div" m l', '"mul" m l', "divided columns"),
    ("sum-of-scaled", "no side condition", "(= 1 (vec-get ta d))", "", "sum of scaled"),
    ("sum-of-quotients", "operands swapped", '"div" (Reduce "sum" d x) a', '"div" a (Reduce "sum" d x)', "sum of quotients"),
    ("sum-of-sum", "no side condition", "(= (ty y) (ty xy))", "", "sum with a repeated summand"),
    ("sum-of-sum-back", "no side condition", "(= (ty x) (ty y))", "", "sum of different lengths"),
    ("max-of-scaled", "no sign", "(positive a)", "", "max of scaled"),
    ("max-of-shifted", "another operator", "(Binary o (Reduce", '(Binary "sub" (Reduce', "max of shifted"),
    ("transpose-product", "operands swapped", "(MatMul (Transpose p b) (Transpose p a))", "(MatMul (Transpose p a) (Transpose p b))", "transposed product"),
    ("sqrt-squared", "no sign", "(nonneg a)", "", "square of a root"),
    ("recognise-sigmoid", "exp(x) for exp(-x)", '(Unary "exp" (Unary "neg" x))', '(Unary "exp" x)', "sigmoid"),
    ("one-over", "another constant", "(= 1.0 (constant a))", "(= 2.0 (constant a))", "two over"),
    ("divide-by-sqrt", "operands swapped", '"mul" a (Unary "rsqrt" b)', '"mul" b (Unary "rsqrt" a)', "by a root"),
    ("times-one", "another constant", "(= 1.0 (constant o))", "(= 0.0 (constant o))", "times zero"),
    ("subtract-zero", "operands swapped", '(Binary "sub" x z)', '(Binary "sub" z x)', "minus"),
    ("divide-last", "operands swapped", '(Binary "div" (Binary "mul" a c) b)', '(Binary "div" (Binary "mul" a b) c)', "scaled quotient"),
    ("commute", "no side condition", "(commutes o)", "", "difference"),
    ("associate", "no side condition", "(associates o)", "", "differences"),
    ("tile-product", "operands swapped", "(TileMatMul a b)", "(TileMatMul b a)", "product"),
    ("refine-rows", "wrong operand", "(MatMul (View i p a) (View -1 p b))", "(MatMul (View -1 p a) (View i p b))", "product"),
    ("refine-columns", "wrong dimension", "(= i (- r 1))", "(= i (- r 2))", "product"),
    ("refine-batch", "replicated operand", "(View ia p a) (View ib p b)", "(View -1 p a) (View ib p b)", "batched product"),
    ("refine-contraction", "wrong dimension", "(View kb p b)", "(View k p b)", "product"),
    ("refine-reduction", "wrong dimension", "(View d p a)", "(View 0 p a)", "reduction"),
    ("refine-reduction", "another reducer", "(PReduce f p m)", '(PReduce "max" p m)', "reduction"),
    ("refine-reduction-output", "reduced dimension", "(View i p a)", "(View d p a)", "reduction"),
    ("partition-binary", "operands swapped", "(View ia p a) (View ib p b)", "(View ib p a) (View ia p b)", "outer sum"),
    ("partition-select", "operands swapped", "(View ia p a) (View ib p b)", "(View ia p b) (View ib p a)", "selected"),
    ("view-product-rows", "operands swapped", "(View i p a) (View -1 p b)", "(View i p b) (View -1 p a)", "exp of a product"),
    ("view-product-columns", "wrong dimension", "(= i (- r 1))", "(= i (- r 2))", "exp of a product"),
    ("view-product-batch", "no side condition", "(< i (- r 2))", "", "exp of a batched product"),
    ("partition-transpose", "wrong dimension", "(View (vec-get perm i) p a)", "(View i p a)", "computed transpose"),
    ("transpose-transpose", "wrong order", "(composed p q)", "(composed q p)", "two transposes"),
    ("view-slice", "no side condition", "(!= i (vec-get s 0))", "", "computed slice"),
    (
        "view-expand",
        "no side condition",
        "(= i (| i (min 0 (vec-get t (+ i (/ (vec-length t) 2))))))",
        "",
        "computed expand",
    ),
    ("view-order", "dimensions swapped", "(View j q (View i p a))", "(View i q (View j p a))", "product"),
    ("partials-collect", "another value", "(Collect p a)", "(Collect p (View -1 p x))", "batched sum"),
    ("store-partials", "wrong dimension", "(Reduce f 0 y)", "(Reduce f 1 y)", "batched sum"),
    ("partials-combine", "wrong dimension", "(View (+ i 1) q y)", "(View i q y)", "batched sum"),
    ("concat-select", "edge off by one", "(vec-of d na 0 1 0 na na)", "(vec-of d (+ na 1) 0 1 0 (+ na 1) (+ na 1))", "joined"),
    ("concat-select", "operands swapped", "(Select m first second)", "(Select m second first)", "joined"),
    ("pick-place", "index shifted", "(let g (Gather d a j))", "(let g (Gather d a (Index tj (vec-set s 1 (+ 1 (vec-get s 1))))))", "joined"),
    ("pick-broadcast", "no side condition", "(= 1 (vec-get ta d))", "", "slice of a difference"),
    ("slice-places", "start off by one", "(vec-get s 1) (vec-get s 3)", "(- (vec-get s 1) 1) (vec-get s 3)", "computed slice"),
    ("slice-places", "bound off by one", "(- n 1)", "(- n 2)", "slice of a difference"),
    ("gather-binary", "operands swapped", "(Binary o ga gb)", "(Binary o gb ga)", "slice of a difference"),
    ("gather-select", "operands swapped", "(Select gc ga gb)", "(Select gc gb ga)", "slice of a choice"),
    ("gather-reduce", "wrong dimension", "(Reduce f e g)", "(Reduce f d g)", "slice of sums"),
    ("gather-product-rows", "wrong dimension", "(= d (- r 2))", "(= d (- r 1))", "columns of a product"),
    ("gather-product-columns", "wrong dimension", "(= d (- r 1))", "(= d (- r 2))", "rows of a product"),
    ("gather-product-batch", "operands swapped", "(MatMul ga gb)", "(MatMul gb ga)", "batches of a product"),
    ("transpose-gather", "wrong dimension", "(= d (vec-get p e))", "(= e (vec-get p d))", "transposed slice"),
    ("transpose-places", "wrong dimension", "(= (vec-get s 0) (vec-get p e))", "(= e (vec-get s 0))", "transposed slice"),
    ("places-at-places", "start not scaled", "(+ b (* m (vec-get z 1)))", "(+ b (vec-get z 1))", "slice of a slice"),
    ("places-at-places", "step not scaled", "(* m (vec-get z 2))", "(vec-get z 2)", "slice of a slice"),
    ("gather-gather", "wrong order", "(let jk (Gather d j k))", "(let jk (Gather d k j))", "slice of a slice"),
    ("view-gather", "no side condition", "(!= i d)", "", "joined"),
    ("partition-gather", "operand cut", "(View -1 p a)", "(View d p a)", "joined"),
    ("reshape-binary", "operands swapped", "(Binary o ga gb)", "(Binary o gb ga)", "reshaped difference"),
    ("reshape-gather", "another dimension", "(vec-set z 0 e)", "z", "reshaped slice"),
    ("interleave", "the other first", "(Select m ga gb)", "(Select m gb ga)", "interleaved"),
    ("interleave", "no repetition", "(vec-of e 0 1 2 0 0 (- n 1))", "(vec-of e 0 1 1 0 0 (- n 1))", "interleaved"),
    ("expand-left", "operands swapped", "(Binary o g b)", "(Binary o b g)", "expanded difference"),
    ("expand-gather", "the gathered extent", "(vec-set s d n)", "s", "expanded slice"),
    ("view-of-combine", "any dimension", "(View i p (Combine i p a))", "(View i p (Combine j p a))", "sum with the transpose"),
    ("partials-of-tiles", "wrong dimension", "(Combine (+ i 1) q y)", "(Combine (+ i 2) q y)", "product"),
    ("partials-combine", "wrong tile", "(View i q a)", "(View -1 q a)", "batched sum"),
    ("partials-collect", "one array for a total", *ONE_ARRAY, "square and product"),
    ("partials-combine", "by the same axis", "(!= p q)", "", "square and product"),
    ("reshape-product", "wrong order of dimensions", "(Transpose q m)", "(Transpose p m)", "heads of a product"),
    ("reshape-product", "wrong dimension first", "(Transpose p rb)", "(Transpose q rb)", "heads of a product"),
    ("reshape-product", "operands swapped", "(MatMul ra pb)", "(MatMul pb ra)", "heads of a product"),
    ("reshape-reduction", "wrong dimension", "(Reduce f e ra)", "(Reduce f 0 ra)", "split sums"),
    ("reshape-reduction", "another reducer", "(Reduce f e ra)", '(Reduce "max" e ra)', "split sums"),
    ("reshape-repetition", "each row once", "each period 0", "1 period 0", "repeated rows"),
    ("reshape-repetition", "no period", "each period 0", "each 0 0", "repeated block"),
    ("reshape-repetition", "each and period swapped", "each period 0", "period each 0", "repeated rows"),
    ("merged-left-contraction", "not transposed", "(Transpose q ra)", "ra", "merged heads"),
    ("merged-left-contraction", "another reducer", '(Reduce "sum" h m)', '(Reduce "max" h m)', "merged heads"),
    ("merged-left-contraction", "replicated operand", "(View h p rb)", "(View -1 p rb)", "merged heads"),
    ("merged-right-contraction", "operands swapped", "(MatMul (View h p qa) (View h p rb))", "(MatMul (View h p rb) (View h p qa))", "merged rows"),
    ("merged-right-contraction", "another reducer", '(PReduce "sum" p e)', '(PReduce "max" p e)', "merged rows"),
    ("merged-right-contraction", "wrong dimension", "(View h p rb)", "(View 1 p rb)", "merged rows"),
    ("merge-after-unary", "another operator", "(let y (Unary o a))", '(let y (Unary "abs" a))', "tanh of a merge"),
    ("merge-after-unary", "not merged", "(union x (Reshape s y))", "(union x y)", "tanh of a merge"),
    ("merge-after-left", "operands swapped", "(Binary o a rb)", "(Binary o rb a)", "gated merge"),
    ("merge-after-right", "operands swapped", "(Binary o rb a)", "(Binary o a rb)", "merge taken off"),
    ("merge-after-transpose", "not transposed", "(Transpose q a)", "a", "turned merge"),
    ("transpose-same", "no side condition", "(identity p)", "", "computed transpose"),
]  # fmt: skip

ALGEBRA_MUTANTS: list[tuple[str, str, str, str, str]] = [
    ("max-of-negated", "not the dual", "(Reduce g d x)", "(Reduce f d x)", "max of negated"),
    ("max-of-difference", "not the dual", "(Reduce g d x)", "(Reduce f d x)", "max of difference"),
    ("max-of-quotients", "no sign", "(positive a)", "", "max of quotients"),
    ("max-of-monotone", "any function", "(increasing h)", "", "max of a cosine"),
    ("sum-of-sum", "any operators", "(splits f o)", "", "sum of products"),
    ("sum-of-sum-back", "any operators", "(splits f o)", "", "product of sums"),
    ("exchange-reductions", "another reducer", "(Reduce f d (Reduce f e x))", "(Reduce f d (Reduce g e x))", "maximum of sums"),
    ("reduce-one", "no side condition", "(= 1 (vec-get (ty x) d))", "", "batched sum"),
    ("variance-in-one-pass", "another divisor", "(= (constant n) (to-f64 (vec-get (ty x) d)))", "(= v (constant n))", "deviations"),
    ("variance-in-one-pass", "wrong correction", '(Binary "mul" u s)', '(Binary "mul" u u)', "mean deviations"),
    ("factor", "any operator", "(additive o)", "", "maximum of scaled"),
    ("common-divisor", "any operator", "(additive o)", "", "product of quotients"),
    ("distribute", "any operator", "(additive o)", "", "gated maximum"),
    ("common-left-factor", "any operator", "(additive o)", "", "product of products"),
    ("common-left-factor", "operands swapped", "(Binary o b c)", "(Binary o c b)", "difference of products"),
    ("multiply-sum", "operands swapped", "(Binary o m n)", "(Binary o n m)", "updated weight"),
    ("sum-multiplied", "operands swapped", "(Binary o m n)", "(Binary o n m)", "updated states"),
    ("associate-right", "wrong order", "(MatMul b c)", "(MatMul c b)", "chain"),
    ("associate-left", "wrong order", "(MatMul a b)", "(MatMul b a)", "chain from the right"),
    ("merge-low-rank", "wrong order", "(Binary o (MatMul a b) w)", "(Binary o w (MatMul a b))", "low-rank difference"),
    ("transpose-reduction", "wrong dimension", "(= d (vec-get p j))", "(= j d)", "transposed sum"),
    ("product-of-transposes", "operands swapped", "(MatMul a b)", "(MatMul b a)", "product of transposes"),
    ("row-scale-back", "no side condition", "(= 1 (vec-get (ty s) (- r 1)))", "", "scaled product"),
    ("normalize-before-product", "operands swapped", "(MatMul el v)", "(MatMul v el)", "quotient of a product"),
    ("outer-product", "no side condition", "(= 1 (vec-get ta (- (/ (vec-length ta) 2) 1)))", "", "product"),
    ("matrix-vector", "not transposed", "(Transpose p b)", "b", "matrix and vector"),
    ("matrix-vector-back", "no side condition", "(= 1 (vec-get tv (- r 2)))", "", "sum of scaled"),
    ("slice-columns", "wrong operand", "(MatMul a s)", "(MatMul s a)", "sliced columns"),
    ("slice-rows", "wrong dimension", "(= d (- r 2))", "(= d (- r 1))", "sliced columns"),
    ("one-product-of-parts", "no side condition", "(= d (- (/ (vec-length (ty x)) 2) 1))", "", "product of parts"),
    ("slice-of-slice", "no step", "(+ b (* k (vec-get q 1)))", "(+ b (vec-get q 1))", "every second of every second"),
    ("slice-transpose", "wrong dimension", "(vec-set p 0 e)", "p", "slice of a transpose"),
    ("reduction-sliced", "no side condition", "(!= d e)", "", "slice of a sum"),
    ("exp-of-sum", "another operator", '(Binary "add" a b)', '(Binary "sub" a b)', "product of exponentials"),
    ("log-of-exp", "operands swapped", '(Unary "log" (Unary "exp" a))', '(Unary "exp" (Unary "exp" a))', "bounded exponential"),
    ("exp-of-log", "no sign", "(positive a)", "", "exponential of a logarithm"),
    ("shift-twice", "another maximum", '(= m (Reduce "max" d x))', '(= m (Reduce "max" e x))', "maximum of columns"),
    ("shift-cancels", "no side condition", "(= 1 (vec-get (ty c) d))", "", "shift by position"),
    ("select-unary", "choices swapped", "(Select c a b)", "(Select c b a)", "selected exponentials"),
    ("select-left", "wrong operand", "(Binary o (Select c a b) y)", "(Binary o y (Select c a b))", "selected differences"),
    ("unary-of-select", "choices swapped", "(Select c (Unary o a) (Unary o b))", "(Select c (Unary o b) (Unary o a))", "selected constant"),
    ("exp-of-minus-infinity", "another constant", "(= -inf (constant a))", "(= -1.0 (constant a))", "less an exponential"),
    ("select-same", "no side condition", "(= (ty x) (ty a))", "", "widened choice"),
    ("select-not", "choices swapped", "(Select c b a)", "(Select c a b)", "inverted condition"),
    ("recognise-silu", "exp(x) for exp(-x)", '(Unary "exp" (Unary "neg" x))', '(Unary "exp" x)', "falling silu"),
    ("recognise-falling-sigmoid", "not negated", '(Unary "sigmoid" (Unary "neg" x))', '(Unary "sigmoid" x)', "sigmoid"),
    ("complement-of-sigmoid", "another constant", "(= 1.0 (constant a))", "(= 2.0 (constant a))", "two less a sigmoid"),
    ("tanh-gate", "another constant", "(= 0.5 (constant h))", "(= 2.0 (constant h))", "twice a tanh"),
    ("odd-function", "any function", "(odd o)", "", "exponential of a negative"),
    ("even-function", "any function", "(even o)", "", "exponential of a negative"),
    ("negated-factor", "any operator", "(multiplicative o)", "", "sum of a negative"),
    ("magnitude-of-nonnegative", "no sign", "(nonneg a)", "", "magnitude"),
    ("relu-of-nonnegative", "no sign", "(nonneg a)", "", "positive part"),
    ("recognise-relu", "another constant", "(= 0.0 (constant z))", "(= 1.0 (constant z))", "at least one"),
    ("difference-of-equals", "different operands", '(Binary "sub" x x)', '(Binary "sub" x z)', "less a difference"),
    ("idempotent", "any operator", "(idempotent o)", "", "doubled"),
    ("max-minus-infinity", "another constant", "(= -inf (constant z))", "(= 1.0 (constant z))", "at least one"),
    ("subtract-negative", "another operator", '(Binary "add" a b)', '(Binary "sub" a b)', "less a negative"),
    ("nonneg-add", "one of them", "(nonneg b)", "", "root of a sum"),
    ("split-low-rank", "operands swapped", "(Binary o xab xw)", "(Binary o xw xab)", "low-rank update"),
]  # fmt: skip

NONFINITE_MUTANTS: list[tuple[str, str, str, str, str]] = [
    # Shown by infinities, zeros and NaN only. Most have NaN on one side where the other has an infinity.
    ("row-scale", "an infinite scale", "(bounded s)", "", "any row scale"),
    ("column-scale", "an infinite scale", "(bounded s)", "", "any column scale"),
    ("normalize-after-product", "a divisor of 0", "(divides l e)", "", "any normalizer"),
    ("divide-columns-after-product", "a divisor of 0", "(divides l v)", "", "any column divisor"),
    ("row-scale-back", "an infinite scale", "(bounded s)", "", "any scaled product"),
    ("column-scale-back", "an infinite scale", "(bounded s)", "", "any scaled columns"),
    ("normalize-before-product", "a divisor of 0", "(divides l e)", "", "any quotient of a product"),
    ("sum-of-scaled", "an infinite factor", "(bounded a)", "", "any factor of a sum"),
    ("sum-of-quotients", "a divisor of 0", "(divides a x)", "", "any divisor of a sum"),
    ("scaled-sum", "an infinite factor", "(bounded a)", "", "any scaled sum"),
    ("quotient-of-sum", "a divisor of 0", "(divides a x)", "", "any quotient of a sum"),
    ("factor", "an infinite factor", "(bounded a)", "", "any factor"),
    ("common-divisor", "a divisor of 0", "(divides c a) (divides c b)", "", "any divisor"),
    ("common-left-factor", "an infinite factor", "(bounded a)", "", "any left factor"),
    ("common-right-factor", "an infinite factor", "(bounded c)", "", "any right factor"),
    ("multiply-sum", "an infinite factor", "(bounded a)", "", "any updated weight"),
    ("sum-multiplied", "an infinite factor", "(bounded c)", "", "any updated states"),
    ("max-of-shifted", "an infinite shift", "(bounded a)", "", "any shift"),
    ("max-of-difference", "an infinite minuend", "(bounded a)", "", "any minuend"),
    ("max-of-scaled", "an infinite factor", "(bounded a)", "", "any positive factor"),
    ("max-of-quotients", "an infinite divisor", "(bounded a)", "", "any positive divisor"),
    ("shift-twice", "exponentials for shares", '(union q (Binary "div" f (Reduce "sum" d f)))', "(union e f)", "shifted softmax"),
    ("bounded-rsqrt", "any operand", "(positive a)", "", "scale of a zero row"),
    ("positive-add", "of no sign", "(positive a)", "(nonneg a)", "scale of zero"),
    ("divides-share", "of any sign", "(nonneg e)", "", "shares of any sign"),
    ("nonzero-constant", "0 too", "(!= v 0.0)", "", "over zero"),
    ("positive-normalizer", "another maximum", '(Reduce "max" d x)', '(Reduce "max" e x)', "over another maximum"),
]  # fmt: skip
EVERY = [*MUTANTS, *ALGEBRA_MUTANTS, *NONFINITE_MUTANTS]
NONFINITE = {m[4] for m in NONFINITE_MUTANTS}
"""Programs that ordinary numbers show nothing on."""

SLICE_MUTANTS: list[tuple[str, str, str, str, str]] = [
    # The same where reduced dimensions have two levels of axes.
    ("slice-contraction", "wrong dimension", "(View kb p b)", "(View k p b)", "product"),
    ("slice-reduction", "another reducer", "(PReduce f p m)", '(PReduce "max" p m)', "batched sum"),
    ("refine-sliced-contraction", "wrong dimension", "(View kb q b)", "(View k q b)", "product"),
    ("refine-sliced-contraction", "a whole operand", "(View kb q b)", "(View -1 q b)", "product"),
    ("refine-sliced-reduction", "another reducer", "(PReduce f q m)", '(PReduce "max" q m)', "batched sum"),
    ("refine-sliced-reduction", "in any state", "(= d (map-get sa p)) ", "", "outer sum reduced"),
    ("partials-collect", "another value", "(Collect p a)", "(Collect p (View -1 p x))", "batched sum"),
    ("refine-contraction", "within an axis of the state", "(map-not-contains s (around p))", "", "product squared"),
    ("slice-contraction", "around an axis of the state", "(map-not-contains s inner)", "", "three products of two"),
    ("view-parallel-reduce", "around the axis", "(!= p (around q))", "(= any (around q))", "product squared"),
    ("partials-combine", "within the axis", "(!= p (around q))", "", "three products of two"),
]  # fmt: skip


def damaged_text(rule: str, old: str, new: str) -> Callable[[str], str]:
    """``engine.rule_text`` with one rule damaged; the rule has to be there and to contain ``old`` once."""
    original = engine.rule_text
    file = next(name for name in engine.RULE_FILES if f':name "{rule}"' in original(name))
    text = original(file)
    end = text.index(f':name "{rule}"')
    start = text.rindex("(rule ", 0, end)
    assert text.count(old, start, end) == 1, f"{rule} has no single {old}"
    changed = text[:start] + text[start:end].replace(old, new) + text[end:]
    return lambda name: changed if name == file else original(name)


def options_for(rule: str) -> SaturationOptions:
    """Identities are caught without tiles."""
    return ALGEBRA if catalogue().rule(rule).family in ("algebra", "analysis") else OPTIONS


EXACT = replace(ALGEBRA, disabled=tuple(rule.name for rule in catalogue().rules if rule.up_to))
"""Without the rules that may put NaN for an infinity."""


def is_wrong(module: ModuleOp, options: SaturationOptions = OPTIONS, slices: bool = False, inputs: int = 4) -> bool:
    """True if the e-graph has an e-node with another value or type than its class."""
    try:
        saturated = saturate_for_check(module, options, slices)
        return first_mismatch(saturated, 1, inputs) is not None
    except Exception:
        # Wrongly typed e-nodes do not even get as far as a value.
        return True


_SHOWN = {m[4]: options_for(m[0]) for m in sorted(EVERY, key=lambda m: options_for(m[0]) is OPTIONS)}
TILED = [name for name in PROGRAMS if _SHOWN.get(name, OPTIONS) is OPTIONS]
"""Programs that show rules on tiles."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_undamaged_rules_hold(name: str) -> None:
    exact = name in NONFINITE
    saturated = saturate_for_check(PROGRAMS[name](), EXACT if exact else OPTIONS if name in TILED else ALGEBRA)
    assert first_mismatch(saturated, 1, inputs=3 * DRAWS if exact else 4) is None


@pytest.mark.parametrize("name", TILED)
def test_undamaged_rules_hold_in_two_levels(name: str) -> None:
    saturated = saturate_for_check(PROGRAMS[name](), OPTIONS, True)
    assert first_mismatch(saturated, seed=1, inputs=4) is None


@pytest.mark.parametrize(("rule", "damage", "old", "new", "shown_by"), EVERY, ids=[f"{m[0]}: {m[1]}" for m in EVERY])
def test_a_damaged_rule_is_caught(
    monkeypatch: pytest.MonkeyPatch, rule: str, damage: str, old: str, new: str, shown_by: str
) -> None:
    options, inputs = (EXACT, 3 * DRAWS) if shown_by in NONFINITE else (options_for(rule), 4)
    monkeypatch.setattr(engine, "rule_text", damaged_text(rule, old, new))
    assert is_wrong(PROGRAMS[shown_by](), options, inputs=inputs), f"{rule} with {damage} goes unnoticed"


CERTIFIED, CERTIFIED_ALGEBRA, CERTIFIED_NONFINITE = (
    [m[:4] for m in mutants if check_kind(catalogue().rule(m[0])) != "marker"]
    for mutants in (MUTANTS, ALGEBRA_MUTANTS, NONFINITE_MUTANTS)
)


NOT_BY_INSTANCES = {("slice-of-slice", "no step"), ("partials-combine", "by the same axis")}
"""Seldom drawn: both slices need a step; never drawn: two dimensions that one axis cuts.
``test_a_damaged_rule_is_caught`` shows them on a program."""
SAMPLED = [
    m for m in (*CERTIFIED[::3], *CERTIFIED_ALGEBRA[::6], *CERTIFIED_NONFINITE[::2]) if m[:2] not in NOT_BY_INSTANCES
]
SUBTLE = {("places-at-places", "step not scaled")}
"""Shown by positions that no bound makes equal; always sampled."""
SAMPLED += [m for m in CERTIFIED if m[:2] in SUBTLE and m not in SAMPLED]


@pytest.mark.parametrize(("rule", "damage", "old", "new"), SAMPLED)
def test_the_certificate_of_a_damaged_rule_fails(
    monkeypatch: pytest.MonkeyPatch, rule: str, damage: str, old: str, new: str
) -> None:
    monkeypatch.setattr(engine, "rule_text", damaged_text(rule, old, new))
    entry = read_catalogue({name: engine.rule_text(name) for name in engine.RULE_FILES}).rule(rule)
    try:
        checks = [check_rule(entry), *([prove_rule(entry)] if entry.family == "algebra" else [])]
    except Exception:
        # Wrongly typed e-nodes do not even get as far as a value.
        return
    assert any(not check.ok for check in checks), f"{rule} with {damage} keeps its certificate"


@pytest.mark.parametrize(
    ("rule", "damage", "old", "new", "shown_by"), SLICE_MUTANTS, ids=[f"{m[0]}: {m[1]}" for m in SLICE_MUTANTS]
)
def test_a_damaged_rule_on_slices_is_caught(
    monkeypatch: pytest.MonkeyPatch, rule: str, damage: str, old: str, new: str, shown_by: str
) -> None:
    monkeypatch.setattr(engine, "rule_text", damaged_text(rule, old, new))
    assert is_wrong(PROGRAMS[shown_by](), slices=True), f"{rule} with {damage} goes unnoticed"


CERTIFICATE_MUTANTS: list[tuple[str, str, str, str]] = [
    # Rules that no program above singles out: instances are drawn from the damaged rule itself.
    ("divide-first", "operands swapped", '"div" a b', '"div" b a'),
    ("transpose-unary", "not transposed", "(Unary o (Transpose p a))", "(Unary o a)"),
    ("transpose-binary", "operands swapped", "(Transpose p a) (Transpose p b)", "(Transpose p b) (Transpose p a)"),
    ("transpose-select", "operands swapped", "(Transpose p a) (Transpose p b)", "(Transpose p b) (Transpose p a)"),
    ("times-recip", "operands swapped", '"div" a b', '"div" b a'),
    ("over-one", "another constant", "(= 1.0 (constant o))", "(= 2.0 (constant o))"),
    ("over-one", "no side condition", "(= (ty x) (ty y))", ""),
    ("negate-twice", "another operator", '(Unary "neg" (Unary "neg" x))', '(Unary "neg" (Unary "abs" x))'),
    ("view-unary", "replicated operand", "(Unary o (View i p a))", "(Unary o (View -1 p a))"),
    ("view-concat", "no side condition", "(!= i d)", ""),
    ("partition-reshape", "wrong dimension", "(View j p a)", "(View i p a)"),
]


@pytest.mark.parametrize(("rule", "damage", "old", "new"), CERTIFICATE_MUTANTS)
def test_its_certificate_catches_a_damaged_rule(
    monkeypatch: pytest.MonkeyPatch, rule: str, damage: str, old: str, new: str
) -> None:
    monkeypatch.setattr(engine, "rule_text", damaged_text(rule, old, new))
    entry = read_catalogue({name: engine.rule_text(name) for name in engine.RULE_FILES}).rule(rule)
    check = check_rule(entry)
    assert not check.ok, f"{rule} with {damage} keeps its certificate"
    assert "no instance matched" not in str(check.failure)


TABLE_MUTANTS: list[tuple[str, str, str, str, str]] = [
    # function, what is damaged, old text, new text, program that shows it
    ("moved_reshape", "no side condition", "None in left.values() or None in right.values()", "False", "merged batches"),
    ("moved_reshape", "wrong dimension", "tuple(made.index(d) for d in range(wide))", "tuple(made)", "heads of a product"),
    ("moved_reduction", "no side condition", " or any(olds[0] < dim < olds[-1] for olds, _ in runs)", "", "sums of merged dimensions"),
    ("repetition", "inner and outer swapped", "grown_dim > kept", "grown_dim < kept", "repeated rows"),
    ("repetition", "inner and outer swapped", "grown_dim > kept", "grown_dim < kept", "repeated block"),
    ("split_contraction", "wrong dimension", "batch + 1, batch, batch + 2)", "batch, batch + 1, batch + 2)", "merged heads"),
    ("transposed_merge", "no side condition", "any(len(news) > 1 for _, news in runs)", "False", "turned split"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "damage", "old", "new", "shown_by"), TABLE_MUTANTS)
def test_a_damaged_table_is_caught(
    monkeypatch: pytest.MonkeyPatch, function: str, damage: str, old: str, new: str, shown_by: str
) -> None:
    """What a reshape becomes on an operand is said by tables: the rules take it from there."""
    source = inspect.getsource(getattr(moved_reshapes, function))
    assert source.count(old) == 1, f"{function} has no single {old}"
    damaged = dict(vars(moved_reshapes))
    exec(source.replace(old, new), damaged)
    monkeypatch.setattr(reshape_tables, function, damaged[function])
    assert is_wrong(PROGRAMS[shown_by]()), f"{function} with {damage} goes unnoticed"


ECONOMY: list[tuple[str, str, Callable[[], ModuleOp]]] = [
    # Conditions that keep a rule from where it is true and of no use: without one it matches.
    ("reshape-repetition", "(computed a)", lambda: build([t(3, 1)], lambda x: F.ReshapeOp(F.ExpandOp(x, [3, 2]), [6]))),
    ("merged-left-contraction", "(computed c)", lambda: build([t(5, 2, 3), t(6, 4)], lambda x, w: F.MatmulOp(F.ReshapeOp(x, [5, 6]), w))),
    ("merged-right-contraction", "(computed c)", lambda: build([t(5, 6), t(2, 3, 4)], lambda x, w: F.MatmulOp(x, F.ReshapeOp(w, [6, 4])))),
    ("merge-after-unary", "(computed a)", lambda: build([t(2, 3)], lambda x: F.TanhOp(F.ReshapeOp(x, [6])))),
    ("merge-after-unary", "(merges t s)", lambda: build([t(6, 2)], lambda x: F.TanhOp(F.ReshapeOp(F.ExpOp(x), [2, 3, 2])))),
    ("merge-after-left", "(computed a)", lambda: build([t(2, 3), t(6)], lambda x, y: F.SubOp(F.ReshapeOp(x, [6]), y))),
    ("merge-after-right", "(computed a)", lambda: build([t(2, 3), t(6)], lambda x, y: F.SubOp(y, F.ReshapeOp(x, [6])))),
    ("merge-after-transpose", "(computed a)", lambda: build([t(2, 3, 4)], lambda x: F.TransposeOp(F.ReshapeOp(x, [6, 4]), [1, 0]))),
    ("store-before-merge", "(merges (ty a) s)", lambda: build([t(6, 2)], lambda x: F.ReshapeOp(F.ExpOp(x), [2, 3, 2]))),
]  # fmt: skip


def matches_alone(rule: str, module: ModuleOp) -> int:
    run = engine.Engine(encode(module, whole_extent=1), replace(OPTIONS, only=(rule,)))
    run.saturate()
    return run.stats.matches.get(rule, 0)


@pytest.mark.parametrize(("rule", "condition", "make"), ECONOMY, ids=[f"{rule}: {text}" for rule, text, _ in ECONOMY])
def test_a_condition_keeps_a_rule_from_where_it_is_of_no_use(
    monkeypatch: pytest.MonkeyPatch, rule: str, condition: str, make: Callable[[], ModuleOp]
) -> None:
    assert matches_alone(rule, make()) == 0
    monkeypatch.setattr(engine, "rule_text", damaged_text(rule, condition, ""))
    assert matches_alone(rule, make()) > 0


def test_the_kinds_of_damage_are_many() -> None:
    """Wrong dimension, exchanged operands, missing condition: each often enough to say that such a slip is seen."""
    kinds = [damage for _, damage, *_ in (*MUTANTS, *CERTIFICATE_MUTANTS)]
    assert sum("dimension" in kind for kind in kinds) >= 10
    assert sum("swapped" in kind or "operand" in kind for kind in kinds) >= 10
    assert sum(kind in ("no side condition", "no sign") for kind in kinds) >= 10


def test_a_damaged_repair_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    exchange = {("old",): ("new",), ("new",): ("old",)}

    def swapped(tree: Any) -> Any:
        return exchange.get(tree) or (tree if tree[0] == "const" else (*tree[:2], *(swapped(a) for a in tree[2:])))

    def wrong(*arguments: Any) -> Any:
        found = synthesize(*arguments)
        return Repair(found.mode, swapped(found.tree), found.certificate) if isinstance(found, Repair) else found

    monkeypatch.setattr(repair, "synthesize", wrong)
    assert saturate_for_check(PROGRAMS["softmax"](), OPTIONS).rolling == 0, "hostile rows refuse it"
    monkeypatch.setattr(repair, "counterexample", lambda *_: None)
    assert is_wrong(PROGRAMS["softmax"]())
