"""Terms as text that a person can read and write: ``div(matmul(%p, %v), %l)``.

An op has its name of the dialects, and attributes in square brackets before the operands: ``reduce[sum, 3](%s)``,
``transpose[1, 0](%k)``, ``partition[0, @q0](%q)``, ``replicate[@k0](%x)``, ``combine[0, @q0](…)``. A value of the
program is its SSA name; a constant without a name is its value.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from equiforge.egraph.graph import REPLICATE, EGraph
from equiforge.errors import EquiforgeError

_TOKEN = re.compile(
    r"\s*(?:(?P<name>%[\w.$-]+)|(?P<number>-?\d[\w.+-]*|-?inf|nan)|(?P<word>@?[A-Za-z_][\w.]*)|(?P<mark>[()\[\],]))"
)


class TermLike(Protocol):
    """A node with an operator and attributes."""

    @property
    def op(self) -> str: ...
    @property
    def attrs(self) -> tuple[str | int, ...]: ...


def operator_text(node: TermLike, graph: EGraph) -> str:
    """The operator of a node with its attributes, without operands."""
    attrs = node.attrs
    match node.op:
        case "unary" | "binary":
            return str(attrs[0])
        case "view" if attrs[0] == REPLICATE:
            return f"replicate[@{graph.axes[int(attrs[1])].name}]"
        case "view" | "combine" | "preduce" | "rolling":
            name = "partition" if node.op == "view" else node.op
            return f"{name}[{attrs[0]}, @{graph.axes[int(attrs[1])].name}]"
        case "collect":
            return f"collect[@{graph.axes[int(attrs[0])].name}]"
        case "input":
            return f"%{graph.inputs[int(attrs[0])][0]}"
        case "const":
            values = graph.constants[str(attrs[0])][2]
            return repr(values[0]) if len(values) == 1 else f"constant[{attrs[0]}]"
        case _:
            return f"{node.op}[{', '.join(map(str, attrs))}]" if attrs else node.op


class Reader:
    """Reads a term. ``value`` gives the node of a name or a constant, ``node`` that of an operator over nodes."""

    def __init__(
        self,
        graph: EGraph,
        value: Callable[[str], int],
        node: Callable[[str, tuple[str | int, ...], tuple[int, ...]], int],
    ):
        self.axes = {axis.name: number for number, axis in enumerate(graph.axes)}
        self.value = value
        self.node = node

    def read(self, text: str) -> int:
        """The node of a term. Raises EquiforgeError, with what was expected, for text that is no term."""
        self.text, self.position = text, 0
        found = self._term()
        if self.text[self.position :].strip():
            raise EquiforgeError(f"a term ends before {self.text[self.position :].strip()!r}")
        return found

    def _next(self) -> tuple[str, str]:
        match = _TOKEN.match(self.text, self.position)
        if match is None:
            raise EquiforgeError(f"no term: {self.text[self.position :].strip() or 'the text ends'!r} in {self.text!r}")
        self.position = match.end()
        return match.lastgroup or "", match[match.lastgroup or 0]

    def _accept(self, mark: str) -> bool:
        match = _TOKEN.match(self.text, self.position)
        if match is not None and match["mark"] == mark:
            self.position = match.end()
            return True
        return False

    def _expect(self, mark: str) -> None:
        if not self._accept(mark):
            raise EquiforgeError(f"expected {mark!r} at {self.text[self.position :]!r} in {self.text!r}")

    def _term(self) -> int:
        kind, text = self._next()
        if kind in ("name", "number"):
            return self.value(text)
        if kind != "word" or text.startswith("@"):
            raise EquiforgeError(f"no operator: {text!r} in {self.text!r}")
        attrs: list[str | int] = []
        if self._accept("["):
            while not self._accept("]"):
                attrs.append(self._attribute())
                self._accept(",")
        operands: list[int] = []
        self._expect("(")
        while not self._accept(")"):
            operands.append(self._term())
            self._accept(",")
        return self.node(*self._form(text, attrs, len(operands)), tuple(operands))

    def _attribute(self) -> str | int:
        kind, text = self._next()
        if text.startswith("@"):
            if text[1:] not in self.axes:
                raise EquiforgeError(f"no axis {text}", hint=f"axes: {', '.join('@' + a for a in self.axes)}")
            return self.axes[text[1:]]
        return int(text) if kind == "number" else text

    def _form(self, name: str, attrs: list[str | int], operands: int) -> tuple[str, tuple[str | int, ...]]:
        """The operator and attributes of an e-node."""
        from equiforge.dialects.op_table import BINARY, UNARY

        if name in UNARY:
            return "unary", (name,)
        if name.removeprefix("int.") in BINARY or name.startswith("cmp."):
            return "binary", (name,)
        if name == "replicate":
            return "view", (REPLICATE, *attrs)
        return "view" if name == "partition" else name, tuple(attrs)
