"""Joint graphs of forward and backward: traced by torch's AOT autograd, imported as one forge function.

    %y, %dw = @main(%w, %x, %tangent_0)

Arguments are the parameters and buffers, the user's tensors, then one tangent (the gradient that comes in) for each
result that has a gradient. Results are those of the forward, then one gradient for each argument that requires one.
Operators without a lowering (draws of random numbers, scatters) stay in the function as ``forge.opaque`` calls.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from equiforge.errors import EquiforgeError, ProgramError
from equiforge.frontend.exported import Exported, InputRecord, export_module, translated_error
from equiforge.frontend.importer import Imported, import_exported

if TYPE_CHECKING:
    import torch
    from xdsl.dialects.builtin import ModuleOp


@dataclass
class JointGraph:
    """A traced joint graph.

    ``graph_module`` takes ``(primals, tangents)`` and returns the forward's results and then a gradient (or None) for
    each primal; its placeholders are called ``primals_…`` and ``tangents_…``, as torch's partitioners expect.
    ``parameters``: numbers of the primals that belong to the module.
    """

    graph_module: torch.fx.GraphModule
    primals: list[torch.Tensor]
    names: list[str]
    parameters: list[int]
    num_forward_outputs: int

    def placeholders(self) -> list[torch.fx.Node]:
        return [node for node in self.graph_module.graph.nodes if node.op == "placeholder"]

    def make_tangents(self, seed: int = 0) -> list[torch.Tensor]:
        """Normal tangents of the shapes and dtypes that the graph takes."""
        from equiforge.frontend.program import random_tensors

        given = [node.meta["val"] for node in self.placeholders()[len(self.primals) :]]
        return random_tensors([(tuple(int(n) for n in value.shape), value.dtype) for value in given], seed)

    def run(self, tangents: Sequence[torch.Tensor]) -> list[torch.Tensor | None]:
        """The results of the graph itself, for the primals at hand."""
        import torch
        from torch.utils import _pytree as pytree

        with torch.no_grad():
            results: Any = self.graph_module([p.detach() for p in self.primals], list(tangents))
        return pytree.tree_leaves(results)


@dataclass
class Joint:
    """A joint graph and its forge function.

    Arguments of the function are the placeholders of the graph. ``gradients``: the name of the argument that each
    result after the forward's is the gradient of. ``opaque``: operators that have no lowering, with source lines.
    """

    graph: JointGraph
    imported: Imported
    gradients: list[str] = field(default_factory=list[str])
    opaque: list[tuple[str, str | None]] = field(default_factory=list[tuple[str, str | None]])

    @property
    def module(self) -> ModuleOp:
        return self.imported.module

    @property
    def tangents(self) -> range:
        """Numbers of the arguments that are tangents."""
        return range(len(self.graph.primals), len(self.imported.arg_names))

    def arguments(self, tangents: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Tensors in the order of the function's arguments, for the primals at hand."""
        return [*(primal.detach() for primal in self.graph.primals), *tangents]


@contextlib.contextmanager
def _plain_attention() -> Generator[None]:
    """``scaled_dot_product_attention`` as products and a softmax, not as one fused call that nobody sees into."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    with sdpa_kernel(SDPBackend.MATH):
        yield


def trace_joint(torch_module: Any, example_inputs: Any, kwargs: dict[str, Any] | None = None) -> JointGraph:
    """Trace forward and backward of a module, in the mode (training or not) that it is in.

    What requires a gradient is what does so in the module and among the inputs. Raises ProgramError where nothing
    does, or where a result is an input or a view of one.
    """
    import torch
    import torch.fx.traceback as traceback
    from torch._functorch.aot_autograd import aot_export_joint_simple
    from torch.utils import _pytree as pytree

    args: Any = (example_inputs,) if isinstance(example_inputs, torch.Tensor) else tuple(example_inputs)
    exported = export_module(torch_module, args, kwargs)
    leaves = [leaf for leaf in pytree.tree_leaves((args, kwargs or {})) if isinstance(leaf, torch.Tensor)]
    primals, names = _primals(exported, leaves)
    tensors = [record for record in exported.inputs if record.kind != "constant"]
    parameters = [number for number, record in enumerate(tensors) if record.kind != "user"]
    if not any(tensor.requires_grad for tensor in primals):
        raise ProgramError(
            f"no parameter and no input of {type(torch_module).__name__} requires a gradient",
            hint="call requires_grad_() on what the backward should differentiate",
        )
    constants = {record.node: record.value for record in exported.inputs if record.kind == "constant"}
    order = [record.node for record in exported.inputs]
    count = 0

    def forward(*flat: Any) -> tuple[Any, ...]:
        nonlocal count
        tensors = iter(flat)
        full = [constants[node] if node in constants else next(tensors) for node in order]
        with traceback.preserve_node_meta():
            results: Any = torch.fx.Interpreter(exported.owner).run(*full)
        kept = tuple(item for item in cast("tuple[Any, ...]", results) if isinstance(item, torch.Tensor))
        count = len(kept)
        return kept

    try:
        with _plain_attention(), traceback.preserve_node_meta():
            traced = aot_export_joint_simple(forward, tuple(primals), trace_joint=True)
    except EquiforgeError:
        raise
    except Exception as error:
        raise translated_error(torch_module, error) from error
    return JointGraph(cast("torch.fx.GraphModule", traced), primals, names, parameters, count)


def _primals(exported: Exported, leaves: Sequence[torch.Tensor]) -> tuple[list[torch.Tensor], list[str]]:
    """Leaf tensors for the graph's tensor inputs in order, with the flags of the originals; and their names."""
    given = iter(leaves)
    primals: list[torch.Tensor] = []
    names: list[str] = []
    for record in exported.inputs:
        if record.kind == "constant":
            continue
        original: torch.Tensor = next(given) if record.kind == "user" else exported.tensors[record.path]
        primals.append(original.detach().clone().requires_grad_(original.requires_grad))
        names.append(record.path or record.node)
    return primals, names


def import_graph(graph: JointGraph, numerics: str = "real") -> Joint:
    """The forge function of a traced joint graph."""
    nodes = graph.placeholders()
    tangents = [f"tangent_{number}" for number in range(len(nodes) - len(graph.primals))]
    names = [*graph.names, *tangents]
    records = [InputRecord(node.name, "user", path=name) for node, name in zip(nodes, names, strict=True)]
    opaque: list[tuple[str, str | None]] = []
    exported = Exported(graph.graph_module.graph, records, {}, None, None, graph.graph_module)
    imported = import_exported(exported, numerics, opaque)
    output = next(node for node in graph.graph_module.graph.nodes if node.op == "output")
    gradients = [
        name for name, leaf in zip(graph.names, output.args[0][graph.num_forward_outputs :], strict=True)
        if leaf is not None
    ]  # fmt: skip
    return Joint(graph, imported, gradients, opaque)


def import_joint(
    torch_module: Any, example_inputs: Any, kwargs: dict[str, Any] | None = None, numerics: str = "real"
) -> Joint:
    """Trace the joint graph of a module and import it; see ``trace_joint`` for what it raises."""
    return import_graph(trace_joint(torch_module, example_inputs, kwargs), numerics)
