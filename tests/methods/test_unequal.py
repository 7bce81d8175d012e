"""Points that differ in the noise or the cost of a measurement."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel.arrays import Array
from superlevel.errors import InputError
from superlevel.goals import FractionOfMax, Threshold
from tests.methods.cases import IN_BATCHES, NOISE, TRUTH, Case, N, X, each, measured

FIRST = np.arange(2 * N) < N
"""Every place twice: once cheap or precise, once not."""


@each(IN_BATCHES)
def test_equal_noises_and_costs_give_the_plans_of_one_noise_and_no_cost(case: Case) -> None:
    plain = case.make(batch=5)
    listed = case.make(problem=case.problem(noise=np.full(N, NOISE), cost=np.full(N, 4.0)), batch=5)
    state, other = plain.init(), listed.init()
    for _ in range(3):
        plan, same = plain.ask(state), listed.ask(other)
        np.testing.assert_array_equal(plan.counts, same.counts)
        np.testing.assert_array_equal(plan.weights, same.weights)
        state, _ = plain.tell(state, plan, measured(plan))
        other, _ = listed.tell(other, same, measured(plan))
    np.testing.assert_array_equal(state.labels, other.labels)


def share_of_the_first(name: str, problem: sl.Problem, **options: Any) -> float:
    """Of the measurements of three batches."""
    method = sl.methods.make(name, problem, batch=10, **options)
    state, counts = method.init(), np.zeros(2 * N)
    for _ in range(3):
        plan = method.ask(state)
        counts += plan.counts
        state, _ = method.tell(state, plan, np.tile(TRUTH, 2)[plan.indices])
    return float(counts[FIRST].sum() / counts.sum())


UNEQUAL = [
    pytest.param(np.where(FIRST, 0.05, 0.3), 1.0, id="noise"),
    pytest.param(0.1, np.where(FIRST, 1.0, 8.0), id="cost"),
    pytest.param(np.where(FIRST, 0.05, 0.2), np.where(FIRST, 1.0, 3.0), id="both"),
]
MINDFUL = [
    ("truvar", Threshold(0.23), {}),
    ("truvar", FractionOfMax(0.3), {}),
    ("melk", Threshold(0.23), {"rule": "worst"}),
    ("melk", Threshold(0.23), {"rule": "average"}),
    ("melk", Threshold(0.23), {"rule": "greedy"}),
    ("milk", FractionOfMax(0.3), {"rule": "average"}),
    ("milk", FractionOfMax(0.3), {"rule": "greedy"}),
]


@pytest.mark.parametrize(("noise", "cost"), UNEQUAL)
@pytest.mark.parametrize(("name", "goal", "options"), MINDFUL)
def test_measurements_go_where_they_are_cheap_and_precise(
    name: str, goal: sl.Goal, options: dict[str, Any], noise: float | Array, cost: float | Array
) -> None:
    problem = sl.Problem(sl.Domain(np.tile(X, 2), RBF(0.2)), goal=goal, noise=noise, cost=cost)
    assert share_of_the_first(name, problem, **options) > 0.9


@pytest.mark.parametrize(("name", "goal", "options"), MINDFUL)
def test_costs_count_where_nothing_has_noise(name: str, goal: sl.Goal, options: dict[str, Any]) -> None:
    problem = sl.Problem(sl.Domain(np.tile(X, 2), RBF(0.05)), goal=goal, noise=0.0, cost=np.where(FIRST, 1.0, 8.0))
    method = sl.methods.make(name, problem, batch=10, **options)
    plan = method.ask(method.init())
    assert plan.counts[FIRST].sum() > 8


@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize(("name", "goal", "options"), MINDFUL)
def test_only_the_ratios_of_costs_matter(name: str, goal: sl.Goal, options: dict[str, Any], scale: float) -> None:
    cost = np.random.default_rng(0).uniform(1, 5, N)
    plans = []
    for costs in (cost, scale * cost):
        problem = sl.Problem(sl.Domain(X, RBF(0.2)), goal=goal, noise=0.1, cost=costs)
        method = sl.methods.make(name, problem, batch=10, **options)
        plans.append(method.ask(method.init()))
    np.testing.assert_allclose(plans[0].weights, plans[1].weights, atol=1e-6)


def test_a_design_of_pairs_refuses_what_it_cannot_weigh() -> None:
    problem = sl.Problem(sl.Domain(X), goal=sl.FractionOfMax(0.3), noise=0.1, cost=np.linspace(1, 2, len(X)))
    with pytest.raises(InputError, match="rule is 'worst' with unequal noise or cost for the design of pairs"):
        sl.methods.make("milk", problem, rule="worst")
    unknown = replace(problem, noise=None)
    with pytest.raises(InputError, match="rule is 'worst' with unequal noise or cost for the design of pairs"):
        sl.methods.make("milk", unknown, rule="worst")


def test_a_ridge_of_zero_is_refused_before_anything_is_asked() -> None:
    problem = sl.Problem(sl.Domain(X), goal=sl.Threshold(0.3), noise=0.1, ridge=0.0)
    with pytest.raises(InputError, match=r"problem\.ridge is 0"):
        sl.methods.make("melk", problem, rule="worst")


def test_the_average_design_is_the_best_for_the_money_that_it_spends() -> None:
    """Precise and dear on the left, coarse and cheap on the right: the ridge is that of what the money buys."""
    places = np.concatenate([np.linspace(0, 1, 10), np.linspace(0, 1, 10)])
    noise, cost = np.repeat([0.01, 1.0], 10), np.repeat([100.0, 0.001], 10)
    problem = sl.Problem(sl.Domain(places, RBF(0.3)), goal=sl.Threshold(0.0), noise=noise, cost=cost)
    method = sl.methods.make("melk", problem, batch=10, rule="average")
    plan = method.ask(method.init())
    assert plan.certificate is not None
    assert plan.weights[10:].sum() > 0.99
    used = np.flatnonzero(plan.weights > 1e-9)
    prior = problem.domain.gram(np.arange(20))
    noisy = prior[np.ix_(used, used)] + np.diag(noise[used] ** 2 / (10 * plan.weights[used]))
    left = np.diag(prior) - np.einsum("ux,ux->x", prior[used], np.linalg.solve(noisy, prior[used]))
    # the certificate's variances are those that ten measurements of the cheap half leave, over sigma^2 / 10
    assert plan.certificate.value * (1.0 / 10) == pytest.approx(left.mean(), rel=0.03)
