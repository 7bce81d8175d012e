"""The posterior against scikit-learn, against itself by other roads, and where there is hardly anything to know."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy.stats import kstest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern, WhiteKernel

from superlevel.arrays import Array, Indices
from superlevel.domain import Domain
from superlevel.errors import InputError
from superlevel.posterior import GaussianPosterior, begin, by_rows, covariance

FORMS: dict[str, dict[str, Any]] = {
    "features": {"THIRD": 1, "ROOTS": 10**6},
    "stored": {"THIRD": 10**9},
    "computed": {"THIRD": 10**9, "STORED": 0},
    "large": {"THIRD": 10**9, "STORED": 0, "LARGE": 0},
}
forms = pytest.mark.parametrize("form", FORMS)


def begun(form: str, domain: Domain, *, noise: ArrayLike = 0.1, mean: float = 0.0) -> GaussianPosterior:
    """In a form that the domain might not choose by itself."""
    with mock.patch.multiple(covariance, **FORMS[form]):
        return begin(domain, noise=noise, mean=mean)


def square(kernel: Any, count: int = 60) -> Domain:
    return Domain(np.random.default_rng(0).random((count, 2)), kernel=kernel)


def data(count: int, size: int, seed: int = 1) -> tuple[Indices, Array, Array]:
    """Points with repeats, values and standard deviations."""
    rng = np.random.default_rng(seed)
    return rng.integers(count // 2, size=size), rng.normal(size=size), rng.uniform(0.05, 0.5, size=size)


def one_by_one(posterior: GaussianPosterior, points: Indices, values: Array, noise: Array) -> GaussianPosterior:
    for x, y, sigma in zip(points, values, noise, strict=True):
        posterior = posterior.told([x], [y], noise=sigma)
    return posterior


def matrix(posterior: GaussianPosterior) -> Array:
    return posterior.columns(np.arange(len(posterior.mean)))


def gap(left: GaussianPosterior, right: GaussianPosterior) -> float:
    """Largest difference of means, variances and covariances."""
    pairs = [(left.mean, right.mean), (left.variance, right.variance), (matrix(left), matrix(right))]
    return float(max(np.abs(one - other).max() for one, other in pairs))


# --------------------------------------------------------------------------------------- other roads


@pytest.mark.parametrize(
    ("kernel", "same", "stored", "form"),
    [
        (RBF(2.0), RBF(2.0), 6000, "InFeatures"),
        (None, DotProduct(sigma_0=0.0, sigma_0_bounds="fixed"), 6000, "InFeatures"),
        (2.0 * Matern(0.3, nu=1.5), 2.0 * Matern(0.3, nu=1.5), 6000, "Downdated"),
        (2.0 * Matern(0.3, nu=1.5), 2.0 * Matern(0.3, nu=1.5), 1, "Downdated"),
    ],
    ids=["features", "linear", "stored", "computed"],
)
def test_scikit_learn_agrees(kernel: Any, same: Any, stored: int, form: str) -> None:
    domain = square(kernel, 150)
    points, values, noise = data(150, 200)
    with mock.patch.object(covariance, "STORED", stored):
        posterior = one_by_one(begin(domain, noise=0.1, mean=0.7), points, values, noise)
    other = GaussianProcessRegressor(same, alpha=noise**2, optimizer=None).fit(domain.points[points], values - 0.7)
    mean, covariances = other.predict(domain.points, return_cov=True)
    assert type(posterior.covariance).__name__ == form
    error = max(np.abs(posterior.mean - 0.7 - mean).max(), np.abs(matrix(posterior) - covariances).max())
    print(f"largest difference to scikit-learn: {error:.1e}")  # noqa: T201
    np.testing.assert_allclose(posterior.mean, 0.7 + mean, rtol=0, atol=1e-8)
    np.testing.assert_allclose(matrix(posterior), covariances, rtol=0, atol=1e-8)
    np.testing.assert_allclose(posterior.deviation, np.sqrt(np.diag(covariances)), rtol=0, atol=1e-8)
    np.testing.assert_allclose(posterior.variance, np.diag(covariances), rtol=0, atol=1e-10)


@forms
@pytest.mark.parametrize("kernel", [RBF(0.4), Matern(0.3), None], ids=["rbf", "matern", "linear"])
def test_one_by_one_at_once_in_any_order_and_afresh_are_the_same(form: str, kernel: Any) -> None:
    start = begun(form, square(kernel), mean=-0.3)
    points, values, noise = data(60, 150)
    single = one_by_one(start, points, values, noise)
    block = start.told(points, values, noise=noise)
    order = np.random.default_rng(2).permutation(150)
    shuffled = one_by_one(start, points[order], values[order], noise[order])
    halves = start.told(points[:70], values[:70], noise=noise[:70]).told(points[70:], values[70:], noise=noise[70:])
    for other in (block, shuffled, halves, single.afresh(), block.afresh(), halves.afresh().afresh()):
        assert gap(single, other) <= 1e-11
        np.testing.assert_allclose(other.weights, single.weights, rtol=1e-12)
        np.testing.assert_allclose(other.sums, single.sums, rtol=0, atol=1e-9)
        assert other.count == 150


@pytest.mark.parametrize("kernel", [RBF(0.4), Matern(0.3), None], ids=["rbf", "matern", "linear"])
def test_all_forms_are_the_same(kernel: Any) -> None:
    points, values, noise = data(60, 150)
    starts = [*(begun(form, square(kernel)) for form in FORMS), begin(square(kernel), noise=0.1, form=by_rows)]
    found = [one_by_one(start, points, values, noise) for start in starts]
    assert [start.covariance.at_hand for start in starts] == [True, True, False, False, False]
    assert max(gap(found[0], other) for other in found[1:]) <= 1e-10
    assert found[1].squares == pytest.approx(found[0].squares, rel=1e-9)
    assert found[2].excess == pytest.approx(found[0].excess, rel=1e-9)


@forms
def test_noise_is_that_of_the_points_where_nothing_else_is_said(form: str) -> None:
    domain, deviations = square(RBF(0.4)), np.linspace(0.1, 0.5, 60)
    points, values, _ = data(60, 20)
    silent = begun(form, domain, noise=deviations).told(points, values)
    said = begun(form, domain, noise=9.0).told(points, values, noise=deviations[points])
    assert gap(silent, said) <= 1e-13
    one = begun(form, domain, noise=9.0).told(points, values, noise=0.2)
    assert gap(one, begun(form, domain, noise=0.2).told(points, values)) <= 1e-13


@forms
def test_a_plan_is_a_measurement_without_values(form: str) -> None:
    before = begun(form, square(Matern(0.3)), noise=np.linspace(0.1, 0.5, 60)).told([1, 2, 3], [0.5, 1.0, 2.0])
    planned = before.planned([5, 9, 5, 5, 2])
    told = before.told([5, 9, 5, 5, 2], [7.0, -3.0, 0.0, 1.0, 2.0])
    np.testing.assert_allclose(planned.after.variance, told.variance, rtol=0, atol=1e-14)
    np.testing.assert_allclose(matrix(planned.after), matrix(told), rtol=0, atol=1e-14)
    np.testing.assert_allclose(matrix(before) - planned.rows.T @ planned.rows, matrix(told), rtol=0, atol=1e-13)
    assert planned.points.tolist() == [2, 5, 9]
    for field in ("mean", "weights", "sums", "count", "terms", "squares", "excess", "unchecked"):
        assert getattr(planned.after, field) is getattr(before, field)


@forms
def test_relief_is_the_share_of_the_variance_that_a_measurement_takes_off(form: str) -> None:
    before = begun(form, square(Matern(0.3)), noise=np.linspace(0.1, 0.5, 60)).told([1, 2, 3], [0.5, 1.0, 2.0])
    at = np.array([2, 7, 59])
    for point, row in zip((5, 2), before.relief(np.array([5, 2]), at), strict=True):
        after = before.told([point], [0.0])
        np.testing.assert_allclose(row, 1 - after.variance[at] / before.variance[at], rtol=0, atol=1e-12)


# --------------------------------------------------------------------------------------- surprise


def simulated(domain: Domain, size: int, *, noise: float, seed: int) -> tuple[Indices, Array]:
    rng = np.random.default_rng(seed)
    truth = rng.multivariate_normal(np.zeros(domain.n), domain.gram(np.arange(domain.n)), method="eigh")
    points = rng.integers(domain.n, size=size)
    return points, truth[points] + noise * rng.normal(size=size)


@forms
def test_data_of_the_model_are_no_surprise(form: str) -> None:
    domain = square(Matern(0.3))
    points, values = simulated(domain, 400, noise=0.3, seed=3)
    posterior = one_by_one(begun(form, domain), points, values, np.full(400, 0.3))
    assert posterior.terms == 400
    assert posterior.surprise == pytest.approx(1.0, abs=0.25)
    assert posterior.plausibility > 0.01
    assert posterior.roughness <= 0.03


def test_plausibility_is_uniform_where_the_model_is_right() -> None:
    domain = square(RBF(0.3), 40)
    start = begin(domain, noise=0.3)
    found = [start.told(*simulated(domain, 50, noise=0.3, seed=seed)).plausibility for seed in range(200)]
    assert kstest(found, "uniform").pvalue > 1e-3


@forms
def test_more_noise_than_said_is_a_surprise_of_its_size(form: str) -> None:
    domain = square(RBF(0.5))
    points, values = simulated(domain, 1000, noise=0.5, seed=4)
    posterior = one_by_one(begun(form, domain), points, values, np.full(1000, 0.1))
    assert posterior.plausibility < 1e-6
    assert posterior.surprise > 10
    assert posterior.roughness == pytest.approx(0.5**2 - 0.1**2, rel=0.2)


def test_before_any_measurement_nothing_is_a_surprise() -> None:
    posterior = begin(square(RBF(0.5)), noise=0.1)
    assert (posterior.surprise, posterior.plausibility, posterior.roughness) == (1.0, 1.0, 0.0)
    assert posterior.drift == posterior.afresh().drift == 0


# --------------------------------------------------------------------------------------- degenerate


@forms
def test_one_point(form: str) -> None:
    posterior = begun(form, Domain([0.3], kernel=ConstantKernel(4.0)), noise=1.0, mean=1.0).told([0, 0], [2.0, 4.0])
    assert posterior.mean[0] == pytest.approx(1 + 2 * 4 / (4 + 0.5))
    assert posterior.variance[0] == pytest.approx(1 / (1 / 4 + 2))


SINGULAR: dict[str, Callable[[], Domain]] = {
    "equal-points": lambda: Domain(np.repeat([[0.1], [0.5], [0.9]], 4, axis=0), kernel=Matern(0.5)),
    "all-equal": lambda: Domain(np.full((9, 2), 0.5), kernel=RBF(0.5)),
    "constant": lambda: Domain(np.linspace(0, 1, 10), kernel=ConstantKernel(2.0)),
    "linear-wide": lambda: Domain(np.random.default_rng(0).normal(size=(6, 20))),
    "linear-tall": lambda: Domain(np.random.default_rng(0).normal(size=(20, 3))),
    "zero-at-a-point": lambda: Domain(np.linspace(0, 1, 12)),
    "white": lambda: Domain(np.linspace(0, 1, 12), kernel=RBF(0.5) + WhiteKernel(0.5)),
    "tiny": lambda: Domain(np.linspace(0, 1, 12), kernel=1e-8 * RBF(0.5)),
    "huge": lambda: Domain(np.linspace(0, 1, 12), kernel=1e8 * RBF(0.5)),
}
singular = pytest.mark.parametrize("domain", [make() for make in SINGULAR.values()], ids=SINGULAR.keys())


@forms
@singular
@pytest.mark.parametrize("noise", [0.0, 0.2], ids=["noiseless", "noisy"])
def test_singular_kernels_have_the_posterior_of_the_formula(form: str, domain: Domain, noise: float) -> None:
    """With a function that the kernel allows, so that measurements without noise do not contradict each other."""
    kernel, rng = domain.gram(np.arange(domain.n)), np.random.default_rng(5)
    scale = float(np.diag(kernel).max())
    truth = kernel @ rng.normal(size=domain.n) / np.sqrt(scale)
    points = rng.integers(domain.n, size=30)
    sigma = np.full(30, noise * np.sqrt(scale))
    posterior = one_by_one(begun(form, domain, noise=noise), points, truth[points], sigma)
    variances = np.maximum(sigma**2, 1e-10 * scale)
    solved = np.linalg.solve(kernel[np.ix_(points, points)] + np.diag(variances), kernel[points])
    allowed = 1e-11 if noise else 1e-6
    np.testing.assert_allclose(matrix(posterior), kernel - kernel[:, points] @ solved, rtol=0, atol=allowed * scale)
    np.testing.assert_allclose(posterior.mean, solved.T @ truth[points], rtol=0, atol=10 * allowed * np.sqrt(scale))
    assert gap(posterior, posterior.afresh()) <= 10 * allowed * max(scale, np.sqrt(scale))
    assert (posterior.variance >= 0).all()
    if not noise:
        np.testing.assert_allclose(posterior.mean[points], truth[points], rtol=0, atol=1e-5 * np.sqrt(scale))


@forms
@singular
def test_what_is_measured_without_noise_stays_known(form: str, domain: Domain) -> None:
    """Hundreds of repeats, one by one, at once and afresh: K alone has no factor where it is singular."""
    scale = float(np.sqrt(domain.diagonal().max()))
    truth = scale * domain.gram(np.arange(domain.n))[0] / scale**2
    every = np.arange(domain.n)
    posterior = begun(form, domain, noise=0.0)
    for x in np.tile(every, 600 // domain.n):
        posterior = posterior.told([x], [truth[x]])
    once = begun(form, domain, noise=0.0).told(every.repeat(10**5), truth.repeat(10**5))
    for found in (posterior, once, posterior.afresh(), once.afresh()):
        np.testing.assert_allclose(found.mean, truth, rtol=0, atol=1e-5 * scale)
        assert found.deviation.max() <= 1e-5 * scale


def test_a_point_where_the_kernel_is_zero_has_the_prior_mean() -> None:
    posterior = begin(Domain(np.linspace(0, 1, 30)), noise=0.1, mean=2.0).told([0, 0, 29], [5.0, 6.0, 3.0])
    assert posterior.mean[0] == 2.0
    assert posterior.variance[0] == 0.0


def test_a_white_part_is_known_only_where_it_was_measured() -> None:
    domain = Domain(np.full((12, 1), 0.5), kernel=RBF(0.5) + WhiteKernel(0.5))
    posterior = begin(domain, noise=0.0).told([3], [1.5])
    assert posterior.mean[3] == pytest.approx(1.5)
    np.testing.assert_allclose(np.delete(posterior.mean, 3), 1.0, rtol=1e-8)
    np.testing.assert_allclose(np.delete(posterior.variance, 3), 1.5 - 1 / 1.5, rtol=1e-8)


@forms
def test_nothing_told_and_nothing_planned_change_nothing(form: str) -> None:
    posterior = begun(form, square(RBF(0.5))).told([1], [2.0])
    assert posterior.told([], []) is posterior
    planned = posterior.planned([])
    assert planned.after is posterior
    assert planned.rows.shape == (0, 60)
    assert posterior.columns([]).shape == (0, 60)


START = begin(square(RBF(0.5)), noise=0.1)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: START.told([1, 2], [0.0, np.nan]), "values[1] is nan: give finite numbers"),
        (lambda: START.told([1, 2], [np.inf, 0.0]), "values[0] is inf: give finite numbers"),
        (lambda: START.told([1, 2], [0.0]), "values is of shape (1,): give shape (2,)"),
        (lambda: START.told([], [0.0]), "values is of shape (1,): give shape (0,)"),
        (lambda: START.told([1], [0.0], noise=[0.1, 0.2]), "noise is of shape (2,): give shape (1,)"),
        (lambda: START.told([1], [0.0], noise=[-0.1]), "noise[0] is -0.1: give standard deviations >= 0"),
        (lambda: START.told([1], [0.0], noise=-1.0), "noise is -1.0: give a number >= 0"),
        (lambda: START.told([60], [0.0]), "points[0] is 60: give numbers of points, from 0 to 59"),
        (lambda: START.planned([0, -1]), "points[1] is -1: give numbers of points, from 0 to 59"),
        (lambda: START.columns([60]), "points[0] is 60: give numbers of points, from 0 to 59"),
        (lambda: begin(square(RBF(0.5)), noise=-0.1), "noise is -0.1: give a number >= 0"),
        (lambda: begin(square(RBF(0.5)), noise=[0.1]), "noise is of shape (1,): give shape (60,)"),
        (lambda: begin(square(RBF(0.5)), noise=0.1, mean=np.nan), "mean is nan: give a finite number"),
        (
            lambda: begin(Domain(np.zeros((3, 1))), noise=0.1),
            "domain.kernel is zero at every point: give a kernel under which f varies somewhere",
        ),
    ],
)
def test_bad_input_is_named(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(InputError, match="^" + re.escape(sentence) + "$"):
        call()


# --------------------------------------------------------------------------------------- promises


@forms
def test_nothing_told_changes_an_earlier_posterior(form: str) -> None:
    points, values, noise = data(60, 100)
    earlier = begun(form, square(Matern(0.3))).told(points[:20], values[:20])
    copies = [earlier.mean.copy(), earlier.variance.copy(), earlier.weights.copy(), earlier.sums.copy()]
    before = matrix(earlier)
    one_by_one(earlier, points, values, noise).afresh()
    earlier.planned(points)
    for array, copy in zip((earlier.mean, earlier.variance, earlier.weights, earlier.sums), copies, strict=True):
        np.testing.assert_array_equal(array, copy)
    np.testing.assert_array_equal(matrix(earlier), before)


@forms
def test_what_is_handed_out_cannot_be_changed(form: str) -> None:
    start = begun(form, square(Matern(0.3)))
    told = start.told([1, 2], [0.5, 1.0])
    planned = told.planned([4])
    for posterior in (start, told, told.afresh(), planned.after):
        for name in ("mean", "variance", "weights", "sums", "noise"):
            assert not getattr(posterior, name).flags.writeable
    assert not planned.rows.flags.writeable
    assert not planned.points.flags.writeable
    before = matrix(told)
    told.columns([3])[...] = np.nan  # a copy
    np.testing.assert_array_equal(matrix(told), before)


def test_what_was_given_is_not_kept() -> None:
    points, values, noise = np.array([3, 3, 5]), np.array([1.0, 2.0, 3.0]), np.full(60, 0.1)
    start = begin(square(RBF(0.5)), noise=noise)
    told = start.told(points, values, noise=noise[:3])
    mean = told.mean.copy()
    points[:], values[:], noise[:] = 0, np.nan, np.nan
    np.testing.assert_array_equal(told.mean, mean)
    np.testing.assert_allclose(start.noise, 0.01)


def test_a_posterior_says_what_it_knows_in_a_line() -> None:
    posterior = begin(square(RBF(0.5)), noise=0.1).told([1, 1, 2] * 500, np.zeros(1500))
    assert repr(posterior) == "GaussianPosterior(1,500 measurements at 2 of 60 points)"


@settings(max_examples=40)
@given(
    form=st.sampled_from(sorted(FORMS)),
    kernel=st.sampled_from([None, RBF(0.3), RBF(5.0), Matern(0.3), 1e6 * RBF(0.3) + WhiteKernel(10.0)]),
    blocks=st.lists(st.lists(st.integers(0, 14), min_size=1, max_size=20), min_size=1, max_size=6),
    noise=st.sampled_from([0.0, 1e-6, 0.1, 100.0]),
)
def test_measuring_never_adds_variance_and_leaves_a_covariance(
    form: str, kernel: Any, blocks: list[list[int]], noise: float
) -> None:
    posterior = begun(form, square(kernel, 15), noise=noise)
    scale = float(posterior.variance.max())
    for block in blocks:
        before, posterior = posterior, posterior.told(block, np.ones(len(block)))
        # A large domain's variances are computed anew each time, and each time rounded anew.
        rounding = 1e-14 * scale * (form == "large")
        assert (posterior.variance <= before.variance + rounding).all()
        assert (posterior.variance >= 0).all()
        found = matrix(posterior)
        np.testing.assert_allclose(found, found.T, rtol=0, atol=1e-12 * scale)
        np.testing.assert_allclose(np.diag(found), posterior.variance, rtol=0, atol=1e-12 * scale)
        assert np.linalg.eigvalsh((found + found.T) / 2).min() >= -1e-10 * scale
        assert np.isfinite(posterior.mean).all()


@pytest.mark.parametrize("points", [[2], [2, 0, 2]])
def test_planning_leaves_the_given_points_alone(points: list[int]) -> None:
    places = np.array(points)
    posterior = begin(Domain(np.linspace(0, 1, 5), kernel=RBF(0.2)), noise=0.1)
    planned = posterior.planned(places)
    assert places.flags.writeable
    assert not planned.points.flags.writeable
    assert planned.points.tolist() == sorted(set(points))


@forms
def test_of_many_at_once_each_point_in_turn_is_compared_with_what_those_before_it_predict(form: str) -> None:
    start = begun(form, square(RBF(0.4)), mean=-0.3).told([50, 51], [0.2, -1.0])
    points, values, noise = data(60, 80)
    turns = start
    for point in np.unique(points):
        own = points == point
        turns = turns.told(points[own], values[own], noise=noise[own])
    at_once = start.told(points, values, noise=noise, in_turn=True)
    before = start.told(points, values, noise=noise)
    assert gap(at_once, turns) <= 1e-11
    assert (at_once.terms, at_once.count) == (turns.terms, turns.count)
    assert at_once.squares == pytest.approx(turns.squares, rel=1e-9)
    assert at_once.excess == pytest.approx(turns.excess, rel=1e-9)
    assert before.squares == at_once.squares
    assert before.excess != pytest.approx(at_once.excess, rel=1e-3)
    assert gap(before, at_once) == 0.0
    one = start.told([7], [0.4]), start.told([7], [0.4], in_turn=True)
    assert one[0].excess == pytest.approx(one[1].excess, rel=1e-12)
