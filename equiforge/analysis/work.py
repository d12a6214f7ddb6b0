"""What an op costs to run: floating-point operations and bytes moved.

Pointwise ops, selects and casts count one operation for each element of the result, reductions one for each element
that they read, a product two for each multiply-add. Structure, indices and literals count none, and neither do random
numbers and opaque calls, of which nothing is known. Bytes are those of the operands and results; an expanded operand is
read once, and views move nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from xdsl.ir import Operation

from equiforge.analysis.storage import Storages, type_bytes
from equiforge.dialects import forge
from equiforge.dialects.tile_types import shape_of


@dataclass(frozen=True)
class Work:
    """Operations and bytes; they add up."""

    flops: int = 0
    bytes: int = 0

    def __add__(self, other: Work) -> Work:
        return Work(self.flops + other.flops, self.bytes + other.bytes)


def flops_of(op: Operation) -> int:
    """Operations of one op, without what it calls."""
    match op:
        case forge.MatmulOp():
            return 2 * math.prod(shape_of(op.result.type)) * shape_of(op.lhs.type)[-1]
        case forge.ReduceOp():
            return math.prod(shape_of(op.operand.type))
        case forge.UnaryOp() | forge.BinaryOp() | forge.CompareOp() | forge.SelectOp() | forge.CastOp():
            return math.prod(shape_of(op.results[0].type))
        case _:
            return 0


def work_of(op: Operation, storages: Storages) -> Work:
    """Operations and bytes of one op, without what it calls."""
    if storages.is_view(op) or isinstance(op, forge.TupleOp):
        return Work()
    moved = sum(type_bytes(result.type) for result in op.results)
    for operand in op.operands:
        stored = sum(storage.bytes for storage in storages.of(operand))
        moved += min(type_bytes(operand.type), stored)
    return Work(flops_of(op), moved)
