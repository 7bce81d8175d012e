"""The closed loop on something that can be called: a study asks, a function answers, until the budget is used.

    found = find(simulate, Domain.box({"temperature": (20, 80), "ph": (2, 9)}), Threshold(0.8), budget=200)
    found.guess                                       # (n,) the likelier side of every point

Every value is in the study before the next call begins. With a store on disk, whoever is killed and calls again goes
on where it was.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from superlevel.arrays import Labels, as_count
from superlevel.commands import Command
from superlevel.domain import Domain
from superlevel.errors import InputError
from superlevel.goals import Goal, summary
from superlevel.problem import FITTED, Problem
from superlevel.searching import WORKER, Function, Search, Watch, calls
from superlevel.study import Study
from superlevel.study.ledger import Fate, Ledger
from superlevel.study.resuming import resumed
from superlevel.study.storage import Storage, open_storage

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True, eq=False)
class Found:
    """What was found."""

    study: Study
    """With every call in its log; it can go on, be reported, refined and audited."""
    labels: Labels
    """(n,) +1 above, 0 undecided, -1 below; (k, n) for k levels."""
    guess: Labels
    """(n,) the labels, and for undecided points the likelier side."""
    stop: str
    """Why it ended, in words."""

    @property
    def calls(self) -> int:
        """How often the function was called, over all sessions; calls that failed count."""
        return calls(self.study.ledger)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """A pandas frame with a line for every point: coordinates, label, interval, probability of being above."""
        return self.study.to_frame()

    def __repr__(self) -> str:
        return f"Found({self.calls:,} calls, {summary(self.study.ledger.goal, self.labels)}: {self.stop})"


def find(
    function: Function,
    domain: Domain,
    goal: Goal,
    *,
    budget: int,
    store: str | Storage = "memory:",
    name: str = "find",
    jobs: int = 1,
    seed: int = 0,
    method: str = "melk",
    batch: int | None = None,
    confidence: Any = None,
    rule: Any = None,
    watch: Watch | None = None,
    changed: bool = False,
    **assumed: Any,
) -> Found:
    """Find the points of the domain where a function exceeds a level, in at most ``budget`` calls.

    The function gets the coordinates of a point as keyword arguments, by the names of the domain's coordinates:
    numbers, whole numbers (int) or the names of choices. It returns a number. If it raises an exception or returns
    something else, NaN included, the point counts as one that cannot be measured, and the log has the reason.

    Args:
        function: what is to be searched; it may be noisy.
        domain: the points. A kernel that it has is used; without one, kernel, noise and mean are estimated.
        goal: which points are looked for.
        budget: how many calls, those of earlier sessions and those that failed included.
        store: as for `Study.create`. By default the study is in memory and ends with the program.
        name: of the study. If the store has it with the same question and a function of the same name, it goes on.
        jobs: how many calls run at once, in processes of `joblib`; `joblib.parallel_config` chooses something else.
        seed, method, batch, confidence, rule: as for `Study.create`.
        watch: called with the study's ledger after each result. By default a terminal shows a progress bar.
        changed: whether the function was changed, or is another one than before; the log notes it.
        assumed: further fields of `Problem`, such as noise=0.1.

    Ctrl-C ends the search, and the study stays as it is: nothing in it is half done. Several processes may search one
    study: each claims tickets of its own, and all of them together keep to the budget.
    """
    calls_at_most = as_count("budget", budget)
    workers = as_count("jobs", jobs)
    problem = _problem(domain, goal, assumed)
    _check_function(function, problem.domain)
    options = {"method": method, "seed": seed, "batch": batch, "confidence": confidence, "rule": rule}
    storage = open_storage(store)
    resumed(storage, name, problem, worker=WORKER, **options).answer_by(program_of(function), changed=changed)
    with _watching(watch, calls_at_most) as seen:
        search = Search(storage, name, function, budget=calls_at_most, jobs=workers, watch=seen)
        study, stop = search.run()
        known = study.knowledge
    return Found(study=study, labels=known.labels, guess=known.method.guess(known.state), stop=stop)


def program_of(function: Function) -> str:
    """A command as it was typed, or the name of a function with its module; what the function does is not looked at."""
    match function:
        case Command(text=text):
            return text
        case partial(func=inner):
            return program_of(inner)
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}.{named.__qualname__}"


def _problem(domain: object, goal: Goal, assumed: Mapping[str, Any]) -> Problem:
    """With kernel, noise and mean to be estimated where the domain has no kernel."""
    if not isinstance(domain, Domain):
        remedy = 'give Domain.box({"temperature": (20, 80)}), or Domain(points)'
        raise InputError("domain", f"of type {type(domain).__name__}", remedy)
    left = () if domain.kernel is not None else tuple(field for field in FITTED if assumed.get(field) is None)
    try:
        return Problem(domain, goal=goal, **{"fit": left, **assumed})
    except TypeError as error:  # an option that there is not
        raise InputError("an option", f"unknown ({error})", "give options of find, or fields of Problem") from error


def _check_function(function: Any, domain: Domain) -> None:
    """That it can be called with the names of the coordinates, before anything is stored."""
    if not callable(function):
        raise InputError("function", f"of type {type(function).__name__}", "give something that can be called")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some functions in C do not say
        return
    try:
        signature.bind(**dict.fromkeys(domain.names))
    except TypeError as error:
        named = ", ".join(domain.names)
        remedy = f"give one that takes the coordinates by name: {named} ({error})"
        raise InputError("function", f"one of {signature}", remedy) from error


@contextmanager
def _watching(watch: Watch | None, budget: int) -> Iterator[Watch]:
    """What was given, or a progress bar; where nobody looks at a terminal the bar shows nothing."""
    if watch is not None:
        yield watch
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    console = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("calls{task.description}"), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=budget)

        def seen(ledger: Ledger) -> None:
            failed = int((ledger.fate == Fate.FAILED).sum())
            progress.update(task, completed=calls(ledger), description=f", {failed:,} failed" * bool(failed))

        yield seen
