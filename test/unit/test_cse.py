"""Merging equal ops: values stay as they are, at least as much is found as by xDSL, and no shape is too much."""

from __future__ import annotations

import itertools
import random
import sys
from collections.abc import Callable

import numpy as np
import pytest
from xdsl.builder import ImplicitBuilder
from xdsl.dialects import test as test_dialect
from xdsl.dialects.builtin import FileLineColLoc, FusedLoc, IntAttr, ModuleOp, StringAttr, TensorType, f32, i32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.transforms.common_subexpression_elimination import cse as cse_of_xdsl
from xdsl.transforms.dead_code_elimination import region_dce

from equiforge.cse.dead import eliminate_dead
from equiforge.cse.effects import walk
from equiforge.cse.eliminate import Merge, candidates, eliminate
from equiforge.dialects import forge
from equiforge.verify.interpreter import evaluate
from equiforge.verify.programs import program
from equiforge.verify.random_programs import random_arguments, random_program

T = TensorType(f32, [4])


def count(module: Operation) -> int:
    return sum(1 for _ in walk(module))


def repeated(seed: int) -> ModuleOp:
    """A random program in which half of the ops stand twice, some with their operands exchanged, and every use takes
    one of the copies."""
    module = random_program(seed, 10)
    generator = random.Random(seed)
    function = next(op for op in module.ops if isinstance(op, FuncOp))
    block = function.body.block
    copies: dict[SSAValue, list[SSAValue]] = {}
    for op in list(block.ops):
        op.operands = [generator.choice(copies.get(operand, [operand])) for operand in op.operands]
        if op.results and generator.random() < 0.5:
            copy = op.clone()
            if isinstance(op, forge.CommutativeOp):
                copy.operands = [op.operands[1], op.operands[0]]
            block.insert_op_after(copy, op)
            copies[op.results[0]] = [op.results[0], copy.results[0]]
    module.verify()
    return module


@pytest.mark.parametrize("seed", range(60))
def test_programs_keep_every_bit_and_no_less_is_found_than_by_xdsl(seed: int) -> None:
    module = repeated(seed)
    theirs, ours = module.clone(), module.clone()
    cse_of_xdsl(theirs)
    region_dce(theirs.body)
    eliminate(ours)
    eliminate_dead(ours)
    ours.verify()
    assert count(ours) <= count(theirs)
    arguments = random_arguments(module, seed)
    for before, after in zip(evaluate(module, arguments), evaluate(ours, arguments), strict=True):
        np.testing.assert_array_equal(before, after, strict=True)
    again = eliminate(ours)
    assert again.total == 0


def test_without_repetition_nothing_is_found() -> None:
    found = [eliminate(module).total for module in (random_program(seed, 10) for seed in range(20))]
    assert min(found) == 0


# Refused merges


def exponentials(x: SSAValue) -> list[SSAValue]:
    """Three equal ops, and of each one more."""
    return [forge.NegOp(forge.ExpOp(x)).result for _ in range(3)]


def test_a_refused_merge_leaves_the_program_as_it_is() -> None:
    module = program([T], exponentials)
    before = str(module)
    report = eliminate(module, lambda _: False)
    assert str(module) == before
    assert report.total == 0 and report.refused == {"forge.exp": 2, "forge.neg": 2}


def test_what_follows_a_refused_merge_can_be_merged() -> None:
    # The exponentials are kept apart, their negatives are merged, and then the later exponentials are dead.
    module = program([T], exponentials)
    report = eliminate(module, lambda merge: merge.duplicate.name != "forge.exp")
    assert report.merged == {"forge.neg": 2} and report.refused == {"forge.exp": 2}
    assert eliminate_dead(module) == {"forge.exp": 2}


def test_the_nearest_equal_op_is_offered() -> None:
    module = program([T], exponentials)
    asked: list[Merge] = []

    def refuse(merge: Merge) -> bool:
        asked.append(merge)
        return False

    eliminate(module, refuse)
    first, second, third = (op for op in module.walk() if isinstance(op, forge.ExpOp))
    offered = [(m.survivor, m.duplicate) for m in asked if m.duplicate.name == "forge.exp"]
    assert offered == [(first, second), (second, third)]


def test_candidates_are_all_merges() -> None:
    module = program([T], exponentials)
    before = str(module)
    found = candidates(module)
    assert str(module) == before
    assert [merge.duplicate.name for merge in found] == ["forge.exp", "forge.neg"] * 2
    assert eliminate(module).total == len(found)


