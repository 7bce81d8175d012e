"""MELK and MILK on the ridge confidence: guarantees that hold at every moment, in batches that grow."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from superlevel.arrays import Array
from superlevel.confidence.ridge import Ridge, Scale, smallest
from superlevel.domain import Domain
from superlevel.errors import InputError
from superlevel.features import Features, embed
from superlevel.goals import FractionOfMax
from superlevel.methods.batches import PAIRS
from superlevel.methods.loop import Method
from superlevel.methods.rounds import turned
from superlevel.problem import Problem
from superlevel.records import Growing
from superlevel.rules.gap_weighted import GapWeighted
from superlevel.rules.design import unknown, worth

BUDGET = 10**7  # measurements of a simulation that has no other budget
# What features may miss of the largest k(x, x), and how many there may be: what they miss is in the widths.
FEATURES = ((1e-10, 256), (1e-8, 1500))
LARGEST = 1e50
ROUNDING = 1e-10  # of the largest: singular values below are none


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a method works on the ridge confidence."""

    batch: int
    """Measurements of the first phase."""
    growth: float
    """Each phase has that many times as many as the one before."""
    permanent: bool
    rtol: float


def on_ridge(name: str, problem: Problem, options: Options) -> Method:
    """The method, with everything checked."""
    n, goal = problem.domain.n, problem.goal
    if isinstance(goal, FractionOfMax) and n > PAIRS:
        remedy = f"milk looks at all pairs: give at most {PAIRS:,} points, or take truvar or lse-imp"
        raise InputError("problem.domain", f"of {n:,} points", remedy)
    _check_sizes(problem)
    features, scale = unit_features(problem)
    deviations = _deviations(problem, features)
    # Pairs are made of arms, so that arms of unequal worth would make other pairs: all count alike there.
    alike = isinstance(goal, FractionOfMax)
    cost = np.ones(n) if alike else np.broadcast_to(np.asarray(problem.cost, dtype=np.float64), (n,))
    differing = None if alike else worth(deviations, cost, n)
    return Method(
        name=name,
        problem=problem,
        reader=goal,
        rule=GapWeighted(
            goal=goal,
            features=features,
            reached=unknown(goal, features),
            effort=float((deviations**2 * cost).min()),
            cost=cost,
            tolerance=problem.tolerance,
            rtol=options.rtol,
            worth=differing,
        ),
        sizes=Growing(first=options.batch, growth=options.growth),
        confidence=Ridge(
            goal=goal,
            features=features,
            scale=scale,
            deviations=deviations,
            misses=problem.misspecification + np.sqrt(features.residuals),
            mean=problem.mean,
            bound=problem.bound,
            delta=problem.delta,
            tolerance=problem.tolerance,
        ),
        permanent=options.permanent,
        options=("ridge", options),
        budget=BUDGET,
    )


def _check_sizes(problem: Problem) -> None:
    """Numbers whose fourth powers are numbers too."""
    sizes = {
        "norm": problem.norm,
        "bound": problem.bound,
        "noise": max(float(np.max(problem.noise)), 1.0),  # what is small is taken for a little more
        "misspecification": max(problem.misspecification, 1.0),
        "tolerance": max(problem.tolerance, 1.0),
        "domain.kernel": float(np.sqrt(problem.domain.diagonal().max())),
    }
    for field, size in sizes.items():
        if size and not 1 / LARGEST <= size <= LARGEST:
            remedy = f"rescale the measurements: give between {1 / LARGEST:g} and {LARGEST:g}"
            raise InputError(f"problem.{field}", size, remedy)


def unit_features(problem: Problem) -> tuple[Features, Scale]:
    """Features in coordinates with ||theta|| <= 1, in as few as the points span."""
    domain, norm = problem.domain, problem.norm
    found = embed(None, turned(domain.points)) if domain.kernel is None else _embedded(domain)
    if norm is not None:
        scale = Scale(name="norm", value=norm)
        return replace(found, array=found.array * norm, residuals=found.residuals * norm**2), scale
    if problem.bound is None:
        remedy = "the ridge confidence needs S with ||theta|| <= S, or a bound B with |f(x) - mean| <= B"
        raise InputError("problem.norm", None, remedy)
    if found.residual > FEATURES[-1][0] * float(domain.diagonal().max()):
        remedy = f"{found.rank:,} features leave out too much of this kernel for a bound alone: give a norm as well"
        raise InputError("problem.norm", None, remedy)
    # |<theta, phi>| <= B + h makes its mean square over the points at most that squared: a ball in these coordinates.
    left, sizes, _ = np.linalg.svd(found.array, full_matrices=False)
    rank = max(1, int(np.count_nonzero(sizes > ROUNDING * sizes[0])))  # one of zeros, where all features are
    array = left[:, :rank] * (np.sqrt(domain.n) * (problem.bound + problem.misspecification) * (sizes[:rank] > 0))
    whole = replace(found, array=np.ascontiguousarray(array), residuals=np.zeros(domain.n))
    return whole, Scale(name="bound", value=problem.bound)


def _embedded(domain: Domain) -> Features:
    """As exact as can be with few features, or else nearly so with more."""
    largest = float(domain.diagonal().max())
    for missed, rank in FEATURES:
        found = embed(domain.kernel, domain.points, tol=missed * largest, max_rank=min(domain.n, rank))
        if found.residual <= missed * largest:
            break
    return found


def _deviations(problem: Problem, features: Features) -> Array:
    """(n,) sigma, where none is too small to compute with: noise is also sub-Gaussian with any larger one."""
    given = np.broadcast_to(np.asarray(problem.noise, dtype=np.float64), (problem.domain.n,))
    return np.maximum(given, smallest(features, given))
