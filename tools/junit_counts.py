"""Prints ``PASSED FAILED`` for a JUnit report: ``python tools/junit_counts.py report.xml``.

lit and pytest both write this form. A skipped case counts as neither; a report without any case is an error.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def count(report: Path) -> tuple[int, int]:
    """Returns how many cases of the report passed and how many failed or had an error."""
    passed = failed = 0
    for case in ElementTree.parse(report).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is None:
            passed += 1
    return passed, failed


if __name__ == "__main__":
    try:
        sums = count(Path(sys.argv[1]))
    except (OSError, ElementTree.ParseError) as error:
        sys.exit(f"{sys.argv[1]}: {error}")
    if sums == (0, 0):
        sys.exit(f"{sys.argv[1]}: no test ran")
    print(*sums)
