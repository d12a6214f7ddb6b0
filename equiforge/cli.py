"""The ``equiforge`` command: its options and help texts. The work is in ``equiforge.commands``, loaded when called.

Exit codes: 0, 2 for a problem with what the user gave (one line on stderr), 70 for a fault of ours, 130 for Ctrl-C.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from equiforge._version import __version__
from equiforge.errors import EquiforgeError

USER_ERROR = 2
INTERNAL_ERROR = 70
INTERRUPTED = 130

PROGRAM_HELP = (
    "A workload with sizes (mha-prefill:b=1,s=256), a Python file and the function in it that returns a module and "
    "its example inputs (path/to/file.py:factory), a .pt2 export, or a .mlir file in the forge dialect."
)
Program = Annotated[str, typer.Argument(metavar="PROGRAM", help=PROGRAM_HELP, show_default=False)]
Numerics = Annotated[
    str, typer.Option(metavar="real|strict", help="real: rewrite as real arithmetic allows; strict: keep roundings.")
]

app = typer.Typer(
    name="equiforge",
    help="Turns PyTorch programs into few, fused, verified Triton kernels.",
    add_completion=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"equiforge {__version__}")
        raise typer.Exit


@app.callback()
def _root(  # pyright: ignore[reportUnusedFunction]
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
    traceback: Annotated[
        bool, typer.Option("--traceback", help="Show Python's traceback of an error; may stand anywhere.")
    ] = False,
) -> None:
    pass


@app.command(
    epilog="Example: equiforge optimize mha-prefill:b=1,h=2,s=256 --target h200 --out build",
)
def optimize(
    program: Program,
    target: Annotated[str, typer.Option(metavar="DEVICE", help="a100, h100, h200, l4 or rtx5090.")] = "h200",
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for the best module; made when missing.", show_default=True)
    ] = Path("equiforge-out"),
    json_file: Annotated[
        str | None, typer.Option("--json", metavar="FILE", help="Write the report there too; - is standard output.")
    ] = None,
    top: Annotated[int, typer.Option(metavar="N", min=1, help="How many candidates to emit, compile and check.")] = 4,
    numerics: Numerics = "real",
    stop_after: Annotated[
        str | None,
        typer.Option(metavar="STAGE", help="Stop after import, egraph, saturate, extract, kernel or triton."),
    ] = None,
    print_ir: Annotated[
        bool, typer.Option("--print-ir", help="Print the IR of the last stage on standard output, nothing else there.")
    ] = False,
    validate: Annotated[
        bool, typer.Option("--validate/--no-validate", help="Execute the candidates at reduced extents and compare.")
    ] = True,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the inputs that the checks use.")] = 0,
    partition: Annotated[
        str,
        typer.Option(
            metavar="auto|on|off", help="Search subgraphs, equal ones once, and compose them; auto: if large."
        ),
    ] = "auto",
    jobs: Annotated[
        int, typer.Option(metavar="N", min=0, help="Processes that search subgraphs; 0: one a core. Same result.")
    ] = 0,
    why: Annotated[
        bool, typer.Option("--why", help="Also print why states and candidates were turned down, with counts.")
    ] = False,
    remember: Annotated[
        bool, typer.Option("--remember/--no-remember", help="Use and keep results of subgraphs between runs.")
    ] = True,
) -> None:
    """Search for the best kernels of PROGRAM, check them and write the best as a Triton module."""
    from equiforge.commands.optimize import Request, run_optimize

    run_optimize(
        program,
        Request(
            target=target,
            out=out,
            json_file=json_file,
            top=top,
            numerics=numerics,
            stop_after=stop_after,
            print_ir=print_ir,
            validate=validate,
            seed=seed,
            partition=partition,
            jobs=jobs,
            remember=remember,
            why=why,
        ),
    )


@app.command(
    "import", epilog="Example: equiforge import lora:b=8 | equiforge-opt -p convert-forge-to-egraph,saturate,extract"
)
def import_(program: Program, numerics: Numerics = "real") -> None:
    """Print PROGRAM in the forge dialect."""
    from equiforge.commands.import_program import run_import

    run_import(program, numerics)


@app.command(epilog="Example: equiforge workloads --json")
def workloads(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """List the named programs, with their sizes and defaults."""
    from equiforge.commands.workloads import run_workloads

    run_workloads(as_json)


@app.command(epilog="Example: equiforge rules --family algebra scale --proofs")
def rules(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Parts of rule names; all rules if none is given.")
    ] = None,
    family: Annotated[
        str | None, typer.Option(metavar="FAMILY", help="Only this family: analysis, algebra, refinement, …")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the page docs/rules.md.")] = False,
    proofs: Annotated[
        bool, typer.Option("--proofs", help="Prove and check the rules; with all of them, fuzz them together too.")
    ] = False,
    programs: Annotated[int, typer.Option(metavar="N", min=0, help="Random programs of the fuzz.")] = 2000,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of instances, and first program of the fuzz.")] = 0,
    jobs: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Processes; the result is the same for any number.")
    ] = None,
) -> None:
    """List the rules of the e-graph, or prove and check them. Exits with 1 if a rule fails."""
    from equiforge.commands.rules import Selection, run_markdown, run_proofs, run_rules

    selection = Selection(family, tuple(names or ()))
    if markdown:
        run_markdown()
    elif proofs:
        run_proofs(selection, programs, seed, jobs, as_json)
    else:
        run_rules(selection, as_json)


@app.command(epilog="Example: equiforge explain mha-prefill:small 0 --full")
def explain(
    program: Program,
    candidate: Annotated[int, typer.Argument(metavar="CANDIDATE", help="Its id, as equiforge optimize prints it.")] = 0,
    numerics: Numerics = "real",
    target: Annotated[str, typer.Option(metavar="DEVICE", help="The device that candidates are ranked for.")] = "h200",
    full: Annotated[bool, typer.Option("--full", help="Every step in order, not the story by family.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the steps as JSON.")] = False,
) -> None:
    """Tell which rules made a candidate of PROGRAM from the program as written."""
    from equiforge.commands.explain import run_explain

    run_explain(program, candidate, numerics, target, full, as_json)


@app.command(epilog="Example: equiforge doctor")
def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False) -> None:
    """Check this installation: versions, links, the Triton compiler for each target, GPUs."""
    from equiforge.commands.doctor import run_doctor

    run_doctor(as_json)


def _complain(text: str) -> None:
    """Writes one line on stderr, whatever line breaks the text has."""
    sys.stdout.flush()
    print("equiforge: " + " ".join(text.split()), file=sys.stderr)


def run(arguments: list[str]) -> int:
    """Runs the command line and returns its exit code; no exception gets out, unless ``--traceback`` asks for it."""
    show_traceback = "--traceback" in arguments
    arguments = [argument for argument in arguments if argument != "--traceback"]
    try:
        code: object = app(arguments or ["--help"], prog_name="equiforge", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except typer.TyperException as error:
        _complain(f"error: {error.format_message()}")
        return USER_ERROR
    except EquiforgeError as error:
        if show_traceback:
            raise
        _complain(f"error: {error}")
        return USER_ERROR
    except (KeyboardInterrupt, typer.Abort):
        _complain("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output is gone (`equiforge import … | head`): nothing to say, and nowhere to say it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if show_traceback:
            raise
        _complain(
            f"internal error: {type(error).__name__}: {error} (please report it, with the output of the same command "
            "and --traceback)"
        )
        return INTERNAL_ERROR


def main() -> None:
    """The ``equiforge`` command."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
