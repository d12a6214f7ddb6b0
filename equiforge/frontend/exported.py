"""An exported program as the importer wants it, whether it comes from ``torch.export`` or from a ``.pt2`` file."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from equiforge.errors import DynamicShapeError, EquiforgeError, ProgramError, UnsupportedOpError
from equiforge.frontend.locations import location_of_traceback

InputKind = Literal["user", "constant", "parameter", "buffer", "tensor"]


@dataclass(frozen=True)
class InputRecord:
    """One placeholder of the graph: its node name, what it is, and its path in the module or its constant value."""

    node: str
    kind: InputKind
    path: str = ""
    value: Any = None


@dataclass
class Exported:
    """A graph of ATen ops, what its placeholders are, the tensors of the module, and the trees of its signature."""

    graph: Any
    inputs: list[InputRecord]
    tensors: dict[str, Any]
    in_spec: Any
    out_spec: Any
    owner: Any = None  # a torch.fx.GraphModule that keeps the graph alive and can run it


def from_exported_program(program: Any) -> Exported:
    """Wrap a ``torch.export.ExportedProgram``."""
    from torch.export.graph_signature import InputKind as Kind

    kinds: dict[Any, InputKind] = {
        Kind.PARAMETER: "parameter",
        Kind.BUFFER: "buffer",
        Kind.CONSTANT_TENSOR: "tensor",
        Kind.USER_INPUT: "user",
    }
    inputs: list[InputRecord] = []
    for spec in program.graph_signature.input_specs:
        kind = kinds.get(spec.kind)
        if kind is None:
            raise UnsupportedOpError(f"the program holds a custom object ({spec.target})", None, "pass tensors only")
        if kind == "user" and not hasattr(spec.arg, "value"):
            inputs.append(InputRecord(spec.arg.name, "user"))
        elif kind == "user":
            inputs.append(InputRecord(spec.arg.name, "constant", value=spec.arg.value))
        else:
            inputs.append(InputRecord(spec.arg.name, kind, path=spec.target))
    tensors = {**program.state_dict, **program.constants}
    return Exported(program.graph, inputs, tensors, program.call_spec.in_spec, program.call_spec.out_spec,
                    program.graph_module)  # fmt: skip


@contextlib.contextmanager
def _quiet() -> Generator[None]:
    """torch logs a failed export with a traceback before raising it; the exception says the same."""
    logger = logging.getLogger("torch")
    children = [logging.getLogger(name) for name in ("torch._subclasses.fake_tensor", "torch.fx", "torch.export")]
    old = [(item, item.level) for item in (logger, *children)]
    for item, _ in old:
        item.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for item, level in old:
            item.setLevel(level)


def export_module(module: Any, args: Sequence[Any], kwargs: dict[str, Any] | None = None) -> Exported:
    """Run ``torch.export`` without decompositions; what goes wrong becomes one line.

    Raises ProgramError for inputs that the module does not take, UnsupportedOpError for control flow on values.
    """
    import warnings

    import torch

    if not isinstance(module, torch.nn.Module):
        raise ProgramError(f"the program is a {type(module).__name__}, not a torch.nn.Module",
                           hint="wrap the function in a torch.nn.Module with a forward method")  # fmt: skip
    try:
        with _quiet(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exported = torch.export.export(module, tuple(args), kwargs, strict=False)
    except EquiforgeError:
        raise
    except Exception as error:
        raise translated_error(module, error) from error
    return from_exported_program(exported)


def translated_error(module: Any, error: Exception) -> EquiforgeError:
    """What went wrong while a module was traced, in one line."""
    location = location_of_traceback(error.__traceback__)
    text = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
    kinds = {cls.__name__ for cls in type(error).__mro__}
    if kinds & {"GuardOnDataDependentSymNode", "UserError", "DataDependentOutputException"} or "data-dependent" in text:
        return UnsupportedOpError(
            f"the program's control flow or shapes depend on tensor values: {text}",
            location,
            "use torch.where, or decide outside the compiled function",
        )
    if "DynamicOutputShapeException" in kinds:
        return UnsupportedOpError(
            f"an operator has a result whose shape depends on values: {text}",
            location,
            "compute it outside the compiled function",
        )
    if "ConstraintViolationError" in kinds:
        return DynamicShapeError(f"dynamic shapes: {text}", location, "compile for one shape")
    name = type(module).__name__
    return ProgramError(
        f"{name} can't be run on its example inputs: {text}",
        location,
        "check the number, shapes and dtypes of the example inputs",
    )
