"""Search of subgraphs: each distinct one once, on several processes, remembered between runs.

What a subgraph's search gives is text and numbers, so that it does not matter where it ran or when. The searches are
bounded by counts, and by time only as a last resort: the result does not depend on the number of processes.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from typing import Any

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp

from equiforge.errors import EquiforgeError
from equiforge.partition.store import ResultStore

_DETAILS = ("matches", "ruleset_seconds", "rule_seconds")
"""Statistics by rule, which are not kept for every subgraph."""


@dataclass(frozen=True)
class PartOptions:
    """What a subgraph is searched with; all of it is part of the key under which the result is remembered."""

    target: str = "h200"
    numerics: str = "real"
    whole_extent: int = 256
    disabled_rules: tuple[str, ...] = ()
    max_nodes: int = 40_000
    max_kernel_states: int = 20_000
    max_states: int = 200_000
    max_seconds: float = 300.0
    candidates: int = 16
    """How many of the best candidates are kept."""


@dataclass
class PartCandidate:
    """A candidate of a subgraph: times in µs, sizes in bytes, and its program as tile IR."""

    estimate_us: float
    lower_bound_us: float
    launches: int
    bytes: int
    flops: int
    signature: str
    tile_ir: str = field(repr=False)


@dataclass
class PartResult:
    """What the search of a subgraph found; ``error`` says why there are no candidates."""

    candidates: list[PartCandidate]
    egraph: dict[str, Any] = field(default_factory=lambda: {})
    extraction: dict[str, Any] = field(default_factory=lambda: {})
    error: str | None = None
    location: str | None = None
    remembered: bool = False
    """True if the result comes from the store."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> PartResult:
        """The inverse of :meth:`to_json`."""
        candidates = [PartCandidate(**c) for c in data["candidates"]]
        return PartResult(candidates, **{k: v for k, v in data.items() if k != "candidates"})


def as_program(part: FuncOp, numerics: str) -> ModuleOp:
    """A subgraph as a program of its own."""
    main = part.clone()
    main.sym_name = StringAttr("main")
    del main.properties["sym_visibility"]
    return ModuleOp([main], {} if numerics == "real" else {"forge.numerics": StringAttr(numerics)})


def search_part(text: str, options: PartOptions) -> PartResult:
    """Saturate and extract one subgraph, given as the text of a forge module."""
    from equiforge.egraph.encode import encode
    from equiforge.egraph.saturate import SaturationOptions, saturate
    from equiforge.ir_text import parse_module
    from equiforge.search.extract import ExtractOptions, extract
    from equiforge.search.to_tile import to_tile

    try:
        limits = SaturationOptions(
            max_nodes=options.max_nodes, max_seconds=options.max_seconds, disabled=options.disabled_rules
        )
        graph, stats, _ = saturate(encode(parse_module(text), options.whole_extent), limits, isolate=False)
        found = extract(
            graph,
            ExtractOptions(
                target=options.target,
                max_kernel_states=options.max_kernel_states,
                max_states=options.max_states,
                max_seconds=options.max_seconds,
            ),
        )
    except EquiforgeError as error:
        return PartResult([], error=error.message + (f" ({error.hint})" if error.hint else ""), location=error.location)
    result = PartResult([], _numbers(asdict(stats)), _numbers(asdict(found.stats)))
    for candidate in found.top(options.candidates):
        tiles = to_tile(graph, candidate)
        tiles.verify()
        numbers = (candidate.launches, candidate.bytes, candidate.flops)
        result.candidates.append(
            PartCandidate(candidate.estimate_us, candidate.lower_bound_us, *numbers, candidate.signature, str(tiles))
        )
    result.candidates.sort(key=lambda c: c.estimate_us)
    return result


def _numbers(stats: dict[str, Any]) -> dict[str, Any]:
    return {k: round(v, 4) if isinstance(v, float) else v for k, v in stats.items() if k not in _DETAILS}


def search_parts(
    parts: Mapping[str, str],
    options: PartOptions,
    jobs: int,
    store: ResultStore | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, PartResult]:
    """The results of all ``parts``, texts by fingerprint, in their order. ``progress`` is called with how many are
    done and how many there are."""
    found: dict[str, PartResult] = {}
    for key in parts:
        known = None if store is None else store.get(key, options)
        if known is not None:
            found[key] = PartResult.from_json({**known, "remembered": True})
    missing = [key for key in parts if key not in found]

    def done(key: str, result: PartResult) -> None:
        found[key] = result
        if store is not None:
            store.put(key, options, result.to_json())
        if progress is not None:
            progress(len(found), len(parts))

    if progress is not None:
        progress(len(found), len(parts))
    # The longest text first: what takes longest must not start last.
    missing.sort(key=lambda key: (-len(parts[key]), key))
    if jobs <= 1 or len(missing) <= 1:
        for key in missing:
            done(key, search_part(parts[key], options))
    else:
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(min(jobs, len(missing)), mp_context=context) as pool:
            running: dict[Future[PartResult], str] = {
                pool.submit(search_part, parts[key], options): key for key in missing
            }
            for future in as_completed(running):
                done(running[future], future.result())
    return {key: found[key] for key in parts}
