"""How a campaign stands, as one HTML page that needs nothing else: no script, no network, good to print."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from superlevel.arrays import Indices
from superlevel.formats import Cell
from superlevel.outputs import GENERATOR
from superlevel.report.audits import audit_section
from superlevel.report.campaign import CHECK, REPEAT, UNDECIDED_CLASS, Campaign, Reason, headings, values
from superlevel.report.classes import drawn
from superlevel.report.decided import stopping_section
from superlevel.report.drawing import draw
from superlevel.report.markup import Label, Numeral, number, picture, section, several, table, text
from superlevel.report.places import SHOWN, Places
from superlevel.report.probabilities import probability_figure
from superlevel.report.progress import progress_section
from superlevel.report.reliability_diagram import reliability_section

POINTS = 500  # lines of the table of points, at most
FOLLOWING = 100  # of them for the next batch, at most
DOUBTFUL = 200  # of them for doubtful points, at most
SUGGESTED = 60  # lines of the next batch, at most
SERVED = 3  # points that a reason names, at most

STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; margin: 0; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; border-bottom: 1px solid #999; break-after: avoid; }
h3 { font-size: 1rem; margin: 1.2rem 0 .4rem; break-after: avoid; }
p { margin: .4rem 0; }
.question { font-size: 1.15rem; color: #444; overflow-wrap: anywhere; }
.summary { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1rem; margin: 1rem 0; padding: .8rem 1rem;
  border: 1px solid #999; break-inside: avoid; }
.summary dt { font-weight: 600; }
.summary dd { margin: 0; overflow-wrap: anywhere; }
.counts { font-size: 1.05rem; font-weight: 600; }
.doubts { border: 2px solid #1a1a1a; border-left-width: .6rem; padding: .5rem 1rem; margin: 1rem 0; }
.doubts ul { margin: .2rem 0; padding-left: 1.2rem; }
figure { margin: 1rem 0; }
figure, tr, .doubts { break-inside: avoid; }
figure svg, figure img { width: 100%; height: auto; max-height: 240mm; display: block; }
figcaption { font-size: .92rem; color: #444; margin-top: .3rem; }
figure.drawn * { stroke-linejoin: round; stroke-linecap: butt; }
figure.progress svg, figure.decided svg, figure.decided img { max-width: 42rem; }
.wide { overflow-x: auto; }
.wide + .wide { margin-top: .8rem; }
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
        f"<header><h1>{text(campaign.name)}</h1>",
        f'<p class="question">{text(campaign.question)}</p></header>',
        _summary(campaign.summary),
        f'<p class="counts">{text(_counts(campaign))}</p>',
        _doubts(campaign.doubts),
        f'<figure class="drawn">{picture(draw(campaign), alt=_alt(campaign))}</figure>',
        probability_figure(campaign),
        section("Facts", table((), campaign.facts)) if campaign.facts else "",
        progress_section(campaign),
        stopping_section(campaign.stopping),
        section("Next batch", _suggested(campaign)),
        reliability_section(campaign.reliability),
        audit_section(campaign.audits),
        section("What is claimed", table(("claim", "assumption or check", "verdict"), statement)) if statement else "",
        section("Points", _points(campaign)),
        _elsewhere(campaign),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"{GENERATOR}\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(part for part in parts if part)
        + "\n</main>\n</body>\n</html>\n"
    )


# --- words


def _counts(campaign: Campaign) -> str:
    samples, measured = int(campaign.counts.sum()), int((campaign.counts > 0).sum())
    classes = ", ".join(f"{group.size:,} {group.name}" for group in drawn(campaign))
    told = f"{classes}: {several(len(campaign.points), 'point')}"
    told = f"{told}, {several(samples, 'measurement')}" + f" at {measured:,} of them" * (measured > 0)
    there = campaign.elsewhere
    return told if there is None else f"{told}, {several(int(there.counts.sum()), 'measurement')} elsewhere"


def _summary(lines: Iterable[tuple[str, str]]) -> str:
    """The campaign in a few lines, for whoever pays."""
    listed = "".join(f"<dt>{text(name)}</dt><dd>{text(sentence)}</dd>" for name, sentence in lines)
    return f'<dl class="summary">{listed}</dl>' if listed else ""


def _alt(campaign: Campaign) -> str:
    kind = {1: "Profile", 2: "Map"}.get(campaign.points.shape[1], "Picture")
    asked = several(campaign.next.size, "measurement")
    return f"{kind} of the points: {_counts(campaign)}; the next batch has {asked}."


def _doubts(doubts: Iterable[str]) -> str:
    lines = "".join(f"<li>{text(doubt)}</li>" for doubt in doubts)
    told = "<strong>Warning.</strong> What is said here may not hold:"
    return f'<div class="doubts" role="note"><p>{told}</p><ul>{lines}</ul></div>' if lines else ""


# --- next batch


def _suggested(campaign: Campaign) -> str:
    """The open tickets, first those that have a reason."""
    if campaign.next.size == 0:
        return "<p>No ticket is open.</p>"
    places, without = campaign.places, Counter(campaign.next.tolist())
    without.subtract(reason.point for reason in campaign.reasons)
    lines = [(Numeral(reason.ticket), reason.point, _why(places, reason)) for reason in campaign.reasons]
    lines += [
        (Numeral(), point, several(count, "measurement") if count > 1 else "")
        for point, count in without.items()
        if count > 0
    ]
    where = campaign.id_name if campaign.ids else f"point {places.listing(campaign.names)}"
    names = ("ticket", where, "why here")
    listed = table(names, [(ticket, places.of(point), why) for ticket, point, why in lines[:SUGGESTED]])
    left = len(lines) - SUGGESTED
    return listed + (f"<p>{left:,} more lines are left out.</p>" if left > 0 else "")


def _why(places: Places, reason: Reason) -> str:
    if reason.check:
        return CHECK
    served = [
        f"{'itself' if point == reason.point else places.of(point)} by {_share(share)}"
        for point, share in reason.serves[:SERVED]
    ]
    return "; ".join([*[REPEAT] * reason.repeat, *[f"serves {', '.join(served)}"] * bool(served)])


def _share(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 else "less than 1 %"


# --- points


def _points(campaign: Campaign) -> str:
    """A table of some points: of very many, those that somebody reads."""
    columns = {name: cells for name, cells in _columns(campaign).items() if any(cell != "" for cell in cells)}
    faces = {group.name: group.face for group in drawn(campaign)}
    shown, note = _listed(campaign)
    called = campaign.ids or range(len(campaign.points))
    lines = [
        [called[at], *map(Numeral, campaign.places.numbers(at)), *(_shown(columns[name][at]) for name in columns)]
        for at in shown.tolist()
    ]
    label = 1 + campaign.places.count
    for line in lines:
        line[label] = Label(line[label], faces[str(line[label])])
    names = (campaign.id_name if campaign.ids else "point", *_headings(campaign), *columns)
    return _left_out(campaign, note) + table(names, lines)


def _columns(campaign: Campaign) -> dict[str, Sequence[Cell]]:
    """What the table may have of each point, by the names of the columns."""
    stopping = campaign.stopping
    return values(campaign) | ({} if stopping is None else {"decided": stopping.when})


def _headings(campaign: Campaign) -> tuple[str, ...]:
    return headings(campaign.names, (*campaign.columns, "decided"))[: campaign.places.count]


def _shown(cell: Cell) -> object:
    return None if cell == "" else cell


def _left_out(campaign: Campaign, note: str) -> str:
    """Which points and coordinates the table does not have, and where they are."""
    if len(campaign.names) > campaign.places.count:
        note += f"Coordinates{f' after the first {SHOWN}' * (campaign.places.count > 0)} are left out. "
    return f"<p>{note}<code>export</code> has all.</p>\n" if note else ""


def _elsewhere(campaign: Campaign) -> str:
    """What was measured at places that are not among the points."""
    there = campaign.elsewhere
    if there is None:
        return ""
    names = (*headings(campaign.names, ("measurements", "average"))[:SHOWN], "measurements", "average")
    cells = [campaign.coordinates.cells(place)[:SHOWN] for place in there.points[:POINTS].tolist()]
    lines = zip(cells, there.counts.tolist(), there.averages.tolist(), strict=False)
    listed = table(names, [(*map(number, place), count, average) for place, count, average in lines])
    left = len(there.points) - POINTS
    return section("Measured elsewhere", listed + (f"<p>{left:,} more places are left out.</p>" if left > 0 else ""))


def _listed(campaign: Campaign) -> tuple[Indices, str]:
    """The points that the table has, in its order, and a sentence where these are not all."""
    n = len(campaign.points)
    if n <= POINTS:
        return np.arange(n), ""
    which, doubtful = _doubtful(campaign)
    measured = np.flatnonzero(campaign.counts)
    measured = measured[np.argsort(-campaign.counts[measured], kind="stable")][:POINTS]
    listed = np.concatenate([np.unique(campaign.next)[:FOLLOWING], doubtful[:DOUBTFUL], measured, doubtful])
    _, first = np.unique(listed, return_index=True)
    shown = listed[np.sort(first)][:POINTS]
    told = f"{len(shown):,} points: those of the next batch, {which} and those with most measurements"
    return shown, f"{told}; {several(n - len(shown), 'more point')} are left out. "


def _doubtful(campaign: Campaign) -> tuple[str, Indices]:
    """What doubtful points are called, and the first of them: without a model these are the undecided ones."""
    if campaign.doubtful is None:
        return "undecided ones", np.flatnonzero(campaign.classes == UNDECIDED_CLASS)[:POINTS]
    return "the most doubtful ones", np.argsort(-campaign.doubtful, kind="stable")[:POINTS]
