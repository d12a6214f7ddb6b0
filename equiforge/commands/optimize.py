"""``equiforge optimize``: runs the pipeline with a progress display, prints the candidates, writes the report."""

from __future__ import annotations

import json
import math
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from rich.console import Console

from equiforge.commands.choices import NUMERICS, check_choice
from equiforge.commands.progress import StageProgress
from equiforge.commands.tables import candidates_table, output_console, reasons_table
from equiforge.errors import EquiforgeError

if TYPE_CHECKING:
    from equiforge.pipeline import Result


@dataclass(frozen=True)
class Request:
    """The options of the command, as typed."""

    target: str
    out: Path
    json_file: str | None
    top: int
    numerics: str
    stop_after: str | None
    print_ir: bool
    validate: bool
    seed: int
    partition: str = "auto"
    jobs: int = 0
    remember: bool = True
    why: bool = False


def run_optimize(spec: str, request: Request) -> None:
    """Optimizes the program that ``spec`` names; prints to stdout, and progress to stderr."""
    check_choice("numerics", request.numerics, NUMERICS)
    check_choice("--partition", request.partition, ("auto", "on", "off"))
    if request.json_file == "-" and request.print_ir:
        raise EquiforgeError("--json - and --print-ir both want standard output", hint="give --json a file")
    if request.out.exists() and not request.out.is_dir():
        raise EquiforgeError(f"--out {request.out}: is a file, not a folder")

    from equiforge.pipeline import STAGES, Options, optimize_program
    from equiforge.tune.targets import target_names

    check_choice("target", request.target, target_names())
    if request.stop_after is not None:
        check_choice("stage", request.stop_after, STAGES)

    errors = output_console(stderr=True)
    # Whoever asks for IR or JSON on stdout pipes it on: people read the rest on stderr then.
    console = errors if request.print_ir or request.json_file == "-" else output_console()

    from equiforge.egraph.saturate import prestart
    from equiforge.frontend.program import load_program

    # The process that saturates loads its libraries while this one imports the program.
    prestart()
    with StageProgress(errors) as progress:
        progress("import", 0.0)
        start = time.perf_counter()
        program = load_program(spec, numerics=request.numerics, calls=request.partition != "off")
        import_seconds = time.perf_counter() - start
        result = optimize_program(
            program,
            Options(
                target=request.target,
                top=request.top,
                numerics=request.numerics,
                out=request.out if request.stop_after is None else None,
                stop_after=request.stop_after,
                validate=request.validate,
                seed=request.seed,
                partition=request.partition,
                jobs=request.jobs,
                remember=request.remember,
            ),
            progress,
        )
    for operator, location in program.called:
        errors.print(
            f"{location or program.name}: {operator} has no lowering: it stays a call between kernels", highlight=False
        )
    result.seconds = {"import": round(import_seconds, 4), **result.seconds}
    _write_json(result, request.json_file)
    if request.print_ir:
        sys.stdout.write(str(result.ir or result.source).rstrip("\n") + "\n")
    _summarize(result, program.name, request, console)


def _finite(value: object) -> object:
    """The same report with null for NaN and infinities, which JSON can't hold."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in cast("dict[str, object]", value).items()}
    if isinstance(value, list):
        return [_finite(item) for item in cast("list[object]", value)]
    return value


def _write_json(result: Result, json_file: str | None) -> None:
    if json_file is None:
        return
    text = json.dumps(_finite(result.to_json()), indent=2, allow_nan=False) + "\n"
    if json_file == "-":
        sys.stdout.write(text)
        return
    try:
        Path(json_file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise EquiforgeError(f"--json {json_file}: {error.strerror}") from error


def _summarize(result: Result, name: str, request: Request, console: Console) -> None:
    """Prints what was found: the sizes of the search, the candidates and where the best module is."""
    report = result.to_json()
    cse, egraph, extraction = report["cse"], report["egraph"], report["extraction"]
    if cse and (cse["merged"] or cse["dead"]):
        merged, dead = sum(cse["merged"].values()), sum(cse["dead"].values())
        console.print(f"cse: {cse['ops']} ops, {merged} merged into equal ones, {dead} dead", highlight=False)
    if egraph:
        saturated = "saturated" if egraph.get("saturated") else "not saturated"
        console.print(
            f"e-graph: {egraph.get('nodes')} e-nodes in {egraph.get('classes')} e-classes, "
            f"{egraph.get('rounds')} rounds, {saturated}",
            highlight=False,
        )
    if result.partition_stats:
        shown = result.partition_stats
        console.print(
            f"partitions: {len(shown['partitions'])}, of {shown['subgraphs']} distinct subgraphs "
            f"({shown['remembered']} remembered)",
            highlight=False,
        )
        for row in shown["partitions"]:
            what = row["failed"] or f"best {row['best_us']:.4g} µs"
            console.print(f"  {row['calls']} calls of {row['distinct']} subgraphs: {what}", highlight=False)
    if extraction:
        complete = "complete" if extraction.get("complete") else "stopped early"
        missed = extraction.get("missed_us")
        if missed is not None:
            complete += f", nothing outside costs less than {missed:.3g} µs"
        console.print(
            f"extraction: {extraction.get('candidates')} candidates from {extraction.get('states')} states "
            f"({extraction.get('strategy')}, {complete})",
            highlight=False,
        )
    if result.candidates:
        console.print(candidates_table(result, f"{name} on {request.target}"))
    if request.why or (result.best is None and result.candidates and request.stop_after is None):
        console.print(reasons_table(result))
    if result.limit_us is not None:
        console.print(f"limit of the device: {result.limit_us:.3g} µs", highlight=False)
    if result.output is not None:
        console.print(f"best module: {result.output}", highlight=False, soft_wrap=True)
    elif request.stop_after is not None and not request.print_ir:
        console.print(f"stopped after {request.stop_after}; --print-ir shows its IR", highlight=False)
