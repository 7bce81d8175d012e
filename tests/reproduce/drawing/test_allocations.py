from __future__ import annotations

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection, QuadMesh
from matplotlib.colors import LogNorm
from matplotlib.contour import QuadContourSet
from matplotlib.figure import Figure

from superlevel.arrays import Array, Mask, normalised
from superlevel.errors import InputError
from superlevel.reproduce.drawing.allocations import SHARES, SMALLEST, Allocation, draw_allocations

FIRST, SECOND = np.linspace(0.0, 1.0, 6), np.linspace(2.0, 3.5, 8)
SIZE = FIRST.size * SECOND.size
VALUES = np.add.outer(FIRST, SECOND - 2).ravel()
LEVEL = 1.1


def spread() -> Array:
    weights = np.random.default_rng(0).gamma(1.0, size=SIZE)
    weights[:5] = 0.0
    return normalised(weights)


def single(*places: tuple[int, float]) -> Array:
    weights = np.zeros(SIZE)
    for at, weight in places:
        weights[at] = weight
    return weights


def draw(*allocations: Allocation) -> Figure:
    return draw_allocations(FIRST, SECOND, VALUES, allocations, level=LEVEL, title="Where")


def maps(figure: Figure) -> list[Axes]:
    return [axes for axes in figure.axes if axes.get_title()]


def squares(axes: Axes) -> PolyCollection:
    return next(each for each in axes.collections if isinstance(each, PolyCollection))


def corners(axes: Axes) -> Array:
    """(drawn, 2, 2) the lower and upper corner of each square."""
    vertices = [np.asarray(path.vertices) for path in squares(axes).get_paths()]
    return np.array([[each.min(axis=0), each.max(axis=0)] for each in vertices])


def shaded(axes: Axes) -> Mask | None:
    """(rows * columns,) the points that are marked as decided."""
    meshes = [each for each in axes.collections if isinstance(each, QuadMesh)]
    if not meshes:
        return None
    (mesh,) = meshes
    values = mesh.get_array()
    assert values is not None
    return ~np.ma.getmaskarray(values).reshape(SECOND.size, FIRST.size).T.ravel()


def drawn_shares(axes: Axes) -> Array:
    return np.asarray(squares(axes).get_array(), dtype=np.float64)


def test_every_share_is_at_its_place() -> None:
    weights = spread()
    axes = maps(draw(Allocation(title="round 1", weights=weights)))[1]
    centres = corners(axes).mean(axis=1)
    rows = np.abs(FIRST[:, None] - centres[:, 0]).argmin(axis=0)
    columns = np.abs(SECOND[:, None] - centres[:, 1]).argmin(axis=0)
    np.testing.assert_allclose(centres, np.column_stack([FIRST[rows], SECOND[columns]]))
    table = np.zeros((FIRST.size, SECOND.size))
    table[rows, columns] = drawn_shares(axes)
    expected = np.where(100 * weights > SMALLEST, 100 * weights, 0.0)
    np.testing.assert_allclose(table.ravel(), expected)


def test_even_weights_fill_the_plot_without_gaps() -> None:
    axes = maps(draw(Allocation(title="even", weights=np.full(SIZE, 1 / SIZE))))[1]
    low, high = corners(axes).transpose(1, 0, 2)
    area = np.prod(high - low, axis=1)
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    assert area.sum() == pytest.approx((right - left) * (top - bottom))
    np.testing.assert_allclose([low.min(axis=0), high.max(axis=0)], [[left, bottom], [right, top]])


def test_heavy_points_are_larger_and_on_top_on_a_fine_grid() -> None:
    fine = np.linspace(0.0, 1.0, 60)
    weights = np.zeros(3600)
    weights[[10, 700, 2000]] = 0.9, 0.0995, 0.0005
    figure = draw_allocations(
        fine, fine, np.zeros(3600), [Allocation(title="late", weights=weights)], level=0.0, title=""
    )
    axes = maps(figure)[1]
    np.testing.assert_allclose(drawn_shares(axes), [0.05, 9.95, 90.0])
    sides = np.diff(corners(axes), axis=1)[:, 0, 0]
    assert sides[0] == pytest.approx(1 / 59)
    assert sides[2] / sides[1] == pytest.approx(np.sqrt(90 / 9.95))
    assert sides[2] > 0.1


