"""The lower bound for a fraction of the maximum, exact and as printed."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from sklearn.gaussian_process.kernels import RBF

from superlevel.bounds import ImplicitBound, implicit, implicit_printed
from superlevel.bounds.alternatives import shortest
from superlevel.design import Status
from superlevel.domain import Domain
from superlevel.errors import InputError

from .oracle import Array, benchmark, design_optimum, implicit_optimum, nearest_on_a_grid, normal

LOG = np.log(1 / 0.24)


def linear(seed: int, n: int, r: int, *, shift: float = 0.0) -> tuple[Array, Array]:
    """Points (n, r) and the values of a random theta with a positive maximum."""
    points, theta = normal(seed, n, r) + shift, normal(seed + 1000, r)
    values = points @ theta
    return points, values if values.max() > 0 else -values


def proved(bound: ImplicitBound, values: Array, *, loudness: Array | float = 1.0, ridge: float = 0.0) -> float:
    """The bound that the alternatives prove, from their definition."""
    known = bound.alternatives
    table = (loudness * (known.functions - values)) ** 2 + ridge * known.norms[:, None]
    return float(1 / (known.mixture @ table).max())


def members(values: Array, epsilon: float) -> NDArray[np.bool_]:
    return np.asarray(values > (1 - epsilon) * float(values.max()))


# --------------------------------------------------------------------------------- other solvers


@pytest.mark.parametrize(
    ("seed", "n", "r", "epsilon"),
    [(0, 5, 2, 0.3), (1, 7, 3, 0.5), (2, 8, 2, 0.1), (3, 6, 4, 0.8), (4, 4, 1, 0.4), (5, 9, 3, 0.2), (6, 1, 2, 0.5)],
)
@pytest.mark.parametrize("unequal", [False, True])
def test_a_cone_solver_finds_the_same(seed: int, n: int, r: int, epsilon: float, unequal: bool) -> None:
    points, values = linear(seed, n, min(n, r))
    noise = np.random.default_rng(seed).uniform(0.5, 2, size=n) if unequal else np.ones(n)
    loudness = noise.max() / noise
    bound = implicit(Domain(points), values, epsilon=epsilon, noise=noise, rtol=1e-4)
    optimum = implicit_optimum(points, values, epsilon, loudness=loudness, unit=bound.complexity)
    assert bound.status is Status.CERTIFIED
    assert bound.lower_bound <= optimum * (1 + 1e-5)
    assert bound.complexity >= optimum * (1 - 1e-5)
    assert bound.gap <= 1e-4
    assert bound.samples == pytest.approx(2 * noise.max() ** 2 * LOG * bound.lower_bound, rel=1e-12)
    assert proved(bound, values, loudness=loudness) == pytest.approx(bound.lower_bound, rel=1e-6)


def test_with_a_ridge_too() -> None:
    points, values = linear(7, 6, 3)
    bound = implicit(Domain(points), values, epsilon=0.4, noise=1.0, ridge=0.2, rtol=1e-4)
    optimum = implicit_optimum(points, values, 0.4, ridge=0.2, unit=bound.complexity)
    assert bound.lower_bound <= optimum * (1 + 1e-5)
    assert bound.complexity == pytest.approx(optimum, rel=1.1e-4)
    assert proved(bound, values, ridge=0.2) == pytest.approx(bound.lower_bound, rel=1e-6)


@pytest.mark.parametrize(("seed", "epsilon"), [(0, 0.3), (1, 0.5), (2, 0.2), (3, 0.6)])
def test_a_grid_finds_the_same_nearest_function(seed: int, epsilon: float) -> None:
    """At the bound's own weights, all theta' of a fine grid: no theory at all."""
    points, values = linear(seed, 5, 2)
    bound = implicit(Domain(points), values, epsilon=epsilon, noise=1.0, rtol=1e-3)
    changes = np.abs(np.linalg.lstsq(points, (bound.alternatives.functions - values).T, rcond=None)[0]).max()
    found = nearest_on_a_grid(points, values, epsilon, bound.weights, reach=3 * float(changes), steps=1201)
    # A grid finds nothing nearer than there is, and its spacing loses a few parts in a thousand.
    assert found <= bound.complexity * (1 + 1e-9)
    assert found == pytest.approx(bound.complexity, rel=0.03)


@given(st.integers(0, 10_000), st.integers(1, 12), st.integers(1, 5), st.sampled_from([0.05, 0.3, 0.5, 0.9]))
@settings(max_examples=60)
def test_the_proof_is_a_proof(seed: int, n: int, r: int, epsilon: float) -> None:
    points, values = linear(seed, n, r)
    bound = implicit(Domain(points), values, epsilon=epsilon, noise=1.0)
    assert bound.status is Status.CERTIFIED
    assert proved(bound, values) >= bound.lower_bound
    known = bound.alternatives
    assert known.mixture.sum() == pytest.approx(1)
    for other in known.functions:  # linear, and with a point that is on the border to the other side
        missed = points @ np.linalg.lstsq(points, other, rcond=None)[0] - other
        assert np.abs(missed).max() <= 1e-7 * np.abs(values).max()
        margin = other - (1 - epsilon) * other.max()
        inside = members(values, epsilon)
        slack = 1e-7 * np.abs(values).max()
        assert (margin[inside] <= slack).any() or (margin[~inside] >= -slack).any()


def test_a_mean_shifts_the_directions() -> None:
    """f = 0.5 + theta, on independent points: gaps are those of the values, and the cone solver knows nothing else."""
    values = np.array([1.0, 0.8, 0.2, -0.1])
    bound = implicit(Domain(np.eye(4)), values, epsilon=0.5, noise=1.0, mean=0.5, rtol=1e-4)
    assert bound.complexity == pytest.approx(implicit_optimum(np.eye(4), values, 0.5), rel=1e-3)


def test_the_benchmark_of_the_paper() -> None:
    points, values = benchmark()
    bound = implicit(Domain(points), values, epsilon=0.5, noise=1.0)
    assert bound.samples == pytest.approx(255.4, abs=1)
    assert bound.samples < 372  # an unknown level, and yet: x' = e_1 is an obstacle that is known better than 0.5 e_1


def test_a_kernel_on_a_grid() -> None:
    side = np.arange(10) / 10
    points = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    values = 1 + np.sin(5 * points[:, 0]) * np.cos(3 * points[:, 1])
    domain = Domain(points, RBF(0.3))
    small, large = (implicit(domain, values, epsilon=0.2, noise=1.0, ridge=ridge) for ridge in (1e-4, 1e-2))
    assert small.status is large.status is Status.CERTIFIED
    assert large.complexity < small.lower_bound  # a ridge lowers the bound
    assert proved(small, values, ridge=1e-4) == pytest.approx(small.lower_bound, rel=1e-6)


# ----------------------------------------------------------------------------- what needs no data


def test_a_point_in_the_shrunken_hull_is_never_above() -> None:
    """(0.49, 0) is below an average of half of the other two, whatever theta is: it costs nothing.

    One half-space alone would ask for ||(-0.01, 0.5)||^2 / 0.01^2 in the norm of A^-1, and the trace of A is 2 at most.
    There the printed argument goes wrong.
    """
    points = np.array([[1.0, 1.0], [1.0, -1.0], [0.49, 0.0]])
    with_it = implicit(Domain(points), points[:, 0], epsilon=0.5, noise=1.0, rtol=1e-5)
    without = implicit(Domain(points[:2]), points[:2, 0], epsilon=0.5, noise=1.0, rtol=1e-5)
    assert with_it.complexity == pytest.approx(without.complexity, rel=1e-4)
    assert with_it.complexity == pytest.approx(10, rel=1e-4)  # ((1-eps)^2/A_1 + (2-eps)^2/A_2)/eps^2 at A = I
    alone = np.array([-0.01, -0.5]) @ np.array([-0.01, -0.5]) / 2 / 0.01**2
    assert alone > 1000


def test_a_positive_mean_opens_the_hull() -> None:
    """With f = 1 + theta' x every point can be above half of the maximum: theta = 0 does it."""
    points = np.array([[1.0, 1.0], [1.0, -1.0], [0.3, 0.0]])
    values = 1 + points @ [4.0, 0.0]
    assert values[2] < 0.5 * values.max()
    bound = implicit(Domain(points), values, epsilon=0.5, noise=1.0, mean=1.0, rtol=1e-4)
    assert bound.complexity == pytest.approx(implicit_optimum(points, values, 0.5), rel=1e-3)


