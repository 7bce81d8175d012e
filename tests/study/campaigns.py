"""Small campaigns with every kind of method, and what an adversary can do to their logs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel.arrays import Array
from superlevel.errors import InputError
from superlevel.study import Result, Study, Ticket
from superlevel.study.events import DamagedError, chained
from superlevel.study.ledger import fold
from superlevel.study.rescue import rescue
from superlevel.study.storage import Entry, Memory, Storage
from superlevel.study.verification import Verification

NAME = "sea"
N = 14
X = np.linspace(0, 1, N) ** 1.1  # without the symmetry that would leave ties to rounding
TRUTH = np.sin(6 * X)
NOISE = 0.1
ARMS = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.6]])
THETA = np.array([0.9, -0.8])
FIT = ("kernel", "noise", "mean")
LEVEL = sl.Threshold(0.23)

Change = Callable[[dict[str, Any]], object]
"""What a forger does to the payload of an entry."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A problem and a method for it."""

    name: str
    method: str = "melk"
    goal: sl.Goal = LEVEL
    fit: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def in_rounds(self) -> bool:
        return isinstance(self.options.get("confidence"), sl.Rips)

    @property
    def truth(self) -> Array:
        return np.asarray(ARMS @ THETA) if self.in_rounds else TRUTH

    def problem(self, **changes: Any) -> sl.Problem:
        if self.in_rounds:
            given: dict[str, Any] = {"noise": NOISE, "bound": 1.0, "delta": 0.2, "tolerance": 0.5, **changes}
            return sl.Problem(given.pop("domain", sl.Domain(ARMS)), goal=given.pop("goal", self.goal), **given)
        given = {"noise": NOISE, "norm": 3.0, "fit": self.fit, **changes}
        return sl.Problem(given.pop("domain", sl.Domain(X, RBF(0.2))), goal=given.pop("goal", self.goal), **given)

    def create(self, storage: Storage | str | None = None, *, problem: sl.Problem | None = None, **given: Any) -> Study:
        """A new study of this kind, in memory."""
        options: dict[str, Any] = {"seed": 7, "batch": 4, "worker": "ada", **self.options, **given}
        store = Memory() if storage is None else storage
        return Study.create(store, NAME, self.problem() if problem is None else problem, method=self.method, **options)

    def measure(self, tickets: Iterable[Ticket]) -> list[Result]:
        """Results of tickets: the same for a ticket each time, whoever asks when."""
        return [ticket.measured(self.value(ticket.number, ticket.point)) for ticket in tickets]

    def value(self, ticket: int, point: int) -> float:
        return float(self.truth[point] + NOISE * np.random.default_rng([5, ticket]).standard_normal())

    def run(self, study: Study, steps: int) -> Study:
        """Ask and tell some times, as long as there is something to ask."""
        for _ in range(steps):
            study.tell(self.measure(study.ask()))
        return study


GREEDY = Kind(name="greedy", options={"confidence": "posterior"})
AVERAGE = Kind(name="average", options={"confidence": "posterior", "rule": "average"})
WORST = Kind(name="worst", options={"confidence": "posterior", "rule": "worst"})
MILK = Kind(name="milk", method="milk", goal=sl.FractionOfMax(0.3), options={"confidence": "posterior"})
PAIRS = Kind(
    name="pairs", method="milk", goal=sl.FractionOfMax(0.3), options={"confidence": "posterior", "rule": "worst"}
)
LSE = Kind(name="lse", method="lse")
RKHS = Kind(name="rkhs", method="lse", options={"confidence": "rkhs"})
TRUVAR = Kind(name="truvar", method="truvar", goal=sl.FractionOfMax(0.3))
UNIFORM = Kind(name="uniform", method="uniform")
FITTED = Kind(name="fitted", fit=FIT)
RIDGE = Kind(name="ridge", options={"confidence": "ridge"})
PAIR_RIDGE = Kind(name="pair-ridge", method="milk", goal=sl.FractionOfMax(0.3), options={"confidence": "ridge"})
ELLIPSOIDS = Kind(name="ellipsoids", options={"confidence": sl.Ridge(shares=(1.0, 0.0), growth=1.0)})
PAIR_ELLIPSOIDS = Kind(
    name="pair-ellipsoids",
    method="milk",
    goal=sl.FractionOfMax(0.3),
    options={"confidence": sl.Ridge(shares=(1.0, 0.0), growth=1.0)},
)
ROUNDS = Kind(name="rounds", goal=sl.Threshold(0.0), options={"confidence": sl.Rips(schedule="tight")})
PAIR_ROUNDS = Kind(
    name="pair-rounds",
    method="milk",
    goal=sl.FractionOfMax(0.4),
    options={"confidence": sl.Rips(schedule="tight")},
)

