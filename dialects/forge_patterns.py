"""Canonicalization of ``forge`` ops: rewrites that change no bit of any result."""

from __future__ import annotations

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

POINTWISE_PATTERNS: tuple[RewritePattern, ...] = ()
STRUCTURE_PATTERNS: tuple[RewritePattern, ...] = ()
