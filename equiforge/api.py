"""The Python API: ``equiforge.optimize(model, example_inputs)`` returns a callable that runs the best kernels."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from equiforge.errors import EquiforgeError

if TYPE_CHECKING:
    from equiforge.frontend.program import Program
    from equiforge.pipeline import CandidateRow, Result


class OptimizedModule:
    """Runs the best kernels found for a module, on inputs of the shapes and dtypes of the example.

    ``candidates`` are the rows of the report, the best included; ``source`` is the emitted Triton module, a
    standalone Python file with ``run(*inputs, *parameters)``; ``report`` is what ``equiforge optimize --json``
    writes. Results carry no autograd graph. Parameters are read at each call: in-place changes to them count.
    """

    def __init__(self, program: Program, result: Result, example_inputs: Sequence[Any], interpret: bool):
        self._program = program
        self._result = result
        self._interpret = interpret
        self._example_leaves, self._example_spec = pytree.tree_flatten(tuple(example_inputs))
        self._loaded: ModuleType | None = None

    @property
    def candidates(self) -> list[CandidateRow]:
        """The candidates of the search, as in the report."""
        return self._result.candidates

    @property
    def source(self) -> str:
        """The text of the best module."""
        return self._result.source

    @property
    def report(self) -> dict[str, Any]:
        """The report, as ``equiforge optimize --json`` writes it."""
        return self._result.to_json()

    def __call__(self, *inputs: Any) -> Any:
        """Runs the kernels; takes and returns what the module's ``forward`` does.

        Raises EquiforgeError when an input differs from the example in structure, shape, dtype or device kind.
        """
        arguments = [*self._tensors_of(inputs), *self._program.example_args[self._program.num_user_inputs :]]
        with torch.no_grad():
            outputs = self._execute(arguments)
        return self._program.rebuild_outputs(outputs, arguments)

    def _tensors_of(self, inputs: tuple[Any, ...]) -> list[torch.Tensor]:
        """Flattens the call's inputs and checks them against the example's."""
        leaves, spec = pytree.tree_flatten(inputs)
        if spec != self._example_spec:
            raise EquiforgeError(
                f"the inputs have another structure than the example's: {len(inputs)} inputs with {len(leaves)} "
                f"leaves, the example had {len(self._example_leaves)}",
                hint="optimize again with such inputs",
            )
        tensors: list[torch.Tensor] = []
        for position, (given, example) in enumerate(zip(leaves, self._example_leaves, strict=True)):
            name = f"input {position}"
            if not isinstance(example, torch.Tensor):
                if given != example:
                    raise EquiforgeError(f"{name} is {given!r}, compiled for {example!r}", hint="optimize again")
                continue
            if not isinstance(given, torch.Tensor):
                raise EquiforgeError(f"{name} is a {type(given).__name__}, compiled for a tensor")
            if len(tensors) < len(self._program.arg_names):
                name = f"input {self._program.arg_names[len(tensors)]!r}"
            if given.shape != example.shape or given.dtype != example.dtype:
                raise EquiforgeError(
                    f"{name} is {_describe(given)}, compiled for {_describe(example)}",
                    hint="shapes are static: optimize again with an example of this shape and dtype",
                )
            tensors.append(given)
        return tensors

    def _execute(self, arguments: list[torch.Tensor]) -> list[torch.Tensor]:
        """Runs the emitted module on all arguments, parameters included; returns its outputs as a flat list."""
        if self._interpret:
            from equiforge.codegen.run import run_interpreted

            return list(run_interpreted(self._result.source, arguments))
        if not all(argument.is_cuda for argument in arguments):
            raise EquiforgeError(
                "the inputs and the module's parameters must be on the GPU",
                hint="move them there, or use interpret=True to run on the CPU under Triton's interpreter",
            )
        outputs: torch.Tensor | tuple[torch.Tensor, ...] = self._module().run(*arguments)
        return [outputs] if isinstance(outputs, torch.Tensor) else list(outputs)

    def _module(self) -> ModuleType:
        if self._loaded is None:
            from equiforge.codegen.module import load_source

            self._loaded = load_source(self._result.source)
        return self._loaded


def _describe(tensor: torch.Tensor) -> str:
    extents = "×".join(str(extent) for extent in tensor.shape) or "scalar"
    return f"{str(tensor.dtype).removeprefix('torch.')} {extents}"


def optimize(
    model: torch.nn.Module,
    example_inputs: Sequence[Any],
    target: str = "h200",
    interpret: bool = False,
    *,
    numerics: str = "real",
    top: int = 4,
    validate: bool = True,
    seed: int = 0,
) -> OptimizedModule:
    """Searches for the best kernels of ``model`` at the shapes of ``example_inputs`` and returns a callable.

    ``target`` is a100, h100, h200, l4 or rtx5090. With ``interpret=True`` the callable takes CPU tensors and runs
    the emitted kernels under Triton's interpreter (slow: for checking). ``numerics="strict"`` keeps every rounding
    of the program as written. ``top`` candidates are emitted and compiled, and with ``validate`` executed at
    reduced extents and compared with the program. Raises EquiforgeError when the program can't be compiled.
    """
    from equiforge.frontend.program import import_module
    from equiforge.pipeline import Options, optimize_program

    program = import_module(model, example_inputs, type(model).__name__, numerics, calls=True)
    if isinstance(example_inputs, torch.Tensor):
        example_inputs = (example_inputs,)
    options = Options(
        target=target,
        top=top,
        numerics=numerics,
        validate=validate,
        seed=seed,
        # Unchecked kernels for the interpreter alone need no compiler.
        compile=validate or not interpret,
    )
    result = optimize_program(program, options, None)
    if result.best is None:
        reasons = sorted({row.rejected for row in result.candidates if row.rejected})
        raise EquiforgeError("no candidate passed: " + ("; ".join(reasons) if reasons else "the search found none"))
    return OptimizedModule(program, result, example_inputs, interpret)
