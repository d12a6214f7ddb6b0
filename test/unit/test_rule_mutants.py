"""The soundness check has teeth: rules are damaged one at a time, and each damage shows on a small program."""

# ruff: noqa: E501
# Tables read best with a case a line.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp, TensorType, f32

from equiforge.dialects import forge
from equiforge.egraph import engine, repair
from equiforge.egraph.catalogue import catalogue, read_catalogue
from equiforge.egraph.engine import SaturationOptions
from equiforge.egraph.families import synthesize
from equiforge.egraph.repair_forms import Repair
from equiforge.verify.programs import program
from equiforge.verify.rule_certificates import check_kind, check_rule
from equiforge.verify.rule_fuzz import first_mismatch, saturate_for_check
from equiforge.verify.rule_proofs import prove_rule

F = forge
OPTIONS = SaturationOptions(max_nodes=1_000, max_rounds=4)


def t(*shape: int) -> TensorType[Any]:
    return TensorType(f32, shape)


def c(value: float, *shape: int) -> Any:
    return F.ConstantOp(value, t(*(shape or (1, 1)))).result


def build(types: list[TensorType[Any]], body: Callable[..., Any]) -> ModuleOp:
    return program(types, body)


SQUARE, ROW, COLUMN = t(4, 4), t(1, 4), t(4, 1)

