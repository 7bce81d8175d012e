"""Three campaigns over the same sea: MELK, LSE and chance choose where to ping, each in its own study of one store.

    f        square root of the depth d, in which the question d >= depth is f >= sqrt(depth)
    y        what a ping says of f: f + N(0, s^2), so an error of 2 sqrt(d) s metres
    pilot    pings that are spread out, the same in every campaign; a Matern kernel and the mean are estimated from them
             by marginal likelihood, once. s is known: it is on the sonar's data sheet.

The root makes the error equal everywhere, and one kernel fit for shoals and trenches. Kernel and noise are the same for
all three, so they differ in nothing but where they ping.

With the default survey and seeds 0 to 4, MELK mislabels 309 ± 12 cells after 400 pings, LSE 343 ± 16, and chance
528 ± 35 (mean and standard deviation). Cells that are declared, three deviations from the level, are wrong more often
than the kernel says, because it expects no cliffs: 5 in 100 with MELK and 3 with LSE, which do not look again where
they feel sure, and 1 in 100 with chance.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from sklearn.gaussian_process.kernels import Matern

from superlevel import hyperparameters
from superlevel.arrays import Indices, as_count, as_number, as_seed
from superlevel.demo.scores import Record, read
from superlevel.demo.sea import Sea
from superlevel.domain import Domain
from superlevel.errors import AssumptionWarning, InputError
from superlevel.goals import Threshold
from superlevel.oracles import Gaussian
from superlevel.pilots import spread
from superlevel.problem import Problem
from superlevel.study import Result, Study
from superlevel.study.storage import Storage, open_storage
from superlevel.worker_setup import quiet

LABELS = {"MELK": "melk", "LSE": "lse", "uniform": "uniform"}
"""The methods by the names that people know them by."""
NAMES = ("east_km", "north_km")
PILOT = 60  # pings
ROUGHNESS = (0.5, 1.5, 2.5)  # nu of the kernels that are tried: the likeliest is taken
STARTS = 3  # of the search for the kernel
WORKER = "sonar"  # always the same, so that a campaign that was stopped gets its tickets back
SONAR = 4  # sets its random numbers apart from those of the rules
EXACTLY = 1e-9  # a depth of exactly 20 m counts as deep: the level is just below it

Watch: TypeAlias = Callable[[str, int], None]
"""Called with a method's label, and how many pings its campaign has."""


