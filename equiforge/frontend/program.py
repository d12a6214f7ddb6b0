"""A program to optimise: its forge module, the arguments it takes, and PyTorch's own way of running it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from equiforge.errors import ProgramError

if TYPE_CHECKING:
    import torch
    from xdsl.dialects.builtin import ModuleOp

    from equiforge.frontend.exported import Exported
    from equiforge.frontend.importer import Output

ArgumentMaker = Callable[[int], "list[torch.Tensor]"]


class Program:
    """A forge module with its surroundings.

    ``arg_names``: the user's tensor inputs in order (nested ones flattened), then the parameters and buffers used.
    ``num_user_inputs``: how many of them the user passes. ``eager``: PyTorch's own result for the user's inputs, None
    for a program without one. ``outputs``: one record a leaf of the result, ``output_spec`` how they nest (a pytree
    spec; None: a lone tensor or a tuple). ``at``: for a program with sizes, the same program at other sizes.
    """

    def __init__(
        self,
        name: str,
        module: ModuleOp,
        arg_names: list[str],
        example_args: list[torch.Tensor] | ArgumentMaker,
        num_user_inputs: int,
        eager: Callable[..., Any] | None = None,
        output_spec: Any = None,
        outputs: list[Output] | None = None,
        at: Callable[..., Program] | None = None,
        sizes: dict[str, Any] | None = None,
    ):
        self.name = name
        self.module = module
        self.arg_names = arg_names
        self.num_user_inputs = num_user_inputs
        self.eager = eager
        self.output_spec = output_spec
        self.outputs = _plain_outputs(module) if outputs is None else outputs
        self.at = at
        self.sizes = sizes or {}
        self.called: list[tuple[str, str | None]] = []
        """Operators that stay as calls of themselves, with their source lines."""
        self.candidates: list[ModuleOp] = []
        """Tile programs, where the program was given as such: nothing is left to search."""
        self._given = None if callable(example_args) else example_args
        self._make: ArgumentMaker = example_args if callable(example_args) else lambda _: list(example_args)
        self._made: list[torch.Tensor] | None = self._given

    @property
    def example_args(self) -> list[torch.Tensor]:
        """Tensors in the order of ``arg_names``; made at the first use where the program can make them."""
        if self._made is None:
            self._made = self._make(0)
        return self._made

    def make_args(self, seed: int = 0) -> list[torch.Tensor]:
        """Arguments from another seed; a program with fixed inputs always gives those."""
        return self._make(seed)

    def input_strides(self) -> dict[int, tuple[int, ...]]:
        """Strides in elements, by argument number, of the example arguments that are not row-major."""
        given = enumerate(self._given or ())
        return {i: tuple(t.stride()) for i, t in given if not t.is_contiguous()}

    def rebuild_outputs(self, results: Sequence[torch.Tensor], arguments: Sequence[torch.Tensor] | None = None) -> Any:
        """The user's nested outputs from the flat results of ``@main``.

        Outputs that eager makes fresh share no memory with each other (nor with ``arguments``, where given): they
        are cloned if they do. An output that is an argument comes back as that very tensor, where given.
        """
        import torch

        taken = {_memory(tensor) for tensor in arguments or ()}
        leaves: list[Any] = []
        for output in self.outputs:
            if output.kind == "constant":
                leaves.append(output.value)
                continue
            assert output.result is not None
            tensor = results[output.result]
            if output.kind == "duplicate":
                assert output.source is not None
                tensor = leaves[output.source]
            elif output.kind == "argument" and arguments is not None:
                assert output.source is not None
                tensor = arguments[output.source]
            elif output.kind == "fresh":
                if _memory(tensor) in taken:
                    tensor = tensor.clone(memory_format=torch.contiguous_format)
                taken.add(_memory(tensor))
            leaves.append(tensor)
        if self.output_spec is not None:
            from torch.utils import _pytree as pytree

            return pytree.tree_unflatten(leaves, self.output_spec)
        return leaves[0] if len(leaves) == 1 else tuple(leaves)


def _memory(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr() or id(tensor)


def _plain_outputs(module: ModuleOp) -> list[Output]:
    """Records for a module read as IR: an argument returned is that argument, the rest is fresh."""
    from xdsl.dialects.func import FuncOp
    from xdsl.ir import BlockArgument

    from equiforge.frontend.importer import Output

    function = next(op for op in module.body.block.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")
    returned = function.body.block.last_op
    assert returned is not None
    return [
        Output("argument", number, value.index) if isinstance(value, BlockArgument) else Output("fresh", number)
        for number, value in enumerate(returned.operands)
    ]


def program_of(
    exported: Exported,
    name: str,
    numerics: str,
    user_inputs: list[torch.Tensor] | ArgumentMaker,
    eager: Any,
    calls: bool = False,
) -> Program:
    """Import an exported program; ``user_inputs`` are its tensor inputs in order, or make them from a seed. With
    ``calls`` operators without a lowering stay as calls of themselves."""
    from equiforge.frontend.importer import import_exported

    called: list[tuple[str, str | None]] = []
    imported = import_exported(exported, numerics, called if calls else None)
    captured = [exported.tensors[record.path].detach() for record in imported.arg_records if record.path]
    count = len(imported.arg_names) - len(captured)
    example: list[torch.Tensor] | ArgumentMaker
    if callable(user_inputs):
        make = user_inputs
        example = lambda seed: [*make(seed), *captured]  # noqa: E731
    else:
        example = [*user_inputs, *captured]
    program = Program(
        name, imported.module, imported.arg_names, example, count, eager, exported.out_spec, imported.outputs
    )
    program.called = called
    return program


def check_numerics(numerics: str) -> None:
    """Only the two modes of arithmetic exist."""
    if numerics not in ("real", "strict"):
        raise ProgramError(f"unknown numerics {numerics!r}", hint="known: real, strict")


def import_module(
    torch_module: Any,
    example_inputs: Any,
    name: str = "program",
    numerics: str = "real",
    kwargs: dict[str, Any] | None = None,
    calls: bool = False,
) -> Program:
    """Import a ``torch.nn.Module`` with a tuple of example inputs (nested structures and plain values allowed). With
    ``calls`` operators without a lowering stay as calls of themselves, which bound the search."""
    check_numerics(numerics)
    import torch
    from torch.utils import _pytree as pytree

    from equiforge.frontend.exported import export_module

    args: Any = (example_inputs,) if isinstance(example_inputs, torch.Tensor) else example_inputs
    if not isinstance(args, tuple | list):
        raise ProgramError(
            f"the example inputs are a {type(args).__name__}, not a tuple", hint="give a tuple of what forward takes"
        )
    args = tuple(cast("tuple[Any, ...]", args))
    exported = export_module(torch_module, args, kwargs)
    leaves, spec = pytree.tree_flatten((args, kwargs or {}))
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]

    def eager(*inputs: torch.Tensor) -> Any:
        given = iter(inputs)
        full = [next(given) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        positional, named = pytree.tree_unflatten(full, spec)
        with torch.no_grad():
            return torch_module(*positional, **named)

    return program_of(exported, name, numerics, tensors, eager, calls)


def load_program(spec: str, numerics: str = "real", calls: bool = False) -> Program:
    """Load ``name:k=v,…`` (a workload), ``path/to/file.py:factory``, ``x.pt2`` or ``x.mlir``. With ``calls`` operators
    without a lowering stay as calls of themselves.

    Raises ProgramError, UnsupportedOpError or DynamicShapeError, each one line that says what to do.
    """
    check_numerics(numerics)
    from equiforge.frontend import sources

    text = spec.strip()
    if not text:
        raise ProgramError("no program given", hint="give a workload, path.py:factory, a .pt2 or a .mlir file")
    path, _, factory = text.rpartition(":") if ".py:" in text else (text, "", "")
    if path.endswith(".py"):
        return sources.load_factory(path, factory, numerics, calls)
    if text.endswith(".pt2"):
        return sources.load_pt2(text, numerics, calls)
    if text.endswith(".mlir"):
        return sources.load_mlir(text, numerics)
    return sources.load_workload(text, numerics)


def random_tensors(types: Sequence[tuple[tuple[int, ...], torch.dtype]], seed: int) -> list[torch.Tensor]:
    """Tensors of the shapes and dtypes: floats normal, integers 0 or 1 (valid as most indices), booleans even."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    made: list[torch.Tensor] = []
    for shape, dtype in types:
        if dtype.is_floating_point:
            made.append(torch.randn(shape, generator=generator).to(dtype))
        elif math.prod(shape) == 0:
            made.append(torch.zeros(shape, dtype=dtype))
        else:
            made.append(torch.randint(0, 2, shape, generator=generator).to(dtype))
    return made
