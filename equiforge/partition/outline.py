"""Subgraphs as functions: each distinct one once, and a main function that calls them.

    func.func private @part0(%x: …, %w: …) -> … { … }
    func.func @main(…) -> … {
      %0 = func.call @part0(%x, %w0) : (…) -> …
      %1 = func.call @part0(%0, %w1) : (…) -> …
      func.return %1 : …
    }

Two subgraphs are the same function if their text is, names of values and source lines apart. Arguments stand in the
order of their first use and ops in program order, so the repeated layers of a model are one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from equiforge.dialects import forge
from equiforge.errors import EquiforgeError
from equiforge.ir_text import text_without_names
from equiforge.partition.segments import Cut, CutPoints, is_call
from equiforge.verify.interpreter import evaluate

_LARGEST_CONSTANT = 65_536
"""Elements of a constant that a call of an operator may take."""


def outline(module: ModuleOp, points: CutPoints, cut: Cut) -> ModuleOp:
    """A new module with one private function for each distinct subgraph of ``cut`` and a main function that calls them
    in program order."""
    function = points.function
    main = Block(arg_types=function.body.block.arg_types)
    mapped: dict[SSAValue, SSAValue] = dict(zip(function.body.block.args, main.args, strict=True))
    for old, new in mapped.items():
        new.name_hint = old.name_hint
    known: dict[int, FuncOp] = {}
    for run in cut.runs:
        if is_call(run[0]):
            main.add_op(run[0].clone(mapped))
            continue
        inputs, outputs = _interface(points, run)
        if not outputs:
            continue
        ops = _with_free(points, run)
        form = points.numbering.form(ops, inputs, outputs)
        part = known.get(form) or _part(points, ops, inputs, outputs, f"part{len(known)}")
        if not inputs:
            for old, constant in zip(outputs, _evaluated(part), strict=True):
                main.add_op(constant)
                constant.result.name_hint = old.name_hint
                mapped[old] = constant.result
            continue
        known[form] = part
        call = CallOp(part.sym_name.data, [mapped[v] for v in inputs], [v.type for v in outputs])
        main.add_op(call)
        for old, new in zip(outputs, call.results, strict=True):
            new.name_hint = old.name_hint
            mapped[old] = new
    terminator = function.body.block.last_op
    if not isinstance(terminator, ReturnOp):
        raise EquiforgeError(f"@{function.sym_name.data} does not end with func.return")
    main.add_op(ReturnOp(*(mapped[v] for v in terminator.operands)))
    whole = FuncOp(function.sym_name.data, function.function_type, Region(main))
    if function.arg_attrs is not None:
        whole.arg_attrs = function.arg_attrs
    return ModuleOp([*known.values(), whole], dict(module.attributes))


def _evaluated(part: FuncOp) -> list[forge.ConstantOp]:
    """The results of a subgraph that depends on no argument, as constants."""
    constants: list[forge.ConstantOp] = []
    for type_, values in zip(part.function_type.outputs, evaluate(part, ()), strict=True):
        if values.size > _LARGEST_CONSTANT:
            last = part.body.block.first_op
            location = None if last is None else last.attributes.get("loc")
            raise EquiforgeError(
                f"a call takes a constant of {values.size} elements, which is too large to be written down",
                location.data if isinstance(location, StringAttr) else None,
                "pass it as an input",
            )
        tensor = cast("TensorType[Attribute]", type_)
        constants.append(forge.ConstantOp(values.tolist(), tensor))
    return constants


def _interface(points: CutPoints, run: tuple[Operation, ...]) -> tuple[list[SSAValue], list[SSAValue]]:
    """What a subgraph reads in the order of its first use, and which of its results others need."""
    own = {r for op in run for r in op.results}
    inputs = dict.fromkeys(v for op in run for v in points.reads(op) if v not in own)
    last = points.place[run[-1]]
    inside = set(run)

    def leaves(value: SSAValue) -> bool:
        if value in points.results:
            return True
        users = [u.operation for u in value.uses]
        return any(user not in inside and (points.place.get(user, -1) > last or user in points.place) for user in users)

    return list(inputs), [r for op in run for r in op.results if leaves(r)]


def _with_free(points: CutPoints, run: Sequence[Operation]) -> list[Operation]:
    """The ops of a run, each after the free ops that it reads."""
    found: dict[Operation, None] = {}
    stack = list(reversed(run))
    while stack:
        owners = [v.owner for v in stack[-1].operands]
        missing = [op for op in owners if isinstance(op, Operation) and op in points.free and op not in found]
        if missing:
            stack.extend(missing)
        else:
            found[stack.pop()] = None
    return list(found)


def _part(
    points: CutPoints, ops: Sequence[Operation], inputs: list[SSAValue], outputs: list[SSAValue], name: str
) -> FuncOp:
    block = Block(arg_types=[v.type for v in inputs])
    mapped: dict[SSAValue, SSAValue] = dict(zip(inputs, block.args, strict=True))
    for old, new in mapped.items():
        new.name_hint = _name(points.function, old)
    for op in ops:
        block.add_op(op.clone(mapped))
    block.add_op(ReturnOp(*(mapped[v] for v in outputs)))
    types = ([v.type for v in inputs], [v.type for v in outputs])
    part = FuncOp(name, types, Region(block), visibility="private")
    names = [DictionaryAttr({"forge.name": StringAttr(a.name_hint or f"arg{n}")}) for n, a in enumerate(block.args)]
    part.arg_attrs = ArrayAttr(names)
    return part


def _name(function: FuncOp, value: SSAValue) -> str | None:
    if value.name_hint or function.arg_attrs is None or value.owner is not function.body.block:
        return value.name_hint
    assert isinstance(value, BlockArgument)
    stated = function.arg_attrs.data[value.index].data.get("forge.name")
    return stated.data if isinstance(stated, StringAttr) else None


def fingerprint(part: FuncOp) -> str:
    """A hash of what the function computes: its name, the names of values and source lines don't count."""
    plain = part.clone()
    # The names of arguments stand in their attributes too.
    plain.arg_attrs = None
    return hashlib.sha256(text_without_names(plain).encode()).hexdigest()
