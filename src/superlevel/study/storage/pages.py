"""Rows of a SQLite file, read page by page: without its schema, its indices and the upper levels of its tables.

The format is SQLite's own (https://www.sqlite.org/fileformat2.html). A table keeps its rows in the cells of leaf pages,
and a row that is too long goes on in a chain of overflow pages:

    page    type 13 | .. | number of cells (2) | .. | places of the cells (2 each)      page 1 has 100 bytes before that
    cell    length of the row | rowid | the row, or its beginning and the number of the first overflow page (4)
    row     length of the header | a type for each column | the columns
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

_LEAF = 13
_BEFORE_FIRST = 100  # bytes of the file's own header
_SIZES = tuple(2**k for k in range(9, 17))
_USUAL_SIZE = 4096
_WAL_HEADER, _FRAME_HEADER = 32, 24
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}  # bytes of an integer, by its type
_MOST_COLUMNS = 32  # ours have fewer

Column: TypeAlias = int | str | bytes | None


class Row(NamedTuple):
    """One row of some table."""

    rowid: int
    columns: tuple[Column, ...]


def rows(path: Path) -> Iterator[Row]:
    """Every row that can be decoded, of whatever table: of the file, and of the changes that are not yet moved to it.

    Nothing says that a row still counts, or that it is as it was written: the reader must know.
    """
    data = path.read_bytes()
    size, usable = _page_size(data)
    pages = {at // size + 1: data[at : at + size] for at in range(0, len(data), size)}
    yield from _rows(pages, usable)
    beside = path.with_name(f"{path.name}-wal")
    changed = _committed(beside.read_bytes(), size) if beside.is_file() else {}
    if changed:
        yield from _rows(pages | changed, usable)


def _page_size(data: bytes) -> tuple[int, int]:
    """Of a page, and of the part that is used; what is usual where the file's header is damaged."""
    said = int.from_bytes(data[16:18], "big")
    size = 65536 if said == 1 else said
    if size not in _SIZES:
        return _USUAL_SIZE, _USUAL_SIZE
    reserved = int.from_bytes(data[20:21])  # a file may end before that byte
    reserved = reserved if reserved < 33 else 0
    return size, size - reserved


def _committed(log: bytes, size: int) -> dict[int, bytes]:
    """The last version of each page in a write-ahead log, as of its last commit."""
    salts, pages, pending = log[16:24], dict[int, bytes](), dict[int, bytes]()
    for at in range(_WAL_HEADER, len(log) - size - _FRAME_HEADER + 1, size + _FRAME_HEADER):
        head, begin = log[at : at + _FRAME_HEADER], at + _FRAME_HEADER
        if head[8:16] != salts:
            break
        pending[int.from_bytes(head[:4], "big")] = log[begin : begin + size]
        if any(head[4:8]):  # the size of the file after a commit
            pages |= pending
            pending = {}
    return pages


def _rows(pages: dict[int, bytes], usable: int) -> Iterator[Row]:
    for number, page in pages.items():
        start = _BEFORE_FIRST if number == 1 else 0
        if page[start : start + 1] != bytes([_LEAF]):
            continue
        for k in range(int.from_bytes(page[start + 3 : start + 5], "big")):
            place = start + 8 + 2 * k
            found = _row(page, int.from_bytes(page[place : place + 2], "big"), pages, usable)
            if found is not None:
                yield found


def _row(page: bytes, at: int, pages: dict[int, bytes], usable: int) -> Row | None:
    """The row of a cell; None where this is none."""
    try:
        length, at = _varint(page, at)
        rowid, at = _varint(page, at)
        record = _record(page, at, length, pages, usable)
        return None if record is None else Row(rowid, _columns(record))
    except (IndexError, ValueError):  # anything may be there
        return None


def _record(page: bytes, at: int, length: int, pages: dict[int, bytes], usable: int) -> bytes | None:
    """All bytes of a row: of its cell, and of its overflow pages."""
    if length > usable * (len(pages) + 1):
        return None
    most, least = usable - 35, (usable - 12) * 32 // 255 - 23
    local = length
    if length > most:
        local = least + (length - least) % (usable - 4)
        local = local if local <= most else least
    parts, left = [page[at : at + local]], length - local
    following = int.from_bytes(page[at + local : at + local + 4], "big")
    while left > 0:
        if following not in pages:
            return None
        more = pages[following]
        parts.append(more[4 : 4 + min(left, usable - 4)])
        left -= usable - 4
        following = int.from_bytes(more[:4], "big")
    record = b"".join(parts)
    return record if len(record) == length else None


def _columns(record: bytes) -> tuple[Column, ...]:
    end, at = _varint(record, 0)
    types: list[int] = []
    while at < end and len(types) <= _MOST_COLUMNS:
        kind, at = _varint(record, at)
        types.append(kind)
    if at != end:
        raise ValueError("no row has so many columns")
    columns = []
    for kind in types:
        column, at = _column(record, at, kind)
        columns.append(column)
    if at != len(record):
        raise ValueError("a row ends with its last column")
    return tuple(columns)


def _column(record: bytes, at: int, kind: int) -> tuple[Column, int]:
    """A value, and where it ends."""
    if kind in (0, 8, 9):
        return (None if kind == 0 else kind - 8), at
    if kind in _INTEGERS:
        end = at + _INTEGERS[kind]
        return int.from_bytes(record[at:end], "big", signed=True), end
    if kind == 7:
        return record[at : at + 8], at + 8
    if kind < 12:
        raise ValueError("there is no such type")
    end = at + (kind - 12) // 2
    raw = record[at:end]
    return (raw.decode() if kind % 2 else raw), end


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of one to nine bytes, and where it ends."""
    value = 0
    for k in range(8):
        byte = data[at + k]
        value = value << 7 | byte & 127
        if byte < 128:
            return value, at + k + 1
    return value << 8 | data[at + 8], at + 9
