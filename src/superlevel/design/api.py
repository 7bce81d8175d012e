"""`solve`: one way in, whatever the arms, the targets and the method."""

from __future__ import annotations

from typing import TypeAlias

from numpy.typing import ArrayLike

from superlevel.arrays import as_number
from superlevel.costs import announce
from superlevel.design.average import average_problem
from superlevel.design.frank_wolfe import FrankWolfe
from superlevel.design.interior import InteriorPoint
from superlevel.design.problem import design_problem
from superlevel.design.result import Design, Watch
from superlevel.design.targets import AnyTargets, Dual
from superlevel.errors import InputError
from superlevel.features import Features
from superlevel.one_thread import one_thread
from superlevel.streamed import Streamed

Method: TypeAlias = InteriorPoint | FrankWolfe


@one_thread
def solve(
    arms: ArrayLike | Features | Streamed,
    targets: AnyTargets | ArrayLike | None = None,
    *,
    ridge: float,
    rtol: float = 0.01,
    mixture: Dual | None = None,
    method: Method | None = None,
    start: Design | None = None,
    watch: Watch | None = None,
) -> Design:
    """The distribution lambda on the arms with the smallest max_v v' A(lambda)^-1 v, and a proof.

        A(lambda) = sum_i lambda_i phi_i phi_i' + ridge I

    ``arms`` are rows (n, r), or `Features`, whose residual is then part of the certificate: the bound holds for the
    true kernel, and so does the value. ``targets`` are rows (p, r), a `Subset` of the arms, `Pairs` of arms, or None
    for all arms; each kind takes a mask and positive scales. ``ridge`` may be 0 where the arms reach every target.

    For millions of points ``arms`` are `Streamed` features, as `superlevel.features.stream` returns them. Value and
    bound are then computed in passes over all points. They need a ridge > 0 and targets other than `Pairs`.

    With a ``mixture`` w of the targets, weights that are not negative and need no sum, the average sum_v w_v v' A^-1 v
    takes the place of the largest, in the value and in the bound. Its shape is (p,) for rows, (n,) for a subset of n
    arms and (n, n) for pairs, dense or sparse; weights of targets that are masked out are ignored. The design's dual
    is then this mixture with sum 1.

    The answer is within ``rtol`` of the best there is, value <= (1 + rtol) lower_bound, or its status says why not.
    ``start`` continues from another design on the same arms, with targets of the same shape; targets that are masked
    out now are forgotten. ``watch`` is called with the best design so far after each look at the whole problem.

    >>> import numpy as np
    >>> design = solve(np.eye(3), ridge=0)     # Kiefer and Wolfowitz: the value is the rank
    >>> round(design.value, 2), design.status.value
    (3.0, 'certified')
    >>> average = solve(np.eye(3), ridge=0, mixture=[4, 1, 1])     # weights in proportion to the roots
    >>> average.weights.round(2).tolist(), average.dual.round(2).tolist()
    ([0.5, 0.25, 0.25], [0.67, 0.17, 0.17])
    """
    problem = design_problem(arms, targets, ridge=ridge)
    rtol = as_number("rtol", rtol, above=0)
    if not isinstance(start, Design | None):
        raise InputError("start", f"a {type(start).__name__}", "give a Design, as solve returns it")
    if not isinstance(method, InteriorPoint | FrankWolfe | None):
        raise InputError("method", repr(method), "give InteriorPoint() or FrankWolfe()")
    if start is not None and start.weights.shape != (problem.arms.shape[0],):
        raise InputError("start", f"for {len(start.weights)} arms", f"give a design for {problem.arms.shape[0]}")
    chosen = InteriorPoint() if method is None else method
    count, rank = problem.arms.shape
    what = f"the steps of an optimal design for {count:,} arms with {rank:,} features"
    announce("arms", what, chosen.cost(problem), instead="give fewer arms, or a kernel with fewer features")
    asked = problem if mixture is None else average_problem(problem, mixture)
    design = chosen.run(asked, rtol=rtol, start=start, watch=watch)
    if design.value <= design.truncation:
        raise InputError("targets", "zero everywhere", "give one that is not: their values are known without measuring")
    return design
