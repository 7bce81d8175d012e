"""The sections of docs/arena.md that are made of numbers: each function returns Markdown, or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Protocol

import numpy as np

from experiments.arena import standings
from experiments.arena.environments import REFERENCE
from experiments.arena.standings import Column, Curves, Measure, Place, Standing
from superlevel.reproduce.settings import Row

Judged = Sequence[tuple[Measure, Sequence[Column]]]


class Field(Protocol):
    """Who is in the arena."""

    @property
    def default(self) -> str: ...
    @property
    def peers(self) -> Sequence[str]: ...
    @property
    def ours(self) -> Sequence[str]: ...


def markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table."""
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def number(value: float, error: float | None = None) -> str:
    """In per cent, with its standard error."""
    shown = f"{100 * value:.1f}"
    return shown if error is None else f"{shown} ± {100 * error:.1f}"


def counts(judged: Mapping[str, Judged], rivals: Mapping[str, Sequence[str]]) -> str:
    """In how many columns a contestant is first, within one standard error of the first, and behind."""
    lines = []
    for (against, names), (contestant, measures) in product(rivals.items(), judged.items()):
        others = [name for name in names if name != contestant]
        for measure, listed in measures:
            found = standings.standings(listed, contestant, others, lower=measure.lower)
            places = [sum(each.place is place for each in found) for place in Place]
            numbers = [str(len(found)), *map(str, places), f"{standings.share(found):.0%}"]
            lines.append([contestant, measure.name, against, *numbers])
    head = ["contestant", "measure", "against", "columns", "first", "within one standard error", "behind"]
    explained = (
        "F1 grows with every point that is rightly declared above, and a tool that claims too much gets much of it. "
        f"{standings.SUREST.name} is the F1 of each tool's surest points, as many as leave 1 % of them wrong. "
        "That number is known with hindsight only. It compares places and probabilities at the same honesty."
    )
    return f"## Who is ahead\n\n{explained}\n\n{markdown([*head, 'first or within'], lines)}"


def ranking(judged: Judged, contestants: Sequence[str]) -> str:
    """For every contestant: its mean over all columns, and in how many it is first or within, against all others."""
    lines = []
    for name in contestants:
        cells = [name]
        for measure, listed in judged:
            there = [column for column in listed if name in column.scores]
            found = standings.standings(there, name, contestants, lower=measure.lower)
            mean = number(float(np.mean([column.mean(name) for column in there]))) if there else "-"
            first = sum(each.place is Place.FIRST for each in found)
            cells += [mean, str(first), f"{standings.share(found):.0%}" if found else "-"]
        lines.append(cells)
    head = ["contestant"]
    for measure, _ in judged:
        head += [f"{measure.name}, mean", "first", "first or within"]
    explained = (
        "Every contestant against all others, by the same rule. The means are over all columns, in per cent. "
        "Methods of ours share one estimate and are often nearly equal, so that none can be first everywhere."
    )
    return f"## Every contestant\n\n{explained}\n\n{markdown(head, lines)}"


def pictures() -> str:
    return (
        "![Mislabelled points relative to scikit-learn's Straddle, and F1 of the declared set](arena.png)\n\n"
        "![The same by group of problems](arena-groups.png)\n\n"
        "![Wrong labels among declared points, and F1 of the declared set, by contestant](arena-promises.png)"
    )


def columns(measure: Measure, listed: Sequence[Column], who: Field) -> str:
    """A line for each column: the default, every other tool, and the best of our other methods."""
    shown = [who.default, *who.peers]
    lines = []
    for column in listed:
        if who.default not in column.scores:
            continue
        ours = [name for name in who.ours if name in column.scores]
        best = _best(column, ours, measure) if ours else None
        compared = [name for name in (*shown, best) if name is not None and name in column.scores]
        ahead = {f"{column.mean(name):.6g}" for name in [_best(column, compared, measure)]}
        cells = [_cell(column, name, ahead) for name in shown]
        beside = "" if best is None else f"{_cell(column, best, ahead)} ({best})"
        place = standings.standing(column, who.default, [*who.peers, *who.ours], lower=measure.lower)
        lines.append([column.problem, str(column.samples), *cells, beside, _mark(place)])
    head = ["problem", "measurements", *shown, "best other of ours", f"place of {who.default}"]
    explained = "In per cent, mean ± standard error over the seeds. The best mean of a line is bold."
    return f"## {measure.name.capitalize()}\n\n{explained}\n\n{markdown(head, lines)}"


