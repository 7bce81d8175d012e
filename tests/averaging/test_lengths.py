"""A length for each coordinate: the slopes, the worth of a metric, and when there is one length only."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime

import superlevel as sl
from superlevel.arrays import Array
from superlevel.averaging import Average, Data, average
from superlevel.averaging.families import OfSmoothness, falling, matern
from superlevel.averaging.lengths import FARTHEST, SPREAD, _Search, stretched
from superlevel.averaging.metrics import Metric, metrics
from superlevel.averaging.structures import SMOOTHNESS, Structure, Summary, evidences, summarise
from superlevel.domain import Domain
from tests.averaging.dense import world

NUMBERS = sorted(SMOOTHNESS)
smoothnesses = pytest.mark.parametrize("smoothness", NUMBERS)


def structure_of(smoothness: float, *, length: float = 0.8, rough: float = 0.1) -> tuple[Structure, OfSmoothness]:
    family = OfSmoothness(0, smoothness, length)
    return Structure(family, rough, 0.05, 0.0), family


def search_of(summary: Summary, smoothness: float) -> _Search:
    structure, family = structure_of(smoothness)
    units = summary.metrics[0].scaled(summary.domain.points[summary.points])
    of = np.arange(units.shape[1])
    return _Search(summary=summary, structure=structure, family=family, units=units, of=of)


def survey(count: int, slopes: list[float], *, noise: float = 0.1, seed: int = 0) -> Summary:
    """Sines of one combination of the coordinates, measured at random points of a cube."""
    rng = np.random.default_rng(seed)
    domain = Domain(rng.random((count, len(slopes))))
    values = np.sin(domain.points @ slopes) + noise * rng.standard_normal(count)
    return summarise(domain, metrics(domain.points)[:1], np.arange(count), values, np.ones(count))


def found(summary: Summary, smoothness: float = 2.5) -> Metric:
    return stretched(summary, *structure_of(smoothness))


def ratios(summary: Summary, metric: Metric) -> Array:
    return metric.factors / summary.metrics[0].factors


# --- slopes


@smoothnesses
def test_the_correlation_falls_as_fast_as_its_differences_say(smoothness: float) -> None:
    distances = np.array([0.05, 0.3, 1.0, 2.5])
    step = 1e-6
    rise = (matern(smoothness, distances + step) - matern(smoothness, distances - step)) / (2 * step)
    np.testing.assert_allclose(falling(smoothness, distances), -rise / distances, rtol=1e-6)
    assert falling(smoothness, np.zeros((1, 1))).tolist() == [[0.0]]


@smoothnesses
@pytest.mark.parametrize("mean", [None, 1.5])
@pytest.mark.parametrize("noise", [None, 0.25])
def test_the_gradient_is_that_of_the_loss(smoothness: float, mean: float | None, noise: float | None) -> None:
    search = search_of(world(count=30, mean=mean, noise=noise).summary, smoothness)
    for lengths in (np.zeros(2), np.array([0.7, -1.1])):
        gradient = search.loss(lengths)[1]
        numbers = approx_fprime(lengths, lambda at: search.loss(at)[0], 1e-6)
        np.testing.assert_allclose(gradient, numbers, rtol=1e-4, atol=1e-4)


@smoothnesses
@pytest.mark.parametrize("mean", [None, 1.5])
def test_the_loss_is_the_evidence_in_the_stretched_metric(smoothness: float, mean: float | None) -> None:
    summary = world(count=30, mean=mean).summary
    search = search_of(summary, smoothness)
    gaps = []
    for lengths in (np.zeros(2), np.array([0.5, -0.5]), np.array([-1.0, 0.3])):
        moved = Metric(factors=summary.metrics[0].factors * np.exp(lengths))
        ((log, _),) = evidences(replace(summary, metrics=(moved,)), [search.structure])
        gaps.append(search.loss(lengths)[0] - 0.5 * float(lengths @ lengths) / SPREAD**2 + log)
    np.testing.assert_allclose(gaps, gaps[0], atol=1e-9)  # a constant that all have in common


# --- what a metric is worth


@pytest.mark.parametrize("slopes", [[6.0, 6.0], [10.0, 1.0]])
def test_the_worth_is_near_the_integral_over_all_lengths(slopes: list[float]) -> None:
    summary = survey(60, slopes)
    search, metric = search_of(summary, 2.5), found(summary)
    axis = np.linspace(-FARTHEST, FARTHEST, 61)
    logs = [-search.loss(np.array([one, other]))[0] for one in axis for other in axis]
    normaliser = 2.0 * math.log((axis[1] - axis[0]) / (SPREAD * math.sqrt(2 * math.pi)))
    integral = float(np.logaddexp.reduce(logs)) + normaliser
    best = np.log(ratios(summary, metric))
    likelihood = -search.loss(best)[0] + 0.5 * float(best @ best) / SPREAD**2
    assert likelihood + metric.log_prior == pytest.approx(integral, abs=0.1)


# --- what is found


def test_a_coordinate_that_does_not_matter_gets_a_long_length() -> None:
    summary = survey(80, [8.0, 0.0, 0.0])
    one, *others = ratios(summary, found(summary))
    assert one > 2 * max(others)


def test_one_length_is_left_where_all_coordinates_are_alike() -> None:
    summary = survey(80, [5.0, 5.0])
    one, other = ratios(summary, found(summary))
    assert one == pytest.approx(other, rel=0.3)


@pytest.mark.parametrize("seed", range(3))
def test_noise_asks_for_no_lengths(seed: int) -> None:
    """Two hundred coordinates, of which none matters, are not told apart."""
    rng = np.random.default_rng(seed)
    domain = Domain(rng.random((40, 200)))
    summary = summarise(domain, metrics(domain.points)[:1], np.arange(40), rng.standard_normal(40), np.ones(40))
    metric = stretched(summary, *structure_of(2.5, rough=0.7))
    assert np.abs(np.log(ratios(summary, metric))).max() < 0.3
    assert metric.log_prior <= 0.0


def test_a_constant_coordinate_stays_out() -> None:
    rng = np.random.default_rng(0)
    domain = Domain(np.column_stack([rng.random((30, 2)), np.full(30, 7.0)]))
    values = np.sin(9.0 * domain.points[:, 0])
    summary = summarise(domain, metrics(domain.points)[:1], np.arange(30), values, np.ones(30))
    metric = found(summary)
    assert metric.factors[2] == 0.0
    assert metric.factors[0] > metric.factors[1] > 0.0


@smoothnesses
@pytest.mark.parametrize(
    ("points", "values"),
    [([4], [1.0]), ([4, 4, 4], [1.0, 1.2, 0.9]), ([0, 1, 2], [3.0, 3.0, 3.0]), ([0, 1], [0.0, 1.0])],
    ids=["one", "repeats", "equal values", "twins"],
)
def test_few_measurements_give_numbers(smoothness: float, points: list[int], values: list[float]) -> None:
    places = np.random.default_rng(0).random((5, 2))
    places[1] = places[0]  # two points at one place
    domain = Domain(places)
    summary = summarise(domain, metrics(places)[:1], np.array(points), np.array(values), np.ones(len(points)))
    metric = stretched(summary, *structure_of(smoothness))
    assert np.isfinite(metric.factors).all()
    assert math.isfinite(metric.log_prior)


# --- in an average


def campaign(slopes: list[float]) -> Average:
    rng = np.random.default_rng(0)
    domain = Domain(rng.random((300, len(slopes))), names=("ph", "salt", "heat"))
    problem = sl.Problem(domain, goal=sl.Threshold(0.5), fit=("kernel", "noise", "mean"))
    points = np.concatenate([np.arange(60), np.arange(4)])
    values = np.sin(domain.points[points] @ slopes) + 0.05 * rng.standard_normal(64)
    return average(problem, Data(points=points, values=values, noise=np.full(64, np.nan)))


def test_an_average_says_which_coordinate_matters_most() -> None:
    found = campaign([0.5, 8.0, 0.5])
    assert "with a length for each coordinate, the shortest along salt" in found.kernel
    kernel = found.mixture.best.structure.family.kernel(
        found.mixture.summary.domain, found.mixture.summary.metrics, 1.0, 0.0
    )
    assert np.argmin(kernel.k2.length_scale) == 1


def test_an_average_without_a_reason_has_one_length() -> None:
    assert "of length" in campaign([4.0, 4.0, 4.0]).kernel
