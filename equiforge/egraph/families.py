"""Families of repairs: for a consumer's contribution g(x, s), how what it holds follows the producer's state s.

A consumer accumulates contributions that depend on the final value s of a producer. While the producer still runs, it
holds ρC of g(x, s) for the s so far; a *repair* h with

    h(g(x, s), s, s') = g(x, s')            the contribution follows the producer
    h(ρC(a, b), s, s') = ρC(h(a), h(b))     and distributes over the consumer's reduction

brings it to the new s'. :mod:`equiforge.egraph.repair_catalogue` says which forms of h are solved for; no form is
recognised by the shape of the program, each follows from the two equations.
"""

from __future__ import annotations

import math
from functools import lru_cache

from equiforge.egraph.contributions import (
    IDENTITY,
    LEAVES,
    ORDERED,
    Tree,
    evaluate,
    identity_of,
    leaves_of,
    number_of_inputs,
    replaced,
    value_of,
)
from equiforge.egraph.moments import moments
from equiforge.egraph.repair_forms import HELD, OLD_COUNT, Problem, Refusal, Repair, State, compare, leaf
from equiforge.egraph.symbolic import has_infinity, simplified, sympy_module, to_sympy, to_tree, vanishes


def synthesize(
    contribution: Tree,
    consumer: str,
    producer: str,
    producer_input: int,
    extent: int = 0,
    element: str = "f32",
    weighted: bool = False,
) -> Repair | Refusal:
    """The repair for a contribution under reducers ``consumer`` and ``producer``, or why there is none.

    ``producer_input`` is the number of the contribution's input that is also the producer's input, -1 if it does not
    occur; ``extent`` the number of elements that are reduced in all, 0 if it is not to be used; ``weighted`` says that
    the contributions are an operand of a matrix product.
    """
    return synthesize_for(contribution, consumer, (State(producer, producer_input),), extent, element, weighted)


@lru_cache(maxsize=4096)
def synthesize_for(
    contribution: Tree,
    consumer: str,
    states: tuple[State, ...],
    extent: int = 0,
    element: str = "f32",
    weighted: bool = False,
) -> Repair | Refusal:
    """The repair for a contribution that reads several states: position k of ``states`` is ``("state", k)``."""
    if not any(part[0] == "state" for part in leaves_of(contribution)):
        return Refusal("the contribution does not use the producer")
    problem = Problem(contribution, consumer, states, extent, element, weighted)
    if problem.g is None:
        return Refusal("the contribution has an operator without a symbolic form")
    if consumer in ("any", "all"):
        return _reset(problem)
    if problem.g.has(sympy_module().Piecewise):
        return _of_cases(problem)
    if has_infinity(contribution):
        return Refusal("the contribution has an operator without a symbolic form")
    found = Refusal("neither factor nor summand between two states is free of the inputs")
    if not _depends_on_inputs(contribution, states):
        found = _factor_or_summand(problem)
    if isinstance(found, Refusal) and found.reason.startswith(("neither", "the summand")):
        return moments(problem) or found
    return found


def _depends_on_inputs(contribution: Tree, states: tuple[State, ...]) -> bool:
    """True if samples show that neither the factor nor the summand between two states is free of the inputs; cheap,
    and never wrong to ask."""
    factors: list[float] = []
    summands: list[float] = []
    for k in range(3):
        inputs = [0.3 + 0.37 * ((5 * i + 3 * k) % 7) for i in range(number_of_inputs(contribution))]
        leaves: dict[Tree, float] = {("input", i): x for i, x in enumerate(inputs)}
        before, after = (
            value_of(contribution, leaves | {leaf("state", j): s + 0.21 * j for j in range(len(states))})
            for s in (0.75, 1.625)
        )
        if not (math.isfinite(before) and math.isfinite(after)) or before == 0:
            return False
        factors.append(after / before)
        summands.append(after - before)
    return all(max(values) - min(values) > 1e-6 * max(map(abs, values)) for values in (factors, summands))