def losses(judged: Judged, default: str, rivals: Sequence[str], title: str) -> str:
    """Every column in which the default is behind by more than one standard error."""
    lines = []
    for measure, listed in judged:
        for each in standings.standings(listed, default, rivals, lower=measure.lower):
            if each.place is Place.BEHIND:
                column = each.column
                values = [number(column.mean(name), column.error(name)) for name in (default, each.rival)]
                lead, seeds = number(each.lead, each.error), str(each.seeds)
                where = [measure.name, column.problem, str(column.samples)]
                lines.append([*where, values[0], each.rival, values[1], lead, seeds])
    head = ["measure", "problem", "measurements", default, "first", "its value", "lead", "seeds"]
    return f"## {title}\n\n{markdown(head, lines) if lines else 'In no column.'}"


def wrong(found: Curves, promised: Mapping[str, float | None], means: Judged) -> str:
    """What each contestant promised, the share of wrong labels among its declared ones, and what it found."""
    shares = standings.areas(found)
    lines = []
    for name, promise in promised.items():
        own = {problem: each[name] for problem, each in shares.items() if name in each}
        if own:
            worst = max(own, key=lambda problem: own[problem])
            aim = "by its own rule" if promise is None else f"{promise:.0%}"
            over = "-" if promise is None else f"{sum(value > promise for value in own.values())} of {len(own)}"
            average = f"{float(np.mean(list(own.values()))):.2%}"
            scores = [
                number(float(np.mean([column.mean(name) for column in listed if name in column.scores])))
                for _, listed in means
            ]
            lines.append([name, aim, average, f"{own[worst]:.1%}", worst, over, *scores])
    head = [
        "contestant",
        "promised",
        "wrong among declared",
        "on the worst problem",
        "which",
        "problems above the promise",
    ]
    explained = (
        "Shares of wrong labels are means over all looks and seeds. A look without a declared point counts as 0. "
        "F1 is the mean over all columns, in per cent."
    )
    head += [measure.name for measure, _ in means]
    return f"## Promised, wrong and found\n\n{explained}\n\n{markdown(head, lines)}"


def areas(found: Curves, contestants: Sequence[str], groups: Mapping[str, Sequence[str]]) -> str:
    """The area under the curve of mislabelled points relative to the reference's: geometric means by group."""
    kept = (*groups.values(), list(found))
    lines = [[name, *(_ratio(found, name, members) for members in kept)] for name in contestants]
    head = ["contestant", *groups, "all"]
    explained = (
        f"Relative to {REFERENCE}, which is 1: the geometric mean over the problems of a group. Less is better. "
        "Ours have no estimate at 10 measurements, while their pilot lasts."
    )
    return f"## Area under the curve of mislabelled points\n\n{explained}\n\n{markdown(head, lines)}"


def seconds(rows: Sequence[Row], contestants: Sequence[str]) -> str:
    """CPU seconds."""
    found = standings.seconds(rows)
    lines = [[name, f"{found[name]['ask']:.3f}", f"{found[name]['run']:.1f}"] for name in contestants if name in found]
    explained = (
        "An ask includes telling the results, estimating everything anew, and drawing the map. Ours ask for five "
        "measurements at a time, other tools for one, and those estimate their kernels at every tenth only."
    )
    return f"## CPU seconds\n\n{explained}\n\n{markdown(['contestant', 'an ask', 'a run'], lines)}"


def failures(rows: Sequence[Row]) -> str:
    """Runs that ended with an error."""
    lines = [[str(value).replace("|", "/") for value in each.values()] for each in standings.failures(rows)]
    if not lines:
        return ""
    return f"## Runs that ended with an error\n\n{markdown(['contestant', 'problem', 'seed', 'error'], lines)}"


def sources(rows: Sequence[Row]) -> str:
    """A word where rows of one version come from different files."""
    found = {row.values["source"] for row in rows if "source" in row.values}
    if len(found) <= 1:
        return ""
    return f"Our rows come from {len(found)} states of the library with the same version."


def _best(column: Column, names: Sequence[str], measure: Measure) -> str:
    sign = 1.0 if measure.lower else -1.0
    return min(names, key=lambda name: sign * column.mean(name))


def _cell(column: Column, name: str, ahead: set[str]) -> str:
    if name not in column.scores:
        return "-"
    shown = number(column.mean(name), column.error(name))
    return f"**{shown}**" if f"{column.mean(name):.6g}" in ahead else shown


def _mark(place: Standing | None) -> str:
    if place is None:
        return "-"
    return {Place.FIRST: "first", Place.WITHIN: "within", Place.BEHIND: f"behind {place.rival}"}[place.place]


def _ratio(found: Curves, name: str, members: Sequence[str]) -> str:
    ratios = [standings.area_ratio(found, name, REFERENCE, problem) for problem in members if problem in found]
    logs = [np.log(ratio) for ratio in ratios if ratio is not None]
    return f"{float(np.exp(np.mean(logs))):.2f}" if logs else "-"
