"""Equality saturation of an e-graph: the library call behind the pass and the command."""

from __future__ import annotations

import atexit

from equiforge.egraph.engine import SaturationOptions, SaturationStats
from equiforge.egraph.graph import EGraph
from equiforge.egraph.repair import RepairReport
from equiforge.egraph.worker import SaturationProcess, run_in_process

__all__ = ["RepairReport", "SaturationOptions", "SaturationStats", "prestart", "saturate"]

_ISOLATE_ABOVE = 400
"""Initial graphs of more classes than this are saturated in a child process: smaller ones finish long before any
limit."""
_waiting: list[SaturationProcess] = []


def prestart() -> None:
    """Start a saturation process now, so that it loads its libraries while the caller imports the program."""
    if not _waiting:
        process = SaturationProcess()
        atexit.register(process.close)
        _waiting.append(process)


def saturate(
    graph: EGraph, options: SaturationOptions, isolate: bool | None = None
) -> tuple[EGraph, SaturationStats, RepairReport]:
    """Apply the rules to a fixpoint or a limit, and fuse dependent reductions.

    ``isolate`` runs it in a child process under a watchdog and a memory limit; by default that is done for large
    graphs and whenever a
    process was prestarted.
    """
    if isolate is None:
        isolate = bool(_waiting) or len(graph.nodes) > _ISOLATE_ABOVE
    if not isolate:
        return run_in_process(graph, options)
    process = _waiting.pop() if _waiting else SaturationProcess()
    return process.run(graph, options)
