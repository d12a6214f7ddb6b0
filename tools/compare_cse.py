"""Prints, as a Markdown table, how many equal ops three tools find on the same graphs.

``tools/compare-cse [GRAPH…]``; without arguments, all of ``GRAPHS``. ``tools/compare-cse uses [PROGRAM…]`` prints what
each use of ``cse`` in the pipeline changes for named programs instead. The graph of torch is written down node by node,
one op for a node, so that our ``cse`` and xDSL's see exactly what ``torch._functorch.compile_utils.fx_graph_cse`` sees;
then the graph is imported as forge, where the importer has made masks, constants and views once already, and the two
count again. Dead nodes are gone before.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch._functorch import compile_utils
from torch.utils import _pytree as pytree
from xdsl.dialects import test as test_dialect
from xdsl.dialects.builtin import ModuleOp, StringAttr, i32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.transforms.common_subexpression_elimination import cse as cse_of_xdsl

from equiforge.cse.across import outline_equal
from equiforge.cse.dead import eliminate_dead
from equiforge.cse.effects import walk
from equiforge.cse.eliminate import eliminate
from equiforge.frontend.exported import export_module
from equiforge.frontend.importer import import_exported
from equiforge.frontend.joint import import_graph, trace_joint
from equiforge.verify.interpreter import main_function
from equiforge.workloads.training import TRAINING

Inputs = tuple[Tensor, ...]
Traced = tuple[torch.fx.Graph, ModuleOp]


@dataclass(frozen=True)
class Counts:
    """Nodes of the graph, and how many of them each tool finds equal to another; then ops of forge, and how many fewer
    two of the tools leave."""

    graph: str
    nodes: int
    torch: int
    xdsl: int
    ours: int
    ops: int
    xdsl_forge: int
    ours_forge: int


class TwoBranches(nn.Module):
    """A norm before two branches, written in each."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.left, self.right = nn.RMSNorm(16), nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, x: Tensor) -> Tensor:
        return torch.tanh(self.left(self.norm(x))) + torch.sigmoid(self.right(self.norm(x)))


class Sliced(nn.Module):
    """Query, key and value are slices of one projection, which each takes anew."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(16, 48)

    def forward(self, x: Tensor) -> Tensor:
        def part(number: int) -> Tensor:
            return self.qkv(x).view(2, 8, 3, 4, 4)[:, :, number].transpose(1, 2)

        scores = part(0) @ part(1).transpose(-1, -2) * 0.5
        return torch.softmax(scores, -1) @ part(2)


class Masked(nn.Module):
    """The causal mask is built in each of the layers."""

    def __init__(self, layers: int = 32) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(8, 8, bias=False) for _ in range(layers))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            places = torch.arange(x.shape[0])
            mask = places[:, None] >= places[None, :]
            scores = (x @ layer(x).T).masked_fill(~mask, float("-inf"))
            x = torch.softmax(scores, -1) @ x
        return x


class Candidates(nn.Module):
    """Candidates of an architecture search, each computed from the input by a trunk that all have."""

    def __init__(self, count: int = 20) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 16), nn.LayerNorm(16))
        self.heads = nn.ModuleList(nn.Linear(16, 2 + number) for number in range(count))

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        return tuple(F.silu(head(self.trunk(x))) for head in self.heads)


class Commuted(nn.Module):
    """Sums and products of the same operands, the other way round; one dimension by two names."""

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        return x.sum(-1) + x.sum(1), (x * y + 1.0) - (1.0 + y * x), torch.maximum(x, y) - torch.maximum(y, x)


def _forward(module: nn.Module, inputs: Inputs) -> Traced:
    exported = export_module(module.eval(), inputs)
    return exported.graph, import_exported(exported, "strict", []).module


def _joint(name: str) -> Traced:
    traced = trace_joint(*TRAINING[name](tokens=8))
    return traced.graph_module.graph, import_graph(traced, "strict").module


GRAPHS: dict[str, Callable[[], Traced]] = {
    "norm before two branches": lambda: _forward(TwoBranches(), (torch.zeros(4, 16),)),
    "slices of one projection": lambda: _forward(Sliced(), (torch.zeros(2, 8, 16),)),
    "causal mask in 32 layers": lambda: _forward(Masked(), (torch.zeros(8, 8),)),
    "20 candidates, one trunk": lambda: _forward(Candidates(), (torch.zeros(4, 8),)),
    "commuted operands": lambda: _forward(Commuted(), (torch.zeros(4, 8), torch.zeros(4, 8))),
    "attention, joint": lambda: _joint("attention"),
    "swiglu, joint": lambda: _joint("swiglu"),
    "transformer, joint": lambda: _joint("transformer"),
}


def mirror(graph: torch.fx.Graph) -> ModuleOp:
    """An op for each node: pure where the operator is, its operands the node's, all else in its property."""
    block = Block()
    values: dict[Any, SSAValue] = {}
    for node in graph.nodes:
        leaves, shape = pytree.tree_flatten((node.args, node.kwargs))
        operands = [values[leaf] for leaf in leaves if isinstance(leaf, torch.fx.Node)]
        if node.op == "placeholder":
            values[node] = block.insert_arg(i32, len(block.args))
            continue
        text = [("node" if isinstance(leaf, torch.fx.Node) else repr(leaf)) for leaf in leaves]
        properties = {"prop1": StringAttr(f"{node.target} {text} {shape}")}
        if node.op == "output":
            block.add_op(test_dialect.TestTermOp(operands=operands))
            break
        kind = test_dialect.TestPureOp if _is_pure(node) else test_dialect.TestOp
        op = kind.create(operands=operands, result_types=[i32], properties=properties)
        block.add_op(op)
        values[node] = op.results[0]
    return ModuleOp([test_dialect.TestOp(regions=[Region(block)])])


