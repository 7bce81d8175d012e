"""Median of means, trimmed mean and plain mean: against their definitions, and the promises of all estimators."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from superlevel.arrays import Array
from superlevel.robust import (
    CATONI,
    MEAN,
    MEDIAN_OF_MEANS,
    TRIMMED_MEAN,
    Estimator,
    Grouped,
    Products,
    alternatives,
    catoni,
    catoni_deviation,
    mean,
    mean_deviation,
    median_of_means,
    median_of_means_deviation,
    trimmed_mean,
    trimmed_mean_deviation,
)

from .laws import GAUSS, RARE, SKEWED, STUDENT, Law, dense, products, two_point

ALL = {"catoni": CATONI, "median": MEDIAN_OF_MEANS, "trimmed": TRIMMED_MEAN, "mean": MEAN}


def by_definition(samples: Array, *, delta: float, kind: str) -> float:
    """Either mean of one sample, with the library's permutation and otherwise by the book."""
    order = np.random.default_rng(alternatives.SEED).permutation(len(samples))
    if kind == "median":
        blocks = int(np.ceil(8 * np.log(1 / delta)))
        return float(np.median([samples[order % blocks == block].mean() for block in range(blocks)]))
    half, rank = len(samples) // 2, int(np.ceil(16 / 3 * np.log(8 / delta)))
    limits = np.sort(samples[order[:half]])
    return float(np.clip(samples[order[half:]], limits[rank - 1], limits[-rank]).mean())


@pytest.mark.parametrize("law", [GAUSS, STUDENT, SKEWED], ids=["gauss", "student", "skewed"])
@pytest.mark.parametrize("count", [150, 401])
def test_the_definitions_are_met(law: Law, count: int) -> None:
    samples = law.draw(np.random.default_rng(0), (count, 5))
    for kind, estimate in (("median", median_of_means), ("trimmed", trimmed_mean)):
        expected = [by_definition(column, delta=0.1, kind=kind) for column in samples.T]
        assert estimate(samples, delta=0.1) == pytest.approx(expected, rel=1e-12, abs=1e-13)
        assert estimate(samples[:, 2], delta=0.1) == pytest.approx(expected[2], rel=1e-12, abs=1e-13)
    np.testing.assert_allclose(mean(samples), samples.mean(axis=0))


@pytest.mark.parametrize("held", [1, 1000, 2**21])
def test_products_are_their_matrix_written_out(held: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alternatives, "HELD", held)
    given, variance = products(STUDENT, count=700, groups=6, directions=11)
    for estimator in ALL.values():
        short = estimator.estimate(given, variance=variance, delta=0.1)
        assert short == pytest.approx(estimator.estimate(dense(given), variance=variance, delta=0.1), abs=1e-5)


def test_as_many_samples_as_blocks_have_their_median() -> None:
    samples = np.random.default_rng(1).normal(size=25)  # ceil(8 log(1 / 0.05)) = 24
    assert median_of_means(samples[:24], delta=0.05) == pytest.approx(np.median(samples[:24]))


def test_parts_do_not_follow_the_order_of_the_samples() -> None:
    """Sorted by point, blocks in a row would have the median point's mean, 0, and a half the first points'."""
    groups = np.repeat(np.arange(5), 2000)
    factors = np.array([[0.0], [0.0], [0.0], [5.0], [10.0]])
    values = 1 + np.random.default_rng(2).normal(size=10_000)
    given = Products(factors=factors, sample=Grouped(values=values, groups=groups))
    assert median_of_means(given, delta=0.01) == pytest.approx(3, abs=0.5)
    assert trimmed_mean(given, delta=0.01) == pytest.approx(3, abs=0.5)


def test_every_run_splits_samples_alike() -> None:
    samples = np.random.default_rng(3).standard_t(2.5, size=500)
    for estimate in (median_of_means, trimmed_mean):
        assert estimate(samples, delta=0.1) == estimate(samples.copy(), delta=0.1)


def test_trimming_a_million_samples_of_twenty_directions_stays_small() -> None:
    given, _ = products(GAUSS, count=10**6, groups=20, directions=20)
    tracemalloc.start()
    trimmed = trimmed_mean(given, delta=0.1)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 0.5 * 8 * 20 * 10**6
    assert trimmed == pytest.approx(mean(given), abs=0.1)


