"""Probabilities and quantiles of mixtures, each from the other, and of single members against scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr, ndtri

from superlevel.arrays import Array
from superlevel.averaging.predictive import FARTHEST, Prediction, Predictive, normal, probit
from superlevel.averaging.warps import Warp

PLAIN = Warp(centre=0.3, scale=math.inf, unit=1.5)
SKEW = Warp(centre=-2.0, scale=0.1, unit=1.5)
HEAVY = Warp(centre=0.3, scale=0.3, unit=1.5)
CHANCES = [1e-4, 1e-3, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.999, 1 - 1e-4]
FREEDOMS = [1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0]
WALLACE = 0.012  # largest error of a probability, times the square of the degrees of freedom: measured for 1 ... 100


def single(freedom: float, warp: Warp = PLAIN, n: int = 5) -> Predictive:
    rng = np.random.default_rng(7)
    part = Prediction(
        weights=np.ones(1),
        means=rng.standard_normal((1, n)),
        deviations=np.exp(rng.standard_normal((1, n))),
        freedom=freedom,
    )
    return Predictive(parts=((warp, part),))


def mixture(warps: tuple[Warp, ...], *, members: int, freedom: float, seed: int = 0, n: int = 300) -> Predictive:
    """Members that agree about f as far as kernels and transforms do that were fitted to the same values."""
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(len(warps) * members)).reshape(len(warps), members)
    middle, size = rng.standard_normal(n), np.exp(rng.normal(-1.5, 0.7, n))
    parts = []
    for warp, each in zip(warps, weights, strict=True):
        shape = members, n
        means = warp(middle + 0.5 * size * rng.standard_normal(shape))
        deviations = np.minimum(2.0, warp.slopes(middle) * size * np.exp(0.4 * rng.standard_normal(shape)))
        parts.append((warp, Prediction(weights=each, means=means, deviations=deviations, freedom=freedom)))
    return Predictive(parts=tuple(parts))


# --- mixtures


@pytest.mark.parametrize("freedom", [60.0, math.inf])
@pytest.mark.parametrize("members", [1, 2, 8])
@pytest.mark.parametrize(
    "warps", [(PLAIN, SKEW), (SKEW, PLAIN), (SKEW, HEAVY, PLAIN), (HEAVY, SKEW)], ids=["ps", "sp", "shp", "hs"]
)
def test_quantiles_have_their_probability(warps: tuple[Warp, ...], members: int, freedom: float) -> None:
    found = mixture(warps, members=members, freedom=freedom)
    for scale in (1.0, 1.7):
        for chance in CHANCES:
            reached = found.below(found.quantile(chance, scale), scale)
            np.testing.assert_allclose(reached, chance, rtol=0, atol=1e-6)


@pytest.mark.parametrize("freedom", [60.0, math.inf])
@pytest.mark.parametrize("warp", [PLAIN, SKEW], ids=["plain", "skew"])
def test_quantiles_of_one_transform_have_their_probability(warp: Warp, freedom: float) -> None:
    found = mixture((warp,), members=5, freedom=freedom)
    for chance in CHANCES:
        np.testing.assert_allclose(found.below(found.quantile(chance)), chance, rtol=0, atol=1e-6)


def test_members_that_contradict_each_other_have_quantiles_too() -> None:
    means, deviations = np.array([[-3.0], [4.0], [0.0]]), np.array([[0.1], [0.2], [2.0]])
    part = Prediction(weights=np.array([0.45, 0.45, 0.1]), means=means, deviations=deviations, freedom=math.inf)
    found = Predictive(parts=((Warp(centre=0.0, scale=math.inf, unit=1.0), part),))
    for chance in CHANCES:
        value = found.quantile(chance)
        direct = part.weights @ stats.norm.cdf(value, means[:, 0], deviations[:, 0])
        assert direct == pytest.approx(chance, abs=1e-6)


def test_probabilities_are_weighted_sums_over_all_members() -> None:
    found, value = mixture((SKEW, PLAIN), members=3, freedom=math.inf, n=4), 0.4
    expected = np.zeros(4)
    for warp, part in found.parts:
        for weight, mean, deviation in zip(part.weights, part.means, part.deviations, strict=True):
            expected += weight * stats.norm.cdf(float(warp(value)), mean, deviation)
    np.testing.assert_allclose(found.below(value), expected)


def test_probabilities_are_shares_of_draws() -> None:
    found, count = mixture((SKEW, HEAVY, PLAIN), members=2, freedom=60.0, n=1), 40_000
    rng, drawn = np.random.default_rng(1), []
    for warp, part in found.parts:
        for k, weight in enumerate(part.weights):
            deviates = rng.standard_t(60.0, round(float(weight) * count))
            drawn.append(warp.inverse(part.means[k, 0] + part.deviations[k, 0] * deviates))
    values = np.concatenate(drawn)
    for chance in CHANCES[2:-2]:
        share = float((values < found.quantile(chance)).mean())
        assert share == pytest.approx(chance, abs=4 * math.sqrt(chance * (1 - chance) / count))


@pytest.mark.parametrize("freedom", [60.0, math.inf])
def test_a_scale_multiplies_all_deviations(freedom: float) -> None:
    found = mixture((SKEW, PLAIN), members=2, freedom=freedom, n=20)
    wider = Predictive(
        parts=tuple(
            (
                warp,
                Prediction(
                    weights=part.weights, means=part.means, deviations=2.5 * part.deviations, freedom=part.freedom
                ),
            )
            for warp, part in found.parts
        )
    )
    np.testing.assert_allclose(found.below(0.2, 2.5), wider.below(0.2))
    np.testing.assert_allclose(found.quantile(0.05, 2.5), wider.quantile(0.05), rtol=1e-9, atol=1e-9)


def test_some_of_the_points_are_those_of_all() -> None:
    found, at = mixture((SKEW, PLAIN), members=3, freedom=60.0, n=20), np.array([3, 17, 0, 3])
    part = found.at(at)
    np.testing.assert_allclose(part.below(0.1), found.below(0.1)[at])
    np.testing.assert_allclose(part.quantile(0.2), found.quantile(0.2)[at])
    for one, other in zip(part.spread(), found.spread(), strict=True):
        np.testing.assert_allclose(one, other[at])


def test_the_normal_density_is_the_derivative_of_the_probability() -> None:
    part = mixture((PLAIN,), members=4, freedom=math.inf, n=50).parts[0][1]
    values, step = np.linspace(-2.0, 2.0, 50), 1e-5
    differences = (part.below(values + step) - part.below(values - step)) / (2 * step)
    np.testing.assert_allclose(part.density(values) / math.sqrt(2 * math.pi), differences, rtol=1e-5, atol=1e-9)


# --- single members


def test_one_normal_member_is_the_normal_distribution() -> None:
    found = single(math.inf)
    (part,) = [part for _, part in found.parts]
    middle, half = found.spread()
    np.testing.assert_allclose(middle, part.means[0], rtol=1e-12)
    np.testing.assert_allclose(half, part.deviations[0], rtol=1e-12)
    for chance in CHANCES:
        expected = PLAIN.inverse(stats.norm.ppf(chance, part.means[0], part.deviations[0]))
        np.testing.assert_allclose(found.quantile(chance), expected, rtol=1e-10)
        np.testing.assert_allclose(found.below(expected), chance, rtol=1e-9)


@pytest.mark.parametrize("freedom", FREEDOMS)
@pytest.mark.parametrize("warp", [PLAIN, HEAVY], ids=["plain", "heavy"])
def test_one_member_is_student_s_t(freedom: float, warp: Warp) -> None:
    """As exactly as Wallace's approximation; quantiles and probabilities are inverse to each other."""
    found = single(freedom, warp)
    (part,) = [part for _, part in found.parts]
    for chance in [0.01, 0.1, 0.5, 0.9, 0.99]:
        expected = stats.t.ppf(chance, freedom, part.means[0], part.deviations[0])
        reached = stats.t.cdf(warp(found.quantile(chance)), freedom, part.means[0], part.deviations[0])
        np.testing.assert_allclose(reached, chance, rtol=0, atol=0.012 / freedom**2)
        np.testing.assert_allclose(found.below(found.quantile(chance)), chance, rtol=1e-9)
        np.testing.assert_allclose(found.below(warp.inverse(expected)), chance, atol=WALLACE / freedom**2)
    middle, half = found.spread()
    np.testing.assert_allclose(middle, part.means[0], rtol=1e-12)
    exact = part.deviations[0] * stats.t.ppf(ndtr(1.0), freedom)
    np.testing.assert_allclose(half, exact, rtol=0.05 / freedom**2 + 1e-3 / freedom)


