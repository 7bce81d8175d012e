"""Large domains: one pass in blocks against the dense posterior, and what leaving out far measurements costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel

from superlevel import blocks, passes
from superlevel.arrays import Array
from superlevel.domain import Domain
from superlevel.posterior import GaussianPosterior, begin, covariance
from superlevel.posterior.large import Passed

KERNELS = {
    "matern": 2.0 * Matern(0.1, nu=1.5),
    "rough": Matern(0.1, nu=0.5) + WhiteKernel(0.1),
    "stretched": Matern([0.05, 0.4], nu=2.5),
    "rbf": RBF(0.05),
    "constant": ConstantKernel(2.0) + Matern(0.1, nu=1.5),
}
SIDE, NOISE, MEASURED = 40, 0.1, 200


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is large is patched, so that dense matrices can stand beside it."""
    monkeypatch.setattr(covariance, "LARGE", 0)
    monkeypatch.setattr(covariance, "STORED", 0)
    monkeypatch.setattr(covariance, "ROOM", 0)
    monkeypatch.setattr(blocks, "SIZE", 64)
    monkeypatch.setattr(blocks, "FEWEST", 40)


def square(kernel: Any) -> Domain:
    axis = np.linspace(0, 1, SIDE)
    return Domain(np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2), kernel=kernel)


def measured(kernel: Any, count: int = MEASURED, seed: int = 0) -> GaussianPosterior:
    """With repeats, near a curve, as a level set's boundary is measured."""
    domain, rng = square(kernel), np.random.default_rng(seed)
    f = np.sin(6 * domain.points[:, 0]) + domain.points[:, 1]
    near = np.exp(-((f / 0.3) ** 2)) + 0.05
    points = rng.choice(domain.n, count, p=near / near.sum())
    return begin(domain, noise=NOISE).told(points, f[points] + NOISE * rng.standard_normal(count))


def dense(posterior: GaussianPosterior, domain: Domain) -> tuple[Array, Array]:
    points = np.flatnonzero(posterior.weights)
    everything = domain.gram(np.arange(domain.n))
    inside = everything[np.ix_(points, points)] + np.diag(1 / posterior.weights[points])
    gains = np.linalg.solve(inside, everything[points])
    mean = gains.T @ (posterior.sums[points] / posterior.weights[points])
    return mean, np.diag(everything) - np.einsum("ij,ij->j", gains, everything[points])


def passed(posterior: GaussianPosterior) -> Passed:
    assert isinstance(posterior.field, Passed)
    return posterior.field


kernels = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())


@kernels
def test_a_pass_over_all_measurements_is_the_dense_posterior(kernel: Any) -> None:
    found = measured(kernel)
    mean, variance = dense(found, square(kernel))
    assert passed(found).is_exact
    np.testing.assert_allclose(found.mean, mean, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.variance, variance, rtol=0, atol=1e-9)


@kernels
def test_few_points_are_predicted_from_all_measurements_without_a_pass(
    kernel: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "WORK", 0)
    found, some = measured(kernel), np.array([7, 0, 1599, 800])
    mean, variance = dense(found, square(kernel))
    monkeypatch.setattr(passes, "over", None)  # nobody calls it
    for got, exact in zip(found.field.at(some), (mean, variance), strict=True):
        np.testing.assert_allclose(got, exact[some], rtol=0, atol=1e-9)


@kernels
def test_fewer_measurements_never_make_an_interval_narrower(kernel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = measured(kernel)
    mean, variance = exact.mean, exact.variance
    monkeypatch.setattr(blocks, "WORK", 0)
    local = measured(kernel)
    assert passed(local).neighbours == 40
    ratio = np.sqrt(local.variance / variance)
    assert ratio.min() >= 1 - 1e-9
    assert np.median(ratio) <= 1.02
    assert np.median(np.abs(local.mean - mean) / np.sqrt(variance)) <= 0.05


def test_the_approximation_says_how_far_it_is_from_the_exact_posterior(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = measured(KERNELS["matern"])
    assert passed(exact).approximation is None
    assert exact.deviation.all()  # computed before the next line
    monkeypatch.setattr(blocks, "WORK", 0)
    local = measured(KERNELS["matern"])
    found = passed(local).approximation
    assert found is not None
    off = np.abs(local.mean - exact.mean) / exact.deviation
    assert (found.neighbours, found.compared) == (40, 200)
    assert 1 - 1e-9 <= found.narrower <= found.wider <= (local.deviation / exact.deviation).max() + 1e-9
    assert np.median(off) <= found.off <= off.max() + 1e-9


def test_a_block_takes_the_measurements_that_tell_most_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "WORK", 0)
    monkeypatch.setattr(blocks, "FEWEST", 5)
    found = measured(Matern(0.1, nu=1.5))
    given = passed(found).given
    data, places = given.points, given.domain.points
    for cells, near in zip(given.domain.blocks, passed(found)._near(), strict=True):
        assert len(near) == 5
        gaps = np.linalg.norm(places[data][:, None] - places[cells][None], axis=2).min(axis=1)
        precise = np.isin(np.arange(len(data)), near)
        # A point that was measured twice may be preferred to one that is somewhat nearer.
        assert gaps[precise].max() <= gaps[~precise].min() + 0.2


def test_what_was_measured_far_away_changes_nothing_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "WORK", 0)
    before = measured(Matern(0.05, nu=1.5))
    after = before.told([SIDE * SIDE - 1] * 3, [5.0, 5.1, 4.9])
    same = (before.mean == after.mean) & (before.variance == after.variance)
    assert same[: SIDE * SIDE // 3].all()
    assert not same[-1]


def test_threads_make_no_difference() -> None:
    from joblib import parallel_config

    threads = measured(KERNELS["matern"])
    with parallel_config(backend="sequential"):
        alone = measured(KERNELS["matern"])
        np.testing.assert_array_equal(alone.mean, threads.mean)
        np.testing.assert_array_equal(alone.variance, threads.variance)


@pytest.mark.parametrize("noise", [0.0, 1e-6])
def test_measurements_without_noise_and_at_one_point_only(noise: float) -> None:
    found = begin(square(KERNELS["matern"]), noise=noise).told([3, 3, 3], [1.0, 1.0, 1.0])
    assert found.mean[3] == pytest.approx(1.0)
    assert 0 <= found.variance[3] <= 1e-9
    assert np.isfinite(found.mean).all()