def _factor_or_summand(problem: Problem) -> Repair | Refusal:
    consumer = problem.consumer
    before, after = problem.at(problem.g, problem.old), problem.at(problem.g, problem.new)
    factor = simplified(after / before, problem.inputs)
    if not factor.free_symbols & problem.inputs:
        mode, repair = "mul", factor
        if consumer in ORDERED and not factor.is_positive:
            return Refusal(f"the factor {factor} is not known positive: it does not distribute over {consumer}")
        if consumer == "prod":
            return Refusal("a factor does not distribute over a product")
    else:
        summand = simplified(after - before, problem.inputs)
        if summand.free_symbols & problem.inputs:
            return Refusal(f"neither factor nor summand is free of the inputs: {factor}")
        if consumer not in ORDERED:
            return Refusal(
                f"the summand {summand} does not distribute over {consumer}: it counts once for each element"
            )
        mode, repair = "add", summand
    repaired = before * repair if mode == "mul" else before + repair
    if not vanishes(repaired - after):
        return Refusal(f"the identity h(g(x,s),s,s') = g(x,s') does not hold for {repair}")
    tree = to_tree(repair, problem.leaves())
    if tree is None:
        return Refusal(f"the repair {repair} has no form in the IR")
    unguarded = _guard_fails(problem, tree)
    if unguarded is not None:
        return Refusal(unguarded)
    if mode == "add":
        tree = ("select", (), ("binary", ("cmp.eq",), ("old",), ("new",)), ("const", 0.0), tree)
    sign = "*" if mode == "mul" else "+"
    certificate = f"g = {problem.g}; h(c) = c {sign} ({repair}); h(g(x,s)) - g(x,s') = 0"
    guarded = tuple(k for k, s in enumerate(problem.states) if math.isinf(IDENTITY[s.reducer]) or s.positive)
    return Repair(mode, tree, certificate, "factor" if mode == "mul" else "summand", guarded=guarded)


_RUNNING = (0.0, 0.5, -0.5, 7.0, -3.0, 1e4, -1e4)


def _guard_fails(problem: Problem, repair: Tree) -> str | None:
    """Why the identity state can't be guarded by putting 0 for an identity producer, or None.

    With the producer at its identity so far, every input so far was that identity: the contribution must be the
    consumer's identity and the repair must keep it, without inf - inf.
    """
    contribution, consumer = problem.tree, problem.consumer
    if len(problem.states) != 1:
        # What several states do at their identities is left to the hostile rows.
        return None
    producer, producer_input = problem.states[0].reducer, problem.states[0].own
    initial = IDENTITY[producer]
    if math.isfinite(initial):
        if problem.states[0].positive:
            return None
        # A running sum can be any number on its way: the repair must be defined, and not overflow, wherever it passes.
        for old in _RUNNING:
            for new in _RUNNING:
                inputs = [1.0] * number_of_inputs(contribution)
                values = (evaluate(contribution, inputs, new), evaluate(repair, inputs, 0.0, old, new))
                if not all(map(math.isfinite, values)):
                    where = f"a running {producer} of {new:g} after {old:g}"
                    return f"the contribution or its repair is not finite at {where}"
        return None
    if producer_input < 0:
        return "the contribution does not read the producer's own input, so an identity state can't be guarded"
    inputs = [1.0] * number_of_inputs(contribution)
    inputs[producer_input] = initial
    if evaluate(contribution, inputs, 0.0) != IDENTITY[consumer]:
        return "an input that is the producer's identity does not contribute the consumer's identity"
    for new in (0.0, 1.5):
        value = evaluate(repair, inputs, 0.0, old=initial, new=new)
        moved = value * IDENTITY[consumer] if consumer == "sum" else value + IDENTITY[consumer]
        if moved != IDENTITY[consumer]:
            return "the repair does not keep the consumer's identity at the producer's identity"
    return None


def _of_cases(problem: Problem) -> Repair | Refusal:
    """A contribution with a select: by cases where no condition reads a state, else a reset."""
    conditions = list(_conditions(problem.tree))
    if any(part[0] == "state" for condition in conditions for part in leaves_of(condition)):
        found = _reset(problem)
        return _derived(problem) or found if isinstance(found, Refusal) else found
    cases = [case for case in _cases(problem.tree) if case != ("const", 0.0)]
    if problem.consumer != "sum":
        return Refusal(f"a select under {problem.consumer}: a repair of one branch would change the other")
    found = [synthesize_for(case, problem.consumer, problem.states, 0, problem.element) for case in cases]
    for repair in found:
        if isinstance(repair, Refusal):
            return Refusal(f"in a branch of a select: {repair.reason}")
    first = found[0]
    assert isinstance(first, Repair), "refusals have returned"
    if any(isinstance(r, Repair) and (r.mode, r.tree) != ("mul", first.tree) for r in found):
        return Refusal("the branches of a select need different repairs")
    return first


