"""Measurements to the last decision against the lower bound: how many times what no method can beat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from superlevel.arrays import Array, as_positive
from superlevel.errors import InputError
from superlevel.report.styles import SIZES, Style

FACTORS = (1, 10, 100, 1000, 10_000)  # lines of so many times the lower bound


@dataclass(frozen=True, kw_only=True, eq=False)
class Cloud:
    """The runs of one confidence."""

    label: str
    style: Style
    bounds: Array
    """(k,) the lower bound of each run's problem."""
    samples: Array
    """(k,) what the run took."""


def draw_factors(clouds: Sequence[Cloud], *, title: str, problems: Mapping[str, float] | None = None) -> Figure:
    """A marker for each run, on logarithmic axes, with lines of 1, 10, 100 ... times the lower bound.

    ``problems`` are names to write above the markers, each at its lower bound.
    """
    if not clouds:
        raise InputError("clouds", "empty", "give at least one confidence")
    for at, cloud in enumerate(clouds):
        as_positive(f"clouds[{at}].bounds", cloud.bounds, shape=cloud.samples.shape)
        as_positive(f"clouds[{at}].samples", cloud.samples, shape=cloud.bounds.shape)
    figure = Figure(figsize=(8.4, 5.4), layout="constrained")
    axes = figure.subplots()
    for cloud in clouds:
        _draw(axes, cloud)
    _rules(axes, clouds)
    for at, (name, bound) in enumerate((problems or {}).items()):
        high = 0.985 - 0.045 * (at % 2)  # neighbours one below the other
        axes.annotate(name, (bound, high), xycoords=("data", "axes fraction"), fontsize=9, ha="center", va="top")
    axes.set_xlabel("lower bound on the measurements of any method that is right with probability 0.9")
    axes.set_ylabel("measurements to the last decision")
    axes.set_title(title, fontsize=11)
    figure.legend(loc="outside right center", frameon=False, fontsize=9, handletextpad=0.3, labelspacing=0.9)
    return figure


def _draw(axes: Axes, cloud: Cloud) -> None:
    style = cloud.style
    axes.plot(
        cloud.bounds,
        cloud.samples,
        linestyle="none",
        marker=style.marker,
        markersize=SIZES.get(style.marker, 5.5),
        markerfacecolor=style.color if style.filled else "none",
        markeredgecolor="white" if style.filled else style.color,
        markeredgewidth=0.4 if style.filled else 1.0,
        label=f"{cloud.label}\n{_middle(cloud)} times the bound",
    )


def _middle(cloud: Cloud) -> str:
    """The median factor, in two digits."""
    middle = float(np.median(cloud.samples / cloud.bounds))
    return f"{middle:.1f}" if middle < 10 else f"{float(f'{middle:.2g}'):,.0f}"


def _rules(axes: Axes, clouds: Sequence[Cloud]) -> None:
    """Lines of equal factors, each with its factor where it leaves the plot."""
    bounds = np.concatenate([cloud.bounds for cloud in clouds])
    samples = np.concatenate([cloud.samples for cloud in clouds])
    left, right = bounds.min() / 1.5, bounds.max() * 1.5
    low, high = min(left, samples.min() / 1.5), samples.max() * 8.0  # room for names
    axes.set(xscale="log", yscale="log", xlim=(left, right), ylim=(low, high))
    for factor in FACTORS:
        axes.plot([left, right], [factor * left, factor * right], color="0.6", linewidth=0.8, zorder=1)
        end = min(right / 1.04, high / factor / 8.0)
        if end > left:
            name = "lower bound" if factor == 1 else f"{factor:,} times"
            axes.annotate(
                name, (end, factor * end / 1.5), fontsize=8, color="0.3", ha="right", va="top", annotation_clip=True
            )
