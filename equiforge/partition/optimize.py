"""The optimization of a program by subgraphs: partitions, searches, and the best compositions first.

A composition chooses a partition and one candidate for each distinct subgraph in it; what it costs is the sum over the
calls. The compositions come out of a heap in the order of their cost, so that the best ones are known without forming
the product of all candidate lists.
"""

from __future__ import annotations

import heapq
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp

from equiforge.cse.effects import collector_paused
from equiforge.errors import EquiforgeError
from equiforge.ir_text import parse_module
from equiforge.partition.compose import compose
from equiforge.partition.outline import fingerprint, outline
from equiforge.partition.search import PartCandidate, PartOptions, PartResult, as_program, search_parts
from equiforge.partition.segments import CutPoints, cuts
from equiforge.partition.store import ResultStore
from equiforge.pipeline import CandidateRow, Result, Run
from equiforge.search.programs import advanced
from equiforge.verify.interpreter import main_function

if TYPE_CHECKING:
    from equiforge.tune.validate import Verdict


@dataclass
class Partition:
    """A program as calls of subgraphs. ``parts`` maps the name of each to its fingerprint, ``calls`` says how often it
    is called; ``limit`` is the weight that subgraphs were kept to."""

    limit: int
    main: FuncOp
    parts: dict[str, str]
    calls: dict[str, int]
    failed: str = ""

    @property
    def size(self) -> int:
        return sum(self.calls.values())


@dataclass(frozen=True, order=True)
class Composition:
    """A partition, by number, and the place of the chosen candidate for each of its distinct subgraphs."""

    cost_us: float
    partition: int
    chosen: tuple[int, ...] = field(compare=True)


@collector_paused()
def partitions_of(module: ModuleOp) -> tuple[list[Partition], dict[str, str]]:
    """The partitions of a program, and all distinct subgraphs as program texts by fingerprint."""
    found: list[Partition] = []
    texts: dict[str, str] = {}
    numerics = module.attributes.get("forge.numerics")
    mode = numerics.data if isinstance(numerics, StringAttr) else "real"
    points = CutPoints(main_function(module))
    for cut in cuts(points):
        outlined = outline(module, points, cut)
        main = main_function(outlined)
        parts: dict[str, str] = {}
        for op in outlined.body.block.ops:
            if isinstance(op, FuncOp) and op is not main:
                key = parts[op.sym_name.data] = fingerprint(op)
                if key not in texts:
                    texts[key] = str(as_program(op, mode))
        calls = Counter(op.callee.string_value() for op in main.body.block.ops if isinstance(op, CallOp))
        found.append(Partition(cut.limit, main, parts, dict(calls)))
    return found, texts


def compositions(partitions: list[Partition], results: dict[str, PartResult]) -> Iterator[Composition]:
    """All compositions, the least cost first. A partition with a subgraph that has no candidate yields none."""
    heap: list[tuple[Composition, int]] = []
    for number, partition in enumerate(partitions):
        if all(results[key].candidates for key in partition.parts.values()):
            start = (0,) * len(partition.parts)
            heap.append((Composition(_cost(partition, results, start), number, start), 0))
    heapq.heapify(heap)
    while heap:
        composition, last = heapq.heappop(heap)
        yield composition
        partition = partitions[composition.partition]
        sizes = [len(results[key].candidates) for key in partition.parts.values()]
        for place, chosen in advanced(composition.chosen, last, sizes):
            following = Composition(_cost(partition, results, chosen), composition.partition, chosen)
            heapq.heappush(heap, (following, place))


def _cost(partition: Partition, results: dict[str, PartResult], chosen: tuple[int, ...]) -> float:
    return sum(
        partition.calls[name] * results[key].candidates[number].estimate_us
        for (name, key), number in zip(partition.parts.items(), chosen, strict=True)
    )


