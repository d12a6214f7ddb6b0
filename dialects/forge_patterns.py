"""Canonicalization of ``forge`` ops: rewrites that change no bit of any result, in either numerics mode.

Neutral elements are dropped of integers and booleans only; what holds of real numbers is the business of the
e-graph's rules.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from equiforge.dialects.forge_pointwise import (
    AbsOp,
    BinaryOp,
    CastOp,
    NegOp,
    NotOp,
    ReluOp,
    SelectOp,
    UnaryOp,
)
from equiforge.dialects.forge_sources import ConstantOp
from equiforge.dialects.forge_structure import (
    ConcatOp,
    ExpandOp,
    GetOp,
    PadOp,
    ReshapeOp,
    SliceOp,
    TransposeOp,
    TupleOp,
)
from equiforge.dialects.tile_types import element_type_of, shape_of, states_of

RIGHT_NEUTRAL: dict[str, int] = {"add": 0, "sub": 0, "mul": 1, "div": 1, "pow": 1, "or": 0, "xor": 0}
"""The integer that an op may have on its right without effect; on its left too if the op is commutative."""

INVOLUTIONS = (NegOp, NotOp)
IDEMPOTENT_UNARY = (AbsOp, ReluOp)
IDEMPOTENT_BINARY = ("max", "min", "and", "or")


def splat_of(value: SSAValue) -> int | float | None:
    """The number that every element of a value is, where a constant or its broadcast says so."""
    owner = value.owner
    while isinstance(owner, ExpandOp):
        owner = owner.operand.owner
    return owner.splat if isinstance(owner, ConstantOp) else None


def _replace(op: Operation, rewriter: PatternRewriter, new: Operation) -> None:
    """A new op stands for the same line of the user's program."""
    if "loc" in op.attributes:
        new.attributes["loc"] = op.attributes["loc"]
    rewriter.replace(op, new)


class FoldUnaryTwice(RewritePattern):
    # Pattern: neg(neg(x)) -> x, not(not(x)) -> x
    # Pattern: abs(abs(x)) -> abs(x), relu(relu(x)) -> relu(x)
    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if not isinstance(op, UnaryOp) or type(op.operand.owner) is not type(op):
            return
        inner = op.operand.owner
        if isinstance(inner, INVOLUTIONS):
            rewriter.replace(op, (), [inner.operand])
        elif isinstance(inner, IDEMPOTENT_UNARY):
            rewriter.replace(op, (), [inner.result])


class FoldNeutralElement(RewritePattern):
    # Pattern: add(x, 0) -> x and so on, of integers, where the constant does not broadcast x
    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if not isinstance(op, BinaryOp) or not isinstance(element_type_of(op.result.type), IntegerType):
            return
        pairs = [(op.lhs, op.rhs)]
        if op.mnemonic not in ("sub", "div", "pow", "rem"):
            pairs.append((op.rhs, op.lhs))
        for kept, neutral in pairs:
            number = splat_of(neutral)
            if number is None or kept.type != op.result.type:
                continue
            everywhere = 1 if element_type_of(kept.type) == IntegerType(1) else -1
            wanted = everywhere if op.mnemonic == "and" else RIGHT_NEUTRAL.get(op.mnemonic)
            if number == wanted:
                rewriter.replace(op, (), [kept])
                return


class FoldSameOperands(RewritePattern):
    # Pattern: max(x, x) -> x, likewise min, and, or
    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if isinstance(op, BinaryOp) and op.mnemonic in IDEMPOTENT_BINARY and op.lhs is op.rhs:
            rewriter.replace(op, (), [op.lhs])


class FoldSelect(RewritePattern):
    # Pattern: select(true, a, b) -> a, select(false, a, b) -> b, select(c, a, a) -> a, where nothing broadcasts the
    # result
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SelectOp, rewriter: PatternRewriter) -> None:
        decided = splat_of(op.condition)
        if op.on_true is op.on_false:
            chosen = op.on_true
        elif decided is not None:
            chosen = op.on_true if decided else op.on_false
        else:
            return
        if chosen.type == op.result.type:
            rewriter.replace(op, (), [chosen])


