"""Reductions in two levels: slices of an outer axis, each reduced by a loop over an inner axis, and a second kernel
that merges what the slices leave. By the reference interpreter and as emitted kernels, against PyTorch in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pytest
import torch
from xdsl.builder import ImplicitBuilder
from xdsl.dialects.builtin import ModuleOp, TensorType, f16, f32, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from equiforge.codegen.build_kernels import build_kernels
from equiforge.codegen.compile import compile_offline
from equiforge.codegen.emit_triton import emit_triton
from equiforge.codegen.errors import CodegenError
from equiforge.codegen.run import Trips, run_interpreted
from equiforge.codegen.schedule import apply_schedules
from equiforge.dialects import forge, kernel, tile
from equiforge.dialects.tile_axes import collected_tile
from equiforge.dialects.tile_types import shape_of
from equiforge.errors import EquiforgeError
from equiforge.verify.check_equiv import check_equivalent
from equiforge.verify.interpreter import Interpreter, evaluate
from equiforge.verify.programs import program
from equiforge.verify.shrink import shrink

Value = SSAValue | Operation
OpT = TypeVar("OpT", bound=Operation)
INF = float("inf")


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


def tensor(*shape: int, element: Attribute = f32) -> TensorType[Attribute]:
    return TensorType(element, shape)


def value(x: Value) -> SSAValue:
    return SSAValue.get(x)


def axes(extent: int, **others: int) -> list[Operation]:
    """@k0 and @k1 within it, and further axes."""
    return [tile.AxisOp("k0", extent), tile.AxisOp("k1", extent, "k0"), *(tile.AxisOp(a, n) for a, n in others.items())]


def cut(x: Value, dim: int | None, *names: str) -> Value:
    """A dimension cut by each of the axes in turn, or the whole at each of their coordinates."""
    for name in names:
        x = tile.ReplicateOp(x, name) if dim is None else tile.PartitionOp(x, dim, name)
    return x


def split_product(m: int, n: int, k: int, count: int, element: Attribute = f32) -> ModuleOp:
    """x @ w with the contraction in ``count`` slices, each a loop of its own; a second kernel adds them."""

    def body(x: SSAValue, w: SSAValue) -> Value:
        x.name_hint, w.name_hint = "x", "w"
        a = cut(cut(cut(x, 1, "k0", "k1"), 0, "m0"), None, "n0")
        b = cut(cut(cut(w, 0, "k0", "k1"), None, "m0"), 1, "n0")
        part = tile.ReduceOp.over_parallel("sum", tile.MatmulOp(a, b), "k1")
        whole = tile.CombineOp(tile.CombineOp(tile.CollectOp(part, "k0", count), 1, "m0"), 2, "n0")
        parts = cut(cut(named(tile.StoreOp(whole), "parts"), 1, "m0"), 2, "n0")
        total = forge.ReshapeOp(tile.ReduceOp.over_axis("sum", parts, 0), (m, n))
        return named(tile.StoreOp(tile.CombineOp(tile.CombineOp(total, 0, "m0"), 1, "n0"), element), "y")

    return program([tensor(m, k, element=element), tensor(k, n, element=element)], body, axes(k, m0=m, n0=n))


def view(shape: Sequence[int], **states: int | None) -> Attribute:
    """A view type: a keyword an axis with the dimension that it partitions, None for replicate."""
    return tile.make_type(
        shape, f32, [tile.ReplicateAttr(a) if d is None else tile.PartitionAttr(a, d) for a, d in states.items()]
    )


def region(arg_types: Sequence[Attribute], body: Callable[..., Sequence[Value]]) -> Region:
    block = Block(arg_types=arg_types)
    with ImplicitBuilder(block):
        tile.YieldOp(*body(*block.args))
    return Region(block)


@dataclass(frozen=True)
class Decoding:
    """softmax(q kᵀ, masked) v with the keys in ``count`` slices: each stores its maximum, normalizer and weighted sum,
    and a second kernel merges them.

    The scores have a bias, or, with ``window``, row i sees the last ``window`` of the keys up to ``keys - rows + i``.
    With ``tiled`` the rows are cut by @q0, else they are one tile. ``copies``: how many of the three kernels have the
    reduction written out for themselves, with a reducer of their own; the others share the last one's.
    """

    heads: int
    rows: int
    keys: int
    dim: int
    count: int
    element: Attribute = f32
    window: int | None = None
    tiled: bool = False
    copies: int = 1

    def tiles(self, x: Value, row: int | None, key: int | None = -1, head: int | None = 0) -> Value:
        """What each coordinate sees of an array; -1: the value does not depend on the keys at all."""
        x = cut(x, head, "h0")
        x = x if key == -1 else cut(x, key, "k0", "k1")
        return cut(x, row, "q0") if self.tiled else x

    def scalar(self, number: float, rank: int = 3, element: Attribute = f32) -> Value:
        return self.tiles(forge.ConstantOp(number, tensor(*[1] * rank, element=element)), None, -1, None)

    def view(self, *shape: int, **states: int | None) -> Attribute:
        """A view type: dimensions 0 and 1 are heads and rows; further axes by keyword."""
        return view(shape, h0=0, **{"q0": 1} if self.tiled else {}, **states)

    def reducer(self, name: str) -> tile.ReducerOp:
        """Running maximum, normalizer and weighted sum over tiles of @k1; it does not mention @k0."""
        heads, rows = self.heads, self.rows
        columns = [self.view(heads, rows, 1), self.view(heads, rows, 1), self.view(heads, rows, self.dim)]

        def body(m: SSAValue, l: SSAValue, o: SSAValue, s: SSAValue, v: SSAValue) -> Sequence[Value]:  # noqa: E741
            for argument, name in ((m, "m"), (l, "l"), (o, "o"), (s, "s"), (v, "v")):
                argument.name_hint = name
            part = named(tile.ReduceOp.over_axis("max", s, 2), "tile_max")
            m1 = named(tile.AccumulateOp("max", m, part, "k1"), "m_new").result
            empty = named(forge.CompareOp("eq", m1, self.scalar(-INF)), "empty")
            shift = named(forge.SelectOp(empty, self.scalar(0.0), m1), "shift")
            rescale = named(forge.ExpOp(forge.SubOp(m, shift)), "rescale")
            p = named(forge.ExpOp(forge.SubOp(s, tile.ReplicateOp(shift, "k1"))), "p")
            l1 = tile.AccumulateOp("sum", forge.MulOp(l, rescale), tile.ReduceOp.over_axis("sum", p, 2), "k1")
            weights = p if self.element == f32 else forge.CastOp(p, self.element)
            o1 = tile.AccumulateOp("sum", forge.MulOp(o, rescale), tile.MatmulOp(weights, v), "k1")
            return [m1, named(l1, "l_new"), named(o1, "o_new")]

        values = {"h0": 0, **({"q0": None} if self.tiled else {}), "k1": 1}
        inputs = [
            self.view(heads, rows, self.keys, k1=2),
            tile.with_element_type(view((heads, self.keys, self.dim), **values), self.element),
        ]
        return tile.ReducerOp(name, [-INF, 0.0, 0.0], region([*columns, *inputs], body))

    def masked(self, s: Value, bias: SSAValue | None) -> Value:
        if bias is not None:
            return forge.AddOp(s, self.tiles(bias, 1, 2, None))
        assert self.window is not None
        one = tensor(1, 1, 1, element=i64)
        row = self.tiles(forge.IotaOp(tensor(1, self.rows, 1, element=i64), 1), 1, None, None)
        key = self.tiles(forge.IotaOp(tensor(1, 1, self.keys, element=i64), 2), None, 2, None)

        def shifted(by: int) -> Value:
            return forge.AddOp(row, self.tiles(forge.ConstantOp(by, one), None, None, None))

        last = self.keys - self.rows
        past = forge.CompareOp("le", key, shifted(last))
        near = forge.CompareOp("gt", key, shifted(last - self.window))
        dead = self.tiles(forge.ConstantOp(-INF, tensor(1, 1, 1)), None, None, None)
        return forge.SelectOp(named(forge.AndOp(past, near), "visible"), s, dead)

    def stored(self, x: Value, name: str, element: Attribute = f32, first: int = 0) -> Value:
        if self.tiled:
            x = tile.CombineOp(x, first + 1, "q0")
        return named(tile.StoreOp(tile.CombineOp(x, first, "h0"), element), name)

    def merged(self, fields: Sequence[Value]) -> Value:
        """What the second kernel does with the arrays that the first one left."""
        m, l, o = (self.tiles(field, 2, -1, 1) for field in fields)  # noqa: E741
        top = named(tile.ReduceOp.over_axis("max", m, 0), "m_all")
        empty = forge.CompareOp("eq", top, self.scalar(-INF, 4))
        shift = forge.SelectOp(empty, self.scalar(0.0, 4), top)
        weight = named(forge.ExpOp(forge.SubOp(m, shift)), "weight")
        normalizer = tile.ReduceOp.over_axis("sum", forge.MulOp(l, weight), 0)
        total = tile.ReduceOp.over_axis("sum", forge.MulOp(o, weight), 0)
        return forge.ReshapeOp(forge.DivOp(total, normalizer), (self.heads, self.rows, self.dim))

    def body(self, q: SSAValue, k: SSAValue, v: SSAValue, bias: SSAValue | None = None) -> Value:
        for argument, name in ((q, "q"), (k, "k"), (v, "v"), (bias, "bias")):
            if argument is not None:
                argument.name_hint = name
        raw = [tile.PartitionAttr("h0", 0), tile.PartialAttr("k0")]
        raw += [tile.PartitionAttr("q0", 1)] if self.tiled else []
        types = [tile.make_type((self.heads, self.rows, n), f32, raw) for n in (1, 1, self.dim)]
        fields: list[Value] = []
        states: list[Value] = []
        for number, name in enumerate(("m", "l", "o")):
            if number < self.copies:
                keys = self.tiles(forge.TransposeOp(k, [0, 2, 1]), None, 2)
                s = named(self.masked(tile.MatmulOp(self.tiles(q, 1, None), keys), bias), "s")
                inputs = [value(s), value(self.tiles(v, None, 1))]
                states.append(tile.ReduceOp.rolling(f"online{number}", inputs, "k1", types))
            collected = tile.CollectOp(forge.GetOp(states[-1], number), "k0", self.count)
            fields.append(self.stored(collected, name, f32, 1))
        return self.stored(self.merged(fields), "attention", self.element)

    def module(self) -> ModuleOp:
        shapes = [(self.heads, n, self.dim) for n in (self.rows, self.keys, self.keys)]
        types = [tensor(*shape, element=self.element) for shape in shapes]
        types += [tensor(1, self.rows, self.keys)] if self.window is None else []
        names = {"h0": self.heads, **({"q0": self.rows} if self.tiled else {})}
        reducers = [self.reducer(f"online{number}") for number in range(self.copies)]
        return program(types, self.body, [*axes(self.keys, **names), *reducers])


def named(op: OpT, name: str) -> OpT:
    op.results[0].name_hint = name
    return op


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """What PyTorch computes eagerly in float64: NaN in a row that sees no key."""
    a, b, c, d = (torch.from_numpy(np.asarray(x, np.float64)) for x in (q, k, v, bias))
    return (torch.softmax(a @ b.mT + d, dim=-1) @ c).numpy()


def hostile_bias(rows: int, keys: int, slice_size: int) -> np.ndarray:
    """Rows that see nothing of some slices, only the last key, only a middle slice, and nothing at all."""
    bias = normal(1, rows, keys, seed=7)
    bias[0, 0, :slice_size] = -INF
    if rows > 1:
        bias[0, 1, : keys - 1] = -INF
    if rows > 2:
        bias[0, 2, :slice_size] = bias[0, 2, 2 * slice_size :] = -INF
    if rows > 3:
        bias[0, 3] = -INF
    return bias


# The reference interpreter


@pytest.mark.parametrize("sizes", [{}, {"k1": 1}, {"k1": 2, "m0": 3}, {"k1": 4, "n0": 1}, {"k1": 8, "n0": 2, "m0": 7}])
@pytest.mark.parametrize(("k", "count"), [(30, 4), (32, 4), (25, 4), (9, 2), (3, 1)])
def test_interpreted_product(k: int, count: int, sizes: dict[str, int]) -> None:
    x, w = normal(7, k), normal(k, 5, seed=1)
    if collected_tile(k, count) % sizes.get("k1", 1):
        with pytest.raises(EquiforgeError, match="@k1 does not divide that of @k0"):
            evaluate(split_product(7, 5, k, count), [x, w], sizes)
        return
    [found] = evaluate(split_product(7, 5, k, count), [x, w], sizes)
    np.testing.assert_allclose(found, x @ w, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("sizes", [{}, {"k1": 1}, {"k1": 2, "h0": 2}, {"k1": 8}])
@pytest.mark.parametrize(("keys", "count"), [(30, 4), (32, 4), (25, 4), (11, 2)])
def test_interpreted_flash_decoding(keys: int, count: int, sizes: dict[str, int]) -> None:
    q, k, v = normal(3, 4, 6), normal(3, keys, 6, seed=1), normal(3, keys, 6, seed=2)
    bias = hostile_bias(4, keys, collected_tile(keys, count))
    [found] = evaluate(Decoding(3, 4, keys, 6, count).module(), [q, k, v, bias], sizes)
    assert np.isnan(found[:, 3]).all()
    np.testing.assert_allclose(found, attention(q, k, v, bias), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(("k", "count"), [(16384, 32), (16000, 32), (300, 2), (16, 2), (12, 3)])
def test_reduced_extents_keep_both_levels(k: int, count: int) -> None:
    plain, split = program([tensor(64, k), tensor(k, 96)], forge.MatmulOp), split_product(64, 96, k, count)
    _, small = shrink(plain, split)
    assert small is not None
    outer, inner = (op for op in small.ops if isinstance(op, tile.AxisOp) and op.axis_name in ("k0", "k1"))
    assert outer.extent == inner.extent <= max(k, 48) and inner.outer == "k0"
    interpreter = Interpreter(small)
    assert interpreter.tiling.count("k0") > 1 and interpreter.tiling.count("k1", {"k0": 0}) > 1
    report = check_equivalent(plain, split)
    assert report.ok, str(report)


def test_flash_decoding_is_attention_at_reduced_extents() -> None:
    def body(q: Value, k: Value, v: Value, bias: Value) -> Value:
        s = forge.AddOp(forge.MatmulOp(q, forge.TransposeOp(k, [0, 2, 1])), bias)
        e = forge.ExpOp(forge.SubOp(s, forge.ReduceOp("max", s, 2)))
        return forge.MatmulOp(forge.DivOp(e, forge.ReduceOp("sum", e, 2)), v)

    shapes = [(8, 4, 64), (8, 16384, 64), (8, 16384, 64), (1, 4, 16384)]
    plain = program([tensor(*shape) for shape in shapes], body)
    report = check_equivalent(plain, Decoding(8, 4, 16384, 64, 32).module())
    assert report.ok, str(report)


def test_axes_in_use_on_one_level_only_shrink_together() -> None:
    plain = program([tensor(4, 4096)], lambda x: forge.ReduceOp("sum", x, 1))

    def body(x: Value) -> Value:
        part = tile.ReduceOp.over_axis("sum", cut(x, 1, "k1"), 1)
        return tile.StoreOp(tile.ReduceOp.over_parallel("sum", part, "k1"))

    report = check_equivalent(plain, program([tensor(4, 4096)], body, axes(4096)))
    assert report.ok, str(report)


def test_slices_and_tiles_of_an_element() -> None:
    """The element at coordinates (p0, p1), offset o is p0·T0 + p1·T1 + o, of what exists of it."""

    def body(x: Value) -> Value:
        part = tile.ReduceOp.over_axis("sum", cut(x, 1, "k0", "k1"), 1)
        return tile.CollectOp(tile.CollectOp(part, "k1"), "k0")

    module = program([tensor(1, 10)], body, axes(10))
    [found] = evaluate(module, [np.arange(10.0)[None]], {"k0": 4, "k1": 2})
    # Rows are p0: the last slice has two elements, so that its second tile is empty.
    np.testing.assert_array_equal(found.reshape(found.shape[:2]), [[0 + 1, 2 + 3], [4 + 5, 6 + 7], [8 + 9, 0]])


def test_an_inner_axis_alone_cuts_the_whole_dimension() -> None:
    def body(x: Value) -> Value:
        return tile.CollectOp(tile.ReduceOp.over_axis("sum", cut(x, 1, "k1"), 1), "k1")

    [found] = evaluate(program([tensor(1, 10)], body, axes(10)), [np.arange(10.0)[None]], {"k0": 4, "k1": 2})
    np.testing.assert_array_equal(found.ravel(), [1, 5, 9, 13, 17])


def test_combined_tiles_are_the_slices_and_the_whole() -> None:
    def body(x: Value) -> Value:
        return tile.CombineOp(tile.CombineOp(forge.ExpOp(cut(x, 1, "k0", "k1")), 1, "k1"), 1, "k0")

    x = normal(2, 21)
    for sizes in ({}, {"k0": 8, "k1": 2}, {"k0": 8, "k1": 8}, {"k0": 32, "k1": 4}):
        np.testing.assert_array_equal(evaluate(program([tensor(2, 21)], body, axes(21)), [x], sizes)[0], np.exp(x))


def test_an_index_cut_in_a_reducer_is_that_of_the_slice() -> None:
    """The body of a reducer may cut an array by the inner axis itself; it sees the slice that it runs in."""

    def step(s: SSAValue, x: SSAValue) -> Sequence[Value]:
        index = tile.PartitionOp(forge.CastOp(forge.IotaOp(tensor(1, 10, element=i64), 1), f32), 1, "k1")
        weighted = tile.ReduceOp.over_axis("sum", forge.MulOp(x, index), 1)
        return [tile.AccumulateOp("sum", s, weighted, "k1")]

    reducer = tile.ReducerOp("dot", [0.0], region([tensor(1, 1), view((1, 10), k1=1)], step))

    def body(x: Value) -> Value:
        raw = tile.make_type((1, 1), f32, [tile.PartialAttr("k0")])
        state = tile.ReduceOp.rolling("dot", [value(cut(x, 1, "k0", "k1"))], "k1", [raw])
        assert shape_of(raw) == (1, 1)
        return tile.CollectOp(forge.GetOp(state, 0), "k0")

    x = normal(1, 10)
    [found] = evaluate(program([tensor(1, 10)], body, [*axes(10), reducer]), [x], {"k0": 4, "k1": 2})
    weighted = x[0] * np.arange(10)
    np.testing.assert_allclose(found.ravel(), [weighted[:4].sum(), weighted[4:8].sum(), weighted[8:].sum()], rtol=1e-13)


# Emitted kernels, under Triton's interpreter


def emitted(module: ModuleOp, target: str = "interpreter", **fixed: object) -> str:
    built = build_kernels(module)
    built.verify()
    apply_schedules(built, target, {"*": fixed})
    built.verify()
    return emit_triton(built)


def draw(*shape: int, dtype: torch.dtype = torch.float16) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape))).to(dtype)


def close(found: torch.Tensor, expected: np.ndarray, tolerance: float) -> None:
    np.testing.assert_allclose(found.double().numpy(), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    ("m", "n", "k", "count", "inner", "matmul"),
    [
        (40, 24, 128, 2, 16, "dot"),
        (8, 33, 300, 3, 32, "dot"),
        (33, 16, 250, 4, 64, "fma"),
        (16, 16, 90, 3, 8, "fma"),
        (2, 40, 100, 1, 16, "dot"),
    ],
)
def test_product(m: int, n: int, k: int, count: int, inner: int, matmul: str) -> None:
    source = emitted(split_product(m, n, k, count, f16), matmul=matmul, tiles={"k1": inner})
    assert source.count("@triton.jit") == 2
    # What surrounds the rows of w is inf: a loop that left its slice would make NaN.
    w = torch.full((k + 600, n), INF, dtype=torch.float16)
    w[:k] = draw(k, n)
    x = draw(m, k)
    (found,) = run_interpreted(source, [x, w[:k]])
    expected = x.double() @ w[:k].double()
    assert float((found.double() - expected).norm() / expected.norm()) < 1e-3


@pytest.mark.parametrize(
    ("rows", "keys", "count", "inner", "matmul"),
    [
        (1, 128, 4, 16, "fma"),
        (4, 100, 4, 8, "dot"),
        (4, 90, 3, 32, "dot"),
        (1, 33, 2, 16, "dot"),
        (4, 40, 1, 16, "fma"),
    ],
)
def test_flash_decoding(rows: int, keys: int, count: int, inner: int, matmul: str) -> None:
    source = emitted(Decoding(2, rows, keys, 16, count).module(), matmul=matmul, tiles={"k1": inner})
    # One loop makes the three arrays.
    assert source.count("@triton.jit\ndef m_l_o_kernel") == 1 and source.count(" in range(") == 1
    q, k, v = (draw(2, n, 16, dtype=torch.float32) for n in (rows, keys, keys))
    v = v.flip(0)
    bias = torch.from_numpy(hostile_bias(rows, keys, collected_tile(keys, count))).float()
    (found,) = run_interpreted(source, [q, k, v, bias])
    expected = attention(*(x.double().numpy() for x in (q, k, v, bias)))
    assert rows < 4 or np.isnan(expected[:, 3]).all()
    close(found, expected, 2e-5)


def test_flash_decoding_in_half_precision_by_tiles_of_rows() -> None:
    case = Decoding(2, 20, 100, 16, 4, f16, tiled=True)
    q, k, v = draw(2, 20, 16), draw(2, 100, 16), draw(2, 100, 16).flip(0)
    bias = torch.from_numpy(hostile_bias(20, 100, 32)).float()
    (found,) = run_interpreted(emitted(case.module(), tiles={"k1": 16, "q0": 16}), [q, k, v, bias])
    close(found, attention(*(x.double().numpy() for x in (q, k, v, bias))), 4e-3)


@pytest.mark.parametrize(("rows", "window"), [(1, 40), (4, 5), (4, 1000), (24, 30)])
def test_a_window_bounds_the_loop_of_each_slice(rows: int, window: int) -> None:
    """Keys before the window and after the diagonal are not visited, and slices without a live key run no loop."""
    tiled = rows > 4
    case = Decoding(2, rows, 150, 16, 3, f32, window, tiled)
    q, k, v = (draw(2, n, 16, dtype=torch.float32) for n in (rows, 150, 150))
    trips = Trips()
    sizes = {"h0": 1, "k1": 8, **({"q0": 16} if tiled else {})}
    (found,) = run_interpreted(emitted(case.module(), tiles=sizes), [q, k, v], trips)
    row, key = np.arange(rows)[:, None] + 150 - rows, np.arange(150)
    seen = (key <= row) & (key > row - window)
    bias = np.where(seen, 0.0, -INF)[None]
    close(found, attention(*(x.double().numpy() for x in (q, k, v)), bias), 2e-5)
    # A tile of eight keys is visited if some row of the tile of rows sees a key between its first and its last one.
    size = 16 if tiled else rows
    tiles = [seen[start : start + size].any(0).nonzero()[0] for start in range(0, rows, size)]
    live = sum(len(range(live.min() // 8, live.max() // 8 + 1)) for live in tiles)
    assert trips.total == 2 * live
    assert max((max(r, default=0) - min(r, default=0) for r in trips.ranges), default=0) < 64


def test_kernels_that_spell_the_same_loop_out_are_one_with_one_loop() -> None:
    one, three = (emitted(Decoding(2, 4, 150, 16, 3, f16, 40, copies=n).module(), "h100") for n in (1, 3))
    assert one == three
    assert one.count(" in range(") == 1


def test_a_sum_and_a_rolling_reduction_of_one_slice_share_a_loop() -> None:
    """Σ x² by slices beside Σ x by a reducer; the reducer has a final region, which raw states do without."""

    def step(s: SSAValue, x: SSAValue) -> Sequence[Value]:
        return [tile.AccumulateOp("sum", s, tile.ReduceOp.over_axis("sum", x, 1), "k1")]

    final = region([tensor(4, 1)], lambda s: [forge.NegOp(s)])
    reducer = tile.ReducerOp("add", [0.0], region([tensor(4, 1), view((4, 90), k1=1)], step), final=final)

    def body(x: SSAValue) -> Sequence[Value]:
        tiles = value(cut(x, 1, "k0", "k1"))
        raw = tile.make_type((4, 1), f32, [tile.PartialAttr("k0")])
        sums = forge.GetOp(tile.ReduceOp.rolling("add", [tiles], "k1", [raw]), 0)
        squares = tile.ReduceOp.over_axis("sum", forge.MulOp(tiles, tiles), 1)
        squares = tile.ReduceOp.over_parallel("sum", squares, "k1")
        whole = cut(x, 1, "k1")
        negated = forge.GetOp(tile.ReduceOp.rolling("add", [value(whole)], "k1", [tensor(4, 1)]), 0)
        parts: list[Value] = [tile.StoreOp(tile.CollectOp(part, "k0", 3)) for part in (sums, squares)]
        return [*parts, tile.StoreOp(negated)]

    module = program([tensor(4, 90)], body, [*axes(90), reducer])
    source = emitted(module, tiles={"k1": 8})
    # The inner axis alone goes over the whole dimension, in a kernel of its own.
    assert source.count("@triton.jit") == source.count(" in range(") == 2
    x = draw(4, 90, dtype=torch.float32)
    found = run_interpreted(source, [x])
    for array, expected in zip(found, evaluate(module, [x.numpy()]), strict=True):
        close(array, expected, 1e-5)
    slices = [x[:, i : i + 32].double() for i in (0, 32, 64)]
    close(found[1], torch.stack([part.square().sum(1, keepdim=True) for part in slices]).numpy(), 1e-5)
    close(found[2], -x.double().sum(1, keepdim=True).numpy(), 1e-5)


def test_tiles_that_do_not_nest_are_refused() -> None:
    built = build_kernels(split_product(16, 16, 300, 3))
    apply_schedules(built, "interpreter", {"*": {"tiles": {"k1": 128}}})
    with pytest.raises(CodegenError, match="loops over tiles of 256 of axis k1 in tiles of 128 of axis k0"):
        apply_schedules(built, "interpreter", {"*": {"tiles": {"k1": 256}}})


def test_a_grid_over_both_axes_is_refused() -> None:
    def body(x: Value) -> Value:
        return tile.StoreOp(tile.CombineOp(tile.CombineOp(forge.ExpOp(cut(x, 1, "k0", "k1")), 1, "k1"), 1, "k0"))

    with pytest.raises(CodegenError, match="a grid over @k0 and @k1 within it"):
        build_kernels(program([tensor(2, 21)], body, axes(21)))


def test_both_loops_may_stand_in_one_kernel() -> None:
    def body(x: Value) -> Value:
        part = tile.ReduceOp.over_axis("sum", cut(x, 1, "k0", "k1"), 1)
        return tile.StoreOp(tile.ReduceOp.over_parallel("sum", tile.ReduceOp.over_parallel("sum", part, "k1"), "k0"))

    module = program([tensor(4, 100)], body, axes(100))
    x = draw(4, 100, dtype=torch.float32)
    for sizes in ({"k0": 32, "k1": 8}, {"k0": 64, "k1": 64}, {"k1": 16}, {"k0": 128, "k1": 1}, {}):
        (found,) = run_interpreted(emitted(module, tiles=sizes), [x])
        close(found, x.double().sum(1, keepdim=True).numpy(), 1e-5)


def test_a_merging_kernel_reads_the_large_array_along_its_contiguous_dimension() -> None:
    def body(weight: Value, o: Value) -> Value:
        tiles = cut(cut(o, 1, "h0"), 2, "v0")
        total = tile.ReduceOp.over_axis("sum", forge.MulOp(tiles, cut(cut(weight, 1, "h0"), None, "v0")), 0)
        return tile.StoreOp(tile.CombineOp(tile.CombineOp(forge.ReshapeOp(total, (32, 128)), 0, "h0"), 1, "v0"))

    symbols = [tile.AxisOp("h0", 32), tile.AxisOp("v0", 128)]
    built = build_kernels(program([tensor(16, 32, 1), tensor(16, 32, 128)], body, symbols))
    apply_schedules(built, "h100")
    (schedule,) = (function.schedule for function in kernel.functions_of(built))
    # h0 is contiguous in the weights only, which are few.
    assert schedule is not None and schedule.tiles == {"h0": 1, "v0": 64}


@pytest.mark.parametrize("target", ["a100", "h100", "rtx5090"])
def test_programs_compile(target: str) -> None:
    modules = [
        split_product(16, 1024, 16000, 8, f16),
        Decoding(8, 4, 16384, 64, 32, f16, 4096).module(),
    ]
    for module in modules:
        for compiled in compile_offline(emitted(module, target), target):
            assert compiled.fits and compiled.cubin
