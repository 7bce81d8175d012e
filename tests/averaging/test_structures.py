"""The evidence of a structure, and what it says of f, against full matrices and sums over a grid."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, Matern, WhiteKernel

from superlevel.averaging.families import Given, OfSmoothness
from superlevel.averaging.metrics import metrics
from superlevel.averaging.structures import (
    FINER_SCATTER,
    LENGTHS,
    REPLICATES,
    ROUGH,
    SCATTER,
    SLIGHT,
    SMOOTHNESS,
    SPREAD,
    TYPICAL,
    Structure,
    evidences,
    fits,
    grid,
    grid_of_noise,
    summarise,
)
from superlevel.domain import Domain
from tests.averaging import dense
from tests.averaging.dense import World, mixed, world

KNOWN: list[dict[str, Any]] = [{}, {"mean": 1.5}, {"noise": 0.25}, {"noise": 0.25, "mean": 1.5}]
known = pytest.mark.parametrize("given", KNOWN, ids=lambda given: "+".join(given) or "nothing")
KERNEL = 1.3 * Matern(0.4, nu=1.5) + WhiteKernel(0.2)


def some(count: int = 25) -> list[Structure]:
    """Structures from the whole grid of two metrics, with a noise that full matrices can bear."""
    listed = [each for each in grid(world().metrics, noise_is_given=False) if each.noise >= 0.01]
    chosen = np.random.default_rng(0).choice(len(listed), count, replace=False)
    return [listed[k] for k in sorted(chosen)]


def agree(given: World, structures: list[Structure]) -> None:
    """The evidence is the integral, up to a prior and a constant that all structures share."""
    found = evidences(given.summary, structures)
    assert [structure for _, structure in found] == structures
    gaps = [log - structure.log_prior - dense.log_evidence(given, structure) for log, structure in found]
    np.testing.assert_allclose(gaps, gaps[0], rtol=0, atol=1e-7)
    logs = [log for log, _ in found]
    assert max(logs) - min(logs) > 1.0


# --- evidence


@known
@pytest.mark.parametrize("seed", [0, 1])
def test_the_evidence_is_the_integral_over_mean_and_amplitude(given: dict[str, Any], seed: int) -> None:
    agree(world(seed=seed, **given), some())


@pytest.mark.parametrize("mean", [None, 1.5])
@pytest.mark.parametrize("kernel", [KERNEL, None], ids=["matern", "linear"])
def test_the_evidence_of_a_given_kernel_is_the_normal_density(kernel: Any, mean: float | None) -> None:
    agree(world(kernel, mean=mean), grid_of_noise([0.01, 0.05, 0.2, 1.0, 3.0]))


@known
def test_equal_measurements_may_be_merged(given: dict[str, Any]) -> None:
    """Two measurements of equal value and precision say of f what one of twice the precision says."""
    apart = world(**given)
    twice = replace(
        apart,
        points=np.append(apart.points, apart.points[-1]),
        values=np.append(apart.values, apart.values[-1]),
        counts=np.append(apart.counts, apart.counts[-1]),
    )
    merged = replace(apart, counts=np.append(apart.counts[:-1], 2 * apart.counts[-1]))
    for one, other in zip(fits(twice.summary, some()), fits(merged.summary, some()), strict=True):
        np.testing.assert_allclose(one.factor, other.factor)
        assert one.mean == pytest.approx(other.mean)
        assert one.amplitude * twice.summary.freedom == pytest.approx(other.amplitude * merged.summary.freedom)


@known
def test_units_of_the_values_change_the_evidence_of_all_structures_alike(given: dict[str, Any]) -> None:
    one = world(**given)
    scaled = {name: 1e3 * value for name, value in given.items()}
    other = world(**scaled)
    other = replace(other, values=1e3 * one.values)
    gaps = [
        a - b for (a, _), (b, _) in zip(evidences(one.summary, some()), evidences(other.summary, some()), strict=True)
    ]
    np.testing.assert_allclose(gaps, one.summary.freedom * math.log(1e3), rtol=1e-9)


def test_the_structure_that_made_the_values_is_likely() -> None:
    """Under the right structure the evidence is the largest on average (Gibbs)."""
    rng = np.random.default_rng(3)
    domain = Domain(rng.random((60, 2)))
    structures = [
        Structure(OfSmoothness(0, nu, length), 0.0, 0.05, 0.0) for nu in SMOOTHNESS for length in LENGTHS[1::3]
    ]
    right = structures[4]
    base = World(domain=domain, points=np.arange(60), values=np.zeros(60), counts=np.ones(60))
    root = np.linalg.cholesky(dense.covariance(base, right))
    total = np.zeros(len(structures))
    for _ in range(10):
        drawn = replace(base, values=root @ rng.standard_normal(60))
        total += [log for log, _ in evidences(drawn.summary, structures)]
    assert structures[int(np.argmax(total))] == right


# --- mean, amplitude and posterior


@known
def test_mean_and_amplitude_are_those_of_full_matrices(given: dict[str, Any]) -> None:
    measured = world(**given)
    for fit in fits(measured.summary, some()):
        mean = dense.generalised_mean(measured, fit.structure) if measured.mean is None else measured.mean
        assert fit.mean == pytest.approx(mean)
        assert fit.amplitude == pytest.approx(dense.amplitude(measured, fit.structure))
        assert fit.noise == pytest.approx(math.sqrt(fit.structure.noise * fit.amplitude))
        assert fit.mean_is_given == (measured.mean is not None)


@known
@pytest.mark.parametrize("family", ["unknown", "given"])
def test_predictions_are_those_of_kriging_with_full_matrices(given: dict[str, Any], family: str) -> None:
    measured = world(KERNEL, **given)
    at = np.array([24, 3, 7, 21, 0, 22, 3])
    for structure in some() if family == "unknown" else grid_of_noise([0.01, 0.3]):
        found = mixed(measured.summary, [structure]).predict(at)
        means, variances = dense.kriged(measured, structure, at)
        np.testing.assert_allclose(found.means[0], means, rtol=0, atol=1e-9)
        np.testing.assert_allclose(
            found.deviations[0] ** 2, dense.amplitude(measured, structure) * variances, rtol=1e-7, atol=1e-10
        )


@pytest.mark.parametrize("smoothness", SMOOTHNESS)
@pytest.mark.parametrize("metric", [0, 1])
def test_predictions_are_those_of_scikit_learn_where_the_mean_is_given(smoothness: float, metric: int) -> None:
    measured = world(mean=1.5, count=40)
    points = measured.domain.points
    structure = Structure(OfSmoothness(metric, smoothness, 0.4), 0.0, 0.05, 0.0)
    mixture = mixed(measured.summary, [structure])
    found = mixture.predict(np.arange(len(points)))
    amplitude = mixture.best.amplitude
    kernel = structure.family.kernel(measured.domain, measured.metrics, amplitude, 0.0)
    other = GaussianProcessRegressor(kernel, alpha=amplitude * 0.05 / measured.counts, optimizer=None)
    mean, deviation = other.fit(points[measured.points], measured.values - 1.5).predict(points, return_std=True)
    np.testing.assert_allclose(found.means[0], 1.5 + mean, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.deviations[0], deviation, rtol=1e-6)


# --- degrees of freedom


@known
def test_degrees_of_freedom_are_the_measurements_less_what_is_estimated(given: dict[str, Any]) -> None:
    measured = world(**given)
    expected = len(measured.points) - (measured.mean is None) + REPLICATES * (measured.noise is not None)
    assert measured.summary.freedom == expected
    assert mixed(measured.summary, some()).freedom == expected
    assert mixed(measured.summary, grid_of_noise([0.1])).freedom == math.inf


def test_one_measurement_leaves_one_degree_of_freedom() -> None:
    domain = Domain(np.random.default_rng(0).random((4, 2)))
    summary = summarise(domain, metrics(domain.points), np.array([2]), np.array([5.0]), np.ones(1))
    assert summary.freedom == 1.0
    found = list(fits(summary, some()))
    assert [fit.mean for fit in found] == pytest.approx([5.0] * 25)
    assert all(math.isfinite(fit.log_evidence) and fit.amplitude > 0 for fit in found)


# --- the grid


@pytest.mark.parametrize("noise_is_given", [True, False])
@pytest.mark.parametrize("count", [1, 2])
def test_the_grid_has_every_structure_once_and_families_together(count: int, noise_is_given: bool) -> None:
    listed = list(grid(world().metrics[:count], noise_is_given=noise_is_given))
    assert len(set(listed)) == len(listed)
    families = [id(structure.family) for structure in listed]
    changes = 1 + sum(one != other for one, other in pairwise(families))
    assert changes == len(set(families)) == count * len(SMOOTHNESS) * len(LENGTHS)


@pytest.mark.parametrize("noise_is_given", [True, False])
def test_priors_of_smoothness_roughness_and_noise_are_probabilities(noise_is_given: bool) -> None:
    by_length = dict.fromkeys(LENGTHS, 0.0)
    for structure, family in grid(world().metrics[:1], noise_is_given=noise_is_given).items():
        assert structure.family is family
        by_length[family.length] += math.exp(structure.log_prior)
    densities = {length: math.exp(-0.5 * (math.log(length / TYPICAL) / SPREAD) ** 2) for length in LENGTHS}
    assert by_length == pytest.approx(densities)


@pytest.mark.parametrize("noise_is_given", [True, False])
def test_scatter_is_a_rough_part_that_is_less_than_f_and_noise(noise_is_given: bool) -> None:
    listed = list(grid(world().metrics, noise_is_given=noise_is_given))
    assert all(0.0 <= structure.rough < 1.0 and structure.noise > 0.0 for structure in listed)
    sizes = FINER_SCATTER if noise_is_given else SCATTER
    sums = np.array([structure.rough + structure.noise for structure in listed])
    assert np.abs(sums[:, None] - np.array(list(sizes))).min(axis=1).max() < 1e-12
    expected = sum(len(ROUGH) if size >= SLIGHT else 1 for size in sizes)
    assert len({(structure.rough, structure.noise) for structure in listed}) == expected
    assert all(structure.rough == 0 for structure in listed if structure.scatter < SLIGHT)


def test_a_singular_structure_is_left_out() -> None:
    domain = Domain(np.array([[0.0], [0.0], [1.0]]))
    summary = summarise(domain, metrics(domain.points), np.array([0, 1, 2]), np.array([0.0, 1.0, 2.0]), np.ones(3))
    singular = Structure(OfSmoothness(0, 0.5, 1.0), 0.0, 1e-300, 0.0)
    sound = Structure(OfSmoothness(0, 0.5, 1.0), 0.0, 0.1, 0.0)
    assert [structure for _, structure in evidences(summary, [singular, sound])] == [sound]


def test_a_given_kernel_has_one_structure_for_each_noise() -> None:
    assert grid_of_noise([0.1, 0.4]) == [Structure(Given(), 0.0, 0.1, 0.0), Structure(Given(), 0.0, 0.4, 0.0)]


def test_white_noise_in_a_kernel_is_another_way_to_be_rough() -> None:
    """A given kernel a^2 [(1 - rough) R + rough I] predicts what the family of R with this roughness predicts."""
    measured = world()
    everything = np.arange(measured.domain.n)
    structure = Structure(OfSmoothness(1, math.inf, 0.3), 0.4, 0.05, 0.0)
    mixture = mixed(measured.summary, [structure])
    amplitude = mixture.best.amplitude
    kernel = amplitude * 0.6 * RBF(0.3 / measured.metrics[1].factors[0]) + WhiteKernel(0.4 * amplitude)
    other = replace(measured, domain=Domain(measured.domain.points, kernel))
    found = mixture.predict(everything)
    expected = mixed(other.summary, grid_of_noise([0.05 * amplitude])).predict(everything)
    np.testing.assert_allclose(found.means, expected.means, atol=1e-10)
    np.testing.assert_allclose(found.deviations, expected.deviations, rtol=1e-8)
