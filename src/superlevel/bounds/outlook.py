"""How many labels will be wrong after more measurements, as a Gaussian model of f has it.

a      (n,)  distance of f's estimate from the level, in deviations of f
rho    (n,)  part of a point's variance that the further measurements leave

The variance that further measurements leave does not depend on what they say. The estimate moves by a normal variable
that has the variance which they take away. So the estimate of then and f are jointly normal, and the probability that
they are on different sides of the level is

    e(rho) = 2 T(a, sqrt(rho / (1 - rho))),        T(h, b) = 1/(2 pi) int_0^b exp(-h^2 (1 + x^2) / 2) / (1 + x^2) dx

with Owen's T (Owen 1956, Ann. Math. Statist. 27:1075). It is Phi(-a) for rho = 1 and 0 for rho = 0.

The places of the further measurements are chosen greedily, by the weights of the default rule. To be quick, candidates
and the points whose labels are counted are two samples of the domain, drawn apart: then a counted point is measured
itself as often as any other. Beyond `COUNTED` further measurements the curve goes on as a power of their number.

The widths of an estimated model are estimated, too, and from few comparisons at first. So its probabilities are those
of Student's t, and labels are doubtful of which a normal deviate is sure. The caution

    g = log((wrong + 1/2) / (sharp + 1/2)),        sharp = sum_x Phi(-a(x)),

says by how much the expected number depends on that. Comparisons grow with the measurements: after m more, what is left
of the caution is about g N / (N + m), and the expected number is smaller by the factor exp(-g m / (N + m)).

In simulated campaigns what really happened differed more where the caution is large, further ahead, and for few labels:

    log (really + 1/2) - log (expected + 1/2)  is in  SHIFT min(1, g / SURE) + [LOW, HIGH] d  in 90 % of campaigns,
    d  =  SPREAD + DOUBTED g + AHEAD log(1 + m / N)^2 + FEW (expected + 1/2)^-1/2.

docs/estimates.md says how the constants were found, and how often the interval held in other campaigns.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, owens_t

from superlevel.arrays import Array, Indices
from superlevel.methods import Method
from superlevel.one_thread import one_thread
from superlevel.posterior import GaussianPosterior
from superlevel.records import State
from superlevel.rules.variance import Mislabelled

SAMPLED = 256  # points that are counted, and candidates
COUNTED, STEP = 200, 10  # further measurements that are followed, and between two numbers of the curve
FARTHEST = 2000  # further measurements up to which the curve is continued
SAMPLING = 7  # sets the samples' random numbers apart from those of rules and measurements

RATE = 0.01  # of wrong labels that is wanted, if nobody says another
SHIFT, SURE = -0.23, 0.05  # the logarithm of what really happened over what was expected, in the middle,
SPREAD, DOUBTED, AHEAD, FEW = 0.16, 0.5, 0.1, 0.5  # its deviation d,
LOW, HIGH = -1.9, 1.65  # and the ends of the interval, in deviations


@dataclass(frozen=True, kw_only=True, eq=False)
class Outlook:
    """How the expected number of wrong labels falls from now on."""

    wrong: float
    """Labels that are expected to be wrong now, if every point gets the likelier one."""
    sharp: float
    """The same if the widths of the model are right."""
    samples: int
    """N: measurements so far."""
    parts: Array
    """(k,) what is left of the expected number after 0, STEP, 2 STEP, ... further measurements: 1 at first."""

    def expected(self, more: int) -> float:
        """After m further measurements."""
        return self.wrong * self._left(more) * math.exp(-self.caution * more / (self.samples + more))

    def _left(self, more: int) -> float:
        """The part that is left by a model whose widths stay as they are."""
        steps = STEP * np.arange(len(self.parts))
        if more <= steps[-1]:
            return float(np.interp(more, steps, self.parts))
        half, last = self.parts[len(self.parts) // 2], self.parts[-1]
        if last <= 0.0:
            return 0.0
        now, then, far = (self.samples + k for k in (STEP * (len(self.parts) // 2), int(steps[-1]), more))
        power = max(0.0, math.log(half / last) / math.log(then / now))
        return float(last) * float((then / far) ** power)

    @property
    def caution(self) -> float:
        """g, at least 0."""
        return max(0.0, math.log((self.wrong + 0.5) / (self.sharp + 0.5)))

    def interval(self, more: int) -> tuple[float, float]:
        """Where the number of wrong labels after m further measurements will be, with a probability of 90 %."""
        middle = self.expected(more) + 0.5
        ahead, shift = math.log1p(more / self.samples) ** 2, SHIFT * min(1.0, self.caution / SURE)
        deviation = SPREAD + DOUBTED * self.caution + AHEAD * ahead + FEW / math.sqrt(middle)
        low, high = (middle * math.exp(shift + end * deviation) - 0.5 for end in (LOW, HIGH))
        return max(0.0, low), high

    def until(self, wrong: float) -> tuple[int | None, int | None, int | None]:
        """Further measurements until at most so many labels are wrong: expected, at best and at worst.

        None stands for more than `FARTHEST`.
        """
        curves: tuple[Callable[[int], float], ...] = (
            self.expected,
            lambda more: self.interval(more)[0],
            lambda more: self.interval(more)[1],
        )
        steps = range(0, FARTHEST + 1, STEP)
        expected, best, worst = (next((m for m in steps if curve(m) <= wrong), None) for curve in curves)
        return expected, best, worst


def wrong_after(distances: Array, left: Array) -> Array:
    """The probability that a label is wrong after measurements that leave the part ``left`` of a point's variance.

    ``distances`` are those of the estimate from the level now, in deviations.

    >>> wrong_after(np.array([0.0, 1.0]), np.array([1.0, 1.0])).round(4).tolist()      # Phi(-a)
    [0.5, 0.1587]
    """
    kept = np.clip(left, 0.0, 1.0)
    with np.errstate(divide="ignore"):
        return np.asarray(2.0 * owens_t(distances, np.sqrt(kept / (1.0 - kept))))


@one_thread
def outlook(method: Method, state: State, wrong: float) -> Outlook:
    """From now on, if ``wrong`` labels are expected to be wrong now.

    An InputError if the confidence has no Gaussian model of f.
    """
    view = method.view(state, phase=state.phase)
    model, rng, n = view.belief.model, view.rng(SAMPLING), view.n
    weights, rough = Mislabelled().at(view)
    targets = np.sort(rng.permutation(n)[:SAMPLED])
    candidates = np.sort(rng.permutation(n)[:SAMPLED])
    with np.errstate(divide="ignore", invalid="ignore"):
        gaps = [np.abs(gap / model.spread) for _, gap in view.goal.critical(model.centre)]
    everywhere = [np.nan_to_num(gap, nan=0.0, posinf=np.inf) for gap in gaps]
    distances = [gap[targets] for gap in everywhere]
    points = np.union1d(targets, candidates)
    sample, at = view.posterior.among(points), np.searchsorted(points, targets)
    before = sample.variance[at] + rough[targets]
    relative = np.divide(weights[targets], before, out=np.zeros_like(before), where=before > 0)
    counted = []
    for taken in _taken(sample, _Sample(at, np.searchsorted(points, candidates), relative, rough[candidates])):
        left = np.divide(before - taken, before, out=np.zeros_like(before), where=before > 0)
        counted.append(sum(float(wrong_after(each, left).sum()) for each in distances))
    parts = np.array(counted) / counted[0] if counted[0] else np.zeros(len(counted))
    sharp = sum(float(ndtr(-gap).sum()) for gap in everywhere)
    return Outlook(wrong=wrong, sharp=sharp, samples=state.samples, parts=parts)


@dataclass(frozen=True, eq=False)
class _Sample:
    """Positions of the points that are counted (t,) and of candidates (c,), how much each of the former matters, and
    the rough variance of the latter."""

    targets: Indices
    candidates: Indices
    weights: Array
    rough: Array


def _taken(posterior: GaussianPosterior, sample: _Sample) -> list[Array]:
    """(t,) the variance that 0, STEP, 2 STEP, ... measurements take away, each at the best of the candidates.

    The best x has the largest sum_y w_y Sigma(x, y)^2 / (sigma^2(x) + noise), as in `rules.variance`.
    """
    columns = posterior.covariance.columns(sample.candidates)
    between, among = columns[:, sample.targets], columns[:, sample.candidates]
    noise = posterior.noise[sample.candidates] + sample.rough
    taken, found = np.zeros(len(sample.targets)), []
    for k in range(COUNTED + 1):
        if k % STEP == 0:
            found.append(taken)
        own = np.maximum(np.einsum("ii->i", among), 0.0) + noise
        best = int(np.argmax((np.square(between) @ sample.weights) / own))
        row, column = between[best] / math.sqrt(own[best]), among[best] / math.sqrt(own[best])
        taken = taken + np.square(row)
        between = between - np.outer(column, row)
        among = among - np.outer(column, column)
    return found
