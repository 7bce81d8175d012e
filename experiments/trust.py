"""Do labels deserve belief where nothing is set by hand? Real fields with kernel, noise and mean estimated.

The default method runs with the default confidence, in batches of five, and labels are looked at after every batch. Of
each field it prints the share of declared points that are wrong, on average over all looks and at the worst look, each
averaged over the seeds; how many points are declared; and how many are mislabelled by the likelier side.

    python -m experiments.trust                        # an hour on two cores; killed, it goes on where it was
    python -m experiments.trust --seeds 3 meuse hills

Constants were chosen on the fields of `experiments.fields.TUNED`. The fields of `UNTOUCHED` were run for the first time
when everything was settled. docs/estimates.md says what was seen of the others meanwhile.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import track
from rich.table import Table

import superlevel as sl
from experiments.fields import FIELDS, TUNED, UNTOUCHED, Field, MissingError
from superlevel.sizes import ESTIMATING
from superlevel.worker_setup import quiet

OUT = Path("out/experiments/trust.jsonl")
MEASUREMENTS, BATCH = 300, ESTIMATING
SHOWN = (50, 100, 200, 300)

Row = dict[str, Any]


def campaign(field: Field, seed: int, *, measurements: int = MEASUREMENTS) -> Row:
    """One run: after every batch, measurements, points declared, points declared wrongly, and points mislabelled."""
    domain = sl.Domain(field.points)
    problem = sl.Problem(domain, goal=sl.Threshold(field.level), fit=("kernel", "noise", "mean"))
    method = sl.methods.make("melk", problem, batch=BATCH)
    oracle, truth = sl.oracles.Gaussian(field.values, noise=field.noise), field.values > field.level
    state, looks = method.init(seed=seed), []
    with quiet(), warnings.catch_warnings():
        warnings.simplefilter("ignore", sl.AssumptionWarning)
        while state.stop is None and state.samples + BATCH <= min(measurements, domain.n):
            plan = method.ask(state)
            values = oracle.measure(plan.indices, np.random.default_rng([seed, state.phase, 1]))
            state, _ = method.tell(state, plan, values)
            declared = state.labels != 0
            wrong = declared & ((state.labels > 0) != truth)
            missed = (method.guess(state) > 0) != truth
            looks.append([state.samples, *(int(mask.sum()) for mask in (declared, wrong, missed))])
    return {"field": field.name, "seed": seed, "points": domain.n, "looks": looks}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fields", nargs="*", metavar="FIELD", help=f"out of {', '.join(FIELDS)}; all by default")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args(arguments)
    console = Console(width=130)
    loaded = list(_loaded(given.fields or FIELDS, console))
    rows = _read(given.out)
    done = {(row["field"], row["seed"]) for row in rows}
    tasks = [(field, seed) for seed in range(given.seeds) for field in loaded if (field.name, seed) not in done]
    given.out.parent.mkdir(parents=True, exist_ok=True)
    found = Parallel(n_jobs=given.jobs, return_as="generator_unordered")(delayed(campaign)(*task) for task in tasks)
    with given.out.open("a", encoding="utf-8") as file:
        for row in track(found, total=len(tasks), console=Console(stderr=True)):
            file.write(json.dumps(row) + "\n")
            file.flush()
            rows.append(row)
    names = [field.name for field in loaded]
    console.print(table([row for row in rows if row["field"] in names and row["seed"] < given.seeds], names))


def table(rows: Iterable[Row], names: Sequence[str]) -> Table:
    """A line for each field."""
    listed = list(rows)
    shown = Table(
        title="Declared and wrong, with kernel, noise and mean estimated",
        caption="no mark: constants were chosen by its numbers; * they were not; ** run once, when all was settled",
    )
    columns = (
        "field",
        "points",
        "runs",
        "wrong, average",
        "wrong, worst look",
        "at",
        "declared at 50 / 100 / 200 / 300",
    )
    for column in (*columns, "mislabelled at 50 / 100 / 200 / 300"):
        shown.add_column(column)
    for name in names:
        mine = [row for row in listed if row["field"] == name]
        if mine:
            shown.add_row(*_line(name, mine))
    return shown


def _line(name: str, rows: list[Row]) -> list[str]:
    points = rows[0]["points"]
    wrong: dict[int, list[float]] = {}
    declared: dict[int, list[float]] = {}
    missed: dict[int, list[float]] = {}
    for row in rows:
        for samples, decided, bad, other in row["looks"]:
            wrong.setdefault(samples, []).append(bad / max(decided, 1))
            declared.setdefault(samples, []).append(decided / points)
            missed.setdefault(samples, []).append(other / points)
    means = {samples: float(np.mean(shares)) for samples, shares in wrong.items()}
    worst = max(means, key=lambda samples: means[samples])
    shares = [" / ".join(f"{np.mean(each[k]):.1%}" if k in each else "-" for k in SHOWN) for each in (declared, missed)]
    mark = "" if name in TUNED else " **" if name in UNTOUCHED else " *"
    average = float(np.mean(list(means.values())))
    return [name + mark, f"{points:,}", str(len(rows)), f"{average:.2%}", f"{means[worst]:.2%}", str(worst), *shares]


def _loaded(names: Iterable[str], console: Console) -> Iterable[Field]:
    for name in names:
        try:
            yield FIELDS[name]()
        except MissingError as error:
            console.print(f"{name} is left out: {error}")


def _read(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


if __name__ == "__main__":
    main()
