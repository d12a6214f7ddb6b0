"""Random small programs in the forge dialect, well typed and numerically benign, for the soundness fuzz of the rules.

A program is a function of a seed. Its values stay moderate and its partial functions are applied inside their
domains, so that no rounding error is amplified and NaN or infinity never decides a comparison; zeros of both signs and
negative numbers are frequent. Arguments are multiples of 1/8: sums and products of them are exact, so a sum that
cancels is zero in every order.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from xdsl.builder import ImplicitBuilder
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType, bf16, f16, f32, i1, i32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from equiforge.dialects import forge
from equiforge.dialects.tile_types import element_type_of, shape_of
from equiforge.verify.random_heads import RESHAPES
from equiforge.verify.random_idioms import IDIOMS, Made, Parts

EXTENTS = (2, 3, 4, 5)
LARGEST = 2e3
"""Bound on the magnitude of values: an op whose result could exceed it is not generated."""


@dataclass(frozen=True)
class _Value:
    """A value with what is known of it.

    ``most`` bounds the magnitude, ``least`` bounds it from below where it is positive everywhere.
    """

    value: SSAValue
    most: float
    least: float = 0.0
    raw: bool = False
    """Not computed with rounding: comparing it is exact."""

    @property
    def shape(self) -> tuple[int, ...]:
        return shape_of(self.value.type)

    @property
    def kind(self) -> str:
        element = str(element_type_of(self.value.type))
        return "b" if element == "i1" else element[0].replace("b", "f")


class _Generator:
    def __init__(self, seed: int, size: int):
        self.random = random.Random(seed)
        self.size = size
        self.indexed = seed % 3 == 1
        self.reshaped = seed % 5 == 2
        self.rank = self.random.choice((2, 2, 3))
        self.block = Block()
        self.values: list[_Value] = []
        self.types: list[Attribute] = []

    # Sources

    def argument(self, shape: Sequence[int], element: Attribute = f32) -> _Value:
        """A new argument; half types are cast to f32 at once."""
        value: SSAValue = self.block.insert_arg(TensorType(element, shape), len(self.block.args))
        if element in (f16, bf16):
            value = forge.CastOp(value, f32).result
        made = _Value(value, 2.0, raw=True)
        self.values.append(made)
        return made

    def shape(self) -> list[int]:
        return [self.random.choice((*EXTENTS, 1) if d else EXTENTS) for d in range(self.rank)]

    def constant(self, number: float, rank: int, element: Attribute = f32) -> SSAValue:
        return forge.ConstantOp(number, TensorType(element, [1] * rank)).result

    def keep(self, op: Operation, most: float, least: float = 0.0, raw: bool = False) -> None:
        if most <= LARGEST:
            self.values.append(_Value(op.results[0], most, least, raw))

    def pick(self, kind: str = "f", accept: Callable[[_Value], bool] = lambda v: True) -> _Value | None:
        """A value of a kind, younger ones more often."""
        found = [v for v in self.values if v.kind == kind and accept(v)]
        return self.random.choice(found[len(found) // 2 * self.random.randrange(2) :]) if found else None

    def partner(self, x: _Value) -> _Value:
        """Something that broadcasts with x: a value of the program or a new argument."""

        def fits(v: _Value) -> bool:
            return len(v.shape) == len(x.shape) and all(
                a == b or 1 in (a, b) for a, b in zip(v.shape, x.shape, strict=True)
            )

        found = self.pick(x.kind, fits) if self.random.random() < 0.6 else None
        if found is not None:
            return found
        shape = [n if self.random.random() < 0.6 else 1 for n in x.shape]
        return self.argument(shape, {"f": f32, "i": i32, "b": i1}[x.kind])

    # Ops, each a method that may do nothing

    def unary(self) -> None:
        x = self.pick()
        if x is None:
            return
        name = self.random.choice(
            ("neg", "abs", "relu", "tanh", "sigmoid", "erf", "sin", "exp", "sqrt", "log", "rsqrt", "recip", "neg")
        )
        v = x.value
        match name:
            case "exp" if x.most <= 5.0:
                self.keep(forge.ExpOp(v), float(np.exp(x.most)), float(np.exp(-x.most)))
            case "sqrt" | "log" | "rsqrt" | "recip":
                positive = self.positive(x)
                bounds = {
                    "sqrt": (positive.most, 0.5),
                    "log": (8.0, 0.0),
                    "rsqrt": (2.0, 0.02),
                    "recip": (4.0, 1 / positive.most),
                }
                self.keep(forge.UNARY_OPS[name](positive.value), *bounds[name])
            case "neg" | "abs" | "relu":
                self.keep(forge.UNARY_OPS[name](v), x.most, raw=x.raw)
            case "tanh" | "sigmoid" | "erf" | "sin":
                self.keep(forge.UNARY_OPS[name](v), 1.0)
            case _:
                pass

    def positive(self, x: _Value) -> _Value:
        """x itself if it is at least 1/4, else something made of it that is."""
        if x.least >= 0.25:
            return x
        rank = len(x.shape)
        square = self.random.random() < 0.5 and x.most**2 <= LARGEST
        inner = forge.MulOp(x.value, x.value) if square else forge.AbsOp(x.value)
        result = forge.AddOp(inner, self.constant(0.25, rank))
        return _Value(result.result, (x.most**2 if square else x.most) + 0.25, 0.25)

    def binary(self) -> None:
        x = self.pick()
        if x is None:
            return
        y = self.partner(x)
        if self.random.random() < 0.5:
            x, y = y, x
        name = self.random.choice(("add", "add", "sub", "mul", "mul", "max", "min", "div"))
        if name == "div":
            y = self.positive(y)
            self.keep(forge.DivOp(x.value, y.value), x.most / y.least)
            return
        most = x.most * y.most if name == "mul" else x.most + y.most
        least = min(x.least, y.least) if name in ("add", "max", "min") else 0.0
        self.keep(forge.BINARY_OPS[name](x.value, y.value), most, least)

    def with_constant(self) -> None:
        """Scales, shifts and the neutral elements, of both signs of zero."""
        x = self.pick()
        if x is None:
            return
        name, number = self.random.choice(
            (
                ("mul", 0.5), ("mul", 1.0), ("add", 0.0), ("add", -0.0), ("sub", 0.0), ("sub", -0.0), ("add", 1.0),
                ("div", 4.0), ("div", 1.0),
            )
        )  # fmt: skip
        shape = x.shape if self.random.random() < 0.25 else [1] * len(x.shape)
        constant = forge.ConstantOp(number, TensorType(f32, shape)).result
        sides = (constant, x.value) if self.random.random() < 0.3 and name != "div" else (x.value, constant)
        self.keep(forge.BINARY_OPS[name](*sides), x.most + abs(number))

    def reduction(self) -> None:
        x = self.pick(self.random.choice("ffffib"))
        if x is None:
            return
        dim = self.random.randrange(len(x.shape))
        if x.kind == "b":
            self.keep(forge.ReduceOp(self.random.choice(("any", "all")), x.value, dim), 1.0)
            return
        name = self.random.choice(("sum", "sum", "max", "min"))
        self.keep(forge.ReduceOp(name, x.value, dim), x.most * (x.shape[dim] if name == "sum" else 1), x.least)

    def product(self) -> None:
        x = self.pick()
        if x is None or len(x.shape) < 2:
            return
        *batch, _, k = x.shape
        found = self.pick(
            "f",
            lambda v: (
                len(v.shape) == len(x.shape)
                and v.shape[-2] == k
                and all(a == b for a, b in zip(v.shape[:-2], batch, strict=True))
            ),
        )
        if found is None or self.random.random() < 0.5:
            element = self.random.choice((f32, f32, f16, bf16))
            found = self.argument(
                [*(n if self.random.random() < 0.7 else 1 for n in batch), k, self.random.choice(EXTENTS)], element
            )
        self.keep(forge.MatmulOp(x.value, found.value), x.most * found.most * k)

    def layout(self) -> None:
        x = self.pick(self.random.choice("ffffib"))
        if x is None:
            return
        rank = len(x.shape)
        match self.random.choice(("transpose", "transpose", "reshape", "expand", "slice")):
            case "transpose" if rank > 1:
                perm = list(range(rank))
                while perm == sorted(perm):
                    self.random.shuffle(perm)
                self.keep(forge.TransposeOp(x.value, perm), x.most, x.least, x.raw)
            case "reshape":
                self.keep(forge.ReshapeOp(x.value, self.other_shape(x.shape)), x.most, x.least, x.raw)
            case "expand":
                shape = [n if n != 1 else self.random.choice(EXTENTS) for n in x.shape]
                self.keep(forge.ExpandOp(x.value, shape), x.most, x.least, x.raw)
            case _:
                dim = self.random.randrange(rank)
                if x.shape[dim] > 2:
                    start = self.random.randrange(2)
                    self.keep(
                        forge.SliceOp(x.value, dim, start, x.shape[dim], self.random.choice((1, 1, 2))),
                        x.most,
                        x.least,
                        x.raw,
                    )

    def other_shape(self, shape: Sequence[int]) -> list[int]:
        """Two neighbours merged, one dimension split, or a dimension of size 1 moved."""
        new = list(shape)
        place = self.random.randrange(len(new))
        if new[place] == 4 and self.random.random() < 0.6:
            return [*new[:place], 2, 2, *new[place + 1 :]]
        if len(new) > 2:
            return (
                [*new[:place], new[place] * new[place + 1], *new[place + 2 :]]
                if place + 1 < len(new)
                else [*new[:-2], new[-2] * new[-1]]
            )
        new.insert(place, 1)
        return new

    def mask(self) -> None:
        """A select by position or by the sign of exact values."""
        x = self.pick()
        if x is None or len(x.shape) < 2:
            return
        rank = len(x.shape)
        rows = [n if d == rank - 2 else 1 for d, n in enumerate(x.shape)]
        columns = [n if d == rank - 1 else 1 for d, n in enumerate(x.shape)]
        raw = self.pick("f", lambda v: v.raw and v.shape == x.shape)
        if raw is not None and self.random.random() < 0.4:
            condition = forge.CompareOp(self.random.choice(("gt", "le", "ne")), raw.value, self.constant(0.0, rank))
        else:
            first = forge.IotaOp(TensorType(i32, columns), rank - 1)
            second = forge.IotaOp(TensorType(i32, rows), rank - 2)
            condition = forge.CompareOp(self.random.choice(("le", "lt", "eq", "ne")), first, second)
        self.values.append(_Value(condition.result, 1.0, raw=True))
        other = self.partner(x)
        self.keep(forge.SelectOp(condition, x.value, other.value), max(x.most, other.most))

    def integer(self) -> None:
        x = self.pick("i") or self.argument(self.shape(), i32)
        name = self.random.choice(("add", "sub", "mul", "max", "min", "div", "rem", "cast"))
        if name == "cast":
            self.keep(forge.CastOp(x.value, f32), x.most, raw=True)
        elif name in ("div", "rem"):
            self.keep(forge.BINARY_OPS[name](x.value, self.constant(3, len(x.shape), i32)), x.most, raw=True)
        else:
            y = self.partner(x)
            self.keep(
                forge.BINARY_OPS[name](x.value, y.value),
                x.most * y.most if name == "mul" else x.most + y.most,
                raw=True,
            )

    def boolean(self) -> None:
        x = self.pick("b")
        if x is None:
            return
        match self.random.choice(("not", "and", "or", "xor", "cast")):
            case "cast":
                self.keep(forge.CastOp(x.value, f32), 1.0, raw=True)
            case "not":
                self.keep(forge.NotOp(x.value), 1.0, raw=True)
            case name:
                self.keep(forge.BINARY_OPS[name](x.value, self.partner(x).value), 1.0, raw=True)

    def softmax(self) -> None:
        """exp(x - max) with its sum or a weighted sum, sometimes masked: what repair fusion looks for."""
        x = self.pick("f", lambda v: v.shape[-1] > 1 and v.most <= 40)
        if x is None or len(x.shape) < 2:
            return
        last = len(x.shape) - 1
        scores = x.value
        if self.random.random() < 0.4:
            rows, columns = ([n if d == dim else 1 for d, n in enumerate(x.shape)] for dim in (last - 1, last))
            condition = forge.CompareOp(
                "le", forge.IotaOp(TensorType(i32, columns), last), forge.IotaOp(TensorType(i32, rows), last - 1)
            )
            scores = forge.SelectOp(condition, scores, self.constant(-np.inf, last + 1)).result
        e = forge.ExpOp(forge.SubOp(scores, forge.ReduceOp("max", scores, last)))
        total = forge.ReduceOp("sum", e, last)
        if self.random.random() < 0.5:
            w = self.argument([*(1 for _ in x.shape[:-2]), x.shape[-1], self.random.choice(EXTENTS)])
            self.keep(forge.DivOp(forge.MatmulOp(e, w.value), total), 2.0)
        else:
            self.keep(forge.DivOp(e, total), 1.0)

    def norm(self) -> None:
        """x · rsqrt(mean x² + ε), times a weight."""
        x = self.pick("f", lambda v: v.shape[-1] > 1 and v.most <= 20)
        if x is None:
            return
        last = len(x.shape) - 1
        mean = forge.DivOp(
            forge.ReduceOp("sum", forge.MulOp(x.value, x.value), last), self.constant(float(x.shape[-1]), last + 1)
        )
        scaled = forge.MulOp(x.value, forge.RsqrtOp(forge.AddOp(mean, self.constant(0.25, last + 1))))
        weight = self.argument([*(1 for _ in x.shape[:-1]), x.shape[-1]])
        self.keep(forge.MulOp(scaled, weight.value), 2 * x.most)

    def idiom(self) -> None:
        """What one of the algebraic rules rewrites, which random choice seldom puts together."""
        x = self.pick("f", lambda v: v.most <= 5)
        if x is None or len(x.shape) < 2:
            return
        rank, v = len(x.shape), x.value
        dim = self.random.randrange(rank)
        along = [1 if d == dim else n for d, n in enumerate(x.shape)]
        one = self.constant(1.0, rank)
        match self.random.randrange(10):
            case 0:
                terms = (one, forge.ExpOp(forge.NegOp(v)))
                self.keep(forge.RecipOp(forge.AddOp(*(terms if self.random.random() < 0.5 else terms[::-1]))), 1.0)
            case 1:
                root = forge.SqrtOp(self.positive(x).value)
                self.keep(
                    self.random.choice(
                        (lambda: forge.DivOp(v, root), lambda: forge.RecipOp(root), lambda: forge.MulOp(root, root))
                    )(),
                    25.0,
                )
            case 2:
                y = self.argument(x.shape)
                self.keep(
                    forge.AddOp(forge.ReduceOp("sum", v, dim), forge.ReduceOp("sum", forge.MulOp(v, y.value), dim)),
                    3 * x.most * x.shape[dim],
                )
            case 3:
                self.keep(
                    forge.ReduceOp("sum", forge.AddOp(v, self.argument(x.shape).value), dim),
                    (x.most + 2) * x.shape[dim],
                )
            case 4:
                divisor = self.positive(self.argument(along))
                self.keep(forge.ReduceOp("sum", forge.DivOp(v, divisor.value), dim), 4 * x.most * x.shape[dim])
            case 5:
                self.keep(forge.ReduceOp("max", forge.MulOp(v, self.constant(0.5, rank)), dim), x.most)
            case 6:
                self.keep(forge.ReduceOp("max", forge.AddOp(v, self.argument(along).value), dim), x.most + 2)
            case 7:
                integer = self.argument(x.shape, i32).value
                self.keep(forge.TransposeOp(forge.CastOp(integer, f32), [*range(rank - 2), rank - 1, rank - 2]), 2.0)
            case 8:
                weight = self.argument([1] * (rank - 1) + [x.shape[-1]]).value
                other = self.argument([*x.shape[:-2], x.shape[-1], self.random.choice(EXTENTS)]).value
                self.keep(forge.MatmulOp(forge.MulOp(v, weight), other), 4 * x.most * x.shape[-1])
            case _:
                perm = [*range(rank - 2), rank - 1, rank - 2]
                other = self.argument([*x.shape[:-2], x.shape[-1], self.random.choice(EXTENTS)]).value
                self.keep(forge.TransposeOp(forge.MatmulOp(v, other), perm), 2 * x.most * x.shape[-1])

    def indexing(self) -> None:
        """Elements joined, padded, cut out, rotated or gathered, along any dimension."""
        x = self.pick(self.random.choice("ffffib"))
        if x is None:
            return
        dim = self.random.randrange(len(x.shape))
        extent = x.shape[dim]
        match self.random.choice(("concat", "concat", "pad", "rotate", "gather")):
            case "concat":
                shape = [self.random.choice((1, *EXTENTS)) if d == dim else n for d, n in enumerate(x.shape)]
                found = self.pick(
                    x.kind, lambda v: [*v.shape[:dim], *v.shape[dim + 1 :]] == shape[:dim] + shape[dim + 1 :]
                )
                if found is None or self.random.random() < 0.5:
                    found = self.argument(shape, {"f": f32, "i": i32, "b": i1}[x.kind])
                parts = [x, found, *([x] if self.random.random() < 0.25 else [])]
                joined = forge.ConcatOp([part.value for part in parts], dim)
                self.keep(joined, max(x.most, found.most), min(x.least, found.least), x.raw and found.raw)
            case "pad":
                low, high = self.random.choice(((1, 0), (0, 2), (2, 1)))
                value = 0.0 if x.kind == "b" else self.random.choice((0.0, 2.0))
                self.keep(forge.PadOp(x.value, dim, low, high, value), max(x.most, value), raw=x.raw)
            case "rotate" if extent > 1:
                cut = self.random.randrange(1, extent)
                tail: SSAValue = forge.SliceOp(x.value, dim, cut, extent).result
                if x.kind == "f":
                    tail = forge.NegOp(tail).result
                head = forge.SliceOp(x.value, dim, 0, cut)
                self.keep(forge.ConcatOp([tail, head], dim), x.most, raw=x.raw)
            case "gather" if extent > 1:
                others = self.random.random() < 0.5
                shape = [
                    self.random.choice((1, *EXTENTS)) if d == dim else n if others else 1 for d, n in enumerate(x.shape)
                ]
                # From -2 to 1: every extent from 2 on has these places.
                place = forge.MinOp(self.argument(shape, i32).value, self.constant(1, len(shape), i32))
                self.keep(forge.GatherOp(x.value, place, dim), x.most, x.least, x.raw)
            case _:
                pass

    def draw(self, idioms: Sequence[Callable[[Parts], Made]]) -> None:
        x = self.pick("f", lambda v: v.most <= 5)
        if x is None or len(x.shape) < 2:
            return
        for op, most in self.random.choice(idioms)(Parts(self, x)):
            self.keep(op, most)

    def algebra(self) -> None:
        """One of :mod:`equiforge.verify.random_idioms`."""
        self.draw(IDIOMS)

    def heads(self) -> None:
        """One of :mod:`equiforge.verify.random_heads`."""
        self.draw(RESHAPES)

    # The whole

    def module(self) -> ModuleOp:
        steps = (
            (self.unary, 5), (self.binary, 6), (self.with_constant, 3), (self.reduction, 4), (self.product, 5),
            (self.layout, 4),
            (self.mask, 2), (self.integer, 1), (self.boolean, 1), (self.softmax, 1), (self.norm, 1), (self.idiom, 4),
            *([(self.indexing, 8)] if self.indexed else []),
            (self.algebra, 8),
            *([(self.heads, 12)] if self.reshaped else []),
        )  # fmt: skip
        with ImplicitBuilder(self.block):
            for _ in range(2):
                self.argument(self.shape(), self.random.choice((f32, f32, f16, bf16)))
            if self.reshaped:
                self.heads()
            while self.operations() < self.size:
                self.random.choices([s for s, _ in steps], [w for _, w in steps])[0]()
            unused = [
                v.value
                for v in self.values
                if v.value.owner is not self.block and not v.value.has_one_use() and not v.value.uses
            ]
            results = unused[-2:] or [next(op.results[0] for op in reversed(list(self.block.ops)))]
            ReturnOp(*results)
        function = FuncOp("main", ([a.type for a in self.block.args], [r.type for r in results]), Region(self.block))
        numerics = "strict" if self.random.random() < 0.1 else "real"
        module = ModuleOp([function], {"forge.numerics": StringAttr(numerics)})
        module.verify()
        return module

    def operations(self) -> int:
        return sum(op.name not in ("forge.constant", "forge.cast") for op in self.block.ops)


def random_program(seed: int, size: int | None = None) -> ModuleOp:
    """The program of a seed: one function of at least ``size`` ops, by default 2 to 8.

    Most values are f32, some half, integer or boolean.
    """
    return _Generator(seed, size if size is not None else 2 + seed % 7).module()


def random_arguments(module: ModuleOp, seed: int) -> list[np.ndarray]:
    """Whole arguments for a program.

    Floats are multiples of 1/8 in [-2, 2], one in eight a zero of either sign; integers are in [-2, 2].
    """
    generator = np.random.default_rng(seed)
    function = next(op for op in module.walk() if isinstance(op, FuncOp))
    arguments: list[np.ndarray] = []
    for argument in function.body.block.args:
        type_ = cast("TensorType[Any]", argument.type)
        shape, element = tuple(type_.get_shape()), str(type_.element_type)
        if element == "i1":
            arguments.append(generator.random(shape) < 0.5)
        elif element[0] == "i":
            arguments.append(generator.integers(-2, 3, shape))
        else:
            eighths = generator.integers(-16, 17, shape) / 8.0
            zeros = np.copysign(0.0, generator.random(shape) - 0.5)
            arguments.append(np.where(generator.random(shape) < 0.125, zeros, eighths))
    return arguments
