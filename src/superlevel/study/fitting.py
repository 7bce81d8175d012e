"""Kernel, noise and mean from the measurements of a campaign."""

from __future__ import annotations

import numpy as np

from superlevel import estimation, kernels
from superlevel.estimation import Data
from superlevel.study.configuration import problem_of
from superlevel.study.events import Fit
from superlevel.study.ledger import Ledger


def fitted(ledger: Ledger) -> Fit:
    """What the campaign wants estimated, from all that was measured so far; the rest as it was given."""
    at = ledger.measured
    data = Data(points=ledger.point[at], values=ledger.value[at], noise=ledger.noise[at])
    found = estimation.estimate(problem_of(ledger.created, None), data, seed=ledger.created.seed)
    noise = found.noise
    return Fit(
        kernel=kernels.describe(found.kernel),
        noise=noise.tolist() if isinstance(noise, np.ndarray) else float(noise),
        mean=found.mean,
        samples=found.samples,
        doubts=list(found.doubts),
    )
