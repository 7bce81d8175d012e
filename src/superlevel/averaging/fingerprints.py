"""Correlations of f between fingerprints: Tanimoto's similarity of two rows, and powers of it.

Similarities of unlike rows lie close together, and so do their distances: a kernel of the distance hardly tells a
variant of a compound from a stranger. The similarity does. A power, which is positive definite like the similarity
itself (Schur), lets f vary faster. The likelihood weighs them against the kernels of the distance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import ConstantKernel, WhiteKernel

from superlevel.arrays import Array
from superlevel.averaging.families import Between
from superlevel.averaging.metrics import Metric
from superlevel.domain import Domain
from superlevel.kernels import Tanimoto

COLUMNS = 16  # that vary, at least: a few counts are coordinates like others
POWERS = {1: 0.5, 2: 0.3, 4: 0.2}  # with their prior weights
WEIGHT = 5.5  # of all of them: what the priors of the lengths of one metric add up to


@dataclass(frozen=True)
class OfSimilarity:
    """A power of Tanimoto's similarity."""

    power: int
    log_prior: float = 0.0

    scaled = True

    def between(self, where: Between, /) -> Array:
        return np.asarray(where.similarities**self.power)

    def diagonal(self, where: Between, /) -> Array:
        return np.ones(len(where.right))

    def kernel(self, _domain: Domain, _metrics: tuple[Metric, ...], variance: float, rough: float, /) -> Any:
        similar = Tanimoto() if self.power == 1 else Tanimoto() ** self.power
        found = ConstantKernel(variance * (1.0 - rough)) * similar
        return found + WhiteKernel(variance * rough) if rough else found

    def words(self, _domain: Domain, _metrics: tuple[Metric, ...], /) -> str:
        return "Tanimoto" if self.power == 1 else f"Tanimoto to the power {self.power}"


def families(points: Array) -> tuple[OfSimilarity, ...]:
    """Those that are tried for points (n, d): none unless all coordinates are zeros and ones, or counts, and many."""
    if not _are_fingerprints(points):
        return ()
    return tuple(OfSimilarity(power, math.log(WEIGHT * weight)) for power, weight in POWERS.items())


def _are_fingerprints(points: Array) -> bool:
    many = np.count_nonzero(np.ptp(points, axis=0)) >= COLUMNS
    return bool(many and (points >= 0).all() and (points == np.floor(points)).all())
