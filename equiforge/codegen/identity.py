"""Whether a rolling reduction is left unchanged by a tile in which its first input is -inf everywhere.

The body of a reducer is evaluated on what is known then: the input is -inf, each state is itself, everything else
unknown. Twice: once with the running maximum at some finite value, once with every state at its identity. Only if
both give back the states may a loop skip such tiles.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isnan

from xdsl.ir import Block, SSAValue

from equiforge.codegen.pointwise import numeric
from equiforge.dialects import forge, tile


@dataclass(frozen=True)
class _State:
    """The old value of a state."""

    index: int


_Known = _State | float | bool | None


def unchanged_by_minus_infinity(reducer: tile.ReducerOp, inputs: int) -> bool:
    """True if a tile whose first of ``inputs`` inputs is -inf everywhere leaves all states as they were."""
    identities = reducer.identity
    block = reducer.body.block
    states = len(block.args) - inputs
    if len(identities) != states or identities[0] != -inf:
        return False
    running: list[_Known] = [_State(i) for i in range(states)]
    fresh: list[_Known] = list(identities)
    return _evaluate(block, running, inputs) == running and _evaluate(block, fresh, inputs) == fresh


def _evaluate(block: Block, states: list[_Known], inputs: int) -> list[_Known]:
    known: dict[SSAValue, _Known] = dict(zip(block.args, [*states, -inf, *[None] * (inputs - 1)], strict=True))
    for op in block.ops:
        if isinstance(op, tile.YieldOp):
            return [known.get(v) for v in op.operands]
        operands = [known.get(v) for v in op.operands]
        known[op.results[0]] = _apply(op, operands)
    return []


def _apply(op: object, x: list[_Known]) -> _Known:
    match op:
        case forge.ConstantOp():
            splat = op.splat
            return None if splat is None else float(splat)
        case forge.CastOp() | tile.ReplicateOp() | tile.PartitionOp():
            return x[0]
        case forge.MaxOp():
            return _maximum(x[0], x[1])
        case tile.AccumulateOp():
            return _maximum(x[0], x[1]) if op.reducer == "max" else _sum(x[0], x[1]) if op.reducer == "sum" else None
        case tile.ReduceOp():
            # A sum of zeros, the maximum of a constant: what each element is.
            return x[0] if x[0] == 0.0 or (op.reducer in ("max", "min") and isinstance(x[0], float)) else None
        case tile.MatmulOp():
            return 0.0 if 0.0 in (x[0], x[1]) and not (isinstance(x[0], _State) or isinstance(x[1], _State)) else None
        case forge.AddOp():
            return _sum(x[0], x[1])
        case forge.SubOp():
            if isinstance(x[0], _State) and x[0] == x[1]:
                return 0.0
            if x[0] == -inf and (isinstance(x[1], _State) or (isinstance(x[1], float) and x[1] != -inf)):
                return -inf
            return x[0] if x[1] == 0.0 else _number("sub", x)
        case forge.MulOp():
            for a, b in ((x[0], x[1]), (x[1], x[0])):
                if a == 1.0:
                    return b
                if a == 0.0 and isinstance(b, _State):
                    return 0.0
            return _number("mul", x)
        case forge.ExpOp():
            return 0.0 if x[0] == -inf else _number("exp", x)
        case forge.CompareOp():
            return _compared(op.predicate, x)
        case forge.SelectOp():
            if isinstance(x[0], bool):
                return x[1] if x[0] else x[2]
            return x[1] if x[1] is not None and x[1] == x[2] else None
        case forge.NotOp():
            return not x[0] if isinstance(x[0], bool) else None
        case forge.AndOp():
            if x[0] is False or x[1] is False:
                return False
            return True if x[0] is True and x[1] is True else None
        case forge.OrOp():
            if x[0] is True or x[1] is True:
                return True
            return False if x[0] is False and x[1] is False else None
        case forge.UnaryOp() | forge.BinaryOp():
            return _number(op.mnemonic, x)
        case _:
            return None


def _number(name: str, x: list[_Known]) -> _Known:
    values = [v if isinstance(v, float) else None for v in x]
    result = numeric(name, values)
    return None if result is None or isnan(result) else result


def _maximum(a: _Known, b: _Known) -> _Known:
    if a == -inf:
        return b
    return a if b == -inf else _number("max", [a, b])


def _sum(a: _Known, b: _Known) -> _Known:
    if a == 0.0:
        return b
    return a if b == 0.0 else _number("add", [a, b])


def _compared(predicate: str, x: list[_Known]) -> _Known:
    a, b = x
    if isinstance(a, float) and isinstance(b, float):
        return {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[predicate]
    # The running maximum (state 0) is finite here, so it is not -inf.
    if _State(0) in (a, b) and -inf in (a, b):
        forward = a == _State(0)
        return {"eq": False, "ne": True, "lt": not forward, "le": not forward, "gt": forward, "ge": forward}[predicate]
    return None
