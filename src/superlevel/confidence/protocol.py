"""What every confidence answers: what is known before, how measurements change it, and what is promised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol, Self, TypeVar

from superlevel.arrays import Array, Indices, Labels
from superlevel.errors import InputError
from superlevel.goals import Goal
from superlevel.problem import Problem
from superlevel.records import Batch, Belief, Outlook, View
from superlevel.sizes import Sizes


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """What is promised of the labels, and what that rests on."""

    promise: str
    """In which sense the labels are right, in a sentence."""
    probability: float | None
    """With which all labels are right; None where they are only as right as a model."""
    at_all_times: bool
    """Whether the promise holds whenever one stops and looks."""
    assumes: tuple[str, ...]
    """What it rests on, each in words."""
    remark: str = ""
    """What the user could give to get more out of it; empty where there is nothing."""


class CompleteBelief:
    """The part of a belief that is the same wherever a problem leaves nothing open."""

    pilot: ClassVar[int] = 0
    estimated: ClassVar[Mapping[str, str]] = {}

    @property
    def deviation(self) -> Array | None:
        """None: f is fixed, and there is no model of it."""
        return None

    def forecast(self, _points: Indices, /) -> None:
        """None: forecasts test an estimated kernel, and here it is given."""

    def outlook(self, _view: View, _weights: Array, /) -> Outlook:
        """Nothing is known of what is missing, and there are no challenges."""
        return Outlook()

    def norms(self, _goal: Goal, _labels: Labels, /) -> Array | None:
        """None: nothing here rests on a norm that could be another one."""
        return None

    def seen_by_rules(self, goal: Goal, /) -> tuple[Self, Goal]:
        """Itself."""
        return self, goal


B = TypeVar("B", bound=Belief)


class Confidence(Protocol[B]):
    """A kind of interval: a frozen dataclass whose fields are its parameters."""

    @property
    def name(self) -> str:
        """The short form: posterior, ridge, rips or rkhs."""
        ...

    @property
    def uses(self) -> frozenset[str]:
        """The fields of a problem that it needs or uses, besides domain and goal."""
        ...

    @property
    def given_only(self) -> bool:
        """Whether kernel, noise and mean must be given, because a promise rests on them."""
        ...

    @property
    def in_rounds(self) -> bool:
        """Whether a plan must be told as a whole before the next one is asked for."""
        ...

    @property
    def gaussian(self) -> bool:
        """Whether its beliefs have a Gaussian posterior."""
        ...

    @property
    def permanent(self) -> bool:
        """Whether labels stay once they are given, unless the method is told otherwise."""
        ...

    @property
    def budget(self) -> int:
        """Measurements of a simulation that has no other budget."""
        ...

    @property
    def ordered(self) -> bool:
        """Whether a belief depends on the order in which measurements came, or on how they were grouped."""
        ...

    def prior(self, problem: Problem) -> B:
        """What is known before the first measurement; an InputError where the problem lacks something."""
        ...

    def update(self, belief: B, batch: Batch) -> B:
        """What is known after a batch. This is the only way to add measurements."""
        ...

    def guarantee(self, problem: Problem) -> Guarantee:
        """What is promised of the labels of a problem."""
        ...

    def sizes(self, problem: Problem, batch: int | None, /) -> Sizes:
        """How many measurements each phase takes; ``batch`` is what the user asked for."""
        ...


AnyConfidence = Confidence[Any]


def describe(confidence: AnyConfidence) -> dict[str, Any]:
    """A confidence as data that JSON can hold: its name and its parameters."""
    given = {item.name: getattr(confidence, item.name) for item in fields(confidence)}  # type: ignore[arg-type]
    return {"name": confidence.name, **{name: plain(value) for name, value in given.items()}}


def plain(value: Any) -> Any:
    """A parameter as JSON holds it; an object that has a name stands for itself by that name."""
    if isinstance(value, tuple):
        return list(value)
    return getattr(value, "name", value)


def near(tolerance: float) -> str:
    """What a promise leaves out because of a tolerance, in words."""
    return f", except within {tolerance:g} of the level" if tolerance else ""


def no_posterior(name: str) -> InputError:
    """What a rule gets that asks for the Gaussian posterior of a confidence which has none."""
    remedy = f"it needs a Gaussian posterior, which the {name} confidence does not have: give confidence='posterior'"
    return InputError("rule", "made for another confidence", remedy)
