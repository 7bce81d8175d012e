"""A design that was chosen earlier proves the same again, without any solver; no other one proves more than is true."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, Matern

import superlevel as sl
from superlevel import design
from superlevel.arrays import Array
from superlevel.posterior.field import Held
from superlevel.records import View
from superlevel.rules import Rule
from superlevel.rules.covariances import AverageCase, SampledWorst
from superlevel.rules.design import WorstCase
from superlevel.rules.worth import worth
from tests.rules.oracle import bare_view, knowing, posing, world
from tests.worlds import proof

N = 24
POINTS = np.linspace(0, 1, N)
COST: Array = np.tile([1.0, 2.0, 3.0], N // 3)
HERE = world("matrix", 1, batch=6, n=N)
UNDECIDED = np.arange(N) % 3 > 0
PAIRS = np.random.default_rng(0).random((N, N)) < 0.3
np.fill_diagonal(PAIRS, False)


def worst(goal: sl.Goal, *, phase: int = 1, **options: Any) -> tuple[Rule, View]:
    problem = sl.Problem(sl.Domain(POINTS, RBF(0.3)), goal=goal, noise=0.1, **options)
    return WorstCase(), bare_view(PAIRS if goal.share else UNDECIDED, problem, phase=phase)


def rough(ridge: float, **options: Any) -> tuple[Rule, View]:
    problem = sl.Problem(sl.Domain(POINTS, Matern(0.1, nu=0.5)), goal=sl.Threshold(0.0), noise=0.2)
    return SampledWorst(ridge=ridge, rtol=0.01, **options), bare_view(UNDECIDED, problem)


CASES: dict[str, tuple[Rule, View]] = {
    "points": worst(sl.Threshold(0.0)),
    "later": worst(sl.Threshold(0.0), phase=7),
    "given ridge": worst(sl.Threshold(0.0), ridge=0.02, phase=7),
    "costs": worst(sl.Threshold(0.0), cost=COST),
    "pairs": worst(sl.FractionOfMax(0.2)),
    "average": (AverageCase(), HERE.view),
    "average, pending": (AverageCase(), replace(HERE.view, pending=np.array([3, 3, 9]))),
    "average, costs": (AverageCase(), posing(HERE.view, cost=COST)),
    "rough": rough(0.05),
    "rough, costs": rough(0.1, worth=worth(0.2, COST, N)),
}
each = pytest.mark.parametrize(("rule", "view"), CASES.values(), ids=CASES)


def reviewed(rule: Rule, view: View, found: design.Design) -> design.Review:
    made = rule.review(view, found)
    assert made is not None
    return made


def refuse(*_: Any, **__: Any) -> Any:
    raise AssertionError("a solver was called")


@each
def test_a_design_proves_the_same_again_without_a_solver(
    rule: Rule, view: View, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = proof(rule.choose(view))
    monkeypatch.setattr(design, "solve", refuse)
    monkeypatch.setattr(type(rule), "choose", refuse)
    value, lower_bound = reviewed(rule, view, found)
    assert lower_bound == pytest.approx(found.lower_bound, rel=1e-9)
    assert value + found.truncation >= found.value * (1 - 1e-9)
    assert found.lower_bound <= value <= found.value * (1 + 1e-9)


@each
def test_no_design_and_no_mixture_prove_more_than_the_best_value(rule: Rule, view: View) -> None:
    found = proof(rule.choose(view))
    rng = np.random.default_rng(0)
    dense = found.dual.toarray() if not isinstance(found.dual, np.ndarray) else found.dual
    allowed = np.flatnonzero(dense.ravel() > 0) if dense.ndim == 1 else np.flatnonzero(PAIRS)
    for _ in range(10):
        weights: Array = found.weights * rng.gamma(1.0, size=N) + 1e-9 * (found.weights > 0)
        dual = np.zeros(dense.size)
        dual[allowed] = rng.gamma(0.5, size=len(allowed))
        forged = replace(found, weights=weights / weights.sum(), dual=(dual / dual.sum()).reshape(dense.shape))
        assert reviewed(rule, view, forged).lower_bound <= found.value * (1 + 1e-9)


@each
def test_what_is_seen_decides_what_is_proved(rule: Rule, view: View) -> None:
    """The bound is recomputed for the view, and not for what the design says of itself."""
    found = proof(rule.choose(view))
    boast = replace(found, value=found.value * 2, lower_bound=found.lower_bound * 2)
    assert reviewed(rule, view, boast) == reviewed(rule, view, found)


@pytest.mark.parametrize("at", [0, 11])
def test_the_mixture_of_an_average_is_the_views_own(at: int) -> None:
    rule, view = CASES["average"]
    found = proof(rule.choose(view))
    alone = np.zeros(N)
    alone[at] = 1.0
    assert reviewed(rule, view, replace(found, dual=alone)) == reviewed(rule, view, found)


def test_a_sample_of_many_points_is_the_same_sample_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("superlevel.rules.covariances.CANDIDATES", 8)
    for name in ("average", "average, costs", "rough"):
        rule, view = CASES[name]
        found = proof(rule.choose(view))
        assert reviewed(rule, view, found).lower_bound == pytest.approx(found.lower_bound, rel=1e-9)


def test_where_nothing_is_left_to_learn_nothing_is_proved() -> None:
    rule, view = CASES["average"]
    found = proof(rule.choose(view))
    known = replace(view.posterior, field=Held(mean=view.posterior.mean, variance=np.zeros(N)))
    assert reviewed(rule, knowing(view, posterior=known), found) == (0.0, 0.0)


@pytest.mark.parametrize("weights", [np.full(N, 0.5), np.full(N, -1 / N), np.ones(3) / 3], ids=["sum", "sign", "shape"])
@each
def test_what_is_no_design_is_refused(rule: Rule, view: View, weights: Array) -> None:
    found = replace(proof(rule.choose(view)), weights=weights)
    with pytest.raises((sl.InputError, IndexError)):
        rule.review(view, found)
