"""The head of a log: how many entries it has, and the digest of the last one, which depends on all of them.

    head: 12 9f86d081 (9f86d081884c7d659a2feaa0c55ad015)

Whoever wrote down a head can tell later whether anything up to that entry was changed. The first eight characters are
the short form: they show an accident, and the 32 characters in brackets show intent too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from superlevel.formats import Computed, Table

if TYPE_CHECKING:
    from superlevel.study.ledger import Ledger

COLUMN = "log head"
"""Of tables that are exported, and of sheets: the head is in its first cell."""
SHORT, WHOLE = 8, 32  # characters of a digest

_GAP = r"(?:<[^<>]{0,200}>|[\W_]){1,40}"  # a page has tags between two cells, a document has quotes
_FORM = re.compile(
    rf"\bhead{_GAP}(?:(?:entries|seq){_GAP})?(?:(?P<entries>\d{{1,12}}){_GAP}(?:digest{_GAP})?)?"
    rf"(?P<digest>[0-9a-f]{{{SHORT},{WHOLE}}})\b(?:{_GAP}(?P<whole>[0-9a-f]{{{WHOLE}}})\b)?",
    re.IGNORECASE,
)
_ENTRY = '{"seq"'  # how every line of an exported log begins
_BARE = re.compile(rf"\s*\d{{1,12}}{_GAP}[0-9a-f]{{{SHORT},{WHOLE}}}\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Head:
    """Where a log stood.

    >>> print(Head(entries=12, digest="9f86d081884c7d659a2feaa0c55ad015"))
    12 9f86d081 (9f86d081884c7d659a2feaa0c55ad015)
    """

    entries: int | None
    """None where only the digest was written down."""
    digest: str
    """In small letters; at least its first eight characters."""

    @property
    def short(self) -> str:
        return self.digest[:SHORT]

    def __str__(self) -> str:
        """As it is printed everywhere."""
        number = "" if self.entries is None else f"{self.entries} "
        return f"{number}{self.short}" + (f" ({self.digest})" if len(self.digest) > SHORT else "")


def head_of(ledger: Ledger) -> Head:
    """Where the log stands that a ledger was made from."""
    return Head(entries=ledger.length, digest=ledger.head)


def headed(table: Table, ledger: Ledger) -> Table:
    """The table with a column more, whose first cell has the head."""
    if COLUMN in table.header:
        return table
    head = f"head {ledger.length} {ledger.head}"
    return table.with_column(COLUMN, Computed(np.arange(len(table)), lambda row: "" if row else head))


def heads_in(text: str) -> list[Head]:
    """All heads in a page, a table, a document, an exported log or a note; each once, in the order of the text.

    >>> [str(head) for head in heads_in("Tuesday, Head 12: 9F86D081")]
    ['12 9f86d081']
    """
    lines = text.splitlines()
    plain = "\n".join(line for line in lines if not line.startswith(_ENTRY))
    return list(dict.fromkeys([*_written(plain), *_exported(lines)]))


def typed(text: str) -> list[Head]:
    """The heads in what somebody typed, who may have left out the word."""
    return heads_in(f"head {text}" if _BARE.match(text) else text)


def _written(text: str) -> Iterator[Head]:
    for found in _FORM.finditer(text):
        entries, digest, whole = found["entries"], found["digest"].lower(), found["whole"]
        if whole is not None and not whole.lower().startswith(digest):
            yield Head(entries=None if entries is None else int(entries), digest=digest)  # one of them is a slip
        if entries is not None:
            yield Head(entries=int(entries), digest=digest if whole is None else whole.lower())
        elif len(digest) == WHOLE:
            yield Head(entries=None, digest=digest)


def _exported(lines: list[str]) -> Iterator[Head]:
    """Of a log that `export --what log` wrote: a head for every line."""
    for line in lines:
        if not line.startswith(_ENTRY):
            continue
        try:
            entry = json.loads(line)
            yield Head(entries=int(entry["seq"]), digest=str(entry["digest"]).lower())
        except (ValueError, KeyError, TypeError):
            continue
