"""Every pointwise op and reducer, as an emitted kernel under the interpreter, against PyTorch."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType, bf16, f16, f32, f64, i1, i8, i32, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from equiforge.codegen.build_kernels import build_kernels
from equiforge.codegen.compile import compile_offline
from equiforge.codegen.emit_triton import emit_triton
from equiforge.codegen.run import run_interpreted
from equiforge.codegen.schedule import apply_schedules
from equiforge.dialects import forge, tile

ROWS, COLUMNS = 3, 37
ELEMENTS = {
    f64: torch.float64,
    f32: torch.float32,
    f16: torch.float16,
    bf16: torch.bfloat16,
    i64: torch.int64,
    i32: torch.int32,
    i8: torch.int8,
    i1: torch.bool,
}
INF, NAN = float("inf"), float("nan")


def emitted(
    elements: list[Attribute],
    body: Callable[[Block, list[SSAValue]], SSAValue],
    numerics: str = "real",
    target: str = "interpreter",
) -> str:
    """One kernel over tiles of 16 columns (37 are ragged), computing ``body`` of arguments of shape [3, 37]."""
    block = Block(arg_types=[TensorType(e, [ROWS, COLUMNS]) for e in elements])
    views: list[SSAValue] = []
    for number, argument in enumerate(block.args):
        argument.name_hint = f"x{number}"
        block.add_op(view := tile.PartitionOp(argument, 1, "c0"))
        views.append(view.result)
    result = body(block, views)
    block.add_op(combined := tile.CombineOp(result, 1, "c0"))
    block.add_op(stored := tile.StoreOp(combined.result))
    block.add_op(func.ReturnOp(stored.result))
    function = func.FuncOp("main", (block.arg_types, [stored.result.type]), Region(block))
    module = ModuleOp([tile.AxisOp("c0", COLUMNS), function])
    module.attributes["forge.numerics"] = forge.StringAttr(numerics)
    module.verify()
    built = build_kernels(module)
    built.verify()
    apply_schedules(built, target)
    return emit_triton(built)


def applied(block: Block, op: Operation) -> SSAValue:
    block.add_op(op)
    return op.results[0]


def values(element: Attribute, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    dtype = ELEMENTS[element]
    if dtype == torch.bool:
        return torch.rand(ROWS, COLUMNS, generator=generator) < 0.5
    if not dtype.is_floating_point:
        drawn = torch.randint(-9, 10, (ROWS, COLUMNS), generator=generator)
        return torch.where(drawn == 0, 3, drawn).to(dtype) if seed else drawn.to(dtype)
    drawn = torch.randn(ROWS, COLUMNS, generator=generator, dtype=torch.float64) * 3
    special = torch.tensor(
        [0.0, -0.0, INF, -INF, NAN, 1e-6, -1e-6, 0.5, -0.5, 1.5, 2.5, -2.5, 88.0, -88.0, 200.0, -200.0]
    )
    drawn[seed % 2, : len(special)] = special.double()
    return drawn.to(dtype)


UNARY: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "neg": torch.neg,
    "abs": torch.abs,
    "exp": torch.exp,
    "log": torch.log,
    "sqrt": torch.sqrt,
    "rsqrt": torch.rsqrt,
    "recip": torch.reciprocal,
    "tanh": torch.tanh,
    "erf": torch.erf,
    "sigmoid": torch.sigmoid,
    "relu": torch.relu,
    "sin": torch.sin,
    "cos": torch.cos,
    "floor": torch.floor,
    "ceil": torch.ceil,
    "round": torch.round,
    "not": torch.logical_not,
}
BINARY: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": lambda a, b: a / b if a.is_floating_point() else torch.div(a, b, rounding_mode="floor"),
    "max": torch.maximum,
    "min": torch.minimum,
    "pow": torch.pow,
    "rem": torch.remainder,
    "and": torch.bitwise_and,
    "or": torch.bitwise_or,
    "xor": torch.bitwise_xor,
}
FLOATS = (f32, f64)
KINDS: dict[str, tuple[Attribute, ...]] = {
    "float": FLOATS,
    "number": (*FLOATS, i64, i32),
    "logical": (i1, i32),
    "boolean": (i1,),
}
TOLERANCE = {torch.float64: 1e-12, torch.float32: 2e-6}


def same(found: torch.Tensor, expected: torch.Tensor) -> None:
    assert found.dtype == expected.dtype
    torch.testing.assert_close(
        found, expected, rtol=TOLERANCE.get(found.dtype, 0), atol=TOLERANCE.get(found.dtype, 0), equal_nan=True
    )


@pytest.mark.parametrize("name", forge.UNARY_OPS)
def test_unary_op_is_pytorchs(name: str) -> None:
    for element in KINDS[forge_kind(name)]:
        source = emitted([element], lambda block, x: applied(block, forge.UNARY_OPS[name](x[0])))
        x = values(element, 0)
        (found,) = run_interpreted(source, [x])
        same(found, UNARY[name](x))
        if name in ("neg", "abs", "recip") and element in FLOATS:
            expected = UNARY[name](x)
            assert torch.equal(found.signbit() | found.isnan(), expected.signbit() | expected.isnan())


@pytest.mark.parametrize("name", forge.BINARY_OPS)
def test_binary_op_is_pytorchs(name: str) -> None:
    for element in KINDS[forge_kind(name)]:
        if name == "pow" and element not in FLOATS:
            continue
        source = emitted([element, element], lambda block, x: applied(block, forge.BINARY_OPS[name](x[0], x[1])))
        a, b = values(element, 0), values(element, 1)
        (found,) = run_interpreted(source, [a, b])
        same(found, BINARY[name](a, b))


def forge_kind(name: str) -> str:
    from equiforge.dialects.op_table import BY_MNEMONIC

    return BY_MNEMONIC[name].operands


@pytest.mark.parametrize("predicate", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_comparison_and_select_follow_ieee(predicate: str) -> None:
    def body(block: Block, x: list[SSAValue]) -> SSAValue:
        mask = applied(block, forge.CompareOp(predicate, x[0], x[1]))
        return applied(block, forge.SelectOp(mask, x[0], x[1]))

    for element in (f32, i64):
        a, b = values(element, 0), values(element, 1)
        (found,) = run_interpreted(emitted([element, element], body), [a, b])
        same(found, torch.where(getattr(torch, predicate)(a, b), a, b))


@pytest.mark.parametrize("before", ELEMENTS)
def test_cast_is_pytorchs(before: Attribute) -> None:
    for after in ELEMENTS:
        x = values(before, 0)
        if ELEMENTS[before].is_floating_point and not ELEMENTS[after].is_floating_point:
            # What infinities become as integers differs between devices.
            x = x.nan_to_num(1.0, 5.0, -5.0).clamp(-100, 100)
        source = emitted([before], lambda block, v, after=after: applied(block, forge.CastOp(v[0], after)))
        (found,) = run_interpreted(source, [x])
        torch.testing.assert_close(found, x.to(ELEMENTS[after]), rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
@pytest.mark.parametrize("element", [f32, f64, i64, i32])
def test_reduction_of_a_padded_dimension(name: str, element: Attribute) -> None:
    # 3 rows stand in a tile of 4: what pads them must be the identity, and NaN must come through.
    source = emitted([element], lambda block, x: applied(block, tile.ReduceOp.over_axis(name, x[0], 0)))
    x = values(element, 0)
    (found,) = run_interpreted(source, [x])
    expected = {"sum": torch.sum, "prod": torch.prod, "max": torch.amax, "min": torch.amin}[name](x, 0, keepdim=True)
    same(found, expected.to(x.dtype))


@pytest.mark.parametrize("name", ["any", "all"])
def test_boolean_reduction_of_a_padded_dimension(name: str) -> None:
    source = emitted([i1], lambda block, x: applied(block, tile.ReduceOp.over_axis(name, x[0], 0)))
    x = values(i1, 0)
    (found,) = run_interpreted(source, [x])
    assert torch.equal(found, getattr(torch, name)(x, 0, keepdim=True))


@pytest.mark.parametrize("exponent", [2.0, 3.0, -1.0, 2.5])
def test_power_by_a_constant(exponent: float) -> None:
    def body(block: Block, x: list[SSAValue]) -> SSAValue:
        constant = applied(block, forge.ConstantOp(exponent, TensorType(f32, [1, 1])))
        return applied(block, forge.PowOp(x[0], applied(block, tile.ReplicateOp(constant, "c0"))))

    x = values(f32, 0)
    source = emitted([f32], body)
    (found,) = run_interpreted(source, [x])
    same(found, x.pow(exponent))
    # Whole powers are products, without a logarithm.
    assert ("tl.log" in source) == (exponent == 2.5)


@pytest.mark.parametrize("element", [f16, bf16])
def test_half_precision_is_computed_in_float32(element: Attribute) -> None:
    # 300 squared overflows fp16; in float32 the ratio is exact.
    def body(block: Block, x: list[SSAValue]) -> SSAValue:
        square = applied(block, forge.MulOp(x[0], x[0]))
        return applied(block, forge.DivOp(square, x[0]))

    source = emitted([element], body)
    assert ".to(tl.float32)" in source
    x = torch.full((ROWS, COLUMNS), 2.0, dtype=ELEMENTS[element])
    (found,) = run_interpreted(source, [x])
    assert torch.equal(found, x)


def test_strict_numerics_divide_and_take_roots_exactly() -> None:
    def body(block: Block, x: list[SSAValue]) -> SSAValue:
        return applied(block, forge.RecipOp(applied(block, forge.SqrtOp(applied(block, forge.DivOp(x[0], x[1]))))))

    source = emitted([f32, f32], body, numerics="strict")
    assert "div_rn" in source and "sqrt_rn" in source and "enable_fp_fusion=False" in source
    a, b = values(f32, 0).abs() + 1, values(f32, 1).abs() + 1
    (found,) = run_interpreted(source, [a, b])
    same(found, (a / b).sqrt().reciprocal())
    assert all(kernel.cubin for kernel in compile_offline(source, 80))


@pytest.mark.parametrize("element", [f32, f64])
def test_all_float_ops_compile(element: Attribute) -> None:
    def body(block: Block, x: list[SSAValue]) -> SSAValue:
        value = x[0]
        for name, op in forge.UNARY_OPS.items():
            if name != "not":
                value = applied(block, op(value))
        for name, op in forge.BINARY_OPS.items():
            if name not in ("and", "or", "xor"):
                value = applied(block, op(value, x[1]))
        reduced = applied(block, tile.ReduceOp.over_axis("max", value, 0))
        return applied(block, forge.MulOp(applied(block, tile.ReduceOp.over_axis("prod", value, 0)), reduced))

    (kernel,) = compile_offline(emitted([element, element], body, target="a100"), "a100")
    assert kernel.cubin and kernel.fits
    assert ("max.NaN.f32" in kernel.ptx) == (element == f32)


def test_integer_and_boolean_ops_compile() -> None:
    def body(block: Block, x: list[SSAValue]) -> SSAValue:
        value = applied(block, forge.DivOp(applied(block, forge.RemOp(x[0], x[1])), x[1]))
        mask = applied(block, forge.NotOp(applied(block, forge.CompareOp("lt", value, x[1]))))
        any_ = applied(block, tile.ReduceOp.over_axis("any", mask, 0))
        return applied(block, forge.SelectOp(applied(block, forge.AndOp(mask, any_)), value, x[1]))

    (kernel,) = compile_offline(emitted([i64, i64], body, target="a100"), "a100")
    assert kernel.cubin


def plain_program(arguments: dict[str, TensorType], body: Callable[[Block], list[SSAValue]]) -> str:
    """A program without parallel axes: every kernel is one block."""
    block = Block(arg_types=list(arguments.values()))
    for name, argument in zip(arguments, block.args, strict=True):
        argument.name_hint = name
    results = body(block)
    block.add_op(func.ReturnOp(*results))
    function = func.FuncOp("main", (block.arg_types, [r.type for r in results]), Region(block))
    module = ModuleOp([function])
    module.verify()
    built = build_kernels(module)
    built.verify()
    apply_schedules(built, "interpreter")
    return emit_triton(built)


def test_reduction_to_a_scalar_is_a_kernel_of_one_block() -> None:
    def body(block: Block) -> list[SSAValue]:
        rows = applied(block, tile.ReduceOp.over_axis("sum", block.args[0], 1))
        total = applied(block, tile.ReduceOp.over_axis("sum", rows, 0))
        return [applied(block, tile.StoreOp(applied(block, forge.ReshapeOp(total, []))))]

    source = plain_program({"x": TensorType(f32, [5, 37])}, body)
    assert "[(1,)]" in source
    x = torch.randn(5, 37)
    (found,) = run_interpreted(source, [x])
    assert found.shape == ()
    torch.testing.assert_close(found, x.sum())


def test_program_without_kernels_passes_its_argument_through() -> None:
    def body(block: Block) -> list[SSAValue]:
        return [block.args[0], applied(block, forge.TransposeOp(block.args[0], [1, 0]))]

    x = torch.randn(3, 4)
    same_x, transposed = run_interpreted(plain_program({"x": TensorType(f32, [3, 4])}, body), [x])
    assert same_x is x
    assert torch.equal(transposed, x.t())


def test_literal_tables_are_buffers_of_the_module() -> None:
    def body(block: Block) -> list[SSAValue]:
        table = applied(block, forge.ConstantOp([[0.5, INF, -1.0]], TensorType(f32, [1, 3])))
        return [applied(block, tile.StoreOp(applied(block, forge.AddOp(block.args[0], table))))]

    x = torch.randn(4, 3)
    (found,) = run_interpreted(plain_program({"x": TensorType(f32, [4, 3])}, body), [x])
    assert torch.equal(found, x + torch.tensor([[0.5, INF, -1.0]]))


def test_transposed_computed_tile() -> None:
    def body(block: Block) -> list[SSAValue]:
        square = applied(block, forge.MulOp(block.args[0], block.args[0]))
        return [applied(block, tile.StoreOp(applied(block, forge.TransposeOp(square, [1, 0]))))]

    x = torch.randn(4, 3)
    (found,) = run_interpreted(plain_program({"x": TensorType(f32, [4, 3])}, body), [x])
    assert torch.equal(found, (x * x).t())


def test_product_of_small_integers_does_not_wrap() -> None:
    def body(block: Block) -> list[SSAValue]:
        return [applied(block, tile.StoreOp(applied(block, tile.MatmulOp(block.args[0], block.args[1], i32))))]

    a, b = torch.full((2, 20), 100, dtype=torch.int8), torch.full((20, 3), 100, dtype=torch.int8)
    source = plain_program({"a": TensorType(i8, [2, 20]), "b": TensorType(i8, [20, 3])}, body)
    (found,) = run_interpreted(source, [a, b])
    assert (found == 200_000).all()


def test_batched_product_in_one_block_is_multiplied_and_summed() -> None:
    def body(block: Block) -> list[SSAValue]:
        return [applied(block, tile.StoreOp(applied(block, tile.MatmulOp(block.args[0], block.args[1]))))]

    a, b = torch.randn(3, 4, 5), torch.randn(1, 5, 6)
    source = plain_program({"a": TensorType(f32, [3, 4, 5]), "b": TensorType(f32, [1, 5, 6])}, body)
    (found,) = run_interpreted(source, [a, b])
    torch.testing.assert_close(found, a @ b)
