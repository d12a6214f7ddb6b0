"""What must hold of the dialects and of equiforge-opt beyond the text of single ops."""

from __future__ import annotations

import io
import math
import os
import re
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, TensorType, bf16, f16, f32, f64, i1, i8, i64
from xdsl.dialects.func import Func
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Commutative, Pure
from xdsl.utils.exceptions import VerifyException

from equiforge.dialects import forge, op_table, tile
from equiforge.universe import DIALECTS, EQUIFORGE_UNIVERSE, PASSES, TARGETS

ROOT = Path(__file__).resolve().parent.parent.parent
HEAVY = ("torch", "triton", "egglog", "sympy")
PROGRAM = "func.func @main(%x : tensor<4xf32>) {\n  %0 = forge.exp %x : tensor<4xf32>\n  func.return\n}\n"


def _context() -> Context:
    context = Context()
    for dialect in (Builtin, Func, forge.Forge, tile.Tile):
        context.load_dialect(dialect)
    return context


def _text(op: Operation, generic: bool = False) -> str:
    stream = io.StringIO()
    Printer(stream, print_generic_format=generic).print_op(op)
    return stream.getvalue()


def _argument(*types: Attribute) -> list[Operation]:
    """An op for each type whose result stands for any value of the type."""
    from xdsl.dialects.test import TestOp

    return [TestOp(result_types=[type_]) for type_ in types]


def _opt(*args: str, text: str = PROGRAM) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "tools" / "equiforge-opt"), *args],
        input=text,
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )


# -- text --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["forge", "tile"])
def test_every_op_of_a_dialect_is_in_its_test(name: str) -> None:
    text = (ROOT / "test" / "dialects" / name / "ops.mlir").read_text(encoding="utf-8")
    dialect = {"forge": forge.Forge, "tile": tile.Tile}[name]
    names = [op.name for op in dialect.operations] + [attr.name for attr in dialect.attributes]
    missing = [n for n in names if not re.search(rf"{re.escape(n)}\b", text)]
    assert not missing


ELEMENTS = {"f64": f64, "f32": f32, "f16": f16, "bf16": bf16}


@pytest.mark.parametrize("generic", [False, True])
@pytest.mark.parametrize("element", ELEMENTS)
@settings(max_examples=60, deadline=None)
@given(bits=st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=4))
def test_float_literals_keep_every_bit(element: str, generic: bool, bits: list[int]) -> None:
    size = ELEMENTS[element].size
    data = b"".join((number & ((1 << 8 * size) - 1)).to_bytes(size, "little") for number in bits)
    type_ = TensorType(ELEMENTS[element], [len(bits)])
    literal = Parser(_context(), f'#forge.literal<"0x{data.hex()}" : {type_}>').parse_attribute()
    assert isinstance(literal, forge.LiteralAttr)
    op = forge.ConstantOp(literal)
    again = Parser(_context(), _text(op, generic)).parse_op()
    assert isinstance(again, forge.ConstantOp)
    assert again.value.data.data == data
    assert again.value == literal


def test_literals_are_made_of_numbers_lists_and_arrays() -> None:
    type_ = TensorType(f32, [2, 2])
    values = [[1.5, -0.0], [math.inf, math.nan]]
    for given_values in (values, np.array(values, dtype=np.float32), np.array(values)):
        made = forge.LiteralAttr.of(given_values, type_)
        assert made.data.data == struct.pack("<4f", 1.5, -0.0, math.inf, math.nan)
    assert forge.ConstantOp(True, TensorType(i1, [3])).splat == 1
    assert forge.ConstantOp(-1, TensorType(i8, [3])).splat == -1
    assert forge.ConstantOp([1, 2], TensorType(i64, [2])).splat is None
    zero = forge.ConstantOp(-0.0, TensorType(f16, [])).splat
    assert isinstance(zero, float) and math.copysign(1.0, zero) == -1.0


def test_a_literal_of_the_wrong_size_is_rejected() -> None:
    with pytest.raises(VerifyException, match="3 values for tensor<2xf32>"):
        forge.LiteralAttr.of([1.0, 2.0, 3.0], TensorType(f32, [2]))


# -- the table and the classes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("row", op_table.POINTWISE, ids=lambda row: row.mnemonic)
def test_a_row_of_the_table_is_an_op(row: op_table.PointwiseOp) -> None:
    cls = {1: forge.UNARY_OPS, 2: forge.BINARY_OPS}[row.arity][row.mnemonic]
    assert cls.name == f"forge.{row.mnemonic}"
    assert cls.has_trait(Pure)
    assert cls.has_trait(Commutative) == row.commutative
    element = {"float": f32, "number": i64, "logical": i8, "boolean": i1}[row.operands]
    type_ = TensorType(element, [4])
    made = cls(*_argument(*[type_] * row.arity))
    made.verify()
    assert made.result.type == type_


