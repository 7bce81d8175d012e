"""`superlevel study suggest`: where to measure next, and why there."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from superlevel.arrays import as_count
from superlevel.cli.study import common
from superlevel.cli.study.sheet_file import AnySheet, Csv, as_sheet, check_overwriting, write_sheet

if TYPE_CHECKING:
    from superlevel.report.campaign import Reason
    from superlevel.report.places import Places
    from superlevel.study.ledger import Ledger
    from superlevel.study.results import Ticket, Tickets
    from superlevel.study.study import Study

SHOWN = 50  # tickets, which is as many as have a reason
WHY = "why here: the undecided points that it serves most, and by how much it shrinks the variance of each"


def run(
    name: common.Name,
    *,
    count: Annotated[
        int | None, typer.Option("-n", metavar="N", help="How many. Default: one batch, or all of a round.")
    ] = None,
    csv: Csv = None,
    any_sheet: AnySheet = None,
    force: common.Force = False,
    worker: common.Worker = None,
    sign: common.Sign = None,
    lease: Annotated[
        float | None, typer.Option(metavar="HOURS", help="How long they are reserved for you. Default: as created.")
    ] = None,
    store: common.Store = common.DEFAULT_STORE,
    as_json: common.Json = False,
) -> None:
    """Where to measure next, with the reason for each point.

    The points are reserved for you: nobody else gets them while the lease lasts, and until you tell their results you
    get the same ones again; -n asks for more. Where several people or instruments share one account, give each a
    --worker.

    Example: superlevel study suggest harbour -n 20 --csv sheet.csv
    """
    wanted = None if count is None else as_count("-n", count)
    seconds = None if lease is None else common.hours("--lease", lease)
    sheet = as_sheet(csv, any_sheet)
    who = common.me() if worker is None else worker
    storage, study = common.opened(store, name, worker=who, sign=sign)
    if sheet is not None:
        check_overwriting(study, sheet, force=force)
    mine = {number for number, held in storage.leases(name).items() if held and held.worker == who}
    with common.working("planning where to measure"):
        tickets = study.ask(wanted, lease=seconds)
        reasons = {reason.ticket: reason for reason in study.reasons()} if tickets else {}
    standing = study.status(fresh=False)
    if sheet is not None and tickets:
        write_sheet(sheet, tickets, study, force=force)
    if as_json:
        written = str(sheet.path) if sheet is not None and tickets else None
        listed = [_as_data(ticket, study.ledger, reasons, ticket.number in mine) for ticket in tickets]
        said = {"study": name, "worker": who, "stop": tickets.stop, "names": study.ledger.created.names}
        doubts = {"contradicted": standing.contradicted, "doubts": list(standing.doubts)}
        return common.answer({**said, **doubts, "tickets": listed, "csv": written})
    console = common.screen()
    if not tickets:
        common.say(console, f"nothing to measure now: {tickets.stop}")
    else:
        _show(console, study, tickets, reasons)
        if standing.tested:
            common.say(console, f"fit: {standing.tested}")
        _remark(console, study, tickets, () if standing.contradicted else mine)
    if sheet is not None and tickets:
        common.say(console, f"wrote {sheet.path}")
        common.say(
            console, f"next: fill it in, and {common.command(store, storage, 'study', 'tell', name, sheet.path)}"
        )
    elif tickets and not standing.contradicted:
        common.say(console, "next: measure, and tell; --csv FILE writes a sheet to fill in")
    if standing.contradicted and tickets:
        common.say(console, f"these were open already, and nothing new is suggested: {standing.stop}")
    if standing.stop is not None:
        common.say_lines(console, (f"doubt: {doubt}" for doubt in standing.doubts))
    if standing.contradicted:
        common.say_lines(console, common.way_out(store, storage, name))
    return None


# ---------------------------------------------------------------------------------------- what is shown


def _show(console: Console, study: Study, tickets: Tickets, reasons: Mapping[int, Reason]) -> None:
    from superlevel.report.places import Places  # noqa: PLC0415

    created = study.ledger.created
    shown = tickets[:SHOWN]
    places = Places(points=study.ledger.places, coordinates=study.ledger.coordinates, ids=study.ledger.ids)
    rows = [
        [
            str(ticket.number),
            *([ticket.id] if places.ids else []),
            *places.numbers(ticket.point),
            _why(ticket, reasons, study.ledger, places),
        ]
        for ticket in shown
    ]
    called = [created.id_name] if places.ids else []
    console.print(common.table(["ticket", *called, *created.names[: places.count], "why here"], rows))
    if any(ticket.number in reasons for ticket in shown):
        common.say(console, WHY)
    if len(created.names) > places.count and not places.ids:
        common.say(console, f"{len(created.names) - places.count} more coordinates are in what --csv writes")
    if len(tickets) > SHOWN:
        common.say(console, f"and {len(tickets) - SHOWN:,} more: --csv writes them all")


def _remark(console: Console, study: Study, tickets: Tickets, mine: Collection[int]) -> None:
    again = sum(ticket.number in mine for ticket in tickets)
    if again == len(tickets):
        more = again + study.ledger.created.batch
        common.say(console, f"all of these were suggested to you before and are still open; -n {more} asks for more")
    elif again:
        common.say(console, f"{again:,} of these were suggested to you before and are still open")
    until = datetime.fromtimestamp(tickets[0].until).astimezone()
    common.say(console, f"reserved for you until {until:%Y-%m-%d %H:%M}; results are welcome later too")


def _why(ticket: Ticket, reasons: Mapping[int, Reason], ledger: Ledger, places: Places) -> str:
    from superlevel.report.campaign import CHECK, REPEAT  # noqa: PLC0415  slow to import

    reason, repeat = reasons.get(ticket.number), bool(ledger.repeats[ticket.number - 1])
    if reason is None:
        if ledger.asked(ticket.number).purpose != "pilot":
            return REPEAT if repeat else ""
        return f"pilot: {REPEAT if repeat else 'far from the others'}"
    if reason.check:
        return CHECK
    served = [
        f"{'itself' if point == ticket.point else places.of(point)} {share:.0%}" for point, share in reason.serves
    ]
    return ", ".join([*[REPEAT] * repeat, *served])


def _as_data(ticket: Ticket, ledger: Ledger, reasons: Mapping[int, Reason], again: bool) -> dict[str, Any]:
    served = reasons[ticket.number].serves if ticket.number in reasons else ()
    return {
        "ticket": ticket.number,
        "point": ticket.point,
        **({"id": ticket.id} if ticket.id else {}),
        "coordinates": list(ledger.cells(ticket.point)),
        "until": datetime.fromtimestamp(ticket.until, UTC).isoformat(timespec="seconds"),
        "again": again,
        "repeat": bool(ledger.repeats[ticket.number - 1]),
        "check": ticket.number in reasons and reasons[ticket.number].check,
        "why": [
            {
                "point": point,
                **({"id": ledger.id_of(point)} if ticket.id else {}),
                "coordinates": ledger.cells(point),
                "share": share,
            }
            for point, share in served
        ],
    }
