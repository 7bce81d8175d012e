"""`solve` against closed forms, a cone solver, plain numpy and its own invariances."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF

from superlevel.design import InteriorPoint, Pairs, Rows, Status, Subset, certify, solve
from superlevel.errors import InputError
from superlevel.features import Features, embed, tolerance

from .oracle import GRID, Array, Instance, kernel_inverse, rounding, small_instances

EYE = np.eye(3)


def normal(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).normal(size=shape)


def is_distribution(weights: Array) -> bool:
    return bool((weights >= 0).all()) and abs(float(weights.sum()) - 1) < 1e-12


# ----------------------------------------------------------------------------------- closed forms


def nearly_dependent() -> Array:
    """(200, 6) values of six neighbouring bumps: full rank, of condition 1e7."""
    points = np.random.default_rng(0).random((200, 2))
    return np.asarray(RBF(0.5)(points, points[:6]))


@pytest.mark.parametrize(
    ("arms", "rank"),
    [
        (normal(0, 50, 4), 4),
        (normal(1, 7, 7), 7),
        (normal(2, 40, 3) @ normal(3, 3, 8), 3),
        (normal(4, 3, 8), 3),
        (nearly_dependent(), 6),
        (embed(RBF(0.3), GRID[::7], tol=1e-9).array, None),
        (np.array([[2.0]]), 1),
    ],
    ids=["tall", "square", "rank-deficient", "wide", "nearly-dependent", "rbf-features", "one-number"],
)
def test_without_a_ridge_the_value_is_the_rank(arms: Array, rank: int | None) -> None:
    """Kiefer and Wolfowitz 1960, with the arms as targets."""
    rank = arms.shape[1] if rank is None else rank
    design = solve(arms, ridge=0, rtol=1e-6)
    assert design.status is Status.CERTIFIED
    assert design.lower_bound <= rank * (1 + 1e-9)
    assert design.value >= rank * (1 - 1e-9)
    assert design.value == pytest.approx(rank, rel=1e-6)


def water_filling(lengths: Array, ridge: float) -> tuple[float, Array]:
    """Orthonormal arms e_i, targets e_i / scale_i, q_i = 1 / scale_i^2: s_i = q_i / (lambda_i + ridge).

    The smallest level t that all s_i can keep below has lambda_i = max(0, q_i / t - ridge) with sum 1. Over the k arms
    with the largest q, which are those with q_i > ridge t, that is sum q / t - k ridge = 1, so
    t = sum q / (1 + k ridge). Without a ridge k is everything: lambda_i = q_i / sum q and t = sum q.
    """
    ordered = np.sort(lengths)[::-1]
    levels = np.cumsum(ordered) / (1 + ridge * np.arange(1, len(ordered) + 1))
    wet = int(np.flatnonzero(ordered > ridge * levels)[-1])
    return float(levels[wet]), np.maximum(0, lengths / levels[wet] - ridge)


@pytest.mark.parametrize("ridge", [0, 1e-8, 0.01, 0.3, 5, 1e3])
@pytest.mark.parametrize("scales", [[1.0, 1.0, 1.0], [1.0, 2.0, 4.0], [0.1, 7.0, 0.3, 1.0, 1.0]])
@pytest.mark.parametrize("kind", [Rows, Subset])
def test_orthonormal_arms_fill_like_water(ridge: float, scales: list[float], kind: type[Rows | Subset]) -> None:
    arms = np.eye(len(scales))
    value, weights = water_filling(1 / np.square(scales), ridge)
    assert weights.sum() == pytest.approx(1)
    design = solve(arms, Rows(arms, scales) if kind is Rows else Subset(scales=scales), ridge=ridge, rtol=1e-7)
    assert design.status is Status.CERTIFIED
    assert design.value == pytest.approx(value, rel=1.1e-7)
    # s determines the weights of the wet arms only as well as ridge + lambda determines s.
    np.testing.assert_allclose(design.weights, weights, atol=1e-5 * (1 + ridge))


# ------------------------------------------------------------------------------------ cone solver


@pytest.mark.parametrize(
    ("seed", "shape", "ridge", "scaled"),
    [
        (0, (15, 4, 6), 0, False),
        (1, (15, 4, 6), 0, True),
        (2, (30, 3, 8), 1e-3, False),
        (3, (30, 3, 8), 0.1, True),
        (4, (5, 5, 9), 1.0, True),
        (5, (4, 6, 3), 0.5, False),
        (6, (12, 1, 4), 0.2, True),
        (7, (1, 3, 2), 0.2, True),
        (8, (20, 4, 1), 0.01, False),
        (9, (20, 3, 5), 1e3, True),
    ],
)
def test_a_cone_solver_finds_the_same_optimum(
    seed: int, shape: tuple[int, int, int], ridge: float, scaled: bool
) -> None:
    n, r, p = shape
    arms, vectors = normal(seed, n, r), normal(seed + 100, p, r)
    scales = np.random.default_rng(seed).uniform(0.2, 5, size=p) if scaled else np.ones(p)
    optimum = Instance(arms=arms, rows=vectors / scales[:, None], ridge=ridge).optimum()
    design = solve(arms, Rows(vectors, scales) if scaled else vectors, ridge=ridge, rtol=1e-6)
    assert design.status is Status.CERTIFIED
    assert design.lower_bound <= optimum * (1 + 1e-7)
    assert design.value >= optimum * (1 - 1e-7)
    assert design.value == pytest.approx(optimum, rel=1.1e-6)


# ------------------------------------------------------------------------------------ invariances


@pytest.mark.parametrize("ridge", [0, 0.05])
class TestTheOptimumDoesNotChange:
    arms, vectors = normal(10, 25, 4), normal(11, 9, 4)

    def check(self, arms: Array, targets: Any, ridge: float, *, factor: float = 1.0, rtol: float = 1e-7) -> None:
        reference = solve(self.arms, self.vectors, ridge=ridge, rtol=1e-7)
        other = solve(arms, targets, ridge=ridge, rtol=rtol)
        assert other.status is reference.status is Status.CERTIFIED
        assert other.value == pytest.approx(factor * reference.value, rel=2 * rtol)

    def test_when_the_coordinates_are_rotated(self, ridge: float) -> None:
        rotation = np.linalg.qr(normal(12, 4, 4))[0]
        self.check(self.arms @ rotation, self.vectors @ rotation, ridge)

    def test_when_the_arms_and_targets_are_shuffled(self, ridge: float) -> None:
        rng = np.random.default_rng(13)
        self.check(rng.permutation(self.arms), rng.permutation(self.vectors), ridge)

    def test_when_arms_and_targets_are_repeated(self, ridge: float) -> None:
        # Newton's system is singular at the optimum then: fewer digits are to be had.
        self.check(np.repeat(self.arms, 3, axis=0), np.repeat(self.vectors, 2, axis=0), ridge, rtol=1e-4)

    def test_when_an_arm_changes_its_sign(self, ridge: float) -> None:
        signs = np.sign(normal(14, 25))[:, None]
        self.check(self.arms * signs, self.vectors, ridge)

    @pytest.mark.parametrize("factor", [1e-3, 1e3])
    def test_when_everything_is_measured_in_other_units(self, ridge: float, factor: float) -> None:
        reference = solve(self.arms, self.vectors, ridge=ridge, rtol=1e-7)
        other = solve(factor * self.arms, factor * self.vectors, ridge=ridge * factor**2, rtol=1e-7)
        assert other.status is Status.CERTIFIED
        assert other.value == pytest.approx(reference.value, rel=2e-7)

    @pytest.mark.parametrize("factor", [0.01, 30.0])
    def test_but_for_scales_which_divide_it_by_their_square(self, ridge: float, factor: float) -> None:
        self.check(self.arms, Rows(self.vectors, np.full(9, factor)), ridge, factor=factor**-2)


# ------------------------------------------------------------------------------- what always holds


@given(small_instances(), st.sampled_from([0.5, 0.01, 1e-5]))
@settings(deadline=None, max_examples=150)
def test_an_answer_is_what_it_says(instance: Instance, rtol: float) -> None:
    design = solve(instance.arms, instance.rows, ridge=instance.ridge, rtol=rtol)
    slack = rounding(instance)
    assert is_distribution(design.weights)
    assert is_distribution(design.dual)
    assert design.value >= design.lower_bound * (1 - slack)
    assert design.gap == design.value / design.lower_bound - 1
    assert (design.status is Status.CERTIFIED) == (design.gap <= rtol)
    assert design.truncation == 0
    assert design.value == pytest.approx(instance.value(design.weights), rel=slack)
    again = certify(instance.arms, instance.rows, design.weights, design.dual, ridge=instance.ridge)
    assert again == pytest.approx(design.lower_bound, rel=max(1e-10, slack / 10))


@given(small_instances(), st.integers(0, 3))
@settings(deadline=None, max_examples=60)
def test_any_subset_of_the_arms_may_be_the_targets(instance: Instance, first: int) -> None:
    places = np.flatnonzero(instance.arms.any(axis=1))[first:]
    if not len(places):
        return
    by_place = solve(instance.arms, Subset(places), ridge=instance.ridge, rtol=1e-3)
    written = solve(instance.arms, instance.arms[places], ridge=instance.ridge, rtol=1e-3)
    assert by_place.lower_bound <= written.value * (1 + rounding(instance))
    assert written.lower_bound <= by_place.value * (1 + rounding(instance))
    assert not by_place.dual[np.setdiff1d(np.arange(len(instance.arms)), places)].any()


@pytest.mark.parametrize("ridge", [1e-8, 1e-3, 1.0, 1e3])
@pytest.mark.parametrize("rtol", [0.01, 1e-6])
def test_arms_that_tell_nothing_do_no_harm(ridge: float, rtol: float) -> None:
    arms = np.vstack([normal(20, 12, 3), np.zeros((3, 3))])
    vectors = normal(21, 5, 3)
    design = solve(arms, vectors, ridge=ridge, rtol=rtol)
    assert design.status is Status.CERTIFIED
    assert design.value == pytest.approx(solve(arms[:12], vectors, ridge=ridge, rtol=rtol).value, rel=2 * rtol)


@pytest.mark.parametrize("ridge", [0, 0.1, 10])
@pytest.mark.parametrize("count", [2, 20, 40, 100, 300])
def test_on_a_line_everything_goes_to_the_longest_arm(count: int, ridge: float) -> None:
    """One dimension: s = v^2 / (sum_i lambda_i x_i^2 + ridge), so the optimum is max v^2 / (max x^2 + ridge)."""
    for seed in range(20):
        arms = normal(seed, count, 1)
        longest = float(np.square(arms).max())
        design = solve(arms, ridge=ridge, rtol=0.01)
        assert design.lower_bound <= longest / (longest + ridge) * (1 + 1e-9)
        assert design.status is Status.CERTIFIED, f"seed {seed}: {design!r}"
        assert design.value == pytest.approx(longest / (longest + ridge), rel=0.0101)


def test_one_arm_one_target_and_one_dimension() -> None:
    design = solve([[3.0]], [[2.0]], ridge=1.0)
    assert design.value == pytest.approx(4 / 10)
    assert design.weights.tolist() == design.dual.tolist() == [1.0]


def test_every_point_may_be_the_same() -> None:
    design = solve(np.ones((50, 2)), ridge=0.5)
    assert design.status is Status.CERTIFIED
    assert design.value == pytest.approx(2 / 2.5)


# ------------------------------------------------------------------------------------ the grid


@pytest.fixture(scope="module")
def kernel_matrix() -> Array:
    return np.asarray(RBF(0.1)(GRID))


@pytest.mark.parametrize(("ridge", "expected"), [(0.1, 8.15), (0.01, 35.8), (0.001, 77.4), (1e-5, 169)])
def test_on_the_papers_grid_one_per_cent_holds_for_the_true_kernel(
    ridge: float, expected: float, kernel_matrix: Array
) -> None:
    features = embed(RBF(0.1), GRID, tol=tolerance(ridge, 0.01))
    design = solve(features, ridge=ridge, rtol=0.01)
    assert design.status is Status.CERTIFIED
    assert design.gap <= 0.01
    assert design.value == pytest.approx(expected, rel=0.015)  # values of an independent sketch of the solver
    true = float(np.diag(kernel_inverse(kernel_matrix, design.weights, ridge)).max())
    assert design.lower_bound <= true <= design.value
    assert is_distribution(design.weights)
    assert is_distribution(design.dual)


@pytest.mark.parametrize(
    "ridge", [0.01, *(pytest.param(ridge, marks=pytest.mark.slow) for ridge in (0.1, 0.001, 1e-5))]
)
def test_on_the_papers_grid_four_digits_are_reached(ridge: float) -> None:
    arms = embed(RBF(0.1), GRID, tol=tolerance(ridge, 0.01)).array
    design = solve(arms, ridge=ridge, rtol=1e-4)
    assert design.status is Status.CERTIFIED
    assert design.gap <= 1e-4
    assert certify(arms, None, design.weights, design.dual, ridge=ridge) == pytest.approx(design.lower_bound, rel=1e-9)


# -------------------------------------------------------------------------------------- features


@pytest.mark.parametrize("tol", [1e-1, 1e-2, 1e-4])
@pytest.mark.parametrize("ridge", [1.0, 0.05])
def test_what_the_features_miss_is_in_the_value(tol: float, ridge: float) -> None:
    points = GRID[::3]
    design = solve(embed(RBF(0.15), points, tol=tol), ridge=ridge, rtol=0.01)
    inverse = kernel_inverse(np.asarray(RBF(0.15)(points)), design.weights, ridge)
    true = float(np.diag(inverse).max())
    assert design.truncation > 0
    assert design.value - design.truncation <= true * (1 + 1e-9)
    assert design.lower_bound <= true <= design.value


@pytest.mark.parametrize("epsilon", [0.2, 0.7])
def test_what_the_features_miss_of_pairs_is_in_the_value(epsilon: float) -> None:
    points, share, ridge = GRID[::9], 1 - epsilon, 0.1
    design = solve(embed(RBF(0.15), points, tol=0.02), Pairs(epsilon), ridge=ridge, rtol=0.01)
    inverse = kernel_inverse(np.asarray(RBF(0.15)(points)), design.weights, ridge)
    lengths = np.diag(inverse)
    true = float((lengths[:, None] - 2 * share * inverse + share**2 * lengths).max())
    assert design.truncation > 0
    assert design.value - design.truncation <= true * (1 + 1e-9)
    assert design.lower_bound <= true <= design.value


def test_coarse_features_are_named_as_the_reason() -> None:
    design = solve(embed(RBF(0.1), GRID, tol=0.01), ridge=0.01, rtol=0.01)
    assert design.status is Status.FEATURES
    assert design.gap > 0.01
    kept = (design.value - design.truncation) / design.lower_bound - 1
    assert kept <= 0.01  # the weights are good enough


def test_exact_features_are_as_good_as_arms() -> None:
    arms = normal(30, 20, 3)
    exact, plain = solve(embed(None, arms), ridge=0), solve(arms, ridge=0)
    assert exact.truncation == 0
    assert exact.value == plain.value


# ------------------------------------------------------------------------------- status and watch


@pytest.mark.parametrize("ridge", [0, 0.01])
@pytest.mark.parametrize("max_iter", [1, 2])
def test_too_few_iterations_are_admitted(max_iter: int, ridge: float) -> None:
    arms, vectors = normal(40, 40, 4), normal(41, 10, 4)
    design = solve(arms, vectors, ridge=ridge, rtol=1e-6, method=InteriorPoint(max_iter=max_iter))
    assert design.status is Status.ITERATIONS
    assert design.iterations <= max_iter
    assert design.gap > 1e-6
    assert is_distribution(design.weights)
    instance = Instance(arms=arms, rows=vectors, ridge=ridge)
    assert design.value == pytest.approx(instance.value(design.weights))
    assert design.lower_bound == pytest.approx(instance.bound(design.weights, design.dual))


def test_a_design_says_in_one_line_what_it_is() -> None:
    assert repr(solve(EYE, ridge=0)) == "Design(certified: value 3, gap 0.00%, 3 of 3 arms, 0 iterations)"


# ---------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("arms", "targets", "options", "sentence"),
    [
        ([[1.0, np.nan]], None, {}, "arms[0, 1] is nan: give finite numbers or leave that row out"),
        ([[1.0], [np.inf]], None, {}, "arms[1, 0] is inf: give finite numbers or leave that row out"),
        (np.empty((0, 3)), None, {}, "arms is of shape (0, 3): give at least one row and one column"),
        ([1.0, 2.0], None, {}, "arms is of shape (2,): give a 2-d array, one row for each point"),
        ("arms", None, {}, "arms is of type str and holds something other than numbers: give numbers"),
        (np.zeros((4, 2)), None, {"ridge": 0}, "arms is zero everywhere: "),
        (np.zeros((4, 1)), [[2.5], [5.0]], {}, "arms is zero everywhere: "),
        (EYE, [[np.nan, 0, 1]], {}, "targets[0, 0] is nan: give finite numbers or leave that row out"),
        (EYE, [[1, 0, 1], [0, -np.inf, 1]], {}, "targets[1, 1] is -inf: give finite numbers or leave that row out"),
        (EYE, np.empty((0, 3)), {}, "targets is of shape (0, 3): give at least one row and one column"),
        (EYE, [[1.0, 2.0]], {}, "targets is with 2 columns: give 3 columns, as many as the arms have"),
        (EYE, [[1.0, 2.0]], {"ridge": 0}, "targets is with 2 columns: give 3 columns, as many as the arms have"),
        (EYE, [1.0, 2.0, 3.0], {}, "targets is of shape (3,): give a 2-d array, one row for each point"),
        (EYE, [EYE[0], 0 * EYE[0]], {}, "targets[1] is zero: leave it out: its value is known without measuring"),
        ([[1.0], [0.0]], None, {}, "targets[1] is zero: leave it out: its value is known without measuring"),
        ([[1.0], [0.0]], None, {"ridge": 0}, "targets[1] is zero: leave it out: its value is known without measuring"),
        (EYE, None, {"ridge": -0.1}, "ridge is -0.1: give a number >= 0"),
        (EYE, None, {"ridge": np.nan}, "ridge is nan: give a number >= 0"),
        (EYE, None, {"ridge": "1"}, "ridge is '1': give a number >= 0"),
        (EYE, None, {"rtol": 0}, "rtol is 0: give a number > 0"),
        (EYE, None, {"rtol": -0.01}, "rtol is -0.01: give a number > 0"),
        (EYE, None, {"rtol": np.nan}, "rtol is nan: give a number > 0"),
    ],
)
def test_bad_input_is_named(arms: Any, targets: Any, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match="^" + re.escape(sentence)):
        solve(arms, targets, **{"ridge": 0.1, **options})


@pytest.mark.parametrize("max_iter", [0, -1, 2.5])
def test_no_iterations_at_all_are_named(max_iter: Any) -> None:
    with pytest.raises(InputError, match=f"^max_iter is {max_iter}: give a whole number >= 1$"):
        solve(EYE, ridge=0.1, method=InteriorPoint(max_iter=max_iter))


def test_truncated_features_need_a_ridge() -> None:
    features = embed(RBF(0.3), GRID[::50], tol=0.1)
    with pytest.raises(InputError, match=r"^ridge is 0\.0: truncated features say nothing .*: give a ridge > 0"):
        solve(features, ridge=0)
    assert solve(features.array, ridge=0).value == pytest.approx(features.rank, rel=0.01)


def test_what_was_given_is_left_as_it_was() -> None:
    arms, vectors = normal(50, 30, 3), normal(51, 6, 3)
    copies = arms.copy(), vectors.copy()
    features = Features(array=arms, residuals=np.full(30, 1e-6), pivots=np.arange(3))
    for given_arms in (arms, features):
        for targets in (None, vectors, Pairs(0.3)):
            solve(given_arms, targets, ridge=0.1, rtol=1e-5)
    np.testing.assert_array_equal(arms, copies[0])
    np.testing.assert_array_equal(vectors, copies[1])
