"""Three other questions of the same strait: shallower than 20 m, between 20 and 100 m, and a chart of four classes.

Each goal has a study of its own: 400 pings on the square root of the depth, with a kernel that is estimated from 60
others. It prints the points of each class, and how many of the decided labels are wrong, and draws the map of each
study.

    python -m experiments.goals             # three minutes on two cores; writes out/goals/*.png
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track

import superlevel as sl
from experiments.strait import load, problem_of, sonar
from superlevel.report.drawing import draw

OUT = Path("out/goals")
PINGS, BATCH = 400, 20
GOALS = {
    "shallow": sl.Threshold(np.sqrt(20.0), side="below"),
    "slope": sl.Band(np.sqrt(20.0), np.sqrt(100.0)),
    "chart": sl.Levels([float(np.sqrt(depth)) for depth in (5.0, 20.0, 100.0)]),
}


def main() -> None:
    """Run the studies, print what they found, and draw them."""
    console, sea = Console(), load()
    instrument = sonar(sea)
    OUT.mkdir(parents=True, exist_ok=True)
    for name, goal in GOALS.items():
        study = sl.Study.create("memory:", name, problem_of(sea, goal), batch=BATCH)
        for k in track(range(PINGS // BATCH), description=name, console=Console(stderr=True)):
            tickets = study.ask()
            study.tell(tickets.measured(instrument.measure(tickets.indices, np.random.default_rng([0, k]))))
        truth, labels = goal.signs(sea.roots), study.labels
        wrong, decided = int(((labels != 0) & (labels != truth)).sum()), int((labels != 0).sum())
        found = ", ".join(f"{count:,} {group}" for group, count in goal.counts(labels).items())
        console.print(f"{name}: {goal.question} (roots of metres): {found}; {wrong:,} of {decided:,} labels are wrong")
        draw(study.campaign()).savefig(OUT / f"{name}.png", dpi=150)


if __name__ == "__main__":
    main()
