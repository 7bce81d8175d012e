"""Every named method, as a composition of a rule, a confidence and a goal.

| method       | rule                                           | confidence         | goal            | batch       |
|--------------|------------------------------------------------|--------------------|-----------------|-------------|
| melk         | G-optimal design for the undecided points      | RIPS               | given levels    | rounds, N_t |
| melk         | the same, an average, or greedily              | posterior          | given levels    | fixed, 10   |
| melk         | design weighted by the estimated gaps          | ridge              | given levels    | growing     |
| milk         | XY-optimal design for the undecided pairs      | RIPS               | fraction of max | rounds, N_t |
| milk         | the same, an average, or greedily              | posterior          | fraction of max | fixed, 10   |
| milk         | design weighted by the estimated gaps          | ridge              | fraction of max | growing     |
| lse          | largest ambiguity                              | posterior, or RKHS | given levels    | 1           |
| straddle     | ambiguity with 1.96 sigma                      | posterior          | given levels    | 1           |
| truvar       | largest drop of the undecided points' variance | posterior          | both            | 1           |
| rmile        | largest expected gain in points sure above     | posterior          | one given level | 1           |
| rstraddle    | ambiguity with a random width                  | posterior          | given levels    | 1           |
| tmse         | largest variance times density at the level    | posterior          | given levels    | 1           |
| timse        | largest drop of the variance at the level      | posterior          | given levels    | 1           |
| wmse         | deviation times chance of a wrong label        | posterior          | given levels    | 1           |
| eff          | largest expected feasibility                   | posterior          | given levels    | 1           |
| sur          | largest drop of sum p (1 - p)                  | posterior          | given levels    | 1           |
| globalmi     | most information about all labels              | posterior          | given levels    | 1           |
| eavc         | largest change of the volume above             | posterior          | given levels    | 1           |
| itl          | most information about the undecided points    | posterior          | both            | 1           |
| vtl          | the same as truvar                             | posterior          | both            | 1           |
| lse-imp      | widest interval                                | posterior, or RKHS | fraction of max | 1           |
| uniform      | chance                                         | posterior          | both            | 1           |
| max-variance | largest variance                               | posterior          | both            | 1           |

A new method is a new row. Given levels are those of a threshold, a band or a contour map.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from superlevel.confidence.posterior import Posterior
from superlevel.confidence.protocol import AnyConfidence
from superlevel.confidence.ridge import Ridge
from superlevel.confidence.rips import Rips
from superlevel.confidence.rkhs import Rkhs
from superlevel.errors import InputError
from superlevel.goals import Goal
from superlevel.rules.ambiguity import Ambiguity, Straddle
from superlevel.rules.chance import Chance
from superlevel.rules.covariances import AverageCase
from superlevel.rules.design import OptimalDesign, WorstCase
from superlevel.rules.excursion import Sur
from superlevel.rules.feasibility import ExpectedFeasibility
from superlevel.rules.gap_weighted import GapWeighted
from superlevel.rules.information import GlobalMi
from superlevel.rules.lookahead import Rmile
from superlevel.rules.protocol import Rule
from superlevel.rules.randomised import RandomisedStraddle
from superlevel.rules.sequential import Score, Sequential
from superlevel.rules.targeted import Targeted, TargetedMse
from superlevel.rules.transductive import TransductiveInformation
from superlevel.rules.variance import (
    Doubtful,
    LargestVariance,
    Mislabelled,
    Undecided,
    Undeclared,
    VarianceReduction,
    Widest,
)
from superlevel.rules.volume import AbsoluteVolumeChange
from superlevel.rules.weighted import WeightedMse


@dataclass(frozen=True, kw_only=True)
class Pairing:
    """A confidence that a method has, and the rules that go with it."""

    confidence: AnyConfidence
    """As the method has it unless it is told otherwise."""
    rules: Mapping[str, Rule]
    """By their names; the first is the default."""
    objectives: tuple[str, ...] = ()
    """Those of the rules that are named after what they aim at, where there is a choice."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """What a method is made of, and what it may be combined with."""

    pairings: tuple[Pairing, ...]
    """The first one is the default, unless the problem allows for a guarantee."""
    explicit: bool = True
    """Whether it takes goals with given levels."""
    implicit: bool = False
    """Whether it takes goals whose level depends on the maximum."""
    several: bool = True
    """Whether it takes more than one level."""
    by_points: bool = True
    """Whether it reads one interval for each point, also where the goal speaks of pairs."""
    batch: int | None = None
    """Measurements of a phase; None leaves that to the confidence."""

    @property
    def confidences(self) -> dict[str, Pairing]:
        return {pairing.confidence.name: pairing for pairing in self.pairings}

    def takes(self, goal: Goal) -> bool:
        """Whether the method is for this goal."""
        if goal.implicit:
            return self.implicit
        return self.explicit and (self.several or len(goal.levels) == 1)


def _batched() -> tuple[Pairing, ...]:
    """MELK's and MILK's, on each confidence."""
    practical = {
        "label": Sequential(score=VarianceReduction(weights=Doubtful())),
        "declare": Sequential(score=VarianceReduction(weights=Undeclared())),
        "greedy": Sequential(score=VarianceReduction(weights=Mislabelled())),
        "average": AverageCase(),
        "worst": WorstCase(),
    }
    return (
        Pairing(confidence=Posterior(), rules=practical, objectives=("label", "declare")),
        Pairing(confidence=Ridge(), rules={"gap-weighted": GapWeighted()}),
        Pairing(confidence=Rips(), rules={"optimal": OptimalDesign()}),
    )


def _sequential(name: str, rule: Rule, *, intersected: bool = False, rkhs: bool = False) -> tuple[Pairing, ...]:
    found = [Pairing(confidence=Posterior(intersected=intersected), rules={name: rule})]
    if rkhs:
        found.append(Pairing(confidence=Rkhs(intersected=intersected), rules={name: rule}))
    return tuple(found)


def _newer() -> dict[str, Row]:
    """Rules of other papers, one measurement at a time on the posterior (docs/rules.md)."""
    at_levels: dict[str, Score] = {
        "rstraddle": RandomisedStraddle(),
        "tmse": TargetedMse(),
        "timse": VarianceReduction(weights=Targeted()),
        "wmse": WeightedMse(),
        "eff": ExpectedFeasibility(),
        "sur": Sur(),
        "globalmi": GlobalMi(),
        "eavc": AbsoluteVolumeChange(),
    }
    of_undecided: dict[str, Score] = {
        "itl": TransductiveInformation(),
        "vtl": VarianceReduction(weights=Undecided()),
    }
    return {
        name: Row(pairings=_sequential(name, Sequential(score=score)), implicit=name in of_undecided, batch=1)
        for name, score in (at_levels | of_undecided).items()
    }


ROWS: dict[str, Row] = {
    "melk": Row(pairings=_batched()),
    "milk": Row(pairings=_batched(), explicit=False, implicit=True, by_points=False),
    "lse": Row(
        pairings=_sequential("lse", Sequential(score=Ambiguity()), intersected=True, rkhs=True),
        batch=1,
    ),
    "lse-imp": Row(
        pairings=_sequential("lse-imp", Sequential(score=Widest()), intersected=True, rkhs=True),
        explicit=False,
        implicit=True,
        batch=1,
    ),
    "truvar": Row(
        pairings=_sequential("truvar", Sequential(score=VarianceReduction(weights=Undecided()))),
        implicit=True,
        batch=1,
    ),
    "straddle": Row(pairings=_sequential("straddle", Sequential(score=Straddle())), batch=1),
    "rmile": Row(pairings=_sequential("rmile", Sequential(score=Rmile())), several=False, batch=1),
    "uniform": Row(pairings=_sequential("uniform", Chance()), implicit=True, batch=1),
    "max-variance": Row(
        pairings=_sequential("max-variance", Sequential(score=LargestVariance())), implicit=True, batch=1
    ),
    **_newer(),
}
NAMES = tuple(ROWS)
CONFIDENCES: dict[str, type[AnyConfidence]] = {kind.name: kind for kind in (Posterior, Ridge, Rips, Rkhs)}
GUARANTEED = "ridge"  # the confidence of a problem that limits f, where the method has it
IMPLICIT = {"melk": "milk", "lse": "lse-imp"}  # the method that a goal relative to the maximum gets


def row_of(name: str, goal: Goal) -> tuple[str, Row]:
    """The row of a method, or of its counterpart where the level depends on the maximum."""
    if name not in ROWS:
        raise InputError("name", repr(name), f"choose out of {', '.join(NAMES)}")
    used = IMPLICIT.get(name, name) if goal.implicit else name
    if not ROWS[used].takes(goal):
        fitting = ", ".join(other for other, row in ROWS.items() if row.takes(goal))
        raise InputError("problem.goal", repr(goal), f"{name} is not for this goal: take {fitting}")
    return used, ROWS[used]
