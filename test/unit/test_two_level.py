"""Reductions in two levels: slices of an outer axis, each reduced by a loop over an inner axis, and a second kernel
that merges what the slices leave. By the reference interpreter and as emitted kernels, against NumPy in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from xdsl.builder import ImplicitBuilder
from xdsl.dialects.builtin import ModuleOp, TensorType, f32, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from equiforge.dialects import forge, tile
from equiforge.dialects.tile_axes import collected_tile
from equiforge.dialects.tile_types import shape_of
from equiforge.errors import EquiforgeError
from equiforge.verify.check_equiv import check_equivalent
from equiforge.verify.interpreter import Interpreter, evaluate
from equiforge.verify.programs import program
from equiforge.verify.shrink import shrink

Value = SSAValue | Operation
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


def split_product(m: int, n: int, k: int, count: int) -> ModuleOp:
    """x @ w with the contraction in ``count`` slices, each a loop of its own; a second kernel adds them."""

    def body(x: Value, w: Value) -> Value:
        a = cut(cut(cut(x, 1, "k0", "k1"), 0, "m0"), None, "n0")
        b = cut(cut(cut(w, 0, "k0", "k1"), None, "m0"), 1, "n0")
        part = tile.ReduceOp.over_parallel("sum", tile.MatmulOp(a, b), "k1")
        whole = tile.CombineOp(tile.CombineOp(tile.CollectOp(part, "k0", count), 1, "m0"), 2, "n0")
        parts = cut(cut(tile.StoreOp(whole), 1, "m0"), 2, "n0")
        total = forge.ReshapeOp(tile.ReduceOp.over_axis("sum", parts, 0), (m, n))
        return tile.StoreOp(tile.CombineOp(tile.CombineOp(total, 0, "m0"), 1, "n0"))

    return program([tensor(m, k), tensor(k, n)], body, axes(k, m0=m, n0=n))


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


def scalar(number: float, rank: int, *names: str) -> Value:
    return cut(forge.ConstantOp(number, tensor(*[1] * rank)), None, *names)


def online_reducer(heads: int, rows: int, keys: int, dim: int) -> tile.ReducerOp:
    """Running maximum, normalizer and weighted sum over tiles of @k1; it does not mention @k0."""
    column, out = view((heads, rows, 1), h0=0), view((heads, rows, dim), h0=0)

    def body(m: SSAValue, l: SSAValue, o: SSAValue, s: SSAValue, v: SSAValue) -> Sequence[Value]:  # noqa: E741
        m1 = tile.AccumulateOp("max", m, tile.ReduceOp.over_axis("max", s, 2), "k1").result
        fresh = forge.CompareOp("eq", m1, scalar(-INF, 3, "h0"))
        safe = forge.SelectOp(fresh, scalar(0.0, 3, "h0"), m1)
        repair = forge.ExpOp(forge.SubOp(m, safe))
        p = forge.ExpOp(forge.SubOp(s, tile.ReplicateOp(safe, "k1")))
        l1 = tile.AccumulateOp("sum", forge.MulOp(l, repair), tile.ReduceOp.over_axis("sum", p, 2), "k1")
        o1 = tile.AccumulateOp("sum", forge.MulOp(o, repair), tile.MatmulOp(p, v), "k1")
        return [m1, l1, o1]

    inputs = [view((heads, rows, keys), h0=0, k1=2), view((heads, keys, dim), h0=0, k1=1)]
    states = [column, column, out]
    return tile.ReducerOp("online", [-INF, 0.0, 0.0], region([*states, *inputs], body))


def flash_decoding(heads: int, rows: int, keys: int, dim: int, count: int) -> ModuleOp:
    """softmax(q kᵀ + bias) v with the keys in ``count`` slices: each stores its maximum, normalizer and weighted sum,
    and a second kernel merges them."""

    def body(q: Value, k: Value, v: Value, bias: Value) -> Value:
        at = ("k0", "k1")
        q_tile = cut(cut(q, 0, "h0"), None, *at)
        k_tile = cut(cut(forge.TransposeOp(k, [0, 2, 1]), 0, "h0"), 2, *at)
        v_tile = cut(cut(v, 0, "h0"), 1, *at)
        bias_tile = cut(cut(bias, None, "h0"), 2, *at)
        s = forge.AddOp(tile.MatmulOp(q_tile, k_tile), bias_tile)
        types = [tile.PartitionAttr("h0", 0), tile.PartialAttr("k0")]
        shapes = [(heads, rows, 1), (heads, rows, 1), (heads, rows, dim)]
        state = tile.ReduceOp.rolling("online", [s, v_tile], "k1", [tile.make_type(x, f32, types) for x in shapes])
        fields: list[Value] = []
        for number in range(3):
            field = tile.CollectOp(forge.GetOp(state, number), "k0", count)
            fields.append(tile.StoreOp(tile.CombineOp(field, 1, "h0")))
        m, l, o = (tile.PartitionOp(field, 1, "h0") for field in fields)  # noqa: E741
        top = tile.ReduceOp.over_axis("max", m, 0)
        dead = forge.CompareOp("eq", top, scalar(-INF, 4, "h0"))
        weight = forge.ExpOp(forge.SubOp(m, forge.SelectOp(dead, scalar(0.0, 4, "h0"), top)))
        normalizer = tile.ReduceOp.over_axis("sum", forge.MulOp(l, weight), 0)
        total = tile.ReduceOp.over_axis("sum", forge.MulOp(o, weight), 0)
        result = forge.ReshapeOp(forge.DivOp(total, normalizer), (heads, rows, dim))
        return tile.StoreOp(tile.CombineOp(result, 0, "h0"))

    types = [tensor(heads, rows, dim), tensor(heads, keys, dim), tensor(heads, keys, dim), tensor(1, rows, keys)]
    return program(types, body, [*axes(keys, h0=heads), online_reducer(heads, rows, keys, dim)])


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, bias: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        s = q @ k.transpose(0, 2, 1) + bias
        e = np.exp(s - s.max(2, keepdims=True))
        return e / e.sum(2, keepdims=True) @ v


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
    [found] = evaluate(flash_decoding(3, 4, keys, 6, count), [q, k, v, bias], sizes)
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
