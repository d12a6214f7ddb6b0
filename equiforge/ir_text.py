"""IR as text: what is stored, sent to other processes, or read from the user."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp, StringAttr
from xdsl.dialects.func import Func
from xdsl.ir import Operation
from xdsl.parser import Parser

_SEPARATOR = "// -----"


def text_without_names(function: Operation) -> str:
    """The text of a function in which neither its own name, nor those of values, nor source lines count: equal texts
    are equal functions."""
    plain = function.clone()
    plain.properties["sym_name"] = StringAttr("f")
    for op in plain.walk():
        op.attributes.pop("loc", None)
        for value in (*op.results, *(a for region in op.regions for block in region.blocks for a in block.args)):
            value.name_hint = None
    return str(plain)


def split_modules(text: str) -> list[tuple[int, str]]:
    """The modules of a text with ``// -----`` between them, each with the number of lines before it; what holds no IR
    is left out."""
    found: list[tuple[int, str]] = []
    chunk: list[str] = []
    lines = text.split("\n")
    for number, line in enumerate([*lines, _SEPARATOR]):
        if line.strip() != _SEPARATOR:
            chunk.append(line)
            continue
        if any(part.strip() and not part.strip().startswith("//") for part in chunk):
            found.append((number - len(chunk), "\n".join(chunk)))
        chunk = []
    return found


def parse_module(text: str, name: str = "<text>") -> ModuleOp:
    """A verified module of the forge, tile and kernel dialects. Raises xDSL's errors for what is no such text."""
    from equiforge.dialects import forge, kernel, tile

    context = Context()
    for dialect in (Builtin, Func, forge.Forge, tile.Tile, kernel.Kernel):
        context.load_dialect(dialect)
    module = Parser(context, text, name).parse_module()
    module.verify()
    return module
