"""The paper's GP figure in two other ways, as the paper leaves both open: rivals in batches, and labels read anew.

`superlevel reproduce gp` has MELK in batches of 10, TruVar and LSE one measurement at a time, and labels that stay.
Here all three measure in batches of 10; and then, besides, every label is read from all measurements each time.

    python -m experiments.gp                # a minute and a half on two cores
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rich.console import Console

from experiments.common import entry, run
from superlevel.reproduce import curves
from superlevel.reproduce.settings import Entry, Figure, Row
from superlevel.rules.design import WorstCase

COLUMNS = (200, 400, 600, 800, 1000)
KEPT, ANEW = ", labels kept", ", labels anew"


def entries(ending: str, *, permanent: bool) -> list[Entry]:
    given: dict[str, Any] = {"batch": curves.BATCH, "permanent": permanent}
    return [
        entry(f"MELK{ending}", "melk", rule=WorstCase(rtol=curves.RTOL), **given),
        entry(f"TruVar{ending}", "truvar", **given),
        entry(f"LSE{ending}", "lse", **given),
    ]


def judged(rows: Sequence[Row], ending: str) -> None:
    """The paper's claims of one way."""
    own = [replace(row, method=row.method.removesuffix(ending)) for row in rows if row.method.endswith(ending)]
    for claim in curves.claims(own):
        found = claim.evidence[0]
        Console().print(
            f"{claim.claim.rstrip('.')}{ending}: {found.mean:+.3f} ± {found.standard_error:.3f}, {claim.verdict}",
            highlight=False,
        )


def main() -> None:
    setting = curves.gp(quick=False).settings[0]
    both = [*entries(KEPT, permanent=True), *entries(ANEW, permanent=False)]
    figure = Figure(name="gp-batches", title="The GP figure, all in batches of 10", settings=[setting], entries=both)
    rows = run(figure, COLUMNS, reps=25)
    for ending in (KEPT, ANEW):
        judged(rows, ending)


if __name__ == "__main__":
    main()
