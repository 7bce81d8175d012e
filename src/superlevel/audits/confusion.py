"""What map makers publish: the confusion matrix, its accuracies, and the area above the level (Olofsson et al. 2014,
Remote Sensing of Environment 148:42).

The reference is a *measurement*, which has noise. Every number here is about measured classes: the class of a point is
above with the probability P(y > level), and shares are means of such probabilities over the audited points. Without
noise they are shares of the truth. With noise of median zero, up to half of the measurements of a point near the level
disagree with its label, even if the label is right.

    W_j                 share of the audited points that have the label j: known, not estimated
    weight r            u / q of a draw
    p_jk                W_j times the weighted share of the draws labelled j that were measured as k; sums to 1
    user's accuracy     p_jj / W_j          of the points labelled j, the share measured as j
    producer's          p_jj / sum_i p_ij   of the points measured as j, the share labelled j
    overall             p_11 + p_22
    area                W_above + mean of r (1{measured above} - 1{labelled above}),  the difference estimator

Standard errors are those of Olofsson et al., eqs. 5 to 7, with the variance of a weighted share in place of p (1 - p) /
(n - 1). The intervals of accuracies are those of Wilson (1927) with an effective size. They are the usual ones, for a
size that is fixed beforehand. The interval of the area comes from betting and is valid at all times.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import ndtri

from superlevel.arrays import Array, Indices, Mask, frozen
from superlevel.audits.betting import lower, upper


@dataclass(frozen=True, kw_only=True)
class Proportion:
    """An estimated share."""

    estimate: float
    """NaN if no draw says anything about it."""
    error: float
    """Design-based standard error; NaN where there is no estimate, and 0 where all draws agree."""
    low: float
    """Lower end of Wilson's interval."""
    high: float
    """Upper end of Wilson's interval."""


UNKNOWN = Proportion(estimate=np.nan, error=np.nan, low=0.0, high=1.0)


