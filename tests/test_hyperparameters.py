from __future__ import annotations

import warnings
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    ExpSineSquared,
    Matern,
    RationalQuadratic,
    WhiteKernel,
)

from superlevel import hyperparameters
from superlevel.arrays import Array, Indices
from superlevel.domain import Domain
from superlevel.errors import AssumptionWarning, InputError
from superlevel.hyperparameters import Fitted, fit

SIDE = np.linspace(0.0, 1.0, 12)
GRID = np.stack(np.meshgrid(SIDE, SIDE), axis=-1).reshape(-1, 2)
STEP = 1.0 / 11.0
MEAN, NOISE = 18.0, 0.3
TRUTH = ConstantKernel(4.0) * RBF([0.25, 0.5])


def world(count: int = 200, *, seed: int = 0, noise: Any = NOISE) -> tuple[Indices, Array]:
    """Measurements, some of them repeated, of a function drawn from TRUTH."""
    rng = np.random.default_rng(seed)
    root = np.linalg.cholesky(TRUTH(GRID) + 1e-9 * np.eye(len(GRID)))
    f = MEAN + root @ rng.standard_normal(len(GRID))
    indices = rng.integers(0, len(GRID), size=count)
    deviations = np.broadcast_to(noise, len(GRID))
    return indices, f[indices] + deviations[indices] * rng.standard_normal(count)


