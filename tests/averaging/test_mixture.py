"""What several kernels say together, and what each point's measurements say when they are left out."""

from __future__ import annotations

import math
from typing import Any
from unittest import mock

import numpy as np
import pytest
from scipy import stats
from sklearn.gaussian_process.kernels import Matern, WhiteKernel

from superlevel.arrays import Array
from superlevel.averaging import mixture
from superlevel.averaging.families import OfSmoothness
from superlevel.averaging.metrics import metrics
from superlevel.averaging.mixture import COVERED, LEAST, MEMBERS, Mixture, averaged, likeliest
from superlevel.averaging.structures import Structure, evidences, grid, grid_of_noise, summarise
from superlevel.domain import Domain
from tests.averaging import dense
from tests.averaging.dense import World, mixed, world
from tests.averaging.test_predictive import WALLACE

KERNEL = 1.3 * Matern(0.4, nu=1.5) + WhiteKernel(0.2)
KNOWN: list[dict[str, Any]] = [{}, {"mean": 1.5}, {"noise": 0.25}]
known = pytest.mark.parametrize("given", KNOWN, ids=lambda given: "+".join(given) or "nothing")


def made(given: World, structures: list[Structure] | None = None) -> Mixture:
    """As an average makes it, from all structures."""
    listed = structures or list(grid(given.metrics, noise_is_given=given.noise is not None))
    return mixed(given.summary, likeliest(evidences(given.summary, listed))[0])


def errors(given: World, found: Mixture) -> Array:
    """(m, q) the errors of left-out points over their deviations, with every point really left out.

    The amplitude is that of all measurements, and so are the weights.
    """
    each = []
    points, counts, means = found.summary.points, found.summary.counts, found.summary.means
    for fit in found.fits:
        row = []
        for point, count, measured in zip(points, counts, means, strict=True):
            (mean,), (variance,) = dense.kriged(given.without(int(point)), fit.structure, np.array([point]))
            amplitude = dense.amplitude(given, fit.structure)
            row.append((measured - mean) / math.sqrt(amplitude * (variance + fit.structure.noise / count)))
        each.append(row)
    return np.array(each)


# --- left out


@known
def test_a_point_is_left_out_as_if_it_had_not_been_measured(given: dict[str, Any]) -> None:
    measured = world(count=40, **given)
    found = made(measured)
    freedom = measured.summary.freedom
    expected = found.weights @ stats.t.cdf(errors(measured, found), freedom)
    np.testing.assert_allclose(found.left_out(), expected, rtol=0, atol=WALLACE / freedom**2)
    assert np.ptp(expected) > 0.5


@pytest.mark.parametrize("mean", [None, 1.5])
def test_a_point_is_left_out_with_a_given_kernel(mean: float | None) -> None:
    measured = world(KERNEL, count=40, mean=mean)
    found = made(measured, grid_of_noise([0.01, 0.05, 0.2]))
    expected = found.weights @ stats.norm.cdf(errors(measured, found))
    np.testing.assert_allclose(found.left_out(), expected, rtol=0, atol=1e-9)


def test_a_single_point_is_predicted_by_nothing() -> None:
    domain = Domain(np.random.default_rng(0).random((4, 2)))
    summary = summarise(domain, metrics(domain.points), np.array([2, 2]), np.array([4.9, 5.1]), np.ones(2))
    structures, _ = likeliest(evidences(summary, list(grid(summary.metrics, noise_is_given=False))))
    np.testing.assert_allclose(mixed(summary, structures).left_out(), 0.5, atol=1e-6)


# --- weights


@known
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_weights_are_evidence_and_cover_what_they_say(given: dict[str, Any], seed: int) -> None:
    measured = world(seed=seed, count=30, **given)
    listed = evidences(measured.summary, list(grid(measured.metrics, noise_is_given=measured.noise is not None)))
    logs = np.array([log for log, _ in listed])
    shares = np.exp(logs - np.logaddexp.reduce(logs))
    found = made(measured)
    assert found.weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert len(found.fits) <= MEMBERS
    members = {fit.structure for fit in found.fits}
    chosen = np.array([structure in members for _, structure in listed])
    assert len(members) == len(found.fits) == chosen.sum()
    assert shares[chosen].min() >= shares[~chosen].max()
    np.testing.assert_allclose(found.weights, shares[chosen] / shares[chosen].sum(), rtol=1e-9)
    assert len(members) == MEMBERS or shares[chosen].sum() >= COVERED
    assert shares[chosen].sum() - shares[chosen].min() < COVERED
    assert found.best.log_evidence == logs.max()


