"""How many points were undecided after how many measurements, as a part of a page."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from matplotlib.ticker import MaxNLocator

from superlevel.report.campaign import Campaign
from superlevel.report.markup import section, several, text

SIDES = (70, 628, 10, 150)  # left, right, top and bottom of the plot


def progress_section(campaign: Campaign) -> str:
    """A staircase of undecided points over measurements; empty before there is a step."""
    return section("Progress", _staircase(campaign)) if len(campaign.progress) > 1 else ""


def _staircase(campaign: Campaign) -> str:
    """With a diamond where labels were revised."""
    progress, revised = campaign.progress, campaign.revisions
    (before, first), (after, last) = progress[0], progress[-1]
    told = f"Undecided points: {first:,} after {several(before, 'measurement')}, {last:,} after {after:,}."
    across, up = (MaxNLocator(5, integer=True).tick_values(0, max(1, *side)) for side in zip(*progress, strict=True))
    left, right, top, bottom = SIDES
    x = _Scale(left, right, across[-1])
    y = _Scale(bottom, top, up[-1])
    # where nothing was decided there is no corner
    corners = [now for past, now in pairwise(progress) if now[1] != past[1]] + [(after, last)]
    steps = "".join(f" H{x.at(samples)} V{y.at(undecided)}" for samples, undecided in corners)
    grid = "".join(
        f'<path d="M{left} {y.at(tick)} H{right}" stroke="#ddd"/>'
        f'<text x="{left - 6}" y="{y.at(tick) + 4}" text-anchor="end">{tick:,.0f}</text>'
        for tick in up
    ) + "".join(f'<text x="{x.at(tick)}" y="{bottom + 16}" text-anchor="middle">{tick:,.0f}</text>' for tick in across)
    middle = f"{(left + right) / 2:g}", f"{(top + bottom) / 2:g}"
    marks = "".join(
        f'<path d="M{x.at(k)} {y.at(undecided)} m-6 0 l6 -6 l6 6 l-6 6 z" fill="#fff" stroke="#1a1a1a"/>'
        for k, undecided, _ in revised
    )
    if revised:
        listed = ", ".join(f"{count:,} after {k:,}" for k, _, count in revised)
        told += f" Diamonds: labels that changed sides or were withdrawn when it was estimated anew ({listed})."
    return (
        f'<figure class="progress"><svg role="img" aria-label="{text(told)}" viewBox="0 0 {right + 24} {bottom + 40}" '
        f'font-size="12" font-family="sans-serif" fill="#1a1a1a">{grid}'
        f'<path d="M{x.at(before)} {y.at(first)}{steps}" fill="none" stroke="#1a1a1a" stroke-width="2"/>'
        f'{marks}<circle cx="{x.at(after)}" cy="{y.at(last)}" r="3.5"/><g text-anchor="middle">'
        f'<text x="{middle[0]}" y="{bottom + 34}">measurements</text>'
        f'<text transform="translate(12 {middle[1]}) rotate(-90)">undecided points</text></g></svg>'
        f"<figcaption>{text(told)}</figcaption></figure>"
    )


@dataclass(frozen=True)
class _Scale:
    """Numbers from 0 to ``largest`` along one side of a plot."""

    start: int
    end: int
    largest: float

    def at(self, value: float) -> float:
        return float(round(self.start + (self.end - self.start) * value / self.largest, 1))
