"""Explanations: chains of rules from term to term, each step checked by running only its rule."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from xdsl.dialects.builtin import TensorType, f32

from equiforge.cli import run
from equiforge.dialects import forge as F
from equiforge.egraph.catalogue import catalogue
from equiforge.egraph.encode import encode
from equiforge.egraph.engine import SaturationOptions
from equiforge.egraph.explain import Explainer
from equiforge.egraph.graph import PARTIAL, ClassType, EGraph, ENode
from equiforge.egraph.proof_graph import ProofGraph, Step
from equiforge.egraph.saturate import saturate
from equiforge.egraph.trace import REPAIR, Trace, trace
from equiforge.errors import EquiforgeError
from equiforge.search.candidate_terms import candidate_terms
from equiforge.search.extract import ExtractOptions, extract
from equiforge.verify.programs import program
from equiforge.verify.rule_certificates import declarations, run_alone


def t(*shape: int) -> TensorType[Any]:
    return TensorType(f32, shape)


def attention(q: Any, k: Any, v: Any) -> Any:
    s = F.MatmulOp(q, F.TransposeOp(k, [1, 0]))
    p = F.ExpOp(F.SubOp(s, F.ReduceOp("max", s, 1)))
    return F.MatmulOp(F.DivOp(p, F.ReduceOp("sum", p, 1)), v)


@cache
def traced_attention() -> Trace:
    module = program([t(8, 4), t(12, 4), t(12, 6)], attention)
    return trace(encode(module, whole_extent=8), SaturationOptions())


@cache
def best() -> tuple[int, int]:
    """The attention as written, and its single kernel."""
    found = extract(traced_attention().graph, ExtractOptions())
    single = next(c for c in found.candidates if len(c.kernels) == 1)
    ((written, made),) = candidate_terms(traced_attention(), single)
    return written, made


def chain() -> list[Step]:
    return Explainer(traced_attention()).chain(*best())


def test_tracing_finds_what_saturation_finds() -> None:
    traced = traced_attention()
    found, stats, _ = saturate(traced.initial, SaturationOptions(), isolate=False)
    assert traced.stop == stats.stop == "saturated"
    assert (traced.graph.num_nodes, len(traced.graph.nodes)) == (found.num_nodes, len(found.nodes))
    assert traced.nodes.keys() == traced.graph.nodes.keys()
    by_trace, plain = (extract(graph, ExtractOptions()).candidates for graph in (traced.graph, found))
    assert [(c.id, c.signature) for c in by_trace] == [(c.id, c.signature) for c in plain]


def test_the_steps_lead_from_the_program_to_its_kernel() -> None:
    written, made = best()
    term = written
    for step in chain():
        term = traced_attention().proofs.replaced(term, step)
    assert term == made


def test_attention_tells_algebra_refinement_propagation_and_repair() -> None:
    steps = Explainer(traced_attention()).explained(chain())
    assert {step.family for step in steps} >= {"algebra", "refinement", "propagation", "repair"}
    assert "normalize-after-product" in {step.rule for step in steps}
    repaired = next(step for step in steps if step.rule == REPAIR)
    assert repaired.before.startswith("preduce[")
    assert repaired.after.startswith("get[")
    assert "exp" in repaired.statement


def test_slices_and_their_merge_are_explained_with_the_certificate_of_their_loop() -> None:
    """Candidates whose first kernel stores all states of its slices, of which one is no value of the program."""

    def variance(x: Any) -> Any:
        d = F.SubOp(x, F.DivOp(F.ReduceOp("sum", x, 1), F.ConstantOp(11.0, t(1, 1))))
        return F.ReduceOp("sum", F.MulOp(d, d), 1)

    traced = trace(encode(program([t(3, 11)], variance), 5, 10), SaturationOptions())
    candidates = extract(traced.graph, ExtractOptions(max_candidates=100)).candidates
    sliced = next(c for c in candidates if [len(k.fields) for k in c.kernels] == [4, 0])
    ((written, made),) = candidate_terms(traced, sliced)
    explainer, term = Explainer(traced), written
    steps = explainer.chain(written, made)
    for step in steps:
        term = traced.proofs.replaced(term, step)
    assert term == made
    assert any(step.rule == REPAIR and "(2*moment1)*(u' - u)" in step.statement for step in explainer.explained(steps))


def _types(traced: Trace) -> dict[int, ClassType]:
    """Type of each class of the proof graph that the e-graph has."""
    return {traced.proofs.find(node): traced.graph.types[c] for c, node in traced.nodes.items()}


def _graph_of(traced: Trace, root: int) -> EGraph:
    """The e-graph of one term."""
    types = _types(traced)
    graph = EGraph({}, {}, [], list(traced.initial.axes), list(traced.initial.inputs), dict(traced.initial.constants))
    numbers: dict[int, int] = {}

    def add(node: int) -> int:
        if node not in numbers:
            term = traced.proofs.nodes[node]
            children = tuple(add(c) for c in term.children)
            kind = types[traced.proofs.find(node)]
            number = numbers[node] = len(graph.nodes)
            graph.nodes[number] = [ENode(term.op, term.attrs, children)]
            stored = None if kind.state or not children else "f32"
            graph.types[number] = ClassType(kind.shape, kind.state, kind.groups, kind.element, stored, stored)
        return numbers[node]

    graph.roots = [add(root)]
    return graph


def _class_of(traced: Trace, node: int, graph: EGraph) -> int | None:
    """The class of a term in an e-graph."""
    owners = {n: c for c, owned in graph for n in owned}
    term = traced.proofs.nodes[node]
    children = [_class_of(traced, c, graph) for c in term.children]
    if any(c is None for c in children):
        return None
    return owners.get(ENode(term.op, term.attrs, tuple(c for c in children if c is not None)))


def _is_testable(traced: Trace, step: Step) -> bool:
    """False where a side has a class that reading out left out, or partial results, whose reducer only a rule knows."""
    types = _types(traced)
    work = [step.before, step.after]
    while work:
        node = work.pop()
        kind = types.get(traced.proofs.find(node))
        if kind is None:
            return False
        work += traced.proofs.nodes[node].children
    return step.rule != REPAIR


def test_each_step_follows_from_its_rule_alone() -> None:
    traced = traced_attention()
    steps = [*{(s.rule, s.before, s.after): s for s in chain()}.values()]
    testable = [step for step in steps if _is_testable(traced, step)]
    assert len(testable) > 0.9 * (len(steps) - sum(step.rule == REPAIR for step in steps))
    for step in testable:
        left, right = (step.before, step.after) if step.forward else (step.after, step.before)
        graph = _graph_of(traced, left)
        # That no axis is partial is known of a class by its other terms.
        full = [f"(full $c{c})" for c, kind in graph.types.items() if all(dim != PARTIAL for _, dim in kind.state)]
        text = "\n".join([declarations(graph), *full])
        _, found = run_alone(catalogue().rule(step.rule), graph, text)
        here, there = (_class_of(traced, node, found) for node in (left, right))
        assert here is not None, f"{step.rule}: {Explainer(traced).full_text(left)}"
        assert here == there, f"{step.rule} does not make {Explainer(traced).full_text(right)}"


def test_no_chain_joins_unequal_terms() -> None:
    explainer = Explainer(traced_attention())
    with pytest.raises(EquiforgeError, match="no chain of rules makes"):
        explainer.chain(explainer.resolve("%arg0"), explainer.resolve("%arg1"))


def test_terms_are_read_as_they_are_written() -> None:
    explainer = Explainer(traced_attention())
    terms = {(text := explainer.full_text(step.before)): step.before for step in chain()}
    assert len(terms) > 20
    for text, node in terms.items():
        assert explainer.resolve(text) == node
    text = "matmul(%arg0, transpose[1, 0](%arg1))"
    assert explainer.full_text(explainer.resolve(text)) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("%nothing", "the program has no value %nothing"),
        ("exp(%arg0", "no term"),
        ("exp %arg0)", "expected '('"),
        ("transpose[1, 0](%arg1) x", "a term ends before 'x'"),
        ("partition[0, @z](%arg0)", "no axis @z"),
        ("exp(%arg0)", "the e-graph has no unary"),
        ("mul(%arg0, 7.5)", "the program has no constant 7.5"),
    ],
)
def test_what_can_not_be_read_is_named(text: str, message: str) -> None:
    with pytest.raises(EquiforgeError) as raised:
        Explainer(traced_attention()).resolve(text)
    assert message in str(raised.value)


def test_congruence_needs_no_edge_younger_than_itself() -> None:
    proofs = ProofGraph()
    a, b, c = (proofs.add("input", (i,), ()) for i in range(3))
    fa, fb, fc = (proofs.add("unary", ("exp",), (x,)) for x in (a, b, c))
    assert proofs.chain(fa, fc) is None
    proofs.unite(a, b, "one")
    proofs.unite(b, c, "two")
    steps = proofs.chain(fa, fc)
    assert steps is not None
    assert [(s.rule, s.forward, s.path) for s in steps] == [("one", True, (0,)), ("two", True, (0,))]
    assert [s.forward for s in proofs.chain(fc, fa) or []] == [False, False]
    assert proofs.find(fb) == fa
    assert proofs.lookup("unary", ("exp",), (c,)) is not None
    assert proofs.lookup("unary", ("log",), (c,)) is None


def test_a_class_may_hold_itself() -> None:
    """x = f(x) makes f(f(x)) equal to x, in two steps."""
    proofs = ProofGraph()
    x = proofs.add("input", (0,), ())
    fx = proofs.add("unary", ("neg",), (x,))
    ffx = proofs.add("unary", ("neg",), (fx,))
    proofs.unite(x, fx, "loop")
    steps = proofs.chain(ffx, x)
    assert steps is not None
    term = ffx
    for step in steps:
        term = proofs.replaced(term, step)
    assert term == x
    with pytest.raises(ValueError, match="does not start"):
        proofs.replaced(fx, Step("loop", True, x, fx, ()))


def test_the_command_tells_the_story(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "rmsnorm-linear:small", "0", "--json"]) == 0
    story = json.loads(capsys.readouterr().out)
    assert story["candidate"] == 0
    assert story["steps"]
    assert {"rule", "family", "statement", "forward", "before", "after"} <= set(story["steps"][0])
    assert run(["explain", "rmsnorm-linear:small", "999"]) == 2
    assert "there is no candidate 999" in capsys.readouterr().err
