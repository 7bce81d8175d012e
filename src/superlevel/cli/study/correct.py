"""`superlevel study correct`: a value that was told wrongly."""

from __future__ import annotations

from typing import Annotated

import typer

from superlevel.cli.study import common


def run(
    name: common.Name,
    ticket: Annotated[int, typer.Argument(metavar="TICKET", help="Its number.", show_default=False)],
    value: Annotated[str, typer.Argument(metavar="VALUE", help="What was really measured.", show_default=False)],
    *,
    noise: Annotated[
        str | None, typer.Option(metavar="S", help="Its own standard deviation. Default: as it was.")
    ] = None,
    reason: common.Reason,
    sign: common.Sign = None,
    store: common.Store = common.DEFAULT_STORE,
) -> None:
    """Replace the value of a ticket that was told wrongly. The log keeps both.

    Example: superlevel study correct harbour 17 -3.5 --reason "minus sign forgotten"
    """
    right = common.number("VALUE", value)
    deviation = None if noise is None else common.number("--noise", noise)
    _, study = common.opened(store, name, sign=sign)
    before = common.known_before(study)
    study.correct(ticket, right, noise=deviation, reason=reason)
    console = common.screen()
    common.say(console, f"ticket {ticket} has the value {right!r} now (entry {study.ledger.length:,} of the log)")
    common.say_head(console, study)
    console.file.flush()
    common.say(console, str(common.decide(study, before)))
