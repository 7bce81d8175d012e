"""What somebody who can write to a store can do to it: one function for each kind of manipulation."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from superlevel.errors import SuperlevelError
from superlevel.study import Study
from superlevel.study.events import chained, parted
from superlevel.study.heads import head_of
from superlevel.study.ledger import fold
from superlevel.study.signatures import Signer, make_key
from superlevel.study.storage import Entry, Memory, open_storage
from tests.study.campaigns import GREEDY, NOISE, RIDGE, TRUTH, Kind

Rng = np.random.Generator
Line = tuple[str, str, str]
"""Kind, time and payload of an entry."""
KINDS = {"harbour": GREEDY, "lake": RIDGE}
NAMES = tuple(KINDS)


@dataclass(frozen=True)
class Campaigns:
    """A store with two signed studies, and the heads that were written down elsewhere after every command."""

    path: Path
    key: str
    """The public key."""
    heads: dict[str, str]
    """A text for each study."""


def make(folder: Path) -> Campaigns:
    """Pilot, batches, remarks, a correction, a withdrawal, cached labels and open tickets."""
    path, key = folder / "studies.db", folder / "own.key"
    public = make_key(key).public
    heads = {name: _run(f"sqlite:///{path}", name, kind, key) for name, kind in KINDS.items()}
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")  # one file, to be copied
    return Campaigns(path, public, heads)


def _run(url: str, name: str, kind: Kind, key: Path) -> str:
    given = {"seed": 7, "batch": 4, "worker": "ada", **kind.options}
    study = Study.create(url, name, kind.problem(), method=kind.method, sign=key, **given)
    heads = [head_of(study.ledger)]

    def note() -> None:
        heads.append(head_of(study.refresh().ledger))

    for step in range(2):
        tickets = study.ask()
        note()
        results = kind.measure(tickets)
        results[0] = tickets[0].failed("ice") if step else tickets[0].measured(results[0].value or 0.0, reason="calm")
        study.tell(results)
        note()
    study.correct(1, 0.4, reason="typing error")
    note()
    study.withdraw(2, reason="the anchor had slipped")
    note()
    study.ask()
    note()
    assert study.labels.size  # which caches them
    open_storage(url).close()
    return "\n".join(f"{name}, head: {head}" for head in heads)


# ------------------------------------------------------------------------------------- what a forger works with


@dataclass(frozen=True)
class Forgery:
    """A copy of the store that is being changed."""

    connection: sqlite3.Connection
    rng: Rng
    study: int

    def lines(self) -> list[Line]:
        chosen = "SELECT kind, at, payload FROM entries WHERE study_id = ? ORDER BY seq"
        return self.connection.execute(chosen, (self.study,)).fetchall()

    def entries(self) -> list[Entry]:
        chosen = "SELECT seq, kind, at, payload, digest FROM entries WHERE study_id = ? ORDER BY seq"
        names = ("seq", "kind", "at", "payload", "digest")
        rows = self.connection.execute(chosen, (self.study,))
        return [Entry(**dict(zip(names, row, strict=True))) for row in rows]

    def rewrite(self, lines: list[Line]) -> None:
        """The log in place of the one that was there, with all digests and the length as they should be."""
        self.connection.execute("DELETE FROM entries WHERE study_id = ?", (self.study,))
        before = ""
        for seq, (kind, at, payload) in enumerate(lines, start=1):
            before = chained(before, seq, kind, at, payload)
            row = (self.study, seq, kind, at, payload, before)
            self.connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)", row)
        self.set("length", len(lines))
        if self.rng.random() < 0.5:
            self.cover()

    def cover(self) -> None:
        """Leave no trace beside the log."""
        self.connection.execute("UPDATE studies SET noted = NULL, noted_seq = NULL WHERE id = ?", (self.study,))
        self.connection.execute("DELETE FROM tickets WHERE study_id = ?", (self.study,))
        try:
            ledger = fold(self.entries())
        except SuperlevelError:
            return
        rows = [(self.study, int(number)) for number in ledger.claimable]
        self.connection.executemany("INSERT INTO tickets (study_id, number) VALUES (?, ?)", rows)

    def set(self, column: str, value: object) -> None:
        self.connection.execute(f"UPDATE studies SET {column} = ? WHERE id = ?", (value, self.study))

    def one(self, things: list[Any]) -> Any:
        return things[int(self.rng.integers(len(things)))]

    def place(self, *kinds: str) -> int:
        """The place of some entry of these kinds."""
        return int(self.one([k for k, (kind, _, _) in enumerate(self.lines()) if kind in kinds]))

    def changed(self, at: int, change: Callable[[dict[str, Any]], object]) -> None:
        """The log with another payload, re-chained; a signature stays as it was."""
        lines = self.lines()
        kind, when, payload = lines[at]
        text, signature = parted(payload)
        document = json.loads(text)
        change(document)
        text = json.dumps(document, separators=(",", ":"))
        lines[at] = (kind, when, f'{text[:-1]},"signature":"{signature}"}}')
        self.rewrite(lines)

    def ticket(self) -> int:
        (numbers,) = zip(
            *self.connection.execute("SELECT number FROM tickets WHERE study_id = ?", (self.study,)), strict=True
        )
        return int(self.one(list(numbers)))


# --------------------------------------------------------------------------------------------- the entries alone


def byte_of_an_entry(it: Forgery) -> None:
    seq = it.one(range(1, len(it.lines()) + 1))  # type: ignore[arg-type]
    column = it.one(["payload", "digest", "at", "kind"])
    (text,) = it.connection.execute(
        f"SELECT {column} FROM entries WHERE study_id = ? AND seq = ?", (it.study, seq)
    ).fetchone()
    at = int(it.rng.integers(len(text)))
    other = it.one([c for c in "0123456789abcdef" if c != text[at]])
    it.connection.execute(
        f"UPDATE entries SET {column} = ? WHERE study_id = ? AND seq = ?",
        (text[:at] + other + text[at + 1 :], it.study, seq),
    )


def entry_deleted(it: Forgery) -> None:
    seq = it.one(range(1, len(it.lines()) + 1))  # type: ignore[arg-type]
    it.connection.execute("DELETE FROM entries WHERE study_id = ? AND seq = ?", (it.study, seq))


def length_changed(it: Forgery) -> None:
    it.set("length", len(it.lines()) + it.one([-2, -1, 1, 2]))


# ----------------------------------------------------------------------------------------- whole logs, re-chained


def last_entries_dropped(it: Forgery) -> None:
    lines = it.lines()
    it.rewrite(lines[: int(it.rng.integers(1, len(lines)))])


def middle_entry_dropped(it: Forgery) -> None:
    lines = it.lines()
    del lines[int(it.rng.integers(1, len(lines) - 1))]
    it.rewrite(lines)


def value_changed(it: Forgery) -> None:
    def change(payload: dict[str, Any]) -> None:
        if "value" in payload:
            payload["value"] += float(it.rng.normal())
        else:
            at = it.one([k for k, value in enumerate(payload["values"]) if value is not None])
            payload["values"][at] += float(it.rng.normal())

    it.changed(it.place("told", "corrected"), change)


def reason_changed(it: Forgery) -> None:
    def change(payload: dict[str, Any]) -> None:
        if "reasons" in payload:
            payload["reasons"] = dict.fromkeys(payload["reasons"], "another")
        else:
            payload["reason"] = "another"

    it.changed(it.place("told", "corrected", "withdrawn"), change)


def worker_changed(it: Forgery) -> None:
    it.changed(it.place("told"), lambda payload: payload.update(worker="eve"))


def time_changed(it: Forgery) -> None:
    lines = it.lines()
    at = int(it.rng.integers(len(lines)))
    lines[at] = (lines[at][0], "2020-01-01T00:00:00.000+00:00", lines[at][2])
    it.rewrite(lines)


def label_changed(it: Forgery) -> None:
    def change(payload: dict[str, Any]) -> None:
        labels = list(payload["labels"])
        at = int(it.rng.integers(len(labels)))
        labels[at] = it.one([sign for sign in "+-?" if sign != labels[at]])
        payload["labels"] = "".join(labels)

    it.changed(it.place("asked"), change)


def problem_changed(it: Forgery) -> None:
    def change(payload: dict[str, Any]) -> None:
        field = it.one(["seed", "noise", "point"])
        if field == "seed":
            payload["seed"] = payload.get("seed", 0) + 1
        elif field == "noise":
            payload["problem"]["noise"] *= 2
        else:
            payload["points"][3][0] += 0.01

    it.changed(0, change)


def design_removed(it: Forgery) -> None:
    it.changed(it.place("asked"), lambda payload: payload.pop("design"))


def log_replaced(it: Forgery) -> None:
    """Every value anew, as if the whole campaign had been another one."""

    def change(payload: dict[str, Any]) -> None:
        payload["values"] = [None if v is None else v + float(it.rng.normal()) for v in payload["values"]]

    for at, (kind, _, _) in enumerate(it.lines()):
        if kind == "told":
            it.changed(at, change)


def campaign_forged(it: Forgery) -> None:
    """Another campaign in its place, run with this library from other values, so that all of it agrees."""
    (name,) = it.connection.execute("SELECT name FROM studies WHERE id = ?", (it.study,)).fetchone()
    kind = KINDS[name]
    study = Study.create(Memory(), name, kind.problem(), method=kind.method, seed=7, batch=4, **kind.options)
    for _ in range(3):
        tickets = study.ask()
        study.tell([ticket.measured(float(TRUTH[ticket.point] + it.rng.normal(scale=NOISE))) for ticket in tickets])
    it.rewrite([(entry.kind, entry.at, entry.payload) for entry in study.log()])


def signed_with_another_key(it: Forgery) -> None:
    """The values of another campaign, and all of it signed with the forger's own key."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    signer, made, before = Signer(Ed25519PrivateKey.generate()), [], ""
    log_replaced(it)
    for seq, (kind, at, payload) in enumerate(it.lines(), start=1):
        document = json.loads(parted(payload)[0])
        if kind == "created":
            document["key"] = signer.public
        text = json.dumps(document, separators=(",", ":"))
        text = f'{text[:-1]},"signature":"{signer(chained(before, seq, kind, at, text))}"}}'
        before = chained(before, seq, kind, at, text)
        made.append((kind, at, text))
    it.rewrite(made)


