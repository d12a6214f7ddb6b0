"""Pointwise ops of the ``forge`` dialect: on tensors, and on tile views alike.

    %s = forge.add %a, %b : (tensor<8x1xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    %m = forge.compare lt %i, %j : (tensor<8x1xi64>, tensor<1x64xi64>) -> tensor<8x64xi1>
    %h = forge.cast %s : tensor<8x64xf32> to tensor<8x64xf16>

Ranks are equal and size-1 dimensions broadcast. On views all operands have the same axes, and along each axis the
operands are replicated, or those that are not broadcast are partitioned along the same dimension.
"""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import Commutative, HasCanonicalizationPatternsTrait, Pure

from equiforge.dialects.assembly import InferredOp, Signature, Word
from equiforge.dialects.inference import infer_cast, infer_compare, infer_pointwise, infer_select
from equiforge.dialects.op_table import BINARY, COMMUTATIVE, UNARY
from equiforge.dialects.tile_types import element_type_of


class PointwisePatterns(HasCanonicalizationPatternsTrait):
    """Rewrites that hold for every bit pattern."""

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from equiforge.dialects import forge_patterns as patterns

        return patterns.POINTWISE_PATTERNS


class UnaryOp(InferredOp):
    """A pointwise op of one operand: ``%y = forge.exp %x : tensor<8x64xf32>``; (C1) the element type is one that it
    takes.
    """

    operand = operand_def()
    result = result_def()
    traits = traits_def(Pure(), PointwisePatterns())
    custom_directives = (Signature,)
    assembly_format = "$operand attr-dict `:` custom<Signature>(functional-type(operands, results))"

    @property
    def mnemonic(self) -> str:
        """The name of the op in ``op_table``."""
        return self.name.removeprefix("forge.")

    def __init__(self, operand: SSAValue | Operation):
        value = SSAValue.get(operand)
        super().__init__(operands=[value], result_types=[infer_pointwise(self.mnemonic, [value.type])])

    def infer(self) -> Attribute:
        return infer_pointwise(self.mnemonic, [self.operand.type])


class BinaryOp(InferredOp):
    """A pointwise op of two operands: ``%s = forge.add %a, %b : tensor<8x64xf32>``.

    (C1) element types are equal and the op takes them; (C2) ranks are equal, sizes equal or 1; (C3) states of views
    fit.
    """

    lhs = operand_def()
    rhs = operand_def()
    result = result_def()
    traits = traits_def(Pure(), PointwisePatterns())
    custom_directives = (Signature,)
    assembly_format = "$lhs `,` $rhs attr-dict `:` custom<Signature>(functional-type(operands, results))"

    @property
    def mnemonic(self) -> str:
        """The name of the op in ``op_table``."""
        return self.name.removeprefix("forge.")

    def __init__(self, lhs: SSAValue | Operation, rhs: SSAValue | Operation):
        a, b = SSAValue.get(lhs), SSAValue.get(rhs)
        super().__init__(operands=[a, b], result_types=[infer_pointwise(self.mnemonic, [a.type, b.type])])

    def infer(self) -> Attribute:
        return infer_pointwise(self.mnemonic, [self.lhs.type, self.rhs.type])


class CommutativeOp(BinaryOp):
    """A binary op whose operands may be exchanged."""

    traits = traits_def(Pure(), Commutative(), PointwisePatterns())


@irdl_op_definition
class NegOp(UnaryOp):
    """-x."""

    name = "forge.neg"


@irdl_op_definition
class AbsOp(UnaryOp):
    """The absolute value."""

    name = "forge.abs"


@irdl_op_definition
class ExpOp(UnaryOp):
    """e to the power x."""

    name = "forge.exp"


@irdl_op_definition
class LogOp(UnaryOp):
    """The natural logarithm."""

    name = "forge.log"


@irdl_op_definition
class SqrtOp(UnaryOp):
    """The square root."""

    name = "forge.sqrt"


@irdl_op_definition
class RsqrtOp(UnaryOp):
    """1/sqrt(x)."""

    name = "forge.rsqrt"


@irdl_op_definition
class RecipOp(UnaryOp):
    """1/x."""

    name = "forge.recip"


@irdl_op_definition
class TanhOp(UnaryOp):
    """The hyperbolic tangent."""

    name = "forge.tanh"


@irdl_op_definition
class ErfOp(UnaryOp):
    """The error function."""

    name = "forge.erf"


@irdl_op_definition
class SigmoidOp(UnaryOp):
    """1/(1 + exp(-x))."""

    name = "forge.sigmoid"


@irdl_op_definition
class ReluOp(UnaryOp):
    """max(x, 0)."""

    name = "forge.relu"


@irdl_op_definition
class SinOp(UnaryOp):
    """The sine, of radians."""

    name = "forge.sin"


@irdl_op_definition
class CosOp(UnaryOp):
    """The cosine, of radians."""

    name = "forge.cos"


@irdl_op_definition
class FloorOp(UnaryOp):
    """Rounds down."""

    name = "forge.floor"


@irdl_op_definition
class CeilOp(UnaryOp):
    """Rounds up."""

    name = "forge.ceil"


@irdl_op_definition
class RoundOp(UnaryOp):
    """Rounds to the nearest integer, halves to the even one."""

    name = "forge.round"


@irdl_op_definition
class NotOp(UnaryOp):
    """Logical negation of i1."""

    name = "forge.not"


@irdl_op_definition
class AddOp(CommutativeOp):
    """a + b."""

    name = "forge.add"


@irdl_op_definition
class SubOp(BinaryOp):
    """a - b."""

    name = "forge.sub"


