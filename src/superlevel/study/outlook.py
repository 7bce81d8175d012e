"""How many labels are expected to be wrong, now and after more measurements: as data, and in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from superlevel.study.replay import Knowledge

AHEAD = (0, 50, 100)  # further measurements of which it is said
TELLING = 4  # an interval of further measurements whose ends differ by a larger factor tells its lower end only


class Expected(BaseModel):
    """Labels that are wrong after further measurements, if every point gets the likelier one."""

    model_config = ConfigDict(frozen=True)

    more: int
    """Further measurements."""
    wrong: float
    low: int
    """With a probability of 90 % there are at least so many,"""
    high: int
    """and at most so many."""

    def __str__(self) -> str:
        return f"{_rounded(self.wrong)} ({self.low:,} to {self.high:,})"


class Outlook(BaseModel):
    """How far a campaign is, and how much longer it takes."""

    model_config = ConfigDict(frozen=True)

    points: int
    expected: tuple[Expected, ...]
    """Now, after 50 and after 100 further measurements."""
    rate: float
    """The wanted share of wrong labels."""
    until: int | None
    """Further measurements until then; None for more than are counted, as for the next two."""
    earliest: int | None
    latest: int | None
    farthest: int
    """Further measurements that are counted."""

    def agrees(self, other: Outlook | None) -> bool:
        """Whether another machine, which rounds differently, may have computed the same."""
        if other is None or (self.points, self.rate) != (other.points, other.rate):
            return False
        pairs = zip(self.expected, other.expected, strict=True)
        return all(math.isclose(one.wrong, two.wrong, rel_tol=1e-3, abs_tol=1e-6) for one, two in pairs)

    @property
    def rows(self) -> list[tuple[str, str]]:
        """Names and values, for people."""
        now, *later = self.expected
        ahead = "; ".join(f"{each} after {each.more} more measurements" for each in later)
        return [
            ("expected wrong", f"{now} of {self.points:,} points now; {ahead}"),
            (f"until {100 * self.rate:g} % wrong", self.missing),
        ]

    @property
    def missing(self) -> str:
        """How many more measurements it takes, in words."""
        if self.latest == 0:
            return "reached"
        if self.earliest is None:
            return f"more than {self.farthest:,} more measurements"
        if self.latest is not None and self.latest <= TELLING * self.earliest:
            return f"{self.earliest:,} to {self.latest:,} more measurements"
        if self.earliest:
            return f"at least {self.earliest:,} more measurements"
        if self.latest is not None:
            return f"at most {self.latest:,} more measurements, perhaps none"
        return "not known yet: it may be reached, or take very many measurements"


def _rounded(number: float) -> str:
    """Two digits of a small number; of a large one no decimals."""
    return f"{number:,.0f}" if number >= 10 else f"{number:.1f}"


def foreseen(known: Knowledge) -> Outlook | None:
    """What is expected from now on; None without a model of f, or before there is an estimate.

    It follows at most 256 points, so that it takes a fraction of a second whatever the size of the study.
    """
    from superlevel.bounds import outlook  # noqa: PLC0415  slow to import
    from superlevel.study.chances import doubtful  # noqa: PLC0415

    doubts = doubtful(known)
    if doubts is None or not known.ledger.samples:
        return None
    found = outlook.outlook(known.method, known.state, float(doubts.sum()))
    rate = known.ledger.created.confidence.get("error_rate") or outlook.RATE
    until, earliest, latest = found.until(rate * known.ledger.n)
    return Outlook(
        points=known.ledger.n,
        expected=tuple(_expected(more, found.expected(more), found.interval(more), known.ledger.n) for more in AHEAD),
        rate=rate,
        until=until,
        earliest=earliest,
        latest=latest,
        farthest=outlook.FARTHEST,
    )


def _expected(more: int, wrong: float, ends: tuple[float, float], most: int) -> Expected:
    low, high = ends
    return Expected(more=more, wrong=wrong, low=math.floor(low), high=min(most, math.ceil(high)))
