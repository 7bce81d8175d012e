"""What was used beside the least that could do, and when the points were decided, as a part of a page."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator, StrMethodFormatter

from superlevel.arrays import Array, Indices
from superlevel.report.classes import HATCHING, Class, of_labels
from superlevel.report.markup import picture, section, text
from superlevel.report.stopping import Stopping, rounded


def stopping_section(stopping: Stopping | None) -> str:
    """What was used beside the least that could do, and when the points were decided; empty if that is not known."""
    if stopping is None:
        return ""
    heading = "How far it is" if stopping.ended is None else "How it stopped"
    lines = [*stopping.lines(), *[f"guarantee: {stopping.guarantee}"] * bool(stopping.guarantee)]
    told = "\n".join(f"<p>{text(line)}</p>" for line in lines)
    if not (stopping.decided > 0).any():
        return section(heading, told)
    alt = "Points decided above and below over measurements, on a logarithmic scale, beside the lower bound."
    drawn = picture(draw_decided(stopping), alt=alt, mark="s")
    return section(heading, f'{told}\n<figure class="drawn decided">{drawn}</figure>')


def draw_decided(stopping: Stopping) -> Figure:
    """How many points had which label after how many measurements, one above the other, beside the lower bound."""
    figure = Figure(figsize=(7.0, 2.5), layout="constrained")
    axes, n, bound = figure.subplots(), len(stopping.points), stopping.lower_bound
    least = [bound.samples] if bound is not None and not stopping.reason else []
    when = np.unique(np.append(stopping.decided[stopping.decided > 0], max(1, stopping.samples)))
    # What was decided before the first measurement is there from the left side on, and the last step is seen.
    across = np.array([0.7 * min([when[0], *least]), *when, 1.1 * max([when[-1], *least])])
    *upper, unsure, lowest = of_labels(stopping.labels, stopping.groups)
    over = np.full(len(across), n)
    low = _reached(stopping, lowest, across)
    for group in upper:
        under = over - _reached(stopping, group, across)
        axes.fill_between(across, under, over, step="post", label=group.name, **_filled(group))
        over = under
    axes.fill_between(across, low, over, step="post", label=unsure.name, **_filled(unsure))
    axes.fill_between(across, 0 * low, low, step="post", label=lowest.name, **_filled(lowest))
    for samples in least:
        axes.axvline(samples, color="black", linewidth=1.6, linestyle="--", label=f"lower bound {rounded(samples)}")
    axes.set(xscale="log", xlim=across[[0, -1]], ylim=(0, n), xlabel="measurements", ylabel="points")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.tick_params(labelsize=9)
    figure.legend(loc="outside right center", fontsize=9, frameon=False, labelspacing=0.75)
    return figure


def _reached(stopping: Stopping, group: Class, across: Array) -> Indices:
    """How many points of a class were decided after so many measurements (m,)."""
    return np.searchsorted(np.sort(stopping.decided[group.points]), across, side="right")


def _filled(group: Class) -> dict[str, Any]:
    return {**group.look(), "edgecolor": HATCHING, "linewidth": 0.6}
