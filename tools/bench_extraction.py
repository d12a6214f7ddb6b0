"""Extraction with the three compaction strategies on the same e-graphs: the paper's figure 10 (docs/extraction.md).

``none`` enumerates every program, one for each choice of e-nodes; ``after`` does the same and keeps one of each class
of equivalent ones; ``early`` merges partial programs before it expands them. The size of the enumeration is also
counted without it. Each run is a process of its own, so that the peak of its memory is its own.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from equiforge.commands.tables import output_console
from equiforge.errors import EquiforgeError
from equiforge.search.extract import Extraction, ExtractOptions

STRATEGIES = ("early", "after", "none")
COUNTS = {"counted": True, "counted, one view": False}
"""Ways to count what ``after`` and ``none`` expand: with all views, and as if each value had one way to be read."""
COUNT_SHARE = 10
"""A count may take so many times the seconds of an enumeration."""
TIME_LIMIT = "time limit reached"
PROGRAMS = (
    "lora:b=16",
    "gated-mlp:b=16",
    "rmsnorm-linear:b=16",
    "ngpt:b=16",
    "layernorm-gemm:b=16",
    "rmsnorm-mlp:b=16",
    "rmsnorm-swiglu:b=16",
    "mha-decode:b=16",
    "gqa-decode:b=16",
    "mha-prefill:b=16",
    "sdpa:b=16",
    "sdpa-gqa:b=16",
)
LISTED = 20_000
"""``early`` lists all candidates of a program that has at most so many; of others it lists the best and counts all."""
PANELS = {"candidates": "candidates (none: programs)", "states": "states", "seconds": "CPU seconds"}
Row = dict[str, Any]


def saturated(spec: str) -> Any:
    """The saturated e-graph of a program."""
    from equiforge.egraph.encode import encode
    from equiforge.egraph.saturate import SaturationOptions, saturate
    from equiforge.frontend.program import load_program

    return saturate(encode(load_program(spec, numerics="real").module), SaturationOptions())[0]


def extraction(graph: Any, strategy: Any, kernels: int, seconds: float, listed: bool) -> Extraction:
    """An extraction of all programs of at most ``kernels`` kernels (0 for any number); the best are listed, or all."""
    options = ExtractOptions(
        strategy=strategy,
        max_candidates=None if listed else 64,
        max_kernel_states=sys.maxsize,
        max_states=sys.maxsize,
        max_seconds=seconds,
        exhaustive=True,
        at_most=kernels or None,
    )
    return Extraction(graph, options)


def is_small(graph: Any, kernels: int, seconds: float) -> bool:
    """Whether ``early`` comes to its end within the limit, and with few enough candidates to list them all."""
    try:
        whole = extraction(graph, "early", kernels, seconds, False).run().stats.represented
    except EquiforgeError:  # no program within the limit
        return False
    return whole is not None and whole <= LISTED


def enumerated(graph: Any, strategy: str, kernels: int, seconds: float) -> Row:
    """One enumeration. ``digest`` stands for the candidates, where all were listed."""
    listed = strategy == "after" or (strategy == "early" and is_small(graph, kernels, seconds))
    began = time.process_time()
    run = extraction(graph, strategy, kernels, seconds, listed)
    row: Row = {"complete": False, "candidates": 0, "programs": 0, "stop": ""}
    try:
        result = run.run()
        whole = result.stats.represented
        row |= {"complete": whole is not None, "stop": "" if whole is not None else result.stats.stop}
        row["candidates"] = whole or result.stats.candidates
        row["programs"] = run.enumerated or row["candidates"]
        if strategy == "none":
            row["candidates"] = row["programs"]
        if listed and row["complete"]:
            choices = [tuple((k.root, k.grid.axes, k.options) for k in c.choices) for c in result.candidates]
            row["digest"] = hashlib.sha256(repr(sorted(map(sorted, choices))).encode()).hexdigest()
    except EquiforgeError as error:
        row["stop"] = error.message
    return row | {"states": run.counters.states, "seconds": time.process_time() - began, "listed": listed}


@contextmanager
def cpu_limit(seconds: float) -> Generator[None]:
    """Raises TimeoutError in the block once it has used so many CPU seconds; in the main thread only."""

    def stop(*_: object) -> None:
        raise TimeoutError

    former = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, former)


def counted(graph: Any, how: str, kernels: int, seconds: float) -> Row:
    """What ``none`` and ``after`` would expand, and the programs that they would build, none of them built; nothing of
    a count is known before its end."""
    began = time.process_time()
    row: Row = {"complete": False, "candidates": 0, "programs": 0, "states": 0, "stop": TIME_LIMIT}
    try:
        with cpu_limit(COUNT_SHARE * seconds):
            states, programs = extraction(graph, "none", kernels, 0.0, True).size(COUNTS[how])
        row |= {"complete": True, "candidates": programs, "programs": programs, "states": states, "stop": ""}
    except TimeoutError:
        pass
    except EquiforgeError as error:
        row["stop"] = error.message
    return row | {"seconds": time.process_time() - began}


def measure(graph: Any, how: str, kernels: int, seconds: float) -> Row:
    """One row: an enumeration with a strategy, or a count."""
    row = counted(graph, how, kernels, seconds) if how in COUNTS else enumerated(graph, how, kernels, seconds)
    memory = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    return row | {"strategy": how, "peak_mib": int(memory["VmHWM"].split()[0]) // 1024}


def in_process(graph: Path, how: str, kernels: int, seconds: float) -> Row:
    """One row from a process of its own. A run that is ended from outside, or that fails, is a row that says so, with
    the CPU seconds of the whole process, its start included."""
    command = [sys.executable, "-m", "equiforge.tools.bench_extraction", "--one", str(graph), "--strategy", how]
    command += ["--kernels", str(kernels), "--seconds", str(seconds)]
    stop = TIME_LIMIT
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        # A run comes to its own limit first, even where it has half a core.
        limit = 2 * seconds * (COUNT_SHARE if how in COUNTS else 1) + 60
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=limit)
        if done.returncode == 0:
            return json.loads(done.stdout)
        stop = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
    except subprocess.TimeoutExpired:
        pass
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)
    nothing = dict.fromkeys(("candidates", "programs", "states"), 0)
    return nothing | {"strategy": how, "complete": False, "seconds": used, "stop": stop}


def plot(rows: list[Row], path: Path) -> None:
    """Candidates, states and seconds as grouped bars on a logarithmic scale; hatched bars hit the limit, and a mark
    above them is what the whole enumeration takes."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    programs = list(dict.fromkeys(row["program"] for row in rows))
    figure, axes = pyplot.subplots(3, 1, figsize=(11, 10), sharex=True)
    for panel, (key, label) in zip(axes, PANELS.items(), strict=True):
        for place, strategy in enumerate(STRATEGIES):
            chosen = [r for r in rows if r["strategy"] == strategy]
            where = [programs.index(r["program"]) + (place - 1) * 0.27 for r in chosen]
            bars = panel.bar(where, [max(r[key], 1e-3) for r in chosen], 0.25, label=strategy)
            for bar, row in zip(bars, chosen, strict=True):
                if not row["complete"]:
                    bar.set_hatch("//")
        if key != "seconds":
            for how, marker in zip(COUNTS, "vo", strict=True):
                sizes = [r for r in rows if r["strategy"] == how and r["complete"]]
                where = [programs.index(r["program"]) + 0.135 for r in sizes]
                panel.plot(where, [float(r[key]) for r in sizes], marker, color="black", fillstyle="none", label=how)
        panel.set_yscale("log")
        panel.set_ylabel(label)
    axes[0].legend(loc="upper left", ncols=2)
    axes[-1].set_xticks(range(len(programs)), programs, rotation=30, ha="right")
    axes[0].set_title("Extraction by compaction strategy (hatched: stopped at the limit)")
    figure.tight_layout()
    figure.savefig(str(path))  # pyright: ignore[reportUnknownMemberType]  # its keyword arguments are untyped


