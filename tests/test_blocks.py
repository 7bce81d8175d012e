"""Blocks of near points: every point is in one, and none is large."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from superlevel import blocks as module
from superlevel.blocks import blocks


@given(
    points=arrays.arrays(np.float64, st.tuples(st.integers(1, 60), st.integers(1, 3)), elements=st.integers(-3, 3)),
    size=st.integers(1, 8),
)
def test_every_point_is_in_one_block(points: np.ndarray, size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SIZE", size)
        found = blocks(points, np.arange(points.shape[1]))
    assert sorted(found.order.tolist()) == list(range(len(points)))
    assert len(found) == len(list(found)) == len(found.corners)
    for members, corners in zip(found, found.corners, strict=True):
        assert len(members) <= size or (points[members] == points[members[0]]).all()
        assert np.isin(corners, members).all()
        for axis in range(points.shape[1]):
            assert np.ptp(points[corners][:, axis]) == np.ptp(points[members][:, axis])


def test_blocks_are_of_near_points_in_whatever_units() -> None:
    rng = np.random.default_rng(0)
    points = rng.random((5000, 2))
    found = blocks(points * [1.0, 1e6], np.array([0, 1]))
    sides = [np.ptp(points[members], axis=0) for members in found]
    assert np.max(sides) <= 0.75
    assert np.mean(np.prod(sides, axis=1)) <= 2.0 / len(found)
