"""Candidates that leave as tile IR and come back, and the reasons that the report gives."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from equiforge.codegen.run import run_interpreted
from equiforge.errors import EquiforgeError, ProgramError
from equiforge.frontend.program import Program, load_program
from equiforge.pipeline import Options, Result, optimize_program
from equiforge.reasons import MEANINGS, reasons_of


@pytest.fixture(scope="module")
def candidates(tmp_path_factory: pytest.TempPathFactory) -> tuple[Program, Path]:
    program = load_program("lora:small")
    printed = optimize_program(program, Options(top=3, stop_after="extract"))
    path = tmp_path_factory.mktemp("candidates") / "candidates.mlir"
    path.write_text(str(printed.ir))
    return program, path


def test_candidates_are_carried_on_from_tile_ir(candidates: tuple[Program, Path]) -> None:
    program, path = candidates
    given = load_program(str(path))
    result = optimize_program(given, Options(compile=False))
    assert [row.rejected for row in result.candidates] == [None] * 3
    arguments = program.make_args(1)
    wanted = program.eager(*(a.double() for a in arguments)) if program.eager else None
    assert wanted is not None
    for row in result.candidates:
        (found,) = run_interpreted(row.source, arguments)
        assert torch.linalg.vector_norm(found.double() - wanted) < 1e-3 * torch.linalg.vector_norm(wanted)


def test_a_changed_candidate_is_another_program(candidates: tuple[Program, Path], tmp_path: Path) -> None:
    """What comes back is the file, not something remembered: a sum turned into a difference shows in the results."""
    program, path = candidates
    text = path.read_text()
    first = text[: text.index("// -----")]
    assert first.count("forge.add") == 1
    other = tmp_path / "changed.mlir"
    other.write_text(first.replace("forge.add", "forge.sub"))
    result = optimize_program(load_program(str(other)), Options(compile=False))
    x, w, a, b = arguments = program.make_args(1)
    (found,) = run_interpreted(result.source, arguments)
    products = sorted(
        [(x.double() @ w.double()), (x.double() @ a.double()) @ b.double()], key=lambda t: float(t.norm())
    )
    difference = products[1] - products[0]
    error = min(float((found.double() - s * difference).norm()) for s in (1, -1))
    assert error < 1e-3 * float(difference.norm())


@pytest.mark.parametrize("stage", ["egraph", "saturate"])
def test_there_is_no_e_graph_to_stop_at(candidates: tuple[Program, Path], stage: str) -> None:
    with pytest.raises(EquiforgeError, match="no e-graph to stop at"):
        optimize_program(load_program(str(candidates[1])), Options(stop_after=stage))


def test_an_error_in_a_later_candidate_names_its_line(candidates: tuple[Program, Path], tmp_path: Path) -> None:
    lines = candidates[1].read_text().split("\n")
    last = max(n for n, line in enumerate(lines) if "tile.combine" in line)
    lines[last] = lines[last].replace("tile.combine", "tile.combin")
    path = tmp_path / "broken.mlir"
    path.write_text("\n".join(lines))
    with pytest.raises(ProgramError, match=rf"broken\.mlir:{last + 1}:"):
        load_program(str(path))


def test_a_program_and_a_candidate_do_not_mix(candidates: tuple[Program, Path], tmp_path: Path) -> None:
    program, path = candidates
    mixed = tmp_path / "mixed.mlir"
    mixed.write_text(str(program.module) + "\n// -----\n" + path.read_text())
    with pytest.raises(ProgramError, match="not all of them candidates"):
        load_program(str(mixed))


def test_every_reason_of_an_extraction_is_counted_and_explained() -> None:
    result = optimize_program(load_program("rmsnorm-swiglu:small"), Options(top=1, stop_after="extract"))
    reasons = reasons_of(result)
    assert {r.stage for r in reasons} == {"extract"}
    assert all(r.count > 0 and r.meaning for r in reasons)
    counted = {r.reason: r.count for r in reasons}
    rejects = result.extraction_stats["rejects"]
    assert rejects and all(counted[name] == count for name, count in rejects.items())
    assert set(rejects) <= set(MEANINGS)
    assert counted.get("equal to an earlier partial program", 0) == result.extraction_stats["pruned"]


def test_rejected_candidates_are_reasons_with_their_ids() -> None:
    from equiforge.pipeline import CandidateRow

    rows = [CandidateRow(n, 1, 1, 0, 0, 1.0, 1.0, rejected="too large", rejected_at="compile") for n in (0, 2)]
    rows.append(CandidateRow(1, 1, 1, 0, 0, 1.0, 1.0))
    (reason,) = reasons_of(Result("p", "h200", rows))
    assert (reason.stage, reason.reason, reason.count, reason.candidates) == ("compile", "too large", 2, (0, 2))
