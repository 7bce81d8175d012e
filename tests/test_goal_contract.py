"""The suite of goals that ships with the package, on all of ours."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

import superlevel as sl
from superlevel.goals import KINDS, Goal
from superlevel.testing import goals
from superlevel.testing.goals import GoalContract
from tests.study.storage.test_contract import run_pytest


class TestThreshold(GoalContract):
    def make(self) -> Goal:
        return sl.Threshold(0.2)


class TestBelow(GoalContract):
    def make(self) -> Goal:
        return sl.Threshold(0.2, side="below")


class TestBand(GoalContract):
    def make(self) -> Goal:
        return sl.Band(-0.5, 0.4)


class TestLevels(GoalContract):
    def make(self) -> Goal:
        return sl.Levels([-0.5, 0.2, 0.6])


class TestFractionOfMax(GoalContract):
    def make(self) -> Goal:
        return sl.FractionOfMax(0.4)


def test_every_goal_is_tried() -> None:
    tried = {made().make().kind for made in (TestThreshold, TestBelow, TestBand, TestLevels, TestFractionOfMax)}
    assert tried == {kind for kind, goal in KINDS.items() if goal.__module__.startswith("superlevel.")}


def test_the_example_of_the_suite_is_a_whole_test(tmp_path: Path) -> None:
    assert goals.__doc__ is not None
    (tmp_path / "test_mine.py").write_text(textwrap.dedent(goals.__doc__.partition(":\n\n")[2]))
    ran = run_pytest("-k", "words or counted or wrongly", folder=tmp_path)
    assert ran.returncode == pytest.ExitCode.OK, ran.stdout
