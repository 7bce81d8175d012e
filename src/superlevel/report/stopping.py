"""How a campaign stopped: when each point was decided, between which limits f is there, and how much that took.

    efficiency   measurements used / the lower bound at the estimated function

The lower bound is what every method needs on average that is right with probability 1 - delta for all functions of the
kernel's space (`superlevel.bounds`). It is the one of the estimate, because f is unknown, and only decided points
count: at an undecided one f may be at the level itself, and a bound that is as large as one likes says nothing.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from superlevel import formats
from superlevel.arrays import Array, Indices, Labels, Mask
from superlevel.bounds import LowerBound
from superlevel.bounds.decided_points import bound
from superlevel.bounds.setting import needed
from superlevel.coordinates import Coordinates
from superlevel.errors import InputError
from superlevel.files import replacing
from superlevel.formats import Computed, Table
from superlevel.goals import classes, decided, summary
from superlevel.problem import Problem
from superlevel.report.campaign import numbers, where
from superlevel.scales import Scale
from superlevel.simulation import Run

COLUMNS = ("label", "decided", "estimate", "lower", "upper", "interval")
"""What a table has of every point, after its coordinates."""
LARGEST = 5_000  # points that a bound is computed for: more take minutes
LARGEST_PAIRS = 500  # the same where pairs of points decide
UNSURE = "undecided"
SHARES = {0.5: "half", 0.9: "nine in ten", 1.0: "the last"}


@dataclass(frozen=True, kw_only=True, eq=False)
class Stopping:
    """When each point was decided, and what that took. The lower bound is computed when it is first asked for."""

    names: tuple[str, ...]
    """(d,) of the coordinates."""
    points: Array
    """(n, d)"""
    ids: tuple[str, ...] = ()
    """(n,) what people call each point; empty where points have no names."""
    id_name: str = ""
    """What the column of these is called."""
    problem: Problem | None
    """None before there is an estimate of what is not given."""
    labels: Labels
    """(n,) +1 above, 0 undecided, -1 below; (k, n) for k levels."""
    decided: Indices
    """(n,) measurements that were told when the label was given that the point has kept since; -1 where undecided."""
    samples: int
    """Measurements in all."""
    estimate: Array | None
    """(n,) the estimate of f; None where there is none, as in a run that an older version saved."""
    lower: Array | None
    """(n,) where f lies at every point."""
    upper: Array | None
    sources: tuple[str, ...] | None
    """(n,) which kind of interval is the narrowest at each point; None where there is one kind only."""
    ended: str | None
    """Why nothing more is measured, in words; None while something is."""
    guarantee: str = ""
    """In which sense the labels are right."""
    scales: tuple[Scale, ...] = ()
    """(d,) what each coordinate may be; empty where all are plain numbers."""

    @property
    def coordinates(self) -> Coordinates:
        """What the coordinates are called, and what each may be."""
        return Coordinates(names=self.names, scales=self.scales) if self.scales else Coordinates.plain(self.names)

    @property
    def groups(self) -> tuple[str, ...]:
        """The name of each class, from the lowest."""
        return ("below", "above") if self.problem is None else self.problem.goal.groups

    @property
    def counted(self) -> Mask:
        """(n,) the points that the lower bound is for."""
        return decided(self.labels)

    @property
    def lower_bound(self) -> LowerBound | None:
        """How many measurements every method needs on average to decide the points that are decided.

        None, or zero, where the `reason` says why.
        """
        return self._bound[0]

    @property
    def reason(self) -> str:
        """Why there is no efficiency; empty where there is one."""
        return self._bound[1]

    @property
    def efficiency(self) -> float:
        """How many times the lower bound was measured: 1 is the best on average. NaN where there is a `reason`."""
        if self.reason or self.lower_bound is None:
            return math.nan
        return self.samples / self.lower_bound.samples

    @cached_property
    def _bound(self) -> tuple[LowerBound | None, str]:
        """The bound, and what speaks against comparing with it."""
        if self.problem is None or self.problem.noise is None:
            return None, "kernel and noise are not estimated yet"
        if self.estimate is None:
            return None, "there is no estimate of the function"
        posed, f = self.problem.transformed, self.problem.scale(self.estimate)
        missing = self._missing(posed, f)
        if missing:
            return None, missing
        found = bound(posed, f, self.counted)
        if found is None:
            return None, "the decided points are within the tolerance, or have one label whatever f is"
        return found, "" if found.samples else f"with delta = {self.problem.delta:g} a guess may do"

    def _missing(self, problem: Problem, estimate: Array) -> str:
        """What there is no bound without."""
        largest = LARGEST_PAIRS if problem.goal.share else LARGEST
        faults = {
            "nothing was measured": not self.samples,
            "no point is decided": not self.counted.any(),
            "some points are measured without noise": float(problem.deviations.min()) == 0.0,
            "the estimate is nowhere above zero": problem.goal.implicit and float(estimate.max()) <= 0.0,
            f"for more than {largest:,} points it takes minutes": problem.domain.n > largest,
        }
        return next((fault for fault, there in faults.items() if there), "")

    def table(self) -> list[dict[str, object]]:
        """A line for every point: coordinates by name, then ``COLUMNS``; None where there is nothing to say."""
        table = self.as_table()
        return [
            {name: None if cell == "" else cell for name, cell in zip(table.header, row, strict=True)}
            for row in table.rows()
        ]

    def as_table(self) -> Table:
        """The same as a table that can be written. Cells are made when they are read."""
        n = len(self.points)
        told = (
            Computed(self._class, [*self.groups, UNSURE].__getitem__),
            self.when,
            *(numbers(values, n) for values in (self.estimate, self.lower, self.upper)),
            self.sources or Computed(np.zeros(n), lambda _: ""),
        )
        return formats.with_columns(where(self, COLUMNS) | dict(zip(COLUMNS, told, strict=True)))

    def write(self, path: str | os.PathLike[str]) -> None:
        """The lines of `table` as a file in the format of its ending, whole or not at all."""
        with replacing("path", path) as beside:
            formats.write(beside, self.as_table())

    def __str__(self) -> str:
        """A few lines."""
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """What was used and what is the least; when the points were decided; why nothing more is measured."""
        told = [f"{_several(self.samples, 'measurement')}; {self._compared()}", self._when()]
        return [*told, *([] if self.ended is None else [self.ended])]

    def _compared(self) -> str:
        """The efficiency in words."""
        if self.reason or self.lower_bound is None:
            return f"no lower bound to compare with: {self.reason}"
        which = "" if self.counted.all() else f" for the {_several(int(self.counted.sum()), 'point')} decided"
        words = f"the lower bound{which} at the estimated function is {rounded(self.lower_bound.samples)}"
        words += f", with {_several(self._near, 'point')} within the tolerance left out" * bool(self._near)
        less = ", which no method reaches on average that is right for every function of the kernel's space"
        return f"{words}: {rounded(self.efficiency)} times" + less * (self.efficiency < 1)

    @property
    def _near(self) -> int:
        """Decided points that the lower bound leaves out, because they may be declared either way."""
        if self.problem is None or self.estimate is None or not self.problem.tolerance:
            return 0
        needs = needed(self.problem.goal, self.estimate, self.problem.tolerance)
        return int((self.counted & ~needs).sum())

    @property
    def when(self) -> Computed:
        """The cells (n,) of `decided`, empty where a point is undecided."""
        return Computed(self.decided, lambda samples: "" if samples < 0 else samples)

    @property
    def _class(self) -> Labels:
        """(n,) the class of every point, -1 where it is undecided."""
        lowest, highest = classes(self.labels)
        return np.where(lowest == highest, lowest, -1).astype(np.int8)

    @property
    def _summary(self) -> str:
        """How many points there are in each class, in words."""
        if self.problem is None:
            return f"{len(self.points):,} {UNSURE}"
        return summary(self.problem.goal, self.labels)

    def _when(self) -> str:
        """The first points that were decided, half of them, and the last."""
        times = np.sort(self.decided[self.counted]).tolist()
        if not times:
            return self._summary
        told = {times[math.ceil(share * len(times)) - 1]: words for share, words in SHARES.items()}
        parts = [f"{words} after {when:,}" for when, words in told.items() if when > 0]
        early = times.count(0)
        parts[:0] = [f"{early:,} before the first measurement"] * bool(early)
        return f"{self._summary}; of those decided {', '.join(parts)}"


def of_run(run: Run, problem: Problem) -> Stopping:
    """How a simulated campaign stopped, for the problem of its method."""
    n = run.labels.shape[-1]
    if n != problem.domain.n:
        raise InputError("problem", f"of {problem.domain.n} points", f"give that of the run, of {n}")
    return Stopping(
        names=problem.domain.names,
        points=problem.domain.places,
        scales=problem.domain.coordinates.scales,
        ids=problem.domain.ids,
        id_name=problem.domain.id_name,
        problem=problem,
        labels=run.labels,
        decided=run.decided,
        samples=run.samples,
        estimate=run.estimate,
        lower=None if run.intervals is None else run.intervals.lower,
        upper=None if run.intervals is None else run.intervals.upper,
        sources=run.sources,
        ended=run.reason,
    )


def _several(count: int, word: str) -> str:
    return f"{count:,} {word}{'s' * (count != 1)}"


def rounded(number: float) -> str:
    """As many digits as say something."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"
