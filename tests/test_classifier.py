"""The averaged estimate with scikit-learn's conventions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr
from sklearn.utils.estimator_checks import check_estimator

import superlevel as sl
from superlevel.averaging import Data, average

RNG = np.random.default_rng(3)
X = RNG.random((40, 2))
TRUTH = np.sin(5 * X[:, 0]) + X[:, 1]
Y = TRUTH + 0.1 * RNG.standard_normal(40)
LEVEL = 0.8
NEW = np.random.default_rng(4).random((60, 2))


@pytest.fixture(scope="module")
def found() -> Any:
    return sl.LevelSetClassifier(threshold=LEVEL).fit(X, Y)


def test_scikit_learn_s_checks_pass_with_no_expected_failure() -> None:
    results = check_estimator(sl.LevelSetClassifier(), on_fail=None, on_skip=None)
    assert len(results) > 40
    assert [(each["check_name"], each["exception"]) for each in results if each["status"] == "failed"] == []
    skipped = {each["check_name"] for each in results if each["status"] == "skipped"}
    assert skipped <= {"check_array_api_input"}  # needs a variable of the environment


def test_probabilities_are_those_of_the_averaged_estimate(found: Any) -> None:
    problem = sl.Problem(sl.Domain(np.unique(X, axis=0)), goal=sl.Threshold(LEVEL), fit=("kernel", "noise", "mean"))
    order = np.lexsort(X.T[::-1])
    data = Data(points=np.arange(40), values=Y[order], noise=np.full(40, np.nan))
    below = average(problem, data).predict(np.arange(40)).below(LEVEL)
    np.testing.assert_allclose(found.predict_proba(X[order]), np.column_stack([below, 1 - below]), atol=1e-9)


def test_sides_probabilities_and_deviates_agree_and_are_mostly_right(found: Any) -> None:
    chances, deviates, sides = found.predict_proba(NEW), found.decision_function(NEW), found.predict(NEW)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    np.testing.assert_array_equal(sides, np.where(chances[:, 1] > 0.5, 1, -1))
    np.testing.assert_allclose(ndtr(deviates), chances[:, 1], atol=1e-9)
    real = np.sin(5 * NEW[:, 0]) + NEW[:, 1]
    assert found.score(NEW, real) == np.mean(sides == np.where(real > LEVEL, 1, -1)) > 0.9


def test_two_classes_are_the_sides_of_a_level_between_them() -> None:
    named = np.where(TRUTH > LEVEL, "deep", "shallow")
    found = sl.LevelSetClassifier().fit(X, named)
    coded = sl.LevelSetClassifier(threshold=0.0).fit(X, np.where(named == "shallow", 1.0, -1.0))
    assert found.classes_.tolist() == ["deep", "shallow"]
    np.testing.assert_array_equal(found.predict_proba(NEW), coded.predict_proba(NEW))


@pytest.mark.parametrize(
    ("y", "said"),
    [(Y, "Unknown label type: continuous"), (np.arange(40) % 3, "two classes"), (np.ones(40), "one class")],
)
def test_without_a_threshold_y_must_have_two_classes(y: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        sl.LevelSetClassifier().fit(X, y)


def test_a_frame_gives_names_and_gets_its_own_rows_back(found: Any) -> None:
    names = ["east", "north"]
    framed = sl.LevelSetClassifier(threshold=LEVEL).fit(pd.DataFrame(X, columns=names), pd.Series(Y))
    assert framed.feature_names_in_.tolist() == names
    places = pd.DataFrame(NEW, columns=names, index=[f"p{k}" for k in range(60)])
    np.testing.assert_array_equal(framed.predict(places), found.predict(NEW))
    batch = framed.query(places, batch=4)
    assert list(batch.columns) == names
    assert len(batch) == 4
    pd.testing.assert_frame_equal(batch, places.loc[batch.index])
    np.testing.assert_array_equal(batch.to_numpy(), found.query(NEW, batch=4))


def test_a_query_is_among_the_candidates_and_near_the_level(found: Any) -> None:
    batch = found.query(NEW, batch=6)
    assert batch.shape == (6, 2)
    assert all((row == NEW).all(axis=1).any() for row in batch)
    doubt = np.abs(found.decision_function(NEW))
    assert np.median(np.abs(found.decision_function(batch))) < np.median(doubt)
    np.testing.assert_array_equal(found.query(NEW[:1], batch=3), np.repeat(NEW[:1], 3, axis=0))


def test_before_a_pilot_is_complete_a_query_is_far_from_all_that_was_measured() -> None:
    few = sl.LevelSetClassifier(threshold=0.5).fit([[0.0], [0.1], [0.2]], [0.0, 1.0, 0.2])
    assert few.query(np.array([[0.0], [0.15], [1.0]]), batch=1).tolist() == [[1.0]]
    assert few.query(np.array([[0.0]]), batch=2).tolist() == [[0.0], [0.0]]


@pytest.mark.parametrize("points", [[[1.0, 2.0]] * 5, [[0.0, 2.0], [1.0, 2.0], [3.0, 2.0], [4.0, 2.0], [5.0, 2.0]]])
@pytest.mark.parametrize("values", [[1.0] * 5, [0.0, 1.0, 0.5, 0.25, 2.0]])
def test_equal_places_and_equal_values_have_probabilities(points: list[list[float]], values: list[float]) -> None:
    chances = sl.LevelSetClassifier(threshold=0.7).fit(points, values).predict_proba([[1.0, 2.0], [9.0, 2.0]])
    assert np.isfinite(chances).all()


def test_bad_numbers_are_a_sentence() -> None:
    with pytest.raises(ValueError, match="give real values"):
        sl.LevelSetClassifier(threshold=0.0).fit([[1.0], [2.0]], ["a", "b"])
    with pytest.raises(ValueError, match="NaN"):
        sl.LevelSetClassifier(threshold=0.0).fit([[np.nan]], [1.0])
    with pytest.raises(sl.InputError, match="threshold is"):
        sl.LevelSetClassifier(threshold=np.inf).fit(X, Y)
    with pytest.raises(sl.InputError, match="batch is 0"):
        sl.LevelSetClassifier(threshold=0.0).fit(X, Y).query(X, batch=0)
