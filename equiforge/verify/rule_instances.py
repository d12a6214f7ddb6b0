"""Random typed instances of the left side of a rule, as e-graphs: small terms that the rule's pattern matches.

Variables for classes become arguments, constants where the rule asks for one, and tiles of arguments where the pattern
combines or reduces tiles. Variables for attributes are solved from the rule's equations where these determine them, and
drawn otherwise. What the dialects' type inference refuses is drawn again; side conditions on tables of the e-graph are
left to the run of the rule, so an instance need not match.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import StringAttr, TensorType, f32
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from equiforge.dialects import forge, tile
from equiforge.dialects.op_table import (
    BY_MNEMONIC,
    COMPARISONS,
    OPERAND_KINDS,
    REDUCERS,
    UNARY,
)
from equiforge.dialects.tile_types import element_name, element_type
from equiforge.egraph.graph import PARTIAL
from equiforge.egraph.graph import REPLICATE as REPLICATED
from equiforge.egraph.rule_syntax import Expression
from equiforge.egraph.text import collect_count
from equiforge.verify.gather_instances import make_gather, make_index
from equiforge.verify.instance_program import Program, Rejected, axis_name, is_tensor, shape_of
from equiforge.verify.reshape_instances import MOVES, reshape_target
from equiforge.verify.rule_patterns import Pattern, is_literal, is_term

Want = dict[int, int]
"""Parallel state that a term is to have: axis number to dimension, REPLICATED or PARTIAL."""
_CONSTANTS = (0.5, 1.0, 2.0, 0.0, -1.0, math.inf, -math.inf)


class Unbuildable(Exception):  # noqa: N818
    """A pattern that holds a term that instances have no form for."""


class Instance:
    """One draw of a pattern, built into a program."""

    def __init__(self, program: Program, pattern: Pattern):
        self.program = program
        self.pattern = pattern
        self.chooser = program.chooser
        self.values: dict[str, SSAValue] = {}
        self.attributes: dict[str, Any] = {}
        moves = bool(MOVES & pattern.relations)
        ranks = (2, 2, 3) if program.tensor_level else (2, 3, 3, 4) if moves else (2, 2, 3, 3, 4)
        self.rank = self.chooser.choice(ranks)
        extents = [self.chooser.choice((2, 3, 4, 4, 6, 6) if moves else (2, 3, 4)) for _ in range(self.rank)]
        self.extents = extents if self.chooser.random() < 0.5 else [extents[0]] * self.rank
        self.roots: list[SSAValue] = []

    def build(self) -> None:
        """Builds all classes that the pattern names. Raises Rejected for a draw that does not hold."""
        # What a rule cuts again has to be cut: a result is partial over the axis of what it reduces.
        want: Want = {self.program.axis(): PARTIAL} if "within" in self.pattern.relations else {}
        if not want and not self.program.tensor_level and self.chooser.random() < 0.3:
            want = {self.program.axis(): self.chooser.choice((REPLICATED, *range(self.rank)))}
        for name in self.pattern.tensors:
            if name in self.pattern.terms and name not in self.values:
                self.class_of(name, {} if name in self.pattern.top else want, None, None)
        for name in self.pattern.tensors:
            if name not in self.values and name not in self.pattern.unbuilt:
                self.class_of(name, {}, None, None)
        self.solve()
        self.align_arguments()
        for name in self.pattern.top:
            if name in self.values and not is_tensor(self.values[name]):
                raise Rejected(f"{name} is not at tensor level")
        for condition in self.pattern.conditions:
            if self.holds(condition) is False:
                raise Rejected(f"condition {condition}")

    def align_arguments(self) -> None:
        """Puts equal dimensions of two arguments into one group, sometimes: a sum of the two does it."""
        values = [v for v in self.values.values() if v.owner is self.program.block]
        if len(values) > 1 and self.chooser.random() < 0.5:
            a, b = self.chooser.sample(values, 2)
            if a.type == b.type and tile.element_type_of(a.type) == f32:
                self.program.add(forge.AddOp(a, b))

    # Classes

    def class_of(
        self, expression: Expression, want: Want, like: Sequence[int | None] | None, element: str | None
    ) -> SSAValue:
        """The class of a variable or term; ``like`` has the extents that fit its neighbours, ``element`` a type."""
        if isinstance(expression, list):
            return self.term(expression, want, like, element)
        if expression not in self.values:
            definition = self.pattern.terms.get(expression)
            if definition is not None:
                self.values[expression] = self.term(definition, want, like, element)
            elif expression in self.pattern.constants:
                self.values[expression] = self.constant(self.pattern.constants[expression], want, like)
            else:
                self.values[expression] = self.tiles(self.leaf(like, element), want)
        return self.values[expression]

    def leaf(self, like: Sequence[int | None] | None, element: str | None) -> SSAValue:
        """A new argument."""
        shape: list[int] = []
        for dim, extent in enumerate(like if like is not None else self.extents):
            draw = self.chooser.random()
            if draw < 0.3:
                shape.append(1)
            elif extent is not None and (extent != 1 or draw < 0.6):
                shape.append(extent)
            else:
                shape.append(self.extents[dim % self.rank])
        return self.program.argument(shape, element_type(element or "f32"))

    def constant(self, value: Expression, want: Want, like: Sequence[int | None] | None) -> SSAValue:
        """A splat constant."""
        settled = self.evaluate(value)
        if settled is not None:
            number = float(settled)
        else:
            number = self.attributes.setdefault(str(value), self.chooser.choice(_CONSTANTS))
        like = [1] * self.rank if like is None else like
        draw = self.chooser.random()
        shape = [1] * len(like) if draw < 0.5 else [extent or 1 for extent in like]
        if draw > 0.75:
            shape = [self.extents[d % self.rank] if n == 1 else n for d, n in enumerate(shape)]
        made = self.program.add(forge.ConstantOp(float(number), TensorType(f32, shape)))
        return self.tiles(made, want)

    def tiles(self, value: SSAValue, want: Want) -> SSAValue:
        """The value cut, replicated or reduced to partial results, as a state asks for."""
        for axis, dim in sorted(want.items()):
            shape = shape_of(value)
            if dim == PARTIAL:
                d = self.chooser.choice([d for d, n in enumerate(shape) if n > 1] or [-1])
                if d < 0:
                    raise Rejected("nothing to reduce")
                cut = self.program.add(self.partition(value, d, axis))
                reducer = self.attributes.get(f"partial over {axis}", "sum")
                value = self.program.add(tile.ReduceOp.over_axis(reducer, cut, d))
            elif dim == REPLICATED or shape[dim] == 1:
                self.program.axes.setdefault(axis, None)
                value = self.program.add(tile.ReplicateOp(value, axis_name(axis)))
            else:
                value = self.program.add(self.partition(value, dim, axis))
        return value

    def partition(self, value: SSAValue, dim: int, axis: int) -> Operation:
        """The value cut by an axis; a dimension is cut by one axis only."""
        states = tile.states_of(value.type)
        if any(isinstance(state, tile.PartitionAttr) and state.dim == dim for state in states):
            raise Rejected("a dimension is cut by two axes")
        self.program.cut(axis, shape_of(value)[dim])
        return tile.PartitionOp(value, dim, axis_name(axis))

    # Terms

    def term(self, term: Any, want: Want, like: Sequence[int | None] | None, element: str | None) -> SSAValue:
        """The value of a constructor application."""
        method = getattr(self, f"make_{str(term[0]).lower()}", None)
        if method is None:
            raise Unbuildable(f"no instances of {term[0]}")
        return self.program.add(method(term, want, like, element))

    def children(self, parts: Sequence[Any], want: Want, like: Any, elements: Sequence[str | None]) -> list[SSAValue]:
        """Operands of a broadcasting op: terms before variables, so that arguments get extents that fit."""
        order = sorted(range(len(parts)), key=lambda i: not self.is_built(parts[i]))
        made: dict[int, SSAValue] = {}
        for place in order:
            around = like
            for value in made.values():
                around = _joined(around, shape_of(value))
            made[place] = self.class_of(parts[place], want, around, elements[place])
        return [made[place] for place in range(len(parts))]

    def make_unary(self, term: Any, want: Want, like: Any, element: str | None) -> Operation:
        literal = self.evaluate(term[1])
        kind = BY_MNEMONIC[literal].operands if literal is not None else None
        wanted = "i1" if kind == "boolean" else element or self.element(0.1)
        operand = self.class_of(term[2], want, like, wanted)
        found = element_name(tile.element_type_of(operand.type))
        names = [n for n in UNARY if found in OPERAND_KINDS[BY_MNEMONIC[n].operands]]
        return forge.UNARY_OPS[self.choose(term[1], names)](operand)

    def make_binary(self, term: Any, want: Want, like: Any, element: str | None) -> Operation:
        literal = self.evaluate(term[1])
        wanted = element if element != "i1" else None
        if literal is None:
            wanted = wanted or self.element(0.2)
        elif literal.removeprefix("int.") in BY_MNEMONIC:
            kind = BY_MNEMONIC[literal.removeprefix("int.")].operands
            wanted = "i32" if literal.startswith("int.") else {"logical": "i1"}.get(kind, wanted or "f32")
        a, b = self.children(term[2:], want, like, (wanted, wanted))
        found = element_name(tile.element_type_of(a.type))
        names = [n for n, op in BY_MNEMONIC.items() if op.arity == 2 and found in OPERAND_KINDS[op.operands]]
        names = ["int.div" if n == "div" and found[0] == "i" else n for n in names]
        names += [f"cmp.{n}" for n in COMPARISONS]
        name = self.choose(term[1], names)
        if name.startswith("cmp."):
            return forge.CompareOp(name.removeprefix("cmp."), a, b)
        return forge.BINARY_OPS[name.removeprefix("int.")](a, b)

    def make_select(self, term: Any, want: Want, like: Any, element: str | None) -> Operation:
        wanted = element or self.element(0.1)
        return forge.SelectOp(*self.children(term[1:], want, like, ("i1", wanted, wanted)))

    def make_cast(self, term: Any, want: Want, like: Any, element: str | None) -> Operation:
        operand = self.class_of(term[2], want, like, self.chooser.choice(("i32", "i1")))
        op = forge.CastOp(operand, element_type(self.choose(term[1], ["f32"])))
        op.attributes["through"] = StringAttr("f32")
        return op

    def make_matmul(self, term: Any, want: Want, like: Any, element: str | None) -> Operation:
        a, b = self.factors(term, want, like, element)
        return forge.MatmulOp(a, b, result_element_type=tile.element_type_of(a.type))

    def make_tilematmul(self, term: Any, want: Want, like: Any, element: str | None) -> Operation:
        a, b = self.factors(term, want, like, element)
        return tile.MatmulOp(a, b, result_element_type=tile.element_type_of(a.type))

    def factors(self, term: Any, want: Want, like: Any, element: str | None) -> tuple[SSAValue, SSAValue]:
        """The operands of a product; each is cut as the product's state says."""
        left: Want = {}
        right: Want = {}
        last = self.rank - 1
        for axis, dim in want.items():
            if dim == PARTIAL:
                left[axis], right[axis] = last, last - 1
            else:
                left[axis] = dim if dim != last else REPLICATED
                right[axis] = dim if dim != last - 1 else REPLICATED
        first = 1 if self.is_built(term[2]) and not self.is_built(term[1]) else 0
        if first == 0:
            a = self.class_of(term[1], left, None if like is None else [*like[:-1], None], element)
            shape = shape_of(a)
            b = self.class_of(term[2], right, [*shape[:-2], shape[-1], None], element)
        else:
            b = self.class_of(term[2], right, None if like is None else [*like[:-2], None, like[-1]], element)
            shape = shape_of(b)
            a = self.class_of(term[1], left, [*shape[:-2], None, shape[-2]], element)
        return a, b

    def is_built(self, expression: Expression) -> bool:
        return isinstance(expression, list) or expression in self.values or expression in self.pattern.terms

    def make_reduce(self, term: Any, want: Want, like: Any, element: str | None) -> Operation:
        known = self.evaluate(term[2])
        if known is None:
            self.solve()
            known = self.evaluate(term[2])
        dim = known if known is not None else self.choose(term[2], range(self.rank))
        wanted = "i1" if self.evaluate(term[1]) in ("any", "all") else element or "f32"
        inner = {axis: dim if d == PARTIAL else REPLICATED if d == dim else d for axis, d in want.items()}
        extents = None if like is None else [None if d == dim else e for d, e in enumerate(like)]
        operand = self.class_of(term[3], inner, extents, wanted)
        found = element_name(tile.element_type_of(operand.type))
        reducer = self.choose(term[1], [r for r, kind in REDUCERS.items() if found in OPERAND_KINDS[kind]])
        if is_tensor(operand):
            return forge.ReduceOp(reducer, operand, dim)
        return tile.ReduceOp.over_axis(reducer, operand, dim)

    def make_preduce(self, term: Any, want: Want, like: Any, element: str | None) -> Operation:
        axis = self.axis_of(term[2])
        if axis in want:
            raise Rejected("the axis of a reduction is in the state of its result")
        reducer = self.choose(term[1], ("sum", "max", "min", "prod"))
        self.attributes[f"partial over {axis}"] = reducer
        operand = self.class_of(term[3], {**want, axis: PARTIAL}, like, element)
        return tile.ReduceOp.over_parallel(reducer, operand, axis_name(axis))

    def make_view(self, term: Any, want: Want, like: Any, element: str | None) -> Operation:
        axis = self.axis_of(term[2])
        wanted = want.get(axis)
        inner = {a: d for a, d in want.items() if a != axis}
        operand = self.class_of(term[3], inner, like, element)
        shape = shape_of(operand)
        self.solve()
        if wanted is None or self.evaluate(term[1]) is not None:
            dim: int = self.choose(term[1], [*(d for d, n in enumerate(shape) if n > 1), REPLICATED])
        else:
            dim = self.choose(term[1], [wanted if wanted >= 0 and shape[wanted] > 1 else REPLICATED])
        if dim == REPLICATED:
            self.program.axes.setdefault(axis, None)
            return tile.ReplicateOp(operand, axis_name(axis))
        if not 0 <= dim < len(shape) or shape[dim] == 1:
            raise Rejected("a view of a dimension of size 1")
        return self.partition(operand, dim, axis)

    def make_combine(self, term: Any, want: Want, like: Any, element: str | None) -> Operation:
        axis = self.axis_of(term[2])
        if axis in want:
            raise Rejected("the axis that is combined is in the state of its result")
        dim = self.choose(term[1], range(self.rank))
        operand = self.class_of(term[3], {**want, axis: dim}, like, element)
        return tile.CombineOp(operand, dim, axis_name(axis))

    def make_collect(self, term: Any, want: Want, like: Any, element: str | None) -> Operation:
        axis = self.axis_of(term[1])
        operand = self.class_of(term[2], {**want, axis: PARTIAL}, like, element)
        return tile.CollectOp(operand, axis_name(axis), self.count(axis))

    def make_transpose(self, term: Any, want: Want, like: Any, element: str | None) -> Operation:
        if MOVES & self.pattern.relations:
            # The operand is a reshape, of any rank.
            operand = self.class_of(term[2], {}, None, element)
            perm = list(range(len(shape_of(operand))))
            self.chooser.shuffle(perm)
            return forge.TransposeOp(operand, self.choose(term[1], [tuple(perm)]))
        inverse = list(range(self.rank))
        self.chooser.shuffle(inverse)
        if self.chooser.random() < 0.5:
            inverse = [*range(self.rank - 2), self.rank - 1, self.rank - 2]
        perm = self.choose(term[1], [tuple(inverse)])
        inner = {axis: dim if dim < 0 else perm[dim] for axis, dim in want.items()}
        extents: list[int | None] | None = None
        if like is not None:
            extents = [like[perm.index(dim)] for dim in range(len(perm))]
        return forge.TransposeOp(self.class_of(term[2], inner, extents, element), perm)

    def make_reshape(self, term: Any, want: Want, like: Any, element: str | None) -> Operation:
        operand = self.class_of(term[2], want, None, element)
        return forge.ReshapeOp(operand, list(self.choose(term[1], [reshape_target(self, operand)])))

    def make_expand(self, term: Any, want: Want, like: Any, element: str | None) -> Operation:
        operand = self.class_of(term[2], want, None, element)
        shape = shape_of(operand)
        grown = tuple(
            n if n != 1 or self.chooser.random() < 0.3 else self.extents[d % self.rank] for d, n in enumerate(shape)
        )
        return forge.ExpandOp(operand, list(self.choose(term[1], [grown])))

    def make_slice(self, term: Any, want: Want, like: Any, element: str | None) -> Operation:
        operand = self.class_of(term[2], want, None, element)
        shape = shape_of(operand)
        dim = self.chooser.choice([d for d, n in enumerate(shape) if n > 1] or [0])
        start = self.chooser.randrange(max(1, shape[dim] - 1))
        stop = self.chooser.randint(min(start + 2, shape[dim]), shape[dim])
        spec = self.choose(term[1], [(dim, start, stop, self.chooser.choice((1, 1, 2)))])
        return forge.SliceOp(operand, *spec)

    def make_concat(self, term: Any, want: Want, like: Any, element: str | None) -> Operation:
        dim, single = self.choose(term[1], range(self.rank)), self.chooser.choice((1, None))
        a = self.class_of(term[2], want, [single if d == dim else n for d, n in enumerate(self.extents)], element)
        around = [single if d == dim else n for d, n in enumerate(shape_of(a))]
        return forge.ConcatOp([a, self.class_of(term[3], want, around, element)], dim)

    def make_gather(self, term: Any, want: Want, like: Any, element: str | None) -> Operation:
        return make_gather(self, term, want, element)

    def make_index(self, term: Any, want: Want, like: Any, element: str | None) -> Operation:
        return make_index(self, term, self.chooser.randrange(self.rank), [6] * self.rank)

    # Attributes

    def element(self, other: float) -> str:
        """f32, with some probability an integer or boolean type."""
        return self.chooser.choice(("i32", "i1")) if self.chooser.random() < other else "f32"

    def choose(self, expression: Expression, options: Sequence[Any]) -> Any:
        """The value of an attribute: the one it has, or one of the options from now on."""
        value = self.evaluate(expression)
        if value is None:
            options = [option for option in options if self.pattern.allows(expression, option, self.evaluate)]
            if not options or not isinstance(expression, str):
                raise Rejected(f"nothing to choose for {expression}")
            value = self.attributes[expression] = self.chooser.choice(options)
        return value

    def axis_of(self, expression: Expression) -> int:
        value = self.evaluate(expression)
        if value is None:
            value = self.attributes[str(expression)] = self.program.axis()
        return int(value)

    def count(self, axis: int) -> int:
        extent = self.program.axes.get(axis)
        if extent is None:
            extent = self.program.axes[axis] = self.extents[0]
        return collect_count(extent)

    # Conditions

    def solve(self) -> None:
        """Attributes that equations settle, from what is known so far."""
        changed = True
        while changed:
            changed = False
            for condition in self.pattern.conditions:
                if condition[0] != "=":
                    continue
                values = [v for side in condition[1:] if (v := self.evaluate(side)) is not None]
                for side in condition[1:]:
                    name = side if isinstance(side, str) else ""
                    if values and name and not is_literal(name) and self.evaluate(name) is None:
                        self.attributes[name] = values[0]
                        changed = True

    def holds(self, condition: Any) -> bool | None:
        """Whether a condition holds; None if only the run of the rule can tell."""
        if len(condition) < 3:
            return None
        values = [self.evaluate(side) for side in condition[1:]]
        if any(v is None for v in values):
            return None
        match condition[0]:
            case "=":
                return all(v == values[0] for v in values)
            case "!=":
                return bool(values[0] != values[1])
            case "<":
                return bool(values[0] < values[1])
            case "<=":
                return bool(values[0] <= values[1])
            case ">":
                return bool(values[0] > values[1])
            case ">=":
                return bool(values[0] >= values[1])
            case _:
                return None

    def evaluate(self, expression: Expression) -> Any:
        """Value of an attribute expression as far as it is known without the e-graph: types are shapes here."""
        if isinstance(expression, str):
            if expression[0] == '"':
                return expression.strip('"')
            if is_literal(expression):
                return float(expression) if "." in expression or "inf" in expression else int(expression)
            return self.attributes.get(expression)
        if is_term(expression):
            return None
        if expression[0] == "ty" and isinstance(subject := expression[1], str):
            value = self.values.get(subject)
            return None if value is None else _Dims(shape_of(value))
        arguments = [self.evaluate(part) for part in expression[1:]]
        if not arguments or any(a is None for a in arguments):
            return None
        return _primitive(str(expression[0]), arguments)


