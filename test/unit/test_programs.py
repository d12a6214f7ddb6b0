"""Whole programs: the emitted kernels run under the interpreter against the PyTorch modules they were made from.

Each program is optimized once for a size and dtype. Its best module runs in two forms: ``plain``, as it would be
launched on a device, where these small dimensions are one tile, and ``looped``, where reduced dimensions are walked in
tiles of 16, ragged at the end, as it is at benchmark size. Both are judged on benign and hostile inputs against the
module in float64 and against eager PyTorch in the same dtype.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from equiforge.codegen.build_kernels import build_kernels
from equiforge.codegen.emit_triton import emit_triton
from equiforge.codegen.run import Trips, run_interpreted
from equiforge.codegen.schedule import apply_schedules
from equiforge.egraph.encode import encode
from equiforge.egraph.saturate import SaturationOptions, saturate
from equiforge.frontend.program import Program, import_module, load_program
from equiforge.pipeline import Options, Result, optimize_program
from equiforge.search.extract import ExtractOptions, extract
from equiforge.search.to_tile import to_tile
from equiforge.tune.validate import to_array, to_tensor
from equiforge.verify.check_equiv import argument_types
from equiforge.verify.compare import UNIT_ROUNDOFF, hostile_inputs, judge, kinds

DTYPES = ("fp16", "bf16", "fp32")
MLP = (
    "rmsnorm-linear:{}",
    "rmsnorm-mlp:{}",
    "rmsnorm-swiglu:{}",
    "gated-mlp:{}",
    "lora:{}",
    "layernorm-gemm:{}",
    "ngpt:{},proj=0",
    "ngpt:{},proj=1",
)
ATTENTION = (
    "mha-decode:{}",
    "mha-prefill:{},causal=0",
    "mha-prefill:{},causal=1",
    "gqa-decode:{}",
    "sdpa:{},causal=0",
    "sdpa:{},causal=1",
    "sdpa-gqa:{}",
    "sdpa-gqa:{},causal=1",
)
PLAIN = [(spec.format("small"), "fp16") for spec in (*MLP, *ATTENTION)]
PLAIN += [(spec.format("ragged"), dtype) for spec in (*MLP, *ATTENTION) for dtype in DTYPES]
LOOPED = [spec.format("ragged") for spec in MLP]
LOOPED += [spec.format("b=1,h=2,s=43,d=12" + (",kv=1" if "gqa" in spec else "")) for spec in ATTENTION]
LOOPED = [spec.replace("sdpa-gqa:", "sdpa-gqa:t=5,").replace("decode:b=1,h=2", "decode:b=1,h=8") for spec in LOOPED]
FLOOR_ROUNDINGS = 4
"""Roundings of the output that a result may be off by, however exact eager happens to be."""
LOOP_EXTENT = 16
"""Reduced dimensions larger than this may be looped over in the looped form."""


def searched(program: Program, whole_extent: int = Options.whole_extent, top: int = 1) -> Result:
    result = optimize_program(program, Options(top=top, validate=False, compile=False, whole_extent=whole_extent))
    assert result.best is not None, [row.rejected for row in result.candidates]
    return result


def looped_source(program: Program) -> str:
    """The best candidate that has loops, with a derived reduction where there is one, in the smallest tiles."""
    graph, _, _ = saturate(encode(program.module, LOOP_EXTENT), SaturationOptions())
    candidates = extract(graph, ExtractOptions(max_candidates=16, max_kernels=2)).candidates
    loops = [c for c in candidates if re.search(r"\]\([^)]", c.signature)]
    chosen = next((c for c in loops if "~" in c.signature), loops[0])
    kernels = build_kernels(to_tile(graph, chosen), program.input_strides())
    apply_schedules(kernels, "interpreter")
    return emit_triton(kernels)


def leaves(result: torch.Tensor | Sequence[torch.Tensor]) -> list[torch.Tensor]:
    return [result] if isinstance(result, torch.Tensor) else list(result)


def eager_of(program: Program, args: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """What PyTorch makes of the program, the real module, in the dtype of the arguments."""
    assert program.eager is not None
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return leaves(program.eager(*args))


def wide(args: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    return [a.double() if a.is_floating_point() else a for a in args]


def element(tensor: torch.Tensor) -> str:
    names = {torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32", torch.float64: "f64"}
    return names[tensor.dtype]


def complaints(program: Program, source: str, seed: int = 0) -> list[str]:
    """What is wrong with a module on the benign and the hostile inputs, a line for each case that fails."""
    found: list[str] = []
    types = argument_types(program.module)
    for case, arrays in hostile_inputs(types, seed):
        args = [to_tensor(a, e) for a, (_, e) in zip(arrays, types, strict=True)]
        found += disagreements(program, source, args, case)
    return found


def disagreements(program: Program, source: str, args: list[torch.Tensor], case: str) -> list[str]:
    references, eagers = eager_of(program, wide(args)), eager_of(program, args)
    lines: list[str] = []
    for result, reference, eager in zip(run_interpreted(source, args), references, eagers, strict=True):
        assert result.dtype == eager.dtype and result.shape == eager.shape
        kind = element(result)
        actual, expected, usual = to_array(result), to_array(reference), to_array(eager)
        if program.sizes.get("causal"):
            seen = to_array(of_seen_keys(program, wide(args)))
            skipped = (kinds(actual) != kinds(usual)) & (kinds(actual) == kinds(seen))
            expected, usual = np.where(skipped, seen, expected), np.where(skipped, seen, usual)
        report = judge(actual, expected, kind, usual, FLOOR_ROUNDINGS * UNIT_ROUNDOFF[kind])
        if not report.ok:
            lines.append(f"{case}: {report}")
    return lines


def of_seen_keys(program: Program, args: list[torch.Tensor]) -> torch.Tensor:
    """Causal attention where hidden keys are left out instead of given weight 0.

    A kernel that skips the tiles of hidden keys does not see what 0 * inf or 0 * NaN of their values makes of a row.
    """
    q, k, v = args
    rows = []
    for row in range(q.shape[-2]):
        last = min(row + 1, k.shape[-2])
        one, keys, values = q[..., row : row + 1, :], k[..., :last, :], v[..., :last, :]
        if program.name.startswith("mha"):
            rows.append(torch.softmax(one @ keys.transpose(-1, -2) / q.shape[-1] ** 0.5, dim=-1) @ values)
        else:
            rows.append(F.scaled_dot_product_attention(one, keys, values, enable_gqa=q.shape[-3] != k.shape[-3]))
    return torch.cat(rows, dim=-2)


@pytest.mark.parametrize(("spec", "dtype"), PLAIN)
def test_plain(spec: str, dtype: str) -> None:
    program = load_program(f"{spec},dtype={dtype}")
    failures = complaints(program, searched(program).source)
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("spec", LOOPED)
def test_looped(spec: str, dtype: str) -> None:
    program = load_program(f"{spec},dtype={dtype}")
    source = looped_source(program)
    assert " in range(" in source
    failures = complaints(program, source, seed=1)
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("spec", ["mha-prefill:h=2,s=43,d=12", "sdpa:h=2,s=43,d=12"])
def test_causal_attention_visits_no_dead_tile(spec: str) -> None:
    program = load_program(spec)
    trips = Trips()
    run_interpreted(looped_source(program), program.example_args, trips)
    # Tiles of 16: the three tiles of queries see one, two and three tiles of keys, in each of two heads.
    assert sorted(len(r) for r in trips.ranges) == [1, 1, 2, 2, 3, 3]


class Masked(nn.Module):
    """Attention with a mask that is an input, as plain text or by PyTorch's function."""

    def __init__(self, plain: bool):
        super().__init__()
        self.plain = plain

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        if not self.plain:
            return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        scores = torch.where(mask, q @ k.transpose(-1, -2) * 0.25, -torch.inf)
        return torch.softmax(scores, dim=-1) @ v


@pytest.mark.parametrize("looped", [False, True], ids=["plain", "looped"])
@pytest.mark.parametrize("softmax", [False, True], ids=["sdpa", "softmax"])
def test_masked_rows(softmax: bool, looped: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(1, 2, 43, 12, generator=generator).half() for _ in range(3))
    mask = torch.rand(43, 43, generator=generator) < 0.7
    mask[3, :32] = False  # hidden in its first two tiles of keys, not in the last
    mask[3, 32:] = True
    mask[20, :33] = False
    mask[5] = False  # hidden everywhere
    program = import_module(Masked(softmax), (q, k, v, mask), "masked")
    args = [q, k, v, mask]
    source = looped_source(program) if looped else searched(program).source
    assert not disagreements(program, source, args, "masked rows")
    (result,) = run_interpreted(source, args)
    assert torch.all(torch.isnan(result[:, :, 5]) if softmax else result[:, :, 5] == 0)
    assert torch.all(torch.isfinite(result[:, :, 3]))
