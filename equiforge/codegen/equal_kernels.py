"""Kernels that differ in names alone are one function, launched with other arguments: the layers of a model are.

Most are seen to be equal in the tile program already, and only the first is built. Those that are written in different
ways and come out equal are found by their text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.ir import Operation, SSAValue

from equiforge.codegen.sources import Sources
from equiforge.cse.numbering import Numbering
from equiforge.dialects import forge, kernel, tile
from equiforge.ir_text import text_without_names


class KernelForms:
    """What the kernels of one tile program compute, whatever arrays they do it with."""

    def __init__(self, sources: Sources):
        self.sources = sources
        self._numbering = Numbering()

    def of(self, roots: Sequence[tuple[tile.StoreOp, SSAValue, str | None]]) -> tuple[Any, list[SSAValue]]:
        """A form of the kernel that stores ``roots`` (as ``KernelBuilder.build`` takes them), and the values that it
        consists of: kernels of one form and one grid are built alike, each of its own values in the same places."""
        bases = [base for _, base, _ in roots]
        ops, arrays = _ops_of(bases)
        arrays += [store.result for store, _, _ in roots]
        layouts = tuple([(self._numbering.attribute(a.type), self.sources.root_layout(a)) for a in arrays])
        form = self._numbering.form(ops, arrays, bases)
        return (form, layouts, tuple([axis for _, _, axis in roots])), [*arrays, *(r for op in ops for r in op.results)]


def _ops_of(bases: Sequence[SSAValue]) -> tuple[list[Operation], list[SSAValue]]:
    """The ops that values are computed by, operands first, and the arrays that they begin with: arguments, and what is
    stored by other kernels or left by calls."""
    ops: dict[Operation, None] = {}
    arrays: dict[SSAValue, None] = {}
    stack = list(reversed(bases))
    while stack:
        owner = stack[-1].owner
        if not isinstance(owner, Operation) or isinstance(owner, tile.StoreOp | forge.OpaqueOp):
            arrays[stack.pop()] = None
        elif owner in ops:
            stack.pop()
        elif missing := [v for v in owner.operands if v.owner not in ops and v not in arrays]:
            stack.extend(reversed(missing))
        else:
            ops[owner] = None
    return list(ops), list(arrays)


def share_kernels(module: ModuleOp) -> None:
    """Let every launch name the first of the kernels that are equal, and erase the others."""
    first: dict[str, str] = {}
    instead: dict[str, str] = {}
    for function in list(kernel.functions_of(module)):
        name = function.sym_name.data
        known = first.setdefault(text_without_names(function), name)
        if known != name:
            instead[name] = known
            function.detach()
            function.erase()
    for op in module.walk():
        if isinstance(op, kernel.LaunchOp) and (other := instead.get(op.callee.root_reference.data)) is not None:
            op.properties["callee"] = SymbolRefAttr(other)
