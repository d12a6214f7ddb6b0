"""Prints, as a Markdown table, what the search finds for each program at benchmark size and how long it takes.

``tools/search-table [PROGRAM…]``; without arguments, every program of the first set. Nothing is executed or
compiled: the stages are import, saturation and extraction.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from equiforge.errors import EquiforgeError

PROGRAMS = (
    "rmsnorm-linear:b=16",
    "rmsnorm-mlp:b=16",
    "rmsnorm-swiglu:b=16",
    "gated-mlp:b=16",
    "lora:b=16",
    "layernorm-gemm:b=16",
    "ngpt:b=16",
    "mha-decode:b=16",
    "mha-prefill:b=1,s=2048",
    "mha-prefill:b=1,s=2048,causal=0",
    "gqa-decode:b=16",
    "sdpa:b=1,s=2048",
    "sdpa-gqa:b=16",
)
COLUMNS = (
    "program",
    "e-nodes",
    "e-classes",
    "rounds",
    "saturated",
    "states",
    "candidates",
    "fewest kernels",
    "import s",
    "saturate s",
    "extract s",
    "total s",
)


def search(spec: str) -> list[str]:
    """The row of one program."""
    from equiforge.frontend.program import load_program
    from equiforge.pipeline import Options, optimize_program

    began = time.perf_counter()
    program = load_program(spec, numerics="real")
    imported = time.perf_counter() - began
    options = Options(target="h200", top=4, numerics="real", out=None, stop_after="extract", validate=False, seed=0)
    result = optimize_program(program, options, None)
    total = time.perf_counter() - began
    report: dict[str, Any] = result.to_json()
    egraph, extraction, seconds = report["egraph"], report["extraction"], report["seconds"]
    kernels = [row["kernels"] for row in report["candidates"]]
    return [
        spec,
        str(egraph["nodes"]),
        str(egraph["classes"]),
        str(egraph["rounds"]),
        "yes" if egraph["saturated"] else "no",
        str(extraction["states"]),
        str(extraction["candidates"]),
        str(min(kernels)) if kernels else "–",
        f"{imported:.2f}",
        f"{seconds.get('saturate', egraph['seconds']):.2f}",
        f"{seconds.get('extract', extraction['seconds']):.2f}",
        f"{total:.2f}",
    ]


def main(specs: list[str]) -> int:
    """Prints the table row by row; returns 1 when a program failed."""
    failed = 0
    search("lora:small")  # loads torch, egglog and sympy, so that the first program's seconds are its own
    print("| " + " | ".join(COLUMNS) + " |")
    print("|" + "|".join(["---"] + ["---:"] * (len(COLUMNS) - 1)) + "|")
    for spec in specs:
        try:
            print("| " + " | ".join(search(spec)) + " |", flush=True)
        except EquiforgeError as error:
            failed += 1
            print(f"| {spec} | {error} |", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(PROGRAMS)))
