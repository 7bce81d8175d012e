"""The belief in an estimated kernel: which predictions are compared, and how much that widens the intervals."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel.arrays import Array
from superlevel.confidence.estimated import ENOUGH, FAILED, FREEDOM, RECENT, EstimatedBelief
from superlevel.findings import Verdict
from superlevel.records import Batch, State
from tests.study.campaigns import FITTED, NAME, TRUTH, storage_of

PLACES = np.random.default_rng(0).random((300, 2))
WAVE = np.sin(5.0 * PLACES[:, 0]) + PLACES[:, 1]
PROBLEM = sl.Problem(sl.Domain(PLACES), goal=sl.Threshold(0.8), fit=("kernel", "noise", "mean"))


def told(steps: int, problem: sl.Problem = PROBLEM) -> tuple[sl.methods.Method, State]:
    """A campaign after some batches of ten."""
    method = sl.methods.make("melk", problem, batch=10)
    state = method.init()
    for _ in range(steps):
        plan = method.ask(state)
        noise = np.random.default_rng([state.phase, 1]).standard_normal(plan.total)
        state, _ = method.tell(state, plan, WAVE[plan.indices] + 0.05 * noise)
    return method, state


def belief_of(state: State) -> EstimatedBelief:
    assert isinstance(state.belief, EstimatedBelief)
    return state.belief


@pytest.fixture(scope="module")
def measured() -> EstimatedBelief:
    return belief_of(told(4)[1])


# --- what is compared


def test_a_plan_is_compared_with_its_own_forecast() -> None:
    method, state = told(3)
    plan = method.ask(state)
    forecast = plan.forecast
    assert forecast is not None
    values = WAVE[plan.indices]
    after = belief_of(method.tell(state, plan, values)[0])
    at = [forecast.points.tolist().index(point) for point in plan.indices]
    expected = [
        (forecast.warp(value) - forecast.means[k]) / forecast.deviations[k] for k, value in zip(at, values, strict=True)
    ]
    np.testing.assert_allclose(after.deviates[-plan.total :], expected)
    assert len(after.deviates) == len(belief_of(state).deviates) + plan.total


def test_the_pilot_is_not_compared_and_what_nobody_planned_is() -> None:
    method, state = told(2)
    assert not len(belief_of(state).compared)
    points = np.array([5, 17, 17])
    after = belief_of(method.observe(state, points, WAVE[points])[0])
    assert not len(after.deviates)
    assert np.flatnonzero(after.surprising).tolist() == [5, 17]
    left = after.average.left_out()
    np.testing.assert_array_equal(after.compared, left[np.isin(after.average.mixture.summary.points, points)])


def test_what_an_audit_drew_is_compared_with_what_all_others_predict() -> None:
    study = FITTED.run(FITTED.create(), 4)
    before = belief_of(study.knowledge.state)
    tickets = study.audit(12)
    study.tell(tickets.measured(TRUTH[tickets.indices]))
    after = belief_of(study.knowledge.state)
    assert len(after.deviates) == len(before.deviates)
    assert set(np.flatnonzero(after.surprising)) == set(tickets.indices.tolist())
    assert len(after.compared) == len(before.compared) + len(set(tickets.indices.tolist()))


def test_parts_of_two_plans_that_come_together_are_compared_with_their_own_forecasts() -> None:
    study = FITTED.run(FITTED.create(), 4)
    before = len(belief_of(study.knowledge.state).deviates)
    other = sl.Study.open(storage_of(study), NAME, worker="bob")
    first, second = FITTED.measure(study.ask()), FITTED.measure(other.ask(4))
    other.tell([*first[:-1], *second[:-1]])  # one of each is missing
    after = belief_of(other.knowledge.state)
    assert len(after.deviates) == before + len(first) + len(second) - 2
    assert not after.surprising.any()


# --- widths


def with_deviates(belief: EstimatedBelief, deviates: Array) -> EstimatedBelief:
    return replace(belief, deviates=deviates)


@pytest.mark.parametrize("count", [ENOUGH, 70, 200])
@pytest.mark.parametrize("size", [0.4, 1.0, 1.5])
def test_intervals_are_as_wide_as_the_comparisons_ask_for(measured: EstimatedBelief, count: int, size: float) -> None:
    signs = np.where(np.arange(count) % 2, 1.0, -1.0)
    belief = with_deviates(measured, size * signs)
    misfit = max(1.0, size * (1.0 - 0.5 / math.sqrt(2.0 * count)))
    assert belief.misfit == pytest.approx(misfit)
    np.testing.assert_allclose(belief.scale, misfit * measured.local)
    assert belief.freedom == pytest.approx(max(FREEDOM, count / 10))
    t = scipy.stats.t(belief.freedom)
    for level in (0.5, 0.8):  # the normal deviate of each probability becomes Student's t
        normal = scipy.stats.norm.ppf(belief.prediction.below(level, belief.scale))
        np.testing.assert_allclose(belief.below(level), t.cdf(np.clip(normal, -8, 8)), atol=1e-12)
    lower = belief.bounds().lower  # what is below its interval has exactly the probability that is allowed
    at = np.argsort(np.abs(lower - 0.8))[:5]
    reached = [float(belief.below(float(lower[k]))[k]) for k in at]
    np.testing.assert_allclose(reached, belief.tail, rtol=1e-4)


def test_fewer_comparisons_make_wider_intervals(measured: EstimatedBelief) -> None:
    signs = np.where(np.arange(300) % 2, 1.0, -1.0)
    beliefs = [replace(with_deviates(measured, signs[:m]), confidence=sl.Posterior(beta=3)) for m in (40, 100, 300)]
    widths = [(belief.bounds().upper - belief.bounds().lower) for belief in beliefs]
    assert (widths[0] > widths[1]).all()
    assert (widths[1] > widths[2]).all()


def test_right_predictions_widen_little(measured: EstimatedBelief) -> None:
    """With 180 comparisons, by 4 % on average and hardly ever by more than 15 %."""
    rng = np.random.default_rng(1)
    scales = [with_deviates(measured, rng.standard_normal(180)).misfit for _ in range(300)]
    assert np.mean(scales) < 1.04
    assert np.quantile(scales, 0.95) < 1.15


def test_wrong_predictions_are_found_out(measured: EstimatedBelief) -> None:
    rng = np.random.default_rng(2)
    far = with_deviates(measured, 3.0 * rng.standard_normal(60))
    assert not far.ready
    assert far.misfit > FAILED
    assert far.findings[0].verdict is Verdict.CONTRADICTED
    assert np.isinf(far.bounds().lower).all()
    few = with_deviates(measured, rng.standard_normal(ENOUGH - 1))
    assert not few.ready
    assert few.findings[0].verdict is Verdict.UNTESTED
    assert with_deviates(measured, rng.standard_normal(ENOUGH)).ready


def test_what_was_wrong_long_ago_is_forgotten(measured: EstimatedBelief) -> None:
    wrong, right = np.full(20, 1000.0), np.random.default_rng(3).standard_normal(RECENT)
    assert not with_deviates(measured, np.concatenate([wrong, right[:-1]])).ready
    mended = with_deviates(measured, np.concatenate([wrong, right]))
    assert mended.ready
    assert len(mended.compared) == RECENT


def test_on_few_points_half_of_their_number_is_enough() -> None:
    small = sl.Problem(sl.Domain(PLACES[:30]), goal=sl.Threshold(0.8), fit=("kernel", "noise", "mean"))
    belief = belief_of(told(3, small)[1])
    assert belief.needed == 15
    assert with_deviates(belief, np.ones(15)).ready
    assert not with_deviates(belief, np.ones(14)).ready


def test_a_given_kernel_is_believed() -> None:
    given = sl.Problem(sl.Domain(PLACES, RBF(0.4)), goal=sl.Threshold(0.8), fit=("noise",))
    belief = belief_of(told(4, given)[1])
    assert (belief.scale == 1.0).all()
    assert math.isinf(belief.freedom)
    assert belief.ready
    np.testing.assert_array_equal(belief.below(0.8), belief.prediction.below(0.8))


# --- rules


def test_rules_see_the_likeliest_kernel_in_its_own_units() -> None:
    method, state = told(1)
    belief, goal = state.belief.seen_by_rules(method.goal)
    assert belief is state.belief
    assert goal is method.goal
    assert state.belief.forecast(np.array([3])) is None
    method, state = told(4)
    known = belief_of(state)
    belief, goal = known.seen_by_rules(method.goal)
    assert belief is known.representative
    assert goal.levels == pytest.approx([float(known.average.warp(0.8))])
    view = method.view(state, phase=state.phase)
    assert view.belief is belief
    assert not view.problem.fit


def test_a_belief_with_nothing_open_is_seen_as_it_is_and_forecasts_nothing() -> None:
    given = sl.Problem(sl.Domain(PLACES, RBF(0.4)), goal=sl.Threshold(0.8), noise=0.1)
    method = sl.methods.make("melk", given)
    state = method.init()
    assert state.belief.seen_by_rules(method.goal) == (state.belief, method.goal)
    assert method.ask(state).forecast is None


def test_a_batch_without_its_plan_has_no_forecast() -> None:
    method, state = told(3)
    plan = method.ask(state)
    batch = Batch(points=plan.indices, values=WAVE[plan.indices])
    after = belief_of(method.update(state, batch)[0])
    assert len(after.deviates) == len(belief_of(state).deviates)
    assert after.surprising[plan.indices].all()


def test_kernels_are_searched_for_when_a_tenth_more_was_measured() -> None:
    method, state = told(4)
    confidence, before = method.confidence, belief_of(state)
    assert len(before.shortlist.data) == len(before.data) == 40
    for count in range(41, 44):
        state, _ = method.observe(state, [count], [0.1 * count])
        assert belief_of(state).shortlist is before.shortlist
        assert belief_of(state).average.mixture.summary.samples == count
    state, _ = method.observe(state, [44], [0.3])
    assert len(belief_of(state).shortlist.data) == 44
    assert confidence.ordered, "which measurements were searched in depends on how they were grouped"
