from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest

from superlevel.domain import Domain
from superlevel.errors import InputError
from superlevel.goals import FractionOfMax, Threshold
from superlevel.problem import Problem

DOMAIN = Domain([0.0, 0.5, 1.0])


def make(**changes: Any) -> Problem:
    return Problem(**{"domain": DOMAIN, "goal": Threshold(20.0), "noise": 0.5, **changes})


def test_defaults() -> None:
    problem = Problem(DOMAIN, goal=Threshold(20.0), noise=0.5)
    assert problem.domain is DOMAIN
    assert (problem.goal, problem.noise) == (Threshold(20.0), 0.5)
    assert (problem.delta, problem.mean, problem.misspecification, problem.tolerance) == (0.1, 0.0, 0.0, 0.0)
    assert (problem.bound, problem.norm, problem.ridge) == (None, None, None)
    assert (problem.cost, problem.fit) == (1.0, ())


def test_only_the_domain_is_positional() -> None:
    with pytest.raises(TypeError, match="positional"):
        Problem(DOMAIN, Threshold(20.0), noise=0.5)  # type: ignore[call-arg]


@pytest.mark.parametrize("name", ["noise", "bound", "mean", "norm", "misspecification", "tolerance", "ridge"])
@pytest.mark.parametrize("value", [2, np.float32(2.0), np.int64(2)])
def test_numbers_become_plain_floats(name: str, value: object) -> None:
    number = getattr(make(**{name: value}), name)
    assert type(number) is float
    assert number == 2.0


@pytest.mark.parametrize("name", ["noise", "misspecification", "tolerance", "ridge"])
def test_zero_is_allowed_where_it_means_something(name: str) -> None:
    assert getattr(make(**{name: 0}), name) == 0.0


POSITIVE, NOT_NEGATIVE, PROBABILITY = "give a number > 0", "give a number >= 0", "give a number > 0 and < 1"


@pytest.mark.parametrize(
    ("name", "values", "remedy"),
    [
        ("noise", [-0.5, np.nan, np.inf, "0.5", True], NOT_NEGATIVE),
        ("bound", [0.0, -1.0, np.inf, "1", False], POSITIVE),
        ("norm", [0.0, -1.0, np.nan, [1.0]], POSITIVE),
        ("delta", [0.0, 1.0, 10, np.nan, None], PROBABILITY),
        ("mean", [np.nan, np.inf, None, "0"], "give a finite number"),
        ("misspecification", [-1e-9, np.inf, None], NOT_NEGATIVE),
        ("tolerance", [-1.0, np.nan, None], NOT_NEGATIVE),
        ("ridge", [-1.0, np.inf, "auto"], NOT_NEGATIVE),
    ],
)
def test_a_bad_number_is_named(name: str, values: list[object], remedy: str) -> None:
    for value in values:
        with pytest.raises(InputError) as caught:
            make(**{name: value})
        assert str(caught.value) == f"{name} is {value!r}: {remedy}"


@pytest.mark.parametrize("given", [[0.1, 0.0, 0.3], (0.1, 0.0, 0.3), np.array([0.1, 0.0, 0.3])])
def test_noise_may_differ_from_point_to_point(given: Any) -> None:
    noise = make(noise=given).noise
    assert isinstance(noise, np.ndarray)
    assert noise.dtype == np.float64
    assert not noise.flags.writeable
    np.testing.assert_array_equal(noise, [0.1, 0.0, 0.3])


def test_noise_is_a_copy() -> None:
    given = np.array([0.1, 0.2, 0.3])
    problem = make(noise=given)
    given[0] = 9.0
    np.testing.assert_array_equal(problem.noise, [0.1, 0.2, 0.3])


def test_a_column_of_a_frame_is_noise_too() -> None:
    pandas = pytest.importorskip("pandas")
    np.testing.assert_array_equal(make(noise=pandas.Series([0.1, 0.2, 0.3])).noise, [0.1, 0.2, 0.3])


