"""The suite of confidences that ships with the package: all of ours pass it, and those that break a promise fail it."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel.arrays import Array, Mask
from superlevel.confidence.posterior import GaussianBelief, Posterior
from superlevel.confidence.protocol import AnyConfidence, Guarantee
from superlevel.findings import Finding
from superlevel.goals import Bounds, Goal
from superlevel.problem import Problem
from superlevel.records import Batch
from superlevel.testing import confidences
from superlevel.testing.confidences import GOALS, ConfidenceContract
from tests.study.storage.test_contract import run_pytest

LINE = sl.Domain(np.linspace(0, 1, 9), RBF(0.4))
PLANE = sl.Domain(np.random.default_rng(0).normal(size=(8, 2)))


class TestPosterior(ConfidenceContract):
    def make(self) -> AnyConfidence:
        return sl.Posterior()

    def problem(self, goal: Goal, /) -> Problem:
        return sl.Problem(LINE, goal=goal, noise=0.2, mean=0.1)


class TestPosteriorWithParameters(TestPosterior):
    def make(self) -> AnyConfidence:
        return sl.Posterior(beta=2.5)

    def problem(self, goal: Goal, /) -> Problem:
        noise = np.linspace(0.1, 0.4, 9)
        return sl.Problem(LINE, goal=goal, noise=noise, tolerance=0.05, misspecification=0.02)


class TestPosteriorIntersected(TestPosterior):
    def make(self) -> AnyConfidence:
        return sl.Posterior(intersected=True)


class TestRkhs(ConfidenceContract):
    def make(self) -> AnyConfidence:
        return sl.Rkhs()

    def problem(self, goal: Goal, /) -> Problem:
        return sl.Problem(LINE, goal=goal, noise=0.1, norm=1.0, misspecification=0.01)


class TestRidge(ConfidenceContract):
    def make(self) -> AnyConfidence:
        return sl.Ridge()

    def problem(self, goal: Goal, /) -> Problem:
        return sl.Problem(LINE, goal=goal, noise=0.1, norm=1.0, mean=0.1)


class TestRidgeByEllipsoids(TestRidge):
    def make(self) -> AnyConfidence:
        return sl.Ridge(growth=1.0, shares=(1.0, 0.0))


class TestRidgeWithABound(TestRidge):
    def problem(self, goal: Goal, /) -> Problem:
        return sl.Problem(PLANE, goal=goal, noise=0.1, bound=1.0, tolerance=0.05)


class TestRips(ConfidenceContract):
    def make(self) -> AnyConfidence:
        return sl.Rips()

    def problem(self, goal: Goal, /) -> Problem:
        return sl.Problem(PLANE, goal=goal, noise=0.3, bound=1.0, mean=0.1)


class TestRipsTight(TestRips):
    def make(self) -> AnyConfidence:
        return sl.Rips(schedule="tight", estimator="median of means")  # type: ignore[arg-type]


# --- confidences that break a promise


@dataclass(frozen=True, kw_only=True)
class Forgetful(Posterior):
    """Its last batch is all it knows, and it says that order makes no difference."""

    name: ClassVar[str] = "forgetful"

    def update(self, belief: GaussianBelief, batch: Batch) -> GaussianBelief:
        return super().update(self.prior(belief.problem), batch)


@dataclass(frozen=True, kw_only=True)
class Overwriting(Posterior):
    """It counts in the arrays of the belief before."""

    name: ClassVar[str] = "overwriting"

    def prior(self, problem: Problem) -> GaussianBelief:
        return replace(super().prior(problem), counts=np.zeros(problem.domain.n, dtype=np.int64))

    def update(self, belief: GaussianBelief, batch: Batch) -> GaussianBelief:
        after = super().update(belief, batch)
        belief.counts[:] = after.counts
        return replace(after, counts=belief.counts)


class Talkative(GaussianBelief):
    """It has a verdict of its own."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        return (Finding(assumption="kernel", verdict="fine", number=1.0, sentence="all is fine"),)  # type: ignore[arg-type]


class Crossed(GaussianBelief):
    """It has its ends the wrong way round."""

    def bounds(self, share: float = 0.0, mask: Mask | None = None, /) -> Bounds:
        found = super().bounds(share, mask)
        return Bounds(lower=found.upper, upper=found.lower)


