"""Policies of merging: peaks against the memory model, results against the reference interpreter."""

from __future__ import annotations

import random

import numpy as np
import pytest
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from equiforge.analysis.memory import profile
from equiforge.cse import policy as under_test
from equiforge.cse.dead import eliminate_dead
from equiforge.cse.eliminate import eliminate
from equiforge.cse.policy import worthwhile
from equiforge.verify.interpreter import evaluate, main_function
from equiforge.verify.random_programs import random_arguments, random_program


def with_duplicates(seed: int) -> ModuleOp:
    """A random program in which some ops, and chains of them, are computed once more for some of their later uses."""
    module = random_program(seed, 6 + seed % 14)
    choose = random.Random(seed)
    function = main_function(module)
    block = function.body.block
    _return_all(function)
    twins: dict[SSAValue, SSAValue] = {}
    made: list[Operation] = []
    for op in list(block.ops):
        for number, operand in enumerate(op.operands):
            if operand in twins and choose.random() < 0.5:
                op.operands[number] = twins[operand]
        if not isinstance(op, ReturnOp) and choose.random() < 0.9:
            twin = op.clone({o: twins[o] for o in op.operands if o in twins and choose.random() < 0.7})
            block.insert_op_after(twin, op)
            twins[op.results[0]] = twin.results[0]
            made.append(twin)
    # A twin stands before its first use, far from what it is equal to.
    for twin in reversed(made):
        users = {use.operation for use in twin.results[0].uses}
        first = next((op for op in block.ops if op in users), None)
        if first is not None:
            twin.detach()
            block.insert_op_before(twin, first)
    return module


def _return_all(function: FuncOp) -> None:
    """Every value that nobody uses becomes a result: the program has no dead ops."""
    terminator = function.body.block.last_op
    assert terminator is not None
    unused = [r for op in function.body.block.ops for r in op.results if r.first_use is None]
    terminator.operands = [*terminator.operands, *unused]
    types = [operand.type for operand in terminator.operands]
    function.function_type = FunctionType.from_lists(list(function.function_type.inputs.data), types)


def merged(module: ModuleOp, policy: str, budget: int | None = None) -> int:
    eliminate_dead(module)
    chosen = worthwhile(module, policy, budget)
    report = eliminate(module, lambda merge: merge.duplicate in chosen)
    eliminate_dead(module)
    return report.total


def test_no_merge_makes_any_op_hold_more_500_seeds() -> None:
    """Under never-longer the peak never rises; neither do the bytes held at any op that stays."""
    made = lowered = 0
    for seed in range(500):
        module = with_duplicates(seed)
        eliminate_dead(module)
        function = main_function(module)
        before = profile(function)
        held = {op: before.held[place] for place, op in enumerate(before.ops)}
        made += merged(module, "never-longer")
        after = profile(function)
        assert after.peak <= before.peak, seed
        assert all(after.held[place] <= held[op] for place, op in enumerate(after.ops)), seed
        lowered += after.peak < before.peak
    assert made > 500 and lowered > 50


@pytest.mark.parametrize("policy", ["never-longer", "cost"])
def test_the_lives_that_are_kept_up_are_those_of_the_program(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """After all decisions the bytes held at each op are those of the merged program, swept anew; values stay equal."""
    deciders: list[under_test._Decider] = []

    class Kept(under_test._Decider):
        def __init__(self, function: FuncOp, policy: str, budget: int | None):
            super().__init__(function, policy, budget)
            deciders.append(self)

    monkeypatch.setattr(under_test, "_Decider", Kept)
    for seed in range(40):
        module = with_duplicates(seed)
        arguments = random_arguments(module, seed)
        expected = evaluate(module, arguments)
        deciders.clear()
        merged(module, policy)
        module.verify()
        after = profile(main_function(module))
        for decider in deciders:
            place: dict[Operation, int] = decider.place
            assert [int(decider.held[place[op]]) for op in after.ops] == list(after.held[:-1]), seed
        for mine, theirs in zip(evaluate(module, arguments), expected, strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_policies_differ_as_they_say() -> None:
    """Merges and raised peaks grow from one policy to the next; a budget holds back those of ``cost``."""
    totals: dict[str, int] = {}
    raised: dict[str, int] = {}
    for policy, within in (("never-longer", None), ("cost", 1.0), ("cost", None), ("always", None)):
        name = f"{policy} {within}"
        totals[name] = raised[name] = 0
        for seed in range(70):
            module = with_duplicates(seed)
            eliminate_dead(module)
            before = profile(main_function(module)).peak
            budget = None if within is None else int(within * before)
            totals[name] += merged(module, policy, budget)
            raised[name] += profile(main_function(module)).peak > before
    never, held, cost, always = totals.values()
    assert never < held < cost < always
    assert list(raised.values())[:2] == [0, 0]
    assert 0 < raised["cost None"] < raised["always None"]
