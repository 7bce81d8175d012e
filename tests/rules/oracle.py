"""Other roads to the scores: a dense Gaussian process refitted for every question, and every formula as a plain sum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtr
from sklearn.gaussian_process.kernels import RBF

import superlevel as sl
from superlevel import posterior as library
from superlevel.arrays import Array, Indices, Mask
from superlevel.confidence.posterior import Constant, GaussianBelief
from superlevel.features import Features
from superlevel.goals import Bounds, Goal, Reading
from superlevel.posterior import GaussianPosterior
from superlevel.posterior.covariance import Downdated, InFeatures
from superlevel.records import LinearModel, View
from superlevel.sizes import Growing

KINDS = {"features": (RBF(0.5), InFeatures), "matrix": (RBF(0.04), Downdated)}
LEVEL, WIDTH = 0.3, 1.5


@dataclass(frozen=True, kw_only=True, eq=False)
class Dense:
    """f ~ N(0, K), measured with values at some points, and to be measured at some more."""

    kernel: Array
    """(n, n)"""
    noise: Array
    """(n,) variances."""
    points: tuple[int, ...]
    values: Array
    more: tuple[int, ...] = ()

    def after(self, *points: int) -> Dense:
        return replace(self, more=(*self.more, *points))

    @property
    def mean(self) -> Array:
        """Measurements to come are expected to be what they are predicted to be: the mean stays."""
        at = list(self.points)
        gram = self.kernel[np.ix_(at, at)] + np.diag(self.noise[at])
        return np.asarray(self.kernel[:, at] @ np.linalg.solve(gram, self.values))

    @property
    def covariance(self) -> Array:
        at = [*self.points, *self.more]
        gram = self.kernel[np.ix_(at, at)] + np.diag(self.noise[at])
        return np.asarray(self.kernel - self.kernel[:, at] @ np.linalg.solve(gram, self.kernel[at]))

    @property
    def variance(self) -> Array:
        return np.asarray(np.diag(self.covariance))

    @property
    def deviation(self) -> Array:
        return np.sqrt(self.variance)

    @property
    def n(self) -> int:
        return len(self.kernel)


@dataclass(frozen=True, kw_only=True, eq=False)
class World:
    """The same measurements in the library's form and densely, and what a rule is shown."""

    posterior: GaussianPosterior
    dense: Dense
    view: View
    rough: Array
    """(n,) for `Mislabelled`: what the prediction errors leave to each point by itself."""

    @property
    def bounds(self) -> Bounds:
        """The intervals that are known from before."""
        found = belief(self.view).narrowest
        assert found is not None
        return found


def belief(view: View) -> GaussianBelief:
    assert isinstance(view.belief, GaussianBelief)
    return view.belief


def knowing(view: View, **changes: Any) -> View:
    """The view with another posterior, or with other intervals from before (``narrowest``)."""
    return replace(view, belief=replace(belief(view), **changes))


def posing(view: View, **changes: Any) -> View:
    """The view of a problem with another goal or other costs."""
    problem = replace(view.problem, **changes)
    return replace(view, goal=problem.goal, belief=replace(belief(view), problem=problem))


def reading(goal: Goal, undecided: Mask) -> Reading:
    """Nothing is labelled, and these directions (n,) or (n, n) are undecided."""
    return Reading(labels=goal.unread(len(undecided)).labels, undecided=undecided)


def world(kind: str, seed: int, *, batch: int = 1, unequal: bool = False, n: int = 40, surprise: float = 1.0) -> World:
    """Some points measured, some decided, and intervals that remember more than the posterior says.

    ``surprise`` stretches what is measured: the kernel does not explain it then.
    """
    kernel, form = KINDS[kind]
    rng = np.random.default_rng([seed, 7])
    domain = sl.Domain(np.sort(rng.uniform(size=n)), kernel)
    noise: float | Array = rng.uniform(0.1, 0.5, n) if unequal else 0.2
    places = rng.integers(n, size=12)
    gram = domain.gram(np.arange(n))
    truth = rng.multivariate_normal(np.zeros(n), gram + 1e-9 * np.eye(n))
    values = surprise * (truth[places] + 0.2 * rng.standard_normal(12))
    told = library.begin(domain, noise=noise).told(places[:5], values[:5]).told(places[5:], values[5:])
    assert isinstance(told.covariance, form)
    dense = Dense(kernel=gram, noise=told.noise, points=tuple(places.tolist()), values=values)
    half = WIDTH * told.deviation
    lower, upper = told.mean - half * rng.uniform(0.6, 1.2, n), told.mean + half * rng.uniform(0.6, 1.2, n)
    goal = sl.Threshold(LEVEL)
    view = View(
        goal=goal,
        phase=3,
        reading=reading(goal, rng.random(n) < 0.6),
        belief=GaussianBelief(
            problem=sl.Problem(domain, goal=goal, noise=noise),
            posterior=told,
            widths=Constant(value=WIDTH),
            counts=np.bincount(places, minlength=n),
            narrowest=Bounds(lower=lower, upper=upper),
        ),
        sizes=Growing(first=batch),
        seed=seed,
    )
    weights = np.bincount(places, minlength=n) / told.noise
    rough = np.zeros(n) if told.roughness == 0 else 1 / (1 / told.roughness + weights)
    return World(posterior=told, dense=dense, view=view, rough=rough)


Slow = Callable[[Dense, World], Array]
"""The scores (n,) once some points are planned."""


