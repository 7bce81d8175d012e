"""The local scale: near 1 for a function that is alike everywhere, more where predictions failed, less elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from superlevel.arrays import Array
from superlevel.averaging.local import AGAINST, FEWEST, LARGEST, NEIGHBOURS, scales

PLACES = np.random.default_rng(0).random((400, 2))


def by_loops(measured: Array, deviates: Array, places: Array) -> Array:
    """The formulas of the module, point by point."""
    squares = np.minimum(deviates**2, LARGEST)
    g, k = squares.mean(), min(NEIGHBOURS, len(squares) - 1)

    def at(distances: Array, a: float) -> float:
        near = np.argsort(distances, kind="stable")[:k]
        return 1.0 if np.isinf(a) else float((a * g + squares[near].sum()) / (a * g + k * g))

    inside = cdist(measured, measured) + np.diag(np.full(len(measured), np.inf))
    logs = []
    for a in AGAINST:
        squared = np.array([g * at(row, a) for row in inside])
        logs.append(float(-0.5 * (np.log(squared) + squares / squared).sum()))
    weights = np.exp(np.array(logs) - max(logs))
    found = [sum(w * at(row, a) for w, a in zip(weights, AGAINST, strict=True)) for row in cdist(places, measured)]
    return np.asarray(np.sqrt(np.array(found) / weights.sum()))


@pytest.mark.parametrize("count", [FEWEST, 60])
def test_two_roads(count: int) -> None:
    deviates = np.random.default_rng(count).standard_t(3, count)
    found = scales(PLACES[:count], deviates, PLACES)
    np.testing.assert_allclose(found, by_loops(PLACES[:count], deviates, PLACES))


def test_deviates_that_are_alike_everywhere_leave_scales_near_one() -> None:
    rng = np.random.default_rng(1)
    found = np.concatenate([scales(PLACES[:200], rng.standard_normal(200), PLACES) for _ in range(20)])
    assert np.sqrt(np.square(found - 1.0).mean()) < 0.12
    assert abs(found.mean() - 1.0) < 0.03


def test_a_rough_half_is_found() -> None:
    rng = np.random.default_rng(2)
    rough = PLACES[:, 0] > 0.5
    deviates = np.where(rough[:200], 2.0, 0.5) * rng.standard_normal(200)
    found = scales(PLACES[:200], deviates, PLACES)
    inside = np.abs(PLACES[:, 0] - 0.5) > 0.2
    assert found[rough & inside].mean() > 1.15
    assert found[~rough & inside].mean() < 0.7


def test_one_outlier_counts_no_more_than_three_deviations() -> None:
    deviates = np.ones(100)
    far, farther = deviates.copy(), deviates.copy()
    far[0], farther[0] = 3.0, 1e6
    np.testing.assert_array_equal(scales(PLACES[:100], far, PLACES), scales(PLACES[:100], farther, PLACES))


@pytest.mark.parametrize(
    ("measured", "deviates", "places"),
    [
        (PLACES[: FEWEST - 1], np.arange(FEWEST - 1.0), PLACES),
        (PLACES[:50], np.zeros(50), PLACES),
        (PLACES[:0], np.empty(0), PLACES),
        (np.empty((50, 0)), np.ones(50), np.empty((400, 0))),
    ],
    ids=["few", "zero", "none", "no coordinate"],
)
def test_where_nothing_can_be_told_all_scales_are_one(measured: Array, deviates: Array, places: Array) -> None:
    assert (scales(measured, deviates, places) == 1.0).all()


def test_all_points_at_one_place() -> None:
    same = np.zeros((40, 2))
    found = scales(same, np.random.default_rng(3).standard_normal(40), same)
    assert (found > 0.3).all()
    assert (found < 3.0).all()
