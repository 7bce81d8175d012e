"""Estimators as values: the same one in every process."""

from __future__ import annotations

import pickle

import pytest

from superlevel.errors import InputError
from superlevel.robust import CATONI, MEDIAN_OF_MEANS, TRIMMED_MEAN, Estimator
from superlevel.robust.estimators import MEAN, as_estimator


@pytest.mark.parametrize("estimator", [CATONI, MEDIAN_OF_MEANS, TRIMMED_MEAN, MEAN], ids=lambda each: each.name)
def test_an_estimator_that_was_sent_to_another_process_is_the_same_one(estimator: Estimator) -> None:
    sent = pickle.loads(pickle.dumps(estimator))
    assert sent == estimator
    assert hash(sent) == hash(estimator)
    assert repr(sent) == repr(estimator) == f"Estimator(name={estimator.name!r})"
    assert as_estimator(estimator.name) is estimator


def test_estimators_differ_and_a_name_that_none_has_is_an_error() -> None:
    assert len({CATONI, MEDIAN_OF_MEANS, TRIMMED_MEAN, MEAN}) == 4
    with pytest.raises(InputError, match="CATONI"):
        as_estimator("median")
