"""Compares what is saved between forward and backward, and what is computed twice, with torch's min-cut partitioner.

``tools/bench-remat [GRAPH…] [--budget B…] [--json] [--check]``, as in ``tools/bench-remat transformer --budget 0.5``.

Graphs: attention, swiglu, transformer (4 layers), each the joint graph of forward and backward. All numbers come from
one counter on forge functions: torch's two FX graphs are imported and measured as ours are. Saved bytes count each
storage once and no parameters; a peak is that of the forward followed by the backward. ``--check`` makes all
partitions at small sizes, too, runs them in float64 and compares with autograd. Exits with 1 where ours saves more or
recomputes more than torch's.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="bench-remat", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("graphs", nargs="*", metavar="GRAPH", help="attention, swiglu or transformer; all by default")
    parser.add_argument("--budget", type=float, action="append", help="torch's activation memory budget, 0 to 1")
    parser.add_argument("--json", action="store_true", help="print a JSON list instead of a table")
    parser.add_argument("--check", action="store_true", help="also compare all gradients with autograd in float64")
    arguments = parser.parse_args()

    from equiforge.commands.tables import human_count
    from equiforge.remat.benchmark import SIZES, Measured, Row, compare, gradient_error

    unknown = [name for name in arguments.graphs if name not in SIZES]
    if unknown:
        parser.error(f"unknown graph {unknown[0]}; known: {', '.join(SIZES)}")
    warnings.simplefilter("ignore")
    budgets = arguments.budget or [1.0, 0.75, 0.5, 0.25, 0.0]
    rows: list[Row] = []
    errors: dict[str, float] = {}

    def cells(found: Measured) -> str:
        return (
            f"{human_count(found.saved, 'B')} | {human_count(found.recomputed, 'F')} | {human_count(found.peak, 'B')}"
        )

    if not arguments.json:
        print("| graph | ops | torch's budget | torch: saved | recomputed | peak | fewest bytes: saved | recomputed |"
              " peak | fewest flops: saved | recomputed | peak | holds |")  # fmt: skip
        print("|---|" + "---:|" * 11 + "---|")
    for name in arguments.graphs or SIZES:
        for row in compare(name, budgets):
            rows.append(row)
            if not arguments.json:
                print(f"| {name} | {row.ops} | {row.budget:g} | {cells(row.torch)} | {cells(row.fewest_bytes)} | "
                      f"{cells(row.fewest_flops)} | {'yes' if row.holds else 'NO'} |", flush=True)  # fmt: skip
        if arguments.check:
            errors[name] = max(gradient_error(name, budget, {}) for budget in budgets)
    if arguments.json:
        print(json.dumps([row.to_json() for row in rows], indent=1))
    for name, error in errors.items():
        print(f"{name}: largest relative difference of a gradient {error:.1e}", file=sys.stderr)
    return 0 if all(row.holds for row in rows) and all(error < 1e-9 for error in errors.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
