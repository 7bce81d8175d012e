"""The lower bound where points near the level may be declared either way."""

from __future__ import annotations

import numpy as np
import pytest

import superlevel as sl
from superlevel.arrays import Array
from superlevel.confidence.rounds import Schedule
from superlevel.errors import InputError


def test_independent_points_beyond_the_tolerance_add_up() -> None:
    """Those within it need nothing; the others must be told from functions that are beyond it on the other side."""
    values = np.array([0.05, 0.2, -0.4, 1.0])
    bound = sl.bounds.explicit(sl.Domain(np.eye(4)), values, threshold=0.0, noise=1.0, tolerance=0.1, rtol=1e-5)
    terms = np.array([0.0, 0.3**-2, 0.5**-2, 1.1**-2])
    assert bound.complexity == pytest.approx(terms.sum(), rel=1e-4)
    np.testing.assert_allclose(bound.weights, terms / terms.sum(), atol=1e-3)


def test_a_tolerance_only_lowers_the_bound() -> None:
    rng = np.random.default_rng(0)
    domain, values = sl.Domain(rng.normal(size=(20, 3))), rng.normal(size=20)
    found = [
        sl.bounds.explicit(domain, values, threshold=0.1, noise=1.0, tolerance=tolerance).samples
        for tolerance in (0.0, 0.01, 0.1, 0.5)
    ]
    assert found == sorted(found, reverse=True)


def test_a_tolerance_beyond_every_point_is_refused_and_planned_as_nothing() -> None:
    domain, values = sl.Domain(np.eye(2)), np.array([0.1, -0.1])
    with pytest.raises(InputError, match=r"tolerance is 0.5: give a smaller one: every point is within it"):
        sl.bounds.explicit(domain, values, threshold=0.0, noise=1.0, tolerance=0.5)
    problem = sl.Problem(domain, goal=sl.Threshold(0.0), noise=1.0, bound=1.0, tolerance=0.5)
    rows = {row.name: row.measurements for row in sl.bounds.plan(problem, values).rows}
    assert rows["lower bound"] == 0.0


def nearest_beyond(
    points: Array, values: Array, epsilon: float, tolerance: float, weights: Array, *, reach: float
) -> float:
    """1 / ||f' - f||^2 of the nearest f' of a grid in a plane that puts a clear point clearly on the other side."""
    side = np.linspace(-reach, reach, 1201)
    moves = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    changed = values + moves @ points.T
    margin = values - (1 - epsilon) * values.max()
    other = changed - (1 - epsilon) * changed.max(axis=1, keepdims=True)
    clear = np.abs(margin) > tolerance
    crossed = ((np.sign(margin) * other < -tolerance) & clear).any(axis=1)
    return float(1 / (((moves @ points.T) ** 2) @ weights)[crossed].min())


@pytest.mark.parametrize("seed", range(4))
def test_a_fraction_of_the_maximum_with_a_tolerance_against_a_grid(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(5, 2))
    values = points @ rng.normal(size=2)
    values *= np.sign(values[np.argmax(np.abs(values))]) / np.abs(values).max()  # the maximum is 1
    theta = np.linalg.lstsq(points, values, rcond=None)[0]
    bound = sl.bounds.implicit(sl.Domain(points), values, epsilon=0.5, noise=1.0, tolerance=0.1, rtol=1e-3)
    changes = np.abs(np.linalg.lstsq(points, (bound.alternatives.functions - values).T, rcond=None)[0]).max()
    found = nearest_beyond(points, points @ theta, 0.5, 0.1, bound.weights, reach=3 * float(changes))
    assert found <= bound.complexity * (1 + 1e-6)
    assert found == pytest.approx(bound.complexity, rel=0.03)


def test_a_tolerance_only_lowers_the_implicit_bound() -> None:
    values = np.array([1.0, 0.8, 0.52, 0.45, 0.1])
    found = [
        sl.bounds.implicit(sl.Domain(np.eye(5)), values, epsilon=0.5, noise=1.0, tolerance=tolerance).samples
        for tolerance in (0.0, 0.01, 0.03, 0.2, 0.45)
    ]
    assert found == sorted(found, reverse=True)
    assert found[-1] > 0
    with pytest.raises(InputError, match=r"tolerance is 0.6: give a smaller one: every point is within it"):
        sl.bounds.implicit(sl.Domain(np.eye(5)), values, epsilon=0.5, noise=1.0, tolerance=0.6)


def test_all_of_the_set_may_be_within_the_tolerance() -> None:
    """Then only what is far outside must be told from functions that have it far inside."""
    values = np.array([1.0, 0.95, 0.0])
    bound = sl.bounds.implicit(sl.Domain(np.eye(3)), values, epsilon=0.1, noise=1.0, tolerance=0.2, rtol=1e-3)
    assert 0 < bound.lower_bound <= bound.complexity
    assert bound.gap <= 1e-3


@pytest.mark.parametrize("schedule", ["scaled", "tight"])
def test_a_simulated_run_lies_between_its_plan_s_best_and_worst(schedule: Schedule) -> None:
    rng = np.random.default_rng(3)
    points = rng.normal(size=(8, 3))
    values = points @ rng.normal(size=3)
    values /= np.abs(values).max()
    problem = sl.Problem(sl.Domain(points), goal=sl.Threshold(0.1), noise=0.5, bound=1.0, tolerance=0.1, ridge=1e-7)
    rows = {row.name: row.measurements for row in sl.bounds.plan(problem, values).rows}
    how = "" if schedule == "scaled" else "tight, "
    method = sl.methods.make("melk", problem, confidence=sl.Rips(schedule=schedule))
    run = sl.simulate(method, sl.oracles.Gaussian(values, noise=0.5))
    name = f"MELK {how}at worst"
    assert rows["lower bound"] <= run.samples <= 1.02 * rows[name]
    assert rows[f"MELK {how}at best"] <= rows[name]