@pytest.mark.parametrize(
    ("noise", "sentence"),
    [
        ([0.1, 0.2], "noise is of shape (2,): give shape (3,)"),
        ([], "noise is of shape (0,): give shape (3,)"),
        (np.ones((3, 1)), "noise is of shape (3, 1): give shape (3,)"),
        ([0.1, -0.2, -0.3], "noise[1] is -0.2: give standard deviations >= 0"),
        ([0.1, 0.2, np.nan], "noise[2] is nan: give finite numbers"),
    ],
)
def test_bad_deviations_are_named(noise: Any, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        make(noise=noise)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("domain", "got"), [(np.ones((3, 1)), "ndarray"), (None, "NoneType"), (Domain, "type"), ("points.csv", "str")]
)
def test_what_is_no_domain_is_named(domain: Any, got: str) -> None:
    with pytest.raises(InputError) as caught:
        make(domain=domain)
    assert str(caught.value) == f"domain is of type {got}: give Domain(points, kernel=...)"


@pytest.mark.parametrize(
    ("goal", "got"), [(20.0, "20.0"), (None, "None"), ("max", "'max'"), (Threshold, "<class 'super...it.Threshold'>")]
)
def test_what_is_no_goal_is_named(goal: Any, got: str) -> None:
    with pytest.raises(InputError) as caught:
        make(goal=goal)
    remedy = "give a goal such as Threshold(20.0), Band(10.0, 20.0) or FractionOfMax(0.1)"
    assert str(caught.value) == f"goal is {got}: {remedy}"


def test_a_problem_stays_as_it_is_and_a_changed_copy_is_checked() -> None:
    problem = make()
    with pytest.raises(FrozenInstanceError):
        problem.delta = 0.5  # type: ignore[misc]
    assert replace(problem, goal=FractionOfMax(0.2)).goal == FractionOfMax(0.2)
    with pytest.raises(InputError, match="delta is 2"):
        replace(problem, delta=2)


def test_problems_are_compared_by_identity_because_they_hold_arrays() -> None:
    problem = make()
    assert problem == problem  # noqa: PLR0124
    assert problem != make()
    assert len({problem, make()}) == 2


# --- what is estimated from the measurements


@pytest.mark.parametrize(
    ("noise", "fit", "fitted"),
    [
        (0.5, (), ()),
        (None, (), ("noise",)),
        (0.5, ("noise",), ("noise",)),
        (None, ["mean", "kernel"], ("kernel", "noise", "mean")),
        (0.5, ["mean", "mean"], ("mean",)),
        (0.5, {"mean": 1, "kernel": 2}, ("kernel", "mean")),
    ],
)
def test_what_is_to_be_fitted_is_in_one_order_and_holds_the_noise_that_is_not_given(
    noise: float | None, fit: Any, fitted: tuple[str, ...]
) -> None:
    assert make(noise=noise, fit=fit).fit == fitted


@pytest.mark.parametrize("fit", ["noise", "kernel", ("norm",), ["noise", "level"], None, 1, [None]])
def test_what_cannot_be_fitted_is_named(fit: Any) -> None:
    with pytest.raises(InputError) as caught:
        make(fit=fit)
    assert str(caught.value) == f"fit is {fit!r}: give a list out of kernel, noise, mean"


def test_noise_that_is_given_is_known_at_every_point() -> None:
    assert make(noise=0.25).known_noise == 0.25
    np.testing.assert_array_equal(make(noise=0.25).deviations, [0.25, 0.25, 0.25])
    np.testing.assert_array_equal(make(noise=[0.1, 0.2, 0.0]).deviations, [0.1, 0.2, 0.0])


@pytest.mark.parametrize("name", ["known_noise", "deviations"])
def test_noise_that_is_not_given_is_asked_for_where_it_is_needed(name: str) -> None:
    with pytest.raises(InputError) as caught:
        getattr(make(noise=None), name)
    remedy = "give the standard deviation of one measurement: it cannot be estimated here"
    assert str(caught.value) == f"noise is None: {remedy}"
