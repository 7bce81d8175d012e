"""The lower bound where points near the level may be declared either way."""

from __future__ import annotations

import numpy as np
import pytest

import superlevel as sl
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


@pytest.mark.parametrize("schedule", ["scaled", "tight"])
def test_a_simulated_run_lies_between_its_plan_s_best_and_worst(schedule: str) -> None:
    rng = np.random.default_rng(3)
    points = rng.normal(size=(8, 3))
    values = points @ rng.normal(size=3)
    values /= np.abs(values).max()
    problem = sl.Problem(sl.Domain(points), goal=sl.Threshold(0.1), noise=0.5, bound=1.0, tolerance=0.1, ridge=1e-7)
    rows = {row.name: row.measurements for row in sl.bounds.plan(problem, values).rows}
    how = "" if schedule == "scaled" else "tight, "
    run = sl.simulate(sl.methods.make("melk", problem, schedule=schedule), sl.oracles.Gaussian(values, noise=0.5))
    name = f"MELK {how}at worst"
    assert rows["lower bound"] <= run.samples <= 1.02 * rows[name]
    assert rows[f"MELK {how}at best"] <= rows[name]
