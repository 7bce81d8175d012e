"""How many measurements a round of MELK or MILK takes.

t           round, from 1
unit 2^-t   precision of round t: every undecided direction is estimated to within it, up to the bias
g_t         g(lambda_t; A_t; gamma), the design's value: the largest variance of an undecided direction
delta_t     delta / (2 t^2), the failure probability of round t; their sum is at most delta
q_t         16 * 2^2t * g_t (B^2 + sigma^2) log(2 t^2 |X|^2 / delta)
N_t         ceil(max{q_t, 2 log(|X| / delta)})                                (Algorithms 1 and 2, lines 5 and 6)

The schedules differ in the unit and in the constants:

paper        as printed. The first precision, 1/2, suits |f| <= B = 1.
scaled       the same algorithm on f / B: unit B, so that 2^2t becomes (B 2^-t)^-2. With B = 1 it is `paper`.
experiments  unit B, and q_t without its 16, as the appendix on the linear experiments words it: "the original
             confidence width of (B^2 + sigma^2) log(2 t^2 |X|^2 / delta)". The paper's theorem needs the 16, so it no
             longer proves that a round has the precision 2^-t. Catoni's own bound proves 7/4 2^-t. The bounds
             W +- 2 * 2^-t therefore hold only while the bias is at most a quarter of 2^-t, where the other schedules
             leave room for a bias of 2^-t.
tight        unit B, and as many measurements as the robust mean's own deviation bound asks for, with a union bound
             over the directions that are left instead of |X|^2 of them. The printed 16 is the square of RIPS's c = 4;
             Catoni's mean needs little more than 2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from superlevel import robust
from superlevel.errors import InputError, SuperlevelError
from superlevel.sizes import Need

C = 4  # RIPS with Catoni's mean, Theorem of the RIPS appendix
C1 = 2
COMPRESSION = 1e-3  # of its deviation: how far RIPS lets compressed samples move an estimate
MOST = 2**53  # more measurements than that are not whole numbers any more

Schedule: TypeAlias = Literal["scaled", "paper", "experiments", "tight"]
ROOM: dict[Schedule, float] = {"scaled": 1.0, "paper": 1.0, "experiments": 0.25, "tight": 1.0}
"""How much of W +- 2 * 2^-t is left for the bias, in units of 2^-t; the random error has the rest."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Rounds:
    """Precision, failure probability and size of every round."""

    n: int
    """|X|"""
    second_moment: float
    """B^2 + sigma^2, at least the second moment of a measurement."""
    delta: float
    unit: float
    """1 as printed, B where the rounds are scaled."""
    tolerance: float
    schedule: Schedule
    estimator: robust.Estimator

    @property
    def last(self) -> int | None:
        """The last round, ceil(log2(4 / tolerance)) for a unit of 1; None without a tolerance.

        Corrected: there is always a first one. A tolerance above 4 would return all points, wherever the level is.
        """
        if self.tolerance == 0:
            return None
        return max(1, math.ceil(2 + math.log2(self.unit) - math.log2(self.tolerance)))

    def precision(self, t: int, /) -> float:
        """2^-t, in the unit."""
        return self.unit * 2.0**-t

    def room(self, t: int, /) -> float:
        """The largest bias with which W +- 2 * 2^-t holds in round t."""
        return ROOM[self.schedule] * self.precision(t)

    def failure(self, t: int, directions: int) -> float:
        """Allowed probability that one direction of round t is estimated worse than its deviation bound says."""
        delta_t = self.delta / (2 * t**2)
        return delta_t / (directions if self.schedule == "tight" else self.n**2)

    def samples(self, need: Need, /) -> int:
        """N_t for a design of this value."""
        t = need.phase
        needed = self._needed(t, need.value * self.second_moment, self.failure(t, need.directions))
        if not needed < MOST:
            raise SuperlevelError(
                f"round {t} would take {needed:.3g} measurements, more than can be counted: give a larger tolerance, "
                "which also ends ties at the level"
            )
        return math.ceil(needed)

    def __repr__(self) -> str:
        return f"Rounds(schedule={self.schedule!r}, delta={self.delta:g}, tolerance={self.tolerance:g})"

    def _needed(self, t: int, variance: float, failure: float) -> float:
        """N_t before rounding, for directions of this variance at most."""
        if self.schedule == "tight":
            return self._fewest(variance, failure, self.precision(t))
        union = math.log(2 * t**2 * self.n**2) - math.log(self.delta)
        width, printed = variance * union / self.precision(t) ** 2, C1 * math.log(self.n / self.delta)
        # Corrected in both: with fewer Catoni's mean does not exist at this confidence, or its deviation exceeds what
        # is said of it. The printed 2 log(|X| / delta) is less, and matters only where q_t is tiny.
        if self.schedule == "experiments":
            return max(width, printed, self._fewest(variance, failure, 2 * self.precision(t) - self.room(t)))
        least = 32 * union * math.log(2 / failure) / (16 * union - 2 * math.log(2 / failure))
        return max(C**2 * width, printed, least)

    def _fewest(self, variance: float, failure: float, precision: float) -> int:
        """The smallest count with a deviation of at most the precision, what compression moves included."""

        def enough(count: int) -> bool:
            deviation = float(self.estimator.deviation(count, variance=variance, delta=failure))
            return (1 + COMPRESSION) * deviation <= precision

        high = 1
        while not enough(high):
            high *= 2
            if high > MOST:
                return high
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle, high)
        return high


def as_schedule(schedule: str) -> Schedule:
    """One of them, or a sentence."""
    for known in get_args(Schedule):
        if schedule == known:
            return known  # type: ignore[no-any-return]
    raise InputError("schedule", repr(schedule), f"choose out of {', '.join(get_args(Schedule))}")
