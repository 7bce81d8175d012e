"""Labels as the log has them: a sign for each, +, ? or -, row after row where there are several levels."""

from __future__ import annotations

import numpy as np

from superlevel.arrays import Labels
from superlevel.goals import ABOVE, BELOW, UNDECIDED
from superlevel.study.events import RESCUE, DamagedError
from superlevel.study.long import packed, unpacked

SIGNS = {ABOVE: "+", UNDECIDED: "?", BELOW: "-"}
_CODES = np.array([ord(SIGNS[label]) for label in (BELOW, UNDECIDED, ABOVE)], dtype=np.uint8)
_LABELS = np.full(256, UNDECIDED, dtype=np.int8)
_LABELS[_CODES] = (BELOW, UNDECIDED, ABOVE)


def as_text(labels: Labels) -> str:
    """The signs of labels of any shape; packed where they are many."""
    return packed(_CODES[labels.ravel() - BELOW].tobytes().decode("ascii"))


def as_rows(text: str, n: int) -> Labels:
    """(k, n) the labels of n points at k levels that `as_text` wrote; what is no sign is undecided."""
    try:
        signs = unpacked(text).encode("ascii", "replace")
    except ValueError as error:
        raise DamagedError(f"{error}; {RESCUE}") from error
    return _LABELS[np.frombuffer(signs, dtype=np.uint8)].reshape(-1, n)
