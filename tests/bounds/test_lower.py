"""The lower bound for a threshold: closed forms, a cone solver, and what must not change it."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.gaussian_process.kernels import RBF

from superlevel.bounds import explicit
from superlevel.design import Status, Subset, certify
from superlevel.domain import Domain
from superlevel.errors import InputError

from .oracle import Array, benchmark, design_optimum, normal

LOG = np.log(1 / 0.24)  # log(1 / (2.4 delta)) at delta = 0.1


# ----------------------------------------------------------------------------------- closed forms


@pytest.mark.parametrize(
    ("values", "threshold"),
    [
        (normal(0, 7), 0.1),
        (normal(1, 30) + 5, 0.0),
        (normal(2, 30) - 5, 0.0),
        (np.array([0.3]), 1.0),
        (normal(3, 12), 100.0),
    ],
    ids=["mixed", "all-above", "none-above", "one-point", "far"],
)
def test_independent_points_add_up(values: Array, threshold: float) -> None:
    """For phi(x_i) = e_i the best lambda_i is proportional to 1 / gap_i^2, and H is their sum."""
    bound = explicit(Domain(np.eye(len(values))), values, threshold=threshold, noise=0.7, rtol=1e-5)
    terms = (values - threshold) ** -2.0
    assert bound.status is Status.CERTIFIED
    assert bound.lower_bound <= terms.sum() * (1 + 1e-12)
    assert bound.complexity == pytest.approx(terms.sum(), rel=1.1e-5)
    assert bound.samples == pytest.approx(2 * 0.49 * LOG * bound.lower_bound, rel=1e-12)
    assert bound.samples == pytest.approx(2 * 0.49 * LOG * terms.sum(), rel=1.1e-5)
    np.testing.assert_allclose(bound.weights, terms / terms.sum(), atol=1e-3)


def test_unequal_noise_weighs_its_own_terms() -> None:
    """For e_i a point with sigma_i needs sigma_i^2 / gap_i^2 of the measurements."""
    values, noise = normal(4, 9), np.random.default_rng(4).uniform(0.2, 3, size=9)
    bound = explicit(Domain(np.eye(9)), values, threshold=0.2, noise=noise, rtol=1e-6)
    terms = noise**2 / (values - 0.2) ** 2
    assert bound.samples == pytest.approx(2 * LOG * terms.sum(), rel=1.1e-6)
    assert bound.complexity == pytest.approx(terms.sum() / noise.max() ** 2, rel=1.1e-6)
    np.testing.assert_allclose(bound.weights, terms / terms.sum(), atol=1e-5)


def test_equal_noise_is_one_number_or_many() -> None:
    points, values = normal(5, 20, 3), normal(6, 20)
    one = explicit(Domain(points), values, threshold=0.1, noise=0.4)
    many = explicit(Domain(points), values, threshold=0.1, noise=np.full(20, 0.4))
    assert many.samples == one.samples
    np.testing.assert_array_equal(many.weights, one.weights)


def test_the_benchmark_of_the_paper() -> None:
    points, values = benchmark()
    bound = explicit(Domain(points), values, threshold=0.5, noise=1.0)
    # By the cone solver, in the arms' span, with the points that matter: the nearest to the level, and e_1 and e_2.
    few = np.union1d([0, 1], np.argsort(np.abs(values - 0.5))[:8])
    optimum = design_optimum(points[few, :2], points[few, :2] / (values - 0.5)[few, None])
    assert bound.lower_bound <= optimum * (1 + 1e-5)
    assert bound.complexity == pytest.approx(optimum, rel=2e-3)
    assert bound.samples == pytest.approx(372, abs=1)


# ------------------------------------------------------------------------------------ cone solver


@pytest.mark.parametrize(("seed", "shape", "ridge"), [(0, (12, 3), 0.0), (1, (25, 4), 0.0), (2, (8, 5), 0.3)])
@pytest.mark.parametrize("unequal", [False, True])
def test_a_cone_solver_finds_the_same(seed: int, shape: tuple[int, int], ridge: float, unequal: bool) -> None:
    points, values = normal(seed, *shape), normal(seed + 50, shape[0])
    noise = np.random.default_rng(seed).uniform(0.5, 2, size=shape[0]) if unequal else np.ones(shape[0])
    loudness = noise.max() / noise
    bound = explicit(Domain(points), values, threshold=0.3, noise=noise, ridge=ridge, rtol=1e-5)
    optimum = design_optimum(points * loudness[:, None], points / (values - 0.3)[:, None], ridge)
    assert bound.lower_bound <= optimum * (1 + 1e-6)
    assert bound.complexity >= optimum * (1 - 1e-6)
    assert bound.gap <= 1e-5
    assert bound.samples == pytest.approx(2 * noise.max() ** 2 * LOG * optimum, rel=2e-5)


def test_the_bound_can_be_checked_without_a_solver() -> None:
    points, values = normal(7, 30, 4), normal(8, 30)
    bound = explicit(Domain(points), values, threshold=0.0, noise=1.0)
    proof = certify(points, Subset(scales=np.abs(values)), bound.weights, bound.design.dual, ridge=0)
    assert proof == pytest.approx(bound.lower_bound, rel=1e-9)


# ------------------------------------------------------------------------------------- properties


@given(
    hnp.arrays(np.float64, (6,), elements=st.floats(0.1, 3.0)),
    st.floats(1e-4, 1.0),
    st.floats(1.1, 100.0),
    st.integers(0, 20),
)
@settings(max_examples=25)
def test_a_ridge_only_lowers_the_bound(gaps: Array, ridge: float, factor: float, seed: int) -> None:
    domain = Domain(normal(seed, 6, 3))
    bounds = [explicit(domain, gaps, threshold=0.0, noise=1.0, ridge=r) for r in (0.0, ridge, ridge * factor)]
    for smaller, larger in pairwise(bounds):
        assert larger.lower_bound <= smaller.complexity * (1 + 1e-9)


def test_the_default_ridge_of_a_kernel_is_small_and_costs_little() -> None:
    line = np.linspace(0, 1, 40)
    domain, values = Domain(line, RBF(0.2)), np.sin(7 * line)
    default = explicit(domain, values, threshold=0.31, noise=1.0)
    given_ = explicit(domain, values, threshold=0.31, noise=1.0, ridge=1e-7)
    larger = explicit(domain, values, threshold=0.31, noise=1.0, ridge=1e-3)
    assert default.samples == given_.samples
    assert larger.samples < default.samples
    assert default.status is Status.CERTIFIED


@pytest.mark.parametrize(("delta", "factor"), [(0.1, LOG), (1e-6, np.log(1 / 2.4e-6)), (0.42, 0.0), (0.9, 0.0)])
def test_the_bound_is_never_negative(delta: float, factor: float) -> None:
    bound = explicit(Domain(np.eye(2)), [1.0, -1.0], threshold=0.0, noise=1.0, delta=delta, rtol=1e-6)
    assert bound.samples == pytest.approx(4 * factor, rel=1e-5)


def test_without_noise_one_look_is_enough() -> None:
    assert explicit(Domain(np.eye(2)), [1.0, 0.0], threshold=0.5, noise=0.0).samples == 0.0
    assert explicit(Domain(np.eye(2)), [1.0, 0.5], threshold=0.5, noise=0.0).samples == 0.0


# ------------------------------------------------------------------------------------- degenerate


def test_a_point_at_the_level_takes_for_ever_and_everything() -> None:
    bound = explicit(Domain(np.eye(3)), [1.0, 0.5, 0.0], threshold=0.5, noise=1.0, rtol=1e-4)
    assert bound.samples == bound.complexity == bound.lower_bound == np.inf
    assert bound.gap == 0.0
    np.testing.assert_allclose(bound.weights, [0, 1, 0], atol=1e-3)


def test_a_gap_that_shrinks_goes_there() -> None:
    """What is returned for a gap of zero is where the designs go as it shrinks."""
    points, values = normal(9, 10, 3), normal(10, 10)
    at = explicit(Domain(points), values, threshold=float(values[4]), noise=1.0, rtol=1e-4)
    near = explicit(Domain(points), values, threshold=float(values[4]) + 1e-4, noise=1.0, rtol=1e-4)
    row = points[4]
    for bound in (at, near):
        information = (points * bound.weights[:, None]).T @ points
        assert row @ np.linalg.solve(information, row) == pytest.approx(design_optimum(points, row[None]), rel=1e-2)


def test_zero_features_are_known_without_measuring() -> None:
    points = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    for known in (0.0, 0.5, 3.0):  # whatever is said of it, at the level or not
        bound = explicit(Domain(points), [1.0, known, 0.3], threshold=0.5, noise=1.0, rtol=1e-6)
        assert bound.complexity == pytest.approx(4 + 25, rel=1e-5)
        assert bound.weights[1] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"values": [1.0, 2.0]}, "values is of shape (2,): give shape (3,)"),
        ({"values": [1.0, 2.0, np.nan]}, "values[2] is nan: give finite numbers"),
        ({"threshold": np.inf}, "threshold is inf: give a finite number"),
        ({"threshold": [1.5, np.nan]}, "threshold[1] is nan: give a finite number"),
        ({"threshold": "high"}, "threshold is 'high': give a finite number"),
        ({"threshold": []}, "threshold is empty: give a level, or several"),
        ({"noise": -1.0}, "noise is -1.0: give a number >= 0"),
        ({"noise": "loud"}, "noise is 'loud': give a number >= 0"),
        ({"noise": [1.0, 0.0, 1.0]}, "noise[1] is 0.0: give standard deviations > 0"),
        ({"noise": [1.0, 1.0]}, "noise is of shape (2,): give shape (3,)"),
        ({"delta": 0.0}, "delta is 0.0: give a number > 0 and < 1"),
        ({"ridge": -0.1}, "ridge is -0.1: give a number >= 0"),
        ({"tolerance": -1.0}, "tolerance is -1.0: give a number >= 0"),
        ({"tolerance": 2.0}, "tolerance is 2.0: give a smaller one: every point is within it"),
        ({"rtol": 0.0}, "rtol is 0.0: give a number > 0"),
        ({"domain": Domain(np.zeros((3, 2)))}, "arms is zero everywhere"),
        ({"domain": Domain([0.0, 0.5, 1.0], RBF(0.1)), "ridge": 0.0}, "ridge is 0.0: give a number > 0"),
    ],
)
def test_what_cannot_be_used_is_named(changes: dict[str, Any], sentence: str) -> None:
    given_: dict[str, Any] = {
        "domain": Domain(np.eye(3)),
        "values": [1.0, 2.0, 3.0],
        "threshold": 1.5,
        "noise": 1.0,
        **changes,
    }
    with pytest.raises(InputError, match="^" + re.escape(sentence)):
        explicit(given_.pop("domain"), given_.pop("values"), **given_)
