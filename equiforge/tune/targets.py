"""Hardware descriptions: one TOML file a device in ``equiforge/tune/targets/``; a user adds one without code."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from equiforge.errors import TargetError


@dataclass(frozen=True)
class Target:
    """A device as the cost model sees it.

    ``dram_gbps`` is in 10⁹ bytes a second, ``peak_tflops`` maps ``f16 bf16 tf32 f32 f64`` to dense 10¹² operations a
    second (a fused multiply-add counts as two), ``shared_kib_per_block`` is the most shared memory that one block may
    have, ``launch_us`` the cost of one more launch within a CUDA graph.
    """

    id: str
    name: str
    compute_capability: int
    sms: int
    dram_gbps: float
    l2_mib: float
    shared_kib_per_block: int
    launch_us: float
    peak_tflops: Mapping[str, float]

    @property
    def bytes_per_us(self) -> float:
        return self.dram_gbps * 1e3

    @property
    def l2_bytes(self) -> float:
        return self.l2_mib * 2**20

    def flops_per_us(self, element: str) -> float:
        """Peak rate of products with operands of an element type; ``tf32`` is f32 rounded to 10 mantissa bits."""
        return self.peak_tflops.get(element, self.peak_tflops["f32"]) * 1e6


@cache
def target_names() -> tuple[str, ...]:
    """The known devices, sorted."""
    folder = resources.files("equiforge.tune") / "targets"
    return tuple(sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml")))


@cache
def load_target(name: str) -> Target:
    """The description of a device; raises :class:`TargetError` with the nearest name if there is none."""
    if name not in target_names():
        close = difflib.get_close_matches(name.lower(), target_names(), n=1, cutoff=0.5)
        known = ", ".join(target_names())
        raise TargetError(f"unknown target '{name}'", hint=f"did you mean {close[0]}?" if close else f"known: {known}")
    text = (resources.files("equiforge.tune") / "targets" / f"{name}.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    try:
        return Target(
            id=name,
            name=data["name"],
            compute_capability=int(data["compute_capability"]),
            sms=int(data["sms"]),
            dram_gbps=float(data["dram_gbps"]),
            l2_mib=float(data["l2_mib"]),
            shared_kib_per_block=int(data["shared_kib_per_block"]),
            launch_us=float(data["launch_us"]),
            peak_tflops={str(k): float(v) for k, v in data["peak_tflops"].items()},
        )
    except KeyError as error:
        raise TargetError(f"targets/{name}.toml: no {error.args[0]}") from error