PROGRAMS: dict[str, Callable[[], ModuleOp]] = {
    # One program a kind of rule, with equal extents, so that a wrong dimension is a wrong value and no wrong type.
    "row weight": lambda: build([SQUARE, ROW, SQUARE], lambda x, s, w: F.MatmulOp(F.MulOp(x, s), w)),
    "column weight": lambda: build([SQUARE, SQUARE, COLUMN], lambda x, w, s: F.MatmulOp(x, F.MulOp(w, s))),
    "normalized": lambda: build([SQUARE, COLUMN, SQUARE], lambda e, s, v: F.MatmulOp(F.DivOp(e, F.ExpOp(s)), v)),
    "divided columns": lambda: build([SQUARE, SQUARE, ROW], lambda x, v, s: F.MatmulOp(x, F.DivOp(v, F.ExpOp(s)))),
    "sum of scaled": lambda: build([SQUARE, SQUARE], lambda x, a: F.ReduceOp("sum", F.MulOp(x, a), 1)),
    "sum of quotients": lambda: build([SQUARE, COLUMN], lambda x, a: F.ReduceOp("sum", F.DivOp(x, F.ExpOp(a)), 1)),
    "sum with a repeated summand": lambda: build([SQUARE, COLUMN], lambda x, y: F.ReduceOp("sum", F.AddOp(x, y), 1)),
    "sum of different lengths": lambda: build(
        [SQUARE, COLUMN], lambda x, y: F.AddOp(F.ReduceOp("sum", x, 1), F.ReduceOp("sum", y, 1))
    ),
    "max of scaled": lambda: build([SQUARE], lambda x: F.ReduceOp("max", F.MulOp(x, c(-0.5)), 1)),
    "max of shifted": lambda: build([SQUARE, COLUMN], lambda x, a: F.ReduceOp("max", F.AddOp(x, a), 1)),
    "transposed product": lambda: build([SQUARE, SQUARE], lambda a, b: F.TransposeOp(F.MatmulOp(a, b), [1, 0])),
    "square of a root": lambda: build(
        [SQUARE], lambda x: F.MulOp(F.SqrtOp(x), F.SqrtOp(x))
    ),
    "product": lambda: build([SQUARE, SQUARE], lambda a, b: F.MatmulOp(a, b)),
    "batched product": lambda: build([t(4, 4, 4), t(1, 4, 4)], lambda a, b: F.MatmulOp(a, b)),
    "exp of a product": lambda: build([SQUARE, SQUARE], lambda a, b: F.ExpOp(F.TanhOp(F.MatmulOp(a, b)))),
    "exp of a batched product": lambda: build([t(4, 3, 4), t(1, 4, 3)], lambda a, b: F.TanhOp(F.MatmulOp(a, b))),
    "reduction": lambda: build([t(4, 4, 4)], lambda x: F.ReduceOp("sum", x, 1)),
    "batched sum": lambda: build([SQUARE], lambda x: F.ReduceOp("sum", x, 1)),
    "outer sum reduced": lambda: build([ROW, COLUMN], lambda a, b: F.ReduceOp("sum", F.AddOp(a, b), 1)),
    "exp of a reduction": lambda: build([SQUARE], lambda x: F.TanhOp(F.ReduceOp("sum", x, 1))),
    "computed transpose": lambda: build([t(4, 4, 4)], lambda x: F.TransposeOp(F.ExpOp(x), [1, 2, 0])),
    "two transposes": lambda: build([t(3, 3, 3)], lambda x: F.TransposeOp(F.TransposeOp(x, [1, 0, 2]), [0, 2, 1])),
    "computed slice": lambda: build([SQUARE], lambda x: F.SliceOp(F.ExpOp(x), 1, 1, 3, 1)),
    "computed reshape": lambda: build([t(2, 2, 4)], lambda x: F.ReshapeOp(F.ExpOp(x), [4, 4])),
    "computed expand": lambda: build([COLUMN], lambda x: F.ExpandOp(F.ExpOp(x), [4, 4])),
    "outer sum": lambda: build([ROW, COLUMN], lambda a, b: F.AddOp(a, b)),
    "difference": lambda: build([SQUARE, ROW], lambda a, b: F.SubOp(a, b)),
    "differences": lambda: build([SQUARE, SQUARE, SQUARE], lambda a, b, k: F.SubOp(F.SubOp(a, b), k)),
    "sum with the transpose": lambda: build([SQUARE], lambda x: F.AddOp(x, F.TransposeOp(x, [1, 0]))),
    "selected": lambda: build([SQUARE, ROW, COLUMN], lambda x, a, b: F.SelectOp(F.CompareOp("gt", x, c(0.0)), a, b)),
    "sigmoid": lambda: build([SQUARE], lambda x: F.RecipOp(F.AddOp(c(1.0), F.ExpOp(x)))),
    "two over": lambda: build([SQUARE], lambda x: F.DivOp(c(2.0), F.ExpOp(x))),
    "times zero": lambda: build([SQUARE], lambda x: F.MulOp(x, c(0.0))),
    "minus": lambda: build([SQUARE], lambda x: F.SubOp(c(0.0), x)),
    "scaled quotient": lambda: build([SQUARE, COLUMN, SQUARE], lambda a, b, k: F.MulOp(F.DivOp(a, F.ExpOp(b)), k)),
    "by a root": lambda: build([SQUARE, COLUMN], lambda a, b: F.DivOp(a, F.SqrtOp(F.ExpOp(b)))),
    "joined": lambda: build([SQUARE, t(4, 3)], lambda x, y: F.ConcatOp([x, y], 1)),
    "slice of a difference": lambda: build([SQUARE, ROW], lambda x, y: F.SliceOp(F.SubOp(x, y), 0, 1, 4)),
    "slice of a choice": lambda: build(
        [SQUARE, ROW, COLUMN], lambda x, a, b: F.SliceOp(F.SelectOp(F.CompareOp("gt", x, c(0.0)), a, b), 1, 0, 3)
    ),
    "slice of a slice": lambda: build([t(9, 2)], lambda x: F.SliceOp(F.SliceOp(F.ExpOp(x), 0, 1, 9, 2), 0, 1, 4, 2)),
    "slice of sums": lambda: build([t(4, 4, 4)], lambda x: F.SliceOp(F.ReduceOp("sum", x, 1), 2, 1, 3)),
    "rows of a product": lambda: build([SQUARE, SQUARE], lambda a, b: F.SliceOp(F.MatmulOp(a, b), 0, 1, 3)),
    "columns of a product": lambda: build([SQUARE, SQUARE], lambda a, b: F.SliceOp(F.MatmulOp(a, b), 1, 1, 3)),
    "batches of a product": lambda: build(
        [t(4, 4, 4), t(4, 4, 4)], lambda a, b: F.SliceOp(F.MatmulOp(a, b), 0, 1, 3)
    ),
    "transposed slice": lambda: build(
        [t(4, 4, 4)], lambda x: F.TransposeOp(F.SliceOp(F.ExpOp(x), 0, 1, 3), [1, 2, 0])
    ),
    "reshaped difference": lambda: build([t(2, 2, 4), t(1, 1, 4)], lambda x, y: F.ReshapeOp(F.SubOp(x, y), [4, 4])),
    "reshaped slice": lambda: build([t(2, 2, 4)], lambda x: F.ReshapeOp(F.SliceOp(F.ExpOp(x), 2, 1, 3), [4, 2])),
    "interleaved": lambda: build(
        [t(3, 4, 1), t(3, 4, 1)], lambda x, y: F.ReshapeOp(F.ConcatOp([x, y], 2), [3, 8])
    ),
    "expanded difference": lambda: build([COLUMN, COLUMN], lambda x, y: F.ExpandOp(F.SubOp(x, y), [4, 4])),
    "expanded slice": lambda: build([t(6, 1)], lambda x: F.ExpandOp(F.SliceOp(F.ExpOp(x), 0, 1, 4), [3, 4])),
    "softmax": lambda: build(
        [t(2, 6)], lambda x: F.ReduceOp("sum", F.ExpOp(F.SubOp(x, F.ReduceOp("max", x, 1))), 1)
    ),
}  # fmt: skip

