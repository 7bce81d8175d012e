"""Heads that somebody wrote down, held against a log.

A digest depends on everything before it. So if entry k has the digest that a witness has of it, nothing up to entry k
was changed, removed or inserted since the witness was made. Of later entries a witness says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from superlevel import formats
from superlevel.errors import InputError
from superlevel.findings import Finding, Verdict
from superlevel.study.heads import WHOLE, Head, heads_in, typed
from superlevel.study.storage.protocol import Entry

DATABASE = b"SQLite format 3\0"
SHOWN = 3  # heads that do not agree


@dataclass(frozen=True, kw_only=True)
class Witness:
    """Something that heads were written down in."""

    name: str
    heads: tuple[Head, ...]


def witness(given: str) -> Witness:
    """A file with heads in it, or a head as it was printed."""
    content = _content(given)
    if content is None:
        heads, remedy = typed(given), "give a file that is there, or a head as `superlevel study status` prints it"
    elif content.startswith(DATABASE):
        raise InputError("witness", f"{given!r}, which is a store", "export its log with --what log, and give that")
    else:
        heads = heads_in(_text(Path(given), content))
        remedy = "give a report, an export, a sheet or a note with a head, as `superlevel study status` prints it"
    if not heads:
        raise InputError("witness", f"{given!r}, which has no head in it", remedy)
    return Witness(name=given if content is not None else str(heads[0]), heads=tuple(heads))


def _content(given: str) -> bytes | None:
    """What is in a file; None where there is no file of this name."""
    path = Path(given)
    try:
        is_file = path.is_file()
    except OSError:  # a head with many words around it is too long for a name
        return None
    try:
        return path.read_bytes() if is_file else None
    except OSError as error:
        raise InputError("witness", repr(given), f"it cannot be read ({error.strerror})") from error


def _text(path: Path, content: bytes) -> str:
    """What a person reads in the file: in a workbook, for example, the text of its cells."""
    if formats.format_of(path) is not formats.text:
        return formats.text.plain_text(formats.read(path))
    wide = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    return content.decode("utf-16" if wide else "utf-8", errors="replace")


def compared(witnesses: Sequence[Witness], entries: Sequence[Entry]) -> list[Finding]:
    """What each witness says of a log whose chain of digests is sound."""
    return [_compared(each, [entry.digest for entry in entries]) for each in witnesses]


def _compared(given: Witness, digests: list[str]) -> Finding:
    wrong = [fault for fault in (_fault(head, digests) for head in given.heads) if fault]
    if wrong:
        more = f"; and {len(wrong) - SHOWN:,} more" if len(wrong) > SHOWN else ""
        return _finding(given, Verdict.CONTRADICTED, "; ".join(wrong[:SHOWN]) + more)
    last = max(_place(head, digests) for head in given.heads)
    weak = all(len(head.digest) < WHOLE for head in given.heads)
    added = len(digests) - last
    since = f"{added:,} {'entry was' if added == 1 else 'entries were'} added after it" if added else "it is the last"
    by = " by its short form" if weak else ""
    return _finding(given, Verdict.HOLDS, f"entry {last:,} has this digest{by}, so nothing up to it changed; {since}")


def _place(head: Head, digests: list[str]) -> int:
    """The entry of a head that the log has."""
    if head.entries is not None:
        return head.entries
    return next(seq for seq, digest in enumerate(digests, start=1) if digest.startswith(head.digest))


def _fault(head: Head, digests: list[str]) -> str:
    """What is wrong; empty if the log has this head."""
    if head.entries is None:
        known = any(digest.startswith(head.digest) for digest in digests)
        return "" if known else f"no entry has the digest {head.short}: entries were changed or removed"
    if head.entries > len(digests):
        return f"it is of entry {head.entries:,}, and the log has {len(digests):,}: later entries were removed"
    found = digests[head.entries - 1] if head.entries else ""
    if found.startswith(head.digest):
        return ""
    return f"entry {head.entries:,} had the digest {head.short}, and has {found[:8]}: it or one before it was changed"


def _finding(given: Witness, verdict: Verdict, sentence: str) -> Finding:
    return Finding(
        assumption=f"witness {given.name}", verdict=verdict, number=float(len(given.heads)), sentence=sentence
    )
