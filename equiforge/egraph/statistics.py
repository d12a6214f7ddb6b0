"""What a saturation did, in lines of text: ``saturate{statistics=true}`` prints them."""

from __future__ import annotations

from equiforge.egraph.catalogue import catalogue
from equiforge.egraph.engine import SaturationStats
from equiforge.egraph.repair import RepairReport


def ruleset_matches(stats: SaturationStats) -> dict[str, int]:
    """Matches of all rules of each ruleset that ran."""
    of_rule = {rule.name: rule.ruleset for rule in catalogue().rules}
    found = dict.fromkeys(stats.ruleset_seconds, 0)
    for rule, count in stats.matches.items():
        found[of_rule[rule]] = found.get(of_rule[rule], 0) + count
    return found


def statistics_lines(stats: SaturationStats, repairs: RepairReport) -> list[str]:
    """Sizes, then a table of rulesets, then the rules that matched, then rolling reductions and what was refused."""
    lines = [
        f"{stats.nodes} e-nodes, {stats.classes} e-classes, {stats.rounds} rounds, {stats.seconds:.3f} s: {stats.stop}"
    ]
    matches = ruleset_matches(stats) | {"repair": repairs.added}
    lines += [f"{matches[name]:7} matches {spent:8.3f} s of {name}" for name, spent in stats.ruleset_seconds.items()]
    by_count = sorted(stats.matches.items(), key=lambda item: (-item[1], item[0]))
    lines += [f"{count:7} matches of {rule}" for rule, count in by_count if count]
    lines.append(f"{repairs.added} rolling reductions")
    lines += [f"{count:7} contributions refused: {reason}" for reason, count in sorted(repairs.refused.items())]
    return lines
