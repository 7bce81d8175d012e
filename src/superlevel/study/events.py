"""What a log can say: one model for each kind of entry, as JSON, and the chain of digests that ties them together.

    digest_k = H(digest_{k-1}, seq, kind, at, payload)

The payload of a signed entry ends in a signature of the digest that the entry would have without it.
The log is the campaign: everything else is computed from it. Nothing in it is ever changed; a mistake is corrected by
another entry. Payloads are JSON with a format version, never pickles; floats are written so that they are read back to
the last bit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, ClassVar, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from superlevel import scales
from superlevel.coordinates import Coordinates
from superlevel.errors import NotInstalledError
from superlevel.study.format1 import from_format_1
from superlevel.study.long import PlacesField
from superlevel.study.storage.protocol import Entry, StorageError

FORMAT = 7
PILOT, BATCH, ROUND, REST, AUDIT = "pilot", "batch", "round", "rest", "audit"  # what plans are for


_SIGNED = re.compile(r',"signature":"([0-9a-f]{128})"\}\Z')

Sign: TypeAlias = Callable[[str], str]
"""The signature of a digest, as hexadecimal digits."""


class DamagedError(StorageError):
    """A log that is not as it was written."""


class Payload(BaseModel):
    """What an entry of some kind says."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    kind: ClassVar[str]

    def entry(self, *, seq: int, before: str, sign: Sign | None = None) -> Entry:
        """This as the entry of a log, after one with the digest ``before``; signed where there is a key."""
        text = json.dumps(self.model_dump(exclude_defaults=True), allow_nan=False, separators=(",", ":"))
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        if sign is not None:
            text = f'{text[:-1]},"signature":"{sign(chained(before, seq, self.kind, at, text))}"}}'
        digest = chained(before, seq, self.kind, at, text)
        return Entry(seq=seq, kind=self.kind, at=at, payload=text, digest=digest, attached=self.attached)

    @property
    def attached(self) -> bytes:
        """What is stored beside the entry, which names its digest."""
        return b""

    @classmethod
    def read(cls, entry: Entry) -> Self:
        """What an entry says, checked."""
        try:
            return cls.model_validate_json(parted(entry.payload)[0])
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise DamagedError(f"entry {entry.seq}, {where}: {first['msg']}; {RESCUE}") from error


class Sparse(Payload):
    """An array that is mostly zero."""

    shape: tuple[int, ...]
    at: list[list[int]]
    """One list for each axis."""
    values: list[float]

    @model_validator(mode="after")
    def _fits(self) -> Self:
        """Every value has its place; what is out of place would be noticed far from here, if at all."""
        whole = len(self.at) == len(self.shape) and all(len(axis) == len(self.values) for axis in self.at)
        if not whole or any(not 0 <= k < size for axis, size in zip(self.at, self.shape, strict=True) for k in axis):
            raise ValueError("an array has values out of place")
        return self


class Certified(Payload):
    """An optimal design with its certificate."""

    weights: Sparse
    dual: Sparse
    value: float
    lower_bound: float
    truncation: float
    status: str
    iterations: int
    evaluations: int


class Fit(Payload):
    """What an earlier version estimated from measurements instead of being given."""

    kernel: Any
    noise: float | list[float]
    mean: float
    samples: int
    """From so many measurements."""
    doubts: list[str] = Field(default_factory=list)


class Forecasted(Payload):
    """What a plan expects to be measured at each of its points, in ascending order: transformed values."""

    means: list[float]
    deviations: list[float]
    centre: float
    """Of the transform asinh((value - centre) / unit / scale)."""
    unit: float
    scale: float | None
    """None for a transform that only changes units."""


class Challenged(Payload):
    """The directions of which a test begins with a plan: f(x), or f(x) - share f(x') for pairs."""

    points: list[int]
    """x"""
    others: list[int] = Field(default_factory=list)
    """x'; empty where the directions are points."""
    signs: str
    """+ for each direction that is to be shown to be above its level, - for one below."""
    gaps: list[float]
    """How far each was thought to be from its level."""
    deltas: list[float]
    """The share of delta that each test has."""


