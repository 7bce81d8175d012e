"""What expensive work will take, said before it begins.

n           points, or arms of a design
d           coordinates of a point
r           features of the kernel at most: the rank
q           points that were measured
"""

from __future__ import annotations

import math
import os
import warnings
from dataclasses import dataclass

from superlevel.errors import CostWarning, InputError

LONG, LARGE = 60.0, 1e9  # seconds and bytes from which work is announced
PER_PRODUCT, PER_KERNEL = 6e-11, 1e-8  # seconds of n r^2 products and of n r d differences, in one thread
NUMBER = 8  # bytes
PART = 8192  # points whose features are computed together
COPIES = 1.5  # of a part's features that exist beside those of all points, while they grow and are copied
PER_POINT = 20  # numbers that are held of each point where features are streamed
BLOCK = 300  # columns of a part's kernel and of what it is computed from
STEPS, LOOKS = 60, 10  # of an optimal design: Newton steps on its active set, and evaluations of all arms and targets
PER_SUPPORT = 1.5e-8  # seconds of a step of Frank-Wolfe, for each target and each arm that has a weight
DISTANCE = 0.1  # of the time of a kernel's entry: the share of one coordinate in it
PER_FACTOR = 6e-8  # seconds of a direction's robust mean, for each point of the round
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
    """Of a kernel's features: their array (n, r), that of a part of the points again, and a block of the kernel."""
    seconds, part = PER_PRODUCT * n * rank**2 + PER_KERNEL * n * rank * d, min(n, PART)
    return Cost(seconds=seconds, bytes=float(NUMBER * (n * (rank + d) + part * (COPIES * rank + BLOCK))))


def of_streamed_features(n: int, d: int, rank: int, sample: int) -> Cost:
    """Of features that are computed when they are needed: those of a sample as an array, and two passes over all."""
    chosen = of_features(min(n, sample), d, rank)
    seconds = 2 * of_pass(n, d, rank).seconds + chosen.seconds
    numbers = 3 * rank**2 + PER_POINT * n
    return Cost(seconds=seconds, bytes=chosen.bytes + float(NUMBER * numbers))


def of_pass(n: int, d: int, rank: int) -> Cost:
    """Of one pass over points whose features are streamed: kernel rows, and two triangular products (r, r)."""
    numbers = min(n, PART) * rank * COPIES + rank**2 + PER_POINT * n
    return Cost(seconds=PER_PRODUCT * n * rank**2 + PER_KERNEL * n * rank * d, bytes=float(NUMBER * numbers))


def of_pairs(n: int) -> Cost:
    """Of the intervals of all pairs of points, in one batch."""
    return Cost(seconds=PER_PAIR * n**2, bytes=float(NUMBER * PAIRS * n**2))


def of_design(
    arms: tuple[int, int], targets: tuple[int, ...], active: tuple[int, int], *, held: float | None = None
) -> Cost:
    """Of an optimal design on arms (n, r), with the shape of a mixture of its targets, (p,) or (n, n).

    Looking at all arms holds so many bytes; by default those of arrays (n, r).

    The active set has m arms and p targets: a step forms a matrix (m, m) from products with all p, and factors it.
    """
    (n, rank), (m, p) = arms, active
    step = m**2 * (2 * p + rank) + m**3 / 3
    look = (n + targets[0]) * rank**2 + math.prod(targets) * rank
    held = float(NUMBER * 4 * n * rank) if held is None else held
    return Cost(seconds=PER_PRODUCT * (STEPS * step + LOOKS * look), bytes=held + float(NUMBER * 5 * m * (m + p)))


def of_frank_wolfe(arms: tuple[int, int], targets: int, iterations: int) -> Cost:
    """Of the paper's solver, which writes the targets out, (p, r), and looks at all of them in every step."""
    n, rank = arms
    support = min(n, iterations, 2 * rank)
    numbers = targets * rank + (n + 2 * targets) * support
    return Cost(seconds=PER_SUPPORT * iterations * targets * support, bytes=float(NUMBER * numbers))


def of_prediction(n: int, d: int, measured: int, members: int, *, kept: int) -> Cost:
    """Of f at n points, as so many kernels predict it from q measured points.

    The likeliest kernel keeps so many rows of a matrix (q, n). Each kernel solves a triangular system, n q^2 / 2
    products. Distances are computed once for all of them.
    """
    products, entries = members * n * measured**2 / 2, n * measured * (members + DISTANCE * d)
    bytes_needed = float(NUMBER * n * (kept + 2 * members))
    return Cost(seconds=PER_PRODUCT * products + PER_KERNEL * entries, bytes=bytes_needed)


def of_round(n: int, *, directions: int, measured: int) -> Cost:
    """Of the robust means of a round that measured q points: a matrix (q, n), and what is kept of each direction."""
    numbers = n * measured + PAIRS * directions
    return Cost(seconds=PER_FACTOR * directions * measured, bytes=float(NUMBER * numbers))


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
