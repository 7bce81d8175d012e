"""The promises of `superlevel.rules.Rule` as tests, which the test class of a rule inherits.

Here is the whole test of one:

    from superlevel.rules.chance import Chance
    from superlevel.testing.rules import RuleContract

    class TestChance(RuleContract):
        def make(self):
            return Chance()
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import fields, is_dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from superlevel import methods, oracles
from superlevel.arrays import Array
from superlevel.confidence.protocol import AnyConfidence
from superlevel.domain import Domain
from superlevel.errors import InputError
from superlevel.goals import UNDECIDED, Goal, Reading, Threshold
from superlevel.methods.make import describe_rule, restore_rule
from superlevel.problem import Problem
from superlevel.records import Batch, Choice, State, View
from superlevel.rules.protocol import Rule
from superlevel.simulation import Step, simulate
from superlevel.sizes import Growing

PLACES = np.linspace(0, 1, 12) ** 1.1  # without the symmetry that would leave ties to rounding
NOISE = 0.2
SIZES = (1, 2, 7, 40)
PENDING = (0, 0, 5)
PLAIN = (str, bool, int, float, type(None))
BUDGET = 30  # measurements of the campaign, where phases are as small as one likes


class RuleContract(ABC):
    """Every promise of a rule. A subclass overrides `make`, and the attributes if the rule is for something else."""

    goal: ClassVar[Goal] = Threshold(0.2)
    """The goal that the rule is tried with."""
    confidence: ClassVar[str | AnyConfidence] = "posterior"
    """The confidence whose beliefs the rule can read."""
    method: ClassVar[str] = "melk"
    """The method that the rule is tried in: another one may read the goal by points instead of pairs."""

    @abstractmethod
    def make(self) -> Rule:
        """Return the rule, the same each time."""

    def problem(self, points: Array, /) -> Problem:
        """Return a problem on these points (n,) that the rule is for."""
        return Problem(Domain(points, RBF(0.3)), goal=self.goal, noise=NOISE, norm=4.0, bound=1.5)

    # --------------------------------------------------------------------------------------- itself

    def test_it_is_a_frozen_dataclass_that_is_known_by_its_parameters(self) -> None:
        made = self.make()
        assert isinstance(made, Rule)
        assert is_dataclass(made)
        assert made.__dataclass_params__.frozen
        assert repr(made) == repr(self.make())  # a method's fingerprint has the repr of its rule
        assert " at 0x" not in repr(made)

    def test_a_rule_with_plain_parameters_comes_back_from_its_description(self) -> None:
        made: Any = self.make()
        if not all(isinstance(getattr(made, item.name), PLAIN) for item in fields(made)):
            with pytest.raises(InputError):
                describe_rule(made)
            return
        restored: Any = restore_rule(json.loads(json.dumps(describe_rule(made), allow_nan=False)))
        assert type(restored) is type(made)
        assert repr(restored) == repr(made)
        view = self._view()
        self._same(restored.choose(view), made.choose(view))

    # -------------------------------------------------------------------------------------- choices

    @pytest.mark.parametrize("size", SIZES)
    @pytest.mark.parametrize("phases", [0, 2])
    def test_counts_are_whole_numbers_with_the_wanted_sum(self, size: int, phases: int) -> None:
        view = self._view(phases=phases, size=size)
        self._valid(self.make().choose(view), view, size)

    @pytest.mark.parametrize("phases", [0, 2])
    def test_the_same_view_gives_the_same_choice(self, phases: int) -> None:
        made, view = self.make(), self._view(phases=phases)
        first = made.choose(view)
        made.choose(self._view(phases=1, size=2))  # what it caches is not to show
        self._same(made.choose(view), first)
        self._same(self.make().choose(self._view(phases=phases)), first)

    @pytest.mark.parametrize("phases", [0, 2])
    def test_choosing_changes_nothing_in_the_view(self, phases: int) -> None:
        view = self._view(phases=phases, pending=PENDING)
        before = [array.copy() for array in self._shown(view)]
        self.make().choose(view)
        for array, copy in zip(self._shown(view), before, strict=True):
            np.testing.assert_array_equal(array, copy)

    @pytest.mark.parametrize("phases", [0, 2])
    def test_points_that_are_being_measured_are_no_obstacle(self, phases: int) -> None:
        many = tuple(range(len(PLACES))) * 3
        for pending in (PENDING, many):
            view = self._view(phases=phases, pending=pending)
            self._valid(self.make().choose(view), view, 7)

    @pytest.mark.parametrize("phases", [0, 2])
    def test_points_that_could_not_be_measured_are_no_obstacle(self, phases: int) -> None:
        everywhere = tuple(range(len(PLACES))) * 9
        for failed in ((3,) * 20, everywhere):
            view = replace(self._view(phases=phases), failed=np.array(failed))
            self._valid(self.make().choose(view), view, 7)

    def test_a_design_is_reviewed_without_a_solver(self) -> None:
        made, view = self.make(), self._view(phases=1)
        found = made.choose(view).certificate
        if found is None:
            pytest.skip("the rule makes no designs")
        review = made.review(view, found)
        assert review is not None
        assert review.lower_bound == pytest.approx(found.lower_bound, rel=1e-6)
        assert found.lower_bound * (1 - 1e-9) <= review.value <= found.value * (1 + 1e-9)

    # ---------------------------------------------------------------------------------- odd problems

    def test_one_point(self) -> None:
        view = self._view(np.array([0.3]))
        np.testing.assert_array_equal(self.make().choose(view).counts, [7])

    @pytest.mark.parametrize("phases", [0, 2])
    def test_points_that_are_equal(self, phases: int) -> None:
        view = self._view(np.full(5, 0.4), phases=phases)
        self._valid(self.make().choose(view), view, 7)

    @pytest.mark.parametrize("last", [0, 4, 11])
    def test_everything_is_decided_but_one_point(self, last: int) -> None:
        view = self._view(phases=2)
        view = replace(view, reading=self._all_but(last))
        self._valid(self.make().choose(view), view, 7)

    # ------------------------------------------------------------------------------------ a campaign

    def test_a_campaign_asks_and_is_told(self) -> None:
        method = self._method(PLACES)
        budget = None if method.confidence.in_rounds else BUDGET
        steps: list[Step] = []
        run = simulate(method, oracles.Gaussian(_truth(PLACES), noise=NOISE), max_samples=budget, watch=steps.append)
        assert run.samples == sum(np.diff([0, *(step.samples for step in steps)]))
        assert run.samples > 0
        side, known = self.goal.signs(_truth(PLACES)), run.labels != UNDECIDED
        np.testing.assert_array_equal(run.labels[known], side[known])

    # ----------------------------------------------------------------------------------------- parts

    def _method(self, points: Array) -> methods.Method:
        made = replace(self.problem(points), tolerance=0.3) if self._in_rounds else self.problem(points)
        return methods.make(self.method, made, confidence=self.confidence, rule=self.make())

    @property
    def _in_rounds(self) -> bool:
        return getattr(self.confidence, "name", self.confidence) == "rips"

    def _view(self, points: Array = PLACES, *, phases: int = 0, size: int = 7, pending: tuple[int, ...] = ()) -> View:
        """What the rule sees after some phases, or fewer if the last one decides everything."""
        method = self._method(points)
        state = method.init(seed=3)
        for _ in range(phases):
            after = self._next(method, state, _truth(points))
            state = state if after.stop is not None else after
        return method.view(state, phase=state.phase, pending=pending, sizes=Growing(first=size))

    @staticmethod
    def _next(method: methods.Method, state: State, truth: Array) -> State:
        plan = method.ask(state)
        noise = np.random.default_rng([state.phase, 5]).standard_normal(plan.total)
        values = truth[plan.indices] + NOISE * noise
        return method.update(state, Batch(points=plan.indices, values=values, plan=plan, whole=True))[0]

    def _all_but(self, last: int) -> Reading:
        """All points are decided rightly but one."""
        goal = self._method(PLACES).goal
        labels, undecided = goal.signs(_truth(PLACES)).copy(), np.zeros_like(goal.unread(len(PLACES)).undecided)
        labels[..., last] = UNDECIDED
        undecided[last] = True
        return Reading(labels=labels, undecided=undecided)

    @staticmethod
    def _shown(view: View) -> list[Array]:
        bounds = view.belief.bounds(view.goal.share)
        arrays = (view.pending, view.reading.labels, view.undecided, view.belief.estimate, view.belief.counts)
        return [*(np.asarray(array, dtype=np.float64) for array in arrays), bounds.lower, bounds.upper]

    @staticmethod
    def _valid(choice: Choice, view: View, size: int) -> None:
        assert choice.counts.shape == choice.weights.shape == (view.n,)
        assert np.issubdtype(choice.counts.dtype, np.integer)
        assert (choice.counts >= 0).all()
        assert choice.counts.sum() == size
        assert np.isfinite(choice.weights).all()
        assert (choice.weights >= 0).all()
        assert choice.weights.sum() == pytest.approx(1.0)
        assert (choice.weights[choice.counts > 0] > 0).all()

    @staticmethod
    def _same(one: Choice, other: Choice) -> None:
        np.testing.assert_array_equal(one.counts, other.counts)
        np.testing.assert_array_equal(one.weights, other.weights)


def _truth(points: Array) -> Array:
    return np.asarray(np.sin(6 * np.asarray(points)))
