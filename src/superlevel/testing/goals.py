"""The promises of `superlevel.goals.Goal` as tests, which the test class of a goal inherits.

Here is the whole test of one:

    from superlevel.goals import Band
    from superlevel.testing.goals import GoalContract

    class TestBand(GoalContract):
        def make(self):
            return Band(-0.5, 0.4)
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import is_dataclass

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from superlevel import methods, oracles
from superlevel.arrays import Array
from superlevel.domain import Domain
from superlevel.goals import KINDS, UNDECIDED, Bounds, Goal, Reading, decided, parse, restore, summary
from superlevel.problem import Problem
from superlevel.records import Stop
from superlevel.simulation import simulate

N = 12
PLACES = np.linspace(0, 1, N) ** 1.1
NOISE = 0.005
SEEDS = range(8)
each_form = pytest.mark.parametrize("by_points", [False, True])
each_seed = pytest.mark.parametrize("seed", SEEDS)


class GoalContract(ABC):
    """Every promise of a goal. A subclass overrides `make`, and `values` if no label of the usual ones differs."""

    @abstractmethod
    def make(self) -> Goal:
        """Return the goal, the same each time."""

    def values(self, seed: int, /) -> Array:
        """Return the values (n,) of a function at n points, none of which is at a level."""
        return np.random.default_rng(seed).normal(0.2, 0.7, N)

    def smooth(self) -> Array:
        """Return the values (12,) of a smooth function on [0, 1], with points on every side of the levels."""
        return np.asarray(np.sin(6 * PLACES))

    # -------------------------------------------------------------------------------------- as data

    def test_it_is_a_frozen_dataclass_that_is_registered_by_its_kind(self) -> None:
        made = self.make()
        assert isinstance(made, Goal)
        assert is_dataclass(made)
        assert made == self.make()
        assert hash(made) == hash(self.make())
        assert KINDS[made.kind] is type(made)

    def test_it_comes_back_from_its_description(self) -> None:
        made = self.make()
        assert restore(json.loads(json.dumps(made.describe(), allow_nan=False))) == made

    def test_it_comes_back_from_its_words(self) -> None:
        made = self.make()
        assert parse(made.question) == made
        assert isinstance(parse(made.form), type(made))
        assert type(made).parse("anything else") is None

    # -------------------------------------------------------------------------------------- reading

    @each_form
    def test_before_the_first_measurement_nothing_is_decided(self, by_points: bool) -> None:
        goal = self._form(by_points)
        unread = goal.unread(N)
        assert unread.labels.shape == ((len(goal.levels), N) if len(goal.levels) > 1 else (N,))
        assert unread.labels.dtype == np.int8
        assert not unread.labels.any()
        assert unread.undecided.shape == ((N, N) if goal.share else (N,))
        assert unread.undecided.all()
        assert list(goal.levels) == sorted(goal.levels)
        assert goal.implicit == (not goal.levels)

    @each_form
    @each_seed
    def test_exact_bounds_decide_everything(self, by_points: bool, seed: int) -> None:
        goal, f = self._form(by_points), self.values(seed)
        found = self._read(goal, f, 0.0)
        np.testing.assert_array_equal(found.labels, goal.signs(f))
        assert decided(found.labels).all()
        assert not found.undecided.any()

    @each_form
    def test_bounds_that_say_nothing_decide_nothing(self, by_points: bool) -> None:
        goal = self._form(by_points)
        found = self._read(goal, self.values(0), np.inf)
        assert (found.labels == UNDECIDED).all()
        assert found.undecided.all()

    @each_form
    @each_seed
    def test_bounds_that_hold_never_decide_wrongly(self, by_points: bool, seed: int) -> None:
        goal, f = self._form(by_points), self.values(seed)
        width = np.random.default_rng(seed).uniform(0.0, 1.5, goal.unread(N).undecided.shape)
        for tolerance in (0.0, 0.1):
            found = self._read(goal, f, width, tolerance)
            wrong = (found.labels != UNDECIDED) & (found.labels != goal.signs(f))
            assert not wrong[..., goal.margins(f) > 2 * tolerance].any()

    @each_form
    @each_seed
    def test_what_is_decided_stays_decided(self, by_points: bool, seed: int) -> None:
        goal, f = self._form(by_points), self.values(seed)
        first = self._read(goal, f, 0.4)
        again = goal.read(first, _around(goal, -f, 0.1))
        known = first.labels != UNDECIDED
        np.testing.assert_array_equal(again.labels[known], first.labels[known])

    def test_nothing_that_it_hands_out_can_be_changed(self) -> None:
        goal, f = self.make(), self.values(0)
        found = self._read(goal, f, 0.3)
        for array in (found.labels, found.undecided, goal.signs(f)):
            assert not array.flags.writeable

    # ------------------------------------------------------------------------------------- for rules

    @each_form
    @each_seed
    def test_rules_get_numbers_for_every_direction(self, by_points: bool, seed: int) -> None:
        goal, f = self._form(by_points), self.values(seed)
        found = self._read(goal, f, 0.4)
        shape = goal.unread(N).undecided.shape
        values = goal.combine(f)
        gaps = goal.gaps(values, found.labels)
        needed = goal.needed(found.undecided, values)
        assert values.shape == gaps.shape == needed.shape == shape
        assert (gaps >= 0).all()
        assert goal.margins(f).shape == (N,)
        assert (goal.margins(f) > 0).all()
        assert goal.critical(f)
        for weight, difference in goal.critical(f):
            assert 0 < weight <= 1
            assert difference.shape == (N,)

    # -------------------------------------------------------------------------------------- in words

    @each_seed
    def test_every_point_is_counted_once(self, seed: int) -> None:
        goal, f = self.make(), self.values(seed)
        for labels in (goal.unread(N).labels, self._read(goal, f, 0.4).labels, goal.signs(f)):
            counts = goal.counts(labels)
            assert sum(counts.values()) == N
            assert counts["undecided"] == int((~decided(labels)).sum())
            assert set(counts) == {*goal.groups, "undecided"}
            assert summary(goal, labels)
            wanted = goal.wanted(labels)
            assert wanted.shape == (N,)
            assert set(np.unique(wanted)) <= {-1, 0, 1}
        assert (goal.wanted(goal.signs(f)) != UNDECIDED).all()
        assert not goal.wanted(goal.unread(N).labels).any()

    # ------------------------------------------------------------------------------------ a campaign

    def test_a_campaign_decides_it(self) -> None:
        goal, f = self.make(), self.smooth()
        method = methods.make("melk", Problem(Domain(PLACES, RBF(0.2)), goal=goal, noise=NOISE))
        run = simulate(method, oracles.Gaussian(f, noise=NOISE), max_samples=1000)
        assert run.stop is Stop.DECIDED
        np.testing.assert_array_equal(run.labels, goal.signs(f))

    # ----------------------------------------------------------------------------------------- parts

    def _form(self, by_points: bool) -> Goal:
        made = self.make()
        return made.by_points() if by_points else made

    @staticmethod
    def _read(goal: Goal, f: Array, width: float | Array, tolerance: float = 0.0) -> Reading:
        return goal.read(goal.unread(len(f)), _around(goal, f, width), tolerance=tolerance)


def _around(goal: Goal, f: Array, width: float | Array) -> Bounds:
    """Bounds that hold for a function with the values f (n,)."""
    exact = goal.combine(f)
    return Bounds(lower=exact - width, upper=exact + width)
