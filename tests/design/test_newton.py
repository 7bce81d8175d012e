"""Newton's step: its derivatives against differences, its direction against the whole linear system."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.linalg import LinAlgError

from superlevel.design.certificate import Evaluation, evaluate
from superlevel.design.newton import Iterate, LocalTargets, joined, step
from superlevel.design.problem import design_problem

from .oracle import Array, Instance


def example(*, n: int = 7, r: int = 3, p: int = 5, ridge: float = 0.1, seed: int = 0) -> tuple[Instance, Array, Array]:
    rng = np.random.default_rng(seed)
    instance = Instance(arms=rng.normal(size=(n, r)), rows=rng.normal(size=(p, r)), ridge=ridge)
    return instance, rng.dirichlet(np.full(n, 3.0)), rng.dirichlet(np.full(p, 3.0))


def look(instance: Instance, weights: Array, mixture: Array) -> Evaluation:
    problem = design_problem(instance.arms, instance.rows, ridge=instance.ridge)
    return evaluate(problem, weights, np.arange(len(instance.rows)), mixture)


def seen_from(seen: Evaluation, positions: int, dtype: type[np.floating] = np.float64) -> LocalTargets:
    targets = seen.view.rows(np.arange(positions))
    return LocalTargets(
        arms=seen.arms.astype(dtype),
        targets=targets.astype(dtype),
        roots=seen.roots.astype(dtype),
        variances=(targets**2).sum(axis=1),
        gains=seen.gains,
    )


def somewhere(local: LocalTargets, weights: Array, mixture: Array, *, seed: int = 1) -> Iterate:
    """An iterate whose slacks are positive and do not fit: every residual of the conditions is nonzero."""
    rng = np.random.default_rng(seed)
    return joined(
        weights=1.1 * weights,
        mixture=0.9 * mixture,
        level=1.2 * float(local.variances.max()),
        price=1.1 * float(local.gains.max()),
        slack=rng.uniform(0.5, 2, len(mixture)),
        reduced=rng.uniform(0.5, 2, len(weights)),
    )


def centred(local: LocalTargets, weights: Array, mixture: Array) -> Iterate:
    """An iterate whose slacks fit."""
    level, price = 1.05 * float(local.variances.max()), 1.05 * float(local.gains.max())
    slack, reduced = level - local.variances, price - local.gains
    return joined(weights=weights, mixture=mixture, level=level, price=price, slack=slack, reduced=reduced)


def derivatives(local: LocalTargets) -> tuple[Array, Array]:
    """C o C and H as the module's docstring has them."""
    squares = (local.arms @ local.targets.T) ** 2
    return squares, 2 * (local.roots @ local.roots.T) * (local.arms @ local.arms.T)


# ------------------------------------------------------------------------------------- derivatives


@pytest.mark.parametrize("ridge", [0, 0.1, 10])
@pytest.mark.parametrize("p", [2, 5, 40])
def test_the_derivatives_are_those_of_the_docstring(ridge: float, p: int) -> None:
    """Central differences of s and g, which plain numpy computes from lambda."""
    instance, weights, mixture = example(p=p, ridge=ridge)
    squares, curvature = derivatives(seen_from(look(instance, weights, mixture), p))
    moment = (instance.rows * mixture[:, None]).T @ instance.rows

    def gains(at: Array) -> Array:
        inverse = instance.inverse(at)
        return np.asarray(np.einsum("ij,jk,ik->i", instance.arms, inverse @ moment @ inverse, instance.arms))

    size = 1e-6
    for i, unit in enumerate(np.eye(len(weights))):
        above, below = weights + size * unit, weights - size * unit
        ds = (instance.variances(above) - instance.variances(below)) / (2 * size)
        dg = (gains(above) - gains(below)) / (2 * size)
        np.testing.assert_allclose(ds, -squares[i], rtol=1e-5, atol=1e-7 * squares.max())
        np.testing.assert_allclose(dg, -curvature[:, i], rtol=1e-5, atol=1e-7 * np.abs(curvature).max())


# --------------------------------------------------------------------------------------- direction


def whole_system(here: Iterate, local: LocalTargets, wanted: tuple[Array, Array]) -> dict[str, Array]:
    """Newton's equations for all six unknowns at once, without elimination."""
    squares, curvature = derivatives(local)
    m, p = squares.shape
    at = np.cumsum([0, m, p, 1, 1, p, m])  # d lambda, d w, d t, d nu, d u, d z
    lam, w, t, nu, u, z = (slice(*ends) for ends in pairwise(at))
    matrix, right = np.zeros((at[-1], at[-1])), np.zeros(at[-1])
    # u = t - s, with ds = -C2' d lambda
    rows = slice(0, p)
    matrix[rows, u], matrix[rows, t], matrix[rows, lam] = np.eye(p), -1, -squares.T
    right[rows] = here.level - local.variances - here.slack
    # z = nu - g, with dg = C2 dw - H d lambda
    rows = slice(p, p + m)
    matrix[rows, z], matrix[rows, nu], matrix[rows, w], matrix[rows, lam] = np.eye(m), -1, squares, -curvature
    right[rows] = here.price - local.gains - here.reduced
    # the products
    rows = slice(p + m, 2 * p + m)
    matrix[rows, w], matrix[rows, u] = np.diag(here.slack), np.diag(here.mixture)
    right[rows] = wanted[0]
    rows = slice(2 * p + m, 2 * p + 2 * m)
    matrix[rows, lam], matrix[rows, z] = np.diag(here.reduced), np.diag(here.weights)
    right[rows] = wanted[1]
    # the sums
    matrix[-2, lam], right[-2] = 1, 1 - here.weights.sum()
    matrix[-1, w], right[-1] = 1, 1 - here.mixture.sum()
    found = np.linalg.solve(matrix, right)
    names = {"weights": lam, "mixture": w, "level": t, "price": nu, "slack": u, "reduced": z}
    return {name: found[where] for name, where in names.items()}


