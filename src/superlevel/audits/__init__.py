"""Model-free statements about a frozen map of labels: draw points at random, measure them, and bound the share of wrong
labels. No kernel, prior or posterior enters; what is assumed is said in `superlevel.audits.audit`.

>>> import numpy as np
>>> import superlevel.audits as audits
>>> f = np.linspace(-1.0, 1.0, 4841)
>>> labels = np.where(f > 0, 1, -1)
>>> doubt = 0.5 * np.exp(-10 * np.abs(f))
>>> audit = audits.Audit(labels=labels, chances=audits.chances(doubt), level=0.0, tolerance=0.1)
>>> size = audits.needed(0.05, kappa=audit.kappa, spread=audit.spread)
>>> rng = np.random.default_rng(0)
>>> points = audits.draw(audit.chances, size, rng)
>>> result = audit.judge(points, f[points] + 0.01 * rng.normal(size=size))
>>> result.draws, result.contradictions, round(result.bound, 3)
(169, 0, 0.05)
>>> result.sentence(noun="cells", unit="m").split(",")[0]
'With confidence 95 %'
"""

from superlevel.audits.audit import Audit, AuditResult
from superlevel.audits.betting import needed
from superlevel.audits.confusion import Area, Confusion, Proportion
from superlevel.audits.noise import Gaussian, MedianZero, Noise, SubGaussian
from superlevel.audits.sampling import chances, draw
from superlevel.audits.strata import Stratum, by_doubt

__all__ = [
    "Area",
    "Audit",
    "AuditResult",
    "Confusion",
    "Gaussian",
    "MedianZero",
    "Noise",
    "Proportion",
    "Stratum",
    "SubGaussian",
    "by_doubt",
    "chances",
    "draw",
    "needed",
]
