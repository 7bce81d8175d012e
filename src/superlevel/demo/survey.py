"""A campaign over the hills with nothing set by hand, and an audit of what it declares.

    f    elevation in metres
    y    a simulated measurement of it: f + N(0, noise^2)

The study knows the places and the level. It estimates kernel, noise and mean. All results go through it, so that a
campaign that was stopped goes on where it was, and anybody can check it afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from typing import TypeAlias

import numpy as np

from superlevel import pilots
from superlevel.arrays import as_count, as_number, as_seed
from superlevel.demo.hills import Hills
from superlevel.domain import Domain
from superlevel.errors import InputError
from superlevel.goals import Threshold, decided
from superlevel.oracles import Gaussian
from superlevel.problem import Problem
from superlevel.study import Result, Study
from superlevel.study.auditing import audits_of
from superlevel.study.ledger import Fate
from superlevel.study.storage import Storage, open_storage
from superlevel.worker_setup import quiet

NAMES = ("east_km", "north_km")
AUDITED = 100  # draws of the audit
TOLERANCE = 10.0  # metres by which a cell must be wrong to count in the audit: little more than the noise
WORKER = "surveyor"  # always the same, so that a campaign that was stopped gets its tickets back
INSTRUMENT = 4  # sets the random numbers of measurements apart from those of the method

Watch: TypeAlias = Callable[[int], None]
"""Called with the number of measurements so far."""


@dataclass(frozen=True, kw_only=True)
class Survey:
    """The question and the instrument."""

    level: float = 600.0
    """Where is the ground above this, in metres?"""
    noise: float = 8.0
    """Standard deviation of a measurement in metres. The study does not know it."""
    measurements: int = 300
    """The pilot and whole batches, without the audit."""
    batch: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", as_number("level", self.level))
        object.__setattr__(self, "noise", as_number("noise", self.noise, above=0))
        object.__setattr__(self, "seed", as_seed(self.seed))
        as_count("batch", self.batch)
        as_count("measurements", self.measurements)

    @property
    def name(self) -> str:
        """Name of the study: 'hills', and every option that is not the default."""
        unusual = [item.name for item in fields(self) if getattr(self, item.name) != item.default]
        return "-".join(["hills", *(f"{name}{getattr(self, name):g}" for name in unusual)])


def check(hills: Hills, survey: Survey) -> None:
    """Raise an InputError if there is nothing to find out, or if the measurements do not fill their batches."""
    lowest, highest = hills.heights.min(), hills.heights.max()
    if not lowest <= survey.level < highest:
        remedy = f"the ground is {lowest:,g} to {highest:,g} m high here: give a number between"
        raise InputError("level", survey.level, remedy)
    pilot, batch, count = pilots.size(hills.n), survey.batch, survey.measurements
    if count <= pilot or (count - pilot) % batch:
        some = pilot + batch * max(1, (count - pilot) // batch)
        remedy = f"give the {pilot} of the pilot and a multiple of the batch, {batch}: {some} or {some + batch}"
        raise InputError("measurements", count, remedy)


def run(hills: Hills, survey: Survey, store: str | Storage, *, watch: Watch | None = None) -> Study:
    """The study after the campaign and its audit. What the store has of them is not done again."""
    check(hills, survey)
    storage = open_storage(store)
    with quiet():  # then the numbers are the same for every number of cores
        study = _opened(hills, survey, storage) or _created(hills, survey, storage)
        while not audits_of(study.ledger) and (done := study.ledger.samples) < survey.measurements:
            if watch is not None:
                watch(done)
            tickets = study.ask()
            if tickets.stop is not None:
                break
            study.tell(_measured(hills, survey, ((ticket.number, ticket.point) for ticket in tickets)))
        if watch is not None:
            watch(survey.measurements)
        _audit(study, hills, survey)
    return study


def _audit(study: Study, hills: Hills, survey: Survey) -> None:
    """Audit the declared cells, if there are any, or complete the audit that was begun."""
    if not audits_of(study.ledger) and decided(study.labels).any():
        study.audit(AUDITED, declared=True, tolerance=TOLERANCE)
    ledger = study.ledger
    for audit in audits_of(ledger)[:1]:
        still = [number for number in audit.tickets if ledger.fate[number - 1] == Fate.OPEN]
        study.tell(_measured(hills, survey, ((number, int(ledger.point[number - 1])) for number in still)))


def _measured(hills: Hills, survey: Survey, tickets: Iterable[tuple[int, int]]) -> Iterator[Result]:
    """What the instrument says for pairs of a ticket and its point.

    Each ticket has a generator of its own: its value does not depend on when the campaign was stopped.
    """
    instrument = Gaussian(hills.heights, noise=survey.noise)
    for number, point in tickets:
        (value,) = instrument.measure(np.array([point]), np.random.default_rng([survey.seed, number, INSTRUMENT]))
        yield Result(ticket=number, point=point, value=float(value))


def _created(hills: Hills, survey: Survey, storage: Storage) -> Study:
    domain = Domain(hills.places, names=NAMES)
    problem = Problem(domain, goal=Threshold(survey.level), fit=("kernel", "noise", "mean"))
    return Study.create(storage, survey.name, problem, seed=survey.seed, batch=survey.batch, worker=WORKER)


def _opened(hills: Hills, survey: Survey, storage: Storage) -> Study | None:
    """The study as it is in the store; None if it is not there."""
    try:
        if survey.name not in storage.names():
            return None
    except InputError:  # nothing is stored there yet; if anything else is wrong, creating the study says so again
        return None
    study = Study.open(storage, survey.name, worker=WORKER)
    made = study.ledger.created
    given, wanted = (made.seed, made.batch, study.ledger.goal), (survey.seed, survey.batch, Threshold(survey.level))
    if given != wanted or not np.array_equal(made.points.known, hills.places):
        raise InputError("store", f"one with another study {survey.name!r}", "give another one")
    return study
