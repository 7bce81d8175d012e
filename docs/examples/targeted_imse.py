"""Targeted IMSE: measure where the variance near the level falls most (Picheny et al. 2010, J. Mech. Des. 132:071008).

    W(x) = phi((mu(x) - level) / s(x)) / s(x),   s(x)^2 = sigma(x)^2 + epsilon^2
    J(x) = sum_y W(y) Sigma(x, y)^2 / (sigma(x)^2 + noise(x)^2)

phi is the normal density. J(x) is how much the sum of W times the variance falls if x is measured.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from superlevel.arrays import Array
from superlevel.posterior import GaussianPosterior
from superlevel.records import Choice, View
from superlevel.rules import Rule

LEAST = 1e-12  # of s: a point that is known exactly has nothing left to learn, whatever its weight is


@dataclass(frozen=True)
class TargetedImse(Rule):
    """One point after the other, each as if those before it had been measured."""

    epsilon: float = 0.0
    """How far from the level still counts as near it, in the units of the measurements."""

    def choose(self, view: View) -> Choice:
        weights, posterior = self.weights(view), view.planned
        counts = np.zeros(view.n, dtype=np.int64)
        for _ in range(view.samples()):
            x = int(np.argmax(reductions(posterior, weights) / view.problem.cost))
            counts[x] += 1
            posterior = posterior.planned([x]).after
        return Choice(weights=counts / counts.sum(), counts=counts)

    def weights(self, view: View) -> Array:
        """(n,) W. What counts as near the level is the goal's business, so the rule works with every goal."""
        posterior = view.posterior
        spread = np.maximum(np.hypot(posterior.deviation, self.epsilon), LEAST)
        near = [share * norm.pdf(gap, scale=spread) for share, gap in view.goal.critical(posterior.mean)]
        return np.asarray(np.sum(near, axis=0))


def reductions(posterior: GaussianPosterior, weights: Array) -> Array:
    """(n,) J: how much one measurement at each point lowers the weighted sum of all variances."""
    return np.asarray(posterior.covariance.squares(weights) / (posterior.variance + posterior.noise))
