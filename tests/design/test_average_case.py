"""The solver for a fixed mixture: active sets of arms, starts, and optima that are hard to reach."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from superlevel.design import Design, FrankWolfe, InteriorPoint, Pairs, Status, active_set, inner, solve

from .oracle import Array

ARMS = np.random.default_rng(0).normal(size=(25, 4))
VECTORS = np.random.default_rng(1).normal(size=(9, 4))
MIXTURE = np.random.default_rng(3).dirichlet(np.full(9, 0.3))


def normal(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).normal(size=shape)


@pytest.mark.parametrize("seed", [243, 1122, 2436])  # one in a hundred needs cautious steps, and these do
def test_singular_optima_are_reached_too(seed: int) -> None:
    """One target that few arms reach best, Elfving's value: A is nearly singular there, and g a wild function of it."""
    arms, vector = normal(seed, 9, 3), normal(seed + 10_000, 1, 3)
    triples = combinations(range(9), 3)
    lengths = [np.abs(np.linalg.solve(arms[list(three)].T, vector[0])).sum() for three in triples]
    design = solve(arms, vector, ridge=0, mixture=[1.0], rtol=1e-5)
    assert design.status is Status.CERTIFIED
    assert design.value == pytest.approx(min(lengths) ** 2, rel=1.1e-5)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thresholds at which 300 arms are many."""
    for name, value in {"SMALL": 12, "ARMS": 3, "TARGETS": 3}.items():
        monkeypatch.setattr(active_set, name, value)


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("ridge", [0, 1e-3, 0.5])
@pytest.mark.parametrize("count", [1, 3, 300])
def test_generated_arms_lead_to_the_same_optimum(ridge: float, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    arms = normal(7, 300, 5)
    mixture = np.where(np.arange(300) < count, 1.0, 0.0)
    generated = solve(arms, ridge=ridge, mixture=mixture, rtol=1e-4)
    assert generated.evaluations < generated.iterations
    assert len(generated.support) < 150
    changed = solve(arms, ridge=ridge, mixture=mixture[::-1], start=generated, rtol=1e-4)
    back = solve(arms, ridge=ridge, mixture=mixture, start=changed, rtol=1e-4)
    monkeypatch.setattr(active_set, "SMALL", 10**6)
    everything = solve(arms, ridge=ridge, mixture=mixture, rtol=1e-4)
    for design in (generated, back, everything):
        assert design.status is Status.CERTIFIED
        assert design.value == pytest.approx(everything.value, rel=1.1e-4)


@pytest.mark.parametrize("ridge", [0, 0.01])
def test_any_design_is_a_start(ridge: float) -> None:
    """The worst case's, its own answer, and one arm, or as few as can be."""
    cold = solve(ARMS, VECTORS, ridge=ridge, mixture=MIXTURE)
    worst = solve(ARMS, Pairs(0.2), ridge=ridge)
    few = solve(ARMS, ridge=0.01, method=FrankWolfe(4), rtol=1)
    for start in (worst, cold, few):
        design = solve(ARMS, VECTORS, ridge=ridge, mixture=MIXTURE, start=start)
        assert design.status is Status.CERTIFIED
        assert design.value == pytest.approx(cold.value, rel=0.01)


def test_a_watcher_sees_the_way_and_too_few_steps_are_admitted() -> None:
    seen: list[Design] = []
    design = solve(
        ARMS, ridge=0.01, mixture=np.ones(25), method=InteriorPoint(max_iter=1), rtol=1e-9, watch=seen.append
    )
    assert design.status is Status.ITERATIONS
    assert design.iterations == 1
    assert seen[-1].value == design.value


@pytest.mark.parametrize("ridge", [0, 0.01])
@pytest.mark.parametrize("count", [1, 25])
def test_cautious_steps_alone_lead_to_the_same_optimum(
    ridge: float, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    mixture = np.where(np.arange(25) < count, 1.0, 0.0)
    usual = solve(ARMS, ridge=ridge, mixture=mixture, rtol=1e-6)
    monkeypatch.setattr(inner, "PATIENCE", -1)
    slow = solve(ARMS, ridge=ridge, mixture=mixture, rtol=1e-6)
    assert slow.status is usual.status is Status.CERTIFIED
    assert slow.value == pytest.approx(usual.value, rel=1.1e-6)
