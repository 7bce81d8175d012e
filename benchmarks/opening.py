"""Opening a study of 100,000 entries, with and without its snapshot.

    python benchmarks/opening.py

Half of the entries plan one measurement of 100 points, and half tell its value. The log is in a SQLite file. Without a
snapshot every entry is read, checked and folded; with one, only its last entry and those since. The first line is a log
without entries since the snapshot, the second one with as many as there can be before the next snapshot is made.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from sqlalchemy import insert, update
from timing import timed

import superlevel as sl
from superlevel.study import snapshots
from superlevel.study.events import Asked, Payload, Told
from superlevel.study.ledger import fold
from superlevel.study.storage.protocol import Entry
from superlevel.study.storage.schema import ENTRIES, STUDIES
from superlevel.study.storage.sql import Sql

POINTS, LENGTH, REPEAT = 100, 100_000, 3


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        storage = Sql(f"sqlite:///{Path(folder) / 'long.db'}")
        entries = made(storage)
        whole, without = timed(lambda: fold(storage.read("long")), REPEAT)
        print(f"opening {len(entries):,} entries; shortest of {REPEAT} times")
        print(f"  without a snapshot               {without:6.2f} s")
        for since in (0, snapshots.SPACING - 1):
            storage.keep_snapshot("long", snapshots.stored(fold(entries[: LENGTH - since])))
            study, seconds = timed(lambda: sl.Study.open(storage, "long"), REPEAT)
            assert snapshots.stored(study.ledger) == snapshots.stored(whole)
            print(
                f"  with one, and {since:3} entries since   {seconds:6.2f} s    {without / seconds:5.1f} times as fast"
            )


def made(storage: Sql) -> list[Entry]:
    """A log of this length, stored."""
    problem = sl.Problem(sl.Domain(np.linspace(0, 1, POINTS)), goal=sl.Threshold(0.5), noise=0.5)
    sl.Study.create(storage, "long", problem, method="uniform", batch=1)
    entries = storage.read("long")
    for seq in range(2, LENGTH + 1):
        entries.append(payload(seq).entry(seq=seq, before=entries[-1].digest))
    rows = [{"study_id": 1, **vars(entry)} for entry in entries[1:]]
    with storage._store.writing() as connection:
        connection.execute(insert(ENTRIES), rows)
        connection.execute(update(STUDIES).values(length=LENGTH))
    return entries


def payload(seq: int) -> Payload:
    """A plan of one measurement in every even place, and its value in the next."""
    number, labels = seq // 2, "?" * POINTS
    if seq % 2:
        return Told(tickets=[number], values=[number % 7 / 7], worker="boat")
    plan = [number % POINTS]
    return Asked(seen=seq - 1, purpose="batch", phase=number, points=plan, samples=number - 1, labels=labels)


if __name__ == "__main__":
    main()