MUTANTS: list[tuple[str, str, str, str, str]] = [
    # rule, what is damaged, old text, new text, program that shows it
    ("row-scale", "no side condition", "(= 1 (vec-get ts (- r 1)))", "", "row weight"),
    ("column-scale", "no side condition", "(= 1 (vec-get ts (- r 2)))", "", "column weight"),
    ("contraction-scale", "not transposed", '"mul" w (Transpose p g)', '"mul" w g', "row weight"),
    ("normalize-after-product", "operands swapped", '"div" m l', '"div" l m', "normalized"),
    ("divide-columns-after-product", "another operator", '"div" m l', '"mul" m l', "divided columns"),
    ("sum-of-scaled", "no side condition", "(= 1 (vec-get ta d))", "", "sum of scaled"),
    ("sum-of-quotients", "operands swapped", '"div" (Reduce "sum" d x) a', '"div" a (Reduce "sum" d x)', "sum of quotients"),
    ("sum-of-sum", "no side condition", "(= (ty y) (ty xy))", "", "sum with a repeated summand"),
    ("sum-of-sum-back", "no side condition", "(= (ty x) (ty y))", "", "sum of different lengths"),
    ("max-of-scaled", "no sign", "(positive a)", "", "max of scaled"),
    ("max-of-shifted", "another operator", '"add" (Reduce', '"sub" (Reduce', "max of shifted"),
    ("transpose-product", "operands swapped", "(MatMul (Transpose p b) (Transpose p a))", "(MatMul (Transpose p a) (Transpose p b))", "transposed product"),
    ("sqrt-squared", "no sign", "(nonneg a)", "", "square of a root"),
    ("recognise-sigmoid", "exp(x) for exp(-x)", '(Unary "exp" (Unary "neg" x))', '(Unary "exp" x)', "sigmoid"),
    ("one-over", "another constant", "(= 1.0 (constant a))", "(= 2.0 (constant a))", "two over"),
    ("divide-by-sqrt", "operands swapped", '"mul" a (Unary "rsqrt" b)', '"mul" b (Unary "rsqrt" a)', "by a root"),
    ("times-one", "another constant", "(= 1.0 (constant o))", "(= 0.0 (constant o))", "times zero"),
    ("subtract-zero", "operands swapped", '(Binary "sub" x z)', '(Binary "sub" z x)', "minus"),
    ("divide-last", "operands swapped", '(Binary "div" (Binary "mul" a c) b)', '(Binary "div" (Binary "mul" a b) c)', "scaled quotient"),
    ("commute", "no side condition", "(commutes o)", "", "difference"),
    ("associate", "no side condition", "(associates o)", "", "differences"),
    ("tile-product", "operands swapped", "(TileMatMul a b)", "(TileMatMul b a)", "product"),
    ("refine-rows", "wrong operand", "(MatMul (View i p a) (View -1 p b))", "(MatMul (View -1 p a) (View i p b))", "product"),
    ("refine-columns", "wrong dimension", "(= i (- r 1))", "(= i (- r 2))", "product"),
    ("refine-batch", "replicated operand", "(View ia p a) (View ib p b)", "(View -1 p a) (View ib p b)", "batched product"),
    ("refine-contraction", "wrong dimension", "(View kb p b)", "(View k p b)", "product"),
    ("refine-reduction", "wrong dimension", "(View d p a)", "(View 0 p a)", "reduction"),
    ("refine-reduction", "another reducer", "(PReduce f p m)", '(PReduce "max" p m)', "reduction"),
    ("refine-reduction-output", "reduced dimension", "(View i p a)", "(View d p a)", "reduction"),
    ("view-binary", "operands swapped", "(View ia p a) (View ib p b)", "(View ib p a) (View ia p b)", "outer sum"),
    ("view-select", "operands swapped", "(View ia p a) (View ib p b)", "(View ia p b) (View ib p a)", "selected"),
    ("view-product-rows", "operands swapped", "(View i p a) (View -1 p b)", "(View i p b) (View -1 p a)", "exp of a product"),
    ("view-product-columns", "wrong dimension", "(= i (- r 1))", "(= i (- r 2))", "exp of a product"),
    ("view-product-batch", "no side condition", "(< i (- r 2))", "", "exp of a batched product"),
    ("partition-transpose", "wrong dimension", "(View (vec-get perm i) p a)", "(View i p a)", "computed transpose"),
    ("transpose-transpose", "wrong order", "(composed p q)", "(composed q p)", "two transposes"),
    ("view-slice", "no side condition", "(!= i (vec-get s 0))", "", "computed slice"),
    ("view-expand", "no side condition", "(= i (view-dim (ty a) i))", "", "computed expand"),
    ("view-order", "dimensions swapped", "(View j q (View i p a))", "(View i q (View j p a))", "product"),
    ("partials-collect", "another value", "(Collect p a)", "(Collect p (View -1 p x))", "batched sum"),
    ("store-partials", "wrong dimension", "(Reduce f 0 y)", "(Reduce f 1 y)", "batched sum"),
    ("partials-combine", "wrong dimension", "(View (+ i 1) q y)", "(View i q y)", "batched sum"),
    ("concat-select", "edge off by one", "(vec-of d na 0 1 0 na na)", "(vec-of d (+ na 1) 0 1 0 (+ na 1) (+ na 1))", "joined"),
    ("concat-select", "operands swapped", "(Select m first second)", "(Select m second first)", "joined"),
    ("pick-place", "index shifted", "(let g (Gather d a j))", "(let g (Gather d a (Index tj (vec-set s 1 (+ 1 (vec-get s 1))))))", "joined"),
    ("pick-broadcast", "no side condition", "(= 1 (vec-get ta d))", "", "slice of a difference"),
    ("slice-places", "start off by one", "(vec-get s 1) (vec-get s 3)", "(- (vec-get s 1) 1) (vec-get s 3)", "computed slice"),
    ("slice-places", "bound off by one", "(- n 1)", "(- n 2)", "slice of a difference"),
    ("gather-binary", "operands swapped", "(Binary o ga gb)", "(Binary o gb ga)", "slice of a difference"),
    ("gather-select", "operands swapped", "(Select gc ga gb)", "(Select gc gb ga)", "slice of a choice"),
    ("gather-reduce", "wrong dimension", "(Reduce f e g)", "(Reduce f d g)", "slice of sums"),
    ("gather-product-rows", "wrong dimension", "(= d (- r 2))", "(= d (- r 1))", "columns of a product"),
    ("gather-product-columns", "wrong dimension", "(= d (- r 1))", "(= d (- r 2))", "rows of a product"),
    ("gather-product-batch", "operands swapped", "(MatMul ga gb)", "(MatMul gb ga)", "batches of a product"),
    ("transpose-gather", "wrong dimension", "(= d (vec-get p e))", "(= e (vec-get p d))", "transposed slice"),
    ("transpose-places", "wrong dimension", "(= (vec-get s 0) (vec-get p e))", "(= e (vec-get s 0))", "transposed slice"),
    ("places-at-places", "start not scaled", "(+ b (* m (vec-get z 1)))", "(+ b (vec-get z 1))", "slice of a slice"),
    ("places-at-places", "step not scaled", "(* m (vec-get z 2))", "(vec-get z 2)", "slice of a slice"),
    ("gather-gather", "wrong order", "(let jk (Gather d j k))", "(let jk (Gather d k j))", "slice of a slice"),
    ("view-gather", "no side condition", "(!= i d)", "", "joined"),
    ("partition-gather", "operand cut", "(View -1 p a)", "(View d p a)", "joined"),
    ("reshape-binary", "operands swapped", "(Binary o ga gb)", "(Binary o gb ga)", "reshaped difference"),
    ("reshape-gather", "another dimension", "(vec-set z 0 e)", "z", "reshaped slice"),
    ("interleave", "the other first", "(Select m ga gb)", "(Select m gb ga)", "interleaved"),
    ("interleave", "no repetition", "(vec-of e 0 1 2 0 0 (- n 1))", "(vec-of e 0 1 1 0 0 (- n 1))", "interleaved"),
    ("expand-left", "operands swapped", "(Binary o g b)", "(Binary o b g)", "expanded difference"),
    ("expand-gather", "the gathered extent", "(vec-set s d n)", "s", "expanded slice"),
    ("view-of-combine", "any dimension", "(View i p (Combine i p a))", "(View i p (Combine j p a))", "sum with the transpose"),
]  # fmt: skip

