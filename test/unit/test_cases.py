"""Small programs made from public reports of faults in tools like this one, each with its right result.

They are taken from the folder that EQUIFORGE_CASES names, else from shared/cases beside the checkout, else from the
copies in test/cases (those that once failed here). A case file has ``Model``, ``inputs()``, ``EXPECT`` and, for
values, ``reference(*inputs)`` in float64. Cases of kind ``structure`` describe graphs after passes, not results.
"""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch.utils import _pytree as pytree

import equiforge
from equiforge.errors import EquiforgeError

ROOT = Path(__file__).resolve().parent.parent.parent

# Cases that may be refused with an EquiforgeError, and why. One that is not refused must still be right.
MAY_BE_REFUSED = {
    "057": "a size-0 dimension and logsumexp of integers",
    "108": "writes to an input",
    "112": "atan, a polynomial of 20 terms here, makes the search stop at its time limit",
}


def _folder() -> Path:
    named = os.environ.get("EQUIFORGE_CASES")
    if named:
        return Path(named)
    beside = ROOT.parent / "shared" / "cases"
    return beside if beside.is_dir() else ROOT / "test" / "cases"


FOLDER = _folder()
FILES = sorted(FOLDER.glob("[0-9][0-9][0-9]_*.py"))


def _strict_cases() -> set[str]:
    """The numbers of the cases that LOG.md marks ``strict`` in its last column."""
    log = FOLDER / "LOG.md"
    lines = log.read_text(encoding="utf-8").splitlines() if log.is_file() else []
    return {match[1] for line in lines if (match := re.match(r"\|\s*(\d{3})\s*\|.*\|\s*strict\s*\|\s*$", line))}


STRICT = _strict_cases()


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"equiforge_case_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _kind(path: Path) -> str:
    match = re.search(r'^EXPECT = \{"kind": "(\w+)"', path.read_text(encoding="utf-8"), re.MULTILINE)
    assert match is not None, path
    return match[1]


def _optimize(case: ModuleType, number: str) -> Any:
    torch.manual_seed(0)
    numerics = "strict" if number in STRICT else "real"
    return equiforge.optimize(
        case.Model().eval(), case.inputs(), interpret=True, numerics=numerics, top=1, validate=False
    )


def _compare(case: ModuleType, outputs: Any, inputs: tuple[Any, ...]) -> None:
    """Checks shapes, dtypes (against eager) and values (against the float64 reference), NaN and inf in their places."""
    torch.manual_seed(0)
    eager = pytree.tree_leaves(case.Model().eval()(*case.inputs()))
    wanted = pytree.tree_leaves(case.reference(*case.inputs()))
    got = pytree.tree_leaves(outputs)
    assert len(got) == len(wanted)
    for position, (output, expected, plain) in enumerate(zip(got, wanted, eager, strict=True)):
        assert output.dtype == plain.dtype, f"output {position}: {output.dtype}, eager gives {plain.dtype}"
        torch.testing.assert_close(
            output.double(),
            expected.double(),
            rtol=case.EXPECT["rtol"],
            atol=case.EXPECT["atol"],
            equal_nan=True,
            msg=lambda text, position=position: f"output {position}: {text}",
        )
        if case.EXPECT.get("signbit"):
            assert torch.equal(torch.signbit(output), torch.signbit(expected)), f"output {position}: sign of zero"
    input_storages = {tensor.untyped_storage().data_ptr() for tensor in pytree.tree_leaves(inputs)}
    for position in getattr(case, "FRESH", ()):
        assert got[position].untyped_storage().data_ptr() not in input_storages, f"output {position} aliases an input"


@pytest.mark.parametrize("path", [path for path in FILES if _kind(path) == "value"], ids=lambda path: path.stem)
def test_value_case_meets_its_reference(path: Path) -> None:
    case = _load(path)
    number = path.stem[:3]
    try:
        optimized = _optimize(case, number)
        inputs = case.inputs()
        outputs = optimized(*inputs)
    except EquiforgeError as error:
        if number not in MAY_BE_REFUSED:
            raise
        pytest.skip(f"refused ({MAY_BE_REFUSED[number]}): {error}")
    _compare(case, outputs, inputs)
    if hasattr(case, "inputs_other"):
        with pytest.raises(EquiforgeError, match="compiled for"):
            optimized(*case.inputs_other())


@pytest.mark.parametrize("path", [path for path in FILES if _kind(path) == "error"], ids=lambda path: path.stem)
def test_error_case_is_refused_in_one_line(path: Path) -> None:
    case = _load(path)
    with pytest.raises(EquiforgeError) as caught:
        _optimize(case, path.stem[:3])
    assert "\n" not in str(caught.value)


def test_the_cases_are_found() -> None:
    assert FILES, f"no case files in {FOLDER}"
