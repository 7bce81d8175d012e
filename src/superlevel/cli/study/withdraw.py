"""`superlevel study withdraw`: measurements that do not count."""

from __future__ import annotations

from typing import Annotated

import typer

from superlevel.cli.study import common


def run(
    name: common.Name,
    tickets: Annotated[list[int], typer.Argument(metavar="TICKET...", help="Their numbers.", show_default=False)],
    *,
    reason: common.Reason,
    sign: common.Sign = None,
    store: common.Store = common.DEFAULT_STORE,
) -> None:
    """Measurements that do not count any more, or that need not be made. The log keeps them.

    Example: superlevel study withdraw harbour 17 18 --reason "the probe was broken"
    """
    _, study = common.opened(store, name, sign=sign)
    before = common.known_before(study)
    study.withdraw(tickets, reason=reason)
    console = common.screen()
    count = common.plural(len(set(tickets)), "ticket")
    common.say(console, f"{count} withdrawn (entry {study.ledger.length:,} of the log)")
    common.say_head(console, study)
    console.file.flush()
    common.say(console, str(common.decide(study, before)))
