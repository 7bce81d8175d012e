"""From rows to curves, and from curves to who is ahead.

A curve has one number for each look of a problem. A run that ended early keeps its last number. A column is a problem
at a number of measurements. Contestants are compared on the seeds that both have: the standard error is that of the
paired difference.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from superlevel.arrays import Array
from superlevel.reproduce.settings import Row, Setting, Values

SHOWN = (50, 100, 200)
TINY = 1e-9  # in place of an area of zero
Key: TypeAlias = tuple[str, str, int, str]
Curves: TypeAlias = dict[str, dict[str, dict[int, Array]]]
"""By problem, contestant and seed: (looks,) numbers."""


@dataclass(frozen=True, kw_only=True)
class Measure:
    """What a contestant is judged by."""

    name: str
    of: Callable[[Values], Array]
    """(looks,) of a run."""
    lower: bool
    """Whether less is better."""


def mislabelled(values: Values) -> Array:
    """The share of the points that the likelier side labels wrongly."""
    return np.asarray(values["mislabelled"], dtype=np.float64) / float(values["points"])


def f1(values: Values) -> Array:
    """2 TP / (2 TP + FP + FN) of the points declared above; 1 where there are none and none were declared."""
    return _f1(values, "right", "above")


def surest(values: Values) -> Array:
    """The same of the surest points, as many as leave 1 % of them wrong: known with hindsight only."""
    return _f1(values, "surest_right", "surest")


def _f1(values: Values, right: str, above: str) -> Array:
    rightly, all_of_them = (np.asarray(values[name], dtype=np.float64) for name in (right, above))
    total = all_of_them + values["positives"]
    return np.where(total > 0, 2 * rightly / np.maximum(total, 1), 1.0)


def wrong(values: Values) -> Array:
    """The share of the declared points that are declared wrongly."""
    declared = np.asarray(values["declared"], dtype=np.float64)
    return np.asarray(values["wrong"], dtype=np.float64) / np.maximum(declared, 1)


MISLABELLED = Measure(name="mislabelled", of=mislabelled, lower=True)
F1 = Measure(name="F1 of the declared set", of=f1, lower=False)
SUREST = Measure(name="F1 at 1 % wrong", of=surest, lower=False)
WRONG = Measure(name="wrong among declared", of=wrong, lower=True)


def read(paths: Iterable[Path], wanted: Callable[[Row], bool] = lambda _: True) -> list[Row]:
    """Rows of journals that may still be written to: a line without its end is left out."""
    found: dict[Key, Row] = {}
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
            if line.endswith("\n"):
                row = Row(**json.loads(line))
                if wanted(row):
                    found[row.key] = row
    return list(found.values())


def curves(rows: Iterable[Row], settings: Sequence[Setting], measure: Measure) -> Curves:
    """The curves of all rows that did not fail, at the looks of their problems."""
    looks = {setting.name: setting.samples for setting in settings}
    found: Curves = {}
    for row in rows:
        if "failed" not in row.values and row.setting in looks:
            curve = at(row.values["samples"], measure.of(row.values), looks[row.setting])
            found.setdefault(row.setting, {}).setdefault(row.method, {})[row.seed] = curve
    return found


def at(samples: Sequence[int], values: Array, looks: Sequence[int]) -> Array:
    """(looks,) the value of the last sample within each look, NaN before the first one."""
    places = [bisect_right(samples, look) for look in looks]
    return np.array([values[place - 1] if place else np.nan for place in places])


# ------------------------------------------------------------------------------------------ columns


@dataclass(frozen=True, kw_only=True)
class Column:
    """A problem at a number of measurements."""

    problem: str
    samples: int
    scores: Mapping[str, Mapping[int, float]]
    """By contestant and seed."""

    def mean(self, name: str) -> float:
        return float(np.mean(list(self.scores[name].values())))

    def error(self, name: str) -> float | None:
        """The standard error of the mean; None for one seed."""
        return standard_error(list(self.scores[name].values()))


def columns(found: Curves, settings: Sequence[Setting], shown: Sequence[int] = SHOWN) -> list[Column]:
    """Every problem at every shown number of measurements that it goes to."""
    made = []
    for setting in settings:
        for samples in shown:
            if samples in setting.samples and setting.name in found:
                place = setting.samples.index(samples)
                scores = {
                    name: {seed: float(curve[place]) for seed, curve in runs.items()}
                    for name, runs in found[setting.name].items()
                }
                made.append(Column(problem=setting.name, samples=samples, scores=scores))
    return made


def standard_error(values: Sequence[float]) -> float | None:
    """Of a mean; None for one value, of which nothing is known."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None


