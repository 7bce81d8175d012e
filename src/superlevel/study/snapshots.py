"""Snapshots: the ledger of the first entries of a log, kept beside it, so that opening a long log reads only the rest.

    text     digest of the body | body
    body     layout, version, head: the digest of the last entry | the ledger as data

A snapshot is a cache. One that is damaged, that another version wrote, or whose last entry has another digest in the
store is ignored, and the log is read from its beginning. `verify` and `doctor` read the whole log, and compare the
snapshot with it: entries before a snapshot are not looked at by whoever only opens the study.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from contextlib import suppress
from hashlib import blake2b
from operator import attrgetter
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from superlevel import __version__
from superlevel.arrays import frozen
from superlevel.study.events import Closed, Created
from superlevel.study.ledger import Asking, Ledger, as_places, fold
from superlevel.study.storage.protocol import Entry, Note, Storage, StorageError

LAYOUT = 5
"""Of the body: change it with the fields of a ledger, or with what they mean."""
SPACING = 1_000
"""Entries since the last snapshot after which whoever opens the study makes another; shorter logs have none."""
_COLUMNS = {
    "point": "<i8",
    "asking": "<i8",
    "fate": "<i8",
    "value": "<f8",
    "noise": "<f8",
    "late": "|b1",
    "told": "<i8",
    "ended": "<i8",
    "first": "<i8",
}
_FIELDS = ("seq", "first", "count", "phase", "audits", "fits", "text")
_PLANNED = attrgetter(*_FIELDS)
_SEPARATOR = "\n"
WAY_OUT = "copy the log without it, with `superlevel doctor --store URL --rescue NEW_URL`"


class _Body(BaseModel):
    """A ledger as data."""

    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="constants")

    layout: int
    version: str
    created: Created
    places: str = ""
    """The points that are stored beside the first entry, as base64."""
    length: int
    head: str
    times: tuple[str, str]
    askings: list[tuple[int, int, int, int, bool, bool, str]]
    """The fields of each `Asking`, in their order."""
    refined: list[list[float]] = []
    elsewhere: list[list[float]] = []
    columns: dict[str, str]
    """The arrays, as base64 of their bytes."""
    reasons: dict[int, str]
    former: list[tuple[int, float, float]]
    changed: int
    revised: int
    program: str = ""
    closed: Closed | None


def opened(storage: Storage, name: str) -> Ledger:
    """What the log says: of its last snapshot and the entries since, or of all entries where none fits."""
    start, rest = _resumed(storage, name) or (None, storage.read(name))
    ledger = fold(rest, start)
    if ledger.length - (0 if start is None else start.length) >= SPACING:
        with suppress(StorageError):  # it is a cache: whoever may only read opens the study more slowly
            storage.keep_snapshot(name, stored(ledger))
    return ledger


def _resumed(storage: Storage, name: str) -> tuple[Ledger, list[Entry]] | None:
    """The ledger of a snapshot that fits the log, and the entries since."""
    noted = None
    with suppress(StorageError):  # what is wrong with the store is said by whoever reads the log
        noted = storage.snapshot(name)
    start = None if noted is None else restored(noted)
    if start is None:
        return None
    entries = storage.read(name, after=start.length - 1)
    if not entries or (entries[0].seq, entries[0].digest) != (start.length, start.head):
        return None
    return start, entries[1:]


def wrong(storage: Storage, name: str, entries: list[Entry]) -> str:
    """What is wrong with a snapshot that `opened` would believe, in a sentence; empty where nothing is."""
    noted = None
    with suppress(StorageError):  # it cannot be read, and so nobody uses it
        noted = storage.snapshot(name)
    kept = None if noted is None else restored(noted)
    if noted is None or kept is None or not 1 <= kept.length <= len(entries):
        return ""
    if entries[kept.length - 1].digest != kept.head or stored(fold(entries[: kept.length])) == noted:
        return ""
    return f"the snapshot of {kept.length:,} entries is not what these say: {WAY_OUT}"


def stored(ledger: Ledger) -> Note:
    """A ledger as text, with its digest."""
    body = _Body(
        layout=LAYOUT,
        version=__version__,
        places=b64encode(ledger.created.attached).decode(),
        askings=[_PLANNED(item) for item in ledger.askings],
        columns={name: _as_text(getattr(ledger, name), kind) for name, kind in _COLUMNS.items()},
        former=list(ledger.former),
        refined=ledger.refined.tolist(),
        elsewhere=ledger.elsewhere.tolist(),
        **{name: getattr(ledger, name) for name in _plain()},
    )
    text = body.model_dump_json(exclude_defaults=True)
    return Note(ledger.length, _digest(text) + _SEPARATOR + text)


def restored(noted: Note) -> Ledger | None:
    """The same ledger, to the last bit; None where it is damaged, or another version wrote it."""
    digest, _, text = noted.text.partition(_SEPARATOR)
    if digest != _digest(text):
        return None
    try:
        body = _Body.model_validate_json(text)
        if (body.layout, body.version, body.length) != (LAYOUT, __version__, noted.seq):
            return None
        columns = {name: _as_array(body.columns[name], kind) for name, kind in _COLUMNS.items()}
        points = body.created.points.resolved(b64decode(body.places, validate=True))
    except (KeyError, ValidationError, ValueError):
        return None
    askings = tuple(_planned(item) for item in body.askings)
    plain: dict[str, Any] = {name: getattr(body, name) for name in _plain()}
    plain["created"] = body.created.model_copy(update={"points": points})
    added: dict[str, Any] = {
        name: as_places(getattr(body, name), len(body.created.names)) for name in ("refined", "elsewhere")
    }
    return Ledger(askings=askings, former=tuple(body.former), **added, **plain, **columns)


def _planned(fields: tuple[Any, ...]) -> Asking:
    return Asking(**dict(zip(_FIELDS, fields, strict=True)))


def _plain() -> tuple[str, ...]:
    """Fields that are the same in both records."""
    return ("created", "length", "head", "times", "reasons", "changed", "revised", "program", "closed")


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=16, person=b"snapshot").hexdigest()


def _as_text(array: Any, kind: str) -> str:
    return b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode()


def _as_array(text: str, kind: str) -> Any:
    return frozen(np.frombuffer(b64decode(text, validate=True), dtype=kind).astype(np.dtype(kind).newbyteorder("=")))
