"""H of MELK and MILK: closed forms, a cone solver, monotonicity, and (ST)^2 on independent arms."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.gaussian_process.kernels import RBF

from superlevel.bounds import explicit, melk, milk, milk_sharp, st2
from superlevel.design import Pairs, Status, certify
from superlevel.domain import Domain
from superlevel.errors import InputError

from .oracle import Array, design_optimum, normal

POINTS, THETA = normal(0, 7, 3), np.array([1.0, -0.5, 0.3])
VALUES = POINTS @ THETA


def scaled_pairs(points: Array, epsilon: float, scales: Array) -> Array:
    """(n * n, r) directions of pairs divided by their scales, written out."""
    rows = points[:, None, :] - (1 - epsilon) * points
    return np.asarray((rows / scales[:, :, None]).reshape(-1, points.shape[1]))


def printed_scales(values: Array, epsilon: float, tolerance: float) -> Array:
    """One loop for each line of the theorem."""
    n, top = len(values), int(values.argmax())
    scales = np.empty((n, n))
    for x in range(n):
        for y in range(n):
            inside = values[x] > (1 - epsilon) * values[top]
            gap = values[x] - (1 - epsilon) * values[y if inside else top]
            scales[x, y] = max(abs(gap), tolerance)
    return scales


def sharp_scales(values: Array, epsilon: float, tolerance: float) -> Array:
    """Until when each pair can be active: its own gap, and those of its points with x* if they will be put out."""
    n, level = len(values), (1 - epsilon) * values.max()
    scales = np.empty((n, n))
    for x in range(n):
        for y in range(n):
            reasons = [abs(values[x] - (1 - epsilon) * values[y]), tolerance]
            reasons += [level - values[z] for z in (x, y) if values[z] <= level]
            scales[x, y] = max(reasons)
    return scales


# ----------------------------------------------------------------------------------- two roads each


@pytest.mark.parametrize(("tolerance", "ridge"), [(0.0, 0.0), (0.2, 0.0), (0.2, 0.1)])
def test_melk_by_a_cone_solver(tolerance: float, ridge: float) -> None:
    found = melk(Domain(POINTS), VALUES, threshold=0.1, tolerance=tolerance, ridge=ridge, rtol=1e-5)
    rows = POINTS / np.maximum(np.abs(VALUES - 0.1), tolerance)[:, None]
    optimum = design_optimum(POINTS, rows, ridge)
    assert found.design.status is Status.CERTIFIED
    assert found.lower_bound <= optimum * (1 + 1e-5)
    assert found.value == pytest.approx(optimum, rel=3e-5)
    assert found.gap <= 1e-5


def test_melk_without_a_tolerance_is_the_lower_bound_s_h() -> None:
    found = melk(Domain(POINTS), VALUES, threshold=0.1)
    bound = explicit(Domain(POINTS), VALUES, threshold=0.1, noise=1.0)
    assert (found.value, found.lower_bound) == (bound.complexity, bound.lower_bound)


@pytest.mark.parametrize(("tolerance", "ridge"), [(0.0, 0.0), (0.3, 0.0), (0.3, 0.05)])
@pytest.mark.parametrize(("function", "scales"), [(milk, printed_scales), (milk_sharp, sharp_scales)])
def test_milk_by_a_cone_solver(function: Any, scales: Any, tolerance: float, ridge: float) -> None:
    found = function(Domain(POINTS), VALUES, epsilon=0.4, tolerance=tolerance, ridge=ridge, rtol=1e-4)
    rows = scaled_pairs(POINTS, 0.4, scales(VALUES, 0.4, tolerance))
    optimum = design_optimum(POINTS, rows, ridge)
    assert found.lower_bound <= optimum * (1 + 1e-5)
    assert found.value == pytest.approx(optimum, rel=2e-4)


def test_the_bound_can_be_checked_without_a_solver() -> None:
    found = milk(Domain(POINTS), VALUES, epsilon=0.4)
    targets = Pairs(0.4, scales=printed_scales(VALUES, 0.4, 0.0))
    assert certify(POINTS, targets, found.weights, found.design.dual, ridge=0) == pytest.approx(
        found.lower_bound, rel=1e-9
    )


# ------------------------------------------------------------------------------------- properties


@pytest.mark.parametrize("kernel", [None, RBF(1.0)])
def test_tolerance_and_ridge_only_lower_it(kernel: Any) -> None:
    domain = Domain(POINTS, kernel)
    for function, level in ((melk, {"threshold": 0.1}), (milk, {"epsilon": 0.4}), (milk_sharp, {"epsilon": 0.4})):
        for name, steps in (("tolerance", [0.0, 0.05, 0.4, 3.0]), ("ridge", [1e-6, 1e-3, 0.1, 10.0])):
            found = [function(domain, VALUES, rtol=1e-3, **level, **{name: step}) for step in steps]
            assert all(more.lower_bound <= less.value * (1 + 1e-9) for less, more in pairwise(found))
            assert found[-1].value < found[0].lower_bound


def test_the_sharp_one_is_never_above_the_printed_one() -> None:
    for seed in range(6):
        points = normal(seed, 9, 3)
        values = points @ normal(seed + 20, 3)
        epsilon = 0.1 + 0.15 * seed
        sharp, printed = (each(Domain(points), np.abs(values), epsilon=epsilon) for each in (milk_sharp, milk))
        assert sharp.lower_bound <= printed.value


def test_a_direction_at_its_level_is_infinite_until_a_tolerance_ends_it() -> None:
    domain, values = Domain(np.eye(3)), np.array([1.0, 0.5, 0.2])
    for tied in (melk(domain, values, threshold=0.5), milk(domain, values, epsilon=0.5)):
        assert tied.value == tied.lower_bound == np.inf
        assert tied.gap == 0.0
    assert melk(domain, values, threshold=0.5).weights[1] == pytest.approx(1, abs=0.02)
    ended = melk(domain, values, threshold=0.5, tolerance=0.1, rtol=1e-5)
    assert ended.value == pytest.approx(4 + 100 + 1 / 0.09, rel=1e-4)
    assert np.isfinite(milk(domain, values, epsilon=0.5, tolerance=0.1).value)


# ------------------------------------------------------------------------------------------ (ST)^2


def st2_by_its_definition(values: Array, epsilon: float) -> float:
    top, share = values.max(), 1 - epsilon
    inside = values > share * top
    alpha = (values[inside] - share * top).min()
    total = 0.0
    for value in values:
        terms = [(share * top - value) ** -2.0, (top + alpha / share - value) ** -2.0]
        if not inside.all():
            beta = (share * top - values[~inside]).min()
            terms.append((top + beta / share - value) ** -2.0)
        total += max(terms)
    return float(total)


ARMS = hnp.arrays(np.float64, st.integers(1, 9), elements=st.floats(-2.0, 2.0))


@given(ARMS, st.floats(0.05, 0.95))
def test_st2_is_what_mason_et_al_define(values: Array, epsilon: float) -> None:
    assume(values.max() > 0.01)
    assume(np.abs(values - (1 - epsilon) * values.max()).min() > 1e-6)
    assert st2(values, epsilon) == pytest.approx(st2_by_its_definition(values, epsilon), rel=1e-9)


@given(ARMS, st.floats(0.5, 0.95))
@settings(max_examples=40)
def test_on_independent_arms_the_sharp_h_is_that_of_st2(values: Array, epsilon: float) -> None:
    """Between eps^2 and 10 times it; the head of `superlevel.bounds.unstructured` has the proof."""
    assume(values.max() > 0.1)
    assume(np.abs(values - (1 - epsilon) * values.max()).min() > 1e-2)
    reference, domain = st2(values, epsilon), Domain(np.eye(len(values)))
    sharp, printed = (each(domain, values, epsilon=epsilon) for each in (milk_sharp, milk))
    assert sharp.value >= epsilon**2 * reference * (1 - 1e-9)
    assert sharp.lower_bound <= 10 * reference * (1 + 1e-9)
    assert printed.value >= epsilon**2 * reference * (1 - 1e-9)


@pytest.mark.parametrize("far", [5, 20, 60])
def test_the_printed_h_is_not_that_of_st2(far: int) -> None:
    """Arms at 0 are far below 0.5 and easily out, but pairs (x, x') of x = 0.49 ask for each of them to within 0.01.

    Such a pair costs at least (1-eps)^2 / lambda_j / 0.01^2, and the lambda_j of the far arms add up to at most 1. In
    (ST)^2 each of them is worth 1 / 0.5^2, the others 1 / 0.01^2 and 1 / 0.02^2.
    """
    values = np.concatenate([[1.0, 0.49], np.zeros(far)])
    reference, domain = st2(values, 0.5), Domain(np.eye(far + 2))
    sharp, printed = (each(domain, values, epsilon=0.5) for each in (milk_sharp, milk))
    assert printed.lower_bound >= 0.25 * far / 0.01**2
    assert reference == pytest.approx(1 / 0.01**2 + 1 / 0.02**2 + 4 * far)
    assert printed.lower_bound > 0.19 * far * reference
    assert sharp.value < 10 * reference


def test_arms_at_the_level_have_no_complexity() -> None:
    assert st2([1.0, 0.5], 0.5) == np.inf
    assert st2([2.0], 0.5) == 1.0


# --------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: milk(Domain(np.eye(2)), [0.0, -1.0], epsilon=0.5), "values is at most 0: give values with a positive"),
        (lambda: milk_sharp(Domain(np.eye(2)), [-1.0, -1.0], epsilon=0.5), "values is at most -1: give values with"),
        (lambda: milk(Domain(np.eye(2)), [1.0, 0.0], epsilon=0.0), "epsilon is 0.0: give a number > 0"),
        (lambda: melk(Domain(np.eye(2)), [1.0, 0.0], threshold=0.3, tolerance=-1), "tolerance is -1: give a number >="),
        (lambda: melk(Domain(np.eye(2)), [1.0], threshold=0.3), "values is of shape (1,): give shape (2,)"),
        (lambda: st2([-1.0, -2.0], 0.5), "values is at most -1: give values with a positive maximum"),
        (lambda: st2([], 0.5), "values is of shape (0,): give one value for each arm"),
        (lambda: st2([[1.0]], 0.5), "values is of shape (1, 1): give one value for each arm"),
        (lambda: st2([1.0, np.nan], 0.5), "values[1] is nan: give finite numbers"),
    ],
)
def test_what_cannot_be_used_is_named(call: Any, sentence: str) -> None:
    with pytest.raises(InputError, match="^" + re.escape(sentence)):
        call()
