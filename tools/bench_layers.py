"""What a stack of Llama-style blocks costs to import and to search, for stacks of several heights.

Each stack is a process of its own; nothing is remembered between them. ``search`` is everything after the import:
partition, saturation, extraction, composition, and one candidate as a Triton module; ``search_cpu_s`` is what it takes
of all cores together.
"""

from __future__ import annotations

import importlib.util
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from equiforge.commands.tables import output_console

_EXAMPLE = Path(__file__).resolve().parent.parent / "docs" / "examples" / "llama_block.py"
_COLUMNS = (
    "layers",
    "ops",
    "subgraphs",
    "e_nodes",
    "launches",
    "estimate_us",
    "import_s",
    "search_s",
    "search_cpu_s",
    "peak_mib",
)


def measure(layers: int, tokens: int, rope: bool, jobs: int, partition: str) -> dict[str, Any]:
    """One stack."""
    from equiforge.frontend.program import import_module
    from equiforge.pipeline import Options, optimize_program

    spec = importlib.util.spec_from_file_location("llama_block", _EXAMPLE)
    assert spec is not None and spec.loader is not None
    example: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    began = time.perf_counter()
    module, inputs = example.build(layers, tokens, rope=rope)
    program = import_module(module, inputs, f"stack{layers}", "real")
    imported, before = time.perf_counter(), _cpu_seconds()
    options = Options(top=1, validate=False, compile=False, remember=False, jobs=jobs, partition=partition)
    result = optimize_program(program, options)
    done = time.perf_counter()
    assert result.best is not None, [row.rejected for row in result.candidates]
    mine, children = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return {
        "layers": layers,
        "ops": len(list(program.module.walk())),
        "subgraphs": result.partition_stats.get("subgraphs", 1),
        "e_nodes": result.egraph_stats["nodes"],
        "launches": result.best.launches,
        "estimate_us": round(result.best.estimate_us, 1),
        "import_s": round(imported - began, 2),
        "search_s": round(done - imported, 2),
        "search_cpu_s": round(_cpu_seconds() - before, 2),
        "peak_mib": max(mine, children) // 1024,
        "seconds": result.seconds,
    }


def _cpu_seconds() -> float:
    """Of this process and the children that have ended: unlike the time on the clock, the same on a busy machine."""
    return sum(os.times()[:4])


def main(
    layers: Annotated[list[int] | None, typer.Argument(help="Heights; 1, 2, 4, 8, 16 and 32 without any.")] = None,
    tokens: Annotated[int, typer.Option(help="Tokens of the one sequence.")] = 2048,
    rope: Annotated[bool, typer.Option(help="With rotary embeddings.")] = True,
    jobs: Annotated[int, typer.Option(help="Processes; 0: one a core.")] = 0,
    partition: Annotated[str, typer.Option(help="auto, on or off.")] = "on",
    json_path: Annotated[Path | None, typer.Option("--json", help="Also write the rows here.")] = None,
    one: Annotated[bool, typer.Option(hidden=True)] = False,
) -> None:
    """Time the search of equal layers: tools/bench-layers 1 8 32 --tokens 16"""
    heights = layers or [1, 2, 4, 8, 16, 32]
    if one:
        print(json.dumps(measure(heights[0], tokens, rope, jobs, partition)))
        return
    console = output_console()
    table = Table(box=None, pad_edge=False)
    for name in (*_COLUMNS, "× first"):
        table.add_column(name, justify="right", no_wrap=True)
    rows: list[dict[str, Any]] = []
    with console.status("") as status:
        for height in heights:
            status.update(f"{height} layers")
            switches = ["--rope" if rope else "--no-rope", "--jobs", str(jobs), "--partition", partition]
            command = [sys.executable, "-m", "equiforge.tools.bench_layers", str(height), "--tokens", str(tokens)]
            done = subprocess.run([*command, *switches, "--one"], capture_output=True, text=True, check=False)
            if done.returncode:
                console.print(f"{height} layers: {done.stderr.strip().splitlines()[-1]}")
                raise typer.Exit(1)
            row = json.loads(done.stdout.strip().splitlines()[-1])
            rows.append(row)
            ratio = row["search_s"] / rows[0]["search_s"]
            table.add_row(*(f"{row[name]:,}" for name in _COLUMNS), f"{ratio:.2f}")
            if json_path is not None:
                json_path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    console.print(table)


if __name__ == "__main__":
    typer.run(main)
