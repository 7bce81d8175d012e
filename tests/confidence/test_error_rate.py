"""The tail that keeps an error rate, against every other choice, and the rate itself over many draws of f."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri
from sklearn.gaussian_process.kernels import RBF, Matern

import superlevel as sl
from superlevel.arrays import Array
from superlevel.confidence.error_rate import RATE, SUREST, WORST, tail
from superlevel.confidence.posterior import BETA, ByRate, Constant, GaussianBelief
from superlevel.errors import InputError
from superlevel.goals import ABOVE, BELOW, UNDECIDED, Band, FractionOfMax, Goal, Levels, Threshold
from superlevel.records import Batch

TINY = SUREST * RATE
RATES = st.floats(1e-4, 0.19)
CHANCES = st.one_of(st.floats(0.0, 0.5), st.floats(0.0, 0.02), st.floats(-300.0, -1.0).map(lambda power: 10.0**power))
ROWS = st.lists(CHANCES, min_size=1, max_size=40, unique=True)
ROUNDING = 1e-12


def mean_of_declared(wrong: Array, limit: float) -> float:
    """The expected share of wrong labels if all labels are declared that are wrong with at most this probability."""
    declared = wrong[wrong <= limit]
    return float(declared.mean()) if len(declared) else 0.0


# --- the tail


@given(ROWS, RATES)
def test_the_rate_is_kept_and_one_more_label_would_exceed_it(chances: list[float], rate: float) -> None:
    wrong = np.array(chances)
    found = tail(wrong, rate)
    assert 0.0 < found <= WORST * rate
    assert mean_of_declared(wrong, found) <= rate * (1 + ROUNDING)
    others = wrong[(wrong > found) & (wrong <= WORST * rate)]
    if len(others):
        assert mean_of_declared(wrong, float(others.min())) > rate * (1 - ROUNDING)


@given(ROWS, RATES)
def test_no_other_tail_declares_more(chances: list[float], rate: float) -> None:
    wrong = np.array(chances)
    declared = int((wrong <= tail(wrong, rate)).sum())
    allowed = [limit for limit in [*chances, WORST * rate] if limit <= WORST * rate]
    kept = [limit for limit in allowed if mean_of_declared(wrong, limit) <= rate * (1 - ROUNDING)]
    assert declared >= max((int((wrong <= limit).sum()) for limit in kept), default=0)


@given(ROWS, RATES, st.randoms())
def test_the_order_of_points_changes_nothing(chances: list[float], rate: float, random: Any) -> None:
    shuffled = list(chances)
    random.shuffle(shuffled)
    assert tail(np.array(shuffled), rate) == tail(np.array(chances), rate)


@given(st.integers(1, 15), st.integers(1, 4), st.integers(0, 10**6), RATES)
def test_the_rate_is_kept_at_every_level(n: int, k: int, seed: int, rate: float) -> None:
    rng = np.random.default_rng(seed)
    wrong = -0.5 * np.expm1(-rng.exponential(rng.choice([0.003, 0.03, 0.3], (k, 1)), (k, n)))
    found = tail(wrong, rate)
    assert found == min(tail(row, rate) for row in wrong)
    for row in wrong:
        assert mean_of_declared(row, found) <= rate * (1 + ROUNDING)


@given(st.lists(st.floats(0.001, 0.5), min_size=1, max_size=20), st.floats(0.01, 0.99))
def test_nothing_is_declared_where_no_label_is_sure_enough(chances: list[float], share: float) -> None:
    wrong = np.array(chances)
    rate = min(0.19, share * float(wrong.min()))
    assert not (wrong <= tail(wrong, rate)).any()


@pytest.mark.parametrize("n", [1, 2, 50])
@pytest.mark.parametrize("k", [1, 3])
def test_labels_that_are_certain_are_all_declared(n: int, k: int) -> None:
    wrong = np.zeros((k, n))
    found = tail(wrong, 0.01)
    assert found == TINY
    assert (wrong <= found).all()
    assert math.isfinite(float(ndtri(found)))


@given(CHANCES, RATES)
def test_a_single_point_is_declared_exactly_if_it_keeps_the_rate(chance: float, rate: float) -> None:
    assert (chance <= tail(np.array([chance]), rate)) == (chance <= rate)


def test_no_label_is_much_less_sure_than_the_rate() -> None:
    wrong = np.append(np.zeros(1000), [0.04, 0.06, 0.4])
    found = tail(wrong, 0.01)
    assert found == pytest.approx(WORST * 0.01)
    assert (wrong <= found).sum() == 1001
    assert mean_of_declared(wrong, 0.4) < 0.01


# --- intervals

N = 150
DOMAIN = sl.Domain(np.linspace(0, 1, N), Matern(0.1, nu=1.5))
ROOT = np.linalg.cholesky(DOMAIN.gram(np.arange(N)) + 1e-10 * np.eye(N))
NOISE = 0.3


def told(confidence: sl.Posterior, goal: Goal, f: Array, seed: int, **options: Any) -> GaussianBelief:
    """What is believed after some measurements of f."""
    rng = np.random.default_rng([seed, 1])
    points = rng.integers(0, N, 12)
    task = sl.Problem(DOMAIN, goal=goal, noise=NOISE, **options)
    values = f[points] + NOISE * rng.standard_normal(len(points))
    return confidence.update(confidence.prior(task), Batch(points=points, values=values))


def drawn(seed: int) -> Array:
    return np.asarray(ROOT @ np.random.default_rng([seed, 0]).standard_normal(N))


def wrong_of(belief: GaussianBelief, tolerance: float = 0.0) -> Array:
    """(k, n) the probability that the likelier label of each point is wrong by more than the tolerance."""
    mean, deviation = belief.posterior.mean, belief.posterior.deviation
    rows = []
    for level in belief.problem.goal.levels:
        low, high = ndtr((level - tolerance - mean) / deviation), ndtr((mean - level - tolerance) / deviation)
        rows.append(np.minimum(low, high))
    return np.array(rows)


@pytest.mark.parametrize("goal", [Threshold(0.3), Band(-0.2, 0.5), Levels((-0.5, 0.0, 0.5))], ids=str)
@pytest.mark.parametrize("tolerance", [0.0, 0.1])
@pytest.mark.parametrize("rate", [0.01, 0.1])
def test_the_width_is_the_deviate_of_the_tail(goal: Goal, tolerance: float, rate: float) -> None:
    for seed in range(4):
        belief = told(sl.Posterior(error_rate=rate), goal, drawn(seed), seed, tolerance=tolerance)
        assert isinstance(belief.widths, ByRate)
        wrong = wrong_of(belief, tolerance)
        width = -float(ndtri(tail(wrong, rate)))
        assert belief.width == pytest.approx(width, rel=1e-9)
        half = width * belief.posterior.deviation
        np.testing.assert_allclose(belief.bounds().lower, belief.posterior.mean - half)
        np.testing.assert_allclose(belief.bounds().upper, belief.posterior.mean + half)
        labels = np.atleast_2d(goal.read(goal.unread(N), belief.bounds(), tolerance=tolerance).labels)
        certain = np.abs(wrong / tail(wrong, rate) - 1) > 1e-6
        np.testing.assert_array_equal((labels != UNDECIDED)[certain], (wrong < tail(wrong, rate))[certain])


def test_misspecification_is_added_to_the_width_of_the_rate() -> None:
    one, other = (
        told(sl.Posterior(error_rate=0.05), Threshold(0.3), drawn(0), 0, misspecification=h).bounds()
        for h in (0.0, 0.2)
    )
    np.testing.assert_allclose(one.lower - other.lower, 0.2)
    np.testing.assert_allclose(other.upper - one.upper, 0.2)


@pytest.mark.parametrize("rate", [0.02, 0.05, 0.1])
def test_as_many_declared_labels_are_wrong_as_the_rate_says(rate: float) -> None:
    """Over draws of f from the kernel itself: the wrong labels are those expected, and their share is the rate."""
    goal, wrong, expected, declared = Threshold(0.3), [], [], []
    for seed in range(200):
        f = drawn(seed)
        belief = told(sl.Posterior(error_rate=rate), goal, f, seed)
        labels = goal.read(goal.unread(N), belief.bounds()).labels
        sure = labels != UNDECIDED
        wrong.append(((labels == ABOVE) & (f <= 0.3) | (labels == BELOW) & (f > 0.3)).sum())
        expected.append(wrong_of(belief)[0, sure].sum())
        declared.append(sure.sum())
    gaps = np.subtract(wrong, expected)  # labels of one draw go together, so that draws are counted and not labels
    assert abs(gaps.mean()) < 4 * gaps.std(ddof=1) / math.sqrt(len(gaps))
    excess = np.subtract(wrong, rate * np.array(declared))
    assert abs(excess.mean()) < 4 * excess.std(ddof=1) / math.sqrt(len(excess))
    # one more label would exceed the rate, so the expected share is not far below it
    assert 0.8 * rate < np.sum(expected) / np.sum(declared) <= rate


def test_a_point_that_is_known_exactly_is_declared() -> None:
    domain = sl.Domain(np.array([0.0, 1.0, 2.0]))  # f(0) is the mean: the kernel is linear
    for mean, label in [(1.0, ABOVE), (-1.0, BELOW), (0.0, BELOW)]:
        task = sl.Problem(domain, goal=Threshold(0.0), noise=0.1, mean=mean)
        confidence = sl.Posterior(error_rate=0.01)
        belief = confidence.update(
            confidence.prior(task), Batch(points=np.array([1, 2]), values=np.array([mean + 3.0, mean + 6.0]))
        )
        assert math.isfinite(belief.width)
        assert belief.posterior.deviation[0] == 0.0
        found = task.goal.read(task.goal.unread(3), belief.bounds()).labels
        assert found[0] == label


# --- which width


def width_of(confidence: sl.Posterior, goal: Goal, **options: Any) -> Any:
    task = sl.Problem(sl.Domain(np.arange(4.0), RBF(1.0)), goal=goal, noise=0.1, **options)
    return confidence.prior(task).widths


def test_the_rate_has_a_width_where_the_level_is_given_and_three_deviations_elsewhere() -> None:
    assert width_of(sl.Posterior(), Threshold(0.0)) == Constant(value=BETA)
    assert width_of(sl.Posterior(beta=2.0), Threshold(0.0)) == Constant(value=2.0)
    by_rate = ByRate(rate=0.05, levels=(-1.0, 1.0), tolerance=0.1, misspecification=0.2)
    given = {"tolerance": 0.1, "misspecification": 0.2}
    assert width_of(sl.Posterior(error_rate=0.05), Band(-1.0, 1.0), **given) == by_rate
    assert width_of(sl.Posterior(error_rate=0.05), FractionOfMax(0.2)) == Constant(value=BETA)


@pytest.mark.parametrize("rate", [None, 0.05])
def test_the_promise_names_the_rate(rate: float | None) -> None:
    confidence = sl.Posterior(error_rate=rate)
    task = sl.Problem(sl.Domain(np.arange(4.0)), goal=Threshold(0.0), fit=("kernel", "noise", "mean"))
    assert f"at most {100 * (rate or RATE):g} % of the declared labels are wrong" in confidence.promise(task)
    fixed = sl.Posterior(beta=2.5).promise(task)
    assert "2.5 posterior deviations" in fixed


def test_deviations_and_a_rate_contradict_each_other() -> None:
    with pytest.raises(InputError, match="not both") as caught:
        sl.Posterior(beta=2.0, error_rate=0.01)
    assert caught.value.field == "Posterior.beta"


@pytest.mark.parametrize("rate", [0.0, -0.1, 0.2, 1.0, math.nan, math.inf, "1 %", True])
def test_a_rate_out_of_range_is_refused(rate: Any) -> None:
    with pytest.raises(InputError) as caught:
        sl.Posterior(error_rate=rate)
    assert caught.value.field == "Posterior.error_rate"


@pytest.mark.parametrize("beta", [0.0, -1.0, math.nan, math.inf, "3"])
def test_a_number_of_deviations_out_of_range_is_refused(beta: Any) -> None:
    with pytest.raises(InputError) as caught:
        sl.Posterior(beta=beta)
    assert caught.value.field == "Posterior.beta"


def test_points_that_are_equally_sure_are_declared_together_or_not_at_all() -> None:
    wrong = np.array([0.0, 0.02, 0.02])
    found = tail(wrong, 0.01)
    assert wrong[wrong <= found].mean() <= 0.01
    assert (wrong <= found).tolist() == [True, False, False]
