"""Oracles have the mean and the deviation that they say, and nothing random of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from superlevel import oracles
from superlevel.arrays import Array
from superlevel.errors import InputError

TRUTH = np.array([-1.0, 0.0, 2.5])
LAWS: dict[str, Callable[..., oracles.Oracle]] = {
    "gaussian": oracles.Gaussian,
    "student": lambda values, noise: oracles.Student(values, noise=noise, freedom=5.0),
    "pareto": lambda values, noise: oracles.Pareto(values, noise=noise, tail=5.0),
    "bounded": oracles.Bounded,
    "outliers": lambda values, noise: oracles.Outliers(values, noise=noise, rate=0.01),
}


def many(oracle: oracles.Oracle, at: int, count: int = 200_000) -> Array:
    return oracle.measure(np.full(count, at), np.random.default_rng(at))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("noise", [0.5, np.array([0.1, 1.0, 2.0])])
def test_mean_and_deviation_are_as_stated(law: str, noise: Any) -> None:
    oracle = LAWS[law](TRUTH, noise=noise)
    for at, deviation in enumerate(np.broadcast_to(noise, 3)):
        measured = many(oracle, at)
        assert measured.mean() == pytest.approx(TRUTH[at], abs=5 * deviation / np.sqrt(len(measured)))
        assert measured.std() == pytest.approx(deviation, rel=0.05)


@pytest.mark.parametrize("law", LAWS)
def test_without_noise_the_truth_comes_back(law: str) -> None:
    oracle = LAWS[law](TRUTH, noise=0.0)
    chosen = np.array([2, 0, 0, 1])
    np.testing.assert_array_equal(oracle.measure(chosen, np.random.default_rng(0)), TRUTH[chosen])


@pytest.mark.parametrize("law", LAWS)
def test_the_same_generator_gives_the_same_measurements(law: str) -> None:
    oracle = LAWS[law](TRUTH, noise=1.0)
    first, second = (oracle.measure(np.arange(3), np.random.default_rng(7)) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_bounded_noise_never_exceeds_its_bound() -> None:
    assert np.abs(many(oracles.Bounded(TRUTH, noise=2.0), 1)).max() <= 2 * np.sqrt(3)


def test_student_noise_with_few_degrees_has_heavier_tails_than_gaussian() -> None:
    heavy = many(oracles.Student(TRUTH, noise=1.0, freedom=2.5), 1)
    assert np.abs(heavy).max() > 2 * np.abs(many(oracles.Gaussian(TRUTH, noise=1.0), 1)).max()


def test_outliers_are_rare_large_and_balanced_by_the_rest() -> None:
    measured = many(oracles.Outliers(np.zeros(1), noise=1.0, rate=1e-3), 0)
    lower, upper = np.unique(measured)
    assert (measured == upper).mean() == pytest.approx(1e-3, rel=0.2)
    assert 1e-3 * upper + (1 - 1e-3) * lower == pytest.approx(0.0, abs=1e-12)


def test_misspecification_adds_to_the_truth_and_to_every_measurement() -> None:
    error = np.array([0.1, -0.2, 0.0])
    oracle = oracles.Misspecified(oracles.Gaussian(TRUTH, noise=0.0), error)
    np.testing.assert_allclose(oracle.values, TRUTH + error)
    np.testing.assert_allclose(oracle.measure(np.arange(3), np.random.default_rng(0)), TRUTH + error)


def test_a_table_gives_back_what_was_recorded_at_the_point() -> None:
    points, recorded = np.array([1, 0, 1, 1, 2]), np.array([5.0, 1.0, 6.0, 7.0, -3.0])
    oracle = oracles.Table(points, recorded)
    np.testing.assert_allclose(oracle.values, [1.0, 6.0, -3.0])
    assert set(many(oracle, 1, 500)) == {5.0, 6.0, 7.0}
    assert set(many(oracle, 0, 50)) == {1.0}


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: oracles.Gaussian(TRUTH, noise=-1.0), "noise is -1.0: give a number >= 0"),
        (lambda: oracles.Gaussian(TRUTH, noise=np.array([1.0, -2.0, 0.0])), r"noise\[1\] is -2.0"),
        (lambda: oracles.Gaussian(np.array([0.0, np.nan]), noise=1.0), r"values\[1\] is nan"),
        (lambda: oracles.Gaussian(np.array([]), noise=1.0), "values is empty"),
        (lambda: oracles.Student(TRUTH, noise=1.0, freedom=2.0), "freedom is 2.0: give a number > 2"),
        (lambda: oracles.Pareto(TRUTH, noise=1.0, tail=1.5), "tail is 1.5: give a number > 2"),
        (lambda: oracles.Outliers(TRUTH, noise=1.0, rate=0.0), "rate is 0.0: give a number > 0 and < 1"),
        (lambda: oracles.Misspecified(oracles.Gaussian(TRUTH, noise=1.0), np.zeros(2)), r"error is of shape \(2,\)"),
        (lambda: oracles.Table(np.array([0, 2]), np.array([1.0, 2.0])), "points is without point 1"),
        (lambda: oracles.Table(np.array([0.5]), np.array([1.0])), "give the number, 0 to n - 1"),
    ],
)
def test_bad_input_is_one_sentence(make: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        make()
