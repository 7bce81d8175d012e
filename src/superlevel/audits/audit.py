"""An audit bounds the share of wrong labels of a frozen map, from measurements at points that were drawn at random.

    label l in {+1, -1}   wrong at x if f is on the other side of the level by more than the tolerance tau:
                          l (level - f(x)) > tau
    U                     1 if the measurement y = f(x) + noise contradicts the label, l (level - y) > tau - c, else 0
    c                     the margin, 0 <= c <= tau
    kappa                 P(U = 1) >= kappa at every wrong label (see `superlevel.audits.noise`)
    u, q                  uniform and actual chances of being drawn;  r = u / q is the weight of a draw
    B                     the spread, the largest r

Theorem. Let the labels and q be fixed before the first draw, the points be drawn independently with the chances q, and
the assumption on the noise hold for every measurement given all earlier ones. Then with probability at least 1 - delta,
after every number of draws at once,

    share of wrong labels  <=  bound = upper(r U) / kappa,

where `upper` bounds the mean of variables that are at most B (see `superlevel.audits.betting`).

Proof. Let p(x) be the conditional probability of U = 1 if x is drawn. Then E[r U | past] = sum q (u / q) p is the mean
of p over the audited points. p >= kappa at the wrong labels and p >= 0 elsewhere, so this is at least kappa times the
share of wrong labels, which does not depend on the past. Now the theorem of `betting` applies.

The statement needs no kernel and no prior. It is about the frozen map: it does not cover labels that change afterwards.
The doubt that made q may come from any model. One may look at the bound after every draw, stop when it is small enough,
or go on with more draws of the same chances.

Which results to give. The bound holds for all numbers of draws at once. So it holds for the draws before the first one
without a result, even if that result is late *because* of its value. Later results may be used only if what is missing
has nothing to do with the values. `judge` therefore takes the results in the order of the draws and reads them up to
the first NaN. If a point can never be measured, give it the value plus or minus infinity that contradicts its label:
the bound stays valid.

Several levels: an audit is for one level. For k levels use delta / k in each; the same draws serve all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from superlevel.arrays import Array, Indices, Labels, Mask, as_floats, as_number, as_points, as_weights, frozen
from superlevel.audits.betting import upper
from superlevel.audits.confusion import Area, Confusion, Drawn, area
from superlevel.audits.noise import MedianZero, Noise
from superlevel.errors import InputError


@dataclass(frozen=True, kw_only=True, eq=False)
class AuditResult:
    """What an audit has found so far."""

    draws: int
    """Results that were read."""
    waiting: int
    """Draws that were given but not read: the first one without a result, and all after it."""
    contradictions: int
    """Draws with U = 1, not weighted."""
    estimate: float
    """Mean of r U: an unbiased estimate of the mean probability of a contradiction; NaN without draws. It is not an
    estimate of the share of wrong labels: noise contradicts right labels near the level, and spares wrong ones."""
    error: float
    """Standard error of the estimate; infinite with fewer than two draws."""
    bound: float
    """The share of wrong labels is at most this, with probability 1 - delta, valid at all times."""
    kappa: float
    """Least probability that a measurement contradicts a wrong label."""
    points: int
    """Number of audited points."""
    tolerance: float
    delta: float
    assumption: str
    """Of the noise, in words that complete 'if the noise ...'."""
    area: Area
    """The share of the audited points above the level."""
    confusion: Confusion
    """Labels against measured classes, with accuracies."""

    @property
    def most(self) -> int:
        """The number of wrong labels is at most this, whenever the bound holds."""
        return min(self.points, math.floor(self.bound * self.points * (1.0 + 1e-12)))

    def sentence(self, *, noun: str = "points", unit: str = "") -> str:
        """The bound in words. ``noun`` names the points, ``unit`` is that of the tolerance."""
        if self.most == self.points:
            return f"{self.draws:,} draws do not bound the share of wrong labels of the {self.points:,} {noun}."
        wrong = f"wrong by more than {self.tolerance:g} {unit}".rstrip() if self.tolerance else "wrong"
        return (
            f"With confidence {100.0 * (1.0 - self.delta):g} %, at most {_percent(self.most / self.points)} of the "
            f"{self.points:,} {noun} are {wrong}, whatever the kernel, if the noise {self.assumption}."
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Audit:
    """A frozen map, the chances with which its points are drawn, and what is assumed of the noise.

    >>> audit = Audit(labels=[1, 1, -1, 0], chances=[0.5, 0.25, 0.25, 0.0], level=20.0, tolerance=1.0)
    >>> audit.count, audit.kappa, round(audit.spread, 3)
    (3, 0.5, 1.333)
    >>> audit.contradicted(np.array([0, 1, 2]), np.array([18.9, 19.1, 21.0]))
    array([ True, False, False])
    """

    labels: Labels
    """(n,) +1 above the level, -1 below. Points that are not audited may have 0."""
    chances: Array
    """(n,) probabilities q of being drawn, of sum 1. The points with q > 0 are the audited ones."""
    level: float
    tolerance: float = 0.0
    """tau >= 0, in the units of the measurements: a label is wrong if f is on the other side by more."""
    delta: float = 0.05
    """Probability 0 < delta < 1 with which the bound may fail."""
    noise: Noise = field(default_factory=MedianZero)
    margin: float | None = None
    """c between 0 and the tolerance; None lets the assumption on the noise choose it."""

    def __post_init__(self) -> None:
        labels = np.asarray(self.labels)
        if labels.ndim != 1 or not len(labels):
            raise InputError("labels", f"of shape {labels.shape}", "give one label for each point of one level")
        if not np.isin(labels, (-1, 0, 1)).all():
            at = int(np.argmin(np.isin(labels, (-1, 0, 1))))
            raise InputError(f"labels[{at}]", labels[at], "give 1 above the level, -1 below, 0 if it is not audited")
        chances = as_weights("chances", self.chances, len(labels))
        if (labels[chances > 0.0] == 0).any():
            at = int(np.argmax((chances > 0.0) & (labels == 0)))
            raise InputError(f"labels[{at}]", 0, "give a label to every point that may be drawn, or chance 0 to others")
        fixed = {
            "labels": frozen(labels.astype(np.int8)),
            "chances": frozen(chances),
            "level": as_number("level", self.level),
            "tolerance": as_number("tolerance", self.tolerance, at_least=0.0),
            "delta": as_number("delta", self.delta, above=0.0, below=1.0),
        }
        for name, value in fixed.items():
            object.__setattr__(self, name, value)
        if self.margin is not None and as_number("margin", self.margin, at_least=0.0) > self.tolerance:
            raise InputError("margin", self.margin, f"give a number from 0 to the tolerance, {self.tolerance:g}")
        if not self.kappa > 0.0:
            remedy = "give a larger one: without it, such noise may hide every wrong label"
            raise InputError("tolerance" if self.margin is None else "margin", f"{self._margin:g}", remedy)

    @property
    def audited(self) -> Mask:
        """(n,) the points that may be drawn."""
        return np.asarray(self.chances > 0.0)

    @property
    def count(self) -> int:
        """The number of audited points."""
        return int(np.count_nonzero(self.chances))

    @property
    def weights(self) -> Array:
        """(n,) u / q, and 0 for points that are not audited."""
        weights = np.zeros_like(self.chances)
        np.divide(1.0 / self.count, self.chances, out=weights, where=self.audited)
        return weights

    @property
    def spread(self) -> float:
        """B, the largest weight: 1 for uniform chances."""
        return max(1.0, float(self.weights.max()))  # never below 1, except by rounding

    @property
    def kappa(self) -> float:
        """Least probability that a measurement contradicts a wrong label."""
        return self.noise.kappa(self._margin)

    @property
    def above(self) -> float:
        """Share of the audited points that are labelled above."""
        return float(np.count_nonzero(self.audited & (self.labels > 0))) / self.count

    def contradicted(self, points: Indices, values: Array) -> Mask:
        """(N,) whether values (N,) at the points (N,) are on the other side by more than tolerance - margin."""
        return np.asarray(self.labels[points] * (self.level - values) > self.tolerance - self._margin)

    def judge(self, points: ArrayLike, values: ArrayLike) -> AuditResult:
        """The bound, the area and the accuracies from the values (N,) measured at the drawn points (N,).

        Give them in the order of the draws. A NaN is a draw without a result; the draws before the first NaN are read.
        """
        drawn, found, waiting = self.read(points, values)
        weights, hits = self.weights, self.contradicted(drawn, found)
        seen = weights[drawn] * hits
        bound = min(1.0, upper(seen, top=self.spread, delta=self.delta) / self.kappa)
        classes = Drawn(labelled=self.labels[drawn] > 0, measured=found > self.level, weights=weights[drawn])
        limits = (self._largest(weights, self.labels > 0), self._largest(weights, self.labels < 0))
        return AuditResult(
            draws=len(drawn),
            waiting=waiting,
            contradictions=int(hits.sum()),
            estimate=float(seen.mean()) if len(seen) else np.nan,
            error=float(seen.std(ddof=1)) / math.sqrt(len(seen)) if len(seen) > 1 else np.inf,
            bound=bound,
            kappa=self.kappa,
            points=self.count,
            tolerance=self.tolerance,
            delta=self.delta,
            assumption=self.noise.assumption,
            area=area(classes, above=self.above, limits=limits, bound=bound, delta=self.delta),
            confusion=Confusion.of(classes, above=self.above, delta=self.delta),
        )

    def read(self, points: ArrayLike, values: ArrayLike) -> tuple[Indices, Array, int]:
        """The points and values before the first NaN, and how many draws there are from there on."""
        drawn, found = as_points("points", points, count=len(self.labels)), as_floats("values", values)
        if found.shape != drawn.shape:
            raise InputError("values", f"of shape {found.shape}", f"give one value for each of {len(drawn):,} draws")
        if not self.audited[drawn].all():
            at = int(np.argmin(self.audited[drawn]))
            raise InputError(f"points[{at}]", int(drawn[at]), "give points that were drawn: this one has no chance")
        missing = np.isnan(found)
        end = int(np.argmax(missing)) if missing.any() else len(drawn)
        return drawn[:end], found[:end], len(drawn) - end

    @property
    def _margin(self) -> float:
        return self.noise.margin(self.tolerance) if self.margin is None else self.margin

    @staticmethod
    def _largest(weights: Array, points: Mask) -> float:
        """The largest weight of some points, 0 for none."""
        return float(weights[points].max(initial=0.0))


def _percent(share: float) -> str:
    """A share in per cent, rounded up: one digit after the point, two below 1 %."""
    digits = 10.0 if share >= 0.01 else 100.0
    return f"{math.ceil(100.0 * share * digits - 1e-9) / digits:g} %"
