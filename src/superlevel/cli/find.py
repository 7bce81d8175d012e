"""`superlevel find`: search a program's parameters for the settings where its answer exceeds a level."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from superlevel.cli.goal import HELP, as_goal
from superlevel.cli.study import common
from superlevel.domain import Domain
from superlevel.errors import InputError
from superlevel.scales import Choice, Integers, Log, Range, Scale

if TYPE_CHECKING:
    from superlevel.closed_loop import Found

AUTO = "auto"
STOPPED = 130
OPTIONS = {name: f"--{name}" for name in ("command", "timeout", "count", "seed", "budget", "jobs", "batch", "noise")}
OPTIONS |= {"name": "--name", "function": "--command", "box": "--box"}
LIMITS: dict[str, Callable[[Any, Any], Scale]] = {"": Range, "log": Log, "int": Integers}
FORM = "give NAME=LOW:HIGH, NAME=LOW:HIGH:log, NAME=LOW:HIGH:int or NAME=ONE,OTHER"


def run(
    *,
    command: Annotated[
        str,
        typer.Option(
            help="The program and its arguments in quotes, with each coordinate in braces: './simulate {temperature} "
            "{ph}'. It prints its answer: the last number of its standard output counts. No shell is involved.",
            show_default=False,
        ),
    ],
    box: Annotated[
        list[str],
        typer.Option(
            metavar="NAME=LIMITS",
            help="A coordinate and its limits; once for each. temperature=20:80 is a range, dose=0.001:1:log a "
            "logarithmic one, passes=1:8:int whole numbers, metal=steel,copper choices.",
            show_default=False,
        ),
    ],
    threshold: Annotated[float | None, typer.Option(help="Find the points with f above this.")] = None,
    fraction: Annotated[
        float | None,
        typer.Option("--fraction-of-max", help="Find the points within this fraction of the maximum: 0.1 is 10 %."),
    ] = None,
    goal: Annotated[str | None, typer.Option(metavar="TEXT", help=HELP)] = None,
    budget: Annotated[int, typer.Option(help="How many calls at most; those of earlier commands count.")] = 200,
    count: Annotated[int, typer.Option(help="Points that are spread over the box; refine adds more later.")] = 1024,
    noise: Annotated[
        str,
        typer.Option(
            metavar="S",
            help="Standard deviation of an answer: 0 if the same settings always give the same; auto estimates it.",
        ),
    ] = AUTO,
    timeout: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="End a call that takes longer; it counts as failed.")
    ] = None,
    jobs: Annotated[int, typer.Option(help="How many calls run at once.")] = 1,
    batch: Annotated[
        int | None, typer.Option(help="Calls that are planned at once. Default: 5, or the number of jobs.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Everything random comes from it.")] = 0,
    name: Annotated[str, typer.Option(help="Of the study. If the store has it, the search goes on.")] = "find",
    changed: Annotated[
        bool,
        typer.Option("--changed-command", help="Go on with a changed program, or with another one; the log notes it."),
    ] = False,
    store: common.Store = common.DEFAULT_STORE,
    as_json: common.Json = False,
) -> None:
    """Search the settings of a program for those where its answer exceeds a level.

    Points are spread over the box, and the program is called where an answer tells most. Kernel, noise and mean are
    estimated. A call that fails, or that prints no number, is noted with the reason. Every answer is stored before the
    next call begins: if the command is stopped or killed, the same command goes on where it was, and a larger --budget
    adds calls. Several such commands at once share the budget. Afterwards it is a study like any other: status, report,
    export, verify, audit and refine know it.

    Example: superlevel find --command './simulate {temperature} {ph}' --box temperature=20:80 --box ph=2:9
    --threshold 0.8 --budget 200
    """
    wanted = as_goal(threshold, fraction, goal)
    given = {} if noise.strip().lower() == AUTO else {"noise": common.number("--noise", noise)}
    limits = as_box(box)
    storage = common.storage_of(store)
    console = common.screen(as_json)
    with common.working("loading scipy and scikit-learn, and spreading the points"):
        from joblib import parallel_config  # noqa: PLC0415  slow to import, and --help needs none of it

        from superlevel.closed_loop import find  # noqa: PLC0415
        from superlevel.commands import Command  # noqa: PLC0415

        with common.given_as("--command", **OPTIONS):
            program = Command(command, timeout)
            program.check(tuple(limits))
            domain = Domain.box(limits, count=count, seed=seed)
    size = max(5, jobs) if batch is None and jobs > 1 else batch
    options: dict[str, Any] = {"store": storage, "name": name, "jobs": jobs, "seed": seed, "batch": size, **given}
    try:
        with common.given_as("--command", **OPTIONS), parallel_config(backend="threading"):
            found = find(program, domain, wanted, budget=budget, changed=changed, **options)
    except KeyboardInterrupt:
        common.say(common.screen(True), f"stopped: every answer is in {storage.url}; the same command goes on")
        raise typer.Exit(STOPPED) from None
    if as_json:
        return common.answer({**found.study.status().model_dump(mode="json"), "ended": found.stop})
    console.print(common.facts(_rows(found)))
    for verb in (("status", name), ("report", name), ("export", name, "--out", "labels.csv"), ("refine", name)):
        common.say(console, f"next: {common.command(store, storage, 'study', *verb)}")
    return None


def as_box(texts: list[str]) -> dict[str, Scale]:
    """The coordinates of --box, by their names."""
    box: dict[str, Scale] = {}
    for text in texts:
        name, equals, limits = text.partition("=")
        if not equals or not name.strip():
            raise InputError("--box", repr(text), FORM)
        if name.strip() in box:
            raise InputError("--box", f"{name.strip()!r} again", "give every coordinate once")
        try:
            box[name.strip()] = as_scale(limits)
        except InputError as error:
            raise InputError("--box", repr(text), f"{error.field} is {error.got}: {error.remedy}") from error
    return box


def as_scale(text: str) -> Scale:
    """The limits of one coordinate: '20:80', '0.001:1:log', '1:8:int' or 'steel,copper'."""
    if ":" not in text:
        return Choice(*(choice.strip() for choice in text.split(",")))
    low, high, *kind = (part.strip() for part in text.split(":"))
    word = "".join(kind)
    if len(kind) > 1 or word not in LIMITS:
        raise InputError("what follows the limits", repr(":".join(kind)), FORM)
    return LIMITS[word](common.number("low", low), common.number("high", high))


def _rows(found: Found) -> list[tuple[str, str]]:
    """What was found, in words."""
    from superlevel.goals import classes  # noqa: PLC0415

    ledger = found.study.ledger
    lowest, highest = classes(found.labels)
    counts = {group: int(((lowest == c) & (highest == c)).sum()) for c, group in enumerate(ledger.goal.groups)}
    parts = [f"{number:,} {group}" for group, number in reversed(counts.items())]
    failed = found.calls - ledger.samples
    rows: list[tuple[str, Any]] = [
        ("question", ledger.goal.ask(ledger.n)),
        ("calls", f"{found.calls:,}" + f", of which {failed:,} failed" * bool(failed)),
        ("declared", f"{', '.join(parts)}; {int((lowest != highest).sum()):,} undecided"),
        ("ended", found.stop),
    ]
    if failed:
        rows.append(("last failure", list(ledger.reasons.values())[-1]))
    return rows
