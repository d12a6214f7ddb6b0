"""Constants that name an extent: the ``n`` and ``1/n`` of a mean.

When the reduced dimension gets smaller, so must they, else a rewrite that knows ``sum(1) = n`` would be refuted
wrongly at reduced extents. They are recognised in the forge program by their use: multiplied with, or dividing, what
a sum over a group of that extent yields.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from equiforge.analysis.dim_groups import DimGroups
from equiforge.dialects import forge
from equiforge.dialects.tile_types import element_type_of
from equiforge.verify.compare import UNIT_ROUNDOFF
from equiforge.verify.values import round_to


def scaled_constants(func: FuncOp, groups: DimGroups, extents: Sequence[int]) -> dict[float, float]:
    """Returns, for the constants that stand for an extent or its reciprocal, the value at the new ``extents``.

    A value that stands for two groups with different new extents is left out.
    """
    found: dict[float, set[float]] = {}
    for op in func.body.block.ops:
        if not isinstance(op, forge.MulOp | forge.DivOp):
            continue
        for constant, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            literal = constant.owner
            if not isinstance(literal, forge.ConstantOp) or not isinstance(literal.splat, float):
                continue
            for group in _summed_groups(other, groups):
                old, new = groups.extent(group), extents[group]
                element = str(element_type_of(constant.type))
                if literal.splat == float(old):
                    found.setdefault(literal.splat, set()).add(float(new))
                elif _near(literal.splat, 1.0 / old, element):
                    found.setdefault(literal.splat, set()).add(float(round_to(np.array(1.0 / new), element)))
    return {value: news.pop() for value, news in found.items() if len(news) == 1}


def _near(value: float, wanted: float, element: str) -> bool:
    return abs(value - wanted) <= 2 * UNIT_ROUNDOFF.get(element, 0.0) * wanted


def _summed_groups(value: SSAValue, groups: DimGroups) -> list[int]:
    """The groups that sums right behind a value go over; casts and reshapes in between are looked through."""
    found: list[int] = []
    op = value.owner
    while isinstance(op, forge.CastOp | forge.ReshapeOp | forge.ReduceOp | forge.ExpandOp):
        if isinstance(op, forge.ReduceOp):
            if op.reducer != "sum":
                break
            group = groups.group(op.operand, op.dim)
            if group >= 0:
                found.append(group)
        op = op.operand.owner
    return found
