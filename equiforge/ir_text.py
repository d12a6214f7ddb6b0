"""IR as text: what is stored, sent to other processes, or read from the user."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.parser import Parser


def parse_module(text: str, name: str = "<text>") -> ModuleOp:
    """A verified module of the forge, tile and kernel dialects. Raises xDSL's errors for what is no such text."""
    from equiforge.dialects import forge, kernel, tile

    context = Context()
    for dialect in (Builtin, Func, forge.Forge, tile.Tile, kernel.Kernel):
        context.load_dialect(dialect)
    module = Parser(context, text, name).parse_module()
    module.verify()
    return module