def test_what_is_opaque_is_not_pure() -> None:
    impure = {op.name for op in forge.Forge.operations if not op.has_trait(Pure)}
    assert impure == {"forge.random", "forge.opaque"}


def test_names_do_not_clash_with_those_of_xdsl() -> None:
    from xdsl.universe import XDSL_UNIVERSE

    assert not set(DIALECTS) & set(XDSL_UNIVERSE.all_dialects)
    assert not set(PASSES) & set(XDSL_UNIVERSE.all_passes)
    assert not set(TARGETS) & set(XDSL_UNIVERSE.all_targets)


# -- result types ------------------------------------------------------------------------------------------------


def _view(shape: list[int], *states: tile.State) -> tile.ViewType:
    return tile.ViewType(shape, f32, states)


def test_states_are_sorted_by_axis() -> None:
    made = tile.ViewType([4, 4], f32, [tile.PartitionAttr("q0", 0), tile.PartialAttr("k0", "sum")])
    assert [state.axis_name for state in made.states] == ["k0", "q0"]
    assert made == tile.ViewType([4, 4], f32, reversed(made.states))
    assert tile.with_states(made, ()) == TensorType(f32, [4, 4])
    assert tile.state_on(made, "q0") == tile.PartitionAttr("q0", 0)
    assert tile.state_on(made, "z9") is None
    assert tile.without_axis(made, "k0") == _view([4, 4], tile.PartitionAttr("q0", 0))


def test_a_product_of_tiles_accumulates_in_f32() -> None:
    for element, expected in ((f16, f32), (bf16, f32), (f32, f32), (f64, f64)):
        a, b = _argument(TensorType(element, [4, 8]), TensorType(element, [8, 2]))
        assert tile.MatmulOp(a, b).result.type == TensorType(expected, [4, 2])
        assert forge.MatmulOp(a, b).result.type == TensorType(element, [4, 2])
        assert tile.MatmulOp(a, b, element).result.type == TensorType(element, [4, 2])


def test_one_loop_over_a_contraction_in_constructors() -> None:
    a, b = _argument(TensorType(f32, [4, 8]), TensorType(f32, [8, 2]))
    left, right = tile.PartitionOp(a, 1, "k0"), tile.PartitionOp(b, 0, "k0")
    product = tile.MatmulOp(left, right)
    assert product.result.type == _view([4, 2], tile.PartialAttr("k0", "sum"))
    whole = tile.ReduceOp.over_parallel("sum", product, "k0")
    assert whole.result.type == TensorType(f32, [4, 2])
    assert (whole.axis_name, whole.dim, whole.is_rolling) == ("k0", None, False)
    with pytest.raises(VerifyException, match=r"along @k0 operand 0 is #tile.partial<@k0, sum>"):
        forge.ExpOp(product)


def test_reduce_over_dimension_zero_is_over_a_dimension() -> None:
    # xDSL's integer attribute of 0 is false.
    made = tile.ReduceOp.over_axis("max", _argument(_view([4, 8], tile.PartitionAttr("q0", 0)))[0], 0)
    assert (made.dim, made.axis_name) == (0, None)
    assert made.result.type == _view([1, 8], tile.PartialAttr("q0", "max"))
    made.verify()


def test_a_broadcast_operand_is_replicated() -> None:
    x, row, plain = _argument(
        _view([4, 8], tile.PartitionAttr("q0", 0)),
        _view([1, 8], tile.ReplicateAttr("q0")),
        _view([4, 8], tile.ReplicateAttr("q0")),
    )
    assert forge.AddOp(row, x).result.type == x.results[0].type
    assert forge.AddOp(row, plain).result.type == plain.results[0].type
    with pytest.raises(VerifyException, match=r"operand 1 is #tile.replicate<@q0> with size 4 in dimension 0"):
        forge.AddOp(x, plain)


def test_reducer_says_what_its_uses_look_like() -> None:
    state, part = TensorType(f32, [4, 1]), _view([4, 8], tile.PartitionAttr("k0", 1))
    body, final = Block(arg_types=[state, part]), Block(arg_types=[state])
    body.add_op(tile.YieldOp(body.args[0]))
    half = forge.CastOp(final.args[0], f16)
    final.add_ops([half, tile.YieldOp(half)])
    made = tile.ReducerOp("r", [-math.inf], Region(body), "why", final=Region(final))
    made.verify()
    assert made.identity == (-math.inf,) and made.certificate == "why"
    assert made.state_types == (state,) and made.input_types == (part,)
    assert made.result_types_of_use == (TensorType(f16, [4, 1]),)
    assert made.has_final and not made.has_merge


