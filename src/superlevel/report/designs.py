"""Designs on a plane, drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from superlevel.arrays import Array, Mask
from superlevel.design import Design

SMALLEST = 0.01  # shares below this, in per cent, are drawn as none


@dataclass(frozen=True, kw_only=True, eq=False)
class Panel:
    """One design on a grid of (rows x columns) points."""

    heading: str
    design: Design
    targets: Mask | None = None
    """(rows, columns) the points it is for, marked; None means all."""
    values: Array | None = None
    """(rows, columns) a function whose level is drawn."""
    level: float = 0.0


def draw_designs(first: Array, second: Array, panels: Sequence[Panel], *, names: tuple[str, str]) -> Figure:
    """Heat maps of the weights, side by side, each with its certificate in the title.

    ``first`` (rows,) and ``second`` (columns,) are the grid's coordinates; arms are in row-major order.
    """
    figure = Figure(figsize=(5.6 * len(panels), 5.0), layout="constrained")
    for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        _draw(axes, first, second, panel)
        axes.set(xlabel=names[0], ylabel=names[1], aspect="equal")
    return figure


def certificate_line(design: Design) -> str:
    """The certificate in one line."""
    return (
        f"largest variance {design.value:.2f}, none can be below {design.lower_bound:.2f} "
        f"(gap {100 * design.gap:.2f} %)"
    )


def _draw(axes: Axes, first: Array, second: Array, panel: Panel) -> None:
    shape = (len(first), len(second))
    shares = 100 * panel.design.weights.reshape(shape)
    # rises evenly from light to dark, so the map reads the same in grey and with any colour vision
    image = axes.pcolormesh(first, second, np.where(shares > SMALLEST, shares, np.nan).T, cmap="YlGnBu", vmin=0)
    axes.figure.colorbar(image, ax=axes, label="share of measurements (%)", shrink=0.8)
    if panel.targets is not None:
        places = np.argwhere(panel.targets)
        axes.plot(
            first[places[:, 0]],
            second[places[:, 1]],
            "s",
            ms=7.5,
            mfc="none",
            mec="0.35",
            mew=0.5,
            label="to be decided",
        )
    if panel.values is not None:
        axes.contour(first, second, panel.values.T, levels=[panel.level], colors="black", linewidths=1.8)
        axes.plot([], [], color="black", lw=1.8, label=f"level f = {panel.level:g}")
    if panel.targets is not None or panel.values is not None:
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, -0.29), ncols=2, frameon=False)
    axes.set_title(f"{panel.heading}\n{certificate_line(panel.design)}", fontsize=10)
