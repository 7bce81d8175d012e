"""Frequentist widths: the bound on the information, the guarantee by counting, and what misspecification adds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel import posterior
from superlevel.arrays import Array
from superlevel.confidence.posterior import GaussianBelief
from superlevel.confidence.rkhs import RkhsWidth
from superlevel.posterior import GaussianPosterior

N = 30
POINTS = np.linspace(0, 1, N)[:, None]
SMOOTH = sl.Domain(POINTS, RBF(0.2))
LINEAR = sl.Domain(np.column_stack([np.ones(N), POINTS[:, 0], POINTS[:, 0] ** 2]))


def width_of(problem: sl.Problem) -> RkhsWidth:
    method = sl.methods.make("lse", problem, confidence="rkhs")
    assert isinstance(method.prior, GaussianBelief)
    assert isinstance(method.prior.widths, RkhsWidth)
    return method.prior.widths


def information(gram: Array, points: list[int], noise: Array) -> float:
    """1/2 log det(I + D^-1/2 K D^-1/2)."""
    deviations = noise[points]
    whitened = gram[np.ix_(points, points)] / np.outer(deviations, deviations)
    return float(np.linalg.slogdet(np.eye(len(points)) + whitened)[1] / 2)


@pytest.mark.parametrize("domain", [LINEAR, SMOOTH], ids=["linear", "rbf"])
@pytest.mark.parametrize("unequal", [False, True])
@settings(max_examples=20)
@given(points=st.lists(st.integers(0, N - 1), min_size=1, max_size=60), noise=st.floats(0.05, 2.0))
def test_the_information_of_any_points_is_bounded(
    domain: sl.Domain, unequal: bool, points: list[int], noise: float
) -> None:
    noises = noise * np.where(np.arange(N) % 3 == 0, 1.0, 2.0) if unequal else np.full(N, noise)
    problem = sl.Problem(domain, goal=sl.Threshold(0.0), noise=noises, norm=1.0)
    gram = domain.gram(np.arange(N))
    bound = width_of(problem).information(len(points))
    assert bound >= information(gram, points, noises) * (1 - 1e-9)


def test_the_information_of_independent_points_is_met_exactly() -> None:
    """One measurement at each of n orthogonal points of equal length: nothing is lost to concavity."""
    problem = sl.Problem(sl.Domain(np.eye(12)), goal=sl.Threshold(0.0), noise=0.5, norm=1.0)
    bound = width_of(problem).information(12)
    assert bound == pytest.approx(information(np.eye(12), list(range(12)), np.full(12, 0.5)))


def test_the_width_is_the_norm_and_a_root() -> None:
    width = width_of(sl.Problem(SMOOTH, goal=sl.Threshold(0.0), noise=0.1, norm=2.0, delta=0.05))
    seen = posterior.begin(SMOOTH, noise=0.1).told([1, 2, 2], [0.0, 0.1, 0.2])
    gamma = 3 / 2 * np.log(1 + 3 / (3 * 0.01))  # three measurements have no more than three dimensions
    assert width.at(seen) == pytest.approx(2.0 + np.sqrt(2 * (gamma + np.log(20))))
    assert width.information(1000) == pytest.approx(width.rank / 2 * np.log(1 + 1000 / (width.rank * 0.01)))
    np.testing.assert_array_equal(width.extra(seen), 0.0)
    assert width.at(posterior.begin(SMOOTH, noise=0.1)) == pytest.approx(2.0 + np.sqrt(2 * np.log(20)))


# --- the guarantee, by counting


Choose = Callable[[GaussianPosterior, np.random.Generator], int]


def by_chance(seen: GaussianPosterior, rng: np.random.Generator) -> int:
    return int(rng.integers(len(seen.mean)))


def by_what_was_seen(seen: GaussianPosterior, rng: np.random.Generator) -> int:  # noqa: ARG001
    """Places that depend on the noise so far: the highest upper end."""
    return int(np.argmax(seen.mean + 2 * seen.deviation))


def in_the_space(domain: sl.Domain, norm: float, rng: np.random.Generator) -> Array:
    """f = sum_i a_i k(x_i, .) with ||f|| = norm."""
    gram, weights = domain.gram(np.arange(N)), rng.standard_normal(N)
    return np.asarray(gram @ weights * norm / np.sqrt(weights @ gram @ weights))


def misses(
    domain: sl.Domain, choose: Choose, *, part: float, runs: int, error: float = 0.0, claimed: float = 0.0
) -> int:
    """Runs of 40 measurements in which some interval of some moment misses f; widths are taken in part."""
    problem = sl.Problem(domain, goal=sl.Threshold(0.0), noise=0.2, norm=1.5, delta=0.1, misspecification=claimed)
    width, missed = width_of(problem), 0
    for run in range(runs):
        rng = np.random.default_rng(run)
        truth = in_the_space(domain, 1.5, rng) + error * rng.choice([-1.0, 1.0], N)
        seen, fine = posterior.begin(domain, noise=0.2), True
        for _ in range(40):
            x = choose(seen, rng)
            seen = seen.told([x], [truth[x] + 0.2 * rng.standard_normal()])
            half = part * (width.at(seen) * seen.deviation + width.extra(seen))
            fine &= bool((np.abs(truth - seen.mean) <= half + 1e-9).all())
        missed += not fine
    return missed


@pytest.mark.parametrize("domain", [LINEAR, SMOOTH], ids=["linear", "rbf"])
@pytest.mark.parametrize("choose", [by_chance, by_what_was_seen])
def test_all_intervals_of_all_times_cover_f_but_for_delta(domain: sl.Domain, choose: Choose) -> None:
    missed = misses(domain, choose, part=1.0, runs=40)
    assert missed <= 0.1 * 40 + 3 * np.sqrt(40 * 0.1 * 0.9)
    assert misses(domain, choose, part=0.2, runs=10) > 5  # the count does see intervals that are too short


def test_what_the_kernel_does_not_explain_is_covered_when_it_is_claimed() -> None:
    assert misses(LINEAR, by_chance, part=1.0, runs=20, error=1.5, claimed=1.5) == 0
    assert misses(LINEAR, by_chance, part=1.0, runs=20, error=1.5, claimed=0.0) > 15


@given(st.floats(0, 3), st.lists(st.integers(0, N - 1), min_size=1, max_size=30), st.integers(0, 2**16))
@settings(max_examples=25)
def test_no_error_of_the_measured_points_moves_the_mean_further_than_claimed(
    h: float, points: list[int], seed: int
) -> None:
    """Without noise and with f = 0, errors of at most h at the points are all there is in the mean."""
    width = RkhsWidth(norm=1.0, rank=N, largest=1.0, noise=0.1, delta=0.1, misspecification=h)
    errors = h * np.random.default_rng(seed).choice([-1.0, 1.0], N)
    seen = posterior.begin(SMOOTH, noise=0.1).told(points, errors[points])
    assert (np.abs(seen.mean - errors) <= width.extra(seen) + 1e-9).all()
