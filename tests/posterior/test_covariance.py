"""Every form of the covariance against the dense matrix, and after more updates than a study makes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern, WhiteKernel

from superlevel.arrays import Array, Indices
from superlevel.domain import Domain
from superlevel.features import Features, embed
from superlevel.posterior import GaussianPosterior, begin, covariance, protocol
from superlevel.posterior.covariance import FeaturePrior, InFeatures, prior
from superlevel.posterior.downdated import Downdated
from superlevel.posterior.protocol import Covariance, Told

FORMS: dict[str, dict[str, Any]] = {
    "features": {"THIRD": 1, "ROOTS": 10**6},
    "stored": {"THIRD": 10**9},
    "computed": {"THIRD": 10**9, "STORED": 0},
    "large": {"THIRD": 10**9, "STORED": 0, "LARGE": 0},
}
KERNELS = {
    "rbf": RBF(0.3),
    "matern": ConstantKernel(2.5) * Matern(0.3, nu=1.5),
    "linear": None,
    "white": RBF(0.3) + WhiteKernel(0.2),
    "constant": ConstantKernel(3.0),
    "zero-at-a-point": DotProduct(sigma_0=0.0),
    "tiny": ConstantKernel(1e-8) * Matern(0.3),
    "huge": ConstantKernel(1e8) * Matern(0.3),
}
MANY = 5000
SOME = 2 * int(8 * MANY**0.5)
forms = pytest.mark.parametrize("form", FORMS)
updated = pytest.mark.parametrize("form", [form for form in FORMS if form != "large"])  # in which errors can add up
kernels = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())


def domain(kernel: Any, count: int = 40) -> Domain:
    """With the origin among the points, and one point twice."""
    points = np.random.default_rng(0).random((count, 2))
    points[0], points[-1] = 0.0, points[1]
    return Domain(points, kernel=kernel)


def begun(form: str, where: Domain, *, noise: float = 0.1, mean: float = 0.0) -> GaussianPosterior:
    """In a form that the domain might not choose by itself."""
    with mock.patch.multiple(covariance, **FORMS[form]):
        return begin(where, noise=noise, mean=mean)


def dense(where: Domain, points: Indices, variances: Array) -> Array:
    """K - K_X' (K_XX + D)^-1 K_X."""
    prior_matrix = where.gram(np.arange(where.n))
    inside = prior_matrix[np.ix_(points, points)] + np.diag(variances)
    return np.asarray(prior_matrix - prior_matrix[:, points] @ np.linalg.solve(inside, prior_matrix[points]))


def measured(form: str, where: Domain) -> tuple[Covariance, Array]:
    """Thirty points in three blocks, with noise that is in proportion to the kernel; and the dense matrix."""
    scale = float(where.diagonal().max())
    points = np.random.default_rng(1).permutation(where.n)[:30]
    variances = scale * np.random.default_rng(2).uniform(0.01, 0.1, size=30)
    with mock.patch.multiple(covariance, **FORMS[form]):
        found = prior(where).after(Told(mean=0.0, weights=np.zeros(where.n), sums=np.zeros(where.n))).covariance
    for block in (slice(1), slice(1, 4), slice(4, 30)):
        found = found.measured(points[block], variances[block]).after
    return found, dense(where, points, variances)


def everything(found: Covariance, count: int) -> Array:
    return found.columns(np.arange(count))


# ------------------------------------------------------------------------------------- dense formulas


@forms
@kernels
def test_columns_products_and_squares_are_those_of_the_dense_matrix(form: str, kernel: Any) -> None:
    where = domain(kernel)
    found, expected = measured(form, where)
    scale, rng = float(where.diagonal().max()), np.random.default_rng(3)
    some, vector, weights = np.array([7, 0, 7, 39]), rng.normal(size=where.n), rng.random(where.n)
    vector[::3] = weights[::2] = 0
    close: dict[str, Any] = {"rtol": 0, "atol": 1e-12 * scale}
    np.testing.assert_allclose(found.columns(some), expected[some], **close)
    np.testing.assert_allclose(found.diagonal(), np.diag(expected), **close)
    np.testing.assert_allclose(found.times(vector), expected @ vector, rtol=0, atol=1e-11 * scale)
    for shares in (weights, np.where(np.arange(where.n) == 5, 2.0, 0.0)):
        np.testing.assert_allclose(found.squares(shares), expected**2 @ shares, rtol=0, atol=1e-11 * scale**2)
    np.testing.assert_array_equal(found.squares(np.zeros(where.n)), 0)
    assert found.columns(np.arange(0)).shape == (0, where.n)


