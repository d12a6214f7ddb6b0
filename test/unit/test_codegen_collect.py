"""Partial results that one kernel stores for another to reduce: split-K products, row sums and maxima, and structural
ops on computed tiles, under the interpreter against PyTorch in float64."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
import torch
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType, f16, f32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from equiforge.codegen.build_kernels import build_kernels
from equiforge.codegen.compile import compile_offline
from equiforge.codegen.emit_triton import emit_triton
from equiforge.codegen.errors import CodegenError
from equiforge.codegen.run import run_interpreted
from equiforge.codegen.schedule import apply_schedules
from equiforge.dialects import forge, kernel, tile
from equiforge.dialects.tile_axes import collected_tile
from equiforge.dialects.tile_types import axes_of, element_type_of, shape_of

TARGETS = ("a100", "h100", "rtx5090")
HALF = 1e-3
INF = float("inf")


class Program:
    """A tile program under construction."""

    def __init__(self, **extents: int):
        self.axes = [tile.AxisOp(name, extent) for name, extent in extents.items()]
        self.block = Block()
        self.results: list[SSAValue] = []

    def argument(self, name: str, shape: tuple[int, ...], element: Attribute = f16) -> SSAValue:
        value = self.block.insert_arg(TensorType(element, shape), len(self.block.args))
        value.name_hint = name
        return value

    def add(self, op: Operation, name: str | None = None) -> SSAValue:
        self.block.add_op(op)
        op.results[0].name_hint = name
        return op.results[0]

    def view(self, value: SSAValue, **dims: int | None) -> SSAValue:
        """The tile of an array: axes with the dimension that each cuts, None for what does not depend on one."""
        for axis, dim in sorted(dims.items()):
            op = tile.ReplicateOp(value, axis) if dim is None else tile.PartitionOp(value, dim, axis)
            value = self.add(op, value.name_hint)
        return value

    def product(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.add(tile.MatmulOp(a, b))

    def stored(self, value: SSAValue, name: str, element: Attribute = f32, **dims: int) -> SSAValue:
        for axis, dim in sorted(dims.items()):
            value = self.add(tile.CombineOp(value, dim, axis))
        return self.add(tile.StoreOp(value, element), name)

    def collected(self, value: SSAValue, axis: str, count: int, name: str = "partials", **dims: int) -> SSAValue:
        """Partial results of ``value`` in an array; ``dims`` are combined, counted as in ``value``."""
        whole = self.add(tile.CollectOp(value, axis, count))
        return self.stored(whole, name, **{a: d + 1 for a, d in dims.items()})

    def reduced(self, reducer: str, partials: SSAValue) -> SSAValue:
        """The tile of an array of partial results, reduced and without the leading dimension."""
        total = self.add(tile.ReduceOp.over_axis(reducer, partials, 0))
        return self.add(forge.ReshapeOp(total, shape_of(total.type)[1:]))

    def module(self, *results: SSAValue) -> ModuleOp:
        self.block.add_op(func.ReturnOp(*results))
        function = func.FuncOp("main", (self.block.arg_types, [r.type for r in results]), Region(self.block))
        module = ModuleOp([*self.axes, function])
        module.verify()
        return module


def emitted(module: ModuleOp, target: str = "interpreter", **fixed: object) -> str:
    built = build_kernels(module)
    built.verify()
    apply_schedules(built, target, {"*": fixed})
    built.verify()
    return emit_triton(built)


def draw(*shape: int, dtype: torch.dtype = torch.float16) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape))).to(dtype)


def error(found: torch.Tensor, expected: torch.Tensor) -> float:
    assert found.shape == expected.shape
    return float((found.double() - expected).norm() / expected.norm())


def split_product(m: int, n: int, k: int, count: int) -> ModuleOp:
    """x @ w with the contraction in ``count`` parts, each of a program of its own; a second kernel adds them."""
    p = Program(k0=k, m0=m, n0=n)
    x, w = p.argument("x", (m, k)), p.argument("w", (k, n))
    part = p.product(p.view(x, k0=1, m0=0, n0=None), p.view(w, k0=0, m0=None, n0=1))
    parts = p.collected(part, "k0", count, m0=0, n0=1)
    total = p.reduced("sum", p.view(parts, m0=1, n0=2))
    return p.module(p.stored(total, "y", f16, m0=0, n0=1))


@pytest.mark.parametrize(
    ("m", "n", "k", "count"),
    [(40, 56, 100, 4), (8, 33, 72, 3), (33, 16, 64, 4), (16, 16, 30, 15), (2, 40, 100, 2), (40, 40, 40, 1)],
)
@pytest.mark.parametrize("matmul", ["dot", "fma"])
def test_split_product(m: int, n: int, k: int, count: int, matmul: str) -> None:
    source = emitted(split_product(m, n, k, count), matmul=matmul)
    assert source.count("@triton.jit") == 2
    x, w = draw(m, k), draw(k, n)
    (found,) = run_interpreted(source, [x, w])
    assert error(found, x.double() @ w.double()) < HALF


def test_axis_of_the_parts_has_the_tile_that_the_array_takes() -> None:
    built = build_kernels(split_product(40, 56, 100, 4))
    for target in (*TARGETS, "interpreter"):
        apply_schedules(built, target)
        first = next(kernel.functions_of(built))
        assert first.schedule is not None and first.schedule.tiles["k0"] == collected_tile(100, 4) == 32
    with pytest.raises(CodegenError, match="collects axis k0 into an array whose shape takes tiles of 32, not 16"):
        apply_schedules(built, "interpreter", {"*": {"tiles": {"k0": 16}}})


def test_elements_beyond_a_ragged_part_are_not_read() -> None:
    # What surrounds the rows of w is inf: a part that reached out would make NaN.
    w = torch.full((200, 33), INF, dtype=torch.float16)
    w[:72] = draw(72, 33)
    x = draw(8, 72)
    (found,) = run_interpreted(emitted(split_product(8, 33, 72, 3)), [x, w[:72]])
    assert error(found, x.double() @ w[:72].double()) < HALF


def row_parts(reducer: str, shift: float, count: int = 3) -> ModuleOp:
    """A reduction of the rows of x + shift in parts; the shift makes padding other than the reducer's identity."""
    p = Program(c0=90, r0=37)
    x = p.argument("x", (37, 90), f32)
    scalar = p.add(forge.ConstantOp(shift, TensorType(f32, [1, 1])))
    moved = p.add(forge.AddOp(p.view(x, c0=1, r0=0), p.view(scalar, c0=None, r0=None)))
    part = p.add(tile.ReduceOp.over_axis(reducer, moved, 1))
    parts = p.collected(part, "c0", count, r0=0)
    total = p.reduced(reducer, p.view(parts, r0=1))
    return p.module(p.stored(total, "y", f32, r0=0), parts)


