"""Prints the kernels of an emitted Triton module, without its launcher: ``python tools/show_kernels.py best.py``."""

from __future__ import annotations

import ast
import sys
from pathlib import Path


def kernels(source: str) -> list[str]:
    """The text of each function that a ``jit`` decorator marks, decorators included."""
    lines = source.splitlines()
    found: list[str] = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and any("jit" in ast.unparse(mark) for mark in node.decorator_list):
            first = min(mark.lineno for mark in node.decorator_list)
            found.append("\n".join(lines[first - 1 : node.end_lineno]))
    return found


if __name__ == "__main__":
    print("\n\n".join(kernels(Path(sys.argv[1]).read_text(encoding="utf-8"))))