def short(number: float) -> str:
    """A count in full as long as it is readable.

    >>> short(1234567), short(123456789012)
    ('1,234,567', '1.2e+11')
    """
    return f"{number:,}" if number < 10**9 else f"{float(number):.1e}"


def table(rows: list[Row]) -> Table:
    """The rows with, for each, how many times the states and seconds of early compaction it took."""
    shown = Table(box=None, pad_edge=False)
    numbers = ("programs", "candidates", "states", "× early", "CPU s", "× early", "peak MiB")
    for name in ("program", "compaction", *numbers, "stop"):
        shown.add_column(name, no_wrap=name != "stop", justify="right" if name in numbers else "left")
    early = {r["program"]: r for r in rows if r["strategy"] == "early"}
    for row in rows:
        base = early.get(row["program"], row)
        whole, how = row["complete"], row["strategy"]
        same = "" if "digest" not in row or row["digest"] == base.get("digest") else " (other candidates!)"
        some = "" if whole else " so far"
        times = "" if how in COUNTS else f"{row['seconds'] / max(base['seconds'], 1e-3):,.0f}"
        shown.add_row(
            row["program"],
            how,
            short(row["programs"]) + some if row["programs"] else "–",
            short(row["candidates"]) + some + same if row["candidates"] and how in ("early", "after") else "–",
            short(row["states"]) if row["states"] else "–",
            short(round(row["states"] / max(base["states"], 1))) if row["states"] else "–",
            f"{row['seconds']:.2f}",
            times if whole or not times else f"> {times}",
            str(row.get("peak_mib", "")),
            row["stop"],
        )
    return shown


def main(
    programs: Annotated[list[str] | None, typer.Argument(help="Programs; without any, all workloads at B=16.")] = None,
    kernels: Annotated[int, typer.Option(help="Programs of at most so many kernels; 0 for any number.")] = 0,
    seconds: Annotated[
        float, typer.Option(help="Limit for each strategy on each program; ten times that for a count.")
    ] = 120.0,
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
            for how in (*STRATEGIES, *COUNTS):
                status.update(f"{spec}: {how}")
                rows.append(size | in_process(stored, how, kernels, seconds))
            if json_path is not None:
                json_path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    console.print(table(rows))
    if plot_path is not None:
        plot(rows, plot_path)


if __name__ == "__main__":
    typer.run(main)
