"""Certificates of single rules: each is run alone on random typed instances of its left side, and what it made is
checked.

* Rules that unite classes: the reference interpreter evaluates every e-node of every class, floats in float64, integers
  and booleans exactly (:mod:`equiforge.verify.egraph_check`), on ordinary arguments and on hostile ones
  (:mod:`equiforge.verify.hostile_arguments`). NaN and each infinity are in the same places on both sides, save for the
  rules that say which they hold up to: there a NaN may stand for an infinity, and nothing else.
* Analyses that derive types: the types are taken away from the instance, and those that the rule derives must be those
  of the dialects' type inference.
* Analyses that derive signs, magnitudes, constants and states: the values of the instance must have them.
* Rules that only mark (``computed``, ``chain`` …) claim no equality; there is nothing to be wrong.

Algebra rules also have a proof on symbols, :mod:`equiforge.verify.rule_proofs`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from equiforge.egraph.catalogue import RuleEntry, catalogue
from equiforge.egraph.engine import Engine, SaturationOptions
from equiforge.egraph.graph import PARTIAL, EGraph
from equiforge.egraph.ir import to_module
from equiforge.egraph.readout import Values
from equiforge.egraph.rule_syntax import atoms
from equiforge.egraph.text import program_text
from equiforge.verify.egraph_check import check_egraph, evaluate_classes, random_tile_sizes
from equiforge.verify.hostile_arguments import DRAWS, hostile_arguments
from equiforge.verify.instance_program import Program, Rejected, finish
from equiforge.verify.random_programs import random_arguments
from equiforge.verify.rule_instances import Unbuildable, build_instances
from equiforge.verify.rule_patterns import conclusions, is_term, prerequisites, read_pattern
from equiforge.verify.values import Family, zip_tiles

_IN_ONE = 3
"""Instances in one e-graph: tables are quadratic in its types."""
_DRAWS = 400
_ENOUGH = 10
"""Matches after which a rule has been seen enough."""
_MOST_BATCHES = 8
_ROUNDS = 4
_SIGNS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "nonneg": lambda x: ~np.signbit(x.astype(np.float64)) | np.isnan(x),
    "positive": lambda x: (x > 0) | np.isnan(x),
    "nonpos": lambda x: (x <= 0) | np.isnan(x),
    "unit": lambda x: (np.abs(x) <= 1) | np.isnan(x),
    "moderate": lambda x: (np.abs(x) <= 80) | np.isnan(x),
    "bounded": lambda x: ~np.isinf(x),
    "finite": np.isfinite,
    "nonzero": lambda x: x != 0,
}
_STATES: dict[str, Callable[[tuple[tuple[int, int], ...]], bool]] = {
    "top": lambda state: not state,
    "full": lambda state: all(dim != PARTIAL for _, dim in state),
}
_CLAIMS = {*_SIGNS, *_STATES, "constant", "divides"}
"""Functions and relations that say something of the values or the type of a class."""


@dataclass(frozen=True)
class Check:
    """One check of one rule. ``kind`` says by what; ``failure`` what was wrong, if anything."""

    rule: str
    kind: str
    matches: int = 0
    evaluated: int = 0
    """e-nodes that the check evaluated, or facts that it compared."""
    failure: str | None = None

    @property
    def ok(self) -> bool:
        return self.failure is None


def unites(rule: RuleEntry) -> bool:
    """True for a rule that claims an equality."""
    return any(isinstance(a, list) and a[0] == "union" for a in rule.actions)


def derives(rule: RuleEntry) -> set[str]:
    """The functions and relations of the language that a rule adds to."""
    found: set[str] = set()
    for action in rule.actions:
        if isinstance(action, list) and action[0] == "set" and isinstance(action[1], list):
            found.add(str(action[1][0]))
        elif isinstance(action, list) and action[0] not in ("let", "union"):
            found.add(str(action[0]))
    return found


def readers(rule: RuleEntry) -> list[str]:
    """The rules that read a fact which a rule states of a term that it makes: only they say what the term is equal to.
    Empty for a rule that says it itself."""
    made = {str(a[1]) for a in rule.actions if isinstance(a, list) and a[0] == "let"}
    stated = {str(c[0]) for c in conclusions(rule) if made.intersection(map(str, c[1:]))}
    return (
        [] if unites(rule) else [r.name for r in catalogue().rules if stated.intersection(str(f[0]) for f in r.facts)]
    )


def check_kind(rule: RuleEntry) -> str:
    """By what a rule is checked on instances."""
    if unites(rule):
        return "interpreter"
    made = derives(rule)
    if made & {"picked", "sliced-part"}:
        # The type that it gives the gather or the slice is checked with each rule that uses it.
        return "marker"
    if readers(rule):
        return "interpreter"
    if made & {"ty", "state"}:
        return "type inference"
    if made & _CLAIMS:
        return "values"
    return "marker"


def draw_instances(rule: RuleEntry, seed: int, tensor_level: bool = False, count: int = _IN_ONE) -> EGraph | None:
    """An e-graph of ``count`` instances of a rule's left side, None if no draw held. Raises Unbuildable."""
    chooser = random.Random(f"{rule.name} {seed}")
    program = Program(chooser, tensor_level)
    built = 0
    for _ in range(_DRAWS):
        built += build_instances(program, [read_pattern(rule, chooser)])
        if built == count:
            break
    if not built:
        return None
    words = atoms(rule.form)
    try:
        return finish(program, True, bool({"axis", "outer"} & words), "outer" in words, "within" in words)
    except (Rejected, VerifyException):
        return None


