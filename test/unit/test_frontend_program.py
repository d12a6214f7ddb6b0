"""Programs from their four sources: signatures, outputs, aliasing, and one clear line for what can't be read."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from xdsl.dialects.func import FuncOp

from equiforge.errors import DynamicShapeError, EquiforgeError, ProgramError, UnsupportedOpError
from equiforge.frontend.program import Program, import_module, load_program
from equiforge.verify.interpreter import evaluate
from equiforge.workloads import WORKLOADS, parse_spec

HERE = Path(__file__).name


def array(tensor: Tensor) -> np.ndarray:
    return tensor.detach().double().numpy() if tensor.dtype.is_floating_point else tensor.detach().numpy()


def run(program: Program) -> list[Tensor]:
    """The results of the module in float64, as tensors."""
    results = evaluate(program.module, [array(arg) for arg in program.example_args])
    return [torch.from_numpy(np.array(result)) for result in results]


def op_names(program: Program) -> list[str]:
    return [op.name for op in program.module.walk()]


def error_of(module: nn.Module, *args: Any) -> EquiforgeError:
    with pytest.raises(EquiforgeError) as caught:
        import_module(module, args)
    assert "\n" not in str(caught.value)
    return caught.value


# -- signatures ---------------------------------------------------------------------------------------------------


class Nested(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.proj = nn.Linear(4, 3)
        self.unused = nn.Linear(9, 9)
        self.register_buffer("shift", torch.arange(20.0))
        self.offset = torch.tensor([1.0, 2.0, 3.0])

    def forward(self, pair: tuple[Tensor, dict[str, Tensor]], factor: float, flag: bool = True) -> dict[str, Any]:
        first, rest = pair
        y = self.proj(first) * factor + self.offset
        return {"y": y if flag else -y, "more": [rest["z"] + self.shift, None, 7], "same": y}


def test_arguments_are_user_inputs_then_the_parameters_used() -> None:
    module = Nested()
    args = ((torch.randn(2, 4), {"z": torch.randn(20)}), 2.5, False)
    program = import_module(module, args, "nested")
    assert program.num_user_inputs == 2
    assert program.arg_names[2:] == ["proj_weight", "proj_bias", "shift"]
    assert [tuple(arg.shape) for arg in program.example_args] == [(2, 4), (20,), (3, 4), (3,), (20,)]
    function = next(op for op in program.module.walk() if isinstance(op, FuncOp))
    assert function.arg_attrs is not None
    assert [str(item.data["forge.name"]) for item in function.arg_attrs.data] == [f'"{n}"' for n in program.arg_names]
    rebuilt = program.rebuild_outputs(run(program), program.example_args)
    expected = module(*args)
    assert rebuilt["more"][1:] == [None, 7]
    torch.testing.assert_close(rebuilt["y"], expected["y"].double(), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(rebuilt["more"][0], expected["more"][0].double(), rtol=1e-5, atol=1e-5)
    assert program.eager is not None
    torch.testing.assert_close(program.eager(*program.example_args[:2])["y"], expected["y"].detach())


def test_every_op_carries_the_line_of_the_user() -> None:
    class Small(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return F.layer_norm(x, (4,)) + 1

    program = import_module(Small(), (torch.randn(2, 4),))
    line = Small.forward.__code__.co_firstlineno + 1
    ops = [op for op in program.module.walk() if op.name.startswith("forge.")]
    assert ops and all(str(op.attributes["loc"]) == f'"{HERE}:{line}"' for op in ops)


def test_numerics_is_an_attribute_of_the_module() -> None:
    args = (torch.randn(2),)
    assert "forge.numerics" not in import_module(nn.ReLU(), args).module.attributes
    assert str(import_module(nn.ReLU(), args, "p", "strict").module.attributes["forge.numerics"]) == '"strict"'


def test_argument_names_are_identifiers() -> None:
    class Odd(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.x = nn.Parameter(torch.ones(3))
            self.layers = nn.ModuleList([nn.Linear(3, 3)])

        def forward(self, x: Tensor, run: Tensor) -> Tensor:
            return self.layers[0](x) + self.x + run

    program = import_module(Odd(), (torch.randn(3), torch.randn(3)))
    assert program.arg_names == ["x", "run_", "x_2", "layers_0_weight", "layers_0_bias"]


def test_program_under_no_grad_is_inlined() -> None:
    class Mixed(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            with torch.no_grad():
                y, z = x.exp(), x + 1
            return y * z

    program = import_module(Mixed(), (torch.randn(3),))
    torch.testing.assert_close(run(program)[0], program.eager(*program.example_args).double(), rtol=1e-6, atol=1e-6)  # type: ignore[misc]


# -- memory -------------------------------------------------------------------------------------------------------


def test_outputs_keep_what_eager_promises_of_their_memory() -> None:
    class Outputs(nn.Module):
        def forward(self, x: Tensor) -> tuple[Tensor, ...]:
            z = torch.sin(x)
            return x, x.view(-1), x.clone(), z, torch.sin(x), z, x * 1.0, x.t().reshape(-1)

    x = torch.randn(3, 4)
    program = import_module(Outputs(), (x,))
    kinds = [(output.kind, output.source) for output in program.outputs]
    assert kinds == [
        ("argument", 0), ("view", 0), ("fresh", None), ("fresh", None), ("fresh", None), ("duplicate", 3),
        ("fresh", None), ("fresh", None),
    ]  # fmt: skip
    shared = torch.sin(x)  # a compiler that computes both sines once
    results = [x, x.view(-1), x, shared, shared, shared, x * 1.0, x.t().reshape(-1)]
    rebuilt = program.rebuild_outputs(results, [x])
    assert rebuilt[0] is x and rebuilt[5] is rebuilt[3]
    places = [tensor.untyped_storage().data_ptr() for tensor in rebuilt]
    assert places[2] != places[0] and places[3] != places[4]


def test_writes_to_fresh_tensors_are_renamed() -> None:
    class Writes(nn.Module):
        def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
            y = x * 1.0
            before = y.exp()
            y.mul_(2.0).add_(x, alpha=3)
            y += 1
            z = torch.empty_like(x)
            z.copy_(y[0])
            z[:].fill_(4.0) if False else z.clamp_(max=1.0)
            return before + y, z

    program = import_module(Writes(), (torch.randn(3, 4),))
    expected = Writes()(*program.example_args)
    for result, reference in zip(run(program), expected, strict=True):
        torch.testing.assert_close(result, reference.double(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("form", ["input", "view of input", "view used later", "base used later"])
def test_writes_that_others_would_see_are_refused(form: str) -> None:
    class Writes(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            if form == "input":
                x.add_(1)
                return x * 2
            if form == "view of input":
                y = F.dropout(x, 0.5, False)
                y += y
                return y * 1.0
            y = x * 1.0
            v = y[0]
            if form == "view used later":
                y.add_(1)
                return v + 1
            v.add_(1)
            return y * 1

    error = error_of(Writes(), torch.randn(3, 4))
    assert isinstance(error, UnsupportedOpError)
    assert "writes in place" in str(error) and f"{HERE}:" in str(error) and "clone()" in str(error)


# -- refusals -----------------------------------------------------------------------------------------------------

REFUSED: dict[str, tuple[Any, tuple[str, ...]]] = {
    "median_indices": (lambda x: x.median(-1)[1], ("aten.median.dim", "outside")),
    "sort": (lambda x: x.sort().values, ("aten.sort.default",)),
    "topk": (lambda x: x.topk(2).values, ("aten.topk.default",)),
    "cumsum": (lambda x: x.cumsum(0), ("aten.cumsum.default", "scans")),
    "conv": (lambda x: F.conv1d(x[None], torch.ones(1, 3, 2)), ("aten.conv1d.default", "convolution")),
    "rand": (lambda x: x + torch.rand(4), ("aten.rand.default", "random")),
    "unused_rand": (lambda x: (torch.rand(4), x + 1)[1], ("aten.rand.default", "random")),
    "dropout": (lambda x: F.dropout(x, 0.5, True), ("aten.dropout.default", "eval()")),
    "complex": (lambda x: torch.view_as_complex(x.reshape(-1, 2)).abs(), ("complex",)),
    "as_strided": (lambda x: x.as_strided((2, 2), (1, 1)), ("aten.as_strided.default",)),
    "mask_index": (lambda x: x[x > 0], ("value",)),
    "if": (lambda x: x + 1 if x.sum() > 0 else x, ("torch.where",)),
    "item": (lambda x: x * x[0, 0].item(), ("aten",)),
    "reflect": (lambda x: F.pad(x, (1, 1), mode="reflect"), ("aten.pad.default", "reflect")),
    "scatter": (lambda x: x.scatter(0, torch.zeros(1, 4, dtype=torch.int64), 1.0), ("aten.scatter.value",)),
    "uint8": (lambda x: x.to(torch.uint8), ("uint8",)),
    "quantile": (lambda x: x.quantile(0.5), ("aten.quantile",)),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_name_the_operator_the_line_and_a_way_out(name: str) -> None:
    function, words = REFUSED[name]

    class Refused(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return function(x)

    error = error_of(Refused(), torch.randn(3, 4))
    assert isinstance(error, UnsupportedOpError), error
    line = Refused.forward.__code__.co_firstlineno + 1  # torch keeps the frames of forward methods
    places = [f"{HERE}:{number}:" for number in (line, function.__code__.co_firstlineno)]
    assert str(error).startswith(tuple(places)), error
    assert error.hint
    for word in words:
        assert word in str(error)


def test_complex_inputs_are_refused() -> None:
    error = error_of(nn.Identity(), torch.randn(3, dtype=torch.complex64))
    assert isinstance(error, UnsupportedOpError) and "complex64" in str(error)


def test_wrong_example_inputs_are_one_line() -> None:
    assert isinstance(error_of(nn.Linear(4, 3), torch.randn(2, 5)), ProgramError)
    assert isinstance(error_of(nn.Linear(4, 3), torch.randn(2, 4), torch.randn(2)), ProgramError)
    with pytest.raises(ProgramError, match=r"not a torch\.nn\.Module"):
        import_module(lambda x: x, (torch.randn(2),))
    with pytest.raises(ProgramError, match="not a tuple"):
        import_module(nn.ReLU(), "x")


def test_large_constants_are_arguments_and_fills_are_not_stored() -> None:
    class Large(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = torch.randn(300, 300)

        def forward(self, x: Tensor) -> Tensor:
            c = torch.full((2048, 2048), 3.0) + torch.ones(2048, 2048)
            return x * c[:4, :4] + self.table[:4, :4]

    program = import_module(Large(), (torch.randn(4, 4),))
    assert program.arg_names == ["x", "table"]
    assert len(str(program.module)) < 10_000
    sizes = [op.results[0].type.get_shape() for op in program.module.walk() if op.name == "forge.constant"]  # type: ignore[attr-defined]
    assert all(np.prod(size) == 1 for size in sizes)


def test_masks_are_built_from_indices() -> None:
    program = load_program("mha-prefill:small")
    assert op_names(program).count("forge.iota") == 2
    assert "forge.reshape" not in op_names(program)
    assert "forge.iota" not in op_names(load_program("mha-prefill:small,causal=0"))


def test_rows_without_a_finite_score_are_zero_with_and_without_a_mask() -> None:
    # PyTorch's function gives 0 for them also where infinities among the inputs make them so.
    assert op_names(load_program("sdpa:small,causal=0")).count("forge.select") == 1
    assert op_names(load_program("sdpa:small")).count("forge.select") == 2


def test_grouped_heads_repeat_nothing() -> None:
    assert "forge.expand" not in op_names(load_program("sdpa-gqa:small"))
    assert "forge.expand" not in op_names(load_program("gqa-decode:small"))


def test_heads_repeated_by_hand_are_not_repeated_in_memory() -> None:
    class Repeats(nn.Module):
        def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            b, kv, s, d = k.shape
            k = k[:, :, None].expand(b, kv, 4, s, d).reshape(b, kv * 4, s, d)
            scores = (q @ k.mT / 3).masked_fill(torch.arange(s) > torch.arange(q.shape[2])[:, None], -torch.inf)
            return scores.softmax(-1) @ v.repeat_interleave(4, 1)

    args = (torch.randn(2, 8, 5, 16), torch.randn(2, 2, 7, 16), torch.randn(2, 2, 7, 16))
    program = import_module(Repeats(), args)
    assert "forge.expand" not in op_names(program)
    reshapes = [op for op in program.module.walk() if op.name == "forge.reshape"]
    assert len(reshapes) == 4  # q, k, v and the result
    torch.testing.assert_close(run(program)[0], Repeats()(*args).double(), rtol=1e-5, atol=1e-5)


# -- workloads ----------------------------------------------------------------------------------------------------

SPECS = [f"{name}:{preset}" for name in WORKLOADS for preset in ("small", "ragged")]
SPECS += [
    "mha-prefill:ragged,causal=0",
    "ngpt:ragged,proj=1",
    "sdpa:ragged,causal=0",
    "layernorm-gemm:b=3,rows=1,hidden=40,out=12",
]


@pytest.mark.parametrize("spec", SPECS)
def test_workloads_mean_what_torch_computes(spec: str) -> None:
    program = load_program(f"{spec},dtype=fp64")
    assert program.eager is not None
    expected = program.eager(*program.example_args)
    torch.testing.assert_close(run(program)[0], expected, rtol=1e-8, atol=1e-8)


def test_workloads_at_benchmark_size_hold_no_data() -> None:
    program = load_program("rmsnorm-swiglu:b=16,dtype=bf16")
    assert program._made is None
    assert program.sizes["ffn"] == 11008 and program.num_user_inputs == 5
    smaller = program.at(hidden=64, ffn=32) if program.at else None
    assert smaller is not None and smaller.name == "rmsnorm-swiglu:b=16,hidden=64,ffn=32,dtype=bf16"
    assert [tuple(arg.shape) for arg in smaller.example_args] == [(16, 64), (64,), (64, 32), (64, 32), (32, 64)]
    again = smaller.make_args(1)
    assert not torch.equal(again[0], smaller.example_args[0]) and again[0].dtype == torch.bfloat16


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("mha-prefil", ("did you mean mha-prefill?",)),
        ("nothing", ("equiforge workloads",)),
        ("lora:rr=4", ("'rr'", "did you mean r?")),
        ("lora:b=x", ("b='x'", "integer")),
        ("lora:b=0", ("positive",)),
        ("lora:b", ("'b'", "k=v")),
        ("lora:dtype=fp8", ("fp8", "fp16")),
        ("gqa-decode:h=6,kv=4", ("do not divide",)),
        ("mha-prefill:causal=2", ("causal",)),
        ("", ("no program",)),
    ],
)
def test_bad_workload_specs_say_what_to_write(spec: str, words: tuple[str, ...]) -> None:
    with pytest.raises(ProgramError) as caught:
        load_program(spec)
    assert all(word in str(caught.value) for word in words), caught.value


def test_spec_round_trip() -> None:
    workload, sizes = parse_spec("mha-prefill:b=2,s=256")
    assert workload.spec_of(sizes) == "mha-prefill:b=2,s=256"
    assert parse_spec("lora")[0].spec_of(parse_spec("lora")[1]) == "lora"


# -- files --------------------------------------------------------------------------------------------------------

PROGRAM = """
import torch
class Net(torch.nn.Module):
    def forward(self, x, w):
        return torch.relu(x @ w)
