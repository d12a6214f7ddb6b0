"""Runs a forge function op by op with torch, in its order, in the element types that it says.

Every value is given up after its last use and every computed one is row-major, so that the memory that torch takes is
what ``equiforge.analysis.memory`` models. Unlike the reference interpreter this also runs random numbers and opaque
calls.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue

from equiforge.analysis.memory import straight_line
from equiforge.dialects import forge
from equiforge.dialects.tile_types import element_type_of, shape_of
from equiforge.errors import EquiforgeError
from equiforge.frontend.dtypes import ElementType, torch_dtype
from equiforge.frontend.opaque import run_opaque

_torch: Any = torch
_RENAMED = {
    "recip": "reciprocal",
    "not": "logical_not",
    "max": "maximum",
    "min": "minimum",
    "rem": "remainder",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
}
"""The functions of torch that are called otherwise than the op."""


def run_eagerly(function: FuncOp, arguments: list[torch.Tensor]) -> list[torch.Tensor]:
    """The results of a function of one block. ``arguments`` is emptied: what the caller holds elsewhere stays."""
    block = straight_line(function)
    values: dict[SSAValue, Any] = dict(zip(block.args, arguments, strict=True))
    arguments.clear()
    last: dict[SSAValue, Operation] = {}
    for op in block.ops:
        for value in (*op.operands, *op.results):
            last[value] = op
    for argument in block.args:
        if argument not in last:
            del values[argument]
    with torch.no_grad():
        for op in block.ops:
            operands = [values[operand] for operand in op.operands]
            if isinstance(op, ReturnOp):
                return operands
            for value in set(op.operands):
                if last[value] is op:
                    del values[value]
            for result, made in zip(op.results, _run(op, operands), strict=True):
                if last[result] is not op:
                    values[result] = made
    raise EquiforgeError(f"@{function.sym_name.data} does not return")


def _run(op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    match op:
        case forge.TupleOp():
            return [tuple(operands)]
        case forge.GetOp():
            return [operands[0][op.index]]
        case forge.OpaqueOp():
            return run_opaque(op, operands)
        case forge.TransposeOp():
            return [operands[0].permute(op.perm)]
        case forge.ExpandOp():
            return [operands[0].expand(op.shape)]
        case forge.ReshapeOp():
            return [operands[0].reshape(op.shape)]
        case forge.SliceOp():
            return [operands[0][(*[slice(None)] * op.dim, slice(op.start, op.stop, op.step))]]
        case _:
            out = _empty(op.results[0].type)
            if not operands:
                _make(op, out)
            else:
                _compute(op, out, *operands)
            return [out]


def _empty(type_: Attribute) -> Any:
    return _torch.empty(shape_of(type_), dtype=torch_dtype(cast(ElementType, element_type_of(type_))))


def _compute(op: Operation, out: Any, x: Any, *rest: Any) -> None:
    """Writes the result of an op with operands to ``out``."""
    name = op.name.removeprefix("forge.")
    function: Callable[..., Any] = getattr(torch, _RENAMED.get(name, name), torch.empty)
    match op:
        case forge.ReluOp():
            _torch.clamp(x, min=0, out=out)
        case forge.DivOp():
            _torch.div(x, *rest, rounding_mode=None if x.dtype.is_floating_point else "floor", out=out)
        case forge.UnaryOp() | forge.BinaryOp():
            function(x, *rest, out=out)
        case forge.CompareOp():
            getattr(torch, op.predicate)(x, *rest, out=out)
        case forge.SelectOp():
            _torch.where(x, *rest, out=out)
        case forge.CastOp():
            out.copy_(x)
        case forge.ReduceOp():
            _reduce(op, out, x)
        case forge.MatmulOp():
            _torch.matmul(x.to(out.dtype), rest[0].to(out.dtype), out=out)
        case forge.ConcatOp():
            _torch.cat((x, *rest), op.dim, out=out)
        case forge.GatherOp():
            index = _torch.remainder(rest[0], max(x.shape[op.dim], 1)).to(_torch.int64)
            _torch.take_along_dim(x, index, op.dim, out=out)
        case forge.PadOp():
            out.fill_(op.value).narrow(op.dim, op.low, x.shape[op.dim]).copy_(x)
        case _:
            raise EquiforgeError(f"{op.name} can't be run with torch")


def _reduce(op: forge.ReduceOp, out: Any, x: Any) -> None:
    match op.reducer:
        case "sum" | "prod":
            getattr(torch, op.reducer)(x, op.dim, keepdim=True, dtype=out.dtype, out=out)
        case "max" | "min":
            getattr(torch, f"a{op.reducer}")(x, op.dim, keepdim=True, out=out)
        case _:
            getattr(torch, op.reducer)(x, op.dim, keepdim=True, out=out)


def _make(op: Operation, out: Any) -> None:
    """Fills a tensor from nothing."""
    match op:
        case forge.ConstantOp() if op.splat is not None:
            out.fill_(op.splat)
        case forge.ConstantOp():
            out.copy_(_torch.tensor(op.value.get_values(), dtype=out.dtype).reshape(out.shape))
        case forge.IotaOp():
            along = [size if dim == op.dim else 1 for dim, size in enumerate(shape_of(op.result.type))]
            out.copy_(_torch.arange(math.prod(along)).view(along))
        case forge.RandomOp():
            out.uniform_() if op.distribution == "uniform" else out.normal_()
        case _:
            raise EquiforgeError(f"{op.name} can't be run with torch")
