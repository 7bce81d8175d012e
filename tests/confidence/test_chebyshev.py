"""The weighted Chebyshev fit: against a cone solver, by its own proof, and pairs against the same written out."""

from __future__ import annotations

import re
from typing import Any

import cvxpy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF

from superlevel import features
from superlevel.arrays import Array, Mask
from superlevel.confidence import chebyshev
from superlevel.confidence.chebyshev import Fit, fit, fit_pairs
from superlevel.errors import InputError


def optimum(rows: Array, values: Array, scales: Array) -> float:
    theta = cvxpy.Variable(rows.shape[1])
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.max(cvxpy.abs(rows @ theta - values) / scales)))
    return float(problem.solve(solver="CLARABEL"))


def deviation(theta: Array, rows: Array, values: Array, scales: Array) -> float:
    return float(np.max(np.abs(rows @ theta - values) / scales))


def instance(count: int, rank: int, seed: int = 0) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng([seed, count, rank])
    return rng.normal(size=(count, rank)), rng.normal(size=count), rng.uniform(0.3, 3, count)


def pairs(
    n: int, rank: int, share: float, filled: float = 1.1, seed: int = 0
) -> tuple[Array, Array, Array, Mask, Array]:
    """Arms, values, scales and mask, and the chosen pairs written out; NaN where the mask is False."""
    rng = np.random.default_rng([seed, n, rank])
    arms, values, scales = rng.normal(size=(n, rank)), rng.normal(size=(n, n)), rng.uniform(0.3, 3, (n, n))
    mask = rng.random((n, n)) < filled
    mask[rng.integers(n), rng.integers(n)] = True
    rows = (arms[:, None] - share * arms[None])[mask]
    return arms, np.where(mask, values, np.nan), np.where(mask, scales, np.nan), mask, rows


def check(found: Fit, rows: Array, values: Array, scales: Array) -> None:
    """The record is what it says."""
    assert found.deviation == pytest.approx(deviation(found.theta, rows, values, scales), rel=1e-9, abs=1e-12)
    assert 0 <= found.lower_bound <= found.deviation
    assert found.deviation <= found.lower_bound * (1 + 1e-6) + 1e-11 * np.abs(values / scales).max()


# ------------------------------------------------------------------------------------------ rows


@pytest.mark.parametrize(("count", "rank"), [(2, 1), (7, 3), (12, 11), (60, 6), (200, 20), (500, 3)])
def test_a_cone_solver_agrees(count: int, rank: int) -> None:
    given_ = instance(count, rank)
    found = fit(*given_)
    check(found, *given_)
    assert found.deviation == pytest.approx(optimum(*given_), rel=1e-6)


@given(st.integers(1, 12), st.integers(1, 6), st.integers(1, 6), st.integers(0, 2**32))
@settings(max_examples=60)
def test_an_answer_is_what_it_says(count: int, width: int, rank: int, seed: int) -> None:
    """Directions may be dependent, equal or zero; no theta of random ones is better."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(-2, 3, (count, rank)).astype(float) @ rng.normal(size=(rank, width))
    values, scales = rng.normal(size=count), rng.uniform(0.1, 2, count)
    found = fit(rows, values, scales)
    check(found, rows, values, scales)
    for other in found.theta + rng.normal(size=(20, width)) * 10.0 ** rng.integers(-6, 2, (20, 1)):
        assert deviation(other, rows, values, scales) >= found.lower_bound * (1 - 1e-9)


@pytest.mark.parametrize(("count", "rank"), [(1, 1), (1, 4), (5, 5), (6, 20)])
def test_independent_directions_are_met(count: int, rank: int) -> None:
    rows, values, scales = instance(count, rank)
    found = fit(rows, values, scales)
    assert found.deviation == pytest.approx(0, abs=1e-10)
    assert found.lower_bound == found.iterations == 0
    np.testing.assert_allclose(rows @ found.theta, values, atol=1e-10)


def test_values_of_some_theta_are_met_by_many_directions() -> None:
    rows, _, scales = instance(300, 7)
    theta = np.arange(7.0)
    np.testing.assert_allclose(fit(rows, rows @ theta, scales).theta, theta, atol=1e-10)


def test_equal_directions_share_the_spread_of_their_values() -> None:
    """t = (max - min) / 2 with equal scales; with scales a and b the values' distance over a + b."""
    row = np.array([[1.0, 2.0, -1.0]])
    found = fit(row.repeat(4, axis=0), [3.0, -1.0, 2.0, 0.5], np.ones(4))
    assert found.deviation == pytest.approx(2)
    assert row @ found.theta == pytest.approx(1)
    assert fit(row.repeat(2, axis=0), [0.0, 6.0], [1.0, 2.0]).deviation == pytest.approx(2)


