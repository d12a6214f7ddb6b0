"""``equiforge explain``: which rules made a candidate, or what makes two values of a program equal."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.console import Console

from equiforge.commands.choices import NUMERICS, check_choice
from equiforge.commands.progress import StageProgress
from equiforge.commands.tables import output_console
from equiforge.errors import EquiforgeError

if TYPE_CHECKING:
    from equiforge.egraph.explain import ExplainedStep, Explainer
    from equiforge.egraph.proof_graph import Step
    from equiforge.search.extract import Candidate


def run_explain(spec: str, candidate_id: int, numerics: str, target: str, full: bool, as_json: bool) -> None:
    """Prints the story of a candidate of the program that ``spec`` names; ids are those of ``equiforge optimize``."""
    check_choice("numerics", numerics, NUMERICS)
    from equiforge.egraph.encode import encode
    from equiforge.egraph.engine import SaturationOptions
    from equiforge.egraph.explain import Explainer
    from equiforge.egraph.trace import trace
    from equiforge.frontend.program import load_program
    from equiforge.pipeline import without_copies
    from equiforge.search.candidate_terms import candidate_terms
    from equiforge.search.extract import ExtractOptions, extract
    from equiforge.tune.targets import target_names

    check_choice("target", target, target_names())
    with StageProgress(Console(stderr=True)) as progress:
        progress("import", 0.0)
        program = load_program(spec, numerics=numerics)
        progress("saturate", 0.0)
        found = trace(encode(without_copies(program.module)[0]), SaturationOptions())
        progress("extract", 0.0)
        candidates = extract(found.graph, ExtractOptions(target=target)).candidates
        candidate = _chosen(candidates, candidate_id)
        progress("explain", 0.0)
        explainer = Explainer(found)
        chains = [explainer.chain(written, made) for written, made in candidate_terms(found, candidate)]
    steps = [step for chain in chains for step in chain]
    explained = explainer.explained(steps)
    if as_json:
        story = {
            "program": program.name,
            "candidate": candidate.id,
            "kernels": len(candidate.kernels),
            "steps": [asdict(step) for step in explained],
        }
        sys.stdout.write(json.dumps(story, indent=2, ensure_ascii=False) + "\n")
        return
    console = output_console()
    console.print(f"candidate {candidate.id} of {program.name}: {len(candidate.kernels)} kernels, {len(steps)} steps")
    if full:
        print_steps(explained)
    else:
        _print_story(explainer, steps)


def _chosen(candidates: list[Candidate], number: int) -> Candidate:
    for candidate in candidates:
        if candidate.id == number:
            return candidate
    raise EquiforgeError(
        f"there is no candidate {number}: the search lists {len(candidates)}",
        hint="equiforge optimize prints the ids of the candidates",
    )


def print_steps(steps: list[ExplainedStep]) -> None:
    """The steps in order: the rule, and the part of the term before and after it."""
    from equiforge.egraph.explain import step_text

    for number, step in enumerate(steps, 1):
        sys.stdout.write(step_text(number, step))


def _print_story(explainer: Explainer, steps: list[Step]) -> None:
    """Family by family, each rule with how often it was used and its first use."""
    from equiforge.egraph.explain import FAMILY_ORDER

    by_rule: dict[str, list[Step]] = {}
    for step in steps:
        by_rule.setdefault(step.rule, []).append(step)
    # The first use, of repairs the first that brings in a loop: its statement has the certificate.
    stories = [
        (max(explainer.explained(owned), key=lambda s: len(s.statement)), len(owned)) for owned in by_rule.values()
    ]
    for family in FAMILY_ORDER:
        told = [(step, count) for step, count in stories if step.family == family]
        if told:
            sys.stdout.write(f"\n{family}\n")
        for step, count in told:
            times = f" ×{count}" if count > 1 else ""
            sys.stdout.write(f"  {step.rule}{times}: {step.statement}\n      {step.before}\n    = {step.after}\n")
