"""Correlations against scikit-learn, and the kernels that stand for them in a domain."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel

from superlevel.averaging.families import Between, Given, OfSmoothness, matern
from superlevel.averaging.metrics import metrics
from superlevel.averaging.structures import LENGTHS, SMOOTHNESS
from superlevel.domain import Domain

RNG = np.random.default_rng(0)
SETS = {
    "line": RNG.random((12, 1)),
    "square": RNG.random((12, 2)),
    "map": RNG.random((12, 2)) * [5.0, 1.0],
    "table": RNG.random((12, 3)) * [1.0, 1e4, 1e-3],
    "constant": np.insert(RNG.random((12, 2)) * [5.0, 1.0], 1, 0.4, axis=1),
    "twins": np.repeat(RNG.random((6, 2)), 2, axis=0),
    "one": np.array([[0.3, 0.4]]),
    "equal": np.full((3, 2), 0.3),
}
MIXED = ConstantKernel(2.0) * RBF(0.3) + WhiteKernel(0.5)


@pytest.mark.parametrize("smoothness", SMOOTHNESS)
def test_correlations_are_those_of_scikit_learn(smoothness: float) -> None:
    distances = np.concatenate([[0.0], np.geomspace(1e-8, 30.0, 100)])
    kernel = RBF(1.0) if math.isinf(smoothness) else Matern(1.0, nu=smoothness)
    expected = kernel(np.zeros((1, 1)), distances[:, None])[0]
    np.testing.assert_allclose(matern(smoothness, distances), expected, rtol=1e-10, atol=1e-15)


@pytest.mark.parametrize("rough", [0.0, 0.3])
@pytest.mark.parametrize("smoothness", SMOOTHNESS)
@pytest.mark.parametrize("name", SETS)
def test_the_kernel_in_a_domain_is_the_correlation_times_the_variance(
    name: str, smoothness: float, rough: float
) -> None:
    points, variance = SETS[name], 2.7
    known, everything = metrics(points), np.arange(len(points))
    plain = Domain(points)
    for metric, length in [(len(known) - 1, LENGTHS[2]), (0, LENGTHS[5])]:
        family = OfSmoothness(metric, smoothness, length)
        where = Between.of(plain, known, everything, everything)
        expected = variance * ((1 - rough) * family.between(where) + rough * np.eye(len(points)))
        domain = Domain(points, family.kernel(plain, known, variance, rough))
        np.testing.assert_allclose(domain.gram(everything), expected, rtol=1e-7, atol=1e-12)
        np.testing.assert_allclose(domain.diagonal(), np.diag(expected), rtol=1e-12)
        np.testing.assert_array_equal(family.diagonal(where), 1.0)


@pytest.mark.parametrize("kernel", [None, RBF(0.3), MIXED], ids=["linear", "rbf", "white"])
def test_a_given_kernel_is_used_as_it_is(kernel: Any) -> None:
    domain, family = Domain(SETS["twins"], kernel), Given()
    rows, columns = np.array([0, 2, 5]), np.array([5, 4, 1, 5])
    where = Between.of(domain, (), rows, columns)
    everything = domain.gram(np.arange(domain.n))
    np.testing.assert_allclose(family.between(where), everything[np.ix_(rows, columns)])
    np.testing.assert_allclose(family.diagonal(where), np.diag(everything)[columns])
    assert family.kernel(domain, (), 3.0, 0.2) is kernel


@pytest.mark.parametrize("rows", [[], [4], [0, 2, 3, 9], list(range(12))])
@pytest.mark.parametrize("columns", [[], [4], [9, 0, 5, 9, 11], list(range(12))])
def test_equal_points_are_found_by_their_number(rows: list[int], columns: list[int]) -> None:
    left, right = np.array(rows, dtype=np.int64), np.array(columns, dtype=np.int64)
    where = Between.of(Domain(SETS["twins"]), (), left, right)
    found = np.zeros((len(rows), len(columns)), dtype=np.bool_)
    found[where.same] = True
    np.testing.assert_array_equal(found, left[:, None] == right)


def test_a_family_says_in_words_what_it_is() -> None:
    domain = Domain(SETS["twins"])
    known = metrics(domain.points)
    words = [OfSmoothness(0, smoothness, 0.5).words(domain, known) for smoothness in SMOOTHNESS]
    assert words == [f"{name} of length 0.5" for name in ("Matern 1/2", "Matern 3/2", "Matern 5/2", "RBF")]
    assert Given().words(domain, ()) == "the given kernel"
