"""Prints, as a Markdown table, the processor time of ``cse`` and ``dce`` on generated programs.

``tools/bench-cse [SHAPE…] [SIZE…]``; without arguments every shape at 1,000, 10,000, 100,000 and 1,000,000 ops. The
time is of one core, without making the program; the best of some runs, each on a program of its own.
"""

from __future__ import annotations

import gc
import random
import sys
import time
from collections.abc import Callable

from xdsl.dialects import test as test_dialect
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType, f32, i32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue

from equiforge.cse.dead import eliminate_dead
from equiforge.cse.eliminate import eliminate
from equiforge.dialects import forge

SIZES = (1_000, 10_000, 100_000, 1_000_000)
DEPTH = 500
"""Nesting of regions."""
_TENSOR = TensorType(f32, [4])


class _Writer:
    """Puts ops into a block, without the inference of types, which takes longer than the passes do. Each op gets a
    type of its own, as it does when it is parsed."""

    def __init__(self) -> None:
        self.block = Block(arg_types=[_TENSOR] * 8)

    def op(self, kind: type[Operation], *operands: SSAValue) -> OpResult:
        made = kind.create(operands=operands, result_types=[TensorType(f32, [4])])
        self.block.add_op(made)
        return made.results[0]

    def module(self, *results: SSAValue) -> ModuleOp:
        self.block.add_op(ReturnOp(*results))
        types = [argument.type for argument in self.block.args], [result.type for result in results]
        return ModuleOp([FuncOp("main", types, Region(self.block))])


def mixed(size: int) -> ModuleOp:
    """Ops on values near by, about one in fifteen of them equal to another."""
    w, generator = _Writer(), random.Random(0)
    recent: list[SSAValue] = list(w.block.args)
    for _ in range(size):
        if generator.random() < 0.3:
            value = w.op(forge.ExpOp, generator.choice(recent))
        else:
            value = w.op(forge.AddOp, generator.choice(recent), generator.choice(recent))
        recent.append(value)
        if len(recent) > 50:
            del recent[0]
    return w.module(*recent)


def distinct(size: int) -> ModuleOp:
    """A chain in which nothing is equal: the whole program is one dependence."""
    w = _Writer()
    value: SSAValue = w.block.args[0]
    for _ in range(size):
        value = w.op(forge.ExpOp, value)
    return w.module(value)


def twin_chains(size: int) -> ModuleOp:
    """Two equal chains, each half as long as the program: the second merges op by op."""
    w = _Writer()
    ends: list[SSAValue] = []
    for _ in range(2):
        value: SSAValue = w.block.args[0]
        for _ in range(size // 2):
            value = w.op(forge.ExpOp, value)
        ends.append(value)
    return w.module(*ends)


def equal_ops(size: int) -> ModuleOp:
    """One op over and over, each used once by an op that differs from all others."""
    w = _Writer()
    value: SSAValue = w.block.args[1]
    for _ in range(size // 2):
        value = w.op(forge.AddOp, value, w.op(forge.ExpOp, w.block.args[0]))
    return w.module(value)


def one_value_used(size: int) -> ModuleOp:
    """A value and its equal, each used by half of the ops, which are all different."""
    w = _Writer()
    shared = [w.op(forge.ExpOp, w.block.args[0]) for _ in range(2)]
    value: SSAValue = w.block.args[1]
    for number in range(size):
        value = w.op(forge.AddOp, value, shared[number % 2])
    return w.module(value)


def one_op_uses(size: int) -> ModuleOp:
    """One op that uses all others, of which half are equal to the other half."""
    w = _Writer()
    values: list[SSAValue] = []
    for _ in range(2):
        value: SSAValue = w.block.args[0]
        for _ in range(size // 2):
            value = w.op(forge.ExpOp, value)
            values.append(value)
    return w.module(w.op(forge.ConcatOp, *values))


def dead(size: int) -> ModuleOp:
    """Nothing is needed."""
    w = _Writer()
    value: SSAValue = w.block.args[0]
    for _ in range(size):
        value = w.op(forge.ExpOp, value)
    return w.module(w.block.args[0])


def nested(size: int) -> ModuleOp:
    """Pairs of equal ops with regions, 500 deep, as many as make up the size."""
    towers = max(2, size // (2 * DEPTH))
    ops = [_tower(number // 2) for number in range(towers)]
    return ModuleOp([*ops, test_dialect.TestTermOp(operands=[op.results[0] for op in ops])])


def _tower(number: int) -> Operation:
    block = Block([test_dialect.TestPureOp(result_types=[i32], properties={"prop1": StringAttr(str(number))})])
    op: Operation = test_dialect.TestPureOp(result_types=[i32], regions=[Region(block)])
    for _ in range(DEPTH - 1):
        outer = Block(arg_types=[i32])
        # First the op inside, so that adding it does not look through what it is added to.
        outer.add_op(op)
        outer.add_op(test_dialect.TestTermOp(operands=[op.results[0], outer.args[0]]))
        op = test_dialect.TestPureOp(result_types=[i32], regions=[Region(outer)])
    return op


SHAPES: dict[str, Callable[[int], ModuleOp]] = {
    "mixed": mixed,
    "distinct": distinct,
    "twin-chains": twin_chains,
    "equal-ops": equal_ops,
    "one-value-used": one_value_used,
    "one-op-uses": one_op_uses,
    "dead": dead,
    "nested": nested,
}


def measure(shape: str, size: int) -> tuple[float, float, int, int]:
    """Seconds of cse and of dce, ops merged and ops dead."""
    best: tuple[float, float, int, int] | None = None
    for _ in range(max(1, min(5, 200_000 // size))):
        module = SHAPES[shape](size)
        gc.collect()
        began = time.process_time()
        merged = eliminate(module).total
        between = time.process_time()
        gone = eliminate_dead(module).total()
        ended = time.process_time()
        found = (between - began, ended - between, merged, gone)
        if best is None or sum(found[:2]) < sum(best[:2]):
            best = found
    assert best is not None
    return best


def main(arguments: list[str]) -> int:
    """Prints the table row by row."""
    sizes = [int(text.replace("_", "").replace(",", "")) for text in arguments if text[0].isdigit()] or list(SIZES)
    shapes = [text for text in arguments if not text[0].isdigit()] or list(SHAPES)
    unknown = [shape for shape in shapes if shape not in SHAPES]
    if unknown:
        print(f"bench-cse: no shape {unknown[0]}; there are {', '.join(SHAPES)}", file=sys.stderr)
        return 2
    print("| shape | ops | merged | dead | cse s | dce s | µs an op | to 10,000 |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for shape in shapes:
        base: float | None = None
        for size in sorted(sizes):
            cse, dce, merged, gone = measure(shape, size)
            each = (cse + dce) / size * 1e6
            base = each if size == 10_000 else base
            ratio = f"{each / base:.2f}" if base else "–"
            print(
                f"| {shape} | {size:,} | {merged:,} | {gone:,} | {cse:.3f} | {dce:.3f} | {each:.1f} | {ratio} |",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