def _is_pure(node: torch.fx.Node) -> bool:
    """No draw of random numbers, no write, and no memory that is made to be written."""
    target: Any = node.target
    if not hasattr(target, "_schema"):
        return True
    random = torch.Tag.nondeterministic_seeded in target.tags
    return not random and not target._schema.is_mutable and "empty" not in str(target)


def _size(module: Operation) -> int:
    return sum(1 for _ in walk(module))


def _left(module: ModuleOp, tool: Callable[[ModuleOp], object]) -> int:
    """How many ops the tool takes away, dead ones included."""
    before = _size(module)
    tool(module)
    eliminate_dead(module)
    return before - _size(module)


def compare(name: str) -> Counts:
    """Counts of one of the graphs."""
    graph, module = GRAPHS[name]()
    graph.eliminate_dead_code()
    copy = mirror(graph)
    nodes = len(graph.nodes)
    theirs: torch.fx.Graph = cast(Any, compile_utils).fx_graph_cse(graph)
    eliminate_dead(module)
    return Counts(
        name,
        nodes,
        nodes - len(theirs.nodes),
        _left(copy.clone(), cse_of_xdsl),
        _left(copy, eliminate),
        _size(module),
        _left(module.clone(), cse_of_xdsl),
        _left(module, eliminate),
    )


PROGRAMS = (
    "rmsnorm-linear:small",
    "rmsnorm-mlp:small",
    "rmsnorm-swiglu:small",
    "gated-mlp:small",
    "lora:small",
    "layernorm-gemm:small",
    "ngpt:small",
    "mha-prefill:small",
    "mha-decode:small",
    "gqa-decode:small",
    "sdpa:small",
)


def uses(specs: list[str]) -> None:
    """Prints for each program: ops of forge and those that cse merges, classes of the first e-graph without and with
    it, ops of the best candidate's tiles and how many are left when the kernels share what they compute alike; then
    the functions that the programs together share."""
    from equiforge.codegen.shared import with_shared_ops
    from equiforge.egraph.encode import encode
    from equiforge.egraph.saturate import SaturationOptions, saturate
    from equiforge.frontend.program import load_program
    from equiforge.search.extract import ExtractOptions, extract
    from equiforge.search.to_tile import to_tile

    print("| program | forge ops | merged | first e-classes | with cse | tile ops, all candidates | shared |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    functions: list[FuncOp] = []
    for spec in specs:
        module = load_program(spec).module
        plain = encode(module)
        before = _size(module)
        merged = _left(module, eliminate)
        graph = encode(module)
        together, _, _ = saturate(graph, SaturationOptions())
        tiles = [to_tile(together, c) for c in extract(together, ExtractOptions()).top(8)]
        row = (before, merged, len(plain.nodes), len(graph.nodes))
        found = sum(map(_size, tiles)), sum(_size(with_shared_ops(tile)) for tile in tiles)
        print(f"| {spec} | " + " | ".join(f"{number:,}" for number in (*row, *found)) + " |", flush=True)
        function = main_function(module)
        function.detach()
        function.sym_name = StringAttr(spec.split(":")[0].replace("-", "_"))
        functions.append(function)
    module = ModuleOp(functions)
    before = _size(module)
    shared = outline_equal(module)
    eliminate_dead(module)
    print(f"\nTogether: {before:,} ops; {_size(module):,} when equal subgraphs are functions of their own.")
    for item in shared:
        print(f"* @{item.name}: {item.ops} ops of {', '.join(item.callers)}")


def main(names: list[str]) -> int:
    """Prints the table; returns 1 where another tool finds more than ours."""
    if names[:1] == ["uses"]:
        uses(names[1:] or list(PROGRAMS))
        return 0
    unknown = [name for name in names if name not in GRAPHS]
    if unknown:
        print(f"compare-cse: no graph {unknown[0]!r}; there are {', '.join(GRAPHS)}", file=sys.stderr)
        return 2
    print("| graph | nodes | fx_graph_cse | xDSL | ours | forge ops | xDSL | ours |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    fewer = 0
    for name in names or GRAPHS:
        c = compare(name)
        fewer += c.ours < max(c.torch, c.xdsl) or c.ours_forge < c.xdsl_forge
        row = (c.nodes, c.torch, c.xdsl, c.ours, c.ops, c.xdsl_forge, c.ours_forge)
        print(f"| {name} | " + " | ".join(f"{number:,}" for number in row) + " |", flush=True)
    return 1 if fewer else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