def _conditions(tree: Tree) -> list[Tree]:
    if tree[0] == "select":
        return [tree[2], *_conditions(tree[3]), *_conditions(tree[4])]
    return [c for part in tree[2:] for c in _conditions(part)] if len(tree) > 2 and tree[0] in _OPERATORS else []


_OPERATORS = ("unary", "binary", "cast")


def _cases(tree: Tree) -> list[Tree]:
    """The trees that a tree with selects may be."""
    if tree[0] == "select":
        return [*_cases(tree[3]), *_cases(tree[4])]
    if tree[0] not in _OPERATORS:
        return [tree]
    found: list[Tree] = [(tree[0], tree[1])]
    for part in tree[2:]:
        found = [(*head, case) for head in found for case in _cases(part)]
    return found


def _reset(problem: Problem) -> Repair | Refusal:
    """What an element contributes once a later one has moved the state: with x = s' - d for any d > 0."""
    sympy = sympy_module()
    state = problem.states[0]
    if len(problem.states) > 1 or state.reducer not in ORDERED or state.own < 0:
        return Refusal("a comparison with a state that is no running maximum or minimum of the compared input")
    new, distance = problem.new[0], sympy.Symbol("d", positive=True)
    own = problem.symbols.get(("input", state.own))
    below = problem.at(problem.g, problem.new)
    if own is not None:
        below = below.subs(own, new - distance if state.reducer == "max" else new + distance)
    if below.free_symbols & (problem.inputs | {distance}):
        return Refusal(f"an element seen before the state moved contributes {below}, which still depends on it")
    after = to_tree(below, problem.leaves())
    if after is None:
        return Refusal(f"the contribution {below} after a move has no form in the IR")
    idempotent = problem.consumer in (*ORDERED, "any", "all")
    neutral = after[0] == "const" and float(after[1]) == float(identity_of(problem.consumer, problem.element))
    if not idempotent and not neutral:
        return Refusal(f"elements seen before the state moved contribute {below} each, and {problem.consumer} adds up")
    same: Tree = ("binary", ("or",), compare("eq", ("new",), ("old",)), compare("ne", ("old",), ("old",)))
    if not neutral:
        same = ("binary", ("or",), same, compare("eq", OLD_COUNT, ("const", 0.0)))
    certificate = f"g = {problem.g}; for every d > 0: g(s' {'-' if state.reducer == 'max' else '+'} d, s') = {below}; "
    certificate += f"h(c) = c if s' = s else {below}"
    return Repair("map", ("select", (), same, HELD, after), certificate, "reset", guarded=())


def _derived(problem: Problem) -> Repair | None:
    """A contribution g(x, φ(s)) whose conditions stand in φ, as where a program guards its own maximum: the repair of
    g(x, s) for the states φ(s) and φ(s')."""
    parts = _state_parts(problem.tree)
    if len(parts) != 1 or len(problem.states) > 1 or not (derived := parts.pop())[2:]:
        return None
    outer = _exchanged(problem.tree, derived, ("state",))
    found = synthesize_for(outer, problem.consumer, problem.states, 0, problem.element)
    if isinstance(found, Refusal) or found.mode not in ("mul", "add"):
        return None

    def at(part: Tree) -> Tree:
        return _exchanged(derived, ("state",), part) if part in (("old",), ("new",)) else part

    operation = "mul" if found.mode == "mul" else "add"
    tree: Tree = ("binary", (operation,), HELD, replaced(found.tree, at))
    certificate = f"with state = {to_sympy(derived, {})}: {found.certificate}"
    return Repair("map", tree, certificate, found.family, guarded=(0,))


def _state_parts(tree: Tree) -> set[Tree]:
    """The largest parts of a tree that read states and no inputs."""
    kinds = {part[0] for part in leaves_of(tree)}
    if "state" not in kinds:
        return set()
    if "input" not in kinds:
        return {tree}
    return {part for child in tree[2:] for part in _state_parts(child)}


def _exchanged(tree: Tree, part: Tree, other: Tree) -> Tree:
    """A tree with ``other`` in the places of ``part``."""
    if tree == part:
        return other
    if tree[0] in LEAVES:
        return tree
    return (tree[0], tree[1], *(_exchanged(child, part, other) for child in tree[2:]))


def value_at_identity(contribution: Tree, producer: str, producer_input: int) -> float:
    """What the unfused program contributes for a row whose producer ends at its identity (NaN for softmax)."""
    initial = IDENTITY[producer]
    inputs = [1.0] * number_of_inputs(contribution)
    if producer_input >= 0:
        inputs[producer_input] = initial
    return evaluate(contribution, inputs, initial)
