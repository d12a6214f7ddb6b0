"""Several programs compiled together: what they share is searched and compiled once.

The functions of the programs stand in one module; equal subgraphs become functions that several of them call, the rest
of each program becomes functions of its own, and every function goes through the pipeline alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, cast

import torch
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import SSAValue

from equiforge.cse.across import Shared, outline_equal
from equiforge.cse.dead import eliminate_dead
from equiforge.cse.eliminate import eliminate
from equiforge.cse.segments import split_at_calls
from equiforge.errors import EquiforgeError
from equiforge.frontend.dtypes import torch_dtype
from equiforge.frontend.importer import sanitized
from equiforge.frontend.program import Program, import_module, random_tensors
from equiforge.pipeline import Options, Result, optimize_program
from equiforge.verify.interpreter import main_function


@dataclass
class Together:
    """Programs as sequences of calls (``functions``, by name) of compiled parts, and what the parts came from."""

    functions: dict[str, FuncOp]
    parts: dict[str, Result] = field(default_factory=dict[str, Result])
    shared: list[Shared] = field(default_factory=list[Shared])

    def run(self, name: str, arguments: Sequence[torch.Tensor], interpret: bool = False) -> list[torch.Tensor]:
        """The results of a program's function, part after part; ``interpret`` as in ``equiforge.optimize``."""
        block = self.functions[name].body.block
        values: dict[SSAValue, torch.Tensor] = dict(zip(block.args, arguments, strict=True))
        for op in block.ops:
            operands = [values[operand].contiguous() for operand in op.operands]
            if isinstance(op, ReturnOp):
                return [values[operand] for operand in op.operands]
            assert isinstance(op, CallOp)
            source = self.parts[op.callee.string_value()].source
            values.update(zip(op.results, _execute(source, operands, interpret), strict=True))
        raise EquiforgeError(f"@{name} does not return")


def _execute(source: str, operands: list[torch.Tensor], interpret: bool) -> list[torch.Tensor]:
    if interpret:
        from equiforge.codegen.run import run_interpreted

        return list(run_interpreted(source, operands))
    outputs: Any = _loaded(source).run(*operands)
    return [outputs] if isinstance(outputs, torch.Tensor) else list(outputs)


_MODULES: dict[str, ModuleType] = {}


def _loaded(source: str) -> ModuleType:
    if source not in _MODULES:
        from equiforge.codegen.module import load_source

        _MODULES[source] = load_source(source)
    return _MODULES[source]


def compile_together(programs: Mapping[str, Program], options: Options, least: int = 4) -> Together:
    """Compile programs, each by its name, with what at least two of them share in ``least`` ops or more compiled once.

    Raises EquiforgeError, with the name of the part, where one can't be compiled.
    """
    module, functions = _joined(programs)
    eliminate(module)
    shared = outline_equal(module, least)
    for function in functions.values():
        split_at_calls(module, function)
    eliminate_dead(module)
    together = Together(functions, shared=shared)
    calling = set(functions.values())
    for op in module.body.block.ops:
        if isinstance(op, FuncOp) and op not in calling:
            name = op.sym_name.data
            result = optimize_program(_part(name, op, module), options)
            if result.best is None:
                reasons = sorted({row.rejected for row in result.candidates if row.rejected})
                raise EquiforgeError(f"no candidate of {name} passed: {'; '.join(reasons) or 'the search found none'}")
            together.parts[name] = result
    return together


def _joined(programs: Mapping[str, Program]) -> tuple[ModuleOp, dict[str, FuncOp]]:
    taken: set[str] = set()
    functions: dict[str, FuncOp] = {}
    module = ModuleOp([])
    for name, program in programs.items():
        module.attributes.update(program.module.attributes)
        function = main_function(program.module.clone())
        function.detach()
        function.sym_name = StringAttr(sanitized(name, taken))
        module.body.block.add_op(function)
        functions[name] = function
    return module, functions


def _part(name: str, function: FuncOp, module: ModuleOp) -> Program:
    """A function of the module as a program of its own."""
    main = function.clone()
    main.sym_name = StringAttr("main")
    taken: set[str] = set()
    types: list[tuple[tuple[int, ...], torch.dtype]] = []
    for number, argument in enumerate(main.body.block.args):
        argument.name_hint = sanitized(argument.name_hint or f"arg{number}", taken)
        type_ = cast("TensorType[Any]", argument.type)
        types.append((tuple(type_.get_shape()), torch_dtype(type_.element_type)))
    names = [cast(str, argument.name_hint) for argument in main.body.block.args]
    alone = ModuleOp([main], dict(module.attributes))
    return Program(name, alone, names, lambda seed: random_tensors(types, seed), len(names))


class TogetherModule:
    """One of several modules that were compiled together; takes and returns what its ``forward`` does."""

    def __init__(self, together: Together, name: str, program: Program, interpret: bool):
        self.together = together
        self.name = name
        self._program = program
        self._interpret = interpret

    def __call__(self, *inputs: Any) -> Any:
        from torch.utils import _pytree as pytree

        given = [leaf for leaf in pytree.tree_leaves(inputs) if isinstance(leaf, torch.Tensor)]
        example = self._program.example_args
        count = self._program.num_user_inputs
        if [(t.shape, t.dtype) for t in given] != [(t.shape, t.dtype) for t in example[:count]]:
            raise EquiforgeError(
                f"the inputs of {self.name} have other shapes or dtypes than it was compiled for",
                hint="shapes are static: optimize again with an example of these shapes",
            )
        arguments = [*given, *example[count:]]
        with torch.no_grad():
            results = self.together.run(self.name, arguments, self._interpret)
        return self._program.rebuild_outputs(results, arguments)


def optimize_together(
    models: Mapping[str, tuple[torch.nn.Module, Sequence[Any]]],
    target: str = "h200",
    interpret: bool = False,
    *,
    numerics: str = "real",
    top: int = 4,
    validate: bool = True,
) -> dict[str, Callable[..., Any]]:
    """``equiforge.optimize`` for several models, by name, each with example inputs; what they share is compiled once.

    Parameters correspond by their names in the models, and each model uses its own.
    """
    programs = {name: import_module(model, tuple(inputs), name, numerics) for name, (model, inputs) in models.items()}
    options = Options(target=target, top=top, numerics=numerics, validate=validate, compile=validate or not interpret)
    together = compile_together(programs, options)
    return {name: TogetherModule(together, name, program, interpret) for name, program in programs.items()}