def test_zero_features_are_known() -> None:
    points = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    bound = implicit(Domain(points), [1.0, 0.0, 0.7], epsilon=0.5, noise=1.0, rtol=1e-5)
    fewer = implicit(Domain(np.eye(2)), [1.0, 0.7], epsilon=0.5, noise=1.0, rtol=1e-5)
    assert bound.complexity == pytest.approx(fewer.complexity, rel=1e-4)


def test_a_point_at_the_level_takes_for_ever() -> None:
    bound = implicit(Domain(np.eye(3)), [1.0, 0.5, 0.0], epsilon=0.5, noise=1.0)
    assert bound.samples == bound.complexity == np.inf
    assert bound.gap == 0.0
    np.testing.assert_array_equal(bound.alternatives.functions, [[1.0, 0.5, 0.0]])
    # All effort goes to e_2 and half as much to e_1: 1/lambda_2 + 0.25/lambda_1 is least at 2 : 1.
    np.testing.assert_allclose(bound.weights, [1 / 3, 2 / 3, 0], atol=0.02)


def test_a_point_that_is_half_of_the_best_one_is_no_tie() -> None:
    bound = implicit(Domain([1.0, 0.5]), [1.0, 0.5], epsilon=0.5, noise=1.0, rtol=1e-5)
    assert bound.complexity == pytest.approx(1.0, rel=1e-4)  # only that f(1) > 0 must be found: 1 / 1^2


