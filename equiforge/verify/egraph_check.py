"""The soundness check of an e-graph: every e-node of every class has the value of its class.

The e-graph is taken as IR (``equivalence.graph``); the reference interpreter evaluates each e-node as soon as its
child classes have a value. A class
takes the value of the e-node that is ready first, and all others must agree with it: exactly for integers and
booleans, within rounding for
floats, with NaN and infinities in the same places.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.equivalence import ClassOp, GraphOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import OpResult, SSAValue

from equiforge.dialects.tile_axes import collected_tile
from equiforge.dialects.tile_types import element_type_of
from equiforge.egraph.graph import EGraph
from equiforge.egraph.text import collect_count
from equiforge.errors import EquiforgeError
from equiforge.verify.interpreter import Interpreter, dtype_of
from equiforge.verify.numeric import convert
from equiforge.verify.values import Family, Value

TOLERANCE = 1e-9
"""Relative to the largest element of the class, in float64: reassociated sums of small programs stay well below."""


def random_tile_sizes(graph: EGraph, seed: int) -> dict[str, int]:
    """Tile sizes for all axes, ragged more often than not. Slices are as stored arrays have them: a power of two, which
    the tiles of a slice divide."""
    chooser = random.Random(seed)
    sizes = {axis.name: chooser.randint(1, max(1, axis.extent - 1)) for axis in graph.axes}
    for axis in graph.axes:
        if axis.within >= 0:
            whole = collected_tile(axis.extent, collect_count(axis.extent))
            sizes[graph.axes[axis.within].name] = whole
            sizes[axis.name] = 1 << chooser.randrange(whole.bit_length())
    return sizes


@dataclass
class EgraphReport:
    """``mismatches`` describes e-nodes that differ from their class; ``unreached`` counts e-nodes that got no value
    (they stand on cycles only)."""

    checked: int = 0
    unreached: int = 0
    mismatches: list[str] = field(default_factory=lambda: [])

    @property
    def ok(self) -> bool:
        return not self.mismatches


def check_egraph(
    module: ModuleOp,
    args: Sequence[np.ndarray],
    tile_sizes: Mapping[str, int] | None = None,
    nan_for_infinity: bool = False,
) -> EgraphReport:
    """Evaluate all e-nodes of the e-graph of ``module`` on whole arguments ``args``; integers are taken as they are,
    floats as float64. ``nan_for_infinity`` takes a NaN and an infinity for equal, but not two infinities."""
    return _checker(module, args, tile_sizes, nan_for_infinity).run()


def _checker(
    module: ModuleOp,
    args: Sequence[np.ndarray],
    tile_sizes: Mapping[str, int] | None,
    nan_for_infinity: bool = False,
) -> _Check:
    function = next((op for op in module.walk() if isinstance(op, FuncOp)), None)
    graph = next((op for op in module.walk() if isinstance(op, GraphOp)), None)
    if function is None or graph is None:
        raise EquiforgeError("the module has no equivalence.graph")
    return _Check(module, function, graph, args, tile_sizes, nan_for_infinity)


def evaluate_classes(
    module: ModuleOp, args: Sequence[np.ndarray], tile_sizes: Mapping[str, int] | None = None
) -> list[Value | None]:
    """The values of the classes of an e-graph, in their order in ``module``; None for one that stands on a cycle."""
    check = _checker(module, args, tile_sizes)
    check.run()
    return [check.values.get(op.result) for op in check.graph.body.block.ops if isinstance(op, ClassOp)]


class _Check:
    def __init__(
        self,
        module: ModuleOp,
        function: FuncOp,
        graph: GraphOp,
        args: Sequence[np.ndarray],
        tile_sizes: Mapping[str, int] | None,
        nan_for_infinity: bool,
    ):
        self.nan_for_infinity = nan_for_infinity
        self.interpreter = Interpreter(module, tile_sizes)
        self.graph = graph
        self.report = EgraphReport()
        self.values: dict[SSAValue, Value] = {}
        for argument, array in zip(function.body.block.args, args, strict=True):
            self.values[argument] = Family.whole(convert(array, dtype_of(element_type_of(argument.type))))

    def run(self) -> EgraphReport:
        classes = [op for op in self.graph.body.block.ops if isinstance(op, ClassOp)]
        waiting = [(op, node) for op in classes for node in op.operands]
        with np.errstate(all="ignore"):
            while waiting:
                left = [(op, node) for op, node in waiting if not self._try(op, node)]
                if len(left) == len(waiting):
                    self.report.unreached = len(left)
                    break
                waiting = left
        return self.report

    def _try(self, op: ClassOp, node: SSAValue) -> bool:
        """Evaluate one e-node if its operands are there; True if it was."""
        if isinstance(node, OpResult):
            owner = node.owner
            if any(operand not in self.values for operand in owner.operands):
                return False
            value = self.interpreter.op(owner, [self.values[operand] for operand in owner.operands])
        else:
            value = self.values[node]
        self.report.checked += 1
        known = self.values.setdefault(op.result, value)
        difference = _difference(known, value, self.nan_for_infinity)
        if difference is not None:
            self.report.mismatches.append(f"{node.owner} in the class {op}: {difference}")
        return True


def _difference(known: Value, value: Value, nan_for_infinity: bool) -> str | None:
    """How two values of one class differ, or None."""
    if isinstance(known, tuple) or isinstance(value, tuple):
        pairs = zip(cast("tuple[Family, ...]", known), cast("tuple[Family, ...]", value), strict=True)
        return next((d for a, b in pairs if (d := _difference(a, b, nan_for_infinity)) is not None), None)
    if known.axes != value.axes or set(known.tiles) != set(value.tiles):
        return f"axes {value.axes}, of the class {known.axes}"
    scale = max(
        (float(np.max(np.abs(a[np.isfinite(a)]), initial=0.0)) for a in known.tiles.values() if a.dtype.kind == "f"),
        default=0.0,
    )
    for coordinate, expected in known.tiles.items():
        found = value.tiles[coordinate]
        if expected.shape != found.shape:
            return f"shape {found.shape} at {known.named(coordinate)}, of the class {expected.shape}"
        if expected.dtype.kind != "f":
            if not np.array_equal(expected, found):
                return f"{found.ravel()[:4]} at {known.named(coordinate)}, of the class {expected.ravel()[:4]}"
            continue
        if nan_for_infinity:
            found = np.where(np.isnan(found) & np.isinf(expected), expected, found)
            expected = np.where(np.isnan(expected) & np.isinf(found), found, expected)
        if not np.array_equal(found, expected) and not np.allclose(
            found, expected, rtol=TOLERANCE, atol=TOLERANCE * scale, equal_nan=True
        ):
            return f"{found.ravel()[:4]} at {known.named(coordinate)}, of the class {expected.ravel()[:4]}"
    return None
