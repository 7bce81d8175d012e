"""The promises of `superlevel.confidence.protocol.Confidence` as tests, which the test class of a confidence inherits.

Here is the whole test of one:

    import superlevel as sl
    from sklearn.gaussian_process.kernels import RBF
    from superlevel.testing.confidences import ConfidenceContract

    class TestRidge(ConfidenceContract):
        def make(self):
            return sl.Ridge()

        def problem(self, goal):
            return sl.Problem(sl.Domain([0.0, 0.3, 0.7, 1.0], RBF(0.5)), goal=goal, noise=0.2, norm=2.0)
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest

from superlevel.arrays import Array, Indices
from superlevel.confidence.protocol import AnyConfidence, Guarantee, describe
from superlevel.errors import InputError
from superlevel.findings import Finding, Verdict
from superlevel.goals import UNDECIDED, Bounds, FractionOfMax, Goal, Levels, Threshold
from superlevel.methods import CONFIDENCES, Method
from superlevel.methods.make import as_confidence
from superlevel.posterior import GaussianPosterior
from superlevel.problem import Problem
from superlevel.records import Batch, Belief, Choice, LinearModel, State, View
from superlevel.rules.design import OptimalDesign
from superlevel.rules.protocol import Rule
from superlevel.sizes import Need

GOALS: dict[str, Goal] = {
    "points": Threshold(0.15),
    "levels": Levels([-0.1, 0.15, 0.4]),
    "pairs": FractionOfMax(0.3),
}
PHASES = 3
SIZE = 12
RUNS, WRONG = 8, 4  # more wrong runs than that have a probability of 1 in 2000 where each has one of 0.1
goals = pytest.mark.parametrize("goal", GOALS.values(), ids=GOALS)


class ConfidenceContract(ABC):
    """Every promise of a confidence. A subclass says how to make it, and a problem that it is for."""

    @abstractmethod
    def make(self) -> AnyConfidence:
        """Return the confidence, the same each time."""

    @abstractmethod
    def problem(self, goal: Goal, /) -> Problem:
        """Return a problem with this goal, all that the confidence needs, and nothing to be estimated."""

    # --------------------------------------------------------------------------------------- itself

    def test_it_is_a_frozen_dataclass_with_a_name_and_says_what_it_uses(self) -> None:
        made = self.make()
        assert is_dataclass(made)
        assert type(made).__dataclass_params__.frozen
        assert made == self.make()
        assert hash(made) == hash(self.make())
        assert isinstance(made.name, str)
        assert made.name
        assert made.uses <= {item.name for item in fields(Problem)} - {"domain", "goal"}
        flags = (made.in_rounds, made.permanent, made.ordered)
        assert all(isinstance(flag, bool) for flag in flags)
        assert made.budget > 0

    def test_it_comes_back_from_its_description(self) -> None:
        made = self.make()
        described = json.loads(json.dumps(describe(made), allow_nan=False))
        assert described["name"] == made.name
        restored = _restored(made, described)
        assert type(restored) is type(made)
        assert restored == made
        assert describe(restored) == describe(made)

    @goals
    def test_the_guarantee_is_a_sentence_with_a_probability_and_what_it_rests_on(self, goal: Goal) -> None:
        problem = self.problem(goal)
        found = self.make().guarantee(problem)
        assert isinstance(found, Guarantee)
        assert found.promise.strip() == found.promise
        assert len(found.promise.split()) > 3
        assert "\n" not in found.promise
        assert found.probability is None or found.probability == pytest.approx(1 - problem.delta)
        assert isinstance(found.at_all_times, bool)
        assert found.assumes
        assert all(isinstance(each, str) and each for each in found.assumes)

    @goals
    def test_every_phase_has_measurements(self, goal: Goal) -> None:
        problem = self.problem(goal)
        sizes = self.make().sizes(problem, None)
        for phase in (1, 2, 3):
            need = Need(phase=phase, value=1.0, directions=goal.unread(problem.domain.n).undecided.sum(), begun=5)
            assert sizes.samples(need) >= 1
            precision = sizes.precision(phase)
            assert precision is None or precision > 0

    def test_noise_that_is_not_given_is_asked_for(self) -> None:
        with pytest.raises(InputError):
            self.make().prior(replace(self.problem(GOALS["points"]), noise=None))

    # --------------------------------------------------------------------------------------- beliefs

    @goals
    def test_before_the_first_measurement_only_what_is_fixed_is_decided(self, goal: Goal) -> None:
        method = self._method(goal)
        prior, state = method.prior, method.init()
        assert not prior.counts.any()
        assert not prior.contradicted
        assert {finding.verdict for finding in prior.findings} <= {Verdict.UNTESTED, Verdict.HOLDS}
        known, undecided = prior.fixed(goal.share), goal.unread(method.problem.domain.n).undecided
        if known is None:
            assert (state.labels == UNDECIDED).all()
            np.testing.assert_array_equal(state.undecided, undecided)
        else:
            assert known.lower.shape == undecided.shape
            assert state.undecided[np.isnan(known.lower)].all()

    @goals
    def test_what_is_fixed_is_not_changed_by_measurements(self, goal: Goal) -> None:
        told = self._told(goal)
        first, last = told.beliefs[0].fixed(goal.share), told.beliefs[-1].fixed(goal.share)
        assert (first is None) == (last is None)
        if first is not None and last is not None and first.lower.shape == last.lower.shape:
            np.testing.assert_array_equal(np.isnan(first.lower), np.isnan(last.lower))

    @goals
    def test_an_update_does_not_change_the_belief_before(self, goal: Goal) -> None:
        told = self._told(goal)
        confidence, problem = self.make(), self.problem(goal)
        looked_at, untouched = confidence.prior(problem), confidence.prior(problem)
        seen = _seen(looked_at, goal)
        copies = {name: array.copy() for name, array in seen.items()}
        for before in (looked_at, untouched):
            confidence.update(before, told.batches[0])
            _assert_same(_seen(before, goal), copies)

    @goals
    def test_the_same_batches_give_the_same_belief(self, goal: Goal) -> None:
        told, confidence = self._told(goal), self.make()
        belief = confidence.prior(self.problem(goal))
        for batch, expected in zip(told.batches, told.beliefs[1:], strict=True):
            belief = confidence.update(belief, batch)
            _assert_same(_seen(belief, goal), _seen(expected, goal))
            assert belief.findings == expected.findings
            assert belief.contradicted == expected.contradicted

    @goals
    def test_order_and_grouping_make_no_difference_unless_it_is_said(self, goal: Goal) -> None:
        confidence = self.make()
        if confidence.ordered:
            pytest.skip("the confidence says that order and grouping make a difference")
        told = self._told(goal)
        whole, expected = _joined(told.batches), told.beliefs[-1]
        shuffled = np.random.default_rng(0).permutation(len(whole.points))
        for parts in ([np.arange(len(shuffled))], [shuffled], np.array_split(shuffled, 7), shuffled[:, None]):
            belief = confidence.prior(self.problem(goal))
            for part in parts:
                belief = confidence.update(belief, Batch(points=whole.points[part], values=whole.values[part]))
            np.testing.assert_array_equal(belief.counts, expected.counts)
            for share in {0.0, goal.share}:
                found, wanted = belief.bounds(share), expected.bounds(share)
                np.testing.assert_allclose(found.lower, wanted.lower, rtol=1e-6, atol=1e-6)
                np.testing.assert_allclose(found.upper, wanted.upper, rtol=1e-6, atol=1e-6)

    @goals
    def test_bounds_have_the_shape_of_their_directions_and_are_in_order(self, goal: Goal) -> None:
        told, n = self._told(goal), self.problem(goal).domain.n
        for belief in told.beliefs:
            for share, shape in ((0.0, (n,)), (goal.share or 0.5, (n, n))):
                found = belief.bounds(share)
                assert found.lower.shape == found.upper.shape == shape
                np.testing.assert_array_equal(np.isnan(found.lower), np.isnan(found.upper))
                known = ~np.isnan(found.lower)
                assert (found.lower[known] <= found.upper[known]).all()
        last, undecided = told.beliefs[-1].bounds(goal.share), told.states[-2].undecided
        assert np.isfinite(last.lower[undecided]).all()
        assert np.isfinite(last.upper[undecided]).all()

    @goals
    def test_a_mask_leaves_the_bounds_of_its_directions_as_they_are(self, goal: Goal) -> None:
        told = self._told(goal)
        mask = np.random.default_rng(0).random(told.states[0].undecided.shape) < 0.5
        everything, some = told.beliefs[-1].bounds(goal.share), told.beliefs[-1].bounds(goal.share, mask)
        np.testing.assert_allclose(some.lower[mask], everything.lower[mask], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(some.upper[mask], everything.upper[mask], rtol=1e-9, atol=1e-9)

    @goals
    def test_the_estimate_is_within_the_bounds(self, goal: Goal) -> None:
        told, n = self._told(goal), self.problem(goal).domain.n
        for belief in told.beliefs:
            assert belief.estimate.shape == (n,)
            assert np.isfinite(belief.estimate).all()
            assert _inside(belief.estimate, belief.bounds())
            values = belief.values(goal)
            assert values.shape == goal.combine(belief.estimate).shape
            assert _inside(values, belief.bounds(goal.share))

    @goals
    def test_measurements_are_counted_at_their_points(self, goal: Goal) -> None:
        told, confidence, problem = self._told(goal), self.make(), self.problem(goal)
        n = problem.domain.n
        for k, belief in enumerate(told.beliefs[1:], start=1):
            batch = told.batches[k - 1] if confidence.in_rounds else _joined(told.batches[:k])
            counts = np.bincount(batch.points, minlength=n)
            np.testing.assert_array_equal(belief.counts, counts)
            weights, means = belief.averages
            np.testing.assert_allclose(weights, counts / problem.deviations**2, rtol=1e-9)
            sums = np.bincount(batch.points, batch.values, n)
            np.testing.assert_allclose(means[counts > 0], sums[counts > 0] / counts[counts > 0], atol=1e-9)
            assert not means[counts == 0].any()

    @goals
    def test_findings_are_records_with_a_known_verdict(self, goal: Goal) -> None:
        for belief in self._told(goal).beliefs:
            assert isinstance(belief.findings, tuple)
            for finding in belief.findings:
                assert isinstance(finding, Finding)
                assert finding.assumption
                assert isinstance(finding.verdict, Verdict)
                assert not np.isnan(finding.number)
                assert finding.sentence.strip() == finding.sentence
                assert finding.sentence
                assert "\n" not in finding.sentence
            if belief.contradicted:
                assert any(finding.verdict is Verdict.CONTRADICTED for finding in belief.findings)

    @goals
    def test_what_is_as_assumed_is_not_contradicted(self, goal: Goal) -> None:
        runs = [self._told(goal, seed) for seed in range(RUNS)]
        assert sum(told.beliefs[-1].contradicted for told in runs) <= WRONG

    @goals
    def test_bounds_hold_the_truth_in_most_runs(self, goal: Goal) -> None:
        truth, missed = _truth(self.problem(goal)), 0
        for seed in range(RUNS):
            beliefs = self._told(goal, seed).beliefs
            missed += not all(_inside(goal.combine(truth), belief.bounds(goal.share)) for belief in beliefs)
        assert missed <= WRONG

    @goals
    def test_labels_are_right_in_most_runs(self, goal: Goal) -> None:
        truth, wrong = goal.signs(_truth(self.problem(goal))), 0
        slack = self.problem(goal).tolerance
        clear = goal.margins(_truth(self.problem(goal))) > slack
        for seed in range(RUNS):
            labels = self._told(goal, seed).states[-1].labels
            wrong += bool(((labels != UNDECIDED) & (labels != truth) & clear).any())
        assert wrong <= WRONG

    @goals
    def test_what_rules_may_ask_for_is_there_or_refused_in_a_sentence(self, goal: Goal) -> None:
        told, n = self._told(goal), self.problem(goal).domain.n
        for belief in told.beliefs:
            assert belief.problem.domain.n == n
            assert (belief.pilot, belief.tolerance >= 0) == (0, True)
            assert belief.sources is None or len(belief.sources) == n
            relief = belief.relief(np.array([1, 0]))
            assert relief.shape == (2, n)
            assert ((relief >= 0) & (relief <= 1 + 1e-9)).all()
            low, high = belief.probability(-0.5), belief.probability(0.5)
            assert (low is None) == (high is None)
            if low is not None and high is not None:
                assert ((high >= 0) & (high <= low) & (low <= 1)).all()
            for name, kind in (("posterior", GaussianPosterior), ("linear", LinearModel)):
                found = _asked(belief, name)
                assert isinstance(found, kind) or "give" in str(found)
            model = _asked(belief, "model")
            assert "give" in str(model) if isinstance(model, str) else getattr(model, "width", 0.0) > 0

    # --------------------------------------------------------------------------------------- campaigns

    def _method(self, goal: Goal) -> Method:
        confidence, problem = self.make(), self.problem(goal)
        rule: Rule = OptimalDesign() if confidence.in_rounds else _Spread()
        return Method(
            name="contract",
            problem=problem,
            goal=goal,
            rule=rule,
            sizes=confidence.sizes(problem, None if confidence.in_rounds else SIZE),
            confidence=confidence,
            prior=confidence.prior(problem),
            permanent=confidence.permanent,
        )

    def _told(self, goal: Goal, seed: int = 0) -> _Told:
        """A campaign of some phases, or fewer if it ends before, with plans that are told as a whole."""
        method = self._method(goal)
        truth, rng = _truth(method.problem), np.random.default_rng([seed, 1])
        states, batches = [method.init(seed=seed)], list[Batch]()
        while len(batches) < PHASES and states[-1].stop is None:
            plan = method.ask(states[-1])
            noise = method.problem.deviations[plan.indices] * rng.standard_normal(plan.total)
            batches.append(Batch(points=plan.indices, values=truth[plan.indices] + noise, plan=plan, whole=True))
            states.append(method.update(states[-1], batches[-1])[0])
        return _Told(states=states, batches=batches)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Told:
    """The states of a campaign and the batches between them."""

    states: list[State]
    batches: list[Batch]

    @property
    def beliefs(self) -> list[Belief]:
        return [state.belief for state in self.states]


@dataclass(frozen=True)
class _Spread(Rule):
    """All points in turn, in an order that changes from phase to phase."""

    def choose(self, view: View) -> Choice:
        places = np.resize(view.rng().permutation(view.n), view.samples())
        counts = np.bincount(places, minlength=view.n)
        return Choice(weights=counts / counts.sum(), counts=counts)


def _asked(belief: Belief, name: str) -> object:
    """What a rule gets that asks for this, or the sentence that refuses it."""
    try:
        return getattr(belief, name)
    except InputError as refused:
        return str(refused)


def _truth(problem: Problem) -> Array:
    """(n,) a function that is as the problem assumes: mean + c k(x, .), within norm and bound."""
    row = problem.domain.gram([problem.domain.n // 3], np.arange(problem.domain.n))[0]
    own = float(problem.domain.diagonal()[problem.domain.n // 3])
    limits = [0.8 / np.sqrt(own)]
    limits += [] if problem.norm is None else [0.8 * problem.norm / np.sqrt(own)]
    limits += [] if problem.bound is None else [0.8 * problem.bound / float(np.abs(row).max())]
    return np.asarray(problem.mean + min(limits) * row)


def _seen(belief: Belief, goal: Goal) -> dict[str, Array | Indices]:
    """All that may be read of a belief."""
    points, directions = belief.bounds(), belief.bounds(goal.share)
    return {
        "lower": points.lower,
        "upper": points.upper,
        "lower of directions": directions.lower,
        "upper of directions": directions.upper,
        "estimate": belief.estimate,
        "values": belief.values(goal),
        "counts": belief.counts,
        "weights": belief.averages[0],
        "means": belief.averages[1],
    }


def _assert_same(found: Mapping[str, Array | Indices], expected: Mapping[str, Array | Indices]) -> None:
    assert found.keys() == expected.keys()
    for name, array in found.items():
        np.testing.assert_array_equal(array, expected[name], err_msg=name)


def _joined(batches: Iterable[Batch]) -> Batch:
    """Batches as one that nobody planned."""
    listed = list(batches)
    return Batch(
        points=np.concatenate([batch.points for batch in listed]),
        values=np.concatenate([batch.values for batch in listed]),
    )


def _inside(values: Array, bounds: Bounds) -> bool:
    """Whether values are within bounds, to rounding, wherever there are any."""
    known = ~np.isnan(bounds.lower)
    slack = 1e-9 * (1 + np.abs(values[known]))
    below, above = values[known] < bounds.lower[known] - slack, values[known] > bounds.upper[known] + slack
    return not (below | above).any()


def _restored(made: AnyConfidence, described: Mapping[str, Any]) -> AnyConfidence:
    """A confidence of the package by its name, and another one by its class."""
    if CONFIDENCES.get(made.name) is type(made):
        return as_confidence(described)
    parameters = {name: value for name, value in described.items() if name != "name"}
    return type(made)(
        **{name: tuple(value) if isinstance(value, list) else value for name, value in parameters.items()}
    )
