"""Tanimoto's similarity among the kernels that are estimated: where it is tried, and when it is believed."""

from __future__ import annotations

import numpy as np
import pytest

import superlevel as sl
from superlevel.arrays import Array
from superlevel.averaging import Data, average, fingerprints
from superlevel.averaging.candidates import Candidates
from superlevel.averaging.families import Between
from superlevel.averaging.fingerprints import COLUMNS, POWERS, WEIGHT, OfSimilarity
from superlevel.averaging.metrics import metrics
from superlevel.averaging.structures import LENGTHS, SPREAD, TYPICAL, grid
from superlevel.domain import Domain
from superlevel.kernels import Tanimoto

FITTED = ("kernel", "noise", "mean")


def variants(seed: int = 0, *, bits: int = 256, groups: int = 60) -> Array:
    """Sparse rows in groups of up to ten variants, of unequal numbers of bits."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(groups):
        parent = rng.random(bits) < rng.uniform(0.03, 0.12)
        found.append(parent ^ (rng.random((int(rng.integers(3, 11)), bits)) < 0.01))
    return np.concatenate(found).astype(float)


def switches(seed: int = 0) -> Array:
    """Settings that are on or off."""
    return (np.random.default_rng(seed).random((400, 24)) < 0.5).astype(float)


def estimated(points: Array, values: Array, noise: float = 0.1, count: int = 120) -> str:
    """The likeliest kernel from measurements of some points."""
    rng = np.random.default_rng(1)
    at = rng.permutation(len(points))[:count]
    measured = values[at] + noise * rng.standard_normal(count)
    problem = sl.Problem(Domain(points), goal=sl.Threshold(0.0), fit=FITTED)
    found = average(problem, Data(points=at, values=measured, noise=np.full(count, np.nan)))
    return found.kernel


# --- the correlation


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("rough", [0.0, 0.3])
def test_the_kernel_in_a_domain_is_the_correlation_times_the_variance(power: int, rough: float) -> None:
    points, family = variants(groups=6), OfSimilarity(power)
    everything, plain = np.arange(len(points)), Domain(points)
    where = Between.of(plain, metrics(points), everything, everything)
    both = (points[:, None] * points).sum(axis=-1)
    either = np.maximum(points[:, None], points).sum(axis=-1)
    np.testing.assert_allclose(family.between(where), (both / either) ** power)
    expected = 2.7 * ((1 - rough) * (both / either) ** power + rough * np.eye(len(points)))
    domain = Domain(points, family.kernel(plain, metrics(points), 2.7, rough))
    np.testing.assert_allclose(domain.gram(everything), expected, atol=1e-12)
    np.testing.assert_array_equal(family.diagonal(where), 1.0)
    assert np.linalg.eigvalsh(family.between(where)).min() > -1e-9


def test_its_prior_counts_as_much_as_that_of_one_metric() -> None:
    lengths = sum(np.exp(-0.5 * (np.log(np.array(LENGTHS) / TYPICAL) / SPREAD) ** 2))
    assert pytest.approx(lengths, rel=0.02) == WEIGHT
    found = fingerprints.families(switches())
    assert sum(np.exp(family.log_prior) for family in found) == pytest.approx(WEIGHT)


# --- where it is tried

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("points", "tried"),
    [
        (switches(), True),
        (RNG.poisson(2.0, (30, COLUMNS)).astype(float), True),
        (switches()[:, : COLUMNS - 1], False),
        (np.c_[switches()[:, : COLUMNS - 1], np.ones((400, 5))], False),
        (switches() - 1.0, False),
        (np.c_[switches(), RNG.random(400)], False),
        (RNG.random((30, 2)), False),
    ],
    ids=["bits", "counts", "few", "constant", "negative", "mixed", "map"],
)
def test_it_is_tried_for_many_columns_of_bits_or_counts(points: Array, tried: bool) -> None:
    assert bool(fingerprints.families(points)) == tried
    problem = sl.Problem(Domain(points), goal=sl.Threshold(0.0), fit=FITTED)
    found = Candidates.of(problem, None)
    more = len(found.structures) - len(grid(found.metrics, noise_is_given=False))
    assert bool(more) == tried  # other problems have nothing more to compare


def test_it_is_not_tried_where_the_kernel_is_given() -> None:
    problem = sl.Problem(Domain(switches(), Tanimoto()), goal=sl.Threshold(0.0), fit=("noise",))
    assert Candidates.of(problem, None).others == ()


# --- what is chosen


@pytest.mark.parametrize("power", [1, 4])
def test_a_function_drawn_from_it_is_recognised(power: int) -> None:
    points = variants(2)
    covariance = Tanimoto()(points) ** power + 1e-8 * np.eye(len(points))
    values = np.linalg.cholesky(covariance) @ np.random.default_rng(3).standard_normal(len(points))
    assert estimated(points, values, count=200).startswith("Tanimoto")


def test_settings_of_which_few_matter_have_a_length_for_each() -> None:
    points = switches()
    values = 2 * points[:, 0] * points[:, 1] - points[:, 2] + 1.5 * points[:, 3] * (1 - points[:, 0])
    assert "a length for each coordinate" in estimated(points, values)


def test_a_campaign_on_fingerprints_plans_and_declares() -> None:
    points = variants(4)
    root = np.linalg.cholesky(Tanimoto()(points) + 1e-8 * np.eye(len(points)))
    values = root @ np.random.default_rng(5).standard_normal(len(points))
    problem = sl.Problem(Domain(points), goal=sl.Threshold(0.5), fit=FITTED)
    method = sl.methods.make("melk", problem, batch=20)
    run = sl.simulate(method, sl.oracles.Gaussian(values, noise=0.1), max_samples=100, seed=0)
    assert run.samples == 100
    declared = run.labels != 0
    assert declared.mean() > 0.1
    assert ((run.labels > 0) == (values > 0.5))[declared].mean() > 0.95
