"""Torch's min-cut partition of a joint graph as forge functions, so that it is measured as ours is.

The two FX graphs that ``min_cut_rematerialization_partition`` returns are imported as they are, one function each.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import torch
from torch._functorch import config
from torch._functorch.partitioners import min_cut_rematerialization_partition
from xdsl.dialects.builtin import ModuleOp, StringAttr

from equiforge.cse.dead import eliminate_dead
from equiforge.cse.eliminate import eliminate
from equiforge.frontend.exported import Exported, InputRecord
from equiforge.frontend.importer import import_exported
from equiforge.remat.partition import Partition
from equiforge.verify.interpreter import main_function

if TYPE_CHECKING:
    from equiforge.frontend.joint import JointGraph


def min_cut_partition(graph: JointGraph, budget: float = 1.0) -> Partition:
    """What torch chooses; parameters live anyway, for it and for the count. ``budget`` is torch's activation memory
    budget between 0 (recompute whatever can be) and 1 (as much as its rules allow)."""
    module = copy.deepcopy(graph.graph_module)
    settings: Any = config
    with settings.patch(activation_memory_budget=budget):
        forward, backward = min_cut_rematerialization_partition(
            module,
            None,
            num_fwd_outputs=graph.num_forward_outputs,
            static_lifetime_input_indices=list(graph.parameters),
        )
    functions = [_imported(forward, "forward"), _imported(backward, "backward")]
    both = ModuleOp(functions)
    eliminate(both)
    eliminate_dead(both)
    both.verify()
    return Partition(both, graph.num_forward_outputs, frozenset(graph.parameters))


def _imported(module: torch.fx.GraphModule, name: str) -> Any:
    nodes = [node for node in module.graph.nodes if node.op == "placeholder"]
    records = [InputRecord(node.name, "user", path=node.name) for node in nodes]
    imported = import_exported(Exported(module.graph, records, {}, None, None, module), "real", [])
    function = main_function(imported.module)
    function.detach()
    function.sym_name = StringAttr(name)
    return function
