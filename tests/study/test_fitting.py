"""Kernel, noise and mean from measurements: what `hyperparameters.fit` finds, and nothing of what was given."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, DotProduct, Matern, WhiteKernel

import superlevel as sl
from superlevel import estimation, hyperparameters, kernels
from superlevel.arrays import Array
from superlevel.errors import InputError
from superlevel.estimation import Data
from superlevel.study import Result, Study
from superlevel.study.configuration import problem_of
from superlevel.study.fitting import fitted
from tests.study.campaigns import FIT, GREEDY, NOISE, TRUTH, N, X


def told(fit: tuple[str, ...], *, kernel: Any = None, noise: Any = NOISE, mean: float = 0.0, own: Any = None) -> Study:
    """All points measured twice."""
    domain = sl.Domain(X, RBF(0.2) if kernel is None else kernel)
    study = GREEDY.create(problem=GREEDY.problem(domain=domain, noise=noise, mean=mean, fit=fit))
    rng = np.random.default_rng(2)
    values = np.tile(TRUTH, 2) + NOISE * rng.standard_normal(2 * N)
    study.tell([Result(point=k % N, value=float(y), noise=own) for k, y in enumerate(values)])
    return study


def by_hand(study: Study, kernel: Any, **given: Any) -> hyperparameters.Fitted:
    ledger, at = study.ledger, study.ledger.measured
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sl.AssumptionWarning)
        return hyperparameters.fit(
            sl.Domain(X, kernel), ledger.point[at], ledger.value[at], seed=7, restarts=4, **given
        )


def data_of(study: Study) -> Data:
    """All that was measured."""
    ledger, at = study.ledger, study.ledger.measured
    return Data(points=ledger.point[at], values=ledger.value[at], noise=ledger.noise[at])


def deviations_of(study: Study) -> Array:
    """(n,) of one measurement at each point, as an estimate takes them."""
    return estimation._deviations(problem_of(study.ledger.created, None), data_of(study))


def test_the_likeliest_of_several_kernels_is_taken() -> None:
    study = told(FIT)
    found = fitted(study.ledger)
    start = float(np.ptp(X)) / 4
    tried = [by_hand(study, kernel) for kernel in (RBF(start), *(Matern(start, nu=nu) for nu in (0.5, 1.5, 2.5)))]
    best = max(tried, key=lambda each: each.log_likelihood)
    assert found.kernel == kernels.describe(best.kernel)
    assert (found.noise, found.mean, found.samples) == (best.noise, best.mean, 2 * N)
    assert found.doubts == list(best.warnings)
    assert found.noise == pytest.approx(NOISE, rel=0.5)


@pytest.mark.parametrize("kernel", [RBF(0.2), 2.0 * RBF(0.3, "fixed") + WhiteKernel(0.01), DotProduct(0.0), None])
@pytest.mark.parametrize("fit", [("noise",), ("mean",), ("noise", "mean")])
def test_what_is_given_stays_as_it_is(kernel: Any, fit: tuple[str, ...]) -> None:
    domain = sl.Domain(X, kernel)
    study = GREEDY.create(problem=GREEDY.problem(domain=domain, mean=0.25, fit=fit))
    study.tell([Result(point=k % N, value=float(TRUTH[k % N]) + 0.1 * (-1) ** (k // N)) for k in range(2 * N)])
    found = fitted(study.ledger)
    assert found.kernel == kernels.describe(kernel)
    assert (found.noise == NOISE) == ("noise" not in fit)
    assert (found.mean == 0.25) == ("mean" not in fit)


def test_noise_of_each_point_is_taken_as_given() -> None:
    noise = np.linspace(0.05, 0.3, N)
    study = told(("kernel",), noise=noise)
    found = fitted(study.ledger)
    assert found.noise == noise.tolist()
    best = max(
        (
            by_hand(study, kernel, noise=noise, mean=0.0)
            for kernel in (RBF(0.25), *(Matern(0.25, nu=nu) for nu in (0.5, 1.5, 2.5)))
        ),
        key=lambda each: each.log_likelihood,
    )
    assert found.kernel == kernels.describe(best.kernel)


def test_deviations_of_single_measurements_count_as_those_of_their_point() -> None:
    one, other = told(("kernel",), own=0.3), told(("kernel",), noise=0.3)
    assert fitted(one.ledger).kernel == fitted(other.ledger).kernel
    mixed = told(("kernel",))
    mixed.tell([Result(point=4, value=float(TRUTH[4]), noise=0.2)])
    deviations = deviations_of(mixed)
    precision = 2 / NOISE**2 + 1 / 0.2**2
    expected = np.full(N, NOISE)
    expected[4] = np.sqrt(3 / precision)
    assert deviations == pytest.approx(expected)


def test_a_measurement_without_noise_is_no_division_by_zero() -> None:
    study = told(("kernel",))
    study.tell([Result(point=4, value=float(TRUTH[4]), noise=0.0)])
    deviations = deviations_of(study)
    assert np.isfinite(deviations).all()
    assert np.asarray(deviations)[4] == 0.0
    assert fitted(study.ledger).samples == 2 * N + 1


def test_neither_order_nor_portions_change_an_estimate() -> None:
    one, other = told(FIT), GREEDY.create(problem=GREEDY.problem(fit=FIT))
    values = [(int(p), float(y)) for p, y in zip(one.ledger.point, one.ledger.value, strict=True)]
    for p, y in values[::-1]:
        other.tell([Result(point=p, value=y)])
    assert fitted(one.ledger) == fitted(other.ledger)


def test_of_very_many_points_some_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    study = told(("noise",))
    monkeypatch.setattr(estimation, "MOST", 5)
    some = estimation._some(data_of(study))
    places = np.unique(some.points)
    assert len(places) == 5
    assert {0, N - 1} <= set(places)
    assert len(some) == 10
    assert fitted(study.ledger).samples == 2 * N


def test_nothing_measured_is_nothing_to_estimate_from() -> None:
    with pytest.raises(InputError, match="tell some first"):
        fitted(GREEDY.create(problem=GREEDY.problem(fit=FIT)).ledger)


def test_equal_values_give_an_estimate_and_a_doubt() -> None:
    study = GREEDY.create(problem=GREEDY.problem(fit=FIT))
    study.tell([Result(point=k, value=0.0) for k in range(N)])
    found = fitted(study.ledger)
    assert any("all values are equal" in doubt for doubt in found.doubts)
    assert np.isfinite([found.noise, found.mean]).all()


def test_estimating_warns_nobody(recwarn: pytest.WarningsRecorder) -> None:
    fitted(told(FIT, kernel=DotProduct(0.0)).ledger)
    fitted(told(("noise",), kernel=DotProduct(0.0)).ledger)
    assert not recwarn.list
