"""``import-torch``: the module is replaced by a program of PyTorch in the forge dialect.

    echo 'builtin.module {}' | equiforge-opt -p 'import-torch{program="lora:b=1,hidden=64,out=64"}'

The module before is empty; after it there is ``func.func @main`` with the program's ops, each with its source line.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from equiforge.passes.support import replace_body


@dataclass(frozen=True)
class ImportTorchPass(ModulePass):
    """Export a program with ``torch.export`` and lower it to the forge dialect."""

    name = "import-torch"

    program: str
    """A workload with sizes, ``path.py:factory`` or a ``.pt2`` file."""
    numerics: str = "real"
    """``real`` or ``strict``: which rewrites of floats the result allows."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from equiforge.frontend.program import load_program

        replace_body(op, load_program(self.program, self.numerics).module)
