"""The robust means as values, to be chosen from and passed on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from numpy.typing import ArrayLike

from superlevel.arrays import Array
from superlevel.errors import InputError
from superlevel.robust import alternatives
from superlevel.robust.influence import Numbers, catoni, catoni_deviation
from superlevel.robust.samples import Products


class Estimate(Protocol):
    """A mean of samples (N,), (N, p) or products."""

    def __call__(self, samples: ArrayLike | Products, *, variance: float | Array, delta: float) -> float | Array: ...


class Deviation(Protocol):
    """What the estimate from ``count`` samples of this variance is farther off than with probability ``delta``."""

    def __call__(self, count: int, *, variance: Numbers, delta: float) -> Numbers: ...


@dataclass(frozen=True, kw_only=True)
class Estimator:
    """A way to estimate a mean, and how far off it may be: for each direction by itself."""

    name: str
    """As messages have it."""
    estimate: Estimate = field(repr=False)
    deviation: Deviation = field(repr=False)
    """Infinite where the count is too small for the estimate."""

    def __repr__(self) -> str:
        """By the name alone: the addresses of functions differ from process to process."""
        return f"Estimator(name={self.name!r})"


def _catoni(samples: ArrayLike | Products, *, variance: float | Array, delta: float) -> float | Array:
    return catoni(samples, variance=variance, delta=delta)


def _median_of_means(
    samples: ArrayLike | Products,
    *,
    variance: float | Array,  # noqa: ARG001  the same for every estimator
    delta: float,
) -> float | Array:
    return alternatives.median_of_means(samples, delta=delta)


def _trimmed_mean(
    samples: ArrayLike | Products,
    *,
    variance: float | Array,  # noqa: ARG001
    delta: float,
) -> float | Array:
    return alternatives.trimmed_mean(samples, delta=delta)


def _mean(
    samples: ArrayLike | Products,
    *,
    variance: float | Array,  # noqa: ARG001
    delta: float,  # noqa: ARG001
) -> float | Array:
    return alternatives.mean(samples)


CATONI = Estimator(name="Catoni", estimate=_catoni, deviation=catoni_deviation)
MEDIAN_OF_MEANS = Estimator(
    name="median of means", estimate=_median_of_means, deviation=alternatives.median_of_means_deviation
)
TRIMMED_MEAN = Estimator(name="trimmed mean", estimate=_trimmed_mean, deviation=alternatives.trimmed_mean_deviation)
MEAN = Estimator(name="mean", estimate=_mean, deviation=alternatives.mean_deviation)


def as_estimator(given: object) -> Estimator:
    """An estimator, or the one of this name."""
    named = {estimator.name: estimator for estimator in (CATONI, MEDIAN_OF_MEANS, TRIMMED_MEAN, MEAN)}
    found = named.get(given) if isinstance(given, str) else given
    if not isinstance(found, Estimator):
        raise InputError("estimator", repr(given), "give robust.CATONI, MEDIAN_OF_MEANS or TRIMMED_MEAN")
    return found
