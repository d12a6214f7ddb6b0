"""The whole path from a program to verified Triton modules, stage by stage.

    import → egraph → saturate → extract → kernel → triton

Every stage can be stopped at, and its result printed as IR.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equiforge.errors import EquiforgeError

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from equiforge.egraph.graph import EGraph
    from equiforge.frontend.program import Program
    from equiforge.search.extract import Candidate, ExtractionResult
    from equiforge.tune.validate import Verdict

STAGES = ("import", "egraph", "saturate", "extract", "kernel", "triton")
AUTO_PARTITION = 8
"""Products and reductions above which a program may be searched by subgraphs."""
AUTO_WHOLE = 16
"""Products and reductions up to which its e-graph is tried as a whole before."""
TARGETS = ("a100", "h100", "h200", "rtx5090", "l4")
Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Options:
    """What an optimization is asked for. ``top`` candidates are emitted, compiled and, with ``validate``, executed
    at reduced extents."""

    target: str = "h200"
    top: int = 8
    numerics: str = "real"
    out: Path | None = None
    stop_after: str | None = None
    validate: bool = True
    seed: int = 0
    whole_extent: int = 256
    """Reduced dimensions up to this extent are held whole in a tile; larger ones can be looped over."""
    disabled_rules: tuple[str, ...] = ()
    """Rules, rulesets or rule families that don't run."""
    compile: bool = True
    """Compile the full-size modules for the target."""
    max_seconds: float = 60.0
    """Limit of saturation, and of extraction, each."""
    partition: str = "auto"
    """Search subgraphs and compose them: ``on``, ``off`` or, for programs of many products and reductions, ``auto``."""
    jobs: int = 0
    """Processes that search subgraphs; 0 for one a core. The result does not depend on it."""
    remember: bool = True
    """Keep the results of subgraphs between runs."""

    def __post_init__(self):
        """Raises EquiforgeError for a name in ``disabled_rules`` that stands for nothing."""
        if self.disabled_rules:
            from equiforge.egraph.engine import check_rule_names

            check_rule_names(self.disabled_rules)

    def partitions(self, module: ModuleOp) -> bool | None:
        """Whether the program is searched by subgraphs; None if that depends on what its e-graph as a whole gives."""
        if self.partition == "auto":
            from equiforge.partition.segments import has_calls, weight_of
            from equiforge.verify.interpreter import main_function

            function = main_function(module)
            weight = weight_of(function)
            if has_calls(function) or weight > AUTO_WHOLE:
                return True
            return None if weight > AUTO_PARTITION else False
        return self.partition == "on"


@dataclass
class CandidateRow:
    """One line of the report; times in µs, ``error_rel_l2`` against the reference at reduced extents."""

    id: int
    kernels: int
    launches: int
    bytes: int
    flops: int
    lower_bound_us: float
    estimate_us: float
    measured_us: float | None = None
    validated: bool = False
    error_rel_l2: float | None = None
    rejected: str | None = None
    rejected_at: str = ""
    """The stage that turned it down."""
    source: str = field(default="", repr=False)
    ir: str = field(default="", repr=False)
    """Its tile or kernel IR, where the run stops at that stage."""


@dataclass
class Result:
    """What :func:`optimize_program` found."""

    program: str
    target: str
    candidates: list[CandidateRow] = field(default_factory=lambda: [])
    best: CandidateRow | None = None
    limit_us: float | None = None
    output: Path | None = None
    seconds: dict[str, float] = field(default_factory=lambda: {})
    cse_stats: dict[str, Any] = field(default_factory=lambda: {})
    egraph_stats: dict[str, Any] = field(default_factory=lambda: {})
    extraction_stats: dict[str, Any] = field(default_factory=lambda: {})
    partition_stats: dict[str, Any] = field(default_factory=lambda: {})
    ir: str | None = None

    @property
    def source(self) -> str:
        """The emitted module of the best candidate, empty if there is none."""
        return self.best.source if self.best is not None else ""

    def to_json(self) -> dict[str, Any]:
        """The report in the documented schema."""
        from equiforge.reasons import reasons_of

        hidden = ("source", "ir")
        return {
            "program": self.program,
            "target": self.target,
            "device": "offline",
            "cse": self.cse_stats,
            "egraph": self.egraph_stats,
            "extraction": self.extraction_stats,
            "partition": self.partition_stats,
            "candidates": [{k: v for k, v in asdict(row).items() if k not in hidden} for row in self.candidates],
            "reasons": [asdict(reason) for reason in reasons_of(self)],
            "best": self.best.id if self.best is not None else None,
            "limit_us": self.limit_us,
            "output": str(self.output) if self.output is not None else None,
            "seconds": self.seconds,
        }


