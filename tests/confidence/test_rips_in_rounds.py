"""The estimate of RIPS over several rounds: a point that is decided keeps the one it was decided by."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import superlevel as sl
from superlevel.arrays import Mask
from superlevel.records import State
from tests.worlds import apart

VALUES = [0.9, 0.3, -0.8, -0.05]


def states(goal: sl.Goal) -> list[State]:
    """Before the first round, and after each."""
    problem, oracle = apart(VALUES, goal=goal, noise=0.1)
    method = sl.methods.make("melk", problem, confidence="rips")
    found = [method.init()]
    while found[-1].stop is None:
        plan = method.ask(found[-1])
        values = oracle.measure(plan.indices, np.random.default_rng(plan.phase))
        found.append(method.tell(found[-1], plan, values)[0])
    return found


def concerned(state: State) -> Mask:
    """(n,) the points that the next round is for."""
    undecided = state.undecided
    return undecided if undecided.ndim == 1 else np.asarray(undecided.any(axis=0) | undecided.any(axis=1))


GOALS = [sl.Threshold(0.0), sl.FractionOfMax(0.5)]


@pytest.mark.parametrize("goal", GOALS, ids=repr)
def test_the_estimate_of_a_point_that_no_round_is_for_stays(goal: sl.Goal) -> None:
    found = states(goal)
    kept = 0
    for before, after in pairwise(found[1:]):
        still = ~concerned(before)
        np.testing.assert_array_equal(after.estimate[still], before.estimate[still])
        kept += int(still.sum())
    assert kept > 0


@pytest.mark.parametrize("goal", GOALS, ids=repr)
def test_the_estimate_in_the_end_is_near_and_agrees_with_every_label(goal: sl.Goal) -> None:
    last = states(goal)[-1]
    assert (last.labels != 0).all()
    np.testing.assert_array_equal(goal.signs(last.estimate), last.labels)
    assert np.abs(last.estimate - VALUES).max() < 0.1
