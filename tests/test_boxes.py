"""Boxes and grids of points."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import qmc
from sklearn.gaussian_process.kernels import RBF

from superlevel import Choice, Domain, InputError, Integers, Log, boxes
from superlevel.coordinates import Coordinates

BOX = {"temperature": (20, 80), "dose": Log(1e-3, 1), "passes": Integers(1, 8), "metal": Choice("steel", "copper")}


@given(st.integers(1, 300), st.integers(0, 5))
@settings(max_examples=20, deadline=None)
def test_a_box_has_as_many_different_points_as_were_asked_for_and_they_are_inside(count: int, seed: int) -> None:
    domain = Domain.box(BOX, count=count, seed=seed)
    assert domain.n == count == len(np.unique(domain.places, axis=0))
    low, high = domain.places.min(axis=0), domain.places.max(axis=0)
    assert (low >= [20, 1e-3, 1, 0]).all()
    assert (high <= [80, 1, 8, 1]).all()


def test_the_kernel_sees_logarithms_and_a_column_for_each_choice() -> None:
    domain = Domain.box(BOX, count=64)
    assert domain.names == tuple(BOX)
    assert domain.columns == ("temperature", "log10 dose", "passes", "metal = steel", "metal = copper")
    np.testing.assert_allclose(domain.points[:, 1], np.log10(domain.places[:, 1]))
    np.testing.assert_array_equal(domain.points[:, 3:].sum(axis=1), 1.0)
    np.testing.assert_array_equal(domain.points[:, 4], domain.places[:, 3])


def test_sobol_points_are_spread_more_evenly_than_random_ones() -> None:
    domain = Domain.box({"x": (0, 1), "y": (0, 1)}, count=256, seed=3)
    random = np.random.default_rng(3).random((256, 2))
    assert qmc.discrepancy(domain.places) < qmc.discrepancy(random) / 10
    other = Domain.box({"x": (0, 1), "y": (0, 1)}, count=256, seed=4)
    assert not np.array_equal(domain.places, other.places)


def test_a_larger_box_begins_with_the_smaller_one() -> None:
    small, large = (Domain.box(BOX, count=count, seed=1).places for count in (50, 200))
    np.testing.assert_array_equal(small, large[:50])


def test_later_points_of_the_sequence_are_none_of_the_earlier() -> None:
    coordinates = boxes.as_coordinates({"x": (0, 1), "y": (0, 1)})
    first, later = (boxes.sobol(coordinates, count=100, seed=0, after=after) for after in (0, 100))
    assert len(np.unique(np.vstack([first, later]), axis=0)) == 200


def test_a_box_with_fewer_places_has_them_all() -> None:
    domain = Domain.box({"passes": Integers(1, 3), "metal": Choice("a", "b")}, count=100)
    assert sorted(map(tuple, domain.places.tolist())) == [(n, m) for n in (1.0, 2.0, 3.0) for m in (0.0, 1.0)]


def test_one_point_of_a_box() -> None:
    assert Domain.box({"x": (0, 1)}, count=1).n == 1


def test_a_grid_has_every_combination() -> None:
    domain = Domain.grid(BOX, count={"temperature": 3, "dose": 4, "passes": 100, "metal": 1})
    assert domain.n == 3 * 4 * 8 * 2
    assert set(domain.places[:, 0]) == {20.0, 50.0, 80.0}
    np.testing.assert_allclose(np.unique(domain.places[:, 1]), [1e-3, 1e-2, 1e-1, 1])


def test_a_kernel_stays_when_the_scales_do() -> None:
    domain = Domain.box(BOX, count=16, kernel=RBF(1.0))
    other = domain.with_kernel(RBF(2.0))
    np.testing.assert_array_equal(domain.points, other.points)
    assert other.coordinates == domain.coordinates
    assert Domain.box(BOX, count=16).with_kernel(None).columns == domain.columns


def test_points_without_scales_are_as_they_were() -> None:
    domain = Domain([[0.0, 1.0], [2.0, 3.0]], names=["a", "b"])
    assert domain.points is domain.places
    assert domain.columns == domain.names
    assert domain.coordinates == Coordinates.plain(("a", "b"))


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Domain.box({}), "give the limits of each coordinate by its name"),
        (lambda: Domain.box([(0, 1)]), "give the limits of each coordinate by its name"),  # type: ignore[arg-type]
        (lambda: Domain.box({"t": (80, 20)}), r"box\['t'\] is \(80, 20\): high: give a number > 80"),
        (lambda: Domain.box({"t": 80}), r"box\['t'\] is 80: give \(20, 80\), Integers"),
        (lambda: Domain.box({"t": (1, 2, 3)}), r"box\['t'\] is \(1, 2, 3\)"),
        (lambda: Domain.box({"t": ("a", "b")}), r"box\['t'\]"),
        (lambda: Domain.box({"": (0, 1)}), "give a name of at least one letter"),
        (lambda: Domain.box({"t": (0, 1)}, count=0), "count is 0: give a whole number >= 1"),
        (lambda: Domain.box({"t": (0, 1)}, count=10**9), "give at most 1,048,576"),
        (lambda: Domain.box({"t": (0, 1)}, seed=-1), "seed is -1"),
        (lambda: Domain.grid({"t": (0, 1), "u": (0, 1)}, count=10**5), "give at most 1,048,576"),
        (lambda: Domain.grid({"t": (0, 1), "u": (0, 1)}, count={"t": 5}), "give a number for each of t, u"),
        (lambda: Domain([[1.0], [-1.0]], scales=[Log(1, 2)]), "give numbers > 0"),
        (lambda: Domain([[1.5]], scales=[Integers(1, 2)]), "give whole numbers"),
        (lambda: Domain([[2.0]], scales=[Choice("a", "b")]), "give positions from 0 to 1 in a, b"),
        (lambda: Domain([[2.0]], scales=[]), "give 1, one for each coordinate"),
    ],
)
def test_a_bad_box_gets_a_sentence(make: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        make()
