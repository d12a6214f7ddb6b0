"""What must hold of the repository itself."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
DIRECTIVES = {"", "NEXT", "SAME", "NOT", "DAG", "LABEL", "EMPTY", "COUNT"}


def _tracked(*patterns: str) -> list[Path]:
    """The files of the repository that match, without case files, which are copies."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    files = [ROOT / name for name in names if not name.startswith("test/cases/")]
    return [file for file in files if file.is_file() and not file.is_symlink()]


@pytest.mark.parametrize("name", ["dialects", "passes", "tools"])
def test_linked_packages_are_symlinks_to_the_top_level(name: str) -> None:
    link = ROOT / "equiforge" / name
    assert link.is_symlink() and os.readlink(link) == f"../{name}"


def test_a_checkout_without_symlinks_says_what_to_do(tmp_path: Path) -> None:
    package = tmp_path / "equiforge"
    package.mkdir()
    for name in ("__init__.py", "_version.py"):
        (package / name).write_text((ROOT / "equiforge" / name).read_text(encoding="utf-8"), encoding="utf-8")
    for name in ("dialects", "passes", "tools"):
        (package / name).write_text(f"../{name}", encoding="utf-8")  # what git writes where symlinks are off
    run = subprocess.run(
        [sys.executable, "-c", "import equiforge"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert run.returncode != 0
    assert "core.symlinks" in run.stderr.splitlines()[-1]


def test_linked_packages_are_imported_through_equiforge() -> None:
    wrong = re.compile(r"^\s*(?:from|import)\s+(?:dialects|passes|tools)\b", re.MULTILINE)
    found = [str(file) for file in _tracked("*.py") if wrong.search(file.read_text(encoding="utf-8"))]
    assert not found, "these would make second class objects of every op"


def test_filecheck_directives_are_known() -> None:
    # Python's filecheck ignores a mistyped directive, and the check with it.
    unknown: list[str] = []
    for file in _tracked("test/*.mlir", "test/*.test"):
        text = file.read_text(encoding="utf-8")
        prefixes = {"CHECK", *re.findall(r"--check-prefix(?:es)?[= ]([A-Z0-9_-]+)", text)}
        for line in text.splitlines():
            match = re.match(r"\s*(?://|;|#)\s*([A-Z][A-Z0-9_-]*)(?:\{[^}]*\})?\s*:", line)
            if match is None:
                continue
            word = match[1]
            prefix = next((known for known in prefixes if word == known or word.startswith(known + "-")), None)
            if prefix is None:
                if word.startswith(("CHEC", "CHCK", "CEHCK")):
                    unknown.append(f"{file.name}: {line.strip()}")
                continue
            suffix = word.removeprefix(prefix).removeprefix("-").split("-")[0]
            if suffix not in DIRECTIVES:
                unknown.append(f"{file.name}: {line.strip()}")
    assert not unknown


def test_every_lit_test_has_a_run_line() -> None:
    without = [file.name for file in _tracked("test/*.mlir") if "RUN:" not in file.read_text(encoding="utf-8")]
    assert not [name for name in without if "Inputs" not in name]


def test_no_file_names_a_machine() -> None:
    # Absolute paths of one machine, and package hosts, which each machine configures for itself.
    machine = re.compile(r"/(?:root|home/\w+|work|tmp/venv)/|(?:https?|file)://[\w./-]*(?:/simple\b|pypi|/opt/)")
    found: list[str] = []
    for file in _tracked():
        if file.suffix in {".png", ".ico", ".pt2"} or file == Path(__file__).resolve():
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if machine.search(line):
                found.append(f"{file.relative_to(ROOT)}:{number}: {line.strip()}")
    assert not found


def test_tests_do_not_wait() -> None:
    waits = re.compile(r"^\s*(?:time\.sleep\(|from time import|import time\b)", re.MULTILINE)
    found = [str(file) for file in _tracked("test/*.py") if waits.search(file.read_text(encoding="utf-8"))]
    assert not found, "a test that sleeps or times itself fails on a slow machine"


def test_package_import_loads_nothing_heavy() -> None:
    code = (
        "import sys, equiforge, equiforge.cli; "
        "print([name for name in ('torch', 'triton', 'egglog', 'sympy') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
