"""The suite of rules that ships with the package: all of ours pass it, and rules that break a promise fail it."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import superlevel as sl
from superlevel.goals import Goal
from superlevel.methods.table import ROWS
from superlevel.records import Choice, View
from superlevel.rules import Rule
from superlevel.rules.chance import Chance
from superlevel.rules.covariances import AverageCase
from superlevel.testing import rules
from superlevel.testing.rules import RuleContract
from tests.study.storage.test_contract import run_pytest

GOALS: dict[str, Goal] = {
    "Threshold": sl.Threshold(0.2),
    "Levels": sl.Levels([-0.5, 0.2]),
    "FractionOfMax": sl.FractionOfMax(0.3),
}


def contract(name: str, confidence: str, rule: Rule, goal: Goal) -> type[RuleContract]:
    """The suite for a rule in a method of the table."""
    parts = {"goal": goal, "confidence": confidence, "method": name, "make": lambda _self: rule, "__module__": __name__}
    return type("Made", (RuleContract,), parts)


for _name, _row in ROWS.items():
    for _said, _goal in GOALS.items():
        for _confidence, _pairing in _row.confidences.items() if _row.takes(_goal) else ():
            for _called, _rule in _pairing.rules.items():
                _title = "_".join(("Test", _name, _confidence, _called, _said)).replace("-", "_")
                globals()[_title] = contract(_name, _confidence, _rule, _goal)


def test_every_rule_of_the_table_is_tried() -> None:
    tried = {repr(made().make()) for name, made in globals().items() if name.startswith("Test_")}
    in_table = {repr(rule) for row in ROWS.values() for pairing in row.pairings for rule in pairing.rules.values()}
    assert tried == in_table
    assert len(tried) == 23


def test_the_example_of_the_suite_is_a_whole_test(tmp_path: Path) -> None:
    assert rules.__doc__ is not None
    (tmp_path / "test_mine.py").write_text(textwrap.dedent(rules.__doc__.partition(":\n\n")[2]))
    ran = run_pytest(folder=tmp_path)
    assert ran.returncode == pytest.ExitCode.OK, ran.stdout
    assert "1 skipped" in ran.stdout


# --- rules that break a promise


@dataclass(frozen=True)
class Broken(Chance):
    """Overridden below, each time in another way."""


@dataclass(frozen=True)
class OneMore(Broken):
    def choose(self, view: View) -> Choice:
        made = super().choose(view)
        return Choice(weights=made.weights, counts=made.counts + (np.arange(view.n) == 0))


@dataclass(frozen=True)
class Halves(Broken):
    def choose(self, view: View) -> Choice:
        made = super().choose(view)
        return Choice(weights=made.weights, counts=made.counts / 1.0)  # type: ignore[arg-type]


@dataclass(frozen=True)
class NoDistribution(Broken):
    def choose(self, view: View) -> Choice:
        made = super().choose(view)
        return Choice(weights=2 * made.weights, counts=made.counts)


@dataclass(frozen=True)
class Unweighted(Broken):
    def choose(self, view: View) -> Choice:
        made = super().choose(view)
        unmeasured = made.counts == 0 if view.n > 1 else np.ones(1)
        return Choice(weights=np.asarray(unmeasured / unmeasured.sum()), counts=made.counts)


@dataclass(frozen=True)
class Moody(Broken):
    def choose(self, view: View) -> Choice:
        counts = np.random.default_rng().multinomial(view.samples(), np.full(view.n, 1 / view.n))
        return Choice(weights=np.full(view.n, 1 / view.n), counts=counts)


@dataclass(frozen=True)
class Stubborn(Broken):
    def choose(self, view: View) -> Choice:
        assert not len(view.pending)
        return super().choose(view)


@dataclass(frozen=True)
class Crowded(Broken):
    def choose(self, view: View) -> Choice:
        assert view.n > 1
        return super().choose(view)


@dataclass(frozen=True)
class Demanding(Broken):
    def choose(self, view: View) -> Choice:
        assert view.undecided.sum() > 1
        return super().choose(view)


@dataclass(frozen=True)
class Greedy(Broken):
    """It takes the spacing between the points for granted."""

    def choose(self, view: View) -> Choice:
        assert np.ptp(view.problem.domain.points) > 0 or view.n == 1
        return super().choose(view)


@dataclass(frozen=True)
class Meddling(Broken):
    def choose(self, view: View) -> Choice:
        view.reading.labels.flags.writeable = True
        view.reading.labels[...] = 1
        return super().choose(view)


@dataclass(frozen=True)
class Boasting(AverageCase):
    def choose(self, view: View) -> Choice:
        made = super().choose(view)
        assert made.certificate is not None
        better = made.certificate.lower_bound * 1.01
        return replace(made, certificate=replace(made.certificate, lower_bound=better))


class Unfrozen(Rule):
    def choose(self, view: View) -> Choice:
        return Chance().choose(view)


BROKEN: dict[type[Rule], tuple[str, tuple[Any, ...]]] = {
    OneMore: ("test_counts_are_whole_numbers_with_the_wanted_sum", (7, 0)),
    Halves: ("test_counts_are_whole_numbers_with_the_wanted_sum", (7, 0)),
    NoDistribution: ("test_counts_are_whole_numbers_with_the_wanted_sum", (7, 0)),
    Unweighted: ("test_counts_are_whole_numbers_with_the_wanted_sum", (7, 0)),
    Moody: ("test_the_same_view_gives_the_same_choice", (0,)),
    Stubborn: ("test_points_that_are_being_measured_are_no_obstacle", (0,)),
    Crowded: ("test_one_point", ()),
    Demanding: ("test_everything_is_decided_but_one_point", (4,)),
    Greedy: ("test_points_that_are_equal", (0,)),
    Meddling: ("test_choosing_changes_nothing_in_the_view", (0,)),
    Boasting: ("test_a_design_is_reviewed_without_a_solver", ()),
    Unfrozen: ("test_it_is_a_frozen_dataclass_that_is_known_by_its_parameters", ()),
}


@pytest.mark.parametrize("kind", BROKEN, ids=lambda kind: kind.__name__)
def test_a_rule_that_breaks_a_promise_fails_the_test_of_it(kind: type[Rule]) -> None:
    name, arguments = BROKEN[kind]
    whole: Any = contract("melk", "posterior", AverageCase() if kind is Boasting else Chance(), GOALS["Threshold"])()
    getattr(whole, name)(*arguments)
    broken: Any = contract("melk", "posterior", kind(), GOALS["Threshold"])()
    with pytest.raises(AssertionError):
        getattr(broken, name)(*arguments)
