"""What would make an entry of the log long: the points of a large domain, and texts with a letter for each point.

The points of a large study are stored beside the first entry, as bytes, and the entry names their digest:

    {"rows": n, "columns": d, "digest": D},      D = H(the numbers, row by row, as little-endian float64)

A long text is stored compressed: z, its length, a colon, and base64 of what zlib makes of it. Small studies have both
in plain JSON, which people can read.
"""

from __future__ import annotations

import re
import zlib
from base64 import b64decode, b64encode
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Annotated, Any

import numpy as np
from pydantic import PlainSerializer, PlainValidator

from superlevel.arrays import Array, frozen

LONG = 2**18
"""Numbers of points, or letters of a text, from which they are long."""
_PACKED = re.compile(r"z([0-9]+):")


@dataclass(frozen=True, eq=False)
class Places:
    """The coordinates of the points that a study was created with."""

    array: Array | None
    """(n, d), read-only; None while the bytes beside the entry were not looked at."""
    reference: tuple[int, int, str] | None = None
    """Rows, columns and digest, where the numbers are beside the entry."""

    @classmethod
    def of(cls, array: Array) -> Places:
        """With a reference where they are many."""
        array = frozen(np.ascontiguousarray(array, dtype=np.float64))
        if array.size < LONG:
            return cls(array)
        return cls(array, (*array.shape, _digest(as_bytes(array))))

    @cached_property
    def attached(self) -> bytes:
        """What is stored beside the entry; empty where the numbers are in it."""
        return b"" if self.reference is None else as_bytes(self.known)

    @property
    def known(self) -> Array:
        """(n, d)"""
        if self.array is None:
            raise ValueError("the points beside the first entry were not read")
        return self.array

    def resolved(self, attached: bytes) -> Places:
        """With the numbers from beside the entry; ValueError where they are not those that it names."""
        if self.reference is None:
            return self
        rows, columns, digest = self.reference
        if len(attached) != 8 * rows * columns or _digest(attached) != digest:
            raise ValueError("the points beside the entry are not those that it names")
        array = np.frombuffer(attached, dtype="<f8").astype(np.float64, copy=False).reshape(rows, columns)
        if not np.isfinite(array).all():
            raise ValueError("a point has a coordinate that is no finite number")
        return Places(frozen(array), self.reference)

    def __len__(self) -> int:
        return len(self.known) if self.reference is None else self.reference[0]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Places):
            return NotImplemented
        if self is other or (self.reference is not None and self.reference == other.reference):
            return True
        return np.array_equal(self.known, other.known)

    def __hash__(self) -> int:
        return hash(len(self))


def _read(given: Any) -> Places:
    try:
        return given if isinstance(given, Places) else _places(given)
    except (TypeError, KeyError) as error:  # anything may be there
        raise ValueError("points that are no rows of numbers") from error


def _places(given: Any) -> Places:
    if isinstance(given, dict):
        return Places(None, (int(given["rows"]), int(given["columns"]), str(given["digest"])))
    sizes = sorted({len(row) for row in given})
    if len(sizes) != 1 or not sizes[0]:
        counted = " and ".join(map(str, sizes)) or "no"
        raise ValueError(f"points with {counted} coordinates")
    array = np.array(given, dtype=np.float64)
    if array.ndim != 2 or not np.isfinite(array).all():
        raise ValueError("a point has a coordinate that is no finite number")
    return Places(frozen(array))


def _written(places: Places) -> Any:
    if places.reference is None:
        return places.known.tolist()
    rows, columns, digest = places.reference
    return {"rows": rows, "columns": columns, "digest": digest}


PlacesField = Annotated[Places, PlainValidator(_read), PlainSerializer(_written)]
"""As a field of an entry."""


def as_bytes(array: Array) -> bytes:
    """The numbers row by row."""
    return np.ascontiguousarray(array, dtype="<f8").tobytes()


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()


# --- texts


def packed(text: str) -> str:
    """A text as it is stored."""
    if len(text) < LONG:
        return text
    return f"z{len(text)}:{b64encode(zlib.compress(text.encode(), 6)).decode()}"


def unpacked(text: str) -> str:
    """The text itself; ValueError where it is damaged."""
    found = _PACKED.match(text)
    if found is None:
        return text
    length = int(found[1])
    reader = zlib.decompressobj()
    try:
        data = reader.decompress(b64decode(text[found.end() :], validate=True), length + 1)
    except zlib.error as error:
        raise ValueError("a text is not as it was packed") from error
    if len(data) != length:
        raise ValueError("a text is longer or shorter than it says")
    return data.decode()


def length_of(text: str) -> int:
    """Of the text itself."""
    found = _PACKED.match(text)
    return len(text) if found is None else int(found[1])
