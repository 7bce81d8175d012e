"""Whether a file may be replaced by an output: one that this program wrote, and in which nobody has written since.

    there is                                     without --force     with --force
    nothing, or an empty file                    written             written
    an output of this program                    replaced            replaced
    a sheet with values in it                    refused             replaced
    any other file                               refused             replaced
    a database of SQLite, or a file beside one   refused             refused   (a GeoPackage is a table)
    a link that leads out of its folder          refused             refused

Pages and pictures carry a mark. Tables have none, because other programs would take it for a line: they are known by
the names of their columns, of which all must be there and none besides.
"""

from __future__ import annotations

import os
import re
from enum import Enum
from pathlib import Path

from superlevel import formats
from superlevel.errors import InputError

MARK = "superlevel"
GENERATOR = f'<meta name="generator" content="{MARK}">'
_DATABASE = b"SQLite format 3\0"
_GEOPACKAGE = b"GPKG"  # the application that a table of points in such a database is for
_BESIDE = ("-wal", "-shm", "-journal")
_MARKS = {
    b"\x89PNG": f"Software\0{MARK}".encode(),
    b"%PDF": f"/Creator ({MARK})".encode(),
    b"<?xml": f"<dc:title>{MARK}</dc:title>".encode(),
    b"<!DOCTYPE html>": GENERATOR.encode(),
}
_BEGINS = (  # a log, the claims of a figure, a certificate, and its verifier
    b'{"seq": 1, "kind": "created", ',
    b'{\n  "figure": ',
    b'{"format": 1, "head": {"entries": ',
    b'"""Check a certificate of superlevel. ',
)
_SHEET = re.compile(r"ticket,.+,value,noise,status,reason(,study)?(,log head)?")
_MEASUREMENTS = re.compile(r"ticket,.+,value,noise,fate,late,reason,told(,log head)?")
_TABLES = tuple(
    re.compile(pattern)
    for pattern in (
        r".+,label,measurements,average,mean,lower,upper(,likelier)?(,probability above [^,]+)*(,deviation)?"
        r"(,log head)?",
        r".+,label,decided,estimate,lower,upper,interval(,log head)?",
        r"estimate,measurements,ratio,assumes,exceeded,noise,norm,bound,delta,tolerance",
        r"figure,setting,method,.+",
        r"figures,method,settings,.+",
    )
)
_FILLED = ("value", "noise", "status", "reason")


class Found(Enum):
    """What is where an output is to be written."""

    NOTHING = "nothing"
    OURS = "an output of this program"
    FILLED = "a sheet with values in it"
    OTHER = "there already, and was not written by superlevel"
    STORE = "a database"


def check(field: str, path: str | os.PathLike[str], *, force: bool = False, new: Path | None = None) -> Path:
    """The file that the output takes the place of, where that is allowed.

    Args:
        field: the option that named the file, as errors say it.
        path: where the output is to be.
        force: whether a file may be lost that somebody else wrote or filled in.
        new: the output, where it is there: a table may replace one with the same columns.
    """
    given = repr(str(path))
    target = _target(field, path)
    found = look(target)
    if found is Found.STORE:
        raise InputError(field, f"{given}, which is a database or belongs to one", "name another file")
    if force or found in (Found.NOTHING, Found.OURS) or (new is not None and _same_columns(target, new)):
        return target
    otherwise = "overwrite it with --force" if field.startswith("-") else "remove that one first"
    if found is Found.FILLED:
        remedy = f"tell them first, name another file, or {otherwise}"
        raise InputError(field, f"{given}, which has results in it", remedy)
    raise InputError(field, f"{given}, which is {found.value}", f"name another file, or {otherwise}")


def look(target: Path) -> Found:
    """What is there."""
    if _is_database(target) or any(
        target.name.endswith(end) and _is_database(target.with_name(target.name.removesuffix(end))) for end in _BESIDE
    ):
        return Found.STORE
    if _is_nothing(target):
        return Found.NOTHING
    try:
        begins = _first(target, 64)
        for kind, mark in _MARKS.items():
            if begins.startswith(kind):
                return Found.OURS if mark in target.read_bytes() else Found.OTHER
        if begins.startswith(_BEGINS):
            return Found.OURS
        return _table(target)
    except (OSError, InputError):
        return Found.OTHER


def metadata(path: str | os.PathLike[str]) -> dict[str, str]:
    """What makes a picture known as ours, for `savefig`."""
    return {"Software" if Path(path).suffix.lower() == ".png" else "Creator": MARK}


def _target(field: str, path: str | os.PathLike[str]) -> Path:
    """The file itself. A link is followed within its folder only: a link to elsewhere may be somebody else's trap."""
    try:
        folder, target = Path(os.path.realpath(Path(path).parent)), Path(os.path.realpath(path))
        linked = Path(path).is_symlink()
    except OSError as error:
        raise InputError(
            field, repr(str(path)), f"it cannot be written ({error.strerror}): name another file"
        ) from error
    if target.is_dir():
        raise InputError(field, repr(str(path)), "it cannot be written (it is a folder): name a file in it")
    if target.exists() and not target.is_file():
        raise InputError(field, repr(str(path)), "it cannot be written (it is a device or a pipe): name a file")
    if linked and folder not in target.parents:
        raise InputError(field, f"{str(path)!r}, which is a link to {str(target)!r}", "name that file itself")
    return target


def _is_nothing(path: Path) -> bool:
    """Whether no file is there, or an empty one; also where none can be, which whoever writes it finds out."""
    try:
        return not path.exists() or (path.is_file() and not path.stat().st_size)
    except OSError:
        return True


def _is_database(path: Path) -> bool:
    try:
        begins = _first(path, 72) if path.is_file() else b""
        return begins.startswith(_DATABASE) and begins[68:] != _GEOPACKAGE
    except OSError:
        return False


def _first(path: Path, count: int) -> bytes:
    with path.open("rb") as file:
        return file.read(count)


def _table(path: Path) -> Found:
    header = [name.lower() for name in formats.header(path)]
    names = ",".join(header)
    if any(pattern.fullmatch(names) for pattern in _TABLES):
        return Found.OURS
    sheet = {"ticket", "value"} <= set(header) and "fate" not in header
    if not sheet and not _MEASUREMENTS.fullmatch(names):
        return Found.OTHER
    table = formats.read(path)
    columns = [table.texts(header.index(name)) for name in (*_FILLED, "fate") if name in header]
    # An exported line that is open is empty, like a sheet's; what has a value there was written by hand.
    rows = zip(*columns, strict=True)
    if table.faults or any(any(row) if sheet else row[-1] == "open" and any(row[:-1]) for row in rows):
        return Found.FILLED
    return Found.OURS if not sheet or _SHEET.fullmatch(names) else Found.OTHER


def _same_columns(target: Path, new: Path) -> bool:
    """Whether both are tables with the same names in their first lines, of which there are several."""
    if look(target) is not Found.OTHER or target.suffix.lower() not in formats.endings():
        return False
    names = formats.header(target)
    return len(names) > 1 and names == formats.header(new)
