"""Transforms by themselves: increasing, undone by their inverse, and refusing what they are not defined for."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import superlevel as sl
from superlevel.errors import InputError
from superlevel.transforms import IDENTITY, LOG, SQRT, Transform, as_transform, box_cox, fitted_box_cox

KNOWN = [LOG, SQRT, box_cox(0.3), box_cox(0.5), box_cox(1.0)]
each = pytest.mark.parametrize("transform", [IDENTITY, *KNOWN], ids=repr)
positive = st.floats(1e-6, 1e6)


@each
@given(one=positive, other=positive)
def test_the_inverse_undoes_it_and_the_order_stays(transform: Transform, one: float, other: float) -> None:
    np.testing.assert_allclose(transform.inverse(transform(one)), one, rtol=1e-9)
    assert (transform(one) > transform(other)) == (one > other) or math.isclose(one, other, rel_tol=1e-9)


@each
@given(value=st.floats(0.1, 100.0), noise=st.floats(1e-4, 0.01))
def test_a_deviation_is_the_derivative_times_the_noise(transform: Transform, value: float, noise: float) -> None:
    """Against a difference quotient of the transform itself."""
    found = transform.deviations(np.array([value]), np.array([noise * value]))[0]
    quotient = (transform(value * (1 + 1e-6)) - transform(value * (1 - 1e-6))) / (2e-6 * value)
    assert found == pytest.approx(float(quotient) * noise * value, rel=1e-4)


def test_a_deviation_at_zero_is_finite_and_one_that_is_missing_stays_missing() -> None:
    found = SQRT.deviations(np.array([0.0, 4.0, 4.0, 0.0]), np.array([0.25, 0.4, np.nan, 0.0]))
    np.testing.assert_allclose(found, [0.5, 0.1, np.nan, 0.0])


def test_what_has_no_transform_is_minus_infinity_as_a_level_and_refused_as_a_value() -> None:
    assert LOG([-1.0, 0.0, 1.0]).tolist() == [-math.inf, -math.inf, 0.0]
    assert SQRT([-1.0, 0.0, 4.0]).tolist() == [-math.inf, 0.0, 2.0]
    assert math.isnan(LOG(np.nan))
    with pytest.raises(InputError, match="value is 0: the logarithm needs a value above 0"):
        LOG.check("value", 0.0)
    with pytest.raises(InputError, match="values is -2: the square root needs a value of at least 0"):
        SQRT.check("values", np.array([1.0, -2.0, -3.0]))
    SQRT.check("value", 0.0)


def test_an_interval_that_no_value_reaches_ends_at_the_nearest_one() -> None:
    assert SQRT.inverse([-3.0, -math.inf, 2.0]).tolist() == [0.0, 0.0, 4.0]
    assert LOG.inverse([-math.inf, math.inf]).tolist() == [0.0, math.inf]


@pytest.mark.parametrize("transform", KNOWN, ids=repr)
@given(level=st.floats(0.1, 50.0), share=st.floats(0.001, 2.0))
def test_a_tolerance_is_within_the_users_on_both_sides(transform: Transform, level: float, share: float) -> None:
    room = transform.tolerance((level,), share * level)
    assert room > 0
    low, high = transform.inverse(transform(level) - room), transform.inverse(transform(level) + room)
    assert level * (1 - share) - 1e-9 * level <= low <= level <= high <= level * (1 + share) * (1 + 1e-9)


def test_names_and_nonsense() -> None:
    assert as_transform(None) is as_transform("") is IDENTITY
    assert as_transform("log") is as_transform(LOG) is LOG
    for wrong in ("ln", 3, True, "box-cox", "box-cox much", "box-coxx 1"):
        with pytest.raises(InputError, match=r"give 'log', 'sqrt' or 'box-cox 0\.3', or leave it out"):
            as_transform(wrong)
    for wrong in ("box-cox -0.1", "box-cox 2.1", "box-cox nan"):
        with pytest.raises(InputError, match=r"transform is .*: give a number >= 0 and <= 2"):
            as_transform(wrong)


@each
def test_a_transform_is_found_by_its_name_in_another_process_too(transform: Transform) -> None:
    assert as_transform(transform.name) is as_transform(transform) is transform
    assert pickle.loads(pickle.dumps(transform)) is transform


# ------------------------------------------------------------------------------------------- Box-Cox

parameters = st.floats(0.0, 2.0, allow_subnormal=False)
samples = st.lists(st.floats(1e-3, 1e3), min_size=8, max_size=40, unique=True)


@given(parameter=parameters, value=positive)
def test_box_cox_is_the_one_of_scipy_and_its_name_has_the_parameter_to_the_last_bit(
    parameter: float, value: float
) -> None:
    transform = box_cox(parameter)
    assert float(transform(value)) == pytest.approx(float(stats.boxcox([value], parameter)[0]), rel=1e-9, abs=1e-12)
    assert as_transform(transform.name) is transform


@given(parameter=parameters, values=st.lists(positive, min_size=2, max_size=9))
def test_box_cox_never_reverses_an_order(parameter: float, values: list[float]) -> None:
    ordered = np.sort(values)
    assert (np.diff(box_cox(parameter)(ordered)) >= 0).all()
    assert (np.diff(box_cox(parameter).inverse(np.linspace(-3, 3, 9))) >= 0).all()


@given(value=positive)
def test_box_cox_of_0_is_the_logarithm_of_almost_0_nearly_and_of_a_half_the_square_root(value: float) -> None:
    assert box_cox(0.0) is as_transform("box-cox 0") is LOG
    assert float(box_cox(1e-9)(value)) == pytest.approx(math.log(value), abs=1e-6)
    assert float(box_cox(0.5)(value)) == pytest.approx(2 * (float(SQRT(value)) - 1), abs=1e-9)
    assert float(box_cox(1.0)(value)) == pytest.approx(value - 1, rel=1e-9, abs=1e-9)


def test_what_no_value_reaches_becomes_0() -> None:
    assert box_cox(0.5).inverse([-math.inf, -3.0, -2.0, 0.0, math.inf]).tolist() == [0.0, 0.0, 0.0, 1.0, math.inf]
    assert math.isnan(box_cox(0.5).inverse(math.nan))
    with pytest.raises(InputError, match="value is 0: the Box-Cox transform needs a value above 0"):
        box_cox(0.3).check("value", 0.0)


@given(values=samples, unit=st.floats(1e-3, 1e3))
def test_the_fitted_parameter_is_the_likeliest_of_a_grid_in_any_unit(values: list[float], unit: float) -> None:
    found = fitted_box_cox(np.array(values) * unit)
    parameter = 0.0 if found is LOG else float(found.name.split()[1])
    likelihoods = [float(stats.boxcox_llf(tried, np.array(values))) for tried in [parameter, *np.linspace(0, 2, 201)]]
    assert likelihoods[0] >= max(likelihoods) - 1e-3 * len(values)


def test_the_fitted_parameter_is_that_of_scipy_and_forgets_blanks() -> None:
    values = np.square(np.random.default_rng(5).normal(5.0, 1.0, size=400))
    found = fitted_box_cox([*values, np.nan])
    assert float(found.name.split()[1]) == pytest.approx(stats.boxcox_normmax(values, method="mle"), abs=0.005)
    assert fitted_box_cox(np.exp(np.random.default_rng(6).normal(size=2000))).name in {"log", "box-cox 0.01"}


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([1.0] * 30, "values is 1 different numbers: give at least 8, or the parameter itself"),
        ([], "values is 0 different numbers"),
        ([1.0, 0.0, 2.0], "values is 0: the Box-Cox transform needs a value above 0"),
        ([1.0, math.inf] * 9, "values is infinite: give finite numbers"),
    ],
)
def test_a_pilot_without_a_likeliest_parameter_is_refused(values: list[float], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        fitted_box_cox(values)


# ------------------------------------------------------------------------------------------ problems

DOMAIN = sl.Domain([0.0, 0.5, 1.0])


def test_a_problem_moves_levels_and_keeps_the_rest() -> None:
    problem = sl.Problem(DOMAIN, goal=sl.Band(1.0, math.e), noise=0.1, norm=2.0, tolerance=0.1, transform="log")
    posed = problem.transformed
    np.testing.assert_allclose(posed.goal.levels, [0.0, 1.0])
    assert posed.tolerance == pytest.approx(math.log1p(0.1 / math.e))
    assert (posed.noise, posed.norm, posed.scale) == (0.1, 2.0, IDENTITY)
    plain = sl.Problem(DOMAIN, goal=sl.Threshold(-1.0), noise=0.1)
    assert plain.transformed is plain


@pytest.mark.parametrize(
    ("goal", "transform", "sentence"),
    [
        (sl.Threshold(0.0), "log", "goal is above 0: the logarithm needs levels above 0"),
        (sl.Levels([-1.0, 2.0]), "sqrt", "the square root needs levels of at least 0"),
        (sl.FractionOfMax(0.1), "log", "a fraction of the maximum is not that of the logarithm"),
        (sl.FractionOfMax(0.1), "sqrt", "a fraction of the maximum is not that of the square root"),
        (sl.Threshold(1.0), "cube", "transform is 'cube': give 'log', 'sqrt' or 'box-cox 0.3'"),
        (sl.Threshold(0.0), "box-cox 0.3", "goal is above 0: the Box-Cox transform needs levels above 0"),
        (sl.FractionOfMax(0.1), "box-cox 1", "a fraction of the maximum is not that of the Box-Cox transform"),
    ],
)
def test_a_goal_that_means_something_else_is_refused(goal: sl.Goal, transform: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        sl.Problem(DOMAIN, goal=goal, noise=0.1, transform=transform)


def test_bounds_are_for_untransformed_problems() -> None:
    problem = sl.Problem(DOMAIN, goal=sl.Threshold(1.0), noise=0.1, bound=1.0, transform="log")
    with pytest.raises(InputError, match=r"give problem\.transformed, and the logarithm of the values"):
        sl.bounds.upper(problem, [1.0, 2.0, 3.0])