def ambiguity(dense: Dense, world: World) -> Array:
    """LSE: min(u - alpha, alpha - l) with intersected intervals, undecided points only."""
    scores = np.full(dense.n, -np.inf)
    for x in np.flatnonzero(world.view.undecided):
        upper = min(world.bounds.upper[x], dense.mean[x] + WIDTH * dense.deviation[x])
        lower = max(world.bounds.lower[x], dense.mean[x] - WIDTH * dense.deviation[x])
        scores[x] = min(upper - LEVEL, LEVEL - lower)
    return scores


def straddle(dense: Dense, world: World) -> Array:  # noqa: ARG001
    """1.96 sigma - |mu - alpha|: the usual form of the same minimum."""
    return np.asarray(1.96 * dense.deviation - np.abs(dense.mean - LEVEL))


def widest(dense: Dense, world: World) -> Array:
    upper = np.minimum(world.bounds.upper, dense.mean + WIDTH * dense.deviation)
    lower = np.maximum(world.bounds.lower, dense.mean - WIDTH * dense.deviation)
    return np.where(world.view.undecided, upper - lower, -np.inf)


def largest_variance(dense: Dense, world: World) -> Array:  # noqa: ARG001
    return dense.variance


def truvar(dense: Dense, world: World) -> Array:
    """The drop of the undecided points' summed variance, by refitting with every candidate."""
    chosen = world.view.undecided
    return np.array([(dense.variance - dense.after(x).variance)[chosen].sum() for x in range(dense.n)])


def rmile(dense: Dense, world: World) -> Array:
    """eq. 8 of the paper, term by term, over all n^2 of them."""
    scores = np.empty(dense.n)
    mean, variance, covariance = dense.mean, dense.variance, dense.covariance
    explore = 1e-6 / world.dense.deviation.max()
    for x in range(dense.n):
        gain = 0.0
        total = variance[x] + dense.noise[x]
        for j in range(dense.n):
            left = np.sqrt(variance[j] - covariance[j, x] ** 2 / total)
            steps = (mean[j] - WIDTH * left - LEVEL) * np.sqrt(total) / abs(covariance[j, x])
            gain += ndtr(steps) - (mean[j] - WIDTH * np.sqrt(variance[j]) > LEVEL)
        scores[x] = max(gain, explore * np.sqrt(variance[x]))
    return scores


def mislabelled(dense: Dense, world: World) -> Array:
    """The drop of the variance weighted by how close each point is to the level."""
    return _drop(closeness(world), dense, world)


def doubtful(dense: Dense, world: World) -> Array:
    """The relative drop, with the same weights."""
    return _drop(closeness(world) / (world.dense.variance + world.rough), dense, world)


def undeclared(dense: Dense, world: World) -> Array:
    """The relative drop of the variance of the points whose interval contains the level, before the batch.

    Where there is none, all points count.
    """
    total = world.dense.variance + world.rough
    contained = np.abs(world.dense.mean - LEVEL) < WIDTH * np.sqrt(total)
    return _drop((contained if contained.any() else 1.0) / total, dense, world)


def _drop(weights: Array, dense: Dense, world: World) -> Array:
    """The drop of the weighted variance; measuring x tells of its own rough part too, and of no other's."""
    rough = world.rough.copy()
    for x in dense.more:
        rough[x] = 1 / (1 / rough[x] + 1 / dense.noise[x]) if rough[x] else 0.0
    scores = np.empty(dense.n)
    for x in range(dense.n):
        shared = dense.covariance[:, x].copy()
        shared[x] += rough[x]
        scores[x] = weights @ shared**2 / (dense.variance[x] + rough[x] + dense.noise[x])
    return scores


def closeness(world: World) -> Array:
    """(1 + h^2)^-3, h = |mu - alpha| / s, s^2 = sigma^2 + rough, before the batch."""
    total = world.dense.variance + world.rough
    return np.asarray((1 + (world.dense.mean - LEVEL) ** 2 / total) ** -3.0)


def in_sequence(slow: Slow, world: World, cost: Array | float, count: int) -> list[int]:
    """The points of a batch, everything computed anew for each."""
    dense, chosen = world.dense, list[int]()
    for _ in range(count):
        scores = slow(dense, world)
        chosen.append(int(np.argmax(scores / cost)))
        dense = dense.after(chosen[-1])
    return chosen


def counted(points: list[int], n: int) -> Array:
    return np.bincount(points, minlength=n).astype(np.float64)


def everything(n: int) -> Mask:
    return np.ones(n, dtype=np.bool_)


@dataclass(frozen=True, kw_only=True, eq=False)
class Bare:
    """A belief of which a rule may ask for the problem and the features only."""

    problem: sl.Problem
    given: Features | None = None
    ridge: float = np.nan

    @cached_property
    def linear(self) -> LinearModel:
        assert self.given is not None
        return LinearModel(features=self.given, ridge=self.ridge, deviations=self.problem.deviations)

    @property
    def counts(self) -> Indices:
        return np.zeros(self.problem.domain.n, dtype=np.int64)


def bare_view(
    undecided: Mask,
    problem: sl.Problem | None = None,
    *,
    phase: int = 1,
    batch: int = 10,
    seed: int = 0,
    features: Features | None = None,
    ridge: float = np.nan,
) -> View:
    """For rules that look at what is undecided and at features, and at no posterior."""
    if problem is None:
        goal: Goal = sl.Threshold(0.0) if undecided.ndim == 1 else sl.FractionOfMax(0.2)
        problem = sl.Problem(sl.Domain(np.eye(len(undecided))), goal=goal, noise=1.0)
    known: Any = Bare(problem=problem, given=features, ridge=ridge)
    return View(
        goal=problem.goal,
        phase=phase,
        reading=reading(problem.goal, undecided),
        belief=known,
        sizes=Growing(first=batch),
        seed=seed,
    )
