"""Canonicalization of ``tile`` ops."""

from __future__ import annotations

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from equiforge.dialects.tile_axes import CombineOp, PartitionOp


class FoldPartitionOfCombine(RewritePattern):
    """The slices of joined slices are the slices."""

    # Pattern: partition(combine(x, d, p), d, p) -> x
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: PartitionOp, rewriter: PatternRewriter) -> None:
        source = op.operand.owner
        if isinstance(source, CombineOp) and (source.dim, source.axis_name) == (op.dim, op.axis_name):
            rewriter.replace(op, (), [source.operand])


class FoldCombineOfPartition(RewritePattern):
    """Joining the slices of a value gives the value."""

    # Pattern: combine(partition(x, d, p), d, p) -> x
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CombineOp, rewriter: PatternRewriter) -> None:
        source = op.operand.owner
        if isinstance(source, PartitionOp) and (source.dim, source.axis_name) == (op.dim, op.axis_name):
            rewriter.replace(op, (), [source.operand])


VIEW_PATTERNS: tuple[RewritePattern, ...] = (FoldPartitionOfCombine(), FoldCombineOfPartition())
