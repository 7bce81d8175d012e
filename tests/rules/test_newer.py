"""The newer rules against their formulas, by other roads: refits, integrals, determinants and Monte Carlo."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import entr, ndtr
from scipy.stats import chi2, kstest, multivariate_normal, norm

import superlevel as sl
from superlevel.arrays import Array
from superlevel.goals import Levels, Threshold
from superlevel.methods.table import ROWS
from superlevel.posterior import GaussianPosterior
from superlevel.records import View
from superlevel.rules import correlations, transductive, volume
from superlevel.rules.ambiguity import Straddle
from superlevel.rules.excursion import Sur
from superlevel.rules.feasibility import closeness
from superlevel.rules.information import GlobalMi
from superlevel.rules.randomised import RandomisedStraddle
from superlevel.rules.sequential import Score, Sequential
from superlevel.rules.targeted import TargetedMse, density
from superlevel.rules.transductive import TransductiveInformation
from superlevel.rules.variance import sampled
from superlevel.rules.volume import AbsoluteVolumeChange
from superlevel.rules.weighted import WeightedMse
from superlevel.sizes import Growing
from tests.rules import newer, oracle
from tests.rules.oracle import LEVEL, Slow, counted, in_sequence, knowing, posing, world

N = 40
SLOW: dict[str, tuple[Slow, float]] = {
    "tmse": (newer.targeted_mse, 1e-8),
    "timse": (newer.targeted_imse, 1e-8),
    "wmse": (newer.weighted_mse, 1e-8),
    "eff": (newer.feasibility, 1e-8),
    "sur": (newer.excursion, 1e-7),
    "globalmi": (newer.information, 1e-3),
    "eavc": (newer.volume_change, 2e-2),
    "itl": (newer.transductive, 1e-6),
    "vtl": (oracle.truvar, 1e-8),
}
"""Another road to each score, and how far from it the score may be, as a part of the largest."""
NAMES = ("rstraddle", *SLOW)


def score(name: str) -> Score:
    """As the table has it."""
    rule: Any = ROWS[name].pairings[0].rules[name]
    assert isinstance(rule, Sequential)
    return rule.score


def scores(name: str, view: View) -> Array:
    return score(name).begin(view).scores(view.posterior)


# --- one measurement


@pytest.mark.parametrize("kind", oracle.KINDS)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", SLOW)
def test_the_scores_are_those_of_the_formula(name: str, kind: str, seed: int) -> None:
    here = world(kind, seed, unequal=seed == 2)
    slow, error = SLOW[name]
    expected = slow(here.dense, here)
    np.testing.assert_allclose(scores(name, here.view), expected, atol=error * np.abs(expected).max())


@pytest.mark.parametrize("name", ["sur", "globalmi", "eavc"])
@pytest.mark.parametrize("x", [0, 13, 29])
def test_looking_ahead_is_the_mean_over_simulated_measurements(name: str, x: int) -> None:
    """20,000 values drawn from the posterior, each told to the library's own posterior."""
    here = world("matrix", 0, unequal=True)
    posterior, rng = here.posterior, np.random.default_rng(1)
    steps = rng.standard_normal(20_000) * np.sqrt(posterior.variance[x] + posterior.noise[x])
    per_unit = posterior.told([x], [posterior.mean[x] + 1.0]).mean - posterior.mean
    left = posterior.told([x], [posterior.mean[x]]).deviation
    now = ndtr((posterior.mean - LEVEL) / posterior.deviation)
    then = ndtr((posterior.mean + np.outer(steps, per_unit) - LEVEL) / left)
    drops: dict[str, Array] = {
        "sur": (now * (1 - now)).sum() - (then * (1 - then)).sum(axis=1),
        "globalmi": (entr(now) + entr(1 - now)).sum() - (entr(then) + entr(1 - then)).sum(axis=1),
        "eavc": np.abs(then.sum(axis=1) - now.sum()),
    }
    each = drops[name]
    error = 4 * each.std() / np.sqrt(len(each)) + (0.02 * each.mean() if name == "eavc" else 0.0)
    assert scores(name, here.view)[x] == pytest.approx(each.mean(), abs=error)