def quiet(*given: Any, **options: Any) -> Fitted:
    """A fit whose doubts are looked at elsewhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        return fit(*given, **options)


def density(fitted: Fitted, domain: Domain, indices: Any, values: Any, **changes: Any) -> float:
    """The other road: one normal density of all measurements, none of them merged, K as the domain gives it."""
    kernel, noise, mean = (changes.get(name, getattr(fitted, name)) for name in ("kernel", "noise", "mean"))
    where = np.asarray(indices)
    gram = Domain(domain.points, kernel).gram(where)
    covariance = gram + np.diag(np.broadcast_to(noise, domain.n)[where] ** 2)
    return float(multivariate_normal(np.full(len(where), mean), covariance, allow_singular=True).logpdf(values))


def ranges(fitted: Fitted) -> dict[str, tuple[float, float]]:
    return {name: (lower, upper) for name, _, lower, upper in fitted.parameters}


# --- the likelihood and its maximum

KERNELS = [
    RBF(0.1),
    RBF([0.1, 0.1]),
    2.0 * Matern(0.3, nu=2.5),
    RationalQuadratic(0.3),
    RBF(0.3) + WhiteKernel(0.1),
    RBF(0.3) * DotProduct(1.0),
    None,
]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("options", [{}, {"noise": 0.4}, {"noise": np.linspace(0.2, 0.5, 144), "mean": 17.0}])
def test_the_likelihood_is_the_normal_density_of_all_measurements(kernel: Any, options: dict[str, Any]) -> None:
    indices, values = world(60)
    assert len(np.unique(indices)) < 60
    domain = Domain(GRID, kernel)
    fitted = quiet(domain, indices, values, restarts=1, **options)
    assert fitted.log_likelihood == pytest.approx(density(fitted, domain, indices, values), rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("kernel", KERNELS[:4], ids=str)
def test_no_small_change_of_anything_is_better(kernel: Any) -> None:
    indices, values = world(120)
    domain = Domain(GRID, kernel)
    fitted = quiet(domain, indices, values, restarts=3)
    theta, free = fitted.kernel.theta, {item.name for item in fitted.parameters if item.end is None}
    best = density(fitted, domain, indices, values)
    assert {"noise", fitted.parameters[0].name} <= free
    for factor in (0.98, 1.02):
        changes: list[dict[str, Any]] = [{"noise": factor * fitted.noise}, {"mean": fitted.mean + 5 * (factor - 1)}]
        for j, item in enumerate(fitted.parameters[:-1]):
            if item.name in free:
                moved = theta + np.log(factor) * (np.arange(len(theta)) == j)
                changes.append({"kernel": fitted.kernel.clone_with_theta(moved)})
        assert len(changes) >= 3
        for change in changes:
            assert density(fitted, domain, indices, values, **change) < best


def test_what_the_function_was_drawn_from_comes_back() -> None:
    indices, values = world(400)
    fitted = fit(Domain(GRID, RBF([1.0, 1.0]), names=["east", "north"]), indices, values)
    found = {item.name: item.value for item in fitted.parameters}
    assert found["k2__length_scale[east]"] == pytest.approx(0.25, rel=0.3)
    assert found["k2__length_scale[north]"] == pytest.approx(0.5, rel=0.3)
    assert found["noise"] == fitted.noise == pytest.approx(NOISE, rel=0.1)
    assert 1.0 < found["k1__constant_value"] < 16.0
    assert abs(fitted.mean - MEAN) < 3.0
    assert (fitted.warnings, fitted.at_bound) == ((), ())
    assert fitted.agreement >= 2


@pytest.mark.parametrize("noise", [0.3, np.linspace(0.2, 0.4, 144)], ids=["one", "each"])
def test_with_given_noise_and_mean_scikit_learn_finds_the_same(noise: Any) -> None:
    indices, values = world(100, noise=noise)
    kernel = ConstantKernel(1.0, (0.01, 100.0)) * RBF(0.3, (0.05, 5.0))
    fitted = fit(Domain(GRID, kernel), indices, values, noise=noise, mean=MEAN, restarts=2)
    alpha = np.broadcast_to(noise, 144)[indices] ** 2
    other = GaussianProcessRegressor(kernel, alpha=alpha, n_restarts_optimizer=2, random_state=0)
    other.fit(GRID[indices], values - MEAN)
    assert fitted.log_likelihood == pytest.approx(other.log_marginal_likelihood_value_, abs=1e-5)
    np.testing.assert_allclose(fitted.kernel.theta, other.kernel_.theta, atol=1e-3)
    assert fitted.mean == MEAN
    np.testing.assert_array_equal(fitted.noise, noise)


def test_with_fitted_noise_scikit_learn_finds_the_same() -> None:
    indices, values = world(100)
    kernel = ConstantKernel(1.0, (0.01, 100.0)) * RBF(0.3, (0.05, 5.0))
    fitted = fit(Domain(GRID, kernel), indices, values, mean=MEAN, restarts=2)
    other = GaussianProcessRegressor(kernel + WhiteKernel(0.1), alpha=0.0, n_restarts_optimizer=2, random_state=0)
    other.fit(GRID[indices], values - MEAN)
    assert fitted.log_likelihood == pytest.approx(other.log_marginal_likelihood_value_, abs=1e-5)
    assert fitted.noise == pytest.approx(np.sqrt(other.kernel_.k2.noise_level), rel=1e-3)


def test_the_mean_is_that_of_generalised_least_squares() -> None:
    indices, values = world(80)
    fitted = fit(Domain(GRID, RBF(0.3)), indices, values, restarts=2)
    noise = float(fitted.noise)
    inverse = np.linalg.inv(fitted.kernel(GRID[indices]) + noise**2 * np.eye(80))
    assert fitted.mean == pytest.approx(float(inverse.sum(axis=0) @ values / inverse.sum()), rel=1e-6)


def test_shifting_the_values_shifts_the_mean_and_scaling_them_scales_the_rest() -> None:
    indices, values = world(80)
    domain = Domain(GRID, RBF(0.3))
    plain = fit(domain, indices, values, restarts=2)
    other = fit(domain, indices, 1000.0 * (values + 50.0), restarts=2)
    assert other.mean == pytest.approx(1000.0 * (plain.mean + 50.0), rel=1e-4)
    assert other.noise == pytest.approx(1000.0 * plain.noise, rel=1e-3)
    np.testing.assert_allclose(other.kernel.theta - plain.kernel.theta, [2 * np.log(1000.0), 0.0], atol=1e-3)


def test_a_white_kernel_is_shared_by_all_measurements_of_a_point_and_the_noise_is_not() -> None:
    rng = np.random.default_rng(3)
    points, indices = np.arange(60.0), np.repeat(np.arange(60), 5)
    f = rng.standard_normal(60)  # independent from point to point
    fitted = fit(Domain(points, WhiteKernel(1.0)), indices, f[indices] + 0.1 * rng.standard_normal(300), mean=0.0)
    assert fitted.kernel.noise_level == pytest.approx(np.mean(f**2), rel=0.05)
    assert fitted.noise == pytest.approx(0.1, rel=0.15)


# --- kernels, amplitudes, ranges


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (None, ["k1__constant_value"]),
        (RBF(0.3), ["k1__constant_value", "k2__length_scale"]),
        (2.0 * RBF(0.3), ["k1__constant_value", "k2__length_scale"]),
        (ConstantKernel(2.0, "fixed") * RBF(0.3), ["k2__length_scale"]),
        (RBF(0.3, "fixed"), ["k1__constant_value"]),
        (RBF(0.3) + WhiteKernel(0.1, "fixed"), ["k1__k1__constant_value", "k1__k2__length_scale"]),
        (RBF(0.3) ** 2, ["k1__constant_value", "k2__kernel__length_scale"]),
    ],
    ids=str,
)
def test_an_amplitude_is_added_where_none_is_stated(kernel: Any, expected: list[str]) -> None:
    indices, values = world(40)
    fitted = quiet(Domain(GRID, kernel), indices, values, restarts=1)
    assert [item.name for item in fitted.parameters] == [*expected, "noise"]


def test_no_amplitude_is_added_where_none_is_wanted() -> None:
    indices, values = world(40)
    fitted = quiet(Domain(GRID, RBF(0.3)), indices, values, amplitude=False, restarts=1)
    assert isinstance(fitted.kernel, RBF)
    linear = quiet(Domain(GRID), indices, values, amplitude=False, restarts=1)
    assert linear.kernel == DotProduct(0.0, "fixed")


def test_fixed_values_stay_as_they_are() -> None:
    indices, values = world(40)
    kernel = ConstantKernel(2.5, "fixed") * RBF(0.35, "fixed")
    domain = Domain(GRID, kernel)
    fitted = fit(domain, indices, values, noise=0.3, mean=MEAN, restarts=5)
    assert fitted.kernel == kernel
    assert (fitted.parameters, fitted.restarts, fitted.agreement) == ((), 1, 1)
    assert fitted.log_likelihood == pytest.approx(density(fitted, domain, indices, values), rel=1e-8)


def test_ranges_come_from_points_and_values() -> None:
    indices, values = world(60)
    points = GRID * [1.0, 10.0]
    scale = float(np.var(values))
    one = ranges(quiet(Domain(points, RBF(0.3)), indices, values, restarts=1))
    assert one["k1__constant_value"] == pytest.approx((0.01 * scale, 100.0 * scale))
    assert one["k2__length_scale"] == pytest.approx((STEP, 3.0 * np.hypot(1.0, 10.0)))
    assert one["noise"] == pytest.approx((1e-3 * np.sqrt(scale), 2.0 * np.sqrt(scale)))
    each = ranges(quiet(Domain(points, RBF([0.3, 0.3])), indices, values, restarts=1))
    assert each["k2__length_scale[x0]"] == pytest.approx((STEP, 3.0))
    assert each["k2__length_scale[x1]"] == pytest.approx((10.0 * STEP, 30.0))


def test_given_bounds_are_kept_one_by_one() -> None:
    indices, values = world(60)
    kernel = ConstantKernel(1.0, (0.5, 50.0)) * RBF([0.3, 0.3], [(0.2, 0.4), (1e-5, 1e5)])
    fitted = quiet(Domain(GRID, kernel), indices, values, restarts=2)
    found = ranges(fitted)
    assert found["k1__constant_value"] == pytest.approx((0.5, 50.0))
    assert found["k2__length_scale[x0]"] == pytest.approx((0.2, 0.4))
    assert found["k2__length_scale[x1]"] == pytest.approx((STEP, 3.0))
    np.testing.assert_array_equal(fitted.kernel.k2.length_scale_bounds, [(0.2, 0.4), (1e-5, 1e5)])


def test_what_is_no_length_is_not_taken_for_one() -> None:
    x = np.linspace(0.0, 4.0, 60)
    values = np.sin(2 * np.pi * x / 1.3) + 0.1 * np.random.default_rng(0).standard_normal(60)
    fitted = quiet(Domain(x, ExpSineSquared(1.0, 1.2)), np.arange(60), values, restarts=1)
    found = ranges(fitted)
    assert found["k2__length_scale"] == pytest.approx((1e-2, 1e2))
    assert found["k2__periodicity"] == pytest.approx((4.0 / 59.0, 12.0))
    assert fitted.kernel.k2.periodicity == pytest.approx(1.3, rel=0.05)


@pytest.mark.parametrize("offset", [0.0, 1000.0])
def test_the_linear_kernel_finds_a_slope_wherever_the_origin_is(offset: float) -> None:
    rng = np.random.default_rng(0)
    x = np.linspace(0.0, 1.0, 50)
    values = 3.0 * x + 0.05 * rng.standard_normal(50)
    fitted = fit(Domain(x + offset), np.arange(50), values)
    assert fitted.kernel.k1.constant_value == pytest.approx(9.0, rel=0.05)  # one slope: its square is the variance
    assert fitted.noise == pytest.approx(0.05, rel=0.2)
    assert fitted.at_bound == ()


def test_the_given_kernel_is_not_changed() -> None:
    indices, values = world(40)
    kernel = 2.0 * RBF(0.3)
    quiet(Domain(GRID, kernel), indices, values, restarts=2)
    assert kernel == 2.0 * RBF(0.3)


# --- the report


def test_a_value_at_its_bound_is_named_with_the_remedy() -> None:
    indices, values = world(200)
    domain = Domain(GRID, RBF(0.1, (0.05, 0.12)))
    with pytest.warns(AssumptionWarning) as caught:
        fitted = fit(domain, indices, values, restarts=2)
    assert fitted.at_bound == ("k2__length_scale = 0.12",)
    sentence = (
        "k2__length_scale is 0.12, at the upper end of its range [0.05, 0.12]: the likelihood rises beyond, "
        "so measure more or give the kernel other bounds for it or hold it fixed"
    )
    assert fitted.warnings == (sentence,) == tuple(str(item.message) for item in caught)


def test_too_few_data_are_called_so_and_fitted_all_the_same() -> None:
    indices, values = world(5)
    with pytest.warns(AssumptionWarning):
        fitted = fit(Domain(GRID, RBF(0.3)), indices, values, restarts=2)
    assert fitted.warnings[0] == (
        "too few data (5 measurements, 5 different points, 4 fitted numbers): "
        "measure at least 10 times, at 12 points, or hold some numbers fixed"
    )
    assert np.isfinite(fitted.log_likelihood)


@pytest.mark.parametrize("value", [7.0, 0.0, -1e9, 0.1 + 0.2])
@pytest.mark.parametrize("options", [{}, {"noise": 0.0}, {"noise": 0.5}, {"mean": 5.0}])
def test_equal_values_get_a_sentence_and_an_answer(value: float, options: dict[str, Any]) -> None:
    with pytest.warns(AssumptionWarning):
        fitted = fit(Domain(GRID, RBF(0.3)), np.arange(30), np.full(30, value), restarts=2, **options)
    assert fitted.warnings[0].startswith("all values are equal")
    assert np.isfinite(fitted.log_likelihood)
    assert fitted.mean == pytest.approx(options.get("mean", value), abs=1e-6 * max(1.0, abs(value)))


@pytest.mark.parametrize("kernel", [RBF(0.3), RBF([0.3, 0.3]), None], ids=str)
@pytest.mark.parametrize(("indices", "values"), [([4], [7.0]), ([4, 4], [7.0, 8.0])])
def test_one_point_gets_an_answer(kernel: Any, indices: list[int], values: list[float]) -> None:
    for domain in (Domain(GRID, kernel), Domain(GRID[:5] * 0.0 + 1.0, kernel)):
        fitted = quiet(domain, indices, values, restarts=2)
        assert any(doubt.startswith("too few data") for doubt in fitted.warnings)
        assert np.isfinite(fitted.log_likelihood)
        assert np.isfinite(fitted.noise).all()
        assert fitted.mean == pytest.approx(np.mean(values))


def test_rows_with_the_same_coordinates_are_no_trouble() -> None:
    indices, values = world(60)
    domain = Domain(np.vstack([GRID, GRID]), RBF(0.3))
    once = quiet(Domain(GRID, RBF(0.3)), indices, values, restarts=2)
    twice = quiet(domain, np.where(np.arange(60) % 2, indices, indices + 144), values, restarts=2)
    assert twice.log_likelihood == pytest.approx(once.log_likelihood, abs=1e-6)


def test_without_noise_smooth_kernels_still_get_an_answer() -> None:
    x = np.linspace(0.0, 1.0, 60)
    fitted = quiet(Domain(x, RBF(0.1)), np.arange(60), np.sin(6.0 * x), noise=0.0, restarts=3)
    assert fitted.noise == 0.0
    assert 0.1 < fitted.kernel.k2.length_scale < 3.0


def test_repetitions_that_contradict_the_given_noise_are_noticed() -> None:
    indices, values = world(200)
    fitted = quiet(Domain(GRID, RBF(0.3)), indices, values, noise=0.05, restarts=1)
    assert "more than the given noise explains" in fitted.warnings[0]
    assert not fit(Domain(GRID, RBF(0.3)), indices, values, noise=NOISE, restarts=1).warnings


def test_noise_and_a_rough_function_cannot_be_told_apart_without_repetitions() -> None:
    values = np.random.default_rng(0).standard_normal(100)
    fitted = quiet(Domain(np.arange(100.0), RBF(0.2, "fixed")), np.arange(100), values, restarts=1)
    assert "noise and function cannot be told apart" in fitted.warnings[0]


def test_a_lonely_best_start_and_a_search_that_ends_too_early_are_doubts(monkeypatch: pytest.MonkeyPatch) -> None:
    indices, values = world(60)
    climb, ends = hyperparameters._climb, iter([-80.0, -50.0, -50.2, -70.0])

    def stopped(*given: Any) -> Any:
        return climb(*given)._replace(value=next(ends), slope=0.5)

    monkeypatch.setattr(hyperparameters, "_climb", stopped)
    fitted = quiet(Domain(GRID, RBF(0.3)), indices, values, restarts=4)
    assert (fitted.log_likelihood, fitted.agreement, fitted.restarts) == (-50.0, 1, 4)
    assert fitted.warnings == (
        "the search ended where the log-likelihood still rises (slope 0.5): raise restarts",
        "only 1 of 4 starts reached the best likelihood: raise restarts",
    )


def test_the_report_has_a_line_for_each_number() -> None:
    indices, values = world(60)
    domain = Domain(GRID, RBF(0.3))
    fitted = fit(domain, indices, values, restarts=2)
    head, *lines = str(fitted).splitlines()
    assert head == repr(fitted)
    assert "60 measurements at" in head
    assert "2 of 2 starts agree" in head
    assert [line.split()[0] for line in lines] == ["k1__constant_value", "k2__length_scale", "noise", "mean"]
    assert f"in [{STEP:.4g}, {3 * np.sqrt(2):.4g}]" in lines[1]
    given = fit(domain, indices, values, noise=np.linspace(0.3, 0.5, 144), restarts=1)
    assert "0.3 to 0.5" in str(given)
    few = str(quiet(domain, indices[:5], values[:5], restarts=1)).splitlines()
    assert any(line.startswith("  warning: too few data") for line in few)


def test_the_fitted_kernel_makes_a_domain_and_can_be_fitted_again() -> None:
    indices, values = world(60)
    domain = Domain(GRID, RBF(0.3), names=["east", "north"])
    fitted = fit(domain, indices, values, restarts=2)
    again = fitted.domain(domain)
    assert again.kernel is fitted.kernel
    assert again.names == ("east", "north")
    np.testing.assert_array_equal(again.points, GRID)
    refitted = fit(again, indices, values, restarts=1)
    assert refitted.log_likelihood == pytest.approx(fitted.log_likelihood, abs=1e-6)
    assert ranges(refitted) == ranges(fitted)


def test_the_seed_decides() -> None:
    indices, values = world(40)
    domain = Domain(GRID, RBF(0.3))
    first, second = (quiet(domain, indices, values, restarts=3, seed=7) for _ in range(2))
    assert str(first) == str(second)
    assert first.log_likelihood == second.log_likelihood
    other = quiet(domain, indices, values, restarts=3, seed=8)
    assert other.log_likelihood == pytest.approx(first.log_likelihood, abs=1e-4)


def test_a_result_stays_as_it_is() -> None:
    indices, values = world(40)
    noise = np.full(144, 0.3)
    fitted = quiet(Domain(GRID, RBF(0.3)), indices, values, noise=noise, restarts=1)
    noise[0] = 9.0
    assert isinstance(fitted.noise, np.ndarray)
    assert fitted.noise[0] == 0.3
    assert not fitted.noise.flags.writeable
    with pytest.raises(FrozenInstanceError):
        fitted.mean = 0.0  # type: ignore[misc]


# --- mistakes


class OwnKernel:
    """Enough for a domain, not enough for a fit."""

    def __call__(self, left: Array, right: Array | None = None) -> Array:
        return left @ (left if right is None else right).T

    def diag(self, points: Array) -> Array:
        return np.asarray(np.square(points).sum(axis=1))

    def __repr__(self) -> str:
        return "OwnKernel()"


WHOLE = "give a list of whole numbers, one for each measurement"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"domain": GRID}, "domain is of type ndarray: give Domain(points, kernel=...)"),
        (
            {"domain": Domain(GRID, OwnKernel())},
            "domain.kernel is OwnKernel(): give a kernel of sklearn.gaussian_process.kernels",
        ),
        ({"indices": [0, 1, 144]}, "indices[2] is 144: give numbers of points, from 0 to 143"),
        ({"indices": [0, -1, 2]}, "indices[1] is -1: give numbers of points, from 0 to 143"),
        ({"indices": [0.0, 1.0, 2.0]}, f"indices is of type float64 and shape (3,): {WHOLE}"),
        ({"indices": [True, False, True]}, f"indices is of type bool and shape (3,): {WHOLE}"),
        ({"indices": [[0, 1, 2]]}, f"indices is of type int64 and shape (1, 3): {WHOLE}"),
        ({"indices": [], "values": []}, "indices is empty: give the point of each measurement"),
        ({"values": [1.0, 2.0]}, "values is of shape (2,): give shape (3,)"),
        ({"values": [1.0, np.nan, 3.0]}, "values[1] is nan: give finite numbers"),
        ({"values": [1.0, np.inf, 3.0]}, "values[1] is inf: give finite numbers"),
        ({"noise": -1.0}, "noise is -1.0: give a number >= 0"),
        ({"noise": "small"}, "noise is 'small': give a number >= 0"),
        ({"noise": [0.1, 0.2]}, "noise is of shape (2,): give shape (144,)"),
        ({"mean": np.nan}, "mean is nan: give a finite number"),
        ({"restarts": 0}, "restarts is 0: give a whole number >= 1"),
        ({"amplitude": "no"}, "amplitude is 'no': give True or False"),
        ({"values": [1e200, 0.0, 1.0]}, "values is as large as 1e+200: rescale them to between 1e-100 and 1e+100"),
        ({"seed": -1}, "seed is -1: give a whole number >= 0"),
        ({"seed": None}, "seed is None: give a whole number >= 0"),
        (
            {"domain": Domain(GRID, RBF(0.3, (0.1, np.inf)))},
            'k2__length_scale_bounds is [[0.1, inf]]: give 0 < lower < upper < inf or "fixed"',
        ),
        (
            {"domain": Domain(GRID, RBF(0.3, (0.5, 0.1)))},
            'k2__length_scale_bounds is [[0.5, 0.1]]: give 0 < lower < upper < inf or "fixed"',
        ),
    ],
)
def test_a_mistake_gets_a_sentence(changes: dict[str, Any], sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hyperparameters, "_climb", lambda *_: pytest.fail("computed before everything was checked"))
    given = {"domain": Domain(GRID, RBF(0.3)), "indices": [0, 1, 2], "values": [1.0, 2.0, 3.0], **changes}
    with pytest.raises(InputError) as caught:
        fit(**given)
    assert str(caught.value) == sentence


def test_a_kernel_that_is_singular_everywhere_gets_a_sentence() -> None:
    domain = Domain(GRID, ConstantKernel(1e30, (1e29, 1e31)) * RBF(3.0, "fixed"))
    with pytest.raises(InputError, match="singular wherever it was tried: give a larger noise or other bounds"):
        fit(domain, np.arange(100), np.sin(np.arange(100)), noise=0.0, restarts=2)
