"""What cannot be estimated from is named, in one sentence and before anything is computed."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from superlevel.errors import InputError
from superlevel.robust import (
    CATONI,
    MEAN,
    MEDIAN_OF_MEANS,
    TRIMMED_MEAN,
    Estimator,
    Grouped,
    Products,
    catoni,
    catoni_reach,
    catoni_scale,
)

ESTIMATORS = [CATONI, MEDIAN_OF_MEANS, TRIMMED_MEAN, MEAN]
SAMPLE = Grouped(values=np.ones(4), groups=np.array([0, 1, 1, 0]))


def says(sentence: str) -> Any:
    return pytest.raises(InputError, match="^" + re.escape(sentence))


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    ("samples", "sentence"),
    [
        ([], "samples is of shape (0,): give (N,) numbers or (N, p), one column a direction"),
        (3.0, "samples is of shape (): give (N,) numbers or (N, p)"),
        (np.ones((3, 0)), "samples is of shape (3, 0): "),
        (np.ones((3, 2, 2)), "samples is of shape (3, 2, 2): "),
        ([1.0, np.nan], "samples[1] is nan: give finite numbers"),
        ([[1.0, 2.0], [3.0, -np.inf]], "samples[1, 1] is -inf: give finite numbers"),
        ([1.0, -1e101], "samples is up to 1e+101 in size: give numbers up to 1e+100"),
        (["a", "b"], "samples is of type list and holds something other than numbers: "),
    ],
)
def test_bad_samples_are_named(estimator: Estimator, samples: Any, sentence: str) -> None:
    with says(sentence):
        estimator.estimate(samples, variance=1.0, delta=0.1)


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, np.nan, "0.1"])
def test_a_probability_out_of_range_is_named(delta: Any) -> None:
    got = repr(delta) if isinstance(delta, str) else str(delta)
    for estimator in (CATONI, MEDIAN_OF_MEANS, TRIMMED_MEAN):
        with says(f"delta is {got}: give a number > 0 and < 1"):
            estimator.estimate(np.ones(500), variance=1.0, delta=delta)
    for estimator in ESTIMATORS:
        with says(f"delta is {got}: give a number > 0 and < 1"):
            estimator.deviation(500, variance=1.0, delta=delta)


@pytest.mark.parametrize(
    ("variance", "sentence"),
    [
        (-1.0, "variance is -1.0: give a number >= 0"),
        (np.inf, "variance is inf: give a number >= 0"),
        (np.array([1.0, -2.0]), "variance[1] is -2.0: give finite numbers >= 0"),
        (np.array([np.nan, 2.0]), "variance[0] is nan: give finite numbers >= 0"),
        (np.ones((2, 2)), "variance is of shape (2, 2): give one number, or "),
    ],
)
def test_a_bad_variance_is_named(variance: Any, sentence: str) -> None:
    with says(sentence):
        catoni(np.ones((50, 2)), variance=variance, delta=0.1)
    for estimator in ESTIMATORS:
        with says(sentence):
            estimator.deviation(500, variance=variance, delta=0.1)


def test_a_variance_for_other_directions_is_named() -> None:
    with says("variance is of shape (3,): give one number, or shape (2,)"):
        catoni(np.ones((50, 2)), variance=np.ones(3), delta=0.1)


@pytest.mark.parametrize("count", [1, 5])
def test_too_few_samples_are_named_with_how_many_are_needed(count: int) -> None:
    """2 log(2 / 0.1) = 5.99."""
    with says(f"count is {count}: give at least 6 samples, or a delta larger than 0.1"):
        catoni(np.ones(count), variance=1.0, delta=0.1)
    with says(f"count is {count}: give at least 6 samples, or a delta larger than 0.1"):
        catoni_scale(count, variance=1.0, delta=0.1)
    assert catoni(np.arange(6.0), variance=3.0, delta=0.1) == pytest.approx(2.5)


@pytest.mark.parametrize("count", [0, -3, 2.5, True])
def test_a_count_that_is_none_is_named(count: Any) -> None:
    for estimator in ESTIMATORS:
        with says(f"count is {count}: give a whole number >= 1"):
            estimator.deviation(count, variance=1.0, delta=0.1)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"values": []}, "values is of shape (0,): give one number for each sample, and at least one"),
        ({"values": [[1.0] * 4]}, "values is of shape (1, 4): give one number for each sample"),
        ({"values": [1.0, np.nan, 1.0, 1.0]}, "values[1] is nan: give finite numbers"),
        ({"values": [1.0, 1e200, 1.0, 1.0]}, "values is up to 1e+200 in size: give numbers up to 1e+100"),
        ({"groups": [0, 1]}, "groups is of shape (2,): give shape (4,), a group for each value"),
        ({"groups": [0.0, 1.0, 1.0, 0.0]}, "groups is of type float64: give whole numbers from 0"),
        ({"groups": [0, 1, -2, 0]}, "groups[2] is -2: give whole numbers from 0"),
        ({"weights": [1.0, 1.0]}, "weights is of shape (2,): give shape (4,)"),
        ({"weights": [1.0, 0.0, 1.0, 1.0]}, "weights[1] is 0.0: give finite numbers > 0"),
    ],
)
def test_bad_groups_are_named(fields: dict[str, Any], sentence: str) -> None:
    with says(sentence):
        Grouped(**{"values": np.ones(4), "groups": np.array([0, 1, 1, 0]), **fields})


@pytest.mark.parametrize(
    ("factors", "sentence"),
    [
        (np.ones(3), "factors is of shape (3,): give a 2-d array"),
        (np.ones((1, 3)), "factors is of shape (1, 3): give a row for group 1 too"),
        ([[1.0], [np.nan]], "factors[1, 0] is nan: "),
        ([[1.0], [-1e101]], "factors times values is up to 1e+101 in size: give numbers up to 1e+100"),
    ],
)
def test_bad_factors_are_named(factors: Any, sentence: str) -> None:
    with says(sentence):
        Products(factors=factors, sample=SAMPLE)


def test_a_sample_of_another_kind_is_named() -> None:
    with says("sample is of type list: give Grouped(values=..., groups=...)"):
        Products(factors=np.ones((2, 2)), sample=[1.0])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"reach": [1.0]}, "reach is of shape (1,): give shape (2,)"),
        ({"reach": [1.0, -1.0]}, "reach[1] is -1.0: give numbers >= 0"),
        ({"reach": [1.0, np.inf]}, "reach[1] is inf: give finite numbers"),
        ({"reach": [1.0, 1.0], "delta": 0.0}, "delta is 0.0: give a number > 0 and < 1"),
        ({"reach": [1.0, 1.0], "rtol": 0.0}, "rtol is 0.0: give a number > 0"),
    ],
)
def test_a_bad_compression_is_named(options: dict[str, Any], sentence: str) -> None:
    with says(sentence):
        SAMPLE.compressed(**options)


def test_a_reach_needs_a_variance_for_each_direction() -> None:
    with says("variance is of shape (3,): give one number, or shape (2,)"):
        catoni_reach(np.ones((4, 2)), count=50, variance=np.ones(3), delta=0.1)


def test_weighted_samples_are_for_catoni_and_the_mean() -> None:
    weighted = Grouped(values=np.ones(2), groups=np.array([0, 1]), weights=np.array([400.0, 400.0]))
    given = Products(factors=np.ones((2, 3)), sample=weighted)
    for estimator in (MEDIAN_OF_MEANS, TRIMMED_MEAN):
        with says("samples is weighted: give every sample by itself: only catoni and mean take compressed ones"):
            estimator.estimate(given, variance=1.0, delta=0.1)
    for estimator in (CATONI, MEAN):
        assert estimator.estimate(given, variance=1.0, delta=0.1) == pytest.approx([1, 1, 1])