def test_all_rounds_are_on_one_logarithmic_scale() -> None:
    figure = draw(Allocation(title="a", weights=spread()), Allocation(title="b", weights=single((3, 0.6), (9, 0.4))))
    norms = [squares(axes).norm for axes in maps(figure)[1:]]
    assert norms[0] is norms[1]
    assert isinstance(norms[0], LogNorm)
    assert norms[0].vmin == SMALLEST
    assert norms[0].vmax == pytest.approx(60.0)
    labels = [axes.get_ylabel() for axes in figure.axes if not axes.get_title()]
    assert sorted(labels) == ["function", "share of the measurements, %"]


def test_shares_darken_evenly() -> None:
    grey = SHARES(np.linspace(0, 1, 50))[:, :3] @ [0.299, 0.587, 0.114]
    assert (np.diff(grey) < 0).all()
    assert grey[0] < 0.93 - 0.03  # the grey of decided points
    assert grey[0] - grey[-1] > 0.6


def test_the_level_is_thick_on_the_function_and_thin_on_the_rounds() -> None:
    figure = draw(Allocation(title="a", weights=spread()), Allocation(title="b", weights=single((3, 1.0))))
    widths = []
    for axes in maps(figure):
        curve = next(each for each in axes.collections if isinstance(each, QuadContourSet) and not each.filled)
        vertices = np.concatenate([np.asarray(path.vertices) for path in curve.get_paths()])
        np.testing.assert_allclose(vertices[:, 0] + vertices[:, 1] - 2, LEVEL)
        widths.append(float(np.ravel(curve.get_linewidth())[0]))
    assert widths[0] > 2 * widths[1] == 2 * widths[2]


def test_decided_points_are_shaded_and_named() -> None:
    active = np.zeros(SIZE, dtype=bool)
    active[[3, 20]] = True
    figure = draw(Allocation(title="a", weights=spread(), active=active), Allocation(title="b", weights=spread()))
    function, marked, unmarked = (shaded(axes) for axes in maps(figure))
    assert function is None
    assert unmarked is None
    assert marked is not None
    np.testing.assert_array_equal(marked, ~active)
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == ["level 1.1", "decided before the round"]
    plain = draw(Allocation(title="b", weights=spread()))
    assert [text.get_text() for text in plain.legends[0].get_texts()] == ["level 1.1"]


def test_a_round_with_nothing_left_to_decide_is_drawn() -> None:
    axes = maps(draw(Allocation(title="end", weights=spread(), active=np.zeros(SIZE, dtype=bool))))[1]
    marked = shaded(axes)
    assert marked is not None
    assert marked.all()


def test_the_papers_layout_names_the_outer_axes_only() -> None:
    titles = [f"round {at}" for at in range(1, 13)] + ["weighted sum"]
    figure = draw(*(Allocation(title=title, weights=single((at, 1.0))) for at, title in enumerate(titles)))
    panels = maps(figure)
    assert [axes.get_title() for axes in panels] == ["function", *titles]
    assert [at for at, axes in enumerate(panels) if axes.get_ylabel()] == [0, 5, 10]
    assert [at for at, axes in enumerate(panels) if axes.get_xlabel()] == [9, 10, 11, 12, 13]
    assert {axes.get_aspect() for axes in panels} == {1.0}
    assert figure.get_suptitle() == "Where"


def test_a_level_that_is_nowhere_leaves_no_curve() -> None:
    figure = draw_allocations(FIRST, SECOND, VALUES, [Allocation(title="a", weights=spread())], level=99.0, title="")
    kinds = [each for axes in maps(figure) for each in axes.collections if isinstance(each, QuadContourSet)]
    assert [each.filled for each in kinds] == [True]


def test_nothing_to_draw() -> None:
    with pytest.raises(InputError, match=r"^allocations is empty: give at least one allocation$"):
        draw()


def test_bad_inputs_are_named() -> None:
    good = Allocation(title="a", weights=spread())
    with pytest.raises(InputError, match=r"^allocations\[1\].weights is of sum 2 and .*: give a distribution$"):
        draw(good, Allocation(title="b", weights=2 * spread()))
    with pytest.raises(InputError, match=r"^allocations\[0\].active is of shape \(3,\): give shape \(48,\)$"):
        draw(Allocation(title="b", weights=spread(), active=np.ones(3, dtype=bool)))
    with pytest.raises(InputError, match=r"^values is of shape \(47,\): give shape \(48,\)$"):
        draw_allocations(FIRST, SECOND, VALUES[1:], [good], level=LEVEL, title="")
    with pytest.raises(InputError, match=r"^second is not increasing"):
        draw_allocations(FIRST, SECOND[::-1], VALUES, [good], level=LEVEL, title="")
