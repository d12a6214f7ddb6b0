"""Equal kernels: built once, whoever launches them; and what is not equal is not taken for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from equiforge.codegen.build_kernels import build_kernels
from equiforge.codegen.equal_kernels import KernelForms
from equiforge.codegen.kernel_builder import KernelBuilder
from equiforge.codegen.layout import Layout
from equiforge.codegen.sources import Sources
from equiforge.dialects import kernel, tile
from equiforge.ir_text import parse_module, text_without_names
from equiforge.partition.compose import compose, function_of

PROGRAMS = sorted((Path(__file__).parent.parent / "emission").glob("*.mlir"))


def repeated(program: ModuleOp, times: int) -> ModuleOp:
    """The program so many times in one, each time with arguments of its own."""
    function = function_of(program)
    types, results = list(function.body.block.arg_types), list(function.function_type.outputs)
    block = Block(arg_types=types * times)
    returned: list[SSAValue] = []
    for start in range(0, len(block.args), len(types)):
        call = CallOp("part", block.args[start : start + len(types)], results)
        block.add_op(call)
        returned.extend(call.results)
    block.add_op(ReturnOp(*returned))
    return compose(FuncOp("main", (types * times, results * times), Region(block)), {"part": program})


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How many kernels were built under each name."""
    counts: Counter[str] = Counter()
    build = KernelBuilder.build

    def counted(self: KernelBuilder, name: str, roots: Any) -> kernel.FuncOp:
        counts[name] += 1
        return build(self, name, roots)

    monkeypatch.setattr(KernelBuilder, "build", counted)
    return counts


def texts(module: ModuleOp) -> list[str]:
    return [text_without_names(function) for function in kernel.functions_of(module)]


def graph(module: ModuleOp) -> str:
    return str(next(op for op in module.ops if isinstance(op, kernel.GraphOp)))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_kernels_seen_to_be_equal_are_those_that_come_out_equal(
    path: Path, built: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = repeated(parse_module(path.read_text()), 3)
    once = build_kernels(whole)
    number = built.total()
    assert number == len(texts(once)), "each distinct kernel is built once"
    of = KernelForms.of
    monkeypatch.setattr(KernelForms, "of", lambda self, roots: (object(), of(self, roots)[1]))
    each = build_kernels(whole)
    launches = [op for op in each.walk() if isinstance(op, kernel.LaunchOp)]
    assert built.total() - number == len(launches), "without forms each is built"
    assert texts(once) == texts(each)
    assert graph(once) == graph(each)


def sums(*pairs: tuple[str, str]) -> ModuleOp:
    """A program that stores the sums along the rows of the sum of each pair of arguments."""
    view = "!tile.view<8x8xf32, [#tile.partition<@t0, 0>]>"
    rows = "!tile.view<8x1xf32, [#tile.partition<@t0, 0>]>"
    lines: list[str] = []
    for n, pair in enumerate(pairs):
        for name, value in zip("ab", pair, strict=True):
            lines.append(f"%{name}{n} = tile.partition %{value} along 0 by @t0 : (tensor<8x8xf32>) -> {view}")
        lines.append(f"%c{n} = forge.add %a{n}, %b{n} : {view}")
        lines.append(f"%r{n} = tile.reduce sum over axis(1) %c{n} : ({view}) -> {rows}")
        lines.append(f"%k{n} = tile.combine %r{n} along 0 by @t0 : ({rows}) -> tensor<8x1xf32>")
        lines.append(f"%s{n} = tile.store %k{n} : tensor<8x1xf32>")
    results = ", ".join(["tensor<8x1xf32>"] * len(pairs))
    arguments = ", ".join(f"%{name}: tensor<8x8xf32>" for name in "xyz")
    lines.append(f"func.return {', '.join(f'%s{n}' for n in range(len(pairs)))} : {results}")
    body = "\n".join(lines)
    return parse_module(f"tile.axis @t0 extent 8\nfunc.func @main({arguments}) -> ({results}) {{\n{body}\n}}")


def forms(module: ModuleOp, strides: dict[int, Sequence[int]] | None = None) -> int:
    """How many forms the stores of a program have, each as a kernel of its own."""
    function = function_of(module)
    arguments = function.body.block.args
    layouts = {arguments[n]: Layout.strided((8, 8), s) for n, s in (strides or {}).items()}
    found = KernelForms(Sources(layouts))
    stores = [op for op in function.body.block.ops if isinstance(op, tile.StoreOp)]
    bases = [store.operand.owner for store in stores]
    assert all(isinstance(base, tile.CombineOp) for base in bases)
    return len({found.of([(s, b.operands[0], None)])[0] for s, b in zip(stores, bases, strict=True)})


def test_kernels_of_other_arrays_have_one_form() -> None:
    assert forms(sums(("x", "y"), ("y", "z"), ("z", "x"))) == 1


def test_an_array_read_twice_is_not_two_arrays() -> None:
    assert forms(sums(("x", "x"), ("x", "y"))) == 2


def test_arrays_of_other_strides_are_read_by_another_kernel() -> None:
    module = sums(("x", "y"), ("y", "z"), ("y", "x"))
    assert forms(module, {0: (1, 8)}) == 3
    assert forms(module, {0: (1, 8), 1: (1, 8), 2: (1, 8)}) == 1
