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


@given(st.integers(1, 9), st.floats(1.0, 20.0), st.integers(20, 200), st.floats(0.2, 5.0))
def test_the_experiments_take_the_fewest_for_which_the_width_is_the_precision(
    t: int, value: float, n: int, unit: float
) -> None:
    """(B^2 + sigma^2) log(2 t^2 |X|^2 / delta) g / N <= (B 2^-t)^2 holds for N_t, and not for one measurement less."""
    count = samples(rounds("experiments", n=n, unit=unit), t, value * unit**2, n)
    logarithm = math.log(2) + 2 * math.log(t) + 2 * math.log(n) + math.log(10)  # delta = 0.1
    width, precision = 2.0 * value * logarithm, 0.5**t
    assert math.sqrt(width / count) <= precision * (1 + 1e-12)
    assert math.sqrt(width / (count - 1)) > precision * (1 - 1e-12)


@given(st.integers(1, 9), st.floats(1.0, 20.0), st.integers(20, 200))
def test_the_experiments_take_a_sixteenth_of_the_printed_number(t: int, value: float, n: int) -> None:
    printed, fewer = (samples(rounds(schedule, n=n), t, value, n) for schedule in ("scaled", "experiments"))
    assert 16 * (fewer - 1) < printed <= 16 * fewer


@given(st.integers(1, 12), st.floats(1e-6, 100.0), st.integers(1, 60))
def test_the_experiments_leave_room_for_a_bias_of_a_quarter_of_the_precision(t: int, value: float, n: int) -> None:
    """Without the 16 a round is not as precise as printed, but W +- 2 * 2^-t holds with a small bias."""
    chosen = rounds("experiments", n=n)
    count = samples(chosen, t, value, n)
    error = 1.001 * float(robust.CATONI.deviation(count, variance=2.0 * value, delta=chosen.failure(t, n)))
    assert chosen.room(t) == chosen.precision(t) / 4
    assert error + chosen.room(t) <= 2 * chosen.precision(t) * (1 + 1e-12)


def test_without_the_16_catoni_s_bound_does_not_give_the_printed_precision() -> None:
    """On the paper's benchmark, g = 2 in the first round: what its proof says is not so for the experiments."""
    chosen = rounds("experiments", n=100)
    count = samples(chosen, 1, 2.0, 100)
    error = float(robust.CATONI.deviation(count, variance=4.0, delta=chosen.failure(1, 100)))
    assert 1.4 * chosen.precision(1) < error < 1.75 * chosen.precision(1)


@pytest.mark.parametrize("schedule", ["scaled", "paper", "tight"])
def test_the_other_schedules_leave_room_for_a_bias_of_the_precision(schedule: Schedule) -> None:
    chosen = rounds(schedule)
    assert chosen.room(3) == chosen.precision(3) == 0.125


def test_the_failures_of_all_rounds_sum_to_at_most_delta() -> None:
    chosen = rounds("tight")
    assert sum(50 * chosen.failure(t, 50) for t in range(1, 10_000)) <= 0.1


@pytest.mark.parametrize(
    ("tolerance", "unit", "last"), [(0.5, 1.0, 3), (0.3, 1.0, 4), (3.0, 10.0, 4), (8.0, 1.0, 1), (1e-320, 1.0, 1066)]
)
def test_the_tolerance_sets_the_last_round(tolerance: float, unit: float, last: int) -> None:
    assert rounds(tolerance=tolerance, unit=unit).last == last
    assert rounds().last is None
