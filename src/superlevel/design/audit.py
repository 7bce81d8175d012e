"""Value and bound of a design, recomputed from weights and mixture alone, without any solver."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError

from superlevel.arrays import Array, as_weights, normalised
from superlevel.design.average import average_problem
from superlevel.design.certificate import Proof, evaluate
from superlevel.design.problem import DesignProblem, design_problem
from superlevel.design.targets import AnyTargets, Dual, from_dual
from superlevel.errors import InputError
from superlevel.features import Features
from superlevel.streamed import Streamed

NEARBY = 0.001  # uniform part of the design that proves a bound where the given one does not reach everything


class Review(NamedTuple):
    """What a design is worth."""

    value: float
    """max_v v' A^-1 v, or the average over a mixture, with what the features miss.

    It is infinite if there is no ridge and the arms with a weight do not span all arms.
    """
    lower_bound: float
    """No distribution on the arms has a smaller value."""


def review(
    arms: ArrayLike | Features | Streamed,
    targets: AnyTargets | ArrayLike | None,
    weights: ArrayLike,
    dual: Dual,
    *,
    ridge: float,
    mixture: Dual | None = None,
) -> Review:
    """The value of a design and the lower bound that it proves together with a dual, by one factorisation.

    Arms, targets, ridge and mixture are those of `superlevel.design.solve`; ``weights`` (n,) and ``dual`` are a
    design's. With a ``mixture`` both numbers are for the average over it. The mixture then proves the bound itself, and
    ``dual`` is not used: a bound from another mixture would be one for another average.

    >>> review(np.eye(4), None, np.full(4, 0.25), np.full(4, 0.25), ridge=0)
    Review(value=4.0, lower_bound=4.0)
    """
    return _review(design_problem(arms, targets, ridge=ridge), weights, dual, mixture)


def certify(
    arms: ArrayLike | Features | Streamed,
    targets: AnyTargets | ArrayLike | None,
    weights: ArrayLike,
    dual: Dual,
    *,
    ridge: float,
) -> float:
    """The lower bound that a design and a mixture prove, recomputed from nothing but them.

    Every design on these arms has a target with v' A^-1 v at least this large.
    """
    return review(arms, targets, weights, dual, ridge=ridge).lower_bound


def _review(problem: DesignProblem, weights: ArrayLike, dual: Dual, mixture: Dual | None) -> Review:
    design = as_weights("weights", weights, problem.arms.shape[0])
    prove: Callable[[Array], Proof]
    if mixture is not None:
        prove = average_problem(problem, mixture).evaluate
    else:
        positions, shares = from_dual(problem.targets, dual)
        if not len(positions):
            raise InputError("dual", "zero on every target", "give a mixture of targets")
        prove = partial(evaluate, problem, positions=positions, mixture=normalised(shares))
    try:
        seen = prove(design)
        return Review(value=seen.value, lower_bound=seen.lower_bound)
    except LinAlgError:
        # A bound that is proved at any design holds for all: take one nearby that reaches everything.
        near = prove((1 - NEARBY) * design + NEARBY / len(design))
        return Review(value=np.inf, lower_bound=near.lower_bound)
