"""What an audit found where labels were more or less doubtful.

The chances of being drawn grow with the doubt of a label (`superlevel.audits.sampling`). Every draw is independent of
the others, so no stratum has a fixed number of draws: the audited points are put into strata afterwards, by the doubt
that was frozen with the labels. Strata change neither the bound nor the area. They show whether contradictions are
where the doubts were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from superlevel.arrays import Array, as_vector
from superlevel.audits.audit import Audit


@dataclass(frozen=True, kw_only=True)
class Stratum:
    """Audited points whose labels were about equally doubtful."""

    low: float
    """Their doubts are from this one on."""
    high: float
    """They are below this one, or equal to it if it is the last."""
    points: int
    """At least one."""
    draws: int
    """Results that were read, as in `AuditResult.draws`."""
    contradictions: int
    """Of these, measured on the other side of the level, as in `AuditResult.contradictions`."""


def by_doubt(
    audit: Audit, points: ArrayLike, values: ArrayLike, *, doubt: Array, edges: Sequence[float]
) -> tuple[Stratum, ...]:
    """The strata between ascending edges, without empty ones, from the values (N,) at the drawn points (N,).

    ``doubt`` (n,) is the probability that each label is wrong, as it was when the audit was drawn. The draws are those
    that `Audit.judge` reads.

    >>> audit = Audit(labels=[1, 1, -1, -1], chances=[0.2, 0.3, 0.3, 0.2], level=0.0)
    >>> doubt = np.array([0.0, 0.3, 0.4, 0.0])
    >>> first, second = by_doubt(audit, [1, 2, 2, 3], [0.5, 0.1, -0.2, -3.0], doubt=doubt, edges=(0.0, 0.1, 0.5))
    >>> (first.points, first.draws, first.contradictions), (second.points, second.draws, second.contradictions)
    ((2, 1, 0), (2, 3, 1))
    """
    doubts = as_vector("doubt", doubt, length=len(audit.labels))
    drawn, found, _ = audit.read(points, values)
    hits = audit.contradicted(drawn, found)
    last = len(edges) - 2
    place = np.clip(np.searchsorted(edges, doubts, side="right") - 1, 0, last)
    sizes = np.bincount(place[audit.audited], minlength=last + 1).tolist()
    draws = np.bincount(place[drawn], minlength=last + 1).tolist()
    contradictions = np.bincount(place[drawn[hits]], minlength=last + 1).tolist()
    return tuple(
        Stratum(low=low, high=high, points=sizes[k], draws=draws[k], contradictions=contradictions[k])
        for k, (low, high) in enumerate(pairwise(edges))
        if sizes[k]
    )
