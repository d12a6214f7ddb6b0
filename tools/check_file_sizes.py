"""Fails when a source file is longer than its budget: split it, or say why in ``ALLOWED``.

Budgets (lines): a dialect or library file 500, a pass 250, a test 700. ``--all`` prints every file.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUDGETS = {"passes": 250, "test": 700}
DEFAULT_BUDGET = 500
ALLOWED: dict[str, tuple[int, str]] = {}
"""Path to its own budget and the reason for it."""


def budget(path: Path) -> int:
    """Returns the most lines that the file may have."""
    return ALLOWED.get(path.as_posix(), (BUDGETS.get(path.parts[0], DEFAULT_BUDGET), ""))[0]


def main(show_all: bool) -> int:
    """Prints the files above budget (or every file), the largest first; returns the exit code."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py", "*.egg"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    sizes: list[tuple[int, Path]] = []
    for name in listed:
        file = ROOT / name
        if file.is_file() and not name.startswith("test/cases/"):
            sizes.append((len(file.read_text(encoding="utf-8").splitlines()), Path(name)))
    above = 0
    for lines, path in sorted(sizes, reverse=True):
        if lines > budget(path):
            above += 1
            print(f"{path}: {lines} lines, {budget(path)} allowed")
        elif show_all:
            print(f"{path}: {lines}")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main("--all" in sys.argv[1:]))
