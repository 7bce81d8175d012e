"""What every rule answers: where to measure next. A rule from outside the package derives from `Rule`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from superlevel.arrays import as_number
from superlevel.design import Design, Review
from superlevel.goals import Goal
from superlevel.problem import Problem
from superlevel.records import Choice, View


class Rule(ABC):
    """Where to measure next.

    A rule is a frozen dataclass whose fields are plain numbers, text or flags, so that a study can store it by its name
    and its parameters. Everything else that it needs is in the view. It may cache what it computes between choices.
    """

    certifies: ClassVar[bool] = False
    """Whether every choice has a design with its certificate, so that a stored plan without one was changed."""

    compares: ClassVar[bool] = True
    """Whether it compares points with each other. On a large domain some of them are compared (`rules.narrowed`)."""

    def check(self, _problem: Problem, _goal: Goal, /) -> None:
        """An InputError where the rule is not for this problem; by default it is for every one."""
        return

    @abstractmethod
    def choose(self, view: View) -> Choice:
        """How often to measure each point. The same view gives the same choice."""

    def review(self, _view: View, _found: Design, /) -> Review | None:
        """Value and lower bound of a design that was chosen in this view, computed again without any solver.

        None for a rule that makes no designs.
        """
        return None


@dataclass(frozen=True, kw_only=True)
class DesignRule(Rule):
    """A rule that solves for a design."""

    rtol: float = 0.01
    """How far from the best design to stop."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rtol", as_number("rtol", self.rtol, above=0.0))
