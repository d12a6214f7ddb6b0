"""Kernels that differ in names alone are one function, launched with other arguments: the layers of a model are."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr

from equiforge.dialects import kernel
from equiforge.ir_text import text_without_names


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