@forms
@kernels
def test_rows_and_factor_say_what_a_measurement_does(form: str, kernel: Any) -> None:
    where = domain(kernel)
    before, _ = measured(form, where)
    points, scale = np.array([3, 11]), float(where.diagonal().max())
    change = before.measured(points, np.full(2, 0.05 * scale))
    old, new = everything(before, where.n), everything(change.after, where.n)
    np.testing.assert_allclose(old - change.rows.T @ change.rows, new, rtol=0, atol=1e-12 * scale)
    inside = old[np.ix_(points, points)] + 0.05 * scale * np.eye(2)
    np.testing.assert_allclose(change.factor @ change.factor.T, inside, rtol=0, atol=1e-12 * scale)


@forms
@kernels
def test_a_covariance_that_was_handed_out_stays_what_it_was(form: str, kernel: Any) -> None:
    where = domain(kernel)
    found, _ = measured(form, where)
    before = everything(found, where.n)
    later = found
    for x in range(where.n):
        later = later.measured(np.array([x]), np.array([0.1])).after
    found.columns(np.arange(3))[...] = np.nan
    np.testing.assert_array_equal(everything(found, where.n), before)
    assert np.isfinite(everything(later, where.n)).all()


@forms
@pytest.mark.parametrize("block", [1, 100], ids=["point-by-point", "at-once"])
def test_products_do_not_depend_on_how_many_covariances_are_held(form: str, block: int) -> None:
    where = domain(Matern(0.3))
    found, _ = measured(form, where)
    weights = np.arange(where.n, dtype=np.float64)
    expected = found.squares(weights), found.times(weights)
    with mock.patch.object(protocol, "HELD", block):
        np.testing.assert_allclose(found.squares(weights), expected[0], rtol=1e-12)
        np.testing.assert_allclose(found.times(weights), expected[1], rtol=0, atol=1e-11)


# ------------------------------------------------------------------------------------- choice of form


@pytest.mark.parametrize(
    ("kernel", "count", "stored", "expected"),
    [
        (RBF(0.5), 300, 6000, "InFeatures"),
        (None, 300, 6000, "InFeatures"),
        (ConstantKernel(2.0), 300, 6000, "InFeatures"),
        (Matern(0.3, nu=1.5), 300, 6000, "Stored"),
        (RBF(0.5) + WhiteKernel(0.1), 300, 6000, "Stored"),
        (RBF(0.5), 2, 6000, "Stored"),
        (None, 5, 6000, "Stored"),
        (Matern(0.3, nu=1.5), 300, 299, "Computed"),
    ],
)
def test_the_form_is_the_cheapest_one(kernel: Any, count: int, stored: int, expected: str) -> None:
    with mock.patch.object(covariance, "STORED", stored):
        found = begin(domain(kernel, count), noise=0.1).covariance
    kept = found if isinstance(found, InFeatures) else found.base if isinstance(found, Downdated) else None
    assert type(kept).__name__ == expected


def test_the_rank_is_that_of_the_features_or_the_points() -> None:
    assert begin(domain(None, 300), noise=0.1).rank == 2
    assert begin(domain(Matern(0.3), 300), noise=0.1).rank == 300


# ------------------------------------------------------------------------------------- many updates


def gap(left: GaussianPosterior, right: GaussianPosterior) -> float:
    """Largest difference of covariances; they are at most 1 before any measurement."""
    every = np.arange(len(left.mean))
    covariances = np.abs(left.columns(every) - right.columns(every)).max()
    return float(max(covariances, np.abs(left.variance - right.variance).max()))


def after_many(form: str, updates: int, *, noise: float, count: int) -> GaussianPosterior:
    where = Domain(np.linspace(0, 1, count), kernel=RBF(0.3) if form == "features" else Matern(0.3, nu=1.5))
    posterior, rng = begun(form, where, noise=noise), np.random.default_rng(0)
    truth = np.sin(6 * where.points[:, 0])
    for x in rng.integers(count, size=updates):
        posterior = posterior.told([x], [truth[x] + noise * rng.normal()])
    return posterior


