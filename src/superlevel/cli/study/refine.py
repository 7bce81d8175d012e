"""`superlevel study refine`: further points where the boundary is."""

from __future__ import annotations

from typing import Annotated

import typer

from superlevel.cli.study import common


def run(
    name: common.Name,
    *,
    count: Annotated[int, typer.Option(help="How many points to add.")] = 512,
    sign: common.Sign = None,
    store: common.Store = common.DEFAULT_STORE,
) -> None:
    """Add points where the boundary is thought to be, to a study in a box.

    The points are spread over the box, and those are added where the function is nearest to the level or least is known
    of it. Measurements and labels stay. Then go on: suggest and tell, or `superlevel find` with a larger --budget.

    Example: superlevel study refine reactor --count 512
    """
    _, study = common.opened(store, name, sign=sign)
    with common.working("looking for the boundary"), common.given_as("path", count="--count"):
        added = study.refine(count)
    console = common.screen()
    common.say(console, f"added {common.plural(added, 'point')} to study {name!r}, which has {study.ledger.n:,} now")
    common.say_head(console, study)
