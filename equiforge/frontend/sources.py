"""The four places a program comes from: a workload by name, a Python file, a ``.pt2`` export, forge IR."""

from __future__ import annotations

import difflib
import importlib.util
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast

from equiforge.errors import EquiforgeError, ProgramError
from equiforge.frontend.locations import location_of_traceback
from equiforge.frontend.program import Program, import_module, program_of, random_tensors

_T = TypeVar("_T")


def _existing(text: str) -> Path:
    path = Path(text)
    if not path.is_file():
        siblings = sorted(item.name for item in path.parent.iterdir()) if path.parent.is_dir() else []
        near = difflib.get_close_matches(path.name, siblings, n=1)
        hint = f"did you mean {path.parent / near[0]}?" if near else "give the path of an existing file"
        raise ProgramError(f"no such file: {text}", hint=hint)
    return path


# -- a Python file ------------------------------------------------------------------------------------------------


def _run_file(path: Path) -> ModuleType:
    """Import a file under a name of its own; its folder is importable meanwhile, so that siblings are found."""
    spec = importlib.util.spec_from_file_location(f"equiforge_program_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        where = f"{os.path.basename(error.filename or str(path))}:{error.lineno}"
        raise ProgramError(f"syntax error: {error.msg}", where) from error
    except (Exception, SystemExit) as error:
        where = location_of_traceback(error.__traceback__)
        raise ProgramError(f"{path} fails when imported: {_one_line(error)}", where) from error
    finally:
        sys.path.remove(folder)
    return module


def _one_line(error: BaseException) -> str:
    text = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def load_factory(text: str, factory: str, numerics: str, calls: bool = False) -> Program:
    """``factory()`` in the file returns ``(module, example_inputs)``."""
    path = _existing(text)
    module = _run_file(path)
    public = [
        name for name, item in vars(module).items()
        if callable(item) and not isinstance(item, type) and not name.startswith("_")
        and getattr(item, "__module__", None) == module.__name__
    ]  # fmt: skip
    listed = f"functions in the file: {', '.join(public)}" if public else "the file defines no function"
    if not factory:
        raise ProgramError(f"{text} names a file but no function in it", hint=f"write {text}:factory; {listed}")
    function = getattr(module, factory, None)
    if function is None or not callable(function):
        near = difflib.get_close_matches(factory, public, n=1)
        hint = f"did you mean {near[0]}?" if near else listed
        raise ProgramError(f"{text} has no function {factory!r}", hint=hint)
    try:
        made = function()
    except EquiforgeError:
        raise
    except (Exception, SystemExit) as error:
        where = location_of_traceback(error.__traceback__)
        raise ProgramError(f"{factory}() in {path.name} fails: {_one_line(error)}", where) from error
    pair = cast("list[Any]", made) if isinstance(made, tuple | list) else []
    if len(pair) != 2:
        raise ProgramError(
            f"{factory}() in {path.name} returns a {type(cast(object, made)).__name__}, not a pair",
            hint="return (module, example_inputs)",
        )
    return import_module(pair[0], pair[1], f"{path.stem}:{factory}", numerics, calls=calls)


# -- an export ----------------------------------------------------------------------------------------------------


def load_pt2(text: str, numerics: str, calls: bool = False) -> Program:
    """A ``torch.export.save`` archive, read without unpickling; example inputs are random."""
    path = _existing(text)
    import torch
    from torch.utils import _pytree as pytree

    from equiforge.frontend.pt2 import read_pt2

    exported = read_pt2(path)
    placeholders = {node.name: node for node in exported.graph.nodes if node.op == "placeholder"}
    user = [record for record in exported.inputs if record.kind == "user"]
    types = [
        (tuple(placeholders[record.node].meta["val"].shape), placeholders[record.node].meta["val"].dtype)
        for record in user
    ]

    def eager(*inputs: Any) -> Any:
        given = iter(inputs)
        values: list[Any] = []
        for record in exported.inputs:
            if record.kind == "user":
                values.append(next(given))
            else:
                values.append(record.value if record.kind == "constant" else exported.tensors[record.path])
        with torch.no_grad():
            leaves = torch.fx.Interpreter(exported.owner, garbage_collect_values=False).run(*values)
        if exported.out_spec is None:
            return leaves[0] if len(leaves) == 1 else leaves
        return pytree.tree_unflatten(leaves, exported.out_spec)

    return program_of(exported, path.stem, numerics, lambda seed: random_tensors(types, seed), eager, calls)


# -- IR --------------------------------------------------------------------------------------------------------------


def load_mlir(text: str, numerics: str) -> Program:
    """A module in the forge dialect with one ``func.func @main`` on tensors, or candidates as tile IR, one or several
    with ``// -----`` between them; example arguments are random."""
    path = _existing(text)
    from xdsl.dialects.builtin import StringAttr
    from xdsl.dialects.func import FuncOp

    from equiforge.ir_text import parse_module, split_modules
    from equiforge.partition.segments import is_tile_program

    modules = [
        _readable(path, lambda chunk=chunk: parse_module(chunk, str(path)), line)
        for line, chunk in _readable(path, lambda: split_modules(path.read_text(encoding="utf-8")))
    ]
    if not modules:
        raise ProgramError("not readable as IR: there is no module in the file", f"{path.name}:1")
    kinds = [is_tile_program(module) for module in modules]
    if len(modules) > 1 and not all(kinds):
        raise ProgramError(
            f"{path.name}: {len(modules)} modules, not all of them candidates in tile IR",
            hint="a file has one program in the forge dialect, or candidates",
        )
    interfaces: list[tuple[list[str], list[tuple[tuple[int, ...], Any]]]] = []
    for module in modules:
        functions = [op for op in module.body.block.ops if isinstance(op, FuncOp)]
        main = next((op for op in functions if op.sym_name.data == "main"), None)
        if main is None or len(main.body.blocks) != 1:
            names = ", ".join(f"@{op.sym_name.data}" for op in functions) or "none"
            raise ProgramError(f"{path.name}: no func.func @main with a body", hint=f"functions in the file: {names}")
        interfaces.append(_arguments(path, main))
        if numerics != "real":
            module.attributes["forge.numerics"] = StringAttr(numerics)
    names, types = interfaces[0]
    if any(other[1] != types for other in interfaces):
        raise ProgramError(f"{path.name}: the candidates take arguments of different types")
    program = Program(path.stem, modules[0], names, lambda seed: random_tensors(types, seed), len(names))
    program.candidates = modules if all(kinds) else []
    return program


def _readable(path: Path, read: Callable[[], _T], line_before: int = 0) -> _T:
    """What ``read`` gives; what it raises becomes a ProgramError with the line of the file."""
    from xdsl.utils.exceptions import DiagnosticException, ParseError, VerifyException

    try:
        return read()
    except ParseError as error:
        line = line_before + str(error.span.input.content)[: error.span.start].count("\n") + 1
        raise ProgramError(f"not readable as IR: {_first_line(error.args[-1])}", f"{path.name}:{line}") from error
    except (VerifyException, DiagnosticException) as error:
        raise ProgramError(f"{path.name}: invalid IR: {_diagnosis(error)}") from error
    except RecursionError as error:
        raise ProgramError(f"{path.name}: the IR is nested too deeply to be read") from error
    except (UnicodeDecodeError, OSError) as error:
        raise ProgramError(f"{path.name}: not a text file ({_one_line(error)})") from error


def _arguments(path: Path, main: Any) -> tuple[list[str], list[tuple[tuple[int, ...], Any]]]:
    from xdsl.dialects.builtin import StringAttr, TensorType

    from equiforge.errors import DynamicShapeError
    from equiforge.frontend.dtypes import torch_dtype
    from equiforge.frontend.importer import sanitized

    names: list[str] = []
    types: list[tuple[tuple[int, ...], Any]] = []
    taken: set[str] = set()
    attributes: list[Any] = list(main.arg_attrs.data) if main.arg_attrs is not None else []
    for number, argument in enumerate(main.body.block.args):
        given: Any = argument.type
        if not isinstance(given, TensorType):
            raise ProgramError(f"{path.name}: argument {number} of @main is a {given}, not a tensor")
        type_ = cast("TensorType[Any]", given)
        shape = tuple(type_.get_shape())
        if any(size < 0 for size in shape):
            raise DynamicShapeError(f"argument {number} of @main has a dynamic shape", path.name, "give every size")
        named: Any = attributes[number].data.get("forge.name") if number < len(attributes) else None
        name = named.data if isinstance(named, StringAttr) else argument.name_hint or f"arg{number}"
        names.append(sanitized(name, taken))
        types.append((shape, torch_dtype(type_.element_type)))
    return names, types


def _first_line(message: Any) -> str:
    lines = [line.strip() for line in str(message).splitlines() if line.strip()]
    return lines[-1] if lines else "syntax error"


def _diagnosis(error: Exception) -> str:
    """The sentence of a verifier in what xDSL prints around it."""
    text = str(error)
    marked = re.findall(r"\^+\s*(.+)", text)
    if marked:
        return marked[-1].strip()
    lines = [line.strip(" |-") for line in text.splitlines() if line.strip(" |-^")]
    return lines[-1] if lines else type(error).__name__


# -- a workload ---------------------------------------------------------------------------------------------------


def load_workload(text: str, numerics: str) -> Program:
    """``name``, ``name:small`` or ``name:k=v,…``: sizes that are not given are the benchmark's."""
    from equiforge.workloads import parse_spec

    workload, sizes = parse_spec(text)
    return workload_program(workload, sizes, numerics)


def workload_program(workload: Any, sizes: dict[str, Any], numerics: str) -> Program:
    """Export on tensors without data, so that a benchmark's size costs nothing until inputs are asked for."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    from equiforge.frontend.exported import export_module

    module, inputs = workload.build(sizes)
    with FakeTensorMode():
        empty = [item.empty() for item in inputs]
    exported = export_module(module, empty)

    def make(seed: int) -> list[Any]:
        return workload.make_inputs(inputs, seed)

    def eager(*tensors: Any) -> Any:
        import torch

        with torch.no_grad():
            return module(*tensors)

    program = program_of(exported, workload.spec_of(sizes), numerics, make, eager)
    program.sizes = dict(sizes)

    def at(**changes: Any) -> Program:
        return workload_program(workload, workload.sizes(**{**sizes, **changes}), numerics)

    program.at = at
    return program
