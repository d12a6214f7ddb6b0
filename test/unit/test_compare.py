"""The criterion by which executed programs are judged, and the inputs that they are judged on."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from equiforge.verify.compare import CASES, SMALLEST_NORMAL, hostile_inputs, judge, relative_l2
from equiforge.verify.values import round_to

TORCH = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize("element", ["f16", "bf16", "f32"])
def test_eager_itself_passes_and_three_times_its_error_fails(element: str) -> None:
    a, b = round_to(normal(40, 50), element), round_to(normal(50, 30, seed=1), element)
    reference = a @ b
    eager = (torch.tensor(a).to(TORCH[element]) @ torch.tensor(b).to(TORCH[element])).double().numpy()
    report = judge(eager, reference, element, eager)
    assert report.ok
    assert report.error_rel_l2 == report.eager_rel_l2
    assert not judge(reference + 3 * (eager - reference) + reference * 2.0**-7, reference, element, eager).ok


def test_the_rounding_of_the_output_type_is_always_allowed() -> None:
    reference = normal(100)
    rounded = round_to(reference, "f16")
    # Eager happened to be exact: one rounding is still no fault.
    assert judge(rounded, reference, "f16", reference).ok
    assert not judge(round_to(reference, "bf16"), reference, "f16", reference).ok


def test_relative_l2_is_the_ratio_of_norms_at_any_scale() -> None:
    r = normal(50)
    a = r + 1e-3 * normal(50, seed=1)
    expected = np.linalg.norm(a - r) / np.linalg.norm(r)
    for scale in (1.0, 1e200, 1e-200):
        assert relative_l2(a * scale, r * scale) == pytest.approx(expected, rel=1e-12)
    assert relative_l2(np.zeros(3), np.zeros(3)) == 0.0
    assert relative_l2(np.array([3.0, 4.0]), np.zeros(2)) == pytest.approx(5.0)


def test_nan_and_inf_must_be_where_eager_has_them() -> None:
    reference = np.array([1.0, np.nan, np.inf, -np.inf])
    assert judge(reference.copy(), reference, "f32", reference).ok
    for place, wrong in [(0, np.nan), (1, 0.0), (2, -np.inf), (3, np.nan)]:
        actual = reference.copy()
        actual[place] = wrong
        report = judge(actual, reference, "f32", reference)
        assert not report.ok
        assert report.misplaced == 1
        assert f"[{place}]" in str(report)


def test_a_program_that_does_not_overflow_where_eager_does_is_right() -> None:
    # Eager's half-precision intermediate overflowed; the true result is representable.
    reference, eager = np.array([300.0, 1.0]), np.array([np.inf, 1.0])
    assert judge(np.array([300.0, 1.0]), reference, "f16", eager).ok
    assert judge(np.array([np.inf, 1.0]), reference, "f16", eager).ok
    assert not judge(np.array([np.nan, 1.0]), reference, "f16", eager).ok


def test_a_result_beyond_the_output_type_is_inf() -> None:
    reference = np.array([1e6, 2.0])
    assert judge(np.array([np.inf, 2.0]), reference, "f16", np.array([np.inf, 2.0])).ok
    assert not judge(np.array([65504.0, 2.0]), reference, "f16", np.array([np.inf, 2.0])).ok


def test_denormal_results_may_differ_by_a_step() -> None:
    step = 2.0**-24
    reference = np.array([1.4 * step, 2.6 * step])
    assert judge(np.array([2 * step, 2 * step]), reference, "f16", np.array([step, 3 * step])).ok
    assert not judge(np.array([9 * step, 2 * step]), reference, "f16", np.array([step, 3 * step])).ok


def test_integers_must_be_equal() -> None:
    x = np.arange(5)
    assert judge(x, x, "i64").ok
    assert not judge(x + (x == 3), x, "i64").ok
    assert not judge(x[:4], x, "i64").ok


@pytest.mark.parametrize("element", ["f16", "bf16", "f32"])
def test_inputs_are_representable_and_as_their_names_say(element: str) -> None:
    types = [((6, 40), element), ((3,), "i64"), ((4, 5), "i1")]
    cases = dict(hostile_inputs(types, seed=3, integer_high=7))
    assert tuple(cases) == CASES
    for x, integers, booleans in cases.values():
        np.testing.assert_array_equal(x, torch.tensor(x).to(TORCH[element]).double().numpy())
        assert integers.min() >= 0
        assert integers.max() < 7
        assert booleans.dtype == np.bool_
    assert not np.any(cases["zeros"][0])
    assert np.isneginf(cases["minus_inf"][0]).any()
    assert np.isnan(cases["nan"][0]).any()
    assert np.all(np.abs(cases["denormals"][0]) <= SMALLEST_NORMAL[element])
    assert np.any(cases["denormals"][0])
    assert np.all(np.count_nonzero(cases["one_hot"][0], axis=1) == 1)
    assert np.isneginf(cases["masked"][0]).all(axis=1).any()
    assert np.abs(cases["large"][0]).max() > 100
    means, spreads = cases["large_mean"][0].mean(), cases["large_mean"][0].std()
    assert means > 50 * spreads


def test_inputs_depend_on_the_seed_only() -> None:
    types = [((4, 4), "f16"), ((4, 4), "f16")]
    first, again, other = (dict(hostile_inputs(types, seed)) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first["normal"][0], again["normal"][0])
    assert np.any(first["normal"][0] != other["normal"][0])
    # The special values move from one argument to another.
    assert np.isnan(first["nan"][0]).any() != np.isnan(other["nan"][0]).any()
