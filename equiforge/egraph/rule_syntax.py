"""Reader of egglog's syntax: parenthesised forms of atoms, each form with its line. Enough for the rule files."""

from __future__ import annotations

import re
from typing import TypeAlias

from equiforge.errors import EquiforgeError

Expression: TypeAlias = "str | Form"
"""An atom (a name, a number, a string with its quotes) or a form."""

_TOKEN = re.compile(r'\s+|;[^\n]*|(?P<atom>"(?:[^"\\]|\\.)*"|[^\s()";]+)|[()]')


class Form(list["Expression"]):
    """A parenthesised form: its parts in order, and the line (from 1) on which it opens."""

    def __init__(self, line: int):
        super().__init__()
        self.line = line


def line_of(form: Form) -> int:
    """The line, from 1, on which a form opens."""
    return form.line


def read_forms(text: str) -> list[Form]:
    """The top-level forms of a text. Raises EquiforgeError, with the line, for unbalanced brackets or stray atoms."""
    top: list[Form] = []
    stack: list[Form] = []
    line, position = 1, 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise EquiforgeError(f"line {line}: unexpected {text[position]!r}")
        token = match[0]
        if token == "(":
            stack.append(Form(line))
        elif token == ")":
            if not stack:
                raise EquiforgeError(f"line {line}: a closing bracket too many")
            form = stack.pop()
            (stack[-1].append if stack else top.append)(form)
        elif match["atom"]:
            if not stack:
                raise EquiforgeError(f"line {line}: {token} outside of a form")
            stack[-1].append(token)
        line += token.count("\n")
        position = match.end()
    if stack:
        raise EquiforgeError(f"line {stack[0].line}: a form that is not closed")
    return top


def write(expression: Expression) -> str:
    """An expression on one line."""
    return expression if isinstance(expression, str) else f"({' '.join(map(write, expression))})"


def atoms(expression: Expression) -> set[str]:
    """All atoms of an expression."""
    if isinstance(expression, str):
        return {expression}
    return {a for part in expression for a in atoms(part)}
