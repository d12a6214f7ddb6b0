"""Prints the peak of the memory model beside the peak that torch's CPU allocator reaches, for ten graphs.

``tools/memory-table [--json]``. Each function runs with torch op by op in its own order, and values are given up after
their last use; arguments count as held throughout.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from dataclasses import asdict


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="memory-table", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print a JSON list instead of a table")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")

    from equiforge.verify.memory_check import check_all

    if arguments.json:
        print(json.dumps([asdict(row) for row in check_all()], indent=1))
        return 0
    print("| graph | ops | model: peak B | allocated: peak B | difference |")
    print("|---|---:|---:|---:|---:|")
    for row in check_all():
        difference = row.allocated / row.model - 1
        print(f"| {row.graph} | {row.ops} | {row.model} | {row.allocated} | {difference:.2%} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
