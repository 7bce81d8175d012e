"""Units of distances: two of them where a map could be meant, one where it could not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from superlevel.arrays import Array
from superlevel.averaging.metrics import ALIKE, UNRELATED, constant, metrics

DEVIATIONS = st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=5)


def cloud(deviations: list[float], n: int = 30) -> Array:
    """Points whose coordinates have exactly these standard deviations."""
    drawn = np.random.default_rng(0).standard_normal((n, len(deviations)))
    drawn -= drawn.mean(axis=0)
    return np.asarray(3.0 + drawn / drawn.std(axis=0) * deviations)


@given(DEVIATIONS)
def test_the_variances_sum_up_to_one_in_every_metric(deviations: list[float]) -> None:
    points = cloud(deviations)
    for metric in metrics(points):
        assert metric.scaled(points).var(axis=0).sum() == pytest.approx(1.0, rel=1e-6)


@given(DEVIATIONS)
def test_the_first_metric_counts_all_coordinates_alike(deviations: list[float]) -> None:
    points = cloud(deviations)
    np.testing.assert_allclose(metrics(points)[0].scaled(points).var(axis=0), 1.0 / len(deviations), rtol=1e-6)


@given(DEVIATIONS)
def test_there_are_two_metrics_exactly_where_deviations_differ_and_are_comparable(deviations: list[float]) -> None:
    ratio = max(deviations) / min(deviations)
    if min(abs(ratio / ALIKE - 1), abs(ratio / UNRELATED - 1)) > 1e-6:
        assert len(metrics(cloud(deviations))) == (2 if ALIKE < ratio < UNRELATED else 1)


def test_the_common_metric_does_not_stretch_a_map() -> None:
    points = np.random.default_rng(1).random((40, 2)) * [5.0, 1.0]
    own, common = metrics(points)
    assert own.factors[0] < own.factors[1]
    assert common.factors[0] == common.factors[1]
    ratios = np.linalg.norm(np.diff(common.scaled(points), axis=0), axis=1)
    np.testing.assert_allclose(ratios / np.linalg.norm(np.diff(points, axis=0), axis=1), common.factors[0])


def test_turning_a_map_changes_the_common_metric_no_more_than_the_map() -> None:
    points = np.random.default_rng(2).random((40, 2)) * [5.0, 1.0]
    turned = points @ np.array([[0.8, -0.6], [0.6, 0.8]])
    apart = [np.linalg.norm(np.diff(metrics(each)[1].scaled(each), axis=0), axis=1) for each in (points, turned)]
    np.testing.assert_allclose(apart[0], apart[1])


@pytest.mark.parametrize("deviations", [[2.0, 1.0], [1.0, 1.0], [1e4, 1.0], [1.0]])
def test_constant_coordinates_are_left_out(deviations: list[float]) -> None:
    points = cloud(deviations)
    wider = np.insert(points, [0, len(deviations)], 0.1, axis=1)
    assert constant(wider).tolist() == [0, len(deviations) + 1]
    for metric, other in zip(metrics(points), metrics(wider), strict=True):
        np.testing.assert_allclose(metric.scaled(points), other.scaled(wider), rtol=1e-13)
        assert (other.factors[constant(wider)] == 0).all()


@pytest.mark.parametrize("n", [1, 4])
def test_points_that_are_all_equal_have_no_distance(n: int) -> None:
    points = np.full((n, 3), 0.7)
    (metric,) = metrics(points)
    assert metric.scaled(points).shape == (n, 0)
