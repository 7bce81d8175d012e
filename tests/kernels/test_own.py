"""Kernels that scikit-learn does not have, against their definitions."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.gaussian_process import kernels as sk
from sklearn.metrics import jaccard_score

import superlevel as sl
from superlevel.errors import AssumptionWarning, InputError
from superlevel.features import embed
from superlevel.hyperparameters import fit
from superlevel.kernels import On, Tanimoto

BITS = np.random.default_rng(0).integers(0, 2, size=(40, 12)).astype(float)
POINTS = np.random.default_rng(1).normal(size=(30, 3))


def test_tanimoto_is_jaccard_s_index_of_zeros_and_ones() -> None:
    found = Tanimoto()(BITS)
    for i, j in itertools.combinations(range(10), 2):
        assert found[i, j] == pytest.approx(jaccard_score(BITS[i], BITS[j]))
    np.testing.assert_array_equal(np.diag(found), Tanimoto().diag(BITS))
    np.testing.assert_array_equal(Tanimoto()(BITS, BITS[:3]), found[:, :3])


@given(arrays(np.float64, (8, 3), elements=st.sampled_from([0.0, 1.0, 2.0, -1.0, 0.5, 7.0])))
def test_tanimoto_is_positive_semi_definite_for_counts_negative_numbers_and_zeros(points: Any) -> None:
    assert np.linalg.eigvalsh(Tanimoto()(points))[0] > -1e-9


def test_a_row_of_zeros_is_like_itself_only() -> None:
    found = Tanimoto()(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]]))
    np.testing.assert_array_equal(found, [[1, 0, 1], [0, 1, 0], [1, 0, 1]])


def test_a_kernel_on_columns_is_the_kernel_of_these_columns() -> None:
    base = 2.0 * sk.RBF([0.5, 2.0]) + sk.WhiteKernel(0.1)
    kernel, few = On([2, 0], base), POINTS[:, [2, 0]]
    np.testing.assert_array_equal(kernel(POINTS), base(few))
    np.testing.assert_array_equal(kernel(POINTS, POINTS[:4]), base(few, few[:4]))
    np.testing.assert_array_equal(kernel.diag(POINTS), base.diag(few))
    np.testing.assert_array_equal(kernel.theta, base.theta)
    np.testing.assert_array_equal(kernel.bounds, base.bounds)
    for one, two in zip(kernel(POINTS, eval_gradient=True), base(few, eval_gradient=True), strict=True):
        np.testing.assert_array_equal(one, two)
    moved = kernel.clone_with_theta(kernel.theta + 1)
    assert moved == On([2, 0], base.clone_with_theta(base.theta + 1))
    assert kernel != moved
    assert clone(kernel) == kernel != On([0, 2], base)
    assert [item.name for item in kernel.hyperparameters] == [f"kernel__{item.name}" for item in base.hyperparameters]
    assert kernel.is_stationary() == base.is_stationary()
    assert On(0, sk.RBF(0.5))(POINTS).shape == (30, 30)


def test_a_product_over_groups_is_one_kernel_with_a_length_for_each_column() -> None:
    groups = On([0, 1], sk.RBF([0.5, 2.0])) * On(2, sk.RBF(3.0))
    np.testing.assert_allclose(groups(POINTS), sk.RBF([0.5, 2.0, 3.0])(POINTS))


def test_periods_are_of_one_column() -> None:
    """In two dimensions a function of the distance that comes back is no kernel; on one column it is."""
    days = np.column_stack([np.linspace(0, 800, 60), np.linspace(0, 3, 60) ** 2])
    season = On(0, sk.ExpSineSquared(1.0, periodicity=365.0))
    domain = sl.Domain(days, season * On(1, sk.RBF(1.0)))
    assert np.linalg.eigvalsh(domain.gram(np.arange(60)))[0] > -1e-9
    year = np.column_stack([days[:, 0] + 365.0, days[:, 1]])
    np.testing.assert_allclose(season(days, year), season(days), atol=1e-9)
    circle = 0.6 * np.stack([np.cos(np.arange(40)), np.sin(np.arange(40))], axis=1)
    with pytest.raises(InputError, match=r"one column, as in On\(0, ExpSineSquared"):
        sl.Domain(circle, sk.ExpSineSquared(1.0, periodicity=1.0))


def test_a_column_that_is_not_there_is_refused_in_a_sentence() -> None:
    with pytest.raises(InputError, match=r"give a kernel for points with 3 coordinates \(index 5 is out of bounds"):
        sl.Domain(POINTS, On(5, sk.RBF(1.0)))


def test_features_of_fingerprints_reproduce_the_kernel() -> None:
    found = embed(Tanimoto(), BITS, tol=1e-9)
    np.testing.assert_allclose(found.array @ found.array.T, Tanimoto()(BITS), atol=1e-8)


def test_the_parameters_of_groups_are_fitted_with_the_ranges_of_their_columns() -> None:
    rng = np.random.default_rng(2)
    points = np.column_stack([rng.uniform(0, 1, 80), rng.uniform(0, 1000, 80)])
    values = np.sin(6 * points[:, 0]) + np.cos(points[:, 1] / 80) + 0.05 * rng.normal(size=80)
    domain = sl.Domain(points, On(0, sk.RBF(1.0)) + On(1, sk.RBF(1.0)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)  # of the amplitudes, which are not tested here
        found = fit(domain, np.arange(80), values)
    lengths = {item.name: item for item in found.parameters if item.name.endswith("length_scale")}
    assert len(lengths) == 2
    first, second = lengths.values()
    assert first.upper == pytest.approx(3 * np.ptp(points[:, 0]))
    assert second.upper == pytest.approx(3 * np.ptp(points[:, 1]))
    assert 0.05 < first.value < 3
    assert 30 < second.value < 3000


def test_the_amplitude_of_fingerprints_is_fitted() -> None:
    rng = np.random.default_rng(3)
    bits = rng.integers(0, 2, size=(150, 30)).astype(float)
    values = np.linalg.cholesky(9.0 * Tanimoto()(bits) + 1e-9 * np.eye(150)) @ rng.normal(size=150)
    found = fit(sl.Domain(bits, Tanimoto()), np.arange(150), values, noise=0.1, mean=0.0)
    assert found.kernel.k1.constant_value == pytest.approx(9.0, rel=0.4)