def test_a_direction_of_zero_cannot_be_moved() -> None:
    found = fit([[0.0, 0.0], [1.0, 0.0]], [3.0, 5.0], [1.5, 1.0])
    assert found.deviation == found.lower_bound == pytest.approx(2)
    assert fit(np.zeros((3, 2)), [1.0, -4.0, 0.0], np.ones(3)).deviation == pytest.approx(4)
    assert fit(np.zeros((3, 2)), np.zeros(3), np.ones(3)).theta.tolist() == [0, 0]


@pytest.mark.parametrize("size", [1e-9, 1e9])
def test_units_do_not_matter(size: float) -> None:
    rows, values, scales = instance(80, 5)
    plain = fit(rows, values, scales)
    assert fit(rows, size * values, scales).deviation == pytest.approx(size * plain.deviation, rel=1e-6)
    assert fit(size * rows, values, scales).deviation == pytest.approx(plain.deviation, rel=1e-6)
    assert fit(rows, values, size * scales).deviation == pytest.approx(plain.deviation / size, rel=1e-6)


def test_small_deviations_of_large_values_are_found() -> None:
    """The program is solved for what is left of the values, so its tolerance is one of the deviation."""
    rows, noise, scales = instance(100, 6)
    exact = fit(rows, noise, scales).deviation
    large = fit(rows, 1e6 * (rows @ np.ones(6)) + 1e-3 * noise, scales)
    assert large.deviation == pytest.approx(1e-3 * exact, rel=1e-5)


def test_nearly_dependent_features_do_not_disturb() -> None:
    rows, values, scales = instance(50, 4)
    doubled = np.hstack([rows, rows @ np.ones((4, 1)) + 1e-14])
    assert fit(doubled, values, scales).deviation == pytest.approx(fit(rows, values, scales).deviation, rel=1e-6)


# ----------------------------------------------------------------------------------------- pairs


@pytest.mark.parametrize(("n", "rank", "filled"), [(2, 1, 1.1), (5, 3, 0.5), (12, 4, 0.3), (30, 8, 1.1), (30, 8, 0.1)])
@pytest.mark.parametrize("share", [0.8, 0.0, 0.3])
def test_pairs_are_their_directions_written_out(n: int, rank: int, filled: float, share: float) -> None:
    arms, values, scales, mask, rows = pairs(n, rank, share, filled)
    found, written = fit_pairs(arms, values, scales, share=share, mask=mask), fit(rows, values[mask], scales[mask])
    check(found, rows, values[mask], scales[mask])
    assert found.deviation == pytest.approx(written.deviation, rel=2e-6, abs=1e-12)
    assert written.lower_bound <= found.deviation * (1 + 1e-9) + 1e-12


def test_a_cone_solver_agrees_on_pairs() -> None:
    arms, values, scales, mask, rows = pairs(9, 4, 0.7, 0.6)
    best = optimum(rows, values[mask], scales[mask])
    assert fit_pairs(arms, values, scales, share=0.7, mask=mask).deviation == pytest.approx(best, rel=1e-6)


def test_all_pairs_count_without_a_mask() -> None:
    arms, values, scales, mask, _ = pairs(8, 3, 0.7)
    whole = fit_pairs(arms, values, scales, share=0.7)
    np.testing.assert_array_equal(whole.theta, fit_pairs(arms, values, scales, share=0.7, mask=mask).theta)


def test_one_point_is_met() -> None:
    found = fit_pairs([[2.0, 1.0]], [[3.0]], [[0.5]], share=0.6)
    assert found.deviation == pytest.approx(0, abs=1e-12)
    assert np.array([0.8, 0.4]) @ found.theta == pytest.approx(3)


