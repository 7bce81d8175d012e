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
from superlevel.reproduce.claims import Verdict
from superlevel.reproduce.settings import Figure, Row
from superlevel.reproduce.solvers import DecreasingSteps, EqualSteps
from superlevel.reproduce.trials import LowerBound, Simulated
from superlevel.reproduce.widths import Loose, OfRank
from superlevel.reproduce.worlds import Linear
from tests.reproduce.small import OURS, linear_figure, linear_rows, made_up_rows, told


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
    for label, rule in ((f"{ours}, experiments", DecreasingSteps()), (f"{ours}, equal steps", EqualSteps())):
        options = (("confidence", Rips(schedule="experiments")), ("rule", rule))
        assert trial(figure, label) == Simulated(method=ours.lower(), options=options)
    assert dict(trial(figure, f"{rival}, d log t").options) == {"confidence": Loose(intersected=True), "batch": 100}
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
        waited |= entry.label.endswith((", rank 2", ", d log t", ", experiments", ", equal steps"))
        assert getattr(entry.trial, "budget", None) == (None if waited else 10_000)


# ------------------------------------------------------------------------------------------ the table


def line_of(rows: Sequence[Row], method: str) -> Any:
    (found,) = (line for line in linear.sample_table(linear_figure(), rows, 50.0) if line["method"] == method)
    return found


def test_a_run_that_never_got_there_is_later_than_all_others() -> None:
    rows = made_up_rows(ours=[100, None, 400, 100])
    found = line_of(rows, "MELK")
    assert (found["runs"], found["runs_all_correct"]) == (4, 3)
    assert found["mean_of_those"] == 200.0
    assert (found["median_of_all"], found["median_times_lower_bound"]) == (250.0, 5.0)
    assert found["standard_error"] == pytest.approx(stats.sem([100, 400, 100]))


def test_a_method_that_never_got_there_has_no_mean() -> None:
    found = line_of(made_up_rows(ours=[None, None]), "MELK")
    assert (found["runs"], found["runs_all_correct"]) == (2, 0)
    numbers = ("mean_of_those", "standard_error", "median_of_all", "median_times_lower_bound")
    assert [found[key] for key in numbers] == [None] * 4


def test_runs_with_a_wrong_label_are_counted_once_each() -> None:
    wrongs = {0: 2, 1: 0, 2: 1}
    rows = [
        replace(each, values={**each.values, "wrong": wrongs[each.seed]}) if each.method == "LSE" else each
        for each in made_up_rows(ours=[100] * 3)
    ]
    assert line_of(rows, "LSE")["runs_with_a_wrong_label"] == 2
    assert line_of(rows, "MELK")["runs_with_a_wrong_label"] == 0


def test_the_bound_is_the_mean_over_functions_and_a_line_in_the_picture() -> None:
    found = linear.read(linear_figure(), made_up_rows(ours=[1000] * 3, bound=99.0))
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
    assert list(found.tables) == ["", "-samples", "-readings"]
    assert len(found.tables[""]) == 5 * len(methods)
    for claim in found.claims:
        (evidence,) = told(claim)["evidence"]
        assert (evidence["runs"], claim.verdict) == (3, Verdict.UNDECIDED)


@pytest.mark.parametrize("implicit", [False, True])
def test_in_a_small_run_theorems_hold_and_sharper_forms_are_faster(implicit: bool) -> None:
    ours, rival = OURS[implicit]
    table = {
        line["method"]: line
        for line in linear.read(linear_figure(implicit=implicit), linear_rows(implicit=implicit)).shown
    }
    sharper = (f"{ours}, tight", f"{ours}, experiments", f"{ours}, equal steps", f"{rival}, rank 2")
    for label in (ours, rival, f"{rival}, d log t", *sharper):
        assert (table[label]["runs_all_correct"], table[label]["runs_with_a_wrong_label"]) == (3, 0)
        assert table[label]["median_times_lower_bound"] > 1
    for label in sharper[:3]:
        assert table[label]["mean_of_those"] < table[ours]["mean_of_those"]
    assert table[f"{rival}, rank 2"]["mean_of_those"] <= table[rival]["mean_of_those"]
