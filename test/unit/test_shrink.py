"""Reduced extents: the form stays, dimensions stay distinct, and what belongs together keeps fitting."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
import torch
from xdsl.dialects.builtin import ModuleOp, TensorType, f16, f32, i64
from xdsl.ir import Attribute, SSAValue

from equiforge.analysis.dim_groups import DimGroups
from equiforge.dialects import forge, tile
from equiforge.verify.check_equiv import argument_types, check_equivalent
from equiforge.verify.interpreter import evaluate, main_function
from equiforge.verify.programs import program
from equiforge.verify.shrink import shrink


def tensor(*shape: int, element: Attribute = f32) -> TensorType[Attribute]:
    return TensorType(element, shape)


def shapes(module: ModuleOp) -> list[tuple[int, ...]]:
    return [shape for shape, _ in argument_types(module)]


def op_names(module: ModuleOp) -> list[str]:
    return [op.name for op in module.walk()]


def attention(h: int, nq: int, nk: int, d: int, nv: int) -> ModuleOp:
    def body(q: SSAValue, k: SSAValue, v: SSAValue) -> forge.MatmulOp:
        s = forge.MatmulOp(q, forge.TransposeOp(k, (0, 2, 1)))
        e = forge.ExpOp(forge.SubOp(s, forge.ReduceOp("max", s, 2)))
        return forge.MatmulOp(forge.DivOp(e, forge.ReduceOp("sum", e, 2)), v)

    return program([tensor(h, nq, d), tensor(h, nk, d), tensor(h, nk, nv)], body)


def tiled_matmul(batch: int, m: int, k: int, n: int) -> ModuleOp:
    def body(a: SSAValue, b: SSAValue) -> tile.StoreOp:
        a = tile.PartitionOp(tile.PartitionOp(a, 2, "k0"), 1, "m0").result
        b = tile.ReplicateOp(tile.PartitionOp(b, 1, "k0"), "m0").result
        total = tile.ReduceOp.over_parallel("sum", tile.MatmulOp(a, b), "k0")
        return tile.StoreOp(tile.CombineOp(total, 1, "m0"))

    return program([tensor(batch, m, k), tensor(batch, k, n)], body, [tile.AxisOp("k0", k), tile.AxisOp("m0", m)])


def test_every_group_gets_an_extent_of_its_own_with_a_ragged_tail() -> None:
    small, _ = shrink(attention(32, 4096, 2048, 128, 64))
    (h, nq, d), (_, nk, _), (_, _, nv) = shapes(small)
    assert h in (2, 3)
    assert all(n % 16 for n in (nq, nk, d, nv))
    assert all(n > 32 for n in (nq, nk, d, nv))
    extents = [h, nq, d, nk, nv]
    assert all(math.gcd(a, b) == 1 for i, a in enumerate(extents) for b in extents[:i])


def test_reduced_attention_means_what_pytorch_computes() -> None:
    small, _ = shrink(attention(32, 4096, 2048, 128, 64))
    q, k, v = (torch.randn(shape, dtype=torch.float64) for shape in shapes(small))
    expected = torch.softmax(q @ k.mT, -1) @ v
    np.testing.assert_allclose(evaluate(small, [t.numpy() for t in (q, k, v)])[0], expected.numpy(), rtol=1e-11)


def test_small_extents_stay_and_ops_stay() -> None:
    module = attention(2, 5, 16, 8, 3)
    small, _ = shrink(module)
    assert shapes(small) == shapes(module)
    assert op_names(small) == op_names(module)


def test_tile_program_shrinks_with_its_program_and_stays_equivalent() -> None:
    plain = program([tensor(32, 4096, 512), tensor(32, 512, 1024)], forge.MatmulOp)
    small, small_tiled = shrink(plain, tiled_matmul(32, 4096, 512, 1024))
    assert small_tiled is not None
    assert shapes(small) == shapes(small_tiled)
    axes = {op.axis_name: op.extent for op in small_tiled.walk() if isinstance(op, tile.AxisOp)}
    assert axes == {"m0": shapes(small)[0][1], "k0": shapes(small)[0][2]}
    assert check_equivalent(small, small_tiled, reduce=False).ok


def test_tile_sizes_of_the_check_give_ragged_tiles_at_the_reduced_extents() -> None:
    plain = program([tensor(4, 64, 512), tensor(4, 512, 64)], forge.MatmulOp)
    report = check_equivalent(
        plain, tiled_matmul(4, 64, 512, 64), tile_sizes=[{"m0": 16, "k0": 16}, {"m0": 32, "k0": 64}]
    )
    assert report.ok, str(report)
    # Two seeds, five cases; the plain program once, the tiled one at two tilings.
    assert report.evaluations == 2 * 5 * 3


def split_matmul(m: int, k: int, n: int, count: int) -> ModuleOp:
    """Two kernels: partial products over tiles of the contraction, then their sum."""

    def body(a: SSAValue, b: SSAValue) -> tile.StoreOp:
        a = tile.PartitionOp(tile.PartitionOp(a, 1, "k0"), 0, "m0").result
        b = tile.ReplicateOp(tile.PartitionOp(b, 0, "k0"), "m0").result
        partials = tile.CollectOp(tile.MatmulOp(a, b), "k0", count)
        stored = tile.StoreOp(tile.CombineOp(partials, 1, "m0"))
        total = forge.ReshapeOp(tile.ReduceOp.over_axis("sum", tile.PartitionOp(stored, 1, "m0"), 0), (m, n))
        return tile.StoreOp(tile.CombineOp(total, 0, "m0"))

    axes = [tile.AxisOp("k0", k), tile.AxisOp("m0", m)]
    return program([tensor(m, k), tensor(k, n)], body, axes)


@pytest.mark.parametrize(("k", "count"), [(4096, 16), (300, 2), (1000, 4), (16, 2), (12, 3)])
def test_collected_tiles_shrink_with_what_they_cut(k: int, count: int) -> None:
    plain = program([tensor(64, k), tensor(k, 96)], forge.MatmulOp)
    split = split_matmul(64, k, 96, count)
    small, small_split = shrink(plain, split)
    assert small_split is not None
    (collect,) = [op for op in small_split.walk() if isinstance(op, tile.CollectOp)]
    extent = shapes(small)[0][1]
    assert collect.count == (count if extent == k else -(-extent // 16))
    assert extent == k or extent % 16
    report = check_equivalent(plain, split)
    assert report.ok, str(report)


def test_check_refuses_a_program_with_mixed_up_dimensions() -> None:
    # With all extents 64 the shapes fit either way; at reduced extents only the right one does, and it differs.
    plain = program([tensor(64, 64), tensor(64, 64)], forge.MatmulOp)
    wrong = program([tensor(64, 64), tensor(64, 64)], lambda a, b: forge.MatmulOp(b, a))
    report = check_equivalent(plain, wrong)
    assert not report.ok


@pytest.mark.parametrize("broken", ["scale dropped", "max for sum", "nan lost"])
def test_check_refuses_a_wrong_rewrite(broken: str) -> None:
    def right(x: SSAValue) -> forge.MulOp:
        return forge.MulOp(forge.ReduceOp("sum", x, 1), forge.ConstantOp(0.5, tensor(1, 1)))

    def wrong(x: SSAValue) -> object:
        if broken == "scale dropped":
            return forge.ReduceOp("sum", x, 1)
        if broken == "max for sum":
            return forge.MulOp(forge.ReduceOp("max", x, 1), forge.ConstantOp(0.5, tensor(1, 1)))
        total = right(x)
        return forge.SelectOp(forge.CompareOp("eq", total, total), total, forge.ConstantOp(0.0, tensor(1, 1)))

    report = check_equivalent(program([tensor(64, 64)], right), program([tensor(64, 64)], wrong))
    assert not report.ok
    assert "result 0 with inputs" in str(report)


def split_heads(x: SSAValue) -> forge.ReduceOp:
    heads = forge.TransposeOp(forge.ReshapeOp(x, (128, 32, 64)), (1, 0, 2))
    merged = forge.ReshapeOp(forge.TransposeOp(heads, (1, 0, 2)), (128, 2048))
    return forge.ReduceOp("sum", forge.AddOp(merged, x), 1)


def rotary(x: SSAValue) -> forge.AddOp:
    rotated = forge.ConcatOp([forge.NegOp(forge.SliceOp(x, 1, 64, 128)).result, forge.SliceOp(x, 1, 0, 64).result], 1)
    return forge.AddOp(x, rotated)


def fused_qkv(x: SSAValue) -> Sequence[forge.SliceOp]:
    return [forge.SliceOp(x, 1, 64 * i, 64 * (i + 1)) for i in range(2)]


def padded(x: SSAValue) -> forge.SliceOp:
    return forge.SliceOp(forge.PadOp(x, 1, 3, 1, 0.0), 1, 0, 128)


@pytest.mark.parametrize(("body", "width"), [(split_heads, 2048), (rotary, 128), (fused_qkv, 192), (padded, 128)])
def test_reshapes_slices_and_concatenations_are_scaled_together(body: object, width: int) -> None:
    module = program([tensor(128, width)], body)
    small, _ = shrink(module)
    assert op_names(small) == op_names(module)
    ((rows, columns),) = shapes(small)
    assert rows < 64
    assert columns < width or body is padded
    # The copy is a program of the same form: its groups have the same relations, at other extents.
    before, after = DimGroups(main_function(module)), DimGroups(main_function(small))
    assert len(before) == len(after)
    assert [(r.kind, r.whole, r.parts) for r in before.relations] == [
        (r.kind, r.whole, r.parts) for r in after.relations
    ]
    evaluate(small, [np.zeros((rows, columns))])


def test_halves_of_a_rotary_embedding_stay_halves() -> None:
    small, _ = shrink(program([tensor(128, 128)], rotary))
    ((rows, columns),) = shapes(small)
    x = np.random.default_rng(0).standard_normal((rows, columns))
    half = next(op for op in small.walk() if isinstance(op, forge.SliceOp)).start
    rotated = np.concatenate([-x[:, half:], x[:, :half]], 1)
    np.testing.assert_array_equal(evaluate(small, [x])[0], x + rotated)


def test_strided_slices_dense_constants_and_gathers_keep_their_extents() -> None:
    def body(x: SSAValue, index: SSAValue) -> Sequence[SSAValue]:
        table = forge.ConstantOp(np.arange(64.0)[None], tensor(1, 64))
        scaled = forge.MulOp(x, table)
        return [forge.SliceOp(scaled, 1, 0, 64, 2).result, forge.GatherOp(scaled, index, 0).result]

    module = program([tensor(100, 64), tensor(50, 1, element=i64)], body)
    small, _ = shrink(module)
    (rows, columns), (indices, _) = shapes(small)
    assert (rows, columns) == (100, 64)
    assert indices < 50


def test_contradicting_relations_keep_the_extents() -> None:
    # 2048 is 32 * 64 in one place and 64 * 32 in another: no smaller extents were looked for that fit both.
    def body(x: SSAValue) -> Sequence[SSAValue]:
        return [forge.ReshapeOp(x, (32, 64)).result, forge.ReshapeOp(x, (64, 32)).result]

    small, _ = shrink(program([tensor(2048)], body))
    a, b = (op.shape for op in small.walk() if isinstance(op, forge.ReshapeOp))
    assert math.prod(a) == math.prod(b) == shapes(small)[0][0]


@pytest.mark.parametrize("by", ["division by n", "multiplication by 1/n"])
def test_the_n_of_a_mean_follows_its_extent(by: str) -> None:
    def body(x: SSAValue) -> object:
        total = forge.ReduceOp("sum", x, 1)
        if by == "division by n":
            return forge.DivOp(total, forge.ConstantOp(4096.0, tensor(1, 1)))
        return forge.MulOp(forge.ConstantOp(1 / 4096, tensor(1, 1)), total)

    small, _ = shrink(program([tensor(64, 4096)], body))
    shape = shapes(small)[0]
    x = np.random.default_rng(0).standard_normal(shape)
    np.testing.assert_allclose(evaluate(small, [x])[0], x.mean(1, keepdims=True), rtol=1e-6)


def test_a_scale_that_is_no_mean_stays() -> None:
    scaled = program([tensor(64, 4096)], lambda x: forge.MulOp(x, forge.ConstantOp(1 / 64, tensor(1, 1))))
    small, _ = shrink(scaled)
    constant = next(op for op in small.walk() if isinstance(op, forge.ConstantOp))
    assert constant.splat == 1 / 64


def test_nan_constants_keep_their_bits_at_another_shape() -> None:
    module = program(
        [tensor(64, 64, element=f16)], lambda x: forge.AddOp(x, forge.ConstantOp(-np.inf, tensor(64, 64, element=f16)))
    )
    small, _ = shrink(module)
    constant = next(op for op in small.walk() if isinstance(op, forge.ConstantOp))
    assert constant.splat == -np.inf
    assert constant.value.get_shape() == shapes(small)[0]