# Locations


def test_locations_of_xdsl_are_fused_too() -> None:
    module = program([T], exponentials)
    for line, op in enumerate(op for op in module.walk() if isinstance(op, forge.ExpOp)):
        op.location = FileLineColLoc(StringAttr("model.py"), IntAttr(line), IntAttr(0))
    eliminate(module)
    (left,) = (op for op in module.walk() if isinstance(op, forge.ExpOp))
    assert isinstance(left.location, FusedLoc)
    assert str(left.location) == 'loc(fused["model.py":0:0, "model.py":1:0, "model.py":2:0])'


# Shapes that are hard on a recursive or quadratic pass; tools/bench-cse has them at full size


def straight(body: Callable[[Block], SSAValue]) -> ModuleOp:
    """A module whose ``@main`` holds what ``body`` puts into its block; not verified, which would recurse."""
    block = Block(arg_types=[T])
    result = body(block)
    block.add_op(ReturnOp(result))
    return ModuleOp([FuncOp("main", ([T], [result.type]), Region(block))])


def add_all(block: Block, ops: list[Operation]) -> SSAValue:
    block.add_ops(ops)
    return ops[-1].results[0]


def test_a_long_chain_twice() -> None:
    def body(block: Block) -> SSAValue:
        ends: list[SSAValue] = []
        for _ in range(2):
            value: SSAValue = block.args[0]
            for _ in range(2_000):
                value = add_all(block, [forge.ExpOp(value)])
            ends.append(value)
        return add_all(block, [forge.AddOp(*ends)])

    module = straight(body)
    assert eliminate(module).merged == {"forge.exp": 2_000}
    assert eliminate_dead(module).total() == 0
    assert count(module) == 2_004


def test_many_equal_ops_and_a_value_with_many_uses() -> None:
    def body(block: Block) -> SSAValue:
        one = [forge.ExpOp(block.args[0]) for _ in range(2_000)]
        all_of_them = forge.ConcatOp([op.result for op in one], 0)
        return add_all(block, [*one, all_of_them])

    module = straight(body)
    assert eliminate(module).total == 1_999
    concat = next(op for op in module.walk() if isinstance(op, forge.ConcatOp))
    assert len(set(concat.operands)) == 1 and len(concat.operands) == 2_000


def nested(depth: int, kind: str) -> Operation:
    """An op with an op in its region, and so on, around an op with a property."""
    block = Block([test_dialect.TestPureOp(result_types=[i32], properties={"prop1": StringAttr(kind)})])
    op: Operation = test_dialect.TestPureOp(result_types=[i32], regions=[Region(block)])
    for _ in range(depth - 1):
        argument = Block(arg_types=[i32])
        argument.add_op(op)
        argument.add_op(test_dialect.TestTermOp(operands=[op.results[0], argument.args[0]]))
        op = test_dialect.TestPureOp(result_types=[i32], regions=[Region(argument)])
    return op


def test_regions_nested_deeper_than_python_recurses() -> None:
    depth = sys.getrecursionlimit() // 2
    pair = [nested(depth, "a"), nested(depth, "a"), nested(depth, "b")]
    module = ModuleOp([*pair, test_dialect.TestTermOp(operands=[op.results[0] for op in pair])])
    before = count(module)
    assert eliminate(module).total == 1
    assert count(module) < before
    last = module.body.block.last_op
    assert last is not None
    a, b, c = last.operands
    assert a is b and a is not c
    last.operands = []
    assert eliminate_dead(module).total() == 2
    assert count(module) == 2


def test_branches_without_end() -> None:
    # 2,000 blocks in a row, each with an op that the first has.
    from xdsl.dialects.cf import BranchOp

    blocks = [Block() for _ in range(2_000)]
    for block, following in itertools.pairwise(blocks):
        block.add_op(BranchOp(following))
    with ImplicitBuilder(blocks[-1]):
        ReturnOp()
    for block in blocks:
        first = block.first_op
        assert first is not None
        block.insert_op_before(forge.ConstantOp(1.0, T), first)
    module = ModuleOp([FuncOp("main", ([], []), Region(blocks))])
    assert eliminate(module).total == 1_999
    assert eliminate_dead(module).total() == 1
