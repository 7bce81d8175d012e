"""A small slice of `make guarantees`: the containments of the theorems, and the deviation of RIPS."""

from __future__ import annotations

import numpy as np
import pytest

import superlevel as sl
from superlevel.confidence.rounds import Schedule
from tests.guarantees import DELTA, SETTINGS, Mapped, map_once, rips_exceeded, violations


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize(("name", "schedule"), [("melk", "scaled"), ("milk", "tight")])
def test_the_containments_of_the_theorem_hold(setting: str, name: str, schedule: Schedule) -> None:
    outcomes = violations(setting, name, schedule, 4)
    assert sum(outcome.violated for outcome in outcomes) <= 1  # of four runs, each with probability 0.1 at most
    assert sum(outcome.missed for outcome in outcomes) <= 1
    assert max(outcome.error for outcome in outcomes) > 0.05  # and the estimates are not exact
    assert max(outcome.certain for outcome in outcomes) > 0.3  # the theorem says something of these instances
    assert all(outcome.samples > 0 for outcome in outcomes)


def test_catoni_keeps_rips_s_bound_where_the_plain_mean_does_not() -> None:
    seen = rips_exceeded("outliers, 0.9 in N L", delta=0.01, draws=300)
    assert seen.sharp["plain"] > 0.08 * 300
    assert seen.sharp["Catoni"] <= 0.01 * 300
    assert seen.theorem["Catoni"] == 0


def test_heavy_tails_do_not_break_rips_s_bound() -> None:
    for law in ("Student, 2.5 degrees", "Pareto, tail 2.1"):
        seen = rips_exceeded(law, delta=0.1, draws=150)
        assert seen.sharp["Catoni"] <= 0.1 * 150
        assert seen.theorem["Catoni"] == 0


# --- classes of a contour map


def judge_maps(runs: int) -> list[Mapped]:
    """Runs for three levels with points close to them, whose labels are never wrong but for a share of delta."""
    outcomes = [map_once(seed) for seed in range(runs)]
    wrong = sum(outcome.wrong for outcome in outcomes)
    print(f"{wrong} of {runs} runs with a wrong label")  # noqa: T201
    assert wrong <= DELTA * runs
    assert sum(outcome.contradicted for outcome in outcomes) <= DELTA * runs
    assert max(outcome.nearest for outcome in outcomes) < 0.05  # 0.15 of the noise's deviation
    assert np.mean([outcome.decided for outcome in outcomes]) > 0.5  # and there are labels to be wrong
    return outcomes


def test_classes_of_a_contour_map_are_right_with_ridge() -> None:
    judge_maps(10)


@pytest.mark.slow
def test_classes_of_a_contour_map_are_right_in_many_runs() -> None:
    assert len(judge_maps(200)) == 200


def test_intervals_that_are_too_short_are_found_out_by_the_same_runs() -> None:
    """Points are so close to the levels that half a deviation declares wrong labels in most runs."""
    outcomes = [map_once(seed, sl.Posterior(beta=0.5), limit=500) for seed in range(6)]
    assert sum(outcome.wrong for outcome in outcomes) >= 4
