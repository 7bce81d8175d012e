"""The linear benchmark with the widths of the theory: MELK against LSE, MILK against LSE-imp, and the lower bound.

The paper can be read in three ways, and each reading has a method of the paper and a rival:

    the algorithm as printed  N_t with its 16                   widths with d / 2 log(1 + t / d), the sharp bound on the
                                                                information gain of a linear kernel (Srinivas et al.)
    the appendix as printed   N_t without it ("experiments"),   widths with d log(1 + t), the O(d log T) of the appendix
                              and designs by Frank-Wolfe        with a constant of one ("d log t")
    what is needed            N_t as the robust mean needs it   the sharp bound for rank 2, the dimension that the arms
                              ("tight")                         span ("rank 2")

The appendix gives Frank-Wolfe a step size of 0.5. Steps that fall like 0.5 / (t + 2) are in "experiments", steps that
stay at 0.5 in "equal steps" (`superlevel.reproduce.solvers`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from superlevel.confidence.rips import Rips
from superlevel.confidence.rkhs import Rkhs
from superlevel.reproduce.outcome import Outcome, Table, error_of, scores
from superlevel.reproduce.reading import area_table, curve_table, pictures
from superlevel.reproduce.settings import Entry, Figure, Row, Setting, Trial
from superlevel.reproduce.solvers import DecreasingSteps, EqualSteps
from superlevel.reproduce.three_readings import claims, drawn, reading_table
from superlevel.reproduce.trials import LowerBound, Simulated
from superlevel.reproduce.widths import Loose, OfRank
from superlevel.reproduce.worlds import Linear
from superlevel.rules.design import OptimalDesign

BATCH = 10  # of LSE: a thousandth of its run, and five times as fast as one at a time
LONG = 100  # with the widest intervals it needs half a million measurements
RANK = 2
PATIENCE = 10_000  # measurements of a method without a theorem: by then it is done, or will not be
BOUND = "lower bound"


def explicit(quick: bool) -> Figure:
    """Above 1/2."""
    return _figure(
        "linear-explicit",
        "Linear benchmark, f > 0.5",
        quick,
        implicit=False,
        entries=(
            entry("MELK", simulated("melk", confidence=Rips()), paper=True),
            entry("LSE", widths("lse", Rkhs(intersected=True)), paper=True),
            entry("MELK, tight", simulated("melk", confidence=Rips(schedule="tight"))),
            entry("LSE, rank 2", widths("lse", OfRank(intersected=True, rank=RANK))),
            entry("LSE, d log t", widths("lse", Loose(intersected=True), batch=LONG)),
            entry("MELK, experiments", appendix("melk", DecreasingSteps())),
            entry("MELK, equal steps", appendix("melk", EqualSteps())),
            entry("MELK, batches", believed("melk")),
            entry("LSE, posterior", believed("lse")),
            *others("truvar", "straddle", "rmile", "uniform", "max-variance"),
        ),
    )


def implicit(quick: bool) -> Figure:
    """Above half of the maximum."""
    return _figure(
        "linear-implicit",
        "Linear benchmark, f > 0.5 max f",
        quick,
        implicit=True,
        entries=(
            entry("MILK", simulated("milk", confidence=Rips()), paper=True),
            entry("LSE-imp", widths("lse-imp", Rkhs(intersected=True)), paper=True),
            entry("MILK, tight", simulated("milk", confidence=Rips(schedule="tight"))),
            entry("LSE-imp, rank 2", widths("lse-imp", OfRank(intersected=True, rank=RANK))),
            entry("LSE-imp, d log t", widths("lse-imp", Loose(intersected=True), batch=LONG)),
            entry("MILK, experiments", appendix("milk", DecreasingSteps())),
            entry("MILK, equal steps", appendix("milk", EqualSteps())),
            entry("MILK, batches", believed("milk")),
            entry("LSE-imp, posterior", believed("lse-imp")),
            *others("truvar", "uniform", "max-variance"),
        ),
    )


def _figure(name: str, title: str, quick: bool, *, implicit: bool, entries: tuple[Entry, ...]) -> Figure:
    world = Linear(arms=30 if quick else 100, dimension=4 if quick else 25, implicit=implicit, noise=1.0, ridge=1e-7)
    samples = tuple(int(x) for x in np.unique(np.geomspace(100, 3_000_000, 61).round(-1)))
    setting = Setting(name=f"{world.arms} arms, d = {world.dimension}", world=world, samples=samples)
    bound = Entry(label=BOUND, trial=LowerBound(), paper=True)
    return Figure(name=name, title=title, settings=[setting], entries=(*entries, bound), logarithmic=True)


def entry(label: str, trial: Trial, *, paper: bool = False) -> Entry:
    return Entry(label=label, trial=trial, paper=paper)


def simulated(method: str, **options: Any) -> Simulated:
    return Simulated(method=method, options=tuple(options.items()))


def appendix(method: str, rule: OptimalDesign) -> Simulated:
    """MELK or MILK as the appendix on the linear experiments says that it was run."""
    return simulated(method, confidence=Rips(schedule="experiments"), rule=rule)


def widths(method: str, confidence: Rkhs, *, batch: int = BATCH) -> Simulated:
    """On the posterior with the widths of a theorem."""
    return simulated(method, confidence=confidence, batch=batch)


LABELS = {"truvar": "TruVar", "straddle": "Straddle", "rmile": "RMILE", "max-variance": "max. variance"}


def others(*names: str) -> list[Entry]:
    """The rest of the table."""
    return [entry(LABELS.get(name, name), believed(name)) for name in names]


def believed(method: str) -> Simulated:
    """On the posterior with beta^1/2 = 3: the same measurements, and no theorem."""
    return Simulated(method=method, options=(("confidence", "posterior"), ("batch", BATCH)), budget=PATIENCE)


def read(figure: Figure, rows: Sequence[Row]) -> Outcome:
    """F1 curves with the lower bound as a line, and the measurements to the last correct label."""
    bound = float(np.mean([row.values["samples"] for row in rows if row.method == BOUND]))
    samples, readings = sample_table(figure, rows, bound), reading_table(figure, rows)
    panels = drawn(figure, rows, lines=[(BOUND, bound)])
    return Outcome(
        tables={"": curve_table(figure, rows), "-samples": samples, "-readings": readings},
        pictures={**pictures(figure, rows, lines={BOUND: bound}), "-readings": panels},
        claims=claims(figure, rows),
        shown=samples,
        readings=readings,
        ranked=area_table(figure, rows),
    )


def sample_table(figure: Figure, rows: Sequence[Row], bound: float) -> Table:
    """For each method: measurements to the last correct label. A run that never got there is later than all others."""
    lasts, wrong = scores(rows, "last"), scores(rows, "wrong")
    lines: list[dict[str, Any]] = []
    for (setting, method), last in lasts.items():
        there = last[np.isfinite(last)]
        median = float(np.median(np.where(np.isfinite(last), last, np.inf)))
        lines.append(
            {
                "figure": figure.name,
                "setting": setting,
                "method": method,
                "runs": len(last),
                "runs_all_correct": len(there),
                "runs_with_a_wrong_label": int((wrong[setting, method] > 0).sum()),
                "mean_of_those": float(there.mean()) if len(there) else None,
                "standard_error": error_of(there),
                "median_of_all": median if np.isfinite(median) else None,
                "median_times_lower_bound": median / bound if np.isfinite(median) else None,
            }
        )
    return lines