# -------------------------------------------------------------------------------------- promises


@pytest.mark.parametrize("law", [GAUSS, STUDENT, SKEWED, RARE], ids=["gauss", "student", "skewed", "rare"])
@pytest.mark.parametrize("estimator", ALL.values(), ids=ALL)
@pytest.mark.parametrize("delta", [0.2, 0.02])
def test_estimates_are_as_close_as_promised(law: Law, estimator: Estimator, delta: float) -> None:
    """300 samples of 500: a failure rate of delta allows what the binomial law gives with probability 1 - 1e-6."""
    samples = law.draw(np.random.default_rng(4), (500, 300))
    found = estimator.estimate(samples, variance=law.variance, delta=delta)
    misses = np.abs(found - law.mean) > estimator.deviation(500, variance=law.variance, delta=delta)
    assert np.count_nonzero(misses) <= {0.2: 95, 0.02: 21}[delta]


@pytest.mark.parametrize("name", ["catoni", "median", "trimmed"])
def test_a_rare_height_takes_the_plain_mean_away_and_no_other(name: str) -> None:
    """Of twice N times the deviation; it is seen once, wherever that is, in a sample of what is zero otherwise."""
    count, delta, estimator = 2000, 1e-3, ALL[name]
    deviation = estimator.deviation(count, variance=1.0, delta=delta)
    law = two_point(1 / (2 * count * deviation) ** 2, 2 * count * deviation)
    samples = np.zeros((count, 20))
    samples[np.arange(20) * 100, np.arange(20)] = 2 * count * deviation
    robust = estimator.estimate(samples, variance=law.variance, delta=delta)
    assert (np.abs(robust - law.mean) <= deviation).all()
    assert (np.abs(mean(samples) - law.mean) > deviation).all()


def test_the_deviations_are_the_theorems() -> None:
    assert catoni_deviation(100, variance=4.0, delta=0.1) == pytest.approx(
        np.sqrt(8 * np.log(20) / (100 - 2 * np.log(20)))
    )
    assert median_of_means_deviation(100, variance=4.0, delta=0.1) == pytest.approx(4 / np.sqrt(5))  # 19 blocks of 5
    assert trimmed_mean_deviation(200, variance=4.0, delta=0.1) == pytest.approx(18 * np.sqrt(np.log(80) / 100))
    assert mean_deviation(100, variance=4.0, delta=0.1) == pytest.approx(2 / np.sqrt(10))


@pytest.mark.parametrize("name", ["catoni", "median", "trimmed"])
def test_estimates_exist_from_where_their_deviation_is_finite(name: str) -> None:
    estimator = ALL[name]
    fewest = next(n for n in range(1, 1000) if estimator.deviation(n, variance=1.0, delta=0.1) < np.inf)
    samples = np.random.default_rng(6).normal(size=fewest)
    assert np.isfinite(estimator.estimate(samples, variance=1.0, delta=0.1))
    with pytest.raises(ValueError, match=f"count is {fewest - 1}: give at least {fewest} samples, or a delta larger"):
        estimator.estimate(samples[1:], variance=1.0, delta=0.1)


def test_deviations_of_arrays_are_arrays() -> None:
    variance = np.array([0.0, 1.0, 4.0])
    for estimator in ALL.values():
        several = estimator.deviation(300, variance=variance, delta=0.1)
        np.testing.assert_allclose(several, [estimator.deviation(300, variance=v, delta=0.1) for v in (0.0, 1.0, 4.0)])


def test_equal_samples_have_their_value_as_mean() -> None:
    for estimator in ALL.values():
        found = estimator.estimate(np.full((300, 2), 0.1), variance=0.0, delta=0.1)
        assert found == pytest.approx([0.1, 0.1], rel=1e-14)


def test_the_mean_takes_weights() -> None:
    sample = Grouped(values=[1.0, 2.0], groups=[0, 1], weights=[3.0, 1.0])  # type: ignore[arg-type]
    factors = np.array([[1.0, 0.0], [10.0, 1.0]])
    assert mean(Products(factors=factors, sample=sample)) == pytest.approx([23 / 4, 2 / 4])
    assert catoni(Products(factors=0 * factors, sample=sample), variance=1.0, delta=0.5).tolist() == [0, 0]
