"""Kernels that differ in names alone are one function, launched with other arguments: the layers of a model are."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr

from equiforge.dialects import kernel


def share_kernels(module: ModuleOp) -> None:
    """Let every launch name the first of the kernels that are equal, and erase the others."""
    first: dict[str, str] = {}
    instead: dict[str, str] = {}
    for function in list(kernel.functions_of(module)):
        name = function.sym_name.data
        known = first.setdefault(_text(function), name)
        if known != name:
            instead[name] = known
            function.detach()
            function.erase()
    for op in module.walk():
        if isinstance(op, kernel.LaunchOp) and (other := instead.get(op.callee.root_reference.data)) is not None:
            op.properties["callee"] = SymbolRefAttr(other)


def _text(function: kernel.FuncOp) -> str:
    """The function without the names of its values, its own, and source lines."""
    plain = function.clone()
    plain.sym_name = StringAttr("kernel")
    for op in plain.walk():
        op.attributes.pop("loc", None)
        for result in op.results:
            result.name_hint = None
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    argument.name_hint = None
    return str(plain)