def declarations(graph: EGraph, without: tuple[str, str] | None = None) -> str:
    """The egglog program of an instance: tiles are declared storable too, as refinement would leave them.

    ``without=("ty", "unary")`` takes the types (or states) of the classes of an operator away.
    """
    lines = program_text(graph).splitlines()
    for class_id, kind in graph.types.items():
        if kind.state and all(dim != PARTIAL for _, dim in kind.state):
            used = " ".join(str(int(d in {dim for _, dim in kind.state})) for d in range(len(kind.shape)))
            lines.append(f"(chain $c{class_id} {max(axis for axis, _ in kind.state)} (vec-of {used}))")
    if without is not None:
        dropped = {c for c, nodes in graph for n in nodes if n.op == without[1]}
        pattern = re.compile(rf"\(set \({without[0]} \$c(\d+)\b")
        lines = [x for x in lines if (m := pattern.match(x)) is None or int(m[1]) not in dropped]
    return "\n".join(lines)


def run_alone(rule: RuleEntry, graph: EGraph, text: str | None = None, rounds: int = _ROUNDS) -> tuple[Engine, EGraph]:
    """Saturate with one rule, the analyses, and what concludes the facts that it reads."""
    text = declarations(graph) if text is None else text
    given = set(re.findall(r"^\((?:set \()?([a-z-]+)", text, re.MULTILINE)) | {"chain", "computed"}
    only = (rule.name, *prerequisites(rule, given), *readers(rule))
    engine = Engine(graph, SaturationOptions(only=only, max_rounds=rounds + len(only) - 1), text)
    return engine, engine.saturate()


def check_rule(rule: RuleEntry, seed: int = 0) -> Check:
    """The check of one rule on random typed instances."""
    kind = check_kind(rule)
    if kind == "marker":
        return Check(rule.name, kind)
    matches = evaluated = new = 0
    for batch in range(_MOST_BATCHES):
        try:
            graph = draw_instances(rule, 1000 * seed + batch)
        except Unbuildable as error:
            return Check(rule.name, kind, failure=str(error))
        if graph is None:
            continue
        before = to_module(graph)
        before.verify()
        try:
            found = _check_batch(rule, kind, graph, before, batch)
        except Exception as error:
            # An e-graph that can't be typed is as wrong as one with a wrong value.
            return Check(rule.name, kind, matches, evaluated, f"{type(error).__name__}: {error}\n{before}")
        matches, evaluated, new = matches + found.matches, evaluated + found.evaluated, new + found.new
        if found.failure is not None:
            return Check(rule.name, kind, matches, evaluated, f"{found.failure}\n{before}")
        if matches >= _ENOUGH and (new or kind != "interpreter"):
            break
    failure = None
    if not matches:
        failure = "no instance matched"
    elif kind == "interpreter" and not new:
        failure = "no match made an e-node that could be evaluated"
    return Check(rule.name, kind, matches, evaluated, failure)


@dataclass(frozen=True)
class _Batch:
    matches: int
    evaluated: int
    new: int = 0
    failure: str | None = None


def _check_batch(rule: RuleEntry, kind: str, graph: EGraph, before: ModuleOp, seed: int) -> _Batch:
    if kind == "type inference":
        return _check_types(rule, graph)
    engine, result = run_alone(rule, graph)
    matches = engine.stats.matches.get(rule.name, 0)
    if kind == "values":
        return _check_values(rule, engine, graph, before, matches, seed)
    module = to_module(result)
    module.verify()
    evaluated = 0
    for arguments, sizes in _all_arguments(module, result, seed):
        report = check_egraph(module, arguments, sizes, nan_for_infinity=bool(rule.up_to))
        evaluated += report.checked
        if not report.ok:
            return _Batch(matches, evaluated, failure=report.mismatches[0])
    new = result.num_nodes - graph.num_nodes + len(graph.nodes) - len(result.nodes)
    return _Batch(matches, evaluated, int(result.num_nodes > graph.num_nodes or new != 0))