def make():
    return Net().eval(), (torch.randn(3, 4), torch.randn(4, 5))
def not_a_pair():
    return Net()
def not_a_module():
    return 3, (torch.randn(2),)
def broken():
    raise ValueError("no data")
def wrong():
    return Net(), (torch.randn(3, 4), torch.randn(3, 5))
"""


def test_python_files_and_what_can_be_wrong_with_them(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(PROGRAM)
    program = load_program(f"{path}:make")
    assert program.arg_names == ["x", "w"] and program.name == "mine:make"
    for spec, words in (
        (f"{path}:mke", ("no function 'mke'", "did you mean make?")),
        (f"{path}", ("no function in it", "make")),
        (f"{path}:not_a_pair", ("returns a Net", "(module, example_inputs)")),
        (f"{path}:not_a_module", ("not a torch.nn.Module",)),
        (f"{path}:broken", ("mine.py:13", "ValueError: no data")),
        (f"{path}:wrong", ("mine.py:5", "example inputs")),
        (f"{tmp_path}/mime.py:make", ("no such file", "mine.py")),
    ):
        with pytest.raises(ProgramError) as caught:
            load_program(spec)
        assert "\n" not in str(caught.value)
        assert all(word in str(caught.value) for word in words), caught.value
    path.write_text("def make(:\n")
    with pytest.raises(ProgramError, match=r"mine.py:1: syntax error"):
        load_program(f"{path}:make")
    path.write_text("import sys\nsys.exit(3)\n")
    with pytest.raises(ProgramError, match=r"mine.py:2.*SystemExit"):
        load_program(f"{path}:make")


class Exported(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.proj = nn.Linear(4, 6, dtype=torch.bfloat16)
        self.register_buffer("scale", torch.randn(6).bfloat16())
        self.table = torch.randn(40)

    def forward(self, x: Tensor, pair: dict[str, Tensor]) -> dict[str, Any]:
        with torch.no_grad():
            y = self.proj(x) * self.scale
        top, low = y.max(-1).values, y.split(3, -1)[1]
        i = torch.tensor([0, -1])
        return {"a": F.softmax(y.float(), dim=-1), "b": [top, low, None], "c": (self.table * pair["k"])[i], "x": x}


def saved(tmp_path: Path) -> Path:
    args = (torch.randn(3, 4).bfloat16(), {"k": torch.randn(40)})
    path = tmp_path / "net.pt2"
    torch.export.save(torch.export.export(Exported().eval(), args, strict=False), path)
    return path


def test_pt2_is_read_without_unpickling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pickle

    path = saved(tmp_path)
    loaded = torch.export.load(path).module()

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("unpickled")

    monkeypatch.setattr(torch, "load", refuse)
    monkeypatch.setattr(pickle, "load", refuse)
    monkeypatch.setattr(pickle, "loads", refuse)
    monkeypatch.setattr(pickle, "Unpickler", refuse)
    program = load_program(str(path))
    assert program.num_user_inputs == 2
    assert program.arg_names[2:] == ["proj_weight", "proj_bias", "scale", "table"]
    x, k = program.example_args[:2]
    expected = loaded(x, {"k": k})
    assert program.eager is not None
    torch.testing.assert_close(program.eager(x, k), expected)
    rebuilt = program.rebuild_outputs(run(program), program.example_args)
    assert rebuilt["x"] is x and rebuilt["b"][2] is None
    torch.testing.assert_close(rebuilt["a"], expected["a"].double(), rtol=2e-2, atol=2e-2)
    torch.testing.assert_close(rebuilt["c"], expected["c"].double(), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(rebuilt["b"][1], expected["b"][1].double(), rtol=2e-2, atol=2e-2)
    ops = [op for op in program.module.walk() if op.name == "forge.matmul"]
    assert str(ops[0].attributes["loc"]).startswith(f'"{HERE}:')


def rewritten(path: Path, change: Any) -> Path:
    """The archive with its files changed by ``change(name, data) -> data | None``."""
    out = path.with_name("changed.pt2")
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(out, "w") as target:
        for name in source.namelist():
            data = change(name, source.read(name))
            if data is not None:
                target.writestr(name, data)
    return out


def test_bad_pt2_files_are_one_line(tmp_path: Path) -> None:
    path = saved(tmp_path)

    def pickled(name: str, data: bytes) -> bytes:
        return data.replace(b'"use_pickle": false', b'"use_pickle": true') if name.endswith("config.json") else data

    def foreign(name: str, data: bytes) -> bytes:
        return (
            data.replace(b"torch.ops.aten.split.Tensor", b"torch.ops.mine.split.Tensor")
            if name.endswith("model.json")
            else data
        )

    changes: tuple[tuple[Any, str], ...] = (
        (pickled, "pickle"),
        (foreign, "torch.ops.mine.split.Tensor"),
        (lambda n, d: None if n.endswith("model.json") else d, "models/model.json"),
        (lambda n, d: b"{" if n.endswith("model.json") else d, "malformed"),
        (lambda n, d: json.dumps({"graph_module": {}}).encode() if n.endswith("model.json") else d, "malformed"),
        (lambda n, d: d[:2] if n.endswith("weight_0") else d, "malformed"),
        (lambda n, d: b"big" if n.endswith("byteorder") else d, "byte order"),
    )
    for change, word in changes:
        with pytest.raises(EquiforgeError) as caught:
            load_program(str(rewritten(path, change)))
        assert word in str(caught.value) and "\n" not in str(caught.value), caught.value
    path.write_bytes(b"not a zip")
    with pytest.raises(ProgramError, match=r"not a .pt2 archive"):
        load_program(str(path))
    with pytest.raises(ProgramError, match="no such file"):
        load_program(str(tmp_path / "none.pt2"))


def test_dynamic_shapes_are_refused(tmp_path: Path) -> None:
    batch = torch.export.Dim("b", min=2, max=64)
    exported = torch.export.export(nn.Linear(4, 3), (torch.randn(5, 4),), dynamic_shapes=({0: batch},), strict=False)
    path = tmp_path / "dynamic.pt2"
    torch.export.save(exported, path)
    with pytest.raises(DynamicShapeError, match="dynamic shape"):
        load_program(str(path))


def test_mlir_files(tmp_path: Path) -> None:
    original = load_program("mha-prefill:small", "strict")
    path = tmp_path / "mine.mlir"
    path.write_text(str(original.module))
    program = load_program(str(path))
    assert program.arg_names == ["q", "k", "v"] and program.num_user_inputs == 3 and program.eager is None
    assert str(program.module) == str(original.module)
    assert [tuple(a.shape) for a in program.example_args] == [(2, 64, 16)] * 3
    assert isinstance(program.rebuild_outputs(run(program)), Tensor)
    text = path.read_text()
    for changed, words in (
        (text.replace("forge.exp", "forge.exq"), ("mine.mlir:",)),
        (text.replace("@main", "@other"), ("@main", "@other")),
        ("hello", ("mine.mlir:1",)),
        (text.replace("perm [0, 2, 1]", "perm [0, 2, 2]"), ("mine.mlir",)),
        ("", ("mine.mlir:1",)),
        ("builtin.module {}", ("@main",)),
    ):
        path.write_text(changed)
        with pytest.raises(ProgramError) as caught:
            load_program(str(path))
        assert "\n" not in str(caught.value)
        assert all(word in str(caught.value) for word in words), caught.value
    path.write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(ProgramError, match="not a text file"):
        load_program(str(path))