class Place(Enum):
    """Where a contestant stands in a column."""

    FIRST = "first"
    WITHIN = "within one standard error of the first"
    BEHIND = "behind"


@dataclass(frozen=True, kw_only=True)
class Standing:
    """A contestant in a column, against the best of its rivals."""

    column: Column
    place: Place
    rival: str
    """The rival with the largest lead, or the smallest lag."""
    lead: float
    """By how much the rival is better on average over the seeds that both have."""
    error: float | None
    """The standard error of the lead."""
    seeds: int


def standing(column: Column, name: str, rivals: Iterable[str], *, lower: bool) -> Standing | None:
    """Where a contestant stands; None if it or all rivals have no run in common."""
    best: tuple[float, str, list[float]] | None = None
    for rival in rivals:
        leads = paired(column, name, rival, lower=lower)
        if leads and (best is None or np.mean(leads) > best[0]):
            best = (float(np.mean(leads)), rival, leads)
    if best is None:
        return None
    lead, rival, leads = best
    error = standard_error(leads)
    place = Place.FIRST if lead <= 0 else Place.WITHIN if error is not None and lead <= error else Place.BEHIND
    return Standing(column=column, place=place, rival=rival, lead=lead, error=error, seeds=len(leads))


def paired(column: Column, name: str, rival: str, *, lower: bool) -> list[float]:
    """By how much the rival is better, for each seed that both have."""
    mine, its = column.scores.get(name, {}), column.scores.get(rival, {})
    sign = 1.0 if lower else -1.0
    return [sign * (mine[seed] - its[seed]) for seed in sorted(mine.keys() & its.keys())]


def standings(listed: Iterable[Column], name: str, rivals: Sequence[str], *, lower: bool) -> list[Standing]:
    """In every column in which the contestant can be compared."""
    found = (standing(column, name, [r for r in rivals if r != name], lower=lower) for column in listed)
    return [each for each in found if each is not None]


def share(found: Sequence[Standing]) -> float:
    """The share of the columns in which it is first or within one standard error of the first."""
    return float(np.mean([each.place is not Place.BEHIND for each in found])) if found else float("nan")


# ------------------------------------------------------------------------------------------ areas and seconds


def areas(found: Curves) -> dict[str, dict[str, float]]:
    """By problem and contestant: the mean of the curve over all looks, averaged over the seeds."""
    return {
        problem: {name: float(np.mean([np.nanmean(curve) for curve in runs.values()])) for name, runs in each.items()}
        for problem, each in found.items()
    }


def area_ratio(found: Curves, name: str, reference: str, problem: str) -> float | None:
    """The area under a curve over that of the reference, on the seeds that both have; None without any."""
    mine, its = found[problem].get(name, {}), found[problem].get(reference, {})
    seeds = sorted(mine.keys() & its.keys())
    if not seeds:
        return None
    own, other = (float(np.mean([np.nanmean(runs[seed]) for seed in seeds])) for runs in (mine, its))
    return max(own, TINY) / max(other, TINY)


def relative(found: Curves, name: str, reference: str, points: Mapping[str, int]) -> dict[str, Array]:
    """By problem: log of the mean curve over the reference's mean curve, on the seeds that both have.

    Half a point is added to both: a curve may reach zero.
    """
    made = {}
    for problem, each in found.items():
        seeds = sorted(each.get(name, {}).keys() & each.get(reference, {}).keys())
        if seeds:
            own, other = (np.mean([each[who][seed] for seed in seeds], axis=0) for who in (name, reference))
            half = 0.5 / points[problem]
            made[problem] = np.log((own + half) / (other + half))
    return made


def seconds(rows: Iterable[Row]) -> dict[str, dict[str, float]]:
    """By contestant: mean CPU seconds of an ask with all that belongs to it, and of a run."""
    spent: dict[str, list[tuple[float, int]]] = {}
    for row in rows:
        if "failed" not in row.values:
            spent.setdefault(row.method, []).append((row.values["cpu"][-1], row.values["asks"][-1]))
    return {
        name: {
            "ask": sum(cpu for cpu, _ in each) / max(sum(asks for _, asks in each), 1),
            "run": float(np.mean([cpu for cpu, _ in each])),
        }
        for name, each in spent.items()
    }


def failures(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Runs of peers that ended with an error."""
    return [
        {"contestant": row.method, "problem": row.setting, "seed": row.seed, "error": row.values["failed"]}
        for row in rows
        if "failed" in row.values
    ]
