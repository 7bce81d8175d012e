"""A review repeats value and bound of a design, for the largest variance and for an average."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from superlevel import linalg
from superlevel.design import Pairs, Rows, Subset, certify, review, solve
from superlevel.errors import InputError
from superlevel.features import embed

from .oracle import GRID, Array, Instance, pairs, uniform

EYE = np.eye(3)
ARMS = np.random.default_rng(0).normal(size=(12, 4))
VECTORS = np.random.default_rng(1).normal(size=(7, 4))
SCALES = np.random.default_rng(2).uniform(0.5, 2, size=12)
WEIGHTS = np.random.default_rng(3).dirichlet(np.ones(12))

KINDS: dict[str, tuple[Any, Array]] = {
    "arms": (None, ARMS),
    "scaled arms": (Subset(scales=SCALES), ARMS / SCALES[:, None]),
    "rows": (Rows(VECTORS), VECTORS),
    "pairs": (Pairs(0.3), pairs(ARMS, 0.3)),
}
kinds = pytest.mark.parametrize(("targets", "rows"), KINDS.values(), ids=KINDS)


def mixture_for(targets: Any, rows: Array, seed: int) -> Array:
    mixture = np.random.default_rng(seed).dirichlet(np.full(len(rows), 0.3))
    return np.asarray(mixture.reshape(12, 12) if isinstance(targets, Pairs) else mixture)


@kinds
@pytest.mark.parametrize("ridge", [0, 0.1])
def test_value_and_bound_are_their_definitions(targets: Any, rows: Array, ridge: float) -> None:
    instance = Instance(arms=ARMS, rows=rows, ridge=ridge)
    dual = mixture_for(targets, rows, 4)
    found = review(ARMS, targets, WEIGHTS, dual, ridge=ridge)
    assert found.value == pytest.approx(instance.value(WEIGHTS), rel=1e-9)
    assert found.lower_bound == pytest.approx(instance.bound(WEIGHTS, dual.ravel()), rel=1e-9)
    assert certify(ARMS, targets, WEIGHTS, dual, ridge=ridge) == found.lower_bound


@kinds
@pytest.mark.parametrize("ridge", [0, 0.1])
def test_with_a_mixture_both_are_for_its_average(targets: Any, rows: Array, ridge: float) -> None:
    """A dual of another average would prove nothing for this one, and changes nothing."""
    instance = Instance(arms=ARMS, rows=rows, ridge=ridge)
    mixture, other = mixture_for(targets, rows, 5), mixture_for(targets, rows, 6)
    found = review(ARMS, targets, WEIGHTS, other, ridge=ridge, mixture=3 * mixture)
    assert found.value == pytest.approx(instance.average(WEIGHTS, mixture.ravel()), rel=1e-9)
    assert found.lower_bound == pytest.approx(instance.bound(WEIGHTS, mixture.ravel()), rel=1e-9)
    assert review(ARMS, targets, WEIGHTS, mixture, ridge=ridge, mixture=mixture) == pytest.approx(found, rel=1e-12)


@pytest.mark.parametrize("targets", [None, Pairs(0.4)], ids=["arms", "pairs"])
@pytest.mark.parametrize("averaged", [False, True])
def test_a_solved_design_is_reviewed_as_it_was_found(targets: Any, averaged: bool) -> None:
    """With what the features miss in the value, which is not nothing here."""
    points, ridge = GRID[::9], 0.1
    features = embed(RBF(0.15), points, tol=0.02)
    shape = (100, 100) if isinstance(targets, Pairs) else (100,)
    mixture = np.random.default_rng(7).random(shape) if averaged else None
    design = solve(features, targets, ridge=ridge, mixture=mixture)
    found = review(features, targets, design.weights, design.dual, ridge=ridge, mixture=mixture)
    assert design.truncation > 0
    assert found.value == pytest.approx(design.value, rel=1e-9)
    assert found.lower_bound == pytest.approx(design.lower_bound, rel=1e-9)


@pytest.mark.parametrize("mixture", [None, uniform(3)], ids=["largest", "average"])
def test_a_design_that_misses_an_arm_has_no_finite_value_and_proves_a_bound(mixture: Array | None) -> None:
    found = review(EYE, None, [1.0, 0.0, 0.0], uniform(3), ridge=0, mixture=mixture)
    assert found.value == np.inf
    assert 0 < found.lower_bound <= 3


def test_one_factorisation_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[tuple[int, ...]] = []
    cholesky = linalg.cholesky

    def counted(matrix: Array) -> Array:
        taken.append(matrix.shape)
        return cholesky(matrix)

    monkeypatch.setattr(linalg, "cholesky", counted)
    review(ARMS, VECTORS[:2], WEIGHTS, uniform(2), ridge=0.1)  # as many as r targets or fewer: M is not factored
    assert taken == [(4, 4)]


@pytest.mark.parametrize(
    ("dual", "mixture", "sentence"),
    [
        (np.zeros(3), None, "dual is zero on every target: give a mixture of targets"),
        (uniform(4), None, "dual is of shape (4,): give shape (3,), as the targets have"),
        (uniform(3), np.zeros(3), "mixture is zero on every target that counts: give one of them a weight > 0"),
        (uniform(3), uniform(4), "mixture is of shape (4,): give shape (3,), as the targets have"),
    ],
)
def test_what_proves_nothing_is_named(dual: Any, mixture: Any, sentence: str) -> None:
    with pytest.raises(InputError, match="^" + re.escape(sentence)):
        review(EYE, None, uniform(3), dual, ridge=0.1, mixture=mixture)
