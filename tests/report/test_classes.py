"""Several levels, drawn: every class has its name, its colour and its points, and every level its line."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.contour import QuadContourSet

from superlevel.arrays import Array
from superlevel.goals import ABOVE, BELOW, Band, Goal, Levels
from superlevel.report.campaign import Campaign
from superlevel.report.classes import FACES, drawn
from superlevel.report.drawing import draw
from tests.report.test_campaign import example, lattice
from tests.report.test_drawing import cells, cloud, legend_texts


def contoured(points: Array, goal: Goal) -> Campaign:
    """The example with the labels that its intervals give for the levels of the goal."""
    campaign = example(points, groups=goal.groups, levels=goal.levels)
    assert campaign.lower is not None
    assert campaign.upper is not None
    values = np.array(goal.levels)[:, None]
    return replace(campaign, labels=((campaign.lower > values) * 1 - (campaign.upper < values)).astype(np.int8))


CONTOURS = [Band(0.3, 0.9), Levels([0.3, 0.7, 1.1])]


@pytest.mark.parametrize("goal", CONTOURS, ids=repr)
@pytest.mark.parametrize(
    "points", [lattice(12, 9), lattice(40, 1)[:, :1], cloud(90, 4)], ids=["map", "profile", "rank"]
)
def test_every_class_of_several_levels_is_drawn_with_its_name(points: Array, goal: Goal) -> None:
    campaign = contoured(points, goal)
    figure = draw(campaign)
    told = goal.counts(campaign.labels)
    assert legend_texts(figure)[: len(told)] == [f"{name} ({count:,})" for name, count in told.items()]
    seen = cells(figure.axes[-1])
    assert {name: len(corners) for name, corners in seen.items()} == {n: count for n, count in told.items() if count}
    assert len(seen) > 2


@pytest.mark.parametrize("goal", CONTOURS, ids=repr)
def test_every_level_that_the_mean_crosses_has_a_line(goal: Goal) -> None:
    axes = draw(contoured(lattice(12, 9), goal)).axes[0]
    (lines,) = (each for each in axes.collections if isinstance(each, QuadContourSet))
    assert list(lines.levels) == list(goal.levels)
    (along, _) = draw(contoured(lattice(40, 1)[:, :1], goal)).axes
    heights = [line.get_ydata() for line in along.lines if str(line.get_label()).startswith("level ")]
    assert heights == [[level, level] for level in goal.levels]
    high = replace(contoured(lattice(12, 9), goal), levels=(goal.levels[0], 70.0))
    assert "mean at the level 0.3" in legend_texts(draw(high))


def test_classes_get_darker_from_the_lowest_to_the_highest() -> None:
    found = drawn(contoured(lattice(12, 9), Levels([0.3, 0.7, 1.1])))
    assert [each.name for each in found] == ["above 1.1", "0.7 to 1.1", "0.3 to 0.7", "undecided", "below 0.3"]
    faces = [each.face for each in found if each.name != "undecided"]
    assert (faces[0], faces[-1]) == (FACES[ABOVE], FACES[BELOW])
    greys = [float(np.dot(to_rgb(face), [0.299, 0.587, 0.114])) for face in faces]
    assert np.diff(greys).min() > 0.05
    assert [each.name for each in found if each.hatch] == ["undecided"]
    assert np.array([each.points for each in found]).sum(axis=0).tolist() == [1] * 108
