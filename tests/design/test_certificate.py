"""The bound proves what it says, at any weights and any mixture, and comes from its definition."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.gaussian_process.kernels import RBF

from superlevel.design import Pairs, Rows, Status, Subset, certify, solve
from superlevel.design.certificate import evaluate
from superlevel.design.problem import design_problem
from superlevel.errors import InputError
from superlevel.features import Features, embed

from .oracle import (
    GRID,
    Instance,
    distributions,
    exact_value,
    kernel_inverse,
    pairs,
    rounding,
    small_instances,
    uniform,
)

EYE = np.eye(3)
THIRD = uniform(3)


@given(st.data(), small_instances())
@settings(deadline=None, max_examples=200)
def test_no_design_is_better_than_any_bound(data: st.DataObject, instance: Instance) -> None:
    weights, other = (data.draw(distributions(len(instance.arms))) for _ in range(2))
    mixture = data.draw(distributions(len(instance.rows)))
    bound = certify(instance.arms, instance.rows, weights, mixture, ridge=instance.ridge)
    slack = rounding(instance)
    assert bound > 0
    assert bound <= instance.value(weights) * (1 + slack)
    assert bound <= instance.value(other) * (1 + slack)
    best = solve(instance.arms, instance.rows, ridge=instance.ridge, rtol=1e-3)
    assert bound <= best.value * (1 + slack)


@pytest.mark.parametrize("ridge", [0, 1e-3, 1.0])
@pytest.mark.parametrize("p", [1, 3, 30])
def test_the_bound_is_its_definition(ridge: float, p: int) -> None:
    """Few targets and many take different roads through M."""
    rng = np.random.default_rng(p)
    instance = Instance(arms=rng.normal(size=(12, 4)), rows=rng.normal(size=(p, 4)), ridge=ridge)
    weights, mixture = rng.dirichlet(np.ones(12)), rng.dirichlet(np.ones(p))
    bound = certify(instance.arms, instance.rows, weights, mixture, ridge=ridge)
    assert bound == pytest.approx(instance.bound(weights, mixture), rel=1e-10)


@pytest.mark.parametrize("length", [1.0, 30.0, 1000.0])
@pytest.mark.parametrize("ridge", [1e-8, 1e-3])
def test_a_bound_holds_without_rounding(length: float, ridge: float) -> None:
    """Targets that only the ridge reaches, and arms so long that it drowns in them: A has condition length^2 / ridge.

    Whatever is claimed, in a status or in digits, must be true of the design that is returned.
    """
    rng = np.random.default_rng(0)
    instance = Instance(arms=length * rng.normal(size=(3, 6)), rows=rng.normal(size=(4, 6)), ridge=ridge)
    design = solve(instance.arms, instance.rows, ridge=ridge, rtol=1e-6)
    true = exact_value(instance, design.weights)
    assert design.lower_bound <= true * (1 + 1e-6)
    if design.status is Status.CERTIFIED:
        assert design.value == pytest.approx(true, rel=1e-6)


def test_many_targets_on_one_line_make_a_singular_moment() -> None:
    arms, rows = np.random.default_rng(0).normal(size=(9, 3)), np.outer(np.arange(1.0, 9.0), [1.0, 2.0, -1.0])
    instance = Instance(arms=arms, rows=rows, ridge=0.1)
    bound = certify(arms, rows, uniform(9), uniform(8), ridge=0.1)
    assert bound == pytest.approx(instance.bound(uniform(9), uniform(8)), rel=1e-10)


@pytest.mark.parametrize("ridge", [0, 0.2])
def test_an_evaluation_holds_what_its_fields_say(ridge: float) -> None:
    rng = np.random.default_rng(1)
    instance = Instance(arms=rng.normal(size=(10, 3)), rows=rng.normal(size=(6, 3)), ridge=ridge)
    weights, mixture = rng.dirichlet(np.ones(10)), rng.dirichlet(np.ones(6))
    seen = evaluate(design_problem(instance.arms, instance.rows, ridge=ridge), weights, np.arange(6), mixture)
    inverse = instance.inverse(weights)
    moment = (instance.rows * mixture[:, None]).T @ instance.rows
    around = inverse @ moment @ inverse
    np.testing.assert_allclose(seen.arms @ seen.arms.T, instance.arms @ inverse @ instance.arms.T)
    np.testing.assert_allclose(seen.arms @ seen.view.rows(np.arange(6)).T, instance.arms @ inverse @ instance.rows.T)
    np.testing.assert_allclose(seen.roots @ seen.roots.T, instance.arms @ around @ instance.arms.T)
    np.testing.assert_allclose(seen.gains, np.diag(instance.arms @ around @ instance.arms.T))
    np.testing.assert_allclose(seen.variances.values, instance.variances(weights))
    assert seen.average == pytest.approx(np.trace(inverse @ moment))
    assert seen.shrinkage == pytest.approx(ridge * np.trace(inverse @ inverse @ moment), abs=1e-12)
    assert seen.value == pytest.approx(instance.value(weights))
    assert seen.gap == seen.value / seen.lower_bound - 1


@pytest.mark.parametrize(
    "targets",
    [None, Subset([0, 2, 5]), Subset(scales=np.arange(1, 9)), Rows(EYE), Pairs(0.3), Pairs(0.3, np.eye(8) > 0)],
    ids=["all", "subset", "scaled", "rows", "pairs", "some-pairs"],
)
@pytest.mark.parametrize("ridge", [0, 0.1])
def test_a_solved_bound_is_recomputed_from_weights_and_dual(targets: Any, ridge: float) -> None:
    arms = np.random.default_rng(2).normal(size=(8, 3))
    design = solve(arms, targets, ridge=ridge, rtol=1e-4)
    assert certify(arms, targets, design.weights, design.dual, ridge=ridge) == pytest.approx(
        design.lower_bound, rel=1e-10
    )
    assert certify(arms, targets, list(design.weights), design.dual, ridge=ridge) == pytest.approx(
        design.lower_bound, rel=1e-10
    )


def test_the_bound_of_truncated_features_holds_for_the_true_kernel() -> None:
    points, ridge = GRID[::9], 0.1
    features, kernel = embed(RBF(0.15), points, tol=0.05), np.asarray(RBF(0.15)(points))
    rng = np.random.default_rng(3)
    best = solve(embed(RBF(0.15), points, tol=1e-10), ridge=ridge, rtol=1e-4)
    others = [best.weights, uniform(len(points)), *rng.dirichlet(np.full(len(points), 0.1), size=5)]
    true = min(float(np.diag(kernel_inverse(kernel, weights, ridge)).max()) for weights in others)
    for mixture in (best.dual, uniform(len(points)), *rng.dirichlet(np.ones(len(points)), size=5)):
        assert certify(features, None, best.weights, mixture, ridge=ridge) <= true


@given(st.data(), st.integers(1, 4), st.sampled_from([0.05, 1.0]), st.sampled_from([None, 0.2, 0.7]))
@settings(deadline=None, max_examples=150)
def test_what_features_miss_is_never_underestimated(
    data: st.DataObject, n: int, ridge: float, epsilon: float | None
) -> None:
    """Features whose missed part is known: further columns, which the certificate sees the squared lengths of."""
    halves = st.integers(-2, 2).map(lambda i: i / 2)
    kept, missed = (data.draw(hnp.arrays(np.float64, (n, 2), elements=halves)) for _ in range(2))
    kept[:, 0] += 3  # no arm may be zero
    missed *= 0.1
    weights = data.draw(distributions(n))
    whole = np.hstack([kept, missed])
    features = Features(array=kept, residuals=np.square(missed).sum(axis=1), pivots=np.arange(0))
    problem = design_problem(features, None if epsilon is None else Pairs(epsilon), ridge=ridge)
    seen = evaluate(problem, weights, np.arange(1), np.ones(1))
    rows = whole if epsilon is None else pairs(whole, epsilon)
    true = Instance(arms=whole, rows=rows, ridge=ridge).value(weights)
    assert seen.value >= true * (1 - 1e-9)
    assert seen.value - seen.truncation <= true * (1 + 1e-9)


def test_what_features_miss_can_be_as_much_as_is_reckoned() -> None:
    """An arm and a target whose missed parts add up: the Cauchy-Schwarz bound is nearly attained."""
    missed, ridge = 1e-3, 1e-2
    whole = np.array([[1.0, missed], [-1.0, missed]])
    features = Features(array=whole[:, :1], residuals=np.full(2, missed**2), pivots=np.arange(0))
    seen = evaluate(design_problem(features, None, ridge=ridge), np.array([1.0, 0.0]), np.arange(1), np.ones(1))
    true = Instance(arms=whole, rows=whole, ridge=ridge).value(np.array([1.0, 0.0]))
    assert true <= seen.value
    assert true - (seen.value - seen.truncation) == pytest.approx(seen.truncation, rel=0.02)


def test_a_design_that_misses_a_target_still_proves_a_bound() -> None:
    """Without a ridge its value is infinite, but the bound holds at every design near it."""
    bound = certify(EYE, None, [1.0, 0.0, 0.0], THIRD, ridge=0)
    assert 0 < bound <= 3


@pytest.mark.parametrize("factor", [1e-3, 7.0])
def test_a_mixture_may_have_any_sum(factor: float) -> None:
    arms = np.random.default_rng(4).normal(size=(6, 2))
    mixture = np.random.default_rng(5).random(6)
    plain = certify(arms, None, uniform(6), mixture, ridge=0.1)
    assert certify(arms, None, uniform(6), factor * mixture, ridge=0.1) == pytest.approx(plain, rel=1e-12)


def test_a_dual_may_be_a_list() -> None:
    """Weights may, and both come out of a file as lists."""
    assert certify(EYE, None, THIRD.tolist(), THIRD.tolist(), ridge=0) == pytest.approx(3)


def test_targets_that_do_not_count_are_left_out_of_a_mixture() -> None:
    mask = np.array([True, False, True])
    masked = certify(EYE, Subset(mask), THIRD, np.array([0.25, 0.5, 0.25]), ridge=0.1)
    assert masked == pytest.approx(certify(EYE, EYE[mask], THIRD, np.array([0.5, 0.5]), ridge=0.1))


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.coo_array, sparse.csc_matrix, np.asarray])
def test_a_dual_of_pairs_may_be_sparse_in_any_format_or_dense(form: Any) -> None:
    arms = np.random.default_rng(6).normal(size=(5, 2))
    mixture = np.random.default_rng(7).dirichlet(np.ones(25))
    bound = certify(arms, Pairs(0.4), uniform(5), form(mixture.reshape(5, 5)), ridge=0.1)
    rows = pairs(arms, 0.4)
    assert bound == pytest.approx(Instance(arms=arms, rows=rows, ridge=0.1).bound(uniform(5), mixture), rel=1e-10)


@pytest.mark.parametrize(
    ("weights", "dual", "sentence"),
    [
        ([0.5, 0.5], THIRD, "weights is of shape (2,): give shape (3,)"),
        ([0.5, 0.5, 0.5], THIRD, "weights is of sum 1.5 and smallest entry 0.5: give a distribution"),
        ([1.5, -0.5, 0.0], THIRD, "weights is of sum 1 and smallest entry -0.5: give a distribution"),
        ([0.0, 0.0, 0.0], THIRD, "weights is of sum 0 and smallest entry 0: give a distribution"),
        ([np.nan, 0.5, 0.5], THIRD, "weights[0] is nan: give finite numbers"),
        (THIRD, uniform(4), "dual is of shape (4,): give shape (3,), as the targets have"),
        (THIRD, EYE, "dual is of shape (3, 3): give shape (3,), as the targets have"),
        (THIRD, np.zeros(3), "dual is zero on every target: give a mixture of targets"),
        (
            THIRD,
            np.array([1.0, -0.5, 0.5]),
            "dual is with a weight of -0.5: give weights that are finite and not negative",
        ),
        (
            THIRD,
            np.array([1.0, np.nan, 0.5]),
            "dual is with a weight of nan: give weights that are finite and not negative",
        ),
        (
            THIRD,
            np.array([1.0, np.inf, 0.5]),
            "dual is with a weight of inf: give weights that are finite and not negative",
        ),
    ],
)
def test_what_is_no_distribution_is_named(weights: Any, dual: Any, sentence: str) -> None:
    with pytest.raises(InputError, match="^" + re.escape(sentence)):
        certify(EYE, None, weights, dual, ridge=0.1)


def test_a_dual_of_pairs_has_the_shape_of_pairs() -> None:
    with pytest.raises(InputError, match=re.escape("dual is of shape (3,): give shape (3, 3), as the targets have")):
        certify(EYE, Pairs(0.5), THIRD, THIRD, ridge=0.1)