class PartitionedRun(Run):
    """An optimization by subgraphs. Stages are those of any other; the e-graph stage, saturation and extraction are
    done subgraph by subgraph."""

    def run(self) -> Result:
        if self.stops("import", lambda: str(self.program.module)):
            return self.result
        with self.stage("egraph"):
            self.partitions, self.texts = partitions_of(self._without_copies())
        if self.options.stop_after in ("egraph", "saturate"):
            raise EquiforgeError(
                f"a program in {len(self.texts)} distinct subgraphs has no single e-graph to show",
                hint="--partition off keeps it whole",
            )
        with self.stage("saturate"):
            self.results = self._search()
        self._report()
        self._verdicts: dict[tuple[str, int], Verdict] = {}
        self._composed: dict[int, Composition] = {}
        self._parsed: dict[tuple[str, int], ModuleOp] = {}
        self._compose()
        return self.result

    def _search(self) -> dict[str, PartResult]:
        options = PartOptions(
            target=self.options.target,
            numerics=self.options.numerics,
            whole_extent=self.options.whole_extent,
            disabled_rules=self.options.disabled_rules,
        )
        return search_parts(
            self.texts,
            options,
            self.options.jobs or os.cpu_count() or 1,
            ResultStore() if self.options.remember else None,
            lambda done, count: self.progress("saturate", done / max(count, 1)),
        )

    def _report(self) -> None:
        results = self.results
        for partition in self.partitions:
            failed = [results[k].error for k in partition.parts.values() if results[k].error]
            partition.failed = failed[0] or "" if failed else ""
        total: Counter[str] = Counter()
        for result in results.values():
            total.update({k: result.egraph.get(k, 0) for k in ("nodes", "classes", "rounds")})
            total.update({k: result.extraction.get(k, 0) for k in ("states", "pruned", "candidates")})
        rejects: Counter[str] = Counter()
        for result in results.values():
            rejects.update(result.extraction.get("rejects", {}))
        done = all(r.egraph.get("stop") == "saturated" for r in results.values() if not r.error)
        proven = all(r.extraction.get("complete") for r in results.values() if not r.error)
        self.result.egraph_stats = {k: total[k] for k in ("nodes", "classes", "rounds")} | {"saturated": done}
        self.result.extraction_stats = {k: total[k] for k in ("states", "pruned", "candidates")} | {
            "strategy": "early",
            "complete": proven,
            "stop": "; ".join(sorted({r.extraction["stop"] for r in results.values() if r.extraction})),
            "rejects": dict(sorted(rejects.items())),
        }
        self.result.partition_stats = {
            "subgraphs": len(self.texts),
            "remembered": sum(r.remembered for r in results.values()),
            "partitions": [self._row_of(p) for p in self.partitions],
        }

    def _row_of(self, partition: Partition) -> dict[str, Any]:
        usable = not partition.failed
        best = _cost(partition, self.results, (0,) * len(partition.parts)) if usable else None
        return {
            "limit": partition.limit,
            "calls": partition.size,
            "distinct": len(partition.parts),
            "best_us": best,
            "failed": partition.failed,
        }

    def _compose(self) -> None:
        """Compositions one after another until ``top`` of them are emitted; what fails is kept with its reason."""
        done = tried = 0
        for composition in compositions(self.partitions, self.results):
            if done >= self.options.top or tried >= 4 * self.options.top:
                break
            if self._refused(composition):
                continue
            row = self._composed_row(len(self.result.candidates), composition)
            tried += 1
            with self._attempt(row):
                with self._timed("extract"):
                    tiles = self._tiles(composition)
                self._composed[row.id] = composition
                self._carry_on(row, tiles)
                done += row.rejected is None
            self.progress("triton", done / self.options.top)
        if not self.result.candidates:
            reasons = "; ".join(sorted({p.failed for p in self.partitions if p.failed}))
            raise EquiforgeError("no partition of the program can be searched", hint=reasons or None)
        self._conclude()

    def _members(self, composition: Composition) -> Iterator[tuple[str, str, int, PartCandidate]]:
        """Name, fingerprint, place and candidate of each distinct subgraph."""
        partition = self.partitions[composition.partition]
        for (name, key), number in zip(partition.parts.items(), composition.chosen, strict=True):
            yield name, key, number, self.results[key].candidates[number]

    def _composed_row(self, number: int, composition: Composition) -> CandidateRow:
        calls = self.partitions[composition.partition].calls
        members = [(calls[name], candidate) for name, _, _, candidate in self._members(composition)]
        launches = sum(n * c.launches for n, c in members)
        return CandidateRow(
            number,
            launches,
            launches,
            sum(n * c.bytes for n, c in members),
            sum(n * c.flops for n, c in members),
            sum(n * c.lower_bound_us for n, c in members),
            composition.cost_us,
        )

    def _tiles(self, composition: Composition) -> ModuleOp:
        programs: dict[str, ModuleOp] = {}
        for name, key, number, candidate in self._members(composition):
            if (key, number) not in self._parsed:
                self._parsed[key, number] = parse_module(candidate.tile_ir, name)
            programs[name] = self._parsed[key, number]
        return compose(self.partitions[composition.partition].main, programs)

    def _refused(self, composition: Composition) -> bool:
        """Whether it holds a candidate that has failed its check already."""
        return any(
            (v := self._verdicts.get((key, number))) is not None and not v.passed
            for _, key, number, _ in self._members(composition)
        )

    def _validate(self, row: CandidateRow, tiles: ModuleOp) -> Verdict:
        """Each distinct subgraph's candidate is executed once, wherever it is called."""
        from equiforge.tune.validate import Verdict, validate_candidate

        worst = 0.0
        for name, key, number, _ in self._members(self._composed[row.id]):
            verdict = self._verdicts.get((key, number))
            if verdict is None:
                try:
                    verdict = validate_candidate(
                        parse_module(self.texts[key]), self._parsed[key, number], self.options.seed
                    )
                except EquiforgeError as error:
                    verdict = Verdict(False, worst, str(error))
                self._verdicts[key, number] = verdict
            if not verdict.passed:
                return Verdict(False, verdict.error, f"{name}: {verdict.reason}")
            worst = max(worst, verdict.error)
        return Verdict(True, worst)