SLICE_MUTANTS: list[tuple[str, str, str, str, str]] = [
    # The same where reduced dimensions have two levels of axes.
    ("slice-contraction", "wrong dimension", "(View kb p b)", "(View k p b)", "product"),
    ("slice-reduction", "another reducer", "(PReduce f p m)", '(PReduce "max" p m)', "batched sum"),
    ("refine-sliced-contraction", "wrong dimension", "(View kb q b)", "(View k q b)", "product"),
    ("refine-sliced-contraction", "a whole operand", "(View kb q b)", "(View -1 q b)", "product"),
    ("refine-sliced-reduction", "another reducer", "(PReduce f q m)", '(PReduce "max" q m)', "batched sum"),
    ("refine-sliced-reduction", "in any state", "(= d (map-get sa p)) ", "", "outer sum reduced"),
    ("partials-collect", "another value", "(Collect p a)", "(Collect p (View -1 p x))", "batched sum"),
]  # fmt: skip


def damaged_text(rule: str, old: str, new: str) -> Callable[[str], str]:
    """``engine.rule_text`` with one rule damaged; the rule has to be there and to contain ``old`` once."""
    original = engine.rule_text
    file = next(name for name in engine.RULE_FILES if f':name "{rule}"' in original(name))
    text = original(file)
    end = text.index(f':name "{rule}"')
    start = text.rindex("(rule ", 0, end)
    assert text.count(old, start, end) == 1, f"{rule} has no single {old}"
    changed = text[:start] + text[start:end].replace(old, new) + text[end:]
    return lambda name: changed if name == file else original(name)


