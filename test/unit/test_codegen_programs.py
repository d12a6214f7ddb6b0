"""The tile programs of test/emission as Triton kernels: executed under the interpreter against PyTorch in float64,
and compiled."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.parser import Parser

from equiforge.codegen.build_kernels import build_kernels
from equiforge.codegen.compile import compile_offline
from equiforge.codegen.emit_triton import emit_triton
from equiforge.codegen.errors import CodegenError
from equiforge.codegen.run import Trips, run_interpreted
from equiforge.codegen.schedule import apply_schedules, default_schedule
from equiforge.dialects.forge import Forge
from equiforge.dialects.kernel import Kernel, functions_of
from equiforge.dialects.tile import Tile

PROGRAMS = Path(__file__).parent.parent / "emission"
TARGETS = ("a100", "h100", "rtx5090")
SMALL = dict.fromkeys(("m0", "n0", "k0", "q0", "t0", "d0", "h0", "o0", "e0", "s0"), 16)
HALF = 1e-3


def tile_module(name: str) -> ModuleOp:
    context = Context()
    for dialect in (Builtin, Func, Forge, Tile, Kernel):
        context.load_dialect(dialect)
    return Parser(context, (PROGRAMS / f"{name}.mlir").read_text()).parse_module()


def emitted(name: str, target: str = "interpreter", tiles: dict[str, int] | None = None, **fixed: object) -> str:
    built = build_kernels(tile_module(name))
    built.verify()
    apply_schedules(built, target, {"*": {"tiles": tiles or {}, **fixed}})
    built.verify()
    return emit_triton(built, {"program": name, "target": target})


def draw(*shape: int, dtype: torch.dtype = torch.float16) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape))).to(dtype)


def error(found: torch.Tensor, expected: torch.Tensor) -> float:
    assert found.shape == expected.shape
    return float((found.double() - expected).norm() / expected.norm())


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """Float64 reference with the scale of the programs; ``bias`` is added to the scores."""
    scores = q.double() @ k.double().transpose(1, 2) * 0.125
    return (scores if bias is None else scores + bias.double()).softmax(-1) @ v.double()


def rms(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.rms_norm(x.double(), (72,), eps=1e-6) * w.double()


def layer_norm(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.layer_norm(x.double(), (72,))


CASES: dict[str, tuple[list[torch.Tensor], Callable[..., torch.Tensor], float]] = {
    "rmsnorm": ([draw(50, 72), draw(1, 72)], rms, HALF),
    "matmul": ([draw(100, 72), draw(72, 90)], lambda x, w: x.double() @ w.double(), HALF),
    "matmul-divisible": ([draw(64, 64), draw(64, 64)], lambda x, w: x.double() @ w.double(), HALF),
    "matmul-transposed": ([draw(72, 100), draw(72, 90)], lambda x, w: x.double().t() @ w.double(), HALF),
    "attention": ([draw(2, 40, 32), draw(2, 56, 32), draw(2, 56, 32)], attention, HALF),
    "gqa": (
        [draw(4, 40, 32), draw(2, 56, 32), draw(2, 56, 32)],
        lambda q, k, v: attention(q, k.repeat_interleave(2, 0), v.repeat_interleave(2, 0)),
        HALF,
    ),
    "nested-loops": (
        [draw(2, 40, 48), draw(2, 56, 48), draw(2, 56, 48), draw(1, 48, 48) * 0.2],
        lambda q, k, v, w: attention(q.double() @ w.double(), k, v),
        HALF,
    ),
    "layernorm": ([draw(20, 72, dtype=torch.float32)], layer_norm, 1e-6),
    "softmax-two-loops": ([draw(40, 72, dtype=torch.float32)], lambda x: x.double().softmax(1), 1e-6),
    "grid-axis-as-loop": (
        [draw(40, 8, dtype=torch.float32)],
        lambda x: x.double() - x.double().square().sum(0, keepdim=True),
        1e-6,
    ),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("tiles", [SMALL, {}], ids=["small tiles", "default tiles"])
def test_program_computes_what_pytorch_does(name: str, tiles: dict[str, int]) -> None:
    inputs, reference, limit = CASES[name]
    (found,) = run_interpreted(emitted(name, tiles=tiles), inputs)
    assert error(found, reference(*inputs)) < limit


@pytest.mark.parametrize("name", CASES)
def test_products_by_multiplication_compute_the_same(name: str) -> None:
    if name in ("attention", "matmul", "gqa"):
        inputs, reference, limit = CASES[name]
        source = emitted(name, tiles=SMALL, matmul="fma")
        assert "tl.dot" not in source
        (found,) = run_interpreted(source, inputs)
        assert error(found, reference(*inputs)) < limit


@pytest.mark.parametrize("path", sorted(PROGRAMS.glob("*.mlir")), ids=lambda p: p.stem)
def test_program_compiles_for_every_target(path: Path) -> None:
    for target in TARGETS:
        kernels = compile_offline(emitted(path.stem, target), target)
        assert kernels
        for kernel in kernels:
            assert kernel.fits and kernel.cubin and ".visible .entry" in kernel.ptx


@pytest.mark.parametrize(("name", "keep"), [
    ("causal", lambda i, j: j <= i + 16),
    ("window", lambda i, j: (j <= i) & (i - j < 10)),
])  # fmt: skip
def test_affine_mask_visits_only_live_tiles(name: str, keep: Callable[..., torch.Tensor]) -> None:
    q, k, v = CASES["attention"][0]
    live = keep(torch.arange(40)[:, None], torch.arange(56)[None])
    trips = Trips()
    (found,) = run_interpreted(emitted(name, tiles=SMALL), [q, k, v], trips)
    assert error(found, attention(q, k, v, torch.zeros(40, 56).masked_fill(~live, float("-inf")))) < HALF
    padded = torch.zeros(48, 64, dtype=torch.bool)
    padded[:40, :56] = live
    tiles_with_live_elements = padded.reshape(3, 16, 4, 16).any(3).any(1).sum().item()
    assert trips.total == 2 * tiles_with_live_elements < 2 * 3 * 4


def test_masked_rows_of_attention() -> None:
    q, k, v = CASES["attention"][0]
    bias = torch.zeros(1, 40, 56)
    bias[0, 3, :40] = float("-inf")  # dead in the first tiles, live in a later one
    bias[0, 4, 16:] = float("-inf")  # live in the first tile only
    bias[0, 5] = float("-inf")  # dead everywhere: PyTorch gives NaN
    bias[0, 7, 50] = float("nan")
    bias[0, 8] = float("nan")
    (found,) = run_interpreted(emitted("bias", tiles=SMALL), [q, k, v, bias])
    expected = attention(q, k, v, bias)
    assert torch.equal(found.isnan(), expected.isnan())
    assert found.isnan().any(2).sum(1).tolist() == [3, 3]
    assert error(found.nan_to_num(), expected.nan_to_num()) < HALF


def test_infinity_beyond_a_ragged_edge_is_not_read() -> None:
    # The rows stand in a larger tensor whose surroundings are inf: a tile that reached out would make NaN.
    x = torch.full((200, 72), float("inf"), dtype=torch.float16)
    x[:100] = draw(100, 72)
    w = draw(72, 90)
    (found,) = run_interpreted(emitted("matmul", tiles=SMALL), [x[:100], w])
    assert error(found, x[:100].double() @ w.double()) < HALF


def test_second_kernel_reads_what_the_first_stored() -> None:
    x, w, u = draw(33, 40), draw(40, 48), draw(48, 40)
    z, sums, same = run_interpreted(emitted("two-kernels", tiles=SMALL), [x, w, u])
    hidden = (x.double() @ w.double()).half().double()
    assert error(z, hidden.relu() @ u.double()) < HALF
    assert error(sums, hidden.sum(1, keepdim=True)) < 1e-6
    assert same is x


def test_merged_kernels_and_a_result_that_is_a_view() -> None:
    x, wq, wk = draw(33, 40), draw(40, 32), draw(40, 32)
    source = emitted("merged", tiles=SMALL)
    assert source.count("@triton.jit") == 1
    q, k = run_interpreted(source, [x, wq, wk])
    assert error(q, (x.double() @ wq.double()).reshape(33, 4, 8).transpose(0, 1)) < HALF
    assert error(k, x.double() @ wk.double()) < HALF


def test_input_with_other_strides_shape_or_type_is_refused() -> None:
    source = emitted("matmul", tiles=SMALL)
    x, w = draw(100, 72), draw(72, 90)
    with pytest.raises(ValueError, match=r"x has strides \(1, 100\), this module is built for \(72, 1\)"):
        run_interpreted(source, [x.t().contiguous().t(), w])
    with pytest.raises(ValueError, match=r"w has shape \(72, 91\), this module is built for \(72, 90\)"):
        run_interpreted(source, [x, draw(72, 91)])
    with pytest.raises(TypeError, match=r"w has type torch\.float32, this module is built for torch\.float16"):
        run_interpreted(source, [x, w.float()])


def test_given_strides_are_built_in() -> None:
    x, w = draw(72, 100).t(), draw(72, 90)
    built = build_kernels(tile_module("matmul"), {0: x.stride()})
    apply_schedules(built, "interpreter", {"*": {"tiles": SMALL}})
    (found,) = run_interpreted(emit_triton(built), [x, w])
    assert error(found, x.double() @ w.double()) < HALF


def test_interpreting_leaves_triton_able_to_compile() -> None:
    inputs, reference, limit = CASES["attention"]
    for _ in range(2):
        assert error(run_interpreted(emitted("attention", tiles=SMALL), inputs)[0], reference(*inputs)) < limit
        assert compile_offline(emitted("attention", "a100", tiles={"k0": 32}), 80)[0].cubin


def test_module_runs_alone_under_tritons_interpreter(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        emitted("matmul", tiles=SMALL)
        + "\nx, w = torch.ones(100, 72, dtype=torch.float16), torch.ones(72, 90, dtype=torch.float16)\n"
        + "assert (run(x, w) == 72).all()\n"
    )
    subprocess.run([sys.executable, path], check=True, env={"TRITON_INTERPRET": "1"}, cwd=tmp_path)


def test_schedule_that_does_not_fit_is_refused_with_the_reason() -> None:
    with pytest.raises(CodegenError, match=r"no legal schedule for rtx5090: \d+ bytes of shared memory, of 101376"):
        emitted("matmul", "rtx5090", tiles={"m0": 256, "n0": 256, "k0": 256}, stages=4)


@pytest.mark.parametrize("extent", [17, 33, 47, 65, 100, 1025, 4096])
def test_the_interpreter_runs_a_first_a_last_and_few_tiles_between(extent: int) -> None:
    (function,) = functions_of(build_kernels(tile_module("matmul")))
    schedule = default_schedule(function, "interpreter", dict.fromkeys(("m0", "k0", "n0"), extent))
    for size in schedule.tiles.values():
        assert min(3, -(-extent // 16)) <= -(-extent // size) <= 4


def test_large_grid_is_linear_and_large_buffers_have_wide_offsets() -> None:
    text = (PROGRAMS / "matmul.mlir").read_text().replace("100", "5000000").replace("90", "3000000")
    context = Context()
    for dialect in (Builtin, Func, Forge, Tile, Kernel):
        context.load_dialect(dialect)
    built = build_kernels(Parser(context, text.split("// KERNEL")[0]).parse_module())
    apply_schedules(built, "a100", {"*": {"tiles": {"m0": 32, "n0": 32}}})
    source = emit_triton(built)
    # 5,000,000 x 3,000,000 results lie beyond 2^31 elements; 93,750 tiles of columns are too many for the grid's y.
    assert "out_ptr + (m0.to(tl.int64)[:, None] * 3000000 + n0.to(tl.int64)[None, :])" in source
    assert "m0_start = (pid % 156250) * BLOCK_M0" in source and "pid = pid // 156250" in source
    assert "x_ptr + (m0[:, None] * 72 + k0[None, :])" in source
