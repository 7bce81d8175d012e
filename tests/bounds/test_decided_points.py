"""The lower bound for some of the points, against closed forms and against that for all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel.bounds.decided_points import bound

UNIT = 2.0 * np.log(1 / 0.24)  # measurements that a complexity of 1 costs where delta is 0.1 and sigma 1


def test_a_bound_for_all_points_is_no_smaller_than_one_for_some() -> None:
    problem = sl.Problem(sl.Domain(np.linspace(0, 1, 12), RBF(0.3)), goal=sl.FractionOfMax(0.3), noise=0.5)
    values = np.sin(3 * np.linspace(0, 1, 12)) + 1
    whole = bound(problem, values, np.ones(12, dtype=np.bool_))
    assert whole is not None
    easy = bound(problem, values, np.abs(values - 0.7 * values.max()) > 0.2)
    assert easy is not None
    assert easy.samples < whole.samples / 2
    hard = np.abs(values - 0.7 * values.max())
    same = bound(problem, values, hard < np.sort(hard)[9])
    assert same is not None
    assert same.samples == pytest.approx(whole.samples, rel=0.06)


def test_points_that_need_nothing_do_not_count() -> None:
    domain = sl.Domain(np.array([[1.0], [0.0], [0.5]]))
    problem = sl.Problem(domain, goal=sl.Threshold(0.2), noise=1.0, tolerance=0.15)
    values = np.array([0.3, 0.0, 0.15])
    assert bound(problem, values, np.ones(3, dtype=np.bool_)) is None
    exact = replace(problem, tolerance=0.0)
    assert bound(exact, values, np.array([False, True, False])) is None
    tied = bound(exact, np.array([0.3, 0.0, 0.2]), np.ones(3, dtype=np.bool_))
    assert tied is not None
    assert tied.samples == pytest.approx(UNIT / 0.1**2, rel=0.05)


def test_a_point_where_f_is_known_counts_where_the_maximum_is_not() -> None:
    """At the origin f is the mean, 1; it is within half of the maximum unless f(x) at the other point exceeds 2."""
    problem = sl.Problem(sl.Domain(np.array([[0.0], [1.0]])), goal=sl.FractionOfMax(0.5), noise=1.0, mean=1.0)
    found = bound(problem, np.array([1.0, 1.8]), np.array([True, False]))
    assert found is not None
    assert found.samples == pytest.approx(UNIT / 0.2**2, rel=0.05)
