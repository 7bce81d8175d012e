"""The linear benchmark: its settings, the measurements to the last correct label, and who is ahead."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from superlevel.confidence.rips import Rips
from superlevel.confidence.rkhs import RkhsWidth
from superlevel.goals import FractionOfMax, Threshold
from superlevel.reproduce import linear
from superlevel.reproduce.claims import Claim, Verdict
from superlevel.reproduce.settings import Figure, Row
from superlevel.reproduce.trials import LowerBound, Simulated
from superlevel.reproduce.widths import OfRank
from superlevel.reproduce.worlds import Linear
from tests.reproduce.small import linear_figure, linear_rows, row, told

CONFIRMED, REFUTED, UNDECIDED = Verdict
BUDGET = 1_000_000
OURS = {False: ("MELK", "LSE"), True: ("MILK", "LSE-imp")}


def whole(*, implicit: bool, quick: bool = False) -> Figure:
    return linear.implicit(quick) if implicit else linear.explicit(quick)


def trial(figure: Figure, label: str) -> Any:
    (found,) = (entry.trial for entry in figure.entries if entry.label == label)
    return found


# ------------------------------------------------------------------------------------------ settings


@pytest.mark.parametrize("implicit", [False, True])
def test_the_benchmark_is_the_papers(implicit: bool) -> None:
    figure = whole(implicit=implicit)
    (setting,) = figure.settings
    assert setting.world == Linear(arms=100, dimension=25, implicit=implicit, noise=1.0, ridge=1e-7)
    assert setting.name == "100 arms, d = 25"
    assert figure.logarithmic
    goal = setting.world(0).problem.goal
    assert goal == (FractionOfMax(0.5) if implicit else Threshold(0.5))


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("implicit", [False, True])
def test_places_are_even_in_the_logarithm_and_whole_tens(implicit: bool, quick: bool) -> None:
    (samples,) = (setting.samples for setting in whole(implicit=implicit, quick=quick).settings)
    assert (samples[0], samples[-1], len(samples)) == (100, 3_000_000, 61)
    assert all(type(place) is int and place % 10 == 0 for place in samples)
    steps = np.diff(np.log(samples))
    assert steps.min() > 0
    np.testing.assert_allclose(steps[12:], math.log(30_000) / 60, rtol=0.1)


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("implicit", [False, True])
def test_methods_have_the_widths_of_their_theorems(implicit: bool, quick: bool) -> None:
    figure = whole(implicit=implicit, quick=quick)
    ours, rival = OURS[implicit]
    problem = figure.settings[0].world(0).problem
    assert [entry.label for entry in figure.entries if entry.paper] == [ours, rival, "lower bound"]
    for label, confidence in ((ours, Rips()), (f"{ours}, tight", Rips(schedule="tight"))):
        assert trial(figure, label) == Simulated(method=ours.lower(), options=(("confidence", confidence),))
    assert isinstance(trial(figure, "lower bound"), LowerBound)
    for label, rank in ((rival, problem.domain.points.shape[1]), (f"{rival}, rank 2", 2)):
        widths = vars(trial(figure, label).make(problem).prior)["widths"]
        assert isinstance(widths, RkhsWidth)
        assert (widths.rank, widths.norm, widths.delta, widths.noise) == (rank, 1.0, 0.1, 1.0)
        assert trial(figure, label).method == rival.lower()
    ranked = OfRank(intersected=True, rank=2)
    assert dict(trial(figure, f"{rival}, rank 2").options) == {"confidence": ranked, "batch": 10}
    assert np.linalg.matrix_rank(problem.domain.points) == 2


@pytest.mark.parametrize("implicit", [False, True])
def test_methods_without_a_theorem_are_not_waited_for(implicit: bool) -> None:
    ours, rival = OURS[implicit]
    for entry in whole(implicit=implicit).entries:
        waited = entry.label in (ours, rival, "lower bound") or ", tight" in entry.label
        waited |= ", rank 2" in entry.label or ", d log t" in entry.label
        assert getattr(entry.trial, "budget", None) == (None if waited else 10_000)


# ------------------------------------------------------------------------------------------ made-up rows


def rows_of(implicit: bool = False, bound: float = 100.0, **lasts: Sequence[int | None]) -> list[Row]:
    """Measurements to the last correct label of ours, of the rival and of their variants, 1000 unless given."""
    ours, rival = OURS[implicit]
    names = {"ours": ours, "rival": rival, "tight": f"{ours}, tight"}
    runs = len(next(iter(lasts.values()))) if lasts else 14
    given = {names[key]: last for key, last in lasts.items()}
    return [
        row(entry.label, seed, f1=[0.0] * 5, wrong=0, last=given.get(entry.label, [1000] * runs)[seed])
        if entry.label != "lower bound"
        else row(entry.label, seed, samples=bound + seed)
        for entry in linear_figure(implicit=implicit).entries
        for seed in range(runs)
    ]


def paper_claim(rows: Sequence[Row], *, implicit: bool = False) -> Claim:
    (found,) = (c for c in linear.claims(linear_figure(implicit=implicit), rows) if c.source == "paper")
    return found


def times(factors: Sequence[float]) -> dict[str, Any]:
    return {"ours": [1000] * len(factors), "rival": [round(f * 1000) for f in factors]}


def around(factor: float, runs: int = 14) -> list[float]:
    return [factor * (1 + 0.01 * (-1) ** k) for k in range(runs)]


@pytest.mark.parametrize(("factor", "expected"), [(3.0, CONFIRMED), (1.5, CONFIRMED), (1.0, UNDECIDED), (0.5, REFUTED)])
def test_ahead_is_fewer_measurements(factor: float, expected: Verdict) -> None:
    claim = paper_claim(rows_of(**times(around(factor))))
    assert (claim.name, claim.claim) == ("melk-ahead-of-lse", "MELK is ahead of LSE.")
    assert claim.verdict is expected


@pytest.mark.parametrize(("factor", "expected"), [(3.0, CONFIRMED), (2.0, UNDECIDED), (1.5, REFUTED), (0.5, REFUTED)])
def test_far_ahead_is_less_than_half_as_many(factor: float, expected: Verdict) -> None:
    claim = paper_claim(rows_of(implicit=True, **times(around(factor))), implicit=True)
    assert (claim.name, claim.claim) == ("milk-far-ahead-of-lse-imp", "MILK is far ahead of LSE-imp.")
    assert claim.verdict is expected


@pytest.mark.parametrize("implicit", [False, True])
def test_evidence_is_the_paired_test_of_logarithms(implicit: bool) -> None:
    given = times([1.2, 3.0, 0.7, 2.0, 5.0, 1.1, 0.9, 2.5])
    claim = paper_claim(rows_of(implicit=implicit, **given), implicit=implicit)
    ours, rival = (np.log10(given[key]) for key in ("ours", "rival"))
    margin = math.log10(2) if implicit else 0.0
    (found,) = claim.evidence
    expected = [stats.ttest_rel(rival, ours + margin, alternative=side).pvalue for side in ("greater", "less")]
    assert [found.p_for, found.p_against] == pytest.approx(expected, rel=1e-6)
    ratios = np.array(given["rival"]) / np.array(given["ours"])
    assert told(claim)["measured"]["geometric_mean_ratio"] == pytest.approx(stats.gmean(ratios))


def test_a_run_that_never_was_all_correct_counts_with_the_budget() -> None:
    claim = paper_claim(rows_of(ours=[100] * 14, rival=[None, *[1000] * 13]))
    means = told(claim)["measured"]["mean_samples"]
    assert means == {"MELK": 100.0, "LSE": pytest.approx((BUDGET + 13 * 1000) / 14)}
    assert claim.evidence[0].mean == pytest.approx((4 + 13 * 1) / 14)
    assert told(claim)["measured"]["runs_counted_at_the_budget"] == {"MELK": 0, "LSE": 1}
    assert claim.verdict is CONFIRMED


@pytest.mark.parametrize(("ours", "rival"), [(BUDGET // 2, None), (None, BUDGET // 2)])
def test_a_run_that_never_was_all_correct_speaks_for_one_side_only(ours: int | None, rival: int | None) -> None:
    """It needs more than the budget, and nobody knows how much more."""
    rows = rows_of(implicit=True, ours=[ours] * 14, rival=[rival] * 14)
    expected = UNDECIDED if rival is None else REFUTED
    assert paper_claim(rows, implicit=True).verdict is expected


def test_where_neither_was_ever_all_correct_nobody_is_ahead() -> None:
    claim = paper_claim(rows_of(ours=[None] * 14, rival=[None] * 14))
    assert (claim.verdict, claim.evidence[0].mean) == (UNDECIDED, 0.0)
    assert told(claim)["measured"]["geometric_mean_ratio"] == 1.0


def test_one_run_decides_nothing() -> None:
    for claim in linear.claims(linear_figure(), rows_of(ours=[10], rival=[1000])):
        assert claim.verdict is UNDECIDED
        assert told(claim)["evidence"][0]["standard_error"] is None


def test_sharper_forms_are_compared_here_and_not_in_the_paper() -> None:
    for implicit in (False, True):
        figure, rows = linear_figure(implicit=implicit), rows_of(implicit=implicit, tight=[10] * 14)
        _, *beyond = linear.claims(figure, rows)
        tight = [claim for claim in beyond if ", tight is" in claim.claim]
        assert tight
        assert {claim.source for claim in beyond} == {"here"}
        assert {claim.verdict for claim in tight} == {CONFIRMED}
        assert len({claim.name for claim in linear.claims(figure, rows)}) == len(beyond) + 1


# ------------------------------------------------------------------------------------------ the table


def line_of(rows: Sequence[Row], method: str) -> Any:
    (found,) = (line for line in linear.sample_table(linear_figure(), rows, 50.0) if line["method"] == method)
    return found


def test_a_run_that_never_got_there_is_later_than_all_others() -> None:
    rows = rows_of(ours=[100, None, 400, 100])
    found = line_of(rows, "MELK")
    assert (found["runs"], found["runs_all_correct"]) == (4, 3)
    assert found["mean_of_those"] == 200.0
    assert (found["median_of_all"], found["median_times_lower_bound"]) == (250.0, 5.0)
    assert found["standard_error"] == pytest.approx(stats.sem([100, 400, 100]))


def test_a_method_that_never_got_there_has_no_mean() -> None:
    found = line_of(rows_of(ours=[None, None]), "MELK")
    assert (found["runs"], found["runs_all_correct"]) == (2, 0)
    numbers = ("mean_of_those", "standard_error", "median_of_all", "median_times_lower_bound")
    assert [found[key] for key in numbers] == [None] * 4


def test_runs_with_a_wrong_label_are_counted_once_each() -> None:
    wrongs = {0: 2, 1: 0, 2: 1}
    rows = [
        replace(each, values={**each.values, "wrong": wrongs[each.seed]}) if each.method == "LSE" else each
        for each in rows_of(ours=[100] * 3)
    ]
    assert line_of(rows, "LSE")["runs_with_a_wrong_label"] == 2
    assert line_of(rows, "MELK")["runs_with_a_wrong_label"] == 0


def test_the_bound_is_the_mean_over_functions_and_a_line_in_the_picture() -> None:
    found = linear.read(linear_figure(), rows_of(ours=[1000] * 3, bound=99.0))
    (line,) = (line for line in found.tables["-samples"] if line["method"] == "MELK")
    assert line["median_times_lower_bound"] == pytest.approx(10.0)
    (axes,) = found.pictures[""]().axes
    drawn = [np.asarray(each.get_xdata()).tolist() for each in axes.lines]
    assert [places for places in drawn if len(places) == 2] == [[100.0, 100.0]]
    assert "lower bound" not in {line["method"] for line in found.ranked}


# ------------------------------------------------------------------------------------------ a small run


@pytest.mark.parametrize("implicit", [False, True])
def test_a_small_run_is_read_and_strict_json(implicit: bool) -> None:
    figure, rows = linear_figure(implicit=implicit), linear_rows(implicit=implicit)
    found = linear.read(figure, rows)
    methods = [entry.label for entry in figure.entries if entry.label != "lower bound"]
    assert [line["method"] for line in found.shown] == methods
    assert list(found.tables) == ["", "-samples"]
    assert len(found.tables[""]) == 5 * len(methods)
    for claim in found.claims:
        (evidence,) = told(claim)["evidence"]
        assert (evidence["runs"], claim.verdict) == (3, UNDECIDED)


@pytest.mark.parametrize("implicit", [False, True])
def test_in_a_small_run_theorems_hold_and_sharper_forms_are_faster(implicit: bool) -> None:
    ours, rival = OURS[implicit]
    table = {
        line["method"]: line
        for line in linear.read(linear_figure(implicit=implicit), linear_rows(implicit=implicit)).shown
    }
    for label in (ours, rival, f"{ours}, tight", f"{rival}, rank 2"):
        assert (table[label]["runs_all_correct"], table[label]["runs_with_a_wrong_label"]) == (3, 0)
        assert table[label]["median_times_lower_bound"] > 1
    assert table[f"{ours}, tight"]["mean_of_those"] < table[ours]["mean_of_those"]
    assert table[f"{rival}, rank 2"]["mean_of_those"] <= table[rival]["mean_of_those"]
