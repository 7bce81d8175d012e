"""What `create` and `plan` say about the columns of a table before anything is measured."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from superlevel.domain import Domain
from superlevel.geography import taken_for_a_plane

BITS = 16  # columns of zeros and ones that are taken for a fingerprint
COLUMNS = 200  # that vary; with more of them an estimated kernel has one length for all


def notes(domain: Domain, *, estimated: bool) -> Iterator[str]:
    """Sentences about what the columns seem to be; ``estimated`` says whether the kernel is."""
    plane = "" if domain.coordinates.sphere else taken_for_a_plane(domain.names, domain.places)
    if plane:
        yield f"{plane}."
    if not estimated:
        return
    bits = np.flatnonzero(((domain.points == 0) | (domain.points == 1)).all(axis=0))
    if len(bits) >= BITS:
        yield f"{_fingerprints(domain, bits.tolist())}."
    elif np.count_nonzero(np.ptp(domain.points, axis=0)) > COLUMNS:
        yield (
            f"More than {COLUMNS} columns vary, so that the kernel has one length for all of them. Choose fewer with "
            '--column, or give a --kernel for each group of columns, as in On("0 to 9", RBF(1)) + On(10, RBF(2)).'
        )


def _fingerprints(domain: Domain, bits: list[int]) -> str:
    """What is done, or to do, about columns of zeros and ones."""
    if len(bits) == domain.dimension:
        return (
            f"{len(bits):,} columns hold only 0 and 1, as fingerprints do; the kernel is estimated from their "
            "distances and from the bits that they share (Tanimoto)"
        )
    if bits == list(range(bits[0], bits[-1] + 1)):
        kernel = f"V * On('{domain.columns[bits[0]]} to {domain.columns[bits[-1]]}', Tanimoto())"
    else:
        kernel = "V * On([...], Tanimoto())"
    return (
        f"{len(bits):,} columns hold only 0 and 1, as fingerprints do; the kernel is estimated from their distances. "
        f'--kernel "{kernel}" compares them by the bits that they share; V is the variance of the values'
    )
