"""Why the search did not give what it did not give: every state and candidate that was turned down, by reason."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from equiforge.pipeline import Result

MEANINGS = {
    "cyclic": "the choices of a kernel need each other's values",
    "kernels need each other": "no order of launches exists",
    "a larger grid has the same structure": "more blocks would do the same work",
    "does more than another kernel": "dominated: a kernel of fewer loads, products and reductions makes the same value",
    "costs more than the candidates asked for": "pruned by the bound: no completion can be among the best",
    "needs more kernels than asked for": "outside the number of kernels that was asked for",
    "reads what it is to store": "the kernel would load its own result",
    "a tile does not fit a block, however it is cut": "dimensions that stay whole make the tile too large",
    "a tile is too large for a block": "its tiles together need more registers or shared memory than there is",
    "no order of evaluation": "the pointwise parts can not be put in an order",
    "equal to an earlier partial program": "compaction: it was expanded already in another form",
}
"""What the counted reasons of the extraction mean."""


@dataclass(frozen=True)
class Reason:
    """``count`` states or candidates were turned down at ``stage`` for ``reason``; ``candidates`` are their ids in the
    report, where they got so far as to have one."""

    stage: str
    reason: str
    count: int
    meaning: str = ""
    candidates: tuple[int, ...] = ()


def reasons_of(result: Result) -> list[Reason]:
    """All reasons, in the order of the stages and then by count."""
    found: list[Reason] = []
    stop = result.egraph_stats.get("stop")
    if stop and stop != "saturated":
        found.append(Reason("saturate", str(stop), 1, "the e-graph may lack some equal forms"))
    found += [
        Reason("partition", row["failed"], 1, f"the partition of {row['calls']} calls is not used")
        for row in result.partition_stats.get("partitions", ())
        if row["failed"]
    ]
    found += _extraction(result.extraction_stats)
    by_reason: dict[tuple[str, str], list[int]] = {}
    for row in result.candidates:
        if row.rejected:
            # Sizes and names differ from candidate to candidate, the kind of fault does not.
            by_reason.setdefault((row.rejected_at, row.rejected), []).append(row.id)
    found += [
        Reason(stage, reason, len(ids), "", tuple(ids))
        for (stage, reason), ids in sorted(by_reason.items(), key=lambda item: -len(item[1]))
    ]
    return found


def _extraction(stats: Mapping[str, Any]) -> list[Reason]:
    counts: dict[str, int] = dict(stats.get("rejects", {}))
    if stats.get("pruned"):
        counts["equal to an earlier partial program"] = stats["pruned"]
    rows = [
        Reason("extract", reason, count, MEANINGS.get(reason, ""))
        for reason, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]
    stop = str(stats.get("stop", ""))
    if stats and not stats.get("complete") and re.search(r"limit", stop):
        rows.append(Reason("extract", stop, 1, "better programs may exist that were not looked at"))
    return rows
