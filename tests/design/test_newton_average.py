"""Newton's step for a fixed mixture: its direction against the whole system, its steps against a cone solver."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import LinAlgError

from superlevel.design.average import AverageProblem, average_problem
from superlevel.design.newton import Iterate, Local, cautious, step
from superlevel.design.problem import design_problem

from .oracle import Array, Instance


def example(*, n: int = 7, r: int = 3, p: int = 5, ridge: float = 0.1, seed: int = 0) -> tuple[Instance, Array, Array]:
    rng = np.random.default_rng(seed)
    instance = Instance(arms=rng.normal(size=(n, r)), rows=rng.normal(size=(p, r)), ridge=ridge)
    return instance, rng.dirichlet(np.full(n, 3.0)), rng.dirichlet(np.full(p, 3.0))


def posed(instance: Instance, mixture: Array) -> AverageProblem:
    return average_problem(design_problem(instance.arms, instance.rows, ridge=instance.ridge), mixture)


def seen_from(average: AverageProblem, weights: Array, dtype: type[np.floating] = np.float64) -> Local:
    """In coordinates where A is the identity, by an inverse of A's root."""
    seen = average.evaluate(weights)
    arms = np.linalg.solve(seen.factor, average.problem.arms.written().T).T
    return Local(arms=arms.astype(dtype), roots=seen.roots.astype(dtype), gains=seen.gains)


def on_arms(weights: Array, *, price: float, reduced: Array) -> Iterate:
    return Iterate(primal=weights, dual=reduced, level=1.0, price=price, arms=len(weights))


def somewhere(local: Local, weights: Array) -> Iterate:
    """Positive, and no condition holds."""
    reduced = np.random.default_rng(1).uniform(0.5, 2, len(weights))
    return on_arms(1.1 * weights, price=1.1 * float(local.gains.max()), reduced=reduced)


def test_the_derivatives_are_those_of_the_docstring() -> None:
    instance, weights, mixture = example()
    average, size = posed(instance, mixture), 1e-6
    local = seen_from(average, weights)
    curvature = 2 * (local.roots @ local.roots.T) * (local.arms @ local.arms.T)
    for i, unit in enumerate(np.eye(len(weights))):
        above, below = (average.evaluate(weights + sign * size * unit) for sign in (1, -1))
        assert (above.average - below.average) / (2 * size) == pytest.approx(-local.gains[i], rel=1e-5)
        np.testing.assert_allclose((above.gains - below.gains) / (2 * size), -curvature[:, i], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("n", "p"), [(1, 1), (1, 4), (6, 1), (12, 20)])
def test_the_direction_solves_the_whole_system(n: int, p: int) -> None:
    instance, weights, mixture = example(n=n, p=p)
    local = seen_from(posed(instance, mixture), weights)
    here = somewhere(local, weights)
    wanted = np.random.default_rng(2).normal(size=n)
    curvature = 2 * (local.roots @ local.roots.T) * (local.arms @ local.arms.T)
    ones, zeros = np.ones((n, 1)), np.zeros((n, 1))
    # dz - dnu - H dlambda = nu - g - z;  z dlambda + lambda dz = wanted;  sum dlambda = 1 - sum lambda
    matrix = np.block(
        [
            [-curvature, -ones, np.eye(n)],
            [np.diag(here.reduced), zeros, np.diag(here.weights)],
            [ones.T, np.zeros((1, 1)), zeros.T],
        ]
    )
    right = np.concatenate([here.price - local.gains - here.reduced, wanted, [1 - here.weights.sum()]])
    expected = np.linalg.solve(matrix, right)
    found = local.factored(here)(wanted)
    np.testing.assert_allclose([*found.weights, found.price, *found.reduced], expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(5))
def test_a_step_stays_inside_and_lowers_the_products(seed: int, dtype: type[np.floating]) -> None:
    instance, weights, mixture = example(seed=seed)
    local = seen_from(posed(instance, mixture), weights, dtype)
    price = 1.05 * float(local.gains.max())
    here = on_arms(weights, price=price, reduced=price - local.gains)
    there = step(here, local, least=0.0)
    for values in (there.weights, there.reduced):
        assert values.dtype == np.float64
        assert (values > 0).all()
    assert there.weights.sum() == pytest.approx(1, abs=1e-12)
    assert there.weights @ there.reduced < here.weights @ here.reduced


def test_cautious_steps_lead_to_the_centre() -> None:
    """Where lambda o (nu - g) is the same for all arms, and nobody can do better by more than their sum."""
    instance, weights, mixture = example(n=10)
    average, aim = posed(instance, mixture), 1e-3
    local = seen_from(average, weights)
    price = 1.05 * float(local.gains.max())
    here = on_arms(weights, price=price, reduced=price - local.gains)
    for _ in range(40):
        here = cautious(here, seen_from(average, here.weights), aim=aim)
    gains = average.evaluate(here.weights).gains
    np.testing.assert_allclose(here.weights * (here.price - gains), aim, rtol=1e-6)
    optimum = instance.smallest_average(mixture)
    assert optimum <= instance.average(here.weights, mixture) <= optimum + 10 * aim


@pytest.mark.parametrize("take", [lambda *at: step(*at, least=0.0), lambda *at: cautious(*at, aim=0.1)])
def test_a_weight_of_zero_is_an_error(take: object) -> None:
    instance, weights, mixture = example()
    weights[2] = 0
    local = seen_from(posed(instance, mixture), weights)
    with pytest.raises(LinAlgError):
        take(somewhere(local, weights), local)  # type: ignore[operator]
