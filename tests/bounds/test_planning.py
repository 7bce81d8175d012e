"""A plan is the other bounds side by side."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from superlevel.bounds import ESTIMATES, Case, Row, explicit, foretell, implicit, norm_of, plan, planning, rounds, upper
from superlevel.domain import Domain
from superlevel.errors import InputError
from superlevel.goals import FractionOfMax, Goal, Threshold
from superlevel.problem import Problem

from .oracle import benchmark, normal

POINTS = normal(0, 8, 3)
VALUES = POINTS @ [0.2, 0.3, -0.1]


def make(goal: Goal, **changes: Any) -> Problem:
    return Problem(**{"domain": Domain(POINTS), "goal": goal, "noise": 0.5, "bound": 1.0, **changes})


def by_name(problem: Problem, values: Any = VALUES, **options: Any) -> dict[str, Row]:
    return {row.name: row for row in plan(problem, values, **options).rows}


@pytest.mark.parametrize(("goal", "algorithm"), [(Threshold(0.1), "MELK"), (FractionOfMax(0.3), "MILK")])
def test_every_row_is_what_its_function_says(goal: Goal, algorithm: str) -> None:
    problem = make(goal)
    rows = by_name(problem)
    lower = (
        explicit(problem.domain, VALUES, threshold=0.1, noise=0.5)
        if isinstance(goal, Threshold)
        else implicit(problem.domain, VALUES, epsilon=0.3, noise=0.5)
    )
    ends = upper(problem, VALUES)
    expected = {
        "lower bound": lower.samples,
        f"{algorithm} with ridge, typical": foretell(problem, VALUES).samples,
        f"{algorithm} with ridge, at worst": foretell(problem, VALUES, at_worst=True).samples,
        f"{algorithm} at best": sum(each.samples for each in rounds(problem, VALUES)),
        f"{algorithm} at worst": sum(each.samples for each in rounds(problem, VALUES, error=2.0)),
        "theorem as printed": ends.printed,
        "theorem as proved": ends.samples,
    }
    assert {name: rows[name].measurements for name in expected} == expected
    assert all(row.ratio == pytest.approx(row.measurements / lower.samples) for row in rows.values())
    assert all(row.assumes for row in rows.values())
    ridge = [f"{algorithm} with ridge, typical", f"{algorithm} with ridge, at worst"]
    order = ["lower bound", *ridge, f"{algorithm} at best", f"{algorithm} at worst", "theorem as proved"]
    assert [rows[name].measurements for name in order] == sorted(rows[name].measurements for name in order)


def test_the_benchmark_of_the_paper() -> None:
    points, values = benchmark()
    rows = by_name(make(Threshold(0.5), domain=Domain(points), noise=1.0), values)
    assert rows["lower bound"].measurements == pytest.approx(372, abs=1)
    assert rows["MELK at worst"].measurements == pytest.approx(3.1e6, rel=0.01)
    assert rows["MELK at worst"].ratio == pytest.approx(8340, rel=0.01)
    assert 1 < rows["MELK with ridge, typical"].ratio < 15


def test_unequal_noise_counts_point_by_point_below_and_as_the_largest_above() -> None:
    noise = np.linspace(0.1, 0.5, 8)
    some, all_ = by_name(make(Threshold(0.1), noise=noise)), by_name(make(Threshold(0.1)))
    assert some["lower bound"].measurements < all_["lower bound"].measurements
    assert some["theorem as proved"].measurements == all_["theorem as proved"].measurements
    expected = explicit(Domain(POINTS), VALUES, threshold=0.1, noise=noise).samples
    assert some["lower bound"].measurements == expected


@pytest.mark.parametrize("noise", [0.0, np.array([0.0, *np.ones(7)])])
def test_without_noise_the_lower_bound_is_nothing(noise: Any) -> None:
    rows = by_name(make(Threshold(0.1), noise=noise))
    assert rows["lower bound"].measurements == 0.0
    assert np.isnan(rows["lower bound"].ratio)
    assert rows["theorem as proved"].ratio == np.inf


@pytest.mark.parametrize("goal", [Threshold(0.5), FractionOfMax(0.5)])
def test_a_point_at_the_level_never_ends_and_says_so(goal: Goal) -> None:
    problem = make(goal, domain=Domain(np.eye(3)))
    rows = plan(problem, [1.0, 0.5, 0.2]).rows
    assert all(row.measurements == np.inf for row in rows)
    assert sum("never ends" in row.assumes for row in rows) >= 2
    ended = plan(make(goal, domain=Domain(np.eye(3)), tolerance=0.1), [1.0, 0.5, 0.2]).rows
    assert all(np.isfinite(row.measurements) for row in ended[1:])


def test_a_point_too_near_to_the_level_is_more_than_can_be_counted() -> None:
    rows = by_name(make(Threshold(0.0), domain=Domain(np.eye(2))), [1.0, 1e-9])
    assert rows["lower bound"].measurements == pytest.approx(2 * 0.25 * np.log(1 / 0.24) * 1e18, rel=0.02)
    assert rows["MELK at worst"].measurements == np.inf
    assert "2^53" in rows["MELK at worst"].assumes
    row = rows["MELK with ridge, at worst"]
    assert (row.measurements, row.exceeded) == (1e7, True)
    assert np.isnan(row.ratio)


def test_a_guessed_bound_is_written_into_the_rows() -> None:
    guessed, given = by_name(make(Threshold(0.1), bound=None)), by_name(make(Threshold(0.1)))
    largest = 1.5 * np.abs(VALUES).max()
    row = guessed["MELK at worst"]
    assert f"{largest:.4g}" in plan(make(Threshold(0.1), bound=None), VALUES).case.about_the_bound
    assert row.measurements == by_name(make(Threshold(0.1), bound=largest))["MELK at worst"].measurements
    assert row.measurements != given["MELK at worst"].measurements


def test_a_norm_is_guessed_where_neither_norm_nor_bound_is_given() -> None:
    problem = make(Threshold(0.1), bound=None)
    found = plan(problem, VALUES)
    assert norm_of(problem, VALUES) == pytest.approx(np.linalg.norm([0.2, 0.3, -0.1]))
    assert "||f - mean|| <= 0.5612, 1.5 times that of the guess" in found.case.about_the_norm
    row = {row.name: row for row in found.rows}["MELK with ridge, typical"]
    assert row.assumes == "sub-Gaussian noise, ||f - mean|| <= 0.5612; estimates without error"
    assert row.measurements == foretell(make(Threshold(0.1), bound=None, norm=0.5612486), VALUES).samples
    assert plan(make(Threshold(0.1), norm=2.0), VALUES, estimates=()).case.about_the_norm == "||f - mean|| <= 2"
    alone = plan(make(Threshold(0.1)), VALUES, estimates=(planning.typical_ridge,))
    assert alone.case.about_the_norm == "no norm, so that the bound takes its place"
    assert "|f - mean| <= bound" in alone.rows[0].assumes


def test_a_norm_below_that_of_the_guess_ends_the_ridge_rows_and_no_others() -> None:
    rows = by_name(make(Threshold(0.1), norm=0.1))
    assert rows["MELK with ridge, typical"].measurements == np.inf
    assert rows["MELK with ridge, typical"].assumes == "norm is 0.1, but the guess has one of 0.3742"
    assert rows["MELK at worst"].measurements == by_name(make(Threshold(0.1)))["MELK at worst"].measurements


def test_a_guess_that_the_kernel_smooths_is_not_compared_with_a_bound_for_another_function() -> None:
    line = np.linspace(0, 1, 25)
    noisy = np.sin(5 * line) + 0.3 * np.random.default_rng(0).normal(size=25)
    problem = make(Threshold(0.2), domain=Domain(line, RBF(0.3)), bound=None, tolerance=0.1)
    (row,) = plan(problem, noisy, estimates=(planning.typical_ridge,)).rows
    assert np.isfinite(row.measurements)
    assert np.isnan(row.ratio)
    assert "the guess as the kernel smooths it, by 0." in row.assumes


def test_pairs_that_are_too_many_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "PAIRS", 7)
    (row,) = plan(make(FractionOfMax(0.3)), VALUES, estimates=(planning.typical_ridge,)).rows
    assert np.isnan(row.measurements)
    assert row.assumes == "not counted beyond 7 points"


def test_a_kernel_with_a_ridge_says_what_it_hides() -> None:
    line = np.linspace(0, 1, 25)
    problem = make(Threshold(0.2), domain=Domain(line, RBF(0.3)), tolerance=0.1, ridge=1e-3)
    rows = by_name(problem, np.sin(5 * line))
    assert "ridge" in rows["theorem as proved"].assumes
    # The ridge is the algorithms'; the lower bound has the one that weakens it least.
    expected = explicit(problem.domain, np.sin(5 * line), threshold=0.2, noise=0.5, tolerance=0.1).samples
    assert rows["lower bound"].measurements == expected
    larger = by_name(problem, np.sin(5 * line), ridge=0.1)
    assert larger["theorem as proved"].measurements < rows["theorem as proved"].measurements
    assert larger["lower bound"].measurements == expected


def test_another_estimate_is_one_function() -> None:
    def lower_bound_and_a_tenth(case: Case) -> Row:
        assert case.lower is not None
        return case.row("mine", 1.1 * case.lower.samples, "nothing")

    rows = plan(make(Threshold(0.1)), VALUES, estimates=(*ESTIMATES, lower_bound_and_a_tenth)).rows
    assert len(rows) == len(ESTIMATES) + 1
    assert rows[-1].ratio == pytest.approx(1.1)


def test_bad_values_are_named_before_anything_is_computed() -> None:
    with pytest.raises(InputError, match=re.escape("values is of shape (2,): give shape (8,)")):
        plan(make(Threshold(0.1)), [1.0, 2.0])
    with pytest.raises(InputError, match=re.escape("bound is 0.01: give the problem one of at least")):
        plan(make(Threshold(0.1), bound=0.01), VALUES)
