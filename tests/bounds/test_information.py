"""Information gain and effective dimension: a cone solver, kernel matrices, and the inequalities between them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF, Matern

from superlevel.bounds import effective_dimension, information_gain
from superlevel.design import Status, solve
from superlevel.domain import Domain
from superlevel.errors import InputError
from superlevel.features import embed, tolerance

from .oracle import information_gain as by_cone_solver
from .oracle import normal

SIDE = np.arange(30) / 30
GRID = np.stack(np.meshgrid(SIDE, SIDE), axis=-1).reshape(-1, 2)


@pytest.mark.parametrize(
    ("seed", "n", "r", "samples"), [(0, 6, 2, 10.0), (1, 12, 3, 0.5), (2, 4, 4, 1e4), (3, 1, 2, 7.0)]
)
def test_a_cone_solver_finds_the_same(seed: int, n: int, r: int, samples: float) -> None:
    points = normal(seed, n, r)
    gain = information_gain(Domain(points), samples, regularisation=0.5, rtol=1e-4)
    optimum = by_cone_solver(points, samples / 0.5)
    assert gain.status is Status.CERTIFIED
    assert gain.value <= optimum * (1 + 2e-5)
    assert gain.upper_bound >= optimum * (1 - 2e-5)
    assert gain.gap <= 1e-4


def test_orthonormal_points_share_alike() -> None:
    gain = information_gain(Domain(np.eye(5)), 100, regularisation=2.0, rtol=1e-6)
    assert gain.value == pytest.approx(5 * np.log1p(100 / 5 / 2), rel=1e-6)
    np.testing.assert_allclose(gain.weights, 0.2, atol=1e-3)


def test_the_value_is_a_determinant_of_the_kernel_matrix() -> None:
    points = GRID[::13]
    gain = information_gain(Domain(points, RBF(0.2)), 50.0, regularisation=0.1)
    root = np.sqrt(gain.weights)
    matrix = np.eye(len(points)) + 500 * root[:, None] * RBF(0.2)(points) * root
    assert gain.value <= np.linalg.slogdet(matrix)[1] <= gain.upper_bound


@pytest.mark.parametrize(("samples", "regularisation"), [(1000.0, 1.0), (1e5, 0.1)])
def test_the_paper_s_grid(samples: float, regularisation: float) -> None:
    """min max ||phi||^2 <= d_eff <= Gamma_T: the paper's 3 is not needed, its Gamma_T <= d_eff the wrong way round."""
    domain, ridge = Domain(GRID, RBF(0.1)), regularisation / samples
    gain = information_gain(domain, samples, regularisation=regularisation)
    assert gain.status is Status.CERTIFIED
    design = solve(embed(RBF(0.1), GRID, tol=tolerance(ridge, 0.01)), ridge=ridge)
    dimension = effective_dimension(domain, ridge=ridge, weights=gain.weights)
    assert design.lower_bound <= dimension * 1.01
    assert design.value <= gain.value
    assert gain.value > 2 * dimension


@given(st.integers(0, 1000), st.integers(1, 8), st.integers(1, 4), st.floats(1e-2, 1e4))
@settings(max_examples=40)
def test_the_chain_of_inequalities(seed: int, n: int, r: int, samples: float) -> None:
    domain = Domain(normal(seed, n, r))
    gain = information_gain(domain, samples)
    design = solve(domain.points, ridge=1 / samples)
    assert design.lower_bound <= gain.upper_bound
    for weights in (gain.weights, design.weights):
        assert effective_dimension(domain, ridge=1 / samples, weights=weights) <= gain.upper_bound * (1 + 1e-9)


@pytest.mark.parametrize("kernel", [None, RBF(0.3), Matern(0.2, nu=1.5)])
@pytest.mark.parametrize("ridge", [1e-3, 0.1, 10.0])
def test_the_effective_dimension_is_that_of_the_kernel_matrix(kernel: Any, ridge: float) -> None:
    domain = Domain(GRID[::11], kernel)
    matrix = domain.gram(range(domain.n))
    expected = np.trace(matrix @ np.linalg.inv(matrix + domain.n * ridge * np.eye(domain.n)))
    assert effective_dimension(domain, ridge=ridge) == pytest.approx(expected, rel=1e-6)


def test_weights_choose_the_points() -> None:
    domain = Domain(np.diag([1.0, 2.0, 3.0]))
    assert effective_dimension(domain, ridge=1.0, weights=[0.5, 0.5, 0.0]) == pytest.approx(0.5 / 1.5 + 2 / 3)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda d: information_gain(d, 0), "samples is 0: give a number > 0"),
        (lambda d: information_gain(d, 1, regularisation=0), "regularisation is 0: give a number > 0"),
        (lambda d: information_gain(d, 1, rtol=-1), "rtol is -1: give a number > 0"),
        (lambda d: effective_dimension(d, ridge=0.0), "ridge is 0.0: give a number > 0"),
        (lambda d: effective_dimension(d, ridge=1.0, weights=[1.0]), "weights is of shape (1,): give shape (2,)"),
    ],
)
def test_what_cannot_be_used_is_named(call: Any, sentence: str) -> None:
    with pytest.raises(InputError, match="^" + re.escape(sentence)):
        call(Domain(np.eye(2)))