@dataclass(frozen=True, kw_only=True)
class Area:
    """The share of the audited points that is above the level."""

    labelled: float
    """Share of the audited points that are labelled above."""
    estimate: float
    """Difference estimate of the mean of P(y > level) over the audited points, within 0 and 1."""
    error: float
    """Its design-based standard error; infinite with fewer than two draws."""
    low: float
    """Lower end of an interval for the same mean, valid at all times with probability 1 - delta."""
    high: float
    """Upper end."""
    least: float
    """The share of points with f >= level - tolerance is at least this whenever the bound of the audit holds."""
    most: float
    """The share of points with f > level + tolerance is at most this whenever the bound of the audit holds."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Drawn:
    """The results of an audit by class, one entry for each draw."""

    labelled: Mask
    """(N,) whether the label is above."""
    measured: Mask
    """(N,) whether the value is above the level. A value that equals the level is not."""
    weights: Array
    """(N,) u / q of the point."""

    def __len__(self) -> int:
        return len(self.weights)


@dataclass(frozen=True, kw_only=True, eq=False)
class Confusion:
    """Labels against measurements. Rows are labels, columns measured classes; above comes first, then below."""

    counts: Indices
    """(2, 2) draws, not weighted."""
    shares: Array
    """(2, 2) estimated shares p_jk of the audited points. Rows without draws are NaN."""
    overall: Proportion
    users: tuple[Proportion, Proportion]
    """User's accuracy of above and of below."""
    producers: tuple[Proportion, Proportion]
    """Producer's accuracy of above and of below."""

    def __post_init__(self) -> None:
        frozen(self.counts)
        frozen(self.shares)

    @classmethod
    def of(cls, drawn: Drawn, *, above: float, delta: float) -> Self:
        """The matrix for draws from points of which the share ``above`` is labelled above."""
        rows = [_row(drawn, label) for label in (True, False)]
        parts = np.array([above, 1.0 - above])
        agreeing = np.array([row.agreeing if part else 0.0 for row, part in zip(rows, parts, strict=True)])
        variances = np.array([row.variance if part else 0.0 for row, part in zip(rows, parts, strict=True)])
        right, wrong = parts * agreeing, parts * (1.0 - agreeing)
        size = _effective(drawn.weights)
        overall = _proportion(float(right.sum()), float(parts**2 @ variances), size, delta)
        counts = np.array([[(drawn.measured[row.draws] == k).sum() for k in (True, False)] for row in rows])
        return cls(
            counts=counts.astype(np.int64),
            shares=np.array([[right[0], wrong[0]], [wrong[1], right[1]]]),
            overall=overall,
            users=_pair([_proportion(row.agreeing, row.variance, row.size, delta) for row in rows]),
            producers=_pair(
                [_producer(j, right, wrong, variances=parts**2 * variances, size=size, delta=delta) for j in (0, 1)]
            ),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Row:
    """The draws of one label."""

    draws: Mask
    agreeing: float
    """Weighted share that was measured on the side of the label."""
    variance: float
    size: float
    """Effective number of draws."""


def _row(drawn: Drawn, label: bool) -> _Row:
    draws = drawn.labelled == label
    weights, agrees = drawn.weights[draws], (drawn.measured[draws] == label).astype(np.float64)
    count, total = len(weights), float(weights.sum())
    if not count:
        return _Row(draws=draws, agreeing=np.nan, variance=np.nan, size=0.0)
    share = float(weights @ agrees) / total
    # Linearised variance of a ratio; for equal weights share (1 - share) / (count - 1).
    variance = float(np.square(weights * (agrees - share)).sum()) / total**2 * count / max(1, count - 1)
    return _Row(draws=draws, agreeing=share, variance=variance, size=_effective(weights))


def _producer(j: int, right: Array, wrong: Array, *, variances: Array, size: float, delta: float) -> Proportion:
    """Olofsson et al., eq. 7: P = p_jj / (p_jj + p_ij), with the variances (2,) of the p of each row."""
    i, total = 1 - j, float(right[j] + wrong[1 - j])
    if not total > 0.0:  # also where it is NaN
        return UNKNOWN
    share = float(right[j]) / total
    variance = ((1.0 - share) ** 2 * variances[j] + share**2 * variances[i]) / total**2
    return _proportion(share, float(variance), size * total, delta)


def _proportion(share: float, variance: float, size: float, delta: float) -> Proportion:
    """Wilson's interval. The effective size is p (1 - p) / variance; where all draws agree it is ``size``."""
    if np.isnan(share) or size <= 0.0:
        return UNKNOWN
    share = min(max(share, 0.0), 1.0)
    n = share * (1.0 - share) / variance if variance > 0.0 else size
    if n <= 0.0:
        return UNKNOWN
    z2 = float(ndtri(1.0 - 0.5 * delta)) ** 2
    centre = (share + z2 / (2.0 * n)) / (1.0 + z2 / n)
    half = np.sqrt(z2 * (share * (1.0 - share) / n + z2 / (4.0 * n * n))) / (1.0 + z2 / n)
    low, high = max(0.0, min(share, centre - half)), min(1.0, max(share, centre + half))
    return Proportion(estimate=share, error=float(np.sqrt(variance)), low=float(low), high=float(high))


def _effective(weights: Array) -> float:
    """Kish's effective size (sum r)^2 / sum r^2."""
    return float(weights.sum()) ** 2 / float(np.square(weights).sum()) if len(weights) else 0.0


def _pair(found: list[Proportion]) -> tuple[Proportion, Proportion]:
    return found[0], found[1]


def area(drawn: Drawn, *, above: float, limits: tuple[float, float], bound: float, delta: float) -> Area:
    """The area above the level. The share ``above`` is labelled above, and at most ``bound`` of the labels are wrong.

    ``limits`` are the largest weights u / q of the points labelled above and of those labelled below: a correction
    r (1{measured above} - 1{labelled above}) is at least minus the first one and at most the second one.

    If the bound holds, at most that share is labelled below and has f > level + tolerance, or labelled above and has
    f < level - tolerance: this gives ``least`` and ``most`` at no extra cost.
    """
    corrections = drawn.weights * (drawn.measured.astype(np.float64) - drawn.labelled)
    count = len(drawn)
    mean = float(corrections.mean()) if count else 0.0
    low = above + lower(corrections, bottom=-limits[0], delta=0.5 * delta)
    high = above + upper(corrections, top=limits[1], delta=0.5 * delta)
    return Area(
        labelled=above,
        estimate=min(max(above + mean, 0.0), 1.0),
        error=float(corrections.std(ddof=1)) / float(np.sqrt(count)) if count > 1 else np.inf,
        low=min(max(low, 0.0), 1.0),
        high=min(max(high, 0.0), 1.0),
        least=max(0.0, above - bound),
        most=min(1.0, above + bound),
    )
