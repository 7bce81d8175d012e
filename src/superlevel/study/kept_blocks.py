"""What a study computed of the blocks of a large domain, in a file beside its store.

    harbour.db  ->  harbour.db.NAME.blocks

The file is a cache. The key of every result in it is a digest of what it was computed from, so that nothing in an old
file would be used wrongly. A file that is damaged or of another study is thrown away with a warning. It is safe to
delete the file at any time. Only SQLite stores have one; other stores remember within a process.
"""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from superlevel import passes
from superlevel.arrays import Array
from superlevel.errors import CacheWarning, InputError
from superlevel.files import file_name, whole
from superlevel.study.storage.address import parse
from superlevel.study.storage.protocol import Storage

LAYOUT = 1


class KeptBlocks:
    """The results of one study, for as long as somebody looks at it."""

    def __init__(self, storage: Storage, name: str) -> None:
        self.name = name
        self.path = _path(storage, name)
        self._results: passes.Results | None = None

    @contextmanager
    def used(self) -> Iterator[None]:
        """Passes find and leave their results here; what is new is written at the end."""
        before = self._read() if self._results is None else self._results.used
        results = passes.Results(before)
        with passes.remembering(results):
            yield
        if not results.used:  # no pass was made
            return
        self._results = results
        if results.changed and self.path is not None:
            self._write(results.used)

    def _read(self) -> Mapping[bytes, Array]:
        """What is in the file; nothing where there is none, or where it is damaged."""
        if self.path is None or not self.path.exists():
            return {}
        try:
            with self.path.open("rb") as file, np.load(file, allow_pickle=False) as kept:
                return _restored({name: kept[name] for name in kept.files}, self.name)
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            self._say(f"{self.path} cannot be used ({error}): it is a cache, and everything is computed again")
            with suppress(OSError):
                self.path.unlink()
            return {}

    def _write(self, results: Mapping[bytes, Array]) -> None:
        assert self.path is not None
        try:
            with whole(self.path) as beside, beside.open("wb") as file:
                np.savez(file, allow_pickle=False, **_stored(results, self.name))
        except OSError as error:
            self._say(f"{self.path} could not be written ({error.strerror or error}): the next command takes longer")

    @staticmethod
    def _say(sentence: str) -> None:
        warnings.warn(sentence, CacheWarning, stacklevel=3)


def _stored(results: Mapping[bytes, Array], name: str) -> dict[str, Array]:
    """As arrays: the keys, how many rows and columns each result has, and all numbers."""
    return {
        "layout": np.array([LAYOUT]),
        "study": np.frombuffer(name.encode(), dtype=np.uint8),
        "keys": np.frombuffer(b"".join(results), dtype=np.uint8).reshape(len(results), -1),
        "shapes": np.array([result.shape for result in results.values()]),
        "values": np.concatenate([result.ravel() for result in results.values()]),
    }


def _restored(kept: Mapping[str, np.ndarray], name: str) -> dict[bytes, Array]:
    """The results by their keys; ValueError where the arrays are of something else."""
    if int(kept["layout"][0]) != LAYOUT:
        raise ValueError("another version wrote it")
    if kept["study"].tobytes() != name.encode():
        raise ValueError(f"it is of study {kept['study'].tobytes().decode(errors='replace')!r}")
    sizes = kept["shapes"].prod(axis=1)
    if sizes.sum() != len(kept["values"]) or len(sizes) != len(kept["keys"]):
        raise ValueError("it is cut")
    parts = np.split(kept["values"], np.cumsum(sizes)[:-1])
    rows = zip(kept["keys"], parts, kept["shapes"], strict=True)
    return {key.tobytes(): part.reshape(shape) for key, part, shape in rows}


def _path(storage: Storage, name: str) -> Path | None:
    """Beside a SQLite file; None for other stores."""
    try:
        store = parse(storage.url).path
    except InputError:  # in memory, or a storage from outside the package
        return None
    return None if store is None else store.with_name(f"{store.name}.{file_name(name)}.blocks")