def _no_progress(_stage: str, _fraction: float) -> None:
    """For callers that don't watch."""


def without_copies(module: ModuleOp) -> tuple[ModuleOp, dict[str, Any]]:
    """A program with equal ops merged and dead ones gone, and what was done; ``module`` stays, for the comparison."""
    from equiforge.cse.dead import eliminate_dead
    from equiforge.cse.eliminate import eliminate

    merged = module.clone()
    report = eliminate(merged)
    dead = eliminate_dead(merged)
    return merged, {"ops": report.ops, "merged": dict(report.merged), "dead": dict(dead)}


class Run:
    """One optimization: the stages in order, with their times."""

    def __init__(self, program: Program, options: Options, progress: Progress | None, must_fit: bool = False):
        """``must_fit``: a program whose e-graph does not come to an end within its limits is an error."""
        from equiforge.tune.targets import load_target

        self.program = program
        self.options = options
        self.progress: Progress = progress or _no_progress
        self.target = load_target(options.target)
        self.result = Result(program.name, options.target)
        self.must_fit = must_fit
        self._at = "extract"

    @contextmanager
    def stage(self, name: str) -> Generator[None]:
        self.progress(name, 0.0)
        start = time.perf_counter()
        yield
        self.result.seconds[name] = round(time.perf_counter() - start, 4)
        self.progress(name, 1.0)

    def stops(self, stage: str, ir: Callable[[], str]) -> bool:
        """True if the run ends after ``stage``; its IR is kept then."""
        if self.options.stop_after != stage:
            return False
        self.result.ir = ir()
        return True

    def run(self) -> Result:
        from equiforge.egraph.ir import to_module

        if self.stops("import", lambda: str(self.program.module)):
            return self.result
        with self.stage("egraph"):
            from equiforge.egraph.encode import encode

            graph = encode(self._without_copies(), self.options.whole_extent)
        if self.stops("egraph", lambda: str(to_module(graph))):
            return self.result
        with self.stage("saturate"):
            graph = self._saturate(graph)
        if self.stops("saturate", lambda: str(to_module(graph))):
            return self.result
        if self.must_fit and not self.result.egraph_stats["saturated"]:
            raise EquiforgeError("the e-graph does not fit its limits", hint=self.result.egraph_stats["stop"])
        with self.stage("extract"):
            found = self._extract(graph)
        self._lower(graph, found)
        return self.result

    def _without_copies(self) -> ModuleOp:
        module, self.result.cse_stats = without_copies(self.program.module)
        return module

    def _saturate(self, graph: EGraph) -> EGraph:
        from equiforge.egraph.saturate import SaturationOptions, saturate

        options = SaturationOptions(max_seconds=self.options.max_seconds, disabled=self.options.disabled_rules)
        graph, stats, repairs = saturate(graph, options)
        self.result.egraph_stats = {
            "nodes": stats.nodes,
            "classes": stats.classes,
            "rounds": stats.rounds,
            "seconds": round(stats.seconds, 4),
            "saturated": stats.saturated,
            "stop": stats.stop,
            "rolling_reductions": repairs.added,
        }
        return graph

    def _extract(self, graph: EGraph) -> ExtractionResult:
        from equiforge.search.cost import limit_us
        from equiforge.search.extract import ExtractOptions, extract

        found = extract(
            graph, ExtractOptions(target=self.options.target, max_seconds=min(self.options.max_seconds, 20.0))
        )
        self.result.extraction_stats = asdict(found.stats)
        self.result.limit_us = limit_us(graph, self.target)
        return found

    def _lower(self, graph: EGraph, found: ExtractionResult) -> None:
        """Candidates one after another until ``top`` of them are emitted; what fails is kept with its reason."""
        from equiforge.search.to_tile import to_tile

        done = 0
        first = found.top(self.options.top)
        rest = [c for c in found.candidates if all(c.id != f.id for f in first)]
        for candidate in (*first, *rest):
            if done >= self.options.top:
                break
            row = self._row(candidate)
            with self._attempt(row):
                with self._timed("extract"):
                    tiles = to_tile(graph, candidate)
                    tiles.verify()
                self._carry_on(row, tiles)
                done += 1
            self.progress("triton", done / self.options.top)
        self._conclude()

    @contextmanager
    def _attempt(self, row: CandidateRow) -> Generator[None]:
        """Puts a candidate into the report; what fails in the context is the reason why it is rejected."""
        self.result.candidates.append(row)
        try:
            yield
        except EquiforgeError as error:
            row.rejected, row.rejected_at = str(error), self._at

    def _carry_on(self, row: CandidateRow, tiles: ModuleOp) -> None:
        """From the tile program of a candidate to its verdict, or just its text for a run that stops there."""
        if self.options.stop_after == "extract":
            row.ir = str(tiles)
        else:
            self._emit(row, tiles)

    def _conclude(self) -> None:
        """The candidates that were written, for a run that stops there; else the best one."""
        if self.options.stop_after == "extract":
            written = [f"// candidate {row.id}\n{row.ir}" for row in self.result.candidates if not row.rejected]
            self.result.ir = "\n// -----\n".join(written)
            return
        self._choose_best()

    def _row(self, candidate: Candidate) -> CandidateRow:
        return CandidateRow(
            candidate.id,
            len(candidate.kernels),
            candidate.launches,
            candidate.bytes,
            candidate.flops,
            candidate.lower_bound_us,
            candidate.estimate_us,
        )

    @contextmanager
    def _timed(self, name: str) -> Generator[None]:
        self._at = name
        start = time.perf_counter()
        try:
            yield
        finally:
            self.result.seconds[name] = round(self.result.seconds.get(name, 0.0) + time.perf_counter() - start, 4)

    def _emit(self, row: CandidateRow, tiles: ModuleOp) -> None:
        from equiforge.codegen.build_kernels import build_kernels
        from equiforge.codegen.emit_triton import emit_triton
        from equiforge.codegen.schedule import apply_schedules

        with self._timed("kernel"):
            kernels = build_kernels(tiles, self.program.input_strides())
            apply_schedules(kernels, self.options.target)
            if self.options.stop_after == "kernel":
                row.ir = str(kernels)
        with self._timed("triton"):
            header = {"program": self.program.name, "target": self.options.target, "candidate": str(row.id)}
            row.source = emit_triton(kernels, header)
        row.launches = row.kernels = sum(1 for _ in _launches(kernels))
        if self.options.compile:
            with self._timed("compile"):
                self._compile(row)
        if self.options.validate:
            with self._timed("validate"):
                verdict = self._validate(row, tiles)
            row.error_rel_l2 = verdict.error
            row.validated = verdict.passed and self.options.compile
            if not verdict.passed:
                row.rejected, row.rejected_at = verdict.reason, "validate"

    def _validate(self, row: CandidateRow, tiles: ModuleOp) -> Verdict:
        """Executes a candidate at reduced extents."""
        from equiforge.tune.validate import validate_candidate

        return validate_candidate(self.program.module, tiles, self.options.seed)

    def _compile(self, row: CandidateRow) -> None:
        from equiforge.codegen.compile import compile_offline
        from equiforge.codegen.errors import CodegenError

        for kernel in compile_offline(row.source, self.options.target):
            if not kernel.fits:
                raise CodegenError(
                    f"kernel {kernel.name} needs {kernel.shared} bytes of shared memory; {kernel.target} has fewer"
                )

    def _choose_best(self) -> None:
        """The accepted candidate with the least estimate; it is written out, and it is what stop stages show."""
        accepted = [r for r in self.result.candidates if r.rejected is None and r.source]
        best = min(
            accepted, key=lambda r: (r.estimate_us if math.isfinite(r.estimate_us) else math.inf, r.id), default=None
        )
        self.result.best = best
        if best is None:
            return
        if self.options.stop_after == "kernel":
            self.result.ir = best.ir
        elif self.options.stop_after == "triton":
            self.result.ir = best.source
        if self.options.out is not None:
            self.options.out.mkdir(parents=True, exist_ok=True)
            name = "".join(c if c.isalnum() else "_" for c in self.program.name).strip("_")
            self.result.output = self.options.out / f"{name}.py"
            self.result.output.write_text(best.source, encoding="utf-8")


def _launches(kernels: ModuleOp) -> Iterator[Any]:
    for op in kernels.walk():
        if op.name == "kernel.launch":
            yield op


def optimize_program(program: Program, options: Options, progress: Progress | None = None) -> Result:
    """Run the stages on ``program``; candidates that fail on the way stay in the result with the reason.

    Raises EquiforgeError for a program that can't be searched.
    """
    if program.candidates:
        from equiforge.given import GivenRun

        return GivenRun(program, options, progress).run()
    partitions = options.partitions(program.module)
    if not partitions:
        try:
            return Run(program, options, progress, must_fit=partitions is None).run()
        except EquiforgeError:
            if partitions is not None:
                raise
    from equiforge.partition.optimize import PartitionedRun

    return PartitionedRun(program, options, progress).run()