@dataclass(frozen=True, kw_only=True)
class Survey:
    """What is asked, with which sonar, and how long."""

    depth: float = 20.0
    """Where is it at least that deep, in metres?"""
    noise: float = 2.7
    """Standard deviation of a ping in metres where the sea has that depth; elsewhere it grows like sqrt(depth)."""
    pings: int = 400
    """Of each campaign: the pilot and whole batches."""
    batch: int = 20
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", as_number("depth", self.depth, above=0))
        object.__setattr__(self, "noise", as_number("noise", self.noise, above=0))
        object.__setattr__(self, "seed", as_seed(self.seed))
        batch, pings = as_count("batch", self.batch), as_count("pings", self.pings)
        if pings <= PILOT or (pings - PILOT) % batch:
            some = PILOT + batch * max(1, (pings - PILOT) // batch)
            remedy = f"give the {PILOT} of the pilot and a multiple of the batch, {batch}: {some} or {some + batch}"
            raise InputError("pings", pings, remedy)

    @property
    def level(self) -> float:
        """Of f."""
        return float(np.sqrt(self.depth)) * (1 - EXACTLY)

    @property
    def deviation(self) -> float:
        """s"""
        return self.noise / (2 * float(np.sqrt(self.depth)))

    def error_at(self, depth: float) -> float:
        """Standard deviation of a ping there, in metres."""
        return self.noise * float(np.sqrt(depth / self.depth))

    def name_of(self, label: str) -> str:
        """The study: 'sea-melk', with all that is not as usual. More pings go on with the same one."""
        unusual = [item.name for item in fields(self) if getattr(self, item.name) != item.default]
        parts = [f"{name}{getattr(self, name):g}" for name in unusual if name != "pings"]
        return "-".join(["sea", LABELS[label], *parts])


def run(sea: Sea, survey: Survey, store: str | Storage, *, watch: Watch | None = None) -> tuple[Record, ...]:
    """All campaigns, one after the other; of those that are in the store already, what is missing."""
    check(sea, survey)
    storage = open_storage(store)
    records = []
    with quiet():  # then the numbers are the same on every machine
        for label in LABELS:
            study = campaign(sea, survey, label, storage, watch=watch)
            records.append(read(study, label, sea.roots >= survey.level, survey.pings))
    return tuple(records)


def check(sea: Sea, survey: Survey) -> None:
    """That there is something to find out."""
    if not sea.depths.min() < survey.depth <= sea.depths.max():
        remedy = f"the sea is {sea.depths.min():,g} to {sea.depths.max():,g} m deep here: give something between"
        raise InputError("depth", survey.depth, remedy)


def campaign(sea: Sea, survey: Survey, label: str, storage: Storage, *, watch: Watch | None = None) -> Study:
    """One of them, up to the wanted number of pings."""
    study = _opened(sea, survey, label, storage)
    if study is None:
        study = Study.create(
            storage,
            survey.name_of(label),
            problem_of(sea, survey),
            method=LABELS[label],
            seed=survey.seed,
            batch=survey.batch,
            worker=WORKER,
        )
    sonar = Gaussian(sea.roots, noise=survey.deviation)
    # where these pings are in the log already, telling them again changes nothing
    study.tell(Result(point=x, value=y, reason="pilot") for x, y in zip(*_pilot(sea, survey), strict=True))
    while (done := study.ledger.samples) < survey.pings:
        if watch is not None:
            watch(label, done)
        tickets = study.ask()
        if tickets.stop is not None:
            break
        # one generator for each ticket: a ping says the same whenever the campaign was stopped and goes on
        draws = [np.random.default_rng([survey.seed, ticket.number, SONAR]) for ticket in tickets]
        pings = [sonar.measure(np.array([t.point]), rng)[0] for t, rng in zip(tickets, draws, strict=True)]
        study.tell(tickets.measured(pings))
    if watch is not None:
        watch(label, survey.pings)
    return study


def pilot_of(sea: Sea) -> Indices:
    """Cells that are spread out."""
    return spread(sea.places, min(PILOT, sea.n), np.empty(0, dtype=np.int64))


def _pilot(sea: Sea, survey: Survey) -> tuple[list[int], list[float]]:
    """Cells, and what the pings there say."""
    at = pilot_of(sea)
    values = Gaussian(sea.roots, noise=survey.deviation).measure(at, np.random.default_rng([survey.seed, 0, SONAR]))
    return at.tolist(), values.tolist()


@lru_cache(maxsize=1)  # all campaigns have the same one
def problem_of(sea: Sea, survey: Survey) -> Problem:
    """With the kernel and the mean that make the pilot likeliest."""
    at, values = _pilot(sea, survey)
    start = float(np.ptp(sea.places, axis=0).max()) / 4
    tried = []
    for nu in ROUGHNESS:
        domain = Domain(sea.places, Matern(start, nu=nu), names=NAMES)
        with warnings.catch_warnings():  # a study doubts its kernel by itself, with more data than these
            warnings.simplefilter("ignore", AssumptionWarning)
            tried.append(hyperparameters.fit(domain, at, values, noise=survey.deviation, restarts=STARTS))
    best = max(tried, key=lambda found: found.log_likelihood)
    return Problem(best.domain(domain), goal=Threshold(survey.level), noise=survey.deviation, mean=best.mean)


def _opened(sea: Sea, survey: Survey, label: str, storage: Storage) -> Study | None:
    """The campaign as it is in the store, if it is there."""
    name = survey.name_of(label)
    try:
        if name not in storage.names():
            return None
    except InputError:  # nothing is stored there yet; if anything else is wrong, making the study says so again
        return None
    study = Study.open(storage, name, worker=WORKER)
    made = study.ledger.created
    given = (made.method, made.seed, made.batch, study.ledger.goal, made.problem["noise"])
    wanted = (LABELS[label], survey.seed, survey.batch, Threshold(survey.level), survey.deviation)
    if given != wanted or not np.array_equal(made.points, sea.places):
        raise InputError("store", f"one with another study {name!r}", "give another one")
    return study
