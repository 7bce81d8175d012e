"""Designs as data: every number comes back, and so does what it proves."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from superlevel import design
from superlevel.study import designs
from superlevel.study.events import Certified, Sparse

ARMS = np.random.default_rng(0).normal(size=(9, 3))


def through_json(kept: Certified) -> Certified:
    return Certified.model_validate_json(json.dumps(kept.model_dump(), allow_nan=False))


@pytest.mark.parametrize(
    ("targets", "mixture"),
    [(None, None), (design.Pairs(0.3), None), (design.Subset(mask=np.arange(9) < 4), np.arange(9.0))],
    ids=["worst", "pairs", "average"],
)
def test_a_design_is_the_same_after_a_detour_through_json(targets: Any, mixture: Any) -> None:
    found = design.solve(ARMS, targets, ridge=0.1, mixture=mixture)
    again = designs.restored(through_json(designs.stored(found)))
    assert again.weights.tobytes() == found.weights.tobytes()
    one, other = (dual.toarray() if sparse.issparse(dual) else dual for dual in (again.dual, found.dual))
    np.testing.assert_array_equal(one, other)
    for name in ("value", "lower_bound", "truncation", "status", "iterations", "evaluations"):
        assert getattr(again, name) == getattr(found, name)
    proved = [design.certify(ARMS, targets, each.weights, each.dual, ridge=0.1) for each in (found, again)]
    assert proved[0] == proved[1] == pytest.approx(found.lower_bound, rel=1e-9)
    restarted = [design.solve(ARMS, targets, ridge=0.1, mixture=mixture, start=each) for each in (found, again)]
    assert restarted[0].weights.tobytes() == restarted[1].weights.tobytes()


@given(st.lists(st.just(0.0) | st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=12))
def test_a_vector_without_its_zeros_is_the_same_vector(values: list[float]) -> None:
    kept = designs.thin(np.array(values))
    assert 0.0 not in kept.values
    np.testing.assert_array_equal(designs.dense(Sparse.model_validate_json(kept.model_dump_json())), values)


def test_a_restored_vector_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        designs.dense(designs.thin(np.array([0.0, 1.0])))[0] = 1.0
