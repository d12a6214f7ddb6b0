"""Every tile op of the reference interpreter against the op that it refines, at tile sizes with and without a ragged
tail.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp, TensorType, f16, f32, f64, i1
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from equiforge.dialects import forge, op_table, tile
from equiforge.errors import EquiforgeError
from equiforge.verify import tile_semantics
from equiforge.verify.check_equiv import EQUIVALENCE_CASES, check_equivalent
from equiforge.verify.compare import CASES
from equiforge.verify.interpreter import Interpreter, evaluate, main_function
from equiforge.verify.programs import program
from equiforge.verify.values import Family

Value = SSAValue | Operation


def tensor(*shape: int, element: Attribute = f64) -> TensorType[Attribute]:
    return TensorType(element, shape)


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


def run(module: ModuleOp, *args: np.ndarray, **sizes: int) -> np.ndarray:
    return np.asarray(evaluate(module, args, sizes)[0])


def value(x: Value) -> SSAValue:
    return SSAValue.get(x)


# One matrix product, refined along any set of its dimensions

EXTENTS = {"b0": 3, "k0": 10, "m0": 7, "n0": 5}


def refined_matmul(axes: Sequence[str], broadcast: bool) -> ModuleOp:
    """``a @ b`` with one axis for each chosen dimension; ``b`` has one batch only if ``broadcast``."""
    batch = EXTENTS["b0"]
    places = {"b0": (0, 0 if not broadcast else None), "m0": (1, None), "n0": (None, 2), "k0": (2, 1)}

    def body(a: Value, b: Value) -> Value:
        for axis in sorted(axes):
            dims = places[axis]
            a = tile.PartitionOp(a, dims[0], axis) if dims[0] is not None else tile.ReplicateOp(a, axis)
            b = tile.PartitionOp(b, dims[1], axis) if dims[1] is not None else tile.ReplicateOp(b, axis)
        result: Value = tile.MatmulOp(a, b)
        for axis in sorted(axes, reverse=True):
            if axis == "k0":
                result = tile.ReduceOp.over_parallel("sum", result, axis)
            else:
                result = tile.CombineOp(result, {"b0": 0, "m0": 1, "n0": 2}[axis], axis)
        return tile.StoreOp(result)

    types = [tensor(batch, 7, 10), tensor(1 if broadcast else batch, 10, 5)]
    return program(types, body, [tile.AxisOp(axis, EXTENTS[axis]) for axis in axes])


@pytest.mark.parametrize("broadcast", [False, True])
@pytest.mark.parametrize("axes", [["m0"], ["n0"], ["k0"], ["b0"], ["k0", "m0"], ["b0", "k0", "m0", "n0"]])
@pytest.mark.parametrize("size", [1, 2, 3, 10])
def test_refined_matmul_is_the_product(axes: list[str], broadcast: bool, size: int) -> None:
    a, b = normal(3, 7, 10), normal(1 if broadcast else 3, 10, 5, seed=1)
    actual = run(refined_matmul(axes, broadcast), a, b, **dict.fromkeys(axes, size))
    np.testing.assert_allclose(actual, a @ b, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("reducer", op_table.REDUCERS)
@pytest.mark.parametrize("size", [1, 4, 7, 9])
def test_reduction_over_a_partitioned_dimension_is_partial_and_combines(reducer: str, size: int) -> None:
    boolean = op_table.REDUCERS[reducer] == "boolean"
    element = i1 if boolean else f64
    x = normal(5, 9) > 0.7 if boolean else normal(5, 9)

    def body(a: Value) -> Value:
        partial = tile.ReduceOp.over_axis(reducer, tile.PartitionOp(a, 1, "k0"), 1)
        return tile.ReduceOp.over_parallel(reducer, partial, "k0")

    module = program([tensor(5, 9, element=element)], body, [tile.AxisOp("k0", 9)])
    plain = program([tensor(5, 9, element=element)], lambda a: forge.ReduceOp(reducer, a, 1))
    np.testing.assert_allclose(run(module, x, k0=size), run(plain, x), rtol=1e-13)


@pytest.mark.parametrize("reducer", ["max", "min"])
def test_reduction_across_tiles_propagates_nan(reducer: str) -> None:
    x = normal(2, 6)
    x[1, 5] = np.nan

    def body(a: Value) -> Value:
        return tile.ReduceOp.over_parallel(
            reducer, tile.ReduceOp.over_axis(reducer, tile.PartitionOp(a, 1, "k0"), 1), "k0"
        )

    actual = run(program([tensor(2, 6)], body, [tile.AxisOp("k0", 6)]), x, k0=4)
    assert not np.isnan(actual[0, 0])
    assert np.isnan(actual[1, 0])


def test_pointwise_operands_that_broadcast_are_replicated() -> None:
    def body(x: Value, row: Value) -> Value:
        tiles = tile.PartitionOp(tile.PartitionOp(x, 1, "k0"), 0, "q0")
        rows = tile.PartitionOp(tile.ReplicateOp(row, "k0"), 0, "q0")
        result = forge.MulOp(tiles, forge.SigmoidOp(rows))
        return tile.CombineOp(tile.CombineOp(result, 0, "q0"), 1, "k0")

    module = program([tensor(7, 5), tensor(7, 1)], body, [tile.AxisOp("k0", 5), tile.AxisOp("q0", 7)])
    x, row = normal(7, 5), normal(7, 1, seed=1)
    for sizes in ({"k0": 2, "q0": 3}, {"k0": 5, "q0": 1}, {"k0": 4, "q0": 7}, {}):
        np.testing.assert_allclose(run(module, x, row, **sizes), x / (1 + np.exp(-row)), rtol=1e-14)


def test_collect_stacks_the_partial_values() -> None:
    def body(x: Value) -> Value:
        return tile.CollectOp(tile.ReduceOp.over_axis("sum", tile.PartitionOp(x, 1, "k0"), 1), "k0")

    module = program([tensor(2, 7)], body, [tile.AxisOp("k0", 7)])
    x = normal(2, 7)
    expected = np.stack([x[:, i : i + 3].sum(1, keepdims=True) for i in (0, 3, 6)])
    np.testing.assert_allclose(run(module, x, k0=3), expected, rtol=1e-14)


def split_sum(extent: int, count: int, second: int | None = None) -> ModuleOp:
    """The sum of each row of two, from ``count`` collected partial sums (and again from ``second``)."""

    def total(x: Value, count: int) -> Value:
        partial = tile.ReduceOp.over_axis("sum", tile.PartitionOp(x, 1, "k0"), 1)
        partials = tile.StoreOp(tile.CollectOp(partial, "k0", count))
        return forge.ReshapeOp(forge.ReduceOp("sum", partials, 0), (2, 1))

    def body(x: Value) -> Value:
        return total(x, count) if second is None else forge.AddOp(total(x, count), total(x, second))

    return program([tensor(2, extent)], body, [tile.AxisOp("k0", extent)])


def test_a_collected_number_of_tiles_sets_the_tile_size() -> None:
    x = normal(2, 100)
    for sizes in ({}, {"k0": 7}):
        np.testing.assert_allclose(run(split_sum(100, 4), x, **sizes), x.sum(1, keepdims=True), rtol=1e-13)

    def body(x: Value) -> Value:
        return tile.CollectOp(tile.ReduceOp.over_axis("sum", tile.PartitionOp(x, 1, "k0"), 1), "k0", 4)

    found = run(program([tensor(2, 100)], body, [tile.AxisOp("k0", 100)]), x, k0=7)
    expected = np.stack([x[:, i : i + 32].sum(1, keepdims=True) for i in (0, 32, 64, 96)])
    np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_one_axis_is_not_collected_into_two_numbers_of_tiles() -> None:
    assert run(split_sum(100, 4, 4), normal(2, 100)).shape == (2, 1)
    with pytest.raises(EquiforgeError, match="axis @k0 is collected into 4 tiles and into 2 tiles"):
        run(split_sum(100, 4, 2), normal(2, 100))


def test_store_rounds_only_when_storage_types_count() -> None:
    module = program([tensor(3, element=f32)], lambda x: tile.StoreOp(x, f16))
    x = np.array([1 / 3, 1e5, 1e-9])
    np.testing.assert_array_equal(evaluate(module, [x])[0], x)
    with np.errstate(over="ignore"):
        expected = x.astype(np.float16)
    np.testing.assert_array_equal(evaluate(module, [x], rounding="storage")[0], expected)


def test_unknown_axis_and_bad_tile_size_are_errors() -> None:
    module = refined_matmul(["m0"], False)
    with pytest.raises(EquiforgeError, match="no axis @q7"):
        run(module, normal(3, 7, 10), normal(3, 10, 5), q7=2)
    with pytest.raises(EquiforgeError, match="tile size 0"):
        run(module, normal(3, 7, 10), normal(3, 10, 5), m0=0)


# Attention with a rolling reducer


def view(shape: Sequence[int], **states: int | None) -> Attribute:
    """A view type: a keyword per axis with the dimension that it partitions, None for replicate."""
    return tile.make_type(
        shape, f64, [tile.ReplicateAttr(a) if d is None else tile.PartitionAttr(a, d) for a, d in states.items()]
    )


def region(arg_types: Sequence[Attribute], body: Callable[..., Sequence[Value]]) -> Region:
    from xdsl.builder import ImplicitBuilder

    block = Block(arg_types=arg_types)
    with ImplicitBuilder(block):
        tile.YieldOp(*body(*block.args))
    return Region(block)


def scalar(number: float) -> SSAValue:
    """A size-1 constant as it is seen at every query tile."""
    return tile.ReplicateOp(forge.ConstantOp(number, tensor(1, 1)), "q0").result


def zero_where_untouched(maximum: Value, x: Value) -> SSAValue:
    """``x``, or 0 in rows whose maximum is still -inf: exp(-inf - -inf) must not get in."""
    return forge.SelectOp(forge.CompareOp("eq", maximum, scalar(-np.inf)), scalar(0.0), x).result


def online_reducer(nq: int, nk: int, nv: int) -> tile.ReducerOp:
    """Running maximum, normalizer and weighted sum over key tiles."""
    column, out = view((nq, 1), q0=0), view((nq, nv), q0=0)

    def body(m: SSAValue, l: SSAValue, o: SSAValue, s: SSAValue, v: SSAValue) -> Sequence[Value]:  # noqa: E741
        m1 = tile.AccumulateOp("max", m, tile.ReduceOp.over_axis("max", s, 1), "k0").result
        safe = tile.ReplicateOp(zero_where_untouched(m1, m1), "k0")
        p = forge.ExpOp(forge.SubOp(s, safe))
        repair = zero_where_untouched(m, forge.ExpOp(forge.SubOp(m, m1)))
        l1 = tile.AccumulateOp("sum", forge.MulOp(l, repair), tile.ReduceOp.over_axis("sum", p, 1), "k0")
        o1 = tile.AccumulateOp("sum", forge.MulOp(o, repair), tile.MatmulOp(p, v), "k0")
        return [m1, l1, o1]

    def merge(ma: SSAValue, la: SSAValue, oa: SSAValue, mb: SSAValue, lb: SSAValue, ob: SSAValue) -> Sequence[Value]:
        m = forge.MaxOp(ma, mb).result
        ra = zero_where_untouched(ma, forge.ExpOp(forge.SubOp(ma, m)))
        rb = zero_where_untouched(mb, forge.ExpOp(forge.SubOp(mb, m)))
        return [
            m,
            forge.AddOp(forge.MulOp(la, ra), forge.MulOp(lb, rb)),
            forge.AddOp(forge.MulOp(oa, ra), forge.MulOp(ob, rb)),
        ]

    def final(m: SSAValue, l: SSAValue, o: SSAValue) -> Sequence[Value]:  # noqa: E741
        dead = forge.CompareOp("eq", m, scalar(-np.inf))
        return [m, forge.SelectOp(dead, scalar(np.nan), l), o]

    inputs = [view((nq, nk), k0=1, q0=0), view((nk, nv), k0=0, q0=None)]
    states = [column, column, out]
    return tile.ReducerOp(
        "online",
        [-np.inf, 0.0, 0.0],
        region([*states, *inputs], body),
        merge=region([*states, *states], merge),
        final=region(states, final),
    )


def online_attention(nq: int, nk: int, nv: int) -> ModuleOp:
    """softmax(scores) @ v, one loop over keys."""

    def body(s: Value, v: Value) -> Value:
        s = tile.PartitionOp(tile.PartitionOp(s, 1, "k0"), 0, "q0")
        v = tile.ReplicateOp(tile.PartitionOp(v, 0, "k0"), "q0")
        types = [view((nq, 1), q0=0), view((nq, 1), q0=0), view((nq, nv), q0=0)]
        state = tile.ReduceOp.rolling("online", [s, v], "k0", types)
        result = forge.DivOp(forge.GetOp(state, 2), forge.GetOp(state, 1))
        return tile.StoreOp(tile.CombineOp(result, 0, "q0"))

    axes = [tile.AxisOp("k0", nk), tile.AxisOp("q0", nq)]
    return program([tensor(nq, nk), tensor(nk, nv)], body, [*axes, online_reducer(nq, nk, nv)])


def softmax_product(s: np.ndarray, v: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        e = np.exp(s - s.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True) @ v


def masked_scores() -> np.ndarray:
    """Scores with rows masked in the first key tiles only, in the last ones only, and everywhere."""
    s = normal(6, 11)
    s[1, :8] = -np.inf
    s[2, 3:] = -np.inf
    s[4] = -np.inf
    return s


@pytest.mark.parametrize("sizes", [{}, {"k0": 4, "q0": 4}, {"k0": 11, "q0": 6}, {"k0": 1, "q0": 5}, {"k0": 3, "q0": 1}])
def test_online_softmax_is_the_softmax_with_masked_tiles_and_rows(sizes: dict[str, int]) -> None:
    s, v = masked_scores(), normal(11, 3, seed=1)
    actual = run(online_attention(6, 11, 3), s, v, **sizes)
    assert np.isnan(actual[4]).all()
    np.testing.assert_allclose(actual, softmax_product(s, v), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("parts", [[[0, 1], [2, 3]], [[0], [1, 2, 3]], [[0, 1, 2], [], [3]]])
def test_merge_of_split_reductions_is_the_whole_reduction(parts: list[list[int]]) -> None:
    module = online_attention(6, 11, 3)
    interpreter = Interpreter(module, {"k0": 3, "q0": 6})
    s, v = masked_scores(), normal(11, 3, seed=1)
    tiles = [slice(3 * i, min(3 * i + 3, 11)) for i in range(4)]
    inputs = [
        Family(("k0", "q0"), {(i, 0): s[:, part] for i, part in enumerate(tiles)}),
        Family(("k0", "q0"), {(i, 0): v[part] for i, part in enumerate(tiles)}),
    ]
    with np.errstate(invalid="ignore"):
        fields = tile_semantics.rolling_in_parts(interpreter, interpreter.reducer("online"), list(inputs), "k0", parts)
    assert isinstance(fields, tuple)
    _, l, o = (tile_semantics.family(field).tiles[(0,)] for field in fields)  # noqa: E741
    np.testing.assert_allclose(o / l, softmax_product(s, v), rtol=1e-12, atol=1e-14)


def test_interpreter_refuses_a_value_that_contradicts_its_type() -> None:
    module = online_attention(6, 11, 3)
    partition = next(op for op in main_function(module).walk() if isinstance(op, tile.PartitionOp))
    interpreter = Interpreter(module, {"k0": 4, "q0": 4})
    wrong = Family(("k0",), {(i,): np.zeros((6, 4)) for i in range(3)})
    with pytest.raises(EquiforgeError, match=r"shape \(6, 4\)"):
        interpreter.check(partition, partition.result.type, wrong)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 9), st.integers(1, 9), st.integers(0, 99))
def test_any_tile_sizes_give_the_same_attention(nq: int, nk: int, tq: int, tk: int, seed: int) -> None:
    s, v = normal(nq, nk, seed=seed), normal(nk, 2, seed=seed + 1)
    actual = run(online_attention(nq, nk, 2), s, v, k0=tk, q0=tq)
    np.testing.assert_allclose(actual, softmax_product(s, v), rtol=1e-11, atol=1e-13)


# The equivalence check on a whole candidate, and on candidates that are wrong in one place


def plain_attention(nq: int, nk: int, nv: int) -> ModuleOp:
    def body(s: Value, v: Value) -> Value:
        e = forge.ExpOp(forge.SubOp(s, forge.ReduceOp("max", s, 1)))
        return forge.MatmulOp(forge.DivOp(e, forge.ReduceOp("sum", e, 1)), v)

    return program([tensor(nq, nk), tensor(nk, nv)], body)


def mutants() -> list[tuple[str, ModuleOp]]:
    """Online attention at full size with one op of the reducer's body or of the kernel bypassed or replaced."""
    made: list[tuple[str, ModuleOp]] = []
    count = sum(1 for _ in online_attention(512, 1024, 64).walk())
    for place in range(count):
        module = online_attention(512, 1024, 64)
        op = list(module.walk())[place]
        region = op.parent_region()
        # A rolling reduction over one loop never merges, and 0/0 is the NaN that the final region gives to a dead row.
        if region is not None and isinstance(owner := region.parent, tile.ReducerOp) and region is not owner.body:
            continue
        match op:
            case forge.MulOp() | forge.DivOp() | forge.SubOp() | forge.ExpOp():
                op.results[0].replace_all_uses_with(op.operands[0])
            case tile.AccumulateOp():
                # The accumulator stays as it was: this tile is lost.
                op.results[0].replace_all_uses_with(op.accumulator)
            case tile.ReducerOp():
                op.properties["identity"] = tile.ReducerOp("x", [0.0, 1.0, 0.0], Region()).identity_attr
            case forge.SelectOp() if region is not None:
                op.results[0].replace_all_uses_with(op.on_true if op.on_true.type == op.result.type else op.on_false)
            case _:
                continue
        made.append((f"{place}: {op.name}", module))
    return made


def test_candidate_at_full_size_is_equivalent_to_its_program() -> None:
    report = check_equivalent(plain_attention(512, 1024, 64), online_attention(512, 1024, 64), cases=CASES)
    assert report.ok, str(report)


def test_every_mutant_of_a_candidate_is_refused() -> None:
    changed = mutants()
    assert len(changed) >= 12
    survivors = []
    for name, module in changed:
        module.verify()
        report = check_equivalent(plain_attention(512, 1024, 64), module, cases=(*EQUIVALENCE_CASES, "masked"))
        if report.ok:
            survivors.append(name)
    assert survivors == []
