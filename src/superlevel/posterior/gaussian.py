"""f ~ N(mean, K), y_i = f(x_i) + N(0, sigma_i^2): what the measurements so far say of f at every point.

w_x   (n,)  sum of 1 / sigma_i^2 over the measurements at x          Sigma = (K^-1 + diag w)^-1
b_x   (n,)  sum of (y_i - mean) / sigma_i^2 over them                mu    = mean + Sigma b

Two numbers a point hold all that was ever measured, whatever the order. A block of measurements at the points X, those
at one point taken together, changes mean and variance by the rows R and the factor L of `covariance`:

    mu <- mu + R' L^-1 (y - mu_X),    sigma_x^2 <- sigma_x^2 - |R_x|^2.

(Rasmussen and Williams 2006, Gaussian Processes for Machine Learning, eqs. 2.23 to 2.26.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc

from superlevel import linalg
from superlevel.arrays import Array, Indices, as_deviations, as_number, as_points, as_vector, frozen
from superlevel.domain import Domain
from superlevel.errors import InputError
from superlevel.posterior.covariance import prior
from superlevel.posterior.field import Field, Held, less
from superlevel.posterior.protocol import Covariance, Prior, Told

NUGGET = 1e-10  # of the largest k(x, x): the variance that a measurement without noise is taken to have
CHECKED = 256  # points that are measured between two looks at the drift
DRIFT = 1e-10  # relative to K; more than this is computed afresh,
WORSE = 10.0  # unless it was nearly as large when it was fresh


@dataclass(frozen=True, kw_only=True, eq=False)
class GaussianPosterior:
    """Mean, variance and covariance of f at every point. Nothing in it changes; `told` returns another one."""

    field: Field
    """Mean and variance."""
    count: int
    """Measurements so far."""
    weights: Array
    """w (n,)"""
    sums: Array
    """b (n,)"""
    covariance: Covariance
    """Sigma."""
    noise: Array
    """(n,) variance of one measurement at each point, where nothing else is said."""
    origin: Origin
    """What was there before the first measurement."""
    terms: int
    """Predictions that were compared with what was measured then."""
    squares: float
    """Sum of the squared errors of the predictions, each in units of what was expected of it: chi^2 if all is right."""
    excess: float
    """Sum of the squared errors less what was expected of them, in the units of the measurements squared."""
    unchecked: int
    """Downdates since the drift was last looked at."""
    refreshed: int
    """How often everything was computed afresh because of it."""
    floor: float
    """The drift of what was last computed afresh."""
    whole: GaussianPosterior | None = None
    """The posterior that this one is a part of; None where it is of all places."""

    def __post_init__(self) -> None:
        frozen(self.weights)
        frozen(self.sums)

    @property
    def mean(self) -> Array:
        """mu (n,)"""
        return self.field.mean

    @property
    def variance(self) -> Array:
        """sigma^2 (n,), never negative."""
        return self.field.variance

    @property
    def everywhere(self) -> GaussianPosterior:
        """The posterior of all places where something was or can be measured, of which this one has the first n."""
        return self if self.whole is None else self.whole

    def within(self, n: int) -> GaussianPosterior:
        """The same of the first n points. It still takes measurements at all of them."""
        if n == self.n:
            return self
        parts = {name: getattr(self, name)[:n] for name in ("weights", "sums", "noise")}
        return replace(self, **parts, field=self.field.within(n), covariance=self.covariance.within(n), whole=self)

    def among(self, points: Indices) -> GaussianPosterior:
        """The same of some of the points (m,), for planning: it takes no measurements."""
        mean, variance = self.field.at(points)
        parts = {name: getattr(self, name)[points] for name in ("weights", "sums", "noise")}
        covariance = self.covariance.among(points)
        return replace(self, **parts, field=Held(mean=mean, variance=variance), covariance=covariance, whole=None)

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.weights)

    @cached_property
    def deviation(self) -> Array:
        """sigma (n,)"""
        return frozen(np.sqrt(self.variance))

    @property
    def surprise(self) -> float:
        """The mean square of the prediction errors, in units of what was expected: 1 if kernel and noise are right."""
        return self.squares / self.terms if self.terms else 1.0

    @property
    def plausibility(self) -> float:
        """The probability of prediction errors at least as large as those seen."""
        return float(chdtrc(self.terms, self.squares)) if self.terms else 1.0

    @property
    def roughness(self) -> float:
        """The variance of what the kernel does not explain, as the prediction errors show it; never negative."""
        return max(0.0, self.excess / self.terms) if self.terms else 0.0

    @property
    def rank(self) -> int:
        """The rank of the prior covariance, to rounding, or a larger number."""
        return self.origin.prior.rank

    def columns(self, points: ArrayLike) -> Array:
        """(m, n) covariances of these points with all points."""
        return self.covariance.columns(as_points("points", points, count=self.n))

    def relief(self, points: Indices, at: Indices | None = None) -> Array:
        """(m, k) the share of the variance at others (k,) that one measurement at each of these points (m,) removes.

        Others are all points where nothing else is said.

            Sigma(x, y)^2 / ((sigma^2(x) + noise(x)) sigma^2(y))
        """
        rows = self.columns(points) if at is None else self.covariance.between(points, at)
        variance = self.variance if at is None else self.variance[at]
        drops = rows**2 / (self.variance[points] + self.noise[points])[:, None]
        return np.divide(drops, variance, out=np.zeros_like(drops), where=variance > 0)

    def told(
        self, points: ArrayLike, values: ArrayLike, *, noise: ArrayLike | None = None, in_turn: bool = False
    ) -> GaussianPosterior:
        """After measurements (N,) at these points (N,), in any order and with repeats.

        ``noise`` are their standard deviations, (N,) or one for all; by default those of the points. Predictions are
        compared with what was measured as of before all of them; ``in_turn``, point after point in ascending order, as
        of before each: a block that holds a whole campaign would otherwise be compared with the prior only.
        """
        if self.whole is not None:
            return self.whole.told(points, values, noise=noise, in_turn=in_turn).within(self.n)
        places = as_points("points", points, count=self.n)
        measured = as_vector("values", values, length=len(places))
        if not len(places):
            return self
        weights = 1 / self._variances(places, noise)
        distinct, sums = places, weights * (measured - self.origin.mean)
        if len(places) > 1:
            distinct, which = np.unique(places, return_inverse=True)
            weights = np.bincount(which, weights=weights).astype(np.float64)
            sums = np.bincount(which, weights=sums).astype(np.float64)
        change = self.covariance.measured(distinct, 1 / weights)
        predicted, variances = self.field.at(distinct)
        errors = sums / weights - (predicted - self.origin.mean)
        expected = variances + 1 / weights
        whitened = linalg.solve_lower(change.factor, errors[:, None])[:, 0]
        together = Told(
            mean=self.origin.mean,
            weights=_added(self.weights, distinct, weights),
            sums=_added(self.sums, distinct, sums),
        )
        found = replace(
            self,
            field=change.field(self.field, whitened, together),
            count=self.count + len(places),
            weights=together.weights,
            sums=together.sums,
            covariance=change.after,
            unchecked=self.unchecked + len(distinct),
            terms=self.terms + len(distinct),
            squares=self.squares + float(whitened @ whitened),
            excess=self.excess + float(_in_turn(change.factor, whitened) if in_turn else (errors**2 - expected).sum()),
        )
        return found._checked()

    def planned(self, points: ArrayLike) -> Planned:
        """As if these points had been measured with the values that are expected: the variance needs no others.

        The mean stays, and so do the data: the answer is for planning only.
        """
        places = as_points("points", points, count=self.n)
        if not len(places):
            return Planned(after=self, points=places, rows=np.empty((0, self.n)))
        distinct, variances = places.copy(), self.noise[places]  # a copy, as it is handed out and the caller's is not
        if len(places) > 1:  # sorting costs as much as conditioning on one point
            distinct, counts = np.unique(places, return_counts=True)
            variances = self.noise[distinct] / counts
        change = self.covariance.measured(distinct, variances)
        field = Held(mean=self.mean, variance=less(self.variance, change.rows))
        after = replace(self, field=field, covariance=change.after)
        return Planned(after=after, points=frozen(distinct), rows=frozen(change.rows))

    def afresh(self) -> GaussianPosterior:
        """The same from the data, without any update."""
        if self.whole is not None:
            return self.whole.afresh().within(self.n)
        told = Told(mean=self.origin.mean, weights=self.weights, sums=self.sums)
        covariance, field = self.origin.prior.after(told)
        return replace(
            self,
            covariance=covariance,
            field=field,
            unchecked=0,
            floor=covariance.drift(self.weights),
        )

    @property
    def drift(self) -> float:
        """How far the covariance is from that of the data, relative to the prior's.

        A residual rather than an error: rounding alone makes it about 1e-16 times the prior variance over the noise's.
        """
        return self.covariance.drift(self.weights)

    def _checked(self) -> GaussianPosterior:
        """Computed afresh where repeats left more rows than the data need, or the drift is measured to be too large."""
        if self.covariance.kept > 2 * np.count_nonzero(self.weights) + CHECKED:
            return self.afresh()
        if self.unchecked < CHECKED:
            return self
        if self.drift <= max(DRIFT, WORSE * self.floor):
            return replace(self, unchecked=0)
        return replace(self.afresh(), refreshed=self.refreshed + 1)

    def _variances(self, places: Indices, noise: ArrayLike | None) -> Array:
        if noise is None:
            return self.noise[places]
        deviations = as_deviations("noise", np.asarray(noise) if np.ndim(noise) else noise, len(places))
        return self.origin.raised(np.broadcast_to(np.square(deviations), len(places)))

    def __repr__(self) -> str:
        points = int(np.count_nonzero(self.weights))
        return f"GaussianPosterior({self.count:,} measurements at {points} of {self.n} points)"


class Planned(NamedTuple):
    """A posterior for planning, and how it came to be."""

    after: GaussianPosterior
    points: Indices
    """(m,) all different."""
    rows: Array
    """R (m, n): the covariance falls by R' R."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Origin:
    """Before the first measurement."""

    prior: Prior
    mean: float
    nugget: float
    """The least variance of a measurement."""

    def raised(self, variances: Array) -> Array:
        """A measurement without noise would leave nothing to divide by when it is repeated."""
        return np.maximum(variances, self.nugget)


