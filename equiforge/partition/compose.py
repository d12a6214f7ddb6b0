"""One tile program out of those of the subgraphs: every call of the main function is replaced by what it calls.

    func.func @main(%x, %w0, %w1) {
      %0 = func.call @part0(%x, %w0)         the ops of @part0's program, with %x and %w0
      %1 = func.call @part0(%0, %w1)         the same again, with %0 and %w1
      …

Layout changes between subgraphs stay what they are within one: another way to read what is stored. Axes and reducers of
one name are shared where they are equal, and renamed where they are not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from equiforge.cse.effects import collector_paused
from equiforge.dialects import forge, tile
from equiforge.errors import EquiforgeError
from equiforge.ir_text import parse_module
from equiforge.partition.segments import is_call

_SYMBOLS = (tile.AxisOp, tile.ReducerOp)


@collector_paused()
def compose(main: FuncOp, programs: Mapping[str, ModuleOp]) -> ModuleOp:
    """The tile program of ``main``, which calls functions that ``programs`` has tile programs for, and operators that
    are not modelled. Raises EquiforgeError where it calls another or a program does not fit its call."""
    symbols: dict[str, Operation] = {}
    callees = {name: function_of(_rename(program, symbols)) for name, program in programs.items()}
    whole = main.clone()
    for op in list(whole.body.block.ops):
        if isinstance(op, ReturnOp | forge.ConstantOp) or is_call(op):
            continue
        if not isinstance(op, CallOp) or op.callee.string_value() not in callees:
            raise EquiforgeError(f"@{main.sym_name.data} holds {op.name}, which is no call of a searched subgraph")
        inline_call(op, callees[op.callee.string_value()])
    first = next(iter(programs.values()), None)
    attributes = {} if first is None else dict(first.attributes)
    return ModuleOp([*(op.clone() for op in symbols.values()), whole], attributes)


def inline_call(call: CallOp, callee: FuncOp) -> None:
    """Replace a call by the ops of what it calls. Raises EquiforgeError where the types do not fit."""
    name = call.callee.string_value()
    block = call.parent_block()
    last = callee.body.block.last_op
    if block is None or not isinstance(last, ReturnOp):
        raise EquiforgeError(f"@{name} does not end with func.return")
    for verb, called, own in (
        ("takes", call.arguments, callee.body.block.args),
        ("returns", call.results, last.operands),
    ):
        wanted, found = [v.type for v in called], [v.type for v in own]
        if wanted != found:
            raise EquiforgeError(f"@{name} {verb} ({', '.join(map(str, found))}), not ({', '.join(map(str, wanted))})")
    local: dict[SSAValue, SSAValue] = dict(zip(list[SSAValue](callee.body.block.args), call.arguments, strict=True))
    for op in callee.body.block.ops:
        if op is not last:
            block.insert_op_before(op.clone(local), call)
    for result, value in zip(call.results, last.operands, strict=True):
        if local[value].name_hint is None:
            local[value].name_hint = result.name_hint
        result.replace_all_uses_with(local[value])
    call.detach()
    call.erase()


def function_of(program: ModuleOp) -> FuncOp:
    """The one function of a tile program."""
    functions = [op for op in program.body.block.ops if isinstance(op, FuncOp)]
    if len(functions) != 1:
        raise EquiforgeError(f"a tile program has one function, this one has {len(functions)}")
    return functions[0]


def _rename(program: ModuleOp, symbols: dict[str, Operation]) -> ModuleOp:
    """The program with names of its own for axes and reducers that another program uses for something else."""
    own = [op for op in program.body.block.ops if isinstance(op, _SYMBOLS)]
    changed: dict[str, str] = {}
    for op in own:
        name = op.sym_name.data
        known = symbols.get(name)
        if known is not None and str(known) != str(op):
            number = 2
            while f"{name}_{number}" in symbols or any(o.sym_name.data == f"{name}_{number}" for o in own):
                number += 1
            changed[name] = f"{name}_{number}"
    if changed:
        # Axes are named in attributes and in types at every depth: the text has them all in one form.
        pattern = re.compile(r"@(" + "|".join(map(re.escape, sorted(changed, key=len, reverse=True))) + r")\b")
        program = parse_module(pattern.sub(lambda match: "@" + changed[match[1]], str(program)))
    for op in program.body.block.ops:
        if isinstance(op, _SYMBOLS):
            symbols.setdefault(op.sym_name.data, op)
    return program
