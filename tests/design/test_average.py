"""Designs for a fixed mixture: against closed forms, a cone solver, multiplicative steps and their own invariances."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.gaussian_process.kernels import RBF

from superlevel.design import Design, FrankWolfe, Pairs, Rows, Status, Subset, average, certify, mixtures, solve
from superlevel.design.problem import design_problem
from superlevel.errors import InputError
from superlevel.features import embed, tolerance

from .oracle import GRID, Array, Instance, distributions, kernel_inverse, pairs, rounding, small_instances

EYE = np.eye(3)
ARMS = np.random.default_rng(0).normal(size=(25, 4))
VECTORS = np.random.default_rng(1).normal(size=(9, 4))
SCALES = np.random.default_rng(2).uniform(0.5, 2, size=25)

KINDS: dict[str, tuple[Any, Array]] = {
    "arms": (None, ARMS),
    "rows": (VECTORS, VECTORS),
    "scaled-rows": (Rows(VECTORS, SCALES[:9]), VECTORS / SCALES[:9, None]),
    "scaled-arms": (Subset(scales=SCALES), ARMS / SCALES[:, None]),
    "pairs": (Pairs(0.3), pairs(ARMS, 0.3)),
}
kinds = pytest.mark.parametrize(("targets", "rows"), KINDS.values(), ids=KINDS.keys())


def normal(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).normal(size=shape)


def mixture_of(rows: Array, *, seed: int = 3) -> Array:
    """A distribution on the rows, most of it on few."""
    return np.asarray(np.random.default_rng(seed).dirichlet(np.full(len(rows), 0.3)))


def shaped(targets: Any, mixture: Array) -> Any:
    """As `solve` wants it."""
    return mixture.reshape(len(ARMS), -1) if isinstance(targets, Pairs) else mixture


# ----------------------------------------------------------------------------------- closed forms


@pytest.mark.parametrize("rank", [1, 2, 5, 30])
def test_a_uniform_mixture_of_an_orthonormal_basis_wants_uniform_weights(rank: int) -> None:
    """A-optimality: T = mean_i 1 / lambda_i, smallest at lambda_i = 1 / r, where it is r."""
    basis = np.linalg.qr(normal(rank, rank, rank))[0]
    design = solve(basis, ridge=0, mixture=np.ones(rank), rtol=1e-8)
    assert design.status is Status.CERTIFIED
    assert design.value == pytest.approx(rank, rel=1e-8)
    np.testing.assert_allclose(design.weights, 1 / rank, rtol=1e-3)


def water_filling(mixture: Array, ridge: float) -> Array:
    """Orthonormal arms that are the targets: minimise sum_i w_i / (lambda_i + ridge).

    lambda_i + ridge = max(ridge, c sqrt(w_i)); over the k largest w, c = (1 + k ridge) / sum sqrt(w).
    """
    roots = np.sort(np.sqrt(mixture))[::-1]
    levels = (1 + ridge * np.arange(1, len(roots) + 1)) / np.cumsum(roots)
    count = int(np.count_nonzero(levels * roots > ridge))  # the first k for which all k get something
    return np.asarray(np.maximum(0, levels[count - 1] * np.sqrt(mixture) - ridge))


@pytest.mark.parametrize("ridge", [0, 0.01, 0.3, 10])
@pytest.mark.parametrize("mixture", [[4.0, 1.0, 1.0], [1.0, 1.0, 1e-3], [0.6, 0.3, 0.1]])
def test_orthonormal_arms_are_filled_like_water(mixture: list[float], ridge: float) -> None:
    shares = np.array(mixture) / np.sum(mixture)
    expected = water_filling(shares, ridge)
    design = solve(EYE, ridge=ridge, mixture=mixture, rtol=1e-9)
    assert expected.sum() == pytest.approx(1)
    assert design.value == pytest.approx(float((shares / (expected + ridge)).sum()), rel=1e-8)
    np.testing.assert_allclose(design.weights, expected, atol=1e-3)
    np.testing.assert_allclose(design.dual, shares)


@pytest.mark.parametrize("seed", range(8))
def test_one_target_has_elfvings_value(seed: int) -> None:
    """c-optimality in the plane: the value is t^2 where v / t leaves the convex hull of the arms and their opposites.

    By linear programming's duality that is the shortest combination of arms that makes v, t = min sum |c_i| over pairs
    of arms.
    """
    arms, vector = normal(seed, 8, 2), normal(seed + 50, 1, 2)
    combinations = [
        np.abs(np.linalg.solve(arms[[i, j]].T, vector[0])).sum() for i in range(8) for j in range(i) if i != j
    ]
    design = solve(arms, vector, ridge=0, mixture=[1.0], rtol=1e-4)
    assert design.status is Status.CERTIFIED
    assert design.value == pytest.approx(min(combinations) ** 2, rel=1.1e-4)
    # One target only: its average is its largest.
    assert design.value == pytest.approx(solve(arms, vector, ridge=0, rtol=1e-4).value, rel=1.1e-4)


@pytest.mark.parametrize("ridge", [0, 0.2])
def test_on_a_line_everything_goes_to_the_longest_arm(ridge: float) -> None:
    arms, vectors = normal(1, 20, 1), normal(2, 6, 1)
    mixture = mixture_of(vectors)
    design = solve(arms, vectors, ridge=ridge, mixture=mixture, rtol=1e-6)
    expected = mixture @ vectors[:, 0] ** 2 / (np.square(arms).max() + ridge)
    assert design.value == pytest.approx(float(expected), rel=1e-6)
    assert int(design.weights.argmax()) == int(np.abs(arms).argmax())


def test_one_arm_one_target_and_one_dimension() -> None:
    design = solve([[3.0]], [[2.0]], ridge=1.0, mixture=[7.0])
    assert design.value == pytest.approx(4 / 10)
    assert design.weights.tolist() == design.dual.tolist() == [1.0]
    assert design.iterations == 0


def test_every_point_may_be_the_same() -> None:
    design = solve(np.ones((50, 2)), ridge=0.5, mixture=np.arange(50.0))
    assert design.status is Status.CERTIFIED
    assert design.value == pytest.approx(2 / 2.5)


# ------------------------------------------------------------------------------------ other roads


@kinds
@pytest.mark.parametrize("ridge", [0, 1e-3, 0.1, 10])
def test_a_cone_solver_finds_the_same_optimum(targets: Any, rows: Array, ridge: float) -> None:
    mixture = mixture_of(rows)
    instance = Instance(arms=ARMS, rows=rows, ridge=ridge)
    optimum = instance.smallest_average(mixture)
    design = solve(ARMS, targets, ridge=ridge, mixture=shaped(targets, mixture), rtol=1e-6)
    assert design.status is Status.CERTIFIED
    assert design.lower_bound <= optimum * (1 + 1e-7)
    assert design.value == pytest.approx(optimum, rel=1.1e-6)
    assert design.value == pytest.approx(instance.average(design.weights, mixture), rel=1e-9)
    assert design.lower_bound == pytest.approx(instance.bound(design.weights, mixture), rel=1e-9)
    again = certify(ARMS, targets, design.weights, design.dual, ridge=ridge)
    assert again == pytest.approx(design.lower_bound, rel=1e-12)


@pytest.mark.parametrize("ridge", [0, 0.05])
def test_multiplicative_steps_lead_to_the_same_place(ridge: float) -> None:
    mixture = mixture_of(VECTORS)
    instance = Instance(arms=ARMS, rows=VECTORS, ridge=ridge)
    slowly = instance.multiplied(np.full(25, 1 / 25), mixture, 3000)
    design = solve(ARMS, VECTORS, ridge=ridge, mixture=mixture, rtol=1e-5)
    assert design.value == pytest.approx(instance.average(slowly, mixture), rel=1e-4)
    assert design.lower_bound <= instance.average(slowly, mixture)


def test_the_worst_cases_own_mixture_has_the_worst_cases_optimum() -> None:
    """It is a saddle point: at its dual the average is smallest where the largest is."""
    worst = solve(ARMS, VECTORS, ridge=0.01, rtol=1e-6)
    same = solve(ARMS, VECTORS, ridge=0.01, rtol=1e-6, mixture=worst.dual)
    assert same.value == pytest.approx(worst.value, rel=1e-5)
    other = solve(ARMS, VECTORS, ridge=0.01, rtol=1e-6, mixture=np.ones(9))
    assert other.value < worst.value
    assert Instance(arms=ARMS, rows=VECTORS, ridge=0.01).value(other.weights) > worst.value


@kinds
def test_frank_wolfe_converges_to_it(targets: Any, rows: Array) -> None:
    mixture = shaped(targets, mixture_of(rows))
    best = solve(ARMS, targets, ridge=0.1, mixture=mixture, rtol=1e-6)
    slow = solve(ARMS, targets, ridge=0.1, mixture=mixture, method=FrankWolfe(2000, step=2.0), rtol=0.01)
    assert slow.status is Status.CERTIFIED
    assert best.lower_bound <= slow.value <= 1.01 * best.value
    assert certify(ARMS, targets, slow.weights, slow.dual, ridge=0.1) == pytest.approx(slow.lower_bound)
    assert len(solve(ARMS, targets, ridge=0.1, mixture=mixture, method=FrankWolfe(3)).support) <= 4


def test_frank_wolfe_still_needs_a_ridge() -> None:
    with pytest.raises(InputError, match=r"^ridge is 0: FrankWolfe divides by it"):
        solve(EYE, ridge=0, mixture=np.ones(3), method=FrankWolfe())


@pytest.mark.parametrize("ridge", [0, 1e-12, 0.1])  # by orthogonal factors where a ridge is small, by M elsewhere
@pytest.mark.parametrize("rows", [VECTORS[:3], VECTORS, np.repeat(VECTORS[:2], 30, axis=0), pairs(ARMS, 0.3)])
def test_a_root_has_the_mixtures_moments(rows: Array, ridge: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mixtures, "BLOCK", 50)  # so that many targets come in several blocks
    mixture = mixture_of(rows)
    problem = design_problem(ARMS, rows, ridge=ridge)
    root = average.average_problem(problem, mixture).root
    given_as = problem.directions().rows(np.arange(len(rows)))
    assert len(root) <= 4
    np.testing.assert_allclose(root.T @ root, (given_as * mixture[:, None]).T @ given_as, atol=1e-12)


# ------------------------------------------------------------------------------- what always holds


@given(small_instances(), st.data(), st.sampled_from([0.5, 0.01, 1e-4]))
@settings(deadline=None, max_examples=150)
def test_an_answer_is_what_it_says(instance: Instance, data: st.DataObject, rtol: float) -> None:
    mixture = data.draw(distributions(len(instance.rows)))
    design = solve(instance.arms, instance.rows, ridge=instance.ridge, rtol=rtol, mixture=mixture)
    slack = rounding(instance)
    assert (design.weights >= 0).all()
    assert design.weights.sum() == pytest.approx(1, abs=1e-12)
    assert design.value >= design.lower_bound * (1 - slack)
    assert (design.status is Status.CERTIFIED) == (design.gap <= rtol)
    assert design.value == pytest.approx(instance.average(design.weights, mixture), rel=slack)
    np.testing.assert_allclose(design.dual, mixture, rtol=1e-12)
    again = certify(instance.arms, instance.rows, design.weights, design.dual, ridge=instance.ridge)
    assert again == pytest.approx(design.lower_bound, rel=max(1e-10, slack / 10))


@pytest.mark.parametrize("ridge", [0, 0.05])
class TestTheOptimumDoesNotChange:
    mixture = mixture_of(VECTORS)

    def check(self, arms: Array, targets: Any, mixture: Any, ridge: float, *, rtol: float = 1e-6) -> Design:
        reference = solve(ARMS, VECTORS, ridge=ridge, mixture=self.mixture, rtol=rtol)
        other = solve(arms, targets, ridge=ridge, mixture=mixture, rtol=rtol)
        assert other.status is reference.status is Status.CERTIFIED
        assert other.value == pytest.approx(reference.value, rel=2 * rtol)
        return other

    def test_when_the_coordinates_are_rotated(self, ridge: float) -> None:
        rotation = np.linalg.qr(normal(12, 4, 4))[0]
        self.check(ARMS @ rotation, VECTORS @ rotation, self.mixture, ridge)

    def test_when_arms_and_targets_are_shuffled(self, ridge: float) -> None:
        rng = np.random.default_rng(13)
        order, places = rng.permutation(9), rng.permutation(25)
        design = self.check(ARMS[places], VECTORS[order], self.mixture[order], ridge)
        np.testing.assert_allclose(design.dual, self.mixture[order])

    def test_when_arms_and_targets_are_repeated(self, ridge: float) -> None:
        twice = np.repeat(self.mixture, 2)
        self.check(np.repeat(ARMS, 3, axis=0), np.repeat(VECTORS, 2, axis=0), twice, ridge, rtol=1e-4)

    def test_when_the_mixture_has_another_sum(self, ridge: float) -> None:
        for factor in (1e-200, 1e-3, 40, 1e307):
            self.check(ARMS, VECTORS, factor * self.mixture, ridge)

    def test_when_scales_move_into_the_mixture(self, ridge: float) -> None:
        scales = SCALES[:9]
        mixture = self.mixture * scales**2
        reference = solve(ARMS, VECTORS, ridge=ridge, mixture=self.mixture, rtol=1e-6)
        other = solve(ARMS, Rows(VECTORS, scales), ridge=ridge, mixture=mixture, rtol=1e-6)
        assert other.value * mixture.sum() == pytest.approx(reference.value, rel=2e-6)

    def test_when_targets_without_weight_are_left_out(self, ridge: float) -> None:
        padded = np.concatenate([VECTORS, normal(5, 4, 4)])
        self.check(ARMS, padded, np.concatenate([self.mixture, np.zeros(4)]), ridge)

    def test_when_weights_of_masked_targets_are_ignored(self, ridge: float) -> None:
        padded, mask = np.concatenate([VECTORS, normal(5, 4, 4)]), np.arange(13) < 9
        design = self.check(ARMS, Rows(padded, mask=mask), np.concatenate([self.mixture, np.ones(4)]), ridge)
        assert not design.dual[9:].any()

    @pytest.mark.parametrize("factor", [1e-3, 1e3])
    def test_when_everything_is_measured_in_other_units(self, ridge: float, factor: float) -> None:
        reference = solve(ARMS, VECTORS, ridge=ridge, mixture=self.mixture, rtol=1e-6)
        other = solve(factor * ARMS, factor * VECTORS, ridge=ridge * factor**2, mixture=self.mixture, rtol=1e-6)
        assert other.value == pytest.approx(reference.value, rel=2e-6)


def test_pairs_take_a_sparse_mixture_too() -> None:
    mixture = mixture_of(pairs(ARMS, 0.3)).reshape(25, 25) * (normal(6, 25, 25) > 1)
    dense = solve(ARMS, Pairs(0.3), ridge=0.1, mixture=mixture)
    for form in (sparse.csr_array(mixture), sparse.coo_matrix(mixture)):
        design = solve(ARMS, Pairs(0.3), ridge=0.1, mixture=form)
        assert design.value == pytest.approx(dense.value)
        np.testing.assert_allclose(design.dual.toarray(), mixture / mixture.sum())


# ---------------------------------------------------------------------------------------- features


@pytest.mark.parametrize("ridge", [0.1, 0.001])
def test_on_the_papers_grid_one_per_cent_holds_for_the_true_kernel(ridge: float) -> None:
    mixture = np.random.default_rng(8).exponential(size=900)
    mixture /= mixture.sum()
    design = solve(embed(RBF(0.1), GRID, tol=tolerance(ridge, 0.01)), ridge=ridge, mixture=mixture)
    true = float(mixture @ np.diag(kernel_inverse(np.asarray(RBF(0.1)(GRID)), design.weights, ridge)))
    assert design.status is Status.CERTIFIED
    assert design.truncation > 0
    assert design.lower_bound <= true <= design.value


@pytest.mark.parametrize("tol", [1e-1, 1e-3])
@pytest.mark.parametrize("epsilon", [None, 0.4])
def test_what_the_features_miss_is_in_the_value(tol: float, epsilon: float | None) -> None:
    points, ridge = GRID[::9], 0.1
    inverse_at = np.asarray(RBF(0.15)(points))
    scales = np.random.default_rng(9).uniform(0.5, 2, (100, 100))
    mixture = np.random.default_rng(10).dirichlet(np.full(10_000, 0.1)).reshape(100, 100)
    features = embed(RBF(0.15), points, tol=tol)
    if epsilon is None:
        scales, mixture = scales[0], mixture[0] / mixture[0].sum()
        design = solve(features, Subset(scales=scales), ridge=ridge, mixture=mixture)
        variances = np.diag(kernel_inverse(inverse_at, design.weights, ridge))
    else:
        share = 1 - epsilon
        design = solve(features, Pairs(epsilon, scales=scales), ridge=ridge, mixture=mixture)
        inverse = kernel_inverse(inverse_at, design.weights, ridge)
        lengths = np.diag(inverse)
        variances = lengths[:, None] - 2 * share * inverse + share**2 * lengths
    true = float((mixture * variances / scales**2).sum())
    assert design.truncation > 0
    assert design.value - design.truncation <= true * (1 + 1e-9)
    assert design.lower_bound <= true <= design.value


def test_coarse_features_are_named_as_the_reason() -> None:
    design = solve(embed(RBF(0.1), GRID, tol=0.01), ridge=0.01, mixture=np.ones(900))
    assert design.status is Status.FEATURES
    assert (design.value - design.truncation) / design.lower_bound - 1 <= 0.01


# ------------------------------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("targets", "mixture", "sentence"),
    [
        (None, np.zeros(3), "mixture is zero on every target that counts: give one of them a weight > 0"),
        (Subset([0, 1]), EYE[2], "mixture is zero on every target that counts: give one of them a weight > 0"),
        (None, [1, np.nan, 1], "mixture is with a weight of nan: give weights that are finite and not negative"),
        (None, [1, np.inf, 1], "mixture is with a weight of inf: give weights that are finite and not negative"),
        (None, [1, -0.5, 1], "mixture is with a weight of -0.5: give weights that are finite and not negative"),
        (None, [1, 1], "mixture is of shape (2,): give shape (3,), as the targets have"),
        (Rows(EYE[:2]), [1, 1, 1], "mixture is of shape (3,): give shape (2,), as the targets have"),
        (Pairs(0.2), [1, 1, 1], "mixture is of shape (3,): give shape (3, 3), as the targets have"),
        (None, "uniform", "mixture is of type str and holds something other than numbers: give numbers"),
    ],
)
def test_bad_mixtures_are_named(targets: Any, mixture: Any, sentence: str) -> None:
    with pytest.raises(InputError, match="^" + re.escape(sentence)):
        solve(EYE, targets, ridge=0.1, mixture=mixture)
