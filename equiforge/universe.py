"""What EquiForge adds to xDSL: dialects, passes and targets, by the entry point group ``xdsl.universe``.

Every entry is a thunk with its import inside, so that a tool that lists the names loads none of them: torch, triton,
egglog and sympy take seconds to import.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from xdsl.universe import Universe

DIALECTS: dict[str, str] = {
    "forge": "equiforge.dialects.forge:Forge",
    "tile": "equiforge.dialects.tile:Tile",
    "kernel": "equiforge.dialects.kernel:Kernel",
}
"""Name to ``module:object``. No name is one of xDSL's own."""

PASSES: dict[str, str] = {
    "partition": "equiforge.passes.partition:PartitionPass",
    "inline-calls": "equiforge.passes.inline_calls:InlineCallsPass",
    "import-torch": "equiforge.passes.import_torch:ImportTorchPass",
    "convert-forge-to-egraph": "equiforge.passes.convert_forge_to_egraph:ConvertForgeToEgraphPass",
    "saturate": "equiforge.passes.saturate:SaturatePass",
    "extract": "equiforge.passes.extract:ExtractPass",
    "rematerialize": "equiforge.passes.rematerialize:RematerializePass",
    "convert-tile-to-kernel": "equiforge.passes.convert_tile_to_kernel:ConvertTileToKernelPass",
}
"""The file of a pass is named as its id, its class as its file."""

REPLACED_PASSES: dict[str, str] = {
    "cse": "equiforge.passes.cse:CsePass",
    "dce": "equiforge.passes.dce:DcePass",
}
"""Passes that ``equiforge-opt`` has in place of xDSL's own of these names. They are not in the universe: xDSL takes no
name twice."""

TARGETS: dict[str, str] = {
    "triton": "equiforge.codegen.target:TritonTarget",
}


def _thunk(place: str) -> Callable[[], Any]:
    module, name = place.split(":")

    def load() -> Any:
        return getattr(importlib.import_module(module), name)

    return load


def replaced_passes() -> dict[str, Callable[[], Any]]:
    """Thunks of ``REPLACED_PASSES``."""
    return {name: _thunk(place) for name, place in REPLACED_PASSES.items()}


EQUIFORGE_UNIVERSE = Universe(
    all_dialects={name: _thunk(place) for name, place in DIALECTS.items()},
    all_passes={name: _thunk(place) for name, place in PASSES.items()},
    all_targets={name: _thunk(place) for name, place in TARGETS.items()},
)
