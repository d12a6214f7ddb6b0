"""Functions as nothing but calls: what a function computes itself moves into functions of its own.

    func.func @a(%x) {                          func.func private @a_0(%x, %q) { … %y = forge.mul %t, %x … }
      %q = func.call @shared_0(%x)              func.func @a(%x) {
      %t = forge.sin %q                   ->      %q = func.call @shared_0(%x)
      %y = forge.mul %t, %x                       %y = func.call @a_0(%x, %q)
      func.return %y                              func.return %y
    }                                           }

So that each function with ops can be compiled alone, once, and the others say in which order they run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from equiforge.cse.across import free_symbol, outlined
from equiforge.cse.effects import erase


def split_at_calls(module: ModuleOp, function: FuncOp) -> None:
    """Move the ops of a function of one block between its calls into functions ``<name>_0``, …, as few as the calls
    allow. Numbers and indices are copied into each that uses them."""
    _Splitter(module, function).run()


class _Splitter:
    def __init__(self, module: ModuleOp, function: FuncOp):
        self.module = module
        self.function = function
        self.block = function.body.block
        self.symbols = {op.sym_name.data for op in module.body.block.ops if isinstance(op, FuncOp)}

    def run(self) -> None:
        waiting: dict[Operation, None] = {}
        last = self.block.last_op
        assert isinstance(last, ReturnOp)
        returned = set(last.operands)
        for op in list(self.block.ops):
            if isinstance(op, CallOp | ReturnOp):
                needed = _ancestors(op, waiting) if isinstance(op, CallOp) else set(waiting)
                self._move([other for other in waiting if other in needed], op)
                waiting = {other: None for other in waiting if other not in needed}
            elif op.operands or any(result in returned for result in op.results):
                waiting[op] = None
        for op in reversed(list(self.block.ops)):
            if not isinstance(op, CallOp | ReturnOp) and not any(result.first_use for result in op.results):
                erase(op)

    def _move(self, ops: Sequence[Operation], before: Operation) -> None:
        if not ops:
            return
        inside = set(ops)
        inputs: dict[SSAValue, None] = {}
        sources: dict[Operation, None] = {}
        for op in ops:
            for operand in op.operands:
                owner = operand.owner
                if isinstance(owner, Operation) and not owner.operands and not isinstance(owner, CallOp):
                    if owner not in inside:
                        sources[owner] = None
                elif not isinstance(owner, Operation) or owner not in inside:
                    inputs[operand] = None
        results = [
            result for op in ops for result in op.results if any(use.operation not in inside for use in result.uses)
        ]
        symbol = free_symbol(self.symbols, self.function.sym_name.data)
        made, _ = outlined(symbol, list(inputs), [*sources, *ops], results)
        self.module.body.block.insert_op_before(made, self.function)
        call = CallOp(SymbolRefAttr(symbol), list(inputs), [result.type for result in results])
        self.block.insert_op_before(call, before)
        for result, called in zip(results, call.results, strict=True):
            result.replace_all_uses_with(called)
        # What the other ops of the segment used of each other is unused now, once they are gone.
        for op in reversed(ops):
            erase(op)


def _ancestors(op: Operation, among: Iterable[Operation]) -> set[Operation]:
    """The ops of ``among`` that ``op`` depends on."""
    allowed = set(among)
    found: set[Operation] = set()
    stack = [op]
    while stack:
        for operand in stack.pop().operands:
            owner = operand.owner
            if isinstance(owner, Operation) and owner in allowed and owner not in found:
                found.add(owner)
                stack.append(owner)
    return found