def is_wrong(module: ModuleOp, slices: bool = False) -> bool:
    """True if the e-graph has an e-node with another value or type than its class."""
    try:
        saturated = saturate_for_check(module, OPTIONS, slices)
        return first_mismatch(saturated, seed=1, inputs=4) is not None
    except Exception:
        # Wrongly typed e-nodes do not even get as far as a value.
        return True


@pytest.mark.parametrize("slices", [False, True], ids=["one level", "two levels"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_undamaged_rules_hold(name: str, slices: bool) -> None:
    saturated = saturate_for_check(PROGRAMS[name](), OPTIONS, slices)
    assert first_mismatch(saturated, seed=1, inputs=4) is None


@pytest.mark.parametrize(
    ("rule", "damage", "old", "new", "shown_by"), MUTANTS, ids=[f"{m[0]}: {m[1]}" for m in MUTANTS]
)
def test_a_damaged_rule_is_caught(
    monkeypatch: pytest.MonkeyPatch, rule: str, damage: str, old: str, new: str, shown_by: str
) -> None:
    monkeypatch.setattr(engine, "rule_text", damaged_text(rule, old, new))
    assert is_wrong(PROGRAMS[shown_by]()), f"{rule} with {damage} goes unnoticed"


CERTIFIED = [m[:4] for m in MUTANTS if check_kind(catalogue().rule(m[0])) != "marker"]


@pytest.mark.parametrize(("rule", "damage", "old", "new"), CERTIFIED[::3])
def test_the_certificate_of_a_damaged_rule_fails(
    monkeypatch: pytest.MonkeyPatch, rule: str, damage: str, old: str, new: str
) -> None:
    monkeypatch.setattr(engine, "rule_text", damaged_text(rule, old, new))
    entry = read_catalogue({name: engine.rule_text(name) for name in engine.RULE_FILES}).rule(rule)
    checks = [check_rule(entry), *([prove_rule(entry)] if entry.family == "algebra" else [])]
    assert any(not check.ok for check in checks), f"{rule} with {damage} keeps its certificate"


@pytest.mark.parametrize(
    ("rule", "damage", "old", "new", "shown_by"), SLICE_MUTANTS, ids=[f"{m[0]}: {m[1]}" for m in SLICE_MUTANTS]
)
def test_a_damaged_rule_on_slices_is_caught(
    monkeypatch: pytest.MonkeyPatch, rule: str, damage: str, old: str, new: str, shown_by: str
) -> None:
    monkeypatch.setattr(engine, "rule_text", damaged_text(rule, old, new))
    assert is_wrong(PROGRAMS[shown_by](), slices=True), f"{rule} with {damage} goes unnoticed"


CERTIFICATE_MUTANTS: list[tuple[str, str, str, str]] = [
    # Rules that no program above singles out: instances are drawn from the damaged rule itself.
    ("divide-first", "operands swapped", '"div" a b', '"div" b a'),
    ("transpose-unary", "not transposed", "(Unary o (Transpose p a))", "(Unary o a)"),
    ("transpose-binary", "operands swapped", "(Transpose p a) (Transpose p b)", "(Transpose p b) (Transpose p a)"),
    ("transpose-select", "operands swapped", "(Transpose p a) (Transpose p b)", "(Transpose p b) (Transpose p a)"),
    ("times-recip", "operands swapped", '"div" a b', '"div" b a'),
    ("over-one", "another constant", "(= 1.0 (constant o))", "(= 2.0 (constant o))"),
    ("over-one", "no side condition", "(= (ty x) (ty y))", ""),
    ("negate-twice", "another operator", '(Unary "neg" (Unary "neg" x))', '(Unary "neg" (Unary "abs" x))'),
    ("view-unary", "replicated operand", "(Unary o (View i p a))", "(Unary o (View -1 p a))"),
    ("view-concat", "no side condition", "(!= i d)", ""),
    ("partition-reshape", "wrong dimension", "(View j p a)", "(View i p a)"),
]


@pytest.mark.parametrize(("rule", "damage", "old", "new"), CERTIFICATE_MUTANTS)
def test_its_certificate_catches_a_damaged_rule(
    monkeypatch: pytest.MonkeyPatch, rule: str, damage: str, old: str, new: str
) -> None:
    monkeypatch.setattr(engine, "rule_text", damaged_text(rule, old, new))
    entry = read_catalogue({name: engine.rule_text(name) for name in engine.RULE_FILES}).rule(rule)
    check = check_rule(entry)
    assert not check.ok, f"{rule} with {damage} keeps its certificate"
    assert "no instance matched" not in str(check.failure)


def test_the_kinds_of_damage_are_many() -> None:
    """Wrong dimension, exchanged operands, missing condition: each often enough to say that such a slip is seen."""
    kinds = [damage for _, damage, *_ in (*MUTANTS, *CERTIFICATE_MUTANTS)]
    assert sum("dimension" in kind for kind in kinds) >= 10
    assert sum("swapped" in kind or "operand" in kind for kind in kinds) >= 10
    assert sum(kind in ("no side condition", "no sign") for kind in kinds) >= 10


def test_a_damaged_repair_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    exchange = {("old",): ("new",), ("new",): ("old",)}

    def swapped(tree: Any) -> Any:
        return exchange.get(tree) or (tree if tree[0] == "const" else (*tree[:2], *(swapped(a) for a in tree[2:])))

    def wrong(*arguments: Any) -> Any:
        found = synthesize(*arguments)
        return Repair(found.mode, swapped(found.tree), found.certificate) if isinstance(found, Repair) else found

    monkeypatch.setattr(repair, "synthesize", wrong)
    assert saturate_for_check(PROGRAMS["softmax"](), OPTIONS).rolling == 0, "hostile rows refuse it"
    monkeypatch.setattr(repair, "counterexample", lambda *_: None)
    assert is_wrong(PROGRAMS["softmax"]())
