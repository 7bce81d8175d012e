"""Whether a log whose digests are right says what superlevel can have written. `verify` and `doctor` ask this."""

from __future__ import annotations

import numpy as np

from superlevel.study.events import Certified, DamagedError
from superlevel.study.ledger import Ledger
from superlevel.study.telling import LARGEST

CHANGED = "superlevel writes no such entry, so somebody changed the log together with its digests: restore a backup"


def check_sense(ledger: Ledger) -> None:
    """Raise a DamagedError that names the first entry with points, values or designs that cannot be."""
    size, names = ledger.created.points.known.shape[1], len(ledger.created.names)
    if size != names:
        raise _nonsense(1, f"points with {size} coordinates for {names} names")
    if not np.isfinite(ledger.elsewhere).all():
        raise DamagedError(f"a place elsewhere has a coordinate that is no finite number; {CHANGED}")
    ids, n = ledger.created.ids, len(ledger.created.points)
    if len(ids) not in (0, n) or len(set(ids)) != len(ids):
        raise _nonsense(1, f"{len(set(ids))} different names for {n} points")
    for item in ledger.askings:
        if item.asked.design is not None:
            _check_design(item.asked.design, ledger, item.seq)
    for column, what in ((ledger.value, "a value"), (ledger.noise, "a standard deviation")):
        large = np.flatnonzero(np.abs(column) >= LARGEST)
        if len(large):
            size = f"{what} of {column[large[0]]:g} for ticket {large[0] + 1}; `tell` takes less than {LARGEST:g}"
            raise _nonsense(int(ledger.told[large[0]]), size)


def _check_design(design: Certified, ledger: Ledger, seq: int) -> None:
    """No axis is longer than there are labels: arrays of any size could be asked for. What fits is checked later."""
    for array, what in ((design.weights, "a design"), (design.dual, "a dual")):
        if any(size > ledger.labels for size in array.shape):
            raise _nonsense(seq, f"{what} of shape {array.shape} for {ledger.n} points")


def _nonsense(seq: int, what: str) -> DamagedError:
    return DamagedError(f"entry {seq} has {what}; {CHANGED}")
