"""How long a round is."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from superlevel import robust
from superlevel.confidence.rounds import Rounds, Schedule
from superlevel.sizes import Need


def rounds(schedule: Schedule = "scaled", *, n: int = 50, unit: float = 1.0, tolerance: float = 0.0) -> Rounds:
    return Rounds(
        n=n,
        second_moment=2.0,
        delta=0.1,
        unit=unit,
        tolerance=tolerance,
        schedule=schedule,
        estimator=robust.CATONI,
    )


def samples(chosen: Rounds, t: int, value: float, directions: int) -> int:
    return chosen.samples(Need(phase=t, value=value, directions=directions, begun=0))


@given(st.integers(1, 12), st.floats(1e-6, 100.0), st.sampled_from(["scaled", "paper", "tight"]), st.integers(1, 60))
def test_a_round_keeps_its_precision_by_catoni_s_bound(t: int, value: float, schedule: Schedule, n: int) -> None:
    """Also in the corner where q_t is smaller than what Catoni's mean needs to exist."""
    chosen = rounds(schedule, n=n)
    count = samples(chosen, t, value, n)
    failure = chosen.failure(t, n)
    assert count > 2 * math.log(2 / failure)
    union = math.log(2 * t**2 * n**2 / 0.1)
    stated = chosen.precision(t) / 1.001 if schedule == "tight" else 4 * math.sqrt(value * 2.0 * union / count)
    assert robust.CATONI.deviation(count, variance=2.0 * value, delta=failure) <= stated * (1 + 1e-9)
    assert stated <= chosen.precision(t) * (1 + 1e-9)


@pytest.mark.parametrize("estimator", [robust.MEAN, robust.MEDIAN_OF_MEANS, robust.TRIMMED_MEAN])
def test_every_mean_gets_the_fewest_measurements_that_it_needs(estimator: robust.Estimator) -> None:
    chosen = replace(rounds("tight"), estimator=estimator)
    for value in (1e-6, 0.3):
        count = samples(chosen, 2, value, 50)
        failure = chosen.failure(2, 50)
        assert 1.001 * estimator.deviation(count, variance=2.0 * value, delta=failure) <= chosen.precision(2)
        if count > 1:
            assert 1.001 * estimator.deviation(count - 1, variance=2.0 * value, delta=failure) > chosen.precision(2)


@given(st.integers(1, 8), st.floats(0.1, 20.0))
def test_one_measurement_less_would_not_be_tight(t: int, value: float) -> None:
    chosen = rounds("tight")
    count = samples(chosen, t, value, 50)
    failure = chosen.failure(t, 50)
    least = math.floor(2 * math.log(2 / failure)) + 1
    if count > least:
        assert 1.001 * robust.CATONI.deviation(count - 1, variance=2.0 * value, delta=failure) > chosen.precision(t)


def test_the_failures_of_all_rounds_sum_to_at_most_delta() -> None:
    chosen = rounds("tight")
    assert sum(50 * chosen.failure(t, 50) for t in range(1, 10_000)) <= 0.1


@pytest.mark.parametrize(
    ("tolerance", "unit", "last"), [(0.5, 1.0, 3), (0.3, 1.0, 4), (3.0, 10.0, 4), (8.0, 1.0, 1), (1e-320, 1.0, 1066)]
)
def test_the_tolerance_sets_the_last_round(tolerance: float, unit: float, last: int) -> None:
    assert rounds(tolerance=tolerance, unit=unit).last == last
    assert rounds().last is None