class FoldCast(RewritePattern):
    # Pattern: cast(x) to the type of x -> x
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CastOp, rewriter: PatternRewriter) -> None:
        if op.operand.type == op.result.type:
            rewriter.replace(op, (), [op.operand])


class FoldTranspose(RewritePattern):
    # Pattern: transpose(x, identity) -> x
    # Pattern: transpose(transpose(x, p), q) -> transpose(x, p after q)
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TransposeOp, rewriter: PatternRewriter) -> None:
        perm = op.perm
        if list(perm) == sorted(perm):
            rewriter.replace(op, (), [op.operand])
        elif isinstance(inner := op.operand.owner, TransposeOp):
            _replace(op, rewriter, TransposeOp(inner.operand, [inner.perm[dim] for dim in perm]))


class FoldReshape(RewritePattern):
    # Pattern: reshape(x) to the shape of x -> x
    # Pattern: reshape(reshape(x)) -> reshape(x)
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReshapeOp, rewriter: PatternRewriter) -> None:
        if op.operand.type == op.result.type:
            rewriter.replace(op, (), [op.operand])
        elif isinstance(inner := op.operand.owner, ReshapeOp):
            _replace(op, rewriter, ReshapeOp(inner.operand, op.shape))


class FoldExpand(RewritePattern):
    # Pattern: expand(x) to the shape of x -> x
    # Pattern: expand(expand(x)) -> expand(x)
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ExpandOp, rewriter: PatternRewriter) -> None:
        if op.operand.type == op.result.type:
            rewriter.replace(op, (), [op.operand])
        elif isinstance(inner := op.operand.owner, ExpandOp):
            _replace(op, rewriter, ExpandOp(inner.operand, op.shape, states_of(op.result.type)))


class FoldSlice(RewritePattern):
    # Pattern: slice(x, everything) -> x
    # Pattern: slice(slice(x, d), d) -> slice(x, d)
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SliceOp, rewriter: PatternRewriter) -> None:
        if op.operand.type == op.result.type and op.step == 1:
            rewriter.replace(op, (), [op.operand])
            return
        inner = op.operand.owner
        count = shape_of(op.result.type)[op.dim]
        if isinstance(inner, SliceOp) and inner.dim == op.dim and count:
            start, step = inner.start + op.start * inner.step, inner.step * op.step
            _replace(op, rewriter, SliceOp(inner.operand, op.dim, start, start + (count - 1) * step + 1, step))


class FoldConcat(RewritePattern):
    # Pattern: concat(x) -> x
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConcatOp, rewriter: PatternRewriter) -> None:
        if len(op.inputs) == 1:
            rewriter.replace(op, (), [op.inputs[0]])


class FoldPad(RewritePattern):
    # Pattern: pad(x) by 0, 0 -> x
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: PadOp, rewriter: PatternRewriter) -> None:
        if op.low == op.high == 0:
            rewriter.replace(op, (), [op.operand])


class FoldGet(RewritePattern):
    # Pattern: get(i, tuple(x0, x1, …)) -> xi
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GetOp, rewriter: PatternRewriter) -> None:
        if isinstance(source := op.operand.owner, TupleOp):
            rewriter.replace(op, (), [source.inputs[op.index]])


POINTWISE_PATTERNS: tuple[RewritePattern, ...] = (
    FoldUnaryTwice(),
    FoldNeutralElement(),
    FoldSameOperands(),
    FoldSelect(),
    FoldCast(),
)
STRUCTURE_PATTERNS: tuple[RewritePattern, ...] = (
    FoldTranspose(),
    FoldReshape(),
    FoldExpand(),
    FoldSlice(),
    FoldConcat(),
    FoldPad(),
    FoldGet(),
)