class Audited(Payload):
    """A map as it was when an audit was planned."""

    guess: str
    """+ or - for each point: its label, or the likelier side of an undecided one; row after row for several levels.
    Packed where it is long, as the next one is."""
    doubt: str
    """How likely each label was wrong, as a digit or letter in 36 steps up to one half; - for a point that is not
    audited."""
    delta: float
    tolerance: float
    declared: bool
    """Whether only the declared points are audited."""


class Created(Payload):
    """A campaign begins: everything that was given."""

    kind = "created"

    format: int
    version: str
    """Of the library."""
    points: PlacesField
    """(n, d); those of a large domain are stored beside the entry, which has their digest."""
    names: list[str]
    scales: list[dict[str, Any]] = Field(default_factory=list)
    """What each coordinate may be, as `superlevel.scales.restore` takes it; empty where all are plain numbers."""
    reference: str = ""
    """The reference system of coordinates on a map; empty where there is none, and in the formats before 5."""
    ids: list[str] = Field(default_factory=list)
    """What people call each point; empty where points have no names."""
    id_name: str = ""
    """What the column of these is called; empty where there is none."""
    goal: dict[str, Any]
    """As `superlevel.goals.restore` takes it."""
    kernel: Any = None
    """A description, None for the linear kernel."""
    problem: dict[str, float | list[float] | None]
    """The fields of `superlevel.fields`."""
    transform: str = ""
    """The name of the transform of the values, as `superlevel.transforms` has it; all values of the log are as they
    were told. Empty where there is none, and in the formats before 5."""
    fit: list[str] = Field(default_factory=list)
    """What of kernel, noise and mean is estimated from the measurements, and not as it is here."""
    method: str
    confidence: dict[str, Any]
    """Its name and its parameters."""
    rule: dict[str, Any] | None = None
    """The name and the parameters of a rule that is not the method's own."""
    permanent: bool | None = None
    """Whether labels stay once they are given; None leaves that to the confidence."""
    batch: int
    """Measurements that are planned at once, where the method does not say."""
    seed: int
    lease: float
    """For how many seconds a ticket is reserved for the worker who asked for it."""
    study: str = ""
    """The name of the study; empty in the formats before 4."""
    key: str = ""
    """The public key with which all entries are signed; empty where none is."""

    @property
    def coordinates(self) -> Coordinates:
        """The coordinates of a point, as people see them."""
        if not self.scales:
            return Coordinates.plain(self.names)
        return Coordinates(names=tuple(self.names), scales=tuple(scales.restore(each) for each in self.scales))

    @classmethod
    def read(cls, entry: Entry) -> Self:
        """What was given, checked; a newer version may have written what would look like damage here."""
        try:
            written = _Written.model_validate_json(entry.payload).format
        except ValidationError:
            written = FORMAT  # damaged
        if written > FORMAT:
            got = f"of format {written}, and this version reads {FORMAT}"
            raise NotInstalledError("study", got, "pip install --upgrade superlevel")
        found = super().read(entry)
        try:
            return found.model_copy(update={"points": found.points.resolved(entry.attached)})
        except ValueError as error:
            raise DamagedError(f"entry {entry.seq}: {error}; {RESCUE}") from error

    @property
    def attached(self) -> bytes:
        return self.points.attached

    @model_validator(mode="before")
    @classmethod
    def _upgraded(cls, given: Any) -> Any:
        """A snapshot has the fields of this version, whatever the format of the log."""
        old = isinstance(given, dict) and given.get("format") == 1 and "problem" not in given
        return from_format_1(given) if old else given


class _Written(BaseModel):
    """All that a version need know of what another wrote."""

    format: int


