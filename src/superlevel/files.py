"""Files that are there whole, or as they were before."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from superlevel.errors import InputError


@contextmanager
def whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A file beside it to write to, which takes its place at the end.

    Its name is its own, so that two who write the same file at once do not write into one another's.
    """
    target = Path(os.path.realpath(path))
    beside = target.parent / f".{os.urandom(8).hex()}{target.suffix}"
    try:
        yield beside
        beside.replace(target)
    finally:
        with suppress(OSError):  # it is not there if all went well, or if it never was
            beside.unlink()


@contextmanager
def replacing(field: str, path: str | os.PathLike[str]) -> Iterator[Path]:
    """The same, where a file that cannot be written is a mistake of whoever named it."""
    try:
        with whole(path) as beside:
            yield beside
    except OSError as error:
        remedy = f"it cannot be written ({error.strerror}): make room, or name another file"
        raise InputError(field, repr(str(path)), remedy) from error


def file_name(name: str) -> str:
    """The name of a study as that of a file."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "study"
