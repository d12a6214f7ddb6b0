"""The cases of kind ``structure``: what may be merged or erased in programs from public reports, and what not."""

from __future__ import annotations

import importlib.util
import re
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch.utils import _pytree as pytree
from xdsl.dialects.builtin import ModuleOp

from equiforge.cse.dead import eliminate_dead
from equiforge.cse.eliminate import eliminate
from equiforge.dialects import forge
from equiforge.frontend.exported import export_module
from equiforge.frontend.importer import import_exported
from equiforge.verify.eager import run_eagerly
from equiforge.verify.interpreter import main_function

CASES = sorted((Path(__file__).resolve().parent.parent / "cases").glob("[0-9][0-9][0-9]_*.py"))

# ATen's views are one op here, and what is dropped after a reduction is a view of its own.
FORGE_NAMES = {
    "reshape": ("forge.reshape",),
    "view": ("forge.reshape",),
    "unsqueeze": ("forge.reshape",),
    "sum": ("forge.reduce",),
    "sigmoid": ("forge.sigmoid",),
}


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"equiforge_case_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _structure(path: Path) -> bool:
    return re.search(r'"kind": "structure"', path.read_text(encoding="utf-8")) is not None


def _imported(case: ModuleType) -> ModuleOp:
    """The program as it is written; draws of random numbers are calls that nobody looks into."""
    return import_exported(export_module(case.Model().eval(), case.inputs()), "strict", []).module


def _counts(module: ModuleOp) -> Counter[str]:
    """Ops by name, and opaque calls by the operator they call."""
    found: Counter[str] = Counter()
    for op in module.walk():
        found[op.target.split(".")[1] if isinstance(op, forge.OpaqueOp) else op.name] += 1
    return found


def _count(found: Counter[str], word: str) -> int:
    return sum(found[name] for name in FORGE_NAMES.get(word, (word,)))


@pytest.mark.parametrize("path", [path for path in CASES if _structure(path)], ids=lambda path: path.stem)
def test_structure_case(path: Path) -> None:
    case = _load(path)
    module = _imported(case)
    eliminate(module)
    eliminate_dead(module)
    module.verify()
    found = _counts(module)
    expected: dict[str, Any] = case.EXPECT
    for word, count in expected["keep"].items():
        assert _count(found, word) == count, word
    views = {"reshape", "view", "unsqueeze"} & set(expected.get("at_most", {}))
    for word, most in expected.get("at_most", {}).items():
        assert _count(found, word) <= (len(views) if word in views else most), word
    # With one seed, every draw is eager's.
    torch.manual_seed(7)
    wanted = pytree.tree_leaves(case.Model().eval()(*case.inputs()))
    torch.manual_seed(7)
    got = run_eagerly(main_function(module), list(case.inputs()))
    for output, eager in zip(got, wanted, strict=True):
        torch.testing.assert_close(output, eager)


def test_equal_computations_are_merged_in_case_102() -> None:
    # The case again, by what is left: of the six products of the loop, the two sums and the two doubled values one.
    (path,) = [path for path in CASES if path.stem.startswith("102")]
    module = _imported(_load(path))
    before = _counts(module)
    report = eliminate(module)
    after = _counts(module)
    assert before["forge.reduce"] == 2 and after["forge.reduce"] == 1
    assert report.merged["forge.mul"] == 6 and report.merged["forge.add"] == 1
    difference = next(op for op in module.walk() if isinstance(op, forge.SubOp))
    assert difference.lhs is difference.rhs


def test_the_pipeline_merges_before_the_search(tmp_path: Path) -> None:
    # Written twice, searched once; the report says so, and the program that results are compared with stays.
    from equiforge.frontend.program import load_program
    from equiforge.pipeline import Options, optimize_program

    text = """func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %a = forge.exp %x : tensor<8x4xf32>
  %b = forge.exp %x : tensor<8x4xf32>
  %c = forge.tanh %x : tensor<8x4xf32>
  %y = forge.add %a, %b : tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}"""
    path = tmp_path / "twice.mlir"
    path.write_text(text, encoding="utf-8")
    program = load_program(str(path))
    before = str(program.module)
    result = optimize_program(program, Options(stop_after="egraph"))
    assert result.to_json()["cse"] == {"ops": 6, "merged": {"forge.exp": 1}, "dead": {"forge.tanh": 1}}
    assert result.ir is not None and result.ir.count("forge.exp") == 1 and "forge.tanh" not in result.ir
    assert str(program.module) == before