@pytest.mark.parametrize(("n", "p"), [(1, 1), (1, 4), (6, 1), (7, 5), (12, 20)])
def test_the_direction_solves_the_whole_system(n: int, p: int) -> None:
    instance, weights, mixture = example(n=n, p=p)
    local = seen_from(look(instance, weights, mixture), p)
    here = somewhere(local, weights, mixture)
    rng = np.random.default_rng(2)
    direction = local.factored(here)
    for _ in range(2):  # one factorisation serves every right side
        wanted = rng.normal(size=p), rng.normal(size=n)
        found = direction(np.concatenate(wanted[::-1]))  # arms first
        for name, expected in whole_system(here, local, wanted).items():
            np.testing.assert_allclose(getattr(found, name), expected if expected.size > 1 else expected[0], rtol=1e-8)


def test_arms_that_are_the_targets_take_a_shorter_road_to_the_same_direction() -> None:
    rng = np.random.default_rng(3)
    arms = rng.normal(size=(8, 3))
    weights, mixture = rng.dirichlet(np.ones(8)), rng.dirichlet(np.ones(8))
    local = seen_from(look(Instance(arms=arms, rows=arms, ridge=0.1), weights, mixture), 8)
    here = somewhere(local, weights, mixture)
    wanted = rng.normal(size=16)
    plain, shared = local.factored(here)(wanted), replace(local, targets=local.arms).factored(here)(wanted)
    for name in ("weights", "mixture", "level", "price", "slack", "reduced"):
        np.testing.assert_allclose(getattr(shared, name), getattr(plain, name), rtol=1e-9)


def test_single_precision_gives_nearly_the_same_direction() -> None:
    instance, weights, mixture = example()
    seen = look(instance, weights, mixture)
    local = seen_from(seen, 5)
    here = somewhere(local, weights, mixture)
    wanted = -here.primal * here.dual
    double, single = local.factored(here)(wanted), seen_from(seen, 5, np.float32).factored(here)(wanted)
    for name in ("weights", "mixture", "level", "price", "slack", "reduced"):
        assert np.asarray(getattr(single, name)).dtype == np.float64
        np.testing.assert_allclose(getattr(single, name), getattr(double, name), rtol=1e-3, atol=1e-4)


# -------------------------------------------------------------------------------------------- steps


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(5))
def test_a_step_stays_inside_and_lowers_the_products(seed: int, dtype: type[np.floating]) -> None:
    instance, weights, mixture = example(seed=seed)
    local = seen_from(look(instance, weights, mixture), 5, dtype)
    here = centred(local, weights, mixture)
    there = step(here, local, least=0.0)
    for values in (there.weights, there.mixture, there.slack, there.reduced):
        assert values.dtype == np.float64
        assert (values > 0).all()
    assert there.weights.sum() == pytest.approx(1, abs=1e-12)
    assert there.mixture.sum() == pytest.approx(1, abs=1e-12)
    before = here.mixture @ here.slack + here.weights @ here.reduced
    assert there.mixture @ there.slack + there.weights @ there.reduced < before


def test_steps_lead_to_the_optimum() -> None:
    """Nothing but steps, from the uniform design, against a cone solver."""
    instance, _, _ = example(n=10, p=6, seed=4)
    weights, mixture = np.full(10, 0.1), np.full(6, 1 / 6)
    local = seen_from(look(instance, weights, mixture), 6)
    here = centred(local, weights, mixture)
    for _ in range(30):
        seen = look(instance, here.weights, here.mixture)
        if seen.gap < 1e-7:
            break
        here = step(here, seen_from(seen, 6), least=0.05 * seen.gap * seen.average)
    optimum = instance.optimum()
    assert instance.value(here.weights) == pytest.approx(optimum, rel=1e-6)
    assert instance.bound(here.weights, here.mixture) == pytest.approx(optimum, rel=1e-6)


def test_a_weight_of_zero_is_an_error() -> None:
    """Its slack over it is infinite: no direction leads anywhere."""
    instance, weights, mixture = example()
    weights[2] = 0
    local = seen_from(look(instance, weights, mixture), 5)
    here = somewhere(local, weights, mixture)
    with pytest.raises(LinAlgError):
        step(here, local, least=0.0)
