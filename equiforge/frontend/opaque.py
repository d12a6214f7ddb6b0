"""Calls that stay what they are: an ATen operator without a lowering becomes ``forge.opaque``.

    %y = forge.opaque "aten.cumsum.default"(%x) arguments {dim = 1 : i64} : (tensor<8x4xf32>) -> tensor<8x4xf32>

``arguments`` holds what is no tensor and differs from its default, by the names of the operator's schema. A tensor
argument that is not there takes the next operand; one that is None, and a list of tensors, are there: ``unit`` stands
for None, and in a list ``"tensor"`` for the next operand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    TensorType,
    UnitAttr,
    f64,
    i64,
)
from xdsl.ir import Attribute, SSAValue

from equiforge.dialects import forge
from equiforge.frontend.builder import Builder, Value

_TENSOR = "tensor"


def opaque_call(b: Builder, schema: Any, bound: dict[str, Any]) -> Value | list[Value | None]:
    """The call of an operator with its arguments (values where the graph has tensors) as one op.

    Refuses an argument that has no form as an attribute, such as a generator.
    """
    operands: list[SSAValue] = []
    plain: dict[str, Attribute] = {}
    for argument in schema.arguments:
        value = bound[argument.name]
        if isinstance(value, SSAValue):
            operands.append(cast(Value, value))
        elif _is_tensor_type(argument.type) or value != argument.default_value or type(value) is bool:
            plain[argument.name] = _attribute(b, argument.name, value, operands)
    types = [None if r is None else TensorType(r.element_type, list(r.shape)) for r in b.results]
    if not any(types):
        b.refuse("the operator has no tensor result")
    arguments = DictionaryAttr(plain) if plain else None
    op = forge.OpaqueOp(b.target, operands, [type_ for type_ in types if type_ is not None], arguments)
    b.emit(op)
    made = iter(op.results)
    values: list[Value | None] = [None if type_ is None else next(made) for type_ in types]
    if len(schema.returns) == 1 and str(schema.returns[0].type) == "Tensor":
        assert values[0] is not None
        return values[0]
    return values


def _is_tensor_type(type_: Any) -> bool:
    return "Tensor" in str(type_)


def _attribute(b: Builder, name: str, value: Any, operands: list[SSAValue]) -> Attribute:
    match value:
        case None:
            return UnitAttr()
        case SSAValue():
            operands.append(cast(Value, value))
            return StringAttr(_TENSOR)
        case bool():
            return BoolAttr.from_bool(value)
        case int():
            return IntegerAttr(value, i64)
        case float():
            return FloatAttr(value, f64)
        case str():
            return StringAttr(value)
        case list() | tuple():
            items = cast("list[Any]", value)
            return ArrayAttr([_attribute(b, name, item, operands) for item in items])
        case _ if str(value).startswith("torch.") or type(value).__name__ == "device":
            return StringAttr(str(value))  # a dtype, a layout, a memory format, a device
        case _:
            b.refuse(f"argument {name} = {value} can't be written as an attribute")


def run_opaque(op: forge.OpaqueOp, operands: Sequence[Any]) -> list[Any]:
    """Calls the operator on torch tensors; its tensor results in the order of the op's."""
    import torch

    packet, overload = op.target.removeprefix("aten.").rsplit(".", 1)
    function: Any = getattr(getattr(torch.ops.aten, packet), overload)
    given = iter(operands)
    plain: Mapping[str, Attribute] = op.arguments.data if op.arguments is not None else {}
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for argument in function._schema.arguments:
        if argument.name in plain:
            value = _value(plain[argument.name], str(argument.type), given)
        elif str(argument.type) in ("Tensor", "Optional[Tensor]"):
            value = next(given)
        else:
            value = argument.default_value
        if argument.kwarg_only:
            named[argument.name] = value
        else:
            positional.append(value)
    result: Any = function(*positional, **named)
    each: list[Any] = list(cast("Sequence[Any]", result)) if isinstance(result, list | tuple) else [result]
    return [item for item in each if isinstance(item, torch.Tensor)]


def _value(attribute: Attribute, kind: str, given: Iterator[Any]) -> Any:
    import torch

    match attribute:
        case UnitAttr():
            return None
        case ArrayAttr():
            return [_value(item, kind, given) for item in attribute]
        case StringAttr() if "Tensor" in kind:
            return next(given)
        case StringAttr() if attribute.data.startswith("torch."):
            return getattr(torch, attribute.data.removeprefix("torch."))
        case StringAttr():
            return attribute.data
        case FloatAttr():
            return attribute.value.data
        case IntegerAttr():
            number = attribute.value.data
            return bool(number) if str(attribute.type) == "i1" else number
        case _:
            raise AssertionError(f"{attribute} is no argument of an operator")
