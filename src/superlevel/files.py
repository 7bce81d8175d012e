"""Files that are there whole, or as they were before."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from superlevel import outputs
from superlevel.errors import InputError

_LONGEST_NAME = 100
_DIGEST = 8
_WITH_DIGEST = re.compile(rf".*-[0-9a-f]{{{_DIGEST}}}")


@contextmanager
def replacing(field: str, path: str | os.PathLike[str], *, force: bool = False) -> Iterator[Path]:
    """A file beside it to write to, which takes its place at the end, if `outputs.check` allows that.

    A file that cannot be written or may not be replaced is a mistake of whoever named it. Whether it may be replaced is
    checked at the end, because a file may have come there meanwhile; whoever computes for long checks it before, too.
    """
    with exchanging(field, path, outputs.check(field, path, force=True)) as beside:
        yield beside
        outputs.check(field, path, force=force, new=beside)


@contextmanager
def exchanging(field: str, path: str | os.PathLike[str], target: Path) -> Iterator[Path]:
    """The same for whoever has checked by other rules what is replaced: ``target`` is the file that ``path`` names."""
    try:
        with _beside(target) as beside:
            yield beside
    except OSError as error:
        remedy = f"it cannot be written ({error.strerror}): make room, or name another file"
        raise InputError(field, repr(str(path)), remedy) from error


@contextmanager
def whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """The same for a file that a program names and not a person: anything but a database is replaced."""
    target = outputs.check("path", path, force=True)
    with _beside(target) as beside:
        yield beside


@contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """A new and empty file in the same folder, which takes the place of the other at the end, with the same rights.

    Its name is its own, so that two who write the same file at once do not write into one another's.
    """
    beside = target.parent / f".{os.urandom(8).hex()}{target.suffix}"
    try:
        mode = stat.S_IMODE(target.stat().st_mode)
    except OSError:
        mode = None  # there is none: the new file gets the rights of any new file
    try:
        os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666 if mode is None else 0o600))
        yield beside
        if mode is not None:
            with suppress(OSError):  # a file system without such rights
                beside.chmod(mode)
        beside.replace(target)
    finally:
        with suppress(OSError):  # it is not there if all went well, or if it never was
            beside.unlink()


def file_name(name: str) -> str:
    """The name of a study as that of a file: another one for every study.

    A name that cannot stay as it is gets a digest, and so does one that looks as if it had one already.
    """
    plain = re.sub(r"[^\w.-]+", "-", name).strip("-.")[:_LONGEST_NAME].strip("-.") or "study"
    if plain == name and not _WITH_DIGEST.fullmatch(name):
        return name
    return f"{plain}-{hashlib.sha256(name.encode(errors='surrogatepass')).hexdigest()[:_DIGEST]}"
