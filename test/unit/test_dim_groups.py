"""Dimension groups: what each op aligns, and what it ties."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType, f32, i64
from xdsl.ir import Attribute, SSAValue

from equiforge.analysis.dim_groups import DimGroups, Relation
from equiforge.analysis.dim_rules import reshape_blocks
from equiforge.dialects import forge, tile
from equiforge.verify.interpreter import main_function
from equiforge.verify.programs import program


def tensor(*shape: int, element: Attribute = f32) -> TensorType[Attribute]:
    return TensorType(element, shape)


def groups_of(module: ModuleOp) -> tuple[DimGroups, list[SSAValue], list[SSAValue]]:
    """The groups, the arguments, and the result of each op."""
    func = main_function(module)
    return DimGroups(func), list(func.body.block.args), [op.results[0] for op in func.body.block.ops if op.results]


def test_attention_has_five_groups_and_reduces_two_of_them() -> None:
    def body(q: SSAValue, k: SSAValue, v: SSAValue) -> object:
        s = forge.MatmulOp(q, forge.TransposeOp(k, (0, 2, 1)))
        e = forge.ExpOp(forge.SubOp(s, forge.ReduceOp("max", s, 2)))
        return forge.MatmulOp(forge.DivOp(e, forge.ReduceOp("sum", e, 2)), v)

    types = [tensor(8, 64, 16), tensor(8, 96, 16), tensor(8, 96, 16)]
    g, (q, k, v), results = groups_of(program(types, body))
    h, nq, d = g.dims(q)
    _, nk, _ = g.dims(k)
    _, _, nv = g.dims(v)
    assert len({h, nq, d, nk, nv}) == len(g) == 5
    assert g.dims(k) == (h, nk, d)
    assert g.dims(v) == (h, nk, nv)
    assert g.dims(results[-1]) == (h, nq, nv)
    assert [x for x in range(len(g)) if g.reduced(x)] == sorted([d, nk])
    assert g.roles(h) == {"batch"}
    assert g.roles(nk) == {"n", "reduce", "k"}


def test_self_attention_score_has_one_group_twice() -> None:
    g, (x,), results = groups_of(program([tensor(64, 16)], lambda x: forge.MatmulOp(x, forge.TransposeOp(x, (1, 0)))))
    assert g.dims(results[-1]) == (g.group(x, 0), g.group(x, 0))
    assert g.multiplicity(g.group(x, 0)) == 2
    assert g.multiplicity(g.group(x, 1)) == 1


def test_size_one_dimensions_are_in_no_group_and_align_with_anything() -> None:
    g, (a, b), results = groups_of(program([tensor(1, 5), tensor(4, 1)], forge.AddOp))
    assert g.dims(a) == (-1, g.group(results[0], 1))
    assert g.dims(b) == (g.group(results[0], 0), -1)


def test_reshape_aligns_what_survives_and_ties_what_splits() -> None:
    g, (x,), results = groups_of(program([tensor(2, 32, 64)], lambda x: forge.ReshapeOp(x, (2, 1, 4, 8, 64))))
    b, merged, d = g.dims(x)
    assert g.dims(results[0])[:2] == (b, -1)
    assert g.dims(results[0])[4] == d
    parts = g.dims(results[0])[2:4]
    assert g.relations == (Relation("product", merged, parts),)
    assert [g.pinned(p) for p in (b, d)] == [None, None]
    assert all((g.pinned(p) or "").startswith("reshape") and not g.fixed(p) for p in (merged, *parts))


def test_reshape_of_several_into_several_is_fixed() -> None:
    g, (x,), results = groups_of(program([tensor(6, 4)], lambda x: forge.ReshapeOp(x, (3, 8))))
    assert all(g.fixed(p) for p in (*g.dims(x), *g.dims(results[0])))


@pytest.mark.parametrize(
    ("before", "after", "blocks"),
    [
        ((2, 32, 64), (2, 1, 4, 8, 64), [([0], [0]), ([1], [2, 3]), ([2], [4])]),
        ((6, 4), (3, 8), [([0, 1], [0, 1])]),
        ((1, 1), (1,), []),
        ((2, 3, 5), (30,), [([0, 1, 2], [0])]),
    ],
)
def test_reshape_blocks_are_the_smallest(before: tuple[int, ...], after: tuple[int, ...], blocks: object) -> None:
    assert reshape_blocks(before, after) == blocks


def test_slice_concat_pad_and_gather_tie_the_dimension_they_touch() -> None:
    def body(x: SSAValue, index: SSAValue) -> object:
        sliced = forge.SliceOp(x, 1, 2, 8)
        sliced.attributes["loc"] = StringAttr("model.py:3")
        joined = forge.ConcatOp([sliced, x], 1)
        padded = forge.PadOp(x, 1, 1, 2, 0.0)
        gathered = forge.GatherOp(x, index, 1)
        return [sliced, joined, padded, gathered]

    g, (x, index), (s, j, p, t) = groups_of(program([tensor(4, 10), tensor(4, 7, element=i64)], body))
    rows = g.group(x, 0)
    assert {g.group(v, 0) for v in (s, j, p, t, index)} == {rows}
    touched = [g.group(v, 1) for v in (x, s, j, p, t)]
    assert len(set(touched)) == 5
    assert g.pinned(touched[1]) == "slice at model.py:3"
    assert g.fixed(touched[0])
    assert g.group(index, 1) == touched[4]
    whole = touched[0]
    assert set(g.relations) == {
        Relation("slice", whole, (touched[1],), start=2, stop=8),
        Relation("sum", touched[2], (touched[1], whole)),
        Relation("sum", touched[3], (whole,), offset=3),
    }


def test_dense_constants_are_fixed_and_splats_are_not() -> None:
    dense = program([tensor(3, 4)], lambda x: forge.AddOp(x, forge.ConstantOp(np.arange(4.0)[None], tensor(1, 4))))
    g, (x,), _ = groups_of(dense)
    assert [g.fixed(p) for p in g.dims(x)] == [False, True]
    splat = program([tensor(3, 4)], lambda x: forge.AddOp(x, forge.ConstantOp(0.5, tensor(1, 4))))
    g, (x,), _ = groups_of(splat)
    assert not any(g.fixed(p) for p in g.dims(x))


def test_tile_function_is_linked_to_its_program_through_the_arguments() -> None:
    plain = program([tensor(6, 9)], lambda x: forge.ReduceOp("sum", x, 1))

    def body(x: SSAValue) -> object:
        tiles = tile.PartitionOp(tile.PartitionOp(x, 1, "k0"), 0, "q0")
        total = tile.ReduceOp.over_parallel("sum", tile.ReduceOp.over_axis("sum", tiles, 1), "k0")
        return tile.StoreOp(tile.CombineOp(total, 0, "q0"))

    tiled = program([tensor(6, 9)], body, [tile.AxisOp("k0", 9), tile.AxisOp("q0", 6)])
    g = DimGroups(main_function(plain), main_function(tiled))
    x = main_function(plain).body.block.args[0]
    assert len(g) == 2
    assert g.axis_groups(tiled) == {"q0": g.group(x, 0), "k0": g.group(x, 1)}


def test_collected_tiles_are_counted_by_a_group_of_their_own() -> None:
    def body(x: SSAValue) -> object:
        partial = tile.ReduceOp.over_axis("sum", tile.PartitionOp(x, 1, "k0"), 1)
        return tile.CollectOp(partial, "k0", 4), tile.CollectOp(partial, "k0", 4), tile.CollectOp(partial, "k0")

    g, (x,), (*_, first, second, dynamic) = groups_of(program([tensor(6, 100)], body, [tile.AxisOp("k0", 100)]))
    count = g.group(first, 0)
    assert g.dims(first) == (count, g.group(x, 0), -1)
    assert not g.fixed(count)
    assert g.fixed(g.group(dynamic, 0))
    assert Relation("tiles", g.group(x, 1), (count,)) in g.relations
    assert Relation("tiles", g.group(x, 1), (g.group(second, 0),)) in g.relations
    assert len(g.relations) == 2