@pytest.mark.parametrize(
    ("reducer", "shift", "reference"),
    [
        ("sum", 0.0, lambda x: x.sum(1, keepdim=True)),
        ("sum", 3.0, lambda x: x.sum(1, keepdim=True)),
        ("max", -9.0, lambda x: x.amax(1, keepdim=True)),
        ("min", 9.0, lambda x: x.amin(1, keepdim=True)),
        ("prod", 0.5, lambda x: x.prod(1, keepdim=True)),
    ],
)
@pytest.mark.parametrize("count", [1, 2, 3, 6, 12, 90])
def test_row_parts(reducer: str, shift: float, reference: Callable[[torch.Tensor], torch.Tensor], count: int) -> None:
    x = draw(37, 90, dtype=torch.float32)
    found, parts = run_interpreted(emitted(row_parts(reducer, shift, count)), [x])
    moved = x.double() + shift
    assert error(found, reference(moved)) < 1e-5
    size = collected_tile(90, count)
    expected = torch.stack([reference(moved[:, c : c + size]) for c in range(0, 90, size)])
    assert error(parts, expected) < 1e-5


def lora(m: int, k: int, n: int, rank: int, count: int) -> ModuleOp:
    """x @ w + (x @ a) @ b: a kernel of the parts of x @ a, and one that loops over x @ w and adds them up."""
    p = Program(k0=k, m0=m, n0=n)
    x, w = p.argument("x", (m, k)), p.argument("w", (k, n))
    a, b = p.argument("a", (k, rank)), p.argument("b", (rank, n))
    part = p.product(p.view(x, k0=1, m0=0), p.view(a, k0=0, m0=None))
    parts = p.collected(part, "k0", count, m0=0)
    main = p.product(p.view(x, k0=1, m0=0, n0=None), p.view(w, k0=0, m0=None, n0=1))
    main = p.add(tile.ReduceOp.over_parallel("sum", main, "k0"))
    low = p.add(forge.CastOp(p.reduced("sum", p.view(parts, m0=1)), f16))
    low = p.product(p.view(low, n0=None), p.view(b, m0=None, n0=1))
    return p.module(p.stored(p.add(forge.AddOp(main, low)), "y", f16, m0=0, n0=1))


@pytest.mark.parametrize(("m", "count"), [(8, 10), (2, 5), (33, 3)])
def test_parts_feed_a_product(m: int, count: int) -> None:
    source = emitted(lora(m, 150, 40, 16, count) if count != 3 else lora(m, 90, 40, 20, 3))
    x, w, a, b = (
        (draw(m, 150), draw(150, 40), draw(150, 16), draw(16, 40))
        if count != 3
        else (draw(m, 90), draw(90, 40), draw(90, 20), draw(20, 40))
    )
    (found,) = run_interpreted(source, [x, w, a, b])
    low = (x.double() @ a.double()).half().double()
    assert error(found, x.double() @ w.double() + low @ b.double()) < HALF


