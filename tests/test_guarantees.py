"""A small slice of `make guarantees`: the containments of the theorems, and the deviation of RIPS."""

from __future__ import annotations

import pytest

from superlevel.confidence.rounds import Schedule
from tests.guarantees import SETTINGS, rips_exceeded, violations


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
