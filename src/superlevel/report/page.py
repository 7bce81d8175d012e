"""How a campaign stands, as one HTML page that needs nothing else: no script, no network, good to print."""

from __future__ import annotations

import base64
import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import pairwise
from math import ceil, log10
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator, StrMethodFormatter

from superlevel.arrays import Array, Indices
from superlevel.report.campaign import UNDECIDED_CLASS, Campaign, Reason, headings, rows
from superlevel.report.classes import HATCHING, Class, drawn, of_labels
from superlevel.report.drawing import draw
from superlevel.report.stopping import Stopping, rounded

POINTS = 500  # lines of the table of points, at most
SUGGESTED = 60  # lines of the next batch, at most
SERVED = 3  # points that a reason names, at most
SHOWN = 6  # coordinates of a point, at most
DPI = 200  # of an image: sharp on paper
SIDES = (70, 628, 10, 150)  # left, right, top and bottom of the plot of progress

STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; margin: 0; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; border-bottom: 1px solid #999; break-after: avoid; }
p { margin: .4rem 0; }
.question { font-size: 1.15rem; color: #444; overflow-wrap: anywhere; }
.counts { font-size: 1.05rem; font-weight: 600; }
.doubts { border: 2px solid #1a1a1a; border-left-width: .6rem; padding: .5rem 1rem; margin: 1rem 0; }
.doubts ul { margin: .2rem 0; padding-left: 1.2rem; }
figure { margin: 1rem 0; }
figure, tr, .doubts { break-inside: avoid; }
figure svg, figure img { width: 100%; height: auto; max-height: 240mm; display: block; }
figure.drawn * { stroke-linejoin: round; stroke-linecap: butt; }
figure.progress svg, figure.decided svg, figure.decided img { max-width: 42rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .88rem; font-variant-numeric: tabular-nums; }
th, td { padding: .18rem .7rem .18rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid #ddd; }
td, th { overflow-wrap: break-word; max-width: 28rem; }
thead th { border-bottom: 1.5px solid #1a1a1a; vertical-align: bottom; }
.number { text-align: right; }
td.number, td.label { white-space: nowrap; }
td.label::before { content: ""; display: inline-block; width: .7em; height: .7em; margin-right: .45em;
  border: 1px solid #555; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
td.label::before { background: var(--face); }
@page { size: A4; margin: 15mm; }
@media print { body { font-size: 10pt; } table { font-size: 8pt; } main { max-width: none; padding: 0; }
  .wide { overflow: visible; } }
"""


def page(campaign: Campaign, statement: Sequence[tuple[str, str, str]] = ()) -> str:
    """The page; a line of ``statement`` says what is claimed, what it assumes or how it was checked, and a verdict."""
    title = f"{campaign.name}: {campaign.question}"
    parts = [
        f"<header><h1>{_text(campaign.name)}</h1>",
        f'<p class="question">{_text(campaign.question)}</p></header>',
        f'<p class="counts">{_text(_counts(campaign))}</p>',
        _doubts(campaign.doubts),
        f'<figure class="drawn">{_picture(draw(campaign), alt=_alt(campaign))}</figure>',
        _section("Facts", _table((), campaign.facts)) if campaign.facts else "",
        _section("Progress", _progress(campaign)) if len(campaign.progress) > 1 else "",
        _stopping(campaign.stopping) if campaign.stopping is not None else "",
        _section("Next batch", _suggested(campaign)),
        _section("What is claimed", _table(("claim", "assumption or check", "verdict"), statement))
        if statement
        else "",
        _section("Points", _points(campaign)),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(part for part in parts if part)
        + "\n</main>\n</body>\n</html>\n"
    )


# --- words


def _text(value: object) -> str:
    """As HTML shows it, without the characters that no page may have."""
    known = "".join(letter if letter.isprintable() or letter.isspace() else "\ufffd" for letter in str(value))
    return escape(known, quote=True)


class _Numeral(str):
    """A number as it is written."""

    __slots__ = ()


def _number(value: object) -> _Numeral:
    match value:
        case None:
            return _Numeral()
        case float():
            return _Numeral(f"{value:.6g}")
    return _Numeral(f"{value:,}")


@dataclass(frozen=True)
class _Places:
    """Points by their coordinates, or the first of these, to a thousandth of their extent or better."""

    campaign: Campaign

    @cached_property
    def decimals(self) -> list[int | None]:
        """How many, or None for what is better written with an exponent."""
        extents = np.ptp(self.campaign.points[:, :SHOWN], axis=0).tolist()
        return [max(0, 4 - ceil(log10(extent))) if 1e-6 < extent < 1e9 else None for extent in extents]

    def numbers(self, point: int) -> list[_Numeral]:
        values = self.campaign.points[point, :SHOWN].tolist()
        return [
            _number(value) if places is None else _Numeral(np.format_float_positional(value, places, trim="-"))
            for value, places in zip(values, self.decimals, strict=True)
        ]

    def of(self, point: int) -> str:
        return self.listing(self.numbers(point))

    def listing(self, words: Sequence[str]) -> str:
        """Something of every coordinate that is shown, with a sign that there are more."""
        return f"({', '.join([*words[:SHOWN], *['…'] * (len(self.campaign.names) > SHOWN)])})"


def _counts(campaign: Campaign) -> str:
    samples, measured = int(campaign.counts.sum()), int((campaign.counts > 0).sum())
    classes = ", ".join(f"{group.size:,} {group.name}" for group in drawn(campaign))
    told = f"{classes}: {_several(len(campaign.points), 'point')}"
    return f"{told}, {_several(samples, 'measurement')}" + f" at {measured:,} of them" * (measured > 0)


def _several(count: int, word: str) -> str:
    return f"{count:,} {word}{'s' * (count != 1)}"


def _alt(campaign: Campaign) -> str:
    kind = {1: "Profile", 2: "Map"}.get(campaign.points.shape[1], "Picture")
    asked = _several(campaign.next.size, "measurement")
    return f"{kind} of the points: {_counts(campaign)}; the next batch has {asked}."


def _doubts(doubts: Iterable[str]) -> str:
    lines = "".join(f"<li>{_text(doubt)}</li>" for doubt in doubts)
    told = "<strong>Warning.</strong> What is said here may not hold:"
    return f'<div class="doubts" role="note"><p>{told}</p><ul>{lines}</ul></div>' if lines else ""


def _section(heading: str, content: str) -> str:
    return f"<section>\n<h2>{heading}</h2>\n{content}\n</section>"


# --- pictures


def _picture(figure: Figure, *, alt: str, mark: str = "d") -> str:
    """The figure within the page: drawn by the browser, or as an image where that is shorter.

    The parts of each have a mark of their own, because a page is to have no two of one name.
    """
    vector, image = _svg(figure, alt, mark), _png(figure, alt)
    return min(vector, image, key=len)


def _png(figure: Figure, alt: str) -> str:
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=DPI, metadata={"Software": None})
    width, height = (round(96 * side) for side in figure.get_size_inches())
    data = base64.b64encode(content.getvalue()).decode()
    return f'<img width="{width}" height="{height}" alt="{_text(alt)}" src="data:image/png;base64,{data}">'


def _svg(figure: Figure, alt: str, mark: str) -> str:
    """Without what a file has and a part of a page needs not, and the same text for the same figure."""
    content = io.StringIO()
    figure.savefig(content, format="svg", metadata={"Date": None})
    drawn = content.getvalue()
    drawn = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>|<style.*?</style>", "", drawn, flags=re.DOTALL)
    drawn = re.sub(r' xmlns(:\w+)?="[^"]*"', "", drawn).replace("xlink:href", "href")
    found = dict.fromkeys(re.findall(r'\bid="([^"]+)"', drawn))
    short = {name: f"{mark}{at}" for at, name in enumerate(found)}  # matplotlib's are drawn by lot
    drawn = re.sub(r'(\bid="|#)([^")\s;]+)', lambda hit: hit[1] + short.get(hit[2], hit[2]), drawn)
    start = drawn.index("<svg") + len("<svg")
    return f'<svg role="img" aria-label="{_text(alt)}"{drawn[start:].strip()}'


def _progress(campaign: Campaign) -> str:
    """A staircase of undecided points over measurements, with a diamond where labels were revised."""
    progress, revised = campaign.progress, campaign.revisions
    (before, first), (after, last) = progress[0], progress[-1]
    told = f"Undecided points: {first:,} after {_several(before, 'measurement')}, {last:,} after {after:,}."
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
        f'<figure class="progress"><svg role="img" aria-label="{_text(told)}" viewBox="0 0 {right + 24} {bottom + 40}" '
        f'font-size="12" font-family="sans-serif" fill="#1a1a1a">{grid}'
        f'<path d="M{x.at(before)} {y.at(first)}{steps}" fill="none" stroke="#1a1a1a" stroke-width="2"/>'
        f'{marks}<circle cx="{x.at(after)}" cy="{y.at(last)}" r="3.5"/><g text-anchor="middle">'
        f'<text x="{middle[0]}" y="{bottom + 34}">measurements</text>'
        f'<text transform="translate(12 {middle[1]}) rotate(-90)">undecided points</text></g></svg>'
        f"<figcaption>{_text(told)}</figcaption></figure>"
    )


def _stopping(stopping: Stopping) -> str:
    """What was used beside the least that could do, and when the points were decided."""
    heading = "How far it is" if stopping.ended is None else "How it stopped"
    lines = [*stopping.lines(), *[f"guarantee: {stopping.guarantee}"] * bool(stopping.guarantee)]
    told = "\n".join(f"<p>{_text(line)}</p>" for line in lines)
    if not (stopping.decided > 0).any():
        return _section(heading, told)
    alt = "Points decided above and below over measurements, on a logarithmic scale, beside the lower bound."
    drawn = _picture(draw_decided(stopping), alt=alt, mark="s")
    return _section(heading, f'{told}\n<figure class="drawn decided">{drawn}</figure>')


def draw_decided(stopping: Stopping) -> Figure:
    """How many points had which label after how many measurements, one above the other, beside the lower bound."""
    figure = Figure(figsize=(7.0, 2.5), layout="constrained")
    axes, n, bound = figure.subplots(), len(stopping.points), stopping.lower_bound
    least = [bound.samples] if bound is not None and not stopping.reason else []
    when = np.unique([*stopping.decided[stopping.decided > 0], max(1, stopping.samples)])
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


@dataclass(frozen=True)
class _Scale:
    """Numbers from 0 to ``largest`` along one side of a plot."""

    start: int
    end: int
    largest: float

    def at(self, value: float) -> float:
        return float(round(self.start + (self.end - self.start) * value / self.largest, 1))


# --- tables


def _table(names: Sequence[str], lines: Sequence[Sequence[object]]) -> str:
    """Numbers to the right and words to the left; without names, every line is headed by its first word."""
    head = "".join(
        f'<th scope="col"{_side(column)}>{_text(name)}</th>'
        for name, column in zip(names, zip(*lines, strict=True), strict=False)
    )
    head = f"<thead><tr>{head}</tr></thead>\n" if names else ""
    body = ""
    for line in lines:
        cells = [_cell(value) for value in line]
        if not names:
            cells[0] = f'<th scope="row">{_text(line[0])}</th>'
        body += f"<tr>{''.join(cells)}</tr>\n"
    return f'<div class="wide"><table>\n{head}<tbody>\n{body}</tbody></table></div>'


def _side(column: Iterable[object]) -> str:
    words = any(isinstance(value, str) and not isinstance(value, _Numeral) for value in column)
    return "" if words else ' class="number"'


def _cell(value: object) -> str:
    match value:
        case _Label():
            return f'<td class="label" style="--face: {value.face}">{_text(value)}</td>'
        case _Numeral():
            return f'<td class="number">{_text(value)}</td>'
        case str():
            return f"<td>{_text(value)}</td>"
    return _cell(_number(value))


def _suggested(campaign: Campaign) -> str:
    """The open tickets, first those that have a reason."""
    if campaign.next.size == 0:
        return "<p>No ticket is open.</p>"
    places, without = _Places(campaign), Counter(campaign.next.tolist())
    without.subtract(reason.point for reason in campaign.reasons)
    lines = [(_Numeral(reason.ticket), reason.point, _why(places, reason)) for reason in campaign.reasons]
    lines += [
        (_Numeral(), point, _several(count, "measurement") if count > 1 else "")
        for point, count in without.items()
        if count > 0
    ]
    names = ("ticket", f"point {places.listing(campaign.names)}", "why here")
    table = _table(names, [(ticket, places.of(point), why) for ticket, point, why in lines[:SUGGESTED]])
    left = len(lines) - SUGGESTED
    return table + (f"<p>{left:,} more lines are left out.</p>" if left > 0 else "")


def _why(places: _Places, reason: Reason) -> str:
    served = [
        f"{'itself' if point == reason.point else places.of(point)} by {_share(share)}"
        for point, share in reason.serves[:SERVED]
    ]
    return f"serves {', '.join(served)}" if served else ""


def _share(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 else "less than 1 %"


def _points(campaign: Campaign) -> str:
    places, lines, columns = _Places(campaign), rows(campaign), (*campaign.columns, "decided")
    when = [-1] * len(lines) if campaign.stopping is None else campaign.stopping.decided.tolist()
    lines = [line | {"decided": None if then < 0 else then} for line, then in zip(lines, when, strict=True)]
    names = [name for name in columns if any(line[name] is not None for line in lines)]
    shown = _listed(campaign)
    note = ""
    if len(shown) < len(lines):
        left = f"{len(lines) - len(shown):,} more points are left out"
        note = f"{len(shown):,} points, undecided ones first, then those with most measurements; {left}. "
    if len(campaign.names) > SHOWN:
        note += f"Coordinates after the first {SHOWN} are left out. "
    note = f"<p>{note}<code>export</code> has all.</p>\n" if note else ""
    faces = {group.name: group.face for group in drawn(campaign)}
    for line in lines:
        line["label"] = _Label(line["label"], faces[str(line["label"])])
    cells = [[at, *places.numbers(at), *(lines[at][name] for name in names)] for at in shown.tolist()]
    return note + _table(("point", *headings(campaign.names, columns)[:SHOWN], *names), cells)


class _Label(str):
    """The name of a class, with its colour."""

    face: str

    def __new__(cls, word: object, face: str) -> _Label:
        made = super().__new__(cls, word)
        made.face = face
        return made


def _listed(campaign: Campaign) -> Indices:
    """The points that the table has, in its order."""
    if len(campaign.points) <= POINTS:
        return np.arange(len(campaign.points))
    return np.lexsort([-campaign.counts, campaign.classes != UNDECIDED_CLASS])[:POINTS]
