"""``equiforge workloads``: lists the named programs with their sizes."""

from __future__ import annotations

import json
import sys

from rich.markup import escape
from rich.table import Table

from equiforge.commands.tables import output_console
from equiforge.workloads import WORKLOADS


def run_workloads(as_json: bool) -> None:
    """Prints the workloads; each has its benchmark sizes as defaults, and small and ragged presets for tests."""
    if as_json:
        rows = [
            {
                "name": workload.name,
                "description": workload.description,
                "defaults": workload.defaults,
                "small": workload.sizes("small"),
                "ragged": workload.sizes("ragged"),
            }
            for workload in WORKLOADS.values()
        ]
        sys.stdout.write(json.dumps(rows, indent=2) + "\n")
        return
    table = Table(title="Workloads: NAME, NAME:key=value,…, NAME:small or NAME:ragged", title_justify="left")
    table.add_column("name", no_wrap=True)
    table.add_column("computes")
    table.add_column("sizes, with the benchmark's as defaults")
    for workload in WORKLOADS.values():
        sizes = ", ".join(f"{key}={value}" for key, value in workload.defaults.items())
        table.add_row(workload.name, escape(workload.description), sizes)
    output_console().print(table)
