"""Features in coordinates in which ||theta|| <= 1, for confidences that know a norm or a bound."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from superlevel.arrays import Array
from superlevel.domain import Domain
from superlevel.errors import InputError
from superlevel.features import Features, embed
from superlevel.linalg import squared_norms
from superlevel.problem import Problem

# What features may miss of the largest k(x, x), and how many there may be: what they miss is in the widths.
FEATURES = ((1e-10, 256), (1e-8, 1500))
LARGEST = 1e50
ROUNDING = 1e-10  # of the largest: singular values below are none
LEAST = 1e-5  # of the largest sigma, and of what f may reach: smaller ones are lost in rounding


@dataclass(frozen=True, kw_only=True, eq=False)
class Scale:
    """What a norm of 1 stands for in the features' coordinates."""

    name: str
    """norm or bound"""
    value: float


def check_sizes(problem: Problem) -> None:
    """Numbers whose fourth powers are numbers too."""
    sizes = {
        "norm": problem.norm,
        "bound": problem.bound,
        "noise": max(float(problem.deviations.max()), 1.0),  # what is small is taken for a little more
        "misspecification": max(problem.misspecification, 1.0),
        "tolerance": max(problem.tolerance, 1.0),
        "domain.kernel": float(np.sqrt(problem.domain.diagonal().max())),
    }
    for field, size in sizes.items():
        if size and not 1 / LARGEST <= size <= LARGEST:
            remedy = f"rescale the measurements: give between {1 / LARGEST:g} and {LARGEST:g}"
            raise InputError(f"problem.{field}", size, remedy)


def unit_features(problem: Problem) -> tuple[Features, Scale]:
    """Features of the points in coordinates with ||theta|| <= 1, in as few as the points span."""
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
    different = len(np.unique(domain.points, axis=0))
    if domain.kernel is not None and found.rank < different and not problem.misspecification:
        got = f"{problem.bound:g} without a norm"
        remedy = (
            f"it does not limit what {found.rank:,} features of this kernel miss of f at {different:,} points: give a "
            "norm, or a misspecification that limits it"
        )
        raise InputError("problem.bound", got, remedy)
    # |<theta, phi>| <= B + h makes its mean square over the points at most that squared: a ball in these coordinates.
    left, sizes, _ = np.linalg.svd(found.array, full_matrices=False)
    rank = max(1, int(np.count_nonzero(sizes > ROUNDING * sizes[0])))  # one of zeros, where all features are
    array = left[:, :rank] * (np.sqrt(domain.n) * (problem.bound + problem.misspecification) * (sizes[:rank] > 0))
    whole = replace(found, array=np.ascontiguousarray(array), residuals=np.zeros(domain.n))
    return whole, Scale(name="bound", value=problem.bound)


def features_everywhere(problem: Problem, own: Features) -> Features:
    """Features of the points and, after them, of the places elsewhere; ``own`` are those of the points.

    With a norm they are those that the points and the places span together: other places, other coordinates. The ball
    of a bound is made from the points, whatever was measured elsewhere, and says nothing of what they do not span.
    """
    if not len(problem.domain.elsewhere):
        return own
    if problem.norm is not None:
        return unit_features(problem.everywhere)[0]
    points = problem.domain.points
    beside = problem.domain.everywhere.points[len(points) :]
    shares = beside @ np.linalg.pinv(points)
    if problem.domain.kernel is not None or not np.allclose(shares @ points, beside):
        got = "with places that the features of the points do not span"
        raise InputError("elsewhere", got, "give a norm: a bound without one says nothing of them")
    return replace(
        own,
        array=np.concatenate([own.array, shares @ own.array]),
        residuals=np.zeros(len(points) + len(beside)),
    )


def _embedded(domain: Domain) -> Features:
    """As exact as can be with few features, or else nearly so with more."""
    largest = float(domain.diagonal().max())
    for missed, rank in FEATURES:
        found = embed(domain.kernel, domain.points, tol=missed * largest, max_rank=min(domain.n, rank))
        if found.residual <= missed * largest:
            break
    return found


def smallest(features: Features, deviations: Array, n: int) -> Array:
    """(n + m,) the least sigma to compute with at each place; noise that is less is sub-Gaussian with this one too.

    It must be known before a measurement. So places after the first n, which may be added later, have their own.
    """
    reaches = np.sqrt(squared_norms(features.array) + features.residuals)
    found = LEAST * np.maximum(reaches, max(float(deviations.max()), float(reaches[:n].max())))
    return np.where(found > 0, found, 1.0)


def turned(points: Array) -> Array:
    """The points in orthonormal coordinates of their span, (n, rank): a ridge sees lengths and angles only."""
    _, sizes, axes = np.linalg.svd(points, full_matrices=False)
    rank = int(np.count_nonzero(sizes > max(points.shape) * np.finfo(float).eps * sizes[0]))
    return points if rank in {0, points.shape[1]} else points @ axes[:rank].T
