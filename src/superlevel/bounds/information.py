"""How much can be learned from T measurements at all: information gain and effective dimension.

    A(lambda)   sum_i lambda_i phi_i phi_i'
    gamma'      regularisation; in a Gaussian process the variance of the noise
    c           T / gamma'
    Gamma_T     max over lambda of log det(I + c A(lambda))
    g_i         c phi_i' (I + c A)^-1 phi_i, the gradient; sum_i lambda_i g_i = d_eff at ridge gamma'/T
    d_eff       tr(A (A + gamma I)^-1)

The paper prints log det(T A + gamma' I), which is Gamma_T + r log gamma' for r features: with infinitely many it is not
even finite, and its sign depends on the units. The normalised form is the one of Srinivas et al. 2009.

The criterion is concave: no design exceeds its value at lambda by more than max_i g_i - sum_i lambda_i g_i. Since
x / (1 + x) <= log(1 + x) for the eigenvalues x of c A, d_eff <= Gamma_T at every design (the paper has it the other way
round), and at the best one max_i ||phi_i||^2 in the norm of (A + gamma'/T I)^-1 is d_eff. So

    min over designs of max_i ||phi_i||^2  <=  d_eff  <=  Gamma_T,

where the paper has 3 Gamma_T.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from superlevel import linalg
from superlevel.arrays import Array, as_number, as_weights, normalised
from superlevel.design import Status
from superlevel.domain import Domain
from superlevel.features import Features, embed

MOST = 2000  # steps
BOLD = 1.5  # exponent of a multiplicative step; 1 is the safe one and takes more of them
EXACT = 1e-10  # of the ridge: what the features of an effective dimension may miss


@dataclass(frozen=True, kw_only=True, eq=False)
class Gain:
    """Gamma_T between two proven numbers."""

    value: float
    """log det(I + T A / gamma') at the weights, of the kept features: Gamma_T is no smaller."""
    upper_bound: float
    """Gamma_T is no larger; what the features miss is in it."""
    weights: Array
    """(n,)"""
    status: Status

    @property
    def gap(self) -> float:
        """upper_bound / value - 1."""
        return self.upper_bound / self.value - 1.0


@dataclass(frozen=True, kw_only=True, eq=False)
class _Seen:
    weights: Array
    value: float
    gradient: Array
    """(n,) g"""

    @property
    def excess(self) -> float:
        """No design is better by more."""
        return float(self.gradient.max() - self.weights @ self.gradient)


def information_gain(domain: Domain, samples: float, *, regularisation: float = 1.0, rtol: float = 0.01) -> Gain:
    """The maximum information gain Gamma_T = max over lambda of log det(I + T A(lambda) / regularisation).

    ``samples`` is T; fractions are allowed, since lambda is a distribution and not a count.

    >>> gain = information_gain(Domain(np.eye(3)), 30, rtol=1e-6)     # lambda = 1/3: 3 log(1 + 10)
    >>> round(gain.value, 3)
    7.194
    """
    rtol = as_number("rtol", rtol, above=0.0)
    factor = as_number("samples", samples, above=0.0) / as_number("regularisation", regularisation, above=0.0)
    largest = float(domain.diagonal().max())
    # Measuring only where k(x, x) is largest gives log(1 + c k) already: a part of rtol of that may be missed.
    missed = 0.25 * rtol * float(np.log1p(factor * largest)) / factor
    features = embed(domain.kernel, domain.points, tol=0.0 if domain.kernel is None else missed)
    arms, slack = np.sqrt(factor) * features.array, factor * features.residual
    seen = _see(arms, np.full(domain.n, 1.0 / domain.n))
    for _ in range(MOST):
        if seen.excess + slack <= rtol * seen.value:
            break
        seen = _step(arms, seen)
    return Gain(
        value=seen.value,
        upper_bound=seen.value + seen.excess + slack,
        weights=seen.weights,
        status=_status(seen, slack, rtol),
    )


def _status(seen: _Seen, slack: float, rtol: float) -> Status:
    if seen.excess + slack <= rtol * seen.value:
        return Status.CERTIFIED
    return Status.FEATURES if seen.excess <= rtol * seen.value else Status.ITERATIONS


def _see(arms: Array, weights: Array) -> _Seen:
    """Criterion and gradient for arms that are sqrt(c) phi_i."""
    support = np.flatnonzero(weights)
    information = linalg.moment(arms[support], weights[support])
    linalg.add_to_diagonal(information, 1.0)
    factor = linalg.cholesky(information)
    return _Seen(
        weights=weights,
        value=2.0 * float(np.log(np.diag(factor)).sum()),
        gradient=linalg.squared_norms(linalg.whiten(factor, arms)),
    )


def _step(arms: Array, seen: _Seen) -> _Seen:
    """lambda_i proportional to lambda_i g_i^a (Titterington 1976), boldly if that does not lose anything."""
    relative = seen.gradient / float(seen.gradient.max())
    bold = _see(arms, normalised(seen.weights * relative**BOLD))
    return bold if bold.value >= seen.value else _see(arms, normalised(seen.weights * relative))


def effective_dimension(domain: Domain, *, ridge: float, weights: ArrayLike | None = None) -> float:
    """tr(A (A + ridge I)^-1) for measurements in proportion to the weights (n,), by default everywhere alike.

    With uniform weights it is tr(K (K + n ridge I)^-1) of the kernel matrix (Alaoui and Mahoney 2015).

    >>> effective_dimension(Domain(np.eye(4)), ridge=0.25)      # A = I / 4, four times 1/2
    2.0
    """
    gamma = as_number("ridge", ridge, above=0.0)
    design = np.full(domain.n, 1.0 / domain.n) if weights is None else as_weights("weights", weights, domain.n)
    # What the features miss adds at most sum_i lambda_i residual_i / ridge.
    features: Features = embed(domain.kernel, domain.points, tol=EXACT * gamma)
    eigenvalues = np.linalg.eigvalsh(linalg.moment(features.array, design), UPLO="L")
    kept = np.maximum(eigenvalues, 0.0)
    return float(np.sum(kept / (kept + gamma)))
