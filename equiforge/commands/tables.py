"""The tables that the commands print."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from equiforge.pipeline import Result


def human_count(value: float, unit: str) -> str:
    """``human_count(67_130_000, "B")`` is ``67.1 MB``: three digits and a decimal prefix."""
    for prefix, size in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}".rstrip()


def microseconds(us: float | None) -> str:
    """A time in µs with three digits, a dash for unknown."""
    return "–" if us is None or math.isnan(us) else f"{us:.3g}" if us < 1000 else f"{us:.0f}"


def output_console(stderr: bool = False) -> Console:
    """Standard output or error; where it is no terminal, wide enough that no table is cut."""
    console = Console(stderr=stderr)
    return console if console.is_terminal else Console(stderr=stderr, width=140)


def candidates_table(result: Result, title: str) -> Table:
    """One row a candidate, the best one marked; a rejected candidate says why."""
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("id")
    for name in ("kernels", "launches", "bytes", "flops", "bound µs", "estimate µs", "error"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("validated")
    for row in result.candidates:
        best = result.best is not None and row.id == result.best.id
        if row.rejected:
            verdict = f"[red]rejected: {escape(row.rejected)}"
        else:
            verdict = "[green]yes" if row.validated else "no"
        table.add_row(
            f"{row.id} *" if best else str(row.id),
            str(row.kernels),
            str(row.launches),
            human_count(row.bytes, "B") if row.bytes >= 0 else "–",
            human_count(row.flops, "F") if row.flops >= 0 else "–",
            microseconds(row.lower_bound_us),
            microseconds(row.estimate_us),
            "–" if row.error_rel_l2 is None else f"{row.error_rel_l2:.1e}",
            verdict,
            style="bold" if best else None,
        )
    return table


def reasons_table(result: Result) -> Table:
    """One row a reason why states and candidates were turned down."""
    from equiforge.reasons import reasons_of

    table = Table(title="turned down", title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("stage", no_wrap=True)
    table.add_column("count", justify="right", no_wrap=True)
    for name in ("reason", "meaning"):
        table.add_column(name)
    table.add_column("candidates")
    for reason in reasons_of(result):
        ids = ", ".join(map(str, reason.candidates))
        table.add_row(reason.stage, f"{reason.count:,}", escape(reason.reason), reason.meaning, ids)
    return table