def test_more_values_bring_the_change_of_volume_to_its_integral(monkeypatch: pytest.MonkeyPatch) -> None:
    here = world("features", 1)
    expected = newer.volume_change(here.dense, here)
    monkeypatch.setattr(volume, "INTERVALS", 1200)
    monkeypatch.setattr(volume, "WIDTH", 0.01)
    np.testing.assert_allclose(scores("eavc", here.view), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("epsilon", [0.0, 0.3])
def test_the_weight_of_a_point_is_the_density_of_a_smeared_f_at_the_level(epsilon: float) -> None:
    here = world("matrix", 1)
    spread = np.sqrt(here.dense.variance + epsilon**2)
    expected = norm.pdf(LEVEL, loc=here.dense.mean, scale=spread)
    np.testing.assert_allclose(density(here.posterior, (LEVEL,), epsilon), expected, rtol=1e-7)
    found = TargetedMse(epsilon=epsilon).begin(here.view).scores(here.posterior)
    np.testing.assert_allclose(found, expected * here.dense.variance, rtol=1e-7)


def test_the_power_of_the_variance_is_a_parameter() -> None:
    here = world("matrix", 1)
    half, whole = (WeightedMse(beta=beta).begin(here.view).scores(here.posterior) for beta in (0.5, 1.0))
    np.testing.assert_allclose(whole, half * here.posterior.deviation)


# --- a random width


def test_widths_are_chi_squared_and_independent() -> None:
    """By the test of Kolmogorov and Smirnov, over the first measurements of one campaign and over seeds."""
    here = world("matrix", 0)
    posterior, margins = here.posterior, here.view.goal.margins(here.posterior.mean)

    def drawn(seed: int, begun: int) -> float:
        scorer = RandomisedStraddle().begin(replace(here.view, seed=seed))
        found = replace(scorer, begun=begun).scores(posterior)
        widths = (found + margins) / posterior.deviation
        np.testing.assert_allclose(widths, widths[0])
        return float(widths[0] ** 2)

    along, across = np.array([drawn(0, t) for t in range(2000)]), np.array([drawn(s, 7) for s in range(2000)])
    assert kstest(along, chi2(2).cdf).pvalue > 1e-3
    assert kstest(across, chi2(2).cdf).pvalue > 1e-3
    assert abs(np.corrcoef(along[1:], along[:-1])[0, 1]) < 4 / np.sqrt(2000)


def test_a_width_of_straddle_s_is_straddle(monkeypatch: pytest.MonkeyPatch) -> None:
    here = world("features", 0)
    scorer = RandomisedStraddle().begin(here.view)
    monkeypatch.setattr(type(scorer), "width", 1.96)
    expected = Straddle().begin(here.view).scores(here.posterior)
    np.testing.assert_array_equal(scorer.scores(here.posterior), expected)


def test_every_measurement_of_a_batch_has_a_width_of_its_own() -> None:
    here = world("matrix", 0)
    scorer, widths = RandomisedStraddle().begin(here.view), list[float]()
    for x in (3, 3, 17):
        planned = here.posterior.planned([x])
        widths.append(scorer.width)
        scorer = scorer.after(here.posterior, planned)
    assert len(set(widths)) == 3
    measured = replace(here.view, pending=np.array([3, 3]))
    rule = Sequential(score=RandomisedStraddle())
    first = rule.choose(replace(here.view, sizes=Growing(first=2)))
    third = rule.choose(replace(measured, pending=np.repeat(np.arange(N), first.counts)))
    three = rule.choose(replace(here.view, sizes=Growing(first=3)))
    np.testing.assert_array_equal(first.counts + third.counts, three.counts)


# --- a batch


@pytest.mark.parametrize("name", [name for name in SLOW if name != "vtl"])
@pytest.mark.parametrize("kind", oracle.KINDS)
def test_each_point_of_a_batch_is_the_best_given_those_before(name: str, kind: str) -> None:
    slow = newer.volume_change_by_few_values if name == "eavc" else SLOW[name][0]
    here = world(kind, 3, batch=4, unequal=True)
    choice = Sequential(score=score(name)).choose(here.view)
    np.testing.assert_array_equal(choice.counts, counted(in_sequence(slow, here, 1.0, 4), N))


# --- what is told of one label


DISTANCES, CORRELATIONS = st.floats(-7.5, 7.5), st.floats(0.0, 1.0)


@given(DISTANCES, st.floats(0.0, 0.999))
def test_what_is_left_of_p_1_minus_p_is_a_bivariate_probability(a: float, rho: float) -> None:
    """p - Phi_2(a, a; rho), by scipy's own integration."""
    both = multivariate_normal([0, 0], [[1, rho], [rho, 1]]).cdf([a, a])
    left = ndtr(a) * ndtr(-a) - Sur().gain(np.array([[a]]), np.array([[rho]]))[0, 0]
    assert left == pytest.approx(ndtr(a) - both, abs=1e-7)


@given(DISTANCES, CORRELATIONS, CORRELATIONS)
@pytest.mark.parametrize("rule", [Sur(), GlobalMi()], ids=lambda rule: type(rule).__name__)
def test_a_gain_grows_with_the_correlation_up_to_all_that_is_unknown(
    rule: correlations.LabelGain, a: float, one: float, other: float
) -> None:
    low, high = sorted((one, other))
    smaller, larger, most = rule.gain(np.array([[a]]), np.array([[low, high, 1.0]]))[0]
    p = ndtr(a)
    unknown = p * (1 - p) if isinstance(rule, Sur) else entr(p) + entr(1 - p)
    assert -1e-15 <= smaller <= larger + 1e-15 <= most + 2e-15
    assert most == pytest.approx(unknown, abs=1e-4)
    np.testing.assert_allclose(rule.gain(np.array([[-a]]), np.array([[low, high, 1.0]]))[0], [smaller, larger, most])


@given(st.floats(-4.0, 4.0))
def test_feasibility_is_even_and_largest_at_the_level(a: float) -> None:
    at, mirrored, most = closeness(np.array([a, -a, 0.0]))
    assert at == pytest.approx(mirrored, abs=1e-14)
    assert at <= most + 1e-15
    assert most == pytest.approx(2 * (norm.cdf(2) - norm.cdf(-2)) - 2 * (norm.pdf(0) - norm.pdf(2)))


# --- information about the undecided points


def test_among_the_undecided_points_itl_takes_the_largest_variance() -> None:
    """I(f_A; y_x) = I(f_x; y_x) for x in A, and it is smaller elsewhere."""
    here = world("matrix", 1)
    chosen = here.view.undecided
    found = scores("itl", here.view)
    np.testing.assert_allclose(found[chosen], np.log1p(here.posterior.variance / here.posterior.noise)[chosen] / 2)
    bound = np.log1p(here.posterior.variance / here.posterior.noise) / 2
    assert (found <= bound + 1e-12).all()
    assert (found[~chosen] < bound[~chosen] - 1e-6).any()


def test_a_sample_of_the_undecided_points_tells_as_much_where_they_are_dense(monkeypatch: pytest.MonkeyPatch) -> None:
    here = world("features", 0)
    view = replace(here.view, reading=oracle.reading(here.view.goal, oracle.everything(N)))
    whole = scores("itl", view)
    monkeypatch.setattr(transductive, "TARGETS", 20)
    assert len(TransductiveInformation().begin(view).points) == 20
    np.testing.assert_allclose(scores("itl", view), whole, atol=0.02 * whole.max())


# --- a sample of points


def _thirty(view: View, sizes: Array) -> correlations.Targets:
    chosen, shares = sampled(sizes, 30, view.rng(2))
    return correlations.Targets(points=chosen, shares=shares)


@pytest.mark.parametrize("name", ["sur", "globalmi", "eavc"])
def test_a_sample_stands_for_all(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    here = world("matrix", 0)
    exact = scores(name, here.view)
    whole = correlations.targets(here.view, np.ones(N), N * N)
    np.testing.assert_array_equal(whole.points, np.arange(N))
    monkeypatch.setattr(
        volume if name == "eavc" else correlations,
        "targets",
        lambda view, sizes, _pairs=0: _thirty(view, sizes),
    )
    each = [scores(name, replace(here.view, seed=seed)) for seed in range(300)]
    clear = exact > 0.3 * exact.max()
    np.testing.assert_allclose(np.mean(each, axis=0)[clear], exact[clear], rtol=0.1)


def test_a_large_domain_has_as_many_targets_as_pairs_allow() -> None:
    here = world("matrix", 0)
    sizes = np.random.default_rng(0).uniform(size=N)
    found = correlations.targets(here.view, sizes, 10 * N)
    assert 0 < len(found.points) <= 10
    assert (found.shares > 0).all()
    again = correlations.targets(here.view, sizes, 10 * N)
    np.testing.assert_array_equal(found.points, again.points)


# --- several levels


@pytest.mark.parametrize("name", ["tmse", "timse", "wmse", "sur", "globalmi", "eavc"])
def test_levels_are_added(name: str) -> None:
    here = world("matrix", 2)
    goals = [Threshold(-0.2), Threshold(0.5), Levels([-0.2, 0.5])]
    one, other, both = (scores(name, posing(here.view, goal=goal)) for goal in goals)
    np.testing.assert_allclose(both, one + other, rtol=1e-7, atol=1e-12)


def test_the_nearest_level_counts_for_feasibility() -> None:
    here = world("matrix", 2)
    goals = [Threshold(-0.2), Threshold(0.5), Levels([-0.2, 0.5])]
    one, other, both = (scores("eff", posing(here.view, goal=goal)) for goal in goals)
    np.testing.assert_allclose(both, np.maximum(one, other))


# --- degenerate


def told(points: Array, values: Array, noise: float) -> GaussianPosterior:
    domain = sl.Domain(np.array([[0.0], [1.0], [2.0], [2.5]]))
    return sl.posterior.begin(domain, noise=noise).told(points, values)


def shown(posterior: GaussianPosterior, level: float) -> View:
    view = knowing(posing(world("matrix", 0).view, goal=Threshold(level)), posterior=posterior, counts=np.zeros(4, int))
    return replace(view, reading=oracle.reading(view.goal, oracle.everything(4)))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("noise", [0.0, 0.1])
@pytest.mark.parametrize("level", [0.0, 0.5, 40.0])
def test_a_point_that_is_known_exactly_tells_nothing(name: str, noise: float, level: float) -> None:
    """With a linear kernel f(0) = 0 for certain; without noise one measurement makes all others certain too."""
    for posterior in (told(np.empty(0, int), np.empty(0), noise), told(np.array([1]), np.array([0.3]), noise)):
        found = scores(name, shown(posterior, level))
        assert np.isfinite(found).all()
        if name != "rstraddle":
            assert found[0] == pytest.approx(0.0, abs=1e-12)
            assert (found >= -1e-12).all()
        choice = Sequential(score=score(name)).choose(shown(posterior, level))
        assert choice.counts.sum() == 1
    before = scores(name, shown(told(np.empty(0, int), np.empty(0), noise), 0.5))
    assert np.argmax(before) != 0


@pytest.mark.parametrize("name", ["sur", "globalmi", "eavc"])
def test_where_no_label_is_in_doubt_the_largest_variance_is_measured(name: str) -> None:
    posterior = told(np.array([1]), np.array([0.3]), 0.1)
    view = shown(posterior, 1e6)
    scorer: Any = score(name).begin(view)
    np.testing.assert_array_equal(
        replace(scorer, targets=replace(scorer.targets, points=np.empty(0, int))).scores(posterior), posterior.variance
    )


@pytest.mark.parametrize(("count", "width"), [(2, 1.0), (8, 0.5), (20, 0.5)])
def test_intervals_have_the_mean_and_the_probability_of_a_normal_variable(count: int, width: float) -> None:
    drawn = np.random.default_rng(0).standard_normal(400_000)
    means, chances = volume.intervals(count, width)
    which = np.clip(np.floor(drawn / width).astype(int) + count // 2, 0, count - 1)
    hits = np.bincount(which, minlength=count)
    np.testing.assert_allclose(hits / len(drawn), chances, atol=0.005)
    common = hits > 1000
    found = np.bincount(which, weights=drawn, minlength=count)[common] / hits[common]
    np.testing.assert_allclose(found, means[common], atol=0.02)
    assert chances.sum() == pytest.approx(1.0)
    assert means @ chances == pytest.approx(0.0, abs=1e-15)


def test_changes_of_volume_cancel_where_correlations_have_two_signs() -> None:
    """f = theta x on x = -1, 1: what one gains above zero the other loses, so nothing is learnt of the volume."""
    posterior = sl.posterior.begin(sl.Domain(np.array([[-1.0], [1.0]])), noise=0.1)
    view = knowing(posing(world("matrix", 0).view, goal=Threshold(0.0)), posterior=posterior)
    found = AbsoluteVolumeChange().begin(view).scores(posterior)
    np.testing.assert_allclose(found, 0.0, atol=1e-12)
    assert (Sur().begin(view).scores(posterior) > 0.1).all()
