"""The loop without plans: what is observed counts the same as what is told, whoever planned it."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel.errors import AssumptionWarning, InputError
from superlevel.sizes import Growing
from tests.methods.cases import CASES, IN_BATCHES, NOISE, TRUTH, Case, after, each, gaussian, known, measured

N = len(TRUTH)
ROUNDS = [case for case in CASES if case.in_rounds]
POINTS = np.random.default_rng(0).integers(N, size=30)
VALUES = TRUTH[POINTS] + NOISE * np.random.default_rng(1).standard_normal(30)


@each(IN_BATCHES)
def test_what_is_observed_counts_the_same_as_what_is_told(case: Case) -> None:
    method = case.make(batch=8)
    state = method.init(seed=3)
    plan = method.ask(state)
    values = measured(plan)
    told, first = method.tell(state, plan, values)
    seen, second = method.observe(state, plan.indices, values)
    np.testing.assert_array_equal(known(told), known(seen))
    if case.confidence != "ridge":
        np.testing.assert_array_equal(told.labels, seen.labels)
        np.testing.assert_array_equal(told.undecided, seen.undecided)
        np.testing.assert_array_equal(first.bounds.lower, second.bounds.lower)
        np.testing.assert_array_equal(first.bounds.upper, second.bounds.upper)
    else:  # a plan that is told as a whole says more than the ellipsoids do, each kind with a half of delta
        half = case.make(batch=8, confidence=sl.Ridge(growth=1.0, shares=(0.5, 0.0)))
        _, less = half.observe(half.init(seed=3), plan.indices, values)
        assert (first.bounds.lower >= less.bounds.lower).all()
        assert (first.bounds.upper <= less.bounds.upper).all()
    assert (told.samples, told.phase, told.stop) == (seen.samples, seen.phase, seen.stop)
    assert (seen.told, second.precision, second.samples) == (frozenset(), None, 8)


@each([case for case in IN_BATCHES if case.confidence == "ridge"])
def test_where_nobody_planned_the_first_batch_the_ellipsoids_have_all_of_delta(case: Case) -> None:
    method = case.make(batch=8)
    start = method.init(seed=3)
    plan = method.ask(start)
    values = measured(plan)
    seen, _ = method.observe(start, plan.indices, values)
    alone = case.make(batch=8, confidence=sl.Ridge(growth=1.0, shares=(1.0, 0.0)))
    same = alone.ask(alone.init(seed=3))
    told, _ = alone.tell(alone.init(seed=3), same, values)
    np.testing.assert_array_equal(same.counts, plan.counts)
    for one, other in ((seen.intervals.lower, told.intervals.lower), (seen.intervals.upper, told.intervals.upper)):
        np.testing.assert_array_equal(one, other)
    assert seen.belief.sources == ("ellipsoids",) * N
    later, _ = method.tell(seen, method.ask(seen), measured(method.ask(seen)))
    assert later.belief.sources == ("ellipsoids",) * N


@each(IN_BATCHES)
def test_a_memoryless_method_knows_the_same_by_any_road(case: Case) -> None:
    method = case.make()
    start = method.init()
    at_once, _ = method.observe(start, POINTS, VALUES)
    state = start
    for k in np.random.default_rng(2).permutation(30):
        state, _ = method.observe(state, POINTS[[k]], VALUES[[k]])
    assert state.samples == at_once.samples == 30
    np.testing.assert_allclose(known(state), known(at_once), atol=1e-9)
    if not method.ordered or case.confidence == "ridge":  # whose challenges begin with plans only
        np.testing.assert_array_equal(state.labels, at_once.labels)


def test_what_depends_on_the_order_says_so() -> None:
    ordered = {case.label for case in CASES if case.make().ordered}
    expected = {
        case.label for case in CASES if case.in_rounds or case.confidence in {"rkhs", "ridge"} or case.intersected
    }
    assert ordered == expected
    melk = IN_BATCHES[0]
    assert not melk.make().ordered
    assert melk.make(permanent=True).ordered
    assert melk.make(confidence=sl.Posterior(intersected=True)).ordered


def test_measurements_may_have_noise_of_their_own() -> None:
    method = IN_BATCHES[0].make()
    noise = np.random.default_rng(3).uniform(0.05, 0.5, 30)
    state, _ = method.observe(method.init(), POINTS, VALUES, noise=noise)
    expected = np.bincount(POINTS, 1 / noise**2, minlength=N)
    np.testing.assert_allclose(gaussian(state).weights, expected)
    same, _ = method.observe(method.init(), POINTS, VALUES, noise=np.full(30, NOISE))
    silent, _ = method.observe(method.init(), POINTS, VALUES)
    np.testing.assert_array_equal(same.labels, silent.labels)


@each(ROUNDS)
def test_rounds_are_told_as_a_whole(case: Case) -> None:
    method = case.make()
    with pytest.raises(InputError, match="points is told without a plan: rounds are told as a whole"):
        method.observe(method.init(), [0], [1.0])


@pytest.mark.parametrize(
    ("points", "values", "noise", "sentence"),
    [
        ([0, N], [1.0, 2.0], None, rf"points\[1\] is {N}"),
        ([-1], [1.0], None, r"points\[0\] is -1"),
        ([0.5], [1.0], None, "points is of type float64"),
        ([0, 1], [1.0], None, r"values is of shape \(1,\)"),
        ([0], [np.nan], None, r"values\[0\] is nan"),
        ([0], [1.0], [0.1, 0.2], r"noise is of shape \(2,\)"),
        ([0], [1.0], [-0.1], r"noise\[0\] is -0.1"),
        ([0], [1.0], [np.inf], r"noise\[0\] is inf"),
    ],
)
def test_bad_observations_are_named(points: Any, values: Any, noise: Any, sentence: str) -> None:
    method = IN_BATCHES[0].make()
    with pytest.raises(InputError, match=sentence):
        method.observe(method.init(), points, values, noise=noise)


def test_a_state_of_another_method_is_refused() -> None:
    one, other = IN_BATCHES[0].make(), IN_BATCHES[0].make(confidence=sl.Posterior(beta=2.0))
    with pytest.raises(InputError, match="of another method or problem"):
        one.observe(other.init(), [0], [1.0])
    with pytest.raises(InputError, match="of type NoneType"):
        one.observe(None, [0], [1.0])  # type: ignore[arg-type]


@each(IN_BATCHES)
def test_nothing_observed_changes_no_label(case: Case) -> None:
    method = case.make()
    state = after(method, 2)
    same, info = method.observe(state, [], [])
    np.testing.assert_array_equal(same.labels, state.labels)
    assert (same.samples, info.samples) == (state.samples, 0)


def test_what_speaks_against_the_assumptions_is_said_and_nobody_is_warned() -> None:
    method = IN_BATCHES[0].make()
    with warnings.catch_warnings():
        warnings.simplefilter("error", AssumptionWarning)
        _, info = method.observe(method.init(), POINTS, 100 * VALUES)
    assert any("intervals are too narrow" in doubt for doubt in info.warnings)


def test_a_history_tells_apart_whatever_differs() -> None:
    method = IN_BATCHES[0].make()
    start = method.init()
    many = np.zeros(2000, dtype=np.int64)
    values = np.zeros(2000)
    noise = np.full(2000, 0.1)
    other = noise.copy()
    other[1000] = 0.1 + 1e-12
    longer = values.copy()
    longer[1000] = 1e-300
    given = [(values, None), (values, noise), (values, other), (longer, None), (longer, noise)]
    histories = [method.observe(start, many, y, noise=s)[0].history for y, s in given]
    assert len(set(histories)) == len(given)
    assert method.observe(start, many, values, noise=noise)[0].history == histories[1]


# --- views and plans from choices that were made earlier


@each(CASES)
def test_a_choice_that_was_made_earlier_gives_the_plan_of_now(case: Case) -> None:
    method = case.make()
    state = after(method, 1)
    if state.stop is not None:
        state = method.init()
    plan = method.ask(state)
    view = method.view(state, phase=state.phase)
    choice = method.rule.choose(view)
    again = method.planned(state, choice)
    for name in ("phase", "precision", "origin", "campaign"):
        assert getattr(again, name) == getattr(plan, name)
    np.testing.assert_array_equal(again.counts, plan.counts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        one, two = (method.tell(state, each, measured(plan))[0] for each in (plan, again))
    np.testing.assert_array_equal(one.labels, two.labels)
    assert one.history == two.history


@each(IN_BATCHES)
def test_a_view_may_be_of_a_batch_of_another_size(case: Case) -> None:
    method = case.make(batch=3)
    state = after(method, 1)
    view = method.view(state, phase=5, pending=[2, 2, 7], sizes=Growing(first=6))
    assert (view.phase, view.samples(), view.pending.tolist()) == (5, 6, [2, 2, 7])
    assert method.rule.choose(view).counts.sum() == 6
    assert method.view(state, phase=1).samples() == 3
    with pytest.raises(InputError, match=r"pending\[0\] is 99"):
        method.view(state, phase=1, pending=[99])


def test_pending_points_are_taken_as_known() -> None:
    method = IN_BATCHES[0].make(batch=4)
    state = after(method, 1)
    plan = method.ask(state)
    further = method.ask(state, pending=[plan])
    view = method.view(state, phase=state.phase + 1, pending=plan.indices)
    np.testing.assert_array_equal(method.rule.choose(view).counts, further.counts)


def test_a_design_is_where_the_next_one_starts() -> None:
    problem = sl.Problem(sl.Domain(np.linspace(0, 1, N), RBF(0.2)), goal=sl.Threshold(0.23), noise=NOISE)
    method = sl.methods.make("melk", problem, rule="worst")
    state = after(method, 1)
    assert method.view(state, phase=2).start is state.design is not None
    assert method.view(replace(state, design=None), phase=2).start is None