def check_many(form: str, updates: int, *, noise: float, allowed: float, count: int = 40) -> None:
    posterior = after_many(form, updates, noise=noise, count=count)
    matrix = posterior.columns(np.arange(count))
    least = float(np.linalg.eigvalsh((matrix + matrix.T) / 2).min())
    fresh = posterior.afresh()
    error, moved = gap(posterior, fresh), float(np.abs(posterior.mean - fresh.mean).max())
    print(  # noqa: T201
        f"{form}, {updates:,} updates, noise {noise:g}: error {error:.1e}, of the mean {moved:.1e}, "
        f"drift {posterior.drift:.1e}, least eigenvalue {least:.1e}, computed afresh {posterior.refreshed} times"
    )
    assert posterior.count == updates
    assert np.abs(matrix - matrix.T).max() <= 1e-12
    assert least >= -1e-10
    assert (posterior.variance >= 0).all()
    np.testing.assert_allclose(posterior.variance, np.diag(matrix), rtol=0, atol=allowed)
    assert error <= allowed
    assert moved <= 1e-9
    assert posterior.covariance.kept <= 2 * count + 256 + 1


@forms
def test_many_updates_leave_the_covariance_of_the_data(form: str) -> None:
    check_many(form, 4000, noise=0.1, allowed=1e-12)


@forms
def test_many_updates_with_hardly_any_noise_do_too(form: str) -> None:
    check_many(form, 1500, noise=1e-4, allowed=1e-12)


@pytest.mark.slow
@forms
@pytest.mark.parametrize("noise", [1e-4, 0.1])
def test_a_hundred_thousand_updates_leave_the_covariance_of_the_data(form: str, noise: float) -> None:
    check_many(form, 10**5, noise=noise, allowed=1e-12, count=50)


def corrupted(posterior: GaussianPosterior, by: float) -> GaussianPosterior:
    """The same with a covariance that is wrong."""
    found = posterior.covariance
    rng = np.random.default_rng(4)
    if isinstance(found, InFeatures):
        error = by * rng.normal(size=found.inner.shape)
        return replace(posterior, covariance=replace(found, inner=found.inner + error + error.T))
    assert isinstance(found, Downdated)
    first, *others = found.blocks
    return replace(posterior, covariance=replace(found, blocks=(first + by * rng.normal(size=first.shape), *others)))


@updated
def test_a_wrong_covariance_is_noticed_and_put_right(form: str) -> None:
    posterior = after_many(form, 100, noise=0.1, count=40)
    assert posterior.drift <= 1e-12
    assert posterior.refreshed == 0
    wrong = corrupted(posterior, by=1e-6)
    assert 1e-8 <= wrong.drift <= 0.1
    assert gap(wrong, posterior) >= 1e-8
    rng = np.random.default_rng(5)
    for x in rng.integers(40, size=200):
        wrong = wrong.told([x], [rng.normal()])
    assert wrong.refreshed == 1
    assert wrong.drift <= 1e-11
    assert gap(wrong, wrong.afresh()) <= 1e-12


@updated
def test_without_a_look_at_the_drift_it_would_stay_wrong(form: str) -> None:
    wrong = corrupted(after_many(form, 100, noise=0.1, count=40), by=1e-6)
    rng = np.random.default_rng(5)
    with mock.patch("superlevel.posterior.gaussian.DRIFT", np.inf):
        for x in rng.integers(40, size=200):
            wrong = wrong.told([x], [rng.normal()])
    assert wrong.refreshed == 0
    assert gap(wrong, wrong.afresh()) >= 1e-9


def test_repeats_do_not_make_the_rows_grow() -> None:
    posterior = begun("computed", domain(Matern(0.3)), noise=0.1)
    most = 0
    for k in range(900):
        posterior = posterior.told([k % 3], [0.0])
        most = max(most, posterior.covariance.kept)
    assert most <= 2 * 3 + 256
    assert posterior.refreshed == 0  # not for the drift
    assert gap(posterior, posterior.afresh()) <= 1e-12


@pytest.mark.parametrize(
    ("kernel", "embedded"), [(Matern(0.1, nu=0.5), [SOME]), (RBF(0.5), [SOME, MANY])], ids=["rough", "smooth"]
)
def test_some_of_many_points_show_that_features_are_too_many(
    kernel: Any, embedded: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Features of all points would take minutes and gigabytes, and would not be used."""
    counts: list[int] = []

    def recorded(given: Any, points: Array, **options: Any) -> Features:
        counts.append(len(points))
        return embed(given, points, **options)

    monkeypatch.setattr(covariance, "embed", recorded)
    found = prior(Domain(np.random.default_rng(0).random((MANY, 2)), kernel=kernel))
    assert counts == embedded
    assert isinstance(found, FeaturePrior) is (MANY in embedded)