MEMORYLESS = [GREEDY, AVERAGE, WORST, MILK, PAIRS, TRUVAR, UNIFORM, ELLIPSOIDS, PAIR_ELLIPSOIDS]
IN_BATCHES = [*MEMORYLESS, LSE, RKHS, RIDGE, PAIR_RIDGE]
CERTIFIED = [AVERAGE, WORST, PAIRS, RIDGE, PAIR_RIDGE, ELLIPSOIDS, PAIR_ELLIPSOIDS, ROUNDS, PAIR_ROUNDS]
ALL = [*IN_BATCHES, FITTED, ROUNDS, PAIR_ROUNDS]


def each(kinds: list[Kind]) -> pytest.MarkDecorator:
    """A test for each of these."""
    return pytest.mark.parametrize("kind", kinds, ids=lambda kind: kind.name)


def storage_of(study: Study) -> Storage:
    return study._storage


def entries_of(study: Study) -> list[Entry]:
    return storage_of(study).read(NAME)


class Saved(Memory):
    """A store of which these entries can be read."""

    def __init__(self, logs: dict[str, list[Entry]]) -> None:
        super().__init__()
        self._logs = logs

    def salvaged(self) -> dict[str, list[Entry]]:
        return self._logs

    def read(self, name: str, *, after: int = 0, head: str | None = None) -> list[Entry]:  # noqa: ARG002
        return self._logs[name][after:]


def copied(entries: list[Entry], storage: Storage | None = None) -> Storage:
    """A new storage with this log, and with its tickets open, whoever held them."""
    new = Memory() if storage is None else storage
    (found,) = rescue(Saved({NAME: entries}), new)
    assert (found.entries, found.lost) == (len(entries), "")
    return new


def bare(entries: list[Entry]) -> Memory:
    """A new storage with these entries, whatever they say, and with the tickets that they open."""
    new = Memory()
    new.create(NAME, entries[0])
    with new.turn(NAME, after=1) as turn:
        for entry in entries[1:]:
            turn.append(entry, opened=_open(entries) if entry is entries[-1] else ())
    return new


def _open(entries: list[Entry]) -> list[int]:
    """The tickets that workers may ask for; none where the log cannot be read."""
    try:
        ledger = fold(entries)
    except (DamagedError, InputError):
        return []
    return [] if ledger.closed is not None else ledger.claimable.tolist()


def reopened(study: Study, after: int | None = None, *, worker: str = "ada") -> Study:
    """The study that the first entries make."""
    return Study.open(copied(entries_of(study)[:after]), NAME, worker=worker)


def rechained(entries: Iterable[tuple[str, str, str]]) -> list[Entry]:
    """Kind, time and payload as a log whose digests are right."""
    made: list[Entry] = []
    for seq, (kind, at, payload) in enumerate(entries, start=1):
        digest = chained(made[-1].digest if made else "", seq, kind, at, payload)
        made.append(Entry(seq=seq, kind=kind, at=at, payload=payload, digest=digest))
    return made


def forged(study: Study, kind: str, change: Change, *, which: int = -1) -> Memory:
    """A log whose ``which``-th entry of a kind was changed, with all digests computed anew."""
    log = [(entry.kind, entry.at, entry.payload) for entry in entries_of(study)]
    at = [k for k, (found, _, _) in enumerate(log) if found == kind][which]
    payload = json.loads(log[at][2])
    change(payload)
    log[at] = (kind, log[at][1], json.dumps(payload))
    return bare(rechained(log))


def contradicted(verification: Verification) -> set[str]:
    """What did not hold."""
    return {check.assumption for check in verification.checks if check.verdict.bad}


def snapshot(study: Study) -> tuple[object, ...]:
    """Everything that is known, to the last bit."""
    known = study.knowledge
    mean = None if known.estimate is None else known.estimate.tobytes()
    return study.labels.tobytes(), mean, known.stop, known.levels, known.doubts, len(known.infos)