class _Dims(tuple[int, ...]):
    """The shape half of a type; equality says nothing of the groups."""


def _get(x: tuple[int, ...], place: int) -> int | None:
    if isinstance(x, _Dims) and place >= len(x):
        return None
    if not 0 <= place < len(x):
        raise Rejected("an index out of range")
    return x[place]


def _primitive(name: str, arguments: list[Any]) -> Any:
    match name, arguments:
        case "vec-length", [x]:
            return 2 * len(x) if isinstance(x, _Dims) else len(x)
        case "vec-get", [x, i]:
            return _get(x, i)
        case "to-f64", [x]:
            return float(x)
        case "+", [a, b]:
            return a + b
        case "-", [a, b]:
            return a - b
        case "*", [a, b]:
            return a * b
        case "/", [a, b]:
            return a // b
        case "swap-last", [r]:
            return (*range(r - 2), r - 1, r - 2)
        case _:
            return None


def _joined(like: Sequence[int | None] | None, shape: Sequence[int]) -> list[int | None]:
    """Extents that fit both."""
    if like is None or len(like) != len(shape):
        return list(shape)
    return [a if b == 1 else b for a, b in zip(like, shape, strict=True)]


def build_instances(program: Program, patterns: Sequence[Pattern]) -> int:
    """Adds an instance of each pattern whose draw holds; the number of them. Raises Unbuildable."""
    built = 0
    for pattern in patterns:
        mark = program.checkpoint()
        try:
            Instance(program, pattern).build()
        except (Rejected, VerifyException, ValueError, IndexError):
            program.restore(mark)
        else:
            built += 1
    return built