# -- equiforge-opt -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("args", [["--help"], ["-"], ["-", "-p", "canonicalize"]], ids=" ".join)
def test_opt_loads_nothing_heavy(args: list[str]) -> None:
    code = (
        "import sys\nfrom equiforge.opt_main import main\n"
        f"args = {[a for a in args if a != '-']!r}\n"
        "try:\n    code = main(args)\nexcept SystemExit as stop:\n    code = stop.code\n"
        f"print([m for m in {HEAVY!r} if m in sys.modules], code, file=sys.stderr)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        input=PROGRAM,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert run.stderr.splitlines()[-1] == "[] 0"


def test_opt_runs_from_the_checkout() -> None:
    run = _opt()
    assert run.returncode == 0 and "forge.exp %x" in run.stdout


def test_opt_does_not_register_twice_where_the_entry_point_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    from xdsl.universe import XDSL_UNIVERSE, Universe

    from equiforge.opt_main import EquiforgeOptMain

    both = Universe(
        all_dialects={**XDSL_UNIVERSE.all_dialects, **EQUIFORGE_UNIVERSE.all_dialects},
        all_passes={**XDSL_UNIVERSE.all_passes, **EQUIFORGE_UNIVERSE.all_passes},
        all_targets={**XDSL_UNIVERSE.all_targets, **EQUIFORGE_UNIVERSE.all_targets},
        all_frontends=XDSL_UNIVERSE.all_frontends,
    )
    monkeypatch.setattr(Universe, "get_multiverse", staticmethod(lambda: both))
    assert set(DIALECTS) <= set(EquiforgeOptMain(["-p", "canonicalize"]).ctx.registered_dialect_names)


NEST = 3000
ERRORS = {
    "unknown pass": (["-p", "canonicalise"], PROGRAM, "unknown pass canonicalise (did you mean canonicalize"),
    "unknown option": (
        ["-p", "saturate{max-secnds=1}"],
        PROGRAM,
        "pass saturate has no option max-secnds (did you mean",
    ),
    "option without options": (
        ["-p", "inline-calls{x=1}"],
        PROGRAM,
        "pass inline-calls has no option x (it has no options)",
    ),
    "value of an option": (["-p", "saturate{max-seconds=soon}"], PROGRAM, "pass saturate: Incompatible types"),
    "list of passes": (["-p", "saturate{"], PROGRAM, "can't read the list of passes 'saturate{'"),
    "flag": (["--pases", "cse"], PROGRAM, "unrecognized arguments: --pases (did you mean --passes"),
    "target": (["-t", "trton"], PROGRAM, "unknown target trton (did you mean triton"),
    "option of a target": (["-t", "triton{devic=a100}"], PROGRAM, "target triton has no option devic (did you mean"),
    "missing option": (["-p", "import-torch"], PROGRAM, 'pass import-torch: requires argument "program"'),
    "text": ([], "func.func @main(", "stdin:1:17: "),
    "op": ([], "forge.ex", "stdin:1:9: Operation forge.ex is not registered (did you mean forge.exp"),
    "check": (
        [],
        '%x = "test.op"() : () -> tensor<4xi64>\n%0 = forge.exp %x {loc = "model.py:3"} : tensor<4xi64>',
        "model.py:3: forge.exp: takes bf16, f16, f32, f64, not i64",
    ),
    "file": (["no/such/file.mlir"], PROGRAM, "no/such/file.mlir: No such file or directory"),
    "form of a file": (["README.nothing"], PROGRAM, "README.nothing: No such file or directory"),
    "nesting": ([], "builtin.module {" * NEST + "}" * NEST, "nested too deeply"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_opt_says_what_is_wrong_in_one_line(case: str) -> None:
    args, text, expected = ERRORS[case]
    run = _opt(*args, text=text)
    assert run.returncode == 2
    assert run.stdout == ""
    lines = run.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("equiforge-opt: ")
    assert expected in lines[0]


def test_opt_names_the_pass_that_left_broken_ir(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from dataclasses import dataclass

    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass

    from equiforge import opt_main

    @dataclass(frozen=True)
    class BreakPass(ModulePass):
        name = "break"

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            for inner in op.walk():
                if isinstance(inner, forge.ExpOp):
                    inner.results[0].name_hint = None
                    broken = forge.ExpOp.build(operands=[inner.operand], result_types=[TensorType(f32, [5])])
                    inner.parent_block().insert_op_after(broken, inner)  # type: ignore[union-attr]

    monkeypatch.setitem(EQUIFORGE_UNIVERSE.all_passes, "break", lambda: BreakPass)
    file = tmp_path / "program.mlir"
    file.write_text(PROGRAM, encoding="utf-8")
    assert opt_main.main([str(file), "-p", "break,canonicalize"]) == 2
    assert "after break: forge.exp: the result is tensor<5xf32>" in capsys.readouterr().err


def test_every_name_of_the_universe_loads() -> None:
    for name, thunk in {**EQUIFORGE_UNIVERSE.all_dialects, **EQUIFORGE_UNIVERSE.all_passes}.items():
        assert thunk().name == name
    for name, thunk in EQUIFORGE_UNIVERSE.all_targets.items():
        assert thunk().name == name
