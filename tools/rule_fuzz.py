"""Saturates random small programs and evaluates every e-node of every class: a rule that is not sound shows.

``tools/rule-fuzz [PROGRAMS] [--seed N] [--jobs N]``; 2,000 programs by default. Prints each failing
seed with what differs, the rules that never matched, and exits with 1 if a program failed.
"""

from __future__ import annotations

import argparse
import os
import sys


def main() -> int:
    parser = argparse.ArgumentParser(prog="rule-fuzz", description=__doc__)
    parser.add_argument("programs", type=int, nargs="?", default=2000)
    parser.add_argument("--seed", type=int, default=0, help="the first seed; a seed is a program")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes; the result is the same")
    arguments = parser.parse_args()

    from equiforge.egraph.engine import rule_names
    from equiforge.verify.rule_fuzz import FuzzReport, fuzz

    def progress(seed: int, report: FuzzReport) -> None:
        if seed in report.failures:
            print(f"\nseed {seed}: {report.failures[seed]}")
        line = (
            f"{report.programs}/{arguments.programs} programs, {report.nodes} e-nodes, {len(report.failures)} failures"
        )
        print(f"\r{line}, {report.seconds:.0f} s", end="", file=sys.stderr, flush=True)

    seeds = range(arguments.seed, arguments.seed + arguments.programs)
    report = fuzz(seeds, progress=progress, jobs=arguments.jobs)
    print(file=sys.stderr)
    unmatched = [name for name in rule_names() if not report.matches.get(name)]
    print(
        f"{report.programs} programs, {report.nodes} e-nodes, {report.rolling} rolling reductions, "
        f"{report.seconds:.1f} s"
    )
    print(f"rules without a match: {', '.join(unmatched) or 'none'}")
    print(f"failing seeds: {', '.join(map(str, report.failures)) or 'none'}")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
