"""Whole programs: saturated, extracted, written as tile IR, and evaluated by the reference interpreter."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType, f16, f32, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from equiforge.dialects import forge, tile
from equiforge.egraph.encode import encode
from equiforge.egraph.engine import SaturationOptions
from equiforge.egraph.graph import EGraph
from equiforge.egraph.worker import run_in_process
from equiforge.search.extract import ExtractOptions, extract
from equiforge.search.to_tile import to_tile
from equiforge.verify.interpreter import evaluate


class Program:
    """Builds a forge function over arguments of one element type."""

    def __init__(self, element: Any = f16, **shapes: tuple[int, ...]):
        self.block = Block(arg_types=[TensorType(element, shape) for shape in shapes.values()])
        for argument, name in zip(self.block.args, shapes, strict=True):
            argument.name_hint = name
        self.args = self.block.args
        self.element = element

    def __call__(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def scalar(self, value: float, rank: int) -> SSAValue:
        return self(forge.ConstantOp(value, TensorType(f32, [1] * rank)))

    def wide(self, x: SSAValue) -> SSAValue:
        return self(forge.CastOp(x, f32))

    def narrow(self, x: SSAValue) -> SSAValue:
        return self(forge.CastOp(x, self.element))

    def returns(self, *results: SSAValue) -> ModuleOp:
        self.block.add_op(ReturnOp(*results))
        kind = FunctionType.from_lists([a.type for a in self.args], [r.type for r in results])
        return ModuleOp([FuncOp("main", kind, Region(self.block))])


def normalized(p: Program, x: SSAValue, g: SSAValue, width: int) -> SSAValue:
    """rms(x) * g"""
    wide = p.wide(x)
    mean = p(forge.MulOp(p(forge.ReduceOp("sum", p(forge.MulOp(wide, wide)), 1)), p.scalar(1 / width, 2)))
    scale = p(forge.RsqrtOp(p(forge.AddOp(mean, p.scalar(1e-5, 2)))))
    return p(forge.MulOp(p.narrow(p(forge.MulOp(wide, scale))), g))


def rmsnorm_linear() -> ModuleOp:
    p = Program(x=(3, 12), g=(1, 12), W=(12, 10))
    x, g, w = p.args
    return p.returns(p(forge.MatmulOp(normalized(p, x, g, 12), w)))


def rmsnorm_mlp() -> ModuleOp:
    p = Program(x=(3, 12), g=(1, 12), W1=(12, 10), W2=(12, 10))
    x, g, w1, w2 = p.args
    n = normalized(p, x, g, 12)
    return p.returns(p(forge.MulOp(p(forge.MatmulOp(n, w1)), p(forge.MatmulOp(n, w2)))))


def lora() -> ModuleOp:
    p = Program(x=(3, 12), W=(12, 10), A=(12, 4), B=(4, 10))
    x, w, a, b = p.args
    return p.returns(p(forge.AddOp(p(forge.MatmulOp(x, w)), p(forge.MatmulOp(p(forge.MatmulOp(x, a)), b)))))


def two_results() -> ModuleOp:
    """A projection in two types, and an argument returned as it is."""
    p = Program(x=(7, 12), W=(12, 10))
    x, w = p.args
    y = p(forge.MatmulOp(x, w))
    return p.returns(y, p.wide(y), x)


def attention(masked: Callable[[Program], SSAValue] | None = None, element: Any = f16) -> ModuleOp:
    """softmax(q kᵀ / 2, masked) v for 2 heads, 7 queries, 11 keys."""
    p = Program(element, q=(2, 7, 4), k=(2, 11, 4), v=(2, 11, 4))
    q, k, v = p.args
    s = p.wide(p(forge.MatmulOp(q, p(forge.TransposeOp(k, [0, 2, 1])))))
    s = p(forge.MulOp(s, p.scalar(0.5, 3)))
    if masked is not None:
        s = p(forge.SelectOp(masked(p), s, p.scalar(-math.inf, 3)))
    e = p(forge.ExpOp(p(forge.SubOp(s, p(forge.ReduceOp("max", s, 2))))))
    weights = p.narrow(p(forge.DivOp(e, p(forge.ReduceOp("sum", e, 2)))))
    return p.returns(p(forge.MatmulOp(weights, v)))


def keys_from_eight_on(p: Program) -> SSAValue:
    """The first two tiles of four keys are masked for every query, all keys for the first three queries."""
    rows = p(forge.IotaOp(TensorType(i64, (1, 7, 1)), 1))
    columns = p(forge.IotaOp(TensorType(i64, (1, 1, 11)), 2))
    eight = p(forge.ConstantOp(8, TensorType(i64, (1, 1, 1))))
    three = p(forge.ConstantOp(3, TensorType(i64, (1, 1, 1))))
    late = p(forge.CompareOp("ge", columns, eight))
    alive = p(forge.CompareOp("ge", rows, three))
    return p(forge.AndOp(late, alive))


def saturated(module: ModuleOp, disabled: tuple[str, ...] = ()) -> EGraph:
    return run_in_process(encode(module, whole_extent=5), SaturationOptions(disabled=disabled))[0]


def arguments(graph: EGraph) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.standard_normal(shape).astype(np.float16) for _, shape, _ in graph.inputs]


PROGRAMS: dict[str, Callable[[], ModuleOp]] = {
    "rmsnorm-linear": rmsnorm_linear,
    "rmsnorm-mlp": rmsnorm_mlp,
    "lora": lora,
    "two-results": two_results,
    "attention": attention,
    "attention-masked": lambda: attention(keys_from_eight_on),
    "attention-f32": lambda: attention(element=f32),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_candidate_computes_the_program(name: str):
    module = PROGRAMS[name]()
    graph = saturated(module)
    args = arguments(graph)
    expected = evaluate(module, args)
    result = extract(graph, ExtractOptions(max_candidates=24))
    assert result.candidates
    for candidate in result.candidates:
        lowered = to_tile(graph, candidate)
        lowered.verify()
        stores = [op for op in lowered.walk() if isinstance(op, tile.StoreOp)]
        assert len(stores) >= candidate.launches
        # Keys in tiles of four: a row that is masked in its first tiles is right, and one masked everywhere is NaN as
        # in the program.
        axes = {op.axis_name for op in lowered.walk() if isinstance(op, tile.AxisOp)}
        results = evaluate(lowered, args, dict.fromkeys(axes & {"k1"}, 4))
        for got, wanted in zip(results, expected, strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-12, equal_nan=True, err_msg=candidate.signature)


def one_kernel(module: ModuleOp, disabled: tuple[str, ...] = ()) -> list[str]:
    graph = saturated(module, disabled)
    candidates = extract(graph).candidates
    return [str(to_tile(graph, c)) for c in candidates if c.launches == 1]


def test_attention_is_one_loop_with_running_states():
    graph = saturated(attention())
    best = extract(graph).candidates[0]
    assert best.launches == 1 and "(k1)~" in best.signature
    text = str(to_tile(graph, best))
    assert text.count("tile.reducer @") == 1
    assert "identity [-inf, 0.0, 0.0]" in text
    assert text.count("over parallel(@k1)") == 1


def test_without_the_repair_rule_attention_has_no_single_loop():
    assert not any("tile.reducer" in text for text in one_kernel(attention(), disabled=("repair",)))


def test_probabilities_are_narrowed_and_states_are_wide():
    graph = saturated(attention())
    text = str(to_tile(graph, extract(graph).candidates[0]))
    reducer = text[text.index("tile.reducer") : text.index("final(")]
    products = [line for line in reducer.splitlines() if "tile.matmul" in line]
    assert len(products) == 1
    operands, result = products[0].split("->")
    assert operands.count("xf16") == 2 and "xf32" in result and "precision" not in products[0]
    assert 'precision = "ieee"' in products[0] or "tf32" not in products[0]


def test_full_precision_programs_multiply_in_full_precision():
    graph = saturated(attention(element=f32))
    for candidate in extract(graph).top(16):
        assert "tf32" not in str(to_tile(graph, candidate))


def test_values_that_the_program_lacks_stay_wide():
    # x * g is no value of the program (it is normalized first): rounding it to f16 could overflow.
    graph = saturated(rmsnorm_linear())
    for candidate in extract(graph).top(24):
        for op in to_tile(graph, candidate).walk():
            if isinstance(op, tile.MatmulOp):
                elements = {str(tile.element_type_of(v.type)) for v in op.operands}
                assert len(elements) == 1
                assert (op.precision == "tf32") == (elements == {"f32"})


def test_rmsnorm_mlp_scales_rows_after_both_products():
    forms = one_kernel(rmsnorm_mlp())
    # One pass over the contraction: the products and the sum of squares are all made in it, so the scale can only
    # come after.
    assert any(text.count("over parallel(@x1)") == 3 and "by @x1" in text and "rsqrt" in text for text in forms)


def test_lora_has_one_and_two_kernels():
    graph = saturated(lora())
    launches = {c.launches for c in extract(graph).candidates}
    assert {1, 2} <= launches
    assert {1, 2} <= {c.launches for c in extract(graph).top(3)}


def test_only_axes_that_are_used_are_declared():
    graph = saturated(rmsnorm_linear())
    for candidate in extract(graph).candidates:
        module = to_tile(graph, candidate)
        declared = {op.axis_name for op in module.walk() if isinstance(op, tile.AxisOp)}
        text = str(module)
        assert all(f"by @{axis}" in text or f"(@{axis})" in text for axis in declared)


def test_a_result_in_two_types_is_stored_in_both_by_its_kernel():
    graph = saturated(two_results())
    text = str(to_tile(graph, extract(graph).candidates[0]))
    stores = [line for line in text.splitlines() if "tile.store" in line]
    assert len(stores) == 2
    operands = {line.split("tile.store ")[1].split(" :")[0] for line in stores}
    assert len(operands) == 1
    assert stores[0].endswith("tensor<7x10xf32>") and stores[1].endswith("tensor<7x10xf16>")


def test_names_and_source_lines_are_kept():
    module = lora()
    function = next(op for op in module.ops if isinstance(op, FuncOp))
    product = next(op for op in function.body.block.ops if isinstance(op, forge.MatmulOp))
    product.results[0].name_hint = "base"
    graph = saturated(module)
    texts = [str(to_tile(graph, c)) for c in extract(graph).candidates]
    assert any("%base = tile.store" in text for text in texts)
    assert all('%x: tensor<3x12xf16> {forge.name = "x"}' in text for text in texts)


def test_a_product_with_few_output_tiles_is_split_by_the_storage_rule():
    module = lora()
    graph = saturated(module)
    args = arguments(graph)
    (expected,) = evaluate(module, args)
    split = [m for c in extract(graph).candidates if "tile.collect" in str(m := to_tile(graph, c))]
    assert split
    for lowered in split:
        lowered.verify()
        np.testing.assert_allclose(evaluate(lowered, args)[0], expected, rtol=1e-9, atol=1e-12)
    without = saturated(module, disabled=("storage",))
    assert not any("tile.collect" in str(to_tile(without, c)) for c in extract(without).candidates)
