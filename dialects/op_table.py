"""The pointwise ops as plain data, shared by the dialects, the rules of the e-graph, the interpreter and the emitter.

Nothing of the project is imported here, so that every stage may read the table. One row is one op of the ``forge``
dialect: ``add`` is ``forge.add``. ``operands`` names the element types that an op takes:

===========  ======================================================
``float``    f64, f32, f16, bf16
``number``   those, and integers wider than i1
``logical``  i1, and integers bit by bit
``boolean``  i1
===========  ======================================================

``associative`` holds for integers, and for floats when rewrites assume real arithmetic (``numerics=real``).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PointwiseOp:
    """One pointwise op; ``domain`` says what mathematics leaves open, and where implementations differ."""

    mnemonic: str
    arity: int
    operands: str
    domain: str = ""
    commutative: bool = False
    associative: bool = False


POINTWISE: tuple[PointwiseOp, ...] = (
    PointwiseOp("neg", 1, "number", "flips the sign bit of floats; wraps for the least integer"),
    PointwiseOp("abs", 1, "number", "clears the sign bit of floats; wraps for the least integer"),
    PointwiseOp("exp", 1, "float"),
    PointwiseOp("log", 1, "float", "-inf at zero, NaN below it"),
    PointwiseOp("sqrt", 1, "float", "NaN below zero, -0.0 at -0.0"),
    PointwiseOp("rsqrt", 1, "float", "inf at 0.0, -inf at -0.0, NaN below zero"),
    PointwiseOp("recip", 1, "float", "IEEE division 1/x: inf at 0.0, -inf at -0.0"),
    PointwiseOp("tanh", 1, "float"),
    PointwiseOp("erf", 1, "float"),
    PointwiseOp("sigmoid", 1, "float", "1/(1 + exp(-x)), without overflow at either end"),
    PointwiseOp("relu", 1, "number", "propagates NaN"),
    PointwiseOp("sin", 1, "float", "NaN at infinities"),
    PointwiseOp("cos", 1, "float", "NaN at infinities"),
    PointwiseOp("floor", 1, "float"),
    PointwiseOp("ceil", 1, "float"),
    PointwiseOp("round", 1, "float", "halves go to the even neighbour"),
    PointwiseOp("not", 1, "boolean"),
    PointwiseOp("add", 2, "number", "integers wrap", commutative=True, associative=True),
    PointwiseOp("sub", 2, "number", "integers wrap"),
    PointwiseOp("mul", 2, "number", "integers wrap", commutative=True, associative=True),
    PointwiseOp(
        "div", 2, "number", "IEEE division of floats; of integers the quotient rounded down, undefined for a divisor 0"
    ),
    PointwiseOp("max", 2, "number", "propagates NaN", commutative=True, associative=True),
    PointwiseOp("min", 2, "number", "propagates NaN", commutative=True, associative=True),
    PointwiseOp("pow", 2, "number", "NaN for a negative base and a fractional exponent; 1 for an exponent 0"),
    PointwiseOp("rem", 2, "number", "has the sign of the divisor, as Python's %; NaN resp. undefined for a divisor 0"),
    PointwiseOp("and", 2, "logical", commutative=True, associative=True),
    PointwiseOp("or", 2, "logical", commutative=True, associative=True),
    PointwiseOp("xor", 2, "logical", commutative=True, associative=True),
)

BY_MNEMONIC: dict[str, PointwiseOp] = {op.mnemonic: op for op in POINTWISE}
UNARY: tuple[str, ...] = tuple(op.mnemonic for op in POINTWISE if op.arity == 1)
BINARY: tuple[str, ...] = tuple(op.mnemonic for op in POINTWISE if op.arity == 2)
COMMUTATIVE: frozenset[str] = frozenset(op.mnemonic for op in POINTWISE if op.commutative)
ASSOCIATIVE: frozenset[str] = frozenset(op.mnemonic for op in POINTWISE if op.associative)

ADDITIVE: tuple[str, ...] = ("add", "sub")
"""Linear in each operand pair: factors and reductions distribute over them."""
MULTIPLICATIVE: tuple[str, ...] = ("mul", "div")
"""A sign may be moved out of the first operand."""
IDEMPOTENT: tuple[str, ...] = ("max", "min", "and", "or")
ODD: tuple[str, ...] = ("tanh", "erf", "sin", "recip")
"""f(-x) = -f(x) for every number, infinities and zeros of both signs included."""
EVEN: tuple[str, ...] = ("abs", "cos")
INCREASING: tuple[str, ...] = ("exp", "tanh", "erf", "sigmoid", "relu", "floor", "ceil", "round")
"""Defined for every number and never falling; NaN only for NaN."""
WITHIN_ONE: tuple[str, ...] = ("tanh", "erf", "sigmoid", "sin", "cos")
"""Of magnitude at most 1 wherever they are not NaN."""

COMPARISONS: tuple[str, ...] = ("eq", "ne", "lt", "le", "gt", "ge")
"""Predicates of ``forge.compare``; every one but ``ne`` is false when an operand is NaN."""

SWAPPED: dict[str, str] = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
"""The predicate that says the same of exchanged operands."""

REDUCERS: dict[str, str] = {
    "sum": "number",
    "prod": "number",
    "max": "number",
    "min": "number",
    "any": "boolean",
    "all": "boolean",
}
"""Built-in reducers with the element types they take; ``max`` and ``min`` propagate NaN."""

COMBINERS: dict[str, str] = {"sum": "add", "prod": "mul", "max": "max", "min": "min", "any": "or", "all": "and"}
"""The pointwise op that joins two partial results of a built-in reducer."""
DUALS: dict[str, str] = {"max": "min", "min": "max"}
"""Reducers that a falling function exchanges."""

FLOATS: tuple[str, ...] = ("f64", "f32", "f16", "bf16")
HALVES: tuple[str, ...] = ("f16", "bf16")
WIDE_RANGE: tuple[str, ...] = ("f64", "f32", "bf16")
"""Floats whose range holds every integer."""
STORAGE_FLOATS: tuple[str, ...] = ("f8E4M3FN", "f8E5M2")
"""Floats that can be stored, cast and multiplied as matrices, but not computed with."""
INTEGERS: tuple[str, ...] = ("i64", "i32", "i16", "i8")
BOOLEAN = "i1"
ELEMENT_TYPES: tuple[str, ...] = (*FLOATS, *STORAGE_FLOATS, *INTEGERS, BOOLEAN)

ELEMENT_BYTES: dict[str, int] = {
    "i1": 1,
    "i8": 1,
    "f8E4M3FN": 1,
    "f8E5M2": 1,
    "f16": 2,
    "bf16": 2,
    "i16": 2,
    "f32": 4,
    "i32": 4,
    "f64": 8,
    "i64": 8,
}
"""Bytes that an element takes in memory; a truth value takes one."""

OPERAND_KINDS: dict[str, frozenset[str]] = {
    "float": frozenset(FLOATS),
    "number": frozenset((*FLOATS, *INTEGERS)),
    "logical": frozenset((*INTEGERS, BOOLEAN)),
    "boolean": frozenset((BOOLEAN,)),
}
"""The element types behind each entry of ``PointwiseOp.operands``."""

OPERATOR_FACTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "commutes": tuple((name,) for name in sorted(COMMUTATIVE)),
    "associates": tuple((name,) for name in sorted(ASSOCIATIVE)),
    "additive": tuple((name,) for name in ADDITIVE),
    "multiplicative": tuple((name,) for name in MULTIPLICATIVE),
    "idempotent": tuple((name,) for name in IDEMPOTENT),
    "odd": tuple((name,) for name in ODD),
    "even": tuple((name,) for name in EVEN),
    "increasing": tuple((name,) for name in INCREASING),
    "within-one": tuple((name,) for name in WITHIN_ONE),
    "wide-range": tuple((name,) for name in WIDE_RANGE),
    "dual": tuple(DUALS.items()),
    # Not prod: of Πx·y = Πx·Πy one of the products overflows where the factors cancel.
    "splits": (*((f, o) for f, o in COMBINERS.items() if f != "prod"), ("sum", "sub")),
}
"""What rules ask about the names of operators: the rows of each relation of the rule language."""
