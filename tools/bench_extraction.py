"""Extraction with the three compaction strategies on the same e-graphs: the paper's figure 10.

All strategies enumerate every program of at most ``--kernels`` kernels: ``none`` one for each choice of e-nodes,
``after`` the same and then one of each class of equivalent ones, ``early`` merges partial programs before it expands
them. Each run is a process of its own, so that the peak of its memory is its own.
"""

from __future__ import annotations

import json
import pickle
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from equiforge.commands.tables import output_console

STRATEGIES = ("early", "after", "none")
PROGRAMS = (
    "lora:b=16",
    "gated-mlp:b=16",
    "rmsnorm-linear:b=16",
    "rmsnorm-mlp:b=16",
    "rmsnorm-swiglu:b=16",
    "layernorm-gemm:b=16",
    "ngpt:b=16",
    "mha-decode:b=16",
    "gqa-decode:b=16",
    "mha-prefill:b=16",
)
Row = dict[str, Any]


def saturated(spec: str) -> Any:
    """The saturated e-graph of a program."""
    from equiforge.egraph.encode import encode
    from equiforge.egraph.saturate import SaturationOptions, saturate
    from equiforge.frontend.program import load_program

    return saturate(encode(load_program(spec, numerics="real").module), SaturationOptions())[0]


def measure(graph: Any, strategy: Any, kernels: int, seconds: float) -> Row:
    """One enumeration."""
    from equiforge.errors import EquiforgeError
    from equiforge.search.extract import Extraction, ExtractOptions

    options = ExtractOptions(
        strategy=strategy,
        max_candidates=64 if strategy == "early" else None,
        max_kernel_states=sys.maxsize,
        max_states=sys.maxsize,
        max_seconds=seconds,
        exhaustive=True,
        at_most=kernels,
    )
    extraction = Extraction(graph, options)
    row: Row = {"strategy": strategy, "complete": False, "candidates": 0, "stop": ""}
    try:
        stats = extraction.run().stats
        finished = stats.represented is not None
        row |= {"seconds": stats.seconds, "complete": finished, "stop": "" if finished else stats.stop}
        row["candidates"] = stats.represented if finished else stats.candidates
    except EquiforgeError as error:
        row |= {"seconds": seconds, "stop": error.message}
    row["states"] = extraction.search.counters.states + extraction.counters.states
    row["pruned"] = extraction.search.counters.pruned + extraction.counters.pruned
    row["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return row


def in_process(graph: Path, strategy: str, kernels: int, seconds: float) -> Row:
    """One enumeration in a process of its own; a run that is ended from outside is a row that says so."""
    command = [sys.executable, "-m", "equiforge.tools.bench_extraction", "--one", str(graph), "--strategy", strategy]
    done = subprocess.run(
        [*command, "--kernels", str(kernels), "--seconds", str(seconds)], capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return json.loads(done.stdout)
    last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
    return {"strategy": strategy, "complete": False, "candidates": 0, "states": 0, "seconds": seconds, "stop": last}


def plot(rows: list[Row], path: Path) -> None:
    """Candidates, states and seconds as grouped bars on a logarithmic scale; hatched bars hit the limit."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    programs = list(dict.fromkeys(row["program"] for row in rows))
    figure, axes = pyplot.subplots(3, 1, figsize=(10, 9), sharex=True)
    for panel, key in zip(axes, ("candidates", "states", "seconds"), strict=True):
        for place, strategy in enumerate(STRATEGIES):
            chosen = [r for r in rows if r["strategy"] == strategy]
            where = [programs.index(r["program"]) + (place - 1) * 0.27 for r in chosen]
            bars = panel.bar(where, [max(r[key], 1e-3) for r in chosen], 0.25, label=strategy)
            for bar, row in zip(bars, chosen, strict=True):
                if not row["complete"]:
                    bar.set_hatch("//")
        panel.set_yscale("log")
        panel.set_ylabel(key)
    axes[0].legend(title="compaction")
    axes[-1].set_xticks(range(len(programs)), programs, rotation=30, ha="right")
    axes[0].set_title("Extraction by compaction strategy (hatched: stopped at the limit)")
    figure.tight_layout()
    figure.savefig(str(path))  # pyright: ignore[reportUnknownMemberType]  # its keyword arguments are untyped


def table(rows: list[Row]) -> Table:
    """The rows with, for each, how many times the states and seconds of early compaction it took."""
    shown = Table(box=None, pad_edge=False)
    for name in ("program", "compaction", "candidates", "states", "× early", "seconds", "× early", "peak MiB", "stop"):
        shown.add_column(
            name, no_wrap=name != "stop", justify="left" if name in ("program", "compaction", "stop") else "right"
        )
    early = {r["program"]: r for r in rows if r["strategy"] == "early"}
    for row in rows:
        base = early.get(row["program"], row)
        more = "" if row["complete"] else "> "
        shown.add_row(
            row["program"],
            row["strategy"],
            ("" if row["complete"] else "≥ ") + f"{row['candidates']:,}",
            f"{row['states']:,}",
            f"{more}{row['states'] / max(base['states'], 1):,.1f}",
            f"{row['seconds']:.2f}",
            f"{more}{row['seconds'] / max(base['seconds'], 1e-6):,.1f}",
            str(row.get("peak_mib", "")),
            row["stop"],
        )
    return shown


def main(
    programs: Annotated[list[str] | None, typer.Argument(help="Programs; without any, all workloads at B=16.")] = None,
    kernels: Annotated[int, typer.Option(help="Programs of at most so many kernels.")] = 3,
    seconds: Annotated[float, typer.Option(help="Limit for each strategy on each program.")] = 120.0,
    json_path: Annotated[Path | None, typer.Option("--json", help="Also write the rows here.")] = None,
    plot_path: Annotated[Path | None, typer.Option("--plot", help="Also draw them here (.png, .svg, .pdf).")] = None,
    one: Annotated[Path | None, typer.Option(hidden=True)] = None,
    strategy: Annotated[str, typer.Option(hidden=True)] = "early",
) -> None:
    """Compare the strategies: tools/bench-extraction lora:b=16 gated-mlp:b=16 --seconds 60 --plot figure10.png"""
    if one is not None:
        print(json.dumps(measure(pickle.loads(one.read_bytes()), strategy, kernels, seconds)))
        return
    console = output_console()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder, console.status("") as status:
        for spec in programs or PROGRAMS:
            status.update(f"{spec}: saturation")
            graph = saturated(spec)
            stored = Path(folder) / "graph.pickle"
            stored.write_bytes(pickle.dumps(graph))
            size = {"program": spec, "e_nodes": graph.num_nodes, "e_classes": len(graph.nodes), "kernels": kernels}
            for name in STRATEGIES:
                status.update(f"{spec}: {name}")
                rows.append(size | in_process(stored, name, kernels, seconds))
            if json_path is not None:
                json_path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    console.print(table(rows))
    if plot_path is not None:
        plot(rows, plot_path)


if __name__ == "__main__":
    typer.run(main)