@irdl_op_definition
class MulOp(CommutativeOp):
    """a * b."""

    name = "forge.mul"


@irdl_op_definition
class DivOp(BinaryOp):
    """a / b of floats, the quotient rounded down of integers."""

    name = "forge.div"


@irdl_op_definition
class MaxOp(CommutativeOp):
    """The larger one; NaN if either is."""

    name = "forge.max"


@irdl_op_definition
class MinOp(CommutativeOp):
    """The smaller one; NaN if either is."""

    name = "forge.min"


@irdl_op_definition
class PowOp(BinaryOp):
    """a to the power b."""

    name = "forge.pow"


@irdl_op_definition
class RemOp(BinaryOp):
    """a - b * floor(a / b), Python's %."""

    name = "forge.rem"


@irdl_op_definition
class AndOp(CommutativeOp):
    """Conjunction of i1, bit by bit of integers."""

    name = "forge.and"


@irdl_op_definition
class OrOp(CommutativeOp):
    """Disjunction of i1, bit by bit of integers."""

    name = "forge.or"


@irdl_op_definition
class XorOp(CommutativeOp):
    """Exclusive or of i1, bit by bit of integers."""

    name = "forge.xor"


@irdl_op_definition
class CompareOp(InferredOp):
    """i1 of a comparison: ``%m = forge.compare lt %a, %b : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>``.

    (C1) the predicate is eq, ne, lt, le, gt or ge; (C2) element types are equal; (C3) operands broadcast. NaN
    compares as in IEEE 754.
    """

    name = "forge.compare"
    predicate_attr = prop_def(StringAttr, prop_name="predicate")
    lhs = operand_def()
    rhs = operand_def()
    result = result_def()
    traits = traits_def(Pure(), PointwisePatterns())
    custom_directives = (Signature, Word)
    assembly_format = (
        "custom<Word>($predicate) $lhs `,` $rhs attr-dict `:` custom<Signature>(functional-type(operands, results))"
    )

    def __init__(self, predicate: str, lhs: SSAValue | Operation, rhs: SSAValue | Operation):
        a, b = SSAValue.get(lhs), SSAValue.get(rhs)
        super().__init__(
            operands=[a, b],
            properties={"predicate": StringAttr(predicate)},
            result_types=[infer_compare(predicate, [a.type, b.type])],
        )

    @property
    def predicate(self) -> str:
        return self.predicate_attr.data

    def infer(self) -> Attribute:
        return infer_compare(self.predicate, [self.lhs.type, self.rhs.type])


@irdl_op_definition
class SelectOp(InferredOp):
    """``on_true`` where the condition holds, else ``on_false``: ``%r = forge.select %c, %a, %b : (…) ->
    tensor<8x64xf32>``.

    (C1) the condition is i1; (C2) the others have equal element types; (C3) all three broadcast. What is not selected
    has no influence.
    """

    name = "forge.select"
    condition = operand_def()
    on_true = operand_def()
    on_false = operand_def()
    result = result_def()
    traits = traits_def(Pure(), PointwisePatterns())
    custom_directives = (Signature,)
    assembly_format = (
        "$condition `,` $on_true `,` $on_false attr-dict `:` custom<Signature>(functional-type(operands, results))"
    )

    def __init__(self, condition: SSAValue | Operation, on_true: SSAValue | Operation, on_false: SSAValue | Operation):
        values = [SSAValue.get(condition), SSAValue.get(on_true), SSAValue.get(on_false)]
        super().__init__(operands=values, result_types=[infer_select(*(value.type for value in values))])

    def infer(self) -> Attribute:
        return infer_select(self.condition.type, self.on_true.type, self.on_false.type)


@irdl_op_definition
class CastOp(InferredOp):
    """Another element type: ``%h = forge.cast %x : tensor<8x64xf32> to tensor<8x64xf16>``.

    Booleans become 0 and 1; floats are truncated to integers; a number becomes true unless it is 0. Shape and states
    stay.
    """

    name = "forge.cast"
    operand = operand_def()
    result = result_def()
    traits = traits_def(Pure(), PointwisePatterns())
    assembly_format = "$operand attr-dict `:` type($operand) `to` type($result)"

    def __init__(self, operand: SSAValue | Operation, element_type: Attribute):
        value = SSAValue.get(operand)
        super().__init__(operands=[value], result_types=[infer_cast(value.type, element_type)])

    def infer(self) -> Attribute:
        return infer_cast(self.operand.type, element_type_of(self.result.type))


UNARY_CLASSES: tuple[type[UnaryOp], ...] = (
    NegOp, AbsOp, ExpOp, LogOp, SqrtOp, RsqrtOp, RecipOp, TanhOp, ErfOp, SigmoidOp, ReluOp, SinOp, CosOp,
    FloorOp, CeilOp, RoundOp, NotOp,
)  # fmt: skip
BINARY_CLASSES: tuple[type[BinaryOp], ...] = (
    AddOp, SubOp, MulOp, DivOp, MaxOp, MinOp, PowOp, RemOp, AndOp, OrOp, XorOp,
)  # fmt: skip

UNARY_OPS: dict[str, type[UnaryOp]] = {cls.name.removeprefix("forge."): cls for cls in UNARY_CLASSES}
BINARY_OPS: dict[str, type[BinaryOp]] = {cls.name.removeprefix("forge."): cls for cls in BINARY_CLASSES}

# The classes and the table can't drift apart.
assert tuple(UNARY_OPS) == UNARY and tuple(BINARY_OPS) == BINARY
assert {name for name, cls in BINARY_OPS.items() if issubclass(cls, CommutativeOp)} == COMMUTATIVE
