"""Rules on few of the points: what is chosen is nearly as good as what all points would have given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, Matern

import superlevel as sl
from superlevel import blocks
from superlevel.methods import Method, make
from superlevel.posterior import covariance
from superlevel.records import State
from superlevel.rules import narrowed
from superlevel.rules.chance import Chance
from superlevel.rules.narrowed import Narrowed
from superlevel.rules.sequential import Sequential

SIDE = 40


@pytest.fixture(autouse=True)
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes in proportion: 1,600 points are to a few hundred what a million are to a few thousand."""
    for module in (blocks, covariance, making_module()):
        monkeypatch.setattr(module, "LARGE", 1000)
    monkeypatch.setattr(covariance, "STORED", 0)
    monkeypatch.setattr(covariance, "ROOM", 0)
    monkeypatch.setattr(blocks, "SIZE", 32)
    monkeypatch.setattr(narrowed, "EACH", 60)
    monkeypatch.setattr(narrowed, "SAMPLED", 120)


def making_module() -> Any:
    import importlib

    return importlib.import_module("superlevel.methods.make")


def problem(**fields: Any) -> sl.Problem:
    axis = np.linspace(0, 1, SIDE)
    points = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    given = {"goal": sl.Threshold(0.5), "noise": 0.1, **fields}
    return sl.Problem(sl.Domain(points, kernel=Matern(0.2, nu=1.5)), **given)


def truth(posed: sl.Problem) -> np.ndarray:
    x, y = posed.domain.points.T
    return np.asarray(np.sin(5 * x) + np.cos(4 * y))


def begun(method: Method, count: int = 80) -> State:
    rng = np.random.default_rng(0)
    points = rng.permutation(SIDE * SIDE)[:count]
    values = truth(method.problem)[points] + 0.1 * rng.standard_normal(count)
    state, _ = method.observe(method.init(seed=0), points, values)
    return state


METHODS = ["melk", "truvar", "lse", "straddle", "rmile", "rstraddle", "wmse", "sur", "itl", "max-variance"]


@pytest.mark.parametrize("name", METHODS)
def test_every_rule_chooses_as_many_points_as_it_was_asked_for(name: str) -> None:
    method = make(name, problem(), batch=7)
    assert isinstance(method.rule, Narrowed)
    state = begun(method)
    plan = method.ask(state)
    assert plan.total == 7
    again = method.ask(state)
    np.testing.assert_array_equal(plan.counts, again.counts)
    after = method.ask(state, pending=[plan])
    assert after.total == 7
    assert (after.counts != plan.counts).any()


@pytest.mark.parametrize("rule", ["greedy", "label", "declare", "average", "worst"])
def test_batched_melk_has_its_rules_and_certificates(rule: str) -> None:
    method = make("melk", problem(), batch=7, rule=rule)
    state = begun(method)
    plan = method.ask(state)
    assert plan.total == 7
    assert len(plan.weights) == SIDE * SIDE
    if plan.certificate is not None:
        assert len(plan.certificate.weights) == SIDE * SIDE
        found = method.rule.review(method.view(state, phase=state.phase), plan.certificate)
        assert found is not None
        assert found.lower_bound == pytest.approx(plan.certificate.lower_bound, rel=1e-6)


@pytest.mark.parametrize("name", ["melk", "truvar", "straddle", "lse", "max-variance"])
def test_the_choice_is_nearly_as_good_as_that_among_all_points(name: str) -> None:
    method = make(name, problem(), batch=1)
    rule = method.rule
    assert isinstance(rule, Narrowed)
    assert isinstance(rule.rule, Sequential)
    view = method.view(begun(method), phase=1)
    scores = rule.rule.score.begin(view).scores(view.posterior)
    chosen = int(np.flatnonzero(rule.choose(view).counts)[0])
    assert scores[chosen] >= 0.9 * scores.max()


def test_sums_over_the_sample_stand_for_sums_over_all_points() -> None:
    method = make("melk", problem(), batch=1, rule="greedy")
    rule = method.rule
    assert isinstance(rule, Narrowed)
    assert isinstance(rule.rule, Sequential)
    view = method.view(begun(method), phase=1)
    whole = rule.rule.score.begin(view).scores(view.posterior)
    ratios = []
    for seed in range(20):
        points, small = narrowed._narrowed(method.view(begun(method), phase=1 + seed))
        part = rule.rule.score.begin(small).scores(small.posterior)
        best = np.argsort(-whole[points])[:20]
        ratios.append(part[best] / whole[points][best])
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.05)
    assert np.std(ratios) <= 0.25


def test_chance_is_not_narrowed_and_small_domains_are_not() -> None:
    assert isinstance(make("uniform", problem()).rule, Chance)
    small = sl.Problem(sl.Domain(np.linspace(0, 1, 50), kernel=RBF(0.2)), goal=sl.Threshold(0.5), noise=0.1)
    assert not isinstance(make("melk", small).rule, Narrowed)


@pytest.mark.parametrize(("name", "rule"), [("melk", "declare"), ("truvar", None), ("lse", None)])
def test_a_campaign_declares_nearly_as_much_as_one_that_compares_all_points(
    name: str, rule: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    posed, declared = problem(), []
    for limit in (1000, 10**9):
        monkeypatch.setattr(making_module(), "LARGE", limit)
        method = make(name, posed, batch=10, rule=rule)
        run = sl.simulate(method, sl.oracles.Gaussian(truth(posed), noise=0.1), max_samples=200, seed=0)
        known = run.labels != 0
        assert ((run.labels > 0) != (truth(posed) > 0.5))[known].mean() <= 0.01
        declared.append(known.mean())
    assert isinstance(method.rule, Sequential)
    assert declared[0] >= declared[1] - 0.08


def test_a_fraction_of_the_maximum_on_a_large_domain() -> None:
    posed = problem(goal=sl.FractionOfMax(0.3))
    method = make("lse-imp", posed, batch=10)
    run = sl.simulate(method, sl.oracles.Gaussian(truth(posed), noise=0.1), max_samples=200, seed=0)
    right = truth(posed) > 0.7 * truth(posed).max()
    declared = run.labels != 0
    assert declared.mean() >= 0.5
    assert ((run.labels > 0) != right)[declared].mean() <= 0.01


def test_with_estimated_kernels() -> None:
    axis = np.linspace(0, 1, SIDE)
    points = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    posed = sl.Problem(sl.Domain(points), goal=sl.Threshold(0.5), fit=("kernel", "noise", "mean"))
    method = make("melk", posed, batch=10)
    run = sl.simulate(method, sl.oracles.Gaussian(truth(posed), noise=0.1), max_samples=120, seed=0)
    right = truth(posed) > 0.5
    declared = run.labels != 0
    assert declared.mean() >= 0.3
    assert ((run.labels > 0) != right)[declared].mean() <= 0.02
