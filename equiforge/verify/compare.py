"""Judging an executed program: errors against float64, against eager PyTorch, and inputs that provoke failures.

The criterion: the relative L2 error to the float64 reference is at most twice that of eager PyTorch in the same
element types, or within the rounding of the output type; integers and booleans are equal; NaN and infinities stand
where eager has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from equiforge.verify.numeric import Array, is_float
from equiforge.verify.values import round_to

UNIT_ROUNDOFF = {
    "f64": 2.0**-53,
    "f32": 2.0**-24,
    "f16": 2.0**-11,
    "bf16": 2.0**-8,
    "f8E4M3FN": 2.0**-4,
    "f8E5M2": 2.0**-3,
}
"""Largest relative error of rounding to an element type, in its normal range."""

EAGER_FACTOR = 2.0
"""How much worse than eager PyTorch a candidate may be."""


@dataclass(frozen=True)
class ErrorReport:
    """The verdict on one output tensor. ``error_rel_l2`` and ``eager_rel_l2`` are relative to float64, ``bound`` is
    what is allowed.
    """

    error_rel_l2: float
    bound: float
    eager_rel_l2: float | None = None
    misplaced: int = 0
    """Elements that are NaN, inf or finite where neither eager nor the reference is."""
    example: str = ""
    """The first misplaced or the worst element, for the message."""

    @property
    def ok(self) -> bool:
        """True if the output passes."""
        return self.misplaced == 0 and self.error_rel_l2 <= self.bound

    def __str__(self) -> str:
        verdict = "ok" if self.ok else "FAILED"
        eager = "" if self.eager_rel_l2 is None else f", eager {self.eager_rel_l2:.3g}"
        places = f", {self.misplaced} misplaced NaN/inf" if self.misplaced else ""
        return f"{verdict}: relative L2 {self.error_rel_l2:.3g} (allowed {self.bound:.3g}{eager}){places}{self.example}"


def kinds(x: Array) -> Array:
    """0 for finite, 1 for +inf, -1 for -inf, 2 for NaN, element by element."""
    result = np.zeros(x.shape, dtype=np.int8)
    result[np.isnan(x)] = 2
    result[np.isposinf(x)] = 1
    result[np.isneginf(x)] = -1
    return result


def relative_l2(actual: Array, reference: Array) -> float:
    """||actual - reference|| / ||reference|| over the elements that are finite in both; the norm of ``actual`` if the
    reference is zero.
    """
    both = np.isfinite(actual) & np.isfinite(reference)
    a, r = actual[both].astype(np.float64), reference[both].astype(np.float64)
    # Scaled by the largest element, so that squares of very large or very small numbers stay in range.
    scale = max(float(np.max(np.abs(r), initial=0.0)), float(np.max(np.abs(a), initial=0.0)))
    if scale == 0.0:
        return 0.0
    norm = float(np.linalg.norm(r / scale))
    error = float(np.linalg.norm(a / scale - r / scale))
    return error / norm if norm > 0 else error * scale


def judge(
    actual: Array, reference: Array, element: str, eager: Array | None = None, floor: float | None = None
) -> ErrorReport:
    """Compares an output with the float64 reference and with eager PyTorch's output in the same element type.

    All arrays have the same shape; ``element`` is the element type of the output (``f16``, ``i32``, …). Without
    ``eager`` the bound is ``floor`` (default: the rounding of ``element``). An element's kind (finite, inf, NaN) is
    right if it is eager's, or the rounded reference's: a program that does not overflow where eager's half-precision
    intermediates do is no worse for it, and where the result overflows too it is infinite or NaN.
    """
    if actual.shape != reference.shape:
        return ErrorReport(np.inf, 0.0, misplaced=0, example=f"; shape {actual.shape}, expected {reference.shape}")
    if not is_float(reference):
        wrong = np.asarray(actual != reference)
        return ErrorReport(float(np.count_nonzero(wrong)), 0.0, example=_example(wrong, actual, reference))
    actual = actual.astype(np.float64)
    rounded = round_to(reference, element)
    floor = UNIT_ROUNDOFF[element] if floor is None else floor
    kind = kinds(actual)
    right = kind == kinds(rounded)
    eager_error = None
    if eager is not None:
        eager = eager.astype(np.float64)
        # Where the result and eager's intermediates overflow, what comes of them depends on the order: inf or NaN.
        overflowed = ~np.isfinite(eager) & ~np.isfinite(rounded) & np.isfinite(reference)
        right |= (kind == kinds(eager)) | (overflowed & (kind != 0))
        eager_error = relative_l2(eager, np.where(np.isfinite(rounded), reference, rounded))
    # Where eager overflows it has no error to be compared with.
    measured = np.isfinite(eager) if eager is not None else np.ones(actual.shape, dtype=np.bool_)
    error = relative_l2(actual[measured], np.where(np.isfinite(rounded), reference, rounded)[measured])
    bound = max(floor, EAGER_FACTOR * eager_error) if eager_error is not None else floor
    # Where the reference itself lies among the denormals of the output type, rounding errors are absolute.
    if error > bound and _within_denormal_steps(actual, reference, element):
        error = bound
    wrong = ~right
    example = _example(wrong, actual, rounded)
    if not example and error > bound:
        difference = np.where(np.isfinite(actual) & np.isfinite(rounded), np.abs(actual - rounded), 0.0)
        example = _example(difference == np.max(difference), actual, rounded)
    return ErrorReport(error, bound, eager_error, int(np.count_nonzero(wrong)), example)


def _within_denormal_steps(actual: Array, reference: Array, element: str) -> bool:
    """True if every element differs by at most a denormal step (the distance between neighbours of zero) of the
    element type, or by some for the types that sums are formed in: there each term may be off by half a step.
    """
    step = {"f64": 2.0**-1069, "f32": 2.0**-144, "f16": 2.0**-24, "bf16": 2.0**-133}.get(element, 0.0)
    both = np.isfinite(actual) & np.isfinite(reference)
    return bool(np.all(np.abs(actual[both] - reference[both]) <= step))


def _example(chosen: Array, actual: Array, reference: Array) -> str:
    """Describes the first chosen element."""
    if not np.any(chosen):
        return ""
    place = tuple(int(i) for i in np.argwhere(chosen)[0])
    return f"; at {list(place)} {actual[place]}, expected {reference[place]}"


# Inputs


def _normal(rng: np.random.Generator, shape: Sequence[int]) -> Array:
    return rng.standard_normal(tuple(shape))


LARGE = {"f16": 2.0**6, "f8E4M3FN": 16.0, "f8E5M2": 64.0}
"""Scale of large inputs: near enough to the overflow of a product of two; 10^4 for wider types."""

SMALLEST_NORMAL = {
    "f64": 2.0**-1022,
    "f32": 2.0**-126,
    "f16": 2.0**-14,
    "bf16": 2.0**-126,
    "f8E4M3FN": 2.0**-6,
    "f8E5M2": 2.0**-14,
}

CASES = ("normal", "large", "large_mean", "zeros", "minus_inf", "inf", "nan", "denormals", "one_hot", "masked")
"""Names of the input cases; the first is benign."""


def make_input(
    case: str, shape: Sequence[int], element: str, rng: np.random.Generator, marked: bool = True, integer_high: int = 8
) -> Array:
    """Makes one input tensor for a case, float64 (rounded to ``element``), integer or boolean.

    ``marked``: whether this tensor gets the infinities and NaN of the cases that have such. Integers are uniform in
    ``0 <= i < integer_high``.
    """
    if element == "i1":
        return rng.random(tuple(shape)) < 0.5
    if element.startswith("i"):
        return rng.integers(0, integer_high, size=tuple(shape)).astype(f"int{element[1:]}")
    x = _normal(rng, shape)
    match case:
        case "large":
            x = x * LARGE.get(element, 1e4)
        case "large_mean":
            x = x + 4.0 * LARGE.get(element, 256.0)
        case "zeros":
            x = np.zeros_like(x)
        case "denormals":
            x = (rng.random(x.shape) * 2 - 1) * SMALLEST_NORMAL[element]
        case "one_hot" if x.ndim and x.size:
            hot = rng.integers(0, x.shape[-1], size=(*x.shape[:-1], 1))
            places: Array = np.arange(int(x.shape[-1]))
            x = np.where(places == hot, 8.0, 0.0)
        case "minus_inf" | "inf" | "nan" if marked and x.size:
            special = {"minus_inf": -np.inf, "inf": np.inf, "nan": np.nan}[case]
            count = max(1, x.size // 100)
            np.put(x, rng.choice(x.size, size=count, replace=False), special)
        case "masked" if marked and x.size:
            # Rows that start with -inf, as the first tiles of a masked score do; one row is -inf throughout.
            rows = x.reshape(-1, x.shape[-1] if x.ndim else 1)
            starts = rng.integers(0, rows.shape[1], size=(len(rows), 1))
            starts[rng.integers(0, len(rows))] = rows.shape[1]
            x = np.where(np.arange(rows.shape[1]) < starts, -np.inf, rows).reshape(x.shape)
        case _:
            pass
    return round_to(np.asarray(x, dtype=np.float64), element)


def hostile_inputs(
    types: Sequence[tuple[Sequence[int], str]], seed: int, integer_high: int = 8, cases: Sequence[str] = CASES
) -> Iterator[tuple[str, list[Array]]]:
    """Yields ``(case name, arguments)`` for arguments of the given ``(shape, element type)``, the benign case first.

    The infinities and NaN go into one float argument, another one for each seed and case. Deterministic in ``seed``.
    """
    floats = [i for i, (_, element) in enumerate(types) if not element.startswith("i")]
    for number, case in enumerate(cases):
        rng = np.random.default_rng([seed, number])
        marked = floats[(seed + number) % len(floats)] if floats else -1
        yield (
            case,
            [
                make_input(case, shape, element, rng, i == marked, integer_high)
                for i, (shape, element) in enumerate(types)
            ],
        )
