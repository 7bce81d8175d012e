"""Checks: one measurement in ten, at a random place where the model is sure."""

from __future__ import annotations

import numpy as np
import pytest

import superlevel as sl
from superlevel.methods import Method
from superlevel.records import State, View
from superlevel.rules.checked import INTERVAL, SURE, Checked, checks
from superlevel.rules.pilot import Piloted
from superlevel.sizes import Growing

PLACES = np.random.default_rng(0).random((300, 2))
WAVE = np.sin(5.0 * PLACES[:, 0]) + PLACES[:, 1]
OPEN = ("kernel", "noise", "mean")


def told(
    steps: int, *, goal: sl.goals.Goal | None = None, name: str = "melk", **options: object
) -> tuple[Method, State]:
    """A campaign after some batches."""
    problem = sl.Problem(sl.Domain(PLACES), goal=sl.Threshold(0.8) if goal is None else goal, fit=OPEN)
    method = sl.methods.make(name, problem, **{"batch": 10, **options})  # type: ignore[arg-type]
    state = method.init()
    for _ in range(steps):
        plan = method.ask(state)
        noise = np.random.default_rng([state.phase, 1]).standard_normal(plan.total)
        state, _ = method.tell(state, plan, WAVE[plan.indices] + 0.05 * noise)
    return method, state


def view_of(method: Method, state: State, count: int = 10, phase: int | None = None) -> View:
    return method.view(state, phase=state.phase if phase is None else phase, sizes=Growing(first=count))


def test_an_open_kernel_is_checked_and_a_given_one_is_not() -> None:
    method, _ = told(0)
    assert isinstance(method.rule, Piloted)
    assert isinstance(method.rule.rule, Checked)
    given = sl.methods.make("melk", sl.Problem(sl.Domain(PLACES), goal=sl.Threshold(0.8)))
    assert isinstance(given.rule, Piloted)
    assert not isinstance(given.rule.rule, Checked)


@pytest.mark.parametrize("count", [1, 3, 10, 25, 40])
def test_one_measurement_in_ten_is_a_check(count: int) -> None:
    method, state = told(3)
    begun = state.samples
    found = checks(view_of(method, state, count))
    assert len(found) == (begun + count) // INTERVAL - begun // INTERVAL
    choice = method.rule.choose(view_of(method, state, count))
    assert int(choice.counts.sum()) == count
    np.testing.assert_array_equal(choice.checks, found)
    assert choice.weights.sum() == pytest.approx(1.0)


def test_checks_are_new_places_where_the_model_is_sure() -> None:
    method, state = told(4)
    view = view_of(method, state, 200)
    found = checks(view)
    assert len(found) == 20
    assert not view.begun[found].any()
    model = view.belief.model
    far = np.abs(model.centre - view.goal.levels[0]) > SURE * model.spread
    assert far[found].all()
    candidates = np.flatnonzero(far & (view.begun == 0))
    drawn = np.concatenate([checks(view_of(method, state, 50, k)) for k in range(1000)])
    hits = np.bincount(drawn, minlength=300)
    assert set(np.flatnonzero(hits)) == set(candidates)
    expected = 5000 / len(candidates)  # each place equally often
    assert np.abs(hits[candidates] - expected).max() < 5 * np.sqrt(expected)


def test_the_rule_is_told_of_the_checks_and_chooses_the_rest() -> None:
    method, state = told(3)
    view = view_of(method, state)
    choice = method.rule.choose(view)
    rest = choice.counts.copy()
    rest[choice.checks] -= 1
    inner = method.rule.rule.rule  # type: ignore[attr-defined]
    smaller = method.view(state, phase=state.phase, pending=choice.checks, sizes=Growing(first=9))
    np.testing.assert_array_equal(inner.choose(smaller).counts, rest)
    np.testing.assert_array_equal(method.rule.choose(view).counts, choice.counts)


def test_a_batch_of_one_is_a_check_every_tenth_time() -> None:
    method, state = told(0, name="lse", batch=1)
    found = []
    while state.samples < 42:
        choice = method.choose(state, method.view(state, phase=state.phase))
        found.append(len(choice.checks))
        plan = method.planned(state, choice)
        state, _ = method.tell(state, plan, WAVE[plan.indices])
    assert sum(found) == 2  # the pilot of 20 has none


@pytest.mark.parametrize("rule", ["average", "worst"])
def test_designs_keep_their_certificates(rule: str) -> None:
    method, state = told(3, rule=rule)
    choice = method.rule.choose(view_of(method, state))
    assert choice.certificate is not None
    assert len(choice.checks) == 1
    found = method.rule.review(view_of(method, state), choice.certificate)
    assert found is not None
    assert found.value == pytest.approx(choice.certificate.value, rel=1e-6)
    assert found.lower_bound == pytest.approx(choice.certificate.lower_bound, rel=1e-6)


@pytest.mark.parametrize("goal", [sl.FractionOfMax(0.3), sl.Band(0.5, 0.9), sl.Levels([0.5, 0.9])])
def test_every_goal_can_be_checked(goal: sl.goals.Goal) -> None:
    method, state = told(4, goal=goal)
    assert len(checks(view_of(method, state))) <= 1
    assert method.ask(state).total == 10


def test_where_nothing_is_sure_and_new_there_is_no_check() -> None:
    method, state = told(3)
    everything = np.arange(300)
    view = method.view(state, phase=state.phase, pending=everything, sizes=Growing(first=10))
    assert len(checks(view)) == 0
    assert int(method.rule.choose(view).counts.sum()) == 10