def _all_arguments(module: ModuleOp, graph: EGraph, seed: int) -> Iterator[tuple[list[np.ndarray], dict[str, int]]]:
    """Ordinary and hostile arguments with tile sizes; every other time floats are positive, where roots and logarithms
    are numbers."""
    ordinary, positive = (random_arguments(module, 10 * seed + number) for number in range(2))
    yield ordinary, random_tile_sizes(graph, 10 * seed)
    positive = [np.abs(a) + 0.125 if a.dtype.kind == "f" else a for a in positive]
    yield positive, random_tile_sizes(graph, 10 * seed + 1)
    for number in range(DRAWS):
        hostile = hostile_arguments(module, DRAWS * seed + number)
        if number % 3 == 2:
            hostile = [np.abs(a) if a.dtype.kind == "f" else a for a in hostile]
        yield hostile, random_tile_sizes(graph, DRAWS * seed + number)


def _check_types(rule: RuleEntry, graph: EGraph) -> _Batch:
    """Types taken away must come back as the dialects' inference has them."""
    # A rule without a term of its own says something of what other rules make.
    sources = (rule.facts, *(catalogue().rule(name).actions for name in prerequisites(rule, {"chain"})))
    terms = (form[2] for forms in sources for form in forms if isinstance(form, list) and form[0] in ("=", "let"))
    operator = next(str(term[0]) for term in terms if is_term(term))
    (function,) = derives(rule) & {"ty", "state"}
    engine, result = run_alone(rule, graph, declarations(graph, (function, operator.lower())))
    to_module(result).verify()
    rows = engine.frozen().functions
    compared = 0
    values = Values(engine.raw)
    types = {r.inputs[0]: values.vector(r.output) for r in rows["ty"].rows}
    states = {r.inputs[0]: values.mapping(r.output) for r in rows["state"].rows}
    for class_id, kind in graph.types.items():
        handle = rows[f"$c{class_id}"].rows[0].output
        for what, found, expected in (
            ("type", types.get(handle), (*kind.shape, *kind.groups)),
            ("state", states.get(handle), kind.state),
        ):
            if found is not None:
                compared += 1
                if found != expected:
                    return _Batch(0, compared, failure=f"{what} {found} of class {class_id}, inference has {expected}")
    return _Batch(engine.stats.matches.get(rule.name, 0), compared)


def _check_values(rule: RuleEntry, engine: Engine, graph: EGraph, before: ModuleOp, matches: int, seed: int) -> _Batch:
    """What a rule concludes of classes of the instance must hold for their values and types."""
    rows = engine.frozen().functions
    classes = {rows[f"$c{class_id}"].rows[0].output: class_id for class_id in graph.types}
    claims = [
        (relation, [classes[handle] for handle in row.inputs], row.output)
        for relation in derives(rule) & _CLAIMS
        for row in rows[relation].rows
        if all(handle in classes for handle in row.inputs)
    ]
    compared = 0
    for arguments, sizes in _all_arguments(before, graph, seed):
        values = evaluate_classes(before, arguments, sizes)
        for relation, subjects, output in claims:
            compared += 1
            families = [value for s in subjects if isinstance(value := values[s], Family)]
            if relation in _STATES:
                holds = _STATES[relation](graph.types[subjects[0]].state)
            elif relation == "constant":
                number = engine.raw.value_to_f64(output)
                holds = all(np.array_equal(x, np.full_like(x, number), True) for x in families[0].tiles.values())
            else:
                test = _divides if relation == "divides" else _SIGNS[relation]
                holds = all(map(np.all, zip_tiles(test, *families).tiles.values()))
            if not holds:
                return _Batch(matches, compared, failure=f"{relation} does not hold of the classes {subjects}")
    return _Batch(matches, compared)


def _divides(divisor: np.ndarray, dividend: np.ndarray) -> np.ndarray:
    return (divisor != 0) | (dividend == 0) | np.isnan(dividend)


def certify(name: str, seed: int = 0) -> list[Check]:
    """All checks of one rule: the proof on symbols for an algebra rule, and the check on instances."""
    from equiforge.verify.rule_proofs import prove_rule

    rule = catalogue().rule(name)
    checks = [prove_rule(rule, seed)] if rule.family == "algebra" else []
    return [*checks, check_rule(rule, seed)]


def certify_all(
    names: Iterable[str], seed: int = 0, jobs: int = 1, progress: Callable[[str], None] | None = None
) -> list[Check]:
    """The checks of several rules, in their order whatever ``jobs`` is. ``progress`` is called after each rule."""
    names = list(names)
    checks: list[Check] = []
    if jobs == 1:
        for name in names:
            checks += certify(name, seed)
            if progress is not None:
                progress(name)
        return checks
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for name, found in zip(names, pool.map(certify, names, [seed] * len(names)), strict=True):
            checks += found
            if progress is not None:
                progress(name)
    return checks
