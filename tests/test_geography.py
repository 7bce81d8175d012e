"""Places on the sphere, and studies that measure distances there."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpl_toolkits.axes_grid1.anchored_artists import AnchoredSizeBar
from sklearn.gaussian_process.kernels import RBF, Matern
from sklearn.metrics.pairwise import haversine_distances

import superlevel as sl
from superlevel import kernels, pilots
from superlevel.averaging.metrics import constant, metrics
from superlevel.errors import InputError
from superlevel.geography import RADIUS, arc, cartesian, degrees, taken_for_a_plane
from superlevel.report.drawing import draw

angles = st.tuples(st.floats(-180, 180), st.floats(-90, 90))
RNG = np.random.default_rng(0)
WORLD = np.column_stack([RNG.uniform(-180, 180, 60), np.degrees(np.arcsin(RNG.uniform(-1, 1, 60)))])


@given(st.lists(angles, min_size=2, max_size=6))
def test_chords_belong_to_great_circles(places: list[tuple[float, float]]) -> None:
    points = np.array(places)
    apart = cartesian(*points.T)
    chords = np.linalg.norm(apart[:, None] - apart[None], axis=-1)
    arcs = RADIUS * haversine_distances(np.radians(points[:, ::-1]))
    np.testing.assert_allclose(arc(chords), arcs, atol=1e-3)
    np.testing.assert_allclose(cartesian(*degrees(apart).T), apart, atol=1e-6)


def test_kernels_of_chords_are_positive_definite_where_those_of_arcs_are_not() -> None:
    """Gneiting 2013, Bernoulli 19:1327."""
    domain = sl.Domain(WORLD, RBF(15000.0), geographic=True)
    assert np.linalg.eigvalsh(domain.gram(np.arange(60)))[0] > -1e-9
    arcs = RADIUS * haversine_distances(np.radians(WORLD[:, ::-1]))
    assert np.linalg.eigvalsh(np.exp(-0.5 * (arcs / 15000.0) ** 2))[0] < -0.1


def test_a_kernel_of_a_geographic_domain_has_lengths_in_km() -> None:
    one_degree = 2 * math.pi * RADIUS / 360
    domain = sl.Domain([[10.0, 0.0], [11.0, 0.0], [10.0, 60.0], [11.0, 60.0]], Matern(100.0, nu=0.5), geographic=True)
    found = domain.gram([0, 2], [1, 3])
    assert found[0, 0] == pytest.approx(math.exp(-one_degree / 100), rel=1e-4)
    assert found[1, 1] == pytest.approx(math.exp(-0.5 * one_degree / 100), rel=1e-4)


def test_places_beside_the_date_line_and_at_the_pole_are_near_each_other() -> None:
    domain = sl.Domain([[179.9, 0.0], [-179.9, 0.0], [0.0, 90.0], [77.0, 90.0]], RBF(100.0), geographic=True)
    assert domain.gram([0], [1])[0, 0] > 0.95
    assert domain.gram([2], [3])[0, 0] == pytest.approx(1.0)


def test_longitude_and_latitude_are_found_by_their_names_or_are_the_first_two() -> None:
    deep = sl.Domain([[50.0, 1.0, 7.0], [51.0, 2.0, 8.0]], names=["Lat", "depth", "LON"], geographic=True)
    assert deep.coordinates.sphere == (2, 0)
    assert deep.columns == ("sphere x", "sphere y", "sphere z", "depth")
    assert deep.coordinates.columns_of == {"Lat": (0, 1, 2), "depth": (3,), "LON": (0, 1, 2)}
    np.testing.assert_allclose(deep.coordinates.inverse(deep.points), deep.places)
    kernel = kernels.parse("On([LON, Lat], RBF(300)) * On(depth, RBF(5))", columns=deep.coordinates.columns_of)
    assert kernels.expression(kernel) == "On([0, 1, 2], RBF(300.0)) * On(3, RBF(5.0))"
    assert sl.Domain([[7.0, 50.0]], geographic=True).coordinates.sphere == (0, 1)
    with pytest.raises(
        InputError, match="geographic is asked for, where the coordinates are a, b, c: call two of them"
    ):
        sl.Domain([[1.0, 2.0, 3.0]], names=["a", "b", "c"], geographic=True)
    with pytest.raises(InputError, match="give degrees from -90 to 90, or leave geographic out"):
        sl.Domain([[7.0, 5_500_000.0]], geographic=True)


def test_the_columns_of_a_place_share_a_unit() -> None:
    """A turn of the sphere changes the columns and no distance."""
    turned = np.column_stack([WORLD[:, 0] + 77.0 - 360 * (WORLD[:, 0] > 100), WORLD[:, 1]])
    distances = []
    for places in (WORLD, turned):
        domain = sl.Domain(places, geographic=True)
        (metric,) = metrics(domain.points, domain.units)
        assert np.ptp(metric.factors) == 0
        scaled = metric.scaled(domain.points)
        assert scaled.var(axis=0).sum() == pytest.approx(1.0)
        distances.append(np.linalg.norm(scaled[:, None] - scaled[None], axis=-1))
    np.testing.assert_allclose(distances[0], distances[1], atol=1e-9)
    flat = sl.Domain(np.column_stack([WORLD[:, 0], np.full(60, 50.0), np.arange(60)]), names=["lon", "lat", "t"])
    assert constant(flat.points).tolist() == [1]
    round_ = flat.on_sphere()
    assert constant(round_.points, round_.units).tolist() == []


def test_a_pilot_is_spread_over_the_sphere_and_not_over_degrees() -> None:
    """Near the pole, degrees of longitude are short: places there are crowded in a plane only."""
    east, north = (axis.ravel() for axis in np.meshgrid(np.arange(-180, 180, 10.0), np.arange(0, 90, 5.0)))
    places = np.column_stack([east, north])
    nearest = []
    for domain in (sl.Domain(places), sl.Domain(places, geographic=True)):
        chosen = pilots.spread(domain.points, 20, np.empty(0, dtype=np.int64), units=domain.units)
        apart = cartesian(*places[chosen].T)
        distances = np.linalg.norm(apart[:, None] - apart[None], axis=-1) + 1e9 * np.eye(20)
        nearest.append(distances.min())
    assert nearest[1] > 1.5 * nearest[0]


def test_a_study_stays_on_the_sphere(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'study.db'}"
    domain = sl.Domain(WORLD, 2.0 * RBF(2000.0), names=["lon", "lat"], geographic=True, reference="EPSG:4326")
    problem = sl.Problem(domain, goal=sl.Threshold(0.5), noise=0.1)
    sl.Study.create(url, "world", problem, method="lse")
    again = sl.Study.open(url, "world").knowledge.method.problem.domain
    np.testing.assert_array_equal(again.points, domain.points)
    assert (again.reference, again.coordinates.sphere) == ("EPSG:4326", (0, 1))


def test_an_estimated_kernel_has_its_length_in_km() -> None:
    domain = sl.Domain(WORLD, geographic=True)
    method = sl.methods.make("melk", sl.Problem(domain, goal=sl.Threshold(0.0), fit=("kernel", "noise", "mean")))
    values = np.sin(domain.points[:, 2] / 3000.0)
    state = method.observe(method.init(seed=0), np.arange(30), values[:30] + 0.05 * RNG.normal(size=30))[0]
    assert " km" in state.belief.estimated["kernel"]


@pytest.mark.parametrize(
    ("names", "places", "warned"),
    [
        (("lon", "lat"), [[7.0, 60.0], [8.0, 50.0]], True),
        (("Latitude", "Longitude"), [[60.0, 7.0], [50.0, 8.0]], True),
        (("lon", "lat"), [[356_000.0, 5_600_000.0]], False),
        (("x", "y"), [[7.0, 60.0]], False),
        (("lon", "depth"), [[7.0, 60.0]], False),
    ],
)
def test_degrees_that_are_taken_for_a_plane_are_mentioned(
    names: tuple[str, ...], places: list[list[float]], warned: bool
) -> None:
    sentence = taken_for_a_plane(names, np.array(places))
    assert bool(sentence) is warned
    assert not warned or "as short as 50%" in sentence


def test_a_map_in_degrees_has_the_shape_of_the_ground_and_a_bar_in_km() -> None:
    grid = np.array([[east, north] for east in np.arange(0.0, 4.5, 0.5) for north in np.arange(59.0, 61.25, 0.25)])
    problem = sl.Problem(sl.Domain(grid, RBF(100.0), geographic=True), goal=sl.Threshold(0.5), noise=0.1)
    study = sl.Study.create("memory:", "north", problem)
    campaign = study.campaign()
    first, second = campaign.ground or (0.0, 0.0)
    chord = float(np.linalg.norm(np.diff(cartesian(np.array([0.0, 1.0]), np.full(2, 60.0)), axis=0)))
    assert first == pytest.approx(float(arc(chord)), rel=1e-4)
    assert second == pytest.approx(111.2, rel=1e-3)
    axes = draw(campaign).axes[0]
    assert axes.get_aspect() == pytest.approx(2.0, rel=1e-3)  # 1 / cos 60
    (bar,) = (each for each in axes.artists if isinstance(each, AnchoredSizeBar))
    assert bar.txt_label.get_text() == "50 km"
