"""The command line: what a user does wrong gives exit code 2 and one clear line, and no traceback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from equiforge.cli import run
from equiforge.commands import doctor


def _fails_with_one_line(capsys: pytest.CaptureFixture[str], arguments: list[str], *words: str) -> None:
    """Runs the command, expects exit code 2 and one line on stderr that has all the words."""
    assert run(arguments) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if line.strip()]
    assert len(lines) == 1, lines
    for word in words:
        assert word in lines[0], lines[0]


def _program_file(folder: Path, body: str) -> Path:
    """A user's file with a factory called ``make``; ``body`` is the forward's, over ``x`` and ``y``."""
    path = folder / "user_program.py"
    path.write_text(
        "import torch\n\n\nclass Model(torch.nn.Module):\n    def forward(self, x, y):\n"
        + "".join(f"        {line}\n" for line in body.splitlines())
        + "\n\ndef make():\n    return Model(), (torch.randn(4, 8), torch.randn(4, 8))\n",
        encoding="utf-8",
    )
    return path


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["optimise"], ["optimise", "Did you mean"]),
        (["optimize"], ["PROGRAM"]),
        (["optimize", "lora", "--bad-option"], ["--bad-option"]),
        (["optimize", "lora", "--top", "0"], ["--top"]),
        (["optimize", "lora", "--numerics", "stric"], ["stric", "did you mean strict"]),
        (["optimize", "lora", "--json", "-", "--print-ir"], ["--json -"]),
    ],
)
def test_a_bad_option_is_one_line(capsys: pytest.CaptureFixture[str], arguments: list[str], words: list[str]) -> None:
    _fails_with_one_line(capsys, arguments, *words)


def test_an_unknown_target_names_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    _fails_with_one_line(capsys, ["optimize", "lora:b=1", "--target", "h20"], "h20", "h200")


def test_an_unknown_stage_names_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    _fails_with_one_line(capsys, ["optimize", "lora:b=1", "--stop-after", "extracts"], "extracts", "extract")


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("mha-prefil:b=1", ["mha-prefil", "mha-prefill"]),
        ("mha-prefill:bb=1", ["bb"]),
        ("mha-prefill:b=x", ["b", "x"]),
        ("no/such/file.py:make", ["no/such/file.py"]),
        ("no/such/file.mlir", ["no/such/file.mlir"]),
        ("no/such/file.pt2", ["no/such/file.pt2"]),
    ],
)
def test_a_program_that_is_not_there_is_one_line(
    capsys: pytest.CaptureFixture[str], program: str, words: list[str]
) -> None:
    _fails_with_one_line(capsys, ["import", program], *words)


def test_an_unknown_factory_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = _program_file(tmp_path, "return x + y")
    _fails_with_one_line(capsys, ["import", f"{path}:mak"], "mak")


def test_a_file_that_is_no_program_is_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "notes.py"
    path.write_text("this is no Python\n", encoding="utf-8")
    _fails_with_one_line(capsys, ["import", f"{path}:make"], "notes.py")


def test_a_factory_with_the_wrong_result_is_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "wrong.py"
    path.write_text("def make():\n    return 3\n", encoding="utf-8")
    _fails_with_one_line(capsys, ["import", f"{path}:make"], "make")


def test_wrong_example_inputs_are_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "inputs.py"
    path.write_text(
        "import torch\n\n\ndef make():\n    return torch.nn.Linear(8, 4), (torch.randn(2, 7),)\n", encoding="utf-8"
    )
    _fails_with_one_line(capsys, ["import", f"{path}:make"])


def test_a_pt2_file_that_is_no_archive_is_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "model.pt2"
    path.write_bytes(b"not an archive")
    _fails_with_one_line(capsys, ["import", str(path)], "model.pt2")


def test_a_broken_mlir_file_is_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "broken.mlir"
    path.write_text("func.func @main(%x : tensor<4xf32>) {\n  %0 = forge.add %x\n", encoding="utf-8")
    _fails_with_one_line(capsys, ["import", str(path)], "broken.mlir")


def test_a_complex_dtype_is_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = _program_file(tmp_path, "return x.to(torch.complex64) + y")
    _fails_with_one_line(capsys, ["import", f"{path}:make"], "complex64")


def test_a_shape_that_depends_on_data_is_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = _program_file(tmp_path, "return x[y > 0]")
    _fails_with_one_line(capsys, ["import", f"{path}:make"])


def test_an_unsupported_op_names_itself_and_the_users_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = _program_file(tmp_path, "z = x + y\nreturn torch.linalg.qr(z)[0]")
    _fails_with_one_line(capsys, ["import", f"{path}:make"], "qr", "user_program.py:7")


def test_a_fault_of_ours_is_one_line_with_another_code(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(as_json: bool) -> None:
        raise ValueError("two\nlines")

    monkeypatch.setattr(doctor, "run_doctor", break_down)
    assert run(["doctor"]) == 70
    error = capsys.readouterr().err.strip()
    assert "internal error: ValueError: two lines" in error and "--traceback" in error and "\n" not in error
    with pytest.raises(ValueError, match="two"):
        run(["--traceback", "doctor"])


def test_interruption_is_quiet(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(as_json: bool) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(doctor, "run_doctor", interrupt)
    assert run(["doctor"]) == 130
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("command", ["optimize", "import", "workloads", "doctor"])
def test_the_help_of_a_command_has_an_example(capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert run([command, "--help"]) == 0
    assert f"Example: equiforge {command}" in capsys.readouterr().out


def test_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("equiforge 0.")


def test_no_arguments_print_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 0
    assert "optimize" in capsys.readouterr().out


def test_workloads_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["workloads", "--json"]) == 0
    names = {row["name"] for row in json.loads(capsys.readouterr().out)}
    assert {"rmsnorm-linear", "rmsnorm-mlp", "lora", "layernorm-gemm", "mha-decode", "mha-prefill"} <= names


def test_the_import_prints_forge(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = _program_file(tmp_path, "return torch.exp(x) * y")
    assert run(["import", f"{path}:make"]) == 0
    out = capsys.readouterr().out
    assert "forge.exp" in out and "func.func @main" in out


@pytest.mark.parametrize(
    ("version", "ranges", "fits"),
    [
        ("3.7.1", ">=3.6,<3.10", True),
        ("3.10.0", ">=3.6,<3.10", False),
        ("2.13.0+cpu", "==2.13.0", True),
        ("3.6", ">=3.6.0", True),
        ("3.5.9", ">=3.6", False),
    ],
)
def test_doctor_compares_versions_by_number(version: str, ranges: str, fits: bool) -> None:
    assert doctor._satisfies(version, ranges) is fits