@pytest.mark.parametrize("delta", [0.42, 0.9])
def test_never_negative(delta: float) -> None:
    assert implicit(Domain(np.eye(2)), [1.0, 0.1], epsilon=0.5, noise=1.0, delta=delta).samples == 0.0


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"values": [0.0, -1.0, -2.0]}, "values is at most 0: give values with a positive maximum"),
        ({"values": [0.0, 0.0, 0.0]}, "values is at most 0: give values with a positive maximum"),
        ({"epsilon": 1.0}, "epsilon is 1.0: give a number > 0 and < 1"),
        ({"values": [1.0, 2.0]}, "values is of shape (2,): give shape (3,)"),
        ({"mean": np.nan}, "mean is nan: give a finite number"),
        ({"noise": [0.0, 1.0, 1.0]}, "noise[0] is 0.0: give standard deviations > 0"),
        (
            {"domain": Domain([1.0, 2.0, 3.0]), "values": [1.0, 2.0, 2.0]},
            "values is not linear in the points by 0.2 of its length: give values = mean + points @ theta",
        ),
    ],
)
@pytest.mark.parametrize("function", [implicit, implicit_printed])
def test_what_cannot_be_used_is_named(function: Any, changes: dict[str, Any], sentence: str) -> None:
    given_: dict[str, Any] = {
        "domain": Domain(np.eye(3)),
        "values": [1.0, 0.3, 0.2],
        "epsilon": 0.5,
        "noise": 1.0,
        **changes,
    }
    with pytest.raises(InputError, match="^" + re.escape(sentence)):
        function(given_.pop("domain"), given_.pop("values"), **given_)


# ------------------------------------------------------------------------------------ projections


@given(st.integers(0, 10_000), st.integers(1, 8), st.integers(1, 4))
@settings(max_examples=60)
def test_the_shortest_vector_of_a_polyhedron(seed: int, count: int, r: int) -> None:
    """Kept constraints, and no shorter vector: z is in the cone of its active rows (Karush, Kuhn, Tucker)."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, r))
    heights = rows @ rng.normal(size=r) * rng.uniform(0, 1, size=count)
    heights[0] = abs(heights[0]) + 0.1
    z, kept = shortest(rows, heights, 0)
    if z is None:  # Farkas: some u >= 0 has rows'u = 0 and heights'u > 0
        return
    assert kept
    excess = rows @ z - heights
    assert excess.min() >= -1e-7
    active = rows[excess <= 1e-6 * (1 + np.abs(heights))]
    multipliers = np.linalg.lstsq(active.T, z, rcond=None)[0]
    np.testing.assert_allclose(active.T @ multipliers, z, atol=1e-6 * (1 + float(np.linalg.norm(z))))


def test_an_empty_polyhedron_is_found_out() -> None:
    z, kept = shortest(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, 1.0]), 0)
    assert z is None
    assert not kept


# ---------------------------------------------------------------------------------------- printed

ABOVE = np.vstack([np.eye(5), -5 * np.eye(5)[4]])  # e_1 ... e_5 and -5 e_5
ABOVE_VALUES = np.array([1.0, 1.0, 1.0, 1.0, 0.07, -0.35])


def exact_by_symmetry() -> float:
    """H of that instance at eps = 0.8 by hand.

    e_1 ... e_4 are alike, so the best design gives each the same a, and 25 times the weight of -5 e_5 is the
    information b about e_5: 4 a + b / 25 = 1. With level 0.2, in this order: two of the four, one of them and e_5, one
    of them and -5 e_5, e_5 entering, -5 e_5 entering. What enters does so against all four at once.
    """

    def level(a: float) -> float:
        b = 25 * (1 - 4 * a)
        return max(
            (1 / a + 0.04 / a) / 0.8**2,
            (1 / a + 0.04 / b) / (1 - 0.2 * 0.07) ** 2,
            (1 / a + 0.04 * 25 / b) / (1 + 0.2 * 0.35) ** 2,
            (1 / b + 0.04 / (4 * a)) / (0.2 - 0.07) ** 2,
            (25 / b + 0.04 / (4 * a)) / (0.2 + 0.35) ** 2,
        )

    return float(minimize_scalar(level, bounds=(0.01, 0.249), method="bounded", options={"xatol": 1e-10}).fun)


def printed_by_enumeration(points: Array, values: Array, epsilon: float) -> float:
    """The printed formula, one cone programme for each choice of an x' for each point outside."""
    inside = np.flatnonzero(members(values, epsilon))
    outside = np.flatnonzero(~members(values, epsilon))

    def rows(pairs: list[tuple[int, int]]) -> Array:
        gaps = [values[x] - (1 - epsilon) * values[y] for x, y in pairs]
        return np.array([(points[x] - (1 - epsilon) * points[y]) / g for (x, y), g in zip(pairs, gaps, strict=True)])

    fixed = [(int(x), y) for x in inside for y in range(len(points))]
    choices = product(range(len(points)), repeat=len(outside))
    return min(
        design_optimum(points, rows(fixed + [(int(x), y) for x, y in zip(outside, chosen, strict=True)]))
        for chosen in choices
    )


