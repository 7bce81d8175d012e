"""The depths that `experiments.sea` and `experiments.goals` survey."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib import cbook

import superlevel as sl
from experiments import goals, strait
from superlevel.pilots import spread


def test_the_sea_is_every_cell_below_sea_level_of_the_file() -> None:
    sea = strait.load()
    with np.load(cbook.get_sample_data("topobathy.npz", asfileobj=False)) as file:
        height = file["topo"]
    assert len(sea.depths) == 4841 == (height < 0).sum()
    assert sea.depths.tolist() == (-height[height < 0]).tolist()
    assert (sea.depths == 1).sum() == 1897  # as the page says
    assert np.array_equal(sea.wet, height < 0)
    assert sea.roots**2 == pytest.approx(sea.depths)


def test_kilometres_on_the_plane_are_those_on_the_globe_to_two_per_cent() -> None:
    sea = strait.load()
    first, second = np.random.default_rng(0).integers(0, len(sea.depths), (2, 500))
    there, here = np.radians(sea.degrees[first]), np.radians(sea.degrees[second])
    # the haversine formula
    half = np.sin((there - here) / 2) ** 2
    around = half[:, 1] + np.cos(there[:, 1]) * np.cos(here[:, 1]) * half[:, 0]
    globe = 2 * 6371 * np.arcsin(np.sqrt(around))
    plane = np.linalg.norm(sea.places[first] - sea.places[second], axis=1)
    assert plane == pytest.approx(globe, rel=0.02, abs=0.02)


def test_a_ping_is_off_by_as_many_metres_as_it_says() -> None:
    roots = np.sqrt(20.0) + strait.DEVIATION * np.random.default_rng(0).standard_normal(200_000)
    assert (roots**2).std() == pytest.approx(2.7, rel=0.02)


def test_the_kernel_makes_the_pilot_likelier_than_others_do() -> None:
    sea = strait.load()
    problem = strait.problem_of(sea, goals.GOALS["slope"])
    assert problem.goal == sl.Band(np.sqrt(20.0), np.sqrt(100.0))
    assert problem.noise == strait.DEVIATION
    at = spread(sea.places, strait.PILOT, np.empty(0, dtype=np.int64))
    values = strait.sonar(sea).measure(at, np.random.default_rng([0, 0, strait.SONAR]))
    assert values.min() < problem.mean < values.max()
    best: Any = problem.domain.kernel

    def log_likelihood(**changed: float) -> float:
        kernel = best.clone_with_theta(best.theta).set_params(**changed)
        gram = kernel(sea.places[at]) + strait.DEVIATION**2 * np.eye(len(at))
        residuals = values - problem.mean
        return float(-0.5 * (np.linalg.slogdet(gram)[1] + residuals @ np.linalg.solve(gram, residuals)))

    length, constant = best.k2.length_scale, best.k1.constant_value
    others: list[dict[str, float]] = [{"k2__nu": nu} for nu in strait.ROUGHNESS if nu != best.k2.nu]
    others += [{"k2__length_scale": factor * length} for factor in (0.7, 1.4)]
    others += [{"k1__constant_value": factor * constant} for factor in (0.7, 1.4)]
    assert log_likelihood() > max(log_likelihood(**changed) for changed in others)
