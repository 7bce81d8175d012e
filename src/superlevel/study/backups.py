"""Backups: a copy of studies in one SQLite file, checked by the chain of digests, and its return into a store.

A backup is a store itself: every command opens it with ``--store sqlite:///FILE``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from superlevel.errors import InputError
from superlevel.files import exchanging
from superlevel.study.ledger import Ledger, fold
from superlevel.study.storage.protocol import StorageError
from superlevel.study.storage.refusals import unknown

if TYPE_CHECKING:
    from superlevel.study.storage.copies import Rows
    from superlevel.study.storage.sql import Sql


class Outcome(StrEnum):
    """What became of a study."""

    SAVED = "saved"
    RESTORED = "restored"
    EXTENDED = "extended"
    """The store had the first entries of the backup, and got the others."""
    UNCHANGED = "unchanged"
    """The store has all of it already."""
    REPLACED = "replaced"
    """The store had entries that the backup does not have. They are gone."""


@dataclass(frozen=True, kw_only=True)
class Copied:
    """What a backup or a restore did with one study."""

    name: str
    outcome: Outcome
    entries: int
    """That were copied, or are there already."""
    measurements: int
    head: str
    """The digest of the last entry."""
    dropped: int = 0
    """Entries of the store that the backup does not have."""


def backup(store: str, path: str | Path, *, name: str | None = None, force: bool = False) -> tuple[Copied, ...]:
    """Copy one study, or all of them, to a new SQLite file, and check every entry of the copy.

    Args:
        store: the URL of a SQLite or PostgreSQL store. Others may use it meanwhile: the copy is of one moment.
        path: the file. It is there whole at the end, or not at all.
        name: the study; None for all.
        force: replace a file that is there.
    """
    from superlevel.study.storage.copies import as_one_file, copy_file, copy_rows  # noqa: PLC0415  slow to import

    source, target = _sql("store", store), Path(os.path.realpath(path))
    _check_target(source, target, force=force)
    with exchanging("path", path, target) as beside:
        beside.chmod(0o600)
        copy = _sql("path", f"sqlite:///{beside}")
        if source.store.address.path is not None and name is None:
            copy_file(source.store, beside)
        else:
            copy_rows(source.store, copy.store, name)
        as_one_file(copy.store)
        if problems := copy.check():
            raise StorageError(f"{source.url} is damaged, and so would be its backup: {problems[0]}")
        found = tuple(_copied(each, _checked(copy, each, source.url), Outcome.SAVED) for each in copy.names())
        copy.close()
    return found


def restore(path: str | Path, store: str, *, name: str | None = None, force: bool = False) -> tuple[Copied, ...]:
    """Put one study of a backup, or all of them, back into a store: all of them or, if anything is raised, none.

    InputError if the store has entries of such a study that the backup does not have, unless ``force`` drops them.
    """
    from superlevel.study.storage.copies import locked_digests, read_rows, write_rows  # noqa: PLC0415  slow to import

    if not Path(path).is_file():
        raise InputError("path", f"{str(path)!r}, which is no file", "give one that `superlevel study backup` wrote")
    source, target = _sql("path", f"sqlite:///{Path(os.path.realpath(path))}"), _sql("store", store)
    names = source.names()
    if name is not None and name not in names:
        raise unknown(name, names)
    chosen = names if name is None else [name]
    ledgers = {each: _checked(source, each, source.url) for each in chosen}
    with source.store.snapshot() as connection:
        rows = {each: read_rows(connection, each) for each in chosen}
    with target.store.writing(make=True) as connection:
        there = {each: locked_digests(connection, each) for each in chosen}
        found = tuple(_compared(each, ledgers[each], there[each], rows[each]) for each in chosen)
        if not force:
            _check_nothing_dropped(found)
        for item in found:
            if item.outcome is not Outcome.UNCHANGED:
                write_rows(connection, rows[item.name])
    return found


def _sql(field: str, url: str) -> Sql:
    if url.strip() == "memory:":
        raise InputError(field, repr(url), "what is in memory is gone with its process: give a file or a server")
    from superlevel.study.storage.sql import Sql  # noqa: PLC0415  slow to import

    return Sql(url)


def _check_target(source: Sql, target: Path, *, force: bool) -> None:
    """That the backup replaces nothing that is needed."""
    own = source.store.address.path
    if own is not None and target == Path(os.path.realpath(own)):
        raise InputError("path", f"{str(target)!r}, which is the store itself", "give another file")
    if target.is_dir():
        raise InputError("path", f"{str(target)!r}, which is a folder", "give the name of a file in it")
    if target.exists() and not target.is_file():
        raise InputError("path", f"{str(target)!r}, which is a device or a pipe", "give the name of a file")
    if target.exists() and not force:
        raise InputError(
            "path", f"{str(target)!r}, which is there already", "give a new name, or --force to replace it"
        )
    if target.with_name(f"{target.name}-wal").exists():
        raise InputError("path", f"{str(target)!r}, which somebody is using", "give a new name")


def _checked(storage: Sql, name: str, url: str) -> Ledger:
    """A log whose entries are a chain from the first to the last."""
    try:
        return fold(storage.read(name))
    except StorageError as error:
        raise StorageError(f"study {name!r} of {url}: {error}") from error


def _copied(name: str, ledger: Ledger, outcome: Outcome, dropped: int = 0) -> Copied:
    return Copied(
        name=name,
        outcome=outcome,
        entries=ledger.length,
        measurements=ledger.samples,
        head=ledger.head,
        dropped=dropped,
    )


def _compared(name: str, ledger: Ledger, there: list[str], given: Rows) -> Copied:
    """What a restore will do with a study, by comparing its digests ``there``, in the store, with those of a backup."""
    digests = {row["seq"]: row["digest"] for row in given["entries"]}
    same = sum(1 for _ in takewhile(lambda seq: digests.get(seq) == there[seq - 1], range(1, len(there) + 1)))
    dropped = len(there) - same
    if not there:
        outcome = Outcome.RESTORED
    elif dropped:
        outcome = Outcome.REPLACED
    else:
        outcome = Outcome.UNCHANGED if len(there) == len(digests) else Outcome.EXTENDED
    return _copied(name, ledger, outcome, dropped)


def _check_nothing_dropped(found: tuple[Copied, ...]) -> None:
    for item in found:
        if item.dropped:
            got = f"{item.name!r}, which has {item.dropped:,} entries in the store that the backup does not have"
            remedy = "nothing was restored; back up the store first, and then replace the study with --force"
            raise InputError("study", got, remedy)