class Asked(Payload):
    """Measurements were planned: one ticket for each, numbered on from those before."""

    kind = "asked"

    seen: int
    """Made from so many entries."""
    purpose: str
    """pilot, batch, round, the rest of a round whose measurements failed, or audit."""
    phase: int
    """Of the method, from 1; 0 for a pilot."""
    points: list[int]
    """The point of each ticket."""
    samples: int
    """Measurements that were known then."""
    labels: str
    """What was decided then: +, - or ? for each point, packed where it is long."""
    fit: Fit | None = None
    """A new estimate, which holds from now on: in logs of the versions before only."""
    forecast: Forecasted | None = None
    """What is expected to be measured, where the confidence says so."""
    challenge: Challenged | None = None
    """The tests that begin with this plan."""
    checks: list[int] = Field(default_factory=list)
    """The points that were drawn at random to check the model."""
    audit: Audited | None = None
    """The map that these measurements judge."""
    weights: Sparse | None = None
    """The distribution that the points were drawn from, in rounds."""
    undecided: str = ""
    """A fingerprint of what a round was planned for."""
    completes: int = 0
    """The entry of the round of which this is the rest."""
    design: Certified | None = None


class Placed(Payload):
    """Places were added: where something was measured beside the points, or further points, whose labels are wanted.

    Places beside the points are numbered on after the points and the places before them, and `Told` names them by these
    numbers. Further points are numbered on after the points before them; from then on the numbers of all places beside
    the points are larger by as many.
    """

    kind = "placed"

    points: list[list[float]]
    """(m, d) coordinates."""
    targets: bool = False
    """Whether they are further points."""


class Told(Payload):
    """Results came in."""

    kind = "told"

    tickets: list[int]
    values: list[float | None]
    """None: could not be measured."""
    noise: list[float | None] | None = None
    """The deviation of each where it has its own."""
    points: list[int] = Field(default_factory=list)
    """Of the last tickets, which nobody planned and which are numbered on from those before."""
    late: list[int] = Field(default_factory=list)
    """Tickets whose lease had ended, or that somebody else held."""
    reasons: dict[int, str] = Field(default_factory=dict)
    worker: str = ""


class Corrected(Payload):
    """A value was wrong."""

    kind = "corrected"

    ticket: int
    value: float
    noise: float | None = None
    reason: str = ""


class Withdrawn(Payload):
    """Measurements do not count any more, or need not be made."""

    kind = "withdrawn"

    tickets: list[int]
    reason: str = ""


class Programmed(Payload):
    """From now on `find` calls this, and nothing else answers its tickets."""

    kind = "program"

    program: str
    """A command as it was typed, or the name of a function with that of its module."""


class Closed(Payload):
    """The campaign ends: this was its answer."""

    kind = "closed"

    samples: int
    labels: str
    reason: str = ""


KINDS: dict[str, type[Payload]] = {
    model.kind: model for model in (Created, Asked, Placed, Told, Corrected, Withdrawn, Programmed, Closed)
}
AnyPayload: TypeAlias = Created | Asked | Placed | Told | Corrected | Withdrawn | Programmed | Closed
RESCUE = (
    "the log is damaged or was changed by hand: take the copy that you keep, or rescue what is intact with "
    "`superlevel doctor --store URL --rescue NEW_URL`"
)


def parted(payload: str) -> tuple[str, str]:
    """The text of an entry without its signature, and the signature; empty where there is none."""
    found = _SIGNED.search(payload)
    return (payload, "") if found is None else (f"{payload[: found.start()]}}}", found[1])


def chained(before: str, seq: int, kind: str, at: str, payload: str) -> str:
    """The digest of an entry that follows one with the digest ``before``; lengths part the pieces."""
    digest = blake2b(digest_size=16)
    for part in (before, str(seq), kind, at, payload):
        data = part.encode()
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


def read(entries: Iterable[Entry], *, after: int, head: str) -> list[tuple[Entry, Any]]:
    """What entries say that follow ``after`` others, the last of which has the digest ``head``; all is checked."""
    found = []
    for entry in entries:
        after += 1
        if entry.seq != after or entry.digest != chained(head, entry.seq, entry.kind, entry.at, entry.payload):
            raise DamagedError(f"entry {after} is not as it was written; {RESCUE}")
        if entry.kind not in KINDS:
            raise DamagedError(f"entry {after} is of the unknown kind {entry.kind!r}: pip install --upgrade superlevel")
        found.append((entry, KINDS[entry.kind].read(entry)))
        head = entry.digest
    return found
