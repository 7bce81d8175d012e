"""Rows in a file, one JSON line each, written as they come: what was computed is never computed again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import IO, TypeAlias

from superlevel.errors import InputError
from superlevel.reproduce.settings import Row

try:
    import fcntl
except ImportError:  # no such locks on Windows: two runs in one folder are then up to the person
    fcntl = None  # type: ignore[assignment]

Notify: TypeAlias = Callable[[str], None]
"""Says a sentence to whoever is watching."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Journal:
    """The rows of a file that nobody else writes to."""

    rows: list[Row]
    file: IO[bytes]

    def append(self, row: Row) -> None:
        """One line, in one write, handed to the operating system before anything else happens."""
        self.file.write(json.dumps(asdict(row), allow_nan=False).encode() + b"\n")
        self.file.flush()
        self.rows.append(row)


@contextmanager
def opened(path: Path, notify: Notify) -> Iterator[Journal]:
    """The journal at a path, made if it is not there, without a line that was cut off when a run was killed."""
    with path.open("ab+") as file:
        _lock(file, path)
        file.seek(0)
        whole, torn = _split(file.read())
        if torn:
            notify(f"{path}: the last line was cut off ({len(torn)} bytes) and is dropped; its row is computed again")
            file.truncate(len(whole))
        yield Journal(rows=[_row(path, k, line) for k, line in enumerate(whole.splitlines(), start=1)], file=file)


def _lock(file: IO[bytes], path: Path) -> None:
    """Until the file is closed, or the process is gone."""
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        remedy = "another run is writing there: wait for it, or give another --out"
        raise InputError(str(path), "locked", remedy) from error
    except OSError:  # a file system without locks: then it is up to the person
        return


def _split(content: bytes) -> tuple[bytes, bytes]:
    """Whole lines, and what comes after the last of them. A line is whole when its end was written too."""
    end = content.rfind(b"\n") + 1
    return content[:end], content[end:]


def _row(path: Path, number: int, line: bytes) -> Row:
    try:
        given = json.loads(line)
        row = Row(**{field.name: given[field.name] for field in fields(Row)})
        if not all(isinstance(part, str | int) for part in row.key) or not isinstance(row.values, dict):
            raise TypeError("fields of other types")
        return row
    except (ValueError, KeyError, TypeError) as error:
        remedy = "that is not a row of superlevel: take the line out, or give another --out"
        raise InputError(f"{path}:{number}", repr(line[:40].decode(errors="replace")), remedy) from error
