"""Counts from weights: exact sums, the guarantee, and brute force."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from superlevel.design import apportion, draw, efficiency, solve, systematic
from superlevel.errors import InputError

from .oracle import Array, Instance, distributions

POSITIVE = st.floats(1e-6, 1.0)


@st.composite
def weights_and_total(draw_: st.DrawFn, *, at_least_support: bool = True) -> tuple[Array, int]:
    parts = draw_(hnp.arrays(np.float64, st.integers(1, 12), elements=st.one_of(st.just(0.0), POSITIVE)))
    parts[draw_(st.integers(0, len(parts) - 1))] += 0.5
    support = int(np.count_nonzero(parts))
    return parts / parts.sum(), draw_(st.integers(support if at_least_support else 1, 200))


@given(weights_and_total(at_least_support=False))
def test_an_apportionment_is_exact_and_stays_on_the_support(given_: tuple[Array, int]) -> None:
    weights, total = given_
    counts = apportion(weights, total)
    assert counts.dtype == np.int64
    assert counts.sum() == total
    assert (counts >= 0).all()
    assert not counts[weights == 0].any()


@given(weights_and_total())
def test_an_apportionment_keeps_its_promise(given_: tuple[Array, int]) -> None:
    """At least 1 - m / N of the information, at least one measurement at each arm, and no more than the quota."""
    weights, total = given_
    counts = apportion(weights, total)
    support = weights > 0
    m = np.count_nonzero(support)
    assert efficiency(weights, counts) >= 1 - m / total - 1e-12
    assert (counts[support] >= np.maximum(1, (total - m) * weights[support] - 1e-9)).all()
    assert (counts <= np.ceil(total * weights + 1e-9)).all()


def allocations(total: int, arms: int) -> Iterator[tuple[int, ...]]:
    if arms == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in allocations(total - first, arms - 1):
            yield (first, *rest)


@given(st.data(), st.integers(1, 4), st.integers(1, 9))
@settings(deadline=None)
def test_no_allocation_is_more_efficient(data: st.DataObject, arms: int, total: int) -> None:
    weights = data.draw(distributions(arms))
    best = max(efficiency(weights, counts) for counts in allocations(total, arms))
    assert efficiency(weights, apportion(weights, total)) >= best - 1e-12


def test_fewer_measurements_than_arms_go_to_the_largest_weights() -> None:
    assert apportion([0.1, 0.4, 0.0, 0.3, 0.2], 2).tolist() == [0, 1, 0, 1, 0]
    assert apportion([0.25, 0.25, 0.25, 0.25], 3).tolist() == [1, 1, 1, 0]


@pytest.mark.parametrize("total", [4, 10, 1000])
def test_equal_weights_get_equal_counts(total: int) -> None:
    counts = apportion(np.full(4, 0.25), total)
    assert counts.max() - counts.min() <= 1


def test_whole_quotas_are_met() -> None:
    assert apportion([0.5, 0.25, 0.125, 0.125], 16).tolist() == [8, 4, 2, 2]


def test_no_variance_exceeds_the_promise_divided_by_the_efficiency() -> None:
    rng = np.random.default_rng(0)
    instance = Instance(arms=rng.normal(size=(15, 3)), rows=rng.normal(size=(5, 3)), ridge=0)
    weights = solve(instance.arms, instance.rows, ridge=0).weights
    for total in (20, 100):
        counts = apportion(weights, total)
        assert instance.value(counts / total) <= instance.value(weights) / efficiency(weights, counts) * (1 + 1e-9)


def test_efficiency_is_the_smallest_ratio() -> None:
    assert efficiency([0.5, 0.3, 0.2], [4, 4, 2]) == pytest.approx(0.4 / 0.5)
    assert efficiency([0.5, 0.5, 0.0], [1, 1, 2]) == pytest.approx(0.5)
    assert efficiency([0.5, 0.5], [3, 0]) == 0


# ----------------------------------------------------------------------------------------- draws


@given(weights_and_total(at_least_support=False), st.integers(0, 2**31))
def test_draws_have_their_sum_and_stay_on_the_support(given_: tuple[Array, int], seed: int) -> None:
    weights, total = given_
    counts = draw(weights, total, rng=np.random.default_rng(seed))
    assert counts.dtype == np.int64
    assert counts.sum() == total
    assert not counts[weights == 0].any()
    np.testing.assert_array_equal(counts, draw(weights, total, rng=np.random.default_rng(seed)))


def test_draws_follow_the_weights() -> None:
    """Mean and variance of 4,000 multinomial counts, within five standard errors."""
    weights, total, repeats = np.array([0.5, 0.3, 0.15, 0.05, 0.0]), 20, 4000
    rng = np.random.default_rng(1)
    counts = np.array([draw(weights, total, rng=rng) for _ in range(repeats)])
    variance = total * weights * (1 - weights)
    assert (np.abs(counts.mean(axis=0) - total * weights) <= 5 * np.sqrt(variance / repeats)).all()
    np.testing.assert_allclose(counts.var(axis=0), variance, rtol=0.15, atol=1e-12)


# ---------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("weights", "total", "sentence"),
    [
        ([0.5, 0.6], 3, "weights is of sum 1.1 and smallest entry 0.5: give a distribution"),
        ([1.5, -0.5], 3, "weights is of sum 1 and smallest entry -0.5: give a distribution"),
        ([np.nan, 1.0], 3, "weights[0] is nan: give finite numbers"),
        ([[0.5, 0.5]], 3, "weights is of shape (1, 2): give shape (2,)"),
        ([], 3, "weights is "),
        ([0.5, 0.5], 0, "total is 0: give a whole number >= 1"),
        ([0.5, 0.5], -3, "total is -3: give a whole number >= 1"),
        ([0.5, 0.5], 2.5, "total is 2.5: give a whole number >= 1"),
        ([0.5, 0.5], True, "total is True: give a whole number >= 1"),
    ],
)
def test_bad_input_is_named(weights: Any, total: Any, sentence: str) -> None:
    with pytest.raises(InputError, match="^" + re.escape(sentence)):
        apportion(weights, total)
    with pytest.raises(InputError, match="^" + re.escape(sentence)):
        draw(weights, total, rng=np.random.default_rng(0))


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        ([1, 2, 3], "counts is of shape (3,): give shape (2,)"),
        ([0, 0], "counts is of sum 0: give counts >= 0 with at least one measurement"),
        ([3, -1], "counts is of sum 2: give counts >= 0 with at least one measurement"),
    ],
)
def test_bad_counts_are_named(counts: Any, sentence: str) -> None:
    with pytest.raises(InputError, match="^" + re.escape(sentence)):
        efficiency([0.5, 0.5], counts)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30).filter(lambda x: sum(x) > 1e-3), st.integers(1, 500))
def test_systematic_counts_are_within_one_of_their_means(given_weights: list[float], total: int) -> None:
    weights = np.array(given_weights) / sum(given_weights)
    for seed in range(3):
        counts = systematic(weights, total, rng=np.random.default_rng(seed))
        assert counts.sum() == total
        assert (np.abs(counts - total * weights) < 1 + 1e-6).all()
        assert not counts[weights == 0].any()


class Zero(np.random.Generator):
    """Always starts at zero, where a sum of weights that is a rounding below 1 would lose a measurement."""

    def uniform(self, *_: object, **__: object) -> float:  # type: ignore[override]
        return 0.0


def test_systematic_counts_lose_nothing_to_rounding() -> None:
    weights = np.append(np.full(49, 1 / 49), 0.0)
    counts = systematic(weights, 49, rng=Zero(np.random.PCG64(0)))
    assert counts.sum() == 49
    assert counts[-1] == 0
