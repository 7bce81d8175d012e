"""Frequentist widths for a fixed f in the kernel's space, ||f|| <= S, and sub-Gaussian noise of deviation sigma.

With mu and sigma_t of the Gaussian posterior whose noise variance is sigma^2, for all t and all x at once with
probability 1 - delta,

    |f(x) - mu_t(x)|  <=  (S + sqrt(2 (Gamma_t + log(1 / delta)))) sigma_t(x),
    Gamma_t  >=  1/2 log det(I + W^1/2 K_t W^1/2),   W = diag(1 / sigma_i^2) of the t measurements.

(Abbasi-Yadkori 2012, Online Learning for Linearly Parametrized Control Problems, chapter 3; Chowdhury and Gopalan
2017, ICML, Theorem 2, has another 1 under the root, the price of a regulariser above 1.) Gamma_t is bounded through
the rank r of the kernel on the points, to rounding, and its largest k(x, x) = L^2, by concavity of the logarithm
(Srinivas et al. 2010, Theorem 5, for the linear kernel):

    Gamma_t = r / 2 log(1 + L^2 sum_i sigma_i^-2 / r),     r replaced by t while t is smaller.

Each measurement counts with its own sigma_i. A misspecification of at most h adds h at x itself, and
h (sum_i sigma_i^-2)^1/2 sigma_t(x) through the measurements.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from superlevel.arrays import Array
from superlevel.confidence.posterior import OnPosterior, as_flag
from superlevel.confidence.protocol import Guarantee, near
from superlevel.errors import InputError
from superlevel.posterior import GaussianPosterior
from superlevel.problem import Problem


@dataclass(frozen=True, kw_only=True)
class RkhsWidth:
    """beta_t^1/2 = S + sqrt(2 (Gamma_t + log(1 / delta)))."""

    norm: float
    """S"""
    rank: int
    """r"""
    largest: float
    """L^2"""
    noise: float
    """The smallest sigma of a point."""
    delta: float
    misspecification: float
    """h"""

    @property
    def hints(self) -> Mapping[str, Any]:
        return {"rank": self.rank}

    def information(self, count: int) -> float:
        """Gamma_t for t = count measurements of this noise."""
        rank = min(self.rank, max(count, 1))
        return rank / 2 * float(np.log1p(count * self.largest / (rank * self.noise**2)))

    def at(self, posterior: GaussianPosterior, /) -> float:
        count, total = posterior.count, float(posterior.weights.sum())
        # Measurements may have a sigma of their own. This sigma tells as much in all: count / sigma^2 = total.
        told = replace(self, noise=float(np.sqrt(count / total))) if count else self
        return self.norm + float(np.sqrt(2 * (told.information(count) - np.log(self.delta))))

    def extra(self, posterior: GaussianPosterior, /) -> Array:
        """h (1 + sqrt(sum of 1 / sigma^2) sigma_t(x))"""
        spread = np.sqrt(posterior.weights.sum())
        return np.asarray(self.misspecification * (1 + spread * posterior.deviation))


@dataclass(frozen=True, kw_only=True)
class Rkhs(OnPosterior):
    """Widths for a fixed f with ||f|| <= norm: all labels are right with probability 1 - delta."""

    name: ClassVar[str] = "rkhs"
    given_only: ClassVar[bool] = True
    uses: ClassVar[frozenset[str]] = OnPosterior.uses | {"norm", "delta"}
    permanent: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "intersected", as_flag("Rkhs.intersected", self.intersected))

    def widths(self, problem: Problem, prior: GaussianPosterior, /) -> RkhsWidth:
        if problem.norm is None:
            raise InputError("problem.norm", None, "the rkhs confidence needs S with ||theta|| <= S")
        return RkhsWidth(
            norm=problem.norm,
            rank=prior.rank,
            largest=float(prior.everywhere.variance.max()),
            noise=float(np.sqrt(prior.everywhere.noise.min())),
            delta=problem.delta,
            misspecification=problem.misspecification,
        )

    def guarantee(self, problem: Problem) -> Guarantee:
        promise = f"all labels are right with probability {1 - problem.delta:g}, for Gaussian noise and a norm as given"
        return Guarantee(
            promise=promise + near(problem.tolerance),
            probability=1 - problem.delta,
            at_all_times=True,
            assumes=(f"||theta|| <= {problem.norm:g}", "sub-Gaussian noise of the given deviation"),
        )