def test_a_structure_that_is_certain_stands_alone() -> None:
    measured = world()
    sure = Structure(OfSmoothness(0, 1.5, 0.5), 0.0, 0.05, 50.0)
    listed = [*grid(measured.metrics, noise_is_given=False), sure]
    members, share = likeliest(evidences(measured.summary, listed))
    assert members == [sure]
    assert share > COVERED
    assert mixed(measured.summary, members).weights.tolist() == [1.0]


def test_the_noise_is_that_of_the_members_on_average() -> None:
    found = made(world(count=30))
    variances = [fit.structure.noise * fit.amplitude for fit in found.fits]
    assert found.noise**2 == pytest.approx(np.average(variances, weights=found.weights))


# --- predictions


def test_predictions_are_those_of_each_member_alone() -> None:
    measured, at = world(count=30), np.array([5, 0, 24, 5])
    found = made(measured)
    together = found.predict(at)
    np.testing.assert_array_equal(together.weights, found.weights)
    for k, fit in enumerate(found.fits):
        alone = mixed(measured.summary, [fit.structure]).predict(at)
        np.testing.assert_allclose(together.means[k], alone.means[0])
        np.testing.assert_allclose(together.deviations[k], alone.deviations[0])


def test_predictions_do_not_depend_on_the_blocks_in_which_they_are_made() -> None:
    found, at = made(world(count=30)), np.random.default_rng(0).permutation(25)
    together = found.predict(at)
    for block in (1, 7 * len(found.summary.points)):
        with mock.patch.object(mixture, "BLOCK", block):
            pieces = found.predict(at)
        np.testing.assert_allclose(pieces.means, together.means, rtol=1e-12)
        np.testing.assert_allclose(pieces.deviations, together.deviations, rtol=1e-9)


def test_a_measured_point_is_known_better_than_its_twin_where_f_is_rough() -> None:
    points = np.repeat(np.random.default_rng(0).random((10, 2)), 2, axis=0)
    domain, measured, twins = Domain(points), np.arange(0, 20, 2), np.arange(1, 20, 2)
    values = np.random.default_rng(1).standard_normal(10)
    given = World(domain=domain, points=measured, values=values, counts=np.ones(10))
    for rough, better in [(0.4, True), (0.0, False)]:
        structure = Structure(OfSmoothness(0, 1.5, 0.3), rough, 0.05, 0.0)
        found = mixed(given.summary, [structure])
        here, there = (found.predict(at) for at in (measured, twins))
        amplitude = dense.amplitude(given, structure)
        for prediction, at in [(here, measured), (there, twins)]:
            means, variances = dense.kriged(given, structure, at)
            np.testing.assert_allclose(prediction.means[0], means, atol=1e-10)
            np.testing.assert_allclose(prediction.deviations[0] ** 2, amplitude * variances, rtol=1e-8)
        if better:
            assert (here.deviations**2 < there.deviations**2 - 0.1 * amplitude).all()
        else:
            np.testing.assert_allclose(here.deviations, there.deviations)
            np.testing.assert_allclose(here.means, there.means)


def test_a_variance_that_rounding_makes_negative_is_small_instead() -> None:
    domain = Domain(np.linspace(0.0, 1.0, 12))
    values = np.sin(np.arange(12.0))
    given = World(domain=domain, points=np.arange(12), values=values, counts=np.ones(12), mean=0.0)
    structure = Structure(OfSmoothness(0, math.inf, 0.3), 0.0, 1e-12, 0.0)
    found = mixed(given.summary, [structure])
    smallest = LEAST * found.best.amplitude
    deviations = found.predict(np.arange(12)).deviations
    assert (deviations**2 >= smallest * (1 - 1e-9)).all()
    assert (deviations**2 <= 10 * smallest).all()


def test_there_is_no_mixture_of_singular_kernels() -> None:
    measured = world()
    flat = Structure(OfSmoothness(0, math.inf, 1e6), 0.0, 0.0, 0.0)
    assert averaged(measured.summary, [flat]) is None
    good = Structure(OfSmoothness(0, 1.5, 0.5), 0.0, 0.05, 0.0)
    assert [fit.structure for fit in mixed(measured.summary, [flat, good]).fits] == [good]
