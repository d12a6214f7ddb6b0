"""What the passes share."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp


def replace_body(target: ModuleOp, source: ModuleOp) -> None:
    """Move the ops and attributes of ``source`` into ``target``, in place of what it held."""
    block = target.body.block
    for op in list(block.ops)[::-1]:
        op.detach()
        op.erase()
    for op in list(source.body.block.ops):
        op.detach()
        block.add_op(op)
    target.attributes.clear()
    target.attributes.update(source.attributes)
