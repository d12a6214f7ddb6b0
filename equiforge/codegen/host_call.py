"""The text of a call of an original operator: ``torch.ops.aten.cumsum.default(x, 1)``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, FloatAttr, IntegerAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute

from equiforge.codegen.errors import CodegenError
from equiforge.dialects import kernel


def host_call_text(op: kernel.HostCallOp, operands: Sequence[str], device: str) -> str:
    """The call on arrays of the given names; ``device`` is an expression for where they are. The arguments are read as
    :func:`equiforge.frontend.opaque.run_opaque` reads them. Raises CodegenError for an operator that torch lacks."""
    import torch

    packet, _, overload = op.target.removeprefix("aten.").rpartition(".")
    function: Any = getattr(getattr(torch.ops.aten, packet, None), overload, None)
    if function is None:
        raise CodegenError(f"torch has no operator {op.target}")
    given = iter(operands)
    plain: Mapping[str, Attribute] = op.call_arguments.data if op.call_arguments is not None else {}
    positional: list[str] = []
    named: list[str] = []
    for argument in function._schema.arguments:
        kind = str(argument.type)
        if argument.name in plain:
            text = _text(plain[argument.name], kind, argument.name, given, device)
        elif kind in ("Tensor", "Optional[Tensor]"):
            text = next(given)
        elif argument.kwarg_only:
            continue
        else:
            text = repr(argument.default_value)
        (named if argument.kwarg_only else positional).append(
            f"{argument.name}={text}" if argument.kwarg_only else text
        )
    return f"torch.ops.aten.{packet}.{overload}({', '.join([*positional, *named])})"


def _text(attribute: Attribute, kind: str, name: str, given: Iterator[str], device: str) -> str:
    match attribute:
        case UnitAttr():
            return "None"
        case ArrayAttr():
            return f"[{', '.join(_text(item, kind, name, given, device) for item in attribute)}]"
        case StringAttr() if "Tensor" in kind:
            return next(given)
        case StringAttr() if name == "device":
            # The device of the export is not that of the run.
            return device
        case StringAttr() if attribute.data.startswith("torch."):
            return attribute.data
        case StringAttr():
            return repr(attribute.data)
        case FloatAttr():
            number = repr(attribute.value.data)
            return f'float("{number}")' if number in ("inf", "-inf", "nan") else number
        case IntegerAttr():
            value = attribute.value.data
            return repr(bool(value)) if str(attribute.type) == "i1" else str(value)
        case _:
            raise CodegenError(f"argument {name} = {attribute} of an operator has no text")
