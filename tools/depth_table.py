"""Prints how the e-graph grows with depth: stacks of 1, 2, 4 and 8 layers, each saturated as one program.

``tools/depth-table [LAYERS …] [--tokens N] [--hidden N] [--json]``. A layer is that of ``docs/examples/llama_block.py``
without its rotation and its groups of heads: RMSNorm, QKV, causal attention, output projection, residual, RMSNorm,
SwiGLU, residual. Reduced dimensions of at most 256 elements get no axis: a small ``--hidden`` has a smaller e-graph.
``growth`` is the ratio of e-nodes for twice the layers; 2 is linear. Seconds are those of the saturation.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import math
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

MOST_NODES, MOST_SECONDS = 1_000_000, 300.0
_EXAMPLE = Path(__file__).resolve().parent.parent / "docs" / "examples" / "llama_block.py"


@dataclass
class Row:
    """One depth; ``growth`` is None for the first."""

    layers: int
    ops: int
    nodes: int
    classes: int
    rounds: int
    seconds: float
    stop: str
    growth: float | None = None


def _example() -> Any:
    spec = importlib.util.spec_from_file_location("llama_block", _EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def measure(layers: int, tokens: int, hidden: int) -> Row:
    """Saturate a stack of so many layers as one program."""
    from equiforge.egraph.encode import encode
    from equiforge.egraph.saturate import SaturationOptions, saturate
    from equiforge.frontend.program import import_module
    from equiforge.pipeline import without_copies

    heads = max(1, hidden // 128)
    sizes = {"hidden": hidden, "heads": heads, "kv": heads, "ffn": 4 * hidden, "rope": False}
    module, inputs = _example().build(layers, tokens, **sizes)
    program = import_module(module, inputs, "stack")
    merged, report = without_copies(program.module)
    options = SaturationOptions(max_nodes=MOST_NODES, max_seconds=MOST_SECONDS)
    graph, stats, _ = saturate(encode(merged), options, isolate=False)
    return Row(
        layers, report["ops"], graph.num_nodes, len(graph.nodes), stats.rounds, round(stats.seconds, 2), stats.stop
    )


def with_growth(rows: list[Row]) -> list[Row]:
    """The growth in e-nodes from each row to the next, for twice the layers."""
    for before, row in itertools.pairwise(rows):
        row.growth = round((row.nodes / before.nodes) ** (1 / math.log2(row.layers / before.layers)), 2)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(prog="depth-table", description=__doc__)
    parser.add_argument("layers", type=int, nargs="*", default=[1, 2, 4, 8])
    parser.add_argument("--tokens", type=int, default=2048)
    parser.add_argument("--hidden", type=int, default=4096)
    parser.add_argument("--json", action="store_true", help="JSON instead of a table")
    arguments = parser.parse_args()
    rows: list[Row] = []
    for layers in arguments.layers:
        print(f"{layers} layers …", file=sys.stderr, flush=True)
        rows.append(measure(layers, arguments.tokens, arguments.hidden))
    with_growth(rows)
    if arguments.json:
        print(json.dumps([asdict(row) for row in rows], indent=2))
        return 0
    print("| layers | ops | e-nodes | e-classes | rounds | seconds | growth for twice the layers | |")
    print("|---:|---:|---:|---:|---:|---:|---:|---|")
    for row in rows:
        growth = "–" if row.growth is None else f"{row.growth:.2f}"
        print(
            f"| {row.layers} | {row.ops} | {row.nodes} | {row.classes} | {row.rounds} | {row.seconds:.2f} | {growth} | "
            f"{row.stop} |"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
