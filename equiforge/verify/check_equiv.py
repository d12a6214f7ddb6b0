"""Whether two modules mean the same: evaluated by the reference interpreter on the same inputs, at several tile sizes.

This is the check between passes and of extracted candidates before they are emitted. Programs of benchmark size are
reduced first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp

from equiforge.dialects import forge, tile
from equiforge.dialects.tile_types import element_type_of, shape_of
from equiforge.errors import EquiforgeError
from equiforge.verify.compare import hostile_inputs, kinds, relative_l2
from equiforge.verify.interpreter import Rounding, evaluate, main_function, meanings
from equiforge.verify.numeric import Array, is_float
from equiforge.verify.shrink import shrink

TOLERANCES = {"large": 1e-4, "large_mean": 1e-5}
"""Relative L2 differences that float64 may show by conditioning alone; ``DEFAULT_TOLERANCE`` for the other cases."""
DEFAULT_TOLERANCE = 1e-8

EQUIVALENCE_CASES = ("normal", "large_mean", "zeros", "one_hot", "nan")
"""The input cases on which rewrites of real arithmetic must agree; infinities as inputs are left to the judgement of
kernels.
"""


@dataclass
class EquivalenceReport:
    """The outcome: ``failures`` is empty if the modules agree; ``worst`` is the largest relative L2 difference seen."""

    failures: list[str] = field(default_factory=list[str])
    worst: float = 0.0
    evaluations: int = 0

    @property
    def ok(self) -> bool:
        """True if no difference was found."""
        return not self.failures

    def __str__(self) -> str:
        if self.ok:
            return f"equivalent on {self.evaluations} evaluations, largest difference {self.worst:.2g}"
        return f"not equivalent: {self.failures[0]}" + (
            f" (and {len(self.failures) - 1} more)" if len(self.failures) > 1 else ""
        )


def can_interpret(module: ModuleOp) -> bool:
    """True if every op of the module has a reference meaning, so that the module can be checked."""
    structure = (ModuleOp, FuncOp, ReturnOp, tile.AxisOp, tile.ReducerOp, tile.YieldOp)
    silent = (forge.RandomOp, forge.OpaqueOp)
    return all(
        isinstance(op, structure) or (type(op) in meanings() and not isinstance(op, silent)) for op in module.walk()
    )


def argument_types(module: ModuleOp) -> list[tuple[tuple[int, ...], str]]:
    """Returns shape and element type of each argument of the main function."""
    types = main_function(module).function_type.inputs.data
    return [(tuple(shape_of(t)), str(element_type_of(t))) for t in types]


def smallest_gathered_extent(module: ModuleOp, otherwise: int = 8) -> int:
    """Returns the exclusive upper bound of integer inputs that may be indices of a gather."""
    extents = [shape_of(op.operand.type)[op.dim] for op in module.walk() if isinstance(op, forge.GatherOp)]
    return min([*extents, otherwise])


def tilings(module: ModuleOp) -> list[dict[str, int]]:
    """Returns tile sizes to check a module at: thirds of the extents with a ragged rest, and two tiles an axis; an axis
    within another takes a size that divides that one's.
    """
    axes = {op.axis_name: op.extent for op in module.walk() if isinstance(op, tile.AxisOp) and op.outer is None}
    if not axes:
        return [{}]
    return [
        {axis: -(-extent // 3) for axis, extent in axes.items()},
        {axis: extent // 2 + 1 for axis, extent in axes.items()},
    ]


def check_equivalent(
    module_a: ModuleOp,
    module_b: ModuleOp,
    seeds: Sequence[int] = (0, 1),
    tile_sizes: Sequence[Mapping[str, int]] | None = None,
    cases: Sequence[str] = EQUIVALENCE_CASES,
    reduce: bool = True,
    rounding: Rounding = "none",
) -> EquivalenceReport:
    """Compares two modules (forge or tile) with the same signature on random inputs of the given cases.

    ``tile_sizes``: the tilings to evaluate at, each with sizes for axes of either module (default: ``tilings`` of
    each). With ``reduce`` both are brought to reduced extents of the same form first. Raises ``EquiforgeError`` where
    a module can't be evaluated.
    """
    if argument_types(module_a) != argument_types(module_b):
        return EquivalenceReport([f"the arguments differ: {argument_types(module_a)} and {argument_types(module_b)}"])
    if reduce:
        module_a, reduced = shrink(module_a, module_b)
        assert reduced is not None
        module_b = reduced
    report = EquivalenceReport()
    for seed in seeds:
        for case, args in hostile_inputs(argument_types(module_a), seed, smallest_gathered_extent(module_a), cases):
            reference: list[Array] | None = None
            for module in (module_a, module_b):
                for sizes in _sizes_for(module, tile_sizes):
                    results = evaluate(module, args, sizes, rounding)
                    report.evaluations += 1
                    if reference is None:
                        reference = results
                        continue
                    name = f"inputs {case!r}, seed {seed}" + (f", tiles {sizes}" if sizes else "")
                    _compare(report, name, reference, results, TOLERANCES.get(case, DEFAULT_TOLERANCE))
    return report


def assert_equivalent(before: ModuleOp, after: ModuleOp, what: str) -> None:
    """Raises ``EquiforgeError`` if a step named ``what`` changed the meaning of a module."""
    report = check_equivalent(before, after)
    if not report.ok:
        raise EquiforgeError(
            f"{what} changed the meaning of the program: {report}", hint="this is a bug of the compiler"
        )


def _sizes_for(module: ModuleOp, tile_sizes: Sequence[Mapping[str, int]] | None) -> list[dict[str, int]]:
    if tile_sizes is None:
        return tilings(module)
    axes = {op.axis_name for op in module.walk() if isinstance(op, tile.AxisOp)}
    chosen = [{axis: size for axis, size in sizes.items() if axis in axes} for sizes in tile_sizes]
    return [sizes for place, sizes in enumerate(chosen) if sizes not in chosen[:place]] or [{}]


def _compare(
    report: EquivalenceReport, name: str, expected: list[Array], actual: list[Array], tolerance: float
) -> None:
    """Adds what differs between two lists of results to a report."""
    if len(expected) != len(actual):
        report.failures.append(f"{len(actual)} results, expected {len(expected)}")
        return
    for number, (a, e) in enumerate(zip(actual, expected, strict=True)):
        label = f"result {number} with {name}"
        if a.shape != e.shape:
            report.failures.append(f"{label}: shape {a.shape}, expected {e.shape}")
        elif not is_float(e):
            if np.any(a != e):
                report.failures.append(f"{label}: {np.count_nonzero(a != e)} of {e.size} elements differ")
        else:
            error = relative_l2(a, e)
            report.worst = max(report.worst, error)
            misplaced = kinds(a) != kinds(e)
            if np.any(misplaced):
                place = tuple(int(i) for i in np.argwhere(misplaced)[0])
                report.failures.append(f"{label}: {a[place]} at {list(place)}, expected {e[place]}")
            elif error > tolerance:
                report.failures.append(f"{label}: relative L2 difference {error:.3g}, allowed {tolerance:.3g}")