def test_a_chain_of_pairs_is_met() -> None:
    """n - 1 pairs of n arms are independent, and leave one direction unseen."""
    arms = np.random.default_rng(1).normal(size=(6, 6))
    mask = np.eye(6, k=1, dtype=bool)
    values = np.where(mask, np.random.default_rng(2).normal(size=(6, 6)), np.nan)
    found = fit_pairs(arms, values, np.where(mask, 2.0, np.nan), share=0.9, mask=mask)
    assert found.deviation == pytest.approx(0, abs=1e-10)
    assert np.abs(found.theta).max() < 1e3


def test_pairs_of_a_kernel_s_features() -> None:
    """2,500 pairs of features whose singular values span six orders."""
    points = np.random.default_rng(3).random((50, 2))
    arms = features.embed(RBF(0.4), points, tol=1e-8).array
    heights = arms @ np.random.default_rng(4).normal(size=arms.shape[1])
    values = heights[:, None] - 0.8 * heights + 0.1 * np.random.default_rng(5).normal(size=(50, 50))
    found = fit_pairs(arms, values, np.ones((50, 50)), share=0.8)
    rows = (arms[:, None] - 0.8 * arms[None]).reshape(2500, -1)
    check(found, rows, values.ravel(), np.ones(2500))
    assert found.iterations <= 30


# ------------------------------------------------------------------------------------- the record


def test_the_same_input_gives_the_same_theta() -> None:
    given_ = instance(90, 8)
    np.testing.assert_array_equal(fit(*given_).theta, fit(*(array.copy() for array in given_)).theta)


@pytest.mark.parametrize("kept", [0.0, 0.9])
def test_the_answer_does_not_depend_on_what_leaves_the_working_set(
    kept: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_ = instance(400, 9)
    usual = fit(*given_)
    monkeypatch.setattr(chebyshev, "KEPT", kept)
    assert fit(*given_).deviation == pytest.approx(usual.deviation, rel=2e-6)


def test_bounds_stand_where_the_program_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """Least squares is then the answer, and its lower bound says that nothing was proved."""

    class Failed:
        x = None

    monkeypatch.setattr(chebyshev, "linprog", lambda *_, **__: Failed())
    rows, values, scales = instance(30, 4)
    found = fit(rows, values, scales)
    assert found.lower_bound == 0
    assert found.deviation == pytest.approx(deviation(found.theta, rows, values, scales))


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"rows": [1.0, 2.0]}, "rows is of shape (2,): give a 2-d array"),
        ({"rows": [[1.0], [np.nan]]}, "rows[1, 0] is nan: "),
        ({"values": [1.0]}, "values is of shape (1,): give shape (2,)"),
        ({"values": [1.0, np.inf]}, "values[1] is inf: give finite numbers"),
        ({"scales": [1.0, 0.0]}, "scales[1] is 0.0: give finite numbers > 0"),
        ({"rtol": 0.0}, "rtol is 0.0: give a number > 0"),
    ],
)
def test_bad_input_is_named(changed: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match="^" + re.escape(sentence)):
        fit(**{"rows": [[1.0], [2.0]], "values": [1.0, 2.0], "scales": [1.0, 1.0], **changed})


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"arms": [1.0, 2.0]}, "arms is of shape (2,): give a 2-d array"),
        ({"values": [1.0, 2.0]}, "values is of shape (2,): give shape (2, 2)"),
        ({"values": [[1.0, np.nan], [1.0, 1.0]]}, "values[0, 1] is nan: "),
        ({"scales": [[1.0, -1.0], [1.0, 1.0]]}, "scales[0, 1] is -1.0: give finite numbers > 0"),
        ({"scales": np.ones((3, 3))}, "scales is of shape (3, 3): give shape (2, 2)"),
        ({"mask": np.zeros((2, 2), dtype=bool)}, "mask is False everywhere: leave at least one target"),
        ({"mask": np.ones((2, 2))}, "mask is of type float64: give booleans"),
        ({"share": np.nan}, "share is nan: give a finite number"),
    ],
)
def test_bad_pairs_are_named(changed: dict[str, Any], sentence: str) -> None:
    usual = {"arms": [[1.0], [2.0]], "values": np.ones((2, 2)), "scales": np.ones((2, 2)), "share": 0.5}
    with pytest.raises(InputError, match="^" + re.escape(sentence)):
        fit_pairs(**{**usual, **changed})