@pytest.mark.parametrize("freedom", FREEDOMS)
def test_wallace_is_close_to_student_s_t(freedom: float) -> None:
    t: Array = np.concatenate([[0.0], np.geomspace(1e-6, 1e4, 1000)])
    chances = ndtr(normal(t, freedom))
    np.testing.assert_allclose(chances, stats.t.cdf(t, freedom), rtol=0, atol=WALLACE / freedom**2)
    np.testing.assert_allclose(chances + ndtr(normal(-t, freedom)), 1.0)
    assert (np.diff(normal(t, freedom)) > 0).all()


def test_infinite_freedom_is_the_limit_of_wallace() -> None:
    t = np.linspace(-5.0, 5.0, 101)
    np.testing.assert_allclose(normal(t, math.inf), t)
    np.testing.assert_allclose(normal(t, 1e7), t, atol=1e-5)


def test_deviates_of_certain_things_are_far_and_finite() -> None:
    np.testing.assert_allclose(probit(np.array([0.0, 0.025, 0.5, 1.0])), [-FARTHEST, ndtri(0.025), 0.0, FARTHEST])


def test_members_far_apart_in_different_transforms_do_not_lead_the_search_astray() -> None:
    """Newton's method alone goes round in circles here."""
    first = Prediction(weights=np.array([0.7]), means=np.array([[1.7]]), deviations=np.array([[4.0]]), freedom=math.inf)
    second = Prediction(
        weights=np.array([0.3]), means=np.array([[-3.9]]), deviations=np.array([[3.0]]), freedom=math.inf
    )
    found = Predictive(
        parts=(
            (Warp(centre=0.0, scale=math.inf, unit=1.0), first),
            (Warp(centre=0.0, scale=0.03, unit=1.0), second),
        )
    )
    for chance in (0.01, 0.3, 0.5, 0.7, 0.99):
        np.testing.assert_allclose(found.below(found.quantile(chance)), chance, rtol=0, atol=1e-4)


def test_densities_are_the_slopes_of_probabilities() -> None:
    for freedom in (1.0, 5.0, 40.0, math.inf):
        part = Prediction(
            weights=np.array([0.4, 0.6]),
            means=np.array([[0.0, 3.0], [1.0, 3.0]]),
            deviations=np.array([[1.0, 2.0], [0.5, 1.0]]),
            freedom=freedom,
        )
        at, step = np.array([0.7, 9.0]), 1e-6
        slopes = (part.below(at + step) - part.below(at - step)) / (2 * step)
        np.testing.assert_allclose(part.density(at) / math.sqrt(2 * math.pi), slopes, rtol=1e-5)
