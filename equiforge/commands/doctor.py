"""``equiforge doctor``: says what is installed, what works and what to do about the rest."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from equiforge.commands.tables import output_console

PACKAGES = ("torch", "triton", "xdsl", "egglog", "sympy", "numpy", "typer", "rich")
CAPABILITIES = {"sm_80 (a100)": 80, "sm_89 (l4)": 89, "sm_90 (h100, h200)": 90, "sm_120 (rtx5090)": 120}


@dataclass(frozen=True)
class Check:
    """One line of the report. ``state`` is ok, missing (allowed: no GPU) or broken."""

    name: str
    state: str
    detail: str


def run_doctor(as_json: bool) -> None:
    """Prints the checks; exits with 1 when one is broken."""
    # Under the interpreter's switch Triton's own library can't be compiled; it is read when triton is imported.
    os.environ.pop("TRITON_INTERPRET", None)
    errors = Console(stderr=True)
    with errors.status("checking…"):
        checks = [*_versions(), *_links(), *_compilers(), _gpu()]
    broken = any(check.state == "broken" for check in checks)
    if as_json:
        sys.stdout.write(json.dumps({"ok": not broken, "checks": [asdict(check) for check in checks]}, indent=2) + "\n")
    else:
        table = Table(title="equiforge doctor", title_justify="left")
        for column in ("check", "state", "detail"):
            table.add_column(column)
        colours = {"ok": "green", "missing": "yellow", "broken": "red"}
        for check in checks:
            table.add_row(check.name, f"[{colours[check.state]}]{check.state}", escape(check.detail))
        output_console().print(table)
    if broken:
        raise typer.Exit(1)


def _attempt(name: str, action: Callable[[], str]) -> Check:
    """Runs a check that returns its detail; whatever it raises is what is broken."""
    try:
        return Check(name, "ok", action())
    except Exception as error:
        return Check(name, "broken", " ".join(f"{type(error).__name__}: {error}".split())[:300])


def _versions() -> list[Check]:
    """Python and the packages against the ranges that this package declares."""
    python = ".".join(str(part) for part in sys.version_info[:3])
    found = [Check("python", "ok" if sys.version_info >= (3, 11) else "broken", f"{python} (3.11 or newer)")]
    try:
        declared = importlib.metadata.requires("equiforge") or []
    except importlib.metadata.PackageNotFoundError:
        declared = []
    for name in PACKAGES:
        wanted = next((line.split(";")[0] for line in declared if re.match(rf"{name}\b", line)), name)
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found.append(Check(name, "broken", f"not installed; wanted {wanted}"))
            continue
        ranges = wanted.removeprefix(name).strip()
        fits = _satisfies(version, ranges)
        found.append(Check(name, "ok" if fits else "broken", f"{version} (wanted {ranges})" if ranges else version))
    return found


def _satisfies(version: str, ranges: str) -> bool:
    """Whether ``version`` lies in ``ranges`` (``>=3.6,<3.10``), by its numbers alone; a build suffix does not count."""

    def numbers(text: str) -> tuple[int, ...]:
        parts = [int(part) for part in re.findall(r"\d+", text.split("+")[0])[:4]]
        while parts and parts[-1] == 0:
            parts.pop()
        return tuple(parts)

    have = numbers(version)
    for clause in filter(None, ranges.split(",")):
        match = re.match(r"\s*(>=|<=|==|<|>)\s*(.+)", clause)
        if match is None:
            continue
        operator, bound = match[1], numbers(match[2])
        holds = {">=": have >= bound, "<=": have <= bound, "==": have == bound, "<": have < bound, ">": have > bound}
        if not holds[operator]:
            return False
    return True


def _links() -> list[Check]:
    """The three packages that are symbolic links in a checkout, and folders in an installed wheel."""
    here = Path(__file__).resolve().parent.parent
    checks: list[Check] = []
    for name in ("dialects", "passes", "tools"):
        folder = here / name
        if (folder / "__init__.py").is_file():
            checks.append(Check(f"equiforge/{name}", "ok", "link" if folder.is_symlink() else "folder"))
        else:
            hint = "run `git config core.symlinks true` and `git checkout -- equiforge`"
            checks.append(Check(f"equiforge/{name}", "broken", hint))
    return checks


def _compilers() -> list[Check]:
    """Compiles a small kernel for each architecture; that needs no GPU."""

    def compile_for(capability: int) -> Callable[[], str]:
        def action() -> str:
            from equiforge.commands.doctor_kernel import compile_probe

            return f"a probe kernel compiles to {compile_probe(capability)} bytes of cubin"

        return action

    return [_attempt(f"triton for {name}", compile_for(capability)) for name, capability in CAPABILITIES.items()]


def _gpu() -> Check:
    """The GPUs that torch sees; none is no fault, since search, emission and checks work without."""
    try:
        import torch

        if not torch.cuda.is_available():
            return Check("GPU", "missing", "none seen by torch: kernels are compiled offline and run interpreted")
        names = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
        return Check("GPU", "ok", ", ".join(names))
    except Exception as error:
        return Check("GPU", "broken", f"{type(error).__name__}: {error}")
