"""The linear figures in three readings: who is ahead in each, and what is said of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from superlevel.reproduce import three_readings
from superlevel.reproduce.claims import Claim, Verdict
from superlevel.reproduce.settings import Row
from superlevel.reproduce.three_readings import READINGS
from tests.reproduce.small import OURS, linear_figure, linear_rows, made_up_rows, told

CONFIRMED, REFUTED, UNDECIDED = Verdict
BUDGET = 1_000_000


def paper_claim(rows: Sequence[Row], *, implicit: bool = False) -> Claim:
    """In the first reading, the algorithm as printed."""
    return three_readings.claims(linear_figure(implicit=implicit), rows)[0]


def times(factors: Sequence[float]) -> dict[str, Any]:
    return {"ours": [1000] * len(factors), "rival": [round(f * 1000) for f in factors]}


def around(factor: float, runs: int = 14) -> list[float]:
    return [factor * (1 + 0.01 * (-1) ** k) for k in range(runs)]


@pytest.mark.parametrize(("factor", "expected"), [(3.0, CONFIRMED), (1.5, CONFIRMED), (1.0, UNDECIDED), (0.5, REFUTED)])
def test_ahead_is_fewer_measurements(factor: float, expected: Verdict) -> None:
    claim = paper_claim(made_up_rows(**times(around(factor))))
    assert (claim.name, claim.claim) == ("melk-ahead-of-lse", "MELK is ahead of LSE.")
    assert claim.verdict is expected


@pytest.mark.parametrize(("factor", "expected"), [(3.0, CONFIRMED), (2.0, UNDECIDED), (1.5, REFUTED), (0.5, REFUTED)])
def test_far_ahead_is_less_than_half_as_many(factor: float, expected: Verdict) -> None:
    claim = paper_claim(made_up_rows(implicit=True, **times(around(factor))), implicit=True)
    assert (claim.name, claim.claim) == ("milk-far-ahead-of-lse-imp", "MILK is far ahead of LSE-imp.")
    assert claim.verdict is expected


@pytest.mark.parametrize("implicit", [False, True])
def test_evidence_is_the_paired_test_of_logarithms(implicit: bool) -> None:
    given = times([1.2, 3.0, 0.7, 2.0, 5.0, 1.1, 0.9, 2.5])
    claim = paper_claim(made_up_rows(implicit=implicit, **given), implicit=implicit)
    ours, rival = (np.log10(given[key]) for key in ("ours", "rival"))
    margin = math.log10(2) if implicit else 0.0
    (found,) = claim.evidence
    expected = [stats.ttest_rel(rival, ours + margin, alternative=side).pvalue for side in ("greater", "less")]
    assert [found.p_for, found.p_against] == pytest.approx(expected, rel=1e-6)
    ratios = np.array(given["rival"]) / np.array(given["ours"])
    assert told(claim)["measured"]["geometric_mean_ratio"] == pytest.approx(stats.gmean(ratios))


def test_a_run_that_never_was_all_correct_counts_with_the_budget() -> None:
    claim = paper_claim(made_up_rows(ours=[100] * 14, rival=[None, *[1000] * 13]))
    means = told(claim)["measured"]["mean_samples"]
    assert means == {"MELK": 100.0, "LSE": pytest.approx((BUDGET + 13 * 1000) / 14)}
    assert claim.evidence[0].mean == pytest.approx((4 + 13 * 1) / 14)
    assert told(claim)["measured"]["runs_counted_at_the_budget"] == {"MELK": 0, "LSE": 1}
    assert claim.verdict is CONFIRMED


@pytest.mark.parametrize(("ours", "rival"), [(BUDGET // 2, None), (None, BUDGET // 2)])
def test_a_run_that_never_was_all_correct_speaks_for_one_side_only(ours: int | None, rival: int | None) -> None:
    """It needs more than the budget, and nobody knows how much more."""
    rows = made_up_rows(implicit=True, ours=[ours] * 14, rival=[rival] * 14)
    expected = UNDECIDED if rival is None else REFUTED
    assert paper_claim(rows, implicit=True).verdict is expected


def test_where_neither_was_ever_all_correct_nobody_is_ahead() -> None:
    claim = paper_claim(made_up_rows(ours=[None] * 14, rival=[None] * 14))
    assert (claim.verdict, claim.evidence[0].mean) == (UNDECIDED, 0.0)
    assert told(claim)["measured"]["geometric_mean_ratio"] == 1.0


def test_one_run_decides_nothing() -> None:
    for claim in three_readings.claims(linear_figure(), made_up_rows(ours=[10], rival=[1000])):
        assert claim.verdict is UNDECIDED
        assert told(claim)["evidence"][0]["standard_error"] is None


# ------------------------------------------------------------------------------------------ readings


FORMS: dict[str, tuple[str, str]] = {
    "algorithm as printed": ("ours", "rival"),
    "appendix as printed": ("experiments", "loose"),
    "appendix, equal steps": ("equal", "loose"),
    "what is needed": ("tight", "ranked"),
}


@pytest.mark.parametrize("implicit", [False, True])
@pytest.mark.parametrize("name", list(FORMS))
def test_each_reading_is_judged_by_its_own_two_forms(name: str, implicit: bool) -> None:
    """Ours is fast in this reading only, and its rival slow: no other pair of a reading moves."""
    ours, rival = FORMS[name]
    figure = linear_figure(implicit=implicit)
    given: dict[str, Any] = {ours: [100] * 14, rival: [1000] * 14}
    rows = made_up_rows(implicit=implicit, **given)
    table = three_readings.reading_table(figure, rows)
    verdicts = {line["reading"]: line["verdict"] for line in table if line["verdict"] is not None}
    others = "refuted" if implicit else "undecided"  # as many measurements are not far fewer
    assert verdicts == {each: "confirmed" if each == name else others for each in FORMS}
    assert [reading.name for reading in READINGS] == list(FORMS)


def test_claims_have_the_verdicts_of_the_table_and_only_what_the_paper_says_is_the_papers() -> None:
    for implicit in (False, True):
        figure, rows = linear_figure(implicit=implicit), made_up_rows(implicit=implicit, tight=[10] * 14)
        claims = three_readings.claims(figure, rows)
        table = [line for line in three_readings.reading_table(figure, rows) if line["verdict"] is not None]
        assert [str(claim.verdict) for claim in claims[: len(READINGS)]] == [line["verdict"] for line in table]
        assert [claim.source for claim in claims] == ["paper"] * 3 + ["here"] * (len(claims) - 3)
        tight = [claim for claim in claims if ", tight is" in claim.claim]
        assert len(tight) == 3
        assert {claim.verdict for claim in tight} == {CONFIRMED}
        assert len({claim.name for claim in claims}) == len(claims)


@pytest.mark.parametrize("implicit", [False, True])
def test_the_table_has_both_methods_of_each_reading_with_all_wrong_labels(implicit: bool) -> None:
    ours, rival = OURS[implicit]
    wrongs = {f"{ours}, experiments": [2, 0, 1], rival: [0, 0, 4]}
    rows = [
        replace(each, values={**each.values, "wrong": wrongs.get(each.method, [0] * 3)[each.seed]})
        for each in made_up_rows(implicit=implicit, experiments=[100, 400, None], loose=[200, 800, 100])
    ]
    table = three_readings.reading_table(linear_figure(implicit=implicit), rows)
    assert [(line["reading"], line["method"]) for line in table] == [
        (reading.name, label) for reading in READINGS for label in (ours + reading.ours, rival + reading.rival)
    ]
    lines = {(line["reading"], line["method"]): line for line in table}
    found = lines["appendix as printed", f"{ours}, experiments"]
    assert (found["runs"], found["right"], found["wrong_labels"]) == (3, 2, 3)
    assert (found["mean"], found["error"]) == (250.0, pytest.approx(stats.sem([100, 400])))
    assert found["ratio"] == pytest.approx(stats.gmean([2, 2, 100 / BUDGET]))
    assert lines["algorithm as printed", rival]["wrong_labels"] == 4
    assert lines["algorithm as printed", rival]["verdict"] is None


@pytest.mark.parametrize("implicit", [False, True])
def test_the_picture_has_a_panel_for_each_reading_with_its_two_curves(implicit: bool) -> None:
    figure, rows = linear_figure(implicit=implicit), linear_rows(implicit=implicit)
    ours, rival = OURS[implicit]
    picture = three_readings.drawn(figure, rows, lines=[("lower bound", 50.0)])()
    assert len(picture.axes) == len(READINGS)
    for axes, reading in zip(picture.axes, READINGS, strict=True):
        assert axes.get_title().startswith(reading.name)
        labels = {line.get_label() for line in axes.lines} & {entry.label for entry in figure.entries}
        assert labels == {ours + reading.ours, rival + reading.rival}
