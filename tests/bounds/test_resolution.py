"""beta-bar against a scan over beta."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from superlevel.bounds import Resolution, resolution
from superlevel.domain import Domain
from superlevel.errors import InputError
from superlevel.goals import FractionOfMax, Goal, Threshold

from .oracle import Array, design_optimum, normal


def scan(gaps: Array, steps: Array, betas: Array) -> tuple[float, float]:
    """The least beta with F(beta) <= beta, and the least from which on that holds; steps[k] is F with k directions."""
    fits = steps[np.searchsorted(np.sort(gaps), betas, side="right")] <= betas
    return float(betas[np.argmax(fits)]), float(betas[len(fits) - np.argmin(fits[::-1])])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("ridge", "norm", "misspecification"), [(0.01, 1.0, 0.0), (1e-4, 2.0, 0.01), (0.0, 1.0, 0.05)])
def test_independent_points_by_a_scan(seed: int, ridge: float, norm: float, misspecification: float) -> None:
    """Orthonormal arms, k of them targets: the best design has value k / (1 + k ridge)."""
    values = np.random.default_rng(seed).uniform(-3, 3, size=15)
    found = resolution(
        Domain(np.eye(15)),
        values,
        goal=Threshold(0.2),
        norm=norm,
        misspecification=misspecification,
        ridge=ridge,
        rtol=1e-6,
    )
    hidden = np.sqrt(ridge) * norm + misspecification
    count = np.arange(16)
    steps = 4 * hidden * (2 + np.sqrt(count / (1 + count * ridge)))
    least, safe = scan(np.abs(values - 0.2), steps, np.linspace(1e-4, 5, 500_000))
    assert found.value == pytest.approx(least, abs=2e-5)
    assert found.safe == pytest.approx(safe, abs=2e-5)


def test_the_definition_may_hold_and_fail_again_further_up() -> None:
    """At 9 c = 0.9 one direction is near and F is 1.2; with nine at 1.25 it is 2: 1.2 fits, 1.3 does not."""
    values = np.concatenate([[0.5], np.full(8, 1.25)])
    found = resolution(Domain(np.eye(9)), values, goal=Threshold(0.0), norm=1.0, misspecification=0.1, rtol=1e-6)
    assert found.value == pytest.approx(4 * 0.1 * (2 + 1), rel=1e-5)
    assert found.safe == pytest.approx(4 * 0.1 * (2 + 3), rel=1e-5)


def test_pairs_by_a_scan_and_a_cone_solver() -> None:
    points, epsilon, ridge = normal(1, 3, 2), 0.4, 0.02
    values = points @ [1.0, 0.5]
    gaps = (values[:, None] - (1 - epsilon) * values).ravel()
    rows = (points[:, None, :] - (1 - epsilon) * points).reshape(-1, 2)[np.argsort(np.abs(gaps))]
    hidden = np.sqrt(ridge) * 1.5
    optima = [0.0, *(design_optimum(points, rows[: k + 1], ridge) for k in range(9))]
    steps = 4 * hidden * (2 + np.sqrt(optima))
    least, safe = scan(np.abs(gaps), steps, np.linspace(1e-4, 8, 800_000))
    found = resolution(Domain(points), values, goal=FractionOfMax(epsilon), norm=1.5, ridge=ridge, rtol=1e-5)
    assert found.value == pytest.approx(least, abs=1e-4)
    assert found.safe == pytest.approx(safe, abs=1e-4)


@pytest.mark.parametrize("goal", [Threshold(0.3), FractionOfMax(0.3)])
def test_it_grows_with_what_is_hidden(goal: Goal) -> None:
    line = np.linspace(0, 1, 30)
    domain, values = Domain(line, RBF(0.2)), np.sin(7 * line)
    found = [resolution(domain, values, goal=goal, norm=2.0, ridge=1e-6, misspecification=h) for h in (0.0, 1e-3, 0.1)]
    assert all(less.value <= more.value for less, more in pairwise(found))
    assert all(each.value <= each.safe for each in found)
    assert found[0].value >= 8 * 1e-3 * 2 * (1 - 1e-9)  # F is at least 8 c


def test_nothing_hidden_nothing_lost() -> None:
    found = resolution(Domain(np.eye(2)), [1.0, 0.3], goal=Threshold(0.5), norm=1.0)
    assert found == Resolution(value=0.0, safe=0.0)


def test_zero_features_and_far_points_do_not_count() -> None:
    points = np.array([[1.0, 0.0], [0.0, 0.0]])
    found = resolution(Domain(points), [9.0, 0.0], goal=Threshold(0.0), norm=1.0, misspecification=0.1)
    assert found.value == pytest.approx(0.8)  # no direction within it: 4 * 0.1 * 2
    assert found.safe == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"norm": 0.0}, "norm is 0.0: give a number > 0"),
        ({"misspecification": -1.0}, "misspecification is -1.0: give a number >= 0"),
        ({"goal": FractionOfMax(0.5), "values": [-1.0, -2.0]}, "values is at most -1: give values with a positive"),
        ({"ridge": -1.0}, "ridge is -1.0: give a number >= 0"),
    ],
)
def test_what_cannot_be_used_is_named(changes: dict[str, Any], sentence: str) -> None:
    given_ = {"values": [1.0, 0.3], "goal": Threshold(0.5), "norm": 1.0, **changes}
    with pytest.raises(InputError, match="^" + re.escape(sentence)):
        resolution(Domain(np.eye(2)), given_.pop("values"), **given_)
