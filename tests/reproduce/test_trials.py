"""What a run comes to: F1, the last correct label, what was wrong, and the bounds beside it."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from superlevel import bounds
from superlevel.confidence.posterior import GaussianBelief, Posterior
from superlevel.confidence.rips import Rips
from superlevel.confidence.rkhs import Rkhs, RkhsWidth
from superlevel.goals import ABOVE, BELOW, FractionOfMax, Threshold
from superlevel.problem import Problem
from superlevel.records import Stop
from superlevel.reproduce.trials import LowerBound, Simulated, at, f1, last_correct
from superlevel.reproduce.widths import Loose, OfRank
from superlevel.simulation import Run, Step, simulate
from superlevel.worker_setup import quiet
from tests.reproduce.small import ARMS, GP, Apart, setting

MASKS = st.integers(1, 12).flatmap(
    lambda n: st.tuples(*[st.lists(st.booleans(), min_size=n, max_size=n).map(np.array)] * 2)
)
TRACES = st.lists(st.tuples(*[st.sampled_from([-1, 0, 1])] * 2), max_size=6)


def run_of(labels: Sequence[Sequence[int]], steps: Sequence[int] | None = None) -> Run:
    """A run with these labels (phases, points) after 10, 20, ... measurements, or after ``steps``."""
    samples = steps or [10 * (k + 1) for k in range(len(labels))]
    arrays = [np.array(each, dtype=np.int8) for each in labels]
    trace = [
        Step(
            phase=k + 1,
            samples=samples[k],
            labels=each,
            guess=each,
            directions=0,
            precision=math.nan,
            value=math.nan,
            lower_bound=math.nan,
        )
        for k, each in enumerate(arrays)
    ]
    last = arrays[-1] if arrays else np.zeros(2, dtype=np.int8)
    measured = samples[-1] if arrays else 0
    return Run(method="lse", seed=0, labels=last, samples=measured, stop=Stop.BUDGET, trace=tuple(trace), needed=None)


def direct(trial: Simulated, seed: int = 0, *, budget: int = 60, world: Any = GP) -> Run:
    found = world(seed)
    with quiet():
        return simulate(trial.make(found.problem), found.oracle, max_samples=budget, seed=seed)


def score(trial: Any, seed: int = 0, **options: Any) -> Any:
    with quiet():
        return trial(setting(**options), seed)


@given(MASKS)
@settings(max_examples=40)
def test_f1_is_scikit_learns(masks: tuple[Any, Any]) -> None:
    declared, truth = masks
    assert f1(declared, truth) == pytest.approx(f1_score(truth, declared, zero_division=1.0))
    assert f1(declared, truth) == f1(truth, declared)


def test_f1_of_nothing() -> None:
    nothing, something = np.zeros(3, dtype=bool), np.array([True, False, False])
    assert (f1(nothing, nothing), f1(nothing, something), f1(something, nothing)) == (1.0, 0.0, 0.0)


@given(labels=TRACES, truth=st.tuples(st.booleans(), st.booleans()))
def test_the_last_correct_label_is_the_first_step_after_which_all_are_right(labels: Any, truth: Any) -> None:
    run = run_of(labels)
    sides = [ABOVE if up else BELOW for up in truth]
    right = [list(each) == sides for each in labels]
    expected = next((10 * (k + 1) for k in range(len(right)) if all(right[k:])), None)
    assert last_correct(run, np.array(sides)) == expected


def test_a_label_that_turns_wrong_again_is_not_there_yet() -> None:
    right = np.array([1, -1])
    assert last_correct(run_of([(1, -1), (1, 0), (1, -1)]), right) == 30
    assert last_correct(run_of([(1, -1), (1, -1), (-1, -1)]), right) is None
    assert last_correct(run_of([]), right) is None


@given(labels=TRACES.filter(bool), limits=st.lists(st.integers(1, 80), min_size=1, max_size=6))
def test_labels_are_those_of_the_last_step_within_a_number_of_measurements(labels: Any, limits: list[int]) -> None:
    found = at(run_of(labels), tuple(limits))
    for limit, seen in zip(limits, found, strict=True):
        within = [each for k, each in enumerate(labels) if 10 * (k + 1) <= limit]
        assert seen.tolist() == list(within[-1] if within else (0, 0))


def test_a_run_that_ended_keeps_its_labels_and_one_that_has_not_begun_has_none() -> None:
    found = at(run_of([(1, 0), (1, -1)], steps=[7, 9]), (1, 7, 8, 9, 1000))
    assert [each.tolist() for each in found] == [[0, 0], [1, 0], [1, 0], [1, -1], [1, -1]]
    assert [each.tolist() for each in at(run_of([]), (5, 10))] == [[0, 0], [0, 0]]


@pytest.mark.parametrize("method", ["lse", "uniform", "melk"])
def test_scores_along_the_way_are_those_of_runs_that_end_there(method: str) -> None:
    trial = Simulated(method=method, options=(("permanent", True), ("batch", 10)))
    found = score(trial, 3)
    for samples, seen in zip((20, 40, 60), found["f1"], strict=True):
        run = direct(trial, 3, budget=samples)
        assert run.samples == samples
        assert seen == f1_score(GP(3).truth, run.labels == 1, zero_division=1.0)
    assert found["f1"][-1] > 0


def test_a_run_is_that_of_its_own_seed() -> None:
    trial = Simulated(method="uniform", options=(("batch", 10),))
    assert score(trial, 1) == score(trial, 1) != score(trial, 2)


def test_a_trial_with_a_budget_of_its_own_stops_there_and_keeps_its_labels() -> None:
    trial = Simulated(method="lse", options=(("permanent", True),))
    whole, early = score(trial, 4), score(replace(trial, budget=40), 4)
    assert (whole["measured"], early["measured"]) == (60, 40)
    assert early["f1"] == [*whole["f1"][:2], whole["f1"][1]]
    assert whole["f1"][2] != whole["f1"][1]
    assert score(replace(trial, budget=1000), 4) == whole


def test_a_run_that_decides_everything_ends_early_with_its_last_label_right() -> None:
    world = Apart(values=(0.9, -0.8, 0.7), goal=Threshold(0.0), noise=0.05)
    found = score(Simulated(method="lse"), world=world, samples=(2, 50, 1000))
    assert found["last"] == found["measured"] < 50
    assert (found["f1"][1:], found["wrong"]) == ([1.0, 1.0], 0)


def test_a_run_that_never_gets_all_labels_right_says_none() -> None:
    world = Apart(values=(0.9, 1e-9, -0.9), goal=Threshold(0.0), noise=1.0)
    found = score(Simulated(method="uniform"), world=world, samples=(30,))
    assert found["last"] is None
    assert found["measured"] == 30


def test_wrong_labels_are_counted_at_the_end_and_undecided_ones_are_not_wrong() -> None:
    bold, shy = (
        Simulated(method="lse", options=(("confidence", Posterior(beta=beta, intersected=True)), ("permanent", True)))
        for beta in (0.2, 50.0)
    )
    seen = [score(bold, seed) for seed in range(4)]
    for seed, found in enumerate(seen):
        labels, truth = direct(bold, seed).labels, GP(seed).truth
        assert found["wrong"] == sum((mark == 1) != up for mark, up in zip(labels, truth, strict=True) if mark != 0)
    assert max(found["wrong"] for found in seen) > 0
    assert (direct(shy).labels == 0).any()
    assert score(shy)["wrong"] == 0


def test_every_trial_is_strict_json() -> None:
    trials = [Simulated(method="lse"), lse(OfRank(rank=2)), LowerBound()]
    for trial in trials:
        found = score(trial, world=ARMS)
        assert json.loads(json.dumps(found, allow_nan=False)) == found


# ------------------------------------------------------------------------------------------ ranks and bounds


def lse(confidence: Rkhs, batch: int = 10) -> Simulated:
    return Simulated(method="lse", options=(("confidence", confidence), ("batch", batch)))


def widths(trial: Simulated, problem: Problem) -> RkhsWidth:
    found = trial.make(problem).prior
    assert isinstance(found, GaussianBelief)
    assert isinstance(found.widths, RkhsWidth)
    return found.widths


def test_a_rank_replaces_the_dimension_in_the_widths_and_nothing_else() -> None:
    problem = ARMS(0).problem
    plain, ranked = (widths(lse(confidence), problem) for confidence in (Rkhs(), OfRank(rank=2)))
    assert (plain.rank, ranked.rank) == (4, 2)
    assert replace(ranked, rank=4) == plain
    assert ranked.information(100) < plain.information(100)
    first, second = (lse(confidence).make(problem) for confidence in (Rkhs(), OfRank(rank=2)))
    assert (second.sizes, second.permanent, second.rule) == (first.sizes, first.permanent, first.rule)


@pytest.mark.parametrize("confidence", [OfRank(rank=2), OfRank(intersected=True, rank=2), Loose()], ids=repr)
def test_other_widths_intersect_and_order_as_the_rkhs_confidence_does(confidence: Rkhs) -> None:
    assert confidence.ordered == Rkhs(intersected=confidence.intersected).ordered == confidence.intersected


def test_the_rank_that_is_the_dimension_changes_nothing() -> None:
    given: dict[str, Any] = {"samples": (10, 40, 1000), "world": ARMS}
    plain = score(lse(Rkhs()), **given)
    assert score(lse(OfRank(rank=4)), **given) == plain
    assert plain["last"] is not None


def test_loose_widths_have_at_least_twice_the_information() -> None:
    problem = replace(ARMS, noise=1.0)(0).problem
    plain, loose = (widths(lse(confidence), problem) for confidence in (Rkhs(), Loose()))
    for count in (1, 2, 10, 1000, 10**6):
        assert loose.information(count) == pytest.approx(4 * math.log(1 + count))
        assert loose.information(count) >= 2 * plain.information(count)
    given: dict[str, Any] = {"samples": (10**4,), "world": replace(ARMS, noise=0.5)}
    slow, fast = (score(lse(confidence), **given)["last"] for confidence in (Loose(), Rkhs()))
    assert slow > fast


def test_the_lower_bound_of_separate_points_is_a_sum_over_their_gaps() -> None:
    world = Apart(values=(0.5, -0.25, 0.9), goal=Threshold(0.1), noise=0.7)
    gaps = np.array([0.4, 0.35, 0.8])
    expected = 2 * 0.7**2 * np.log(1 / 0.24) * (1 / gaps**2).sum()
    assert score(LowerBound(), world=world)["samples"] == pytest.approx(expected, rel=0.011)


def test_the_lower_bound_of_a_fraction_of_the_maximum_is_the_implicit_one() -> None:
    found = replace(ARMS, implicit=True)(4)
    expected = bounds.implicit(
        found.problem.domain, found.values, epsilon=0.5, noise=0.1, delta=found.problem.delta
    ).samples
    assert isinstance(found.problem.goal, FractionOfMax)
    assert score(LowerBound(), 4, world=replace(ARMS, implicit=True)) == {"samples": expected}
    assert expected != score(LowerBound(), 4, world=ARMS)["samples"]


@pytest.mark.parametrize(("method", "implicit"), [("melk", False), ("milk", True)])
def test_no_theorem_beats_the_lower_bound(method: str, implicit: bool) -> None:
    given: dict[str, Any] = {"world": replace(ARMS, implicit=implicit), "samples": (10**6,)}
    found = score(Simulated(method=method, options=(("confidence", Rips()),)), **given)
    assert found["f1"] == [1.0]
    assert score(LowerBound(), **given)["samples"] <= found["last"]