STRUCTURE: Mapping[str, tuple[Callable[[Program, SSAValue], SSAValue], Callable[[torch.Tensor], torch.Tensor]]] = {
    "transpose of a product": (
        lambda p, y: p.add(forge.TransposeOp(y, [1, 0])),
        lambda y: y.t(),
    ),
    "reshape that inserts a dimension": (
        lambda p, y: p.add(forge.ReshapeOp(y, (33, 1, 32))),
        lambda y: y[:, None],
    ),
    "expand of row sums": (
        lambda p, y: p.add(forge.ExpandOp(p.add(tile.ReduceOp.over_axis("sum", y, 1)), (33, 32))),
        lambda y: y.sum(1, keepdim=True).expand(33, 32),
    ),
    "reshape beside a ragged axis": (
        lambda p, y: p.add(forge.ReshapeOp(y, (33, 4, 8))),
        lambda y: y.reshape(33, 4, 8),
    ),
    "reshape of heads, transposed": (
        lambda p, y: p.add(forge.TransposeOp(p.add(forge.ReshapeOp(y, (33, 2, 16))), [1, 0, 2])),
        lambda y: y.reshape(33, 2, 16).transpose(0, 1),
    ),
    "transpose, then a reduction of the columns": (
        lambda p, y: p.add(tile.ReduceOp.over_axis("max", p.add(forge.TransposeOp(y, [1, 0])), 0)),
        lambda y: y.amax(1)[None],
    ),
}


@pytest.mark.parametrize("name", STRUCTURE)
def test_structure_of_a_computed_tile(name: str) -> None:
    # A contraction of 8 elements is no dot, so that whole dimensions have their own sizes.
    for inner in (8, 16) if "reshape" not in name or "inserts" in name else (8,):
        x, w = draw(33, inner), draw(inner, 32)
        (found,) = run_interpreted(emitted(structure(name, inner), matmul="fma" if inner == 8 else "dot"), [x, w])
        assert error(found, STRUCTURE[name][1](x.double() @ w.double())) < HALF


def structure(name: str, inner: int) -> ModuleOp:
    """A product of 33 x 32, whose columns no axis cuts, and what ``STRUCTURE`` makes of it."""
    p = Program(m0=33)
    x, w = p.argument("x", (33, inner)), p.argument("w", (inner, 32))
    y = p.product(p.view(x, m0=0), p.view(w, m0=None))
    changed = STRUCTURE[name][0](p, y)
    assert axes_of(changed.type) == ("m0",) and element_type_of(changed.type) == f32
    return p.module(p.stored(changed, "y", f32, m0=shape_of(changed.type).index(33)))


def test_a_tile_that_does_not_depend_on_an_axis_is_repeated_along_it() -> None:
    p = Program(m0=33, n0=20)
    x, w = p.argument("x", (1, 16)), p.argument("w", (16, 20))
    row = p.product(p.view(x, m0=None, n0=None), p.view(w, m0=None, n0=1))
    grown = p.add(forge.ExpandOp(row, (33, 20), [tile.PartitionAttr("m0", 0)]))
    (found,) = run_interpreted(emitted(p.module(p.stored(grown, "y", m0=0, n0=1))), [draw(1, 16), draw(16, 20)])
    assert error(found, (draw(1, 16).double() @ draw(16, 20).double()).expand(33, 20)) < HALF


def test_reshape_that_merges_padded_dimensions_is_refused() -> None:
    p = Program(m0=33)
    x, w = p.argument("x", (33, 16)), p.argument("w", (16, 20))
    y = p.product(p.view(x, m0=0), p.view(w, m0=None))
    split = p.add(forge.ReshapeOp(y, (33, 4, 5)))
    module = p.module(p.stored(split, "y", f32, m0=0))
    with pytest.raises(CodegenError, match=r"forge\.reshape of a computed tile with padded dimensions"):
        emitted(module)


def test_stores_that_need_other_tiles_are_other_kernels() -> None:
    p = Program(c0=90)
    part = p.add(tile.ReduceOp.over_axis("sum", p.view(p.argument("x", (8, 90), f32), c0=1), 1))
    source = emitted(p.module(*(p.collected(part, "c0", count, f"by_{count}") for count in (6, 3, 6))))
    assert source.count("@triton.jit") == 2
    x = draw(8, 90, dtype=torch.float32)
    sixths, thirds, again = run_interpreted(source, [x])
    assert torch.equal(sixths, again)
    assert error(sixths[1], x[:, 16:32].double().sum(1, keepdim=True)) < 1e-6
    assert error(thirds[2], x[:, 64:].double().sum(1, keepdim=True)) < 1e-6


def test_collect_of_a_combined_value_is_refused() -> None:
    p = Program(r0=37, c0=90)
    part = p.add(tile.ReduceOp.over_axis("sum", p.view(p.argument("x", (37, 90), f32), c0=1, r0=0), 1))
    parts = p.collected(p.add(tile.CombineOp(part, 0, "r0")), "c0", 3)
    with pytest.raises(CodegenError, match=r"tile\.collect of a result of tile\.combine: a stored"):
        build_kernels(p.module(parts))


@pytest.mark.parametrize("target", TARGETS)
def test_programs_compile(target: str) -> None:
    modules = [split_product(40, 56, 4000, 16), row_parts("max", 1.0), lora(8, 4096, 256, 16, 16)]
    sources = [emitted(module, target) for module in modules]
    sources += [emitted(structure(name, 8), target, matmul="fma") for name in STRUCTURE]
    for source in sources:
        for compiled in compile_offline(source, target):
            assert compiled.fits and compiled.cubin
