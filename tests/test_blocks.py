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
        assert (found.of[members] == found.of[members[0]]).all()
        if points.shape[1] != 2:
            for axis in range(points.shape[1]):
                assert np.ptp(points[corners][:, axis]) == np.ptp(points[members][:, axis])


def test_blocks_are_of_near_points_in_whatever_units() -> None:
    rng = np.random.default_rng(0)
    points = rng.random((5000, 2))
    found = blocks(points * [1.0, 1e6], np.array([0, 1]))
    sides = [np.ptp(points[members], axis=0) for members in found]
    assert np.max(sides) <= 0.75
    assert np.mean(np.prod(sides, axis=1)) <= 2.0 / len(found)


def test_measured_points_of_a_block_come_first_and_then_those_that_tell_most() -> None:
    points = np.random.default_rng(1).random((4000, 2))
    found, data = blocks(points, np.array([0, 1])), np.arange(0, 4000, 40)
    told = np.exp(-np.linalg.norm(points[data][:, None, None] - points[found.corners][None], axis=3))
    for number, near in enumerate(found.nearest(data, told, 40)):
        inside = np.flatnonzero(found.of[data] == number)
        assert len(near) == len(set(near)) == 40
        assert np.isin(inside, near).all() or len(inside) > 40
        rest, left = np.setdiff1d(near, inside), np.setdiff1d(np.arange(len(data)), near)
        assert told[rest, number].max(axis=1).min(initial=1.0) >= told[left, number].max(axis=1).max()
