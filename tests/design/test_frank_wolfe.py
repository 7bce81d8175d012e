"""The paper's solver, corrected: its lemma against features, its steps against the plain algorithm."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from superlevel.design import Design, FixedFrankWolfe, FrankWolfe, Pairs, Rows, Status, Subset, certify, solve
from superlevel.design.frank_wolfe import _Lemma
from superlevel.errors import InputError
from superlevel.features import embed

from .oracle import GRID, Array, Instance, kernel_inverse, pairs

RNG = np.random.default_rng(0)
ARMS = RNG.normal(size=(20, 4))
VECTORS = RNG.normal(size=(9, 4))
SCALES = RNG.uniform(0.5, 2, size=20)

KINDS: dict[str, tuple[Any, Array]] = {
    "arms": (None, ARMS),
    "rows": (VECTORS, VECTORS),
    "scaled-rows": (Rows(VECTORS, SCALES[:9]), VECTORS / SCALES[:9, None]),
    "subset": (Subset([1, 4, 7], SCALES), (ARMS / SCALES[:, None])[[1, 4, 7]]),
    "pairs": (Pairs(0.3), pairs(ARMS, 0.3)),
}
kinds = pytest.mark.parametrize(("targets", "rows"), KINDS.values(), ids=KINDS.keys())


@pytest.mark.parametrize("ridge", [1e-3, 0.1, 10])
def test_the_lemma_with_its_inverse_is_the_product_of_features(ridge: float) -> None:
    """phi(x)' A^-1 phi(y), once from the kernel and once from features with phi(x)' phi(y) = k(x, y)."""
    points = GRID[::23]
    features = embed(RBF(0.3), points, tol=1e-14).array
    weights = np.random.default_rng(1).dirichlet(np.full(len(points), 0.2))
    instance = Instance(arms=features, rows=features, ridge=ridge)
    by_features = features @ instance.inverse(weights) @ features.T
    by_kernel = kernel_inverse(np.asarray(RBF(0.3)(points)), weights, ridge)
    np.testing.assert_allclose(by_kernel, by_features, atol=1e-10 / ridge)


@kinds
@pytest.mark.parametrize("ridge", [0.01, 1.0])
def test_the_worst_target_and_the_best_arm_are_found_from_kernel_rows(targets: Any, rows: Array, ridge: float) -> None:
    del targets
    lemma = _Lemma(ARMS, rows, ridge)
    instance = Instance(arms=ARMS, rows=rows, ridge=ridge)
    for support in (1, 3, 3, 20):  # the support grows and shrinks between calls
        weights = np.zeros(20)
        weights[np.random.default_rng(support).permutation(20)[:support]] = 1 / support
        worst, best = lemma.worst_and_best(weights)
        assert worst == instance.variances(weights).argmax()
        across = ARMS @ instance.inverse(weights) @ rows[worst]
        assert best == np.square(across).argmax()


def plainly(arms: Array, rows: Array, ridge: float, etas: Sequence[float]) -> tuple[Array, Array]:
    """The corrected algorithm with A written out: lambda <- (1 - eta) lambda + eta e_j."""
    instance = Instance(arms=arms, rows=rows, ridge=ridge)
    weights, mixture = np.eye(len(arms))[0], np.zeros(len(rows))
    for eta in etas:
        worst = int(instance.variances(weights).argmax())
        best = int(np.square(arms @ instance.inverse(weights) @ rows[worst]).argmax())
        weights = (1 - eta) * weights + eta * np.eye(len(arms))[best]
        mixture = (1 - eta) * mixture + eta * np.eye(len(rows))[worst]
    return weights, mixture / mixture.sum()


@kinds
@pytest.mark.parametrize("step", [1.0, 0.5])
def test_its_steps_are_those_of_the_plain_algorithm(targets: Any, rows: Array, step: float) -> None:
    for iterations in (1, 2, 3, 10, 40):
        design = solve(ARMS, targets, ridge=0.1, method=FrankWolfe(iterations=iterations, step=step))
        weights, mixture = plainly(ARMS, rows, 0.1, [step / (t + 2) for t in range(1, iterations + 1)])
        np.testing.assert_allclose(design.weights, weights, atol=1e-12)
        dual = design.dual.toarray().ravel() if isinstance(targets, Pairs) else design.dual
        np.testing.assert_allclose(dual[dual > 0], mixture[mixture > 0])


@kinds
def test_equal_steps_are_those_of_the_plain_algorithm(targets: Any, rows: Array) -> None:
    for iterations in (1, 2, 3, 10, 40):
        design = solve(ARMS, targets, ridge=0.1, method=FixedFrankWolfe(iterations=iterations, step=0.5))
        weights, _ = plainly(ARMS, rows, 0.1, [0.5] * iterations)
        np.testing.assert_allclose(design.weights, weights, atol=1e-12)
        assert design.value == pytest.approx(Instance(arms=ARMS, rows=rows, ridge=0.1).value(weights), rel=1e-9)


def test_equal_steps_of_one_half_are_the_default_and_leave_half_of_the_weight_on_the_last_arm() -> None:
    design = solve(ARMS, ridge=0.1, method=FixedFrankWolfe())
    assert (design.iterations, FixedFrankWolfe().step) == (2000, 0.5)
    assert design.weights.max() >= 0.5
    assert design.weights.sum() == pytest.approx(1)


@pytest.mark.parametrize("step", [0.0, 1.0, 2.0])
def test_equal_steps_stay_within_the_simplex(step: float) -> None:
    with pytest.raises(InputError, match=r"^step is "):
        FixedFrankWolfe(step=step)


@kinds
@pytest.mark.parametrize("ridge", [1e-3, 0.1])
def test_its_answer_is_honest(targets: Any, rows: Array, ridge: float) -> None:
    design = solve(ARMS, targets, ridge=ridge, rtol=1e-3, method=FrankWolfe(iterations=50))
    instance = Instance(arms=ARMS, rows=rows, ridge=ridge)
    best = solve(ARMS, targets, ridge=ridge, rtol=1e-6)
    assert (design.weights >= 0).all()
    assert design.weights.sum() == pytest.approx(1, abs=1e-12)
    assert len(design.support) <= 51
    assert design.iterations == 50
    assert design.value == pytest.approx(instance.value(design.weights), rel=1e-9)
    assert design.value >= best.lower_bound
    assert design.lower_bound <= best.value
    assert certify(ARMS, targets, design.weights, design.dual, ridge=ridge) == pytest.approx(design.lower_bound)
    assert design.status is (Status.CERTIFIED if design.gap <= 1e-3 else Status.ITERATIONS)


def test_few_steps_visit_few_arms() -> None:
    arms = np.random.default_rng(2).normal(size=(200, 6))
    for iterations in (1, 5, 20):
        design = solve(arms, ridge=0.1, method=FrankWolfe(iterations=iterations))
        assert len(design.support) <= iterations + 1


def test_it_is_certified_when_its_gap_is_small_enough() -> None:
    design = solve(ARMS, ridge=0.1, rtol=1.0, method=FrankWolfe(iterations=300))
    assert design.gap <= 1.0
    assert design.status is Status.CERTIFIED


def test_it_continues_from_another_design() -> None:
    best = solve(ARMS, ridge=0.1, rtol=1e-4)
    design = solve(ARMS, ridge=0.1, method=FrankWolfe(iterations=3, step=1e-6), start=best)
    np.testing.assert_allclose(design.weights, best.weights, atol=1e-5)


def test_a_watcher_sees_its_answer() -> None:
    seen: list[Design] = []
    design = solve(ARMS, ridge=0.1, method=FrankWolfe(iterations=5), watch=seen.append)
    assert [each.value for each in seen] == [design.value]


def test_on_the_papers_grid_it_stays_above_the_optimum() -> None:
    """The subgradient does not lead to the optimum: 1.4 % above it after the paper's 500 steps, ridge 0.1."""
    features = embed(RBF(0.1), GRID, tol=1e-4)
    by_paper = solve(features.array, ridge=0.1, method=FrankWolfe())
    best = solve(features.array, ridge=0.1, rtol=1e-3)
    assert 1.005 < by_paper.value / best.value < 1.03


def test_it_needs_a_ridge() -> None:
    sentence = "ridge is 0: FrankWolfe divides by it: give a ridge > 0 or use InteriorPoint"
    with pytest.raises(InputError, match="^" + re.escape(sentence)):
        solve(ARMS, ridge=0, method=FrankWolfe())


@pytest.mark.parametrize(
    ("options", "field"),
    [({"iterations": 0}, "iterations"), ({"iterations": -1}, "iterations"), ({"step": 0}, "step")]
    + [({"step": step}, "step") for step in (-1.0, 5.0, np.nan)],  # a first step of 5 / 3 would leave the simplex
)
def test_steps_that_lead_nowhere_are_named(options: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError, match=f"^{field} is "):
        solve(ARMS, ridge=0.1, method=FrankWolfe(**options))