def test_the_printed_bound_can_be_too_large() -> None:
    """By 40 %, proved from both sides: no algorithm need obey it."""
    domain = Domain(ABOVE)
    exact = implicit(domain, ABOVE_VALUES, epsilon=0.8, noise=1.0, rtol=1e-4)
    printed = implicit_printed(domain, ABOVE_VALUES, epsilon=0.8, noise=1.0, rtol=1e-3)
    assert printed.enumerated
    assert printed.lower_bound > 1.39 * exact.complexity
    assert exact.complexity == pytest.approx(exact_by_symmetry(), rel=2e-4)
    assert exact.complexity == pytest.approx(implicit_optimum(ABOVE, ABOVE_VALUES, 0.8, unit=10), rel=2e-4)


def test_the_printed_bound_is_mostly_too_small() -> None:
    """Its min may choose an x' that is no obstacle: here by a factor of 47."""
    points, values, epsilon = np.array([[1.5, 2.0], [-1.0, -1.5], [0.5, 1.0]]), np.array([2.5, -1.75, 1.0]), 0.5
    exact = implicit(Domain(points), values, epsilon=epsilon, noise=1.0, rtol=1e-4)
    printed = implicit_printed(Domain(points), values, epsilon=epsilon, noise=1.0, rtol=1e-4)
    assert exact.lower_bound > 47 * printed.complexity
    assert printed.complexity == pytest.approx(printed_by_enumeration(points, values, epsilon), rel=1e-3)
    assert exact.complexity == pytest.approx(36, rel=2e-4)  # (1/lambda_3 + 0.25/lambda_1) / 0.25^2 at 2 : 1
    assert exact.complexity == pytest.approx(implicit_optimum(points, values, epsilon, unit=36), rel=1e-3)
    found = nearest_on_a_grid(points, values, epsilon, exact.weights, reach=2.5, steps=2001)
    assert found == pytest.approx(exact.complexity, rel=0.03)


@pytest.mark.parametrize(("seed", "n", "r", "epsilon"), [(10, 4, 2, 0.4), (12, 4, 3, 0.7)])
def test_every_choice_is_tried(seed: int, n: int, r: int, epsilon: float) -> None:
    points, values = linear(seed, n, r, shift=0.7)
    printed = implicit_printed(Domain(points), values, epsilon=epsilon, noise=1.0, rtol=1e-3)
    assert printed.enumerated
    assert printed.status is Status.CERTIFIED
    assert printed.complexity == pytest.approx(printed_by_enumeration(points, values, epsilon), rel=2e-3)
    inside = members(values, epsilon)
    assert (printed.choices[inside] == -1).all()
    assert (printed.choices[~inside] >= 0).all()


def test_with_many_choices_the_figure_is_bracketed() -> None:
    points, values = linear(13, 12, 3)
    printed = implicit_printed(Domain(points), values, epsilon=0.3, noise=1.0)
    assert not printed.enumerated
    assert 0 < printed.lower_bound <= printed.complexity
    # The figure at the weights, from its definition.
    inverse = np.linalg.inv((points * printed.weights[:, None]).T @ points)
    directions = points[:, None, :] - 0.7 * points
    ratios = np.einsum("xyi,ij,xyj->xy", directions, inverse, directions) / (values[:, None] - 0.7 * values) ** 2
    inside = members(values, 0.3)
    value = max(ratios[inside].max(), ratios[~inside].min(axis=1).max())
    assert printed.complexity == pytest.approx(value, rel=1e-9)
    np.testing.assert_array_equal(printed.choices[~inside], ratios[~inside].argmin(axis=1))
