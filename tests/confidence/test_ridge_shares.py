"""How the ridge confidence shares delta between ellipsoids and challenges, and when the challenges are left out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel.arrays import Array
from superlevel.challenge import Challenge
from superlevel.confidence.ridge import RidgeBelief
from superlevel.errors import InputError
from superlevel.goals import Bounds
from superlevel.records import Batch, Plan, View
from superlevel.sizes import Growing

N, NOISE, DELTA = 40, 0.3, 0.1
POINTS = np.linspace(0, 1, N)[:, None]
TRUTH = np.asarray(RBF(0.15)(POINTS, POINTS[[5, 20, 33]]) @ np.array([1.0, -0.7, 0.8]))
ALL, BOTH = (1.0, 0.0), (0.5, 0.5)


def problem(goal: sl.Goal | None = None) -> sl.Problem:
    return sl.Problem(sl.Domain(POINTS, RBF(0.15)), goal=goal or sl.Threshold(0.2), noise=NOISE, norm=2.0, delta=DELTA)


def first(shares: tuple[float, float] = BOTH) -> tuple[RidgeBelief, Plan]:
    """The belief before the first measurement, and the first plan."""
    method = sl.methods.make("melk", problem(), confidence=sl.Ridge(shares=shares), batch=60)
    assert isinstance(method.prior, RidgeBelief)
    return method.prior, method.ask(method.init())


def measured(points: Array | Any, seed: int = 0) -> Array:
    return np.asarray(TRUTH[points] + NOISE * np.random.default_rng(seed).standard_normal(len(points)))


def batch(plan: Plan, *, planned: bool, whole: bool) -> Batch:
    """The measurements of a plan, and what is said of it."""
    values = measured(plan.indices)
    return Batch(points=plan.indices, values=values, plan=plan if planned else None, whole=whole)


def view(belief: RidgeBelief) -> View:
    """What a rule sees before the first measurement."""
    goal = belief.problem.goal
    return View(goal=goal, phase=1, reading=goal.unread(N), belief=belief, sizes=Growing(first=10), seed=0)


def ellipsoids(belief: RidgeBelief, share: float) -> Bounds:
    """(n,) what the ellipsoids say by themselves, with a share of delta."""
    found, missed = belief.spectrum.points(share * DELTA), belief.setting.misses
    return Bounds(lower=found.lower - missed, upper=found.upper + missed)


def assert_same(one: Bounds, other: Bounds) -> None:
    np.testing.assert_array_equal(one.lower, other.lower)
    np.testing.assert_array_equal(one.upper, other.upper)


# --- the first batch settles it


def test_without_a_plan_the_ellipsoids_have_all_of_delta() -> None:
    prior, plan = first()
    told = sl.Ridge().update(prior, batch(plan, planned=False, whole=False))
    assert sum(prior.shares) == pytest.approx(1.0)
    assert told.shares == ALL
    assert_same(told.bounds(), ellipsoids(told, 1.0))
    alone = sl.Ridge(shares=ALL)
    assert_same(told.bounds(), alone.update(alone.prior(problem()), batch(plan, planned=False, whole=False)).bounds())
    assert set(told.sources) == {"ellipsoids"}
    # With half of delta they are wider, so that the rule is worth something.
    half = ellipsoids(told, 0.5)
    assert (half.upper - half.lower > told.bounds().upper - told.bounds().lower).mean() > 0.9


def test_with_a_plan_that_is_told_as_a_whole_the_shares_stay() -> None:
    prior, plan = first()
    told = sl.Ridge().update(prior, batch(plan, planned=True, whole=True))
    assert told.shares == BOTH
    assert told.challenges.information.any()
    assert told.challenges.delta == DELTA / 2
    assert_same(told.bounds(), ellipsoids(told, 0.5))


def test_a_plan_that_is_told_in_part_keeps_the_shares_and_feeds_no_challenge() -> None:
    prior, plan = first()
    told = sl.Ridge().update(prior, batch(plan, planned=True, whole=False))
    assert told.shares == BOTH
    assert told.challenges is prior.challenges
    assert not told.challenges.information.any()
    assert_same(told.bounds(), ellipsoids(told, 0.5))
    assert set(told.sources) == {"ellipsoids"}


@pytest.mark.parametrize("planned", [False, True])
def test_what_comes_later_does_not_change_the_shares(planned: bool) -> None:
    """They are settled before any noise is seen: a share that depended on it would break the guarantee."""
    prior, plan = first()
    belief = sl.Ridge().update(prior, batch(plan, planned=planned, whole=planned))
    settled = belief.shares
    assert settled == (BOTH if planned else ALL)
    points = np.arange(0, N, 4)
    belief = sl.Ridge().update(belief, Batch(points=points, values=measured(points, 1)))
    assert belief.shares == settled
    belief = sl.Ridge().update(belief, batch(plan, planned=True, whole=True))
    assert belief.shares == settled
    assert belief.challenges.information.any() == planned


def test_a_batch_without_measurements_settles_nothing() -> None:
    prior, plan = first()
    nothing = Batch(points=np.empty(0, dtype=np.int64), values=np.empty(0))
    belief = sl.Ridge().update(prior, nothing)
    assert belief.shares == BOTH
    assert_same(belief.bounds(), prior.bounds())
    told = sl.Ridge().update(belief, batch(plan, planned=True, whole=True))
    assert_same(told.bounds(), sl.Ridge().update(prior, batch(plan, planned=True, whole=True)).bounds())
    assert sl.Ridge().update(belief, batch(plan, planned=False, whole=False)).shares == ALL


def test_pairs_have_the_same_share_as_points() -> None:
    goal = sl.FractionOfMax(0.4)
    prior = sl.Ridge().prior(problem(goal))
    points = np.arange(0, N, 2)
    told = sl.Ridge().update(prior, Batch(points=points, values=measured(points)))
    alone = sl.Ridge(shares=ALL)
    same = alone.update(alone.prior(problem(goal)), Batch(points=points, values=measured(points)))
    assert_same(told.bounds(goal.share), same.bounds(goal.share))


# --- other shares


def test_shares_of_the_ellipsoids_alone_never_feed_a_challenge() -> None:
    prior, plan = first(ALL)
    told = sl.Ridge(shares=ALL).update(prior, batch(plan, planned=True, whole=True))
    assert told.shares == ALL
    assert told.challenges is prior.challenges
    assert prior.outlook(view(prior), plan.weights).challenge is None
    assert_same(told.bounds(), ellipsoids(told, 1.0))
    assert not sl.Ridge(shares=ALL).ordered
    assert sl.Ridge().ordered


def test_shares_of_the_challenges_alone_bound_what_is_left_by_the_ball() -> None:
    alone = (0.0, 1.0)
    prior, plan = first(alone)
    known = Challenge(
        points=np.array([3, 20]),
        others=np.full(2, -1),
        signs=np.array([1.0, -1.0]),
        gaps=np.full(2, 0.2),
        deltas=np.array([0.6, 0.4]) * DELTA,
    )
    told = sl.Ridge(shares=alone).update(prior, batch(replace(plan, challenge=known), planned=True, whole=True))
    (tests,), missed = told.challenges.tests, told.setting.misses
    left = np.linalg.norm(tests.directions - tests.means, axis=1)
    expected = tests.ends(Bounds(lower=-left, upper=left))
    ball = np.sqrt((told.setting.features.array**2).sum(axis=1))  # which is known without measuring
    assert told.bounds().lower[3] == pytest.approx(max(expected[0], -ball[3] - missed[3]), abs=1e-9)
    assert told.bounds().upper[20] == pytest.approx(min(expected[1], ball[20] + missed[20]), abs=1e-9)
    assert told.bounds().upper[3] == pytest.approx(ball[3] + missed[3])
    assert told.challenges.free == pytest.approx(0.0)


@pytest.mark.parametrize("rank", [1, 4, 40])
def test_by_default_challenges_have_more_of_delta_the_more_features_there_are(rank: int) -> None:
    problem = sl.Problem(sl.Domain(np.eye(rank)), goal=sl.Threshold(0.0), noise=1.0, norm=1.0, delta=DELTA)
    prior = sl.Ridge().prior(problem)
    challenged = min(0.8, rank**2 / (rank**2 + 256))
    np.testing.assert_allclose(prior.shares, (1.0 - challenged, challenged))
    assert prior.challenges.delta == pytest.approx(prior.shares[1] * DELTA)


def test_without_a_plan_shares_below_one_are_not_made_one() -> None:
    """(0.2, 0.3) spends half of delta, and so do the ellipsoids then."""
    prior, plan = first((0.2, 0.3))
    told = sl.Ridge(shares=(0.2, 0.3)).update(prior, batch(plan, planned=False, whole=False))
    assert told.shares == (0.5, 0.0)
    assert_same(told.bounds(), ellipsoids(told, 0.5))


def test_nothing_of_a_belief_before_changes() -> None:
    prior, plan = first()
    before = prior.bounds()
    sl.Ridge().update(prior, batch(plan, planned=False, whole=False))
    assert prior.shares == BOTH
    assert_same(prior.bounds(), before)
    assert not prior.counts.any()
    assert not prior.challenges.information.any()


@pytest.mark.parametrize("shares", [(0.0, 0.0), (0.6, 0.5)])
def test_shares_that_are_no_parts_of_delta_are_named(shares: tuple[float, float]) -> None:
    with pytest.raises(InputError) as caught:
        sl.Ridge(shares=shares)
    assert str(caught.value) == f"Ridge.shares is {shares!r}: give two shares of delta whose sum is at most 1"


@pytest.mark.parametrize("share", [-0.1, np.nan, "half"])
def test_a_share_that_is_no_number_is_named(share: Any) -> None:
    with pytest.raises(InputError) as caught:
        sl.Ridge(shares=(0.5, share))
    assert str(caught.value) == f"Ridge.shares is {share!r}: give a number >= 0"


@pytest.mark.parametrize("shares", [0.5, (0.5,), (0.2, 0.2, 0.2), "ab"])
def test_anything_but_two_shares_is_named(shares: Any) -> None:
    with pytest.raises(InputError, match=r"^Ridge\.shares is "):
        sl.Ridge(shares=shares)


# --- through a method


def test_measurements_that_were_not_planned_leave_the_challenges_out_and_a_plan_does_not() -> None:
    method = sl.methods.make("melk", problem(), confidence=sl.Ridge(shares=BOTH))
    start = method.init()
    plan = method.ask(start)
    values = measured(plan.indices)
    told, _ = method.tell(start, plan, values)
    seen, _ = method.observe(start, plan.indices, values)
    assert isinstance(told.belief, RidgeBelief)
    assert isinstance(seen.belief, RidgeBelief)
    assert (told.belief.shares, seen.belief.shares) == (BOTH, ALL)
