"""What expensive work will take, said before it begins.

n           points
d           coordinates of a point
r           features of the kernel at most: the rank
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass

from superlevel.errors import CostWarning, InputError

LONG, LARGE = 60.0, 1e9  # seconds and bytes from which work is announced
PER_PRODUCT, PER_KERNEL = 6e-11, 1e-8  # seconds of n r^2 products and of n r d differences, in one thread
NUMBER = 8  # bytes
BLOCK = 300  # columns of the kernel and of its parts that exist beside the features
PAIRS, PER_PAIR = 9, 7e-7  # matrices (n, n) at once, and seconds, with the ridge confidence; others need less


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Time and memory that some work needs."""

    seconds: float
    bytes: float

    @property
    def notable(self) -> bool:
        """Whether a person should hear of it before it begins."""
        return self.seconds > LONG or self.bytes > LARGE

    def __str__(self) -> str:
        time = f"{self.seconds / 60:.0f} minutes" if self.seconds >= 90 else f"{max(self.seconds, 1.0):.0f} seconds"
        return f"about {time} and {self.bytes / 1e9:.1f} GB of memory"


def of_features(n: int, d: int, rank: int) -> Cost:
    """Of a kernel's features: twice their array (n, r), and a block of the kernel."""
    seconds = PER_PRODUCT * n * rank**2 + PER_KERNEL * n * rank * d
    return Cost(seconds=seconds, bytes=float(NUMBER * n * (2 * rank + BLOCK + d)))


def of_pairs(n: int) -> Cost:
    """Of the intervals of all pairs of points, in one batch."""
    return Cost(seconds=PER_PAIR * n**2, bytes=float(NUMBER * PAIRS * n**2))


def announce(field: str, what: str, cost: Cost, *, instead: str) -> None:
    """Say what notable work will take; an InputError where this machine has too little memory for it."""
    if cost.bytes > memory():
        got = f"too large for this machine, which has {memory() / 1e9:.1f} GB of memory: {what} take {cost}"
        raise InputError(field, got, instead)
    if cost.notable:
        warnings.warn(f"{what} take {cost}; to wait less, {instead}", CostWarning, stacklevel=3)


def memory() -> float:
    """Bytes of this machine's memory; unlimited where the system does not say."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # not on Windows
        return float("inf")
