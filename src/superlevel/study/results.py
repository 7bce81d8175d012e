"""Tickets go out, results come in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from superlevel.arrays import Array, Indices, as_floats
from superlevel.errors import InputError, SuperlevelError

SHOWN = 20  # mistakes in a message


@dataclass(frozen=True, kw_only=True)
class Result:
    """What came of a measurement: of a ticket, or of a place that nobody planned to measure."""

    ticket: int | None = None
    point: int | None = None
    """Its number in the domain, from 0. With a ticket it may be left out; if it is there, it must be the ticket's."""
    at: tuple[float, ...] | None = None
    """In place of the number, coordinates: those of a point, or of any other place, whose measurement tells of the
    points too."""
    value: float | None
    """None: it could not be measured."""
    noise: float | None = None
    """Its own standard deviation, where that is not the problem's."""
    reason: str = ""
    """Why it failed, or any remark."""


def results_at(at: ArrayLike, values: ArrayLike, noise: ArrayLike | None) -> tuple[Result, ...]:
    """Results at places (N, d), or (N,) on a line, with values (N,) and deviations (N,), one or none."""
    places, given = as_floats("at", at), as_floats("values", values)
    places = places[:, None] if places.ndim == 1 else places
    if places.ndim != 2 or given.shape != (len(places),):
        got = f"of shape {given.shape}, for places of shape {places.shape}"
        raise InputError("values", got, "give places (N, d) and values (N,), one for each of them")
    own = [None] * len(given) if noise is None else as_each("noise", noise, len(given))
    each = zip(places.tolist(), given.tolist(), own, strict=True)
    return tuple(Result(at=tuple(place), value=value, noise=deviation) for place, value, deviation in each)


def as_each(field: str, numbers: ArrayLike, count: int) -> list[float]:
    """(count,) numbers, from as many or from one."""
    given = as_floats(field, numbers)
    if given.shape not in {(), (1,), (count,)}:
        raise InputError(field, f"of shape {given.shape}", f"give one, or shape ({count},)")
    return [float(number) for number in np.broadcast_to(given, count)]


@dataclass(frozen=True, kw_only=True)
class Ticket:
    """One planned measurement, kept for a worker."""

    number: int
    point: int
    coordinates: tuple[float, ...]
    id: str = ""
    """What people call the point; empty where points have no names."""
    until: float
    """When the lease ends, in seconds since 1970. A result is welcome later too."""

    def measured(self, value: float, *, noise: float | None = None, reason: str = "") -> Result:
        """The result of this ticket."""
        return Result(ticket=self.number, point=self.point, value=value, noise=noise, reason=reason)

    def failed(self, reason: str = "") -> Result:
        """It could not be measured."""
        return Result(ticket=self.number, point=self.point, value=None, reason=reason)


@dataclass(frozen=True)
class Tickets(Sequence[Ticket]):
    """What `ask` returns: a sequence of tickets, and why it is empty if it is."""

    _tickets: tuple[Ticket, ...]
    stop: str | None = None
    """Why there is nothing to measure now, in words; None if there is."""
    dimension: int = 0
    """Of a point."""

    @property
    def indices(self) -> Indices:
        """(m,) their points' numbers."""
        return np.array([ticket.point for ticket in self], dtype=np.int64)

    @property
    def points(self) -> Array:
        """(m, d) their points."""
        rows = [ticket.coordinates for ticket in self]
        return np.array(rows, dtype=np.float64) if rows else np.empty((0, self.dimension))

    def measured(self, values: ArrayLike, *, noise: ArrayLike | None = None) -> tuple[Result, ...]:
        """The results of all of them, (m,) in their order."""
        given = as_floats("values", values)
        if given.shape != (len(self),):
            raise InputError("values", f"of shape {given.shape}", f"give shape ({len(self)},), one for each ticket")
        own = [None] * len(self) if noise is None else as_each("noise", noise, len(self))
        each = zip(self, given.tolist(), own, strict=True)
        return tuple(ticket.measured(value, noise=deviation) for ticket, value, deviation in each)

    def __len__(self) -> int:
        return len(self._tickets)

    @overload
    def __getitem__(self, at: int) -> Ticket: ...
    @overload
    def __getitem__(self, at: slice) -> Tickets: ...
    def __getitem__(self, at: int | slice) -> Ticket | Tickets:
        return Tickets(self._tickets[at], self.stop, self.dimension) if isinstance(at, slice) else self._tickets[at]

    def __iter__(self) -> Iterator[Ticket]:
        return iter(self._tickets)


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """What `tell` did."""

    entry: int | None
    """The entry of the log that holds the results; None where all of them were there already."""
    stored: int
    """Results that are new."""
    repeated: int
    """Results that were there already."""
    failed: int
    """New ones that say that something could not be measured."""
    unplanned: int
    """New ones that nobody had planned."""
    elsewhere: int
    """Of these, how many are of places that are not among the points."""
    late: tuple[int, ...]
    """Tickets whose lease had ended, or that somebody else held."""

    def __str__(self) -> str:
        parts = [f"{self.stored:,} result{'s' * (self.stored != 1)} stored"]
        for count, words in (
            (self.failed, "could not be measured"),
            (self.unplanned, "unplanned"),
            (self.elsewhere, "at places that are not among the points"),
            (len(self.late), "late"),
            (self.repeated, "there already"),
        ):
            parts += [f"{count:,} {words}"] * bool(count)
        return ", ".join(parts)


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """What is wrong with one result."""

    position: int
    """In what was told, from 0."""
    field: str
    got: str
    remedy: str

    def __str__(self) -> str:
        return f"results[{self.position}].{self.field} is {self.got}: {self.remedy}"


class ResultsError(SuperlevelError, ValueError):
    """Results that cannot be taken; none of them was stored."""

    def __init__(self, mistakes: Sequence[Mistake]) -> None:
        self.mistakes = tuple(mistakes)
        shown = [str(mistake) for mistake in self.mistakes[:SHOWN]]
        left = len(self.mistakes) - len(shown)
        super().__init__("\n".join([*shown, *([f"and {left:,} more"] if left else [])]))

    def __reduce__(self) -> tuple[type[ResultsError], tuple[tuple[Mistake, ...]]]:
        return type(self), (self.mistakes,)
