"""Blanks of a pilot survey are filled in by the posterior mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from superlevel.bounds import filled
from superlevel.domain import Domain
from superlevel.errors import InputError
from superlevel.goals import Threshold
from superlevel.problem import Problem

NAN = float("nan")


def problem(domain: Domain, **options: Any) -> Problem:
    return Problem(domain, goal=Threshold(0.0), **{"noise": 0.3, **options})


def test_blanks_are_the_posterior_mean_by_its_formula() -> None:
    points = np.random.default_rng(0).normal(size=(9, 2))
    kernel = RBF(1.3)
    values = np.random.default_rng(1).normal(size=9)
    blank = np.array([1, 4, 8])
    known = np.setdiff1d(np.arange(9), blank)
    given = values.copy()
    given[blank] = NAN
    whole = filled(problem(Domain(points, kernel), mean=0.7), given)
    matrix = kernel(points)
    inner = matrix[np.ix_(known, known)] + 0.09 * np.eye(6)
    wanted = 0.7 + matrix[np.ix_(blank, known)] @ np.linalg.solve(inner, values[known] - 0.7)
    np.testing.assert_array_equal(whole[known], values[known])
    np.testing.assert_allclose(whole[blank], wanted, rtol=1e-8)


def test_exact_measurements_of_a_linear_function_give_it_back() -> None:
    points = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, -1.0]])
    whole = filled(problem(Domain(points), noise=0.0), [0.5, -0.25, NAN, NAN])
    np.testing.assert_allclose(whole, [0.5, -0.25, 0.25, 1.25], atol=1e-6)


def test_whole_guesses_stay_as_they_are() -> None:
    np.testing.assert_array_equal(filled(problem(Domain(np.eye(2))), [1.0, 2.0]), [1.0, 2.0])


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([NAN, NAN], "values is NaN everywhere: give a guess"),
        ([1.0], r"values is of shape \(1,\): give shape \(2,\)"),
        ([1.0, np.inf], r"values\[1\] is inf: give finite numbers, or NaN"),
    ],
)
def test_what_cannot_be_used_is_named(values: list[float], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        filled(problem(Domain(np.eye(2))), values)
