"""What every storage refuses, in the same words."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence

from superlevel.errors import InputError
from superlevel.study.storage.protocol import Entry, ReplacedError

_SHOWN_NAMES = 20


def unknown(name: str, names: Sequence[str]) -> InputError:
    """There is no study of this name; these are the names there are."""
    if not names:
        return InputError("name", repr(name), "there is no study yet: make one with `superlevel study create`")
    listed = ", ".join(map(repr, names[:_SHOWN_NAMES]))
    more = f" or one of {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else ""
    return InputError("name", repr(name), f"give the name of a study that is there: {listed}{more}")


def taken(name: str) -> InputError:
    """There is a study of this name already."""
    return InputError("name", f"{name!r}, which is taken", "give another name, or open that study")


def check_same(name: str, seq: int, *, known: str | None, found: str | None) -> None:
    """That entry ``seq`` has the digest that the caller knows; ``found`` is None where there is no such entry."""
    if known is not None and known != found:
        raise ReplacedError.of(name, seq)


def check_first(name: str, first: Entry) -> None:
    """What a new log begins with."""
    check_text("name", name)
    if first.seq != 1:
        raise InputError("first.seq", first.seq, "the first entry of a log is number 1")
    check_entry(first)


def check_entry(entry: Entry) -> None:
    """What a log goes on with."""
    for field in ("kind", "at", "payload", "digest"):
        check_text(field, getattr(entry, field))


def check_text(field: str, text: str) -> None:
    """Text that every database keeps as it is."""
    if "\0" in text:  # PostgreSQL has no such character; JSON writes it as \u0000
        raise InputError(field, reprlib.repr(text), "leave out the character with number 0")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(field, ascii(text[error.start]), "give text that can be written as UTF-8") from error