def entry_added(it: Forgery) -> None:
    """At the end, as if somebody had corrected a value."""
    payload = {"ticket": 1, "value": float(it.rng.normal()), "reason": "forged"}
    it.rewrite([*it.lines(), ("corrected", "2026-01-01T00:00:00.000+00:00", json.dumps(payload))])


def names_swapped(it: Forgery) -> None:
    for name, other in ((NAMES[0], "x"), (NAMES[1], NAMES[0]), ("x", NAMES[1])):
        it.connection.execute("UPDATE studies SET name = ? WHERE name = ?", (other, name))


# ---------------------------------------------------------------------------------------------- beside the log


def ticket_that_is_not_there(it: Forgery) -> None:
    it.connection.execute("INSERT INTO tickets (study_id, number) VALUES (?, ?)", (it.study, it.one([-1, 0, 99])))


def measured_ticket_opened_again(it: Forgery) -> None:
    it.connection.execute("INSERT INTO tickets (study_id, number) VALUES (?, ?)", (it.study, it.one([1, 2, 3])))


def ticket_deleted(it: Forgery) -> None:
    it.connection.execute("DELETE FROM tickets WHERE study_id = ? AND number = ?", (it.study, it.ticket()))


def lease_that_is_text(it: Forgery) -> None:
    it.connection.execute(
        "UPDATE tickets SET until = 'soon' WHERE study_id = ? AND number = ?", (it.study, it.ticket())
    )