def begin(
    domain: Domain, *, noise: float | ArrayLike, mean: float = 0.0, form: Callable[[Domain], Prior] = prior
) -> GaussianPosterior:
    """Before the first measurement.

    ``noise`` is the standard deviation of a measurement, one number or one for each point (n,). Deviations below 1e-5
    of the largest prior deviation are taken as that. ``form`` makes the prior covariance: by default the form that is
    cheapest for a campaign; `by_rows` is cheapest for one batch. Places elsewhere are numbered after the points, and
    have the largest of the deviations.
    """
    if not isinstance(domain, Domain):
        raise InputError("domain", f"of type {type(domain).__name__}", "give Domain(points, kernel=...)")
    further = len(domain.elsewhere)
    if further:
        given = np.broadcast_to(as_deviations("noise", noise, domain.n), domain.n)
        everywhere = np.append(given, np.full(further, given.max()))
        return begin(domain.everywhere, noise=everywhere, mean=mean, form=form).within(domain.n)
    diagonal = domain.diagonal()
    largest = float(diagonal.max())
    if largest <= 0:
        raise InputError("domain.kernel", "zero at every point", "give a kernel under which f varies somewhere")
    origin = Origin(prior=form(domain), mean=as_number("mean", mean), nugget=NUGGET * largest)
    deviations = as_deviations("noise", noise, domain.n)
    empty = np.zeros(domain.n)
    return GaussianPosterior(
        field=Held(mean=np.full(domain.n, origin.mean), variance=diagonal),
        count=0,
        weights=empty,
        sums=empty,
        covariance=origin.prior.after(Told(mean=origin.mean, weights=empty, sums=empty)).covariance,
        noise=frozen(origin.raised(np.full(domain.n, np.square(deviations)))),
        origin=origin,
        terms=0,
        squares=0.0,
        excess=0.0,
        unchecked=0,
        refreshed=0,
        floor=0.0,
    )


def _in_turn(factor: Array, whitened: Array) -> float:
    """Row i of L^-1 errors is the error of the i-th prediction given those before it, in units of its deviation."""
    return float((np.diag(factor) ** 2 * (whitened**2 - 1)).sum())


def _added(values: Array, at: Indices, more: Array) -> Array:
    sums = values.copy()
    sums[at] += more
    return sums
