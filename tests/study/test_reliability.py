"""Forecasts of a campaign beside its measurements: read from the log by hand, whatever happened to the results."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import superlevel as sl
from superlevel.averaging import Warp
from superlevel.records import Forecast
from superlevel.report.reliability import ENOUGH
from superlevel.report.reliability_diagram import HEADING
from superlevel.study import Result, Study
from superlevel.study.reliability import above, reliability
from superlevel.study.view import StudyView
from tests.study.campaigns import (
    ALL,
    FIT,
    FITTED,
    GREEDY,
    MILK,
    NAME,
    TRUTH,
    Kind,
    N,
    each,
    entries_of,
    reopened,
    storage_of,
)

FITTED_MILK = Kind(name="fitted milk", method="milk", goal=sl.FractionOfMax(0.3), fit=FIT)
THREE = sl.Levels([-0.5, 0.1, 0.6])


def by_hand(study: Study, level: float) -> list[tuple[float, bool]]:
    """(probability, above) of every ticket that was forecast and has a valid result, from the JSON of the log."""
    chances: dict[int, float] = {}
    values: dict[int, float] = {}
    tickets = 0
    for entry in entries_of(study):
        payload: Any = json.loads(entry.payload)
        if entry.kind == "asked":
            numbers = range(tickets + 1, tickets + 1 + len(payload["points"]))
            tickets += len(numbers)
            forecast = payload.get("forecast")
            places = sorted(set(payload["points"]))
            for number, point in zip(numbers, payload["points"], strict=True):
                if forecast is not None:
                    z = (level - forecast["centre"]) / forecast["unit"]
                    z = z if forecast["scale"] is None else math.asinh(z / forecast["scale"])
                    at = places.index(point)
                    chances[number] = float(norm.sf(z, forecast["means"][at], forecast["deviations"][at]))
        elif entry.kind == "told":
            tickets += len(payload.get("points", []))
            told = zip(payload["tickets"], payload["values"], strict=True)
            values |= {number: value for number, value in told if value is not None}
        elif entry.kind == "corrected":
            values[payload["ticket"]] = payload["value"]
        elif entry.kind == "withdrawn":
            for number in payload["tickets"]:
                values.pop(number, None)
    return [(chances[number], values[number] > level) for number in sorted(chances) if number in values]


def check(study: Study) -> int:
    """Compare with the log read by hand; how many measurements were compared."""
    found = reliability(study.ledger)
    levels = study.ledger.goal.levels
    expected = by_hand(study, levels[0])
    assert [one.level for one in found] == (list(levels) if expected else [])
    for one in found:
        pairs = by_hand(study, one.level)
        assert one.measurements == len(pairs) == sum(group.measurements for group in one.bins)
        for group in one.bins:
            members = [(p, up) for p, up in pairs if group.low <= p < group.high or p == group.high == 1.0]
            assert group.measurements == len(members)
            assert group.above == sum(up for _, up in members)
            assert group.forecast == pytest.approx(np.mean([p for p, _ in members]))
    return len(expected)


def ups(study: Study) -> int:
    """How many of the compared measurements are above the first level."""
    return sum(group.above for group in reliability(study.ledger)[0].bins)


def fitted(steps: int, **given: Any) -> Study:
    return FITTED.run(FITTED.create(**given), steps)


def test_every_result_of_a_plan_with_a_forecast_is_compared() -> None:
    study = FITTED.create()
    counts = []
    for _ in range(6):
        study.tell(FITTED.measure(study.ask()))
        counts.append(check(study))
    planned = [len(item.asked.points) for item in study.ledger.askings if item.asked.forecast is not None]
    assert counts[0] == 0  # the pilot has no forecast
    assert counts[-1] == sum(planned) > 0
    assert reliability(reopened(study).ledger) == reliability(study.ledger)


def test_parts_of_a_plan_corrections_withdrawals_and_failures() -> None:
    study = fitted(4)
    before = check(study)
    other = Study.open(storage_of(study), NAME, worker="bob")
    first, second = study.ask(), other.ask(4)
    assert not {ticket.number for ticket in first} & {ticket.number for ticket in second}
    results, later = FITTED.measure(first), FITTED.measure(second)
    other.tell([*later[:1], *results[2:]])  # parts of two plans, the later one first
    assert check(other) == before + 1 + len(results[2:])
    other.tell([*results[:2], second[1].failed("fog")])
    study.refresh()
    count = before + 1 + len(results)
    assert check(study) == count
    old = ups(study)
    was = FITTED.value(first[0].number, first[0].point)
    study.correct(first[0].number, -50.0 if was > 0.23 else 50.0, reason="a slip of the pen")
    assert check(study) == count
    change = -1 if was > 0.23 else 1
    assert ups(study) == old + change
    study.withdraw([first[0].number, first[1].number], reason="the wrong place")
    assert check(study) == count - 2
    free = next(point for point in range(N) if point not in study.ledger.point[study.ledger.open - 1])
    study.tell([Result(point=free, value=0.1)])  # nobody planned it
    assert check(study) == count - 2


def test_several_levels_have_one_comparison_each_of_the_same_measurements() -> None:
    study = fitted(6, problem=FITTED.problem(goal=THREE))
    assert check(study) > 0
    found = reliability(study.ledger)
    assert len({one.measurements for one in found}) == 1
    shares = [sum(group.above for group in one.bins) for one in found]
    assert shares == sorted(shares, reverse=True)  # a value above one level is above all lower ones


def test_audits_are_left_out() -> None:
    study = fitted(6)
    before = check(study)
    tickets = study.audit(20)
    study.tell(tickets.measured(TRUTH[tickets.indices]))
    assert check(study) == before


@each([kind for kind in ALL if not kind.fit])
def test_without_estimates_there_are_no_forecasts(kind: Kind) -> None:
    assert reliability(kind.run(kind.create(), 1).ledger) == ()


def test_without_given_levels_there_is_nothing_to_compare_with() -> None:
    study = FITTED_MILK.run(FITTED_MILK.create(), 5)
    assert any(item.asked.forecast is not None for item in study.ledger.askings)
    assert reliability(study.ledger) == ()
    assert reliability(MILK.create().ledger) == ()


@pytest.mark.parametrize(("level", "chance"), [(0.9, 1.0), (1.0, 0.5), (1.1, 0.0)])
def test_a_forecast_without_any_doubt_is_sure(level: float, chance: float) -> None:
    warp = Warp(centre=0.0, scale=math.inf, unit=1.0)
    forecast = Forecast(points=np.array([3]), means=np.ones(1), deviations=np.zeros(1), warp=warp)
    assert above(forecast, np.array([3, 3]), level).tolist() == [chance, chance]


def test_the_view_and_the_report_have_it(tmp_path: Path) -> None:
    study = fitted(5, confidence=sl.Posterior(beta=8))  # which goes on measuring
    view = study.view()
    assert view.reliability == reliability(study.ledger) != ()
    assert StudyView.model_validate_json(view.model_dump_json()) == view
    assert view.reliability[0].measurements < ENOUGH
    assert HEADING not in study.report(tmp_path / "few.html").read_text()
    FITTED.run(study, 4)
    count = reliability(study.ledger)[0].measurements
    assert count >= ENOUGH
    assert f"{count} measurements were predicted before they were made." in (
        study.report(tmp_path / "many.html").read_text()
    )
    assert GREEDY.create().view().reliability == ()