def lease_of_somebody_else(it: Forgery) -> None:
    it.connection.execute(
        "UPDATE tickets SET worker = 'eve', until = until + 60 WHERE study_id = ? AND number = ?",
        (it.study, it.ticket()),
    )


def _noted(it: Forgery, change: Callable[[dict[str, Any]], object]) -> None:
    (text,) = it.connection.execute("SELECT noted FROM studies WHERE id = ?", (it.study,)).fetchone()
    document = json.loads(text)
    change(document)
    it.set("noted", json.dumps(document))


def cached_label_changed(it: Forgery) -> None:
    _noted(it, lambda note: note.update(labels=note["labels"].translate(str.maketrans("+-?", "-?+"))))


def cached_remark_changed(it: Forgery) -> None:
    _noted(it, lambda note: note.update(doubts=["forged"]))


def cached_labels_deleted(it: Forgery) -> None:
    it.connection.execute("UPDATE studies SET noted = NULL, noted_seq = NULL WHERE id = ?", (it.study,))


def cached_labels_of_more_entries(it: Forgery) -> None:
    it.set("noted_seq", 99)


def date_of_the_study_changed(it: Forgery) -> None:
    it.set("created_at", "2020-01-01T00:00:00.000+00:00")


ALL: tuple[Callable[[Forgery], None], ...] = (
    byte_of_an_entry,
    entry_deleted,
    length_changed,
    last_entries_dropped,
    middle_entry_dropped,
    value_changed,
    reason_changed,
    worker_changed,
    time_changed,
    label_changed,
    problem_changed,
    design_removed,
    log_replaced,
    campaign_forged,
    signed_with_another_key,
    entry_added,
    names_swapped,
    ticket_that_is_not_there,
    measured_ticket_opened_again,
    ticket_deleted,
    lease_that_is_text,
    lease_of_somebody_else,
    cached_label_changed,
    cached_remark_changed,
    cached_labels_deleted,
    cached_labels_of_more_entries,
    date_of_the_study_changed,
)


def manipulated(store: Campaigns, path: Path, act: Callable[[Forgery], None], rng: Rng) -> str:
    """A copy of the store that somebody changed, and the name of the study whose log it was."""
    shutil.copy(store.path, path)
    name = str(rng.choice(NAMES)) if act is not design_removed else "lake"  # the other one has no designs
    with closing(sqlite3.connect(path)) as connection, connection:
        (study,) = connection.execute("SELECT id FROM studies WHERE name = ?", (name,)).fetchone()
        act(Forgery(connection, rng, study))
    return name