class Elsewhere(GaussianBelief):
    """Its estimate has nothing to do with its bounds."""

    @property
    def estimate(self) -> Array:
        return super().estimate + 100.0


class Certain(GaussianBelief):
    """It is sure of itself: its bounds are a tenth as wide as they should be."""

    def bounds(self, share: float = 0.0, mask: Mask | None = None, /) -> Bounds:
        found = super().bounds(share, mask)
        centre, half = (found.lower + found.upper) / 2, (found.upper - found.lower) / 20
        return Bounds(lower=centre - half, upper=centre + half)


@dataclass(frozen=True, kw_only=True)
class Of(Posterior):
    """Another kind of belief."""

    kind: type[GaussianBelief]
    name: ClassVar[str] = "of"

    def prior(self, problem: Problem) -> GaussianBelief:
        prior = super().prior(problem)
        return self.kind(problem=problem, posterior=prior.posterior, widths=prior.widths, counts=prior.counts)


@dataclass(frozen=True, kw_only=True)
class Silent(Posterior):
    """It promises nothing in words."""

    name: ClassVar[str] = "silent"

    def guarantee(self, _problem: Problem) -> Guarantee:
        return Guarantee(promise="", probability=None, at_all_times=False, assumes=())


@dataclass(frozen=True, kw_only=True)
class Random(Posterior):
    """It has random numbers of its own."""

    name: ClassVar[str] = "random"
    rng: ClassVar[np.random.Generator] = np.random.default_rng(0)

    def update(self, belief: GaussianBelief, batch: Batch) -> GaussianBelief:
        noisy = replace(batch, values=batch.values + 1e-6 * self.rng.standard_normal(len(batch.values)))
        return super().update(belief, noisy)


@dataclass(frozen=True, kw_only=True)
class Grown(Posterior):
    """A parameter that JSON does not hold as it is."""

    extra: Any = None
    name: ClassVar[str] = "grown"


BROKEN: list[tuple[AnyConfidence, str]] = [
    (Forgetful(), "test_order_and_grouping_make_no_difference_unless_it_is_said"),
    (Forgetful(), "test_measurements_are_counted_at_their_points"),
    (Overwriting(), "test_an_update_does_not_change_the_belief_before"),
    (Of(kind=Talkative), "test_findings_are_records_with_a_known_verdict"),
    (Of(kind=Crossed), "test_bounds_have_the_shape_of_their_directions_and_are_in_order"),
    (Of(kind=Elsewhere), "test_the_estimate_is_within_the_bounds"),
    (Of(kind=Certain), "test_bounds_hold_the_truth_in_most_runs"),
    (Silent(), "test_the_guarantee_is_a_sentence_with_a_probability_and_what_it_rests_on"),
    (Random(), "test_the_same_batches_give_the_same_belief"),
]


@pytest.mark.parametrize(("broken", "name"), BROKEN, ids=[f"{type(who).__name__}-{name}" for who, name in BROKEN])
def test_a_broken_promise_fails_its_test(broken: AnyConfidence, name: str) -> None:
    class Suite(TestPosterior):
        def make(self) -> AnyConfidence:
            return broken

    with pytest.raises(AssertionError):
        getattr(Suite(), name)(GOALS["points"])


@pytest.mark.parametrize("extra", [{1.5: "a"}, [1.0, (2.0, 3.0)]])
def test_a_parameter_that_does_not_come_back_is_found(extra: Any) -> None:
    class Suite(TestPosterior):
        def make(self) -> AnyConfidence:
            return Grown(extra=extra)

    with pytest.raises(AssertionError):
        Suite().test_it_comes_back_from_its_description()


def test_a_confidence_from_outside_comes_back_by_its_class() -> None:
    class Suite(TestPosterior):
        def make(self) -> AnyConfidence:
            return Grown(extra=(1.0, 2.0))

    assert Suite().make().name not in sl.methods.CONFIDENCES
    Suite().test_it_comes_back_from_its_description()


def test_the_example_of_the_module_is_a_whole_test(tmp_path: Path) -> None:
    assert confidences.__doc__ is not None
    (tmp_path / "test_mine.py").write_text(textwrap.dedent(confidences.__doc__.partition(":\n\n")[2]))
    ran = run_pytest("-k", "points and not runs", folder=tmp_path)
    assert ran.returncode == pytest.ExitCode.OK, ran.stdout
